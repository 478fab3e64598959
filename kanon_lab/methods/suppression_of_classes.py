"""Local suppression where a missing value is a value of its own: records lose values until every class has k of them.

Classes that are too small merge by losing the same keys. Where nobody is left to merge with, single records of larger
classes join them. Then the result is improved, as in the location of facilities: a pattern is opened where the records
that it would take lose fewer values by it, or closed where others take its records at no more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, islice

import numpy as np

from kanon_lab.columns import distinct_rows
from kanon_lab.methods.suppression_bound import Pairs, relaxed

#: Parts of classes: the class of each part, its codes, and its records.
Parts = tuple[np.ndarray, np.ndarray, np.ndarray]
# The most pairs of a class and a pattern that an improvement looks at, and the most rounds of it.
_MOST_PAIRS, _ROUNDS = 2**19, 12
# The most pairs of a linear program, and how often it is solved.
_MOST_RELAXED, _TURNS = 2**13, 3
# Savings below this are rounding; a round that saves less than this share is the last.
_LEAST, _SHARE = 1e-6, 0.0001


def equal_records(queries: np.ndarray, codes: np.ndarray, records: np.ndarray) -> np.ndarray:
    """For each row of `queries`, the records of all classes equal to it: a missing value is a value of its own."""
    group, some = distinct_rows(np.concatenate([codes, queries]))
    own = np.bincount(group[: len(codes)], weights=records, minlength=len(some)).astype(np.int64)
    return own[group[len(codes) :]]


def suppressed_as_category(
    codes: np.ndarray,
    records: np.ndarray,
    k: int,
    tiers: Sequence[np.ndarray],
    rng: np.random.Generator | None = None,
    whole: bool = False,
) -> Parts:
    """Parts of classes such that k records or more share the codes of each part.

    `tiers` are the columns that may be suppressed, most important tier first. Sets of keys are tried from the cheapest
    on; classes that lose the same keys and so merge into one that is large enough are done. The last few are joined by
    single records of other classes, or if classes stay `whole` by other classes, at the least cost.
    """
    start, codes = codes, codes.copy()
    left = np.flatnonzero(equal_records(codes, codes, records) < k)
    if not len(left):
        return np.arange(len(codes)), codes, records
    for keys in sets_by_cost(tiers, 4096, rng):  # every set of up to 12 keys
        if not len(left):
            break
        settled = np.asarray((codes[:, keys] < 0).all(axis=1))  # only these can be equal
        settled[left] = False
        trial = codes[left]
        trial[:, keys] = -1
        rows = np.concatenate([codes[settled], trial])
        size = equal_records(trial, rows, np.concatenate([records[settled], records[left]]))
        done = size >= k
        codes[left[done]] = trial[done]
        left = left[~done]
    weights = weights_of(tiers, codes.shape[1])
    parts = np.arange(len(codes)), codes, records
    parts = _all_joined(parts, k, weights, tiers, rng, whole)
    of, codes, records = _improved(start, records, k, weights, tiers, parts, rng, whole)
    order = np.lexsort((*codes.T, of))
    return of[order], codes[order], records[order]


def weights_of(tiers: Sequence[np.ndarray], columns: int) -> np.ndarray:
    """What a suppressed value of each column costs: more than all less important values of a record together."""
    keys = sum(map(len, tiers))
    weights = np.zeros(columns)
    for i, tier in enumerate(reversed(tiers)):
        weights[tier] = float(keys + 1) ** i
    return weights


def _all_joined(
    parts: Parts,
    k: int,
    weights: np.ndarray,
    tiers: Sequence[np.ndarray],
    rng: np.random.Generator | None,
    whole: bool,
) -> Parts:
    """Parts of which each class that was too small has merged with others, one after the other."""
    while len(short := np.flatnonzero(equal_records(parts[1], *parts[1:]) < k)):
        parts = _joined(parts, k, weights, sets_by_cost(tiers, 256, rng), int(short[0]), whole)
    return parts


def _joined(parts: Parts, k: int, weights: np.ndarray, sets: Iterator[list[int]], row: int, whole: bool) -> Parts:
    """Merge the class of a part, which is too small, with others that lose the least for it."""
    of, codes, records = parts
    group, some = distinct_rows(codes)
    size = np.bincount(group, weights=records).astype(np.int64)
    patterns, own = codes[some], group[row]
    best, members, moved, pattern = np.inf, np.empty(0, np.intp), np.empty(0, np.int64), patterns[own]
    for keys in sets:
        like = patterns.copy()
        like[:, keys] = -1
        near = np.flatnonzero((like == like[own]).all(axis=1))
        if size[near].sum() < k:
            continue
        cost = ((patterns[near] >= 0) & (like[near] < 0)) @ weights
        take = _taken(size[near], cost, near == own, k, whole)
        if (total := float(cost @ take)) < best:
            best, members, moved, pattern = total, near, take, like[own]
    for other, number in zip(members, moved, strict=True):
        of, codes, records = _moved((of, codes, records), group == other, int(number), pattern)
        group = np.append(group, np.full(len(of) - len(group), -1))
    return of, codes, records


def _taken(size: np.ndarray, cost: np.ndarray, own: np.ndarray, k: int, whole: bool) -> np.ndarray:
    """How many records of each pattern merge with the own one: as many as are needed, and none or all of one below k.

    Whole patterns: the cheapest that is large enough, or all.
    """
    take, needed = np.where(own, size, 0), k - int(size[own].sum())
    enough = np.flatnonzero(~own & (size >= needed))
    if whole:
        if not len(enough):
            return size
        cheapest = enough[np.argmin(cost[enough] * size[enough])]
        take[cheapest] = size[cheapest]
        return take
    for other in np.argsort(cost, kind="stable"):
        if own[other] or needed <= 0:
            continue
        spare = size[other] if size[other] < k else size[other] - k
        take[other] = min(needed, spare) if size[other] >= k else spare
        needed -= int(take[other])
    if needed > 0:  # none has enough to spare
        rest = np.flatnonzero(take < size)
        for other in rest[np.argsort(cost[rest] * (size - take)[rest], kind="stable")]:
            if needed > 0:
                needed -= int(size[other] - take[other])
                take[other] = size[other]
    return take


def _moved(parts: Parts, rows: np.ndarray, number: int, pattern: np.ndarray) -> Parts:
    """Parts with so many records of some rows, the first ones, under another pattern."""
    of, codes, records = parts[0], parts[1].copy(), parts[2].copy()
    more = []
    for part in np.flatnonzero(rows):
        take = min(number, int(records[part]))
        number -= take
        if take == records[part]:
            codes[part] = pattern
        elif take:
            records[part] -= take
            more.append((of[part], take))
    if more:
        of = np.append(of, [part for part, _ in more])
        codes = np.concatenate([codes, np.tile(pattern, (len(more), 1))])
        records = np.append(records, [take for _, take in more])
    return of, codes, records


def sets_by_cost(tiers: Sequence[np.ndarray], most: int, rng: np.random.Generator | None = None) -> Iterator[list[int]]:
    """Sets of keys, at most `most`: fewest of the most important tier first, then of the next; in the end all keys.

    Of sets that cost the same, those of keys with more values come first, or with `rng` any of them.
    """
    columns = [int(column) for tier in tiers for column in tier]
    tier_of = {int(column): i for i, tier in enumerate(tiers) for column in tier}
    rank = {column: i for i, column in enumerate(columns)}
    sizes = range(1, len(columns) + 1)
    sets = list(islice((chosen for size in sizes for chosen in combinations(columns, size)), most))

    def cost(chosen: tuple[int, ...]) -> tuple:
        in_tier = [sum(tier_of[column] == i for column in chosen) for i in range(len(tiers))]
        return (*in_tier, [rank[column] for column in chosen] if rng is None else rng.random())

    yield from (list(chosen) for chosen in sorted(sets, key=cost))
    yield columns


def _improved(
    start: np.ndarray,
    records: np.ndarray,
    k: int,
    weights: np.ndarray,
    tiers: Sequence[np.ndarray],
    parts: Parts,
    rng: np.random.Generator | None,
    whole: bool,
) -> Parts:
    """Parts at a lower cost, found by moves from these and from the solution of a linear program, where that is small.

    With `rng`, moves that cost the same are drawn.
    """
    columns = [int(column) for tier in tiers for column in tier]
    if len(columns) > 12 or len(start) << len(columns) > _MOST_PAIRS:
        return parts
    pairs = Pairs(start, records, k, columns, weights)
    if rng is not None:
        pairs.weight = pairs.weight + rng.random(len(pairs.weight)) / (2 * records.sum() + 2)
    cost, best = _by_moves(pairs, records, k, parts, whole)
    opened, least = np.zeros(len(pairs.codes)), 0.0
    for turn in range(0 if whole or len(pairs.class_) > _MOST_RELAXED else _TURNS):
        solution = relaxed(pairs, records, opened)
        if solution is None:
            break
        least = least if turn else float(solution[0] @ pairs.weight)
        if turn == 0 and cost <= least + _LEAST:
            break
        other = _rounded(pairs, start, records, k, *solution)
        other_cost, other = _by_moves(pairs, records, k, _all_joined(other, k, weights, tiers, None, whole), whole)
        if other_cost < cost:
            cost, best = other_cost, other
        used = solution[1]
        part = np.flatnonzero((used > _LEAST) & (used < 1 - _LEAST))
        if not len(part) or cost <= least + _LEAST:
            break
        opened[used >= 1 - _LEAST] = 1
        opened[part[np.argsort(-used[part], kind="stable")[: 1 + len(part) // 4]]] = 1
    return best


def _rounded(pairs: Pairs, start: np.ndarray, records: np.ndarray, k: int, x: np.ndarray, used: np.ndarray) -> Parts:
    """Parts for a solution of the linear program: patterns used most come first, and take k or none.

    Other records take the cheapest of these patterns; those that fit none stay as they were.
    """
    left, taken = records.copy(), np.zeros(len(x), dtype=np.int64)
    order = np.argsort(pairs.pattern, kind="stable")
    first = np.searchsorted(pairs.pattern[order], np.arange(len(pairs.codes) + 1))
    total = np.bincount(pairs.pattern, x, len(pairs.codes))
    for p in np.lexsort((-np.round(total, 6), -np.round(used, 6))):
        some = order[first[p] : first[p + 1]]
        some = some[x[some] > _LEAST]
        take = np.minimum(left[pairs.class_[some]], np.ceil(x[some] - _LEAST).astype(np.int64))
        if take.sum() >= k:
            taken[some] += take
            left[pairs.class_[some]] -= take
    is_open = np.bincount(pairs.pattern, taken, len(pairs.codes)) > 0
    for pair in np.argsort(pairs.weight, kind="stable"):
        if left[pairs.class_[pair]] and is_open[pairs.pattern[pair]]:
            taken[pair] += left[pairs.class_[pair]]
            left[pairs.class_[pair]] = 0
    held, rest = np.flatnonzero(taken), np.flatnonzero(left)
    codes = np.concatenate([pairs.codes[pairs.pattern[held]], start[rest]])
    return np.append(pairs.class_[held], rest), codes, np.append(taken[held], left[rest])


def _by_moves(pairs: Pairs, records: np.ndarray, k: int, parts: Parts, whole: bool) -> tuple[float, Parts]:
    """Parts after moves that lower the cost, with the cost; as they are, at no finite cost, if one is no pair."""
    search, cost = _Moves(pairs, records, k, parts, whole), np.inf
    if sum(search.x) < records.sum():
        return np.inf, parts
    for _ in range(_ROUNDS):
        search.improve()
        x = np.array(search.x)
        before, cost = cost, float(x @ pairs.weight)
        if cost > before * (1 - _SHARE):
            break
    held = np.flatnonzero(x)
    return cost, (pairs.class_[held], pairs.codes[pairs.pattern[held]], x[held])


class _Moves:
    """Records of classes by pattern, which move as long as they lose less by it."""

    def __init__(self, pairs: Pairs, records: np.ndarray, k: int, parts: Parts, whole: bool):
        self.pairs, self.k, self.whole = pairs, k, whole
        self.weight, self.class_, self.pattern = pairs.weight.tolist(), pairs.class_.tolist(), pairs.pattern.tolist()
        self.of_class: list[list[int]] = [[] for _ in records]
        self.of_pattern: list[list[int]] = [[] for _ in pairs.codes]
        for v in np.argsort(pairs.weight, kind="stable").tolist():
            self.of_class[self.class_[v]].append(v)
            self.of_pattern[self.pattern[v]].append(v)
        group, _ = distinct_rows(np.concatenate([pairs.codes, parts[1]]))
        number = np.full(group.max() + 1, -1)
        number[group[: len(pairs.codes)]] = np.arange(len(pairs.codes))
        place = {(c, p): v for v, (c, p) in enumerate(zip(self.class_, self.pattern, strict=True))}
        self.log: list[tuple[int, int, int]] = []
        self.x, self.size = [0] * len(self.class_), [0] * len(pairs.codes)
        for c, p, n in zip(
            parts[0].tolist(), number[group[len(pairs.codes) :]].tolist(), parts[2].tolist(), strict=True
        ):
            if (v := place.get((c, p))) is not None:
                self.x[v] += n
                self.size[p] += n

    def improve(self) -> None:
        """Open and close patterns once, those first that may save most."""
        x = np.array(self.x)
        held = np.flatnonzero(x)
        most = np.zeros(len(self.of_class))
        np.maximum.at(most, self.pairs.class_[held], self.pairs.weight[held])
        above = np.zeros(len(self.of_class))  # records that lose something
        np.add.at(above, self.pairs.class_[held], x[held] * (self.pairs.weight[held] > 0))
        gain = np.maximum(most[self.pairs.class_] - self.pairs.weight, 0) * above[self.pairs.class_]
        promise = np.bincount(self.pairs.pattern, gain, len(self.of_pattern))
        for p in np.argsort(-promise, kind="stable").tolist():
            if promise[p] > 0:
                self._open(p)
        for p in range(len(self.size)):
            if self.size[p]:
                self._close(p)

    def _move(self, u: int, v: int, n: int) -> float:
        """Move records of a class to another pattern; what they save."""
        self.x[u] -= n
        self.x[v] += n
        self.size[self.pattern[u]] -= n
        self.size[self.pattern[v]] += n
        self.log.append((u, v, n))
        return n * (self.weight[u] - self.weight[v])

    def _undo(self) -> None:
        while self.log:
            u, v, n = self.log.pop()
            self._move(v, u, n)
            self.log.pop()

    def _ways_out(self, q: int, p: int = -1) -> list[tuple[int, int, int]]:
        """Where all records of a pattern would go if it closed while `p` is open; nothing where some have no way."""
        ways = []
        for u in self.of_pattern[q]:
            if self.x[u]:
                for v in self.of_class[self.class_[u]]:
                    other = self.pattern[v]
                    if other != q and (other == p or self.size[other] >= self.k):
                        ways.append((u, v, self.x[u]))
                        break
                else:
                    return []
        return ways

    def _saved(self, ways: list[tuple[int, int, int]]) -> float:
        return sum(n * (self.weight[u] - self.weight[v]) for u, v, n in ways)

    def _close(self, q: int) -> None:
        """Close a pattern where that saves something."""
        ways = self._ways_out(q)
        if self._saved(ways) > _LEAST:
            for way in ways:
                self._move(*way)
            self.log.clear()

    def _offers(self, p: int) -> list[tuple[float, int, int]]:
        """What a record of each class that has some elsewhere saves by moving to a pattern, the most first."""
        offers = []
        for v in self.of_pattern[p]:
            for u in self.of_class[self.class_[v]]:
                if self.x[u] and u != v:
                    offers.append((self.weight[v] - self.weight[u], u, v))
        return sorted(offers)

    def _portion(self, u: int, most: int) -> int:
        """How many records of a class may leave a pattern, which keeps k."""
        most = min(most, self.size[self.pattern[u]] - self.k)
        return self.x[u] if self.x[u] <= most else 0 if self.whole else max(most, 0)

    def _open(self, p: int) -> None:
        """Open a pattern, or bring it more records, where that saves something."""
        saved, offers = 0.0, self._offers(p)
        for q in dict.fromkeys(self.pattern[u] for loss, u, _ in offers if loss < 0):
            some, spare = [], self.size[q] - self.k
            for loss, u, v in offers:
                if loss < 0 and self.pattern[u] == q and (n := self._portion(u, spare)):
                    some.append((u, v, n))
                    spare -= n
            every = self._ways_out(q, p)
            chosen = max(some, every, key=self._saved)
            if self._saved(chosen) >= 0:
                saved += sum(self._move(*way) for way in chosen)
        while self.size[p] < self.k and saved > _LEAST:
            gain, chosen = -np.inf, []
            for loss, u, v in self._offers(p):
                if n := self._portion(u, self.k - self.size[p]):
                    gain, chosen = -loss, [(u, v, n)]
                    break
            for q in {self.pattern[u] for _, u, _ in self._offers(p)}:
                every = self._ways_out(q, p)
                number = sum(n for _, v, n in every if self.pattern[v] == p)
                if number and self._saved(every) / number > gain:
                    gain, chosen = self._saved(every) / number, every
            if not chosen:
                break
            saved += sum(self._move(*way) for way in chosen)
        if saved <= _LEAST or self.size[p] < self.k:
            self._undo()
        self.log.clear()
