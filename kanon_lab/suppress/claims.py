"""What local suppression may claim: three counts, one for each attack that is meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from kanon_lab.classes.coding import coded, distinct_rows
from kanon_lab.errors import DataError, about
from kanon_lab.keys import KeySpec, as_spec, check_k
from kanon_lab.recode.columns import refuse
from kanon_lab.suppress.counting import compatible_records, equal_records

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
    >>> kanon_lab.suppress.protection_claims(before, after, ['sex', 'age'], k_required=2)[['claim', 'records']]
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
