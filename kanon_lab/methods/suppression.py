"""What a suppression gives back and may claim; suppression in records above a risk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from kanon_lab.arguments import as_share
from kanon_lab.classes import class_table
from kanon_lab.classes.compatible import compatible_sums
from kanon_lab.columns import coded, distinct_rows, refuse
from kanon_lab.errors import DataError, OptionError, about, meant, shortened
from kanon_lab.measures import file_risk, individual_risk, records_above
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
    frame: pd.DataFrame, gone: Mapping[str, np.ndarray], spec: KeySpec
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A frame without some values of its keys, and of their ghosts; and how many went of each variable.

    A ghost goes wherever its key is missing, for whatever reason: it would tell the key.
    """
    released, rows = frame.copy(), []
    for key in spec.key_variables:
        known = frame[key].notna().to_numpy()
        rows_gone = gone.get(key, np.zeros(len(frame), dtype=bool))
        for role, name in (("key", key), *(("ghost", ghost) for ghost in spec.ghost_variables.get(key, ()))):
            lost = (rows_gone if role == "key" else rows_gone | ~known) & frame[name].notna().to_numpy()
            rows.append((name, role, int(lost.sum()), float(lost.mean())))
            if lost.any():
                released[name] = _without(frame[name], lost)
    return released, pd.DataFrame(rows, columns=["variable", "role", "cells", "share"])


def _without(column: pd.Series, lost: np.ndarray) -> pd.Series:
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
    >>> import kanon_lab
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
    stratum = strata_codes(original, spec)
    return claims_of(known, shown, stratum, [(columns, check_k(k_required, "k_required"))], spec.key_variables)


def strata_codes(frame: pd.DataFrame, spec: KeySpec) -> np.ndarray:
    """The stratum of each record, from 0; all zero without strata."""
    if not spec.strata:
        return np.zeros(len(frame), dtype=np.int64)
    codes = [coded(frame[name]).codes for name in spec.strata]
    for name, column in zip(spec.strata, codes, strict=True):
        refuse(column < 0, frame.index, name, "no stratum; fill it in")
    return distinct_rows(np.column_stack(codes))[0].astype(np.int64)


def claims_of(
    known: np.ndarray,
    shown: np.ndarray,
    stratum: np.ndarray,
    combinations: Sequence[tuple[Sequence[int], int]],
    names: Sequence[str],
) -> pd.DataFrame:
    """The claims for combinations of key columns, each with its k; codes are of records, -1 where missing."""
    rows = []
    for columns, k in combinations:
        true, out = (np.column_stack([codes[:, columns], stratum]) for codes in (known, shown))
        group, some = distinct_rows(out)
        records = np.bincount(group)
        target, of_target = distinct_rows(true)
        failing = {
            "compatible": (compatible_records(out[some], out[some], records) < k)[group],
            "own_class": (equal_records(out[some], out[some], records) < k)[group],
            "true_key": (compatible_records(true[of_target], out[some], records) < k)[target],
        }
        keys = ", ".join(str(names[column]) for column in columns)
        rows += [
            (claim, keys, k, int(fails.sum()), float(fails.mean()), CLAIMS[claim]) for claim, fails in failing.items()
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
) -> Suppression:
    """Remove key values from records whose individual risk is above a threshold.

    Parameters
    ----------
    frame : DataFrame
    spec : KeySpec or sequence of str
        The roles of the variables; with a weight, or every record weighs 1.
    threshold : float, 0-1
        Of individual risk.
    variables : sequence of str, or str
        Key variables in the order in which they are removed: the second only from records that are still above the
        threshold without the first, and so on.
    estimator : str
        One of `kanon_lab.measures.ESTIMATORS`.

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
    >>> import kanon_lab
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
    first = above = records_above(_risk(frame, spec, estimator), threshold=threshold).which
    gone, current = {}, frame
    for name in names:
        if not above.any():
            break
        gone[name] = above
        current, _ = without_cells(frame, gone, spec)
        above = records_above(_risk(current, spec, estimator), threshold=threshold).which
    protected, cells = without_cells(frame, gone, spec)
    lost = [rows & frame[name].notna().to_numpy() for name, rows in gone.items()]
    touched = np.any(lost, axis=0) if lost else np.zeros(len(frame), dtype=bool)
    claims = _claims(frame, protected, spec, threshold, estimator)
    return Suppression(protected, cells, int(first.sum()), int(touched.sum()), claims)


def _claims(
    original: pd.DataFrame, released: pd.DataFrame, spec: KeySpec, threshold: float, estimator: str
) -> pd.DataFrame:
    """The records that are above the threshold, by what an outsider makes of a missing value.

    Under the meaning that is not the policy's, weights below 1 may leave F_k below f_k; f_k is taken there.
    """
    risks = {
        "compatible": _capped_risk(released, replace(spec, missing="wildcard"), estimator),
        "own_class": _capped_risk(released, replace(spec, missing="category"), estimator),
        "true_key": _risk_of_true_keys(original, released, spec, estimator),
    }
    keys, rows = ", ".join(map(str, spec.key_variables)), []
    for claim, risk in risks.items():
        above = records_above(risk, threshold=threshold)
        meaning = RISK_CLAIMS[claim].format(threshold=threshold, estimator=estimator)
        rows.append((claim, keys, None, above.records, above.share, meaning))
    return pd.DataFrame(rows, columns=CLAIM_COLUMNS)


def _risk_of_true_keys(original: pd.DataFrame, released: pd.DataFrame, spec: KeySpec, estimator: str) -> np.ndarray:
    """Individual risk of who is looked for by the key values as they were, among the records as they are released."""
    # Only the codes and weights are used, and category spares the count of compatible records.
    table = class_table(original, replace(spec, missing="category"))
    codes, ones = table.codes.astype(np.int64), np.ones(table.n, dtype=np.int64)
    shown = np.where(released[list(spec.key_variables)].notna(), codes[table.class_of_record], -1)
    f_k = compatible_records(codes, shown, ones)
    F_k = f_k.astype(float) if spec.weight is None else compatible_records(codes, shown, table.weight_of_record)
    return individual_risk(f_k, np.maximum(F_k, f_k), estimator=estimator)[table.class_of_record]


def _capped_risk(frame: pd.DataFrame, spec: KeySpec, estimator: str) -> np.ndarray:
    table = class_table(frame, spec)
    return individual_risk(table.f_k, np.maximum(table.F_k, table.f_k), estimator=estimator)[table.class_of_record]


def _risk(frame: pd.DataFrame, spec: KeySpec, estimator: str) -> np.ndarray:
    return file_risk(class_table(frame, spec), estimator=estimator).risk
