"""Notebooks for learners: the first one with the chapters in order, and for each chapter one with its exercises."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections import Counter
from pathlib import Path

import kanon_book
import kanon_lab
from kanon_book import places
from kanon_book.course.files import GUESS, LETTERS, chapter_numbers, find_exercises, numbers
from kanon_book.course.markdown import without_roles
from kanon_book.course.notebooks import notebooks_of
from kanon_book.course.order import chapters
from kanon_book.course.solving import Solved, solved_file
from kanon_book.course.spanish import LANGUAGES, catalogues, in_language, translated, translation
from kanon_book.words import texts
from kanon_lab.errors import OptionError
from kanon_lab.files import storage_errors, write_bytes
from kanon_lab.notebooks import find_notebooks

#: Where a learner works on the course project, and what that begins with.
PROJECT, START = "school.yml", "project-start.yml"
# Where each file stands as it was written here, so that what somebody changed is told from what changed here.
_COPIED = ".copied"
_KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def workbook(chapter: str, solved: list[Solved] | None = None, language: str = "en") -> str:
    """The notebook for learners of a chapter, as the text of a file.

    Parameters
    ----------
    chapter : str
        A chapter that has exercises.
    solved : list of Solved, optional
        Its exercises, where they are solved already.
    language : str
        In which the exercises are asked and their answers judged: ``"en"`` or ``"es"``.

    Examples
    --------
    >>> chapters = [*kanon_book.course.find_exercises()]
    >>> all('"nbformat": 4' in kanon_book.course.workbook(chapter, []) for chapter in chapters)
    True
    """
    if solved is None:
        solved = solved_file(find_exercises()[chapter])
    words = texts("exercise", language)
    asked = [translated(exercise, chapter, language) for exercise in solved if exercise.depth != GUESS]
    number = {exercise.id: numbers(chapter).get(exercise.id, f"{chapter}.{exercise.id}") for exercise in asked}
    first = next(iter(number.values()), "1.1")
    begin = "from kanon_book.course import check, hint, progress, solution"
    if language != LANGUAGES[0]:
        begin += f', use_language\n\nuse_language("{language}")'
    about = words["workbook"].format(title=title_of(chapter, language), first=first)
    cells = [_cell("markdown", "about", about), _cell("code", "start", begin)]
    for exercise in asked:
        cells += _cells(exercise, number[exercise.id], words)
    cells.append(_cell("code", "progress", "progress()"))
    return _notebook(cells)


def _notebook(cells: list[dict]) -> str:
    whole = {"cells": cells, "metadata": {"kernelspec": _KERNEL}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def title_of(chapter: str, language: str = "en") -> str:
    """The title of a chapter; its name where the chapter is not there."""
    lines = _lines(chapter)
    title = next((line[2:].strip() for line in lines if line.startswith("# ")), chapter.replace("-", " "))
    return in_language(title, chapter, language)


def able_after(chapter: str, language: str = "en") -> str:
    """What a reader of a chapter will be able to do, in a sentence: the first paragraph of its box; "" without one."""
    text = "\n".join(_lines(chapter))
    box = re.search(r"^\*\*You will be able to\*\*.*?(?=\n\n|\n:::)", text, re.DOTALL | re.MULTILINE)
    sentence = in_language(box[0], chapter, language) if box else ""
    return re.sub(r"^\*\*(.*?)\*\*", r"\1", without_roles(" ".join(sentence.split())))


def _lines(chapter: str) -> list[str]:
    path = places.CHAPTERS / f"{chapter}.md"
    return path.read_text("utf-8").splitlines() if path.is_file() else []


def copied_names() -> dict[str, str]:
    """Of each notebook the name of its copy: before it the number of the chapter that it belongs to.

    That is the chapter of the same name, or else the one that inserts most from the notebook.

    Examples
    --------
    >>> from kanon_book.course.learner import copied_names
    >>> names = copied_names()
    >>> names.get("spain"), names.get("exercises")
    ('21-spain.ipynb', 'exercises.ipynb')
    """
    owner, most = chapter_numbers(), Counter[str]()
    for chapter, number in owner.items():
        for name, count in notebooks_of(chapter).items():
            if name not in chapter_numbers() and count > most[name]:
                owner, most[name] = owner | {name: number}, count
    return {name: _numbered(name, owner.get(name)) for name in find_notebooks()}


def _numbered(name: str, number: int | None, ending: str = "") -> str:
    return f"{'' if number is None else f'{number:02}-'}{name}{ending}.ipynb"


def workbook_name(chapter: str, language: str = "en") -> str:
    """The name of a chapter's notebook for learners in the working copy; each language has its own files."""
    return _numbered(chapter, chapter_numbers().get(chapter), "" if language == LANGUAGES[0] else f"-{language}")


def first_notebook(language: str = "en") -> str:
    """The notebook that JupyterLab opens on, as the text of a file: the chapters by part, and what to open for each.

    Examples
    --------
    >>> from kanon_book.course.learner import first_notebook
    >>> all(f"**{number}. " in first_notebook() for number in kanon_book.course.chapter_numbers().values())
    True
    """
    words, names, practised = texts("exercise", language), copied_names(), find_exercises()
    cells = [_cell("markdown", "about", words["first"])]
    root = catalogues() / "book" / "preface.po"
    listed: set[str] = set()
    part = None
    for chapter in chapters(places.TOC):
        if chapter.part != part:
            part = chapter.part
            heading = part if language == LANGUAGES[0] else translation(root, part) or part
            cells.append(_cell("markdown", f"part-{chapter.number}", f"## {heading}"))
        used = sorted(notebooks_of(chapter.name).keys() & names, key=names.__getitem__)
        listed |= {*used}
        links = [f"[{names[name].removesuffix('.ipynb')}]({names[name]})" for name in used]
        parts = [f"{words['first_computation']}: {', '.join(links)}"] if links else []
        if chapter.name in practised:
            parts.insert(0, f"[{words['first_exercises']}](exercises/{workbook_name(chapter.name, language)})")
        title, able = title_of(chapter.name, language), able_after(chapter.name, language)
        line = f"**{chapter.number}. {title}**\\\n" + (f"{able}\\\n" if able else "") + " · ".join(parts)
        cells[-1]["source"] += [*f"\n\n{line}".splitlines(keepends=True)]
    more = [f"[{name}]({names[name]})" for name in sorted({*names} - listed)]
    if more:
        cells.append(_cell("markdown", "more", f"## {words['first_more']}\n\n{', '.join(more)}"))
    return _notebook(cells)


def _cells(solved: Solved, number: str, words: dict[str, str]) -> list[dict]:
    text = f"## {number} {solved.title} ({words[solved.depth]})\n\n{solved.statement}"
    text += "".join(f"\n\n**{LETTERS[place]})** {option['text']}" for place, option in enumerate(solved.options))
    text += f"\n\n*{words['answer_in'].format(unit=solved.unit)}*" if solved.unit else ""
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


def working_copy(folder: str | Path, language: str = "en") -> dict[str, str]:
    """Copy all notebooks into a folder to work in, and into ``exercises`` there those for learners and a first project.

    The names of the copies begin with the numbers of the chapters, and the first notebook, ``first_name(language)``,
    lists the chapters. What somebody changed there is never written over. If the original has changed too, the changed
    copy gets a name with the time, and a new one takes its place. A copy that had another number gets its new one.

    Parameters
    ----------
    folder : str or Path
        Is made where it is not there.
    language : str
        Of the first notebook and of the exercises: ``"en"`` or ``"es"``. The computations are in English.

    Returns
    -------
    dict of str to str
        Of each file what was done: ``"new"``, ``"same"``, ``"renewed"``, ``"kept"``, ``"was NAME"`` of a changed copy
        that had another number, or the name that the changed copy has now.
    """
    if language not in LANGUAGES:
        raise OptionError(f"language must be one of {', '.join(LANGUAGES)}, not {language!r}")
    folder, made_of = Path(folder), _digest()
    with storage_errors(folder):
        stamp = folder / _COPIED / ("made-of.txt" if language == LANGUAGES[0] else f"made-of-{language}.txt")
        names = {chapter: workbook_name(chapter, language) for chapter in find_exercises()}
        bases = {name: folder / "exercises" / _COPIED / name for name in names.values()}
        current = stamp.is_file() and stamp.read_bytes() == made_of and all(base.is_file() for base in bases.values())
        contents = {first_name(language): first_notebook(language).encode()}
        copies = copied_names()
        contents |= {copies[name]: path.read_bytes() for name, path in find_notebooks().items()}
        for chapter, name in names.items():
            # To solve all exercises takes ten seconds.
            content = bases[name].read_bytes() if current else workbook(chapter, language=language).encode()
            contents[f"exercises/{name}"] = content
        contents[f"exercises/{PROJECT}"] = (places.CHAPTERS / START).read_bytes()
        done = {}
        for name, content in sorted(contents.items()):
            before = _renumber(folder / name, {Path(other).name for other in contents})
            done[name] = _keep(folder / name, content)
            if before and done[name] == "kept":
                done[name] = f"was {before}"
        stamp.parent.mkdir(exist_ok=True)
        write_bytes(stamp, made_of)
    return done


def first_name(language: str = "en") -> str:
    """The name of the first notebook, which stands before all others."""
    return f"00-{texts('exercise', language)['first_name']}.ipynb"


def _renumber(copy: Path, taken: set[str]) -> str:
    """Give a copy from before the chapters had these numbers its new name; its old one, "" where there is none."""
    stem = re.sub(r"^[0-9]{2}-", "", copy.name)
    base = copy.parent / _COPIED / copy.name
    if copy.exists() or base.exists():
        return ""
    for old in sorted(base.parent.glob(f"*{stem}")):
        earlier = copy.with_name(old.name)
        known = re.fullmatch(rf"(?:[0-9]{{2}}-)?{re.escape(stem)}", old.name) and old.name not in taken
        if known and earlier.exists():
            earlier.rename(copy)
            old.rename(base)
            return old.name
    return ""


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
    if there is not None and any(_is_as(there, other) for other in (before, content) if other is not None):
        done = "same" if before == content else "renewed"
        if done == "same":
            return done
    elif there is not None and before == content:
        return "kept"
    elif there is not None:
        done = f"{copy.stem}-until-{time.strftime('%Y%m%d-%H%M%S')}{copy.suffix}"
        copy.rename(copy.with_name(done))
    else:
        done = "new"
    base.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(copy, content)
    write_bytes(base, content)
    return done


def _is_as(there: bytes, other: bytes) -> bool:
    """Whether a file is as it was written: of a notebook the cells without outputs, as JupyterLab adds other things."""
    if there == other:
        return True
    try:
        mine, written = ([_essence(cell) for cell in json.loads(text)["cells"]] for text in (there, other))
    except (ValueError, KeyError, TypeError):
        return False
    return mine == written


def _essence(cell: dict) -> tuple[str, str, list]:
    return cell["cell_type"], "".join(cell["source"]), cell.get("outputs", [])
