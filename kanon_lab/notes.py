"""What is said of a file: notes that know their key and parts, worded once in each language (``notes.csv``)."""

from __future__ import annotations

import csv
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from numbers import Integral
from typing import Any

from kanon_lab.digits import percent

# How numbers of these parts are written, where it is not as counts or as shares.
_FORMS = {"often": ".1%", "at_random": ".1%", "level": "g"}


class Note(str):
    """A sentence in English that knows what it says, so that it can be said otherwise.

    Attributes
    ----------
    key : str
        Of its wordings in ``notes.csv``.
    parts : dict of str to object
        What is put into them: texts, whole numbers, shares (0-1), other notes, and tuples of these.
    """

    key: str
    parts: dict[str, Any]

    def __new__(cls, key: str, /, **parts: Any) -> Note:
        note = super().__new__(cls, worded(key, parts, "en"))
        note.key, note.parts = key, parts
        return note

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, Any]]:
        return (self.key,), self.parts


def key_of(note: str) -> str:
    """The key of a note; nothing where it is a text without one."""
    return note.key if isinstance(note, Note) else ""


def worded(key: str, parts: dict[str, Any], wording: str, told: Callable[[str, Any], str] | None = None) -> str:
    """A note in one of its wordings: ``en``, ``es``, or ``en_page`` for English pages where that is another.

    `told` makes texts of names and values of the parts, in English unless told otherwise.
    """
    row = wordings()[key]
    told = told or in_english
    return (row[wording] or row["en"]).format(**{name: told(name, part) for name, part in parts.items()})


def in_english(name: str, part: Any) -> str:
    """A part of a note as text."""
    if isinstance(part, tuple):
        return ", ".join(in_english(name, each) for each in part)
    if isinstance(part, str):
        return part
    if isinstance(part, Integral):
        return f"{part:,}"
    return format(part, _FORMS[name]) if name in _FORMS else percent(part)


@cache
def wordings() -> dict[str, dict[str, str]]:
    """Key -> wording -> text."""
    with files("kanon_lab").joinpath("notes.csv").open(encoding="utf-8", newline="") as table:
        return {row["key"]: row for row in csv.DictReader(table)}
