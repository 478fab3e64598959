"""Words in several languages: the field's terms (``terms.csv``), and all that reports and pages say (``words.csv``)."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from io import StringIO
from numbers import Integral
from typing import Any

from kanon_lab.digits import percent, typeset

#: Language code -> name of the language.
LANGUAGES = {"en": "English", "es": "Spanish", "ca": "Catalan"}


@dataclass(frozen=True)
class Term:
    """One term of the field: its name in code, in three languages, and its meaning in a sentence in two.

    The symbol is LaTeX without dollar signs, or ""; plain words that only need a label are not in the glossary.
    `not_es` are words that no Spanish text says for it, between semicolons.
    """

    key: str
    en: str
    es: str
    ca: str
    meaning: str
    symbol: str = ""
    in_glossary: bool = True
    meaning_es: str = ""
    not_es: str = ""

    def name(self, language: str) -> str:
        """Its name in a language."""
        return getattr(self, language)

    def meaning_in(self, language: str) -> str:
        """Its meaning in a language; in English where it has none in that."""
        return self.meaning_es if language == "es" and self.meaning_es else self.meaning


@cache
def rows(name: str, package: str = "kanon_lab") -> list[dict[str, Any]]:
    """A table of a package: this one, or one that stands on it."""
    return [*csv.DictReader(StringIO(files(package).joinpath(name).read_text("utf-8")), restval="")]


#: Key -> `Term`, in the order of the glossary.
TERMS = {
    row["key"]: Term(
        **row
        | {name: typeset(row[name]) for name in ("es", "meaning_es")}
        | {"in_glossary": row["in_glossary"] == "yes"}
    )
    for row in rows("terms.csv")
}

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


# What is counted in messages, and what is said of it, each with the word for one; _ stands for a blank.
_NOUNS = {
    "en": """compatible_released_records compatible_released_record records record cells cell values value columns
    column households household persons person people person true_keys true_key combinations
    combination pairs pair recipes recipe limits limit keys key zeros zero digits digit labels label
    files file classes class""",
    "es": """registros_publicados_compatibles registro_publicado_compatible registros registro celdas celda valores
    valor columnas columna hogares hogar personas persona pares par claves_verdaderas clave_verdadera
    combinaciones combinación recetas receta límites límite claves clave ceros cero dígitos dígito
    etiquetas etiqueta indicadores indicador""",
}
_VERBS = {
    "en": "are is were was have has hold holds lose loses need needs",
    "es": """están está son_únicos es_único son es tienen tiene quedan queda pierden pierde cumplen cumple pueden puede
    contienen contiene suprimidos suprimido""",
}


@cache
def _singular(language: str) -> tuple[re.Pattern[str], dict[str, str]]:
    """What finds one of something in a text of a language, and the words for one."""
    nouns, verbs = (
        dict(zip(words[::2], words[1::2], strict=True))
        for words in ([word.replace("_", " ") for word in of[language].split()] for of in (_NOUNS, _VERBS))
    )
    pattern = rf"(?<![\w.,/-])((?:there are )?)1 ({'|'.join(nouns)})\b(?: ({'|'.join(verbs)})\b)?"
    return re.compile(pattern), nouns | verbs


def agreed(text: str, language: str = "en") -> str:
    """A text in which one record is no "1 records".

    Examples
    --------
    >>> from kanon_lab.terms import agreed
    >>> agreed("1 records have fewer than 3 matching records; 11 records have more")
    '1 record has fewer than 3 matching records; 11 records have more'
    """
    pattern, words = _singular("es" if language == "es" else "en")

    def singular(match: re.Match[str]) -> str:
        verb = f" {words[match[3]]}" if match[3] else ""
        return f"{'there is ' if match[1] else ''}1 {words[match[2]]}{verb}"

    return pattern.sub(singular, text)


def worded(key: str, parts: dict[str, Any], wording: str, text_of: Callable[[str, Any], str] = in_english) -> str:
    """A note in one of its wordings: ``en``, ``es``, or ``en_page`` for English pages where that is another.

    `text_of` makes texts of names and values of the parts.
    """
    row = wordings("note")[key]
    text = (row[wording] or row["en"]).format(**{name: text_of(name, part) for name, part in parts.items()})
    return agreed(text, wording)


@cache
def wordings(where: str, package: str = "kanon_lab") -> dict[str, dict[str, str]]:
    """Key -> wording -> text of what is said in one place: ``report``, ``note``, ``figure`` or ``configuration``."""
    return {row["key"]: row | {"es": typeset(row["es"])} for row in rows("words.csv", package) if row["where"] == where}


def texts(where: str, language: str, package: str = "kanon_lab") -> dict[str, str]:
    """Key -> text in a language of what is said in one place; in English where it has none in that language.

    Examples
    --------
    >>> from kanon_lab.terms import texts
    >>> texts("figure", "es")["figure_data"]
    'Datos de esta figura'
    """
    return {key: row.get(language) or row["en"] for key, row in wordings(where, package).items()}
