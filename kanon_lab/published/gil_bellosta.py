"""Gil Bellosta (2011): Cuadros 1 to 4 and the claims of the text, recomputed.

Cuadro 1 is a simulation over the nation; Cuadros 2 to 4 are expectations for 20 municipalities, rounded for every
single k and then added up to ranges. What is compared with what, and how closely it must agree, is fixed here.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from kanon_lab.data import load_counts
from kanon_lab.digits import percent
from kanon_lab.population import CUADRO_1_RANGES, CUADRO_2_RANGES, PERIODS, anonymity
from kanon_lab.published.figures import recomputed

#: INE codes of the municipalities of Cuadros 2-4, under their printed names.
PLACES = {
    "Madrid": "28079",
    "Barcelona": "08019",
    "Zaragoza": "50297",
    "Bilbao": "48020",
    "Alicante": "03014",
    "Gijón": "33024",
    "Oviedo": "33044",
    "Tarrasa": "08279",
    "Almería": "04013",
    "Albacete": "02003",
    "Talavera de la Reina": "45165",
    "Benalmádena": "29025",
    "Siero": "33066",
    "Molins de Rey": "08123",
    "Unión (La)": "30041",
    "Pozo Alcón": "23070",
    "Zalamea de la Serena": "06160",
    "Selva": "07058",
    "Guardiola de Berga": "08099",
    "Torre la Ribera": "22233",
}
#: The table of each date granularity.
CUADROS = {"Cuadro 2": "day", "Cuadro 3": "month", "Cuadro 4": "year"}

#: A file with fewer municipalities than this is not the nation (Spain had 8,114 on 1 January 2010).
_NATION = 8000
#: Cuadro 1 from a fitted population: percentage points, fixed before the fit.
_TOLERANCE_SHARE = 0.10
#: Simulated half-widths scatter: 7 % is the bound agreed for them.
_NOISE_HALF_WIDTH = 0.07
#: Cuadros 2-4 from reconstructed cells: persons.
_TOLERANCE_PERSONS = 1.0
#: Sizes at which a share is crossed, from a population whose ages are partly synthetic: relative.
_TOLERANCE_THRESHOLD = 0.05
#: Claims that say again what Cuadro 1 says.
_FOLLOW_FROM_CUADRO_1 = ("identifiable-share", "day-share", "month-share", "year-share", "almost-twenty-million")


def recompute(figures: pd.DataFrame, *, counts: pd.DataFrame | None = None) -> pd.DataFrame:
    """Compute every figure of the study from a counts frame.

    Parameters
    ----------
    figures : DataFrame
        `published_figures` of this source.
    counts : DataFrame, optional
        A counts frame; the nation, or the municipalities of Cuadros 2-4 that are at hand. By default the embedded
        ``spain-2010``. One with a column ``kind`` is an embedded population, which was fitted to these very tables.

    Returns
    -------
    DataFrame
        Index as `figures`, columns as `kanon_lab.published.figures.recomputed`.
    """
    counts = load_counts("spain-2010") if counts is None else counts
    embedded = "kind" in counts
    blocks = []
    tables = figures.groupby("table", sort=False)
    for table, rows in tables:
        if table == "Cuadro 1":
            blocks.append(_cuadro_1(counts, rows, embedded))
        elif table in CUADROS:
            blocks.append(_cuadro(counts, rows, CUADROS[table], embedded))
        else:
            blocks.append(_claims(counts, rows, embedded))
    result = pd.concat(blocks).loc[figures.index]
    result.loc[[holds is True for holds in result["holds"]], "verdict"] = "approximate" if embedded else "exact"
    return result


def rows_that_do_not_add_up(figures: pd.DataFrame) -> pd.DataFrame:
    """Printed rows of Cuadros 2-4, and printed columns of Cuadro 1, that miss their own total.

    Returns
    -------
    DataFrame
        ``table``, ``row``, ``total`` (as printed; 100 for percentages), ``sum`` and ``difference`` (sum - total).
    """
    found = []
    for (table, row), cells in figures[figures["table"].isin(CUADROS)].groupby(["table", "row"], sort=False):
        values = cells.set_index("column")["published"]
        found.append((table, row, values["total"], values.drop("total").sum()))
    shares = figures[(figures["table"] == "Cuadro 1") & (figures["unit"] == "per cent")]
    for column, cells in shares.groupby("column", sort=False):
        found.append(("Cuadro 1", f"column {column}", 100.0, cells["published"].sum().round(2)))
    result = pd.DataFrame(found, columns=["table", "row", "total", "sum"])
    result["difference"] = (result["sum"] - result["total"]).round(2)
    return result[result["difference"] != 0].reset_index(drop=True)


def crossing(national: np.ndarray, share: float, periods: int = PERIODS["day"]) -> float:
    """The size at which a municipality with national ages has this share of 1-anonymous persons.

    Parameters
    ----------
    national : array of int
        Persons of the nation in each cell of sex and age group.
    share : float
        Share of persons who are alone in their key, 0-1.
    periods : int
        Periods in an age group.

    Returns
    -------
    float
        Inhabitants. Cells are taken as fractions of the size: the law is continued between whole numbers.
    """
    profile = national / national.sum()

    def excess(log_size: float) -> float:
        n = profile * np.exp(log_size)
        # n (1 - 1/N)^(n - 1), formula (1) at k = 1, holds for any n.
        return float(np.sum(n * np.exp((n - 1) * np.log1p(-1 / periods))) / n.sum() - share)

    return float(np.exp(brentq(excess, np.log(100), np.log(1e8))))


def _is_nation(counts: pd.DataFrame) -> bool:
    return counts["place"].nunique() >= _NATION


def _not_the_nation(counts: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    reason = f"not recomputed: the population has {counts['place'].nunique()} municipalities, not the nation"
    return recomputed(rows, reason=reason)


def _cuadro_1(counts: pd.DataFrame, rows: pd.DataFrame, embedded: bool) -> pd.DataFrame:
    if not _is_nation(counts):
        return _not_the_nation(counts, rows)
    nation = anonymity(counts, dates=PERIODS, ranges=CUADRO_1_RANGES)
    nation["row"] = [_cuadro_1_label(a, b) for a, b in zip(nation["k_from"], nation["k_to"], strict=True)]
    nation = nation.set_index(["dates", "row"])
    population = nation["population"].iloc[0]
    printed = rows.set_index(["column", "row"])["published"]
    result = []
    for row, column in zip(rows["row"], rows["column"], strict=True):
        dates, kind = column.split(" ")
        here = nation.loc[(dates, row)]
        half_width = printed[f"{dates} ±", row]
        if kind == "%":
            # The printed interval is in tens of thousands of persons; the printed percentage is rounded too.
            result.append((100 * here["share"], half_width * 1e6 / population + 0.005, _TOLERANCE_SHARE, "fitted"))
        elif kind == "n":
            result.append((here["persons"] / 1e4, half_width + 0.5, _TOLERANCE_SHARE * population / 1e6, "fitted"))
        else:
            noise = max(_NOISE_HALF_WIDTH * half_width, 0.005)
            result.append((here["half_width"] / 1e4, noise, 0.0, "recomputed"))
    frame = recomputed(rows)
    frame[["computed", "noise", "tolerance", "kind"]] = pd.DataFrame(result, index=rows.index)
    off = rows["column"].str.endswith("±") & ((frame["computed"] - rows["published"]).abs() > frame["noise"])
    frame.loc[off, "reason"] = [
        f"before it was rounded the simulated half-width lay between {p - 0.005:.3f} and {p + 0.005:.3f}: rounding and "
        "simulation noise together would explain the difference, each alone does not"
        for p in rows.loc[off, "published"]
    ]
    if not embedded:
        frame[["tolerance", "kind"]] = [0.0, "recomputed"]
    return frame


def _cuadro_1_label(k_from: int, k_to: int | None) -> str:
    if pd.isna(k_to):
        return f">{k_from - 1}"
    return str(k_from) if k_to == k_from else f"{k_from}-{k_to}"


def _cuadro(counts: pd.DataFrame, rows: pd.DataFrame, dates: str, embedded: bool) -> pd.DataFrame:
    here = counts[counts["place"].isin(PLACES.values())]
    blocks = []
    columns = ["1", "2", "3", "4", "5", "10", "20", "50", "100", ">100"]
    table = pd.DataFrame()
    if len(here):
        result = anonymity(here, dates=[dates], ranges=CUADRO_2_RANGES, by="municipality", round_each_k=True)
        table = result.pivot(index="place", columns="k_from", values="persons").set_axis(columns, axis=1)
        table["total"] = result.groupby("place")["population"].first()
    for place, cells in rows.groupby("row", sort=False):
        if PLACES[place] not in table.index:
            blocks.append(recomputed(cells, reason=f"not recomputed: the population has no cells for {place}"))
            continue
        values = table.loc[PLACES[place]]
        block = recomputed(cells, values[cells["column"]].to_numpy())
        is_open = cells["column"] == ">100"
        block["tolerance"] = np.where(is_open | (not embedded), 0.0, _TOLERANCE_PERSONS)
        # The open cell is what the fitted cells and the fitted total leave: it is no evidence either.
        block["kind"] = "fitted" if embedded else "recomputed"
        block.loc[is_open, "reason"] = _open_range_reason(cells)
        blocks.append(block)
    return pd.concat(blocks)


def _open_range_reason(cells: pd.DataFrame) -> str:
    """What the open column is compared with; it follows no rule we know in ten of the sixty rows."""
    printed = cells.set_index("column")["published"]
    bounded = printed.drop(["total", ">100"]).sum()
    if printed[">100"] == max(printed["total"] - bounded, 0):
        return ""
    return (
        f"the open column follows no rule we know: the bounded cells of the row add up to {bounded:.0f} of "
        f"{printed['total']:.0f}"
    )


def _claims(counts: pd.DataFrame, rows: pd.DataFrame, embedded: bool) -> pd.DataFrame:
    if not _is_nation(counts):
        return _not_the_nation(counts, rows)
    alone = anonymity(counts, ranges="1").set_index("dates")
    share, half_width = 100 * alone["share"], 100 * alone["half_width"] / alone["population"]
    national = counts.groupby(["sex", "age_group"])["persons"].sum().to_numpy()
    places = anonymity(counts, dates=["day"], ranges="1", by="municipality")
    claims = {
        "identifiable-share": {"computed": share["day"], "tolerance": _TOLERANCE_SHARE},
        "day-share": {"computed": share["day"], "tolerance": _TOLERANCE_SHARE},
        "day-half-width": {"computed": half_width["day"]},
        "almost-twenty-million": _almost(alone["persons"]["day"] / 1e6, 20.0),
        "month-share": {"computed": share["month"], "tolerance": _TOLERANCE_SHARE},
        "year-share": {"computed": share["year"], "tolerance": _TOLERANCE_SHARE},
        "over-100000": _large_places(places, national),
        "under-10000": _small_places(places, national),
        "municipalities": {
            "computed": counts["place"].nunique(),
            "reason": "INE's list of 1 January 2010 has 8,114 municipalities; the study does not say which it left out",
        },
    }
    frame = recomputed(rows)
    for index, figure_id in rows["figure_id"].items():
        claim = figure_id.rpartition("/")[2]
        for column, value in claims[claim].items():
            frame.loc[index, column] = value
        if embedded and claim in _FOLLOW_FROM_CUADRO_1:
            frame.loc[index, "kind"] = "fitted"
    if not embedded:
        frame["tolerance"] = 0.0
    return frame


def _almost(computed: float, limit: float) -> dict[str, object]:
    """Almost a round number: below it, and no farther than it rounds."""
    holds = bool(round(limit) - 0.5 <= computed < limit)
    return {"computed": computed, "holds": holds, "reason": f"almost {limit:g} {'holds' if holds else 'fails'}"}


def _large_places(places: pd.DataFrame, national: np.ndarray) -> dict[str, object]:
    """A municipality must exceed 100,000 inhabitants for its share to fall below 20 %."""
    limit = 100_000
    against = ((places["population"] <= limit) & (places["share"] < 0.2)).sum()
    scope = f"municipalities of 100,000 inhabitants or fewer that lie below 20 %: {against}"
    return _threshold(national, 0.2, limit, against, scope)


def _small_places(places: pd.DataFrame, national: np.ndarray) -> dict[str, object]:
    """In municipalities under 10,000 inhabitants the share is above 80 %."""
    limit = 10_000
    small = places[(places["population"] < limit) & (places["population"] > 0)]
    against = (small["share"] <= 0.8).sum()
    scope = f"municipalities under 10,000 inhabitants that lie at 80 % or less: {against} of {len(small)}"
    return _threshold(national, 0.8, limit, against, scope)


def _threshold(national: np.ndarray, share: float, limit: int, against: int, scope: str) -> dict[str, object]:
    """Where national ages cross the share. The claim holds if that is above its limit and no place speaks against."""
    computed = crossing(national, share)
    return {
        "computed": computed,
        "tolerance": _TOLERANCE_THRESHOLD * limit,
        "holds": bool(computed >= limit and against == 0),
        "reason": f"with national ages the share falls below {percent(share)} here; {scope}",
    }
