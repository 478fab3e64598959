"""Anonymity of places: the law of one cell summed over cells, and the data of its charts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from scipy import sparse

from kanon_lab.arguments import check_frame
from kanon_lab.data.labels import MOST_PERSONS, lowest_age
from kanon_lab.data.sets import PROVINCES
from kanon_lab.errors import OptionError
from kanon_lab.population.exact import place_intervals
from kanon_lab.population.law import (
    CUADRO_1_RANGES,
    PERIODS,
    BirthLaw,
    KRange,
    as_ranges,
    likely_births,
    persons_by_k,
    persons_in_ranges,
    variance_in_ranges,
)
from kanon_lab.population.occupancy import expected_keys, occupied_keys

#: Half-width of a 95% interval in standard deviations, by the normal approximation: good where many persons are
#: expected. With a handful the interval covers less (89-93% seen) and its lower end may be negative.
Z_95 = 1.959963984540054

LEVELS = ("all", "province", "municipality")

_COLUMNS = "place name population dates periods k_from k_to persons share sd half_width".split()
_BLOCK = 4_000_000
#: Probabilities that rounding may take: about a minute.
_MOST_ROUNDED = 3 * 10**8


class Places:
    """Places (``place``, ``name``, ``population``), the distinct cell sizes, how many cells of each a place has."""

    def __init__(self, counts: pd.DataFrame, by: str):
        codes, self.frame = place_codes(counts, by)
        persons = counts["persons"].to_numpy()
        self.sizes, size_index = np.unique(persons, return_inverse=True)
        shape = (len(self.frame), self.sizes.size)
        self.cells = sparse.coo_array((np.ones(persons.size), (codes, size_index)), shape=shape).tocsr()
        self.frame["population"] = np.bincount(codes, weights=persons, minlength=shape[0]).astype(np.int64)


def anonymity(
    counts: pd.DataFrame,
    *,
    dates: Iterable[str] | Mapping[str, int | Sequence[float]] = PERIODS,
    ranges: str | Iterable[KRange] = CUADRO_1_RANGES,
    by: str = "all",
    round_each_k: bool = False,
    spread: bool = True,
    exact: bool = False,
) -> pd.DataFrame:
    """Expected number of persons per range of k, with the exact spread that birth dates give it.

    Formula (1) and Cuadros 1-4 of Gil Bellosta (2011).

    Parameters
    ----------
    counts : DataFrame
        A counts frame (`kanon_lab.load_counts`): one row per cell, with ``place``, ``name``, ``province`` and
        ``persons``.
    dates : names out of ``day``, ``month``, ``year``; or mapping of name to periods
        How much of the date of birth is known. A mapping gives the number of equally likely periods in an age group,
        or the vector of their birth probabilities.
    ranges : str or iterable of KRange
        Ranges of k such as ``"1,2-5,6+"``.
    by : {"all", "province", "municipality"}
        What to add cells up to.
    round_each_k : bool
        Round the expected persons of every single k to a whole number first, then add up, as Cuadros 2-4 were made.
        An open range is then what is left of the population, never below 0.
    spread : bool
        Compute ``sd`` and ``half_width``; otherwise they are missing. With many distinct birth probabilities they take
        far longer than the expectation (see `variance_in_ranges`).
    exact : bool
        Add central 95 % intervals from the exact distribution; not with `round_each_k` or without `spread`.

    Returns
    -------
    DataFrame
        One row per place, date and range: ``place``, ``name``, ``population`` (persons), ``dates``, ``periods``,
        ``k_from``, ``k_to`` (missing where open), ``persons``, ``share`` (0-1 of the population, missing where it is
        0), ``sd`` (exact) and ``half_width`` (1.96 sd: a 95 % interval by the normal approximation, poor where only a
        handful of persons is expected), in persons. With `exact` also ``lower`` and ``upper``, whole persons: below and
        above lies at most 2.5% of the exact distribution; and ``interval``, ``exact`` or ``normal``. It is exact
        where sd is below 30 times the last k of the range (of an open one, the k before its first), so that luck is a
        matter of few groups, and where it is quick (5 million terms); else half_width on either side, rounded outwards.
        The spread covers the birth dates only, given the counts: not errors of the counts, nor of the assumption that
        births are spread as stated.

    Examples
    --------
    >>> spain = kanon_lab.load_counts("spain-2010")
    >>> found = kanon_lab.population.anonymity(spain, dates=["day"], ranges="1,2+", spread=False)
    >>> found["share"].round(4).tolist()
    [0.4236, 0.5764]
    """
    if exact and (round_each_k or not spread):
        raise OptionError("exact: intervals need the spread, and are for numbers that are not rounded k by k")
    ranges, laws = as_ranges(ranges), birth_laws(dates)
    places = Places(counts, by)
    if round_each_k:
        of_laws = [_rounded_persons(places, law, ranges) for law in laws.values()]
    else:
        of_laws = [places.cells @ persons_in_ranges(places.sizes, law, ranges) for law in laws.values()]
    persons = np.stack(of_laws, axis=1)
    sd = np.full(persons.shape, np.nan)
    if spread:
        variance = [places.cells @ variance_in_ranges(places.sizes, law, ranges) for law in laws.values()]
        sd = np.sqrt(np.stack(variance, axis=1))
    tidy = places.frame.merge(rows_of(laws, ranges), how="cross").assign(persons=persons.ravel())
    share = tidy["persons"] / tidy["population"].where(tidy["population"] > 0)
    tidy = tidy.assign(share=share, sd=sd.ravel(), half_width=Z_95 * sd.ravel())[_COLUMNS]
    return _with_intervals(tidy, places, laws, ranges, persons, sd) if exact else tidy


def _with_intervals(
    tidy: pd.DataFrame,
    places: Places,
    laws: Mapping[str, BirthLaw],
    ranges: Sequence[KRange],
    persons: np.ndarray,
    sd: np.ndarray,
) -> pd.DataFrame:
    """With the columns ``lower``, ``upper`` and ``interval``."""
    rows = [places.cells[[place]] for place in range(len(places.frame))]
    cells = [(places.sizes[row.indices], row.data) for row in rows]
    parts = [
        place_intervals(cells, law, ranges, persons[:, i], sd[:, i], Z_95 * sd[:, i])
        for i, law in enumerate(laws.values())
    ]
    low, high, is_exact = (np.stack(part, axis=1).ravel() for part in zip(*parts, strict=True))
    return tidy.assign(lower=low, upper=high, interval=np.where(is_exact, "exact", "normal"))


def correctness(
    counts: pd.DataFrame,
    *,
    dates: Iterable[str] | Mapping[str, int | Sequence[float]] = PERIODS,
    by: str = "all",
) -> pd.DataFrame:
    """The share of persons whom an intruder names rightly who guesses each person by their key.

    Of k persons who share a key, a guess at random gets one right on average. So the expected share of right guesses,
    the correctness of Rocher, Hendrickx and de Montjoye (2025, Nature Communications 16, 347), is the number of keys
    that somebody has, divided by the persons. Its mean and its spread are exact here.

    Parameters
    ----------
    counts, dates, by
        As in `anonymity`.

    Returns
    -------
    DataFrame
        One row per place and date: ``place``, ``name``, ``population`` (persons), ``dates``, ``periods``, ``keys``
        (expected number that somebody has), ``correctness`` (0-1; missing without persons), ``sd`` and ``half_width``
        (1.96 sd) of the correctness. The spread covers the birth dates only, given the counts, and not the luck of the
        guesses.

    Examples
    --------
    >>> spain = kanon_lab.load_counts("spain-2010")
    >>> guessed = kanon_lab.population.correctness(spain)
    >>> guessed[["dates", "correctness"]].round(5).values.tolist()
    [['day', 0.56835], ['month', 0.13847], ['year', 0.02425]]
    """
    places, laws = Places(counts, by), birth_laws(dates)
    persons, rows = places.frame["population"].where(places.frame["population"] > 0), []
    for name, law in laws.items():
        occupied, variance = occupied_keys(places.sizes, law)
        sd = np.sqrt(places.cells @ variance) / persons
        keys = places.cells @ occupied
        spread = {"correctness": keys / persons, "sd": sd, "half_width": Z_95 * sd}
        rows.append(places.frame.assign(dates=name, periods=law.periods, keys=keys, **spread))
    return pd.concat(rows).sort_index(kind="stable", ignore_index=True)


def rows_of(laws: Mapping[str, BirthLaw], ranges: Sequence[KRange]) -> pd.DataFrame:
    """One row a law and range: ``dates``, ``periods``, ``k_from``, and ``k_to`` (missing where open)."""
    rows = [(name, law.periods, r.k_from, r.k_to) for name, law in laws.items() for r in ranges]
    return pd.DataFrame(rows, columns=["dates", "periods", "k_from", "k_to"]).astype({"k_to": "Int64"})


def birth_laws(dates: Iterable[str] | Mapping[str, int | Sequence[float]]) -> dict[str, BirthLaw]:
    """The law of each date granularity, by its name: known names, or a mapping of name to periods."""
    dates = (dates,) if isinstance(dates, str) else dates if isinstance(dates, Iterable) else ()
    if not isinstance(dates, Mapping):
        unknown = [d for d in dates if d not in PERIODS]
        if unknown:
            raise OptionError(f"dates must be out of {', '.join(PERIODS)}, not {unknown[0]!r}")
        dates = {d: PERIODS[d] for d in dates}
    if not dates:
        raise OptionError(f"no dates were given: choose one of {', '.join(PERIODS)}")
    return {name: BirthLaw.of(periods) for name, periods in dates.items()}


def place_codes(counts: pd.DataFrame, by: str) -> tuple[np.ndarray, pd.DataFrame]:
    """The place number of each cell, and the places in order of first appearance."""
    if by not in LEVELS:
        raise OptionError(f"by must be one of {', '.join(LEVELS)}, not {by!r}")
    _check(counts)
    if by == "all":
        return np.zeros(len(counts), dtype=np.intp), pd.DataFrame({"place": ["all"], "name": ["All places"]})
    if by == "province" and (counts["province"] == "").any():
        raise OptionError("by province: some places have no five-digit INE code; give the counts a column province")
    codes, labels = pd.factorize(counts["place" if by == "municipality" else "province"])
    frame = pd.DataFrame({"place": labels.astype(str)})
    if by == "province":
        frame["name"] = [PROVINCES.get(code, code) for code in frame["place"]]
    else:
        frame["name"] = counts["name"].to_numpy()[np.unique(codes, return_index=True)[1]]
    return codes, frame


def _check(counts: pd.DataFrame) -> None:
    """Refuse what no reader returns; `kanon_lab.data.check_counts` makes a sound frame of other ones."""
    check_frame(counts)
    absent = [column for column in ("place", "name", "province", "persons") if column not in counts]
    if absent:
        raise OptionError(f"the population has no column {absent[0]}: see kanon_lab.data.check_counts")
    if counts.empty:
        raise OptionError("the population has no cells: nothing to measure")
    persons = counts["persons"]
    whole = pd.api.types.is_integer_dtype(persons.dtype) and not persons.isna().any()
    if not whole or persons.min() < 0 or persons.max() > MOST_PERSONS:
        raise OptionError(
            "persons must be whole numbers, none missing, negative or above 10^10: see kanon_lab.data.check_counts"
        )
    if counts[["place", "province"]].isna().any(axis=None):
        raise OptionError("some cells have no place or province: see kanon_lab.data.check_counts")


def _rounded_persons(places: Places, law: BirthLaw, ranges: Sequence[KRange]) -> np.ndarray:
    """Expected persons per place and range, each k rounded first (half to even, as R rounds)."""
    k_last = max(r.k_from - 1 if r.k_to is None else r.k_to for r in ranges)
    # Beyond this k the largest cell has no chance worth rounding.
    k_last = min(k_last, likely_births(int(places.sizes[-1]), float(law.probability.max())) + 1)
    if k_last * places.sizes.size > _MOST_ROUNDED:
        raise OptionError(f"rounding each k up to {k_last:,} is too much work: end the ranges at a smaller k")
    persons = np.zeros((len(places.frame), len(ranges)))
    step = max(1, _BLOCK // max(places.sizes.size, len(places.frame)))
    for start in range(1, k_last + 1, step):
        k = np.arange(start, min(start + step, k_last + 1))
        by_k = np.rint(places.cells @ persons_by_k(places.sizes, law, k[-1], k[0]))
        for column, r in enumerate(ranges):
            # An open range collects what lies before it, to be taken from the population below.
            inside = k < r.k_from if r.k_to is None else (k >= r.k_from) & (k <= r.k_to)
            persons[:, column] += by_k[:, inside].sum(axis=1)
    for column, r in enumerate(ranges):
        if r.k_to is None:
            persons[:, column] = np.maximum(places.frame["population"] - persons[:, column], 0)
    return persons


#: Columns of a grid before its columns 1, ..., k_max.
GRID_COLUMNS = ["level", "place", "name", "population", "dates", "keys"]

# Cells in which Figura 1 is thinned: 20 steps per factor of ten in population, 2 percentage points in share.
_STEPS_PER_DECADE = 20
_SHARE_STEP = 0.02


def explorer_grid(
    counts: pd.DataFrame,
    *,
    municipalities: Iterable[str] = (),
    dates: Iterable[str] = tuple(PERIODS),
    k_max: int = 100,
    whole: str = "Spain",
) -> pd.DataFrame:
    """Expected share (0-1) of persons who share place, sex and date of birth with k or fewer, themselves included.

    One row per place with persons and date: ``level`` ("whole", by the name `whole`; "province", by name;
    "municipality", those asked for by code), ``place`` ("all" for the whole), ``name``, ``population``, ``dates``,
    ``keys`` (expected number that somebody has), and the share for k from 1 to k_max in the columns 1, ..., k_max.
    """
    dates = tuple(dates)
    provinces = expected_by_k(counts, dates=dates, k_max=k_max, by="province").assign(level="province")
    # Expectations add up, so the whole costs nothing more.
    whole_frame = provinces.drop(columns=["level", "place", "name"]).groupby("dates", sort=False, as_index=False).sum()
    levels = [whole_frame.assign(level="whole", place="all", name=whole), provinces.sort_values("name", kind="stable")]
    levels = [_cumulative_shares(pd.concat(levels, ignore_index=True))]
    for code in municipalities:
        here = counts[counts["place"] == code]
        if here.empty:
            raise OptionError(f"no municipality of the population has the code {code!r}")
        levels.append(municipality_grid(here, dates=dates, k_max=k_max))
    return pd.concat(levels, ignore_index=True)


def municipality_grid(counts: pd.DataFrame, *, dates: Iterable[str] = tuple(PERIODS), k_max: int = 100) -> pd.DataFrame:
    """The rows of `explorer_grid` for one municipality, from its own cells alone; none where it has no persons."""
    if counts["place"].nunique() != 1:
        raise OptionError("give the rows of exactly one municipality")
    expected = expected_by_k(counts, dates=dates, k_max=k_max, by="municipality")
    return _cumulative_shares(expected.assign(level="municipality"))


def shares_at_k(grid: pd.DataFrame, k: int) -> pd.DataFrame:
    """By row of a grid the shares (0-1) of persons in groups of ``exactly`` k, ``up_to`` k and ``more``, and the
    ``correctness``: the share of right guesses by the key.
    """
    if k not in grid.columns:
        raise OptionError(f"the grid has no k = {k!r}")
    up_to = grid[k]
    exactly = up_to - grid[k - 1] if k > 1 else up_to
    shares = {"exactly": exactly, "up_to": up_to, "more": 1 - up_to, "correctness": grid["keys"] / grid["population"]}
    return grid[["place", "dates", "population"]].assign(**shares)


def expected_by_k(
    counts: pd.DataFrame,
    *,
    dates: Iterable[str] | Mapping[str, int | Sequence[float]] = PERIODS,
    k_max: int = 100,
    by: str = "all",
) -> pd.DataFrame:
    """Expected persons at exactly k = 1, ..., k_max (columns), and ``keys`` that somebody has, by place and dates."""
    if k_max < 1:
        raise OptionError(f"k_max must be 1 or more, not {k_max}")
    places = Places(counts, by)
    blocks = []
    for name, law in birth_laws(dates).items():
        by_k = pd.DataFrame(places.cells @ persons_by_k(places.sizes, law, k_max), columns=range(1, k_max + 1))
        keys = places.cells @ expected_keys(places.sizes, law)
        blocks.append(pd.concat([places.frame.assign(dates=name, keys=keys), by_k], axis=1))
    return pd.concat(blocks, ignore_index=True)


def _cumulative_shares(expected: pd.DataFrame) -> pd.DataFrame:
    inhabited = expected[expected["population"] > 0].reset_index(drop=True)
    persons = inhabited.drop(columns=GRID_COLUMNS).cumsum(axis=1)
    # Rounding in the last place must not make a share of 1.0000000000000002.
    shares = persons.div(inhabited["population"], axis=0).clip(upper=1.0)
    return pd.concat([inhabited[GRID_COLUMNS], shares], axis=1)


def thin_places(frame: pd.DataFrame) -> pd.DataFrame:
    """Municipalities by population and share, merged where their points would overlap in a chart.

    The frame is that of `anonymity` with one range of k. One row per date and occupied cell, 20 cells per factor of ten
    in population by 2 percentage points in share: ``dates``, ``municipalities`` (how many), ``population_from``,
    ``population_to``, ``population`` (their geometric mean) and ``share`` (their mean, 0-1).
    """
    inhabited = frame[frame["population"] > 0]
    log_population = np.log10(inhabited["population"])
    cells = inhabited.assign(
        log_population=log_population,
        column=np.floor(log_population * _STEPS_PER_DECADE),
        row=np.floor(inhabited["share"] / _SHARE_STEP),
    )
    thin = cells.groupby(["dates", "column", "row"], sort=False, as_index=False).agg(
        municipalities=("population", "size"),
        population_from=("population", "min"),
        population_to=("population", "max"),
        population=("log_population", "mean"),
        share=("share", "mean"),
    )
    return thin.assign(population=10 ** thin["population"]).drop(columns=["column", "row"])


def alone_by_cell_size(sizes: Iterable[int], *, dates: Iterable[str] = tuple(PERIODS)) -> pd.DataFrame:
    """By date and size n of a cell the ``probability`` that a person is the only one born in a period.

    It is (1 - 1/N)^(n - 1) for N equally likely ``periods``.
    """
    n = np.asarray(list(sizes), dtype=np.int64)
    if (n < 1).any():
        raise OptionError("a cell with somebody in it holds 1 person or more")
    blocks = []
    for name, law in birth_laws(dates).items():
        probability = persons_in_ranges(n, law, [KRange(1, 1)])[:, 0] / n
        blocks.append(pd.DataFrame({"dates": name, "periods": law.periods, "n": n, "probability": probability}))
    return pd.concat(blocks, ignore_index=True)


def alone_by_age(
    counts: pd.DataFrame, *, dates: Iterable[str] | Mapping[str, int | Sequence[float]] = tuple(PERIODS)
) -> pd.DataFrame:
    """Expected ``persons`` who are alone and their ``share`` (0-1; missing where nobody has that age), by age and date.

    Of a counts frame with ``age_group``, whose open group counts as five years wide; youngest first.
    """
    if "age_group" not in counts:
        raise OptionError("the population has no column age_group: see kanon_lab.data.check_counts")
    groups = sorted(counts["age_group"].unique(), key=lowest_age)
    parts = [
        anonymity(counts[counts["age_group"] == group], dates=dates, ranges="1", spread=False).assign(age_group=group)
        for group in groups
    ]
    return pd.concat(parts, ignore_index=True)[["age_group", "population", "dates", "persons", "share"]]
