"""A table that a page filters: `Listing`, and the script that fills it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING

from kanon_book.words import texts
from kanon_lab.errors import OptionError
from kanon_lab.show.page import embedded_json, scrolling_table

if TYPE_CHECKING:
    import pandas


def script(language: str = "en") -> str:
    """Return the JavaScript that fills every `Listing` of a page."""
    text = (files(__package__) / "list.js").read_text("utf-8")
    return text.replace("__WORDS__", embedded_json(texts("list", language)))


@dataclass(frozen=True)
class Listing:
    """Rows that the reader of a page can filter by the values of some columns and by words.

    The page's address keeps what was chosen: ``#source=aepd&kind=copied&q=age`` shows the rows of one source and kind
    that contain the word "age".

    Attributes
    ----------
    frame : pandas.DataFrame
        All rows, in the order in which the page shows them; every value is shown as text.
    columns : mapping of str to list of str
        Heading of each column of the page, and the columns of `frame` that it shows, one below the other.
    filters : sequence of str
        Columns of `frame` that have a control to filter by.
    label : str
        The name of the table, for screen readers.
    rows : str
        What a row is, in the plural: ``figures``.
    fallback : pandas.DataFrame
        What a reader without JavaScript sees.
    links, codes : mapping of str to str
        Columns of `frame` that are shown as a link or as code: its address or text, with ``{}`` for the value.
    words : mapping of str to str
        What the page shows in place of a value, with ``{}`` for the value.
    """

    frame: pandas.DataFrame
    columns: Mapping[str, Sequence[str]]
    filters: Sequence[str]
    label: str
    rows: str
    fallback: pandas.DataFrame
    links: Mapping[str, str] = field(default_factory=dict)
    codes: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shown = {part for parts in self.columns.values() for part in parts}
        missing = sorted({*shown, *self.filters} - set(self.frame.columns))
        if missing:
            raise OptionError(f"a listing has no column {missing[0]!r}; there are {', '.join(self.frame.columns)}")

    def __str__(self) -> str:
        return f"{len(self.frame):,} {self.rows}, to be filtered in the page of the book"

    def html(self) -> str:
        """Return the element that `script` fills."""
        shown = dict.fromkeys([*self.filters, *(part for parts in self.columns.values() for part in parts)])
        # The different values of each column, and for every row the place of its value among them.
        packed = {name: self.frame[name].astype(str).factorize() for name in shown}
        data = {
            "label": self.label,
            "rows": self.rows,
            "filters": list(self.filters),
            "columns": [[heading, list(parts)] for heading, parts in self.columns.items()],
            "links": dict(self.links),
            "codes": dict(self.codes),
            "words": dict(self.words),
            "values": {name: {"of": of.tolist(), "at": at.tolist()} for name, (at, of) in packed.items()},
        }
        fallback = scrolling_table(self.fallback, f"{self.label}, counted")
        return (
            '<div class="kanon-list">\n'
            f'<script type="application/json" class="kanon-rows">{embedded_json(data)}</script>\n'
            f"<noscript><p>{texts('list', 'en')['list_script']}</p>\n"
            f"{fallback}</noscript>\n</div>"
        )
