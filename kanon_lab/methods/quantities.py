"""Quantities perturbed to other numbers: noise, and microaggregation."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext

import numpy as np
import pandas as pd

from kanon_lab.arguments import check_choice, check_positive
from kanon_lab.errors import DataError, OptionError, UnfitOptionError, about
from kanon_lab.methods.grouping import mdav, on_grid, optimal
from kanon_lab.methods.perturbation import KEEPS, MOST_NOISE, Perturbed, Quantities, refuse_constant
from kanon_lab.roles import check_k, check_seed


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
    """Add normally distributed noise to quantities.

    Parameters
    ----------
    variables : names
        The quantities, perturbed together.
    method : {"additive", "correlated", "restricted", "outliers"}
        ``additive``: independent noise for each variable. ``correlated``: noise with the covariances of the variables,
        so that correlations stay. ``restricted``: noise with those covariances and uncorrelated with the variables in
        this file, the sum then shrunk towards the mean, so that means and covariances stay exactly; it needs at least
        2 p + 2 records in each stratum for p variables. ``outliers``: independent noise, stronger for outlying records
        (needs scikit-learn).
    strength : float, above 0 and at most 1000
        Standard deviation of the noise, in standard deviations (n - 1) of the variable.
    strata : names
        Columns; means, standard deviations, covariances and distances are taken within their groups.
    missing : {"error", "leave"}
        Whether a missing value is refused, or a record without any of the variables stays as it is.
    seed : int, 0 to below 2 ** 63

    Returns
    -------
    Perturbed
        Floating-point numbers without bounds. `details`: ``strength``; ``noise``, one row a variable: ``variable``,
        ``sd`` (n - 1, of the original values), ``noise_sd`` (root of the mean square by which values moved), both in
        the unit of the variable; for ``outliers`` also ``outliers`` (records with stronger noise) and
        ``largest_factor`` (by how much, at most).

    Notes
    -----
    Let s be the strength and C the covariance matrix in a stratum. The noise of ``correlated`` has covariance s^2 C in
    expectation, that of ``restricted`` exactly, and ``restricted`` releases mean + (x - mean + noise) / sqrt(1 + s^2).
    Both mix the variables' own deviations, so that a total stays the sum of its parts. Under ``additive`` a variance
    grows by the factor 1 + s^2 and a correlation shrinks by it.

    Under ``outliers`` a record at robust Mahalanobis distance d (`kanon_lab.measures.outliers`) has noise of
    s max(1, d / c) standard deviations of the variable, where c^2 is the 97.5% point of the chi-squared distribution
    with p degrees of freedom. A variance grows by 1 + s^2 times the mean of max(1, d / c)^2.

    References
    ----------
    ``correlated``: Kim (1986), Tendick (1991) and Brand (2002). ``restricted`` is this project's own form of Burridge
    (2003), Information preserving statistical obfuscation, Statistics and Computing 13, and of Ting, Fienberg and
    Trottini (2008), Random orthogonal matrix masking methodology for microdata release, International Journal of
    Information and Computer Security 2. ``outliers``: Templ and Meindl (2008).

    Examples
    --------
    >>> frame = pd.DataFrame({'income': range(10)})
    >>> noisy = kanon_lab.methods.add_noise(frame, 'income', method='restricted', strength=0.5, seed=1).frame
    >>> noisy['income'].mean().round(9), noisy['income'].var().round(9), frame['income'].var().round(9)
    (np.float64(4.5), np.float64(9.166666667), np.float64(9.166666667))
    """
    check_choice(method, "method", KEEPS["add_noise"])
    strength, seed = check_positive(strength, "strength", MOST_NOISE), check_seed(seed)
    data = Quantities.of(frame, variables, strata, missing)
    for name, column in zip(data.names, data.values.T):
        refuse_constant(name, column, data.groups)
    least, smallest = 2 * len(data.names) + 2, min(map(len, data.groups))
    if method == "restricted" and smallest < least:
        place, remedy = (" in each stratum", "join strata, or ") if len(data.groups) > 1 else ("", "")
        raise DataError(
            f"restricted noise on {len(data.names)} variables needs {least} records{place}, and there are {smallest}; "
            f"{remedy}choose the method correlated"
        )
    factors = np.ones(len(data.rows))
    if method == "outliers":
        with about("within strata", part=True) if len(data.groups) > 1 else nullcontext():
            for group in data.groups:
                far = data.outliers(group, seed)
                factors[group] = np.maximum(1, far.distances / far.threshold)
    drawn = data.draws(seed, "noise") * factors[:, None]
    released = np.empty_like(data.values)
    for group in data.groups:
        released[group] = _noisy(data.values[group], drawn[group], method, strength)
    noise = pd.DataFrame({"variable": data.names, "sd": data.values.std(axis=0, ddof=1)})
    noise["noise_sd"] = np.sqrt(((released - data.values) ** 2).mean(axis=0))
    details: dict[str, object] = {"strength": strength, "noise": noise}
    if method == "outliers":
        details |= {"outliers": int((factors > 1).sum()), "largest_factor": float(factors.max())}
    return data.released(data.rewritten(released), method, seed, KEEPS["add_noise"][method], details)


def _noisy(values: np.ndarray, drawn: np.ndarray, method: str, strength: float) -> np.ndarray:
    """Values of one stratum with noise from standard normal draws, both of shape (n, variables)."""
    mean = values.mean(axis=0)
    # In such units squares neither vanish nor overflow.
    unit = np.abs(values - mean).max(axis=0)
    apart = (values - mean) / unit
    freedom = len(values) - 1
    if method in ("additive", "outliers"):
        return values + strength * unit * np.sqrt((apart**2).sum(axis=0) / freedom) * drawn
    # apart = basis times mix, but for the first column, which is constant: other orthonormal columns in place of the
    # basis give the same products, and so the same covariances.
    basis, mix = np.linalg.qr(np.column_stack([np.ones(len(apart)), apart]))
    mix = mix[1:, 1:]
    if method == "correlated":
        return values + strength * unit * (drawn[:, : len(mix)] @ mix) / np.sqrt(freedom)
    for _ in range(2):  # what rounding leaves the first time goes the second
        drawn = drawn - basis @ (basis.T @ drawn)
    noise = np.linalg.qr(drawn)[0] @ mix
    return mean + unit * (apart + strength * noise) / np.sqrt(1 + strength**2)


def microaggregate(
    frame: pd.DataFrame,
    variables: Iterable[str] | str,
    *,
    k_required: int = 3,
    method: str = "mdav",
    centre: str = "mean",
    start: str = "mean",
    strata: Iterable[str] | str = (),
    missing: str = "error",
    seed: int = 0,
) -> Perturbed:
    """Form groups of at least k similar records, and give each record the mean of its group.

    Parameters
    ----------
    variables : names
        The quantities.
    k_required : int, 2 or more
        The fewest records of a group.
    method : {"mdav", "optimal"}
        ``mdav``: groups of records that are near each other in all variables together. ``optimal``: for each variable
        separately, the groups that lose least; a record is then in another group for each variable.
    centre : {"mean", "median"}
        What replaces the values of a group.
    start : {"mean", "robust"}
        Of ``mdav``: a group begins with the record farthest from the mean of those left, or (``robust``, needs
        scikit-learn) with the one farthest from a centre, and in a distance, that outliers do not distort.
    strata : names
        Columns; a group contains records of one stratum only.
    missing : {"error", "leave"}
        Whether a missing value is refused, or a record without any of the variables stays as it is.
    seed : int, 0 to below 2 ** 63
        Only ``robust`` draws.

    Returns
    -------
    Perturbed
        Floating-point numbers. `details`: ``groups`` (number of each record's group from 0 on, -1 where it was left
        alone; shape (n,) under ``mdav``, (n, variables) under ``optimal``); ``sizes``, one row a size: ``size``
        (records), ``groups`` (how many have it, of all variables); ``loss`` (0-1: the sum of squares about the group
        means divided by that about the overall mean, averaged over variables). `seed` is None unless `start` is
        ``robust``.

    Notes
    -----
    ``mdav`` is MDAV-generic of Domingo-Ferrer and Torra (2005): Euclidean distances, each variable divided by its
    standard deviation in the file. While 3k records or more are left: r is the record farthest from their mean; r and
    the k - 1 records nearest to it are a group; s is the record farthest from r among the others; s and the k - 1 of
    these nearest to it are a group. If 2k records or more are left then, r and the k - 1 nearest are a group and the
    rest is another; fewer form one group. Of equally distant records the earliest is taken. In strata of more than
    200,000 records, s is sought only among the 64 or more records farthest from the mean: the sum of squares about the
    group means was then within 0.5% of that of the exact groups. Differences are computed on a grid of less than a
    billionth of a standard deviation (up to a million records), on which whole numbers below a billion stay exact.

    ``robust`` differs only in r: the remaining record with the largest robust Mahalanobis distance, measured over the
    whole file (`kanon_lab.measures.outliers`: minimum covariance determinant).

    ``optimal`` (Hansen and Mukherjee 2003): no partition into groups of at least k has a smaller sum of squares about
    the group means. Its time grows with k times the records. Only ``mdav`` makes at least k records alike in all
    variables together.

    A released value may still be a true one: the median of a group of odd size is one, a mean only by chance or where
    the group's values are equal. `cells` says how many values changed, `kanon_lab.measures.interval_disclosure` how
    near to the truth they are.

    References
    ----------
    Domingo-Ferrer and Mateo-Sanz (2002); Domingo-Ferrer and Torra (2005); Hansen and Mukherjee (2003); Templ and Meindl
    (2008) for a robust start.

    Examples
    --------
    >>> result = kanon_lab.methods.microaggregate(pd.DataFrame({'income': [1, 2, 3, 10, 11, 15]}), 'income')
    >>> result.frame['income'].tolist()
    [2.0, 2.0, 2.0, 12.0, 12.0, 12.0]
    """
    k, seed = check_options(k_required, method, centre, start), check_seed(seed)
    data = Quantities.of(frame, variables, strata, missing)
    sizes = np.array([len(rows) for rows in data.groups])
    small, least = int((sizes < k).sum()), int(sizes.min())
    if small and len(sizes) > 1:
        raise DataError(
            f"{small} of {len(sizes)} strata have fewer than {k} records with values, the smallest {least}; "
            "merge strata, or choose a smaller k_required"
        )
    if small:
        raise UnfitOptionError(f"k_required is {k}, and {least} records have values; choose a k up to that")
    robust = start == "robust"
    distance = data.outliers(slice(None), seed).distances.to_numpy() if robust else None
    groups = _form_groups(data, k, method, distance)
    released, lost = np.empty_like(data.values), np.empty(len(data.names))
    for column, values in enumerate(data.values.T):
        released[:, column], lost[column] = _replace_by_centre(values, groups[:, column % groups.shape[1]], centre)
    everyone = np.full((len(frame), groups.shape[1]), -1)
    everyone[data.rows] = groups
    size, count = np.unique(np.concatenate([np.bincount(column) for column in groups.T]), return_counts=True)
    details = {
        "groups": everyone[:, 0] if method == "mdav" else everyone,
        "sizes": pd.DataFrame({"size": size, "groups": count}),
        "loss": float(lost.mean()),
    }
    keeps = KEEPS["microaggregate"][method if centre == "mean" else f"{method}, median"]
    return data.released(data.rewritten(released), method, seed if robust else None, keeps, details)


def check_options(k_required: object, method: object, centre: object, start: object) -> int:
    """The fewest records of a group; an `OptionError` where an option is not valid or two do not go together."""
    k = check_k(k_required, "k_required")
    if k < 2:
        raise OptionError("k_required must be 2 or more: a group of 1 changes nothing")
    if k >= 2**63:
        raise OptionError("k_required must be below 2 ** 63; choose a k up to the number of records")
    check_choice(method, "method", ("mdav", "optimal"))
    check_choice(centre, "centre", ("mean", "median"))
    check_choice(start, "start", ("mean", "robust"))
    if method == "optimal" and start == "robust":
        raise OptionError("start: robust is of the method mdav; optimal groups do not begin anywhere")
    return k


def _form_groups(data: Quantities, k: int, method: str, distance: np.ndarray | None) -> np.ndarray:
    """The group of each record, shape (n, 1), or for each variable, shape (n, variables)."""
    from tqdm import tqdm

    points, weights = on_grid(data.values)
    groups = np.empty((len(data.values), 1 if method == "mdav" else len(weights)), dtype=np.int64)
    with tqdm(total=groups.size, desc="records in groups", disable=None, delay=2, leave=False) as bar:
        for column, own in enumerate(groups.T):
            number = 0
            for rows in data.groups:
                if method == "optimal":
                    group = optimal(data.values[rows, column], k, tell=bar.update)
                else:
                    order = None if distance is None else np.argsort(-distance[rows], kind="stable")
                    group = mdav(points[:, rows], weights, k, order=order, tell=bar.update)
                own[rows] = number + group
                number += group.max() + 1
    return groups


def _replace_by_centre(values: np.ndarray, groups: np.ndarray, centre: str) -> tuple[np.ndarray, float]:
    """The centre of each record's group, and the share of the sum of squares that is within groups."""
    inner, sizes = values[np.lexsort((values, groups))], np.bincount(groups)
    first = np.cumsum(sizes) - sizes
    low, high = inner[first], inner[first + sizes - 1]
    # Of distances from the least, so that the mean of equal numbers is that number.
    means = low + np.add.reduceat(inner - np.repeat(low, sizes), first) / sizes
    means = np.clip(means, low, high)
    apart, about = values - means[groups], values - values.mean()
    unit = np.abs(about).max()
    share = min(float(((apart / unit) ** 2).sum() / ((about / unit) ** 2).sum()), 1.0)
    if centre == "median":
        means = (inner[first + (sizes - 1) // 2] + inner[first + sizes // 2]) / 2
    return means[groups], share
