"""Suppression of key values, to reach k or below a risk, and the protection that follows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations as subsets
from math import comb
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab.arguments import as_share
from kanon_lab.classes.counts import Counts, records_in, table_of_rows
from kanon_lab.classes.persons import compatible_persons, count_persons, equal_persons, with_persons
from kanon_lab.columns import coded, distinct_rows, refuse, stacked, strata_codes
from kanon_lab.errors import DataError, OptionError, UnfitOptionError, about, meant, shortened
from kanon_lab.measures import file_risk, individual_risk, records_above
from kanon_lab.methods.suppression_bound import Certificate, Combination, Requirement
from kanon_lab.methods.suppression_of_classes import equal_records
from kanon_lab.methods.suppression_of_persons import persons_alike, suppressed_for_persons
from kanon_lab.methods.suppression_search import (
    compatible_records,
    compatible_weights,
    suppressed_parts,
    tiers_of,
    violating_classes,
)
from kanon_lab.methods.true_keys import suppressed_for_true_keys
from kanon_lab.roles import KeySpec, as_spec, check_k, check_seed


def check_policy(spec: KeySpec) -> None:
    """Raise an `OptionError` where keys must not be missing, because suppressed values are missing."""
    if spec.missing == "error":
        raise OptionError("missing: suppressed values are missing, which error forbids; choose wildcard or category")


def check_key(name: object, spec: KeySpec, of: str) -> None:
    """Raise an `OptionError` unless a name is that of a key variable."""
    if name not in spec.key_variables:
        remedy = meant(name, spec.key_variables, "name key variables only")
        raise OptionError(f"{of}: {shortened(str(name))} is not a key variable; {remedy}")


@dataclass(frozen=True)
class Suppression:
    """The result of a local suppression.

    Attributes
    ----------
    frame : DataFrame
        The same records and columns, direct identifiers among them; suppressed values are missing. Columns of whole
        numbers or truth values that lost some have pandas' nullable types.
    cells : DataFrame
        One row a key variable or ghost: ``variable``, ``role`` ("key" or "ghost"), ``cells`` (newly suppressed) and
        ``share`` (0-1 of all records).
    violating : int
        Records that did not meet the requirement before.
    records_touched : int
        Records that lost a key value.
    claims : DataFrame
        See `kanon_lab.methods.protection_claims`.
    required : Requirement or None
        What was to be reached; None of a threshold of risk, for which no bound is known.
    """

    frame: pd.DataFrame = field(repr=False)
    cells: pd.DataFrame
    violating: int
    records_touched: int
    claims: pd.DataFrame
    required: Requirement | None = field(default=None, repr=False)

    @property
    def total(self) -> int:
        """Key cells newly suppressed, without those of ghosts."""
        return int(self.cells.loc[self.cells["role"] == "key", "cells"].sum())

    @property
    def certificate(self) -> Certificate | None:
        """The cells beside what any such suppression needs, which is computed when it is asked for."""
        return None if self.required is None else Certificate(self.total, self.required)

    @property
    def lower_bound(self) -> int | None:
        """Key cells of any suppression that takes a value from every record below k, at least; None: not known."""
        return None if self.required is None else self.required.least_cells


def without_cells(
    frame: pd.DataFrame, gone: Mapping[str, np.ndarray], spec: KeySpec, counts: Counts | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A frame without some values of its keys and of their ghosts, and the cells that each variable lost.

    A ghost is removed wherever its key is missing, because it would reveal the key.
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
    """A column without some values, which also leave its categories and the data under its mask."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iub":
        column = column.convert_dtypes()
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.mask(lost).cat.remove_unused_categories()
    values = column.array.copy()
    if isinstance(values, pd.arrays.IntegerArray | pd.arrays.FloatingArray | pd.arrays.BooleanArray):
        # A nullable array keeps the values under its mask.
        values[lost] = values.dtype.type(0)
    return pd.Series(values, index=column.index, name=column.name).mask(lost)


#: Claim -> the records for which it fails.
CLAIMS = {
    "compatible": "records with fewer than k compatible released records (a missing value may be any value)",
    "own_class": "records in a released class of fewer than k (a missing value is a value of its own)",
    "true_key": "records whose true key has fewer than k compatible released records",
}
#: Columns of every frame of claims.
CLAIM_COLUMNS = ["claim", "keys", "k", "records", "share", "meaning"]


def protection_claims(
    original: pd.DataFrame, released: pd.DataFrame, spec: KeySpec | Iterable[str] | str, *, k_required: int
) -> pd.DataFrame:
    """The records that fail k-anonymity in a release with suppressed values, by three readings of a missing value.

    Parameters
    ----------
    original, released : DataFrame
        The same records in the same order; the released key values are the original ones, or missing.
    spec : KeySpec or sequence of str
        Only the key variables and strata are used. Within strata, only records of the same stratum count.
    k_required : int, 1 or more

    Returns
    -------
    DataFrame
        One row a claim: ``claim`` (see `CLAIMS`), ``keys`` (text), ``k``, ``records`` (for which it fails), ``share``
        (0-1 of all) and ``meaning``.

    Notes
    -----
    A missing value is compatible with any, so a suppressed record has many compatible ones. But an intruder who knows a
    target's true key considers only the records compatible with that key, perhaps a single one (INE Chile 2023, Tabla
    8.4). Where every own class has k records, every true key meets k.

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
    kept = np.column_stack([released[name].notna() for name in spec.key_variables])
    for name, shown_rows in zip(spec.key_variables, kept.T):
        before, after = original[name][shown_rows].astype(object), released[name][shown_rows].astype(object)
        changed = ~(before.to_numpy() == after.to_numpy()) if len(before) else np.zeros(0, dtype=bool)
        remedy = "the claims are about suppression, so give the data as they were just before it"
        refuse(changed, before.index, name, f"a value is not as it was; {remedy}")
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
    person: np.ndarray | None = None,
) -> pd.DataFrame:
    """The claims for combinations of key columns, each with its k; codes are of records or rows, -1 where missing.

    With the number of each row's `person`, persons are counted: those who have a record for which a claim fails.
    """
    rows = []
    for columns, k in combinations:
        of_keys = known.T[[*columns]].T, shown.T[[*columns]].T
        alike = alike_by_claim(*of_keys, stratum, counts, person)
        rows += rows_of_claims(alike, k, [names[column] for column in columns], counts, person)
    return pd.DataFrame(rows, columns=CLAIM_COLUMNS)


def rows_of_claims(
    alike: Mapping[str, np.ndarray], k: int, names: Sequence[str], counts: Counts | None, person: np.ndarray | None
) -> list[tuple]:
    """The rows of the claims for some keys, of what `alike_by_claim` counts."""
    failed = {claim: records_in(like < k, counts, person) for claim, like in alike.items()}
    n = records_in(np.ones(len(alike["compatible"]), dtype=bool), counts, person)
    return [(claim, ", ".join(map(str, names)), k, some, some / n, CLAIMS[claim]) for claim, some in failed.items()]


def alike_by_claim(
    known: np.ndarray,
    shown: np.ndarray,
    stratum: np.ndarray,
    counts: Counts | None = None,
    person: np.ndarray | None = None,
) -> dict[str, np.ndarray]:
    """By claim, for each row the released records, or persons, that are counted for it; arguments as of `claims_of`."""
    of_row = None if counts is None else counts.records
    true, out = (stacked([*codes.T, stratum]) for codes in (known, shown))
    if person is not None:
        return {
            "compatible": compatible_persons(out, out, person),
            "own_class": equal_persons(out, out, person),
            "true_key": compatible_persons(true, out, person),
        }
    group, some = distinct_rows(out)
    records = np.bincount(group, of_row).astype(np.int64, copy=False)
    alike = {
        "compatible": compatible_records(out[some], out[some], records)[group],
        "own_class": equal_records(out[some], out[some], records)[group],
    }
    if np.array_equal(true, out):
        return {**alike, "true_key": alike["compatible"]}
    target, of_target = distinct_rows(true)
    return {**alike, "true_key": compatible_records(true[of_target], out[some], records)[target]}


# The most sets of keys in `combinations`.
_MOST_COMBINATIONS = 5000


def local_suppression(
    frame: pd.DataFrame,
    spec: KeySpec | Iterable[str] | str,
    *,
    k_required: int,
    importance: Mapping[str, int] | None = None,
    combinations: Sequence[Mapping] | None = None,
    claim: str | None = None,
    seed: int | None = None,
    counts: Counts | None = None,
    true_keys: tuple[np.ndarray, np.ndarray] | None = None,
) -> Suppression:
    """Suppress single key values until every record is like enough others (INE Chile 2023, section 8.2.2).

    It suppresses few cells, not the fewest possible, which would take too long to find: ``lower_bound`` of the result
    says how many any suppression needs.

    Parameters
    ----------
    spec : KeySpec or names
        The roles of the variables. Under its policy ``wildcard`` for missing values every record then has `k_required`
        compatible records, under ``category`` every class has `k_required` records; with strata, in its own stratum.
        With a person, these are records of `k_required` different persons.
    k_required : int
        From 1 to the records of the smallest stratum.
    importance : mapping of str to int, optional
        By key variable a whole number from 1 (most important) on. A key is suppressed only in records for which
        suppressing all less important keys is not enough. Keys that are not named are the least important. By default
        all are equally important, and a key with more different values is suppressed first.
    combinations : sequence of mappings, optional
        Requirements instead of that on all keys: ``{"keys": [...], "k": 3}`` for some keys or ``{"size": 2, "k": 3}``
        for all sets of so many keys; ``k`` is by default `k_required`.
    claim : {"compatible", "own_class", "true_key"}, optional
        The claim to reach (see `CLAIMS`); by default ``compatible`` under ``wildcard``, ``own_class`` under
        ``category``. For ``true_key`` a few more records lose values after the suppression for ``compatible``.
    seed : int, optional
        Where keys of equal importance serve a record equally well, the key that it loses is drawn with this seed. By
        default it is the key with most values, as an intruder can know; see `kanon_book.attacks.minimality_attack`.
    counts : Counts, optional
        How many records each row stands for; by default 1.
    true_keys : tuple of two ndarrays, each (rows, keys), optional
        Codes of the keys as an intruder may know them and as the frame has them, -1 where missing: an earlier step may
        have suppressed some. By default both are those of the frame.

    Returns
    -------
    Suppression
        Its numbers do not depend on the order of records. Under ``category`` a class may be cut: of records with equal
        keys the first lose values, or with a `seed` any of them.

    Notes
    -----
    With a single combination of keys and under ``wildcard``, each record that violates the requirement loses at least
    one value, and no other record loses any. Under ``category`` a few records of larger classes lose values, so that
    violating records find a class, and a violating record with missing values may lose none, where others join it.
    With `counts` and with a person, whole classes move, and more cells go: how the weight of a row, or the persons of
    a class, would be divided is not known there.
    Under ``category``, and with ``own_class``, all three claims (`protection_claims`) hold; with ``true_key`` all but
    ``own_class``.

    Examples
    --------
    >>> persons = pd.DataFrame({'sex': list('ffmm'), 'age': ['old', 'young', 'old', 'old']})
    >>> result = kanon_lab.local_suppression(persons, ['sex', 'age'], k_required=2)
    >>> result.cells
      variable role  cells  share
    0      sex  key      1   0.25
    1      age  key      1   0.25
    >>> result.frame
       sex  age
    0  NaN  old
    1    f  NaN
    2    m  old
    3    m  old
    """
    spec = as_spec(spec)
    check_policy(spec)
    if claim is not None and claim not in CLAIMS:
        raise OptionError(f"claim must be one of {', '.join(CLAIMS)}, not {shortened(repr(claim))}")
    k_required = check_k(k_required, "k_required")
    required = key_combinations(combinations, spec, k_required)
    # Only the codes are used, and category spares the count of compatible records.
    table = table_of_rows(frame, replace(spec, weight=None, missing="category"), counts)
    stratum = strata_codes(frame, spec.strata)
    of_row, person = None if counts is None else counts.records, table.person_of_row
    sizes, most = np.bincount(stratum, of_row).astype(np.int64), max(k for _, k in required)
    units = "records"
    if person is not None:
        sizes, units = count_persons(stratum, person, len(sizes)), "persons"
    if sizes.min() < most and not spec.strata:
        raise UnfitOptionError(f"k_required is {most}, and there are {sizes.sum()} {units}; choose a k up to that")
    if sizes.min() < most:
        raise DataError(
            f"{int((sizes < most).sum())} of {len(sizes)} strata have fewer than {most} {units}, the smallest "
            f"{int(sizes.min())}; merge strata, or choose a smaller k"
        )
    ranks = importance_ranks(importance, spec)
    known = table.codes[table.class_of_row].astype(np.int64)
    group, some = distinct_rows(np.column_stack([known, stratum]))
    start, records = np.column_stack([known, stratum])[some], np.bincount(group, of_row).astype(np.int64, copy=False)
    policy = spec.missing if claim is None else "category" if claim == "own_class" else "wildcard"
    values = [len(labels) for labels in table.labels]
    if seed is not None and person is not None:
        raise UnfitOptionError("seed draws among records, and persons are counted; leave seed out")
    rng = None if seed is None else np.random.default_rng(check_seed(seed))
    violating = np.zeros(len(start), dtype=bool)
    if person is None:
        parts = suppressed_parts(start, records, required, ranks, values, policy, rng, whole=counts is not None)
        shown = _codes_of_rows(group, *parts, rng)[:, :-1]
        for columns, k in required:
            violating |= violating_classes(start, records, columns, k, policy)
    else:
        pairs = with_persons(group, person)
        shown = suppressed_for_persons(start, pairs, required, ranks, values, policy)[group, :-1]
        for columns, k in required:
            violating |= persons_alike(start, pairs, columns, policy) < k
    if claim == "true_key":
        true, before = (known, known) if true_keys is None else true_keys
        after = np.where(shown < 0, -1, before)
        shown = np.where(_for_true_keys(true, after, stratum, required, ranks, values, of_row, person) < 0, -1, shown)
    of_record = (shown < 0) & (known >= 0)
    protected, cells = without_cells(frame, dict(zip(spec.key_variables, of_record.T, strict=True)), spec, counts)
    claims = claims_of(known, shown, stratum, required, spec.key_variables, counts, person)
    below, touched = (records_in(rows, counts) for rows in (violating[group], of_record.any(axis=1)))
    bound = Requirement(start, records, required, policy, claim == "true_key")
    return Suppression(protected, cells, below, touched, claims, bound)


def _codes_of_rows(
    group: np.ndarray, of: np.ndarray, codes: np.ndarray, records: np.ndarray, rng: np.random.Generator | None
) -> np.ndarray:
    """The codes of each row by its class: of those of a class the first get its first part, or with `rng` any of them.

    A class of a single part may have other records than rows, where a row stands for several.
    """
    shown = codes[np.searchsorted(of, group)]
    cut = np.isin(of, of[1:][of[1:] == of[:-1]])
    rows = np.flatnonzero(np.isin(group, of[cut]))
    order = rows[np.argsort(group[rows], kind="stable")]
    if rng is not None:
        order = rows[np.lexsort((rng.random(len(rows)), group[rows]))]
    shown[order] = np.repeat(codes[cut], records[cut], axis=0)
    return shown


def _for_true_keys(
    true: np.ndarray,
    shown: np.ndarray,
    stratum: np.ndarray,
    required: Sequence[Combination],
    ranks: Sequence[int],
    values: Sequence[int],
    of_row: np.ndarray | None,
    person: np.ndarray | None,
) -> np.ndarray:
    """Codes of all rows with so many values suppressed that every combination holds for true keys as well."""
    apart = [] if person is None else [person]
    group, some = distinct_rows(np.column_stack([true, shown, stratum, *apart]))
    known, codes, records = true[some], shown[some], np.bincount(group, of_row).astype(np.int64, copy=False)
    for columns, k in required:
        true_part, part = (np.column_stack([rows[:, columns], stratum[some]]) for rows in (known, codes))
        of_person = None if person is None else person[some]
        part = suppressed_for_true_keys(true_part, part, records, k, tiers_of(columns, ranks, values), of_person)
        codes[:, columns] = part[:, :-1]
    return codes[group]


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
    required: list[Combination] = []
    for entry in combinations:
        known = isinstance(entry, Mapping) and not set(entry) - {"keys", "size", "k"}
        if not known or ("keys" in entry) == ("size" in entry):
            raise OptionError("combinations: give each either keys or size, and k if it is another than k_required")
        k = check_k(entry.get("k", k_required), "combinations: k")
        if "keys" in entry:
            names = [entry["keys"]] if isinstance(entry["keys"], str) else entry["keys"]
            if not isinstance(names, Sequence) or not names:
                raise OptionError("combinations: keys must be a list of key variables")
            for name in names:
                check_key(name, spec, "combinations")
            required.append((sorted({keys.index(name) for name in names}), k))
            continue
        required += [(list(chosen), k) for chosen in sets_of_size(entry["size"], spec, "combinations", len(required))]
    return required


def sets_of_size(size: object, spec: KeySpec, of: str, taken: int = 0) -> Iterator[tuple[int, ...]]:
    """Positions of all sets of so many keys; an `OptionError` where there are too many beside those `taken`."""
    keys = len(spec.key_variables)
    if isinstance(size, bool) or not isinstance(size, Integral) or not 1 <= int(size) <= keys:
        raise OptionError(f"{of}: size must be a whole number from 1 to {keys}, the number of keys")
    if taken + comb(keys, int(size)) > _MOST_COMBINATIONS:
        raise OptionError(f"{of}: more than {_MOST_COMBINATIONS:,} sets of keys; ask for fewer")
    return subsets(range(keys), int(size))


#: Claim about risk -> the records for which it fails.
RISK_CLAIMS = {
    "compatible": "records with a risk above {threshold:g} ({estimator}) if a missing value may be any value",
    "own_class": "records with a risk above {threshold:g} ({estimator}) if a missing value is a value of its own",
    "true_key": "targets with a risk above {threshold:g} ({estimator}) for an intruder who knows their true key",
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
    """Suppress key values of records whose individual risk is above a threshold (INE Chile 2023, 7.7.2 and 8.2.2).

    Parameters
    ----------
    spec : KeySpec or names
        The roles of the variables; without a weight, every record has weight 1.
    threshold : float, 0-1
        Of individual risk.
    variables : names
        Key variables in the order of their suppression: the second only in records that are still above the threshold
        without the first, and so on.
    estimator : str
        One of `kanon_lab.measures.ESTIMATORS`.
    counts : Counts, optional
        How many records each row stands for, and their weights; by default one, with its weight in the frame.

    Returns
    -------
    Suppression
        ``violating`` counts the records that were above the threshold. ``claims`` has three rows, the records still
        above it: by the compatible records, by the own class, and for an intruder who knows the true key
        (`RISK_CLAIMS`). The policy for missing values says which of the first two was reduced.

    Examples
    --------
    >>> persons = pd.DataFrame({'sex': list('ffm'), 'age': ['old', 'old', 'young'], 'weight': [9, 9, 9]})
    >>> spec = kanon_lab.KeySpec(['sex', 'age'], weight='weight')
    >>> result = kanon_lab.methods.suppress_above_risk(persons, spec, threshold=0.2, variables=['age', 'sex'])
    >>> result.violating, result.total
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
    policies = (replace(spec, missing=policy) for policy in ("wildcard", "category"))
    any_value, own_value = (table_of_rows(protected, policy, counts) for policy in policies)
    # An intruder who knows the true key looks for it among the released values. Only codes and weights are used, and
    # category spares the count of compatible records.
    true = table_of_rows(frame, replace(spec, missing="category"), counts)
    codes = true.codes.astype(np.int64)
    records = np.ones(len(frame), dtype=np.int64) if counts is None else counts.records
    weights: Any = true.weight_of_record if counts is None else counts.weights
    shown = np.where(protected[list(spec.key_variables)].notna(), codes[true.class_of_row], -1)
    if true.person_of_row is None:
        f_k = compatible_records(codes, shown, records)
        F_k = f_k.astype(float) if spec.weight is None else compatible_weights(codes, shown, weights)
    else:
        f_k, F_k = (compatible_persons(codes, shown, true.person_of_row, of) for of in (None, true.weight_of_person))
    readings = {
        "compatible": (any_value, any_value.f_k, any_value.F_k),
        "own_class": (own_value, own_value.f_k, own_value.F_k),
        "true_key": (true, f_k, F_k),
    }
    keys, rows = ", ".join(map(str, spec.key_variables)), []
    for claim, (table, n, N) in readings.items():
        # Under another reading than the policy's, weights below 1 may leave F_k below f_k.
        risks = individual_risk(n, np.maximum(N, n), estimator=estimator)[table.class_of_row]
        failing = records_above(risks, threshold=threshold, records=records)
        if true.person_of_row is not None:
            persons = records_in(failing.which, counts, true.person_of_row)
            failing = replace(failing, records=persons, share=persons / true.n_units)
        meaning = RISK_CLAIMS[claim].format(threshold=threshold, estimator=estimator)
        rows.append((claim, keys, None, failing.records, failing.share, meaning))
    claims = pd.DataFrame(rows, columns=CLAIM_COLUMNS)
    return Suppression(protected, cells, records_in(first, counts), records_in(touched, counts), claims)
