"""The HTML of a figure: the drawing, its controls, and a table of its data."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas

_DECIMALS = 6


def figure(spec: dict[str, Any], alt: str, table: str | None, table_label: str) -> str:
    """Return one ``<figure>`` that the script of `kanon_lab.page.bundle` draws; its table is HTML, folded away.

    The controls stand outside the element with ``role="img"``: what is inside it does not exist for a screen reader.
    """
    parts = [
        '<figure class="kanon-figure">',
        f'<div class="kanon-drawing" role="img" aria-label="{escape(alt)}"></div>',
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
    """Return a table that scrolls by itself where it is wider or longer than its place.

    It has no index column: frames of this package keep their labels in columns. Numbers show as many decimals as their
    column needs, six at most, and commas between thousands. Keyboards reach it too (``tabindex``).
    """
    numbers = {name: _number_format(frame[name]) for name in frame.select_dtypes("number").columns}
    plain = frame.rename_axis(columns=None)
    table = plain.to_html(index=False, border=0, na_rep="", classes="kanon-table", formatters=numbers)
    return f'<div class="kanon-scroll" tabindex="0" role="region" aria-label="{escape(label)}">{table}</div>'


def _number_format(column: pandas.Series) -> Callable[[Any], str]:
    """How the numbers of one column are written: all with the same decimals."""
    values = [float(value) for value in column.dropna() if math.isfinite(value)]
    decimals = next((d for d in range(_DECIMALS) if all(abs(round(v, d) - v) < 1e-9 for v in values)), _DECIMALS)
    return lambda value: f"{value:,.{decimals}f}"
