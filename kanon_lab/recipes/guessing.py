"""The best guess of one variable by another: how often it is right beyond guessing without, and whether that is luck.

The guess for a record is the value that is most frequent among the *other* records with its value of the column: the
record itself, and the members of its household, are left out, so that a column of many values does not fit itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import lgamma, log, prod

import numpy as np

from kanon_lab.columns import LARGEST_PACKED, firsts, grouped, memory_in_use, pack, remembered_rows, sorted_rows

# Points at which the bound of the chance is taken, that of the largest being the bound; each with exp(point) - 1, and
# the same of minus the point.
_TILTS = [(tilt, np.expm1(tilt), np.expm1(-tilt)) for tilt in (0.04, 0.12, 0.3, 0.6, 1, 1.7, 3, 5.5, 10, 16)]
_ALL: np.ndarray | slice = slice(None)
# Records that a group of those seen alike has on average if evidence is asked for beside another key.
_GROUP = 30
# Members of a household are compared with each other in households of at most so many.
_MEMBERS = 30
# A table of counts by position has at most so many places for each record.
_PLACES = 2


@dataclass(frozen=True)
class Guess:
    """What a column guesses of a target.

    `values` has the guess for each record as a code, -1 for none; `removed` (0-1) is the share of errors that it
    removes: of those of the best guess without the column, in the records asked for. `gained` of these are right
    beyond what guessing gets. `weights` (0-1) say for each record how far it is told if its guess is right: they are
    the share of right guesses that are beyond what guessing gets, and `removed` where no guess is asked for. A record
    without others of its value of the column is told its own, also by `removed`: who knows the town of a street knows
    it of a street with one person too.
    """

    values: np.ndarray = field(repr=False)
    removed: float
    weights: np.ndarray = field(repr=False)
    gained: float


class _Pairs:
    """How many records, or households, have each pair of a value of a column and of the target; all codes from 0 on."""

    def __init__(self, column: np.ndarray, target: np.ndarray, home: np.ndarray | None):
        self.m, self.home = int(target.max()) + 1, home
        size = (int(column.max()) + 1) * self.m
        self.pair, pairs = grouped(column.astype(np.int64) * self.m + target, size)
        self.pairs, (first, self.second) = len(pairs), np.divmod(pairs, self.m)
        self.times = np.bincount(self.pair[self.once], minlength=len(pairs))
        new = firsts(first)
        self.start, self.group = np.flatnonzero(new), np.cumsum(new) - 1
        # The most frequent first; of those equally frequent, the one that more records have.
        total = np.bincount(self.second, self.times, minlength=self.m)
        self.by_frequency = np.argsort(-total, kind="stable")
        place = np.empty(self.m, dtype=np.int64)
        place[self.by_frequency] = np.arange(self.m)
        self.score = self.times * self.m + self.m - 1 - place[self.second]

    @cached_property
    def triples(self) -> tuple[np.ndarray, np.ndarray]:
        """For each record the number of its pair in its household, and one record of each number."""
        assert self.home is not None
        homes = int(self.home.max()) + 2  # a record without one has -1
        return _numbered(self.pair * np.int64(homes) + self.home + 1, self.pairs * homes)

    @cached_property
    def once(self) -> np.ndarray | slice:
        """The records but those whose household has another one, further down, with the same pair."""
        if (home := self.home) is None:
            return _ALL
        if (home[1:] >= home[:-1]).all():  # members one after the other are compared without a sort
            once = np.ones(len(home), dtype=bool)
            for apart in range(1, _MEMBERS):
                same = home[apart:] == home[:-apart]
                if not same.any():
                    return _ALL if once.all() else once
                once[:-apart] &= ~(same & (self.pair[apart:] == self.pair[:-apart]))
        return self.triples[1]

    @cached_property
    def top(self) -> np.ndarray:
        """For each value of the column the largest score."""
        return np.maximum.reduceat(self.score, self.start)

    @cached_property
    def usual(self) -> np.ndarray:
        """For each value of the column the value of the target that goes with it most often."""
        return self.by_frequency[self.m - 1 - self.top % self.m]

    @cached_property
    def order(self) -> np.ndarray:
        """The pairs by value of the column, the most frequent first."""
        top = int(self.score.max())
        if len(self.start) * (top + 1) >= LARGEST_PACKED:
            return np.lexsort((-self.score, self.group))
        return sorted_rows(self.group * (top + 1) + top - self.score, len(self.start) * (top + 1))[0]

    @cached_property
    def place(self) -> np.ndarray:
        """The place of each pair among those with its value of the column."""
        place = np.empty(len(self.group), dtype=np.int64)
        place[self.order] = np.arange(len(place)) - self.start[self.group]
        return place

    def guesses(self) -> np.ndarray:
        """For each record the guess by the others; -1 where there are none."""
        if self.home is None:
            return self._without_one()[self.pair]
        once = self.triples[1]
        pair, home = self.pair[once], self.home[once] + 1
        group, place = self.group[pair], self.place[pair]
        order = _sorted_by([group, home, place])
        group, home, place = group[order], home[order], place[order]
        new = firsts(group) | firsts(home)
        start, part = np.flatnonzero(new), np.cumsum(new) - 1
        number = np.arange(len(order)) - start[part]
        # A household has so many of the first places, without a gap.
        leading = np.minimum.reduceat(np.where(place == number, len(order), number), start)
        leading = np.minimum(leading, np.diff(start, append=len(order)))
        of_triple = np.empty(len(order), dtype=np.int64)
        of_triple[order] = self._without(group[start], leading)[part]
        return of_triple[self.triples[0]]

    def _without_one(self) -> np.ndarray:
        """For each pair the most frequent value of its group if one record is taken off the pair."""
        best = self.score == self.top[self.group]
        first, others = np.flatnonzero(best), np.where(best, -1, self.score)
        next_best = np.maximum.reduceat(others, self.start)  # -1: the group has one pair
        guess = self.second[first][self.group]
        left = self.top - self.m
        other = self.by_frequency[self.m - 1 - next_best % self.m]
        own = np.where(next_best > left, other, self.second[first])
        guess[first] = np.where((next_best < 0) & (left < self.m), -1, own)
        return guess

    def _without(self, group: np.ndarray, leading: np.ndarray) -> np.ndarray:
        """The most frequent value of each group if one is taken off from each of its first places, `leading` many."""
        start, some = self.start[group], leading < np.diff(self.start, append=self.pairs)[group]
        first = self.order[start]
        other = self.order[np.where(some, start + leading, start)]
        left = self.score[first] - self.m * (leading > 0)
        guess = np.where(some & (self.score[other] > left), self.second[other], self.second[first])
        return np.where(~some & (left < self.m), -1, guess)


def _numbered(packed: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """For each row the number of its value among the sorted distinct ones, and one row of each."""
    number, distinct = grouped(packed, size)
    some = np.empty(len(distinct), dtype=np.intp)
    some[number] = np.arange(len(number))
    return number, some


def _sorted_by(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Positions that sort rows by columns of whole numbers from 0 on; no two rows are equal."""
    radices = [int(column.max()) + 1 for column in columns]
    if prod(radices) >= LARGEST_PACKED:
        return np.lexsort([*columns][::-1])
    packed, size = pack(columns, radices)
    return sorted_rows(packed, size)[0]


def best_guesses(column: np.ndarray, target: np.ndarray, home: np.ndarray | None = None) -> np.ndarray:
    """For each record the code of the target that is most frequent among others with its code of the column.

    Both are codes from 0 on, -1 where missing. Left out are the record, or its household (`home`), whose members count
    once where they have the same pair. Of values that are equally frequent the one is taken that more records have in
    all, then the lower code. -1 where there are no others, or one of the two codes is missing.
    """
    guess, known = np.full(len(column), -1, dtype=np.int64), (column >= 0) & (target >= 0)
    if known.any():
        pairs = _Pairs(column[known], target[known], None if home is None else home[known])
        guess[known] = pairs.guesses()
    return guess


def joint(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Codes of two columns as one, a gap being a value of its own."""
    width = int(second.max()) + 2
    return grouped((first.astype(np.int64) + 1) * width + second + 1, (int(first.max()) + 2) * width)[0]


class Target:
    """A variable that an intruder guesses.

    Parameters
    ----------
    codes : ndarray of int, shape (n,)
        From 0 on, -1 where missing.
    wanted : ndarray of bool, shape (n,)
        Records in which the guess is of use.
    without : sequence of ndarray of int, each of shape (n,)
        What the intruder sees without the column, as codes from 0 on: each is one way to guess.
    home : ndarray of int, optional
        Household of each record.
    """

    def __init__(
        self, codes: np.ndarray, wanted: np.ndarray, without: Sequence[np.ndarray], home: np.ndarray | None = None
    ):
        self.codes, self.without, self.home = codes, without, home
        self.wanted, self._right = wanted & (codes >= 0), dict[int, np.ndarray]()
        self._some: tuple[np.ndarray, Target] | None = None
        self._last: tuple[np.ndarray, np.ndarray, _Pairs] | None = None

    def right_without(self, way: int) -> np.ndarray:
        """Records in which a guess without the column is right."""
        if way not in self._right:
            self._right[way] = _right_guesses(self.without[way], self.codes, self.home)
        return self._right[way]

    def rows(self, rows: np.ndarray) -> Target:
        """The same in some records only; made once for the same rows, which are asked for again and again."""
        if self._some is None or self._some[0] is not rows:
            home = None if self.home is None else self.home[rows]
            without = [seen[rows] for seen in self.without[:1]]
            self._some = rows, Target(self.codes[rows], self.wanted[rows], without, home)
        return self._some[1]

    def _paired(self, column: np.ndarray) -> tuple[np.ndarray, _Pairs]:
        """The records in which column and target are known, of which there is one, and their pairs."""
        if self._last is None or self._last[0] is not column:
            known = (column >= 0) & (self.codes >= 0)
            home = None if self.home is None else self.home[known]
            self._last = column, known, _Pairs(column[known], self.codes[known], home)
        return self._last[1:]

    def guess(self, column: np.ndarray, evidence: float, members: Sequence[np.ndarray] = ()) -> Guess | None:
        """The guess by a column; None if it gets no more right than guessing without it, or no more than luck explains.

        `members` are codes of columns that a pair is made of: it must tell more than each of them alone.
        """
        memory, key, whole = memory_in_use(), b"", b""
        if memory is not None:
            key = memory.key("guess", column, self.codes, self.wanted, self.without[0], self.home)
            if (kept := memory.number(key)) is not None and kept < evidence:
                return None
            whole = memory.key("no guess", column, self.codes, self.wanted, self.home, *self.without, *members)
            if (kept := memory.number(whole)) is not None and kept <= evidence:
                return None
        guess, least = self._guess(column, evidence, members)
        if memory is not None and guess is None:  # what is asked for more evidence is none either
            memory.keep(whole if least is None else key, evidence if least is None else least)
        return guess

    def _guess(
        self, column: np.ndarray, evidence: float, members: Sequence[np.ndarray]
    ) -> tuple[Guess | None, float | None]:
        """The guess; and where it is None, the evidence beside what is seen first, if that is too little for it."""
        known = (column >= 0) & (self.codes >= 0)
        if not (known & self.wanted).any():
            return None, -np.inf
        known, pairs = self._paired(column)
        if (beyond := _evidence(pairs, self.without[0][known])) < evidence:  # sooner found than the guesses
            return None, beyond
        values = np.full(len(column), -1, dtype=np.int64)
        values[known] = pairs.guesses()
        asked = self.wanted & (values >= 0)
        hits = (values == self.codes)[asked]
        right, usual, n = int(hits.sum()), 0, int(asked.sum())
        for way, seen in enumerate(self.without):
            others = self.right_without(way)[asked]
            usual = max(usual, int(others.sum()))
            if right <= usual:
                return None, None if way else -np.inf
            if not way or _more_often(int((hits & ~others).sum()), int((others & ~hits).sum())) >= evidence:
                continue
            # Of small groups the usual value is itself luck, by which evidence beside a key would be lost.
            enough = evidence / 2 if len(seen) >= _GROUP * (seen.max() + 1) else -np.inf
            if _evidence(pairs, seen[known]) < enough:
                return None, None
        for member in members:
            seen = _with_gaps(member)
            by_one = _right_guesses(seen, self.codes, self.home)
            if right <= by_one[asked].sum() or _evidence(pairs, seen[known]) < evidence:
                return None, None
        removed, alone = (right - usual) / (n - usual), known & (values < 0)
        weights = np.where(asked, removed * n / right, removed)
        gained = removed * (n + int((alone & self.wanted).sum()))
        return Guess(np.where(alone, self.codes, values), removed, weights, gained), None

    def evidence(self, column: np.ndarray, seen: np.ndarray | None = None) -> float:
        """Minus the logarithm of a bound of the chance that luck explains what a column tells beyond what is seen."""
        memory, seen = memory_in_use(), self.without[0] if seen is None else _with_gaps(seen)
        key = b"" if memory is None else memory.key("evidence", column, self.codes, seen, self.home)
        if memory is not None and (kept := memory.number(key)) is not None:
            return kept
        evidence = -np.inf
        if ((column >= 0) & (self.codes >= 0)).any():
            known, pairs = self._paired(column)
            evidence = _evidence(pairs, seen[known])
        if memory is not None:
            memory.keep(key, evidence)
        return evidence


def _right_guesses(column: np.ndarray, target: np.ndarray, home: np.ndarray | None) -> np.ndarray:
    """Records in which the guess by a column is right."""
    return remembered_rows("right", lambda: best_guesses(column, target, home) == target, column, target, home)


def _more_often(right: int, wrong: int) -> float:
    """Minus the logarithm of a bound of the chance that of two equal guesses one alone is right so much more often."""
    n = right + wrong
    return n * log(2) + sum(count * log(count / n) for count in (right, wrong) if count) if right > wrong else 0.0


def log_choices(n: int, taken: int) -> float:
    """Logarithm of the number of ways to take so many of `n`."""
    return lgamma(n + 1) - lgamma(taken + 1) - lgamma(n - taken + 1)


def divergence(share: float, chance: float) -> float:
    """Minus the logarithm, for each trial, of a bound of the chance that so large a share (0-1) succeeds by luck."""
    missed = (1 - share) * log((1 - share) / (1 - chance)) if share < 1 else 0.0
    return share * log(share / chance) + missed


def _with_gaps(codes: np.ndarray) -> np.ndarray:
    """Codes with a missing value as one more value."""
    return np.where(codes < 0, codes.max() + 1, codes)


def _evidence(pairs: _Pairs, seen: np.ndarray) -> float:
    """Minus the logarithm of a bound of the chance that values of a column tell so much beyond what is `seen`.

    Suppose that within each group of those seen alike, values of the target fell to the records by chance. A value of
    the column may say a value of the target, or nothing; it gains a record where it is right and the usual value of the
    group is not, and loses one where that is right. The chance of so large a gain is bounded by the method of Chernoff,
    times the number of ways to let as many values of the column say something.
    """
    # Records with the same pair that see the same are one cell, if that takes no sort; else each record is a cell.
    m, pair, seen = pairs.m, pairs.pair[pairs.once], seen[pairs.once]
    times, width = np.ones(len(pair), dtype=np.int64), int(seen.max()) + 1
    if pairs.pairs * width <= _PLACES * len(pair):
        count = np.bincount(pair * np.int64(width) + seen)
        cell = np.flatnonzero(count)
        times, (pair, seen) = count[cell], np.divmod(cell, width)
    often = np.add.reduceat(pairs.times, pairs.start) > 1
    rows = often[pairs.group][pair]
    if not rows.all():
        pair, seen, times = pair[rows], seen[rows], times[rows]
    if not len(pair):
        return -np.inf
    group, target, claimed = pairs.group[pair], pairs.second[pair], pairs.usual[pairs.group][pair]
    size = (int(seen.max()) + 1) * m
    place, said_place = seen.astype(np.int64) * m + target, seen.astype(np.int64) * m + claimed
    if size > _PLACES * int(times.sum()):
        both, places = grouped(np.concatenate([place, said_place]), size)
        place, said_place = both[: len(group)], both[len(group) :]
        of_seen, of_target = np.divmod(places, m)
    else:
        of_seen, of_target = np.divmod(np.arange(size), m)
    count = np.bincount(place, times, minlength=len(of_seen)).astype(np.int64)
    in_seen = np.bincount(seen, times, minlength=int(of_seen[-1]) + 1)
    start = np.flatnonzero(firsts(of_seen))
    most = np.zeros(len(in_seen), dtype=np.int64)
    most[of_seen[start]] = np.maximum.reduceat(count * m + m - 1 - of_target, start)
    usual, most = m - 1 - most % m, most // m
    of_cell = usual[seen]
    gain = times * ((target == claimed) * 1 - (target == of_cell))
    other = claimed != of_cell
    gained = np.bincount(group, gain * other, minlength=len(often))
    says = gained > 0
    if not says.any():
        return -np.inf
    saying_one = other & says[group]
    number, used = grouped(said_place[saying_one], len(of_seen))
    times, in_place = np.bincount(number, times[saying_one]), of_seen[used]
    of_said, of_usual = count[used] / in_seen[in_place], most[in_place] / in_seen[in_place]
    values, saying, gain_in_all = int(often.sum()), int(says.sum()), float(gained[says].sum())
    sayings = max(m - int((of_cell == of_cell[0]).all()), 1)
    ways = log_choices(values, saying) + saying * log(sayings) + log(values)
    bound = max(
        tilt * gain_in_all - float((times * np.log1p(of_said * up + of_usual * down)).sum())
        for tilt, up, down in _TILTS
    )
    return bound - ways
