"""Attacks on pages for everybody: two of them side by side, guesses confirmed, households named, settings that tell."""

import dataclasses
import hashlib
import html
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_lab.data import read_file
from kanon_lab.recipes.verdict import Caution
from kanon_lab.report.analysis import analyse
from kanon_lab.report.config import as_config
from kanon_lab.report.public import public, sided, step_of
from kanon_lab.report.safe import allowed, safe_quantiles, shown_settings
from kanon_lab.report.sections import SECTIONS, section
from kanon_lab.report.words import Few, Words, texts
from kanon_lab.terms import Note

KEYS = ["place", "sex", "age"]
SETTINGS = {
    "key_variables": KEYS,
    "weight": "weight",
    "sensitive_variables": ["ill"],
    "numeric_variables": ["income"],
    "missing": "category",
    "limits": {"k": 2, "global_risk": 0.02},
    "steps": [{"recode": {"variable": "age", "width": 30}}, {"suppress": {"k_required": 2}}],
}


def survey(n=520, seed=3):
    rng = np.random.default_rng(seed)
    columns = {
        "place": rng.choice([*"abcdefgh"], n),
        "sex": rng.choice(["m", "f"], n),
        "age": rng.integers(0, 90, n),
        "ill": rng.choice(["none", "flu", "rare"], n, p=[0.8, 0.17, 0.03]),
        "income": rng.lognormal(10, 0.6, n).round(),
        "weight": rng.uniform(20, 200, n).round(1),
    }
    return pd.DataFrame(columns)


FRAME = survey()


def shown(frame, changed=None):
    """The page in pieces, each row of a table by itself: without the number of all records, and shares of it."""
    found = analyse(frame, as_config({**SETTINGS, **(changed or {})}), name="x")
    parts = [part for name in SECTIONS for part in section(found, name)]
    pieces = []
    for table in (part.html for part in parts if hasattr(part, "html")):
        rows = [re.findall(r"<t[hd].*?</t[hd]>", row) for row in re.findall(r"<tr.*?</tr>", table, flags=re.DOTALL)]
        for row in rows:
            cells = [cell for cell, head in zip(row, rows[0]) if "share (%)" not in head]
            pieces.append(" ".join(cells))
        pieces += [] if rows else [table]
    pieces += [part.alt for part in parts if hasattr(part, "alt") and "records before" not in part.alt]
    plain = [" ".join(re.sub(r"<[^>]+>", " ", piece).split()) for piece in pieces]
    return [re.sub(rf"\b{len(frame)}\b", "N", re.sub(r"\.0+\b", "", piece)) for piece in plain]


@pytest.fixture(scope="module")
def found():
    return analyse(FRAME, as_config(SETTINGS), name="x")


@pytest.fixture(scope="module")
def pages():
    """The page on the whole file, and by person that on the file without that person."""
    persons = np.random.default_rng(0).choice(len(FRAME), 5, replace=False)
    return shown(FRAME), {int(each): shown(FRAME.drop(index=each)) for each in persons}


def test_two_pages_with_and_without_a_person_do_not_tell_who_is_unique(pages):
    """Attack: the unique records of one page less those of the other; it was right for 40 of 40 persons."""
    whole, without = pages
    alone = FRAME.groupby(KEYS)["sex"].transform("size") == 1
    assert alone.loc[list(without)].sum() > 1  # there is something to tell
    of_uniques = [row for row in whole if re.match(r"records that are unique|1 before|records in classes below", row)]
    assert len(of_uniques) == 3 and all("0" in row or "fewer" in row for row in of_uniques)
    for rows in without.values():
        assert {*of_uniques} <= {*rows}


def test_two_pages_seldom_differ_in_anything(pages):
    """Before, half of a page's numbers did; what is left are numbers at the edge of their step."""
    whole, without = pages
    changed = [sum(row not in rows for row in whole) for rows in without.values()]
    assert len(whole) > 80 and np.mean(changed) < 0.03 * len(whole)


def test_two_pages_do_not_tell_an_income_or_a_diagnosis(pages):
    whole, without = pages
    told = [row for row in whole if re.match(r"income \d|none \d|flu \d|other ", row)]
    assert len(told) >= 3
    assert sum(not {*told} <= {*rows} for rows in without.values()) <= 1


def test_two_recipes_on_one_file_agree_in_what_is_said_of_it():
    """Attack: two recipes, of whose measures the differences count records of single classes."""
    one, other = (shown(FRAME, {"steps": [{"suppress": {"k_required": k}}], "limits": {"k": 2}}) for k in (2, 3))
    before = [row for row in one if re.search(r"\bbefore\b|original file|unchanged|unique", row)]
    assert before and {*before} <= {*other}


@given(st.integers(0, 2_000_000))
def test_one_record_more_seldom_moves_a_count(records):
    step = step_of(records)
    assert step in (10, 20, 50, 100) and (step == 10 or step * 10 <= records)
    if records >= 1000:
        assert step == 100


@given(st.floats(1e-6, 1), st.floats(1e-6, 1), st.booleans())
def test_a_rounded_value_stays_on_its_side_of_the_limit(found, limit, least):
    limit = float(f"{limit:.2g}")
    met = found >= limit if least else found <= limit
    rounded = sided(found, limit, met, least=least)
    assert (rounded >= limit if least else rounded <= limit) == met
    assert abs(rounded - found) <= 0.1 * found * (1 + 1e-9)


def test_estimated_persons_of_a_small_class_show_no_weight():
    frame = pd.DataFrame({"zone": [*"N" * 300, "S"], "sex": [*"mf" * 150, "m"], "w": [*[20.0] * 300, 28.3]})
    limits = {"k": 1, "combinations": [{"keys": ["zone"], "persons": 300}, {"keys": ["sex"], "persons": 300}]}
    config = as_config({"key_variables": ["zone", "sex"], "weight": "w", "limits": limits})
    analysis = analyse(frame, config, name="f.csv")
    verdicts = [each.judged.verdict for each in (analysis, public(analysis))]
    exact, shown = (rows.loc[rows["name"] == "combinations", "found"].tolist() for rows in verdicts)
    assert exact == [28, 3000]
    assert f"{shown[0]}" == "fewer than 300" and shown[1] == 3000


def test_what_is_not_listed_is_not_on_a_page(found):
    """A column or measure that is added to an analysis stays in the office until somebody has thought about it."""
    frames = {
        each.name: getattr(found, each.name).assign(secret=1)
        for each in dataclasses.fields(found)
        if isinstance(getattr(found, each.name), pd.DataFrame) and each.name != "seeds"
    }
    summary = {**found.summary, "before": {**found.summary["before"], "secret": 1}}
    more = dataclasses.replace(found, **frames, file={**found.file, "secret": 1}, summary=summary)
    told = public(more)
    assert not [name for name in frames if "secret" in getattr(told, name)]
    assert "secret" not in told.file and "secret" not in told.summary["before"]
    assert "distinct_before" in found.variables and "distinct_before" not in told.variables
    pd.testing.assert_frame_equal(found.steps, analyse(FRAME, as_config(SETTINGS), name="x").steps)


def test_few_records_are_words_and_none_only_of_the_release(found):
    told = public(found)
    step = told.summary["step"]
    assert step == 50 and told.summary["after"]["violations_2_category"] == 0
    assert isinstance(told.summary["before"]["k_achieved"], Few) and told.summary["after"]["k_achieved"] >= 2
    counts = [*told.sizes["records"], *told.risks["records"], *told.riskiest["records"]]
    assert all(isinstance(each, Few) or each % step == 0 for each in counts)
    assert Words("es").number(Few(50)) == "menos de 50" and f"{Few(50)}" == "fewer than 50"


def test_notes_have_their_counts_in_steps(found):
    note = Note("caution_own_class", names=("a1",), records=330, k=3)
    linked = Note("caution_numeric_linkage", names=("a1",), linked=0.4621)
    told, share = public(dataclasses.replace(found, notes=(note, linked))).notes
    assert told.startswith("350 records are in a released class of fewer than 3") and "46% of the" in share
    assert "350 registros" in Words("es").note(told) and "46\xa0% de los casos" in Words("es").note(share)


UNDOING = """stale_ghosts tells_households tells_key outvoted seed_shuffle_members seed_shuffle_records
seed_renumber shown_by_members household_size_known household_values order_as_it_came order_not_random
told_by_neighbours order_of_members caution_exposed_tells caution_exposed_follows""".split()


def test_no_page_for_everybody_teaches_how_to_undo_the_release(found):
    """R32: "another member of the household reveals 400 of 500 suppressed values" stood on the public page."""
    parts = dict.fromkeys(("shown", "suppressed", "records", "k", "told", "cells", "values", "step", "digits"), 7)
    parts |= {name: name.upper() for name in ("variable", "household", "column", "names", "keys", "name")}
    parts |= {"columns": ("COLUMN",), "share": 0.5, "level": 0.001, "largest": 3, "k_without": 4, "uniques": 9}
    parts |= {"often": 0.2, "at_random": 0.1, "role": "key", "remedy": Note("mend_column")}
    notes = tuple(Note(key, **parts) for key in UNDOING)
    cautions = tuple(Caution("exposed", 7, ("COLUMN",), note) for note in notes)
    attacked = dataclasses.replace(found, notes=notes, judged=dataclasses.replace(found.judged, cautions=cautions))
    assert not public(attacked).notes and not public(attacked).judged.cautions
    for language in ("en", "es"):
        page = text_of(attacked, language)
        assert texts()["notes_office"][language] in page and texts()["no_notes"][language] not in page
        assert not [note for note in notes if Words(language).note(note) in page]
        inside = text_of(dataclasses.replace(attacked, internal=True), language)
        assert all(Words(language).note(note) in inside for note in notes)


def text_of(analysis, language):
    parts = [part for name in SECTIONS for part in section(analysis, name, language)]
    return html.unescape("\n".join(part.html for part in parts if hasattr(part, "html")))


def test_what_differs_on_a_page_differs_in_the_file(found):
    """R31: 2% became 1.8%, and 500 became 470, by rounding alone."""
    without = analyse(FRAME, as_config({**SETTINGS, "steps": []}), name="x")
    rows = public(without).summary
    assert rows["before"] == rows["after"]
    sizes = public(without).sizes.drop(columns="version")
    half = len(sizes) // 2
    pd.testing.assert_frame_equal(sizes.iloc[:half].reset_index(drop=True), sizes.iloc[half:].reset_index(drop=True))
    idle = {**SETTINGS, "steps": [*SETTINGS["steps"], {"round": {"variable": "weight", "base": 0.1}}]}
    for settings in (SETTINGS, idle):
        exact = analyse(FRAME, as_config(settings), name="x")
        shown = public(exact)
        for name in ("global_risk", "expected_reidentifications"):
            summaries = [(exact.summary[when][name], shown.summary[when][name]) for when in ("before", "after")]
            for rows in (summaries, [*zip(exact.steps[name], shown.steps[name])]):
                assert all((c < d) <= (a < b) for a, c in rows for b, d in rows), name
    assert shown.steps["global_risk"].iloc[-1] == shown.steps["global_risk"].iloc[-2]


@given(st.floats(1e-9, 1), st.floats(1e-9, 1))
def test_risks_before_and_after_are_ordered_as_they_are(found, before, after):
    summary = {**found.summary, "before": {"global_risk": before}, "after": {"global_risk": after}}
    shown = public(dataclasses.replace(found, summary=summary)).summary
    then, now = shown["before"]["global_risk"], shown["after"]["global_risk"]
    assert (then < now) <= (before < after) and (then > now) <= (before > after)


@pytest.mark.parametrize("value, text", [(30, "30"), (31, "30 or more"), (99, "90 or more"), (14827, "14,000 or more")])
def test_different_values_are_not_rounded_up(found, value, text):
    """R34: 14,827 different values were 10,000, and 15,100 were 20,000."""
    released = found.released.assign(distinct_values=value)
    shown = public(dataclasses.replace(found, released=released)).released["distinct_values"].iloc[0]
    assert Words("en").number(shown) == text and shown <= value and f"{shown:,}" == text
    assert Words("es").number(shown) == text.replace(",", ".").replace("or more", "o más")


def test_k_before_is_a_bound_and_never_a_neighbour(found):
    """20 beside an exact 24 would look like another number."""
    before = {**found.summary["before"], "k_achieved": 24}
    shown = public(dataclasses.replace(found, summary={**found.summary, "before": before})).summary
    assert Words("en").number(shown["before"]["k_achieved"]) == "fewer than 30"


def test_no_guess_of_the_input_is_confirmed(tmp_path):
    """Attack: the SHA-256 of the input, and its length, name the right one of eight fillings of suppressed cells."""
    path = tmp_path / "survey.csv"
    FRAME.to_csv(path, index=False)
    file = read_file(path)
    assert file.found["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    found = analyse(file, as_config({**SETTINGS, "seed": 918273645}))
    text = "".join(getattr(part, "html", "") for name in SECTIONS for part in section(found, name))
    size = file.found["bytes"]
    for each in (file.found["sha256"], str(size), f"{size:,}", "918273645"):
        assert each not in text
    assert "FRAME" not in repr(file) and "rare" not in repr(file) and str(FRAME["income"][0]) not in repr(file)


def test_the_matrix_of_a_step_names_no_category():
    """Attack: pram's transition named categories of one record in settings and steps."""
    steps = [
        {"pram": {"variables": ["ill"], "transition": {"ZQ": {"ZQ": 0.9, "none": 0.1}}, "seed": 77, "new": "ZQ"}},
        {"pram": {"variables": ["ill", "sex"], "keep": {"ill": 0.9, "sex": 0.8}}},
        {"pram": {"variables": ["ill"], "keep": {"ill": {"ZQ": 0.9}}}},
        {"pram": {"variables": ["ill"], "keep": {"ZQ": 0.9}}},
        {"recode": {"variable": "ill", "groups": {"ZQ": ["ZQ"]}, "others": "ZQ"}},
        {"recode": {"variable": "age", "bands": [0, 30, None], "labels": ["ZQ", "b"], "outside": "ZQ"}},
        {"recode": {"variable": "ill", "hierarchy": {"mapping": {"ZQ": ["ZQ"]}, "top": "ZQ"}, "level": 1}},
        {"top_code": {"variable": "age", "above": 80, "label": "ZQ"}},
        {"suppress": {"k_required": 3, "importance": {"sex": 1}, "combinations": [{"keys": ["sex"], "size": 2}]}},
        {"household_level": {"key_variables": ["home"], "steps": [{"recode": {"variable": "x", "groups": {"ZQ": 1}}}]}},
    ]
    told = shown_settings({"steps": steps, "notes": ["ZQ"], "indicators": {"rates": {"ill": ["ZQ"]}, "by": [["sex"]]}})
    assert "ZQ" not in str(told) and "77" not in str(told)
    assert told["steps"][0] == {"pram": {"variables": ["ill"], "transition": "(1)", "new": "(1)"}}
    assert told["steps"][1] == steps[1] and told["steps"][8] == steps[8]
    assert told["steps"][2] == {"pram": {"variables": ["ill"], "keep": {"ill": "(1)"}}}
    assert told["steps"][7] == {"top_code": {"variable": "age", "above": 80, "label": "(1)"}}
    assert told["indicators"] == {"rates": ["ill"], "by": [["sex"]]} and told["notes"] == "(1)"
    assert allowed({"method": "mdav", "k_required": "$k"}) == {"method": "mdav", "k_required": "$k"}


def test_one_large_household_is_not_named():
    """Attack: a category of twelve records, all of one home, and quantiles of an income that its members share."""
    home = np.r_[np.zeros(12, int), np.arange(1, len(FRAME) - 11)]
    frame = FRAME.assign(home=home, ill=np.where(home == 0, "RARE", FRAME["ill"]))
    settings = {"key_variables": ["place"], "sensitive_variables": ["ill"], "household": "home"}
    wanted = {"indicators": {"rates": ["ill"], "by": ["sex"]}, "steps": [{"round": {"variable": "age", "base": 5}}]}
    found = analyse(frame, as_config({**settings, **wanted}), name="x")
    assert "RARE" not in found.categories.to_csv() + found.indicators.to_csv()
    alone = analyse(frame, as_config({**settings, **wanted, "household": None}), name="x")
    assert "RARE" in alone.categories.to_csv()


def test_a_quantile_is_of_many_households():
    values, homes = np.repeat(np.arange(1.0, 101), 12), np.repeat(np.arange(100), 12)
    found = safe_quantiles(values, least=10, homes=homes)
    assert 0.5 in found and 0.05 not in found  # ten homes at the least lie on either side of each
    assert safe_quantiles(values, least=10).keys() > found.keys()


def test_records_beside_a_limit_stand_on_the_side_that_the_verdict_says():
    """Anybody who reads the page can hold what was found against the limit."""
    frame = survey_of_many()
    for most in range(0, 260, 13):
        settings = {"key_variables": ["a", "b"], "limits": {"k": 2, "above_risk": {0.2: most}}}
        found = public(analyse(frame, as_config(settings), name="x")).judged.verdict
        (row,) = found[found["name"] == "above_risk"].itertuples()
        if not isinstance(row.found, Few):
            assert (row.found <= most) == row.met


def survey_of_many():
    rng = np.random.default_rng(5)
    return pd.DataFrame({"a": rng.integers(0, 40, 900), "b": rng.integers(0, 12, 900)})


def test_records_that_only_four_keys_make_unique_leave_a_page_all_the_same():
    """No set of keys that is looked at makes one unique, so that the table of sets has no row."""
    rows = [(a, b, c, d) for a in (0, 1) for b in (0, 1) for c in (0, 1) for d in (0, 1)]
    frame = pd.DataFrame(rows, columns=[*"abcd"])
    found = analyse(frame, as_config({"key_variables": [*"abcd"]}), name="x")
    assert len(found.suda) and not len(found.unique_sets)
    assert section(found, "riskiest", "es")


def test_the_seed_of_a_suppression_is_on_the_internal_page_only():
    steps = [{"recode": {"variable": "age", "width": 30}}, {"suppress": {"k_required": 2, "seed": 987654321}}]
    config = as_config({**SETTINGS, "steps": steps})
    inside = analyse(FRAME, config, name="x", internal=True)
    assert inside.seeds[["name", "seed"]].to_numpy().tolist() == [["suppress", 987654321]]
    page = analyse(FRAME, config, name="x")
    assert not any("987654321" in str(part) for name in SECTIONS for part in section(page, name))
