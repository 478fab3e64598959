"""Ranges of k: ``1``, ``6-10``, ``51+``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from kanon_lab.errors import OptionError

_RANGE = re.compile(r"(?P<first>\d{1,12})(?:(?P<open>\+)|-(?P<last>\d{1,12}))?")

_MOST = 10**12


@dataclass(frozen=True, order=True)
class KRange:
    """The values of k from ``k_from`` to ``k_to``, both included; ``k_to=None`` leaves the range open."""

    k_from: int
    k_to: int | None

    def __post_init__(self) -> None:
        if not all(isinstance(k, (int, np.integer)) for k in (self.k_from, 0 if self.k_to is None else self.k_to)):
            raise OptionError("the ends of a range of k must be whole numbers")
        if max(self.k_from, self.k_to or 0) > _MOST:
            raise OptionError("the ends of a range of k must not exceed 10^12: leave the range open, such as 51+")
        if self.k_from < 1:
            raise OptionError(f"a range of k starts at 1 or above, not at {self.k_from}")
        if self.k_to is not None and self.k_to < self.k_from:
            raise OptionError(f"the range {self.label} of k ends before it starts: write the smaller number first")

    @property
    def label(self) -> str:
        """The range as people write it: ``5``, ``6-10`` or ``51+``."""
        if self.k_to is None:
            return f"{self.k_from}+"
        return str(self.k_from) if self.k_to == self.k_from else f"{self.k_from}-{self.k_to}"


def parse_ranges(text: str) -> tuple[KRange, ...]:
    """Read ranges of k, separated by commas: each is ``k``, ``from-to`` (both ends included) or ``from+``.

    They stay in the order given, and may overlap: each is measured on its own.

    Examples
    --------
    >>> from kanon_lab import population
    >>> [(r.k_from, r.k_to) for r in population.parse_ranges("1,2-5,6+")]
    [(1, 1), (2, 5), (6, None)]
    """
    ranges = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            raise OptionError(f"{part.strip()!r} is not a range of k: write 1, 6-10 or 51+, separated by commas")
        first = int(match["first"])
        last = None if match["open"] else int(match["last"] or first)
        ranges.append(KRange(first, last))
    return tuple(ranges)


def as_ranges(ranges: str | Iterable[KRange]) -> tuple[KRange, ...]:
    """Ranges from a text or from `KRange` objects, at least one."""
    result = parse_ranges(ranges) if isinstance(ranges, str) else tuple(ranges or ())
    if not result:
        raise OptionError("no range of k was given: write for example 1,2-5,6+")
    if not all(isinstance(r, KRange) for r in result):
        raise OptionError("ranges must be one text such as '1,2-5,6+', or KRange objects")
    return result


#: The ranges of Cuadro 1.
CUADRO_1_RANGES = parse_ranges("1,2,3,4,5,6-10,11-20,21-50,51+")
#: The ranges of Cuadros 2-4.
CUADRO_2_RANGES = parse_ranges("1,2,3,4,5,6-10,11-20,21-50,51-100,101+")
