"""Expected anonymity of places: the law of one cell added up over cells, as one tidy frame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import sparse

from kanon_lab.data.checks import MOST_PERSONS
from kanon_lab.data.provinces import PROVINCES
from kanon_lab.errors import OptionError
from kanon_lab.population.law import (
    PERIODS,
    BirthLaw,
    likely_births,
    persons_by_k,
    persons_in_ranges,
    variance_in_ranges,
)
from kanon_lab.population.ranges import CUADRO_1_RANGES, KRange, as_ranges

#: Half-width of a 95 % interval in standard deviations: the normal approximation, which is good where many persons are
#: expected; where a handful is, the interval covers less (89-93 % seen) and its lower end may be negative.
Z_95 = 1.959963984540054

LEVELS = ("all", "province", "municipality")

_COLUMNS = "place name population dates periods k_from k_to persons share sd half_width".split()
_BLOCK = 4_000_000
#: Probabilities that rounding may take: about a minute.
_MOST_ROUNDED = 3 * 10**8


@dataclass(frozen=True)
class Places:
    """Places (``place``, ``name``, ``population``), the distinct cell sizes, how many cells of each a place has."""

    frame: pd.DataFrame
    sizes: np.ndarray
    cells: sparse.csr_array

    @classmethod
    def of(cls, counts: pd.DataFrame, by: str) -> Places:
        """Group a counts frame by ``all``, ``province`` or ``municipality``."""
        codes, frame = place_codes(counts, by)
        persons = counts["persons"].to_numpy()
        sizes, size_index = np.unique(persons, return_inverse=True)
        shape = (len(frame), sizes.size)
        cells = sparse.coo_array((np.ones(persons.size), (codes, size_index)), shape=shape).tocsr()
        frame["population"] = np.bincount(codes, weights=persons, minlength=len(frame)).astype(np.int64)
        return cls(frame, sizes, cells)


def anonymity(
    counts: pd.DataFrame,
    *,
    dates: Iterable[str] | Mapping[str, int | Sequence[float]] = PERIODS,
    ranges: str | Iterable[KRange] = CUADRO_1_RANGES,
    by: str = "all",
    round_each_k: bool = False,
    spread: bool = True,
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

    Returns
    -------
    DataFrame
        One row per place, date and range: ``place``, ``name``, ``population`` (persons), ``dates``, ``periods``,
        ``k_from``, ``k_to`` (missing where open), ``persons``, ``share`` (0-1 of the population, missing where it is
        0), ``sd`` (exact) and ``half_width`` (1.96 sd: a 95 % interval by the normal approximation, poor where only a
        handful of persons is expected), in persons. The spread covers the birth dates only, given the counts: not
        errors of the counts, nor of the assumption that births are spread as stated.

    Examples
    --------
    >>> import kanon_lab
    >>> spain = kanon_lab.load_counts("spain-2010")
    >>> found = kanon_lab.population.anonymity(spain, dates=["day"], ranges="1,2+", spread=False)
    >>> found["share"].round(4).tolist()
    [0.4236, 0.5764]
    """
    ranges, laws = as_ranges(ranges), birth_laws(dates)
    places = Places.of(counts, by)
    blocks = []
    for name, law in laws.items():
        if round_each_k:
            persons = _rounded_persons(places, law, ranges)
        else:
            persons = places.cells @ persons_in_ranges(places.sizes, law, ranges)
        if spread:
            sd = np.sqrt(places.cells @ variance_in_ranges(places.sizes, law, ranges))
        else:
            sd = np.full(persons.shape, np.nan)
        blocks.append(_tidy(places, name, law, ranges, persons).assign(sd=sd.ravel(), half_width=Z_95 * sd.ravel()))
    tidy = pd.concat(blocks, ignore_index=True)
    # Place first, then dates, then ranges, in the order asked for.
    order = np.lexsort((np.arange(len(tidy)), np.tile(np.repeat(np.arange(len(places.frame)), len(ranges)), len(laws))))
    return tidy.iloc[order].reset_index(drop=True)


def expected_by_k(
    counts: pd.DataFrame,
    *,
    dates: Iterable[str] | Mapping[str, int | Sequence[float]] = PERIODS,
    k_max: int = 100,
    by: str = "all",
) -> pd.DataFrame:
    """Expected persons at exactly k = 1, ..., k_max (columns) by ``place``, ``name``, ``population`` and ``dates``."""
    places = Places.of(counts, by)
    blocks = []
    for name, law in birth_laws(dates).items():
        block = places.frame.assign(dates=name)
        by_k = pd.DataFrame(places.cells @ persons_by_k(places.sizes, law, k_max), columns=range(1, k_max + 1))
        blocks.append(pd.concat([block, by_k], axis=1))
    return pd.concat(blocks, ignore_index=True)


def birth_laws(dates: Iterable[str] | Mapping[str, int | Sequence[float]]) -> dict[str, BirthLaw]:
    """The law of each date granularity, by its name: known names, or a mapping of name to periods."""
    dates = (dates,) if isinstance(dates, str) else dates or ()
    if not isinstance(dates, Mapping):
        unknown = [d for d in dates if d not in PERIODS]
        if unknown:
            raise OptionError(f"dates must be out of {', '.join(PERIODS)}, not {unknown[0]!r}")
        dates = {d: PERIODS[d] for d in dates}
    if not dates:
        raise OptionError(f"no dates were given: choose out of {', '.join(PERIODS)}")
    return {name: BirthLaw.of(periods) for name, periods in dates.items()}


def place_codes(counts: pd.DataFrame, by: str) -> tuple[np.ndarray, pd.DataFrame]:
    """The place number of each cell, and the places in order of first appearance."""
    if by not in LEVELS:
        raise OptionError(f"by must be one of {', '.join(LEVELS)}, not {by!r}")
    _check(counts)
    if by == "all":
        return np.zeros(len(counts), dtype=np.intp), pd.DataFrame({"place": ["all"], "name": ["All places"]})
    column = "place" if by == "municipality" else "province"
    if by == "province" and (counts["province"] == "").any():
        raise OptionError("by province: some places have no five-digit INE code; give the counts a column province")
    codes, labels = pd.factorize(counts[column])
    frame = pd.DataFrame({"place": labels.astype(str)})
    if by == "province":
        frame["name"] = [PROVINCES.get(code, code) for code in frame["place"]]
    else:
        frame["name"] = counts["name"].to_numpy()[np.unique(codes, return_index=True)[1]]
    return codes, frame


def _check(counts: pd.DataFrame) -> None:
    """Refuse what no reader returns; `kanon_lab.data.check_counts` makes a sound frame of other ones."""
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


def _tidy(places: Places, name: str, law: BirthLaw, ranges: Sequence[KRange], persons: np.ndarray) -> pd.DataFrame:
    tidy = places.frame.loc[places.frame.index.repeat(len(ranges))].reset_index(drop=True)
    population = tidy["population"].to_numpy()
    tidy["dates"], tidy["periods"] = name, law.periods
    tidy[["k_from", "k_to"]] = range_columns(ranges, len(places.frame))
    tidy["persons"] = persons.ravel()
    tidy["share"] = np.divide(persons.ravel(), population, out=np.full(population.size, np.nan), where=population > 0)
    return tidy.reindex(columns=_COLUMNS[:-2])


def range_columns(ranges: Sequence[KRange], times: int) -> pd.DataFrame:
    """The columns ``k_from`` and ``k_to`` (missing where open) of the ranges, repeated for so many places."""
    k_to = pd.array([r.k_to for r in ranges] * times, dtype="Int64")
    return pd.DataFrame({"k_from": [r.k_from for r in ranges] * times, "k_to": k_to})


def _rounded_persons(places: Places, law: BirthLaw, ranges: Sequence[KRange]) -> np.ndarray:
    """Persons per range when each k is rounded first (half to even, as R rounds)."""
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
