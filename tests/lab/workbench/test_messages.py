"""What the page says is said for those who click: places, titles of steps and limits, and what numbers count."""

from __future__ import annotations

import re

import pytest

from kanon_lab.measures.registry import measures
from kanon_lab.recipes.steps import STEPS, kind_of
from kanon_lab.report.words import Words
from kanon_lab.show.forms import Form
from kanon_lab.workbench.parts import Speech, lost_lines

SAID = {
    "End the recipe with a step suppress: {k_required: 3, claim: true_key}.": (
        "End the recipe with a step “Suppress cells to reach k” (Protect; k to reach: 3, "
        "Who looks for records: somebody who knows the true key values)."
    ),
    "step 2 (recode): open them (null as the first or last edge, None in Python)": (
        "step 2 (“Recode into bands or groups”): open them (null as the first or last edge)"
    ),
    "list it under released_as_is, or apply renumber": (
        "list it under “released unchanged” (Variables), or apply “Number the identifiers anew” (Protect)"
    ),
    "set the limit joint_linkage: 1": "set the limit “records linked by keys and quantities together” (Risk): 1",
    "k_required is not given": "“k to reach” is not given",
    "Recode sex more broadly, suppress values, or round them; see k and persons.": "",
}
# Choices that are their own words.
_PLAIN = ("month", "quarter", "year", "decade", "mean", "median")


@pytest.mark.parametrize(("text", "said"), SAID.items())
def test_a_message_names_what_a_person_clicks(text, said):
    assert Speech("en").message(text) == (said or text)


def test_the_spanish_page_has_its_own_titles():
    assert "«Redondear» (Proteger)" in Speech("es").message("redondéelo (paso round)")


def test_a_column_that_is_called_like_a_choice_keeps_its_name():
    words = Speech("en")
    assert words.settings({"variable": "age", "dates": "age"}) == "Columns: age; Part of a date: age in years"
    assert words.settings({"variables": ["exact", "mean"]}) == "Columns: exact, mean"
    assert "Columns: age)" in words.message("apply top_code: {variable: age}")


@pytest.mark.parametrize("language", ["en", "es"])
def test_each_choice_of_a_step_has_words(language):
    words, unnamed = Speech(language), []
    for name in STEPS:
        form = Form(kind_of(name).model, ["age"], words)
        menus = [field.control.options for field in form.fields.values() if hasattr(field.control, "options")]
        of_words = [option for options in menus for option in options if isinstance(option, tuple) and option[1]]
        unnamed += [value for title, value in of_words if value != "age" and title == value and value not in _PLAIN]
    assert unnamed == []


@pytest.mark.parametrize("language", ["en", "es"])
def test_each_loss_says_where_nothing_is_lost(language):
    says = {row.name: getattr(Words(language).explained(row), "says", "") for row in measures(shown="utility")}
    of_loss = {name: text for name, text in says.items() if "linkage" not in name}
    assert {"table_distance", "il1s"} <= {*of_loss}
    assert all(re.search(r"\b(0|1|100)(\s?%)? (if|si)\b", text) for text in of_loss.values()), of_loss


def test_a_key_that_is_mostly_suppressed_is_in_view(opened):
    bench = opened("survey.csv")
    keys = {"key_variables": ["sex", "age", "education"], "limits": {"k": 3}}
    order = {"sex": 1, "age": 2, "education": 3}
    steps = {"k_required": 12, "importance": order, "claim": "true_key"}
    bench.change(bench.session.draft.with_settings(**keys).with_step("suppress", steps))
    bench.wait()
    (line,) = lost_lines(bench.result, bench.w)
    assert line.startswith("age: ") and "of 300 values are suppressed" in line and line[:40] in bench._verdict.value
    bench.undo.click()
    bench.wait()
    assert "are suppressed" not in bench._verdict.value


def test_no_two_limits_of_the_form_begin_alike(opened):
    bench = opened("survey.csv")
    labels = [field.control.description for field in bench.places["risk"].limits.fields.values()]
    assert len({label.split(" (")[0] for label in labels}) == len(labels)
    assert "earlier release" not in str(labels)
