"""Notebooks for learners: of each exercise the statement, what is given, an empty cell, and a cell that checks it."""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path

import kanon_book
import kanon_lab
from kanon_book import places
from kanon_book.course.files import GUESS, LETTERS, find_exercises, numbers
from kanon_book.course.markdown import without_roles
from kanon_book.course.solving import Solved, solved_file
from kanon_lab.files import storage_errors, write_bytes
from kanon_lab.notebooks import find_notebooks

#: Where a learner works on the course project, and what that begins with.
PROJECT, START = "school.yml", "project-start.yml"
# Where each file stands as it was written here, so that what somebody changed is told from what changed here.
_COPIED = ".copied"
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
    >>> chapters = [*kanon_book.course.find_exercises()]
    >>> all('"nbformat": 4' in kanon_book.course.workbook(chapter, []) for chapter in chapters)
    True
    """
    if solved is None:
        solved = solved_file(find_exercises()[chapter])
    asked = [exercise for exercise in solved if exercise.depth != GUESS]
    number = {exercise.id: numbers(chapter).get(exercise.id, f"{chapter}.{exercise.id}") for exercise in asked}
    title, first = title_of(chapter), next(iter(number.values()), "1.1")
    cells = [_cell("markdown", "about", _WORDS.format(title=title, first=first))]
    cells.append(_cell("code", "start", "from kanon_book.course import check, hint, progress, solution"))
    for exercise in asked:
        cells += _cells(exercise, number[exercise.id])
    cells.append(_cell("code", "progress", "progress()"))
    whole = {"cells": cells, "metadata": {"kernelspec": _KERNEL}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def title_of(chapter: str) -> str:
    """The title of a chapter; its name where the chapter is not there."""
    path = places.CHAPTERS / f"{chapter}.md"
    lines = path.read_text("utf-8").splitlines() if path.is_file() else []
    return next((line[2:].strip() for line in lines if line.startswith("# ")), chapter.replace("-", " "))


def _cells(solved: Solved, number: str) -> list[dict]:
    text = f"## {number} {solved.title} ({solved.depth})\n\n{solved.statement}"
    text += "".join(f"\n\n**{LETTERS[place]})** {option['text']}" for place, option in enumerate(solved.options))
    text += f"\n\n*Answer in: {solved.unit}.*" if solved.unit else ""
    cells = [_cell("markdown", solved.id, without_roles(text))]
    if solved.given.strip():
        cells.append(_cell("code", f"{solved.id}-given", solved.given.strip()))
    cells.append(_cell("code", f"{solved.id}-work", ""))
    cells.append(_cell("code", f"{solved.id}-check", f'answer = ...\ncheck("{number}", answer)'))
    cells.append(_cell("code", f"{solved.id}-hint", f'# hint("{number}")'))
    return cells


def _cell(kind: str, name: str, source: str) -> dict:
    cell = {"cell_type": kind, "id": name[:64], "metadata": {}, "source": source.splitlines(keepends=True)}
    return cell | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def working_copy(folder: str | Path) -> dict[str, str]:
    """Copy all notebooks into a folder to work in; into ``exercises`` there those for learners, and a first project.

    What somebody changed there is never written over. Where the original has changed too, the changed copy gets a name
    with the time, and a new one takes its place.

    Parameters
    ----------
    folder : str or Path
        Is made where it is not there.

    Returns
    -------
    dict of str to str
        Of each file what was done: ``"new"``, ``"same"``, ``"renewed"``, ``"kept"``, or the name that the changed copy
        has now.
    """
    folder, made_of = Path(folder), _digest()
    with storage_errors(folder):
        stamp = folder / _COPIED / "made-of.txt"
        chapters = find_exercises()
        bases = {chapter: folder / "exercises" / _COPIED / f"{chapter}.ipynb" for chapter in chapters}
        current = stamp.is_file() and stamp.read_bytes() == made_of and all(base.is_file() for base in bases.values())
        if current:  # to solve all exercises takes ten seconds
            workbooks = {chapter: base.read_bytes() for chapter, base in bases.items()}
        else:
            workbooks = {chapter: workbook(chapter).encode() for chapter in chapters}
        contents = {f"{name}.ipynb": path.read_bytes() for name, path in find_notebooks().items()}
        contents |= {f"exercises/{chapter}.ipynb": content for chapter, content in workbooks.items()}
        contents[f"exercises/{PROJECT}"] = (places.CHAPTERS / START).read_bytes()
        done = {name: _keep(folder / name, content) for name, content in contents.items()}
        stamp.parent.mkdir(exist_ok=True)
        write_bytes(stamp, made_of)
    return done


def _digest() -> bytes:
    """One hash of all that the notebooks for learners are made of: both packages, chapters, and recorded results."""
    total = hashlib.sha256()
    # In a checkout the chapters hold the book's package, in a wheel it holds them: no file counts twice.
    folders = (Path(kanon_lab.__file__).parent, Path(kanon_book.__file__).parent, places.CHAPTERS, places.EXECUTED)
    paths = {path for folder in folders for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"}
    for path in sorted(paths | {*places.EXERCISES.glob("*.yml")}):
        total.update(f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return total.hexdigest().encode()


def _keep(copy: Path, content: bytes) -> str:
    """Write a file to work on, unless somebody's work stands there; what was done."""
    base = copy.parent / _COPIED / copy.name
    there = copy.read_bytes() if copy.exists() else None
    before = base.read_bytes() if base.exists() else None
    if there is not None and before == content:
        return "same" if there == content else "kept"
    done = "new"
    if there in (before, content) and there is not None:
        done = "same" if there == content else "renewed"
    elif there is not None:
        done = f"{copy.stem}-until-{time.strftime('%Y%m%d-%H%M%S')}{copy.suffix}"
        copy.rename(copy.with_name(done))
    base.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(copy, content)
    write_bytes(base, content)
    return done
