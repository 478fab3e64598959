"""An exam drawn from the exercises by a seed, with its key: pages to print, made from the built book."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kanon_book.course.built import (
    asked,
    built_page,
    inner,
    paper,
    reason,
    right_answer,
    task_of,
    title_of_form,
    wrong_answers,
)
from kanon_book.course.files import GUESS, Exercise, find_exercises, read_exercises
from kanon_book.course.minutes import PRACTICE
from kanon_book.words import texts
from kanon_lab.arguments import check_whole
from kanon_lab.digits import local
from kanon_lab.errors import OptionError

if TYPE_CHECKING:
    from bs4 import Tag

QUESTIONS = 30
# A statement that needs the page beside it, and code that a candidate cannot follow on paper.
_SCREEN = re.compile(
    r"\b(explorer|notebook|figure|chart|drawing|curve|chapter|page|that hamlet)s?\b|\{glue|kanon-lab", re.IGNORECASE
)
_PROGRAM = re.compile(r"\b(kanon_\w+|numpy|pandas|scipy)\b")


def suits_paper(exercise: Exercise) -> bool:
    """Whether an exercise can be answered without the page and without a program.

    Examples
    --------
    >>> from kanon_book.course.exam import suits_paper
    >>> from kanon_book.course import find_exercises, read_exercises
    >>> [exercise.id for exercise in read_exercises(find_exercises()["what-identifies"]) if suits_paper(exercise)]
    ['keys', 'forty', 'two-villages', 'pairs', 'finest-date']
    """
    if exercise.depth == GUESS or _SCREEN.search(exercise.statement or ""):
        return False
    return bool(exercise.options) or not _PROGRAM.search(exercise.given + exercise.solution)


def draw(seed: int, count: int = QUESTIONS) -> dict[str, list[str]]:
    """Names of the exercises of an exam by chapter, in the order of the book; none has two before all have one."""
    check_whole(seed, "seed", 0, 2**32 - 1)
    rng = np.random.default_rng(seed)
    pool = {
        chapter: [exercise.id for exercise in read_exercises(path) if suits_paper(exercise)]
        for chapter, path in find_exercises().items()
    }
    turns = [
        (turn, rng.random(), chapter, name)
        for chapter, names in pool.items()
        for turn, name in enumerate(rng.permutation(names).tolist())
    ]
    if not 1 <= count <= len(turns):
        raise OptionError(
            f"an exam has 1 to {len(turns)} questions, not {count}; only that many exercises are suitable for paper"
        )
    drawn = {(chapter, name) for *_, chapter, name in sorted(turns)[:count]}
    chosen = {chapter: [name for name in names if (chapter, name) in drawn] for chapter, names in pool.items()}
    return {chapter: names for chapter, names in chosen.items() if names}


def exam_pages(folder: Path, language: str, seed: int, count: int, static: str) -> tuple[str, str]:
    """The exam and its key as HTML, from a folder of built pages; `static` has their scripts, as both see it."""
    words = texts("teach", language)
    forms: list[tuple[str, Tag]] = []
    for chapter, names in draw(seed, count).items():
        page = built_page(folder, chapter)
        own = page.exercises()
        forms += [(page.title, own[name]) for name in names]
    minutes = sum(PRACTICE[task_of(form)["depth"]] for _, form in forms)
    title = words["exam"].format(seed=seed)
    head = f'<h1>{escape(title)}</h1><p class="about">{words["exam_about"].format(count=count, minutes=minutes)}</p>'
    questions = [_question(number, form, words) for number, (_, form) in enumerate(forms, start=1)]
    answers = [_answer(number, chapter, form, words, language) for number, (chapter, form) in enumerate(forms, start=1)]
    name = f"<p>{words['name']}: <span class='line' style='width:20rem'></span></p>"
    key = words["key"].format(title=title)
    return (
        paper(title, f"{head}{name}{''.join(questions)}", language, page, static),
        paper(key, f"<h1>{escape(key)}</h1>{''.join(answers)}", language, page, static),
    )


def _question(number: int, form: Tag, words: dict[str, str]) -> str:
    unit = inner(form.select_one(".kanon-answer .kanon-unit"))
    field = f'<p>{words["answer"]}: <span class="line"></span> {unit}</p>'
    return f'<section class="question"><h3>{number}. {title_of_form(form)}</h3>{asked(form)}{field}</section>'


def _answer(number: int, chapter: str, form: Tag, words: dict[str, str], language: str) -> str:
    """The key of a question: what is right and why, and what other answers reveal."""
    task = task_of(form)
    if task["choice"]:
        right = f"<b>{right_answer(form)}</b>"
    else:
        bounds = {name: local(f"{task[name]:,.6g}", language) for name in ("low", "high")}
        right = f"<b>{right_answer(form)}</b> ({words['accepted'].format(**bounds)})"
    others = "".join(f"<li>{name} {says}</li>" for name, says in wrong_answers(form))
    where = f"{inner(form.select_one('legend .kanon-number'))}, {escape(chapter)}"
    about = f'<h3>{number}. {title_of_form(form)}</h3><p class="about">{where}</p>'
    return f'<section class="question">{about}<p>{right}</p>{reason(form)}<ul>{others}</ul></section>'
