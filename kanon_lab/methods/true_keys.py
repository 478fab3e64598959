"""Suppression of more values, so that an intruder who knows a true key meets k released records or more.

A record is not protected by its own suppressed values: who knows the true key finds it among the released records that
are compatible with that key. Only suppressed values of other records add to these.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tqdm import tqdm

from kanon_lab.classes.persons import compatible_persons
from kanon_lab.methods.suppression_search import compatible_records


def suppressed_for_true_keys(
    true: np.ndarray,
    shown: np.ndarray,
    records: np.ndarray,
    k: int,
    tiers: Sequence[np.ndarray],
    person: np.ndarray | None = None,
) -> np.ndarray:
    """The shown codes with more values suppressed, so that every true key is compatible with k records or more.

    Rows of both are classes with so many `records`; codes are alike in both, -1 where missing, and the last column is
    the stratum. `tiers` are the columns that may be suppressed, most important tier first. The true key that meets
    fewest records comes first: the class that costs least for each record that it adds loses the values that differ
    from that key. In the end, values whose suppression is no longer needed come back. With the `person` of each class,
    who may have several, different persons are counted in place of records.
    """
    true, shown = np.asfortranarray(true), shown.copy(order="F")
    if person is None:
        counts = compatible_records(true, shown, records)
    else:
        records, counts = np.ones(len(true), dtype=np.int64), compatible_persons(true, shown, person)

    order = np.arange(0) if person is None else np.argsort(person, kind="stable")
    in_order = order if person is None else person[order]

    def others(row: int, keys: np.ndarray) -> np.ndarray:
        """Of some true keys those that meet no other class of the row's person, or all."""
        keys = np.flatnonzero(keys)
        if person is None:
            return keys
        for other in order[slice(*np.searchsorted(in_order, [person[row], person[row] + 1]))]:
            if other != row:
                keys = keys[~_compatible(true[keys], shown[other])]
        return keys

    taken: list[tuple[int, int, int]] = []
    with tqdm(total=int((counts < k).sum()), desc="true keys", disable=None, leave=False, delay=2) as bar:
        while (short := int(counts.argmin())) >= 0 and counts[short] < k:
            met = np.zeros(len(shown), dtype=bool)
            if person is not None:
                there = np.zeros(int(person.max()) + 1, dtype=bool)
                there[person[_compatible(shown, true[short])]] = True
                met = there[person]
            row = _cheapest(true[short], shown, records, k - int(counts[short]), tiers, met)
            before, below = shown[row].copy(), int((counts < k).sum())
            differ = np.flatnonzero(_differ(true[short], before))
            taken += [(row, int(column), int(before[column])) for column in differ]
            shown[row, differ] = -1
            counts[others(row, _compatible(true, shown[row]) & ~_compatible(true, before))] += records[row]
            bar.update(below - int((counts < k).sum()))
    for row, column, code in reversed(taken):
        with_value = shown[row].copy()
        with_value[column] = code
        lost = others(row, _compatible(true, shown[row]) & ~_compatible(true, with_value))
        if (counts[lost] - records[row] >= k).all():
            counts[lost] -= records[row]
            shown[row] = with_value
    return shown


def _differ(true: np.ndarray, shown: np.ndarray) -> np.ndarray:
    """Where known values are not the same."""
    return (true >= 0) & (shown >= 0) & (true != shown)


def _compatible(true: np.ndarray, shown: np.ndarray) -> np.ndarray:
    """Whether each true key, in rows, is compatible with a released one."""
    same = np.ones(len(true), dtype=bool)
    for column, code in zip(true.T, shown, strict=True):
        if code >= 0:
            same &= (column == code) | (column < 0)
    return same


def _cheapest(
    key: np.ndarray, shown: np.ndarray, records: np.ndarray, needed: int, tiers: Sequence[np.ndarray], met: np.ndarray
) -> int:
    """The class of the stratum that becomes compatible with a true key at the least cost in cells for a record.

    None of those whose person is `met` already.
    """
    gained = np.minimum(records, needed) / records
    costs = []
    for tier in tiers:
        cells = np.zeros(len(shown), dtype=np.int64)
        for column in tier:
            if key[column] >= 0:
                cells += (shown[:, column] >= 0) & (shown[:, column] != key[column])
        costs.append(cells)
    other = (shown[:, -1] == key[-1]) & (np.sum(costs, axis=0) > 0) & ~met
    rows = np.flatnonzero(other)
    return int(rows[np.lexsort([cells[rows] / gained[rows] for cells in reversed(costs)])[0]])
