"""Gil Bellosta (2011): the places of Cuadros 2 to 4, what is known of them from elsewhere, and what was simplified.

``ine-2010.csv`` holds the totals of the twenty municipalities of Cuadros 2 to 4 on 1 January 2010 out of INE's list of
the official population of every municipality (pobmun10, CC BY 4.0). Ages are those of the embedded ``malaga-2010`` and
``spain-oldest``. A test compares each with the files.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.stats import binom

from kanon_lab.data.counts import load_counts
from kanon_lab.data.sets import data_path
from kanon_lab.population import PERIODS, anonymity, persons_by_k
from kanon_lab.population.law import CUADRO_2_RANGES, KRange
from kanon_lab.studies.figures import read_table

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
#: Code of Benalmádena, the only place of Cuadros 2 to 4 whose real ages are at hand.
BENALMADENA = "29025"
#: What is undone, by the date known.
UNDONE = {
    "those over 85 have their real ages": ("day", "month", "year"),
    "a fifth fewer births on Saturdays and Sundays": ("day",),
    "months have their real lengths": ("month",),
    "years have their real lengths": ("year",),
}
_LAST_GROUP = "85+"
_WEEKEND = 0.8
# One leap day in five years, as in the study's 1,826 days.
_MONTHS = np.array([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] * 5) + (np.arange(60) == 1)

# Ceuta and Melilla, which INE lists among the municipalities.
_AUTONOMOUS_CITIES = ("51", "52")
_CELL = ["sex", "age_group"]
# In the tables of `spain-oldest`.
_YEAR = 2010
# A smaller place has too few persons in a cell for its ages to be those of any town.
_LEAST = 1000


def totals() -> pd.Series:
    """Inhabitants of the twenty municipalities in INE's list, by their code."""
    return read_table("ine-2010.csv", persons="int64").set_index("place")["persons"]


def oldest() -> pd.Series:
    """Persons of the nation by sex and age group from 85 on."""
    years = pd.read_csv(data_path("spain-oldest"))
    return years[years["year"] == _YEAR].set_index(_CELL)["persons"]


@lru_cache
def _malaga(pool_from: int | None) -> pd.DataFrame:
    return load_counts("malaga-2010", pool_from=pool_from)


def real_place(code: str, pool_from: int | None = 85) -> pd.Series:
    """Persons of a municipality of Málaga by sex and age group, those of `pool_from` and over in one."""
    counts = _malaga(pool_from)
    return counts[counts["place"] == code].set_index(_CELL)["persons"]


def national_cells() -> np.ndarray:
    """Persons of the nation in each cell of sex and age group, 85 and over in one."""
    return pd.read_csv(data_path("spain-2010-pyramid"))["persons"].to_numpy()


def real_places(least: int = _LEAST) -> dict[str, np.ndarray]:
    """Persons in each cell of sex and age group, 85 and over in one, of every place of Málaga with so many or more."""
    places = _malaga(85).groupby("name")["persons"]
    return {name: cells.to_numpy() for name, cells in places if cells.sum() >= least}


def population() -> int:
    """Inhabitants of the nation."""
    return int(national_cells().sum())


def municipalities() -> tuple[int, int]:
    """Municipalities in INE's list: all of them, and without Ceuta and Melilla."""
    classes = pd.read_csv(data_path("spain-2010-municipalities"), dtype={"province": str})
    without = classes[~classes["province"].isin(_AUTONOMOUS_CITIES)]
    return int(classes["municipalities"].sum()), int(without["municipalities"].sum())


def crossing(national: np.ndarray, share: float, periods: int = PERIODS["day"]) -> float:
    """The inhabitants at which a municipality with these national cells has a share (0-1) of persons who are alone.

    Cells are taken as fractions of the size: the law is continued between whole numbers.
    """
    bounds = np.log(100), np.log(1e8)
    return float(np.exp(brentq(lambda size: share_alone(national, np.exp(size), periods) - share, *bounds)))


def share_alone(cells: np.ndarray, size: float, periods: int) -> float:
    """The share of persons alone in a place of this size with the ages of these cells."""
    n = cells[cells > 0] / cells.sum() * size
    # n (1 - 1/N)^(n - 1), formula (1) at k = 1, holds for any n.
    return float(np.sum(n * np.exp((n - 1) * np.log1p(-1 / periods))) / n.sum())


def always_zero(total: int, periods: int, k_range: KRange) -> bool:
    """Whether a range of k is printed as 0 in a place of `total` inhabitants, however they share out over cells.

    It is where for every k of the range even the worst cell size leaves less than half a person: total times the
    greatest P(Bin(n - 1, 1/N) = k - 1) over n, since the expected persons of a cell are n times it (N: `periods`).
    """
    if k_range.k_to is None:
        # Ever larger cells make it ever likelier that k is large.
        return bool(total * binom.sf(k_range.k_from - 2, total - 1, 1 / periods) < 0.5)
    k = np.arange(k_range.k_from, k_range.k_to + 1)
    # P(Bin(m, p) = j) is greatest at m = floor(j / p), as j successes are the likeliest there; or at the end.
    most = np.minimum((k - 1) * periods, total - 1)
    return bool((total * binom.pmf(k - 1, most, 1 / periods)).max() < 0.5)


def assumptions(counts: pd.DataFrame | None = None, alone: pd.DataFrame | None = None) -> pd.DataFrame:
    """How many persons more or fewer are alone when one of the study's simplifications is undone.

    The last age group of `counts` (by default the embedded ``spain-2010``) is ``85+``; `alone` is what `anonymity`
    gives for them at k = 1 for all dates, under its ``dates``. Index ``undone`` and ``dates`` (`UNDONE`); ``persons``
    (alone with the simplification), ``change`` (persons more without it), ``half_width`` (of the 95 per cent interval
    of the first) and ``half_widths`` (the change in those).

    INE counts the nation's persons of 85 and over in groups of five years up to 100 and over. Within each sex, every
    person of a cell 85+ falls in one of these groups with the nation's share of it, and within it on any date: the law
    of unequal birth probabilities with as many periods more.
    """
    counts = load_counts("spain-2010") if counts is None else counts
    alone = anonymity(counts, dates=PERIODS, ranges="1").set_index("dates") if alone is None else alone
    keys = pd.MultiIndex.from_tuples([(undone, date) for undone in UNDONE for date in UNDONE[undone]])
    frame = alone.loc[keys.get_level_values(1), ["persons", "half_width"]].set_axis(keys.rename(["undone", "dates"]))
    frame.insert(1, "change", [_change(counts, *key) for key in keys])
    return frame.assign(half_widths=frame["change"] / frame["half_width"])


def _change(counts: pd.DataFrame, undone: str, date: str) -> float:
    if undone.startswith("those over 85"):
        is_open = counts["age_group"] == _LAST_GROUP
        changes = []
        for sex, persons in oldest().groupby("sex"):
            cells = counts.loc[is_open & (counts["sex"] == sex), "persons"]
            shares = persons.to_numpy() / persons.sum()
            law = np.repeat(shares, PERIODS[date]) / PERIODS[date]
            changes.append(_alone(cells, law) - _alone(cells, PERIODS[date]))
        return sum(changes)
    if undone.startswith("a fifth fewer"):
        weights = np.where(np.arange(PERIODS["day"]) % 7 >= 5, _WEEKEND, 1.0)
    else:
        weights = _MONTHS if date == "month" else _MONTHS.reshape(5, 12).sum(axis=1)
    return _alone(counts["persons"], weights / weights.sum()) - _alone(counts["persons"], PERIODS[date])


def _alone(cells: pd.Series, law: int | np.ndarray) -> float:
    """Expected persons alone in cells of so many persons."""
    sizes, times = np.unique(cells, return_counts=True)
    return float(times @ persons_by_k(sizes, law, 1)[:, 0])
