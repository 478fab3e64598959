"""Rank swapping and shuffling: the values of a file are moved to other records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
import pandas as pd

from kanon_lab.arguments import check_frame, check_positive
from kanon_lab.columns import as_decimal, coded, one_column, quantity, refuse, strata_codes
from kanon_lab.digits import percent
from kanon_lab.errors import DataError, OptionError, shortened
from kanon_lab.methods.perturbation import (
    KEEPS,
    Perturbed,
    Quantities,
    changed_cells,
    generator,
    refuse_constant,
    reordered,
    strata_groups,
    variables_of,
)
from kanon_lab.roles import check_seed, names_of

_DATES = {"date", "datetime", "datetime64", "timedelta", "timedelta64", "period", "time"}


def _positions(column: pd.Series) -> np.ndarray | None:
    """Position of each row's value among the distinct values, ascending, -1 where missing.

    None where values have no order: text, truth values, and categories that are not ordered.
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.codes.to_numpy() if column.cat.ordered else None
    kind = pd.api.types.infer_dtype(column, skipna=True)
    if kind in ("string", "boolean"):
        return None
    if kind in _DATES:
        return coded(column).codes
    numbers = quantity(column)
    position = np.full(len(numbers.numbers) + 1, -1)
    position[:-1] = np.unique(numbers.numbers, return_inverse=True)[1]
    return position[numbers.codes]


def _mean_ranks(values: np.ndarray) -> np.ndarray:
    """Ranks from 1 in each column, equal values sharing the mean of theirs; shape as given."""
    return pd.DataFrame(values).rank().to_numpy()


def rank_swap(
    frame: pd.DataFrame,
    variables: Iterable[str] | str,
    *,
    window: float = 0.05,
    strata: Iterable[str] | str = (),
    seed: int = 0,
) -> Perturbed:
    """Exchange values between records whose ranks are close.

    Parameters
    ----------
    variables : names
        Numbers, dates or ordered categories; each is swapped separately. Missing values stay where they are.
    window : float, above 0 and at most 1
        How far apart two ranks may be, as a share of the records that have a value.
    strata : names
        Columns; values are ranked and swapped within their groups.
    seed : int, 0 to below 2 ** 63
        Each variable has its own random numbers, by its position among the variables.

    Returns
    -------
    Perturbed
        Columns keep their types. `details`: ``window``; ``ranks``, one row a variable: ``variable``, ``records`` (with
        a value), ``window_least`` and ``window_most`` (the smallest and largest window of a stratum, in ranks),
        ``left`` (records without a partner), ``rank_correlation`` (Spearman's, of original and released values, -1 to
        1).

    Notes
    -----
    Records are sorted by value, equal ones in random order. From the lowest on, each record not yet swapped exchanges
    values with one drawn evenly from those not yet swapped among the next w. Of n records w is the whole part of window
    times n, and at least 1. At most one record, where their number is odd, has no partner. The window limits how far
    ranks within a stratum move, not ranks in the whole file.

    An intruder who knows the window knows which released values may belong to a record, and can combine this knowledge
    over several variables (Nin, Herranz and Torra 2008). Linkage by distance (`kanon_lab.measures.record_linkage`) can
    then greatly understate the risk.

    References
    ----------
    Dalenius and Reiss (1982) for swapping; Moore (1996); Domingo-Ferrer and Torra (2001); Nin, Herranz and Torra,
    Rethinking rank swapping to decrease disclosure risk, Data & Knowledge Engineering 64 (2008), for the attack.

    Examples
    --------
    >>> frame = pd.DataFrame({'income': [10, 20, 30, 40]})
    >>> kanon_lab.methods.rank_swap(frame, 'income', window=0.25).frame['income'].tolist()
    [20, 10, 40, 30]
    """
    check_frame(frame)
    names, strata = variables_of(variables), names_of(strata, "strata")
    share, seed = check_positive(window, "window", 1), check_seed(seed)
    orders, rows = {}, []
    for number, name in enumerate(names):
        position = _positions(one_column(frame, name))
        if position is None:
            raise DataError(
                f"column {shortened(name)}: its values have no order to rank them by; make it ordered categories, "
                "or use pram"
            )
        known = np.flatnonzero(position >= 0)
        if not len(known):
            raise DataError(f"column {shortened(name)} has no value; leave it out")
        groups = [known[group] for group in strata_groups(strata_codes(frame, strata, rows=known))]
        refuse_constant(name, position, groups)
        rng = generator(seed, "rank_swap", number)
        windows = [max(1, int(as_decimal(share) * len(group))) for group in groups]
        order, left = np.arange(len(frame)), 0
        for group, reach in zip(groups, windows):
            mixed = rng.permutation(group)
            ranked = mixed[np.argsort(position[mixed], kind="stable")]
            partner = _partners(len(ranked), reach, rng)
            order[ranked] = ranked[partner]
            left += int((partner == np.arange(len(partner))).sum())
        ranks = _mean_ranks(np.column_stack([position[known], position[order][known]]))
        achieved = float(np.corrcoef(ranks.T)[0, 1])
        rows.append((name, len(known), min(windows), max(windows), left, achieved))
        orders[name] = order
    result = reordered(frame, orders)
    columns = ["variable", "records", "window_least", "window_most", "left", "rank_correlation"]
    details = {"window": share, "ranks": pd.DataFrame(rows, columns=columns)}
    cells = changed_cells(frame, result, names)
    return Perturbed(result, "rank_swap", names, strata, seed, cells, KEEPS["rank_swap"]["rank_swap"], details)


def _partners(records: int, window: int, rng: np.random.Generator) -> np.ndarray:
    """For each rank from 0 on the rank that it exchanges values with: its own, where there is no partner."""
    partner, left, at_once = list(range(records)), records, min(records, 2**14)
    drawn = (number for _ in count() for number in rng.random(at_once).tolist())
    for rank in range(records):
        if partner[rank] != rank:
            continue
        left -= 1
        if not left:
            break
        # Of those in reach about seven in ten are left, so that drawing until one is found is quick: the last of them
        # was in nobody's reach before, and where the end of the file is in reach, all that are left are.
        reach = min(window, records - 1 - rank)
        other = rank + 1 + int(next(drawn) * reach)
        while partner[other] != other:
            other = rank + 1 + int(next(drawn) * reach)
        partner[rank], partner[other] = other, rank
        left -= 1
    return np.array(partner)


#: The largest share of the variance of a variable's normal scores that the `given` variables may explain.
MOST_EXPLAINED = 0.95
# With fewer records than this for each column and category, the `given` variables would reveal a record's values.
_RECORDS_EACH = 10
# The time to fit columns grows with the cube of their number.
_MOST_COLUMNS = 1000


@dataclass(frozen=True)
class _Predictor:
    """A `given` variable: position of each value among the distinct ones, and whether these have an order."""

    name: str
    position: np.ndarray
    ordered: bool


def shuffle(
    frame: pd.DataFrame,
    variables: Iterable[str] | str,
    *,
    given: Iterable[str] | str = (),
    strata: Iterable[str] | str = (),
    missing: str = "error",
    seed: int = 0,
) -> Perturbed:
    """Reorder the values of quantities at random, keeping their relations with other variables.

    Parameters
    ----------
    variables : names
        The quantities, shuffled together.
    given : names
        Variables that are released as they are, and with which relations stay: numbers, dates and ordered categories
        by their ranks, others by an indicator of each category.
    strata : names
        Columns; values are shuffled within their groups.
    missing : {"error", "leave"}
        Whether a missing value of the variables is refused, or a record without any of them stays as it is.
    seed : int, 0 to below 2 ** 63

    Returns
    -------
    Perturbed
        Columns keep their types. `details`: ``given``; ``explained``, one row a variable: ``variable``, ``share`` (0-1,
        of the variance of its normal scores that `given` explains: the nearer to 1, the less is hidden);
        ``correlations``, one row a pair: ``variable``, ``other``, ``before``, ``after`` (Spearman's).

    Notes
    -----
    Values become normal scores: the normal quantile of (rank - 1/2) / n, with the mean rank of equal values. The scores
    of the variables are regressed on those of `given`. New scores are the fitted ones plus normal residuals with the
    covariance of the true ones, and each variable's values are put in the order of its new scores. So conditionally on
    `given`, the released value is independent of the true one, even for an intruder who knows the seed. But where the
    regression explains nearly all, many records get their own value back or one next to it (at 95%, the most that is
    accepted, the largest in about half of all shuffles). It needs 10 records for each variable and category.

    Only linear relations of normal scores stay. Lost are relations of another shape, with variables not in `given`, and
    of three variables together, sums (parts need no longer add up to a total), and differences of spread between
    categories. Equal values weaken the correlations, since they share one score.

    References
    ----------
    Muralidhar and Sarathy (2006); Sarathy, Muralidhar and Parsa (2002) for the normal copula.

    Examples
    --------
    >>> frame = pd.DataFrame({'income': range(40), 'age': [*range(20), *range(20)]})
    >>> result = kanon_lab.methods.shuffle(frame, 'income', given='age', seed=1)
    >>> sorted(result.frame['income']) == list(range(40))
    True
    """
    given, seed = names_of(given, "given"), check_seed(seed)
    data = Quantities.of(frame, variables, strata, missing)
    if both := [name for name in data.names if name in given]:
        raise OptionError(f"given: {shortened(both[0])} is among the variables that are shuffled; name it in one place")
    for name, column in zip(data.names, data.values.T):
        refuse_constant(name, column, data.groups)
    predictors = []
    for name in given:
        series = one_column(frame, name).iloc[data.rows]
        ordered = _positions(series)
        position = coded(series).codes if ordered is None else ordered
        refuse(position < 0, series.index, name, "a missing value in a variable that is given; fill it in")
        predictors.append(_Predictor(name, position, ordered is not None))
    drawn = data.draws(seed, "shuffle")
    order = np.empty(data.values.shape, dtype=np.intp)
    squares = np.zeros((2, len(data.names)))
    for group in data.groups:
        scores = _normal_scores(data.values[group])
        fitted, freedom = _regress(scores, predictors, group)
        residuals = scores - fitted
        left = (residuals**2).sum(axis=0)
        whole = ((scores - scores.mean(axis=0)) ** 2).sum(axis=0)
        determined = left < (1 - MOST_EXPLAINED) * whole
        if determined.any():
            raise DataError(
                f"column {shortened(data.names[int(determined.argmax())])}: the given variables explain more than "
                f"{percent(MOST_EXPLAINED)} of the order of its values, so that shuffling would hide little; give "
                "fewer variables"
            )
        squares += [left, whole]
        # Residuals are orthonormal columns times a triangle; so are the new ones, but for other columns.
        new = fitted + drawn[group] @ np.linalg.qr(residuals, mode="r") / np.sqrt(freedom)
        for j in range(new.shape[1]):
            order[group[np.argsort(new[:, j])], j] = group[np.argsort(data.values[group, j])]
    orders = {name: np.arange(len(frame)) for name in data.names}
    for name, rows in zip(data.names, order.T):
        orders[name][data.rows] = data.rows[rows]
    explained = pd.DataFrame({"variable": data.names, "share": np.clip(1 - squares[0] / squares[1], 0, 1)})
    details = {"given": given, "explained": explained, "correlations": _correlations(data, order, predictors)}
    return data.released(reordered(frame, orders), "shuffle", seed, KEEPS["shuffle"]["shuffle"], details)


def _normal_scores(values: np.ndarray) -> np.ndarray:
    """Normal quantile of each value's rank; shape (n, variables)."""
    from scipy.special import ndtri

    return ndtri((_mean_ranks(values) - 0.5) / len(values))


def _regress(scores: np.ndarray, predictors: Sequence[_Predictor], group: np.ndarray) -> tuple[np.ndarray, int]:
    """Fitted scores of the records of a group, and the degrees of freedom of the residuals."""
    from scipy import sparse

    records = len(scores)
    columns = [sparse.csr_array(np.ones((records, 1)))]
    for predictor in predictors:
        position = predictor.position[group]
        if predictor.ordered:
            columns.append(sparse.csr_array(_normal_scores(position[:, None])))
            continue
        category, times = np.unique(position, return_inverse=True, return_counts=True)[1:]
        if times.min() < _RECORDS_EACH:
            raise DataError(
                f"column {shortened(predictor.name)}: a category of fewer than {_RECORDS_EACH} records, in the file or "
                "in a stratum, would reveal its own values; group it with another"
            )
        columns.append(sparse.csr_array((np.ones(records), (np.arange(records), category))))
    design = sparse.hstack(columns, format="csr")
    needed = design.shape[1] - 1 + scores.shape[1]
    if records < _RECORDS_EACH * needed or needed > _MOST_COLUMNS:
        raise DataError(
            f"shuffling with {needed} variables, categories of those given counted, needs {_RECORDS_EACH * needed} "
            f"records in each stratum and at most {_MOST_COLUMNS} variables, and there are {records} records; join "
            "strata, group categories, or give fewer variables"
        )
    # Categories of several variables depend on each other: the shortest of the least-squares solutions.
    products = (design.T @ design).toarray()
    coefficients, _, rank, _ = np.linalg.lstsq(products, design.T @ scores, rcond=1e-10)
    return design @ coefficients, records - int(rank)


def _correlations(data: Quantities, order: np.ndarray, predictors: Sequence[_Predictor]) -> pd.DataFrame:
    """Rank correlations of the variables with each other, and with the predictors that have an order."""
    fixed = [predictor for predictor in predictors if predictor.ordered]
    names = [*data.names, *(predictor.name for predictor in fixed)]
    both = []
    for values in (data.values, np.take_along_axis(data.values, order, axis=0)):
        ranks = _mean_ranks(np.column_stack([values, *(predictor.position for predictor in fixed)]))
        with np.errstate(invalid="ignore"):  # a predictor may have one value only
            both.append(np.corrcoef(ranks.T))
    pairs = [(i, j) for i in range(len(data.names)) for j in range(i + 1, len(names))]
    rows = [(names[i], names[j], both[0][i, j], both[1][i, j]) for i, j in pairs]
    return pd.DataFrame(rows, columns=["variable", "other", "before", "after"])
