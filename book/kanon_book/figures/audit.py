"""Charts of the audit at a glance, and of what a reader can rebuild from a published table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from kanon_lab.errors import OptionError
from kanon_lab.show import style
from kanon_lab.show.colors import GREY, LIGHT_GREY, ORANGE
from kanon_lab.show.style import COUNT, SHARE, alt, finish, inline, tooltips

if TYPE_CHECKING:
    import pandas as pd

# What needs a reader's eye comes first, as in the audit. Every count is also written out: colour carries nothing alone.
_VERDICTS = {
    "disagrees": "#a3341c",
    "published-error": "#d55e00",
    "in-part": "#b8860b",
    "illegible": GREY,
    "not-in-text": GREY,
    "approximate": "#7a6a9b",
    "within-noise": "#3b86b5",
    "exact": "#0b5c8a",
}


def audit_overview(frame: pd.DataFrame) -> alt.LayerChart:
    """How many figures of each published table got which verdict.

    A grid of table by verdict with the counts written in it; the stronger the colour, the larger the share of the
    table's figures. `frame` has ``table``, ``verdict`` (one of the audit's verdicts) and ``figures`` (how many), one
    row per pair that occurs; tables are drawn in the order of the frame.
    """
    rows, shown = _checked(frame, "table")
    tables = list(dict.fromkeys(rows["table"]))
    counted = f"{rows['figures'].sum():,} published figures in {len(tables)} tables by verdict: "
    return finish(
        _grid(_cells(rows.assign(line=rows["table"])), tables, shown, "table"),
        title="Published figures by verdict of the audit",
        subtitle="Numbers: numbers of figures; colour: their share of the figures of the table",
        description=f"Table of {counted}{_totals(rows, 'verdict', shown)}.",
        height=max(90, 30 * len(tables)),
    )


def audit_evidence(frame: pd.DataFrame) -> alt.LayerChart:
    """What the figures of each source were compared with, and with which verdict.

    For each source a grid of kind by verdict with the counts written in it; the stronger the colour, the larger the
    share of the kind's figures. `frame` has ``source``, ``kind`` (of evidence), ``verdict`` (one of the audit's
    verdicts) and ``figures`` (how many), one row per combination that occurs; sources and kinds are drawn in the order
    of the frame.
    """
    rows, shown = _checked(frame, "source", "kind")
    # A line of its own, in bold and without counts, heads the kinds of each source: all lines need different names.
    lines, heads = [], list(dict.fromkeys(rows["source"]))
    for source in heads:
        kinds = dict.fromkeys(rows.loc[rows["source"] == source, "kind"])
        lines += [source, *(f"{source}: {kind}" for kind in kinds)]
    # One slip among one figure is no graver than twenty among two hundred: here the colour says the verdict only.
    cells = _cells(rows.assign(line=rows["source"] + ": " + rows["kind"]), strength=1.0)
    kinds = list(dict.fromkeys(rows["kind"]))
    counted = f"{rows['figures'].sum():,} published figures of {len(heads)} sources by kind of evidence"
    return finish(
        _grid(cells, lines, shown, "kind", heads),
        title="What each published figure was compared with, and the verdict",
        subtitle="Numbers: numbers of figures; colour: the verdict",
        description=(
            f"Table of {counted} ({_totals(rows, 'kind', kinds)}) and by verdict: {_totals(rows, 'verdict', shown)}."
        ),
        height=max(90, 26 * len(lines)),
    )


def _checked(frame: pd.DataFrame, *by: str) -> tuple[pd.DataFrame, list[str]]:
    """The counts that are not zero, and the verdicts among them in the order of the audit."""
    style.check_columns(frame, (*by, "verdict", "figures"), "the summary of an audit")
    unknown = sorted(set(frame["verdict"]) - set(_VERDICTS))
    if unknown:
        raise OptionError(f"the audit has the verdicts {', '.join(_VERDICTS)}, not {unknown[0]!r}")
    rows = frame[frame["figures"] > 0]
    return rows, [verdict for verdict in _VERDICTS if verdict in set(rows["verdict"])]


def _totals(rows: pd.DataFrame, name: str, order: list[str]) -> str:
    totals = rows.groupby(name)["figures"].sum()
    return ", ".join(f"{totals[verdict]:,} {verdict}" for verdict in order)


def _cells(rows: pd.DataFrame, strength: float | None = None) -> pd.DataFrame:
    """The counts of a grid with their share of the line, the colour of their ground and that of their ink.

    The ground is as strong as the share is large, or as `strength` says.
    """
    share = rows["figures"] / rows.groupby("line")["figures"].transform("sum")
    parts = share if strength is None else [strength] * len(rows)
    fills = [_tint(_VERDICTS[verdict], part) for verdict, part in zip(rows["verdict"], parts, strict=True)]
    return rows[["line", "verdict", "figures"]].assign(
        share=share, fill=[f"rgb({r}, {g}, {b})" for r, g, b in fills], ink=[_ink(fill) for fill in fills]
    )


def _grid(cells: pd.DataFrame, lines: list[str], shown: list[str], by: str, heads: list[str] = ()) -> alt.LayerChart:
    """Counts by line and verdict. Of lines other than `heads` only what follows a colon is written."""
    axis_labels = {"labelExpr": "split(datum.label, ': ')[1] || datum.label"} if heads else {}
    if heads:
        is_head = f"indexof({json.dumps(list(heads))}, datum.value) >= 0"
        axis_labels["labelFontWeight"] = {"condition": {"test": is_head, "value": "bold"}, "value": "normal"}
    base = alt.Chart(inline(cells)).encode(
        x=alt.X(
            "verdict:N",
            sort=shown,
            scale=alt.Scale(domain=shown),
            title=None,
            # Downwards to their columns: on a telephone there is room for names on the left, none on the right.
            axis=alt.Axis(
                orient="top", labelAngle=35, labelAlign="right", labelOverlap=False, domain=False, ticks=False
            ),
        ),
        y=alt.Y(
            "line:N",
            sort=lines,
            scale=alt.Scale(domain=lines),
            title=None,
            axis=alt.Axis(labelLimit=130, domain=False, ticks=False, **axis_labels),
        ),
        tooltip=tooltips(
            ("line:N", by),
            ("verdict:N", "verdict"),
            ("figures:Q", "figures", COUNT),
            ("share:Q", f"of the {by}'s figures", SHARE),
        ),
    )
    grounds = base.mark_rect(stroke="white", strokeWidth=2).encode(color=alt.Color("fill:N", scale=None))
    counts = base.mark_text(fontSize=13).encode(
        text=alt.Text("figures:Q", format=","), color=alt.Color("ink:N", scale=None)
    )
    return alt.layer(grounds, counts)


def reconstruction(frame: pd.DataFrame, *, name: str = "the municipality") -> alt.LayerChart:
    """Cell sizes rebuilt from a published anonymity table against the real ones, both in order of size.

    Bars for the real sizes, diamonds for the reconstructed ones.

    Parameters
    ----------
    frame : DataFrame
        ``rank`` (1, 2, ...), ``real`` and ``reconstructed`` (persons in the cell of that rank).
    name : str
        The place, for the title.
    """
    style.check_columns(frame, ("rank", "real", "reconstructed"), "real and reconstructed sizes in order")
    rows = frame[["rank", "real", "reconstructed"]].assign(difference=frame["reconstructed"] - frame["real"])
    base = alt.Chart(inline(rows)).encode(
        x=alt.X(
            "rank:O",
            title="Cells of sex and age group, in order of size",
            axis=alt.Axis(labelAngle=0, labelOverlap=True),
        ),
        tooltip=tooltips(
            ("rank:O", "rank"),
            ("real:Q", "real persons", COUNT),
            ("reconstructed:Q", "reconstructed persons", COUNT),
            ("difference:Q", "difference", "+,"),
        ),
    )
    # For the legend: squares for bars, diamonds for diamonds.
    shapes = ["square", "diamond"]
    looks = style.told_apart(
        "series:N", ["real", "reconstructed"], color=[LIGHT_GREY, ORANGE], shape=shapes, title=None
    )
    bars = base.transform_calculate(series="'real'").mark_bar()
    diamonds = base.transform_calculate(series="'reconstructed'").mark_point(
        filled=True, size=60, opacity=1, stroke="white", strokeWidth=1
    )
    layers = [
        bars.encode(y=alt.Y("real:Q", title="Persons in the cell"), color=looks["color"]),
        diamonds.encode(y="reconstructed:Q", **looks),
    ]
    off = rows["difference"].abs()
    same = int((off == 0).sum())
    equal = f"{same or 'None'} of them {'is' if same < 2 else 'are'} equal" if off.any() else "All of them are equal"
    return finish(
        alt.layer(*layers),
        title=f"What the published table reveals about {name}",
        subtitle="Bars: real cells; diamonds: rebuilt from the published table",
        description=(
            f"Bars of the {len(rows)} real cell sizes of {name} in order of size, with a diamond for each "
            f"reconstructed size. {equal}; the largest difference is "
            f"{off.max():,} person{'' if off.max() == 1 else 's'}."
        ),
        height=320,
    )


def _tint(color: str, share: float) -> tuple[int, int, int]:
    """A colour on white, red, green and blue of 0-255: a quarter of it for a share of 0, all of it for 1."""
    strength = 0.25 + 0.75 * share
    red, green, blue = (round(255 + strength * (int(color[i : i + 2], 16) - 255)) for i in (1, 3, 5))
    return red, green, blue


def _ink(ground: tuple[int, int, int]) -> str:
    """Black or white, whichever stands out more: one of them always does, by 4.5 to 1 (luminance as in WCAG 2)."""
    channels = [part / 255 for part in ground]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "black" if (luminance + 0.05) ** 2 > 0.05 * 1.05 else "white"
