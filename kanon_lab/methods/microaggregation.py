"""Microaggregation: records in groups of at least k take the mean of their group."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from kanon_lab.arguments import check_choice
from kanon_lab.columns import names_of
from kanon_lab.errors import DataError, OptionError, UnfitOptionError
from kanon_lab.methods.grouping import mdav, on_grid, optimal
from kanon_lab.methods.perturbation import (
    EXACTLY,
    Keep,
    Perturbed,
    changed_cells,
    numeric_columns,
    outlying,
    strata_groups,
    with_numbers,
)
from kanon_lab.roles import check_k, check_seed

_MEANS = Keep("means", EXACTLY, "each variable, in each stratum too, and so totals, up to rounding")
_SIZE_OF_ALL = Keep("group size", EXACTLY, "at least k records share the released values of all the variables")
_SIZE_OF_EACH = Keep("group size", EXACTLY, "at least k records share each released value, of each variable by itself")
_ORDER = Keep("order", EXACTLY, "each variable, in each stratum: no value overtakes another, though some become equal")

#: By method, and by what stands for the values where it is the median, what microaggregation keeps.
KEEPS = {
    "mdav": (_MEANS, _SIZE_OF_ALL),
    "optimal": (_MEANS, _SIZE_OF_EACH, _ORDER),
    "mdav, median": (_SIZE_OF_ALL,),
    "optimal, median": (_SIZE_OF_EACH, _ORDER),
}


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
    frame : DataFrame
    variables : sequence of str, or str
        The quantities.
    k_required : int, 2 or more
        Records of a group, at least.
    method : {"mdav", "optimal"}
        ``mdav``: groups of records that are near each other in all variables together. ``optimal``: each variable by
        itself, in the groups that lose the least; a record is then in another group for each variable.
    centre : {"mean", "median"}
        What the values of a group are replaced by.
    start : {"mean", "robust"}
        Of ``mdav``: a group begins with the record farthest from the mean of those left, or (``robust``, with
        scikit-learn) from a centre that outliers do not move, in a distance that they do not stretch.
    strata : sequence of str, or str
        Columns; groups do not reach from one combination of their values into another.
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
        means over that about the mean of all, each variable counting alike). `seed` is None unless `start` is
        ``robust``.

    Notes
    -----
    ``mdav`` is MDAV-generic of Domingo-Ferrer and Torra (2005): Euclidean distances, each variable divided by its
    standard deviation in the file. While 3k records or more are left: r is the record farthest from their mean; r and
    the k - 1 records nearest to it are a group; s is the record farthest from r among the others; s and the k - 1 of
    these nearest to it are a group. If 2k records or more are left then, r and the k - 1 nearest are a group and the
    rest is one; fewer are one. Of equally distant records the earliest is taken. Differences are reckoned on a grid of
    less than a billionth of a standard deviation (up to a million records), on which whole numbers below a billion stay
    exact.

    With ``robust`` only r differs: it is the record left whose robust Mahalanobis distance in the whole file
    (`kanon_lab.measures.outliers`: minimum covariance determinant) is largest.

    ``optimal`` is that of Hansen and Mukherjee (2003): no partition into groups of at least k has a smaller sum of
    squares about the group means. Its time grows with k times the records. Many variables by themselves leave
    combinations that are unique: only ``mdav`` makes at least k records alike in all of them.

    A released value may still be a true one: the median of a group of odd size is the value of one of its records, so
    that with a k of 3 about a third of the cells stay as they are. A mean is a true value only by chance or where a
    group's values are equal, but where one value is much larger than the others, the mean times the size tells it
    nearly: `cells` says how many have changed, and `kanon_lab.measures.interval_disclosure` how near to the truth
    they are.

    What is kept is so of the records, not of a population to which they are weighted.

    References
    ----------
    Domingo-Ferrer and Mateo-Sanz (2002); Domingo-Ferrer and Torra (2005); Hansen and Mukherjee (2003); Templ and Meindl
    (2008) for a robust start.

    Examples
    --------
    >>> import kanon_lab
    >>> found = kanon_lab.methods.microaggregate(pd.DataFrame({'income': [1, 2, 3, 10, 11, 15]}), 'income')
    >>> found.frame['income'].tolist()
    [2.0, 2.0, 2.0, 12.0, 12.0, 12.0]
    """
    k, seed = check_options(k_required, method, centre, start), check_seed(seed)
    numbers = numeric_columns(frame, variables, missing=missing)
    strata_rows = strata_groups(frame, strata, rows=numbers.rows)
    _refuse_small_strata(strata_rows, k)
    robust = start == "robust"
    distance = outlying(numbers, slice(None), seed).distances.to_numpy() if robust else None
    groups = _groups(numbers.values, strata_rows, k, method, distance)
    released, lost = np.empty_like(numbers.values), np.empty(len(numbers.names))
    for column, values in enumerate(numbers.values.T):
        released[:, column], lost[column] = _centred(values, groups[:, column % groups.shape[1]], centre)
    result = with_numbers(frame, numbers, released)
    everyone = np.full((len(frame), groups.shape[1]), -1)
    everyone[numbers.rows] = groups
    size, count = np.unique(np.concatenate([np.bincount(column) for column in groups.T]), return_counts=True)
    return Perturbed(
        frame=result,
        method=method,
        variables=numbers.names,
        strata=names_of(strata, "strata"),
        seed=seed if start == "robust" else None,
        cells=changed_cells(frame, result, numbers.names),
        keeps=KEEPS[method if centre == "mean" else f"{method}, median"],
        details={
            "groups": everyone[:, 0] if method == "mdav" else everyone,
            "sizes": pd.DataFrame({"size": size, "groups": count}),
            "loss": float(lost.mean()),
        },
    )


def check_options(k_required: object, method: object, centre: object, start: object) -> int:
    """The least records of a group; an `OptionError` where it or a word is none, or the words do not go together."""
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


def _refuse_small_strata(strata: list[np.ndarray], k: int) -> None:
    least, small = min(map(len, strata)), sum(len(rows) < k for rows in strata)
    if small and len(strata) > 1:
        raise DataError(
            f"{small} of {len(strata)} strata have fewer than {k} records with values, the smallest {least}; "
            "merge strata, or choose a smaller k_required"
        )
    if small:
        raise UnfitOptionError(f"k_required is {k}, and {least} records have values; choose a k up to that")


def _groups(
    values: np.ndarray, strata: list[np.ndarray], k: int, method: str, distance: np.ndarray | None
) -> np.ndarray:
    """The group of each record, shape (n, 1), or for each variable, shape (n, variables)."""
    from tqdm import tqdm

    points, weights = on_grid(values)
    groups = np.empty((len(values), 1 if method == "mdav" else len(weights)), dtype=np.int64)
    with tqdm(total=groups.size, desc="records in groups", disable=None, delay=2, leave=False) as bar:
        for column, own in enumerate(groups.T):
            number = 0
            for rows in strata:
                if method == "optimal":
                    found = optimal(values[rows, column], k, tell=bar.update)
                else:
                    order = None if distance is None else np.argsort(-distance[rows], kind="stable")
                    found = mdav(points[:, rows], weights, k, order=order, tell=bar.update)
                own[rows] = number + found
                number += found.max() + 1
    return groups


def _centred(values: np.ndarray, groups: np.ndarray, centre: str) -> tuple[np.ndarray, float]:
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
