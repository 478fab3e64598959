"""What the charts share: one look, colours that colour-blind readers can tell apart, and checks of the frames."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from kanon_lab.errors import MissingPackageError, OptionError
from kanon_lab.loading import load_jsonschema

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

GREY = "#5f6368"
# The lightest that a mark may have: 3 to 1 on white.
LIGHT_GREY = "#8a9099"
# Black, red and blue as in the study's Figura 1, in the shades that Okabe and Ito chose for colour-blind readers.
BLACK, ORANGE, BLUE = "#000000", "#d55e00", "#0072b2"
# For charts of more series: theirs too, the purple darker.
GREEN, PURPLE = "#009e73", "#a8407f"

#: Granularities of the date of birth, finest first: the order of every legend.
DATES = ("day", "month", "year")
_COLORS = {"day": BLACK, "month": ORANGE, "year": BLUE}
_SHAPES = {"day": "circle", "month": "square", "year": "triangle-up"}
_DASHES = {"day": [1, 0], "month": [7, 3], "year": [2, 2]}
_DATE_LEGEND = "date of birth known to the"

# Characters a line, at most: what 340 pixels hold. A page makes the lines longer where there is room.
TITLE_WIDTH = 37
_SUBTITLE_WIDTH = 52

# Pixels, in JupyterLab; a page gives a chart the width it has (`kanon_lab.page`). Not "container" here: JupyterLab 4.6
# then measures an empty box, gets an empty picture and draws again without end.
_WIDTH = 560

_INK = "#1f2328"
# Of lines and grounds behind the marks.
GRID = "#e6e8eb"

#: Light colour -> its counterpart on a dark page: `kanon_lab.page` swaps them where the reader's theme is dark.
DARK = {
    _INK: "#e6e8eb",
    GREY: "#b4b9c0",
    LIGHT_GREY: "#6b7380",
    GRID: "#3a4048",
    BLACK: "#ffffff",
    ORANGE: "#ff8c42",
    BLUE: "#56b4e9",
    GREEN: "#2bc79a",
    PURPLE: "#e58fc4",
}

_INKED = {"labelColor": _INK, "titleColor": _INK, "labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"}
# Every colour is set, and is one of `DARK`, so that no theme mixes in another.
_CONFIG = {
    "background": "white",
    "font": "Arial, 'Liberation Sans', Helvetica, sans-serif",
    "title": {
        "anchor": "start",
        "frame": "bounds",
        "color": _INK,
        "fontSize": 15,
        "subtitleColor": GREY,
        "subtitleFontSize": 12,
        "subtitlePadding": 5,
        "offset": 14,
    },
    "axis": {**_INKED, "domainColor": GREY, "tickColor": GREY, "gridColor": GRID, "gridOpacity": 1},
    "legend": {**_INKED, "orient": "top"},
    "text": {"color": _INK, "fontSize": 12},
    "view": {"stroke": None},
}


def altair() -> Any:
    """The altair package.

    Raises
    ------
    MissingPackageError
        Where it is not installed.
    """
    load_jsonschema()
    try:
        import altair
    except ImportError:
        raise MissingPackageError("drawing needs the package altair: pip install 'kanon-lab[report]'") from None
    return altair


def check_columns(frame: pd.DataFrame, columns: Iterable[str], made_by: str) -> None:
    """Refuse a frame that is empty or lacks columns; `made_by` says where such frames come from."""
    absent = [column for column in columns if column not in frame.columns]
    if absent:
        raise OptionError(f"the chart needs the column {absent[0]!r}: give it a frame from {made_by}")
    if frame.empty:
        raise OptionError(f"the chart got a frame without rows: give it a frame from {made_by}")


def check_dates(names: Iterable[str]) -> list[str]:
    """The granularities present, finest first; others have no colour and are refused."""
    names = list(dict.fromkeys(names))
    unknown = [name for name in names if name not in DATES]
    if unknown:
        raise OptionError(f"charts know the dates {', '.join(DATES)}, not {unknown[0]!r}")
    return [name for name in DATES if name in names]


def inline(frame: pd.DataFrame, digits: int = 5) -> alt.InlineData:
    """The frame as rows inside the chart's specification, numbers rounded to `digits` decimals to keep it small."""
    rows = frame.round(digits).astype(object).where(frame.notna(), None).to_dict("records")
    return altair().InlineData(values=rows)


def title(text: str, subtitle: str = "") -> alt.TitleParams:
    """A title with an explanation below it, in lines short enough for a telephone (drawings do not wrap text)."""
    return altair().TitleParams(textwrap.wrap(text, TITLE_WIDTH), subtitle=textwrap.wrap(subtitle, _SUBTITLE_WIDTH))


def finish(chart: Any, *, title: alt.TitleParams, description: str, height: int) -> Any:
    """The chart with its title, alternative text and look."""
    chart = chart.properties(title=title, description=description, width=_WIDTH, height=height)
    return chart.configure(**_CONFIG)


def date_color(dates: Sequence[str]) -> alt.Color:
    """Colour by granularity, with a legend above the chart."""
    return altair().Color("dates:N", scale=_date_scale(dates, _COLORS), title=_DATE_LEGEND)


def date_shape(dates: Sequence[str]) -> alt.Shape:
    """Shape of points by granularity: what colour says, said again."""
    return altair().Shape("dates:N", scale=_date_scale(dates, _SHAPES), title=_DATE_LEGEND)


def date_dash(dates: Sequence[str]) -> alt.StrokeDash:
    """Dash of lines by granularity: what colour says, said again."""
    # Short pieces of line would all look alike in the legend.
    legend = altair().Legend(symbolType="stroke", symbolSize=500, symbolStrokeWidth=2)
    return altair().StrokeDash("dates:N", scale=_date_scale(dates, _DASHES), title=_DATE_LEGEND, legend=legend)


def date_tooltip() -> alt.Tooltip:
    """The granularity in a tooltip."""
    return altair().Tooltip("dates:N", title=_DATE_LEGEND)


def _date_scale(dates: Sequence[str], values: dict) -> alt.Scale:
    return altair().Scale(domain=list(dates), range=[values[d] for d in dates])
