"""How many values a class holds, and how evenly: l-diversity and the largest share.

Each function takes the counts of a variable (`ClassTable.sensitive_counts`) and gives a float for each class, which is
missing in a class without a known value. `kanon_lab.diversity.diversity` has all of them.
"""

from __future__ import annotations

import numpy as np

from kanon_lab.classes import ValueCounts
from kanon_lab.errors import OptionError

#: Rounding moves a measure, such as the entropy of an even class, by far less than this share of it.
LAST_DIGITS = 1e-12


def distinct_l(counts: ValueCounts) -> np.ndarray:
    """Number of distinct values, 1 or more (so called by Li, Li and Venkatasubramanian 2007)."""
    return counts.by_class(np.diff(counts.start, append=len(counts.row)))


def entropy_l(counts: ValueCounts) -> np.ndarray:
    """Exponential of the Shannon entropy (natural logarithm): the l of entropy l-diversity.

    Machanavajjhala et al. (2007). From 1 to the number of distinct values, which it reaches where all are equally
    frequent. Not truncated.
    """
    count = counts.count
    entropy = np.log(counts.known) - counts.sums(count * np.log(count)) / counts.known
    l_values = np.exp(entropy)
    whole = np.rint(l_values)
    # An even class of three has 3, not 2.9999999999999996, which a threshold of 3 would refuse.
    l_values = np.where(np.abs(l_values - whole) < LAST_DIGITS * whole, whole, l_values)
    return counts.by_class(l_values)


def recursive_l(counts: ValueCounts, *, c: float) -> np.ndarray:
    """Largest l for which a class is recursively (c, l)-diverse, c above 0: r_1 < c (r_l + ... + r_m).

    r_1 >= r_2 >= ... >= r_m are the frequencies of the values of the class, the most frequent first. Whole numbers from
    0 (not even l = 1 holds, only possible where c is at most 1) to the number of distinct values. Machanavajjhala et
    al. (2007) take 1-diversity for granted; here l = 1 is tested as any other l.
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
    """Largest share of any value, or of the one at a position: the alpha of (alpha, k)-anonymity (Wong et al. 2006)."""
    p = counts.p if position is None else np.where(counts.value == position, counts.p, 0.0)
    return counts.by_class(counts.largest(p))
