"""The law of correctness: how many keys somebody has, and so how many guesses by the key are right."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kanon_lab.population.law import BirthLaw, check_cells, pairs_of_periods


def expected_keys(n: np.ndarray, periods: int | Sequence[float] | np.ndarray | BirthLaw) -> np.ndarray:
    """Expected number of periods with a birth, as `occupied_keys` has it."""
    n, law = check_cells(n), BirthLaw.of(periods)
    return sum((m * _occupied(n, p) for p, m in zip(law.probability, law.multiplicity, strict=True)), np.zeros(n.size))


def _occupied(n: np.ndarray, p: float) -> np.ndarray:
    """The probability that somebody is born in a period."""
    return -np.expm1(n * np.log1p(-p)) if p < 1 else (n > 0).astype(float)


def occupied_keys(n: np.ndarray, periods: int | Sequence[float] | np.ndarray | BirthLaw) -> tuple[np.ndarray, ...]:
    """Expected number of periods with a birth, and its variance, in cells of n persons.

    Parameters
    ----------
    n : array of int, shape (cells,)
        Persons per cell, from 0 on.
    periods : int or array of float or BirthLaw
        The number of equally likely periods, or the birth probability of each.

    Returns
    -------
    tuple of two arrays of float, shape (cells,)
        Periods, and periods squared. Cells are independent, so variances of several cells add up.

    Notes
    -----
    A period of probability p is empty with probability (1 - p)^n, and two are with (1 - p - q)^n. The expectation is
    accurate to 1e-12; the variance of cells with few persons loses a digit for each factor of ten in the periods.

    Examples
    --------
    >>> expected, variance = kanon_lab.population.occupied_keys([1, 2], periods=4)
    >>> expected.round(12).tolist(), variance.round(12).tolist()
    ([1.0, 1.75], [0.0, 0.1875])
    """
    n, law = check_cells(n), BirthLaw.of(periods)
    variance = np.zeros(n.size)
    for p, m in zip(law.probability, law.multiplicity, strict=True):
        variance += m * (1 - p) ** n * _occupied(n, p)
    for p, q, m in zip(*pairs_of_periods(law), strict=True):
        if p + q < 1:
            both, other = n * np.log1p(-p) + n * np.log1p(-q), n * np.log1p(-p * q / ((1 - p) * (1 - q)))
            variance += m * np.exp(both) * np.expm1(other)
        else:
            variance -= m * np.where(n > 0, (1 - p) ** n * (1 - q) ** n, 0)
    return expected_keys(n, law), np.maximum(variance, 0)
