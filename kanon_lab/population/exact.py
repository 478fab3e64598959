"""The exact distribution of the number of persons in a range of k, and central intervals from it.

Births of n persons in N periods are independent Poisson numbers, given that they add up to n. So the characteristic
function of the persons of a cell is a Fourier coefficient of that of independent periods, that of a place is the
product over its cells, and the distribution is its Fourier transform. All numbers on the way are at most 1, or the
square root of n, so that rounding takes a digit or two of the sixteen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from kanon_lab.arguments import as_numbers, as_share
from kanon_lab.errors import OptionError
from kanon_lab.population.law import BirthLaw, KRange, as_ranges, check_cells, persons_in_ranges, variance_in_ranges

#: An interval is exact where the standard deviation is below so many times the range's last k (of an open range the k
#: before its first), and else, where the normal curve is good, if that takes no more than so many terms, each some
#: tenths of a microsecond.
FEW_GROUPS, FEW_TERMS = 30, 5 * 10**6
#: Terms of all distributions of one call: a minute or two.
MOST_TERMS_IN_ALL = 3 * 10**8
# Standard deviations on either side beyond which a distribution has no mass that a double would show.
_REACH = 9
_BLOCK = 1_000_000


def distribution_in_range(
    n: np.ndarray, periods: int | Sequence[float] | np.ndarray | BirthLaw, k_range: str | KRange
) -> tuple[np.ndarray, np.ndarray]:
    """The exact distribution of the number of persons whose k lies in a range, over several cells.

    Parameters
    ----------
    n : array of int, shape (cells,)
        Persons of each cell.
    periods : int or array of float or BirthLaw
        The number of equally likely periods, or the birth probability of each.
    k_range : str or KRange
        A single range, such as ``"1"`` or ``"8+"``.

    Returns
    -------
    persons : array of int, shape (m,)
        Numbers of persons, rising; those left out have less than 1e-12 of the probability together.
    probability : array of float, shape (m,)
        Of each, exact but for rounding (about 1e-13).

    Raises
    ------
    OptionError
        The distribution would take some minutes: the normal approximation is good for this many persons.

    Notes
    -----
    Only birth dates are random; the counts n are known.

    Examples
    --------
    >>> persons, probability = kanon_lab.population.distribution_in_range([3], 4, "1")
    >>> persons.tolist(), probability.round(4).tolist()
    ([0, 1, 2, 3], [0.0625, 0.5625, 0.0, 0.375])
    """
    law, ranges = BirthLaw.of(periods), as_ranges([k_range] if isinstance(k_range, KRange) else k_range)
    if len(ranges) > 1:
        raise OptionError("k_range: a distribution is of a single range of k, such as '1' or '8+'")
    k_range = ranges[0]
    cells, number = np.unique(check_cells(n), return_counts=True)
    mean = number @ persons_in_ranges(cells, law, [k_range])[:, 0]
    sd = np.sqrt(number @ variance_in_ranges(cells, law, [k_range])[:, 0])
    sums = _Sum(cells, number, law, k_range, float(mean), float(sd))
    if sums.terms > MOST_TERMS_IN_ALL:
        raise OptionError(
            "the exact distribution takes too long: the normal approximation is good for this many persons"
        )
    return sums.distribution()


class _Sum:
    """The persons in a finite range of k over cells, counted in steps; in an open range, the rest of them."""

    def __init__(self, cells: np.ndarray, number: np.ndarray, law: BirthLaw, k_range: KRange, mean: float, sd: float):
        some = cells > 0
        self.cells, self.number, self.law = cells[some], number[some].astype(np.int64), law
        self.total = int(self.cells @ self.number)
        self.open = k_range.k_to is None
        self.low, self.high = (1, k_range.k_from - 1) if k_range.k_to is None else (k_range.k_from, k_range.k_to)
        self.high = min(self.high, int(self.cells.max(initial=0)))  # nobody is in a larger group
        self.step = self.low if self.low == self.high else 1
        most = int((self.cells // self.step) @ self.number) + 1
        # So many numbers of steps at least that none lies beyond them but by a chance that rounding hides.
        width = int(2 * _REACH * sd) // self.step + 10 * self.high // self.step + 64
        mean = (self.total - mean if self.open else mean) / self.step
        self.first = 0 if width >= most else int(np.clip(mean - width // 2, 0, most - width))
        self.width = min(width, most) if self.low <= self.high else 1
        # Points on the circle by which the births of each cell are made to add up.
        self.nodes = (_REACH * np.sqrt(self.cells)).astype(int) + 20
        self.terms = int(self.nodes.sum()) * (self.width // 2 + 1) * len(law.probability)
        self.needed = sd < FEW_GROUPS * self.high or self.terms <= FEW_TERMS

    def distribution(self) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of persons and their probabilities."""
        probability, theta = np.ones(1), 2 * np.pi / self.width * np.arange(self.width // 2 + 1)
        if self.width > 1:
            whole = np.exp(-1j * theta * self.first)
            for cell, times, nodes in zip(self.cells, self.number, self.nodes, strict=True):
                whole = whole * self._characteristic(int(cell), int(nodes), theta) ** times
            probability = np.maximum(np.fft.irfft(whole.conj(), self.width), 0)
            probability /= probability.sum()
        persons = self.step * (self.first + np.arange(self.width))
        return (self.total - persons[::-1], probability[::-1]) if self.open else (persons, probability)

    def _characteristic(self, n: int, nodes: int, theta: np.ndarray) -> np.ndarray:
        """E exp(i theta steps) of a cell, shape (thetas,)."""
        from scipy.stats import poisson

        sizes = np.arange(self.low, min(self.high, n) + 1)
        alpha = 2 * np.pi / nodes * np.arange(nodes)[:, None]
        result = np.empty(len(theta), dtype=complex)
        block = max(1, _BLOCK // nodes)
        for start in range(0, len(theta), block):
            change, log = np.expm1(1j * np.outer(sizes // self.step, theta[start : start + block])), 0
            for p, times in zip(self.law.probability, self.law.multiplicity, strict=True):
                births = poisson.pmf(sizes, n * p) * np.exp(1j * alpha * sizes)
                # A factor may be 0: its logarithm is infinite, and turned by no angle.
                with np.errstate(divide="ignore", invalid="ignore"):
                    log = log + times * np.log(np.exp(n * p * np.expm1(1j * alpha)) + births @ change)
            result[start : start + block] = (np.exp(log) * np.exp(-1j * alpha * n)).mean(axis=0)
        return result / result[0].real  # which is the chance that the births add up


def central_interval(persons: np.ndarray, probability: np.ndarray, confidence: float = 0.95) -> tuple[int, int]:
    """The ends of the central interval of a distribution of whole numbers.

    Parameters
    ----------
    persons, probability : array, shape (m,)
        As `distribution_in_range` returns them.
    confidence : float, above 0 to below 1

    Returns
    -------
    tuple of int
        The least and the largest number: at most half of the rest of the probability lies below, and above.

    Examples
    --------
    >>> kanon_lab.population.central_interval(np.arange(4), np.array([0.01, 0.49, 0.48, 0.02]))
    (1, 2)
    """
    tail = (1 - as_share(confidence, "confidence", ends=False)) / 2
    persons, probability = np.asarray(persons), as_numbers(probability, "probability")
    if not len(probability) or persons.shape != probability.shape:
        raise OptionError("persons and probability must be two arrays of as many numbers, one or more")
    below = np.cumsum(probability)
    # Rounding must not move an end over a number whose tail is just the half.
    low = int(np.searchsorted(below, tail + 1e-12, side="right"))
    high = len(persons) - 1 - int(np.searchsorted(np.cumsum(probability[::-1]), tail + 1e-12, side="right"))
    return int(persons[low]), int(persons[high])


def place_intervals(
    places: Iterable[tuple[np.ndarray, np.ndarray]],
    law: BirthLaw,
    ranges: Sequence[KRange],
    persons: np.ndarray,
    sd: np.ndarray,
    half_width: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lower and upper ends of central 95 % intervals, and whether they are exact, each of shape (places, ranges).

    `places` are the distinct cell sizes of each place and how many cells have them. The expected `persons`, their `sd`
    and the `half_width` of the normal interval have the shape of the results.
    """
    sums = [
        [_Sum(cells, number, law, k_range, *moments) for k_range, *moments in zip(ranges, *of_place, strict=True)]
        for (cells, number), *of_place in zip(places, persons, sd, strict=True)
    ]
    exact = np.array([[entry.needed for entry in row] for row in sums])
    if sum(entry.terms for row in sums for entry in row if entry.needed) > MOST_TERMS_IN_ALL:
        raise OptionError(
            f"exact intervals take too long (places: {len(sums):,}, ranges of k: {len(ranges)}); choose fewer of them"
        )
    total = np.array([[entry.total for entry in row] for row in sums])
    low = np.maximum(np.floor(persons - half_width), 0).astype(np.int64)
    high = np.minimum(np.ceil(persons + half_width), total).astype(np.int64)
    for place, column in np.argwhere(exact):
        low[place, column], high[place, column] = central_interval(*sums[place][column].distribution())
    return low, high, exact
