"""Figures and tables as outputs of a notebook, their HTML in a page, and the one script and style sheet that draw them.

Without a network. A notebook calls `enable` once, and wraps each chart in `figure`, which demands alternative text.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from kanon_lab.errors import OptionError
from kanon_lab.files import kept_text
from kanon_lab.loading import load_jsonschema
from kanon_lab.show.colors import DARK
from kanon_lab.show.notices import CHARTS, comment
from kanon_lab.terms import texts

if TYPE_CHECKING:
    import altair
    import pandas

VEGALITE_MIME = "application/vnd.vegalite.v5+json"
# JupyterLab draws Vega-Lite 5, and so does our bundle; Altair writes the address of version 6.
VEGALITE_SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
#: How JupyterLab and the workbench draw it: without evaluating code, which the policy of the workbench's page forbids,
#: and without a menu that sends the data to an editor elsewhere.
DRAWING = {"embed_options": {"ast": True, "actions": False}}

#: Where its words stand in words.csv.
WORDS = "figure"
# Decimals of a number in a table, at most.
_DECIMALS = 6
# Characters: up to these a column's texts stay on one line; beyond those the last column needs room for its sentences.
_SHORT, _LONG = 12, 30

# Where the theme of the book is dark.
_DARK_THEME = 'html[data-theme="dark"] '
# The version that JupyterLab draws too, so that a chart looks the same in both.
_VEGALITE_VERSION = "5.20"
# The bundle's Vega is newer than the one that Vega-Lite 5 names; it draws the same, but would say so at every chart.
_CONSOLE = """{
  __proto__: console,
  warn: (...words) => String(words[0]).startsWith("The compiled spec uses Vega") || console.warn(...words),
}"""


@dataclass(frozen=True)
class Figure:
    """A chart with what a reader who cannot see it needs.

    Attributes
    ----------
    spec : dict
        The Vega-Lite 5 specification, its data inside.
    alt : str
        Alternative text: what the chart shows, in a sentence or two.
    table : pandas.DataFrame or None
        The data that the chart draws, one row a mark.
    """

    spec: dict[str, Any]
    alt: str
    table: pandas.DataFrame | None = None

    def mimebundle(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The output that JupyterLab draws, and metadata with the table: it would prefer HTML among the data."""
        table = None if self.table is None else scrolling_table(self.table, table_label(self.alt))
        return {VEGALITE_MIME: self.spec, "text/plain": self.alt}, {VEGALITE_MIME: {"table": table, **DRAWING}}

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> tuple[dict[str, Any], dict[str, Any]]:
        return self.mimebundle()


def figure(chart: altair.TopLevelMixin, *, table: pandas.DataFrame | None = None, alt: str) -> Figure:
    """Make a chart ready for the book, JupyterLab and reports.

    Parameters
    ----------
    chart : altair.Chart (or layered, concatenated, faceted)
        The chart. One view, or layers, is drawn as wide as the page allows; other compositions keep their width
        and shrink on a narrow screen.
    table : pandas.DataFrame, optional
        Data of the chart, shown on request under it. Leave it out only where a table with the same numbers
        stands beside the figure.
    alt : str
        Alternative text, not empty.

    Examples
    --------
    >>> frame = pd.DataFrame({"variable": ["age"], "contribution": [1.0]})
    >>> chart = kanon_lab.show.contributions(frame)
    >>> kanon_lab.show.figure(chart, table=frame, alt="All scores come from age.").alt
    'All scores come from age.'
    """
    alt = " ".join(alt.split())
    if not alt:
        raise OptionError("figure: alt is empty; say in a sentence what the chart shows")
    return Figure(spec=lite5(chart.to_dict()) | {"description": alt}, alt=alt, table=table)


def enable() -> None:
    """Let Altair charts that a cell ends with be drawn by JupyterLab, without a network and at any number of rows."""
    load_jsonschema()
    import altair

    altair.data_transformers.disable_max_rows()
    altair.renderers.register("kanon-lab", lambda spec, **_: {VEGALITE_MIME: lite5(spec)})
    altair.renderers.enable("kanon-lab")


def output_html(data: dict[str, Any], metadata: dict[str, Any], language: str = "en") -> str:
    """The ``<figure>`` for an output that holds a chart, to be drawn by `script`; its table is HTML, folded away."""
    words = texts(WORDS, language)
    # The controls stand outside the element with role="img": what is inside it does not exist for a screen reader. Nor
    # does it hear a drawing change: an explorer says its result in an element of its own.
    spec = data[VEGALITE_MIME]
    table = metadata.get(VEGALITE_MIME, {}).get("table")
    alt = spec.get("description", "")
    parts = [
        '<figure class="kanon-figure">',
        f'<div class="kanon-drawing" role="img" aria-label="{escape(alt)}"></div>',
        f"<noscript><p>{escape(alt)} {words['figure_script']}</p></noscript>",
        '<p class="kanon-live kanon-hidden"></p>',
        '<form class="vega-bindings" onsubmit="return false"></form>',
        f'<script type="application/json" class="kanon-spec">{embedded_json(fitted_width(spec))}</script>',
    ]
    if table is not None:
        summary = f'{words["figure_data"]}<span class="kanon-hidden">: {escape(_subject(alt))}</span>'
        parts.append(f'<details class="kanon-data"><summary>{summary}</summary>{table}</details>')
    return "\n".join([*parts, "</figure>"])


def table_label(alt: str, language: str = "en") -> str:
    """What a screen reader calls the table with the data of a figure."""
    return f"{texts(WORDS, language)['figure_data']}: {_subject(alt)}"


def _subject(alt: str) -> str:
    """What a figure shows, in a few words: the alternative text up to its first stop."""
    return re.split(r"[.:;] ", alt)[0]


def lite5(spec: dict[str, Any]) -> dict[str, Any]:
    """A copy of a specification that says it is written for Vega-Lite 5."""
    return spec | {"$schema": VEGALITE_SCHEMA}


def fitted_width(spec: dict[str, Any]) -> dict[str, Any]:
    """A copy that is as wide as its container, if it is one view or layers (others cannot be)."""
    composed = {"facet", "repeat", "concat", "hconcat", "vconcat"} & spec.keys()
    split = {"row", "column", "facet"} & spec.get("encoding", {}).keys()
    if composed or split:
        return spec
    return spec | {"width": "container", "autosize": {"type": "fit-x", "contains": "padding"}}


@cache
def script() -> str:
    """JavaScript that draws all figures of a page: Vega, Vega-Lite and Vega-Embed out of vl-convert, and our lines."""
    import vl_convert

    draw = _text("draw.js")
    bundle = kept_text(  # making it takes more than a second
        lambda: vl_convert.javascript_bundle(draw, vl_version=_VEGALITE_VERSION),
        *("figures", vl_convert.__version__, _VEGALITE_VERSION, draw),  # type: ignore[attr-defined]
    )
    # A function of its own: the bundle's short names would clash with those of other scripts in the page. (A module
    # would do it too, but a browser does not load one from a file.)
    return f"{comment(*CHARTS)}((console) => {{\n{bundle}\n}})({_CONSOLE});\n"


def base_style() -> str:
    """The style sheet of every page: the tokens of its look, figures and tables."""
    return _text("tokens.css") + _text("page.css")


def sections_style() -> str:
    """The style sheet of pages that show sections of results: reports and the workbench."""
    return base_style() + _text("sections.css")


def style() -> str:
    """The style sheet of the book; where its theme is dark, it swaps the colours of the charts."""
    swaps = "\n".join(
        f'  {_DARK_THEME}.kanon-drawing [{part}="{light}"] {{ {part}: {dark}; }}'
        for light, dark in DARK.items()
        for part in ("fill", "stroke")
    )
    return f"{base_style()}@media screen {{\n{swaps}\n}}\n"


def _text(name: str) -> str:
    return (files(__package__) / name).read_text("utf-8")


def embedded_json(value: Any) -> str:
    """JSON that may stand inside a ``<script>`` element: it cannot close it, nor open a comment."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def scrolling_table(
    frame: pandas.DataFrame,
    label: str = "Table",
    *,
    caption: str | None = None,
    number: Callable[[str], str] = str,
) -> str:
    """A table that scrolls by itself where it is wider than its place; `label` is its name for screen readers.

    A `caption` stands above it and is its name instead. It has no index column: frames of this package keep their
    labels in columns. Texts of the first column that are all different head their rows. Numbers stand to the right,
    with as many decimals as their column needs, six at most (each `Decimal` with its own), and commas between
    thousands; `number` writes them as another language does. Keyboards reach it too (``tabindex``).

    Examples
    --------
    >>> html = kanon_lab.show.scrolling_table(pd.DataFrame({"place": ["A"], "persons": [1234]}), "Persons")
    >>> "1,234" in html
    True
    """
    cells_of = [_texts_of(column) for _, column in frame.items()]
    kinds = [kind for _, kind in cells_of]
    columns = [[*map(number, texts)] if kind == "number" else texts for texts, kind in cells_of]
    named = kinds[:1] not in ([], ["number"]) and len({*columns[0]} - {""}) == len(frame)
    head = _row(map(str, frame.columns), kinds, ["col"] * len(kinds))
    scopes = ["row" if named else "", *[""] * (len(kinds) - 1)]
    body = "\n".join(_row(cells, kinds, scopes) for cells in zip(*columns, strict=True))
    shown = "" if caption is None else f"<caption><span>{escape(caption)}</span></caption>\n"
    return (
        f'<div class="kanon-scroll" tabindex="0" role="region" aria-label="{escape(caption or label)}">'
        f'<table class="kanon-table">\n{shown}<thead>{head}</thead>\n<tbody>\n{body}\n</tbody>\n</table></div>'
    )


def _row(cells: Iterable[str], kinds: list[str], scopes: list[str]) -> str:
    """One row; a cell with a scope is the head of its column or row."""
    parts = []
    for cell, kind, scope in zip(cells, kinds, scopes, strict=True):
        tag, extra = ("th", f' scope="{scope}"') if scope else ("td", "")
        parts.append(f'<{tag}{extra} class="{kind}">{escape(cell)}</{tag}>')
    return f"<tr>{''.join(parts)}</tr>"


def _texts_of(column: pandas.Series) -> tuple[list[str], str]:
    """The cells of a column, empty where missing, and its kind: numbers have the same decimals, a `Decimal` its own."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    cells = [None if missing else value for value, missing in zip(column, column.isna(), strict=True)]
    if column.dtype == object and {type(value) for value in cells if value is not None} == {Decimal}:
        texts = [None if value is None else f"{value.normalize():,f}" for value in cells]
    elif is_numeric_dtype(column) and not is_bool_dtype(column):
        known = [float(value) for value in column.dropna() if math.isfinite(value)]
        decimals = next((d for d in range(_DECIMALS) if all(abs(round(v, d) - v) < 1e-9 for v in known)), _DECIMALS)
        texts = [None if value is None else f"{value:z,.{decimals}f}" for value in cells]
    else:
        words = ["" if value is None else str(value) for value in cells]
        longest = max((len(text) for text in words), default=0)
        return words, "text short" if longest <= _SHORT else "text long" if longest > _LONG else "text"
    return ["" if text is None else text.replace("-", "\N{MINUS SIGN}") for text in texts], "number"
