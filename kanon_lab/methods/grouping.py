"""Groups of at least k similar records: MDAV, and the optimal partition of one variable."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

# The most points of a block: fewer make more balls to look at, more make longer looks into one.
_LARGEST = 64
# Relative error allowed for results of roots, sums and scaled values.
_SLACK = 1e-12


def squared(points: np.ndarray, centre: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weighted squared distances of points, shape (variables, n), from a centre, shape (variables,).

    Always computed in the same order, so that equal points are equally far. The searches below pass over points that
    are farther or nearer by more than rounding; these distances decide between the others.
    """
    apart = points - centre[:, None]
    apart *= apart
    apart *= weights[:, None]
    total = apart[0]
    for row in apart[1:]:
        total += row
    return total


class Records:
    """Records that are in no group yet, searched for the one farthest from a point and those nearest to a record."""

    def __init__(self, points: np.ndarray, weights: np.ndarray):
        self.points, self.weights = points, weights
        self.left, self.total = points.shape[1], points.sum(axis=1)
        self.there = np.ones(self.left, dtype=bool)
        # Equal records are together, in file order; `_head` is at or before the first of them that is left.
        self._queue = np.lexsort(points)
        differs = (np.diff(points[:, self._queue], axis=1) != 0).any(axis=0)
        self._same = np.empty(self.left, dtype=np.intp)
        self._same[self._queue] = np.concatenate([[0], differs.cumsum()])
        self._count = np.bincount(self._same)
        self._head = self._count.cumsum() - self._count
        self._unit = np.sqrt(weights)
        self._spot = np.empty(self.left, dtype=np.intp)
        self._build()

    def _build(self) -> None:
        """Make a tree of the records that are left, and blocks of neighbours in it."""
        from scipy.spatial import cKDTree

        self._rows, self._built = np.flatnonzero(self.there), self.left
        self._middle = self.total / self.left
        scaled = (self.points[:, self._rows] - self._middle[:, None]) * self._unit[:, None]
        self._tree = cKDTree(scaled.T)
        order = self._tree.indices
        self._order, self._scaled = self._rows[order], scaled[:, order]
        # The tree halves, so that powers of 2 end where its branches do.
        parts = 1 << (-(-self.left // _LARGEST) - 1).bit_length()
        self._first = np.arange(parts) * self.left // parts
        self._cover()

    def _cover(self) -> None:
        """Draw balls around what is left of the blocks."""
        there = self.there[self._order]
        size = np.add.reduceat(there, self._first, dtype=np.intp)
        size = size[size > 0]
        self._order, self._scaled, self._covered = self._order[there], self._scaled[:, there], self.left
        self._spot[self._order] = np.arange(self.left)
        square = (self._scaled**2).sum(axis=0)
        self._radius, self._reach = math.sqrt(square.max()), 0.0
        # For a product with (-2 a, 1): the squared distance from a, less the square of a.
        self._lifted = np.vstack([self._scaled, square])
        self._first = size.cumsum() - size
        # Wide balls are of no use: each of their records becomes a block.
        alone = np.repeat(self._balls(size)[-1] > self._radius / 4, size)
        alone[self._first] = True
        self._first = alone.nonzero()[0]
        self._size = np.diff(self._first, append=self.left)
        middle, radius = self._balls(self._size)
        # For a product with (-2 a, 1, 2 d): no less than d^2 - a^2 if a point of the ball can be as far as d from a.
        self._ball = np.vstack([middle, (middle**2).sum(axis=0) - radius**2, radius])

    def _balls(self, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Middles and radii of the blocks that have so many records."""
        middle = np.add.reduceat(self._scaled, self._first, axis=1) / size
        apart = self._scaled - np.repeat(middle, size, axis=1)
        return middle, np.sqrt(np.maximum.reduceat((apart**2).sum(axis=0), self._first))

    def remove(self, rows: np.ndarray) -> None:
        """Remove records."""
        self.there[rows] = False
        self.left -= len(rows)
        self.total -= self.points[:, rows].sum(axis=1)
        np.subtract.at(self._count, self._same[rows], 1)
        self._lifted[-1, self._spot[rows]] = -np.inf
        if self.left < self._built // 2:
            self._build()
        elif self.left < self._covered * 0.95:
            self._cover()

    def farthest(self, centre: np.ndarray) -> int:
        """The earliest of the records farthest from a centre, shape (variables,)."""
        at = (centre - self._middle) * self._unit
        own, least = at @ at, self._radius / 4
        slack = _SLACK * len(at) * (self._radius**2 + own)
        lift = np.append(-2 * at, [1.0, 2 * max(self._reach, least)])
        # A few blocks give a lower bound of the distance; then those that may hold a record as far are looked at.
        bound, farthest = lift @ self._ball, [-np.inf]
        while len(farthest) < 4 and bound[block := bound.argmax()] > -np.inf:
            first = self._first[block]
            most = (lift[:-1] @ self._lifted[:, first : first + self._size[block]]).max()
            bound[block] = -np.inf
            if most > -np.inf:
                farthest.append(most)
            else:
                self._ball[-2, block] = -np.inf
        most, many = max(farthest), 16
        while True:
            self._reach = max(math.sqrt(max(most + own, 0.0)), least)
            lift[-1] = 2 * self._reach
            bound = lift @ self._ball
            blocks = (bound >= self._reach**2 - own - slack).nonzero()[0]
            if len(blocks) <= 4 * many:
                break
            # There are too many: looking at the most promising raises the bound.
            best = self._lift(lift, blocks[np.argpartition(bound[blocks], -many)[-many:]])[1].max()
            most, many = (best, many) if best > most else (most, 4 * many)
        places, far = self._lift(lift, blocks)
        most = far.max(initial=-np.inf)
        # Balls are small beside the distance; where they are not, all far records are gone.
        if most + own < least**2 - slack:
            self._build()
            return self.farthest(centre)
        rows = self._order[places[far >= most - slack]]
        distance = squared(self.points[:, rows], centre, self.weights)
        return int(rows[distance == distance.max()].min())

    def _lift(self, lift: np.ndarray, blocks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The positions of the records of some blocks, and their squared distances, less a constant."""
        size = self._size[blocks]
        places = np.repeat(self._first[blocks] - size.cumsum() + size, size)
        places += np.arange(len(places))
        return places, lift[:-1] @ self._lifted[:, places]

    def nearest(self, row: int, count: int) -> np.ndarray:
        """A record and the `count` - 1 others nearest to it (of ties the earliest), unordered, shape (count,)."""
        if self._count[self._same[row]] >= count:
            return self._equal(row, count)
        at = (self.points[:, row] - self._middle) * self._unit
        blur, many = _SLACK * self._radius, 5 * count
        while True:
            apart, near = self._tree.query(at, min(many, self._built))
            near, sure = self._rows[near], apart[-1] * (1 - _SLACK) - blur
            there = self.there[near]
            near, apart = near[there], apart[there]
            if len(near) > count and apart[count - 1] < apart[count] * (1 - _SLACK) - blur:
                return near[:count]
            if len(near) >= count:
                distance = squared(self.points[:, near], self.points[:, row], self.weights)
                distance[near == row] = -1
                first = np.lexsort((near, distance))[:count]
                if many >= self._built or math.sqrt(max(distance[first[-1]], 0.0)) < sure:
                    return near[first]
            many *= 4

    def _equal(self, row: int, count: int) -> np.ndarray:
        """A record and the `count` - 1 earliest ones equal to it, of which there are enough."""
        same, many = self._same[row], 2 * count
        while True:
            rows = self._queue[self._head[same] :][:many]
            there = self.there[rows]
            if there.sum() >= count:
                break
            many *= 4
        self._head[same] += there.argmax()
        rows = rows[there][:count]
        if row not in rows:
            rows[-1] = row
        return rows


def on_grid(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values (n, variables) as whole numbers (variables, n), and the weight of each variable's squared differences.

    Values less their median, times a power of 2, are rounded, so that sums are exact in any order. For a million
    records the rounding is below a billionth of a standard deviation. Weights make every variance 1.
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
    """The group of each record, numbered as formed, from the farthest record or by `order` of who begins a group."""
    records = Records(points, weights)
    outermost, rough = _Outermost(records), order is None and records.left > MOST_EXACT
    begin = iter(outermost) if order is None else (row for row in order.tolist() if records.there[row])
    groups: list[np.ndarray] = []

    def take(row: int) -> None:
        groups.append(records.nearest(row, k))
        records.remove(groups[-1])
        tell(k)

    while records.left >= 2 * k:
        opposite, row = records.left >= 3 * k, next(begin)
        take(row)
        if opposite:
            take((outermost if rough else records).farthest(points[:, row]))
    tell(records.left)
    group = np.full(points.shape[1], len(groups))
    for number, members in enumerate(groups):
        group[members] = number
    return group


class _Outermost:
    """An iterator of the record that is then farthest from the centroid of those left.

    The centroid moves little from one step to the next: only records that were far out a while ago need be looked at,
    as long as one of them is farther than all others can have become. They form a ring, and a ring within it.
    """

    def __init__(self, records: Records):
        self.records = records
        self.size = [round(4 * records.left**power) for power in (1, 0.65, 0.4)]
        self.rings = [np.arange(records.left)] + 2 * [np.empty(0, dtype=np.intp)]
        self._far = self.rings[1]

    def __iter__(self) -> Iterator[int]:
        records, points, weights, rings = self.records, self.records.points, self.records.weights, self.rings
        centres, reaches = 3 * [points[:, 0]], [0.0, math.inf, math.inf]
        while True:
            mean = records.total / records.left
            for level in (2, 1, 0):
                ring = rings[level] = rings[level][records.there[rings[level]]]
                distance = squared(points[:, ring], mean, weights)
                reach = reaches[level] + math.sqrt(squared(centres[level][:, None], mean, weights)[0])
                if level == 0 or distance.max(initial=0) > (reach * (1 + _SLACK)) ** 2:
                    break
            row, reach = int(ring[distance.argmax()]), reach if level else 0.0
            for inner in range(level + 1, 3):
                most = min(self.size[inner], len(ring))
                outer = distance >= np.partition(distance, -most)[-most]
                reach = max(reach, math.sqrt(distance[~outer].max(initial=0)))
                ring, distance = ring[outer], distance[outer]
                rings[inner], centres[inner], reaches[inner] = ring, mean, reach
            yield row

    def farthest(self, centre: np.ndarray) -> int:
        """Of the outermost records the one farthest from a point: as far as the farthest of all, or nearly so."""
        points, weights, there = self.records.points, self.records.weights, self.records.there
        self._far = self._far[there[self._far]]
        if len(self._far) < min(_FEW, self.records.left):
            ring = self.rings[1][there[self.rings[1]]]
            if len(ring) < _FEW:
                ring = there.nonzero()[0]
            distance = squared(points[:, ring], self.records.total / self.records.left, weights)
            most = min(self.size[2], len(ring))
            self._far = ring[distance >= np.partition(distance, -most)[-most]]
        return int(self._far[squared(points[:, self._far], centre, weights).argmax()])


#: Records up to which MDAV is exact. Of more, the record farthest from another is sought among the outermost only.
MOST_EXACT = 200_000
# The fewest records among which it is sought.
_FEW = 64
# Costs of groups that are computed at a time.
_AT_A_TIME = 2**20


def optimal(values: np.ndarray, k: int, *, tell: Callable[[int], object] = lambda records: None) -> np.ndarray:
    """The partition into groups of at least `k` with the least sum of squares about the group means, numbered by value.

    In the best partition each group is a run of k to 2k - 1 sorted values. So it is the shortest path from before the
    first value to after the last, where a step over a run costs its sum of squares: for each end of a run only k starts
    are tried. Of equally good last groups the largest is taken; equal values are in file order.
    """
    order, n = np.argsort(values, kind="stable"), len(values)
    values = values[order]
    # In such units squares neither vanish nor overflow.
    unit = values[-1] - values[0]
    values = (values - values[n // 2]) / (unit or 1.0)
    # Least cost up to each end, after 2k places of which only the last begins a path.
    least = np.full(2 * k + n, np.inf)
    least[2 * k - 1] = 0.0
    starts, before = np.zeros(n + 1, dtype=np.int64), sliding_window_view(least, k)
    size = max(_AT_A_TIME // (2 * k * k) * k, _AT_A_TIME // (2 * k), 1)
    for first in range(k, n + 1, size):
        # Sums of squares of the runs that end there, by column of 2k - 1 ... k values. The costs of runs that would
        # start before the first value are arbitrary: no path uses them.
        block, back = np.arange(first, min(first + size, n + 1)), np.arange(1, 2 * k)
        # As distances from the last of the run values keep their digits, and those of equal values are 0.
        apart = values[np.maximum(block[:, None] - back, 0)] - values[block - 1][:, None]
        sums = apart.cumsum(axis=1)[:, k - 1 :]
        apart *= apart
        costs = (apart.cumsum(axis=1)[:, k - 1 :] - sums**2 / back[k - 1 :])[:, ::-1]
        # The next k ends do not depend on each other: a run has at least k values.
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
    run = np.empty(n, dtype=np.int64)
    run[order] = np.repeat(np.arange(len(ends)), np.diff(ends[::-1], prepend=0))
    return run
