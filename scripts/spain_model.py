"""A synthetic country fitted to margins: sizes of municipalities by class, and whole persons by sex and age group.

The model has three parts, each a function here: sizes inside a province and size class follow a power law whose
exponent gives the class its total; the age structure of a municipality is the nation's, tilted by its size, by one
common factor (young or old places) and by a deviation per cell; whole persons are drawn from it and a few of them are
then moved to another cell of the same municipality, until every national total is exact.
"""

from __future__ import annotations

import numpy as np

from kanon_book.studies.inverse import apportion
from kanon_lab.errors import OptionError

#: Inhabitants from which on a municipality's age structure no longer depends on its size.
REFERENCE_SIZE = 10_000.0
#: Inhabitants from which on municipalities differ more, or less, from the nation than smaller ones.
SPREAD_FROM = (1, 10_000, 100_000)
_STRATUM = 10  # municipalities of similar size among which the common factor is balanced


def size_tilt(sizes: np.ndarray) -> np.ndarray:
    """Powers of ten by which a municipality falls short of `REFERENCE_SIZE`: 0 above it, negative below."""
    return np.log10(np.minimum(sizes, REFERENCE_SIZE) / REFERENCE_SIZE)


def sizes_in_class(count: int, total: int, smallest: int, largest: int) -> np.ndarray:
    """Descending sizes, by a power law between the bounds of a class, of so many municipalities with this total."""
    if not count * smallest <= total <= count * largest:
        raise OptionError(f"{count} municipalities of {smallest} to {largest} inhabitants cannot add up to {total}")
    ranks = (np.arange(count, 0, -1) - 0.5) / count
    steep, flat = -60.0, 60.0
    for _ in range(80):
        middle = (steep + flat) / 2
        too_small = _power_quantiles(ranks, middle, smallest, largest).sum() < total
        steep, flat = (middle, flat) if too_small else (steep, middle)
    sizes = _power_quantiles(ranks, (steep + flat) / 2, smallest, largest)
    # The exponent has a limit: what is left over is spread over the room to the bounds.
    missing = total - sizes.sum()
    room = largest - sizes if missing > 0 else sizes - smallest
    sizes = sizes + missing * room / max(room.sum(), 1e-12)
    return np.clip(apportion(total, sizes), smallest, largest)


def _power_quantiles(ranks: np.ndarray, exponent: float, smallest: int, largest: int) -> np.ndarray:
    """Quantiles of the density proportional to size**(exponent - 1) on [smallest, largest]."""
    span = np.log(largest / smallest)
    if abs(exponent * span) < 1e-9:
        return smallest * np.exp(ranks * span)
    if exponent > 0:  # written from the upper end, so that the power never overflows
        return largest * np.exp(np.log(ranks + (1 - ranks) * np.exp(-exponent * span)) / exponent)
    return smallest * np.exp(np.log1p(ranks * np.expm1(exponent * span)) / exponent)


def expected_cells(
    sizes: np.ndarray,
    cell_totals: np.ndarray,
    slopes: np.ndarray,
    loadings: np.ndarray,
    deviations: np.ndarray,
    rng: np.random.Generator,
    *,
    spread_scales: tuple[float, float, float] = (1.0, 1.0, 1.0),
) -> np.ndarray:
    """Expected persons by municipality and cell, with the sizes as row sums and the national totals as column sums.

    The logarithm of a cell's share changes by its slope when a municipality is ten times as large, up to
    `REFERENCE_SIZE`; loadings and deviations are its standard deviations: common factor of the municipality, and own.
    The scales (the parameters fitted to Cuadro 1) multiply both, one for each size class that starts in `SPREAD_FROM`.
    """
    tilt = size_tilt(sizes)[:, None] * slopes
    factor = _stratified_normal(sizes, rng)[:, None] * loadings
    own = rng.standard_normal((len(sizes), len(slopes))) * deviations
    spread = np.take(spread_scales, np.searchsorted(SPREAD_FROM, sizes, side="right") - 1)[:, None]
    expected = cell_totals * np.exp(tilt + spread * (factor + own))
    return fit_margins(expected, sizes, cell_totals)


def _stratified_normal(sizes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Standard normal quantiles, shuffled among municipalities of similar size: no class is young or old by chance."""
    from scipy.special import ndtri

    by_size = np.argsort(sizes, kind="stable")
    drawn = np.empty(len(sizes))
    for start in range(0, len(sizes), _STRATUM):
        places = by_size[start : start + _STRATUM]
        drawn[places] = ndtri((rng.permutation(len(places)) + 0.5) / len(places))
    return drawn


def fit_margins(
    table: np.ndarray, rows: np.ndarray, columns: np.ndarray, *, tolerance: float = 1e-9, iterations: int = 1000
) -> np.ndarray:
    """Iterative proportional fitting of a positive table to row and column sums, of one total.

    Rows are exact; of a column sum a relative difference of up to `tolerance` is let stand.
    """
    if rows.sum() != columns.sum():
        raise OptionError("margins: rows and columns add up to different totals")
    table = table * (rows / table.sum(axis=1))[:, None]
    for _ in range(iterations):
        factors = columns / table.sum(axis=0)
        if np.abs(factors - 1).max() < tolerance:
            return table
        table = table * factors
        table *= (rows / table.sum(axis=1))[:, None]
    raise OptionError(f"margins: no fit within {iterations} iterations")


def draw_whole(expected: np.ndarray, rows: np.ndarray, columns: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw whole persons around a fitted table, with row and column sums exact.

    Each municipality's persons are one multinomial draw, which makes the rows exact. Persons drawn at random from
    columns with too many then move, inside their municipality, to columns with too few.
    """
    drawn = rng.multinomial(rows, expected / expected.sum(axis=1, keepdims=True))
    surplus = drawn.sum(axis=0) - columns
    movers = np.zeros(len(rows), dtype=np.int64)
    for column in np.flatnonzero(surplus > 0):
        taken = rng.multivariate_hypergeometric(drawn[:, column], surplus[column], method="marginals")
        drawn[:, column] -= taken
        movers += taken
    homes = rng.permutation(np.repeat(np.arange(len(rows)), movers))
    wanted = np.repeat(np.arange(len(columns)), np.maximum(-surplus, 0))
    np.add.at(drawn, (homes, wanted), 1)
    return drawn


def assign_labels(cells: np.ndarray, pyramid: np.ndarray) -> np.ndarray:
    """Order cell sizes so that they come closest to a pyramid, whose scale does not matter: assigned, not recovered.

    The rule: the largest size goes to the largest group of the pyramid, the next to the next, and so on. By the
    rearrangement inequality no other order has a smaller sum of squared (or absolute) differences from the pyramid
    scaled to the municipality's total. Groups of equal size are taken in the pyramid's order.
    """
    cells, pyramid = np.asarray(cells), np.asarray(pyramid)
    if cells.shape != pyramid.shape or cells.ndim != 1:
        raise OptionError(f"cells: {cells.shape} sizes for {pyramid.shape} groups; they must be as many")
    labelled = np.empty(len(cells), dtype=np.int64)
    labelled[np.argsort(pyramid, kind="stable")] = np.sort(cells)
    return labelled
