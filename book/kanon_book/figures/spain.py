"""Charts of the chapters on Spain and on identifying: Figura 1, k, ages, the birthday argument."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from kanon_lab.data.labels import lowest_age
from kanon_lab.digits import percent
from kanon_lab.errors import OptionError
from kanon_lab.population.law import KRange
from kanon_lab.show import style
from kanon_lab.show.colors import BLACK, GREY, GRID, LIGHT_GREY, ORANGE
from kanon_lab.show.style import COUNT, SHARE, alt, check_columns, finish, inline, told_apart, tooltips

if TYPE_CHECKING:
    import pandas as pd

_ANONYMITY = ("place", "name", "population", "dates", "k_from", "k_to", "share")
# An interval narrower than this share is not seen on its bar.
_SEEN = 0.003
# Marks of registers: upright strokes, as those of the many, and points.
_TICK, _POINTS = "M-0.12,-1L0.12,-1L0.12,1L-0.12,1Z", ("circle", "diamond")


def figura_1(frame: pd.DataFrame, *, named: Iterable[str] = ()) -> alt.LayerChart:
    """Share of persons who are alone against the population of their municipality (Figura 1 of the study).

    One mark for the municipalities that would be drawn on one another (`thin_places`), its area by their number: some
    700 marks for the 8,114 municipalities of Spain. Lines at 20% and 80%.

    Parameters
    ----------
    frame : DataFrame
        From `kanon_lab.population.anonymity` with ``by="municipality"``; its rows of k = 1 are drawn.
    named : iterable of str
        Codes of municipalities to draw on top, each as a point of its own.
    """
    from kanon_lab.population.places import thin_places

    check_columns(frame, _ANONYMITY, "anonymity(counts, by='municipality')")
    alone = _alone(frame)
    alone = alone[alone["population"] > 0]
    dates = style.check_dates(alone["dates"])
    x = alt.X(
        "population:Q",
        scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(values=[10, 100, 1_000, 10_000, 100_000, 1_000_000], format="~s"),
        title="Population of the municipality (persons)",
    )
    y = style.shares_axis("Y", "share", "Alone, k = 1 (% of the persons)")
    color, shape = style.date_color(dates), style.date_shape(dates)
    places = (
        alt.Chart(inline(thin_places(alone)))
        .mark_point(filled=True, opacity=0.5)
        .encode(
            x=x,
            y=y,
            color=color,
            shape=shape,
            size=alt.Size("municipalities:Q", scale=alt.Scale(type="sqrt", range=[9, 260]), legend=None),
            tooltip=tooltips(
                style.DATE_TIP,
                ("municipalities:Q", "municipalities"),
                ("population_from:Q", "population from", COUNT),
                ("population_to:Q", "population to", COUNT),
                ("share:Q", "alone, mean share", SHARE),
            ),
        )
    )
    highlighted = alone[alone["place"].isin(list(named))][["name", "population", "dates", "share"]]
    points = (
        alt.Chart(inline(highlighted))
        .mark_point(filled=True, size=70, stroke="white", strokeWidth=1.5, opacity=1)
        .encode(
            x=x,
            y=y,
            color=color,
            shape=shape,
            tooltip=tooltips(
                ("name:N", "municipality"),
                ("population:Q", "population", COUNT),
                style.DATE_TIP,
                ("share:Q", "alone", SHARE),
            ),
        )
    )
    layers = [_share_lines(0.2, 0.8), places] + ([points] if len(highlighted) else [])
    places_drawn = alone["place"].nunique()
    return finish(
        alt.layer(*layers),
        title="The smaller the municipality, the more persons are alone",
        subtitle=(
            "Alone: nobody else there has the same sex and date of birth. The larger a mark, the more municipalities. "
            "Dashed lines: 20% and 80%."
        ),
        description=(
            f"Scatter plot of {places_drawn:,} municipalities: share of persons who are alone against population, on a "
            "logarithmic axis, for the date of birth known to the day, the month or the year. Shares fall as "
            f"population grows. {_extremes(alone, dates)} Lines mark 20% and 80%."
        ),
        height=400,
    )


def distribution(frame: pd.DataFrame) -> alt.LayerChart:
    """How the persons of one place are spread over ranges of k, by granularity of the date of birth (Cuadro 1).

    Bars with their 95% intervals, which are too short to see in a large population. `frame` comes from
    `kanon_lab.population.anonymity`, one place: one row per date and range, with ``share`` and ``half_width``.
    """
    check_columns(frame, (*_ANONYMITY, "half_width"), "anonymity(counts)")
    if frame["place"].nunique() > 1:
        raise OptionError("the chart shows one place: choose the rows of one place, or measure with by='all'")
    if not frame["population"].iloc[0] > 0:
        raise OptionError("the chart shows shares of persons, and the place has none")
    dates = style.check_dates(frame["dates"])
    ends = frame["k_to"].astype(object).where(frame["k_to"].notna(), None)
    labels = [KRange(first, last).label for first, last in zip(frame["k_from"], ends, strict=True)]
    rows = frame.assign(k=labels, spread=frame["half_width"] / frame["population"])
    rows = rows.assign(
        low=(rows["share"] - rows["spread"]).clip(lower=0), high=(rows["share"] + rows["spread"]).clip(upper=1)
    )
    base = alt.Chart(inline(rows[["k", "dates", "share", "spread", "low", "high"]], 6)).encode(
        y=alt.Y("k:N", sort=None, title="k: persons in the group", axis=alt.Axis(ticks=False)),
        yOffset=alt.YOffset("dates:N", sort=dates),
        tooltip=tooltips(
            ("k:N", "k"),
            style.DATE_TIP,
            ("share:Q", "share of persons", SHARE),
            ("spread:Q", "half-width of the 95% interval", ".2~%"),
        ),
    )
    # Above 100 % there is room for the words behind the longest bar.
    x = alt.X(
        "share:Q",
        scale=alt.Scale(domain=[0, 1.3], nice=False),
        axis=alt.Axis(format="~%", values=[0, 0.2, 0.4, 0.6, 0.8, 1]),
        title="Persons (% of the population)",
    )
    bars = base.mark_bar().encode(x=x, color=style.date_color(dates))
    intervals = base.mark_rule(color=GREY, strokeWidth=2).encode(x=alt.X("low:Q"), x2="high:Q")
    # Each bar says its date and value: nothing rests on colour.
    words = base.transform_calculate(words=f"datum.dates + ' ' + {style.share_expression('datum.share')}")
    words = words.mark_text(align="left", dx=5, fontSize=11).encode(x=alt.X("high:Q"), text="words:N")
    name, population = frame["name"].iloc[0], int(frame["population"].iloc[0])
    shares = frame[(frame["k_from"] == 1) & (frame["k_to"] == 1).fillna(False).astype(bool)].set_index("dates")["share"]
    alone = "" if shares.empty else f"The share alone is {', '.join(f'{percent(shares[d])} by {d}' for d in dates)}."
    seen = bool((rows["high"] - rows["low"]).max() > _SEEN)
    return finish(
        alt.layer(bars, *([intervals] if seen else []), words),
        title=f"{name}: persons by the size k of their group",
        subtitle="Group: same municipality, sex and date of birth" + ("; grey lines: 95% intervals" if seen else ""),
        description=(
            f"Bar chart of {name}, {population:,} persons: share of persons by the number k of persons who share their "
            f"place, sex and date of birth, for three granularities of the date. {alone}"
        ),
        height=16 * len(rows),
    )


def alone(frame: pd.DataFrame) -> alt.LayerChart:
    """The birthday argument: the probability of being alone falls with the number of persons in the cell.

    `frame` comes from `kanon_lab.population.places.alone_by_cell_size`: ``dates``, ``periods``, ``n`` and
    ``probability``.
    """
    check_columns(frame, ("dates", "periods", "n", "probability"), "alone_by_cell_size(sizes)")
    dates = style.check_dates(frame["dates"])
    base = alt.Chart(inline(frame[["dates", "periods", "n", "probability"]])).encode(
        x=alt.X(
            "n:Q",
            scale=alt.Scale(type="log", nice=False),
            title="n: persons in the cell",
            axis=alt.Axis(values=[1, 10, 100, 1_000, 10_000, 100_000], format="~s"),
        ),
        y=style.shares_axis("Y", "probability", "Probability of being alone (%)"),
    )
    lines = base.mark_line(strokeWidth=2.5).encode(color=style.date_color(dates), strokeDash=style.date_dash(dates))
    points = base.mark_point(size=120, opacity=0, filled=True, aria=False).encode(
        tooltip=tooltips(
            ("n:Q", "persons in the cell", COUNT),
            style.DATE_TIP,
            ("periods:Q", "days, months or years in the age group", COUNT),
            ("probability:Q", "probability of being alone", SHARE),
        )
    )
    likely = frame[frame["probability"] >= 0.5].groupby("dates")["n"].max()
    halves = "; ".join(f"{f'{likely[d]:,}' if d in likely else 'no'} persons for the {d}" for d in dates)
    return finish(
        alt.layer(_share_lines(0.5), lines, points),
        title="How likely is it to be alone in a cell of n persons?",
        subtitle="Cell: the persons of one place, sex and five-year age group",
        description=(
            "Line chart of the probability that a person shares the date of birth with nobody else of the cell, "
            "against the number of persons in the cell, on a logarithmic axis. The largest cell drawn in which it is "
            f"one half or more holds {halves}."
        ),
        height=340,
    )


def ages(frame: pd.DataFrame, *, pooled: pd.DataFrame, name: str = "the places") -> alt.LayerChart:
    """The share of persons who are alone by age, and what one open age group makes of the oldest.

    Parameters
    ----------
    frame : DataFrame
        From `kanon_lab.population.places.alone_by_age`.
    pooled : DataFrame
        The same of the same counts, the oldest added up to an open group: its open group is drawn, as a level line.
    name : str
        Name of the place or places, for the title.
    """
    for rows in (frame, pooled):
        check_columns(rows, ("age_group", "dates", "share"), "alone_by_age(counts)")
    dates = style.check_dates(frame["dates"])
    known = frame.dropna(subset="share")
    rows = known.assign(age=known["age_group"].map(lowest_age))[["age", "age_group", "dates", "share"]]
    oldest = int(rows["age"].max())
    level = pooled[pooled["age_group"] == max(pooled["age_group"], key=lowest_age)]
    start = int(lowest_age(level["age_group"].iloc[0]))
    level = level.assign(age=start, end=oldest)[["age", "end", "dates", "share"]]
    x = alt.X(
        "age:Q",
        title="Age (first year of a group of five)",
        axis=alt.Axis(values=list(range(0, 121, 10))),
        scale=alt.Scale(domain=[0, oldest], nice=False),
    )
    base = alt.Chart(inline(rows)).encode(x=x, y=style.shares_axis("Y", "share", "Alone, k = 1 (% of the persons)"))
    lines = base.mark_line(strokeWidth=2.5).encode(color=style.date_color(dates), strokeDash=style.date_dash(dates))
    points = base.mark_point(size=120, opacity=0, filled=True, aria=False).encode(
        tooltip=tooltips(("age_group:N", "age"), style.DATE_TIP, ("share:Q", "alone", SHARE))
    )
    levels = alt.Chart(inline(level)).mark_rule(strokeWidth=7, opacity=0.35)
    levels = levels.encode(x="age:Q", x2="end:Q", y="share:Q", color=style.date_color(dates))
    by_day = rows[rows["dates"] == dates[0]].set_index("age")["share"]
    groups = rows.drop_duplicates("age").set_index("age")["age_group"]
    by_age = ", ".join(f"{percent(by_day[age])} at {groups[age]}" for age in (by_day.idxmin(), start, oldest))
    pooled_share = percent(level.set_index("dates")["share"][dates[0]])
    return finish(
        alt.layer(levels, lines, points),
        title=f"Persons who are alone, by age: {name}",
        subtitle=(
            "Alone: nobody else has the same place, sex and date of birth. "
            f"Wide pale lines: {start} and over as one group"
        ),
        description=(
            f"Line chart of the share of persons of {name} who are alone, by five-year age group, for the date of "
            f"birth known to the {' or '.join(dates)}. By {dates[0]} it is {by_age}; with all of {start} and over as "
            f"one group, {pooled_share}."
        ),
        height=340,
    )


def deviations(frame: pd.DataFrame, *, half_width: float) -> alt.LayerChart:
    """How far registers that were drawn and counted lie from what the law expects, in its standard deviations.

    Parameters
    ----------
    frame : DataFrame
        A row for a register and range of k: ``register`` (its kind: those of which there are most are drawn as ticks,
        up to two others as points), ``k`` (the label of the range) and ``z``.
    half_width : float
        Half the width of the interval, in standard deviations.
    """
    check_columns(frame, ("register", "k", "z"), "beside_register(expected, classes)")
    kinds = frame["register"].value_counts().index.tolist()
    order = list(dict.fromkeys(frame["k"]))
    many, others = kinds[0], [name for name in dict.fromkeys(frame["register"]) if name != kinds[0]]
    style.check_room(others, _POINTS, "registers beside the many")
    reach = max(3, math.ceil(frame["z"].abs().max()))
    x = alt.X(
        "z:Q",
        scale=alt.Scale(domain=[-reach, reach], nice=False),
        axis=alt.Axis(tickCount=7, format="d"),
        title="Counted less expected (standard deviations)",
    )
    y = alt.Y("k:N", sort=order, title="k: persons in the group", axis=alt.Axis(ticks=False))
    band = alt.Chart(alt.InlineData(values=[{"low": -half_width, "high": half_width}]))
    band = band.mark_rect(color=GRID, opacity=1).encode(x=alt.X("low:Q"), x2="high:Q")
    looks = told_apart(
        "register:N", [many, *others], color=[LIGHT_GREY, ORANGE, BLACK], shape=[_TICK, *_POINTS], title=None
    )
    rows, tips = frame[["register", "k", "z"]], tooltips(("register:N", "register"), ("k:N", "k"), ("z:Q", "sd", ".2f"))
    ticks = alt.Chart(inline(rows[rows["register"] == many], 3)).mark_tick(thickness=1.5, opacity=0.6, height=14)
    points = alt.Chart(inline(rows[rows["register"] != many], 3)).mark_point(filled=True, size=110, opacity=1)
    outside = {name: int((here["z"].abs() > half_width).sum()) for name, here in frame.groupby("register")}
    sizes = frame["register"].value_counts()
    counted = "; ".join(f"{name}, {outside[name]:,} of {sizes[name]:,}" for name in [many, *others])
    return finish(
        alt.layer(
            band,
            ticks.encode(x=x, y=y, color=looks["color"], tooltip=tips),
            points.encode(x=x, y=y, **looks, tooltip=tips),
        ),
        title="Registers that were drawn, and the formula",
        subtitle=(
            "How far the counts are from the expected numbers. The band holds 95% of counts if the formula is right."
        ),
        description=(
            f"Strip plot: for each range of k from {order[0]} to {order[-1]}, how many standard deviations the number "
            f"of persons counted in registers lies from the number expected. Outside the 95% interval lie: {counted}."
        ),
        height=46 * len(order),
    )


def _alone(frame: pd.DataFrame) -> pd.DataFrame:
    alone = frame[(frame["k_from"] == 1) & (frame["k_to"] == 1).fillna(False).astype(bool)]
    if alone.empty:
        raise OptionError("the frame has no rows of k = 1: measure with a range 1, such as ranges='1,2+'")
    return alone


def _share_lines(*shares: float) -> Any:
    lines = alt.Chart(alt.InlineData(values=[{"share": share} for share in shares]))
    return lines.mark_rule(color=GREY, strokeDash=[4, 4]).encode(y=alt.Y("share:Q"))


def _extremes(alone: pd.DataFrame, dates: list[str]) -> str:
    rows = alone[alone["dates"] == dates[0]].sort_values("population", kind="stable")
    small, large = rows.iloc[0], rows.iloc[-1]
    return (
        f"By {dates[0]} of birth, {percent(small['share'])} are alone in the smallest, {small['name']} "
        f"({small['population']:,} persons), and {percent(large['share'])} in the largest, {large['name']} "
        f"({large['population']:,})."
    )
