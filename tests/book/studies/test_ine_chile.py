"""The transcription and the audit of INE Chile's guide on disclosure control, chapters 4 to 8."""

import json
import pkgutil
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kanon_book.studies import audit, explanation, published_figures
from kanon_book.studies.ine_chile import (
    SPECS,
    cells,
    completions,
    counts,
    example,
    frequencies,
    recoded_regions,
    suppressed,
)
from kanon_book.studies.ine_chile_audit import printed_totals, recompute
from kanon_lab.cli import run
from kanon_lab.errors import OptionError

pytestmark = pytest.mark.usefixtures("audited_once")

SOURCE = "ine-chile-2023"
ROOT = Path(__file__).resolve().parents[3]
EXPLAINED = ROOT / "book" / "kanon_book" / "studies" / "explained.csv"
AGES = "Ages (8.2.1.3)"
FIGURES = {
    "Tabla 6.1": 4,
    "Tabla 6.2": 24,
    "Tabla 7.1": 80,
    "Bloque 7.1": 32,
    "Tabla 7.2": 12,
    "Tabla 7.3": 80,
    "Tabla 8.1": 24,
    "Tabla 8.2": 80,
    "Tabla 8.3": 8,
    "Tabla 8.4": 42,
    "Bloque 8.1": 6,
    "Bloque 8.2": 10,
    "Bloque 8.3": 8,
    AGES: 84,
    "Bloque 8.7": 14,
}
#: What the text says against itself, with what we have in its place; INE Chile (2023), chapters 6 to 8.
CONTRADICTIONS = {
    "outline-1": "Proceso SDC: Una introducción",
    "readers-write": "salvo readxl",
    "implied": "(k-1)",
    "superior": "al menos",
    "interval-1": "dentro",
    "alone-before": "dos",
    "suppress-value": "superior",
    "suppress-variable": "zona",
    "band-7": "50-65",
    "band-8": "66-100",
    "open-1": "[0,15)",
    "open-3": "[65, 101)",
    "ls-k": 2,
    "ls-age": 240,
    "ls-etnia": 20,
    "ls-total": 240 + 20 + 18 + 1,
    "ls-records": 240 / 0.12,
    "ls-keys": "seis",
    "ls-range": 6,
    "ls-first": "tercera",
    "ls-fourth": "segunda",
    "household-column": "todas",
    "csv-decimal": "'.'",
    "csv-separator": "';'",
    "csv-function": "read.csv()",
    "undo": "undolast()",
    "all-arguments": "5 de 9",
    "top-kind": "también continuas",
    "size-listed": '"capital, large city"',
    "ls-only": "etnia, RELIG, sizeRes",
    "ls-fifth": "sizeRes, RELIG",
    "ls-etnia-categories": 5,
}


@pytest.fixture(scope="module")
def whole():
    return audit(SOURCE)


@pytest.fixture(scope="module")
def figures(whole):
    ids = published_figures(SOURCE).set_index(["table", "row", "column"])["figure_id"].str.removeprefix(f"{SOURCE}/")
    found = whole.figures.set_index(["table", "row", "column"], drop=False)
    return found.set_axis(ids.loc[found.index].to_numpy())


def compatible(a, b):
    return all(x is None or y is None or x == y for x, y in zip(a, b, strict=True))


def keys(frame, name):
    """The key values of each record, None where missing."""
    return [tuple(None if pd.isna(x) else x for x in row) for row in frame[list(SPECS[name].key_variables)].to_numpy()]


def printed(name, column):
    return cells(name)[column].tolist()


def test_every_figure_is_transcribed_once():
    found = published_figures(SOURCE)
    assert found["figure_id"].is_unique
    assert not found.duplicated(["table", "row", "column"]).any()
    assert found["table"].value_counts().to_dict() == {**FIGURES, "text": 267}


def test_frequencies_of_the_small_files_by_plain_counting(figures):
    """INE Chile (2023), Tablas 7.1, 7.2, 7.3, 8.2 and 8.4."""
    first = example("Tabla 7.1")
    rows = keys(first, "Tabla 7.1")
    f_k = [sum(compatible(a, b) for b in rows) for a in rows]
    F_k = [sum(w for b, w in zip(rows, first["weight"], strict=True) if compatible(a, b)) for a in rows]
    assert list(map(str, f_k)) == printed("Tabla 7.1", "f_k") == printed("Tabla 7.3", "f_k")
    assert list(map(str, F_k)) == printed("Tabla 7.1", "F_k") == printed("Tabla 7.3", "F_k")
    health = example("Tabla 7.3")["health"]
    values = [len({v for b, v in zip(rows, health, strict=True) if a == b}) for a in rows]
    assert list(map(str, values)) == printed("Tabla 7.3", "l")
    second = keys(example("Tabla 7.2"), "Tabla 7.2")
    assert [str(sum(compatible(a, b) for b in second)) for a in second] == printed("Tabla 7.2", "f_k")
    before, after = (keys(frame, "Tabla 8.2") for frame in (example("Tabla 8.2"), recoded_regions()))
    assert [before.count(key) for key in before] == [1, 2, 2, 2, 2, 2, 2, 2, 2, 1]
    assert [str(after.count(key)) for key in after] == printed("Tabla 8.2", "f_k after")
    assert figures.loc["tabla-8-2/5/f-k", ["published", "computed", "verdict"]].tolist() == [1, 2, "published-error"]
    rows = keys(suppressed().frame, "Tabla 8.4")
    assert [sum(compatible(a, b) for b in rows) for a in rows] == [4, 3, 3, 3, 4, 4, 4]
    assert [rows.count(a) for a in rows] == [1, 3, 3, 3, 3, 3, 3]
    assert [sum(compatible(a, b) for b in rows) for a in keys(example("Tabla 8.4"), "Tabla 8.4")] == [
        1,
        3,
        3,
        3,
        4,
        4,
        4,
    ]


def test_risks_of_tabla_7_1(figures):
    """sdcMicro 5.8, individual risk of the ten persons; the table's own column is not in the text."""
    known = {(1, 2): 0.00542452, (3, 8): 0.02509644, (4, 6): 0.01256343, (5,): 0.02824728, (7,): 0.02901093}
    for records, risk in {**known, (9, 10): 0.00740383}.items():
        for record in records:
            found = figures.loc[f"tabla-7-1/{record}/risk"]
            assert found["computed"] == pytest.approx(risk, abs=5e-9)
            assert found["verdict"] == "not-in-text"
    r1 = figures.loc["text/r1"]
    assert r1["computed"] == pytest.approx(0.0158235, abs=5e-8)
    assert r1["verdict"] == "exact"
    assert figures.loc["text/r1-per-cent", ["published", "verdict"]].tolist() == [0.1582, "published-error"]
    assert "1.9 to 5.4 times" in figures.loc["text/worst-case", "reason"]
    assert "0.00466" in figures.loc["text/worst-case", "reason"]
    assert figures.loc[["text/worst-case", "text/too-high"], "verdict"].tolist() == ["in-part"] * 2
    assert "10 of the 10 risks are too low, since r_k is 1.9 to 5.4 times" in figures.loc["text/too-high", "reason"]
    for claim in ("worst-case", "too-high"):
        assert "footnote 5" in figures.loc[f"text/{claim}", "reason"].lower()
    for claim in ("absent", "positive", "same-risk", "weights-sum", "share-first"):
        assert figures.loc[f"text/{claim}", ["verdict", "kind"]].tolist() == ["exact", "recomputed"]


def test_the_lost_ages_by_trying_every_filling():
    """INE Chile (2023), section 8.2.1.3: plain enumeration against the printed bands and tens."""
    raw = counts(AGES, "persons")
    known, left = {int(age): n for age, n in raw[:52].items()}, raw[52:].tolist()
    ages = [*range(67, 89), 90, 91]
    sums = [(61, 70, 173), (71, 80, 92), (81, 90, 27), (66, 100, 209), (66, 74, 122), (75, 85, 77), (86, 94, 10)]
    found = set()
    for gaps in combinations(range(24), 3):
        # Which of the counts that are left stands at each place; -1 is a gap.
        rest = iter(left)
        row = [-1 if i in gaps else next(rest) for i in range(24)]
        for lost in product(range(1, 5), repeat=3):
            if sum(lost) != 6:
                continue
            values = iter(lost)
            persons = known | {age: next(values) if n < 0 else n for age, n in zip(ages, row, strict=True)}
            if all(sum(persons.get(age, 0) for age in range(a, b + 1)) == total for a, b, total in sums):
                found.add(tuple(persons[age] for age in ages))
    ways = completions()
    assert {tuple(ways.loc[ages, way]) for way in ways} == found
    assert len(found) == ways.shape[1] == 8
    assert ways.loc[67:85, 0].tolist() == left[:19]
    assert (ways.loc[91] == 3).all()
    assert (ways.loc[[86, 87, 88, 90]].sum() == 7).all()
    assert (ways.loc[[86, 87, 88, 90]].nunique(axis=1) > 1).all()
    assert (ways.sum() == 2000).all()
    ways.loc[:] = 0
    assert (completions().sum() == 2000).all()


def test_bands_and_tens_are_the_same_in_every_completion(figures):
    persons = completions()[5]
    ages = np.repeat(persons.index, persons)
    for name, edges in {"Bloque 8.2": range(0, 101, 10), "Bloque 8.3": (0, 5, 11, 17, 21, 25, 49, 65, 100)}.items():
        edges = list(edges)
        number = [int(((ages > low) & (ages <= high)).sum()) for low, high in zip(edges, edges[1:], strict=False)]
        assert frequencies(persons)[name].tolist() == number
        assert figures.loc[figures["table"] == name, "computed"].sum() == 2000
        assert [n for n, text in zip(number, printed(name, "persons"), strict=True) if text] == counts(
            name, "persons"
        ).tolist()
    halves = pd.Series([round(age, -1) for age in ages.tolist()]).value_counts()
    assert frequencies(persons)[AGES].to_dict() == {str(ten): n for ten, n in halves.items()}
    assert counts(AGES, "rounded to tens").to_dict() == frequencies(persons)[AGES].to_dict()
    assert "176 at 20, where rounding half up would give 137" in figures.loc["text/lost-rounding", "reason"]
    assert figures.loc["bloque-8-2/90-100/persons", "computed"] == 3


def test_what_our_ages_were_completed_with_is_marked(figures):
    fitted = figures[figures["kind"] == "fitted"]
    assert sorted(fitted["row"]) == sorted(["(60,70]", "(70,80]", "(80,90]", "(65,100]", "70", "80", "90"])
    assert (fitted["verdict"] == "exact").all()
    free = figures[figures["table"].isin([AGES, "Bloque 8.2", "Bloque 8.3"]) & (figures["kind"] == "recomputed")]
    assert (free["verdict"] == "exact").all()
    assert len(free) == 6 + 6 + 6


def test_kinds(figures):
    assert figures["kind"].value_counts().to_dict() == {
        "recomputed": 255,
        "input": 227,
        "copied": 211,
        "unchecked": 75,
        "fitted": 7,
    }
    assert set(figures.loc[figures["kind"] == "unchecked", "verdict"]) == {"illegible", "not-in-text"}
    assert (figures.loc[figures["kind"] == "input", "verdict"] == "exact").all()
    drawn = figures[figures["verdict"] == "within-noise"]
    assert drawn["row"].tolist() == ["capital, large city", "small city", "town"]


@pytest.mark.parametrize(
    ("figure", "kind"),
    {
        "text/csv-function": "copied",
        "text/ls-age": "copied",
        "text/ls-total": "recomputed",
        "text/size-before": "copied",
        "text/top-value": "copied",
        "text/bottom-value": "input",
        "text/prob-etnia-5": "input",
        "text/match-probability": "input",
        "text/worst-case": "recomputed",
        "text/days-persons": "unchecked",
        "text/first-resolution": "unchecked",
        "text/interval-share": "unchecked",
        "text/vector-lengths": "unchecked",
        "text/patients": "input",
        "text/threshold": "input",
        "text/both-kinds": "copied",
        "text/ls-lower": "copied",
        "text/zero-division": "recomputed",
        "text/household-formula": "copied",
        "tabla-8-2/1/region-after": "copied",
        "tabla-8-2/1/f-k-after": "recomputed",
        "tabla-7-3/4/education": "copied",
        "bloque-8-1/rural/after": "copied",
        "tabla-8-1/pram/classification": "recomputed",
        "tabla-8-1/local-suppression/classification": "copied",
    }.items(),
)
def test_in_doubt_the_weaker_kind(figures, figure, kind):
    assert figures.loc[figure, "kind"] == kind


def test_verdicts(figures):
    assert figures["verdict"].value_counts().to_dict() == {
        "exact": 652,
        "not-in-text": 62,
        "published-error": 36,
        "in-part": 9,
        "illegible": 13,
        "within-noise": 3,
    }
    odd = figures[figures["verdict"] != "exact"]
    assert (odd["reason"] != "").all()
    in_tables = figures[(figures["verdict"] == "published-error") & (figures["table"] != "text")]
    assert sorted(in_tables.index) == [
        "tabla-6-1/xlsx",
        "tabla-6-2/12",
        "tabla-8-2/5/f-k",
    ]
    assert set(figures.loc[["bloque-7-1/11/health", "bloque-7-1/12/health"], "verdict"]) == {"illegible"}
    assert set(figures.loc[["tabla-7-3/4/education", "tabla-7-3/5/education"], "verdict"]) == {"exact"}
    assert figures.loc["text/ls-size-categories", ["verdict", "computed"]].tolist() == ["not-in-text", 2]


def test_every_explanation_is_used_and_names_code_that_is_there():
    table = pd.read_csv(EXPLAINED, keep_default_na=False)
    table = table[table["figures"].str.startswith(SOURCE)]
    used = [explanation(figure_id)["figures"] for figure_id in published_figures(SOURCE)["figure_id"]]
    # The last pattern is for figures that are forgotten: there are none.
    assert set(table["figures"]) - set(used) == {f"{SOURCE}/*"}
    assert "kanon_book.studies.ine_chile_audit.recompute" not in set(table["code"])
    assert all(pkgutil.resolve_name(code) for code in table["code"])
    assert {chapter for chapter in table["chapter"] if not (ROOT / "book" / f"{chapter}.md").is_file()} == set()


@pytest.mark.parametrize(("claim", "computed"), CONTRADICTIONS.items())
def test_the_guide_contradicts_itself(figures, claim, computed):
    found = figures.loc[f"text/{claim}"]
    assert found["verdict"] == "published-error"
    if isinstance(computed, str):
        assert found["computed_text"] == computed
    else:
        assert found["computed"] == pytest.approx(computed, rel=1e-12)


@pytest.mark.parametrize(
    ("claim", "reading"),
    {
        "ls-shift": "right in our examples. In Tabla 8.4",
        "formula": "the term gives 4 for k = 2 and 10 for k = 3",
        "bands-rare": "the two oldest, with 27 and 3, are the smallest",
        "missing-as": "one more value like the others, the counts would be [1, 1, 1]",
        "health-value": "by the codes of Bloque 7.1; Tabla 7.3 prints Enfermo",
        "interval-centre": "with the same width, both ways find the same values",
        "household-formula": "read as one factor",
        "seed": "R's function for replicable results",
        "kinds-of-recoding": "rounding among the options of global recoding",
        "size-urban": "of the five categories that the text lists, the first four become urban",
        "object": "Section 8.2.1.3 takes the object from that copy",
        "bands-from": "age 0 itself is in no band",
    }.items(),
)
def test_what_a_fair_reading_lets_stand(figures, claim, reading):
    found = figures.loc[f"text/{claim}"]
    assert found["verdict"] == "exact"
    assert reading in found["reason"]


IN_PART = {
    "suppress-told-apart": ("fits 4 persons. ", "Wrong from the intruder's side: 1 record is alone"),
    "finds-k": ("right if no value is missing", "Wrong if one is"),
    "household-records": ("right if all members have the same values", "with two regions, 3 records are left"),
    "household-size": (
        "right if only the households are out of order",
        "it gives 1, 1, 1, without warning; the true sizes are 2, 1, 2",
    ),
    "zero-division": ("for zero the statement is right", "1, -1 and 0 divided by zero are Inf, -Inf, NaN"),
    "worst-case": (
        "Of intruders it is right",
        "Of estimates it is wrong: the guide's own r_k, for the same intruder, is 1.9 to 5.4",
    ),
    "too-high": ("right for an outside file that lacks part", "10 of the 10 risks are too low"),
    "ls-usually": ("12 suppress more, and none fewer", "ours suppresses 6, 0 orders suppress more, and 12 fewer"),
    "prob-etnia": ("right as weights", "add up to 1.45, so the category with 0.95 is drawn with probability 0.655"),
}


@pytest.mark.parametrize(("claim", "reasons"), IN_PART.items())
def test_what_holds_in_part_says_where_it_holds_and_where_not(figures, claim, reasons):
    found = figures.loc[f"text/{claim}"]
    assert (found["verdict"], found["kind"]) == ("in-part", "recomputed")
    assert all(reason in found["reason"] for reason in reasons)


def test_no_other_statement_holds_in_part(figures):
    """A counterexample in the reason of what is called exact is a label too kind."""
    assert {f"text/{claim}" for claim in IN_PART} == set(figures.index[figures["verdict"] == "in-part"])
    exact = figures[(figures["verdict"] == "exact") & (figures["table"] == "text")]
    assert not exact["reason"].str.contains(r"\bwrong\b(?! way)", case=False).any()


def test_an_implication_the_wrong_way_round_has_no_fair_reading(figures):
    """INE Chile (2023), section 7.5.2: k-anonymity implies (k-1)-, not (k+1)-anonymity."""
    found = figures.loc["text/implied"]
    assert (found["verdict"], found["computed_text"]) == ("published-error", "(k-1)")


def test_every_contradiction_of_the_text_is_tested(figures):
    errors = figures[(figures["verdict"] == "published-error") & (figures["table"] == "text")]
    assert {f"text/{claim}" for claim in (*CONTRADICTIONS, "r1-per-cent")} == set(errors.index)


@pytest.mark.parametrize(
    "claim",
    ["uniques", "keys", "violate-3", "above", "by-key", "four-six-l", "keys-after", "suppress-others", "high-risk"],
)
def test_the_guide_is_right(figures, claim):
    assert figures.loc[f"text/{claim}", "verdict"] == "exact"


def test_the_household_of_three(figures):
    """INE Chile (2023), section 7.8: 1 - 0.98 x 0.97 x 0.97."""
    found = figures.loc["text/household"]
    assert found["computed"] == pytest.approx(1 - 0.98 * 0.97 * 0.97, abs=1e-15)
    assert found["verdict"] == "exact"
    assert "between 0.03 and 0.08" in found["reason"]


def test_persons_that_the_printed_intervals_lose(figures):
    assert "(49,65] has 398 persons; the ages that the text names have 373" in figures.loc["text/band-7", "reason"]
    assert "has 209 persons; the ages that the text names have 234" in figures.loc["text/band-8", "reason"]
    assert "no interval has age 14 (3 persons)" in figures.loc["text/open-1", "reason"]
    assert "no interval has age 65 (25 persons)" in figures.loc["text/open-3", "reason"]


def test_percentages_of_the_suppression_are_of_the_file(figures):
    shares = figures[(figures["table"] == "Bloque 8.7") & (figures["column"] == "%")]
    assert (shares["verdict"] == "exact").all()
    assert (shares["kind"] == "recomputed").all()


def test_importance_need_not_cost_more(figures):
    """INE Chile (2023), section 8.2.2, on the guide's own Tabla 7.1: here a half of the orders needs a value less."""
    found = figures.loc["text/ls-usually"]
    assert found["verdict"] == "in-part"
    assert "ours suppresses 6, 0 orders suppress more, and 12 fewer" in found["reason"]


def test_the_text_misses_its_own_total(whole):
    assert whole.rows_off.values.tolist() == [[SOURCE, "Bloque 8.7", "suppressions", 88, 279, 191]]
    assert printed_totals(published_figures(SOURCE).iloc[:0]) == []


def test_some_figures_alone():
    some = published_figures(SOURCE).query("table == 'Tabla 8.3'")
    assert recompute(some)["computed"].tolist() == [20, 8, 100, 16000, 6, 6, 15, 540]
    assert recompute(some.iloc[:0]).empty


def test_a_population_does_not_concern_the_guide():
    with pytest.raises(OptionError, match="ine-chile-2023 is recomputed from its own tables"):
        audit(SOURCE, pd.DataFrame())


def test_the_command(capsys):
    assert run(["audit", "--source", SOURCE, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert len(result["figures"]) == 775
    found = {(f["table"], f["row"], f["column"]): f for f in result["figures"]}
    assert found["Tabla 7.1", "7", "risk"]["computed"] == pytest.approx(0.02901093, abs=5e-9)
    assert found["text", "8.2.2", "Tabla 8.4, value of record 1 that is suppressed"]["computed"] == "superior"
    assert run(["audit", "--source", SOURCE, "--strict"]) == 1
    out = capsys.readouterr().out
    assert "printed (k+1), computed (k-1) (published-error)" in out
    assert "36 of 775 figures ask for attention" in out
