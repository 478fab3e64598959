"""Expected counts of a hierarchical log-linear model, and means smoothed by it, by iterative proportional fitting."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kanon_lab.errors import DataError, OptionError

#: Cells of the largest table that is fitted.
MOST_CELLS = 20_000_000
#: Fitting ends where no count in a margin is off by more than this many records, or after so many rounds.
FINISHED, MOST_ROUNDS = 1e-6, 500
#: Raking ends where no margin is off by more than this share of it.
SETTLED = 1e-6
#: Where rounds end first, a fit is taken in which no count in a margin is off by more records than this.
TOLERANCE = 0.1


@dataclass(frozen=True)
class Block:
    """Key variables that interact with each other and with no other."""

    names: tuple[str, ...]
    keys: tuple[int, ...]
    margins: tuple[tuple[int, ...], ...]


def blocks(terms: tuple[tuple[str, ...], ...], names: tuple[str, ...]) -> list[Block]:
    """The blocks of a hierarchical model of all main effects and the interactions in `terms`."""
    margins = {frozenset(term) for term in (*terms, *((name,) for name in names))}
    margins = {margin for margin in margins if not any(margin < other for other in margins)}
    groups: list[set[str]] = []
    for margin in margins:
        together = [group for group in groups if group & margin]
        groups = [group for group in groups if not group & margin] + [set(margin).union(*together)]
    found = []
    for group in sorted(groups, key=lambda group: min(map(names.index, group))):
        keys = sorted(map(names.index, group))
        within = sorted(tuple(sorted(keys.index(names.index(name)) for name in m)) for m in margins if m <= group)
        found.append(Block(tuple(names[key] for key in keys), tuple(keys), tuple(within)))
    return found


def fitted_counts(codes: np.ndarray, counts: np.ndarray, parts: list[Block]) -> tuple[np.ndarray, int, float]:
    """Expected counts, by maximum likelihood, of the combinations that occur; the rounds of fitting, and the gap left.

    `codes` (shape (rows, keys), from 0 on) are the combinations that occur, `counts` their records; all others of these
    codes have a count of 0. Blocks are independent of each other in the model, so the expected count is the product of
    their shares, and only the table of one block at a time is held. A block of one margin has that margin's counts (0
    rounds); another starts from equal cells, and is scaled to each margin in turn until all agree. Where the zeros of a
    sparse table drive further cells towards 0, the gap (the most records by which a margin is still off, up to
    `TOLERANCE`) shrinks ever more slowly.
    """
    total = counts.sum()
    expected, rounds, gap = np.full(len(codes), float(total)), 0, 0.0
    for block in parts:
        here = codes[:, block.keys]
        shape = tuple(int(top) + 1 for top in here.max(axis=0))
        if (cells := np.prod(shape, dtype=float)) > MOST_CELLS:
            raise OptionError(
                f"the keys {', '.join(block.names)} interact, and have {cells:,.0f} combinations, of which "
                f"{MOST_CELLS:,} are the most that can be fitted; leave out interactions, or recode to fewer values"
            )
        observed = np.bincount(np.ravel_multi_index(here.T, shape), weights=counts, minlength=int(cells)).reshape(shape)
        if len(block.margins) > 1:
            observed, used, off = _fitted_to_margins(observed, block)
            rounds, gap = max(rounds, used), max(gap, off)
        expected *= observed[tuple(here.T)] / total
    return expected, rounds, gap


def raked(codes: np.ndarray, counts: np.ndarray, totals: np.ndarray, parts: list[Block]) -> np.ndarray:
    """Counts (1 or more) scaled by factors of the model's terms until they have the margins of the totals (0 or more).

    Over `counts` the result is a mean per record, smoothed by the model, and the very mean where that is a product of
    factors of the terms. Margins agree to a share of `SETTLED`, or as far as `MOST_ROUNDS` lead.
    """
    margins = []
    for block in parts:
        for margin in block.margins:
            here = codes[:, [block.keys[at] for at in margin]]
            number = np.ravel_multi_index(here.T, tuple(int(top) + 1 for top in here.max(axis=0)))
            margins.append((number, np.bincount(number, weights=totals)))
    found = counts * (totals.sum() / counts.sum())
    gap, used = np.inf, 0
    while gap > SETTLED and used < MOST_ROUNDS:
        gap, used = 0.0, used + 1
        for number, target in margins:
            now = np.bincount(number, weights=found)
            factor = np.divide(target, now, out=np.ones_like(now), where=now > 0)
            gap = max(gap, float(np.abs(factor - 1).max()))
            found *= factor[number]
    return found


def _fitted_to_margins(observed: np.ndarray, block: Block) -> tuple[np.ndarray, int, float]:
    """Cells scaled from 1 until each margin is the observed one, the rounds used, and the gap left."""
    others = [tuple(set(range(observed.ndim)) - set(margin)) for margin in block.margins]
    targets = [observed.sum(axis=axes, keepdims=True) for axes in others]
    cells = np.ones_like(observed)
    gap, used = np.inf, -1
    while gap > FINISHED and used < MOST_ROUNDS:
        gap, used = 0.0, used + 1
        for axes, target in zip(others, targets, strict=True):
            now = cells.sum(axis=axes, keepdims=True)
            gap = max(gap, float(np.abs(target - now).max()))
            cells *= np.divide(target, now, out=np.zeros_like(now), where=now > 0)
    if gap > TOLERANCE:
        raise DataError(
            f"the model of {', '.join(block.names)} does not settle: after {MOST_ROUNDS} rounds a margin is still off "
            f"by {gap:.1g} records; leave out an interaction, or recode rare values together"
        )
    return cells, used, gap
