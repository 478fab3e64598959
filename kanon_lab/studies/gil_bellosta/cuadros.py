"""Cuadros 2 to 4: twenty municipalities, expected persons rounded for every single k, then added up to ranges.

What a cell is set against, the strongest that there is: INE's total; INE's own ages, of Benalmádena; nothing but INE's
total, where a printed 0 must be one whatever the ages; the printed rest of its row; cells fitted to these figures.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import binom

from kanon_lab.population import CUADRO_2_RANGES, PERIODS, KRange, anonymity
from kanon_lab.studies.figures import recomputed
from kanon_lab.studies.gil_bellosta.facts import BENALMADENA, real_place, totals

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
#: The ranges by their printed headings.
COLUMNS = dict(zip(["1", "2", "3", "4", "5", "10", "20", "50", "100", ">100"], CUADRO_2_RANGES, strict=True))

_OPEN = ">100"
# The municipality whose ages are at hand.
_REAL = "Benalmádena"
_PICKED = "Which of the two rules is taken is told by the printed cell: no rule that we know gives the whole column"
# Bounded cells from reconstructed cells: persons.
_TOLERANCE = 1.0


def cuadro(counts: pd.DataFrame, rows: pd.DataFrame, embedded: bool) -> pd.DataFrame:
    """One of Cuadros 2 to 4, as `kanon_lab.studies.figures.recomputed`."""
    dates = CUADROS[rows["table"].iloc[0]]
    table = _table(counts, dates, embedded)
    blocks = []
    for place, cells in rows.groupby("row", sort=False):
        code = PLACES[place]
        if code not in table.index:
            blocks.append(recomputed(cells, reason=f"not recomputed: the population has no cells for {place}"))
            continue
        block = recomputed(cells, table.loc[code, cells["column"]].to_numpy())
        fitted = embedded and place != _REAL
        if fitted:
            _mark(block, cells, dates, code)
        _judge_open(block, cells, table.at[code, "expected"], "fitted" if fitted else "recomputed")
        blocks.append(block)
    return pd.concat(blocks)


def zero_whatever_the_ages(total: int, periods: int, k_range: KRange) -> bool:
    """Whether a range of k must be printed as 0 in a place of so many inhabitants, however they share out over cells.

    Parameters
    ----------
    total : int
        Inhabitants.
    periods : int
        Periods in an age group.
    k_range : KRange

    Returns
    -------
    bool
        Whether for every k of the range even the worst cell size leaves less than half a person: total times the
        greatest P(Bin(n - 1, 1/N) = k - 1) over n, since the expected persons of a cell are n times it.
    """
    if k_range.k_to is None:
        # Ever larger cells make it ever likelier that k is large.
        return bool(total * binom.sf(k_range.k_from - 2, total - 1, 1 / periods) < 0.5)
    k = np.arange(k_range.k_from, k_range.k_to + 1)
    # P(Bin(m, p) = j) is greatest at m = floor(j / p), as j successes are the likeliest there; or at the end.
    most = np.minimum((k - 1) * periods, total - 1)
    return bool((total * binom.pmf(k - 1, most, 1 / periods)).max() < 0.5)


def _table(counts: pd.DataFrame, dates: str, embedded: bool) -> pd.DataFrame:
    """Ranges (columns as printed, ``total`` and ``expected``, unrounded persons of the open range) by place."""
    here = counts[counts["place"].isin(PLACES.values())]
    if not len(here):
        return pd.DataFrame()
    if embedded:
        real = real_place(BENALMADENA)
        cells = pd.MultiIndex.from_frame(here[["sex", "age_group"]])
        is_real = here["place"] == PLACES[_REAL]
        here = here.assign(persons=np.where(is_real, real.reindex(cells).to_numpy(), here["persons"]).astype(np.int64))
    result = anonymity(here, dates=[dates], ranges=CUADRO_2_RANGES, by="municipality", round_each_k=True, spread=False)
    table = result.pivot(index="place", columns="k_from", values="persons").set_axis(list(COLUMNS), axis=1)
    table["total"] = result.groupby("place")["population"].first()
    plain = anonymity(here, dates=[dates], ranges=[COLUMNS[_OPEN]], by="municipality", spread=False)
    table["expected"] = plain.set_index("place")["persons"]
    if embedded:
        table["total"] = totals().reindex(table.index)
    return table


def _mark(block: pd.DataFrame, cells: pd.DataFrame, dates: str, code: str) -> None:
    """Say what each figure of a place with fitted cells is set against."""
    total = int(totals()[code])
    columns, printed = cells["column"], cells["published"]
    bounded = ~columns.isin([_OPEN, "total"])
    block.loc[bounded, ["tolerance", "kind"]] = [_TOLERANCE, "fitted"]
    rest = max(total - printed[bounded].sum(), 0)
    block.loc[columns == _OPEN, "computed"] = rest
    zero = [
        p == 0 and c in COLUMNS and zero_whatever_the_ages(total, PERIODS[dates], COLUMNS[c])
        for c, p in zip(columns, printed, strict=True)
    ]
    block.loc[zero, ["computed", "tolerance", "kind"]] = [0.0, 0.0, "recomputed"]
    block.loc[zero, "reason"] = f"no ages of {total:,} inhabitants give another figure"


def _judge_open(block: pd.DataFrame, cells: pd.DataFrame, expected: float, kind: str) -> None:
    """The open range: most rows print what the others leave of the total; ten print the expectation, which is 0.

    Which of the two is taken is told by the printed cell itself, row by row: no rule is known that gives all of them.
    """
    index = cells.index[cells["column"] == _OPEN][0]
    rest, printed = block.at[index, "computed"], cells.at[index, "published"]
    bounded = cells.loc[~cells["column"].isin([_OPEN, "total"]), "published"].sum()
    left = cells.loc[cells["column"] == "total", "published"].item() - bounded
    here = "" if left == rest else f", here {left:.0f} and so 0"
    if rest == printed != round(expected):
        block.at[index, "reason"] = (
            f"what the other ranges leave of the total{here}; {expected:,.2f} are expected here. {_PICKED}"
        )
    elif rest != printed == round(expected):
        reason = (
            "the expected persons of this range. Other rows print what the other ranges leave of the total, here "
            f"{rest:.0f}: either is a fair reading. {_PICKED}"
        )
        block.loc[index, ["computed", "reason", "kind"]] = [round(expected), reason, kind]
    elif rest == printed and not block.at[index, "reason"]:
        block.at[index, "reason"] = (
            f"both rules give it: what the other ranges leave of the total{here}, and the expected persons"
        )
