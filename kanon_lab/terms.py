"""Words in several languages: the field's terms (``terms.csv``), and all that reports and pages say (``words.csv``)."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from io import StringIO
from numbers import Integral
from typing import Any

from kanon_lab.digits import percent

#: Language code -> name of the language.
LANGUAGES = {"en": "English", "es": "Spanish", "ca": "Catalan"}


@dataclass(frozen=True)
class Term:
    """One term of the field: its name in code, in three languages, and its meaning in a sentence in two.

    The symbol is LaTeX without dollar signs, or ""; plain words that only need a label are not in the glossary.
    """

    key: str
    en: str
    es: str
    ca: str
    meaning: str
    symbol: str = ""
    in_glossary: bool = True
    meaning_es: str = ""

    def name(self, language: str) -> str:
        """Its name in a language."""
        return getattr(self, language)

    def meaning_in(self, language: str) -> str:
        """Its meaning in a language; in English where it has none in that."""
        return self.meaning_es if language == "es" and self.meaning_es else self.meaning


@cache
def rows(name: str, package: str = "kanon_lab") -> list[dict[str, Any]]:
    """A table of a package: this one, or one that stands on it."""
    return [*csv.DictReader(StringIO(files(package).joinpath(name).read_text("utf-8")))]


#: Key -> `Term`, in the order of the glossary.
TERMS = {row["key"]: Term(**row | {"in_glossary": row["in_glossary"] == "yes"}) for row in rows("terms.csv")}

# How numbers of these parts of a note are written, where it is not as counts or as shares.
_FORMS = {"often": ".1%", "at_random": ".1%", "level": "g"}


class Note(str):
    """A sentence in English that knows what it says, so that it can be said otherwise.

    Attributes
    ----------
    key : str
        Of its wordings in ``words.csv``.
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


def is_for_office(note: str) -> bool:
    """Whether a note is kept from pages for everybody: unless its row of ``words.csv`` says ``yes`` under ``page``.

    A note that names what reveals hidden values would teach readers how to undo a release.
    """
    return bool(key := key_of(note)) and wordings("note")[key]["page"] != "yes"


def in_english(name: str, part: Any) -> str:
    """A part of a note as text."""
    if isinstance(part, tuple):
        return ", ".join(in_english(name, item) for item in part)
    if isinstance(part, str):
        return part
    if isinstance(part, Integral):
        return f"{part:,}"
    return format(part, _FORMS[name]) if name in _FORMS else percent(part)


def worded(key: str, parts: dict[str, Any], wording: str, text_of: Callable[[str, Any], str] = in_english) -> str:
    """A note in one of its wordings: ``en``, ``es``, or ``en_page`` for English pages where that is another.

    `text_of` makes texts of names and values of the parts.
    """
    row = wordings("note")[key]
    return (row[wording] or row["en"]).format(**{name: text_of(name, part) for name, part in parts.items()})


@cache
def wordings(where: str, package: str = "kanon_lab") -> dict[str, dict[str, str]]:
    """Key -> wording -> text of what is said in one place: ``report``, ``note``, ``figure`` or ``configuration``."""
    return {row["key"]: row for row in rows("words.csv", package) if row["where"] == where}


def texts(where: str, language: str, package: str = "kanon_lab") -> dict[str, str]:
    """Key -> text in a language of what is said in one place; in English where it has none in that language.

    Examples
    --------
    >>> from kanon_lab.terms import texts
    >>> texts("figure", "es")["figure_data"]
    'Datos de esta figura'
    """
    return {key: row.get(language) or row["en"] for key, row in wordings(where, package).items()}
