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

    # Keys with many values rule most rows out, so they are compared first.
    places = np.argsort([-int(column.max(initial=0)) for column in true.T], kind="stable")
    gained = [np.minimum(records, needed) / records for needed in range(k + 1)]
    order = np.arange(0) if person is None else np.argsort(person, kind="stable")
    in_order = order if person is None else person[order]

    def others(row: int, after: np.ndarray, before: np.ndarray) -> np.ndarray:
        """True keys that a row meets as it is `after`, and not `before`; no other class of its person meets them."""
        keys = _compatible(true, after, places)
        keys = np.setdiff1d(keys, keys[_compatible(true[keys], before, places)], assume_unique=True)
        if person is None:
            return keys
        for other in order[slice(*np.searchsorted(in_order, [person[row], person[row] + 1]))]:
            if other != row:
                keys = np.delete(keys, _compatible(true[keys], shown[other], places))
        return keys

    taken: list[tuple[int, int, int]] = []
    with tqdm(total=int((counts < k).sum()), desc="true keys", disable=None, leave=False, delay=2) as bar:
        while (short := int(counts.argmin())) >= 0 and counts[short] < k:
            key, wanted = true[short], shown[:, -1] == true[short, -1]
            met = _compatible(shown, key, places)
            wanted[met] = False
            if person is not None:
                there = np.zeros(int(person.max()) + 1, dtype=bool)
                there[person[met]] = True
                wanted &= ~there[person]
            row = _cheapest(key, shown, gained[k - int(counts[short])], tiers, wanted)
            before, below = shown[row].copy(), int((counts < k).sum())
            differ = np.flatnonzero(_differ(key, before))
            taken += [(row, int(column), int(before[column])) for column in differ]
            shown[row, differ] = -1
            counts[others(row, shown[row], before)] += records[row]
            bar.update(below - int((counts < k).sum()))
    for row, column, code in reversed(taken):
        with_value = shown[row].copy()
        with_value[column] = code
        lost = others(row, shown[row], with_value)
        if (counts[lost] - records[row] >= k).all():
            counts[lost] -= records[row]
            shown[row] = with_value
    return shown


def _differ(true: np.ndarray, shown: np.ndarray) -> np.ndarray:
    """Where known values are not the same."""
    return (true >= 0) & (shown >= 0) & (true != shown)


def _compatible(rows: np.ndarray, key: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Positions of the rows that are compatible with a key; columns are compared in the order of `places`."""
    left: np.ndarray | None = None
    for column in places:
        if (code := key[column]) >= 0:
            codes = rows[:, column] if left is None else rows[left, column]
            same = np.flatnonzero((codes == code) | (codes < 0))
            left = same if left is None else left[same]
    return np.arange(len(rows)) if left is None else left


def _cheapest(
    key: np.ndarray, shown: np.ndarray, gained: np.ndarray, tiers: Sequence[np.ndarray], wanted: np.ndarray
) -> int:
    """Of the classes that are `wanted` the first that becomes compatible with a true key at the least cost.

    That is the cost in cells of the most important tier for what is `gained` by a class, then of the next tier.
    """
    rows = np.flatnonzero(wanted)
    for tier in tiers:
        cells = np.zeros(len(rows), dtype=np.int64)
        for column in tier:
            if key[column] >= 0:
                codes = shown[rows, column]
                cells += (codes >= 0) & (codes != key[column])
        costs = cells / gained[rows]
        rows = rows[costs == costs.min()]
    return int(rows[0])
