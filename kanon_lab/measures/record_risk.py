"""Individual risk: the probability that a record is re-identified, and the records above a threshold."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kanon_lab.arguments import ROUNDING, as_numbers, as_risk, as_share, check_choice
from kanon_lab.classes import ClassTable
from kanon_lab.errors import DataError, OptionError, shortened

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
    >>> kanon_lab.measures.individual_risk([1, 2, 5], [100, 20, 5]).round(4).tolist()
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


def fraction_by_weights(table: ClassTable) -> float | None:
    """Records over the sum of their weights, in (0, 1], a `DataError` if above; None where the spec names no weight."""
    weights = table.weight_of_record
    if weights is None:
        return None
    fraction = table.n / float(weights.sum())
    if fraction > 1 + ROUNDING:
        raise DataError(
            f"the weights in column {shortened(str(table.spec.weight))} add up to less than the "
            "records, as no sample's do; mend them, or give the sampling_fraction"
        )
    return min(fraction, 1.0)


def refuse_light_classes(table: ClassTable, f_k: np.ndarray, F_k: np.ndarray) -> None:
    """Raise a `DataError` where the weights of a class, F_k, add up to less than its records, f_k."""
    light = too_light(f_k, F_k)
    if light.any():
        row = shortened(str(table.index[int(light[table.class_of_record].argmax())]))
        raise DataError(
            f"row {row}: the weights in column {shortened(str(table.spec.weight))} of its class add up "
            f"to less than its records, as in {int(light.sum())} of {table.n_classes} classes; a record stands for "
            "itself at least, so mend weights below 1 or leave out the weight"
        )


@dataclass(frozen=True)
class Above:
    """The records whose risk is above a threshold.

    Attributes
    ----------
    kind : {"absolute", "relative"}
        Whether the threshold was given, or found as a quantile of the risks.
    threshold : float
        The risk above which a record counts, 0-1.
    records, share : int, float
        How many are strictly above it, and the same as a share of all records, 0-1.
    which : ndarray of bool, shape (n,)
        The records above it.
    """

    kind: str
    threshold: float
    records: int
    share: float
    which: np.ndarray = field(repr=False)


def records_above(risk: np.ndarray, *, threshold: float | None = None, quantile: float | None = None) -> Above:
    """Count the records whose risk is strictly above a threshold (INE Chile 2023, section 7.7.2).

    Parameters
    ----------
    risk : array of float, shape (n,)
        Risk of each record, 0-1.
    threshold : float, optional
        An absolute threshold, 0-1.
    quantile : float, optional
        A relative one in its place, 0-1: the quantile of the risks with this share of the records below it,
        interpolated linearly between neighbours in order (0.75 is the upper quartile).

    Notes
    -----
    A risk that exceeds the threshold by less than a billionth of it is not above it: the weights of a class, added up
    in another order of the rows, give a risk that differs in its last digits, and the count must not depend on that.

    A relative threshold always finds records, however safe the file is, and fewer than 1 - `quantile` of them where
    many share the risk at the threshold, as the records of one class do.

    Examples
    --------
    >>> kanon_lab.measures.records_above([0.02, 0.3, 0.5], threshold=0.3).records
    1
    """
    risk = as_risk(risk)
    if len(risk) == 0:
        raise OptionError("there is no risk of any record, so nothing to be counted")
    if (threshold is None) == (quantile is None):
        raise OptionError("give either a threshold or a quantile")
    if threshold is None:
        kind, limit = "relative", float(np.quantile(risk, as_share(quantile, "quantile")))
    else:
        kind, limit = "absolute", as_share(threshold, "threshold")
    which = risk > limit * (1 + ROUNDING)
    return Above(kind, limit, int(which.sum()), float(which.mean()), which)
