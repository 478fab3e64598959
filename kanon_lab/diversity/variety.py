"""How many values a class holds, and how evenly: l-diversity and the largest share."""

from __future__ import annotations

import numpy as np

from kanon_lab.classes import ValueCounts
from kanon_lab.errors import OptionError

# Rounding moves the entropy of an even class off its whole number by far less than this.
_ROUNDING = 1e-12


def distinct_l(counts: ValueCounts) -> np.ndarray:
    """Number of distinct values in each class.

    The name is that of Li, Li and Venkatasubramanian (2007); l-diversity is of Machanavajjhala et al. (2007).

    Returns
    -------
    ndarray of float, shape (n_classes,)
        1 or more; missing in a class without a known value.

    Examples
    --------
    >>> import kanon_lab
    >>> frame = pd.DataFrame({"age": [30, 30, 41, 41], "illness": ["flu", "none", "none", "none"]})
    >>> table = kanon_lab.class_table(frame, kanon_lab.KeySpec("age", sensitive_variables="illness"))
    >>> kanon_lab.diversity.distinct_l(table.sensitive_counts("illness")).tolist()
    [2.0, 1.0]
    """
    return counts.by_class(np.diff(counts.start, append=len(counts.row)))


def entropy_l(counts: ValueCounts) -> np.ndarray:
    """Exponential of the Shannon entropy (natural logarithm) of each class: the l of entropy l-diversity.

    Returns
    -------
    ndarray of float, shape (n_classes,)
        From 1 to the number of distinct values, which it reaches where all are equally frequent. Not truncated. Missing
        in a class without a known value. Machanavajjhala et al. (2007), definition of entropy l-diversity.

    Examples
    --------
    >>> import kanon_lab
    >>> frame = pd.DataFrame({"age": [30, 30, 41, 41], "illness": ["flu", "none", "none", "none"]})
    >>> table = kanon_lab.class_table(frame, kanon_lab.KeySpec("age", sensitive_variables="illness"))
    >>> kanon_lab.diversity.entropy_l(table.sensitive_counts("illness")).tolist()
    [2.0, 1.0]
    """
    count = counts.count
    entropy = np.log(counts.known) - counts.sums(count * np.log(count)) / counts.known
    l_values = np.exp(entropy)
    whole = np.rint(l_values)
    # An even class of three has 3, not 2.9999999999999996, which a threshold of 3 would refuse.
    l_values = np.where(np.abs(l_values - whole) < _ROUNDING * whole, whole, l_values)
    return counts.by_class(l_values)


def recursive_l(counts: ValueCounts, *, c: float) -> np.ndarray:
    """Largest l for which each class is recursively (c, l)-diverse: r_1 < c (r_l + ... + r_m).

    r_1 >= r_2 >= ... >= r_m are the frequencies of the values of the class, the most frequent first. Machanavajjhala et
    al. (2007) take 1-diversity for granted; here l = 1 is tested as any other l.

    Parameters
    ----------
    c : float
        Above 0: how many times as frequent as the rarer values together the most frequent one may nearly be.

    Returns
    -------
    ndarray of float, shape (n_classes,)
        Whole numbers from 0 (not even l = 1 holds, only possible where c is at most 1) to the number of distinct
        values; missing in a class without a known value.

    Examples
    --------
    >>> import kanon_lab
    >>> frame = pd.DataFrame({"age": [30, 30, 41, 41], "illness": ["flu", "none", "none", "none"]})
    >>> table = kanon_lab.class_table(frame, kanon_lab.KeySpec("age", sensitive_variables="illness"))
    >>> kanon_lab.diversity.recursive_l(table.sensitive_counts("illness"), c=2).tolist()
    [2.0, 1.0]
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
    """Largest share of any value in each class, or the share of one value: the alpha of (alpha, k)-anonymity.

    Parameters
    ----------
    position : int, optional
        Position of the value among those of the counts.

    Returns
    -------
    ndarray of float, shape (n_classes,)
        0-1; missing in a class without a known value (Wong et al. 2006).

    Examples
    --------
    >>> import kanon_lab
    >>> frame = pd.DataFrame({"age": [30, 30, 41, 41], "illness": ["flu", "none", "none", "none"]})
    >>> table = kanon_lab.class_table(frame, kanon_lab.KeySpec("age", sensitive_variables="illness"))
    >>> kanon_lab.diversity.largest_share(table.sensitive_counts("illness")).tolist()
    [0.5, 1.0]
    """
    p = counts.p if position is None else np.where(counts.value == position, counts.p, 0.0)
    return counts.by_class(counts.largest(p))
