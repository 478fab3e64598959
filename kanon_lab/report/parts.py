"""Sections of results as data, and their two renderings: text for a terminal, HTML by the templates of this room."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from kanon_lab.errors import visible

if TYPE_CHECKING:
    import pandas as pd
    from jinja2 import Environment

    from kanon_lab.show.page import Figure

# Characters of a line on a terminal.
_WIDTH = 100


class Part:
    """A part of a section. Jupyter shows it as HTML."""

    @property
    def html(self) -> str:
        """The part as HTML, in which no character of a name or label commands how it is shown."""
        html = render_template("part.html", part=self, kind=type(self).__name__)
        return "\n".join(map(visible, html.splitlines()))

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return " ".join(re.sub(r"<[^>]+>", " ", self.html).split())


@dataclass(frozen=True, repr=False)
class Heading(Part):
    """A heading of level 2 or 3; links lead to one that has a name."""

    text: str
    level: int = 2
    name: str = ""


@dataclass(frozen=True, repr=False)
class Paragraph(Part):
    """A paragraph; `style` is its class for the style sheet."""

    text: str
    style: str = ""


@dataclass(frozen=True, repr=False)
class Bullets(Part):
    """A list of sentences, on a terminal without bullets."""

    lines: Sequence[str]


@dataclass(frozen=True, repr=False)
class Code(Part):
    """Lines that stay as they are."""

    text: str


@dataclass(frozen=True, repr=False)
class Table(Part):
    """A table.

    `formats` say how a terminal writes the values of a column (see `text_table`), `number` how a page writes numbers.
    """

    frame: pd.DataFrame
    caption: str = ""
    formats: Mapping[str, str | Callable[[Any], str]] = field(default_factory=dict)
    number: Callable[[str], str] = str

    @property
    def markup(self) -> str:
        """The table as HTML."""
        from kanon_lab.show.page import scrolling_table

        return scrolling_table(self.frame, caption=self.caption, number=self.number)


@dataclass(frozen=True)
class Section:
    """A title and the parts, figures and sections below it. A section without any of these is left out."""

    title: str
    parts: Sequence[Part | Figure | Section]
    name: str = ""

    def __iter__(self) -> Iterator[Part | Figure]:
        """The outputs of a notebook that show the section, one after the other."""
        if self.parts:
            yield Heading(self.title, level=2 if self.name else 3, name=self.name)
        for part in self.parts:
            yield from part if isinstance(part, Section) else (part,)


@cache
def _templates() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("kanon_lab.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render_template(name: str, **values: Any) -> str:
    """A template of this room with values, which are escaped unless the template says that they are HTML."""
    return _templates().get_template(name).render(values)


def render_text(part: Part | Figure | Section) -> Iterator[str]:
    """The lines of a section on a terminal; a table too wide for it is split, a figure is described in words."""
    if isinstance(part, Section):
        yield from ["", *wrapped(part.title)]
        for inner in part.parts:
            yield from render_text(inner)
    elif isinstance(part, Table):
        for number, block in enumerate(_blocks(part)):
            yield from [""] * bool(number)
            yield from text_table(block, part.formats)
    else:
        lines = part.lines if isinstance(part, Bullets) else [getattr(part, "text", "") or getattr(part, "alt", "")]
        for line in lines:
            blanks = len(line) - len(line.lstrip())
            yield from wrapped(line, indent=blanks + 2)


def wrapped(text: str, first: str = "", indent: int = 2) -> list[str]:
    """A text in lines of a terminal, words and paths not broken; all but the `first` begin with `indent` blanks."""
    return textwrap.wrap(
        visible(text),
        _WIDTH,
        initial_indent=first,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def text_table(frame: pd.DataFrame, formats: Mapping[str, str | Callable[[Any], str]] | None = None) -> list[str]:
    """A frame without its index as aligned lines: numbers to the right, text to the left, a missing value as ``-``.

    `formats` say how values of a column become text: a format specification, or a function such as `digits.percent`.
    Without one, whole numbers stay in full and others with six significant digits. Control characters are escapes.
    """
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    formats, columns = formats or {}, []
    for name, values in frame.items():
        texts = [visible(text) for text in (str(name), *(cell_text(value, formats.get(str(name))) for value in values))]
        width = max(map(len, texts))
        right = is_numeric_dtype(values) and not is_bool_dtype(values)
        columns.append([text.rjust(width) if right else text.ljust(width) for text in texts])
    return ["  ".join(line).rstrip() for line in zip(*columns, strict=True)]


def cell_text(value: Any, form: str | Callable[[Any], str] | None) -> str:
    """A value as `text_table` writes it."""
    import pandas as pd

    value = value.item() if hasattr(value, "item") else value
    if value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and not math.isfinite(value)):
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if callable(form):
        return form(value)
    return format(value, form or ".6g" if isinstance(value, float) else form or "")


def _blocks(table: Table) -> Iterator[pd.DataFrame]:
    """The table as frames that are no wider than a terminal, where columns allow it; the first column begins each."""
    first, *names = table.frame.columns
    block = [first]
    for name in names:
        if len(block) > 1 and max(map(len, text_table(table.frame[[*block, name]], table.formats))) > _WIDTH:
            yield table.frame[block]
            block = [first]
        block.append(name)
    yield table.frame[block]
