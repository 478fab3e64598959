"""Quantities perturbed by giving a file's own values to other records: rank swapping and shuffling."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from kanon_lab.arguments import check_frame, check_positive
from kanon_lab.columns import as_decimal, coded, names_of, one_column, quantity, refuse, strata_codes
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
from kanon_lab.roles import check_seed

_UNORDERED = {"string", "boolean"}
_DATES = {"date", "datetime", "datetime64", "timedelta", "timedelta64", "period", "time"}


def _positions(column: pd.Series) -> np.ndarray | None:
    """Position of each row's value among the distinct values, ascending, -1 where missing.

    None where values have no order: text, truth values, and categories that are not ordered.
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.codes.to_numpy() if column.cat.ordered else None
    kind = pd.api.types.infer_dtype(column, skipna=True)
    if kind in _UNORDERED:
        return None
    if kind in _DATES:
        return coded(column).codes
    found = quantity(column)
    position = np.full(len(found.numbers) + 1, -1)
    position[:-1] = np.unique(found.numbers, return_inverse=True)[1]
    return position[found.codes]


def _mean_ranks(values: np.ndarray) -> np.ndarray:
    """Ranks from 1 in each column, equal values sharing the mean of theirs; shape as given."""
    return pd.DataFrame(values).rank().to_numpy()


# So many random numbers are made at a time.
_DRAWN_AT_ONCE = 2**14


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
        Numbers, dates or ordered categories; each is swapped by itself. Missing values stay where they are.
    window : float, above 0 and at most 1
        How far apart two ranks may be, as a share of the records that have a value.
    strata : names
        Columns within whose groups values are ranked and swapped.
    seed : int, 0 to below 2 ** 63
        Each variable has random numbers of its own, by its position among the variables.

    Returns
    -------
    Perturbed
        Columns have the types they had. `details`: ``window``; ``ranks``, one row a variable: ``variable``, ``records``
        (with a value), ``window_least`` and ``window_most`` (the window in ranks, in the strata where it is least and
        most), ``left`` (records that found no partner), ``rank_correlation`` (Spearman's, of original and released
        values, between -1 and 1).

    Notes
    -----
    Records are sorted by value, equal ones in random order. From the lowest on, each that is not swapped yet exchanges
    values with one drawn evenly from those not swapped yet among the next w. Of n records w is the whole part of
    window times n, and at least 1. Every record finds a partner but one of an odd number, at most.

    An outsider who knows the window knows which released values may be a record's, and can intersect this over several
    variables (Nin, Herranz and Torra 2008). Linkage by distance, as `kanon_lab.measures.record_linkage` measures it,
    can then say much too little. Within a stratum only is no rank further away than the window.

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
        position = _ordered(frame, name)
        known = np.flatnonzero(position >= 0)
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


def _ordered(frame: pd.DataFrame, name: str) -> np.ndarray:
    """Position of each value in ascending order, -1 where it is missing."""
    position = _positions(one_column(frame, name))
    if position is None:
        raise DataError(
            f"column {shortened(name)}: its values have no order to rank them by; make it ordered categories, "
            "or use pram"
        )
    if not (position >= 0).any():
        raise DataError(f"column {shortened(name)} has no value; leave it out")
    return position


def _partners(records: int, window: int, rng: np.random.Generator) -> np.ndarray:
    """For each rank from 0 the rank that it exchanges values with: its own, where it finds no partner."""
    partner, left, drawn = list(range(records)), records, _drawn(rng, min(records, _DRAWN_AT_ONCE))
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


def _drawn(rng: np.random.Generator, at_once: int) -> Iterator[float]:
    """Numbers from 0 to below 1, without end."""
    while True:
        yield from rng.random(at_once).tolist()


#: Share of the variance of a variable's normal scores that those given may explain, at most.
MOST_EXPLAINED = 0.95
# With fewer records than this for each column and category, those given would tell a record's own values.
_RECORDS_EACH = 10
# The time to fit columns grows with the cube of their number.
_MOST_COLUMNS = 1000


@dataclass(frozen=True)
class _Given:
    """A variable that is known of every record: its values by position, with an order or without."""

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
    """Put the values of quantities in an order that is drawn from what other variables tell of it.

    Parameters
    ----------
    variables : names
        The quantities, shuffled together.
    given : names
        Variables that are released as they are, and with which relations are to stay: numbers, dates and ordered
        categories by their ranks, others by an indicator of each category.
    strata : names
        Columns within whose groups values are shuffled.
    missing : {"error", "leave"}
        Whether a missing value of the variables is refused, or a record without any of them stays as it is.
    seed : int, 0 to below 2 ** 63

    Returns
    -------
    Perturbed
        Columns have the types they had. `details`: ``given``; ``explained``, one row a variable: ``variable``,
        ``share`` (0-1, of the variance of its normal scores, that those given explain: the nearer to 1, the less is
        hidden); ``correlations``, one row a pair: ``variable``, ``other``, ``before``, ``after`` (Spearman's).

    Notes
    -----
    Values become normal scores: the normal quantile of (rank - 1/2) / n, with the mean rank of equal values. The scores
    of the variables are regressed on those given. New scores are the fitted ones plus normal residuals with the
    covariance of the true ones, and each variable's values are put in the order of its new scores. So given the
    variables `given`, the released value is independent of the true one, even for who knows the seed. But where the
    regression explains nearly all, many records get their own value back or one next to it (at 95%, the most that is
    accepted, the largest in about half of all shuffles). It needs 10 records for each variable and category.

    Only linear relations of normal scores are kept. Lost are relations of another shape, with variables that are not
    given, of three variables together, sums (parts need no longer add up to a total), and how much more values
    spread in one category than in another. Equal values weaken the correlations, since they share one score.

    References
    ----------
    Muralidhar and Sarathy (2006); Sarathy, Muralidhar and Parsa (2002) for the normal copula.

    Examples
    --------
    >>> frame = pd.DataFrame({'income': range(40), 'age': [*range(20), *range(20)]})
    >>> found = kanon_lab.methods.shuffle(frame, 'income', given='age', seed=1)
    >>> sorted(found.frame['income']) == list(range(40))
    True
    """
    given, seed = names_of(given, "given"), check_seed(seed)
    found = Quantities.of(frame, variables, strata, missing)
    if both := [name for name in found.names if name in given]:
        raise OptionError(f"given: {shortened(both[0])} is among the variables that are shuffled; name it in one place")
    for name, column in zip(found.names, found.values.T):
        refuse_constant(name, column, found.groups)
    known = [_given(frame, name, found.rows) for name in given]
    drawn = found.draws(seed, "shuffle")
    order = np.empty(found.values.shape, dtype=np.intp)
    squares = np.zeros((2, len(found.names)))
    for group in found.groups:
        scores = _scores(found.values[group])
        fitted, residuals, freedom = _regressed(scores, [(one, one.position[group]) for one in known])
        left = (residuals**2).sum(axis=0)
        whole = ((scores - scores.mean(axis=0)) ** 2).sum(axis=0)
        _refuse_determined(found.names, left, whole)
        squares += [left, whole]
        # Residuals are orthonormal columns times a triangle; so are the new ones, but for other columns.
        new = fitted + drawn[group] @ np.linalg.qr(residuals, mode="r") / np.sqrt(freedom)
        for j in range(new.shape[1]):
            order[group[np.argsort(new[:, j])], j] = group[np.argsort(found.values[group, j])]
    orders = {name: np.arange(len(frame)) for name in found.names}
    for name, column in zip(found.names, order.T):
        orders[name][found.rows] = found.rows[column]
    result = reordered(frame, orders)
    share = pd.DataFrame({"variable": found.names, "share": np.clip(1 - squares[0] / squares[1], 0, 1)})
    details = {"given": given, "explained": share, "correlations": _correlations(found, order, known)}
    cells = changed_cells(frame, result, found.names)
    return Perturbed(result, "shuffle", found.names, found.strata, seed, cells, KEEPS["shuffle"]["shuffle"], details)


def _given(frame: pd.DataFrame, name: str, rows: np.ndarray) -> _Given:
    column = one_column(frame, name).iloc[rows]
    ordered = _positions(column)
    position = coded(column).codes if ordered is None else ordered
    refuse(position < 0, column.index, name, "a missing value in a variable that is given; fill it in")
    return _Given(name, position, ordered is not None)


def _scores(values: np.ndarray) -> np.ndarray:
    """Normal quantile of each value's rank; shape (n, variables)."""
    from scipy.special import ndtri

    return ndtri((_mean_ranks(values) - 0.5) / len(values))


def _regressed(scores: np.ndarray, known: Sequence[tuple[_Given, np.ndarray]]) -> tuple[np.ndarray, np.ndarray, int]:
    """Scores as those given explain them, what is left, and its degrees of freedom."""
    from scipy import sparse

    records = len(scores)
    columns = [sparse.csr_array(np.ones((records, 1)))]
    for one, position in known:
        if one.ordered:
            columns.append(sparse.csr_array(_scores(position[:, None])))
            continue
        category, times = np.unique(position, return_inverse=True, return_counts=True)[1:]
        if times.min() < _RECORDS_EACH:
            raise DataError(
                f"column {shortened(one.name)}: a category of fewer than {_RECORDS_EACH} records, in the file or in a "
                "stratum, would tell their own values; group it with another"
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
    # Categories of several variables depend on each other: the least squares of least length.
    products = (design.T @ design).toarray()
    found, _, rank, _ = np.linalg.lstsq(products, design.T @ scores, rcond=1e-10)
    fitted = design @ found
    return fitted, scores - fitted, records - int(rank)


def _refuse_determined(names: Sequence[str], left: np.ndarray, whole: np.ndarray) -> None:
    determined = left < (1 - MOST_EXPLAINED) * whole
    if determined.any():
        raise DataError(
            f"column {shortened(names[int(determined.argmax())])}: those given tell more than "
            f"{percent(MOST_EXPLAINED)} of the order of its values, so that shuffling would hide little; give fewer "
            "variables"
        )


def _correlations(found: Quantities, order: np.ndarray, known: Sequence[_Given]) -> pd.DataFrame:
    """Rank correlations of the variables with each other, and with those given that have an order."""
    fixed = [one for one in known if one.ordered]
    names = [*found.names, *(one.name for one in fixed)]
    after = np.take_along_axis(found.values, order, axis=0)
    both = []
    for values in (found.values, after):
        ranks = _mean_ranks(np.column_stack([values, *(one.position for one in fixed)]))
        with np.errstate(invalid="ignore"):  # one given may have one value only
            both.append(np.corrcoef(ranks.T))
    pairs = [(i, j) for i in range(len(found.names)) for j in range(i + 1, len(names))]
    rows = [(names[i], names[j], both[0][i, j], both[1][i, j]) for i, j in pairs]
    return pd.DataFrame(rows, columns=["variable", "other", "before", "after"])
