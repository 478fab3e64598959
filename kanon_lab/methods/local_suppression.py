"""Local suppression: single key values are removed until every record is alike to enough others."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, islice
from itertools import combinations as subsets
from math import comb

import numpy as np
import pandas as pd
from tqdm import tqdm

from kanon_lab.classes import class_table
from kanon_lab.columns import distinct_rows
from kanon_lab.errors import DataError, OptionError, UnfitOptionError, shortened
from kanon_lab.methods.suppression import (
    Suppression,
    check_key,
    check_policy,
    claims_of,
    compatible_records,
    equal_records,
    strata_codes,
    without_cells,
)
from kanon_lab.roles import KeySpec, as_spec, check_k

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


# Sets of keys that are tried before all keys are suppressed at once; up to 12 keys that is every set.
_MOST_SETS = 4096
# The same, where a class looks for others to join.
_MOST_JOINS = 256


def suppressed_as_category(
    codes: np.ndarray, records: np.ndarray, k: int, tiers: Sequence[np.ndarray], violating: np.ndarray
) -> np.ndarray:
    """Codes in which every class has k records or more; arguments as in `suppressed_as_wildcards`.

    Sets of keys are tried from the cheapest on; where classes that lose the same keys become one that is large enough,
    they are done. The last few, fewer than k, are joined by other classes, at the cheapest.
    """
    codes, left = codes.copy(), np.flatnonzero(violating)
    for keys in _sets_by_cost(tiers, _MOST_SETS):
        if not len(left):
            return codes
        settled = np.ones(len(codes), dtype=bool)
        settled[left] = False
        trial = codes[left]
        trial[:, keys] = -1
        rows = np.concatenate([codes[settled], trial])
        size = equal_records(trial, rows, np.concatenate([records[settled], records[left]]))
        done = size >= k
        codes[left[done]] = trial[done]
        left = left[~done]
    for row in left:
        if equal_records(codes[[row]], codes, records)[0] < k:
            _join(codes, records, k, tiers, row)
    return codes


def _join(codes: np.ndarray, records: np.ndarray, k: int, tiers: Sequence[np.ndarray], row: int) -> None:
    """Make one class of a row that is in too small a class and of other classes, by the fewest cells."""
    group, some = distinct_rows(codes)
    size = np.bincount(group, weights=records)
    patterns = codes[some]
    own = group[row]
    best, joined = None, None
    for keys in _sets_by_cost(tiers, _MOST_JOINS):
        like = patterns.copy()
        like[:, keys] = -1
        near = np.flatnonzero((like == like[own]).all(axis=1))
        if size[near].sum() < k:
            continue
        lost = (patterns[near] >= 0) & (like[near] < 0)
        cells = np.array([lost[:, tier].sum(axis=1) * size[near] for tier in tiers])
        # The cheapest one class that is large enough, or all that are alike.
        others = np.flatnonzero((near != own) & (size[near] >= k - size[own]))
        if len(others):
            one = others[np.lexsort(cells[::-1, others])[0]]
            chosen = (near == own) | (np.arange(len(near)) == one)
        else:
            chosen = np.ones(len(near), dtype=bool)
        cost = tuple(cells[:, chosen].sum(axis=1))
        if best is None or cost < best:
            best, joined = cost, (near[chosen], like[own])
    members, pattern = joined
    codes[np.isin(group, members)] = pattern


def _sets_by_cost(tiers: Sequence[np.ndarray], most: int) -> Iterator[list[int]]:
    """Sets of keys: fewest of the most important tier first, then of the next; at last all of them."""
    columns = [int(column) for tier in tiers for column in tier]
    tier_of = {int(column): i for i, tier in enumerate(tiers) for column in tier}
    rank = {column: i for i, column in enumerate(columns)}
    sizes = range(1, len(columns) + 1)
    sets = list(islice((chosen for size in sizes for chosen in combinations(columns, size)), most))

    def cost(chosen: tuple[int, ...]) -> tuple:
        in_tier = [sum(tier_of[column] == i for column in chosen) for i in range(len(tiers))]
        return (*in_tier, [rank[column] for column in chosen])

    yield from (list(chosen) for chosen in sorted(sets, key=cost))
    yield columns


_MOST_COMBINATIONS = 5000
_Combination = tuple[list[int], int]


def local_suppression(
    frame: pd.DataFrame,
    spec: KeySpec | Iterable[str] | str,
    *,
    k_required: int,
    importance: Mapping[str, int] | None = None,
    combinations: Sequence[Mapping] | None = None,
) -> Suppression:
    """Remove single key values until every record is alike to enough others.

    Parameters
    ----------
    frame : DataFrame
    spec : KeySpec or sequence of str
        The roles of the variables. Under its policy ``wildcard`` for missing values every record then has `k_required`
        compatible records, under ``category`` every class has `k_required` records. With strata, of its own stratum.
    k_required : int
        From 1 to the records of the smallest stratum.
    importance : mapping of str to int, optional
        By key variable a whole number from 1 on, 1 being the most important. A key is suppressed only in records for
        which all less important ones together were not enough when it was decided. Keys that are not named are less
        important than all that are. Without it all are alike, and a key with more different values is suppressed first.
    combinations : sequence of mappings, optional
        What must be met in place of all keys together: ``{"keys": [...], "k": 3}`` for some keys or ``{"size": 2, "k":
        3}`` for all sets of so many keys; without ``k``, `k_required`.

    Returns
    -------
    Suppression
        The same for the same records in any order.

    Notes
    -----
    For one combination of keys and under ``wildcard``, the records that have too few others alike lose at least one
    value each, and no other record loses any. Under ``category`` a few others may, to keep the last ones company, and
    a record that misses values already may lose none, where others lose theirs and join it. Fewer cells would do under
    ``wildcard``: k - 1 records that lose every key are compatible with all others. But these others would be as easy
    to tell apart as before. So the claims are counted in three ways (`protection_claims`). Under ``category`` all three
    hold.

    References
    ----------
    INE Chile (2023), section 8.2.2.

    Examples
    --------
    >>> import kanon_lab
    >>> persons = pd.DataFrame({'sex': list('ffmm'), 'age': ['old', 'young', 'old', 'old']})
    >>> found = kanon_lab.local_suppression(persons, ['sex', 'age'], k_required=2)
    >>> found.cells
      variable role  cells  share
    0      sex  key      1   0.25
    1      age  key      1   0.25
    >>> found.frame
       sex  age
    0  NaN  old
    1    f  NaN
    2    m  old
    3    m  old
    """
    spec = as_spec(spec)
    check_policy(spec)
    k_required = check_k(k_required, "k_required")
    wanted = asked_combinations(combinations, spec, k_required)
    # Only the codes are used, and category spares the count of compatible records.
    table = class_table(frame, replace(spec, weight=None, missing="category"))
    stratum = strata_codes(frame, spec)
    _check_sizes(stratum, max(k for _, k in wanted), bool(spec.strata))
    ranks = asked_ranks(importance, spec)
    known = table.codes[table.class_of_record].astype(np.int64)
    group, some = distinct_rows(np.column_stack([known, stratum]))
    start, records = np.column_stack([known, stratum])[some], np.bincount(group)
    codes = _suppressed(start, records, wanted, ranks, [len(labels) for labels in table.labels], spec.missing)
    violating = np.zeros(len(start), dtype=bool)
    for columns, k in wanted:
        violating |= _violating(start, records, columns, k, spec.missing)
    gone = (codes[:, :-1] < 0) & (start[:, :-1] >= 0)
    of_record = gone[group]
    protected, cells = without_cells(frame, dict(zip(spec.key_variables, of_record.T, strict=True)), spec)
    claims = claims_of(known, codes[group, :-1], stratum, wanted, spec.key_variables)
    return Suppression(protected, cells, int(violating[group].sum()), int(of_record.any(axis=1).sum()), claims)


def _suppressed(
    start: np.ndarray,
    records: np.ndarray,
    wanted: Sequence[_Combination],
    ranks: Sequence[int],
    values: Sequence[int],
    missing: str,
) -> np.ndarray:
    """Codes that meet every combination that is wanted."""
    search = suppressed_as_wildcards if missing == "wildcard" else suppressed_as_category
    codes = start.copy()
    while True:
        before = codes
        for columns, k in wanted:
            violating = _violating(codes, records, columns, k, missing)
            if violating.any():
                tiers = _tiers(columns, ranks, values)
                part = [*columns, codes.shape[1] - 1]
                codes = codes.copy()
                codes[:, part] = search(codes[:, part], records, k, tiers, violating)
        # Wildcards only ever gain company; values of their own may leave a class of another combination too small.
        if missing == "wildcard" or (codes == before).all():
            return codes


def _violating(codes: np.ndarray, records: np.ndarray, columns: Sequence[int], k: int, missing: str) -> np.ndarray:
    """Whether each class has too few records alike in the columns, and in its stratum."""
    part = codes[:, [*columns, codes.shape[1] - 1]]
    alike = compatible_records if missing == "wildcard" else equal_records
    return alike(part, part, records) < k


def _tiers(columns: Sequence[int], ranks: Sequence[int], values: Sequence[int]) -> list[np.ndarray]:
    """Positions in `columns` by importance, most important first; in a tier the keys with most values first."""
    tiers = []
    for rank in sorted({ranks[column] for column in columns}):
        tier = [i for i, column in enumerate(columns) if ranks[column] == rank]
        tiers.append(np.array(sorted(tier, key=lambda i: -values[columns[i]]), dtype=np.intp))
    return tiers


def asked_ranks(importance: Mapping[str, int] | None, spec: KeySpec) -> list[int]:
    """The importance of each key, 1 first."""
    if importance is None:
        return [1] * len(spec.key_variables)
    if not isinstance(importance, Mapping):
        raise OptionError(
            "importance must be a mapping of key variable to a whole number, such as {'sex': 1, 'age': 2}"
        )
    for name in importance:
        check_key(name, spec, "importance")
    ranks = {name: check_k(rank, f"importance of {shortened(str(name))}") for name, rank in importance.items()}
    least = max(ranks.values(), default=0) + 1
    return [ranks.get(name, least) for name in spec.key_variables]


def asked_combinations(combinations: Sequence[Mapping] | None, spec: KeySpec, k_required: int) -> list[_Combination]:
    """Columns and k of each combination of keys to be met."""
    keys = list(spec.key_variables)
    if combinations is None:
        return [(list(range(len(keys))), k_required)]
    if isinstance(combinations, (str, Mapping)) or not isinstance(combinations, Sequence) or not combinations:
        raise OptionError("combinations must be a list such as [{'size': 2, 'k': 3}, {'keys': ['sex', 'age']}]")
    found: list[_Combination] = []
    for each in combinations:
        if not isinstance(each, Mapping) or ("keys" in each) == ("size" in each) or set(each) - {"keys", "size", "k"}:
            raise OptionError("combinations: give each either keys or size, and k if it is another than k_required")
        k = check_k(each.get("k", k_required), "combinations: k")
        if "keys" in each:
            names = [each["keys"]] if isinstance(each["keys"], str) else each["keys"]
            if not isinstance(names, Sequence) or not names:
                raise OptionError("combinations: keys must be a list of key variables")
            for name in names:
                check_key(name, spec, "combinations")
            found.append((sorted({keys.index(name) for name in names}), k))
            continue
        size = each["size"]
        if isinstance(size, bool) or not isinstance(size, numbers.Integral) or not 1 <= size <= len(keys):
            raise OptionError(f"combinations: size must be a whole number from 1 to {len(keys)}, the number of keys")
        if len(found) + comb(len(keys), int(size)) > _MOST_COMBINATIONS:
            raise OptionError(f"combinations: more than {_MOST_COMBINATIONS:,} sets of keys; ask for fewer")
        found += [(list(chosen), k) for chosen in subsets(range(len(keys)), int(size))]
    return found


def _check_sizes(stratum: np.ndarray, k: int, strata: bool) -> None:
    """Refuse a k that no suppression can reach."""
    sizes = np.bincount(stratum)
    if sizes.min() >= k:
        return
    if not strata:
        raise UnfitOptionError(f"k_required is {k}, and there are {len(stratum)} records; choose a k up to that")
    raise DataError(
        f"{int((sizes < k).sum())} of {len(sizes)} strata have fewer than {k} records, the smallest "
        f"{int(sizes.min())}; merge strata, or choose a smaller k"
    )
