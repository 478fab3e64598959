"""The HTML of a figure: the drawing, its controls, and a table of its data."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas

_DECIMALS = 6


def figure(spec: dict[str, Any], alt: str, table: str | None, table_label: str) -> str:
    """Return one ``<figure>`` that the script of `kanon_lab.page.bundle` draws; its table is HTML, folded away.

    The controls stand outside the element with ``role="img"``: what is inside it does not exist for a screen reader.
    Nor does it hear a drawing change: an explorer says its result in an element of its own.
    """
    parts = [
        '<figure class="kanon-figure">',
        f'<div class="kanon-drawing" role="img" aria-label="{escape(alt)}"></div>',
        f"<noscript><p>{escape(alt)} (The drawing needs JavaScript.)</p></noscript>",
        '<p class="kanon-live" aria-live="polite"></p>',
        '<form class="vega-bindings" onsubmit="return false"></form>',
        f'<script type="application/json" class="kanon-spec">{embedded_json(spec)}</script>',
    ]
    if table is not None:
        parts.append(f'<details class="kanon-data"><summary>{escape(table_label)}</summary>{table}</details>')
    return "\n".join([*parts, "</figure>"])


def embedded_json(value: Any) -> str:
    """Return JSON that may stand inside a ``<script>`` element: it cannot close it, nor open a comment."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def scrolling_table(frame: pandas.DataFrame, label: str = "Table") -> str:
    """Return a table that scrolls by itself where it is wider than its place; `label` is its name for screen readers.

    It has no index column: frames of this package keep their labels in columns. Numbers stand to the right, with as
    many decimals as their column needs, six at most, and commas between thousands. Keyboards reach it too
    (``tabindex``).
    """
    kinds = ["number" if is_number else "text" for is_number in _are_numbers(frame)]
    columns = [
        _number_texts(frame[name]) if kind == "number" else ["" if _is_missing(v) else str(v) for v in frame[name]]
        for name, kind in zip(frame.columns, kinds, strict=True)
    ]
    head = _row("th", map(str, frame.columns), kinds)
    body = "\n".join(_row("td", cells, kinds) for cells in zip(*columns, strict=True))
    return (
        f'<div class="kanon-scroll" tabindex="0" role="region" aria-label="{escape(label)}">'
        f'<table class="kanon-table">\n<thead>{head}</thead>\n<tbody>\n{body}\n</tbody>\n</table></div>'
    )


def _row(tag: str, cells: Iterable[str], kinds: list[str]) -> str:
    scope = ' scope="col"' if tag == "th" else ""
    texts = zip(cells, kinds, strict=True)
    return "<tr>" + "".join(f'<{tag}{scope} class="{kind}">{escape(cell)}</{tag}>' for cell, kind in texts) + "</tr>"


def _are_numbers(frame: pandas.DataFrame) -> list[bool]:
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    return [is_numeric_dtype(dtype) and not is_bool_dtype(dtype) for dtype in frame.dtypes]


def _is_missing(value: Any) -> bool:
    from pandas import isna

    return value is None or isna(value) is True


def _number_texts(column: pandas.Series) -> list[str]:
    """The numbers of one column, all with the same decimals and a true minus sign; a missing one as an empty text."""
    values = [float(value) for value in column.dropna() if math.isfinite(value)]
    decimals = next((d for d in range(_DECIMALS) if all(abs(round(v, d) - v) < 1e-9 for v in values)), _DECIMALS)
    texts = (f"{value:z,.{decimals}f}".replace("-", "\N{MINUS SIGN}") for value in column.fillna(0))
    return ["" if missing else text for text, missing in zip(texts, column.isna(), strict=True)]
