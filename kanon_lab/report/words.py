"""The words of a report in its language, and its numbers as people there write them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest
from numbers import Integral
from typing import TYPE_CHECKING, Any

from kanon_lab.digits import is_finite, local, number, percent, rounded
from kanon_lab.errors import shortened
from kanon_lab.measures.registry import Measure
from kanon_lab.show.parts import Explained, Paragraph, Part, Section, Table
from kanon_lab.terms import TERMS, Note, agreed, in_english, worded, wordings

if TYPE_CHECKING:
    import pandas as pd

    from kanon_lab.show.page import Figure


# So many columns of a step are named beside its title.
_MOST_COLUMNS = 3


class Few(int):
    """Some records, none perhaps, and fewer than a step: as a number it is one, as a text "fewer than 100"."""

    step: int

    def __new__(cls, step: int) -> Few:
        few = super().__new__(cls, 1)
        few.step = step
        return few

    def __format__(self, form: str) -> str:
        return texts()["few"]["en"].format(step=self.step)


class OrMore(int):
    """So many or more: as a text "1,000 or more"."""

    def __format__(self, form: str) -> str:
        return texts()["or_more"]["en"].format(count=f"{int(self):,}")


def texts() -> dict[str, dict[str, str]]:
    """Every wording: key -> language -> text."""
    return wordings("report")


@dataclass(frozen=True)
class Words:
    """One language: "en" or "es"."""

    language: str

    def say(self, key: str, /, **parts: Any) -> str:
        """A wording with its parts put in: whole numbers are written as such, all else as text."""
        written = {name: self.number(part) if isinstance(part, Integral) else str(part) for name, part in parts.items()}
        return agreed(self.wording(key).format(**written), self.language)

    def wording(self, key: str) -> str:
        """A wording, with places for its parts."""
        return texts()[key][self.language]

    def number(self, value: Any, digits: int = 0) -> str:
        """A number with so many decimals; of `Few` or `OrMore`, that."""
        if isinstance(value, Few):
            return self.say("few", step=value.step)
        if isinstance(value, OrMore):
            return self.say("or_more", count=int(value))
        return self._local(f"{value:z,.{digits}f}") if is_finite(value) else "\N{EN DASH}"

    def percent(self, share: float | None, *beside: float | None) -> str:
        """A share of 0-1 by `kanon_lab.digits.percent`."""
        return self._local(percent(share, *beside)) if is_finite(share) else "\N{EN DASH}"

    def significant(self, value: float | None, *beside: float | None) -> str:
        """A number by `kanon_lab.digits.number`."""
        if isinstance(value, Few):
            return self.number(value)
        return self._local(number(value, *beside)) if is_finite(value) else "\N{EN DASH}"

    def digits(self, values: pd.Series, power: int = 0) -> pd.Series:
        """A column of numbers by `kanon_lab.digits.rounded`, times that power of ten: 2 makes per cent of shares."""
        texts = [rounded(value, power=power) if is_finite(value) else None for value in values]
        return type(values)(texts, index=values.index, dtype=object)

    def listed(self, names: Iterable[object]) -> str:
        """Names between commas."""
        return ", ".join(map(str, names))

    def section(self, key: str, *parts: Part | Figure | Section, name: str = "") -> Section:
        """The parts under a wording as their heading."""
        return Section(self.say(key), list(parts), name)

    def text(self, key: str, /, style: str = "", **parts: Any) -> Paragraph:
        """A wording as a paragraph."""
        return Paragraph(self.say(key, **parts), style)

    def table(self, frame: pd.DataFrame, caption: str, *, heads: bool = True, **parts: Any) -> Table:
        """A table under the wording of its caption, its numbers and, unless they are names of the file, its heads too.

        A head that has no wording stays as it is.
        """
        if heads:
            named = {name: f"c_{name}" for name in frame if f"c_{name}" in texts()}
            frame = frame.rename(columns={name: self.say(key, **parts) for name, key in named.items()})
        return Table(self._worded(frame), self.say(caption, **parts), number=self._local)

    def _worded(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The same with counts of objects as numbers, or as texts in a column where some are `Few` or `OrMore`."""

        def write(value: Any) -> Any:
            return self.number(value) if isinstance(value, Integral) else value

        worded = frame.copy()
        for name in (name for name, column in frame.items() if column.dtype == object):
            some = any(isinstance(value, (Few, OrMore)) for value in frame[name])
            worded[name] = frame[name].map(write) if some else frame[name].infer_objects()
        return worded

    def shares(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The same with shares in per cent, and versions of the file in words."""
        frame = frame.assign(share=self.digits(frame["share"], power=2))
        return self.versions(frame) if "version" in frame else frame

    def versions(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The same with versions of the file in words."""
        return frame.assign(version=[self.say(f"version_{version}") for version in frame["version"]])

    def plain(self, measure: Measure) -> str:
        """What a measure is, in words for readers of reports where its title is a term of the field."""
        key = f"plain_{measure.name}"
        return self.say(key) if key in texts() else measure.called(self.language)

    def explained(self, measure: Measure, title: str = "") -> Explained:
        """A title of a measure, or that of a limit on it, with the sentence on what it counts."""
        if f"says_{measure.name}" in texts():
            return Explained(title or self.plain(measure), self.say(f"says_{measure.name}"))
        limit = measure.limit.name or measure.name if measure.limit is not None else ""
        if row := wordings("workbench").get(f"says_LimitSettings_{limit}"):
            return Explained(title or self.plain(measure), row[self.language])
        term = TERMS.get(measure.name)
        meaning = f"{term.name(self.language).capitalize()}: {term.meaning_in(self.language)}" if term else ""
        return Explained(title or self.plain(measure), meaning)

    def measure(self, measure: Measure, level: str | None = None) -> str:
        """The title of a measure, at a level of a family, with its unit if it is written in per cent."""
        title = self.plain(measure) if level is None else measure.at(level).called(self.language)
        return f"{title} (%)" if measure.share else title

    def steps(self, names: Iterable[str], settings: Iterable[Any] = ()) -> list[str]:
        """What the states of a file are called: as it came, and after each step by its title and its columns.

        The `settings` of each step, if they are given, are mappings, or a line of YAML without its brackets.
        """
        pairs = zip_longest([*names][1:], [*settings][1:])
        return [self.say("as_it_came"), *(self.step_of(name, inner or {}) for name, inner in pairs)]

    def step_of(self, name: str, settings: Any) -> str:
        """The title of a step with the columns that its settings name."""
        if isinstance(settings, str):
            from kanon_lab.recipes.yaml_file import parse_yaml

            settings = parse_yaml(f"{{{settings}}}", name)
        several = settings.get("variables", settings.get("variable")) or []
        columns = [shortened(str(column)) for column in ([several] if isinstance(several, str) else several)]
        more = ", \N{HORIZONTAL ELLIPSIS}" if len(columns) > _MOST_COLUMNS else ""
        return f"{self.step(name)}: {self.listed(columns[:_MOST_COLUMNS])}{more}" if columns else self.step(name)

    def step(self, name: str) -> str:
        """The title of a step; of one that has none its name."""
        return self.say(f"step_{name}") if f"step_{name}" in texts() else name

    def message(self, text: str) -> str:
        """Advice, or a message of a command, for the readers of the page."""
        return text

    def roles(self, roles: str) -> str:
        """The roles of a column in the language, as `role_of` has them; those of two columns between " and "."""
        of_columns = [[self.say(f"role_{role}") for role in column.split(", ")] for column in roles.split(" and ")]
        return f" {self.say('and')} ".join(map(self.listed, of_columns))

    def note(self, note: str) -> str:
        """A note in the language; a text without a key stays as it is."""
        if not isinstance(note, Note):
            return note
        return worded(note.key, note.parts, "en_page" if self.language == "en" else self.language, self._part)

    def _part(self, name: str, part: Any) -> str:
        """A part of a note."""
        if isinstance(part, tuple):
            return self.listed(self._part(name, inner) for inner in part)
        if isinstance(part, str):
            return self.roles(part) if name == "role" and self.language != "en" else self.note(part)
        return self.number(part) if isinstance(part, Integral) else self._local(in_english(name, part))

    def _local(self, text: str) -> str:
        return local(text, self.language)
