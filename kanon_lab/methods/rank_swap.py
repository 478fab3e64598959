"""Rank swapping: records whose values are close in rank exchange them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from kanon_lab.arguments import check_frame, check_positive
from kanon_lab.columns import as_decimal, names_of, one_column
from kanon_lab.errors import DataError, shortened
from kanon_lab.methods.perturbation import (
    EXACTLY,
    Keep,
    Perturbed,
    changed_cells,
    generator,
    mean_ranks,
    positions,
    refuse_constant,
    strata_groups,
    variables_of,
    with_order,
)
from kanon_lab.roles import check_seed

#: What rank swapping keeps: marginals in each stratum and so in the file, ranks within each stratum.
KEEPS = {
    "rank_swap": (
        Keep("marginals", EXACTLY, "each variable: the same values as often, and so its mean, variance and quantiles"),
        Keep(
            "ranks",
            EXACTLY,
            "no value moves by more ranks of its stratum than the window; equal values have all theirs",
        ),
        Keep("missing values", EXACTLY, "they stay where they are"),
    )
}
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
    frame : DataFrame
    variables : sequence of str, or str
        Numbers, dates or ordered categories; each is swapped by itself. Missing values stay where they are.
    window : float, above 0 and at most 1
        How far apart two ranks may be, as a share of the records that have a value.
    strata : sequence of str, or str
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

    Relations between variables are weakened, the more so the wider the window. A record that swaps with one of the same
    value keeps it. Within a stratum only is no rank further away than the window: in the file a value can move by more.

    An outsider who knows the window knows which released values may be a record's, and can intersect this over several
    variables: the more of them are swapped, the fewer records remain (Nin, Herranz and Torra 2008). Linkage by
    distance, as `kanon_lab.measures.record_linkage` measures it, can then say much too little. Who knows the seed can
    swap back: keep it as secret as the original file.

    What is kept is so of the records, not of a population to which they are weighted.

    References
    ----------
    Dalenius and Reiss (1982) for swapping; Moore (1996); Domingo-Ferrer and Torra (2001); Nin, Herranz and Torra,
    Rethinking rank swapping to decrease disclosure risk, Data & Knowledge Engineering 64 (2008), for the attack.

    Examples
    --------
    >>> import kanon_lab
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
        groups = [known[group] for group in strata_groups(frame, strata, rows=known)]
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
        ranks = mean_ranks(np.column_stack([position[known], position[order][known]]))
        achieved = float(np.corrcoef(ranks.T)[0, 1])
        rows.append((name, len(known), min(windows), max(windows), left, achieved))
        orders[name] = order
    result = with_order(frame, orders)
    columns = ["variable", "records", "window_least", "window_most", "left", "rank_correlation"]
    details = {"window": share, "ranks": pd.DataFrame(rows, columns=columns)}
    cells = changed_cells(frame, result, names)
    return Perturbed(result, "rank_swap", names, strata, seed, cells, KEEPS["rank_swap"], details)


def _ordered(frame: pd.DataFrame, name: str) -> np.ndarray:
    """Position of each value in ascending order, -1 where it is missing."""
    position = positions(one_column(frame, name))
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
