"""Links of an intruder who knows a person's true keys and true quantities, and combines the two."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from kanon_lab.arguments import ROUNDING
from kanon_lab.classes.compatible import compatible_pairs
from kanon_lab.columns import distinct_rows, paired, stacked
from kanon_lab.recipes.measured import Comparison, in_order_of, joint_codes, met_by
from kanon_lab.recipes.state import Chain

# Records that are linked, at most and (where each meets many) at least; the pairs of records that are compared then.
_MOST_LINKED, _FEWEST_LINKED, _MOST_PAIRS = 2_000, 200, 2**26


def released_beside_original(protection: Chain) -> Comparison:
    """A release beside the file as it came; of an engine's counts there is none."""
    state = protection.state
    return Comparison(protection.original, protection.ordered, state.removed, protection.spec, state.truth)


def joint_linkage(comparison: Comparison) -> float | None:
    """Expected share (0-1) of records that an intruder with their true keys and quantities links to their own.

    Candidates are the released records compatible with the true keys, as for `right_links`; the intruder takes the
    nearest of them by the quantities, each over the standard deviation of its original values, and draws lots among
    equally near ones. Quantities are compared where both records have a value, by the mean of the squared differences;
    a candidate without any comes last. Up to 2,000 records are linked, at equal steps. Records are counted, also where
    persons have several: a link to another record of the same person is not counted as right.

    None without released keys or quantities, or if a released key was perturbed as a quantity.
    """
    original, keys, quantities = comparison.original, comparison.keys, comparison.quantities
    if not keys or not quantities or comparison.is_blurred:
        return None
    rows = np.arange(0, len(original), -(-len(original) // _MOST_LINKED))
    # Of the true keys only those of the records that are linked are coded.
    true = (in_order_of(original, comparison.truth.values[name]).iloc[rows] for name in keys)
    pairs = [joint_codes(column, comparison.aligned[name]) for name, column in zip(keys, true, strict=True)]
    known, shown = (stacked([pair[side] for pair in pairs]) for side in (0, 1))
    some = known[:: max(1, len(rows) // _FEWEST_LINKED)]
    step = int(np.ceil(met_by(some, shown).mean() * len(rows) / _MOST_PAIRS))
    step = max(1, min(step, len(rows) // _FEWEST_LINKED))
    both = paired(original, comparison.aligned, quantities)
    varies = both.sd > 0
    x, y = both.original[rows][:, varies] / both.sd[varies], both.released[:, varies] / both.sd[varies]
    return float(nearest_links(known[::step], shown, x[::step], y, rows[::step]).mean())


def nearest_links(known: np.ndarray, shown: np.ndarray, x: np.ndarray, y: np.ndarray, own: np.ndarray) -> np.ndarray:
    """For each target the chance (0-1) that the nearest of its candidates, with lots drawn among ties, is its own.

    Codes of the true keys of targets (`known`) and of the released keys (`shown`) are as in `compatible_pairs`; `x` and
    `y` are their quantities, not a number where missing; `own` is the position of each target's own released record.
    """
    class_, some = distinct_rows(shown)
    query, of_query = distinct_rows(known)
    order, sizes = np.argsort(class_, kind="stable"), np.bincount(class_, minlength=len(some))
    first = np.cumsum(sizes) - sizes
    targets = np.split(np.argsort(query, kind="stable"), np.cumsum(np.bincount(query))[:-1])
    chances = np.zeros(len(known))
    for start, stop, row, other in compatible_pairs(shown[some], known[of_query]):
        edges = np.searchsorted(row, np.arange(start, stop + 1))
        for number, (begin, end) in enumerate(pairwise(edges), start):
            classes = other[begin:end]
            members = np.cumsum(sizes[classes])
            if begin < end:
                shift = np.repeat(first[classes] - members + sizes[classes], sizes[classes])
                candidates = order[shift + np.arange(members[-1])]
                for target in targets[number]:
                    apart = _apart(x[target], y[candidates])
                    near = apart <= apart.min() * (1 + ROUNDING)
                    chances[target] = near[candidates == own[target]].sum() / near.sum()
    return chances


def _apart(true: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The distance of a record to each of others, by the quantities that both have; infinite without any."""
    squares = (others - true) ** 2
    has = ~np.isnan(squares)
    with np.errstate(invalid="ignore"):
        total = np.where(has, squares, 0.0).sum(axis=1) / has.sum(axis=1)
    return np.where(has.any(axis=1), np.sqrt(total), np.inf)
