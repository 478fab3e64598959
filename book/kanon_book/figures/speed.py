"""The charts of the page on speed: seconds by size, one chart a question."""

from __future__ import annotations

import pandas as pd

from kanon_book.figures.log import ends_of
from kanon_lab.digits import number
from kanon_lab.show import style
from kanon_lab.show.colors import BLACK, BLUE, GREEN, GREY, LIGHT_GREY, ORANGE, PURPLE
from kanon_lab.show.style import alt, finish, tooltips

_COLORS = (BLACK, ORANGE, BLUE, GREEN, PURPLE, GREY, LIGHT_GREY, BLACK)
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "circle", "square")


def seconds_by_size(runs: pd.DataFrame, *, question: str, unit: str) -> alt.LayerChart:
    """Median seconds of each task by size, and their range, on logarithmic axes.

    Parameters
    ----------
    runs : pandas.DataFrame
        A row for each task and size: ``task``, ``size`` (in `unit`), ``median``, ``low`` and ``high`` (seconds).
    question : str
        The title.
    """
    style.check_columns(runs, ("task", "size", "median", "low", "high"), "a file of benchmarks/run.py")
    tasks = list(dict.fromkeys(runs["task"]))
    style.check_room(tasks, _COLORS, "tasks")
    across = ends_of(runs["size"])
    up = ends_of(pd.concat([runs["low"], runs["high"]]).rename("seconds"))
    x = alt.X(
        "size:Q",
        scale=alt.Scale(type="log", domain=list(across), nice=False, padding=12),
        axis=alt.Axis(values=sorted(set(runs["size"])), format="~s", grid=False, labelOverlap=True),
        title=unit,
    )
    y = alt.Y(
        "median:Q",
        scale=alt.Scale(type="log", domain=list(up), nice=False, padding=8),
        axis=alt.Axis(values=style.ticks(*up), format="~g"),
        title="seconds",
    )
    legend = alt.Legend(title=None, columns=1, labelLimit=300)
    looks = style.told_apart("task:N", tasks, color=_COLORS, shape=_SHAPES, legend=legend)
    base = alt.Chart(style.inline_rounded(runs[["task", "size", "median", "low", "high"]]))
    lines = base.mark_line(strokeWidth=1.5).encode(x=x, y=y, color=looks["color"])
    ranges = base.mark_rule(strokeWidth=1.5).encode(
        x=x, y=alt.Y("low:Q", title="seconds"), y2="high:Q", color=looks["color"]
    )
    rows = (
        ("task:N", "task"),
        ("size:Q", unit, ","),
        *((f"{n}:Q", f"{n} (s)", ".3~g") for n in ("median", "low", "high")),
    )
    points = base.mark_point(filled=True, size=55, opacity=1).encode(x=x, y=y, tooltip=tooltips(*rows), **looks)
    largest = runs.loc[runs.groupby("task", sort=False)["size"].idxmax()]
    times = [f"{row.task} {number(row.median)} s for {row.size:,}" for row in largest.itertuples(name="Row")]
    return finish(
        lines + ranges + points,
        title=question,
        subtitle=f"Seconds by {unit}: median and range; both axes are logarithmic",
        description=f"{question}: seconds by {unit}, on logarithmic axes. At the largest size: {'; '.join(times)}.",
        height=300,
    )
