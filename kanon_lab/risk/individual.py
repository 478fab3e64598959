"""Individual risk: the probability that a record is re-identified, given f_k and F_k of its class."""

from __future__ import annotations

import numpy as np

from kanon_lab.arguments import ROUNDING, as_numbers, check_choice
from kanon_lab.errors import DataError, OptionError

#: Estimator of the individual risk, and what it says.
ESTIMATORS = {
    "benedetti-franconi": "expected 1/F_k given f_k, approximated where f_k is 3 or more",
    "exact": "expected 1/F_k given f_k",
    "inverse": "1/F_k, as if the weights gave F_k without error",
}

# From this f_k on the series needs few terms whatever p is; below, the recursion needs few steps.
_MANY_RECORDS = 32
_LAST_TERM = 1e-17


def individual_risk(f_k: np.ndarray, F_k: np.ndarray, *, estimator: str = "benedetti-franconi") -> np.ndarray:
    """Individual risk of each class, or of each record.

    Parameters
    ----------
    f_k : array of int, shape (n,)
        Sample frequencies, 1 or more.
    F_k : array of float, shape (n,)
        Estimated population frequencies, finite, f_k or more.
    estimator : {"benedetti-franconi", "exact", "inverse"}
        See `ESTIMATORS`.

    Returns
    -------
    ndarray of float, shape (n,)
        In (0, 1]; 1/f_k where F_k = f_k.

    Notes
    -----
    F_k given f_k is taken as negative binomial with success probability p = f_k/F_k. The expectation of 1/F_k is then
    (p/f) 2F1(1, 1; f + 1; 1 - p), which is more than ``inverse``; the approximation for f >= 3 is p/(f - (1 - p))
    (Benedetti and Franconi 1998; Franconi and Polettini 2004).

    This is valid for a sample with weights, where each person of a class is in the sample independently with the same
    probability p (Bernoulli sampling), and the sum of the weights is near the number of persons in the population.
    Neither holds to the letter: whole households are drawn together, and a sum of few weights is a rough estimate. A
    record alone in its class has the risk that its own weight gives, however rare its key is, so that the mean risk of
    such records may be wrong by half or more. `loglinear` learns from the classes around. Where F_k
    was counted, ``inverse`` is the risk.

    Examples
    --------
    >>> import kanon_lab
    >>> kanon_lab.risk.individual_risk([1, 2, 5], [100, 20, 5]).round(4).tolist()
    [0.0465, 0.0827, 0.2]
    """
    check_choice(estimator, "estimator", ESTIMATORS)
    f, F = as_numbers(f_k, "f_k"), as_numbers(F_k, "F_k")
    if f.shape != F.shape:
        raise OptionError("f_k and F_k must be two arrays of the same length")
    _refuse_impossible(f, F)
    F = np.maximum(F, f)
    if estimator == "inverse":
        return 1 / F
    if estimator == "exact":
        return _exact(f, F)
    p, q = f / F, (F - f) / F
    risk = p / (f - q + (f < 3))
    few = f < 3
    risk[few] = _exact(f[few], F[few])
    return risk


def too_light(f_k: np.ndarray, F_k: np.ndarray) -> np.ndarray:
    """Whether the weights of a class add up to less than its records, which no population allows."""
    return F_k < f_k * (1 - ROUNDING)


def _refuse_impossible(f: np.ndarray, F: np.ndarray) -> None:
    faults = {
        "an f_k below 1; it counts the record itself": ~(f >= 1),
        "an F_k that is not finite; mend the weights": ~np.isfinite(F) | ~np.isfinite(f),
        "weights that add up to less than the records; a record stands for itself at least, so a weight is 1 or more": (
            too_light(f, F)
        ),
    }
    for fault, rows in faults.items():
        if rows.any():
            raise DataError(f"{int(rows.sum())} of {len(f)} classes, first number {int(rows.argmax())}, have {fault}")


def _exact(f: np.ndarray, F: np.ndarray) -> np.ndarray:
    """Expectation of 1/F_k: p times the integral from 0 to 1 of s^(f - 1) / (p + q s).

    Either way below adds and takes away numbers of like size only once a step, so that nothing cancels.
    """
    p, q = f / F, (F - f) / F
    risk = np.empty_like(f)
    series = (p >= 0.5) | (f >= _MANY_RECORDS)
    risk[series] = p[series] / f[series] * _series(f[series], q[series])
    risk[~series] = p[~series] * _recursion(f[~series], p[~series], q[~series])
    return risk


def _series(f: np.ndarray, q: np.ndarray) -> np.ndarray:
    """2F1(1, 1; f + 1; q) by its terms, all of them positive."""
    term, total, n = np.ones_like(f), np.ones_like(f), 1
    while term.max(initial=0) > _LAST_TERM:
        term = term * (n * q / (f + n))
        total += term
        n += 1
    return total


def _recursion(f: np.ndarray, p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The integral, from the one for f = 1; for p < q an error shrinks from step to step."""
    integral = -np.log(p) / q
    for m in range(1, int(f.max(initial=1))):
        integral = np.where(f > m, (1 / m - p * integral) / q, integral)
    return integral
