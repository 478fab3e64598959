"""What the charts share: one look, colours that colour-blind readers can tell apart, axes, and checks of the frames."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from kanon_lab.digits import LEAST_SHARE, percent
from kanon_lab.errors import MissingPackageError, OptionError
from kanon_lab.loading import load_jsonschema
from kanon_lab.show.colors import BLACK, BLUE, GREY, GRID, INK, ORANGE

load_jsonschema()
try:
    import altair as alt
except ImportError:
    raise MissingPackageError("drawing needs the package altair: pip install 'kanon-lab[lab]'") from None

#: Granularities of the date of birth, finest first: the order of every legend.
DATES = ("day", "month", "year")
_COLORS = {"day": BLACK, "month": ORANGE, "year": BLUE}
_SHAPES = {"day": "circle", "month": "square", "year": "triangle-up"}
_DASHES = {"day": [1, 0], "month": [7, 3], "year": [2, 2]}
_DATE_LEGEND = "date of birth known to the"
#: The granularity in a tooltip; and how tooltips write shares, and whole numbers.
DATE_TIP, SHARE, COUNT = ("dates:N", _DATE_LEGEND), ".3~p", ","

# Characters a line, at most: what 340 pixels hold. A page makes the lines longer where there is room.
TITLE_WIDTH = 37
SUBTITLE_WIDTH = 52

# Pixels, in JupyterLab; a page gives a chart the width it has. Not "container" here: JupyterLab 4.6
# then measures an empty box, gets an empty picture and draws again without end.
_WIDTH = 560

_INKED = {"labelColor": INK, "titleColor": INK, "labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"}
# Every colour is set, and is one of `DARK`, so that no theme mixes in another.
_CONFIG = {
    "background": "white",
    "font": "Arial, 'Liberation Sans', Helvetica, sans-serif",
    "title": {
        "anchor": "start",
        "frame": "bounds",
        "color": INK,
        "fontSize": 15,
        "subtitleColor": GREY,
        "subtitleFontSize": 12,
        "subtitlePadding": 5,
        "offset": 14,
    },
    "axis": {**_INKED, "domainColor": GREY, "tickColor": GREY, "gridColor": GRID, "gridOpacity": 1},
    "legend": {**_INKED, "orient": "top", "symbolOpacity": 1},
    "text": {"color": INK, "fontSize": 12},
    "view": {"stroke": None},
}


def check_columns(frame: pd.DataFrame, columns: Iterable[str | int], made_by: str) -> None:
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


def last_k(grid: pd.DataFrame) -> int:
    """The last of the columns that are called by a k."""
    return max(int(column) for column in grid.columns if not isinstance(column, str))


def inline(frame: pd.DataFrame, digits: int = 5) -> alt.InlineData:
    """The frame as rows inside the chart's specification, numbers rounded to `digits` decimals to keep it small."""
    rows: Any = frame.round(digits).astype(object).where(frame.notna(), None).to_dict("records")
    return alt.InlineData(values=rows)


def finish(chart: Any, *, title: str | alt.TitleParams, subtitle: str = "", description: str, height: int) -> Any:
    """Return the chart with its title, alternative text and look.

    A title and subtitle in words are cut in lines short enough for a telephone, since drawings do not wrap text.
    """
    if isinstance(title, str):
        lines = textwrap.wrap(subtitle, SUBTITLE_WIDTH)
        title = alt.TitleParams(textwrap.wrap(title, TITLE_WIDTH), subtitle=lines)
    chart = chart.properties(title=title, description=description, width=_WIDTH, height=height)
    return chart.configure(**_CONFIG)


def layered(layers: Sequence[Any], name: str, rows: list[dict], parameters: Sequence[alt.Parameter]) -> Any:
    """Layers over rows under a name of their own: altair leaves them where words find them, as ``data('levels')``."""
    return alt.layer(*layers, data=alt.InlineData(name=name, values=rows)).add_params(*parameters)


def live(chart: Any, *, title: alt.TitleParams, subject: str, state: str, height: int, signal: str = "told") -> Any:
    """`finish` a chart with controls: `subject` is what it shows in any state, and a page speaks its `signal`."""
    chart = finish(chart, title=title, description=f"{subject} {state}", height=height)
    return chart.properties(usermeta={"live": {"signal": signal, "description": subject}})


def params(
    values: dict[str, Any], bindings: dict[str, Any] | None = None, words: dict[str, str] | None = None
) -> list[alt.Parameter]:
    """Parameters of a chart by name: values, controls where they have a binding, and expressions that Vega computes."""
    parameters = [alt.param(name=n, value=v, bind=(bindings or {}).get(n, alt.Undefined)) for n, v in values.items()]
    return [*parameters, *(alt.param(name=name, expr=expression) for name, expression in (words or {}).items())]


def date_color(dates: Sequence[str]) -> alt.Color:
    """Colour by granularity, with a legend above the chart."""
    return alt.Color("dates:N", scale=_date_scale(dates, _COLORS), title=_DATE_LEGEND)


def date_shape(dates: Sequence[str]) -> alt.Shape:
    """Shape of points by granularity: what colour says, said again."""
    return alt.Shape("dates:N", scale=_date_scale(dates, _SHAPES), title=_DATE_LEGEND)


def date_dash(dates: Sequence[str]) -> alt.StrokeDash:
    """Dash of lines by granularity: what colour says, said again."""
    return alt.StrokeDash("dates:N", scale=_date_scale(dates, _DASHES), title=_DATE_LEGEND, legend=line_legend())


def chosen_dates(dates: Sequence[str]) -> dict[str, Any]:
    """Encodings of lines by granularity, those of the chosen one (the parameter ``dates``) before the others."""
    chosen = "datum.dates == dates"
    return {
        "color": date_color(dates),
        "strokeDash": date_dash(dates),
        "strokeWidth": alt.condition(chosen, alt.value(3.5), alt.value(1.5)),
        "opacity": alt.condition(chosen, alt.value(1), alt.value(0.6)),
    }


def line_legend() -> alt.Legend:
    """A legend with long pieces of line: short ones would all look alike."""
    return alt.Legend(symbolType="stroke", symbolSize=500, symbolStrokeWidth=2)


def _date_scale(dates: Sequence[str], values: dict) -> alt.Scale:
    return alt.Scale(domain=list(dates), range=[values[d] for d in dates])


def share_expression(field: str) -> str:
    """`kanon_lab.digits.percent` of a field, as an expression of Vega."""
    field = f"({field})"
    small, nearly = f"{field} > 0 && {field} < {LEAST_SHARE}", f"{field} >= 0.9995 && {field} < 1"
    return f"({small} ? '{percent(LEAST_SHARE / 2)}' : format({field}, {nearly} ? '.6~p' : '.3~p'))"


def count_expression(count: str) -> str:
    """So many of all ``records``, in words, as an expression of Vega."""
    share = share_expression(f"{count} / records")
    return (
        f"({count} ? format({count}, ',') : 'none') + ' of ' + format(records, ',') + ' records'"
        f" + ({count} ? ' (' + {share} + ')' : '')"
    )


def lines_expression(lines: Iterable[str], **parts: str) -> str:
    """Lines of words as an array of Vega, whose expressions fill them in, as `str.format` does with texts."""
    spliced = {name: f"' + {expression} + '" for name, expression in parts.items()}
    return "['" + "', '".join(line.format(**spliced) for line in lines) + "']"


def inline_rounded(frame: pd.DataFrame) -> alt.InlineData:
    """The frame as rows inside the specification, by digits that count: for logarithmic axes decimals would not do."""
    rounded = frame.apply(lambda column: column.map(rounded_number) if column.dtype.kind == "f" else column)
    return alt.InlineData(values=rounded.astype(object).where(frame.notna(), None).to_dict("records"))


def rounded_number(number: float) -> float:
    """A number by the digits that count in a drawing."""
    return float(f"{number:.9g}")


def by_name(names: Iterable[str], values: Iterable) -> alt.Scale:
    """One value, a colour, dash or shape, by name."""
    names = list(names)
    return alt.Scale(domain=names, range=list(values)[: len(names)])


def shares_axis(channel: str, field: str, text: str, **scale: Any) -> Any:
    """An axis ("X" or "Y") of shares from 0 to 1, in per cent."""
    axis = alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1], format="~%")
    return getattr(alt, channel)(f"{field}:Q", scale=alt.Scale(domain=[0, 1], **scale), axis=axis, title=text)


def ticks(low: float, high: float) -> list[float]:
    """Powers of ten between two numbers; where fewer than three fit, twice and five times them as well."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1,), (1, 2, 5)):
        places = [float(f"{step}e{power}") for power in powers for step in steps]
        places = [place for place in places if 0.999 * low <= place <= 1.001 * high]
        if len(places) > 2:
            break
    return places


def curves_by_k(rows: str, k_max: int, cumulative: str, count: str, share: str, **calculated: str) -> alt.Chart:
    """A curve for each of the `rows`: of their array `cumulative` one `count` for each k, made into a `share`."""
    chosen = alt.Chart().transform_filter(rows).transform_calculate(ks=f"sequence(1, {k_max + 1})", **calculated)
    return chosen.transform_flatten([cumulative, "ks"], [count, "k"]).transform_calculate(share=share)


def tooltips(*rows: tuple[str, ...]) -> list[alt.Tooltip]:
    """A tooltip a row: its field, its title and, for a number, the format."""
    named: list[dict[str, Any]] = [dict(zip(("shorthand", "title", "format"), row)) for row in rows]
    return [alt.Tooltip(**words) for words in named]


def hover(base: alt.Chart, *rows: tuple[str, ...]) -> alt.Chart:
    """Unseen points, large enough to be found, that have tooltips."""
    return base.mark_point(size=110, opacity=0, filled=True, aria=False).encode(tooltip=tooltips(*rows))


def mark_at(chosen: alt.Chart, x: alt.X, y: alt.Y, **place: str) -> tuple[alt.Chart, alt.Chart]:
    """A line from the axis and a point where the expressions of `place` say."""
    chosen = chosen.transform_calculate(**place, floor="0")
    rule = chosen.mark_rule(color=GREY, strokeDash=[3, 3]).encode(x=x, y=y, y2="floor:Q")
    point = chosen.mark_point(filled=True, size=130, color="white", stroke="black", strokeWidth=2, opacity=1)
    return rule, point.encode(x=x, y=y)


def diamond_at(chosen: alt.Chart, x: alt.X, y: alt.Y) -> alt.Chart:
    """The mark of the one that is chosen among many."""
    mark = chosen.mark_point(
        filled=True, shape="diamond", size=230, color=BLACK, stroke="white", strokeWidth=2, opacity=1
    )
    return mark.encode(x=x, y=y)


def line_at(y: alt.Y, /, **place: str) -> alt.Chart:
    """A line across, where an expression says."""
    line = alt.Chart(alt.InlineData(values=[{}])).transform_calculate(**place)
    return line.mark_rule(color=GREY, strokeDash=[4, 4]).encode(y=y)


def words_at(signal: str, x: Any, y: int, *, line: int, align: Any = "left") -> alt.Chart:
    """The words of a signal, such as below the axis."""
    text = alt.Chart(alt.InlineData(values=[{}])).mark_text(
        align=align, baseline="top", lineHeight=line, text=alt.ExprRef(signal)
    )
    return text.encode(x=alt.value(x), y=alt.value(y))


def told_apart(
    field: str, names: Iterable[str], *, color: Iterable = (), shape: Iterable = (), dash: Iterable = (), **words: Any
) -> dict[str, Any]:
    """Colour, shape and dash, as far as they are given, by which a chart tells names apart."""
    names, looks = list(names), {"color": color, "shape": shape, "strokeDash": dash}
    encoding = {"color": alt.Color, "shape": alt.Shape, "strokeDash": alt.StrokeDash}
    return {
        channel: encoding[channel](field, scale=by_name(names, looks[channel]), **words)
        for channel in looks
        if looks[channel]
    }


def check_room(names: Sequence[str], looks: Sequence, what: str, remedy: str = "") -> None:
    """Refuse more names than a chart can tell apart."""
    if len(names) > len(looks):
        raise OptionError(f"the chart has room for {len(looks)} {what}, not {len(names)}{remedy}")
