"""What the workbench says: its own words, those of reports, what settings are called, and the sentence of a term."""

from __future__ import annotations

from html import escape
from numbers import Integral
from typing import Any

from kanon_lab.report.words import Words
from kanon_lab.settings import Settings
from kanon_lab.show.forms import FormWords
from kanon_lab.terms import TERMS, agreed, wordings


class Speech(Words, FormWords):
    """The words of a language: "en" or "es"."""

    def say(self, key: str, /, **parts: Any) -> str:
        """A wording of the workbench or, where it has none of that key, of reports."""
        if (row := wordings("workbench").get(key)) is None:
            return super().say(key, **parts)
        written = {name: self.number(part) if isinstance(part, Integral) else str(part) for name, part in parts.items()}
        return agreed(row[self.language].format(**written), self.language)

    def setting(self, name: str) -> str:
        """What a setting is called: by a word of its own, or as recipes call it."""
        return self.say(f"set_{name}") if f"set_{name}" in wordings("workbench") else name

    def about(self, model: type[Settings], name: str) -> str:
        """What a setting is: in English as its model says it, else by a wording of its own, or nothing."""
        rows = wordings("workbench")
        row = rows.get(f"says_{model.__name__}_{name}") or rows.get(f"says_{name}")
        return super().about(model, name) if self.language == "en" else row[self.language] if row else ""

    def term(self, key: str) -> str:
        """A term as HTML, with its sentence where one points at it or opens it."""
        name, meaning = escape(TERMS[key].name(self.language)), escape(TERMS[key].meaning_in(self.language))
        return f'<details class="kanon-term"><summary title="{meaning}">{name}</summary>{meaning}</details>'
