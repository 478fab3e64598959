"""The teacher's half: exams by seed, an edition without solutions, a class's saved answers, the table of slides."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import small_course
from bs4 import BeautifulSoup

from kanon_book.building import teach
from kanon_book.course import files, find_exercises, read_exercises
from kanon_book.course.built import built_page
from kanon_book.course.exam import QUESTIONS, draw, exam_pages, suits_paper
from kanon_book.course.marks import read_class
from kanon_book.places import CHAPTERS
from kanon_lab.cli import run
from kanon_lab.errors import OptionError


def anchors(chapter):
    """Anchors of the sections of a chapter, as Sphinx makes them of its headings."""
    heads = re.findall(r"^#+ (.*)$", (CHAPTERS / f"{chapter}.md").read_text("utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^a-z0-9]+", "-", re.sub("[’']", "-", head.lower())).strip("-") for head in heads}


def test_lessons_fill_their_time():
    minutes = {
        course: sum(int(row["minutes"]) for row in teach.lessons() if row["lesson"] in lessons)
        for course, lessons in teach.COURSES.items()
    }
    assert minutes == {"lesson": 45, "day": 6 * 60, "two-days": 12 * 60}


def test_a_day_teaches_what_suppression_builds_on():
    day = [row["chapter"] for row in teach.lessons() if row["lesson"] == "day"]
    needs = re.search(r"^needs: \[(.*)\]$", (CHAPTERS / "suppression.md").read_text("utf-8"), flags=re.MULTILINE)
    assert {*needs[1].split(", ")} <= {*day[: day.index("suppression")]}
    assert {"when-it-went-wrong", "quantities", "law"} <= {row["chapter"] for row in teach.lessons()}


@pytest.mark.parametrize("chapter", sorted({row["chapter"] for row in teach.lessons()}))
def test_a_slide_shows_what_its_chapter_has(chapter):
    """Where a heading or an exercise was renamed: mend book/kanon_book/building/lessons.csv."""
    known = {exercise.id for exercise in read_exercises(find_exercises()[chapter]) if exercise.depth != files.GUESS}
    for row in (row for row in teach.lessons() if row["chapter"] == chapter):
        assert row["section"] in anchors(chapter) | {""}, row
        assert {*re.findall(r"exercise:(\S+)", row["show"])} <= known, row


def test_the_same_seed_draws_the_same_exam_from_all_chapters():
    first = draw(7)
    assert first == draw(7) != draw(8)
    assert sum(map(len, first.values())) == QUESTIONS
    assert [*first] == [chapter for chapter in find_exercises() if chapter in first]
    assert len(first) == len(find_exercises()), "a chapter has none though another has two"
    for chapter, names in first.items():
        own = {exercise.id: exercise for exercise in read_exercises(find_exercises()[chapter])}
        assert all(suits_paper(own[name]) for name in names)
    with pytest.raises(OptionError, match="an exam has 1 to [0-9]+ questions, not 1000"):
        draw(7, 1000)
    with pytest.raises(OptionError, match="seed must be a whole number from 0"):
        draw(-1)


@pytest.mark.parametrize(
    ("chapter", "on_paper"),
    [
        ("rare", {"recode-first": False}),
        ("spain", {"which-release": False}),
        ("suppression", {"weight-left": "All records of a postcode have the same weight"}),
        ("enusc", {"too-strong": "requires a k of 3"}),
        ("project", {"green-light": "the language spoken at home"}),
    ],
)
def test_a_question_on_paper_says_what_it_needs(chapter, on_paper):
    """A lecturer could not answer these without the chapter beside them."""
    own = {exercise.id: exercise for exercise in read_exercises(find_exercises()[chapter])}
    for name, says in on_paper.items():
        assert suits_paper(own[name]) == bool(says)
        assert not says or says in " ".join(own[name].statement.split())


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A small book, built with and without solutions."""
    folder = tmp_path_factory.mktemp("teach")
    with pytest.MonkeyPatch.context() as patch:
        small_course.use(folder, patch)
        with_them = small_course.build(folder).rename(folder / "_build" / "with")
        without = small_course.build(folder, kanon_solutions=False)
        for path in with_them.glob("book/*.html"):
            soup = BeautifulSoup(path.read_text("utf-8"), "html.parser")
            soup.select_one("div.body").name = "article"
            path.write_text(str(soup), "utf-8")
        yield with_them, without
    small_course.forget()


def test_an_exam_has_questions_and_its_key_the_answers(course):
    exam, key = exam_pages(course[0], "en", 1, 3, "_static")
    assert exam == exam_pages(course[0], "en", 1, 3, "_static")[0]
    assert draw(1, 3) == {"hospital": ["alone", "harmless", "reason"]}, "the one that needs the program is left out"
    assert "<input" not in exam and "<form" not in exam and "MathJax" in exam
    exam, key = (BeautifulSoup(page, "html.parser").text for page in (exam, key))
    for shown in ("Alone in the hospital", "a) Yes, since nobody has a name", "per cent", "about 11 minutes"):
        assert shown in exam
    for answer in ("16.67", "small classes too", "one third", "A patient is alone where"):
        assert answer not in exam
    for answer in ("16.67", "accepted: 16.5 to 16.8333", "33.33:", "c) No, since keys are left", "small classes too"):
        assert answer in key
    assert key.index("16.67") < key.index("33.33")


def test_a_built_page_is_read_back(course):
    page = built_page(course[0], "hospital")
    assert page.title == "A hospital"
    assert page.minutes == "5 minutes to read, 15 to practise"
    assert [*page.exercises()] == ["alone", "classes", "harmless", "reason"]


def test_an_edition_without_solutions_holds_no_answer(course):
    text = (course[1] / "book" / "hospital.html").read_text("utf-8")
    page = BeautifulSoup(text, "html.parser")
    forms = page.select("form[id^=exercise-]")
    assert len(forms) == 4
    for form in forms:
        assert json.loads(form["data-exercise"]).keys() == {"key", "choice", "depth", "unit", "wrong"}
        assert json.loads(form["data-exercise"])["wrong"] == []
        assert form.select(".kanon-solution") == []
        assert form.select(".kanon-hint") != []
        assert form.button.text == "Keep my answer"
    for answer in ("16.67", "You divided by", "Key variables still point", "different pairs", "solution"):
        assert answer not in str(forms)
    assert page.select_one(".kanon-guess .kanon-solution") is not None
    assert page.select_one(".kanon-bar a") is None
    assert not (course[1] / "exercises").exists()
    assert "16.67" not in (course[1] / "book" / "later.html").read_text("utf-8")


def saved(folder, name, more=None, **answers):
    """A file as a student saves it: of each exercise the answers, and whether one was right."""
    kept = {
        f"hospital.{key}": {"right": right, "tries": len(texts), "hints": 0, "answers": texts}
        for key, (right, *texts) in answers.items()
    }
    (folder / f"{name}.json").write_text(json.dumps({"exercises": kept} | (more or {})), "utf-8")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """What a small class saved."""
    small_course.use(tmp_path, monkeypatch)
    answers = tmp_path / "answers"
    answers.mkdir()
    saved(answers, "SECRET-anna", alone=(True, "33.3", "33.4", "16.7"), harmless=(False, "a"))
    saved(answers, "SECRET-ben", alone=(False, "100/3 %", "90"), harmless=(False, "a", "b"))
    saved(answers, "SECRET-eva", {"name": "Eva"}, alone=(False, "16,7"), harmless=(True, "c"), classes=(False, "5"))
    yield answers
    small_course.forget()


def test_a_class_is_read_without_names(folder):
    exercises, students = read_class([folder])
    assert exercises[["exercise", "students", "right", "common", "times"]].values.tolist() == [
        ["1.1", 3, pytest.approx(2 / 3), "33.33", 2],
        ["1.2", 1, 0.0, "5", 1],
        ["1.3", 3, pytest.approx(1 / 3), "a", 2],
    ]
    assert exercises["reveals"].tolist()[2] == "A key is enough to find somebody."
    assert students.values.tolist() == [["Eva", 2]]
    saved(folder, "old", harmless=(True,))
    assert len(read_class(sorted(folder.glob("*.json")))[0]) == 3


def test_the_command_prints_the_class_and_says_which_file_is_none(folder, capsys):
    assert run(["class", str(folder)]) == 0
    out = capsys.readouterr().out
    assert "Alone in the hospital" in out and "66.7%" in out and "Eva" in out
    assert "SECRET" not in out
    assert run(["class", str(folder), "--json"]) == 0
    assert "SECRET" not in (text := capsys.readouterr().out)
    assert json.loads(text)["students"][0] == {"name": "Eva", "right": 2}
    (folder / "notes.json").write_text("[]")
    assert run(["class", str(folder)]) == 2
    assert capsys.readouterr().err.splitlines() == [
        f"kanon-lab: {folder / 'notes.json'}: is not a file of progress from this book; ask the student "
        "for it again, or leave it out"
    ]
    (folder.parent / "empty").mkdir()
    assert run(["class", str(folder.parent / "empty")]) == 2
    assert "holds no .json file" in capsys.readouterr().err


def test_the_command_writes_an_exam_and_says_where(course, tmp_path, monkeypatch, capsys):
    html = tmp_path / "copy" / "_build" / "html"
    html.parent.mkdir(parents=True)
    html.symlink_to(course[0], target_is_directory=True)
    (html / "index.html").write_text("")
    monkeypatch.chdir(tmp_path)
    asked = ["exam", "copy", "--seed", "1", "--questions", "3"]
    assert run(asked) == 0
    assert capsys.readouterr().out.split() == ["exam-1-en.html", "key-to-exam-1-en.html"]
    assert 'src="copy/_build/html/_static/mathjax/startup.js"' in Path("exam-1-en.html").read_text("utf-8")
    assert run([*asked, "--out", "nowhere"]) == 2
    assert capsys.readouterr().err == "kanon-lab: nowhere: no such folder; make it, or name another one after --out\n"
    assert run([*asked[:3], "-1"]) == 2
    assert "seed must be a whole number" in capsys.readouterr().err
