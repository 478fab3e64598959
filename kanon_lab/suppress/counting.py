"""Records alike to a class, under either meaning of a missing value.

Classes are rows of key codes, -1 where a value is missing, and their records are treated alike. A last column may hold
the stratum, which is never suppressed.
"""

from __future__ import annotations

import numpy as np

from kanon_lab.classes.coding import distinct_rows
from kanon_lab.classes.compatible import compatible_sums


def compatible_records(queries: np.ndarray, codes: np.ndarray, records: np.ndarray) -> np.ndarray:
    """For each row of `queries`, the records (or weights) of all classes compatible with it."""
    rows = np.concatenate([codes, queries])
    group, some = distinct_rows(rows)
    own = np.bincount(group[: len(codes)], weights=records, minlength=len(some)).astype(records.dtype)
    return compatible_sums(rows[some], own)[group[len(codes) :]]


def equal_records(queries: np.ndarray, codes: np.ndarray, records: np.ndarray) -> np.ndarray:
    """For each row of `queries`, the records of all classes equal to it: a missing value is a value of its own."""
    group, some = distinct_rows(np.concatenate([codes, queries]))
    own = np.bincount(group[: len(codes)], weights=records, minlength=len(some)).astype(np.int64)
    return own[group[len(codes) :]]
