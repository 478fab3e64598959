"""The explorer of a population known as counts: k, date granularity and geography."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kanon_lab.digits import percent
from kanon_lab.errors import OptionError
from kanon_lab.population.law import PERIODS
from kanon_lab.population.places import GRID_COLUMNS, explorer_grid, municipality_grid, shares_at_k
from kanon_lab.show import style
from kanon_lab.show.controls import Explorer, Shown, bound, drawn, show_state, table
from kanon_lab.show.style import alt

if TYPE_CHECKING:
    import pandas as pd

#: Shares travel as whole numbers of this unit: thousandths of a percentage point.
UNIT = 1e-5

# Names of places up to this length, in characters, share a line with the granularity on a telephone.
_SHARING = 18
_UP_TO = "(k == 1 ? up_to + ' are alone (k = 1)' : up_to + ' in a group of ' + k + ' or fewer')"
_EXACTLY = "(k == 1 ? '' : exactly + ' in a group of exactly ' + k)"
_GUESSED = "right + ' of guesses by the key are right'"
# The result in words, four lines that follow the controls, or five.
_WORDS = {
    "row": "data('grid')[indexof(pluck(data('grid'), 'key'), place + ' ' + dates)]",
    "up_to": style.share_expression(f"(row.cumulative[k - 1] * {UNIT})"),
    "exactly": style.share_expression(f"((row.cumulative[k - 1] - (k > 1 ? row.cumulative[k - 2] : 0)) * {UNIT})"),
    "right": style.share_expression(f"(row.correctness * {UNIT})"),
    "words": (
        f"length(row.name) > {_SHARING} ? [row.name + ',', dates + ' of birth:', {_UP_TO}, {_GUESSED}, {_EXACTLY}]"
        f" : [row.name + ', ' + dates + ' of birth:', {_UP_TO}, {_GUESSED}, {_EXACTLY}]"
    ),
}
_GROUP = "Group: same municipality, sex and date of birth"
_TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)
_WHOLE, _K_MAX = "all", 100


def explorer(grid: pd.DataFrame, *, k: int = 5, dates: str = "month", place: str | None = None) -> alt.LayerChart:
    """Share of persons in groups of k or fewer, with controls for k, date granularity and geography.

    Parameters
    ----------
    grid : DataFrame
        From `kanon_lab.population.places.explorer_grid`.
    k : int
        The k shown first, 1 to the last k of the grid.
    dates : {"day", "month", "year"}
        The granularity shown first.
    place : str, optional
        Code of the place shown first; the grid's first place by default.

    Returns
    -------
    altair.LayerChart
        It carries one row per place and date, with the curve as one array of whole numbers: shares are rounded to
        0.001 percentage points.
    """
    style.check_columns(grid, [*GRID_COLUMNS, 1], "explorer_grid(counts)")
    names, k_max = style.check_dates(grid["dates"]), style.last_k(grid)
    place = grid["place"].iloc[0] if place is None else place
    _check_start(k_max, names, k, dates)
    if place not in set(grid["place"]):
        raise OptionError(f"the grid has no place {place!r}")
    places, steps = _places(grid), _steps(k_max, k)
    bindings = {
        # Places in the list of k, which grow by factors as the axis does: on a slider of k itself, all small k would
        # stand within a few pixels.
        "step": alt.binding_range(min=0, max=len(steps) - 1, step=1, name="group of at most (k): "),
        "dates": alt.binding_radio(options=names, name="Date of birth known to the: "),
        "place": alt.binding_select(options=list(places), labels=list(places.values()), name="Place: "),
    }
    start = {"step": steps.index(k), "dates": dates, "place": place}
    parameters = style.params(start, bindings, {"k": f"{steps}[step]", **_WORDS})
    chart = style.live(
        style.layered(_layers(names, k_max), "grid", _compact(grid, k_max), parameters),
        title=alt.TitleParams(alt.ExprRef("words"), subtitle=_GROUP),
        subject=(
            "Line chart of the share of persons in a group of k persons or fewer, by k from 1 to "
            f"{k_max}, for the date of birth known to the {', '.join(names)}."
        ),
        state=_describe(grid[grid["place"] == place], k, dates),
        height=340,
        signal="words",
    )
    return chart.properties(usermeta=chart.usermeta | {"labels": {"step": [f"{k_shown:,}" for k_shown in steps]}})


def explore(
    counts: pd.DataFrame | str, *, k: int = 5, dates: str = "month", place: str = _WHOLE, whole: str = "Spain"
) -> Explorer:
    """An explorer of k, date granularity and geography, for JupyterLab.

    Parameters
    ----------
    counts : DataFrame or str
        A counts frame, or the name or path that `kanon_lab.load_counts` takes.
    k : int
        The k shown first, 1 to 100.
    dates : {"day", "month", "year"}
        The granularity shown first.
    place : str
        What is shown first: ``"all"``, the two-digit code of a province or the five-digit code of a municipality.
    whole : str
        Name of the whole population.

    Returns
    -------
    Explorer
        Of ``k``, ``dates``, ``province`` and ``municipality``; the municipalities follow the province. The slider of k
        has the k of the page's, closer together where they are small, and the one shown first. As the last line of a
        cell it shows itself.

    Examples
    --------
    >>> counts = pd.DataFrame({"place": "42001", "name": "A", "province": "42", "persons": [3, 40]})
    >>> list(kanon_lab.show.explore(counts).values.values())
    [5, 'month', 'all', '']
    """
    if isinstance(counts, str):
        from kanon_lab.data.counts import load_counts

        counts = load_counts(counts)
    _check_start(_K_MAX, list(PERIODS), k, dates)
    population = _Population(counts, whole)
    province, municipality = population.start(place)
    whole_grid = population.grid(_WHOLE)
    template = drawn(explorer(whole_grid, k=k, dates=dates))
    steps = _steps(_K_MAX, k)

    def tell(values: dict[str, Any]) -> Shown:
        here = values["municipality"] or values["province"]
        grid, k, dates = population.grid(here), values["k"], values["dates"]
        if grid.empty:
            return Shown("Nobody lives in this place: there is nothing to measure.")
        shares = shares_at_k(grid, k)
        state = _describe(grid, k, dates, population.kinds(here))
        moves = {"step": steps.index(k), "dates": dates, "place": here}
        return show_state(template, moves, state, _table(shares, k, dates), _compact(grid, _K_MAX))

    places = {
        "province": {"input": "select", "name": "Province", "value": province, **population.provinces},
        "municipality": population.municipalities(province, municipality),
    }
    page = bound(template)
    slider = {"input": "range", "options": steps, "name": page["step"]["name"], "value": k}
    return Explorer(
        {"k": slider, "dates": page["dates"], **places},
        tell,
        follow=lambda name, values: (
            {"municipality": population.municipalities(values["province"])} if name == "province" else {}
        ),
    )


class _Population:
    """The places of a population, and each one's rows of the grid, computed once."""

    def __init__(self, counts: pd.DataFrame, whole: str) -> None:
        self._counts = counts
        self._rows = counts.groupby("place", sort=False).indices
        self._named = counts.drop_duplicates("place")[["place", "name", "province"]].sort_values("name")
        grid = explorer_grid(counts, k_max=_K_MAX, whole=whole)
        self._grids = {place: rows.reset_index(drop=True) for place, rows in grid.groupby("place", sort=False)}
        names = [rows["name"].iloc[0] for rows in self._grids.values()]
        names[0] += " (all provinces)"
        #: The whole population, then its provinces by name, to choose from.
        self.provinces = {"options": list(self._grids), "labels": names}

    def municipalities(self, province: str, chosen: str = "") -> dict[str, Any]:
        """The list of municipalities: the whole province, then its municipalities by name."""
        here = self._named[self._named["province"] == province]
        options, labels = ["", *here["place"]], ["All municipalities", *here["name"]]
        choice = {"options": options, "labels": labels, "value": chosen, "disabled": province == _WHOLE}
        return {"input": "select", "name": "Municipality", **choice}

    def start(self, place: str) -> tuple[str, str]:
        """Province and municipality ("" for all) of a code."""
        if place in self._grids:
            return place, ""
        if place not in self._rows:
            raise OptionError(f"no place of the population has the code {place!r}")
        return str(self._named.set_index("place").at[place, "province"]), place

    def kinds(self, place: str) -> str:
        """What the counts of a place are, where the population says it: " (synthetic)", or ""."""
        if "kind" not in self._counts:
            return ""
        if place in self._rows:
            kinds = self._counts["kind"].iloc[self._rows[place]].unique()
        else:
            kinds = self._kinds_of_provinces.loc[slice(None) if place == _WHOLE else [place]].unique()
        return f" ({' and '.join(sorted(kinds))})"

    @cached_property
    def _kinds_of_provinces(self) -> pd.Series:
        return self._counts.drop_duplicates(["province", "kind"]).set_index("province")["kind"]

    def grid(self, place: str) -> pd.DataFrame:
        """The place's rows of the grid; none where nobody lives there."""
        if place not in self._grids:
            self._grids[place] = municipality_grid(self._counts.iloc[self._rows[place]], k_max=_K_MAX)
        return self._grids[place]


def _table(shares: pd.DataFrame, k: int, dates: str) -> str:
    heads = ("Birth known to", f"group of exactly {k}", f"{k} or fewer", f"more than {k}", "right guesses")
    rows = [
        (row["dates"], *(percent(row[share], digits=4) for share in ("exactly", "up_to", "more", "correctness")))
        for row in shares.to_dict("records")
    ]
    return table("Share of persons", heads, rows, chosen=shares["dates"].tolist().index(dates))


def _check_start(k_max: int, names: list[str], k: int, dates: str) -> None:
    if not 1 <= k <= k_max:
        raise OptionError(f"k must be from 1 to {k_max}, not {k!r}")
    if dates not in names:
        raise OptionError(f"dates must be out of {', '.join(names)}, not {dates!r}")


def _describe(here: pd.DataFrame, k: int, dates: str, kinds: str = "") -> str:
    """Say what it shows in one state, from the rows of one place and the kinds of their counts."""
    share = here.loc[here["dates"] == dates, k].iloc[0]
    rounded = percent(round(share / UNIT) * UNIT)  # as the chart carries it
    return f"At k = {k}, by {dates}, in {next(iter(_places(here).values()))}{kinds}: {rounded}."


def _places(grid: pd.DataFrame) -> dict[str, str]:
    """Place code -> name as the list of places shows it."""
    first = grid.drop_duplicates("place")
    kinds = {"province": " (province)", "municipality": " (municipality)"}
    names = first["name"] + first["level"].map(kinds).fillna("")
    return dict(zip(first["place"], names, strict=True))


def _compact(grid: pd.DataFrame, k_max: int) -> list[dict]:
    rows = grid[["place", "population", "dates"]].assign(name=grid["place"].map(_places(grid)))
    rows["key"] = rows["place"] + " " + rows["dates"]
    rows["correctness"] = np.rint(grid["keys"] / grid["population"] / UNIT).astype(int)
    rows["cumulative"] = np.rint(grid[list(range(1, k_max + 1))].to_numpy(dtype=float) / UNIT).astype(int).tolist()
    return rows.to_dict("records")


def _steps(k_max: int, k: int) -> list[int]:
    """The k of a slider, about as far apart on a logarithmic axis; with all small ones, `k` and the last."""
    listed = [*range(1, 11), 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 150, 200, 300, 500, 700, 1_000]
    return sorted({*(step for step in listed if step <= k_max), k, k_max})


def _layers(names: list[str], k_max: int) -> list:
    """The place's curve for each date, a mark at the chosen k, and unseen points with tooltips."""
    x = alt.X(
        "k:Q",
        scale=alt.Scale(type="log", domain=[1, k_max], nice=False),
        axis=alt.Axis(values=[tick for tick in _TICKS if tick <= k_max], format="d", grid=False),
        title="k: persons in the group",
    )
    y = style.shares_axis("Y", "share", "Persons in a group of k or fewer (%)", nice=False)
    share = f"datum.units * {UNIT}"
    curves = style.curves_by_k("datum.place == place", k_max, "cumulative", "units", share).encode(x=x, y=y)
    lines = curves.mark_line(interpolate="step-after").encode(**style.chosen_dates(names))
    hover = style.hover(
        curves,
        ("name:N", "place"),
        ("population:Q", "population", style.COUNT),
        style.DATE_TIP,
        ("k:Q", "k"),
        ("share:Q", "in a group of k or fewer", style.SHARE),
    )
    chosen = alt.Chart().transform_filter("datum.place == place && datum.dates == dates")
    return [lines, *style.mark_at(chosen, x, y, k="k", share=f"datum.cumulative[k - 1] * {UNIT}"), hover]
