"""Suppression of key values, to k or in records above a risk, and what may be claimed after it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations as subsets
from math import comb
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab.arguments import as_share
from kanon_lab.classes import ClassTable
from kanon_lab.classes.counts import Counts, records_in, table_of_rows
from kanon_lab.columns import coded, distinct_rows, refuse, strata_codes
from kanon_lab.errors import DataError, OptionError, UnfitOptionError, about, meant, shortened
from kanon_lab.measures import file_risk, individual_risk, records_above
from kanon_lab.methods.suppression_search import (
    Combination,
    compatible_records,
    equal_records,
    suppressed_codes,
    violating_classes,
)
from kanon_lab.roles import KeySpec, as_spec, check_k


def check_policy(spec: KeySpec) -> None:
    """Raise an `OptionError` where no key may be missing: suppressed ones are."""
    if spec.missing == "error":
        raise OptionError("missing: suppressed values are missing, which error forbids; choose wildcard or category")


def check_key(name: object, spec: KeySpec, of: str) -> None:
    """Raise an `OptionError` unless a name is that of a key variable."""
    if name not in spec.key_variables:
        remedy = meant(name, spec.key_variables, "name key variables only")
        raise OptionError(f"{of}: {shortened(str(name))} is no key variable; {remedy}")


@dataclass(frozen=True)
class Suppression:
    """The result of a local suppression.

    Attributes
    ----------
    frame : DataFrame
        The same records and columns, direct identifiers among them; suppressed values are missing. Whole numbers and
        truth values of a column that lost some are of pandas' nullable types, so that the others stay what they were.
    cells : DataFrame
        One row a key variable or ghost: ``variable``, ``role`` ("key" or "ghost"), ``cells`` (suppressed now) and
        ``share`` (0-1 of all records).
    violating : int
        Records that did not meet what was asked for, before.
    records_touched : int
        Records that lost a key value.
    claims : DataFrame
        What may be claimed now; see `kanon_lab.methods.protection_claims`.
    """

    frame: pd.DataFrame = field(repr=False)
    cells: pd.DataFrame
    violating: int
    records_touched: int
    claims: pd.DataFrame

    @property
    def total(self) -> int:
        """Key cells suppressed now; ghosts are not counted."""
        return int(self.cells.loc[self.cells["role"] == "key", "cells"].sum())


def without_cells(
    frame: pd.DataFrame, gone: Mapping[str, np.ndarray], spec: KeySpec, counts: Counts | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A frame without some values of its keys, and of their ghosts; and how many went of each variable.

    A ghost goes wherever its key is missing, for whatever reason: it would tell the key.
    """
    released, rows = frame.copy(), []
    n = records_in(np.ones(len(frame), dtype=bool), counts)
    for key in spec.key_variables:
        known = frame[key].notna().to_numpy()
        rows_gone = gone.get(key, np.zeros(len(frame), dtype=bool))
        for role, name in (("key", key), *(("ghost", ghost) for ghost in spec.ghost_variables.get(key, ()))):
            lost = (rows_gone if role == "key" else rows_gone | ~known) & frame[name].notna().to_numpy()
            cells = records_in(lost, counts)
            rows.append((name, role, cells, cells / n))
            if lost.any():
                released[name] = without_values(frame[name], lost)
    return released, pd.DataFrame(rows, columns=["variable", "role", "cells", "share"])


def without_values(column: pd.Series, lost: np.ndarray) -> pd.Series:
    """A column without some values: not even under a mask, or among its categories."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iub":
        column = column.convert_dtypes()
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.mask(lost).cat.remove_unused_categories()
    values = column.array.copy()
    if isinstance(values, pd.arrays.IntegerArray | pd.arrays.FloatingArray | pd.arrays.BooleanArray):
        # A nullable array keeps what stands under its mask.
        values[lost] = values.dtype.type(0)
    column = pd.Series(values, index=column.index, name=column.name)
    return column.mask(lost)


#: Claim that fails for a record, and what is meant by it.
CLAIMS = {
    "compatible": "records with fewer than k compatible released records (a missing value may be any value)",
    "own_class": "records in a released class of fewer than k (a missing value is a value of its own)",
    "true_key": "targets whose true key meets fewer than k compatible released records",
}
#: Columns of every frame of claims.
CLAIM_COLUMNS = ["claim", "keys", "k", "records", "share", "meaning"]


def protection_claims(
    original: pd.DataFrame, released: pd.DataFrame, spec: KeySpec | Iterable[str] | str, *, k_required: int
) -> pd.DataFrame:
    """Check what a release with suppressed values may claim.

    Parameters
    ----------
    original, released : DataFrame
        The same records in the same order; the released key values are the original ones, or missing.
    spec : KeySpec or sequence of str
        Only the key variables and strata are used. Within strata, only records of the same stratum count.
    k_required : int, from 1 on

    Returns
    -------
    DataFrame
        One row a claim: ``claim`` (see `CLAIMS`), ``keys`` (text), ``k``, ``records`` (for which it fails), ``share``
        (0-1 of all) and ``meaning``.

    Notes
    -----
    A missing value is compatible with any, so a suppressed record has many compatible ones. But who knows a target's
    true key meets only the records that are compatible with that key, and these may be one (INE Chile 2023, Tabla 8.4).
    Where every own class has k records, every true key meets k.

    Examples
    --------
    >>> before = pd.DataFrame({'sex': list('fffm'), 'age': ['old', 'old', 'young', 'old']})
    >>> after = before.assign(age=['old', 'old', None, None])
    >>> kanon_lab.methods.protection_claims(before, after, ['sex', 'age'], k_required=2)[['claim', 'records']]
            claim  records
    0  compatible        1
    1   own_class        2
    2    true_key        2
    """
    spec = as_spec(spec)
    with about("the original data"):
        spec.check(original)
    with about("the released data"):
        spec.check(released)
        if not original.index.equals(released.index):
            raise DataError("has other records, or another order, than the original data; give both alike")
    with about("the original data"):
        known = np.column_stack([coded(original[name]).codes for name in spec.key_variables])
    kept = np.column_stack([_kept(original[name], released[name]) for name in spec.key_variables])
    shown = np.where(kept, known, -1)
    columns = [*range(known.shape[1])]
    stratum = strata_codes(original, spec.strata)
    return claims_of(known, shown, stratum, [(columns, check_k(k_required, "k_required"))], spec.key_variables)


def claims_of(
    known: np.ndarray,
    shown: np.ndarray,
    stratum: np.ndarray,
    combinations: Sequence[Combination],
    names: Sequence[str],
    counts: Counts | None = None,
) -> pd.DataFrame:
    """The claims for combinations of key columns, each with its k; codes are of records or rows, -1 where missing."""
    rows, of_row = [], None if counts is None else counts.records
    n = records_in(np.ones(len(known), dtype=bool), counts)
    for columns, k in combinations:
        true, out = (np.column_stack([codes[:, columns], stratum]) for codes in (known, shown))
        group, some = distinct_rows(out)
        records = np.bincount(group, of_row).astype(np.int64, copy=False)
        target, of_target = distinct_rows(true)
        failing = {
            "compatible": (compatible_records(out[some], out[some], records) < k)[group],
            "own_class": (equal_records(out[some], out[some], records) < k)[group],
            "true_key": (compatible_records(true[of_target], out[some], records) < k)[target],
        }
        keys = ", ".join(str(names[column]) for column in columns)
        rows += [
            (claim, keys, k, failed, failed / n, CLAIMS[claim])
            for claim, failed in ((claim, records_in(fails, counts)) for claim, fails in failing.items())
        ]
    return pd.DataFrame(rows, columns=CLAIM_COLUMNS)


def _kept(original: pd.Series, released: pd.Series) -> np.ndarray:
    """Whether each value was released."""
    kept = released.notna().to_numpy()
    one, other = original[kept].astype(object), released[kept].astype(object)
    changed = ~(one.to_numpy() == other.to_numpy()) if kept.any() else np.zeros(0, dtype=bool)
    remedy = "the claims are about suppression, so give the data as they were just before it"
    refuse(changed, one.index, original.name, f"a value is not as it was; {remedy}")
    return kept


# Sets of keys that may be asked for.
_MOST_COMBINATIONS = 5000


def local_suppression(
    frame: pd.DataFrame,
    spec: KeySpec | Iterable[str] | str,
    *,
    k_required: int,
    importance: Mapping[str, int] | None = None,
    combinations: Sequence[Mapping] | None = None,
    counts: Counts | None = None,
) -> Suppression:
    """Remove single key values until every record is alike to enough others.

    Few cells go, not the fewest: that would take too long to find.

    Parameters
    ----------
    spec : KeySpec or names
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
    counts : Counts, optional
        How many records each row is; by default one.

    Returns
    -------
    Suppression
        The same for the same records in any order.

    Notes
    -----
    For one combination of keys and under ``wildcard``, the records that have too few others alike lose at least one
    value each, and no other record loses any. Under ``category`` a few others may, to keep the last ones company, and
    a record that misses values already may lose none, where others lose theirs and join it. Under ``category`` all
    three claims (`protection_claims`) hold.

    References
    ----------
    INE Chile (2023), section 8.2.2.

    Examples
    --------
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
    wanted = key_combinations(combinations, spec, k_required)
    # Only the codes are used, and category spares the count of compatible records.
    table = table_of_rows(frame, replace(spec, weight=None, missing="category"), counts)
    stratum = strata_codes(frame, spec.strata)
    of_row = None if counts is None else counts.records
    _check_sizes(np.bincount(stratum, of_row).astype(np.int64), max(k for _, k in wanted), bool(spec.strata))
    ranks = importance_ranks(importance, spec)
    known = table.codes[table.class_of_row].astype(np.int64)
    group, some = distinct_rows(np.column_stack([known, stratum]))
    start, records = np.column_stack([known, stratum])[some], np.bincount(group, of_row).astype(np.int64, copy=False)
    codes = suppressed_codes(start, records, wanted, ranks, [len(labels) for labels in table.labels], spec.missing)
    violating = np.zeros(len(start), dtype=bool)
    for columns, k in wanted:
        violating |= violating_classes(start, records, columns, k, spec.missing)
    gone = (codes[:, :-1] < 0) & (start[:, :-1] >= 0)
    of_record = gone[group]
    protected, cells = without_cells(frame, dict(zip(spec.key_variables, of_record.T, strict=True)), spec, counts)
    claims = claims_of(known, codes[group, :-1], stratum, wanted, spec.key_variables, counts)
    below, touched = (records_in(rows, counts) for rows in (violating[group], of_record.any(axis=1)))
    return Suppression(protected, cells, below, touched, claims)


def importance_ranks(importance: Mapping[str, int] | None, spec: KeySpec) -> list[int]:
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


def key_combinations(combinations: Sequence[Mapping] | None, spec: KeySpec, k_required: int) -> list[Combination]:
    """Columns and k of each combination of keys to be met."""
    keys = list(spec.key_variables)
    if combinations is None:
        return [(list(range(len(keys))), k_required)]
    if isinstance(combinations, (str, Mapping)) or not isinstance(combinations, Sequence) or not combinations:
        raise OptionError("combinations must be a list such as [{'size': 2, 'k': 3}, {'keys': ['sex', 'age']}]")
    found: list[Combination] = []
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
        if isinstance(size, bool) or not isinstance(size, Integral) or not 1 <= int(size) <= len(keys):
            raise OptionError(f"combinations: size must be a whole number from 1 to {len(keys)}, the number of keys")
        if len(found) + comb(len(keys), int(size)) > _MOST_COMBINATIONS:
            raise OptionError(f"combinations: more than {_MOST_COMBINATIONS:,} sets of keys; ask for fewer")
        found += [(list(chosen), k) for chosen in subsets(range(len(keys)), int(size))]
    return found


def _check_sizes(sizes: np.ndarray, k: int, strata: bool) -> None:
    """Refuse a k that no suppression can reach in strata of so many records."""
    if sizes.min() >= k:
        return
    if not strata:
        raise UnfitOptionError(f"k_required is {k}, and there are {sizes.sum()} records; choose a k up to that")
    raise DataError(
        f"{int((sizes < k).sum())} of {len(sizes)} strata have fewer than {k} records, the smallest "
        f"{int(sizes.min())}; merge strata, or choose a smaller k"
    )


#: Claim about risk that fails for a record, and what is meant by it.
RISK_CLAIMS = {
    "compatible": "records with a risk above {threshold:g} ({estimator}) if a missing value may be any value",
    "own_class": "records with a risk above {threshold:g} ({estimator}) if a missing value is a value of its own",
    "true_key": "targets with a risk above {threshold:g} ({estimator}) for who knows their true key",
}


def suppress_above_risk(
    frame: pd.DataFrame,
    spec: KeySpec | Iterable[str] | str,
    *,
    threshold: float,
    variables: Iterable[str] | str,
    estimator: str = "benedetti-franconi",
    counts: Counts | None = None,
) -> Suppression:
    """Remove key values from records whose individual risk is above a threshold.

    Parameters
    ----------
    spec : KeySpec or names
        The roles of the variables; with a weight, or every record weighs 1.
    threshold : float, 0-1
        Of individual risk.
    variables : names
        Key variables in the order in which they are removed: the second only from records that are still above the
        threshold without the first, and so on.
    estimator : str
        One of `kanon_lab.measures.ESTIMATORS`.
    counts : Counts, optional
        How many records each row is, and their weights; by default one, which the frame weighs.

    Returns
    -------
    Suppression
        ``violating`` are the records that were above. ``claims`` has three rows, the records that still are: by the
        compatible records, by the own class, and for an outsider who knows the true key (`RISK_CLAIMS`). The policy
        for missing values says which of the first two was brought down.

    References
    ----------
    INE Chile (2023), sections 7.7.2 and 8.2.2.

    Examples
    --------
    >>> persons = pd.DataFrame({'sex': list('ffm'), 'age': ['old', 'old', 'young'], 'weight': [9, 9, 9]})
    >>> spec = kanon_lab.KeySpec(['sex', 'age'], weight='weight')
    >>> found = kanon_lab.methods.suppress_above_risk(persons, spec, threshold=0.2, variables=['age', 'sex'])
    >>> found.violating, found.total
    (1, 2)
    """
    spec = as_spec(spec)
    check_policy(spec)
    threshold = as_share(threshold, "threshold")
    names = KeySpec(variables).key_variables
    for name in names:
        check_key(name, spec, "variables")

    def above_threshold(released: pd.DataFrame) -> np.ndarray:
        table = table_of_rows(released, spec, counts)
        of_class = file_risk(table, estimator=estimator).of_class
        return records_above(of_class[table.class_of_row], threshold=threshold).which

    first = above = above_threshold(frame)
    gone, (protected, cells) = {}, without_cells(frame, {}, spec, counts)
    for name in names:
        if not above.any():
            break
        gone[name] = above
        protected, cells = without_cells(frame, gone, spec, counts)
        above = above_threshold(protected)
    lost = [rows & frame[name].notna().to_numpy() for name, rows in gone.items()]
    touched = np.any(lost, axis=0) if lost else np.zeros(len(frame), dtype=bool)
    claims = _risk_claims(frame, protected, spec, threshold, estimator, counts)
    return Suppression(protected, cells, records_in(first, counts), records_in(touched, counts), claims)


def _risk_claims(
    original: pd.DataFrame,
    released: pd.DataFrame,
    spec: KeySpec,
    threshold: float,
    estimator: str,
    counts: Counts | None,
) -> pd.DataFrame:
    """The records that are above the threshold, by what an outsider makes of a missing value."""

    def risk(table: ClassTable, f_k: np.ndarray, F_k: np.ndarray) -> np.ndarray:
        # Under a meaning that is not the policy's, weights below 1 may leave F_k below f_k.
        return individual_risk(f_k, np.maximum(F_k, f_k), estimator=estimator)[table.class_of_row]

    policies = (replace(spec, missing=each) for each in ("wildcard", "category"))
    any_value, own_value = (table_of_rows(released, each, counts) for each in policies)
    # Who knows the true key looks for it among the values that are released. Only codes and weights are used, and
    # category spares the count of compatible records.
    true = table_of_rows(original, replace(spec, missing="category"), counts)
    codes = true.codes.astype(np.int64)
    records = np.ones(len(released), dtype=np.int64) if counts is None else counts.records
    weights: Any = true.weight_of_record if counts is None else counts.weights and counts.weights.rounded
    shown = np.where(released[list(spec.key_variables)].notna(), codes[true.class_of_row], -1)
    f_k = compatible_records(codes, shown, records)
    F_k = f_k.astype(float) if spec.weight is None else compatible_records(codes, shown, weights)
    risks = {
        "compatible": risk(any_value, any_value.f_k, any_value.F_k),
        "own_class": risk(own_value, own_value.f_k, own_value.F_k),
        "true_key": risk(true, f_k, F_k),
    }
    keys, rows = ", ".join(map(str, spec.key_variables)), []
    for claim, each in risks.items():
        above = records_above(each, threshold=threshold, records=records)
        meaning = RISK_CLAIMS[claim].format(threshold=threshold, estimator=estimator)
        rows.append((claim, keys, None, above.records, above.share, meaning))
    return pd.DataFrame(rows, columns=CLAIM_COLUMNS)
