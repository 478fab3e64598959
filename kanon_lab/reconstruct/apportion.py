"""Whole persons in proportion to weights."""

from __future__ import annotations

import numpy as np


def apportion(total: int, weights: np.ndarray) -> np.ndarray:
    """Split whole persons in proportion to weights by largest remainders.

    Parameters
    ----------
    total : int
        Persons to split, 0 or more.
    weights : array, shape (parts,)
        Non-negative, not all zero.

    Returns
    -------
    ndarray of int64, shape (parts,)
        Adds up to `total`; each part differs from its exact share by less than 1.
    """
    quotas = total * (np.asarray(weights, dtype=float) / np.sum(weights))
    whole = np.floor(quotas).astype(np.int64)
    order = np.argsort(whole - quotas, kind="stable")
    whole[order[: total - whole.sum()]] += 1
    return whole
