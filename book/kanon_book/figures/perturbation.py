"""Charts of the chapter on perturbation: an attack by strength, groups of points, and an explorer of methods."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping

import pandas as pd

from kanon_lab.digits import percent
from kanon_lab.errors import OptionError
from kanon_lab.show import style
from kanon_lab.show.colors import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE
from kanon_lab.show.style import SHARE, SUBTITLE_WIDTH, alt, finish, live

_COLORS, _SHAPES = (BLACK, BLUE, ORANGE, GREY), ("diamond", "circle", "square", "triangle-up")
_EXPLORED = ("method", "label", "linked", "outlying", "il1s")
_RIGHT, _LOSS = "Right links (%)", "Loss (IL1s; axis stretched for small losses)"
_LINKS = ("right link", "wrong link")
# Of the methods; the diamond is for the chosen strength.
_MARKS = ("circle", "square", "triangle-up", "triangle-down", "cross")
_INKS = (BLUE, ORANGE, BLACK, GREEN, PURPLE)


def by_strength(frame: pd.DataFrame, *, heading: str, strength: str, share: str, note: str = "") -> alt.LayerChart:
    """What an attack achieves by the strength of the protection, for one to four series.

    Parameters
    ----------
    frame : DataFrame
        ``series``, ``strength`` (a number; the axis is to scale) and ``share`` (0-1).
    heading, strength, share : str
        The title, and what the two axes show.
    note : str
        A line below the title.
    """
    style.check_columns(frame, ("series", "strength", "share"), "the results of an attack by strength")
    rows = frame[["series", "strength", "share"]]
    names = list(dict.fromkeys(rows["series"]))
    style.check_room(names, _COLORS, "series")
    if rows.duplicated(["series", "strength"]).any():
        raise OptionError("a strength occurs twice in one series: distinguish the two in the column series")
    # More in one line than a telephone holds would be cut off.
    legend = alt.Legend(title=None, columns=2)
    looks = style.told_apart("series:N", names, color=_COLORS, shape=_SHAPES, legend=legend)
    base = alt.Chart(style.inline(rows)).encode(
        x=alt.X(
            "strength:Q",
            title=strength,
            scale=alt.Scale(zero=False, padding=8),
            axis=alt.Axis(tickCount=6, format="~g", grid=False),
        ),
        y=alt.Y("share:Q", title=share, axis=alt.Axis(format="~%", tickCount=6)),
        color=looks["color"],
        tooltip=style.tooltips(("series:N", "series"), ("strength:Q", "strength", "~g"), ("share:Q", "share", SHARE)),
    )
    points = base.mark_point(filled=True, size=70, opacity=1).encode(shape=looks["shape"])
    sentence = "; ".join(
        f"{name}: {', '.join(f'{percent(row.share)} at {row.strength:g}' for row in part.itertuples())}"
        for name, part in rows.sort_values("strength").groupby("series", sort=False)
    )
    return finish(
        alt.layer(base.mark_line(strokeWidth=2), points),
        title=heading,
        subtitle=note,
        description=f"Line chart of {share.lower()} by {strength.lower()}. {sentence}.",
        height=260,
    )


def groups_of_points(frame: pd.DataFrame) -> alt.LayerChart:
    """Points in groups, and the mean of each group: how microaggregation works, for invented points.

    Each point, a line from there to the mean of its group, and the means. Never points of records: a page would give
    them away. `frame` has ``x``, ``y`` and ``group`` of each point.
    """
    style.check_columns(frame, ("x", "y", "group"), "a list of points and their groups")
    rows = frame[["x", "y"]].assign(group=frame["group"].map("group {}".format))
    names = sorted(set(rows["group"]))
    style.check_room(names, _COLORS, "groups")
    means = rows.groupby("group")[["x", "y"]].transform("mean")
    rows["mean_x"], rows["mean_y"] = means["x"], means["y"]
    looks = style.told_apart("group:N", names, color=_COLORS, shape=_SHAPES, title=None)
    axis = alt.Axis(tickCount=6)
    x = alt.X("x:Q", title="First quantity", scale=alt.Scale(zero=False, padding=12), axis=axis)
    y = alt.Y("y:Q", title="Second quantity", scale=alt.Scale(zero=False, padding=12), axis=axis)
    base = alt.Chart(style.inline(rows)).encode(color=looks["color"], y=y)
    lines = base.mark_rule(strokeWidth=1, opacity=0.6).encode(x=x, x2="mean_x", y2="mean_y")
    points = base.mark_point(size=60, strokeWidth=1.8).encode(
        x=x, shape=looks["shape"], tooltip=style.tooltips(("x:Q",), ("y:Q",), ("group:N",))
    )
    centres = (
        alt.Chart(style.inline(rows.drop_duplicates("group")))
        .mark_point(filled=True, size=190, opacity=1)
        .encode(x=alt.X("mean_x:Q"), y=alt.Y("mean_y:Q"), **looks)
    )
    sizes = ", ".join(f"{name} has {count}" for name, count in rows["group"].value_counts().sort_index().items())
    return finish(
        alt.layer(lines, points, centres),
        title="Points in groups, and the means of the groups",
        subtitle="Hollow: the points; filled: the mean that is released for each point",
        description=f"Scatter plot of {len(rows)} invented points in groups, with a line from each to the mean of its "
        f"group. Points: {sizes}.",
        height=300,
    )


def noise_explorer(points: pd.DataFrame, released: Mapping[float, pd.DataFrame], *, step: int = 0) -> alt.LayerChart:
    """How an intruder's links change while noise grows, for invented points, with a slider for the noise.

    A line from each released point to the true point that is closest to it, in standard deviations: the link; where it
    is wrong, a dotted one to its own. Never points of records: a page would give them away.

    Parameters
    ----------
    points : DataFrame
        Two quantities, by the name of the point.
    released : mapping
        By the strength of the noise the same points with noise, weakest first.
    step : int
        The strength shown first, from 0.
    """
    rows: list[dict] = []
    for number, (strength, noisy) in enumerate(released.items()):
        apart = ((noisy.to_numpy()[:, None] - points.to_numpy()) / points.std().to_numpy()) ** 2
        nearest = points.iloc[apart.sum(axis=2).argmin(axis=1)]
        row = pd.DataFrame({"step": number, "point": points.index, "linked": nearest.index})
        for name, frame in {"": points, "_noisy": noisy, "_linked": nearest}.items():
            row[[f"x{name}", f"y{name}"]] = frame.to_numpy().round(3)
        wrong = ", ".join(row["point"][row["point"] != row["linked"]])
        row["link"] = (row["point"] == row["linked"]).map({True: _LINKS[0], False: _LINKS[1]})
        rows += row.assign(noise=f"{strength:.0%}", right=int((row["link"] == _LINKS[0]).sum()), wrong=wrong).to_dict(
            "records"
        )
    if step not in range(len(released)):
        raise OptionError(f"step must be from 0 to {len(released) - 1}, not {step!r}")
    shown = rows[step * len(points)]
    slider = alt.binding_range(min=0, max=len(released) - 1, step=1, name="noise: ")
    words = {
        "row": f"data('noisy')[{len(points)} * step]",
        "words": f"['Noise of ' + row.noise + ': ' + row.right + ' of {len(points)} links right',"
        " row.wrong ? 'wrong: ' + row.wrong : 'none is wrong']",
        "told": "[words[0] + '; ' + words[1]]",
    }
    chart = live(
        style.layered(_noisy(*points), "noisy", rows, style.params({"step": step}, {"step": slider}, words)),
        title=alt.TitleParams(
            alt.ExprRef("words"),
            subtitle=[
                "Hollow: true; full: released. Line: the link to the",
                "closest true point; dotted: to its own true point",
            ],
        ),
        subject=f"Scatter plot with a control of {len(points)} invented points before and after noise, and the links "
        "of an intruder. More noise means fewer right links; points far from all others keep right links longest.",
        state=f"Noise of {shown['noise']}: {shown['right']} of {len(points)} links right; wrong: "
        f"{shown['wrong'] or 'none'}.",
        height=320,
    )
    labels = {"step": [f"{strength:.0%}" for strength in released]}
    return chart.properties(usermeta=chart.usermeta | {"labels": labels})


def _noisy(across: str, up: str) -> list:
    """The true points with their names, the released ones, and a line for each link."""
    look = {"scale": alt.Scale(zero=False, padding=14), "axis": alt.Axis(tickCount=6)}
    x, noisy_x = (alt.X(f"{field}:Q", title=across.capitalize(), **look) for field in ("x", "x_noisy"))
    y, noisy_y = (alt.Y(f"{field}:Q", title=up.capitalize(), **look) for field in ("y", "y_noisy"))
    # The points of all steps are on the axes, unseen, so that these do not move.
    base = alt.Chart().encode(x=x, y=y)
    now = base.transform_filter("datum.step == step")
    looks = style.told_apart("link:N", _LINKS, color=(BLUE, ORANGE), dash=([1, 0], [6, 3]), title=None)
    tips = style.tooltips(("point:N", "point"), ("linked:N", "linked to"), ("link:N", "link"))
    return [
        now.mark_point(size=110, stroke=GREY, strokeWidth=1.5, opacity=1),
        base.encode(x=noisy_x, y=noisy_y).mark_point(opacity=0, aria=False),
        now.mark_rule(stroke=GREY, strokeDash=[2, 3]).encode(x2="x_noisy:Q", y2="y_noisy:Q"),
        now.mark_rule(strokeWidth=2.5).encode(x=noisy_x, y=noisy_y, x2="x_linked:Q", y2="y_linked:Q", **looks),
        now.mark_point(filled=True, size=80, shape="square", opacity=1).encode(
            x=noisy_x, y=noisy_y, color=looks["color"], tooltip=tips
        ),
        now.mark_text(dx=-11, dy=-9, fontWeight="bold").encode(text="point:N"),
    ]


def perturbation_explorer(
    frame: pd.DataFrame, *, few: str = "the largest", method: str | None = None, step: int = 1
) -> alt.LayerChart:
    """Right links and loss of several methods by strength, with controls for both.

    A line with a colour and marks of its own for each method, wide for the chosen one; a dashed one for the few under
    the chosen method; marks at the chosen strength; and the result in words as the title. A method with fewer
    strengths than others stays at its last one.

    Parameters
    ----------
    frame : DataFrame
        ``method``, ``label`` (of the strength, such as ``k = 3``), ``linked`` and ``outlying`` (shares of right links,
        0-1, of all records and of a few that are far out) and ``il1s``; each method's strengths in order.
    few : str
        What to call the few.
    method : str, optional
        The method shown first, by default the first one.
    step : int
        The strength shown first, from 1.
    """
    style.check_columns(frame, _EXPLORED, "quantity_loss and record_linkage by method and strength")
    methods = list(dict.fromkeys(frame["method"]))
    if len(methods) > len(_MARKS):
        raise OptionError(f"the explorer has room for {len(_MARKS)} methods, not {len(methods)}")
    method = methods[0] if method is None else method
    steps = frame.groupby("method", sort=False).size()
    if method not in methods or step not in range(1, steps.max() + 1):
        raise OptionError(f"the frame has no step {step!r} of the method {method!r}")
    rows = frame[list(_EXPLORED)].assign(
        number=frame["method"].map(methods.index), step=frame.groupby("method").cumcount() + 1
    )
    rows["state"] = [f"{row.number} {row.step}" for row in rows.itertuples()]
    values = style.inline(rows).values
    choice = alt.binding_select(options=list(range(len(methods))), labels=methods, name="method: ")
    # A step means another strength in each method, so that the title says the strength and the slider does not.
    slider = alt.binding_range(min=1, max=int(steps.max()), step=1, name="step, weakest first: ")
    bindings = {"method": choice, "step": slider}
    subject = (
        f"Line chart with controls of right links and loss by strength for {', '.join(methods)}. Mostly, a "
        "stronger setting means fewer right links and more loss."
    )
    state = f"{methods.index(method)} {min(step, steps[method])}"
    start = next(row for row in values if row["state"] == state)
    lines = f"Wide: the chosen method, all records; dashed: the chosen method, {few} only; thin: the other methods"
    controls = style.params({"method": methods.index(method), "step": step}, bindings, _words(steps.tolist(), few))
    return live(
        style.layered(_explored(methods), "states", values, controls),
        title=alt.TitleParams(alt.ExprRef("words"), subtitle=textwrap.wrap(lines, SUBTITLE_WIDTH)),
        subject=subject,
        state=f"At {method}, {start['label']}: right links {percent(start['linked'])}, of {few} "
        f"{percent(start['outlying'])}, loss {start['il1s']:.3f}.",
        height=320,
    )


def _words(steps: list[int], few: str) -> dict[str, str]:
    """The result in words, signals of their own: the title shows them, and a page tells them to screen readers."""
    linked, outlying = (style.share_expression(f"row.{name}") for name in ("linked", "outlying"))
    return {
        "state": f"method + ' ' + min(step, {steps}[method])",
        "row": "data('states')[indexof(pluck(data('states'), 'state'), state)]",
        "words": f"[row.method + ', ' + row.label + ':', 'right links ' + {linked} +"
        f" ', loss ' + format(row.il1s, '.3f') + ',', {json.dumps(f'of {few} ')} + {outlying}]",
        "told": "[words[0] + ' ' + words[1] + ' ' + words[2]]",
    }


def _explored(methods: list[str]) -> list:
    # What a telephone has room for.
    legend = alt.Legend(title=None, columns=alt.ExprRef("width < 360 ? 1 : 2"), labelLimit=220, symbolOpacity=1)
    looks = style.told_apart("method:N", methods, color=_INKS, shape=_MARKS, legend=legend)
    base = alt.Chart().encode(
        x=alt.X("il1s:Q", title=_LOSS, scale=alt.Scale(type="sqrt", zero=True, nice=False), axis=alt.Axis(tickCount=6)),
        y=_links("linked"),
        color=looks["color"],
        order="step:Q",
        detail="method:N",
        tooltip=style.tooltips(
            ("method:N", "method"),
            ("label:N", "strength"),
            ("linked:Q", "right links", SHARE),
            ("outlying:Q", "of the few", SHARE),
            ("il1s:Q", "loss", ".3f"),
        ),
    )
    chosen = base.transform_filter("datum.number == method")
    few = chosen.encode(y=_links("outlying"))
    now = base.transform_filter("datum.state == state")
    mark = {"shape": "diamond", "size": 260, "opacity": 1, "strokeWidth": 2.5}
    return [
        base.mark_line(strokeWidth=1.2, opacity=0.7),
        base.mark_point(filled=True, size=45, opacity=0.7).encode(shape=looks["shape"]),
        few.mark_line(strokeWidth=2, strokeDash=[6, 3]),
        chosen.mark_line(strokeWidth=3),
        chosen.mark_point(filled=True, size=60, opacity=1).encode(shape=looks["shape"]),
        now.encode(y=_links("outlying")).mark_point(fill="white", **mark),
        now.mark_point(filled=True, **mark),
    ]


def _links(share: str) -> alt.Y:
    return alt.Y(f"{share}:Q", title=_RIGHT, axis=alt.Axis(format="~%", tickCount=6))
