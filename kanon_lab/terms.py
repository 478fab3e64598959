"""The field's terms: symbol, meaning, names in English, Spanish and Catalan. Glossary, charts and reports read them."""

from __future__ import annotations

import csv
import re
import unicodedata
from dataclasses import dataclass
from importlib.resources import files

from kanon_lab.errors import OptionError

#: Language code -> name of the language.
LANGUAGES = {"en": "English", "es": "Spanish", "ca": "Catalan"}


@dataclass(frozen=True)
class Term:
    """One term of the field: its name in code, in three languages, and its meaning in one English sentence.

    The symbol is LaTeX without dollar signs, or ""; plain words that only need a label are not in the glossary.
    """

    key: str
    en: str
    es: str
    ca: str
    meaning: str
    symbol: str = ""
    in_glossary: bool = True

    @property
    def plain_symbol(self) -> str:
        """The symbol where formulas are not set: Greek letters as such, no braces."""
        greek = re.sub(r"\\([a-z]+)", lambda name: unicodedata.lookup(f"GREEK SMALL LETTER {name[1]}"), self.symbol)
        return greek.replace("{", "").replace("}", "")

    def label(self, language: str = "en") -> str:
        """The name of the term in one of `LANGUAGES`."""
        if language not in LANGUAGES:
            raise OptionError(f"language must be one of {', '.join(LANGUAGES)}, not {language!r}")
        return getattr(self, language)


def _read() -> dict[str, Term]:
    """The table that stands beside this module, in the order of the glossary."""
    with files("kanon_lab").joinpath("terms.csv").open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    return {row["key"]: Term(**{**row, "in_glossary": row["in_glossary"] == "yes"}) for row in rows}


#: Key -> `Term`, in the order of the glossary.
TERMS = _read()


def term(key: str) -> Term:
    """The term with this key."""
    try:
        return TERMS[key]
    except KeyError:
        raise OptionError(
            f"{key!r} is not a term of kanon_lab; the terms are the keys of kanon_lab.terms.TERMS"
        ) from None


def label(key: str, language: str = "en") -> str:
    """The name of a term in one language: ``label("month", "es")`` is ``"mes"``."""
    return term(key).label(language)
