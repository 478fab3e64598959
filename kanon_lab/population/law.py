"""The law of one cell: the expected number of its persons who are k-anonymous, and the exact variance."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kanon_lab.errors import OptionError

_RANGE = re.compile(r"(?P<first>\d{1,12})(?:(?P<open>\+)|-(?P<last>\d{1,12}))?")

#: Persons in a cell, and the ends of ranges of k.
_MOST_PERSONS = 10**12


@dataclass(frozen=True, order=True)
class KRange:
    """The values of k from ``k_from`` to ``k_to``, both included; ``k_to=None`` leaves the range open."""

    k_from: int
    k_to: int | None

    def __post_init__(self) -> None:
        ends = (self.k_from,) if self.k_to is None else (self.k_from, self.k_to)
        if not all(isinstance(k, (int, np.integer)) for k in ends):
            raise OptionError("the ends of a range of k must be whole numbers")
        if max(ends) > _MOST_PERSONS:
            raise OptionError("the ends of a range of k must not exceed 10^12: leave the range open, such as 51+")
        if self.k_from < 1:
            raise OptionError(f"a range of k starts at 1 or above, not at {self.k_from}")
        if self.k_to is not None and self.k_to < self.k_from:
            raise OptionError(f"the range {self.label} of k ends before it starts: write the smaller number first")

    @property
    def label(self) -> str:
        """The range as people write it: ``5``, ``6-10`` or ``51+``."""
        if self.k_to is None:
            return f"{self.k_from}+"
        return str(self.k_from) if self.k_to == self.k_from else f"{self.k_from}-{self.k_to}"


def parse_ranges(text: str) -> tuple[KRange, ...]:
    """Ranges of k from a text such as ``1,2-5,6+`` (both ends included), in its order. They may overlap.

    Examples
    --------
    >>> [(r.k_from, r.k_to) for r in kanon_lab.population.parse_ranges("1,2-5,6+")]
    [(1, 1), (2, 5), (6, None)]
    """
    ranges = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            raise OptionError(f"{part.strip()!r} is not a range of k: write 1, 6-10 or 51+, separated by commas")
        ranges.append(KRange(int(match["first"]), None if match["open"] else int(match["last"] or match["first"])))
    return tuple(ranges)


def as_ranges(ranges: str | Iterable[KRange]) -> tuple[KRange, ...]:
    """Ranges from a text or from `KRange` objects, at least one."""
    result = parse_ranges(ranges) if isinstance(ranges, str) else tuple(ranges if isinstance(ranges, Iterable) else ())
    if not result:
        raise OptionError("no range of k was given: write for example 1,2-5,6+")
    if not all(isinstance(r, KRange) for r in result):
        raise OptionError("ranges must be one text such as '1,2-5,6+', or KRange objects")
    return result


#: The ranges of Cuadro 1.
CUADRO_1_RANGES = parse_ranges("1,2,3,4,5,6-10,11-20,21-50,51+")
#: The ranges of Cuadros 2-4.
CUADRO_2_RANGES = parse_ranges("1,2,3,4,5,6-10,11-20,21-50,51-100,101+")


#: Periods in a five-year age group, as the study counts them (its five years hold one leap day).
PERIODS = {"day": 1826, "month": 60, "year": 5}

#: Elements of one working array: 2 million floats, 16 MB.
_BLOCK = 2_000_000
#: Results of one call: 250 million floats, 2 GB.
_MOST_NUMBERS = 250_000_000
#: A window drops binomial tails below exp(-_TAIL), 1e-26 of the mass: far below the rounding of a double.
_TAIL = 60.0

# A set of whole numbers: disjoint intervals (first, last), ends included; last may be infinite.
IntegerSet = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class BirthLaw:
    """Birth probabilities, equal ones counted once: ``probability[i]`` holds for ``multiplicity[i]`` periods."""

    probability: np.ndarray
    multiplicity: np.ndarray

    @classmethod
    def of(cls, periods: int | Sequence[float] | np.ndarray | BirthLaw) -> BirthLaw:
        """A law from a whole number of equal periods, or from birth probabilities that sum to 1 (within 1e-9)."""
        if isinstance(periods, BirthLaw):
            return periods
        try:
            values = np.asarray(periods)
            probabilities = values.astype(float)
        except (TypeError, ValueError):
            raise OptionError("periods must be a whole number, or birth probabilities as numbers") from None
        if values.ndim == 0:
            if not np.issubdtype(values.dtype, np.number) or not 1 <= values <= 10**12 or values != int(values):
                raise OptionError(f"the number of periods must be a whole number from 1 to 10^12, not {periods!r}")
            return cls(np.array([1.0 / int(values)]), np.array([float(values)]))
        if probabilities.ndim != 1:
            raise OptionError("birth probabilities must be one list of numbers, not a table")
        if not np.isfinite(probabilities).all() or (probabilities < 0).any():
            raise OptionError("birth probabilities must be finite and not negative")
        if abs(probabilities.sum() - 1) > 1e-9:
            raise OptionError(f"birth probabilities must sum to 1, not to {probabilities.sum():.12g}")
        return cls(*(a.astype(float) for a in np.unique(probabilities[probabilities > 0], return_counts=True)))

    @property
    def periods(self) -> int:
        """The number of periods in which a birth can fall."""
        return int(self.multiplicity.sum())


def persons_by_k(n: np.ndarray, periods: int | np.ndarray | BirthLaw, k_max: int, k_min: int = 1) -> np.ndarray:
    """Expected persons who are exactly k-anonymous, in cells of n persons.

    Parameters
    ----------
    n : array of int, shape (cells,)
        Persons per cell, 0 to 10^6 or more.
    periods : int or array of float or BirthLaw
        The number of equally likely periods, or the birth probability of each period.
    k_max, k_min : int
        Last and first k.

    Returns
    -------
    array of float, shape (cells, k_max - k_min + 1)
        Persons; over all k from 1 to n they sum to n.

    Notes
    -----
    Formula (1) of Gil Bellosta (2011) times k, written n P(Bin(n - 1, p) = k - 1), which cannot overflow.

    Examples
    --------
    >>> kanon_lab.population.persons_by_k([2], periods=4, k_max=2)
    array([[1.5, 0.5]])
    """
    from scipy.stats import binom  # it takes half a second to load

    n, law = check_cells(n), BirthLaw.of(periods)
    if not all(isinstance(k, (int, np.integer)) for k in (k_min, k_max)) or not 1 <= k_min <= k_max:
        raise OptionError(f"k runs over whole numbers from 1 or more upwards, not from {k_min!r} to {k_max!r}")
    if n.size * (k_max - k_min + 1) > _MOST_NUMBERS:
        raise OptionError(f"k up to {k_max:,} in {n.size:,} cells does not fit into memory: ask for a smaller k_max")
    others = np.arange(k_min - 1, k_max)
    total = np.zeros((n.size, others.size))
    for p, weight in zip(law.probability, law.multiplicity * law.probability, strict=True):
        total += weight * binom.pmf(others, np.maximum(n - 1, 0)[:, None], p)
    return n[:, None] * total


def persons_in_ranges(n: np.ndarray, periods: int | np.ndarray | BirthLaw, ranges: Sequence[KRange]) -> np.ndarray:
    """Expected persons whose k lies in each range, in cells of n persons; arguments as in `persons_by_k`.

    Returns
    -------
    array of float, shape (cells, ranges)
        Persons.

    Examples
    --------
    >>> kanon_lab.population.persons_in_ranges([2, 3], 4, "1,2+").round(4)
    array([[1.5   , 0.5   ],
           [1.6875, 1.3125]])
    """
    n, law, ranges = check_cells(n), BirthLaw.of(periods), as_ranges(ranges)
    return n[:, None] * np.column_stack([_share(n, law, _births(r)) for r in ranges])


def variance_in_ranges(n: np.ndarray, periods: int | np.ndarray | BirthLaw, ranges: Sequence[KRange]) -> np.ndarray:
    """Variance of the number of persons whose k lies in each range, given n; arguments as in `persons_by_k`.

    Exact except for rounding. Only the birth dates are random; the counts n are known.

    Returns
    -------
    array of float, shape (cells, ranges)
        Persons squared. Cells are independent, so variances of several cells add up.

    Notes
    -----
    Relative accuracy is 1e-9 or better for n up to 10^6 and N up to 1826; it falls to 1e-5 at N = 10^5. The cost grows
    with the square of the number of *distinct* birth probabilities: per cell size and range, about a second for 366 of
    them.

    Examples
    --------
    >>> kanon_lab.population.variance_in_ranges([2], 4, "1,2+")
    array([[0.75, 0.75]])
    """
    n, law, ranges = check_cells(n), BirthLaw.of(periods), as_ranges(ranges)
    return np.column_stack([_covariance(n, law, r, r) for r in ranges])


def covariance_in_ranges(n: np.ndarray, periods: int | np.ndarray | BirthLaw, ranges: Sequence[KRange]) -> np.ndarray:
    """Covariance matrix of the numbers of persons whose k lies in each range; arguments as in `persons_by_k`.

    Returns
    -------
    array of float, shape (cells, ranges, ranges)
        Persons squared. Where the ranges cover every k, rows sum to zero: the total n is fixed.

    Examples
    --------
    >>> kanon_lab.population.covariance_in_ranges([2], 4, "1,2+")
    array([[[ 0.75, -0.75],
            [-0.75,  0.75]]])
    """
    n, law, ranges = check_cells(n), BirthLaw.of(periods), as_ranges(ranges)
    result = np.empty((n.size, len(ranges), len(ranges)))
    for i, first in enumerate(ranges):
        for j, second in enumerate(ranges[: i + 1]):
            result[:, i, j] = result[:, j, i] = _covariance(n, law, first, second)
    return result


def check_cells(n: np.ndarray) -> np.ndarray:
    """Sizes of cells as whole numbers, or an `OptionError`."""
    cells = np.atleast_1d(np.asarray(n))
    whole = cells.ndim == 1 and np.issubdtype(cells.dtype, np.integer)
    if not whole or (cells < 0).any() or (cells > _MOST_PERSONS).any():
        raise OptionError("cells must be one list of whole numbers, none negative or above 10^12")
    return cells.astype(np.int64)


def _births(k_range: KRange) -> IntegerSet:
    return ((k_range.k_from, np.inf if k_range.k_to is None else k_range.k_to),)


def _complement(k_range: KRange) -> IntegerSet:
    """The births outside a range, from 1 on: a person's own birth always counts."""
    below = ((1, k_range.k_from - 1),) if k_range.k_from > 1 else ()
    return below if k_range.k_to is None else (*below, (k_range.k_to + 1, np.inf))


def _between(first: np.ndarray | float, last: np.ndarray | float, m: np.ndarray, p: float | np.ndarray) -> np.ndarray:
    """P(first <= Bin(m, p) <= last), each tail computed from its own end so that small values keep their digits."""
    from scipy.stats import binom

    first, last, m, p = np.broadcast_arrays(first, last, m, p)
    low, high = np.maximum(first, 0), np.minimum(last, m)
    below = high < m * p
    result = np.where(
        below,
        binom.cdf(high, m, p) - binom.cdf(low - 1, m, p),
        binom.sf(low - 1, m, p) - binom.sf(high, m, p),
    )
    single = low == high
    if single.any():
        result = np.where(single, binom.pmf(low, m, p), result)
    return np.where(low <= high, np.maximum(result, 0), 0)


def _share(n: np.ndarray, law: BirthLaw, births: IntegerSet) -> np.ndarray:
    """Probability that a given person's period holds a number of births in the set."""
    others = np.maximum(n - 1, 0)
    total = np.zeros(n.size)
    for p, weight in zip(law.probability, law.multiplicity * law.probability, strict=True):
        total += weight * sum(_between(first - 1, last - 1, others, p) for first, last in births)
    return total


def _covariance(n: np.ndarray, law: BirthLaw, first: KRange, second: KRange) -> np.ndarray:
    """Covariance of the persons in two ranges. A range with most of the persons is replaced by its complement.

    A_R and n - A_R have the same variance, and the smaller of the two loses fewer digits in E[A A'] - E[A] E[A'].
    """
    result = np.zeros(n.size)
    sets = [(_births(r), _complement(r)) for r in (first, second)]
    likely = [_share(n, law, births) > 0.5 for births, _ in sets]
    same = first == second
    for swap_a in (False, True):
        for swap_b in (swap_a,) if same else (False, True):
            rows = np.flatnonzero((likely[0] == swap_a) & (likely[1] == swap_b) & (n > 0))
            if rows.size:
                sign = 1.0 if swap_a == swap_b else -1.0
                result[rows] = sign * _covariance_of_sets(n[rows], law, sets[0][swap_a], sets[1][swap_b])
    return np.maximum(result, 0) if same else result


def _covariance_of_sets(n: np.ndarray, law: BirthLaw, a: IntegerSet, b: IntegerSet) -> np.ndarray:
    overlaps = ((max(x[0], y[0]), min(x[1], y[1])) for x in a for y in b)
    both = tuple((first, last) for first, last in overlaps if first <= last)
    share_a = _share(n, law, a)
    share_b, share_both = (share_a, share_a) if a == b else (_share(n, law, b), _share(n, law, both))
    pairs = _pair_share(n, law, a, b, both)
    return n * (share_both - share_a * share_b) + n * (n - 1.0) * (pairs - share_a * share_b)


def _pair_share(n: np.ndarray, law: BirthLaw, a: IntegerSet, b: IntegerSet, both: IntegerSet) -> np.ndarray:
    """Probability that, of two given persons, the first lies in set a and the second in set b."""
    others = np.maximum(n - 2, 0)
    total = np.zeros(n.size)
    for p, m in zip(law.probability, law.multiplicity, strict=True):
        # The two share a period.
        total += m * p * p * sum(_between(first - 2, last - 2, others, p) for first, last in both)
    if not a or not b:
        return total
    # They do not: two different periods, in either order.
    p, q, pairs = pairs_of_periods(law, symmetric=a == b)
    weight = pairs * p * q
    if p.size <= n.size:
        return total + sum(w * _two_periods(others, x, y, a, b) for x, y, w in zip(p, q, weight, strict=True))
    return total + [_many_pairs(m, p, q, weight, a, b) for m in others]


def pairs_of_periods(law: BirthLaw, symmetric: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The probabilities of each pair of different periods, and how many such pairs there are, in either order."""
    size = law.probability.size
    i, j = np.triu_indices(size) if symmetric else (x.ravel() for x in np.indices((size, size)))
    pairs = law.multiplicity[i] * (law.multiplicity[j] - (i == j))
    if symmetric:
        pairs = np.where(i == j, pairs, 2 * pairs)
    used = pairs > 0
    return law.probability[i][used], law.probability[j][used], pairs[used]


def _many_pairs(m: int, p: np.ndarray, q: np.ndarray, weight: np.ndarray, a: IntegerSet, b: IntegerSet) -> float:
    """The weighted sum of `_two_periods` over pairs of periods, for one cell."""
    from scipy.stats import binom

    either = np.minimum(p + q, 1.0)
    s = _sums(m, m, either.min(), either.max(), a, b)
    total = 0.0
    step = max(1, _BLOCK // max(s.size, 1))
    for start in range(0, p.size if s.size else 0, step):
        part = slice(start, start + step)
        first = (p[part] / (p[part] + q[part]))[:, None]
        split = sum(_split(s, first, x, y) for x in a for y in b)
        total += weight[part] @ (binom.pmf(s, m, either[part][:, None]) * split).sum(axis=1)
    return total


def _two_periods(m: np.ndarray, p: float, q: float, a: IntegerSet, b: IntegerSet) -> np.ndarray:
    """P(B1 + 1 in a, B2 + 1 in b) for the births B1, B2 of m persons in two periods of probabilities p and q."""
    from scipy.stats import binom

    result = np.zeros(m.size)
    either = min(p + q, 1.0)
    order = np.argsort(m, kind="stable")
    position = 0
    while position < order.size:
        # Cells of similar size share one window of s; the window's width bounds the rows of a block.
        smallest = m[order[position]]
        similar = np.searchsorted(m[order[position:]], 1.1 * smallest + 50)
        width = max(1, _sums(smallest, smallest, either, either, a, b).size)
        rows = max(1, min(_BLOCK // width, int(similar)))
        block = order[position : position + rows]
        s = _sums(smallest, m[block[-1]], either, either, a, b)
        split: Any = sum(_split(s, p / (p + q), x, y) for x in a for y in b)
        useful = split > 0
        if useful.any():
            result[block] = binom.pmf(s[useful], m[block][:, None], either) @ split[useful]
        position += rows
    return result


def _sums(m_low: int, m_high: int, p_low: float, p_high: float, a: IntegerSet, b: IntegerSet) -> np.ndarray:
    """The sums B1 + B2 that matter: allowed by the two sets, and where Bin(m, p) has all but exp(-_TAIL) of its mass.

    The window is Chernoff's bound, from the smallest mean to the largest.
    """
    low = max(np.floor(m_low * p_low - _reach(m_low * p_low)), a[0][0] + b[0][0] - 2, 0)
    high = min(likely_births(m_high, p_high), a[-1][1] + b[-1][1] - 2)
    return np.arange(low, high + 1)


def likely_births(m: int, p: float) -> int:
    """A number of births that Bin(m, p) exceeds with probability exp(-_TAIL) at most (Chernoff's bound)."""
    return min(m, int(np.ceil(m * p + _reach(m * p))))


def _reach(mean: float) -> float:
    return np.sqrt(2 * _TAIL * mean) + _TAIL


def _split(s: np.ndarray, p: float | np.ndarray, x: tuple[float, float], y: tuple[float, float]) -> np.ndarray:
    """P(X + 1 in x and s - X + 1 in y) for X ~ Bin(s, p)."""
    return _between(np.maximum(x[0] - 1, s - (y[1] - 1)), np.minimum(x[1] - 1, s - (y[0] - 1)), s, p)
