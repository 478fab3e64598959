"""Sums and differences of two columns that go along with a key: an age at arrival and the years since tell an age."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, compress

import numpy as np
import pandas as pd

from kanon_lab.columns import coded, holds_numbers, named_columns, remembered_rows

# Sums are tried where they go along with a key so closely (a correlation), and more closely than each of the two.
_ALONG = 0.98
# Columns of which sums are tried, at most.
_MOST_NUMBERS = 30


def numbers_of_columns(frame: pd.DataFrame) -> dict[str, np.ndarray]:
    """The columns of numbers or dates as floats, dates as years since 1970; the first of many."""
    ordered = [(name, column) for name, column in named_columns(frame) if _has_order(column)]
    return {name: _numbers(column) for name, column in ordered[:_MOST_NUMBERS]}


def sums_along(
    keys: Sequence[pd.Series], columns: Mapping[str, np.ndarray], sample: np.ndarray
) -> Iterator[tuple[tuple[str, str], np.ndarray]]:
    """Codes of the sums and differences of two columns that go along with a key in a sample of the records."""
    wanted = [_numbers(key.iloc[sample]) for key in keys if _has_order(key)]
    sampled = {name: numbers[sample] for name, numbers in columns.items()} if wanted else {}
    tried = [(first, second, sign) for first, second in combinations(sampled, 2) for sign in (1, -1)]

    def along() -> np.ndarray:
        single, go = {name: [_along(key, numbers) for key in wanted] for name, numbers in sampled.items()}, []
        for first, second, sign in tried:
            both = [_along(key, sampled[first] + sign * sampled[second]) for key in wanted]
            alone = map(max, single[first], single[second])
            go.append(any(_ALONG <= together > best for together, best in zip(both, alone, strict=True)))
        return np.array(go)

    hits = remembered_rows("along", along, np.array(tried), *wanted, *sampled.values()) if tried else ()
    for first, second, sign in compress(tried, hits):
        total = pd.Series(columns[first] + sign * columns[second])
        yield (first, second), coded(total).codes.astype(np.int64)


def _has_order(column: pd.Series) -> bool:
    return holds_numbers(column) or pd.api.types.is_datetime64_dtype(column.dtype)


def _numbers(column: pd.Series) -> np.ndarray:
    if pd.api.types.is_datetime64_dtype(column.dtype):
        return (column.to_numpy() - np.datetime64("1970-01-01")) / np.timedelta64(1, "D") / 365.25
    return column.to_numpy(dtype=float, na_value=np.nan)


def _along(key: np.ndarray, numbers: np.ndarray) -> float:
    """Absolute correlation of two columns where both are known; 0 where one is constant."""
    known = ~np.isnan(key) & ~np.isnan(numbers)
    if np.count_nonzero(known) < 3 or not key[known].std() or not numbers[known].std():
        return 0.0
    return abs(float(np.corrcoef(key[known], numbers[known])[0, 1]))
