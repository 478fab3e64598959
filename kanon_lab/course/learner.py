"""Notebooks for learners: of each exercise the statement, what is given, an empty cell, and a cell that checks it."""

from __future__ import annotations

import json
from pathlib import Path

from kanon_lab.course.files import GUESS, LETTERS, find_exercises, numbers
from kanon_lab.course.markdown import without_roles
from kanon_lab.course.solving import Solved, solved_file

_BOOK = Path(__file__).resolve().parents[2] / "book"
_KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
_WORDS = """# Exercises: {title}

Write your answer in place of the dots of a cell, and run it. It may be a number, or a text such as `"42 %"`; of a
choice it is the letter, such as `"a"`. Take away the sign # before `hint` to see a hint; `solution("{first}")` shows
how it is done, and `progress()` what you have done. That is kept in a file beside this notebook, which is called
`kanon-lab-progress.json`. It goes nowhere else, and `progress(reset=True)` deletes it."""


def workbook(chapter: str, solved: list[Solved] | None = None) -> str:
    """The notebook for learners of a chapter, as the text of a file.

    Parameters
    ----------
    chapter : str
        A chapter that has exercises.
    solved : list of Solved, optional
        Its exercises, where they are solved already.

    Examples
    --------
    >>> chapters = [*kanon_lab.course.find_exercises()]
    >>> all('"nbformat": 4' in kanon_lab.course.workbook(chapter, []) for chapter in chapters)
    True
    """
    if solved is None:
        solved = solved_file(find_exercises()[chapter])
    asked = [each for each in solved if each.depth != GUESS]
    number = {each.id: numbers().get(f"{chapter}.{each.id}", f"{chapter}.{each.id}") for each in asked}
    title, first = title_of(chapter), next(iter(number.values()), "1.1")
    cells = [_cell("markdown", "about", _WORDS.format(title=title, first=first))]
    cells.append(_cell("code", "start", "from kanon_lab.course import check, hint, progress, solution"))
    for each in asked:
        cells += _cells(each, number[each.id])
    cells.append(_cell("code", "progress", "progress()"))
    whole = {"cells": cells, "metadata": {"kernelspec": _KERNEL}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def title_of(chapter: str) -> str:
    """The title of a chapter; in an installed package, which has no chapters, its name."""
    path = _BOOK / f"{chapter}.md"
    lines = path.read_text("utf-8").splitlines() if path.is_file() else []
    return next((line[2:].strip() for line in lines if line.startswith("# ")), chapter.replace("-", " "))


def _cells(solved: Solved, number: str) -> list[dict]:
    text = f"## {number} {solved.title} ({solved.depth})\n\n{solved.statement}"
    text += "".join(f"\n\n**{LETTERS[place]})** {each['text']}" for place, each in enumerate(solved.options))
    text += f"\n\n*Answer in: {solved.unit}.*" if solved.unit else ""
    found = [_cell("markdown", solved.id, without_roles(text))]
    if solved.given.strip():
        found.append(_cell("code", f"{solved.id}-given", solved.given.strip()))
    found.append(_cell("code", f"{solved.id}-work", ""))
    found.append(_cell("code", f"{solved.id}-check", f'answer = ...\ncheck("{number}", answer)'))
    found.append(_cell("code", f"{solved.id}-hint", f'# hint("{number}")'))
    return found


def _cell(kind: str, name: str, source: str) -> dict:
    cell = {"cell_type": kind, "id": name[:64], "metadata": {}, "source": source.splitlines(keepends=True)}
    return cell | ({"execution_count": None, "outputs": []} if kind == "code" else {})
