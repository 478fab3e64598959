"""The section for the data protection officer: three questions, one sentence each, and what was not examined."""

import dataclasses
import re

import pandas as pd
import pytest
from test_report_sections import FRAME, SETTINGS

from kanon_lab.report.analysis import analyse
from kanon_lab.report.config import as_config
from kanon_lab.report.sections import section
from kanon_lab.report.words import texts
from kanon_lab.show.parts import render_text

BARE = {"key_variables": ["region"], "limits": {"k": 2}}
STARTS = {
    "en": ("Singling out:", "Linking:", "Inference:"),
    "es": ("Singularización:", "Vinculabilidad:", "Inferencia:"),
}


def said(analysis, language="en"):
    """The section as a terminal has it, in one line, without its table; and the table as a frame."""
    shown = section(analysis, "officer", language)
    (group,) = shown.parts
    (table,) = [part for part in group.parts if hasattr(part, "frame")] or [None]
    text = dataclasses.replace(group, parts=[part for part in group.parts if part is not table])
    return " ".join(" ".join(render_text(text)).split()), None if table is None else table.frame


def analysed(settings, frame=FRAME, **more):
    return analyse(frame, as_config(settings), name="x", **more)


@pytest.fixture(scope="module")
def office():
    return analysed(SETTINGS, internal=True)


@pytest.mark.parametrize("language", ["en", "es"])
def test_each_question_has_one_sentence_and_rows(office, language):
    text, table = said(office, language)
    places = [text.index(start) for start in STARTS[language]]
    assert places == sorted(places) and all(text.count(start) == 1 for start in STARTS[language])
    assert table.iloc[:, 0].nunique() == 3 and len(table) == 7
    assert texts()["officer_advice"][language] in text
    assert not re.search(r"\{\w+\}|\bNone\b|\bnan\b", text)


def test_the_numbers_are_those_of_the_report(office):
    text, table = said(office)
    after, claims = office.summary["after"], office.claims.set_index("claim")["records"]
    below = claims[office.summary["claim"]]
    assert f"Singling out: {after['violations_2_wildcard']} records are unique" in text
    assert f"k is {after['k_achieved']}" in text and f"hold {below} of 400 records" in text
    assert f"links {100 * after['key_linkage']:.0f}% of the records" in text
    assert [*table.iloc[:3, 2]] == [str(after["violations_2_wildcard"]), str(after["k_achieved"]), str(below)]
    row = office.diversity.iloc[0]
    assert f"The keys reveal its value for {row['homogeneous']} records" in text


def test_the_intruder_who_knows_true_keys_decides_where_keys_are_suppressed():
    steps = [{"suppress": {"k_required": 3, "importance": {"region": 1, "age": 2}}}]
    found = analysed({**SETTINGS, "steps": steps, "map": None}, internal=True)
    assert found.summary["claim"] == "true_key"
    below = found.claims.set_index("claim")["records"]["true_key"]
    assert f"for {below} of 400 records, an intruder who knows the true keys finds fewer than 3." in said(found)[0]


@pytest.mark.parametrize("k", [2, 5])
def test_the_k_of_the_verdict_is_said_where_it_counts_another_intruder(k):
    steps = [{"suppress": {"k_required": 5, "importance": {"region": 1, "age": 2}}}]
    judged = analysed({**SETTINGS, "limits": {"k": k}, "steps": steps, "map": None}, internal=True)
    (least,) = judged.judged.verdict.loc[judged.judged.verdict["name"] == "k", "found"]
    assert (
        f"The k of the verdict is for this intruder: the true key with the fewest matches fits {int(least)} records."
        in said(judged)[0]
    )


def test_the_most_exposed_variable_is_named_and_all_are_in_the_table():
    frame = FRAME.assign(same=FRAME["region"], other=[*"ab"] * 200)
    found = analysed({**BARE, "sensitive_variables": ["other", "same", "ill"]}, frame, internal=True)
    text, table = said(found)
    assert "of the sensitive variables (3) the most exposed is same" in text
    assert "The keys reveal its value for 400 records" in text and "right for 75% more of the records" in text
    assert sum(table.iloc[:, 0] == "inference") == 6


def test_what_was_not_examined_is_said_with_what_to_add():
    frame = FRAME[["region"]]
    text, _ = said(analysed(BARE, frame))
    assert "Inference:" not in text and "Linking:" in text
    for key in ("officer_no_k_with", "officer_no_k_map", "officer_no_quantities", "officer_no_sensitive"):
        assert texts()[key]["en"] in text
    keyless = {"numeric_variables": ["income"], "limits": {"numeric_linkage": 0.5}}
    text, table = said(analysed(keyless, FRAME[["income"]]))
    assert texts()["officer_no_keys"]["en"] in text and "Singling out:" not in text
    assert "Linking: an intruder who has everybody’s true quantities links 100% of the records." in text


def test_another_release_and_a_population_are_answers_where_they_are_given(tmp_path):
    frame = pd.DataFrame({"id": range(8), "age": [4, 12, 13, 25] * 2})
    frame.assign(age=["0-14" if age < 15 else "15+" for age in frame["age"]]).to_csv(tmp_path / "old.csv", index=False)
    pd.DataFrame({"age": [4, 12, 13, 25] * 5}).to_csv(tmp_path / "all.csv", index=False)
    settings = {
        "key_variables": ["age"],
        "released_as_is": ["id"],
        "limits": {"k": 2},
        "earlier_release": {"file": str(tmp_path / "old.csv"), "id": "id"},
        "population": str(tmp_path / "all.csv"),
        "steps": [{"recode": {"variable": "age", "bands": [0, 10, None]}}],
    }
    found = analysed(settings, frame, internal=True)
    text, table = said(found)
    assert "has the earlier release finds at least 2 persons who match each person" in text
    singled, _, linked = text.partition("Linking:")
    shared = "Each record has the key of at least 5 persons of the population."
    assert shared in singled and shared not in linked
    for key in ("officer_no_k_with", "officer_no_k_map"):
        assert texts()[key]["en"] not in text


def test_a_page_for_everybody_keeps_its_rounding():
    """Counts in steps, guesses in tenths, and nothing that the internal page has besides."""
    frame = FRAME.assign(age=range(400))
    settings = {"key_variables": ["region", "age"], "sensitive_variables": ["ill"], "limits": {"k": 3}, "steps": []}
    steps = [{"recode": {"variable": "age", "bands": [0, 8, 16, 24, None]}}]
    exact, rounded = (analysed({**settings, "steps": steps}, frame, internal=flag) for flag in (True, False))
    assert exact.claims.set_index("claim")["records"][exact.summary["claim"]] == 24
    assert "hold 24 of 400 records" in said(exact)[0]
    assert "hold 20 of 400 records" in said(rounded)[0]
    assert texts()["officer_rounded"]["en"] in said(rounded)[0]
    assert re.search(r"about \d0?% more of the records", said(rounded)[0])
