"""Groups of at least k records that are near each other: maximum distance to the average vector (MDAV)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from kanon_lab.perturb.blocks import Blocks, squared

# Bounds that roots and sums went into are trusted only up to this share.
_SLACK = 1e-9


def on_grid(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values (n, variables) as whole numbers (variables, n), and what a squared difference of each counts for.

    Values less their median, times a power of 2, are rounded, so that the sum of any of them is exact, in whatever
    order. For a million records the rounding is below a billionth of a standard deviation. Weights make every variance
    1.
    """
    points = np.ascontiguousarray(values.T - np.median(values, axis=0)[:, None])
    for row in points:
        _, exponent = math.frexp(np.abs(row).sum())
        row[:] = np.rint(np.ldexp(row, 52 - exponent))
    return points, 1 / points.var(axis=1)


def mdav(
    points: np.ndarray,
    weights: np.ndarray,
    k: int,
    *,
    order: np.ndarray | None = None,
    tell: Callable[[int], object] = lambda records: None,
) -> np.ndarray:
    """The group of each record, numbered as formed; `order`: who begins one, not those farthest from the centroid."""
    blocks = Blocks(points, weights)
    begin = _outermost(blocks) if order is None else (row for row in order.tolist() if blocks.there[row])
    groups: list[np.ndarray] = []

    def take(row: int) -> None:
        groups.append(blocks.nearest(row, k))
        blocks.remove(groups[-1])
        tell(k)

    while blocks.left >= 2 * k:
        opposite, row = blocks.left >= 3 * k, next(begin)
        take(row)
        if opposite:
            take(blocks.farthest(points[:, row]))
    tell(blocks.left)
    group = np.full(points.shape[1], len(groups))
    for number, members in enumerate(groups):
        group[members] = number
    return group


def _outermost(blocks: Blocks) -> Iterator[int]:
    """Time and again the record that is farthest from the centroid of those left.

    The centroid moves little from one time to the next: only records that were far out a while ago need be looked at,
    as long as one of them is farther than all others can have become.
    """
    points, weights = blocks.points, blocks.weights
    rows, ring, centre, reach = np.arange(points.shape[1]), np.empty(0, dtype=np.intp), points[:, 0], math.inf
    while True:
        mean = blocks.total / blocks.left
        ring = ring[blocks.there[ring]]
        distance = squared(points[:, ring], mean, weights)
        moved = math.sqrt(squared(centre[:, None], mean, weights)[0])
        if not distance.max(initial=0) > ((reach + moved) * (1 + _SLACK)) ** 2:
            rows, centre = rows[blocks.there[rows]], mean
            distance = squared(points[:, rows], mean, weights)
            most = min(4 * math.isqrt(len(rows)), len(rows))
            outer = distance >= np.partition(distance, -most)[-most]
            reach = math.sqrt(distance[~outer].max(initial=0))
            ring, distance = rows[outer], distance[outer]
        yield int(ring[distance.argmax()])
