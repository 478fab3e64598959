"""The explorer of a population known as counts: k, date granularity and geography."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from kanon_lab.digits import percent
from kanon_lab.errors import OptionError
from kanon_lab.population.grid import explorer_grid, municipality_grid, shares_at_k
from kanon_lab.population.law import PERIODS
from kanon_lab.widgets.parts import STYLE, WIDTH, drawing, ipywidgets, status, table, template

if TYPE_CHECKING:
    import pandas as pd

K_MAX = 100

_WHOLE = "all"


def explore(
    counts: pd.DataFrame | str, *, k: int = 5, dates: str = "month", place: str = _WHOLE, whole: str = "Spain"
) -> AnonymityExplorer:
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
    AnonymityExplorer
        As the last line of a cell it shows itself.

    Raises
    ------
    OptionError
        For a start that does not exist.
    MissingPackageError
        Where ipywidgets or altair is not installed.
    """
    if isinstance(counts, str):
        from kanon_lab.data import load_counts

        counts = load_counts(counts)
    return AnonymityExplorer(counts, k=k, dates=dates, place=place, whole=whole)


class AnonymityExplorer:
    """Controls, a sentence, a table and a chart that follow them.

    Attributes
    ----------
    k, dates, province, municipality
        The controls (ipywidgets): slider, buttons and two lists. The municipalities follow the province.
    sentence, table, chart
        What they change. The chart is a Vega-Lite output, which JupyterLab draws by itself.
    box
        All of them, as shown.
    """

    def __init__(self, counts: pd.DataFrame, *, k: int, dates: str, place: str, whole: str) -> None:
        if not 1 <= k <= K_MAX:
            raise OptionError(f"k must be from 1 to {K_MAX}, not {k!r}")
        if dates not in PERIODS:
            raise OptionError(f"dates must be out of {', '.join(PERIODS)}, not {dates!r}")
        self._places = _Places(counts, whole)
        province, municipality = self._places.start(place)
        self._template = _template(self._places.grid(_WHOLE))
        self._moving = False
        self._build(k, dates, province, municipality)
        self._refresh()

    def _build(self, k: int, dates: str, province: str, municipality: str) -> None:
        widgets = ipywidgets()
        self.k = widgets.IntSlider(k, 1, K_MAX, description="k, group size", style=STYLE, layout=WIDTH)
        self.dates = widgets.ToggleButtons(
            options=list(PERIODS),
            value=dates,
            description="Birth known to",
            tooltips=[f"The {name} of birth is known" for name in PERIODS],
            style={**STYLE, "button_width": "6em"},
        )
        self.province = widgets.Dropdown(
            options=self._places.provinces(), value=province, description="Province", style=STYLE, layout=WIDTH
        )
        self.municipality = widgets.Dropdown(
            options=self._places.municipalities(province),
            value=municipality,
            description="Municipality",
            disabled=province == _WHOLE,
            style=STYLE,
            layout=WIDTH,
        )
        self.sentence, self.table, self.chart = widgets.HTML(), widgets.HTML(), widgets.Output()
        controls = [self.k, self.dates, self.province, self.municipality]
        self.box = widgets.VBox([*controls, self.sentence, self.chart, self.table])
        self.province.observe(self._follow_province, "value")
        for control in (self.k, self.dates, self.municipality):
            control.observe(self._refresh, "value")

    @property
    def place(self) -> str:
        """Code of the place shown: ``"all"``, a province or a municipality."""
        return self.municipality.value or self.province.value

    def _follow_province(self, change: dict) -> None:
        # A new list of municipalities moves its value too: one answer is enough.
        self._moving = True
        self.municipality.options = self._places.municipalities(change["new"])
        self.municipality.value = ""
        self.municipality.disabled = change["new"] == _WHOLE
        self._moving = False
        self._refresh()

    def _refresh(self, change: dict | None = None) -> None:
        if self._moving:
            return
        grid = self._places.grid(self.place)
        if grid.empty:
            self._show_nobody()
            return
        shares = shares_at_k(grid, self.k.value)
        name, kinds = grid["name"].iloc[0], self._places.kinds(self.place)
        self.sentence.value = _sentence(name, kinds, shares, self.k.value, self.dates.value)
        self.table.value = _table(shares, self.k.value, self.dates.value)
        self._draw(grid)

    def _show_nobody(self) -> None:
        self.sentence.value = status("Nobody lives in this place: there is nothing to measure.")
        self.table.value, self.chart.outputs = "", ()

    def _draw(self, grid: pd.DataFrame) -> None:
        from kanon_lab.charts.explorer import moved

        self.chart.outputs = drawing(moved(self._template, grid, k=self.k.value, dates=self.dates.value))

    def _repr_mimebundle_(self, **kwargs: Any) -> dict:
        return self.box._repr_mimebundle_(**kwargs)


class _Places:
    """The places of a population, and each one's rows of the grid, computed once."""

    def __init__(self, counts: pd.DataFrame, whole: str) -> None:
        self._counts = counts
        self._rows = counts.groupby("place", sort=False).indices
        self._named = counts.drop_duplicates("place")[["place", "name", "province"]].sort_values("name")
        if "kind" in counts:
            self._kinds = counts.drop_duplicates(["province", "kind"]).set_index("province")["kind"]
        grid = explorer_grid(counts, k_max=K_MAX, whole=whole)
        self._grids = {place: rows.reset_index(drop=True) for place, rows in grid.groupby("place", sort=False)}
        self._provinces = [(rows["name"].iloc[0], code) for code, rows in self._grids.items()]

    def provinces(self) -> list[tuple[str, str]]:
        """Labels and codes: the whole population, then its provinces by name."""
        (whole, code), *rest = self._provinces
        return [(f"{whole} (all provinces)", code), *rest]

    def municipalities(self, province: str) -> list[tuple[str, str]]:
        """Labels and codes: the whole province, then its municipalities by name."""
        here = self._named[self._named["province"] == province]
        return [("All municipalities", ""), *zip(here["name"], here["place"], strict=True)]

    def start(self, place: str) -> tuple[str, str]:
        """Province and municipality ("" for all) of a code."""
        if place in self._grids:
            return place, ""
        if place not in self._rows:
            raise OptionError(f"no place of the population has the code {place!r}")
        return self._named.set_index("place").at[place, "province"], place

    def kinds(self, place: str) -> str:
        """What the counts of a place are, where the population says it: " (synthetic)", or ""."""
        if "kind" not in self._counts:
            return ""
        if place in self._rows:
            kinds = self._counts["kind"].iloc[self._rows[place]].unique()
        else:
            kinds = self._kinds.loc[slice(None) if place == _WHOLE else [place]].unique()
        return f" ({' and '.join(sorted(kinds))})"

    def grid(self, place: str) -> pd.DataFrame:
        """The place's rows of the grid; none where nobody lives there."""
        if place not in self._grids:
            self._grids[place] = municipality_grid(self._counts.iloc[self._rows[place]], k_max=K_MAX)
        return self._grids[place]


def _template(grid: pd.DataFrame) -> dict:
    from kanon_lab.charts import explorer

    return template(explorer(grid, controls=False))


def _sentence(name: str, kinds: str, shares: pd.DataFrame, k: int, dates: str) -> str:
    row = shares[shares["dates"] == dates].iloc[0]
    group = "are the only ones" if k == 1 else f"are in a group of {k} persons or fewer"
    return status(
        f"{escape(name)}, {row['population']:,} persons{escape(kinds)}, {dates} of birth known: "
        f"<b>{percent(row['up_to'], digits=4)}</b> {group} with the same municipality, sex and date of birth."
    )


def _table(shares: pd.DataFrame, k: int, dates: str) -> str:
    heads = ("Birth known to", f"group of exactly {k}", f"{k} or fewer", f"more than {k}")
    rows = [
        (row.dates, *(percent(share, digits=4) for share in (row.exactly, row.up_to, row.more)))
        for row in shares.itertuples()
    ]
    return table("Share of persons", heads, rows, chosen=shares["dates"].tolist().index(dates))
