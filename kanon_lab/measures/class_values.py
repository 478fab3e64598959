"""Measures of the values that the records of a class have: l-diversity, distances for t-closeness, and their kin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pandas as pd

from kanon_lab.classes import ValueCounts
from kanon_lab.classes.table import counted
from kanon_lab.errors import OptionError

#: Rounding moves a measure, such as the entropy of an even class, by far less than this share of it.
LAST_DIGITS = 1e-12


def distinct_l(counts: ValueCounts) -> np.ndarray:
    """Number of distinct values, 1 or more (so called by Li, Li and Venkatasubramanian 2007)."""
    return counts.by_class(np.diff(counts.start, append=len(counts.row)))


def entropy_l(counts: ValueCounts) -> np.ndarray:
    """Exponential of the Shannon entropy (natural logarithm): the l of Machanavajjhala et al. (2007).

    From 1 to the number of distinct values, which it reaches where all are equally frequent. Not truncated.
    """
    l_values = np.exp(np.log(counts.known) - counts.sums(counts.count * np.log(counts.count)) / counts.known)
    whole = np.rint(l_values)
    # An even class of three has 3, not 2.9999999999999996, which a threshold of 3 would refuse.
    l_values = np.where(np.abs(l_values - whole) < LAST_DIGITS * whole, whole, l_values)
    return counts.by_class(l_values)


def recursive_l(counts: ValueCounts, *, c: float) -> np.ndarray:
    """Largest l for which a class is recursively (c, l)-diverse, c above 0: r_1 < c (r_l + ... + r_m).

    r_1 >= r_2 >= ... >= r_m are the frequencies of the values of the class. From 0 (not even l = 1 holds, for c up to
    1) to m. Machanavajjhala et al. (2007) take 1-diversity for granted; here it is tested too.
    """
    if not 0 < c < np.inf:
        raise OptionError(f"the c of recursive (c,l)-diversity must be a number above 0, not {c!r}")
    if not len(counts.row):
        return counts.by_class(np.zeros(0))
    # Class and falling frequency in one number: sorting numbers is far quicker than sorting rows.
    top = int(counts.count.max())
    r = top - np.sort(counts.row * (top + 1) + (top - counts.count)) % (top + 1)
    before = np.cumsum(r) - r
    tail = counts.known[counts.row] - (before - before[counts.start][counts.row])
    holds = r[counts.start][counts.row] < c * tail
    # The tails fall with l, so the l that hold are 1, 2, ... up to the largest.
    return counts.by_class(counts.sums(holds.astype(np.int64)))


def largest_share(counts: ValueCounts, *, position: int | None = None) -> np.ndarray:
    """Largest share of any value, or of that at a position: the alpha of (alpha, k)-anonymity (Wong et al. 2006)."""
    p = counts.p if position is None else np.where(counts.value == position, counts.p, 0.0)
    return counts.by_class(counts.largest(p))


def delta_disclosure(counts: ValueCounts) -> np.ndarray:
    """Largest |ln(p/q)| over all values of the file, p the share in the class and q in the file.

    Infinite where a value is lacking. Every larger delta holds (Brickell and Shmatikov 2008).
    """
    delta = counts.largest(np.abs(np.log(counts.p / counts.q)))
    lacking = np.diff(counts.start, append=len(counts.row)) < np.count_nonzero(counts.overall)
    return counts.by_class(np.where(lacking, np.inf, delta))


def beta_likeness(counts: ValueCounts) -> np.ndarray:
    """Largest relative gain (p - q)/q of any value: the smallest beta of basic beta-likeness (Cao and Karras 2012)."""
    return counts.by_class(counts.largest(np.maximum(counts.p / counts.q - 1, 0)))


def enhanced_beta_likeness(counts: ValueCounts) -> np.ndarray:
    """Smallest beta for which every gain (p - q)/q is at most min(beta, -ln q), or infinite (Cao, Karras 2012)."""
    gains = np.maximum(counts.p / counts.q - 1, 0)
    return counts.by_class(counts.largest(np.where(gains > -np.log(counts.q), np.inf, gains)))


class Hierarchy(Protocol):
    """What the hierarchical distance needs of a hierarchy, such as `kanon_lab.methods.Hierarchy`."""

    @property
    def height(self) -> int: ...
    @property
    def nested(self) -> bool: ...
    def recode(self, series: pd.Series, level: int) -> pd.Series: ...
    def table(self, values: pd.Index) -> pd.DataFrame: ...


#: Distance between two values, and its meaning.
DISTANCES = {
    "equal": "any two values are as far apart as any others",
    "ordered": "values are as far apart as their ranks",
    "hierarchical": "values are as far apart as the level at which a hierarchy joins them",
}


def equal_distance(counts: ValueCounts) -> np.ndarray:
    """Half the sum of absolute differences of shares between class and file, 0-1."""
    # What the class has too much of is what it has too little of: values that it lacks need not be visited.
    return counts.by_class(counts.sums(np.maximum(counts.p - counts.q, 0)))


def ordered_distance(counts: ValueCounts) -> np.ndarray:
    """Sum of absolute cumulative differences of shares, by one less than the number of values, 0-1.

    Only values that occur in the file have a rank. Between two values of a class its cumulative share P is constant
    while that of the file, Q, grows: the sum of |P - Q| splits where Q passes P, and both parts come from cumulative
    sums of Q. So the time does not grow with classes times values.
    """
    occurs = counts.overall > 0
    m = np.count_nonzero(occurs)
    if m < 2 or not len(counts.row):
        return counts.by_class(np.zeros(len(counts.start)))
    cumulated = np.cumsum(counts.overall[occurs])
    Q = cumulated / cumulated[-1]
    sums = np.concatenate([[0.0], np.cumsum(Q)])
    total = np.cumsum(counts.count)
    before = (total - counts.count)[counts.start]
    P = (total - before[counts.row]) / counts.known[counts.row]
    first = (np.cumsum(occurs) - 1)[counts.value]
    last = np.append(first[1:], m)
    last[counts.start[1:] - 1] = m
    turn = np.clip(np.searchsorted(Q, P), first, last)
    below = P * (turn - first) - (sums[turn] - sums[first])
    above = (sums[last] - sums[turn]) - P * (last - turn)
    distance = sums[first[counts.start]] + counts.sums(below + above)
    return counts.by_class(np.clip(distance / (m - 1), 0, 1))


def hierarchical_distance(counts: ValueCounts, hierarchy: Hierarchy) -> np.ndarray:
    """Earth mover's distance where two values are as far apart as the lowest level that joins them, by the height, 0-1.

    The hierarchy is nested, with one value at its top; a missing value that counts as a value joins the others there.
    Every value lies at the same depth, so the distance is the mean, over the levels below the top, of the equal
    distances after recoding to that level: the sum of costs of the paper in another order.
    """
    if not hierarchy.nested:
        raise OptionError("the hierarchical distance needs a hierarchy whose levels nest; this one is declared not to")
    levels = hierarchy.table(counts.values[counts.values.notna()])
    if levels[hierarchy.height].nunique() > 1:
        raise OptionError(
            "the hierarchical distance needs one value at the top of the hierarchy; add a level that joins all values"
        )
    if hierarchy.height == 0:
        return equal_distance(counts)
    total: Any = 0
    for level in range(hierarchy.height):
        nodes, names = pd.factorize(levels[level].to_numpy())
        nodes = np.append(nodes, np.full(len(counts.values) - len(nodes), len(names)))  # a missing value stays its own
        m = int(nodes.max()) + 1
        class_, value, count = counted(counts.class_, nodes[counts.value], counts.n_classes, m, counts.count)
        overall = np.bincount(nodes, weights=counts.overall).astype(np.int64)
        total += equal_distance(ValueCounts(pd.RangeIndex(m), class_, value, count, overall, counts.n_classes))
    return total / hierarchy.height


@dataclass(frozen=True)
class ClassValues:
    """The values of each class, and options of measures: what the registry's measures of values are functions of."""

    counts: ValueCounts
    recursive_c: float
    distance: Callable[[ValueCounts], np.ndarray]
