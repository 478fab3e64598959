"""t-closeness: how far the distribution of a sensitive variable in a class is from that in the file.

Li, Li and Venkatasubramanian (2007): the earth mover's distance under three distances between values.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np
import pandas as pd

from kanon_lab.classes import ValueCounts
from kanon_lab.classes.coding import grouped
from kanon_lab.errors import OptionError


class Hierarchy(Protocol):
    """What the hierarchical distance needs of a hierarchy, such as `kanon_lab.recode.Hierarchy`."""

    height: int
    nested: bool

    def recode(self, series: pd.Series, level: int) -> pd.Series: ...
    def table(self, values: pd.Index) -> pd.DataFrame: ...


#: Distance between two values, and what it says.
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

    Only values that occur in the file have a rank. Between two values of a class its cumulative share P stands still
    while that of the file, Q, grows: the sum of |P - Q| from one to the other splits where Q passes P, and either part
    comes from sums of Q made once. So the time does not grow with classes times values.
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
    Every value lies at the same depth, so an edge between two levels is 1/(2 height) long, and the distance is the
    mean, over the levels below the top, of the equal distances after recoding to that level: the sum of costs of the
    paper in another order.
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
    return sum(equal_distance(_at_level(counts, levels[level])) for level in range(hierarchy.height)) / hierarchy.height


def _at_level(counts: ValueCounts, recoded: pd.Series) -> ValueCounts:
    """Counts of the values that the hierarchy gives at one level; a missing one stays a value of its own."""
    nodes, names = pd.factorize(recoded.to_numpy())
    nodes = np.append(nodes, np.full(len(counts.values) - len(nodes), len(names)))
    m = int(nodes.max()) + 1
    pairs, distinct = grouped(counts.class_.astype(np.int64) * m + nodes[counts.value], counts.n_classes * m)
    class_, value = np.divmod(distinct, m)
    return replace(
        counts,
        values=pd.RangeIndex(m),
        class_=class_,
        value=value,
        count=np.bincount(pairs, weights=counts.count).astype(np.int64),
        overall=np.bincount(nodes, weights=counts.overall).astype(np.int64),
    )
