"""Persons with several records: whether a release says which records are of one person, and identifiers that repeat."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from kanon_lab.columns import coded, distinct_rows, named_columns
from kanon_lab.recipes.households import OF_HOUSEHOLDS, order_blocks, ordered_variables, shared_by_members
from kanon_lab.recipes.released import AS_IS, NO_ROLE, role_of
from kanon_lab.recipes.shown import units_told
from kanon_lab.recipes.state import Chain

# A column repeats as identifiers of persons do from so many records a value on, and up to so many, with so many values.
_RECORDS, _MOST_RECORDS, _VALUES = 1.5, 100, 10
# By chance so many pairs of records would have the same value of it and of another column, where none has.
_PAIRS = 20
# A column of waves has so many values at least (a couple of two sexes shares an address), and at most so many times
# those that a person has records.
_FEWEST, _WAVES = 2, 3


class Paths(NamedTuple):
    """Whether a release says which records are of one person (None: not known), and the columns that do it."""

    known: bool | None
    columns: tuple[str, ...] = ()


def paths_of(protection: Chain) -> Paths:
    """Whether a release says which records are of one person: by their identifier, other columns, or their order.

    Other columns do if they tell at least half of the persons that would be mistaken without them: a weight or a date
    of birth that all records of a person share. Not known of an engine's counts, where the identifier is removed.
    """
    if (person := protection.spec.person) is None:
        return Paths(False)
    if protection.shows_persons:
        return Paths(True, (person,))
    if protection.state.counts is not None:
        return Paths(None)
    columns = dict.fromkeys(name for names, _ in units_told(protection, person, ()) for name in names)
    if columns:
        return Paths(True, tuple(columns))
    block = order_blocks(protection)
    return Paths(block is not None and bool(ordered_variables(protection, block, [person])))


def repeated_identifiers(protection: Chain) -> tuple[str, ...]:
    """Identifiers of which most values stand in several records, where no person is named.

    These are direct identifiers, other than dates and what members of a household share; and released columns without a
    role, or released as they are, that look like numbers of persons: no two records of a value are alike in some other
    column, such as the year, where many would be by chance.
    """
    spec, original = protection.spec, protection.original
    if spec.person is not None or protection.state.counts is not None:
        return ()
    roles = {name: role_of(name, protection) for name in protection.released_columns}
    loose = [name for name, role in roles.items() if role in (NO_ROLE, AS_IS)]
    known, repeated = protection.start.repeated, []
    for name in [*spec.direct_identifiers, *loose]:
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
