"""Exercises in JupyterLab: checks, hints, solutions and progress, and the notebooks that learners get."""

from __future__ import annotations

import json
import re

import nbformat
import pytest
import small_course

from kanon_book import places
from kanon_book.course import (
    chapter_numbers,
    check,
    find_exercises,
    hint,
    lab,
    learner,
    progress,
    solution,
    solved_file,
    spanish,
    workbook,
)
from kanon_book.course import markdown as texts
from kanon_book.course.order import chapters
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
        ("1.1", 1 / 6, False, "Not yet. The digits are right, but the number is a hundred times"),
        ("1.1", 17, False, "Not yet. Your number is rounded too much"),
        ("1.1", 18, False, "Not yet. The number is too high."),
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
    assert hint("hospital.guess") == "Hint 1 of 1: One of six is alone."


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


NAME, PROJECT, FIRST = "exercises/01-hospital.ipynb", f"exercises/{learner.PROJECT}", "00-start-here.ipynb"


@pytest.fixture
def copies(course, monkeypatch):
    """A course with a first project and no notebook of computations, and where its copy goes."""
    monkeypatch.setattr(learner, "find_notebooks", dict)
    (course / "book").mkdir()
    (course / "book" / learner.START).write_text("key_variables: []\n")
    return course / "mine"


def test_a_working_copy_is_never_overwritten(course, copies):
    assert learner.working_copy(copies) == {FIRST: "new", NAME: "new", PROJECT: "new"}
    mine, school = copies / NAME, copies / PROJECT
    assert mine.read_text("utf-8") == workbook("hospital")
    # What the course project begins with lies beside the notebooks, and is the reader's too.
    assert school.read_bytes() == (course / "book" / learner.START).read_bytes()
    school.write_text("my solution")
    (copies / FIRST).write_text("my notes")
    assert learner.working_copy(copies) == {FIRST: "kept", NAME: "same", PROJECT: "kept"}
    # What nobody changed is renewed, and what somebody did is kept beside the new one.
    change(course, "Alone in the hospital", "Alone again")
    assert learner.working_copy(copies) == {FIRST: "kept", NAME: "renewed", PROJECT: "kept"}
    assert "Alone again" in mine.read_text("utf-8")
    mine.write_text("my work")
    change(course, "Alone again", "Alone at last")
    old = learner.working_copy(copies)[NAME]
    assert "Alone at last" in mine.read_text("utf-8")
    assert old.startswith("01-hospital-until-") and mine.with_name(old).read_text() == "my work"
    assert school.read_text() == "my solution"
    assert (copies / FIRST).read_text() == "my notes"


def test_a_file_of_the_same_name_is_not_taken_for_a_copy(copies):
    theirs = copies / PROJECT
    theirs.parent.mkdir(parents=True)
    theirs.write_text("somebody's")
    done = learner.working_copy(copies)[PROJECT]
    assert theirs.with_name(done).read_text() == "somebody's"


@pytest.mark.parametrize("old", ["hospital.ipynb", "07-hospital.ipynb"])
def test_work_of_before_the_chapter_had_its_number_is_found_and_kept(course, copies, old):
    learner.working_copy(copies)
    mine, earlier = copies / NAME, (copies / NAME).with_name(old)
    kept = mine.parent / ".copied"
    for changed in (False, True):
        mine.rename(earlier)
        (kept / mine.name).rename(kept / old)
        if changed:
            earlier.write_text("my work")
        assert learner.working_copy(copies)[NAME] == (f"was {old}" if changed else "same")
        assert not earlier.exists() and not (kept / old).exists()
        assert mine.read_text("utf-8") == ("my work" if changed else workbook("hospital"))
    # Where the original has changed as well, the work is kept beside the new one.
    mine.rename(earlier)
    (kept / mine.name).rename(kept / old)
    change(course, "Alone in the hospital", "Alone again")
    done = learner.working_copy(copies)[NAME]
    assert "-until-" in done and mine.with_name(done).read_text() == "my work"
    assert "Alone again" in mine.read_text("utf-8")


def test_a_file_of_another_name_is_left_alone(copies):
    learner.working_copy(copies)
    own = (copies / NAME).with_name("my-hospital.ipynb")
    own.write_text("mine")
    (copies / NAME).unlink()
    assert learner.working_copy(copies)[NAME] == "new"
    assert own.read_text() == "mine"


def test_each_language_has_its_own_files_and_one_progress(copies):
    learner.working_copy(copies)
    (copies / NAME).write_text("my work")
    done = learner.working_copy(copies, "es")
    spanish = {"00-empiece-aqui.ipynb": "new", "exercises/01-hospital-es.ipynb": "new", PROJECT: "same"}
    assert done == spanish
    assert (copies / NAME).read_text() == "my work"
    assert learner.working_copy(copies)[NAME] == "kept"
    with pytest.raises(OptionError, match="language must be one of en, es, not 'ca'"):
        learner.working_copy(copies, "ca")


@pytest.fixture
def real(monkeypatch, tmp_path):
    """The course of the book, in a folder of its own."""
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    small_course.forget()


@pytest.mark.parametrize("language", ["en", "es"])
def test_the_first_notebook_has_every_chapter_in_order_and_links_what_there_is(real, language):
    whole = nbformat.reads(learner.first_notebook(language), as_version=4)
    nbformat.validate(whole)
    text = "\n".join(cell.source for cell in whole.cells)
    order = chapters(places.TOC)
    assert re.findall(r"^\*\*([0-9]+)\. (.*)\*\*\\$", text, re.MULTILINE) == [
        (str(chapter.number), learner.title_of(chapter.name, language)) for chapter in order
    ]
    # A sentence for each, which has no role of the book left in it.
    able = [learner.able_after(chapter.name, language) for chapter in order]
    begin = "You will be able to " if language == "en" else ""
    assert all(sentence.startswith(begin) and sentence.endswith((".", ":")) for sentence in able), able
    assert all(sentence in text for sentence in able) and "{" not in text
    names = {*learner.copied_names().values()}
    names |= {f"exercises/{learner.workbook_name(chapter, language)}" for chapter in find_exercises()}
    assert {*re.findall(r"\]\(([^)]*)\)", text)} == names
    if language == "es":
        assert not [chapter.name for chapter in order if learner.title_of(chapter.name) in text]
        assert "## Parte 1" in text and "Part 1" not in text


def test_the_list_of_files_is_in_the_order_of_the_course(real):
    named = [learner.workbook_name(chapter) for chapter in find_exercises()]
    assert named == sorted(named)
    assert named[:2] == ["01-what-identifies.ipynb", "02-scenarios.ipynb"]
    names = learner.copied_names()
    numbered = {name: int(copy[:2]) for name, copy in names.items() if copy[:2].isdigit()}
    for chapter, number in chapter_numbers().items():
        assert numbered.get(chapter, number) == number
    assert {*names} - {*numbered} <= {"exercises", "explorer", "levels", "speed", "workbench"}
    first = [learner.first_name(language) for language in ("en", "es")]
    assert sorted([*first, *names.values()])[:2] == sorted(first)


@pytest.fixture
def in_spanish():
    lab.use_language("es")
    yield
    lab.use_language("en")


def test_in_spanish_answers_and_hints_are_spanish(real, in_spanish):
    assert check("1.1", "1,39").startswith("Correcto. 1,389")
    assert check("1.1", "0,72").startswith("Todavía no. ")
    assert "claves por persona" in check("1.1", "0,72")
    assert check("1.1", ...) == "Todavía no hay respuesta: escríbala en el lugar de los puntos."
    assert check("1.4", "a").startswith("Correcto. ") and "right" not in solution("1.4")
    assert hint("1.1").startswith("Pista 1 de 3: ")
    assert "(no es correcta)" in solution("1.4")
    assert "ejercicios están resueltos" in progress() and "| 1 | what-identifies | 2 de 5 |" in progress()
    with pytest.raises(OptionError, match="answer debe ser una de a, b, c, d, no 'z'"):
        check("1.4", "z")
    with pytest.raises(OptionError, match="language must be"):
        lab.use_language("ca")


def test_a_notebook_for_learners_in_spanish_begins_by_saying_so(course):
    notebook = nbformat.reads(workbook("hospital", language="es"), as_version=4)
    assert notebook.cells[0].source.startswith("# Ejercicios: hospital")
    assert notebook.cells[1].source.endswith('use_language\n\nuse_language("es")')
    assert "(calcular)" in notebook.cells[2].source


@pytest.mark.slow
def test_every_text_of_every_exercise_has_its_spanish(real):
    missed = []
    for chapter, path in find_exercises().items():
        for solved in solved_file(path):
            told = spanish.translated(solved, chapter, "es", missed)
            assert told.answer == solved.answer and told.given == solved.given
            assert len(told.hints) == len(solved.hints) and told.statement != solved.statement
    assert missed == []


def test_blocks_of_a_text_are_translated_one_by_one(tmp_path, monkeypatch):
    said = {"One two.": "Uno dos.", "a place": "un lugar", "first": "primero", "second thing": "lo segundo"}
    monkeypatch.setattr(spanish, "translation", lambda path, message: said.get(message))
    text = (
        "One\ntwo.\n\n| a place | 1,234.5 |\n|---|---|\n| *x* | |\n\n- first\n- second\n  thing\n\n"
        "```python\nfirst\n\nOne two.\n```\n\nunknown words"
    )
    missed = []
    assert spanish.in_language(text, "any", "es", missed) == (
        "Uno dos.\n\n| un lugar | 1.234,5 |\n|---|---|\n| *x* | |\n\n- primero\n- lo segundo\n\n"
        "```python\nfirst\n\nOne two.\n```\n\nunknown words"
    )
    assert missed == ["unknown words"]
    assert spanish.in_language(text, "any", "en") == text


def change(course, before, after):
    source = course / "exercises" / "hospital.yml"
    source.write_text(source.read_text("utf-8").replace(before, after), "utf-8")
