"""Charts of the chapter on diversity: what a linkage attack finds out, and the sensitive values in classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kanon_lab.digits import percent
from kanon_lab.errors import OptionError
from kanon_lab.show import style
from kanon_lab.show.bars import axis_to_longest
from kanon_lab.show.colors import BLUE, GREY, ORANGE, OUTCOMES
from kanon_lab.show.style import COUNT, SHARE, alt, by_name, finish, inline, tooltips

if TYPE_CHECKING:
    import pandas as pd

# From the worst outcome to the best: they differ in lightness, and outlines keep the lightest visible.
_OUTCOME_FILLS = OUTCOMES
_OUTCOMES = ("version", "outcome", "persons")
_TICKS = (0, 0.2, 0.4, 0.6, 0.8, 1)


def attack(frame: pd.DataFrame) -> alt.LayerChart:
    """What a linkage attack finds out about the persons it looks for, in several versions of a release.

    One bar a version, cut into the outcomes, and under it a line for each of them. `frame` has ``version`` (of the
    release, drawn in the order given), ``outcome`` (what the intruder learns about a person), ``persons`` (how many)
    and ``order`` (of the outcomes, the worst first); at most four outcomes.
    """
    style.check_columns(frame, (*_OUTCOMES, "order"), "the outcomes of linkage_attack(...)")
    rows = frame.sort_values("order", kind="stable")
    outcomes, versions = list(dict.fromkeys(rows["outcome"])), list(dict.fromkeys(frame["version"]))
    style.check_room(outcomes, _OUTCOME_FILLS, "outcomes", "; join some")
    total = rows.groupby("version")["persons"].transform("sum")
    if not (total > 0).all():
        raise OptionError("a version has no persons: leave it out")
    rows = rows.assign(share=rows["persons"] / total, rank=rows["outcome"].map(outcomes.index))
    rows["words"] = [f"{row.outcome}: {row.persons:,} ({percent(row.share)})" for row in rows.itertuples()]
    # Each version is a block of lines: its name, its bar, a line for each outcome, an empty one.
    blocks = [f"{version}\n{part}" for version in versions for part in ("name", "bar", *range(len(outcomes)), "gap")]
    y = alt.Y("line:N", scale=alt.Scale(domain=blocks[:-1]), axis=None)
    color = alt.Color("outcome:N", scale=by_name(outcomes, _OUTCOME_FILLS), legend=None)
    outlined = {"stroke": GREY, "strokeWidth": 1}
    bars = alt.Chart(inline(rows.assign(line=rows["version"] + "\nbar")[[*_OUTCOMES, "line", "rank", "share"]], 6))
    lines = inline(
        rows.assign(line=[f"{row.version}\n{row.rank}" for row in rows.itertuples()])[["line", "outcome", "words"]]
    )
    labels = alt.Chart(lines).encode(y=y)
    names = alt.Chart(alt.InlineData(values=[{"line": f"{name}\nname", "version": name} for name in versions]))
    return finish(
        alt.layer(
            bars.mark_bar(height={"band": 1}, **outlined).encode(
                x=alt.X(
                    "share:Q",
                    stack="zero",
                    scale=alt.Scale(domain=[0, 1], nice=False),
                    axis=alt.Axis(format="~%", values=_TICKS, grid=False),
                    title="Persons looked for (%)",
                ),
                y=y,
                order="rank:Q",
                color=color,
                tooltip=tooltips(
                    ("version:N", "version"),
                    ("outcome:N", "outcome"),
                    ("persons:Q", "persons", COUNT),
                    ("share:Q", "share", SHARE),
                ),
            ),
            names.mark_text(align="left", fontSize=13, fontWeight="bold").encode(x=alt.value(0), y=y, text="version:N"),
            labels.mark_point(shape="square", size=90, filled=True, opacity=1, **outlined).encode(
                x=alt.value(6), color=color
            ),
            labels.mark_text(align="left").encode(x=alt.value(17), text="words:N"),
        ),
        title="What the intruder finds out",
        subtitle="Each bar: the persons looked for, by what the intruder learned about them",
        description=(
            "Stacked bars of the persons looked for in a linkage attack by what the intruder learns. "
            + " ".join(f"{name}: {'; '.join(part['words'])}." for name, part in rows.groupby("version", sort=False))
        ),
        height=19 * len(blocks),
    )


def class_distribution(frame: pd.DataFrame) -> alt.LayerChart:
    """The values of a sensitive variable in some classes, against the whole file.

    For each class a bar per value, and a diamond for the share in the whole file. `frame` has ``class_label``,
    ``value``, ``share`` (of the class's records, 0-1) and ``overall`` (of the file's): classes and values are drawn in
    the order given.
    """
    style.check_columns(frame, ("class_label", "value", "share", "overall"), "the values of some classes")
    rows = frame[["class_label", "value", "share", "overall"]].astype({"class_label": str, "value": str})
    rows["row"] = rows["class_label"] + "\n" + rows["value"]
    rows["words"] = [f"{percent(row.share)} (file {percent(row.overall)})" for row in rows.itertuples()]
    order = [row for label, part in rows.groupby("class_label", sort=False) for row in (f"{label}\n", *part["row"])]
    y = alt.Y(
        "row:N",
        sort=order,
        scale=alt.Scale(domain=order),
        title=None,
        axis=alt.Axis(
            labelExpr="split(datum.label, '\\n')[1]", ticks=False, domain=False, labelPadding=7, labelLimit=130
        ),
    )
    base = alt.Chart(inline(rows)).encode(
        y=y,
        tooltip=tooltips(
            ("class_label:N", "class"),
            ("value:N", "value"),
            ("share:Q", "in the class", SHARE),
            ("overall:Q", "in the whole file", SHARE),
        ),
    )
    domain = ["in the class", "in the whole file"]
    looks = style.told_apart("series:N", domain, color=[BLUE, ORANGE], shape=["square", "diamond"], title=None)
    most = rows[["share", "overall"]].to_numpy().max()
    bars = base.transform_calculate(series=f"'{domain[0]}'").mark_bar(height={"band": 0.62})
    marks = base.transform_calculate(series=f"'{domain[1]}'").mark_point(
        filled=True, size=90, opacity=1, stroke="white", strokeWidth=1
    )
    words = base.mark_text(align="right", fontSize=11)
    classes = list(dict.fromkeys(rows["class_label"]))
    which = "one class" if len(classes) == 1 else "some classes"
    uneven = rows.loc[(rows["share"] - rows["overall"]).abs().idxmax()]
    heads = alt.Chart(alt.InlineData(values=[{"row": f"{name}\n", "name": name} for name in classes]))
    return finish(
        alt.layer(
            bars.encode(x=axis_to_longest("Records (%)", most, 22), color=looks["color"]),
            marks.encode(x="overall:Q", **looks),
            words.encode(x=alt.value("width"), text="words:N"),
            heads.mark_text(align="left", fontWeight="bold", fontSize=12).encode(x=alt.value(2), y=y, text="name:N"),
        ),
        title=f"Sensitive values in {which}",
        subtitle="Bars: share in the class; diamonds: share in the whole file",
        description=(
            f"Bars of the share of each sensitive value in {which} ({', '.join(classes)}), with diamonds for the "
            f'shares in the whole file. The largest difference: "{uneven["value"]}" is {percent(uneven["share"])} of '
            f'"{uneven["class_label"]}" and {percent(uneven["overall"])} of the whole file.'
        ),
        height=21 * len(order),
    )
