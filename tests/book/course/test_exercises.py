"""Files of exercises: what they must be, how they are solved, and how answers are judged."""

from __future__ import annotations

import contextlib
import math
import re
from pathlib import Path

import nbformat
import numpy as np
import pytest
import small_course
from cases import in_one_test, sound
from hypothesis import given
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

import kanon_lab
from kanon_book import places
from kanon_book.course import Exercise, faults, find_exercises, read_exercises, readings, solve, solved_file, solving
from kanon_book.course import notebooks as course_notebooks
from kanon_book.course.__main__ import main
from kanon_book.course.files import chapter_numbers, exercise_named, exercises_of
from kanon_book.course.judging import judge, read_answer
from kanon_book.pages.exercises import shows_cell
from kanon_lab.errors import DataError, OptionError
from kanon_lab.recipes.yaml_file import dump_yaml, read_yaml

ROOT = Path(__file__).resolve().parents[3]
FILES = {**find_exercises(), "hospital": small_course.FILE}
# Functions that the chapters of the exercises show, and what their results have.
LIBRARY = {"least", "log", "sd", "persons", "ranges", "groupby", "nunique", "file_risk", "table", "household_size"}
LIBRARY |= {"f_k", "overlap_mean", "lost", "overlap_all", "dates", "loglinear", "interactions", "safe", "tuple"}
LIBRARY |= {"frequency_control", "sample_uniques", "global_risk", "expected_reidentifications", "areas_below"}
HOSPITAL = read_yaml(small_course.FILE)["exercises"]


# Two files take as long as all others; building the book solves them too.
LONG = {"choosing", "enusc"}
CHAPTERS = [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in FILES]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_file_has_no_fault(chapter, solved, monkeypatch):
    """The only test that fails where a file has one, in a line for each: file, exercise, what to do."""
    with contextlib.suppress(pytest.skip.Exception):  # what is solved once need not be solved again
        answers = iter(solved(FILES[chapter]))
        monkeypatch.setattr(solving, "solve", lambda exercise: next(answers))  # in the order of the file, as here
    if problems := faults(FILES[chapter]):
        pytest.fail("\n".join(f"book/exercises/{fault}" for fault in problems), pytrace=False)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_exercise_accepts_its_solution_and_knows_every_wrong_answer(chapter, solved):
    for exercise in solved(FILES[chapter]):
        says = [each["says"] for each in [*exercise.wrong, *exercise.options]]
        texts = [exercise.statement, exercise.explain, *exercise.hints, *says]
        texts += [each["text"] for each in exercise.options]
        assert [text for text in texts if "{=" in text] == []
        if exercise.options:
            assert 0 <= exercise.answer < len(exercise.options)
            assert len({each["text"] for each in exercise.options}) == len(exercise.options)
            continue
        task = exercise.to_dict()
        assert judge(task, [exercise.answer]) == (True, "")
        assert judge(task, readings(exercise.shown, exercise.unit)) == (True, "")
        for place, wrong in enumerate(exercise.wrong):
            assert judge(task, [wrong["answer"]]) == (False, place)
            assert judge(task, readings(wrong["shown"], exercise.unit)) == (False, place)


@pytest.mark.parametrize("chapter", find_exercises())
def test_a_file_belongs_to_a_chapter_that_shows_it(chapter):
    with sound():
        exercises = read_exercises(FILES[chapter])
    page = (ROOT / "book" / f"{chapter}.md").read_text("utf-8")
    assert chapter in chapter_numbers()
    assert "```{exercises}" in page
    guesses = {each.id for each in exercises if each.depth == "predict"}
    assert {*re.findall(r"^:+\{predict\} (\S+)$", page, flags=re.MULTILINE)} == guesses


def test_every_chapter_of_the_first_six_parts_has_exercises():
    parts = read_yaml(ROOT / "_toc.yml")["parts"][:6]
    names = [Path(each["file"]).name for part in parts for each in part["chapters"]]
    assert [name for name in names if name not in find_exercises()] == []


REVIEWS = {
    path.stem: found[1].split()
    for path in sorted((ROOT / "book").glob("*.md"))
    if (found := re.search(r"^```\{review\} (.*)$", path.read_text("utf-8"), flags=re.MULTILINE))
}


@pytest.mark.parametrize("chapter", REVIEWS)
def test_a_review_is_of_two_exercises_of_chapters_before(chapter):
    earlier = [*chapter_numbers()][: [*chapter_numbers()].index(chapter)]
    assert len(set(REVIEWS[chapter])) == 2
    for name in REVIEWS[chapter]:
        assert name.rpartition(".")[0] in earlier
        with sound():
            assert exercise_named(name)[1].depth != "predict"


def test_neither_place_nor_length_tells_the_right_option(sound_exercises):
    """A reader who knows tests, and not the chapter, takes the third option, or the longest."""
    choices = [each.options for path in find_exercises().values() for each in read_exercises(path) if each.options]
    right = [next(place for place, each in enumerate(options) if each.right) for options in choices]
    longest = [
        max(len(each.text) for each in options) == len(options[place].text)
        for options, place in zip(choices, right, strict=True)
    ]
    assert max(right.count(place) for place in range(5)) <= len(choices) / 2
    assert sum(longest) <= len(choices) / 2


def test_exercises_are_counted_by_depth():
    depths = [each["depth"] for each in HOSPITAL]
    assert depths == ["compute", "compute", "decide", "explain", "predict"]
    assert exercises_of("bibliography") == {}


# Part of the file that is changed, what it becomes (None: taken out), and what is said.
FAULTS = [
    (0, {"id": "Alone"}, "Alone: id must be lower-case letters"),
    (0, {"dept": "compute"}, "unknown setting dept; did you mean depth?"),
    (0, {"depth": "think"}, "depth must be one of compute, explain, decide, predict"),
    (0, {"title": None}, "title is not given; write it"),
    (0, {"statement": None}, "statement is not given; write it"),
    (0, {"within": None}, "within is not given (there are no options"),
    (0, {"within": "some"}, "within must be such as 1 %"),
    (0, {"within": -1}, "within must be such as 1 %"),
    (0, {"within": True}, "within must be such as 1 %"),
    (0, {"hints": None}, "hints is not given"),
    (0, {"hints": ["a", "b", "c", "d"]}, "hints are at most three, not 4"),
    (0, {"hints": [{"Think": "twice"}]}, "hints must be a list of texts"),
    (0, {"hints": ["It is about 16.7 per cent."]}, "hint 1 gives the number (16.7)"),
    (0, {"wrong": None}, "wrong is not given"),
    (0, {"wrong": [{"value": "answer * 2"}]}, "wrong answer 1: says is not given"),
    (0, {"wrong": [{"value": "answer * 1.001", "says": "a"}]}, "wrong answer 1 (16.6833) is accepted, as 16.67 is"),
    (0, {"wrong": [{"value": 1, "says": "a"}, {"value": 1, "says": "b"}]}, "wrong answer 2 (1) is another one too"),
    (0, {"wrong": [{"value": "recods[0]", "says": "a"}]}, "wrong answer 1, line 1 (recods[0]): NameError"),
    (0, {"explain": None}, "explain is not given"),
    (0, {"explain": "{=alone / 0}"}, "explain, {=alone / 0}, line 1 (alone / 0): ZeroDivisionError"),
    (0, {"explain": "{=alone:.2q}"}, "explain, {=alone}, line 1 (alone): ValueError: Unknown format code"),
    (0, {"solution": "1 +"}, "solution, line 1: invalid syntax"),
    (0, {"solution": "a = 1\nb = c\nb"}, "solution, line 2 (b = c): NameError: name 'c' is not defined"),
    (0, {"solution": "a = 1"}, "solution, its last line: must be a number, not None"),
    (0, {"solution": "'42'"}, "solution, its last line: must be a number, not '42'"),
    (0, {"given": "records = [3]\nrecords[1]"}, "given, line 2 (records[1]): IndexError"),
    (2, {"within": "1 %"}, "within goes with a number, not with options"),
    (2, {"options": [{"text": "a", "says": "b", "right": True}]}, "options are two to five, not 1"),
    (2, {"options": [{"text": "a", "says": "b"}] * 2}, "exactly one option must have right: true"),
    (2, {"options": [{"text": "a", "says": "b", "right": True}] * 2}, "exactly one option must have right: true"),
    (2, {"options": [{"text": "a", "right": True}, {"text": "b", "says": "c"}]}, "option 1: says is not given"),
    (
        3,
        {"options": [{"text": "a", "says": "b", "right": "min(after) > 9"}, {"text": "b", "says": "c"}]},
        "option 1: right: min(after) > 9 is not true",
    ),
    (3, {"depth": "decide"}, "no exercise has depth: explain"),
    (4, {"options": [{"text": "a", "says": "b", "right": True}, {"text": "b", "says": "c"}]}, "within goes with"),
    (1, {"id": "alone"}, "another exercise of this file has the same id"),
]


@pytest.mark.parametrize(("place", "change", "said"), FAULTS)
def test_each_fault_is_one_line_that_names_file_and_exercise(tmp_path, capsys, place, change, said):
    exercises = [dict(each) for each in HOSPITAL]
    for name, value in change.items():
        exercises[place].pop(name, None)
        if value is not None:
            exercises[place][name] = value
    path = tmp_path / "changed.yml"
    path.write_text(dump_yaml({"exercises": exercises}), "utf-8")
    assert main([str(path)]) == 2
    last = capsys.readouterr().out.splitlines()[-1]
    of_the_file = ("no exercise", "exercise 1: ")
    assert last.startswith(tuple(f"changed.yml: {each}" for each in (f"{exercises[place]['id']}: ", *of_the_file)))
    assert said in last


def test_too_few_exercises_are_a_fault_and_a_file_without_one_is_too(tmp_path):
    path = tmp_path / "few.yml"
    path.write_text(dump_yaml({"exercises": HOSPITAL[:2]}), "utf-8")
    assert faults(path) == [
        "few.yml: no exercise has depth: explain",
        "few.yml: no exercise has depth: decide",
        "few.yml: 2 exercises; a chapter has 4 to 6 besides guesses",
    ]
    path.write_text("exercises: none\n", "utf-8")
    assert faults(path) == ["few.yml: exercises must be a list, not 'none'"]
    path.write_text("exercises:\n - id: a\n   depth: compute: x\n", "utf-8")
    with pytest.raises(DataError, match="line 3, column [0-9]+: a colon where none can be"):
        read_exercises(path)


def test_the_command_prints_what_is_computed(capsys):
    assert main([str(small_course.FILE)]) == 0
    out = capsys.readouterr().out
    for line in (
        "ANSWER 16.67 per cent (accepted: 16.5 to 16.83333)",
        "WRONG 33.33333 (33 to 33.66667): You divided by the number of **classes**",
        "b) Yes, if the file has more than 1,000,000 records",
        "c) RIGHT No, since keys are left",
        "EXPLAIN 1 of 6 patients is alone: $1/6$, or 16.7 per cent.",
        "1 files without a fault",
    ):
        assert line in out


def test_a_notebook_is_checked_with_its_chapter(tmp_path, monkeypatch, capsys):
    (tmp_path / "book").mkdir()
    (tmp_path / "_toc.yml").write_text("root: book/a\nparts:\n - chapters:\n   - file: book/b\n", "utf-8")
    (tmp_path / "book" / "a.md").write_text("{glue:}`/notebooks/n.ipynb::x:s` {glue:}`/notebooks/m.ipynb::x:s`\n")
    for name, path in (("TOC", "_toc.yml"), ("CHAPTERS", "book")):
        monkeypatch.setattr(places, name, tmp_path / path)
    monkeypatch.setattr(course_notebooks, "find_notebooks", lambda: {"n": tmp_path / "n.ipynb"})
    cells = [new_markdown_cell("Words"), new_code_cell("import a\nb = 1", metadata={"tags": ["parameters"]})]
    cells.append(new_code_cell("1", execution_count=1))
    kernel = {"name": "ir", "display_name": "R"}
    faulty = new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(faulty, tmp_path / "n.ipynb")
    assert main(["a"]) == 2
    assert capsys.readouterr().out.splitlines() == [
        "",
        "book/a.md: inserts from notebooks/m.ipynb, which is not there; write it",
        "notebooks/n.ipynb, cell 1: no title; begin with a Markdown cell whose first line is # and the title",
        "notebooks/n.ipynb: its kernel is 'ir'; open it in JupyterLab, choose the kernel Python 3 and save it",
        "notebooks/n.ipynb, cell 2, line 1: is not a plain assignment; the cell of the parameters has nothing else",
        "notebooks/n.ipynb, cell 3: has run; clear all outputs and save the notebook",
        "notebooks/n: is not in _toc.yml; add the line - file: notebooks/n",
    ]
    nbformat.write(new_notebook(cells=[new_code_cell("a = 1")]), tmp_path / "n.ipynb")
    assert main(["a"]) == 2
    out = capsys.readouterr().out
    assert "n.ipynb: names no kernel; open" in out
    assert "n.ipynb: no cell has the tag parameters; give it to the code cell that sets them" in out
    (tmp_path / "n.ipynb").write_text("no notebook")
    assert course_notebooks.notebook_faults(tmp_path / "n.ipynb")[0].startswith("notebooks/n.ipynb: not a notebook")
    assert main(["b"]) == 2
    assert "book/b.md: no such file; write it, or check the name" in capsys.readouterr().out


def number(**changes) -> Exercise:
    """An exercise whose answer is 100, changed."""
    said = {"id": "a", "depth": "compute", "title": "A", "statement": "?", "solution": "100", "within": 0}
    said |= {"hints": ["Think."], "explain": "So.", "wrong": [{"value": "50", "says": "Half."}]}
    return Exercise(**said | changes)


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("{=answer:.1f}", "100.0"),
        ("{=answer / 3:,.2f} and {=1000 * 1000:,}", "33.33 and 1,000,000"),
        ("{=[1, 2, 3][1:2]}", "[2]"),
        ('{={"a": 7}["a"]:03d}', "007"),
        ("$x{=}y_{1}$ {glue:text}`a::b:c`", "$x{=}y_{1}$ {glue:text}`a::b:c`"),
    ],
)
def test_expressions_are_inserted_by_their_format(text, filled):
    assert solve(number(explain=text)).explain == filled


def test_names_of_one_exercise_are_unknown_to_another():
    solve(number(solution="secret = 100\nsecret"))
    with pytest.raises(OptionError, match="NameError"):
        solve(number(solution="secret"))


def test_a_wrong_answer_that_is_not_whole_may_be_typed_rounded():
    solved = solve(number(wrong=[{"value": "100 / 3", "says": "A third."}, {"value": "101", "says": "One more."}]))
    task = solved.to_dict()
    assert [judge(task, readings(text)) for text in ("33.3", "33", "101", "101.5", "100")] == [
        (False, 0),
        (False, "low"),
        (False, 1),
        (False, "high"),
        (True, ""),
    ]


def test_a_small_wrong_answer_is_not_taken_for_its_neighbours():
    """A share of 5/8 where per cent are asked is right as a fraction, and a matter of the unit as a decimal."""
    wrong = [{"value": "0.5", "says": "of the total"}]
    asked = Exercise(id="few", depth="compute", title="-", statement="-", unit="per cent", solution="62.5", within=0.6,
                     hints=["-"], explain="-", wrong=wrong)  # fmt: skip
    task = solve(asked).to_dict()
    assert judge(task, readings("5/8", "per cent")) == (True, "")
    assert judge(task, readings("0.625", "per cent")) == (False, "unit")
    assert judge(task, readings("0.5", "per cent")) == (False, 0)


DECIMALS = {"one decimal": 1, "two decimals": 2, "three decimals": 3}


@pytest.mark.parametrize("chapter", [name for name in CHAPTERS if name != "hospital"])
def test_an_answer_rounded_as_the_page_says_is_right(chapter, solved):
    """To the decimals that the question names, else to a whole number; a half in either direction."""
    for exercise in solved(FILES[chapter]):
        if exercise.options or exercise.depth == "predict":
            continue
        named = next((text for text in DECIMALS if text in " ".join(exercise.statement.split())), "")
        decimals = DECIMALS.get(named, 0)
        assert math.isclose(exercise.answer, round(exercise.answer, 3 if named else 0), rel_tol=0.02), exercise.id
        for nudge in (-1e-9, 1e-9):
            rounded = f"{exercise.answer + nudge:.{decimals}f}"
            assert judge(exercise.to_dict(), readings(rounded, exercise.unit))[0], (exercise.id, rounded)


@pytest.mark.parametrize("chapter", FILES)
def test_what_a_question_or_hint_names_stands_on_the_page(chapter):
    """Names of Python stand in hints only where the page shows the cell that has them."""
    for exercise in read_exercises(FILES[chapter]):
        shown = f"{exercise.statement} {exercise.given}" if shows_cell(exercise) else exercise.statement
        for text in exercise.hints:
            for code in re.findall(r"`([^`]+)`", text):
                for name in re.findall(r"(?<![\w.\"])[a-z_]+(?![\w\"])", re.sub(r"\"[^\"]*\"", "", code)):
                    assert name in shown or hasattr(kanon_lab, name) or name in LIBRARY, (exercise.id, name)
        if "You need Python" in exercise.statement:
            assert shows_cell(exercise) and exercise.given.strip()


def test_each_guess_that_readers_found_blind_has_a_hint():
    guesses = {"choosing": "two-points-less", "quantities": "narrow-window", "no-sample": "at-least"}
    for chapter, name in guesses.items():
        assert len(exercise_named(f"{chapter}.{name}")[1].hints) == 2


def test_the_fifteen_richest_are_counted_as_in_the_explorer():
    """The plans of the exercise and the explorer of its chapter use the same seeds."""
    given = exercise_named("quantities.the-richest")[1].given
    notebook = course_notebooks.read_notebook(places.ROOT / "notebooks" / "perturbation.ipynb")
    parameters = next(cell.source for cell in notebook.cells if "parameters" in cell.metadata.get("tags", []))
    assert "range(1, 11)" in given and "repeats = 10 " in parameters and "seed = 1 " in parameters


def test_the_answer_with_too_few_decimals_is_no_other_number():
    task = solve(number(solution="2.56", within="0.1 %", wrong=[{"value": "3.2", "says": "More."}])).to_dict()
    said = [judge(task, readings(text)) for text in ("2.6", "3", "2.5", "0", "3.2")]
    assert said == [(False, "rounded"), (False, "rounded"), (False, "low"), (False, "low"), (False, 0)]


def test_a_half_may_be_rounded_up_or_down():
    task = solve(number(solution="62.5", within="0.1 %")).to_dict()
    said = [judge(task, [value])[1] for value in (62, 63, 61, 64, 62.7)]
    assert said == ["rounded", "rounded", "low", "high", "high"]


def test_near_zero_no_number_is_a_matter_of_the_unit():
    task = solve(number(solution="0", within=0.5, wrong=[{"value": "2.6", "says": "More."}])).to_dict()
    assert [judge(task, [value]) for value in (0.4, 10, 2.6)] == [(True, ""), (False, "high"), (False, 0)]


def test_hundred_times_too_much_is_a_matter_of_the_unit():
    task = solve(number(solution="0.42", within="1 %", wrong=[{"value": "0.5", "says": "Half."}])).to_dict()
    assert judge(task, [42]) == judge(task, [0.0042]) == (False, "unit")
    assert judge(task, readings("42 %")) == (True, "")
    per_cent = solve(number(solution="42", within="1 %", unit="per cent")).to_dict()
    assert judge(per_cent, readings("42 %", "per cent")) == (True, "")
    assert judge(per_cent, [0.42]) == (False, "unit")


def test_either_reading_may_be_right():
    for solution in ("1234", "1.234"):
        task = solve(number(solution=solution, within="0.01 %")).to_dict()
        assert judge(task, readings("1,234"))[0]
        assert judge(task, readings("1.234"))[0]


@in_one_test("text, unit, meant", small_course.READINGS)
def test_texts_mean_numbers(text, unit, meant):
    assert readings(text, unit) == meant


@pytest.mark.parametrize("value", [42, 42.0, np.int64(42), np.float32(42), np.array([42]), "42"])
def test_numbers_of_any_kind_are_read(value):
    assert read_answer(value) == [42.0]


@pytest.mark.parametrize("value", [None, True, math.nan, math.inf, [42], np.array([1, 2]), object(), "", "many"])
def test_what_is_no_number_has_no_reading(value):
    assert read_answer(value) == []


finite = st.floats(min_value=-1e12, max_value=1e12, allow_subnormal=False)


@given(finite, st.integers(0, 6))
def test_what_python_writes_is_read_as_it_was_meant(value, decimals):
    """With either sign for thousands and decimals, in per cent, and with a minus that is none of ASCII."""
    plain = f"{value:,.{decimals}f}"
    swapped = plain.translate(str.maketrans(",.", ".,"))
    spaced = plain.replace(",", "\N{NARROW NO-BREAK SPACE}").replace("-", "\N{MINUS SIGN}")
    meant = float(plain.replace(",", ""))
    for text in (plain, swapped, spaced, repr(meant)):
        assert meant in readings(text)
        assert meant in readings(f"{text} %", "per cent")
        assert meant / 100 in readings(f" {text}% ")
        assert meant in readings(f"{text} persons", "persons")


@given(st.text(max_size=12), st.sampled_from(["", "per cent", "persons"]))
def test_whatever_is_typed_there_are_at_most_two_readings_of_each_number(text, unit):
    found = readings(text, unit)
    assert len(found) <= (4 if "/" in text else 2)
    assert all(map(math.isfinite, found))


@given(finite, st.one_of(st.floats(0.001, 50).map(lambda share: f"{share:.3f} %"), st.floats(0, 1e6)), finite)
def test_an_answer_is_right_exactly_within_its_bounds(answer, within, other):
    solved = solve(number(solution=repr(answer), within=within, wrong=[{"value": "0", "says": "Nothing."}]))
    task = solved.to_dict()
    assert judge(task, [answer])[0]
    assert judge(task, readings(solved.shown))[0]
    assert judge(task, [other])[0] == (solved.low <= other <= solved.high)


def test_the_example_of_the_guide_is_an_exercise(tmp_path):
    guide = (ROOT / "book" / "kanon_book" / "WRITING.md").read_text("utf-8")
    (block,) = re.findall(r"```yaml\n(exercises:.*?)```", guide, flags=re.DOTALL)
    path = tmp_path / "example.yml"
    path.write_text(block, "utf-8")
    (solved,) = solved_file(path)
    assert solved.explain == "One of 6 is, 16.7 per cent."
    assert [fault for fault in faults(path) if "alone" in fault] == []
