"""Noise: random numbers are added to quantities."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext

import numpy as np
import pandas as pd

from kanon_lab.arguments import check_choice, check_positive
from kanon_lab.columns import names_of
from kanon_lab.errors import DataError, about
from kanon_lab.methods.perturbation import (
    EXACTLY,
    EXPECTED,
    NEARLY,
    Keep,
    Numbers,
    Perturbed,
    changed_cells,
    normal_draws,
    numeric_columns,
    outlying,
    refuse_constant,
    strata_groups,
    with_numbers,
)
from kanon_lab.roles import check_seed

_MEANS_EXPECTED = Keep("means", EXPECTED, "each variable")
_PAIRS = Keep("covariances", EXPECTED, "each two variables; variances grow, so that correlations shrink")
_SUMS = Keep("linear relations", EXACTLY, "variables of which one is the sum of others, up to rounding")

#: By method, what noise keeps: in each stratum and in the file, but for correlations.
KEEPS = {
    "additive": (_MEANS_EXPECTED, _PAIRS),
    "correlated": (
        _MEANS_EXPECTED,
        Keep("correlations", NEARLY, "each two variables, within strata; variances grow"),
        _SUMS,
    ),
    "restricted": (
        Keep("means", EXACTLY, "each variable, up to rounding"),
        Keep("covariances", EXACTLY, "all variables, variances among them, up to rounding"),
        _SUMS,
    ),
    "outliers": (_MEANS_EXPECTED, _PAIRS),
}

# Noise so strong leaves nothing of a value, and costs the digits by which means and covariances are kept exactly.
MOST_NOISE = 1000


def add_noise(
    frame: pd.DataFrame,
    variables: Iterable[str] | str,
    *,
    method: str = "additive",
    strength: float = 0.1,
    strata: Iterable[str] | str = (),
    missing: str = "error",
    seed: int = 0,
) -> Perturbed:
    """Add normal noise to quantities.

    Parameters
    ----------
    frame : DataFrame
    variables : sequence of str, or str
        The quantities, perturbed together.
    method : {"additive", "correlated", "restricted", "outliers"}
        ``additive``: independent noise for each variable. ``correlated``: noise with the covariances of the variables,
        so that correlations stay. ``restricted``: such noise, uncorrelated with the variables in the very file, and
        the whole shrunk towards the mean, so that means and covariances stay exactly. ``outliers``: independent noise,
        stronger for records that are far out (with scikit-learn).
    strength : float, above 0 and at most 1000
        Standard deviation of the noise in that of the variable (n - 1).
    strata : sequence of str, or str
        Columns within whose groups means, standard deviations, covariances and distances are taken.
    missing : {"error", "leave"}
        Whether a missing value is refused, or a record without any of the variables stays as it is.
    seed : int, 0 to below 2 ** 63

    Returns
    -------
    Perturbed
        `details`: ``strength``; ``noise``, one row a variable: ``variable``, ``sd`` (n - 1, of the original values),
        ``noise_sd`` (root of the mean square by which values moved), both in the unit of the variable; for ``outliers``
        also ``outliers`` (records given stronger noise) and ``largest_factor`` (by how much, at most).

    Raises
    ------
    DataError
        Too few records: ``restricted`` needs more than 2 p + 1 in each stratum for p variables.

    Notes
    -----
    Results are floating-point numbers without bounds: an income may become negative, an age fractional. Round or bound
    them afterwards, which keeps nothing exactly.

    Let s be the strength and C the covariance matrix in a stratum. The noise of ``correlated`` has covariance s^2 C in
    expectation, that of ``restricted`` exactly, and ``restricted`` releases
    mean + (x - mean + noise) / sqrt(1 + s^2). Noise of both is a mix of the variables' own deviations, so that a total
    stays the sum of its parts. With strata it is within them that ``correlated`` noise keeps correlations: in the file
    they are nearly kept only where strata have much the same means and covariances. Under ``additive`` a variance grows
    by the factor 1 + s^2 and a correlation shrinks by it.

    Under ``outliers`` a record at robust Mahalanobis distance d (`kanon_lab.measures.outliers`) has noise of
    s max(1, d / c) standard deviations of the variable, where c^2 is the 97.5% point of the chi-squared distribution
    with p degrees of freedom. A variance grows by 1 + s^2 times the mean of max(1, d / c)^2.

    Who knows the seed draws the same numbers and takes the noise off again: keep it as secret as the original file.
    What is kept is so of the records, not of a population to which they are weighted.

    References
    ----------
    Kim (1986), Tendick (1991) and Brand (2002) for noise with the covariances of the data, which keep moments in
    expectation. For exactly kept ones Burridge, Information preserving statistical obfuscation, Statistics and
    Computing 13 (2003), and Ting, Fienberg and Trottini, Random orthogonal matrix masking methodology for microdata
    release, International Journal of Information and Computer Security 2 (2008); the form that ``restricted``
    gives them is the project's own. Templ and Meindl (2008) for outliers.

    Examples
    --------
    >>> import kanon_lab
    >>> frame = pd.DataFrame({'income': range(10)})
    >>> found = kanon_lab.methods.add_noise(frame, 'income', method='restricted', strength=0.5, seed=1)
    >>> found.frame['income'].mean().round(9), found.frame['income'].var().round(9), frame['income'].var().round(9)
    (np.float64(4.5), np.float64(9.166666667), np.float64(9.166666667))
    """
    check_choice(method, "method", KEEPS)
    strength, seed = check_positive(strength, "strength", MOST_NOISE), check_seed(seed)
    numbers = numeric_columns(frame, variables, missing=missing)
    groups = strata_groups(frame, strata, rows=numbers.rows)
    for name, column in zip(numbers.names, numbers.values.T):
        refuse_constant(name, column, groups)
    if method == "restricted":
        _refuse_few_records(groups, len(numbers.names))
    factors = np.ones(len(numbers.rows))
    if method == "outliers":
        with about("within strata", part=True) if len(groups) > 1 else nullcontext():
            factors = _factors(numbers, groups, seed)
    drawn = normal_draws(seed, "noise", numbers.values.shape) * factors[:, None]
    released = np.empty_like(numbers.values)
    for group in groups:
        released[group] = _noisy(numbers.values[group], drawn[group], method, strength)
    result = with_numbers(frame, numbers, released)
    noise = pd.DataFrame({"variable": numbers.names, "sd": numbers.values.std(axis=0, ddof=1)})
    noise["noise_sd"] = np.sqrt(((released - numbers.values) ** 2).mean(axis=0))
    details: dict[str, object] = {"strength": strength, "noise": noise}
    if method == "outliers":
        details |= {"outliers": int((factors > 1).sum()), "largest_factor": float(factors.max())}
    cells = changed_cells(frame, result, numbers.names)
    named = names_of(strata, "strata")
    return Perturbed(result, method, numbers.names, named, seed, cells, KEEPS[method], details)


def _refuse_few_records(groups: list[np.ndarray], variables: int) -> None:
    least, found = 2 * variables + 2, min(map(len, groups))
    if found < least:
        place, remedy = (" in each stratum", "join strata, or ") if len(groups) > 1 else ("", "")
        raise DataError(
            f"restricted noise on {variables} variables needs {least} records{place}, and there are {found}; "
            f"{remedy}choose the method correlated"
        )


def _factors(numbers: Numbers, groups: list[np.ndarray], seed: int) -> np.ndarray:
    """By how much the noise of each record is stronger than that of records that are not far out."""
    factors = np.empty(len(numbers.rows))
    for group in groups:
        found = outlying(numbers, group, seed)
        factors[group] = np.maximum(1, found.distances / found.threshold)
    return factors


def _noisy(values: np.ndarray, drawn: np.ndarray, method: str, strength: float) -> np.ndarray:
    """Values of one stratum with noise made of standard normal numbers, both of shape (n, variables)."""
    mean = values.mean(axis=0)
    # In such units squares neither vanish nor overflow.
    unit = np.abs(values - mean).max(axis=0)
    apart = (values - mean) / unit
    freedom = len(values) - 1
    if method in ("additive", "outliers"):
        return values + strength * unit * np.sqrt((apart**2).sum(axis=0) / freedom) * drawn
    # apart = basis times mix, but for the first column, which is constant: with other orthonormal columns in the place
    # of the basis the products, and so the covariances, are the same.
    basis, mix = np.linalg.qr(np.column_stack([np.ones(len(apart)), apart]))
    mix = mix[1:, 1:]
    if method == "correlated":
        return values + strength * unit * (drawn[:, : len(mix)] @ mix) / np.sqrt(freedom)
    for _ in range(2):  # what rounding leaves the first time goes the second
        drawn = drawn - basis @ (basis.T @ drawn)
    noise = np.linalg.qr(drawn)[0] @ mix
    return mean + unit * (apart + strength * noise) / np.sqrt(1 + strength**2)
