"""Gil Bellosta (2011): the places of Cuadros 2 to 4, facts of them, what was simplified, and how ± was printed.

``ine-2010.csv`` holds the totals of the twenty municipalities of Cuadros 2 to 4 on 1 January 2010 out of INE's list of
the official population of every municipality (pobmun10, CC BY 4.0). Ages are those of the embedded ``malaga-2010`` and
``spain-oldest``. A test compares each with the files.

The half-widths of Cuadro 1 are simulated, and set against their closed form. A half-width from R runs scatters around
the true one in proportion to it, by a constant over the root of R. Out of the scatter of all 27 follow R and the bound
for the noise of each; the study prints neither. It does not say either whether its half-width is 1.96 standard
deviations of the runs or half of what lies between two quantiles, nor how it cut the last digit: `printings` compares
the answers by their likelihood.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pandas as pd
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import binom, chi2, norm, t

from kanon_book.studies.figures import published_figures, read_table
from kanon_lab.data.counts import load_counts
from kanon_lab.data.sets import data_path
from kanon_lab.population import PERIODS, anonymity, persons_by_k
from kanon_lab.population.law import CUADRO_1_RANGES, CUADRO_2_RANGES, KRange

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

#: The printed half-widths have two decimals.
HALF_WIDTH_STEP = 0.01
_LEVEL = 0.95
_TAIL = (1 + _LEVEL) / 2
_Z = norm.ppf(_TAIL)
#: The relative standard error of a half-width, times the root of the number of runs: where it is 1.96 standard
#: deviations; where it is half the distance of the quantiles .025 and .975 (by their asymptotic covariance).
RUNS = {"standard deviation": np.sqrt(1 / 2), "quantiles": np.sqrt((1 - _LEVEL) * _LEVEL / 4) / (norm.pdf(_Z) * _Z)}
#: What the distance of R's default quantiles (its type 7, between order statistics) falls short by on average, times
#: the number of runs: the expected order statistics to the order 1 / runs (David and Nagaraja, Order Statistics).
_INWARD = ((2 * _TAIL - 1) / norm.pdf(_Z) - _TAIL * (1 - _TAIL) * _Z / (2 * norm.pdf(_Z) ** 2)) / _Z
#: Where a printed figure's value may lie: from how far below it to how far above.
PRINTINGS = {"cut": (0.0, HALF_WIDTH_STEP), "rounded": (-HALF_WIDTH_STEP / 2, HALF_WIDTH_STEP / 2)}
# Relative standard errors that are tried: some 20 runs to some 10 million.
_SCATTERS = (2e-4, 0.2)
_FACTORS = (0.9, 1.1)


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
    Of the open range nothing can be said: it may hold what rounding leaves of the total, as Cuadro 2 has 1 for Siero.
    """
    if k_range.k_to is None:
        return False
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


def open_class(counts: pd.DataFrame, date: str) -> pd.DataFrame:
    """Expected persons alone among those over 85 by sex: in the study's ``one`` group, and in the ``four`` of INE."""
    rows, oldest_cells = {}, counts[counts["age_group"] == _LAST_GROUP]
    for sex, persons in oldest().groupby("sex"):
        cells = oldest_cells.loc[oldest_cells["sex"] == sex, "persons"]
        law = np.repeat(persons.to_numpy() / persons.sum(), PERIODS[date]) / PERIODS[date]
        rows[sex] = {"one": _alone(cells, PERIODS[date]), "four": _alone(cells, law)}
    return pd.DataFrame(rows).T


def _change(counts: pd.DataFrame, undone: str, date: str) -> float:
    if undone.startswith("those over 85"):
        split = open_class(counts, date)
        return (split["four"] - split["one"]).sum()
    if undone.startswith("a fifth fewer"):
        weights = np.where(np.arange(PERIODS["day"]) % 7 >= 5, _WEEKEND, 1.0)
    else:
        weights = _MONTHS if date == "month" else _MONTHS.reshape(5, 12).sum(axis=1)
    return _alone(counts["persons"], weights / weights.sum()) - _alone(counts["persons"], PERIODS[date])


def _alone(cells: pd.Series, law: int | np.ndarray) -> float:
    """Expected persons alone in cells of so many persons."""
    sizes, times = np.unique(cells, return_counts=True)
    return float(times @ persons_by_k(sizes, law, 1)[:, 0])


def half_widths(counts: pd.DataFrame | None = None) -> pd.DataFrame:
    """The half-widths of Cuadro 1, printed and in closed form, from a counts frame of the nation.

    By default that is the embedded ``spain-2010``, fitted to the percentages of Cuadro 1, not to its half-widths. Index
    ``dates`` and ``k`` (as printed: ``6-10``, ``>50``), 27 rows: ``printed`` and ``computed`` (ten thousand persons),
    ``cut`` and ``rounded`` (whether ours, cut or rounded to two decimals, is the printed one), ``noise`` (how far a
    simulated one may lie from ours, by the others' scatter; the chance that any of the 27 lies farther is 5 per cent)
    and ``off`` (how far ours lies outside of what was cut to the printed figure; 0 inside).
    """
    nation = anonymity(load_counts("spain-2010") if counts is None else counts, dates=PERIODS, ranges=CUADRO_1_RANGES)
    return compare_half_widths(nation)


def compare_half_widths(nation: pd.DataFrame) -> pd.DataFrame:
    """`half_widths` of a frame that `anonymity` gave for the nation in the ranges of Cuadro 1."""
    figures = published_figures("gil-bellosta-2011")
    figures = figures[figures["column"].str.endswith("±")]
    printed = {(c.split(" ")[0], r): p for c, r, p in zip(figures["column"], figures["row"], figures["published"])}
    rows = [(d, printed_range(a, b)) for d, a, b in zip(nation["dates"], nation["k_from"], nation["k_to"], strict=True)]
    frame = pd.DataFrame({"printed": [printed[row] for row in rows], "computed": nation["half_width"].to_numpy() / 1e4})
    frame.index = pd.MultiIndex.from_tuples(rows, names=["dates", "k"])
    above = frame["computed"] - frame["printed"]
    for name, (low, high) in PRINTINGS.items():
        frame[name] = (above >= low - 1e-9) & (above < high + (1e-9 if low else -1e-9))
    frame["noise"] = frame["computed"] * [_bound(frame.drop(index=row)) for row in frame.index]
    low, high = (frame["printed"] + end for end in PRINTINGS["cut"])
    frame["off"] = np.maximum(np.maximum(low - frame["computed"], frame["computed"] - high), 0)
    return frame


def printings(widths: pd.DataFrame) -> pd.DataFrame:
    """How likely each way to print makes the printed half-widths (as `half_widths`), and how many runs it says.

    Index ``printing``: ``cut``; ``rounded``; and ``rounded, all of them too small by one factor``, which is free.
    ``factor``; ``equal`` (of the 27, those equal as printed); ``bias`` (mean relative excess of the middle of what the
    printed figure stands for over ours, less the factor); ``log_likelihood``; ``likelihood`` (that of ``rounded`` is
    1); ``likelihood, quantiles`` (were a half-width half the distance of R's default quantiles, which lie too far
    inward by a share that falls with the number of runs: that favours rounding); ``scatter`` (relative standard error
    of a half-width); and for either way to take a half-width from the runs (keys of `RUNS`) ``runs, standard
    deviation`` and so on, with its 95 % interval by likelihood ``..., low`` and ``..., high``.

    The half-widths are taken as independent and normal. Those of one date come from the same runs, but two ranges of k
    whose counts have the correlation r have half-widths with the correlation r squared, which is small.
    """
    # The factor that makes rounding most likely.
    likeliest = minimize_scalar(
        lambda factor: -_scatter(widths, "rounded", factor)[1], bounds=_FACTORS, method="bounded"
    )
    rows = {
        "cut": _printing(widths, "cut", 1.0),
        "rounded": _printing(widths, "rounded", 1.0),
        "rounded, all of them too small by one factor": _printing(widths, "rounded", float(likeliest.x)),
    }
    frame = pd.DataFrame(rows).T.rename_axis("printing")
    by_quantiles = frame.pop("log_likelihood, quantiles")
    for name, logs in {"likelihood": frame["log_likelihood"], "likelihood, quantiles": by_quantiles}.items():
        frame[name] = np.exp((logs - logs["rounded"]).astype(float))
    return frame.astype({"equal": int})


def confidence_level(widths: pd.DataFrame) -> float:
    """The level of confidence that the printed half-widths have on average, 0-1, if they were cut."""
    ratio = (widths["printed"] + np.mean(PRINTINGS["cut"])) / widths["computed"]
    return float(2 * norm.cdf(ratio.mean() * _Z) - 1)


def printed_range(k_from: int, k_to: int | None) -> str:
    """A range of k as Cuadro 1 prints it."""
    if pd.isna(k_to):
        return f">{k_from - 1}"
    return str(k_from) if k_to == k_from else f"{k_from}-{k_to}"


def _printing(widths: pd.DataFrame, printing: str, factor: float) -> dict[str, float]:
    low, high = PRINTINGS[printing]
    scaled = widths["computed"] * factor
    above = scaled - widths["printed"]
    scatter, best = _scatter(widths, printing, factor)
    # The scatters that are not much less likely than the best one.
    tried = np.geomspace(*_SCATTERS, 1000)
    drop = chi2.ppf(_LEVEL, 1) / 2
    inside = tried[[_log_likelihood(widths, printing, factor, s) > best - drop for s in tried]]
    row = {
        "factor": factor,
        "equal": int(((above >= low) & (above < high)).sum()),
        "bias": float(((widths["printed"] + (low + high) / 2) / scaled - 1).mean()),
        "log_likelihood": best,
        "log_likelihood, quantiles": _scatter(widths, printing, factor, _INWARD)[1],
        "scatter": scatter,
    }
    for how, constant in RUNS.items():
        row[f"runs, {how}"] = (constant / scatter) ** 2
        row[f"runs, {how}, low"] = (constant / inside[-1]) ** 2
        row[f"runs, {how}, high"] = (constant / inside[0]) ** 2
    return row


def _bound(widths: pd.DataFrame) -> float:
    """How far, relative to the true one, a further half-width may lie: the chance for any of so many is 5 per cent."""
    figures = len(widths) + 1
    level = _LEVEL ** (1 / figures)
    # Student's t, since the scatter is itself estimated, from the others.
    return float(t.ppf((1 + level) / 2, len(widths)) * _scatter(widths, "cut", 1.0)[0])


def _scatter(widths: pd.DataFrame, printing: str, factor: float, inward: float = 0.0) -> tuple[float, float]:
    """The most likely relative standard error, and its log likelihood; `inward` as `_INWARD`."""

    def short(scatter: float) -> float:
        return 1 - inward * (scatter / RUNS["quantiles"]) ** 2

    best = minimize_scalar(
        lambda log: -_log_likelihood(widths, printing, factor * short(np.exp(log)), np.exp(log)),
        bounds=np.log(_SCATTERS),
        method="bounded",
    )
    return float(np.exp(best.x)), -float(best.fun)


def _log_likelihood(widths: pd.DataFrame, printing: str, factor: float, scatter: float) -> float:
    low, high = PRINTINGS[printing]
    mean = (widths["computed"] * factor).to_numpy()
    ends = (widths["printed"].to_numpy() + np.array([[low], [high]]) - mean) / (scatter * mean)
    # In the lower tail, where small chances keep their digits.
    low, high = np.where(ends[0] > 0, -ends[::-1], ends)
    chances = norm.cdf(high) - norm.cdf(low)
    return float(np.log(np.maximum(chances, 1e-300)).sum())
