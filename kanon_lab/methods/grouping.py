"""Groups of at least k records that are alike: MDAV, and the best partition of one variable."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

# Points of a block at most: fewer make more boxes to look at, more make longer looks into one.
_LARGEST = 128
# No distance is larger, and what is not there is farther.
_FINITE = np.finfo(float).max


def squared(points: np.ndarray, centre: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weighted squared distances of points, shape (variables, n), from one, shape (variables,).

    Always reckoned in the same order, so that equal points are equally far, and points of a box never farther or nearer
    than its sides: rounding keeps the order of what it rounds.
    """
    return _summed(points - centre[:, None], weights)


def _summed(apart: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weighted sums of squares of differences, in their place."""
    apart *= apart
    apart *= weights[:, None]
    total = apart[0]
    for row in apart[1:]:
        total += row
    return total


class Blocks:
    """Points in blocks of neighbours, each with a box about its points; a search skips the boxes that cannot matter."""

    def __init__(self, points: np.ndarray, weights: np.ndarray):
        self.points, self.weights = points, weights
        self.there, self.total = np.ones(points.shape[1], dtype=bool), points.sum(axis=1)
        self._block, self._place = np.empty((2, points.shape[1]), dtype=np.intp)
        self._build(np.arange(points.shape[1]))

    def _build(self, rows: np.ndarray) -> None:
        parts = self._halved(rows, -(-len(rows) // _LARGEST))
        shape = len(parts), max(map(len, parts))
        self._built = self.left = len(rows)
        # What is added to the distance of a place: nothing, or so much that no point seems to be there.
        self._gap, self._rows = np.full(shape, np.inf), np.zeros(shape, dtype=np.intp)
        for block, part in enumerate(parts):
            self._gap[block, : len(part)], self._rows[block, : len(part)] = 0.0, part
            self._block[part], self._place[part] = block, np.arange(len(part))
        self._count = np.array([len(part) for part in parts])
        self._cells = self.points[:, self._rows]
        self._low, self._high = np.empty((2, len(self.points), len(parts)))
        self._loose = np.ones(len(parts), dtype=bool)
        self._tighten(np.arange(len(parts)))

    def _halved(self, rows: np.ndarray, parts: int) -> list[np.ndarray]:
        """Points in so many blocks, by halves along the variable in which they spread most; each in ascending order."""
        if parts == 1:
            return [rows]
        some = self.points[:, rows]
        widest = ((some.max(axis=1) - some.min(axis=1)) ** 2 * self.weights).argmax()
        order = some[widest].argsort(kind="stable")
        half = len(rows) * (parts // 2) // parts
        low, high = np.sort(rows[order[:half]]), np.sort(rows[order[half:]])
        return self._halved(low, parts // 2) + self._halved(high, parts - parts // 2)

    def _tighten(self, blocks: np.ndarray) -> None:
        """Draw anew the boxes among these that points were taken from."""
        blocks = blocks[self._loose[blocks]]
        if len(blocks):
            cells, gap = self._cells[:, blocks], self._gap[blocks]
            self._low[:, blocks], self._high[:, blocks] = (cells + gap).min(axis=2), (cells - gap).max(axis=2)
            self._loose[blocks] = False

    def remove(self, rows: np.ndarray) -> None:
        """Take points away."""
        self.there[rows] = False
        self.left -= len(rows)
        self.total -= self.points[:, rows].sum(axis=1)
        # Each search looks at all boxes: when half of the points are gone, there are made fewer.
        if self.left < self._built // 2 and len(self._count) > 1:
            self._build(np.flatnonzero(self.there))
            return
        blocks = self._block[rows]
        self._gap[blocks, self._place[rows]] = np.inf
        self._loose[blocks] = True
        np.subtract.at(self._count, blocks, 1)
        # The block that moves into the place of an empty one is the last: emptied from behind, it is not empty itself.
        for block in sorted({*blocks[self._count[blocks] == 0].tolist()}, reverse=True):
            self._drop(block)

    def _drop(self, block: int) -> None:
        """Put the last block in the place of an empty one."""
        last = len(self._count) - 1
        self._block[self._rows[last][self._gap[last] == 0]] = block
        for name in ("_gap", "_rows", "_count", "_loose"):
            array = getattr(self, name)
            array[block] = array[last]
            setattr(self, name, array[:last])
        for name in ("_cells", "_low", "_high"):
            array = getattr(self, name)
            array[:, block] = array[:, last]
            setattr(self, name, array[:, :last])

    def _distances(self, blocks: np.ndarray, centre: np.ndarray) -> np.ndarray:
        """Squared distances of the places of some blocks, whether a point is there or not."""
        cells = self._cells[:, blocks[0]] if len(blocks) == 1 else self._cells[:, blocks].reshape(len(centre), -1)
        return squared(cells, centre, self.weights)

    def farthest(self, centre: np.ndarray) -> int:
        """The earliest of the points farthest from a centre, shape (variables,)."""
        at = centre[:, None]
        bound = _summed(np.maximum(at - self._low, self._high - at), self.weights)
        blocks, best, found = bound.argmax()[None], -1.0, -1
        while len(blocks):
            distance = self._distances(blocks, centre) - self._gap[blocks].ravel()
            bound[blocks] = -1
            if (most := distance.max()) >= best:
                row = self._rows[blocks].ravel()[distance == most].min()
                found = row if most > best else min(row, found)
                best = most
            self._tighten(blocks)
            blocks = _next((bound >= best).nonzero()[0], -bound, len(blocks))
        return int(found)

    def nearest(self, row: int, count: int) -> np.ndarray:
        """A point and the `count` - 1 other ones nearest to it, of equals the earliest; in no order, shape (count,)."""
        centre, block = self.points[:, row], self._block[row]
        at = centre[:, None]
        sides = np.maximum(self._low - at, at - self._high)
        bound = _summed(np.maximum(sides, 0, out=sides), self.weights)
        blocks, reach = block[None], _FINITE
        near, found = np.empty(0), np.empty(0, dtype=np.intp)
        while len(blocks):
            distance = self._distances(blocks, centre) + self._gap[blocks].ravel()
            bound[blocks], looked = np.inf, len(blocks)
            if not len(found):
                distance[self._place[row]] = -1
            if len(distance) > count:
                reach = min(reach, np.partition(distance, count - 1)[count - 1])
            some = (distance <= reach).nonzero()[0]
            near = np.concatenate([near, distance[some]])
            found = np.concatenate([found, self._rows[blocks].ravel()[some]])
            if len(near) > count:
                first = np.lexsort((found, near))[:count]
                near, found = near[first], found[first]
                reach = near[-1]
            # A block no nearer than the last one found matters only if it holds an earlier point.
            blocks = (bound <= reach).nonzero()[0]
            if len(blocks):
                last = found[near == reach].max(initial=-1) if len(near) == count else self.points.shape[1]
                blocks = blocks[(bound[blocks] < reach) | (self._rows[blocks, 0] < last)]
                blocks = _next(blocks, bound, looked)
        return found


def _next(blocks: np.ndarray, order: np.ndarray, before: int) -> np.ndarray:
    """The first of some blocks in an order, several times as many as `before`."""
    most = 8 * before
    return blocks if len(blocks) <= most else blocks[np.argpartition(order[blocks], most)[:most]]


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


# Costs of groups that are reckoned at a time.
_AT_A_TIME = 2**20


def optimal(values: np.ndarray, k: int, *, tell: Callable[[int], object] = lambda records: None) -> np.ndarray:
    """The partition into groups of at least `k` with the least sum of squares about the group means, numbered by value.

    In the best partition each group is a run of the sorted values, of k to 2k - 1 of them. So it is the shortest path
    from before the first value to behind the last, where a step over a run costs its sum of squares: for each end of a
    run only k starts are tried. Of equally good last groups the largest is taken; equal values stand in file order.
    """
    order = np.argsort(values, kind="stable")
    run = np.empty(len(values), dtype=np.int64)
    ends = _ends(values[order], k, tell)
    run[order] = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    return run


def _ends(values: np.ndarray, k: int, tell: Callable[[int], object]) -> np.ndarray:
    """Where the runs of the best partition of sorted values end."""
    n = len(values)
    # In such units squares neither vanish nor overflow.
    unit = values[-1] - values[0]
    values = (values - values[n // 2]) / (unit or 1.0)
    # Least cost up to each end, behind 2k places from which no path comes but from the last.
    least = np.full(2 * k + n, np.inf)
    least[2 * k - 1] = 0.0
    starts, before = np.zeros(n + 1, dtype=np.int64), sliding_window_view(least, k)
    size = max(_AT_A_TIME // (2 * k * k) * k, _AT_A_TIME // (2 * k), 1)
    for first in range(k, n + 1, size):
        costs = _costs(values, np.arange(first, min(first + size, n + 1)), k)
        # The k next ends depend on none of each other: a run has k values at least.
        for done in range(0, len(costs), k):
            some, end = costs[done : done + k], first + done
            paths = before[end : end + len(some)] + some
            best = paths.argmin(axis=1)
            least[end + 2 * k - 1 : end + 2 * k - 1 + len(some)] = paths[np.arange(len(some)), best]
            starts[end : end + len(some)] = best
        tell(len(costs))
    tell(k - 1)
    ends, end = [], n
    while end > 0:
        ends.append(end)
        end += int(starts[end]) - (2 * k - 1)
    return np.array(ends[::-1])


def _costs(values: np.ndarray, ends: np.ndarray, k: int) -> np.ndarray:
    """Sums of squares of the runs with some ends and, by column, 2k - 1 ... k values, shape (ends, k).

    Those that would start before the first value cost anything: no path comes to them.
    """
    back = np.arange(1, 2 * k)
    # As distances from the last of the run values keep their digits, and those of equal ones are 0.
    apart = values[np.maximum(ends[:, None] - back, 0)] - values[ends - 1][:, None]
    sums = apart.cumsum(axis=1)[:, k - 1 :]
    apart *= apart
    costs = apart.cumsum(axis=1)[:, k - 1 :] - sums**2 / back[k - 1 :]
    return costs[:, ::-1]
