"""The chart of the first page: how likely one is alone in a town, by its size and what is known of one's birth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kanon_lab.digits import percent
from kanon_lab.errors import OptionError
from kanon_lab.show import style
from kanon_lab.show.controls import Explorer, Shown, bound, drawn, show_state, table
from kanon_lab.show.style import alt

if TYPE_CHECKING:
    import pandas as pd

_ALONE = "Alone: nobody there has your sex and birth date"
_SUBJECT = (
    "Line chart of the chance that nobody in a town shares one's sex and date of birth, by the number of its "
    "inhabitants, on a logarithmic axis, for the date of birth known to the day, the month or the year."
)
# The result in words, in two lines; a telephone has no room for a tiny chance beside its words.
_LINES = "In a town of {people}, {dates} known:", "you are alone with a chance of {chance}"
_LONG = _LINES[0], *_LINES[1].rsplit(" ", 1)
_PARTS = {"people": "format(people, ',')", "dates": "dates", "chance": "chance"}
_WORDS = {
    "people": "data('towns')[town].population",
    "share": "data('towns')[town][dates]",
    "chance": style.share_expression("share"),
    "words": (
        f"length(chance) > 8 ? {style.lines_expression(_LONG, **_PARTS)} : {style.lines_expression(_LINES, **_PARTS)}"
    ),
}


def town_explorer(frame: pd.DataFrame, *, population: int = 20_000, dates: str = "day") -> alt.LayerChart:
    """The chance of being alone by the size of a town, with controls for the size and the date of birth.

    `frame` has a row for each size, in their order: ``population`` and a column of chances (0-1) for each
    granularity of the date. `population` and `dates` are those shown first.
    """
    style.check_columns(frame, ("population", "day"), "the notebook identify")
    names = style.check_dates(name for name in frame.columns if name != "population")
    sizes = frame["population"].tolist()
    if population not in sizes:
        raise OptionError(f"population must be a size of the frame, not {population!r}")
    bindings = {
        # Places in the list of sizes, which grow by factors: a slider on a logarithmic scale.
        "town": alt.binding_range(min=0, max=len(sizes) - 1, step=1, name="Inhabitants of your town: "),
        "dates": alt.binding_radio(options=names, name="Date of birth known to the: "),
    }
    start = {"town": sizes.index(population), "dates": dates}
    rows = style.inline_rounded(frame).values
    chart = style.live(
        style.layered(_layers(names, sizes), "towns", rows, style.params(start, bindings, _WORDS)),
        title=alt.TitleParams(alt.ExprRef("words"), subtitle=_ALONE),
        subject=_SUBJECT,
        state=_describe(frame, **start),
        height=300,
        signal="words",
    )
    return chart.properties(usermeta=chart.usermeta | {"labels": {"town": [f"{size:,}" for size in sizes]}})


def explore_town(frame: pd.DataFrame) -> Explorer:
    """The same for JupyterLab, with a table of the chances by each date."""
    template = drawn(town_explorer(frame))
    names = [name for name in frame.columns if name != "population"]

    def tell(values: dict[str, Any]) -> Shown:
        row = frame.iloc[values["town"]]
        rows = [(name, percent(row[name])) for name in names]
        chosen = table("Chance of being alone", ("Birth known to", "alone"), rows, chosen=names.index(values["dates"]))
        return show_state(template, values, _describe(frame, **values), chosen)

    bindings = bound(template)
    places, slider = frame["population"].map("{:,}".format), bindings["town"]
    listed = {"input": "select", "options": [*range(len(places))], "labels": [*places]}
    return Explorer(bindings | {"town": listed | {name: slider[name] for name in ("name", "value")}}, tell)


def _describe(frame: pd.DataFrame, town: int, dates: str) -> str:
    row = frame.iloc[town]
    parts = {"people": f"{int(row['population']):,}", "dates": dates, "chance": percent(row[dates])}
    return " ".join(_LINES).format(**parts) + "."


def _layers(names: list[str], sizes: list[int]) -> list:
    """A curve for each date, a mark at the chosen town, and unseen points with tooltips."""
    ticks = style.ticks(sizes[0], sizes[-1])
    x = alt.X(
        "population:Q",
        scale=alt.Scale(type="log", domain=[sizes[0], sizes[-1]], nice=False),
        axis=alt.Axis(values=ticks, format="~s", grid=False),
        title="Inhabitants of the town",
    )
    y = style.shares_axis("Y", "share", "Chance of being alone (%)", nice=False)
    curves = alt.Chart().transform_fold(names, ["dates", "share"]).encode(x=x, y=y)
    lines = curves.mark_line().encode(**style.chosen_dates(names))
    hover = style.hover(
        curves, ("population:Q", "inhabitants", style.COUNT), style.DATE_TIP, ("share:Q", "alone", style.SHARE)
    )
    chosen = alt.Chart().transform_filter("datum.population == people")
    return [lines, *style.mark_at(chosen, x, y, share="datum[dates]"), hover]
