"""A long table that a reader filters in the page: its rows as data, drawn a few at a time, without a kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from kanon_lab.errors import OptionError
from kanon_lab.page import markup

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Listing:
    """Rows that a page filters by the values of some columns, and by words; its address keeps what was chosen.

    A link to the page with ``#source=aepd&kind=copied&q=age`` shows what meets these; ``q`` are words to be found.

    Attributes
    ----------
    frame : pandas.DataFrame
        All rows, in the order in which they are shown; every value as text.
    columns : mapping of str to list of str
        Heading of each column that is shown, and the columns of `frame` that stand in it, one below the other.
    filters : sequence of str
        Columns of `frame` that can be chosen by.
    label : str
        The name of the table, for screen readers.
    rows : str
        What the rows are, in the plural: ``figures``.
    fallback : pandas.DataFrame
        What a reader without JavaScript sees.
    links, codes : mapping of str to str
        Columns of `frame` that are shown as a link, or as code: the address or the code, with ``{}`` for the value.
    words : mapping of str to str
        What stands in place of a value, with ``{}`` for it.
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

    def html(self) -> str:
        """Return the element that `kanon_lab.page.bundle.list_script` fills."""
        shown = dict.fromkeys([*self.filters, *(part for parts in self.columns.values() for part in parts)])
        data = {
            "label": self.label,
            "rows": self.rows,
            "filters": list(self.filters),
            "columns": [[heading, list(parts)] for heading, parts in self.columns.items()],
            "links": dict(self.links),
            "codes": dict(self.codes),
            "words": dict(self.words),
            "values": {name: _packed(self.frame[name]) for name in shown},
        }
        fallback = markup.scrolling_table(self.fallback, f"{self.label}, counted")
        return (
            '<div class="kanon-list">\n'
            f'<script type="application/json" class="kanon-rows">{markup.embedded_json(data)}</script>\n'
            f"<noscript><p>To list the {escape(self.rows)} the page needs JavaScript. They are, counted:</p>\n"
            f"{fallback}</noscript>\n</div>"
        )


def _packed(column: pandas.Series) -> dict[str, Any]:
    """The values of a column, each different one once, and which of them every row has."""
    places, different = column.astype(str).factorize()
    return {"of": different.tolist(), "at": places.tolist()}
