"""The nearest and the farthest of many points of which more and more are taken away."""

from __future__ import annotations

import numpy as np

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
