"""Which cells to suppress so that every record has enough compatible ones, a missing value being any value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tqdm import tqdm

from kanon_lab.suppress.counting import compatible_records

# Into how many parts the records are divided of which one more value may be given back: all at once, then fewer.
_PARTS = (1, 8)


def suppressed_as_wildcards(
    codes: np.ndarray, records: np.ndarray, k: int, tiers: Sequence[np.ndarray], violating: np.ndarray
) -> np.ndarray:
    """Codes in which every class has k compatible records or more, and every violating one a suppressed value.

    `tiers` are the columns that may be suppressed, most important tier first. An important key is suppressed only where
    all less important ones together are not enough then. In a tier, a class takes the first key that is enough. When no
    key is enough for any class that is left, those that are farthest from k take the key that brings them nearest. So
    later classes gain from what earlier ones lost, and what is enough stays so: suppression of a value never takes a
    compatible record away. At last, values that are not needed any more come back.
    """
    start, codes, rows = codes, codes.copy(), np.flatnonzero(violating)
    bar = tqdm(total=len(rows) * len(tiers), desc="classes", disable=None, leave=False, delay=2)
    for i, tier in enumerate(tiers):
        lower = [column for later in tiers[i + 1 :] for column in later]
        while True:
            trial = codes[rows]
            trial[:, lower] = -1
            need = compatible_records(trial, codes, records) < k
            bar.update(len(rows) * (i + 1) - int(need.sum()) - bar.n)
            if not need.any():
                break
            _take_one_key(codes, records, k, tier, rows[need], trial[need])
    # Who only gained from what others lost would still stand out: the least important known value goes.
    unchanged = rows[(codes[rows] == start[rows]).all(axis=1)]
    for column in (column for tier in reversed(tiers) for column in tier):
        codes[unchanged, column] = -1
        unchanged = unchanged[start[unchanged, column] < 0]
    for parts in _PARTS:
        for column in (column for tier in tiers for column in tier[::-1]):
            codes = _with_values_back(codes, start, records, k, column, parts)
    bar.close()
    return codes


def _take_one_key(
    codes: np.ndarray, records: np.ndarray, k: int, tier: np.ndarray, rows: np.ndarray, trial: np.ndarray
) -> None:
    """Suppress one key of the tier in some of the rows, at least in one."""
    tried = np.repeat(trial[None], len(tier), axis=0)
    tried[np.arange(len(tier)), :, tier] = -1
    counts = compatible_records(tried.reshape(-1, codes.shape[1]), codes, records).reshape(len(tier), len(rows))
    counts[(trial[:, tier] < 0).T] = -1
    enough = counts >= k
    some = enough.any(axis=0)
    choice = enough.argmax(axis=0)
    if not some.any():
        best = counts.max(axis=0)
        some, choice = best == best.min(), counts.argmax(axis=0)
    codes[rows[some], tier[choice[some]]] = -1


def _with_values_back(
    codes: np.ndarray, start: np.ndarray, records: np.ndarray, k: int, column: int, parts: int
) -> np.ndarray:
    """Codes with values of one column back in classes that lost more than one, where every class keeps k."""
    lost = (codes < 0) & (start >= 0)
    rows = np.flatnonzero(lost[:, column] & (lost.sum(axis=1) > 1))
    trial = codes[rows]
    trial[:, column] = start[rows, column]
    enough = compatible_records(trial, codes, records) >= k
    for back in np.array_split(rows[enough], parts):
        while len(back):
            trial = codes.copy()
            trial[back, column] = start[back, column]
            short = compatible_records(trial, trial, records) < k
            if not short.any():
                codes = trial
                break
            # Whoever a class that is now short has lost, or is short itself, stays as it was.
            ones = np.ones(int(short.sum()), dtype=np.int64)
            met, meets = (compatible_records(each[back], trial[short], ones) for each in (codes, trial))
            keep = (met == meets) & ~short[back]
            back = back[keep] if not keep.all() else back[:0]
    return codes
