"""The course in Spanish outside the built pages: texts of chapters and exercises, by the catalogues of the edition."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from kanon_book import places
from kanon_book.course.solving import Solved
from kanon_lab.digits import local, typeset
from kanon_lab.errors import KanonLabError

LANGUAGE = "es"
#: The languages of the course, the first its own.
LANGUAGES = ("en", LANGUAGE)
# Blocks that are no prose: code, formulas and what a role inserts.
_NO_PROSE = re.compile(r"^(?:```|~~~|:::|\$\$)")
_ITEM = re.compile(r"(?:[-*]|[0-9]+\.) +")
_CELL = re.compile(r"[^|\s](?:[^|]*[^|\s])?")


def catalogues() -> Path:
    """The folder of the Spanish catalogues."""
    return places.CHAPTERS / "locale" / LANGUAGE / "LC_MESSAGES"


@cache
def read_catalogue(path: Path) -> Any:
    """A catalogue; empty where there is none."""
    from babel.messages.catalog import Catalog
    from babel.messages.pofile import PoFileError, read_po

    if not path.exists():
        return Catalog(locale=LANGUAGE)
    try:
        with path.open("rb") as file:
            return read_po(file, locale=LANGUAGE, abort_invalid=True)
    except (PoFileError, ValueError) as error:  # Babel and Sphinx would pass over a line that they cannot read
        raise KanonLabError(f"{path}: is not a catalogue of messages ({error}); correct it") from None


def translation(path: Path, message: str) -> str | None:
    """What a catalogue has for a message; None where it has nothing, or nothing that can be relied on."""
    entry = read_catalogue(path).get(message)
    return typeset(entry.string) if entry and entry.string and not entry.fuzzy else None


def in_language(text: str, chapter: str, language: str, missed: list[str] | None = None) -> str:
    """A text of a chapter in a language, block by block; what has no translation stays, and is added to `missed`.

    Examples
    --------
    >>> from kanon_book.course.spanish import in_language
    >>> in_language("Counting keys", "what-identifies", "en")
    'Counting keys'
    """
    if language == LANGUAGES[0]:
        return text
    path = catalogues() / "book" / f"{chapter}.po"

    def say(message: str) -> str:
        message = " ".join(message.split())
        spanish = translation(path, message)
        if spanish is None and missed is not None and re.search(r"[^\W\d_]{2}", message):
            missed.append(message)
        return spanish or local(message, language)

    return "\n\n".join(_block(block, say) for block in _blocks(text))


def _blocks(text: str) -> Iterator[str]:
    """Blocks of Markdown between empty lines; code is one block, with the empty lines that it has."""
    lines: list[str] = []
    fence = ""
    for line in text.splitlines():
        fenced = _NO_PROSE.match(line)
        if fence or line.strip():
            lines.append(line)
        elif lines:
            yield "\n".join(lines)
            lines = []
        if fenced:
            one_line = fenced[0] == "$$" and line.strip().endswith("$$") and len(line.strip()) > 2
            fence = "" if fence or one_line else fenced[0]
    if lines:
        yield "\n".join(lines)


def _block(block: str, say: Any) -> str:
    lines = block.splitlines()
    if _NO_PROSE.match(block):
        return block
    if lines[0].startswith("|"):
        return "\n".join(
            _CELL.sub(lambda cell: say(cell[0]) if re.search(r"\w", cell[0]) else cell[0], x) for x in lines
        )
    if _ITEM.match(lines[0]):
        items: list[list[str]] = []
        for line in lines:
            if _ITEM.match(line):
                items.append([])
            items[-1].append(line)
        marks = [_ITEM.match(item[0])[0] for item in items]  # type: ignore[index]
        texts = ["\n".join(item)[len(mark) :] for mark, item in zip(marks, items, strict=True)]
        return "\n".join(f"{mark}{say(text)}" for mark, text in zip(marks, texts, strict=True))
    return say(block)


def translated(solved: Solved, chapter: str, language: str, missed: list[str] | None = None) -> Solved:
    """An exercise of a chapter in a language, as the pages of that edition have it."""
    if language == LANGUAGES[0]:
        return solved

    def say(text: str) -> str:
        return in_language(text, chapter, language, missed)

    shown = solved.shown if solved.options else local(solved.shown, language)
    return replace(
        solved,
        **{name: say(getattr(solved, name)) for name in ("title", "statement", "unit", "explain")},
        shown=shown,
        wrong=[w | {"shown": local(w["shown"], language), "says": say(w["says"])} for w in solved.wrong],
        options=[{name: say(text) for name, text in option.items()} for option in solved.options],
        hints=[say(text) for text in solved.hints],
    )
