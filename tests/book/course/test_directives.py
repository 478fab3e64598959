"""The directives of exercises, in a small book: what stands in its pages, and what is said against them."""

from __future__ import annotations

import json
import shutil

import pytest
import small_course
from bs4 import BeautifulSoup
from sphinx.errors import SphinxWarning

from kanon_book.course import solved_file, workbook


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A small book, built as pages and as texts to be translated."""
    folder = tmp_path_factory.mktemp("directives")
    with pytest.MonkeyPatch.context() as patch:
        small_course.use(folder, patch)
        small_course.build(folder)
        small_course.build(folder, "gettext")
        yield folder
    small_course.forget()


def soup(folder, name):
    return BeautifulSoup((folder / "_build" / "html" / "book" / f"{name}.html").read_text("utf-8"), "html.parser")


def test_script_and_style_are_loaded_only_where_there_is_something_to_do(folder):
    loaded = {
        name: "kanon-course" in str(soup(folder, name).head) + str(soup(folder, name).find_all("script"))
        for name in ("preface", "hospital", "later", "glossary")
    }
    assert loaded == {"preface": True, "hospital": True, "later": True, "glossary": False}


def test_the_numbers_of_a_check_are_those_that_were_computed(folder):
    tasks = {form["id"]: json.loads(form["data-exercise"]) for form in soup(folder, "hospital").select("form[id]")}
    assert [*tasks] == [
        "guess-hospital-guess",
        "exercise-hospital-alone",
        "exercise-hospital-classes",
        "exercise-hospital-harmless",
        "exercise-hospital-reason",
    ]
    for solved in solved_file(small_course.FILE):
        task = next(each for each in tasks.values() if each["key"] == f"hospital.{solved.id}")
        assert (task["answer"], task["low"], task["high"]) == (solved.answer, solved.low, solved.high)
        assert [each["answer"] for each in task["wrong"]] == [each["answer"] for each in solved.wrong]
        assert "says" not in str(task)


def test_the_data_are_shown_as_a_cell_where_python_is_needed(folder):
    cells = {form["id"]: form.select(".kanon-given pre") for form in soup(folder, "hospital").select("form[id]")}
    shown = {name: [cell.text.strip() for cell in found] for name, found in cells.items() if found}
    given = 'from kanon_lab import load_microdata\nsurvey = load_microdata("health-survey")'
    assert shown == {"exercise-hospital-classes": [given]}
    assert "Round to as many decimals" in soup(folder, "hospital").text


def test_a_guess_has_its_hints(folder):
    assert len(soup(folder, "hospital").select("#guess-hospital-guess .kanon-hint")) == 1


def test_a_review_shows_exercises_of_another_chapter_under_their_numbers(folder):
    page = soup(folder, "later")
    assert [form["id"] for form in page.select("form[id]")] == ["review-hospital-alone", "review-hospital-harmless"]
    assert [span.text for span in page.select("legend .kanon-number")] == ["Exercise 1.1", "Exercise 1.3"]
    assert len(page.select('a[href="hospital.html"] .doc')) == 2


def test_the_notebook_for_learners_lies_where_the_page_links_it(folder):
    link = soup(folder, "hospital").select_one(".kanon-bar a")["href"]
    path = folder / "_build" / "html" / "book" / link
    assert path.resolve() == folder / "_build" / "html" / "exercises" / "hospital.ipynb"
    assert path.read_text("utf-8") == workbook("hospital")


def test_every_text_can_be_translated(folder):
    messages = (folder / "_build" / "gettext" / "book.pot").read_text("utf-8").replace('"\n"', "")
    for solved in solved_file(small_course.FILE):
        says = [each["says"] for each in [*solved.wrong, *solved.options]]
        options = [each["text"] for each in solved.options]
        statement = solved.statement.partition("\n\n")[0].replace("\n", " ")
        for text in [solved.title, statement, solved.unit, solved.explain, *solved.hints, *says, *options]:
            assert f'msgid "{text}"' in messages


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("```{review} hospital.clases\n```\n", "no exercise hospital.clases; hospital has alone, classes"),
        ("::::{predict} gues\nInside.\n::::\n", "no exercise hospital.gues; hospital has alone, classes"),
    ],
)
def test_a_name_that_is_none_breaks_the_build(folder, tmp_path, monkeypatch, page, said):
    monkeypatch.setitem(small_course.PAGES, "hospital", f"# A hospital\n\n{page}")
    shutil.copytree(folder, tmp_path / "other", ignore=shutil.ignore_patterns("_build"))
    with pytest.raises(SphinxWarning, match=said):
        small_course.build(tmp_path / "other")


def test_exercises_that_the_notebook_has_not_solved_break_the_build(folder, tmp_path, monkeypatch):
    shutil.copytree(folder, tmp_path / "other", ignore=shutil.ignore_patterns("_build"))
    monkeypatch.setattr(small_course, "NAME", "another")
    with pytest.raises(SphinxWarning, match="exercises.ipynb holds no exercises of hospital: run it again"):
        small_course.build(tmp_path / "other")
