"""Groups of at least k values of one variable that lose the least: Hansen and Mukherjee's shortest path."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

# Costs of groups that are reckoned at a time.
_AT_A_TIME = 2**20


def optimal(values: np.ndarray, k: int, *, tell: Callable[[int], object] = lambda records: None) -> np.ndarray:
    """The partition into groups of at least `k` with the least sum of squares about the group means, numbered by value.

    In the best partition each group is a run of the sorted values, of k to 2k - 1 of them. So it is the shortest path
    from before the first value to behind the last, where a step over a run costs its sum of squares: for each end of a
    run only k starts are tried. Of equally good last groups the largest is taken; equal values stand in file order.
    """
    order = np.argsort(values, kind="stable")
    run = np.empty(len(values), dtype=np.int64)
    ends = _ends(values[order], k, tell)
    run[order] = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    return run


def _ends(values: np.ndarray, k: int, tell: Callable[[int], object]) -> np.ndarray:
    """Where the runs of the best partition of sorted values end."""
    n = len(values)
    # In such units squares neither vanish nor overflow.
    unit = values[-1] - values[0]
    values = (values - values[n // 2]) / (unit or 1.0)
    # Least cost up to each end, behind 2k places from which no path comes but from the last.
    least = np.full(2 * k + n, np.inf)
    least[2 * k - 1] = 0.0
    starts, before = np.zeros(n + 1, dtype=np.int64), sliding_window_view(least, k)
    size = max(_AT_A_TIME // (2 * k * k) * k, _AT_A_TIME // (2 * k), 1)
    for first in range(k, n + 1, size):
        costs = _costs(values, np.arange(first, min(first + size, n + 1)), k)
        # The k next ends depend on none of each other: a run has k values at least.
        for done in range(0, len(costs), k):
            some, end = costs[done : done + k], first + done
            paths = before[end : end + len(some)] + some
            best = paths.argmin(axis=1)
            least[end + 2 * k - 1 : end + 2 * k - 1 + len(some)] = paths[np.arange(len(some)), best]
            starts[end : end + len(some)] = best
        tell(len(costs))
    tell(k - 1)
    ends, end = [], n
    while end > 0:
        ends.append(end)
        end += int(starts[end]) - (2 * k - 1)
    return np.array(ends[::-1])


def _costs(values: np.ndarray, ends: np.ndarray, k: int) -> np.ndarray:
    """Sums of squares of the runs with some ends and, by column, 2k - 1 ... k values, shape (ends, k).

    Those that would start before the first value cost anything: no path comes to them.
    """
    back = np.arange(1, 2 * k)
    # As distances from the last of the run values keep their digits, and those of equal ones are 0.
    apart = values[np.maximum(ends[:, None] - back, 0)] - values[ends - 1][:, None]
    sums = apart.cumsum(axis=1)[:, k - 1 :]
    apart *= apart
    costs = apart.cumsum(axis=1)[:, k - 1 :] - sums**2 / back[k - 1 :]
    return costs[:, ::-1]
