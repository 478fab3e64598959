"""What released values still say of the original ones: over how many they spread, and how evenly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from kanon_lab.classes.coding import grouped, pack
from kanon_lab.errors import DataError, OptionError, about
from kanon_lab.recode.columns import distinct
from kanon_lab.risk.paired import ORIGINAL, RELEASED


@dataclass(frozen=True)
class _Joint:
    """How often an original value (by number) was released as another, or lost, over the records that had one."""

    before: np.ndarray
    after: np.ndarray
    count: np.ndarray
    lost: np.ndarray


def granularity(original: pd.Series, released: pd.Series) -> float:
    """How many values a released one may stand for, as a share of all.

    Parameters
    ----------
    original, released : Series
        A variable of the same records before and after protection, under the same index, of any types. Neither changes.

    Returns
    -------
    float
        0 where every released value stands for one original value, 1 where each may be any.

    Notes
    -----
    A released value stands for the set S of original values that the records with it had, so that no hierarchy is
    needed; with all original values in the set A, such a record counts (|S| - 1) / (|A| - 1). A record whose value was
    suppressed counts 1. Records that had no value lost none and are left out of the mean. A variable that always had
    one value, or none, tells nothing that could be lost: 0.

    Merging released values, or suppressing one wherever it stands, never makes the loss less. Suppressing some of the
    records that share a value can: what the others stand for may shrink. In Iyengar, Transforming data to satisfy
    privacy constraints, KDD 2002, section 3, S are the leaves of a taxonomy below a value.

    Examples
    --------
    >>> import kanon_lab
    >>> kanon_lab.utility.granularity(pd.Series([30, 41, 52]), pd.Series(["30s", "40+", "40+"]))
    0.3333333333333333
    """
    joint = _joint(original, released)
    values = len(np.unique(joint.before))
    if values < 2:
        return 0.0
    stands_for = np.where(joint.lost, values, np.bincount(joint.after)[joint.after])
    return float((joint.count * (stands_for - 1)).sum() / (joint.count.sum() * (values - 1)))


def non_uniform_entropy(original: pd.Series, released: pd.Series) -> float:
    """Share of the information of a variable that is lost.

    Parameters
    ----------
    original, released : Series
        As in `granularity`.

    Returns
    -------
    float
        0 where the original value follows from the released one, 1 where nothing is left of it.

    Notes
    -----
    Of the n records that had a value, n_o had the value o, n_r were released with r, and n_or both. A record loses
    log2(n_r / n_or) bits, or log2(n / n_o) where its value was suppressed; without any release it would lose log2(n /
    n_o). The measure is the sum of the first over the sum of the second. Without suppression that is the entropy of the
    original value given the released one, over the entropy of the original value, whether values were made coarser or
    exchanged at random, as by PRAM. Exchange that can be undone (all women for men and all men for women) therefore
    loses nothing.

    Rare values count for more than in `granularity`: that a record had one tells more. Missing values, variables with
    one value, and what never makes the loss less are as there (de Waal and Willenborg, Information loss through global
    recoding and local suppression, Netherlands Official Statistics 14, 1999; Gionis and Tassa, k-anonymization with
    minimal loss of information, IEEE TKDE 21, 2009).

    Examples
    --------
    >>> import kanon_lab
    >>> kanon_lab.utility.non_uniform_entropy(pd.Series([30, 34, 41, 45]), pd.Series(["30s", "30s", "40s", "40s"]))
    0.5
    """
    joint = _joint(original, released)
    n, of_value = joint.count.sum(), np.bincount(joint.before, joint.count)
    most = (of_value * _bits(n, of_value)).sum()
    if not most:
        return 0.0
    known = np.bincount(joint.after, joint.count)[joint.after]
    bits = np.where(joint.lost, _bits(n, of_value)[joint.before], _bits(known, joint.count))
    return min(float((joint.count * bits).sum() / most), 1.0)


def _bits(whole: np.ndarray | int, part: np.ndarray) -> np.ndarray:
    return np.log2(whole / part)


def _joint(original: pd.Series, released: pd.Series) -> _Joint:
    for column, where in ((original, ORIGINAL), (released, RELEASED)):
        if not isinstance(column, pd.Series):
            raise OptionError(f"{where}: give one column as a Series, not {type(column).__name__}")
    if not original.index.equals(released.index):
        raise DataError(
            f"{RELEASED}: its index is not that of the original file ({len(released)} and {len(original)} records); "
            "give both the same records, in the same order"
        )
    if not len(original):
        raise DataError(f"{ORIGINAL}: has no records; nothing can be measured")
    with about(ORIGINAL):
        before, values = distinct(original)
    with about(RELEASED):
        after, labels = distinct(released)
    known = before >= 0
    # A missing value has the place after the last label.
    group, pairs = grouped(*pack([before[known], after[known]], [max(len(values), 1), len(labels) + 1]))
    before, after = np.divmod(pairs, len(labels) + 1)
    return _Joint(before, after, np.bincount(group, minlength=len(pairs)), after == len(labels))
