"""What charts of small probabilities share: logarithmic axes, marks on them, and how such a share is written."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from kanon_lab.charts.style import GREY, altair
from kanon_lab.errors import OptionError

if TYPE_CHECKING:
    import altair as alt

#: A short piece of line, for legends whose symbols are shapes.
STROKE = "M-1.6,0L1.6,0"
#: What every legend of lines has.
SYMBOLS = {"symbolSize": 110, "symbolStrokeWidth": 2.5, "symbolOpacity": 1, "labelLimit": 300}
#: Pixels between lines of words.
LINE = 17
_PERCENT = "format(100 * datum.value, '~r') + '%'"


def share_words(share: float) -> str:
    """A share of 0-1 with three digits that count: ``0.0443%``; of NaN, ``unknown``."""
    if math.isnan(share):
        return "unknown"
    return f"{np.format_float_positional(100 * share, precision=3, fractional=False, trim='-')}%"


def log_shares(channel: str, field: str, ends: tuple[float, float], text: str, *, grid: bool = True) -> alt.X | alt.Y:
    """A logarithmic axis ("X" or "Y") of shares, in percent."""
    return _log(channel, field, ends, text, grid=grid, labelExpr=_PERCENT)


def log_counts(channel: str, field: str, ends: tuple[float, float], text: str, *, grid: bool = True) -> alt.X | alt.Y:
    """A logarithmic axis ("X" or "Y") of counts."""
    return _log(channel, field, ends, text, grid=grid, format=",")


def by_name(names: Iterable[str], values: Iterable) -> alt.Scale:
    """One value, a colour, dash or shape, by name."""
    names = list(names)
    return altair().Scale(domain=names, range=list(values)[: len(names)])


def legend_of_lines() -> alt.Legend:
    """A line a name: what a telephone has room for."""
    return altair().Legend(title=None, columns=1, symbolType=STROKE, **SYMBOLS)


def rules(marks: Mapping[str, float], x: alt.X, field: str, ends: tuple[float, float]) -> list[alt.Chart]:
    """A vertical line with its name at the top for each mark: of several, the first one's left, the others' right."""
    alt = altair()
    layers = []
    for number, (name, place) in enumerate(sorted(marks.items(), key=lambda mark: mark[1])):
        if not ends[0] <= place <= ends[1]:
            raise OptionError(f"the mark {name!r} lies outside the axis: give the frame a wider range")
        data = alt.Chart(alt.InlineData(values=[{field: place, "mark": name}]))
        along = math.log(place / ends[0]) / math.log(ends[1] / ends[0])
        # Where there is no room on that side, the other one.
        right = along < (0.25 if number == 0 and len(marks) > 1 else 0.8)
        word = data.mark_text(align="left" if right else "right", baseline="top", dx=5 if right else -5)
        layers += [
            data.mark_rule(color=GREY, strokeDash=[4, 4], strokeWidth=1.5).encode(x=x),
            word.encode(x=x, y=alt.value(2 + number * LINE), text="mark:N"),
        ]
    return layers


def _log(channel: str, field: str, ends: tuple[float, float], text: str, **look: object) -> alt.X | alt.Y:
    alt = altair()
    return getattr(alt, channel)(
        f"{field}:Q",
        scale=alt.Scale(type="log", domain=list(ends), nice=False),
        axis=alt.Axis(values=_ticks(*ends), **look),
        title=text,
    )


def _ticks(low: float, high: float) -> list[float]:
    """Powers of ten between two numbers; where fewer than three fit, twice and five times them as well."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1,), (1, 2, 5)):
        ticks = [float(f"{step}e{power}") for power in powers for step in steps]
        ticks = [tick for tick in ticks if 0.999 * low <= tick <= 1.001 * high]
        if len(ticks) > 2:
            break
    return ticks
