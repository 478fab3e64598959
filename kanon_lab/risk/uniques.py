"""Minimal sample uniques: the smallest sets of keys on which a record stands alone in its file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from kanon_lab.classes.coding import distinct_rows, grouped, pack
from kanon_lab.errors import OptionError

# All subsets of 20 keys; and bytes for what is remembered of subsets.
_MOST_SUBSETS, _MOST_BYTES = 2**20, 2**31


def minimal_uniques(
    codes: np.ndarray, radices: Sequence[int], candidates: np.ndarray, *, max_size: int
) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
    """Walk the sets of keys on which classes are unique, and on no smaller set within.

    `codes` (shape (P, keys), distinct rows) go from 0 to radix - 1, or are -1 where missing, which is compatible with
    any; `candidates` (bool, shape (P,)) are one record each and compatible with no other row. Yields a subset
    (positions of keys, rising) and the candidates that know all its keys, are compatible with no other row on them, and
    are compatible with some on every smaller set of them.

    Every subset comes after the smaller ones within. What is unique on one of those is unique here too, and standing
    alone it changes nobody else's count, so it is left out; hence who is found alone among the rest is so for the first
    time. From a subset to the next one by one more key, groups are only split further.
    """
    keys = codes.shape[1]
    _refuse_too_many(keys, max_size, len(codes))
    nobody = np.zeros(-(-len(codes) // 8), dtype=np.uint8)
    by_key = np.ascontiguousarray(codes.T)
    search = _SearchForUniques(by_key, tuple(radices), candidates, max_size, _incomplete(codes), {0: nobody})
    total = sum(comb(keys, size) for size in range(1, max_size + 1))
    everything = _Node(0, keys, np.arange(len(codes)), np.zeros(len(codes), dtype=np.int64), 1)
    with _progress(total) as bar:
        yield from search.below(everything, bar)


@dataclass(frozen=True)
class _Node:
    """A subset of the keys, and the rows that are not alone on it: those that know all its keys, and their groups."""

    subset: int  # one bit a key
    lowest: int  # keys below it are still to be added
    rows: np.ndarray
    group: np.ndarray
    groups: int


@dataclass
class _SearchForUniques:
    codes: np.ndarray  # shape (keys, P)
    radices: tuple[int, ...]
    candidates: np.ndarray
    max_size: int
    incomplete: list[tuple[int, np.ndarray]]
    # Of each subset, as bits, the rows that stand alone on it; a subset on which every candidate does so is not kept.
    alone: dict[int, np.ndarray]

    def below(self, node: _Node, bar) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
        for key in range(node.lowest):
            subset = node.subset | 1 << key
            before = [self.alone.get(subset ^ 1 << other) for other in _keys(subset)]
            if any(bits is None for bits in before):
                bar.update(self._subsets_from(subset, key))
                continue
            bar.update()
            found, next_node = self._with_key(node, key, np.bitwise_or.reduce(before))
            if len(found):
                yield _keys(subset), found
            if next_node is not None:
                yield from self.below(next_node, bar)
            elif key:
                bar.update(self._subsets_from(subset, key) - 1)

    def _with_key(self, node: _Node, key: int, alone_before: np.ndarray) -> tuple[np.ndarray, _Node | None]:
        """The rows unique for the first time with one more key, and what is left to be split further."""
        subset = node.subset | 1 << key
        alone = np.unpackbits(alone_before, count=len(self.candidates), bitorder="little").view(bool)
        rest = np.flatnonzero(~alone.take(node.rows))
        rows = node.rows.take(rest)
        values = self.codes[key].take(rows)
        if self.incomplete:
            known = np.flatnonzero(values >= 0)
            rest, rows, values = rest.take(known), rows.take(known), values.take(known)
        group, distinct = grouped(node.group.take(rest) * self.radices[key] + values, node.groups * self.radices[key])
        lonely = (np.bincount(group, minlength=len(distinct)) == 1).take(group)
        new = rows[lonely]
        found = new[self.candidates[new]]
        if self.incomplete and len(found):
            met = self._met(subset, found)
            lonely[np.searchsorted(rows, found[met])] = False
            new, found = rows[lonely], found[~met]
        stay = np.flatnonzero(~lonely)
        left = rows.take(stay)
        if subset.bit_count() == self.max_size or not self.candidates[left].any():
            return found, None
        alone[new] = True
        self.alone[subset] = np.packbits(alone, bitorder="little")
        return found, _Node(subset, key, left, group.take(stay), len(distinct))

    def _met(self, subset: int, rows: np.ndarray) -> np.ndarray:
        """Which of the rows, that know all keys of the subset, a row that misses some of them is compatible with."""
        met = np.zeros(len(rows), dtype=bool)
        by_missing: dict[int, list[np.ndarray]] = {}
        for missing, others in self.incomplete:
            if missing & subset:
                by_missing.setdefault(missing & subset, []).append(others)
        for missing, parts in by_missing.items():
            both = np.concatenate([rows[~met], *parts])
            shared = _keys(subset & ~missing)
            if not shared:
                met[:] = True
            if met.all():
                break
            packed, _ = pack([self.codes[key].take(both) for key in shared], [self.radices[key] for key in shared])
            of_rows = int((~met).sum())
            met[~met] = np.isin(packed[:of_rows], packed[of_rows:])
        return met

    def _subsets_from(self, subset: int, lowest: int) -> int:
        """Subsets that are made of this one by adding keys below the lowest, itself included."""
        return sum(comb(lowest, more) for more in range(self.max_size - subset.bit_count() + 1))


def _keys(subset: int) -> tuple[int, ...]:
    return tuple(key for key in range(subset.bit_length()) if subset >> key & 1)


def _incomplete(codes: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """The rows that miss keys, by which they miss."""
    group, some = distinct_rows((codes < 0).astype(np.int8))
    missing = [sum(1 << int(key) for key in np.flatnonzero(codes[row] < 0)) for row in some]
    return [(keys, np.flatnonzero(group == i)) for i, keys in enumerate(missing) if keys]


def _refuse_too_many(keys: int, max_size: int, rows: int) -> None:
    def fits(size: int) -> bool:
        kept = sum(comb(keys, fewer) for fewer in range(size))
        return kept + comb(keys, size) <= _MOST_SUBSETS and kept * (rows // 8 + 1) <= _MOST_BYTES

    if not fits(max_size):
        largest = max(size for size in range(1, max_size) if fits(size))
        raise OptionError(
            f"{keys} key variables have too many subsets of up to {max_size} of them: give a max_size of at most "
            f"{largest}, or fewer key variables"
        )


def _progress(total: int):
    from tqdm import tqdm

    return tqdm(total=total, desc="sets of keys", disable=None, delay=2, leave=False)
