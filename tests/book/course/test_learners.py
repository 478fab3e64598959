"""Exercises in JupyterLab: checks, hints, solutions and progress, and the notebooks that learners get."""

from __future__ import annotations

import json

import nbformat
import pytest
import small_course

from kanon_book.course import check, find_exercises, hint, learner, progress, solution, workbook
from kanon_book.course import markdown as texts
from kanon_lab.errors import DataError, OptionError
from kanon_lab.notebooks import run_notebook

KEPT = "kanon-lab-progress.json"


@pytest.fixture(autouse=True)
def course(tmp_path, monkeypatch):
    """A course of one chapter in the working folder."""
    small_course.use(tmp_path, monkeypatch)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    small_course.forget()


@pytest.mark.parametrize(
    ("name", "answer", "right", "says"),
    [
        ("1.1", 16.7, True, "Right. 16.67 per cent"),
        ("hospital.alone", "16,7 %", True, "Right."),
        ("1.1", 100 / 3, False, "Not yet. You divided by the number of **classes**"),
        ("1.1", 1 / 6, False, "Not yet. The digits are right, the unit is not"),
        ("1.1", 17, False, "Not yet. The number is too high."),
        ("1.1", "about a sixth", None, "This cannot be read as a number."),
        ("1.1", ..., None, "No answer yet"),
        ("1.2", 16, True, "Right. 16"),
        ("1.3", "c", True, "Right. Key variables"),
        ("1.3", " B) ", False, "Not yet. A large file"),
        ("hospital.guess", 90, False, "Not yet. The number is too high."),
    ],
)
def test_an_answer_is_checked(name, answer, right, says):
    told = check(name, answer)
    assert told.right is right
    assert told.startswith(says)
    assert told._repr_markdown_() == repr(told) == str(told)


def test_what_cannot_be_an_exercise_or_a_choice_is_one_line():
    with pytest.raises(OptionError, match=r"no exercise '9\.9'; did you mean 1\.\d\?|write its number"):
        check("9.9", 1)
    with pytest.raises(OptionError, match="did you mean hospital.classes"):
        hint("hospital.clases")
    with pytest.raises(OptionError, match="answer must be one of a, b, c, not 'd'"):
        check("1.3", "d")


def test_hints_come_one_after_another_and_then_all():
    assert hint("1.1") == "Hint 1 of 2: A patient is alone where the class has one record."
    assert hint("1.1") == "Hint 2 of 2: Divide by patients, not by classes."
    assert hint("1.1").startswith("1. A patient is alone")
    assert 'solution("1.1")' in hint("1.1")
    assert hint("hospital.guess") == "There are no hints here."


def test_a_solution_says_all():
    told = solution("1.1")
    for part in ("16.67 per cent", "alone / sum(records) * 100", "1 of 6 patients", "*33.33*: You divided"):
        assert part in told
    assert "**b) Yes, if the file has more than 1,000,000 records** (not right): A large file" in solution("1.3")


def test_progress_is_kept_in_the_folder_counted_and_forgotten(course):
    check("1.1", 1)
    check("1.1", 16.7)
    check("1.1", 2)
    hint("1.2")
    check("hospital.guess", 16)
    kept = json.loads((course / KEPT).read_text("utf-8"))["exercises"]
    assert kept["hospital.alone"] == {"right": True, "tries": 3, "hints": 0, "answers": ["1", "16.7", "2"]}
    assert kept["hospital.classes"] == {"right": False, "tries": 0, "hints": 1}
    assert "1 of 4 exercises are solved" in progress()
    assert "| 1 | hospital | 1 of 4 |" in progress()
    assert "0 of 4" in progress(reset=True)
    assert not (course / KEPT).exists()


DAMAGED = [
    *("", "{}", "[]", '{"exercises": [1]}', '{"exercises": {"a": 1}}', "\x00", "[" * 100_000),
    *(f'{{"exercises": {{"hospital.alone": {{"{name}": "1"}}}}}}' for name in ("right", "tries", "hints")),
    *(f'{{"exercises": {{"hospital.alone": {{"{name}": -5}}}}}}' for name in ("tries", "hints")),
    *(f'{{"exercises": {{"a.b": {{"answers": {texts}}}}}}}' for texts in ('"1"', "[1]", f'["{41 * "1"}"]')),
]


@pytest.mark.parametrize("content", DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_file_of_progress_is_one_line_and_can_be_left_behind(course, content):
    (course / KEPT).write_text(content)
    with pytest.raises(DataError, match="holds no progress that can be read"):
        check("1.1", 1)
    progress(reset=True)
    assert not check("1.1", 1).right


def test_roles_of_the_book_are_plain_text_in_a_notebook(tmp_path, monkeypatch):
    own = {"kanon_lab": {"name": "share", "kind": "value", "value": 0.25}}
    output = nbformat.v4.new_output(
        "display_data", {"application/papermill.record/text/plain": "a quarter"}, metadata=own
    )
    cell = nbformat.v4.new_code_cell("", outputs=[output])
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), tmp_path / "spain.ipynb")
    monkeypatch.setattr(texts, "EXECUTED", tmp_path)
    glue = "{glue:text}`../notebooks/spain.ipynb::"
    assert texts.without_roles(f"{glue}share:.0%` is {glue}share:s`") == "25% is a quarter"
    assert "in the page" in texts.without_roles(f"{glue}other:.0%`")
    said = "{es}`clave`, {doc}`recoding`, {doc}`it <../book/spain>`, {math}`x`, {cite}`a2000`"
    assert texts.without_roles(said) == "*clave*, *recoding*, *it*, $x$, a2000"
    assert texts.without_roles("A\n\n```{glue} chart\n:doc: x\n```\n\nB") == (
        "A\n\n*(The figure is in the page of the chapter.)*\n\nB"
    )


def test_a_notebook_for_learners_has_all_but_the_solutions(course):
    notebook = nbformat.reads(workbook("hospital"), as_version=4)
    nbformat.validate(notebook)
    assert workbook("hospital") == workbook("hospital")
    by_name = {cell.id: cell for cell in notebook.cells}
    assert by_name["alone"].source.startswith("## 1.1 Alone in the hospital (compute)")
    assert "**c)** No, since keys are left" in by_name["harmless"].source
    assert by_name["alone-given"].source == "records = [3, 2, 1]"
    assert by_name["alone-work"].source == ""
    assert "guess" not in by_name
    assert not [cell for cell in notebook.cells if "sum(f for f" in cell.source], "a solution is given away"


def test_the_notebook_of_a_chapter_of_the_book_runs(tmp_path, monkeypatch, request):
    monkeypatch.undo()
    small_course.forget()
    request.getfixturevalue("sound_exercises")
    chapter = next(iter(find_exercises()))
    (tmp_path / "mine.ipynb").write_text(workbook(chapter), "utf-8")
    run_notebook(tmp_path / "mine.ipynb", tmp_path / "done.ipynb")
    cells = nbformat.read(tmp_path / "done.ipynb", as_version=4).cells
    said = [cell.outputs[0].data["text/markdown"] for cell in cells if cell.source.startswith("answer = ...")]
    assert len(said) >= 4
    assert {*said} == {"No answer yet: put it in place of the dots."}
    assert "exercises are solved" in cells[-1].outputs[0].data["text/markdown"]


def test_a_working_copy_is_never_overwritten(course, monkeypatch):
    monkeypatch.setattr(learner, "find_notebooks", dict)
    (course / "book").mkdir()
    (course / "book" / learner.START).write_text("key_variables: []\n")
    folder = course / "mine"
    name, project = "exercises/hospital.ipynb", f"exercises/{learner.PROJECT}"
    assert learner.working_copy(folder) == {name: "new", project: "new"}
    mine, school = folder / name, folder / project
    assert mine.read_text("utf-8") == workbook("hospital")
    # What the course project begins with lies beside the notebooks, and is the reader's too.
    assert school.read_bytes() == (course / "book" / learner.START).read_bytes()
    school.write_text("my solution")
    assert learner.working_copy(folder) == {name: "same", project: "kept"}
    # What nobody changed is renewed, and what somebody did is kept beside the new one.
    change(course, "Alone in the hospital", "Alone again")
    assert learner.working_copy(folder) == {name: "renewed", project: "kept"}
    assert "Alone again" in mine.read_text("utf-8")
    mine.write_text("my work")
    change(course, "Alone again", "Alone at last")
    old = learner.working_copy(folder)[name]
    assert "Alone at last" in mine.read_text("utf-8")
    assert old.startswith("hospital-until-") and mine.with_name(old).read_text() == "my work"
    assert school.read_text() == "my solution"


def test_a_file_of_the_same_name_is_not_taken_for_a_copy(course, monkeypatch):
    monkeypatch.setattr(learner, "find_notebooks", dict)
    (course / "book").mkdir()
    (course / "book" / learner.START).write_text("key_variables: []\n")
    theirs = course / "mine" / "exercises" / learner.PROJECT
    theirs.parent.mkdir(parents=True)
    theirs.write_text("somebody's")
    done = learner.working_copy(course / "mine")[f"exercises/{learner.PROJECT}"]
    assert theirs.with_name(done).read_text() == "somebody's"


def change(course, before, after):
    source = course / "exercises" / "hospital.yml"
    source.write_text(source.read_text("utf-8").replace(before, after), "utf-8")
