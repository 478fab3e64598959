"""The page: from a file to its release by its widgets; faults are one line beside their field; nothing of the data."""

from __future__ import annotations

import datetime
import re
from html import escape
from pathlib import Path
from threading import Event

import pandas as pd
import pytest
from ipywidgets import Widget

from kanon_lab.files import limited
from kanon_lab.workbench.drafts import drafts_folder


def widgets_of(widget: Widget) -> list[Widget]:
    """A widget and all that is in it."""
    inner = [*getattr(widget, "children", ())]
    return [widget, *(one for child in inner for one in widgets_of(child))]


def state_of(bench) -> str:
    """All that a page could show: the state of every widget of every place."""
    boxes = [bench.box, *(place.box for place in bench.places.values())]
    return "\n".join(str(widget.get_state()) for box in boxes for widget in widgets_of(box))


def press(box: Widget, words: str) -> None:
    """Press the button with these words."""
    found = [one for one in widgets_of(box) if type(one).__name__ == "Button" and one.description == words]
    assert found, words
    found[0].click()


def test_from_a_file_to_its_release(opened):
    bench = opened("survey.csv")
    bench.go("variables")
    for name in ("birth_date", "income"):  # members share their income, by which households are found
        bench.places["variables"].roles[name].value = "remove_variables"
        bench.wait()
    bench.go("risk")
    press(bench.places["risk"].box, "Take the usual limits")
    bench.wait()
    for name in ("household_risk", "global_risk"):
        bench.places["risk"].limits.fields[name].control.value = "0.2"
        bench.wait()
        assert bench.session.draft.settings["limits"][name] == 0.2
    bench.go("protect")
    press(bench.places["protect"].box, "Add the usual first steps")
    bench.wait()
    assert bench.result.judged.met, bench._verdict.value
    assert "meets every limit" in bench._verdict.value
    bench.go("release")
    for words in ("Write the recipe", "Write the protected file"):
        press(bench.places["release"].box, words)
        bench.wait()
    assert {path.name for path in Path.cwd().iterdir()} == {"survey.csv", "recipe.yml", "protected.csv"}
    assert "written" in bench.places["release"].lines["protected"].value


def test_a_step_by_its_form_and_a_wrong_entry_beside_its_field(opened):
    bench = opened("survey.csv")
    bench.go("protect")
    protect = bench.places["protect"]
    protect.kind.value = "top_code"
    fields = protect.form.fields
    fields["variable"].control.value = ("age",)
    press(protect.form_box, "Add this step")
    assert "above is not given" in fields["above"].fault.value and 'role="alert"' in fields["above"].fault.value
    assert not bench.session.draft.steps
    fields["above"].control.value = "85"
    press(protect.form_box, "Add this step")
    bench.wait()
    assert [step.settings for step in bench.session.draft.steps] == [{"variable": ["age"], "above": 85}]
    assert protect.form is None and "<table" in protect.history.value
    press(protect.steps, "Edit")
    assert protect.form.fields["above"].control.value == "85"


def test_what_the_file_does_not_allow_gets_its_line_and_is_taken_back(opened):
    bench = opened("survey.csv")
    bench.go("protect")
    protect = bench.places["protect"]
    protect.kind.value = "recode"
    protect.form.fields["variable"].control.value = ("sex",)
    protect.form.fields["bands"].control.value = "0, 30, null"
    press(protect.form_box, "Add this step")
    bench.wait()
    form = protect.form
    assert not bench.session.draft.steps
    assert "kanon-fault" in "".join(field.fault.value for field in form.fields.values()) + form.fault.value


def test_whether_an_empty_key_is_an_answer_is_an_open_question_until_it_is_answered(opened):
    frame = pd.read_csv("survey.csv").assign(work=lambda rows: ["yes" if n % 3 else "no" for n in range(len(rows))])
    frame.assign(job=(frame["age"] % 4).where(frame["work"] == "yes")).to_csv("jobs.csv", index=False)
    bench = opened("jobs.csv")
    variables, release = bench.places["variables"], bench.places["release"]
    variables.fill()
    empty_before = set(bench.session.empty_keys())
    variables.roles["job"].value = "key_variables"
    bench.wait()
    bench.go("variables")
    assert variables.of_empty.layout.display is None and variables.empty.value == ""
    assert "job" in variables.asked.value and "follows from work" in variables.asked.value
    bench.go("release")
    assert "whether an empty cell of" in release.open_questions.value
    bench.go("variables")
    variables.empty.value = "category"
    bench.wait()
    assert bench.session.draft.settings["missing"] == "category"
    bench.go("release")
    assert (
        "whether an empty cell of" not in release.open_questions.value and "missing: category" in release.recipe.value
    )
    bench.undo.click()
    bench.wait()
    bench.go("variables")
    assert variables.empty.value == "" and "missing" not in bench.session.draft.settings
    for name in {*empty_before, "job"}:
        variables.roles[name].value = "released_as_is"
        bench.wait()
    assert variables.of_empty.layout.display == "none"


def test_columns_that_earlier_steps_removed_are_not_offered_to_later_ones(opened):
    bench = opened("survey.csv")
    bench.go("protect")
    protect = bench.places["protect"]
    bench.change(bench.session.draft.with_step("remove_variables", {"variables": ["age"]}))
    bench.wait()
    (entry,) = bench.session.draft.steps

    def offered(name):
        protect.kind.value = name
        columns = protect.form.fields["variable" if "variable" in protect.form.fields else "variables"].control.options
        press(protect.form_box, "Close without it")
        return columns

    assert "age" not in offered("top_code") and "age" not in offered("remove_variables")
    protect._show_form(entry.name, entry, entry.settings)
    assert protect.form.fields["variables"].value == ["age"]
    bench.change(bench.session.draft.with_switched(0))
    bench.wait()
    assert "age" in offered("top_code")


def test_undo_and_redo(opened):
    bench = opened("survey.csv")
    role = bench.places["variables"]
    bench.go("variables")
    role.roles["age"].value = "released_as_is"
    bench.wait()
    bench.undo.click()
    bench.wait()
    assert role.roles["age"].value == "key_variables"
    bench.redo.click()
    bench.wait()
    assert bench.session.draft.role_of("age") == "released_as_is"


def test_spanish(opened):
    bench = opened("survey.csv", "es")
    for place in bench.places:
        bench.go(place)
        bench.wait()
    assert "No ha fijado" in bench._verdict.value and "Publicar" in bench.menu.options[-1][0]
    words = re.findall(r"description': '([^']*)'", state_of(bench))
    assert not {"Stop", "Undo", "Edit", "Open"} & {*words}


def test_no_file_no_traceback(capsys):
    from kanon_lab.workbench.page import Workbench

    bench = Workbench("en")
    for place in bench.places:
        bench.go(place)
    press(bench.places["file"].box, "Open")
    assert "No file is open" in bench._line.value
    bench.places["file"].open("not-there.csv")
    bench.wait()
    assert "not-there.csv" in bench._line.value
    assert capsys.readouterr() == ("", "")


def test_no_value_of_few_records_is_in_the_page_or_the_draft(opened):
    n = 200
    frame = pd.DataFrame(
        {
            "name": [f"ZQNAME{row}" for row in range(n)],
            "town": ["North", "South"] * (n // 2 - 1) + ["ZQTOWN1", "ZQTOWN2"],
            "age": [20 + row % 50 for row in range(n - 1)] + [987],
            "income": [1000 + 7 * row for row in range(n - 1)] + [7654321],
            "note": [f"ZQNOTE{row}" for row in range(n)],
        }
    )
    frame.to_csv("marked.csv", index=False)
    bench = opened("marked.csv")
    bench.change(bench.session.draft.with_settings(limits={"k": 3}).with_role("note", "remove_variables"))
    bench.wait()
    for place in bench.places:
        bench.go(place)
        bench.wait()
    state = state_of(bench) + "".join(path.read_text("utf-8") for path in drafts_folder().iterdir())
    assert not re.findall(r"ZQ\w+|7654321|\b987\b", state)


def test_a_file_that_is_sent_through_the_page_leaves_nothing_in_it(opened):
    bench = opened("survey.csv")
    content = "town,age,illness\n" + "".join(f"{'NS'[n % 2]},{20 + n % 40},{n % 3}\n" for n in range(120))
    upload = bench.places["file"].upload
    sent = {"name": "../sent.csv", "type": "", "size": len(content), "content": content.encode()}
    upload.value = ({**sent, "last_modified": datetime.datetime.now(datetime.UTC)},)
    bench.wait()
    assert bench.session.name == "sent.csv" and upload.value == ()
    assert bench.session.command_lines()[0].split()[2] == "sent.csv"


def test_bars_beside_a_recoding_follow_its_sliders_and_groups(opened):
    bench = opened("survey.csv")
    bench.go("protect")
    protect = bench.places["protect"]
    protect.kind.value = "recode"
    form = protect.form
    form.fields["variable"].control.value = ("age",)
    helper, bars = protect.form_box.children[2].children
    helper.children[0].value = 20
    assert form.values["bands"] == [0, 20, 40, 60, 80, None] and "20-39" in bars.value
    form.kind.value = "groups"
    form.fields["variable"].control.value = ("sex",)
    menu, group = helper.children
    menu.value = menu.options
    group.children[0].value = "person"
    group.children[1].click()
    press(protect.form_box, "Add this step")
    bench.wait()
    (step,) = bench.session.draft.steps
    assert step.settings == {"variable": ["sex"], "groups": {"person": [*menu.options]}, "others": "keep"}


@pytest.fixture
def bench_that_tried(opened):
    """A workbench after the steps that may come next were tried."""
    bench = opened("survey.csv")
    bench.change(bench.session.draft.with_settings(key_variables=["age", "sex"], limits={"k": 3}))
    bench.wait()
    bench.go("protect")
    press(bench.places["protect"].box, "What would help most?")
    bench.wait()
    return bench


def test_next_steps_are_tried_and_taken(bench_that_tried):
    bench = bench_that_tried
    tried = bench.places["protect"].tried
    words = " ".join(one.value for one in widgets_of(tried) if hasattr(one, "value"))
    assert "Suppress" in words and "Steps that were tried:" in words and "{" not in words and "_" not in words
    press(tried, "Take this step")
    bench.wait()
    assert len(bench.session.draft.steps) == 1


def test_a_fault_that_names_a_field_out_of_view_stands_below_the_form(opened):
    bench = opened("survey.csv")
    form = bench.places["protect"]._show_form("recode")
    form.values = {"variable": ["age"], "width": 5}
    form.say("numbers are needed; recode it in one step, or give groups")
    assert "numbers are needed" in form.fault.value
    form.say("width: must be more than 0")
    assert "must be more" in form.fields["width"].fault.value


def test_the_form_of_a_step_offers_no_ids_but_where_the_step_is_for_them(opened):
    bench = opened("survey.csv")
    bench.change(bench.session.draft.with_role("income", "household"))
    show, offered = bench.places["protect"]._show_form, {}
    for name, field in (("round", "variable"), ("renumber", "variables")):
        offered[name] = set(show(name).fields[field].control.options)
    assert "income" not in offered["round"] and "income" in offered["renumber"]
    bench.wait()


def test_the_page_says_how_many_steps_went_with_a_column(opened):
    bench = opened("survey.csv")
    bench.go("variables")
    bench.change(bench.session.draft.with_step("rank_swap", {"variables": ["income"], "window": 0.2}))
    bench.wait()
    bench.places["variables"].roles["income"].value = "remove_variables"
    assert "Steps for this column alone were removed too: 1" in bench._line.value
    bench.wait()
    assert [step.name for step in bench.session.draft.steps] == ["remove_variables"]


def test_a_step_says_its_settings_and_the_verdict_its_cautions(opened):
    bench = opened("survey.csv")
    bench.change(bench.session.draft.with_settings(key_variables=["age", "sex"], limits={"k": 3}))
    bench.go("protect")
    bench.change(bench.session.draft.with_step("rank_swap", {"variables": ["income"], "window": 0.2}))
    bench.wait()
    words = " ".join(one.value for one in widgets_of(bench.places["protect"].steps) if hasattr(one, "value"))
    assert "Columns: income; Window of ranks: 0.2" in words
    cautions = bench.result.judged.cautions
    assert cautions and all(escape(bench.w.note(caution.text)) in bench._verdict.value for caution in cautions)


def test_other_values_of_k_and_indicators_are_compared(opened):
    bench = opened("survey.csv")
    draft = bench.session.draft.with_settings(key_variables=["age", "sex"], limits={"k": 3})
    bench.change(draft.with_step("suppress", {}))
    bench.wait()
    bench.go("compare")
    bench.wait()
    press(bench.places["compare"].box, "Try other values of k")
    bench.wait()
    assert len(bench.places["compare"].map.children) > 2, bench._line.value
    bench.change(bench.session.draft.with_limit("k", 2))
    assert not bench.places["compare"].map.children  # its own point was that of another draft
    assert "kanon-stale" in bench.places["compare"].sections._dom_classes
    bench.wait()
    assert "kanon-stale" not in bench.places["compare"].sections._dom_classes
    press(bench.places["compare"].box, "Compare rates and means that users may publish")
    bench.wait()
    assert bench.session.draft.settings["indicators"]["means"] == ["income"]
    sections = bench.places["compare"].sections.children
    assert "overlap" in "".join(str(one.value) for one in sections if hasattr(one, "value"))


def test_the_riskiest_combinations_come_after_a_click_alone(opened):
    bench = opened("survey.csv")
    bench.go("risk")
    bench.wait()
    risk = bench.places["risk"]
    assert not risk.riskiest.children
    press(risk.box, "Show the riskiest combinations")
    bench.wait()
    assert len(risk.riskiest.children) > 1
    press(risk.box, "Hide them")
    assert not risk.riskiest.children
    press(risk.box, "Show the riskiest combinations")
    bench.wait()
    bench.change(bench.session.draft.with_limit("k", 3))
    assert not risk.riskiest.children
    bench.wait()


def test_what_runs_is_stopped(opened):
    bench = opened("enusc-synthetic")
    bench.change(bench.session.draft.with_step("suppress", {"k_required": 3, "claim": "true_key"}))
    bench.stop.click()
    bench.wait()
    assert bench.fresh is None and bench.stop.layout.display == "none" and "Stopped" in bench._line.value
    assert "stopped" in bench._verdict.value
    bench.go("release")
    assert "was stopped" in bench.places["release"].open_questions.value
    for place, words in (("protect", "What would help most?"), ("release", "Write the recipe")):
        press(bench.places[place].box, words)
        assert "was stopped" in bench._line.value
        bench.say("")
    bench.undo.click()
    bench.wait()
    assert bench.fresh is not None and bench._line.value == ""


def test_what_a_click_asked_for_outlives_a_look_at_another_place(opened):
    bench = opened("survey.csv")
    bench.change(bench.session.draft.with_settings(key_variables=["age", "sex"], limits={"k": 3}))
    bench.wait()
    bench.go("protect")
    press(bench.places["protect"].box, "What would help most?")
    bench.go("risk")
    bench.go("compare")
    bench.wait()
    assert bench.places["protect"].tried.children and bench.places["compare"].sections.children


def test_the_line_on_what_runs_stays_while_something_runs(opened):
    bench, go = opened("survey.csv"), Event()
    bench.writing.submit(lambda progress: progress("a long report") or go.wait(20), print, print)
    bench.change(bench.session.draft.with_limit("k", 3))
    bench.work.wait()
    assert "a long report" in bench._step.value and bench.stop.layout.display is None
    go.set()
    bench.wait()
    assert not bench._step.value and bench.stop.layout.display == "none"


def test_a_fault_that_nobody_foresaw_is_said_by_its_kind_alone(opened, monkeypatch):
    bench = opened("survey.csv")
    bench.go("risk")
    field = bench.places["risk"].limits.fields["k"]

    def fail(_):
        raise ValueError("ZQ-VALUE")

    monkeypatch.setattr(type(field), "value", property(fail))
    field.control.value = "4"
    assert "an unexpected ValueError" in bench._line.value and "ZQ-VALUE" not in state_of(bench)


def test_a_file_that_is_too_large_is_not_taken(opened):
    bench = opened("survey.csv")
    upload, content = bench.places["file"].upload, b"a,b\n1,2\n" * 20
    with limited(100):
        now = datetime.datetime.now(datetime.UTC)
        upload.value = ({"name": "s.csv", "type": "", "size": 180, "content": content, "last_modified": now},)
    bench.wait()
    assert "larger than 100 bytes" in bench._line.value and bench.session.name == "survey.csv"


def test_no_verdict_of_another_file_stands_while_a_file_is_read(opened, monkeypatch):
    bench = opened("survey.csv")
    bench.change(bench.session.draft.with_limit("k", 3))
    bench.wait()
    assert "kanon-unmet" in bench._verdict.value
    going = Event()
    monkeypatch.setattr("kanon_lab.workbench.opening.Session", lambda *args, **options: going.wait(30) and 1 / 0)
    content, now = b"a,b\n1,2\n" * 20, datetime.datetime.now(datetime.UTC)
    bench.places["file"].upload.value = (
        {"name": "s.csv", "type": "", "size": len(content), "content": content, "last_modified": now},
    )
    assert "A file is being read" in bench._verdict.value and "kanon-unmet" not in bench._verdict.value
    going.set()
    bench.wait()
    assert "ZeroDivisionError" in bench._line.value
    assert bench.session.name == "survey.csv" and "kanon-unmet" in bench._verdict.value


def test_a_file_that_cannot_be_opened_leaves_the_one_there_was(opened):
    bench = opened("survey.csv")
    bench.change(bench.session.draft.with_limit("k", 3))
    bench.places["file"].open("not-there.csv")
    bench.wait()
    assert "not-there.csv" in bench._line.value
    assert bench.session.name == "survey.csv" and bench.fresh is not None


def test_a_file_of_few_records_has_every_place(opened):
    Path("few.csv").write_text("a\n1\n2\n1\n", "utf-8")
    bench = opened("few.csv")
    for place in bench.places:
        bench.go(place)
        bench.wait()
        assert bench._line.value == ""


def test_a_folder_with_what_cannot_be_looked_at_or_that_is_gone(opened, monkeypatch):
    Path("long.csv").symlink_to("y" * 300)
    bench = opened("survey.csv")
    assert [name for _, name in bench.places["file"].file.options][1:2] == ["survey.csv"]
    Path("gone").mkdir()
    monkeypatch.chdir("gone")
    Path("../gone").rmdir()
    bench = opened("health-survey")
    bench.go("release")
    press(bench.places["release"].box, "Write the recipe")
    bench.wait()
    assert "cannot be written" in bench.places["release"].lines["recipe"].value and bench._line.value == ""


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("steps: x", "steps must be a list"),
        ("key_variables: [age]\nsteps: [x]", "step 1"),
        ("key_variables: [age]\nsteps: [{recode: 5}]", "step 1"),
        ("a: &a [1]\nb: *a", "anchor"),
    ],
)
def test_a_recipe_that_is_none_is_said_in_a_line(text, fault):
    from kanon_lab.workbench.page import Workbench

    Path("bad.yml").write_text(text, "utf-8")
    bench = Workbench("en")
    bench.places["file"].recipe.value = "bad.yml"
    bench.places["file"].open("survey.csv")
    bench.wait()
    assert "bad.yml: " in bench._line.value and fault in bench._line.value and bench.session is None


def test_no_column_name_is_shown_as_a_formula(opened):
    pd.DataFrame({"$\\alpha$": [1, 2] * 30, r"\(x\)": [1, 2] * 30}).to_csv("names.csv", index=False)
    bench = opened("names.csv")
    bench.go("variables")
    shown = [control.description for control in bench.places["variables"].roles.values()]
    assert len(shown) == 2 and not {"$", "\\"} & {*"".join(shown)}


def test_null_does_without_a_limit_that_always_applies(opened):
    bench = opened("survey.csv")
    bench.go("risk")
    fields = bench.places["risk"].limits.fields
    for name, text in (("repeated_identifiers", "null"), ("global_risk", "0.5")):
        fields[name].control.value = text
        bench.wait()
    assert bench.session.draft.settings["limits"] == {"repeated_identifiers": None, "global_risk": 0.5}
    assert "repeated_identifiers: null" in bench.session.configuration()
    assert "repeated_identifiers" not in bench.fresh.config.limits
    again = opened("survey.csv")
    again.go("risk")
    field = again.places["risk"].limits.fields["repeated_identifiers"]
    assert field.control.value == "null"
    field.control.value = " "
    again.wait()
    assert again.session.draft.settings["limits"] == {"global_risk": 0.5}


def test_two_clicks_in_a_hurry_are_two_changes(opened):
    bench = opened("survey.csv")
    draft = bench.session.draft.with_step("remove_variables", {"variables": ["income"]})
    bench.change(
        draft.with_step("bottom_code", {"variable": ["age"], "below": 1}).with_step(
            "top_code", {"variable": ["age"], "above": 80}
        )
    )
    bench.go("protect")
    for _ in range(2):
        press(bench.places["protect"].steps.children[0], "Later")
    assert [step.name for step in bench.session.draft.steps] == ["remove_variables", "bottom_code", "top_code"]
    press(bench.places["protect"].steps.children[0], "Later")
    press(bench.places["protect"].steps.children[1], "Switch off")
    bench.wait()
    assert [step.on for step in bench.session.draft.steps] == [True, False, True]


def test_a_draft_is_back_when_the_file_is_opened_again(opened):
    bench = opened("survey.csv")
    bench.change(bench.session.draft.with_step("top_code", {"variable": ["age"], "above": 80}).with_limit("k", 3))
    bench.wait()
    again = opened("survey.csv")
    assert again.session.draft == bench.session.draft and again.places["file"].offer.children
    press(again.places["file"].box, "Start anew")
    again.wait()
    assert not again.session.draft.steps and not again.places["file"].offer.children
    again.undo.click()
    again.wait()
    assert again.session.draft == bench.session.draft


def test_files_are_written_into_the_folder_alone_and_under_names_of_their_own(opened, tmp_path):
    bench = opened("health-survey")
    place = bench.places["release"]
    place.format.value = "csv"
    for name in ("../out.csv", str(tmp_path / "out"), ".hidden", "", "a\nb", "\u202efdp"):
        place.names["protected"].value = name
        place._write("protected")
        assert "kanon-fault" in place.lines["protected"].value or "role" in place.lines["protected"].value
    place.names["page"].value = place.names["internal"].value
    place._write("page")
    assert place.lines["page"].value
    bench.wait()
    assert [path.name for path in (tmp_path / "work").iterdir()] == ["survey.csv"]
    assert [path.name for path in tmp_path.glob("out*")] == []


def test_files_are_written_in_their_turn(opened):
    bench = opened("survey.csv")
    bench.go("release")
    release = bench.places["release"]
    for words in ("Write the protected file", "Write the recipe"):
        press(release.box, words)
    bench.wait()
    assert all("is written" in release.lines[key].value for key in ("recipe", "protected"))
    bench.change(bench.session.draft.with_limit("k", 3))
    assert all("before the last change" in release.lines[key].value for key in ("recipe", "protected"))
    bench.undo.click()
    assert "recipe.yml is written" in release.lines["recipe"].value
    bench.wait()


def test_two_changes_that_the_file_does_not_allow_leave_those_before_them(opened):
    bench = opened("survey.csv")
    bands = {"bands": [0, 30, None]}
    before = bench.session.draft.with_step("shuffle_records", {})
    bench.change(before)
    bench.wait()
    before = bench.session.draft
    one = before.with_step("recode", {"variable": ["sex"], **bands})
    bench.session.change(one)  # as if the next came before it was judged
    bench.change(one.with_step("recode", {"variable": ["region"], **bands}))
    bench.wait()
    assert bench.session.draft == one and not bench.session.future
    assert "no verdict" in bench._verdict.value and "kanon-fault" in bench._line.value
    bench.undo.click()
    bench.wait()
    assert bench.session.draft == before and bench.fresh is not None
    bench.redo.click()
    bench.wait()
    assert bench.session.draft == one and bench.session.past[-1] == before


def test_a_form_changes_the_step_that_it_was_opened_for_alone(opened):
    bench = opened("survey.csv")
    draft = bench.session.draft.with_step("shuffle_records", {})
    bench.change(draft)
    bench.change(bench.session.draft.with_step("top_code", {"variable": ["age"], "above": 80}))
    bench.go("protect")
    protect = bench.places["protect"]
    press(protect.steps.children[0], "Edit")
    assert protect.steps.children[1] is protect.form_box
    bench.change(bench.session.draft.with_role("income", "remove_variables"))  # comes first in the list
    protect.form.fields["above"].control.value = "70"
    press(protect.form_box, "Change this step")
    bench.wait()
    assert [step.name for step in bench.session.draft.steps] == ["remove_variables", "top_code", "shuffle_records"]
    assert bench.session.draft.steps[1].settings["above"] == 70
    press(protect.steps.children[1], "Edit")
    bench.undo.click()
    assert protect.form is None and not protect.form_box.children
    bench.wait()


def test_what_was_tried_goes_with_any_change(bench_that_tried):
    bench = bench_that_tried
    assert bench.places["protect"].tried.children
    bench.undo.click()
    assert not bench.places["protect"].tried.children
    bench.wait()


def test_buttons_of_the_steps_stay_when_the_verdict_comes(opened):
    bench = opened("survey.csv")
    bench.go("protect")
    bench.change(bench.session.draft.with_step("shuffle_records", {}))
    before = bench.places["protect"].steps.children
    bench.wait()
    assert bench.fresh is not None and bench.places["protect"].steps.children == before
