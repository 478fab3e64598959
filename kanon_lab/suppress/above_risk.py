"""Suppression in records whose individual risk is above a threshold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pandas as pd

from kanon_lab.arguments import as_share
from kanon_lab.classes import class_table
from kanon_lab.keys import KeySpec, as_spec
from kanon_lab.risk import file_risk, individual_risk, records_above
from kanon_lab.suppress.claims import CLAIM_COLUMNS
from kanon_lab.suppress.counting import compatible_records
from kanon_lab.suppress.options import check_key, check_policy
from kanon_lab.suppress.result import Suppression, without_cells

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
        One of `kanon_lab.risk.ESTIMATORS`.

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
    >>> found = kanon_lab.suppress.suppress_above_risk(persons, spec, threshold=0.2, variables=['age', 'sex'])
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
