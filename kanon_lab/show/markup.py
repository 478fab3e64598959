"""The HTML of a page: a figure with its controls and data, a table that scrolls, a long table that a reader filters."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from html import escape
from typing import TYPE_CHECKING, Any

from kanon_lab.errors import OptionError

if TYPE_CHECKING:
    import pandas

_DECIMALS = 6
# Characters: up to these a column's texts stay on one line; beyond those the last column needs room for its sentences.
_SHORT, _LONG = 12, 30


def figure(spec: dict[str, Any], alt: str, table: str | None, table_label: str, subject: str) -> str:
    """One ``<figure>`` that the script of a page draws; its table is HTML, folded away.

    `subject` tells screen readers which figure the `table_label` speaks of: a page may hold several.

    The controls stand outside the element with ``role="img"``: what is inside it does not exist for a screen reader.
    Nor does it hear a drawing change: an explorer says its result in an element of its own.
    """
    parts = [
        '<figure class="kanon-figure">',
        f'<div class="kanon-drawing" role="img" aria-label="{escape(alt)}"></div>',
        f"<noscript><p>{escape(alt)} (The drawing needs JavaScript.)</p></noscript>",
        '<p class="kanon-live kanon-hidden"></p>',
        '<form class="vega-bindings" onsubmit="return false"></form>',
        f'<script type="application/json" class="kanon-spec">{embedded_json(spec)}</script>',
    ]
    if table is not None:
        summary = f'{escape(table_label)}<span class="kanon-hidden">: {escape(subject)}</span>'
        parts.append(f'<details class="kanon-data"><summary>{summary}</summary>{table}</details>')
    return "\n".join([*parts, "</figure>"])


def embedded_json(value: Any) -> str:
    """JSON that may stand inside a ``<script>`` element: it cannot close it, nor open a comment."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def scrolling_table(frame: pandas.DataFrame, label: str = "Table", *, caption: str | None = None) -> str:
    """A table that scrolls by itself where it is wider than its place; `label` is its name for screen readers.

    A `caption` stands above it and is its name instead. It has no index column: frames of this package keep their
    labels in columns. Texts of the first column that are all different head their rows. Numbers stand to the right,
    with as many decimals as their column needs, six at most (each `Decimal` with its own), and commas between
    thousands. Keyboards reach it too (``tabindex``).

    Examples
    --------
    >>> import kanon_lab
    >>> html = kanon_lab.show.scrolling_table(pd.DataFrame({"place": ["A"], "persons": [1234]}), "Persons")
    >>> "1,234" in html
    True
    """
    are_numbers = _are_numbers(frame)
    columns = [
        _number_texts(frame[name]) if is_number else ["" if _is_missing(v) else str(v) for v in frame[name]]
        for name, is_number in zip(frame.columns, are_numbers, strict=True)
    ]
    kinds = [
        "number" if is_number else _text_kind(texts) for is_number, texts in zip(are_numbers, columns, strict=True)
    ]
    named = kinds[:1] not in ([], ["number"]) and len({*columns[0]} - {""}) == len(frame)
    head = _row(map(str, frame.columns), kinds, ["col"] * len(kinds))
    scopes = ["row" if named else "", *[""] * (len(kinds) - 1)]
    body = "\n".join(_row(cells, kinds, scopes) for cells in zip(*columns, strict=True))
    shown = "" if caption is None else f"<caption><span>{escape(caption)}</span></caption>\n"
    return (
        f'<div class="kanon-scroll" tabindex="0" role="region" aria-label="{escape(caption or label)}">'
        f'<table class="kanon-table">\n{shown}<thead>{head}</thead>\n<tbody>\n{body}\n</tbody>\n</table></div>'
    )


def _text_kind(texts: list[str]) -> str:
    longest = max(map(len, texts), default=0)
    return "text short" if longest <= _SHORT else "text long" if longest > _LONG else "text"


def _row(cells: Iterable[str], kinds: list[str], scopes: list[str]) -> str:
    """One row; a cell with a scope is the head of its column or row."""
    parts = []
    for cell, kind, scope in zip(cells, kinds, scopes, strict=True):
        tag, extra = ("th", f' scope="{scope}"') if scope else ("td", "")
        parts.append(f'<{tag}{extra} class="{kind}">{escape(cell)}</{tag}>')
    return f"<tr>{''.join(parts)}</tr>"


def _are_numbers(frame: pandas.DataFrame) -> list[bool]:
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    return [
        (is_numeric_dtype(column) and not is_bool_dtype(column)) or _are_decimals(column) for _, column in frame.items()
    ]


def _are_decimals(column: pandas.Series) -> bool:
    kinds = {type(value) for value in column if not _is_missing(value)} if column.dtype == object else set()
    return kinds == {Decimal}


def _is_missing(value: Any) -> bool:
    from pandas import isna

    return value is None or isna(value) is True


def _number_texts(column: pandas.Series) -> list[str]:
    """The numbers of one column, with a true minus sign; a missing one as an empty text.

    All have the same decimals, but a `Decimal` has its own: those that count.
    """
    if _are_decimals(column):
        texts = ["" if _is_missing(value) else f"{value.normalize():,f}" for value in column]
        return [text.replace("-", "\N{MINUS SIGN}") for text in texts]
    values = [float(value) for value in column.dropna() if math.isfinite(value)]
    decimals = next((d for d in range(_DECIMALS) if all(abs(round(v, d) - v) < 1e-9 for v in values)), _DECIMALS)
    texts = (f"{value:z,.{decimals}f}".replace("-", "\N{MINUS SIGN}") for value in column.fillna(0))
    return ["" if missing else text for text, missing in zip(texts, column.isna(), strict=True)]


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
        """The element that `kanon_lab.show.page.list_script` fills."""
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
        fallback = scrolling_table(self.fallback, f"{self.label}, counted")
        return (
            '<div class="kanon-list">\n'
            f'<script type="application/json" class="kanon-rows">{embedded_json(data)}</script>\n'
            f"<noscript><p>To list the {escape(self.rows)} the page needs JavaScript. They are, counted:</p>\n"
            f"{fallback}</noscript>\n</div>"
        )


def _packed(column: pandas.Series) -> dict[str, Any]:
    """The values of a column, each different one once, and which of them every row has."""
    places, different = column.astype(str).factorize()
    return {"of": different.tolist(), "at": places.tolist()}
