"""A law of two parameters, fitted to a sample of persons and carried on to the population (Rocher et al. 2025)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import digamma, gammaln

from kanon_lab.population import correctness
from kanon_lab.population.law import BirthLaw
from kanon_lab.population.places import birth_laws
from kanon_lab.population.simulation import draw_key_sizes

# From here on Stirling's formula is good to 1e-8 of a logarithm.
_LARGE = 100.0
# Up to here the middle slope is good to 1e-15 of a logarithm.
_SMALL = 1e-5


@dataclass(frozen=True)
class PitmanYor:
    """A Pitman-Yor process: the next person has a new key with probability (strength + discount keys) / (strength + n).

    `discount` lies from 0 to 1 and `strength` above its negative.
    """

    discount: float
    strength: float

    def keys(self, persons: float) -> float:
        """Expected number of different keys among so many persons."""
        d, theta = self.discount, self.strength
        if theta > 0:
            grown = _log_rise(theta + persons, d) - _log_rise(theta, d)
            return float(theta * np.expm1(grown) / d)
        grown = _log_rise(theta + persons, d) - gammaln(theta + d) + gammaln(theta + 1)
        return float(np.exp(grown) - theta) / d

    def correctness(self, persons: float) -> float:
        """Expected share of right guesses by the key among so many persons."""
        return min(self.keys(persons) / persons, 1.0)


def _log_rise(x: float, more: float) -> float:
    """log(gamma(x + more) / gamma(x)), without the loss of digits of a difference of two large logarithms."""
    if not more:  # whatever x is
        return 0.0
    if more < _SMALL:
        return float(more * digamma(x + more / 2))
    if x < _LARGE:
        return float(gammaln(x + more) - gammaln(x))
    correction = (1 / (x + more) - 1 / x) / 12  # of Stirling's formula; the next is below 1e-8
    return float((x + more - 0.5) * np.log1p(more / x) + more * np.log(x) - more + correction)


def fit_pitman_yor(key_sizes: Sequence[int] | np.ndarray) -> PitmanYor:
    """The Pitman-Yor process under which a sample is most likely; `key_sizes[j]` keys have j persons each.

    The probability of a sample's partition into keys is that of Pitman (1995). Where all persons of the sample have
    keys of their own, every discount near 1 fits, and 1 - 1e-9 is taken.

    Examples
    --------
    >>> from kanon_book.attacks import fit_pitman_yor
    >>> fitted = fit_pitman_yor([0, 60, 20, 5])
    >>> round(fitted.keys(115), 1)
    85.0
    """
    size = np.flatnonzero(key_sizes)
    size = size[size > 0]
    times = np.asarray(key_sizes, dtype=float)[size]
    keys, persons = times.sum(), (times * size).sum()
    if keys == persons:
        return PitmanYor(1 - 1e-9, 1.0)

    def unlikely(x: np.ndarray) -> float:
        d = 1 / (1 + np.exp(-x[0]))
        theta = np.exp(x[1]) - d
        new = (keys - 1) * np.log(d) + _log_rise(theta / d + 1, keys - 1)
        old = (times * (gammaln(size - d) - gammaln(1 - d))).sum()
        return -(new + old - _log_rise(theta + 1, persons - 1)) / persons

    accuracy = {"xatol": 1e-7, "fatol": 1e-13, "maxiter": 4000}
    x = minimize(unlikely, (0.0, np.log(keys)), method="Nelder-Mead", options=accuracy).x
    d = float(1 / (1 + np.exp(-x[0])))
    return PitmanYor(d, float(np.exp(x[1])) - d)


def extrapolate(
    counts: pd.DataFrame, *, fractions: Sequence[float], dates: Sequence[str] = ("day",), by: str = "all", seed: int
) -> pd.DataFrame:
    """Draw samples of a population, fit a Pitman-Yor process to each, and set its forecast beside the exact truth.

    Parameters
    ----------
    counts : DataFrame
        A counts frame.
    fractions : sequence of float
        Shares of the persons in the samples, in (0, 1]: each person is drawn by itself.
    dates, by
        As in `kanon_lab.population.correctness`.
    seed : int
        Of persons drawn and their birth dates.

    Returns
    -------
    DataFrame
        One row a place, date and fraction: ``place``, ``name``, ``population``, ``dates``, ``fraction``, ``persons``
        (sampled), ``in_sample`` (share of right guesses in the sample), ``fitted`` (the same by the fitted process),
        ``forecast`` (for the population, by the process), ``truth`` (exact) and ``error`` (forecast less truth).
        Samples of less than two persons have no row.

    Examples
    --------
    >>> malaga = kanon_lab.load_counts("malaga-2010")
    >>> row = kanon_book.attacks.extrapolate(malaga, fractions=[0.1], seed=1).iloc[0]
    >>> bool(abs(row["fitted"] - row["in_sample"]) < 0.001)
    True
    """
    rng, rows = np.random.default_rng(seed), []
    places = {"all": None, "province": "province", "municipality": "place"}[by]
    for row in correctness(counts, dates=dates, by=by).itertuples(index=False):
        here = counts if places is None else counts[counts[places] == row.place]
        law: BirthLaw = birth_laws([row.dates])[row.dates]
        for fraction in fractions:
            sample = rng.binomial(here["persons"].to_numpy(), fraction)
            if (persons := int(sample.sum())) < 2:
                continue
            sizes = draw_key_sizes(sample, law, rng)
            process = fit_pitman_yor(sizes)
            forecast = process.correctness(row.population)
            shares = (sizes.sum() / persons, process.correctness(persons), forecast, row.correctness)
            about = (row.place, row.name, row.population, row.dates, fraction, persons)
            rows.append((*about, *shares, forecast - row.correctness))
    columns = "place name population dates fraction persons in_sample fitted forecast truth error".split()
    return pd.DataFrame(rows, columns=columns)
