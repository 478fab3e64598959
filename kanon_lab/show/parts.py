"""Sections of results as data, and their two renderings: text for a terminal, HTML by templates."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

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
        html = render_template("show/templates/part.html", part=self, kind=type(self).__name__)
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

    On a terminal, `formats` say how the values of a column are written (see `cell_text`), the columns of texts named in
    `right` go there as numbers do, and a row of a `wide` table is one line. `number` is how a page writes numbers.
    """

    frame: pd.DataFrame
    caption: str = ""
    formats: Mapping[str, str | Callable[[Any], str]] = field(default_factory=dict)
    number: Callable[[str], str] = str
    right: Collection[str] = ()
    wide: bool = False

    @classmethod
    def of_texts(cls, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
        """A table of texts; those of all columns but the first are numbers."""
        import pandas as pd

        return cls(pd.DataFrame([*rows], columns=[*heads]), right=heads[1:])

    @property
    def markup(self) -> str:
        """The table as HTML."""
        from kanon_lab.show.page import scrolling_table

        return scrolling_table(self.frame, caption=self.caption, number=self.number)


class Explained(str):
    """A name, with a sentence on what it is, which a reader opens."""

    says: str

    def __new__(cls, name: str, says: str) -> Explained:
        explained = super().__new__(cls, name)
        explained.says = says
        return explained


@dataclass(frozen=True)
class Mark:
    """A cell of `Bars`: a bar over a part of its width (0-1; None: not known), a line at its limit, and words.

    Where a side of the limit is `allowed`, that is shaded, and a mark takes the place of the bar. `style` is its class
    for the style sheet.
    """

    words: str
    width: float | None
    style: str = ""
    limit: float | None = None
    allowed: Literal["", "below", "above"] = ""


@dataclass(frozen=True, repr=False)
class Bars(Part):
    """A table that is read as a picture: of each row the first cell is its head, and a `Mark` is drawn."""

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str | Mark]]
    style: str = ""


@dataclass(frozen=True, repr=False)
class Picture(Part):
    """A drawing in one of the forms of ``picture.html``, of the values that it takes; `text` says the same."""

    form: Literal["columns", "numbers", "plane"]
    text: str
    values: Mapping[str, Any]


@dataclass(frozen=True, repr=False)
class Group(Part):
    """Parts that belong together: of a class of the style sheet, or folded under a `summary` until they are printed."""

    parts: Sequence[Part]
    style: str = ""
    summary: str = ""


def folded(table: Table, summary: str = "") -> Group:
    """A table under its caption, or a shorter summary, until a reader unfolds or prints it."""
    return Group([table], summary=summary or table.caption)


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
        loader=PackageLoader("kanon_lab", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render_template(name: str, **values: Any) -> str:
    """A template, named by its path in the package, with values, escaped unless it says that they are HTML."""
    return _templates().get_template(name).render(values)


def render_text(part: Part | Figure | Section) -> Iterator[str]:
    """The lines of a section on a terminal; a table too wide for it is split, a figure is described in words."""
    if isinstance(part, Section):
        yield from ["", *wrapped(part.title)] if part.parts else []
        for inner in part.parts:
            yield from render_text(inner)
    elif isinstance(part, Table):
        yield from _text_table(part)
    elif isinstance(part, Group):
        yield from wrapped(part.summary)
        for inner in part.parts:
            yield from render_text(inner)
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


def _text_table(table: Table) -> Iterator[str]:
    """The lines of a table, split where they are longer than a terminal's; the first column begins each part."""
    first, *columns = (_text_column(table, *column) for column in table.frame.items())
    parts = [[first]]
    for column in columns:
        width = sum(len(texts[0]) + 2 for texts in parts[-1]) + len(column[0])
        if len(parts[-1]) > 1 and width > _WIDTH and not table.wide:
            parts.append([first])
        parts[-1].append(column)
    for number, part in enumerate(parts):
        yield from [""] * bool(number)
        yield from ("  ".join(line).rstrip() for line in zip(*part, strict=True))


def _text_column(table: Table, name: Hashable, values: pd.Series) -> list[str]:
    """The head and cells of a column with the same length: numbers to the right, text to the left."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    form = table.formats.get(str(name))
    texts = [visible(text) for text in (str(name), *(cell_text(value, form) for value in values))]
    width = max(map(len, texts))
    is_right = name in table.right or (is_numeric_dtype(values) and not is_bool_dtype(values))
    return [text.rjust(width) if is_right else text.ljust(width) for text in texts]


def cell_text(value: Any, form: str | Callable[[Any], str] | None) -> str:
    """A value on a terminal, missing ones as -; the form is a format specification, a function, or the usual one."""
    import pandas as pd

    value = value.item() if hasattr(value, "item") else value
    if value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and not math.isfinite(value)):
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if callable(form):
        return form(value)
    return format(value, form or ".6g" if isinstance(value, float) else form or "")
