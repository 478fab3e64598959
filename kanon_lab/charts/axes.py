"""What charts of small probabilities share: logarithmic axes, marks on them, and how such a share is written."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from kanon_lab.arguments import check_positive
from kanon_lab.charts.style import GREY, altair
from kanon_lab.digits import LEAST_SHARE, percent
from kanon_lab.errors import OptionError, shortened

if TYPE_CHECKING:
    import altair as alt

#: A short piece of line, for legends whose symbols are shapes.
STROKE = "M-1.6,0L1.6,0"
#: What every legend of lines has.
SYMBOLS = {"symbolSize": 110, "symbolStrokeWidth": 2.5, "symbolOpacity": 1, "labelLimit": 300}
#: Pixels between lines of words.
LINE = 17
#: Where a logarithmic axis of shares ends at the latest: rounding leaves nothing of smaller ones.
LEAST = 1e-15
_PERCENT = "format(100 * datum.value, '~r') + '%'"
# Digits of numbers in a chart's specification that count.
_DIGITS = 9


def share_expression(field: str) -> str:
    """`kanon_lab.digits.percent` of a field, as an expression of Vega."""
    field = f"({field})"
    small, nearly = f"{field} > 0 && {field} < {LEAST_SHARE}", f"{field} >= 0.9995 && {field} < 1"
    return f"({small} ? '{percent(LEAST_SHARE / 2)}' : format({field}, {nearly} ? '.6~p' : '.3~p'))"


def inline_rounded(frame: pd.DataFrame) -> alt.InlineData:
    """The frame as rows inside the chart's specification; on a logarithmic axis decimals would not do for rounding."""
    rounded = frame.apply(lambda column: column.map(_rounded) if column.dtype.kind == "f" else column)
    return altair().InlineData(values=rounded.astype(object).where(frame.notna(), None).to_dict("records"))


def drawable(values: pd.Series) -> pd.Series:
    """Which shares a logarithmic axis has a place for: known ones above `LEAST`."""
    return (values >= LEAST) & (values < np.inf)


def check_some(found: pd.Series, name: str) -> None:
    """Raise an `OptionError` that calls each `name` unless some are `drawable`."""
    if not found.any():
        raise OptionError(f"the axis is logarithmic, and every {name} is 0, next to 0 or unknown: nothing to draw")


def left_out(found: pd.Series, name: str) -> str:
    """In words how many are not `drawable`; no words where all are."""
    count = int((~found).sum())
    return f"{name} left out as 0, next to 0 or unknown: {count}" if count else ""


def ends_of(values: pd.Series) -> tuple[float, float]:
    """Where a logarithmic axis begins and ends: with a single value in its middle."""
    low, high = float(values.min()), float(values.max())
    if not 0 < low <= high < math.inf:
        raise OptionError(f"the axis is logarithmic: {values.name} must be above 0")
    return (low, high) if low < high else (low / 1.25, high * 1.25)


def check_marks(marks: object) -> dict[str, float]:
    """Places on a logarithmic axis by their names, as floats; an `OptionError` for anything else."""
    if not isinstance(marks, Mapping):
        raise OptionError(f"marks must be a mapping of names to numbers, not {shortened(repr(marks))}")
    return {name: check_positive(place, f"the mark {shortened(repr(name))}") for name, place in marks.items()}


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


def _rounded(number: float) -> float:
    return float(f"{number:.{_DIGITS}g}")


def _log(channel: str, field: str, ends: tuple[float, float], text: str, **look: object) -> alt.X | alt.Y:
    alt = altair()
    return getattr(alt, channel)(
        f"{field}:Q",
        scale=alt.Scale(type="log", domain=list(ends), nice=False),
        axis=alt.Axis(values=ticks(*ends), **look),
        title=text,
    )


def ticks(low: float, high: float) -> list[float]:
    """Powers of ten between two numbers; where fewer than three fit, twice and five times them as well."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1,), (1, 2, 5)):
        places = [float(f"{step}e{power}") for power in powers for step in steps]
        places = [place for place in places if 0.999 * low <= place <= 1.001 * high]
        if len(places) > 2:
            break
    return places
