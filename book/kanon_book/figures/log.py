"""What charts of small probabilities share: what has no place on a logarithmic axis, its ends, and marks on it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kanon_lab.arguments import check_positive
from kanon_lab.errors import OptionError, shortened
from kanon_lab.show.colors import GREY
from kanon_lab.show.style import alt, ticks

if TYPE_CHECKING:
    import pandas as pd

#: A short piece of line, for legends whose symbols are shapes, and what every legend of lines has.
STROKE = "M-1.6,0L1.6,0"
SYMBOLS = {"symbolSize": 110, "symbolStrokeWidth": 2.5, "symbolOpacity": 1, "labelLimit": 300}
#: Pixels between lines of words.
LINE = 17
#: Where a logarithmic axis of shares ends at the latest: rounding leaves nothing of smaller ones.
LEAST = 1e-15


def log_axis(channel: str, field: str, ends: tuple[float, float], text: str, *, grid: bool = True, **look: Any) -> Any:
    """A logarithmic axis ("X" or "Y") from end to end, its words in per cent unless `look` has a format."""
    look = look if "format" in look else look | {"labelExpr": "format(100 * datum.value, '~r') + '%'"}
    return getattr(alt, channel)(
        f"{field}:Q",
        scale=alt.Scale(type="log", domain=list(ends), nice=False),
        axis=alt.Axis(values=ticks(*ends), grid=grid, **look),
        title=text,
    )


def drawable(values: pd.Series) -> pd.Series:
    """Which shares a logarithmic axis has a place for: known ones above `LEAST`."""
    return (values >= LEAST) & (values < math.inf)


def check_some(is_drawable: pd.Series, name: str) -> None:
    """Raise an `OptionError` that calls each `name` unless some are `drawable`."""
    if not is_drawable.any():
        raise OptionError(f"the axis is logarithmic, and every {name} is 0, next to 0 or unknown: nothing to draw")


def left_out(is_drawable: pd.Series, name: str) -> str:
    """In words how many are not `drawable`; no words where all are."""
    count = int((~is_drawable).sum())
    return f"{name} left out as 0, next to 0 or unknown: {count}" if count else ""


def drawn_part(rows: pd.DataFrame, column: str, kind: str, name: str) -> tuple[pd.DataFrame, str]:
    """Rows that are `drawable` by a column, some at least; and in words how many are not."""
    is_drawable = drawable(rows[column])
    check_some(is_drawable, kind)
    return rows[is_drawable], left_out(is_drawable, name)


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


def legend_by_line() -> alt.Legend:
    """A line a name: what a telephone has room for."""
    return alt.Legend(title=None, columns=1, symbolType=STROKE, **SYMBOLS)


def rules(marks: Mapping[str, float], x: alt.X, field: str, ends: tuple[float, float]) -> list[alt.Chart]:
    """A vertical line with its name at the top for each mark: of several, the first one's left, the others' right."""
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
