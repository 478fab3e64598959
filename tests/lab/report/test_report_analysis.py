"""What a report counts: beside counts made by hand here, and without a value that points at a person."""

import dataclasses
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from kanon_lab.data import MicrodataFile
from kanon_lab.measures.registry import limit_of
from kanon_lab.report.analysis import Analysis, analyse
from kanon_lab.report.config import as_config
from kanon_lab.report.public import public
from kanon_lab.report.sections import SECTIONS, section
from kanon_lab.report.tables import is_quantity
from kanon_lab.terms import Note

RARE = ("RAREREGION", "RAREILLNESS", "RAREGROUP", "ID-", "777777.25", "4242.5")
SETTINGS = {
    "key_variables": ["region", "sex", "age"],
    "weight": "weight",
    "household": "home",
    "direct_identifiers": ["id"],
    "sensitive_variables": ["illness"],
    "numeric_variables": ["income"],
    "limits": {"k": 3, "global_risk": 0.02, "household_risk": 0.9},
    "indicators": {"rates": ["illness"], "means": ["income"], "by": ["region", "group"]},
    "steps": [
        {"recode": {"variable": "age", "width": 20}},
        {"suppress": {"claim": "true_key", "importance": {"sex": 1, "region": 2, "age": 3}}},
    ],
    "map": {"grid": {"w": [10, 20]}, "steps": [{"recode": {"variable": "age", "width": "$w"}}]},
}


def survey(n=900, seed=1):
    """A survey with a marked value in every kind of column."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "id": [f"ID-{i:06}" for i in range(n)],
            "region": rng.choice(["north", "south", "west"], n, p=[0.5, 0.3, 0.2]),
            "sex": rng.integers(1, 3, n),
            "age": rng.integers(0, 80, n),
            "home": np.arange(n) // 3,
            "weight": rng.uniform(5, 20, n).round(2),
            "illness": rng.choice(["none", "flu", "<script>alert(1)</script>"], n, p=[0.7, 0.2, 0.1]),
            "group": rng.choice(["a", "b", "c"], n),
            "income": rng.integers(100, 5000, n).astype(float),
        }
    )
    frame.loc[:3, "region"] = "RAREREGION"
    frame.loc[10:14, "illness"] = "RAREILLNESS"
    frame.loc[20:25, "group"] = "RAREGROUP"
    frame.loc[30, "income"], frame.loc[31, "weight"] = 777777.25, 4242.5
    return frame


@pytest.fixture(scope="module")
def frame():
    return survey()


@pytest.fixture(scope="module")
def found(frame) -> Analysis:
    return analyse(frame, as_config(SETTINGS), name="survey.csv")


def below(frame, keys, k):
    """Records that fewer than k records are compatible with, pair by pair; a missing value may be any."""
    rows = frame[keys].astype(object).where(frame[keys].notna(), None).itertuples(index=False, name=None)
    patterns = Counter(rows)

    def compatible(one, other):
        return all(a is None or b is None or a == b for a, b in zip(one, other))

    return sum(
        times
        for pattern, times in patterns.items()
        if sum(many for other, many in patterns.items() if compatible(pattern, other)) < k
    )


def test_the_verdict_is_that_of_counting_by_hand(frame, found):
    verdict = found.judged.verdict.set_index("name")
    assert list(verdict.index) == [name for name in as_config(SETTINGS).limits if not limit_of(name).quiet]
    assert {"k", "global_risk", "household_risk", "exposed_by_columns", "unassigned_columns"} <= {*verdict.index}
    unprotected = analyse(frame, as_config({**SETTINGS, "steps": [], "map": None}), name="survey.csv")
    expected = below(frame, ["region", "sex", "age"], 3)
    assert unprotected.judged.verdict["records"][0] == expected > 0
    assert unprotected.judged.verdict["met"].tolist()[0] is False
    assert verdict["met"]["k"] and verdict["records"]["k"] == 0 and verdict["found"]["k"] >= 3
    assert found.steps["below"].tolist()[0] == expected and found.steps["below"].tolist()[-1] == 0
    assert verdict["found"]["global_risk"] == found.summary["after"]["global_risk"]


def test_the_cells_of_a_suppression_stand_beside_what_any_needs(frame, found):
    assert found.steps[["least_cells", "above"]].isna().all(axis=None)
    assert found.steps["no_bound"].tolist()[-1] == "true_keys"
    for analysis in (found, public(found)):
        assert "Step 2: for true keys no lower bound on the suppressed cells is given" in str(
            section(analysis, "recipe")
        )
    assert "para las claves verdaderas no se da ninguna cota" in str(section(found, "recipe", "es"))
    recode, suppress = SETTINGS["steps"]
    steps = [recode, {"suppress": {**suppress["suppress"], "claim": "compatible"}}]
    found = analyse(frame, as_config({**SETTINGS, "map": None, "steps": steps}), name="x")
    row = found.steps.iloc[-1]
    lost = analyse(frame, as_config({**SETTINGS, "map": None, "steps": steps, "missing": "category"}), name="x")
    assert found.steps[["key_cells", "least_cells", "above"]].iloc[:-1].isna().all(axis=None)
    assert 0 < row["least_cells"] <= row["key_cells"] <= row["cells_suppressed"]
    assert 0 <= row["above"] - (row["key_cells"] / row["least_cells"] - 1) < 0.01  # in whole per cents, never too low
    for analysis, begin in ((found, "Step 2: "), (lost, "Step 2: "), (public(found), "Step 2: ")):
        assert begin in str(section(analysis, "recipe"))
    assert "más que el mínimo" in str(section(found, "recipe", "es"))


def test_limits_that_are_just_met_are_met(frame, found):
    risk = found.summary["after"]["global_risk"]
    settings = {**SETTINGS, "map": None}
    for limit, met in ((risk, True), (risk * 0.999, False)):
        config = as_config({**settings, "limits": {"k": 3, "global_risk": limit}})
        assert analyse(frame, config, name="x").judged.verdict.set_index("name")["met"]["global_risk"] == met


def test_without_limits_nothing_is_met(frame):
    judged = analyse(frame[["sex"]], as_config({"key_variables": ["sex"]}), name="x").judged
    assert judged.verdict["met"].all() and not judged.met


def test_sizes_and_risks_add_up_to_the_file(frame, found):
    for table in (found.sizes, found.risks):
        assert (table.groupby("version")["records"].sum() == len(frame)).all()
    assert found.riskiest["records"].sum() <= len(frame)
    ordered = found.riskiest["low"].tolist()
    assert ordered == sorted(ordered, reverse=True)
    before = Counter(frame[["region", "sex", "age"]].itertuples(index=False, name=None))
    alone = sum(1 for times in before.values() if times == 1)
    first = found.sizes[(found.sizes["version"] == "before") & (found.sizes["label"] == "1")]
    assert first["records"].item() == alone


def test_homogeneous_records_are_those_of_classes_with_one_value(frame):
    settings = {"key_variables": ["region", "age"], "sensitive_variables": ["illness"]}
    found = analyse(frame, as_config(settings), name="x")
    classes = frame.groupby(["region", "age"])["illness"].agg(["nunique", "size"])
    assert found.diversity["homogeneous"].item() == classes.loc[classes["nunique"] == 1, "size"].sum()


def test_categories_are_those_of_the_release_and_pooled_where_rare(frame, found):
    sick = found.categories[found.categories["variable"] == "illness"]
    counts = frame["illness"].value_counts()
    named = sick.dropna(subset="category")
    assert all(abs(counts[row.category] - row.records) <= 2 and row.records >= 10 for row in named.itertuples())
    pool = sick[sick["category"].isna()]
    assert (
        pool["pooled"].item() >= 2 and abs(pool["records"].item() - len(frame) + counts[named["category"]].sum()) <= 2
    )
    assert set(found.categories["variable"]) == {"region", "sex", "age", "illness"}
    assert found.quantiles["variable"].tolist() == ["income"]


def test_a_category_needs_k_required_records_too(frame):
    settings = {"key_variables": ["region"], "limits": {"k": 200}}
    found = analyse(frame, as_config(settings), name="x")
    assert (found.categories["records"].dropna() >= 200).all()


def test_labels_stand_beside_codes_that_are_as_they_came(frame):
    labels = {"sex": {1: "man", 2: "woman"}, "age": {20: "twenty"}, "region": {"RAREREGION": "a place"}}
    facts = {"name": "survey.sav", "sha256": "0" * 64, "records": len(frame), "columns": frame.shape[1]}
    notes = [Note(f"codes_{key}", codes="7, 88", variable="age") for key in ("in_file", "missing", "in_no_record")]
    file = MicrodataFile(frame, labels, {}, facts, ("a note", *notes))
    found = analyse(file, as_config({**SETTINGS, "map": None}))
    shown = found.categories["category"].dropna().tolist()
    assert {"1: man", "2: woman"} <= set(shown) and not any("twenty" in each or "a place" in each for each in shown)
    assert found.file["name"] == "survey.sav" and found.file["notes"][0] == "a note"
    assert len(found.file["notes"]) == 4 and not any("7, 88" in note for note in found.file["notes"])


def test_recoded_codes_stand_under_their_new_labels():
    """R30: "1: A" was said of code 1, which held those who had been B."""
    codes = [1] * 40 + [2] * 30 + [3] * 20
    frame = pd.DataFrame({"nation": codes, "sex": [1, 2] * 45, "zone": [1, 2, 3] * 30})
    labels = {"nation": {1: "own", 2: "union", 3: "other"}, "sex": {1: "man", 2: "woman"}, "zone": {1: "N", 2: "S"}}
    facts = {"name": "survey.sav", "sha256": "0" * 64, "records": len(frame), "columns": frame.shape[1]}
    swapped = {"variable": "nation", "groups": {2: [1], 1: [2, 3]}}
    merged = {"variable": "zone", "groups": {1: [1, 2], 3: [3]}}
    for given, file in ((labels, MicrodataFile(frame, labels, {}, facts, ())), ({}, frame)):
        for new in ({2: "own country", 1: "abroad"}, None):
            steps = [{"recode": swapped | ({"labels": new} if new else {})}, {"recode": merged}]
            config = as_config({"key_variables": ["nation", "sex", "zone"], "steps": steps})
            rows = analyse(file, config, name="x").categories
            shown = {name: dict(zip(part["category"], part["records"])) for name, part in rows.groupby("variable")}
            assert shown["nation"] == ({"2: own country": 40, "1: abroad": 50} if new else {"2": 40, "1": 50})
            assert shown["sex"] == ({"1: man": 45, "2: woman": 45} if given else {"1": 45, "2": 45})
            assert shown["zone"] == {"1": 60, "3": 30}  # code 1 has records that were 2


def test_nothing_that_points_at_a_person_is_in_an_analysis_or_its_sections(frame, found):
    shown = [str(getattr(found, each.name)) for each in dataclasses.fields(found) if each.name != "map"]
    shown += [getattr(found, name).to_csv() for name in ("categories", "quantiles", "indicators", "riskiest", "steps")]
    for language in ("en", "es"):
        for name in SECTIONS:
            shown += [str(part.html if hasattr(part, "html") else part.spec) for part in section(found, name, language)]
    text = "\n".join(shown)
    assert not [mark for mark in RARE if mark in text]
    assert "north" in text  # what many hold is named
    assert not any(f"{value}" in text for value in frame["weight"].loc[frame["weight"] > 19.9])


def test_indicators_are_told_in_ranges_and_of_many_records(frame, found):
    assert list(found.indicators) == ["kind", "variable", "category", "by", "group", "overlap", "covered"]
    assert {*found.indicators["overlap"].dropna()} <= {0.0, 0.5, 0.75, 0.9} and len(found.indicators) > 10
    for row in found.indicators.itertuples():
        part = frame if not row.by else frame[frame[row.by] == row.group]
        part = part if row.kind == "mean" else part[part["illness"] == row.category]
        assert len(part) >= 10


def test_a_range_is_that_of_the_overlap_and_removed_groups_are_lost(frame):
    from kanon_lab.recipes import final_indicators

    steps = [{"add_noise": {"variables": ["income"], "strength": 0.5}}, {"remove_variables": {"variables": ["group"]}}]
    config = as_config({**SETTINGS, "map": None, "steps": steps})
    found = analyse(frame, config, name="x")
    keys = ["kind", "variable", "category", "by", "group"]
    exact = final_indicators(config.recipe.apply(frame)).set_index(keys)["overlap"]
    for row in found.indicators.set_index(keys).itertuples():
        assert row.overlap <= exact[row.Index] <= 1 + 1e-9
        assert row.overlap == max(each for each in (0, 0.5, 0.75, 0.9) if each <= exact[row.Index])
    assert "group" not in found.indicators["by"].tolist()
    crossed = frame.groupby(["group", "illness"]).size()
    assert found.indicators_lost == (crossed >= 10).sum() + (frame["group"].value_counts() >= 10).sum()


def test_without_steps_nothing_is_compared(frame):
    found = analyse(frame, as_config({**SETTINGS, "map": None, "steps": []}), name="x")
    assert found.indicators.empty and found.indicators_lost == 0


def test_counts_of_categories_are_rounded(found):
    counts = found.categories["records"].dropna()
    assert (counts % 5 == 0).all()
    assert (found.categories["share"].dropna() == counts / 900).all()


def test_an_identifier_under_another_name_is_found(frame):
    copied = frame.assign(code=frame["id"].str.lower())
    found = analyse(copied, as_config({**SETTINGS, "map": None}), name="x")
    assert "code" in found.summary["identifiers_found"] and "ID-0" not in found.summary["identifiers_found"]


def test_an_identifier_among_words_is_told_without_its_row(frame):
    """Attack: the row that the message named, with a file in its old order, is a person."""
    noted = frame.assign(id=[f"person-{i}" for i in range(len(frame))], remark="-")
    noted.loc[[17, 40], "remark"] = ["of person-17 too", "see person-40"]
    said = analyse(noted, as_config({**SETTINGS, "map": None}), name="x").summary["identifiers_found"]
    assert "column remark: holds the record's own id" in said and "row" not in said and "17" not in said


def test_progress_names_each_step_and_the_input_stays_as_it_was(frame):
    said, copy = [], frame.copy()
    analyse(frame, as_config({**SETTINGS, "map": None}), name="x", progress=said.append)
    assert said[0] == "measuring the original file" and {"step 1 (recode)", "step 2 (suppress)"} <= {*said}
    pd.testing.assert_frame_equal(frame, copy)


@pytest.mark.parametrize(
    ("roles", "quantity"),
    [
        ({"key_variables": ["n"]}, False),
        ({"key_variables": ["sex"], "sensitive_variables": ["n"]}, True),
        ({"key_variables": ["n"], "numeric_variables": ["n"]}, True),
        ({"key_variables": ["sex"], "sensitive_variables": ["commune_code"]}, False),
        ({"key_variables": ["n_part"]}, True),
    ],
)
def test_codes_of_places_have_no_quantiles(roles, quantity):
    n = np.arange(400)
    frame = pd.DataFrame({"n": 1000 + n % 40, "commune_code": 1000 + n % 40, "n_part": n % 40 + 0.5, "sex": n % 2})
    found = analyse(frame, as_config(roles), name="x")
    assert bool(len(found.quantiles)) == quantity


def test_a_coded_column_with_gaps_or_labels_is_no_quantity():
    column = pd.Series([1101.0, None, *range(2000, 2040)])
    assert not is_quantity(column, named=False, coded=True)
    assert is_quantity(column, named=False) and is_quantity(column, named=True, coded=True)


def test_own_classes_and_compatible_records_are_counted_apart():
    frame = pd.DataFrame({"region": ["a", "a", "a", None, None], "sex": ["x", "x", "y", "x", "y"]})
    found = analyse(frame, as_config({"key_variables": ["region", "sex"]}), name="x")
    rows = found.sizes[found.sizes["version"] == "after"].set_index("label")
    assert rows.loc[["1", "2", "3-4"], ["classes", "records", "compatible"]].to_numpy().tolist() == [
        [3, 3, 0],
        [1, 2, 2],
        [0, 0, 3],
    ]
    assert "classes" not in found.riskiest


@pytest.mark.parametrize("missing", ["wildcard", "category"])
def test_keys_without_any_known_value_make_one_class(missing):
    settings = {"missing": missing, "limits": {"k": 40}}
    came = pd.DataFrame({"a": pd.Series([pd.NA] * 40, dtype="Int64"), "b": [None] * 40, "c": range(40)})
    for keys, steps in ((["a", "b"], []), (["a"], []), (["c"], [{"suppress": {}}]), (["a", "c"], [{"suppress": {}}])):
        found = analyse(came, as_config({**settings, "key_variables": keys, "steps": steps}), name="x")
        assert found.summary["after"]["k_achieved"] == 40
        assert all(section(found, name, language) is not None for name in SECTIONS for language in ("en", "es"))
