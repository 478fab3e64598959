"""Household risk: the probability that some member of a record's household is re-identified."""

from __future__ import annotations

import numpy as np
import pandas as pd

from kanon_lab.errors import DataError, OptionError


def household_risk(risk: np.ndarray, household: np.ndarray) -> np.ndarray:
    """Risk of each record's household: 1 - prod(1 - r) over its members.

    Parameters
    ----------
    risk : array of float, shape (n,)
        Individual risk of each record, 0-1.
    household : array, shape (n,)
        The household of each record: numbers or texts.

    Returns
    -------
    ndarray of float, shape (n,)
        0-1, the same for all members of a household and at least the risk of each.

    Raises
    ------
    OptionError
        Arrays of different lengths, or a risk outside 0-1.
    DataError
        A record has no household.

    Notes
    -----
    Members are taken to be re-identified independently of each other. Members that are not in the file do not count.

    References
    ----------
    INE Chile (2023), section 7.8.
    """
    risk = np.asarray(risk, dtype=float)
    if len(risk) != len(household):
        raise OptionError(f"there are {len(risk)} risks and {len(household)} households: give one of each per record")
    if not ((risk >= 0) & (risk <= 1)).all():
        raise OptionError("a risk must be a number from 0 to 1")
    codes, names = pd.factorize(pd.Series(household))
    if (codes < 0).any():
        raise DataError(f"record {int((codes < 0).argmax())} has no household; fill it in or drop the record")
    with np.errstate(divide="ignore"):  # a member who is certain to be found makes the household certain
        logs = np.bincount(codes, weights=np.log1p(-risk), minlength=len(names))
    return -np.expm1(logs)[codes]
