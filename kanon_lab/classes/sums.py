"""Exact sums of numbers by group: the same whatever the order of the rows, the parts of the file, and the engine.

A float is a whole number times a power of two. So each number is cut into pieces, whole numbers so short that those of
all rows add up to less than 2^53: their sums are exact in floating point, and in an engine's whole numbers. The sum of
a group's pieces is rounded once. The rest is kept beside it, so that sums of parts of a file add up to the whole sum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import mul

import numpy as np

# Bits that a sum of whole numbers may have in floating point, and those of one number.
_BITS = 53
# Rows whose pieces are in memory at a time.
_ROWS = 2**22
# The least power of two that is a float, and one of which half and double are too, as are those of its negative.
_LEAST_POWER, _FAR = -1074, 1000


@dataclass(frozen=True)
class Sums:
    """Exact sums: rounded to the nearest float, and the `rest` that this leaves (0 where nothing is left)."""

    rounded: np.ndarray
    rest: np.ndarray


@dataclass(frozen=True)
class Pieces:
    """How numbers are cut: `count` pieces of `bits` bits each, the first in units of 2 ** `power`."""

    power: int
    bits: int
    count: int

    @classmethod
    def of(cls, least: float, most: float, rows: int) -> Pieces:
        """The pieces of so many numbers, or fewer, whose absolute values, where not 0, are from `least` to `most`."""
        bits = max(1, _BITS - 1 - max(1, rows).bit_length())
        top = math.frexp(most)[1]
        bottom = max(math.frexp(least)[1] - _BITS, _LEAST_POWER)
        return cls(top - bits, bits, max(1, math.ceil((top - bottom) / bits)))

    def steps(self) -> list[tuple[list[float], list[float]]]:
        """For each piece, the factors that turn a number into its units, and those that turn the piece back."""
        powers = range(self.power, self.power - self.count * self.bits, -self.bits)
        return [(_powers(-power), _powers(power)) for power in powers]

    def cut(self, numbers: np.ndarray) -> list[np.ndarray]:
        """The pieces of numbers."""
        pieces = []
        for up, down in self.steps():
            pieces.append(np.trunc(reduce(mul, up, numbers)))
            numbers = numbers - reduce(mul, down, pieces[-1])
        return pieces

    def added(self, sums: Sequence[np.ndarray]) -> Sums:
        """The exact sums of groups, of the sums of their pieces (whole numbers below 2^53)."""
        total = Sums(np.empty(len(sums[0])), np.empty(len(sums[0])))
        units = [self.power - place * self.bits for place in range(len(sums))]
        for start in range(0, len(sums[0]), _ROWS):
            some = slice(start, start + _ROWS)
            parts = [np.ldexp(np.asarray(sum_[some], dtype=float), unit) for sum_, unit in zip(sums, units)]
            total.rounded[some], total.rest[some] = _rounded(parts)
        return total


def exact_sums(group: np.ndarray, numbers: np.ndarray, groups: int) -> Sums:
    """Sums of finite numbers by group (from 0), each group's rounded once from the exact sum."""
    return _summed(group, [numbers], groups)


def joined_sums(
    group: np.ndarray, numbers: np.ndarray | Sums, groups: int, join: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """The sums of numbers by group (from 0), added up further by `join`, each rounded once from the exact sum.

    `join` takes whole numbers, shape (groups, pieces), and adds up some of the groups, each once, for every sum that it
    gives: shape (sums, pieces). All of them are below 2^53, so that their order does not matter.
    """
    columns = [numbers] if isinstance(numbers, np.ndarray) else [numbers.rounded, numbers.rest]
    pieces, sums = _in_pieces(group, columns, groups)
    return pieces.added(list(join(np.stack(sums, axis=1)).T)).rounded


def _summed(group: np.ndarray, columns: list[np.ndarray], groups: int) -> Sums:
    pieces, sums = _in_pieces(group, columns, groups)
    return pieces.added(sums)


def _in_pieces(group: np.ndarray, columns: list[np.ndarray], groups: int) -> tuple[Pieces, list[np.ndarray]]:
    """The pieces of several numbers a row, added up by group, some rows at a time: exactly, in any order."""
    step = max(_ROWS, groups)
    slices = [slice(start, start + step) for start in range(0, len(group), step)]
    parts = [(group[some], numbers[some]) for numbers in columns for some in slices]
    sizes = [(size.min(), size.max()) for _, some in parts if len(size := np.abs(some[some != 0]))]
    if not sizes:
        return Pieces(0, 1, 1), [np.zeros(groups)]
    least, most = float(min(sizes)[0]), max(float(most) for _, most in sizes)
    pieces = Pieces.of(least, most, len(group) * len(columns))
    sums = [np.zeros(groups) for _ in range(pieces.count)]
    for some, numbers in parts:
        for total, piece in zip(sums, pieces.cut(numbers), strict=True):
            total += np.bincount(some, piece, minlength=groups)
    while len(sums) > 1 and not sums[-1].any():
        sums.pop()
    return pieces, sums


def sums_by_group(group: np.ndarray, numbers: np.ndarray | Sums, groups: int) -> Sums:
    """The same of numbers, or of what are sums already."""
    if isinstance(numbers, np.ndarray):
        return exact_sums(group, numbers, groups)
    if groups == len(group):  # each row is a group: nothing is added up
        if (group[1:] > group[:-1]).all():
            return numbers
        order = np.empty(groups, dtype=np.intp)
        order[group] = np.arange(groups)
        return Sums(numbers.rounded[order], numbers.rest[order])
    return _summed(group, [numbers.rounded, numbers.rest], groups)


def _rounded(parts: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The sums of a few floats each, rounded once, and their rests: by two-sums, or fsum where these do not decide."""
    total, rest = parts[0], np.zeros(len(parts[0]))
    undecided = np.zeros(len(total), dtype=bool)
    for part in parts[1:]:
        total, left = _two_sum(total, part)
        rest, lost = _two_sum(rest, left)
        undecided |= lost != 0
    total, rest = _two_sum(total, rest)
    for i in np.flatnonzero(undecided):
        own = [float(part[i]) for part in parts]
        total[i] = math.fsum(own)
        rest[i] = math.fsum([*own, -total[i]])
    return total, rest


def _powers(power: int) -> list[float]:
    """Floats whose product, in this order, is a power of two that may itself be too large or small for a float."""
    steps = []
    while abs(power) > _FAR:
        steps.append(_FAR if power > 0 else -_FAR)
        power -= steps[-1]
    return [2.0**step for step in (*steps, power)]


def _two_sum(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The sum of two floats, and what rounding it leaves (Knuth)."""
    total = a + b
    of_b = total - a
    return total, (a - (total - of_b)) + (b - of_b)
