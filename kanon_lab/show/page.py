"""Charts as outputs of a notebook, drawn by JupyterLab itself, and the one script and style sheet that draw a page's.

Without a network. A notebook calls `enable` once, and wraps each chart in `figure`, which demands alternative text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from kanon_lab.errors import OptionError
from kanon_lab.files import kept_text
from kanon_lab.loading import load_jsonschema
from kanon_lab.show import markup
from kanon_lab.show.style import DARK

if TYPE_CHECKING:
    import altair
    import pandas

VEGALITE_MIME = "application/vnd.vegalite.v5+json"
# JupyterLab draws Vega-Lite 5, and so does our bundle; Altair writes the address of version 6.
VEGALITE_SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"

TABLE_LABEL = "Data of this figure"

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
        """The output that JupyterLab draws, and metadata with what only a page shows: the table, as HTML.

        There is no HTML among the data: JupyterLab would prefer it to the drawing.
        """
        label = f"{TABLE_LABEL}: {_subject(self.alt)}"
        table = None if self.table is None else markup.scrolling_table(self.table, label)
        return {VEGALITE_MIME: self.spec, "text/plain": self.alt}, {VEGALITE_MIME: {"table": table}}

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

    Returns
    -------
    Figure

    Examples
    --------
    >>> import kanon_lab
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


def output_html(data: dict[str, Any], metadata: dict[str, Any]) -> str:
    """The ``<figure>`` for an output that holds a chart, to be drawn by `script`."""
    spec = data[VEGALITE_MIME]
    table = metadata.get(VEGALITE_MIME, {}).get("table")
    alt = spec.get("description", "")
    return markup.figure(fitted_width(spec), alt, table, TABLE_LABEL, _subject(alt))


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
    """JavaScript that draws all figures of a page: Vega, Vega-Lite, Vega-Embed and our few lines (about 0.9 MB).

    It comes out of the vl-convert package: nothing is downloaded, and no library is committed.
    """
    import vl_convert

    draw = _text("draw.js")
    bundle = kept_text(  # making it takes more than a second
        lambda: vl_convert.javascript_bundle(draw, vl_version=_VEGALITE_VERSION),
        *("figures", vl_convert.__version__, _VEGALITE_VERSION, draw),
    )
    # A function of its own: the bundle's short names would clash with those of other scripts in the page. (A module
    # would do it too, but a browser does not load one from a file.)
    return f"((console) => {{\n{bundle}\n}})({_CONSOLE});\n"


def list_script() -> str:
    """JavaScript that fills every `Listing` of a page."""
    return _text("list.js")


def style() -> str:
    """The style sheet for figures; where the theme is dark, it swaps the colours of the charts."""
    swaps = "\n".join(
        f'  html[data-theme="dark"] .kanon-drawing [{part}="{light}"] {{ {part}: {dark}; }}'
        for light, dark in DARK.items()
        for part in ("fill", "stroke")
    )
    return f"{_text('page.css')}@media screen {{\n{swaps}\n}}\n"


def _text(name: str) -> str:
    return (files(__package__) / name).read_text("utf-8")
