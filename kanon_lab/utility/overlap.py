"""What a protection did to a survey's indicators: how far each moved, and how far its interval still covers the old."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from kanon_lab.arguments import ROUNDING
from kanon_lab.errors import OptionError
from kanon_lab.utility.design import NOTHING
from kanon_lab.utility.indicators import KEYS

_ENDS = ("estimate", "lower", "upper")


def compare_indicators(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """Set the indicators of a released file beside those of the original.

    The overlap of two intervals is the mean of the two shares of their lengths that both cover: 1 for the same
    interval, 0 for two that do not meet (Karr, Kohnen, Oganian, Reiter and Sanil 2006, The American Statistician 60
    (3), 224-232). An interval that is one point, where there is no error, has a share of 1 if it lies in the other and
    of 0 if not, and covers 0 of the other's length: so 1 for the same point twice, a half for a point within an
    interval. What is beyond an end by no more than rounding, 1e-9 of the length or the last digits of the numbers,
    still lies within.

    Parameters
    ----------
    before, after : DataFrame
        As `indicators` gives them, with the same level.

    Returns
    -------
    DataFrame
        One row of `before` each, in its order: its keys ``kind``, ``variable``, ``category``, ``by``, ``group``;
        ``estimate_before``, ``lower_before``, ``upper_before`` and the same ``_after``; ``difference`` (after less
        before); ``relative_difference`` (over the absolute value before; missing where that is 0); ``overlap`` (0-1);
        ``covered`` (whether the estimate after lies in the interval before; boolean); ``status``: ``compared``, or
        ``lost`` where `after` has no such row, since the variable was taken out or recoded, or the group is gone. What
        is lost has no figures after it. Rows that only `after` has are left out: nobody asked for them. The overlap is
        missing too where one of the intervals is, and ``covered`` where that before is.

    Examples
    --------
    >>> import kanon_lab
    >>> from kanon_lab.utility import indicators
    >>> frame = pd.DataFrame({"income": [10, 14, 20, 24]})
    >>> wanted = kanon_lab.utility.IndicatorSet(means="income")
    >>> before, after = (indicators(each, wanted) for each in (frame, frame + 3))
    >>> kanon_lab.utility.compare_indicators(before, after)[["difference", "overlap", "covered", "status"]].round(4)
       difference  overlap  covered    status
    0         3.0   0.8484     True  compared
    """
    keys, columns = list(KEYS), [*KEYS, *_ENDS]
    for name, frame in (("before", before), ("after", after)):
        if not {*columns} <= {*frame.columns} or frame.duplicated(keys).any():
            raise OptionError(f"{name} must be what indicators gives, with one row an indicator and group")
    # Without rows there are no types to join by.
    one, other = (frame[columns].astype(dict.fromkeys(KEYS, object)) for frame in (before, after))
    rows = one.merge(other, on=keys, how="left", suffixes=("_before", "_after"), indicator="status")
    rows["status"] = np.where(rows["status"] == "both", "compared", "lost")
    figures = [f"{end}_{side}" for side in ("before", "after") for end in _ENDS]
    was, low, high, now, other_low, other_high = (rows[name].to_numpy(dtype=float) for name in figures)
    rows["difference"] = now - was
    rows["relative_difference"] = (now - was) / np.where(was == 0, np.nan, np.abs(was))
    rows["overlap"] = _overlap(low, high, other_low, other_high)
    slack = ROUNDING * (high - low) + NOTHING * np.abs(was)
    covered = pd.array((low - slack <= now) & (now <= high + slack), dtype="boolean")
    covered[np.isnan(now) | np.isnan(low)] = pd.NA
    rows["covered"] = covered
    measured = ["difference", "relative_difference", "overlap", "covered", "status"]
    return rows[[*keys, *figures, *measured]]


def indicator_loss(compared: pd.DataFrame) -> dict[str, Any]:
    """Sum up what a protection did to the indicators of a survey, as `compare_indicators` gives them.

    Returns
    -------
    dict
        ``compared`` and ``lost`` (indicators, with an interval or not); ``overlap_mean`` and ``overlap_least`` (0-1),
        of those with an overlap, and ``covered`` (0-1), the share of those for which that is known; and ``overlap_all``
        (0-1), the mean over all that had an interval before, where each that is lost, or has no interval after, counts
        as no overlap. None where there is no such indicator. Compare protections by ``overlap_all``: the others look
        better the more is lost. An indicator without an interval before cannot be weighed; if it is lost, only ``lost``
        says so.

    Examples
    --------
    >>> import kanon_lab
    >>> from kanon_lab.utility import indicators
    >>> frame = pd.DataFrame({"income": [10, 14, 20, 24]})
    >>> wanted = kanon_lab.utility.IndicatorSet(means="income")
    >>> before = indicators(frame, wanted)
    >>> kanon_lab.utility.indicator_loss(kanon_lab.utility.compare_indicators(before, before))
    {'compared': 1, 'lost': 0, 'overlap_all': 1.0, 'overlap_mean': 1.0, 'overlap_least': 1.0, 'covered': 1.0}
    """
    overlap, covered = compared["overlap"].dropna(), compared["covered"].dropna()
    counted = int(compared["lower_before"].notna().sum())
    return {
        "compared": int((compared["status"] == "compared").sum()),
        "lost": int((compared["status"] == "lost").sum()),
        "overlap_all": float(overlap.sum() / counted) if counted else None,
        "overlap_mean": float(overlap.mean()) if len(overlap) else None,
        "overlap_least": float(overlap.min()) if len(overlap) else None,
        "covered": float(covered.mean()) if len(covered) else None,
    }


def _overlap(low: np.ndarray, high: np.ndarray, other_low: np.ndarray, other_high: np.ndarray) -> np.ndarray:
    """Mean of the shares of two intervals' lengths that lie in the other; missing where an end is."""
    rounding = NOTHING * np.max(np.abs([low, high, other_low, other_high]), axis=0)
    common = np.minimum(high, other_high) - np.maximum(low, other_low)
    lengths = high - low, other_high - other_low
    slack = ROUNDING * np.maximum(*lengths) + rounding
    shares = []
    for length in lengths:
        point = length <= rounding
        share = np.clip(common, 0.0, None) / np.where(point, 1.0, length)
        shares.append(np.where(point, (common >= -slack).astype(float), share))
    return np.where(np.isnan(common), np.nan, (shares[0] + shares[1]) / 2)
