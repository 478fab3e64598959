"""What the workbench says: its own words, those of reports, and the sentence of a term."""

from __future__ import annotations

from html import escape
from numbers import Integral
from typing import Any

from kanon_lab.report.words import Words
from kanon_lab.terms import TERMS, agreed, wordings


class Speech(Words):
    """The words of a language: "en" or "es"."""

    def say(self, key: str, /, **parts: Any) -> str:
        """A wording of the workbench or, where it has none of that key, of reports."""
        if (row := wordings("workbench").get(key)) is None:
            return super().say(key, **parts)
        written = {name: self.number(part) if isinstance(part, Integral) else str(part) for name, part in parts.items()}
        return agreed(row[self.language].format(**written), self.language)

    def setting(self, name: str) -> str:
        """What a setting is called: by a word of its own, or as recipes call it."""
        key = f"set_{name}"
        return self.say(key) if key in wordings("workbench") else name

    def term(self, key: str) -> str:
        """A term as HTML, with its sentence where one points at it or opens it."""
        term = TERMS[key]
        name, meaning = escape(term.name(self.language)), escape(term.meaning_in(self.language))
        return f'<details class="kanon-term"><summary title="{meaning}">{name}</summary>{meaning}</details>'
