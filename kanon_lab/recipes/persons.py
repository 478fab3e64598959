"""Persons with several records: whether a release says which records are of one person, and identifiers that repeat."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from kanon_lab.columns import coded, distinct_rows, named_columns
from kanon_lab.recipes.households import OF_HOUSEHOLDS, order_blocks, ordered_variables, shared_by_members
from kanon_lab.recipes.shown import units_told
from kanon_lab.recipes.state import Chain

# A column repeats as identifiers of persons do from so many records a value on, and up to so many, with so many values.
_RECORDS, _MOST_RECORDS, _VALUES = 1.5, 500, 10
# By chance so many pairs of records would have the same value of it and of another column, where none has: none would
# have in one file of 160,000.
_PAIRS = 12
# A column of waves has so many values at least (a couple of two sexes shares an address), and at most so many times
# those that a person has records.
_FEWEST, _WAVES = 2, 3


class Linked(NamedTuple):
    """Whether a release says which records belong together (None: not known), and the columns that do it."""

    known: bool | None
    columns: tuple[str, ...] = ()


def linked_records(protection: Chain, role: str) -> Linked:
    """Whether a release says which records are of one `role` (person, household): by its ID, other columns, or order.

    Other columns do if they tell at least half of the persons or households that would be mistaken without them: a
    weight or a date of birth that all their records share. Not known of an engine's counts, where the ID is removed.
    """
    if (unit := getattr(protection.spec, role)) is None:
        return Linked(False)
    if unit not in protection.state.removed:
        return Linked(True, (unit,))
    if protection.state.counts is not None:
        return Linked(None)
    columns = dict.fromkeys(name for names, _ in units_told(protection, unit, ()) for name in names)
    if columns:
        return Linked(True, tuple(columns))
    block = order_blocks(protection)
    return Linked(block is not None and bool(ordered_variables(protection, block, [unit])))


def repeated_identifiers(protection: Chain) -> tuple[str, ...]:
    """Identifiers of which most values stand in several records, where no person is named.

    These are direct identifiers, other than dates and what members of a household share; and columns with any other
    role or none, released or not, that look like numbers of persons: no two records of a value are alike in some other
    column, such as the year, where many would be by chance.
    """
    spec, original = protection.spec, protection.original
    if spec.person is not None or protection.state.counts is not None:
        return ()
    known, repeated = protection.start.repeated, []
    for name in [name for name, _ in named_columns(original) if name != spec.household]:
        key = name, name in spec.direct_identifiers, spec.household
        if key not in known:  # of the file as it came, so once for all the chains from one start
            known[key] = _is_repeated(original, *key)
        if known[key]:
            repeated.append(name)
    return tuple(repeated)


def _is_repeated(original: pd.DataFrame, name: str, identifies: bool, household: str | None) -> bool:
    """Whether a column repeats as identifiers of persons do."""
    codes = repeating_codes(original[name])
    if codes is None:
        return False
    if household is not None and shared_by_members(coded(original[household]).codes, codes) >= OF_HOUSEHOLDS:
        return False
    return identifies or wave_of(codes, original.drop(columns=name)) is not None


def repeating_codes(column: pd.Series) -> np.ndarray | None:
    """The codes of a column that is no date, and of which most values stand in several records, but in few; else None.

    Decimals are quantities, and so are no identifiers.
    """
    if pd.api.types.is_datetime64_any_dtype(column.dtype) or pd.api.types.is_bool_dtype(column.dtype):
        return None
    if pd.api.types.is_float_dtype(column.dtype) and ((column.dropna() % 1) != 0).any():
        return None
    known = coded(column)
    times = np.bincount(known.codes[known.codes >= 0])
    if len(times) < _VALUES or not _RECORDS <= times.mean() <= _MOST_RECORDS or (times > 1).mean() <= 0.5:
        return None
    return known.codes.astype(np.int64)


def wave_of(codes: np.ndarray, others: pd.DataFrame) -> str | None:
    """A column in which the records of each value differ, though many would be alike by chance, or None."""
    times = np.bincount(codes[codes >= 0]).astype(float)
    pairs = (times * (times - 1)).sum() / 2
    for name, column in named_columns(others):
        other = coded(column).codes.astype(np.int64)
        records = np.bincount(other[other >= 0]).astype(float)
        alike = (records * (records - 1)).sum() / (len(other) * (len(other) - 1))  # of pairs of any records
        if pairs * alike < _PAIRS or not _FEWEST <= len(records) <= _WAVES * times.max():
            continue
        both = (codes >= 0) & (other >= 0)
        _, some = distinct_rows(np.column_stack([codes, other])[both])
        if len(some) == np.count_nonzero(both):
            return name
    return None
