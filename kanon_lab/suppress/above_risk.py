"""Suppression in records whose individual risk is above a threshold."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pandas as pd

from kanon_lab.classes import class_table
from kanon_lab.errors import OptionError, shortened
from kanon_lab.keys import KeySpec, as_spec
from kanon_lab.risk import file_risk
from kanon_lab.suppress.result import Suppression, without_cells


def suppress_above_risk(
    frame: pd.DataFrame,
    spec: KeySpec | Iterable[str] | str,
    *,
    threshold: float,
    variables: Iterable[str] | str,
    estimator: str = "benedetti-franconi",
    where: str = "the data",
) -> Suppression:
    """Remove key values from records whose individual risk is above a threshold.

    Parameters
    ----------
    frame : DataFrame
        One row a record. Not changed.
    spec : KeySpec or sequence of str
        The roles of the variables; with a weight, or every record weighs 1.
    threshold : float
        Of individual risk, 0-1.
    variables : sequence of str, or str
        Key variables in the order in which they are removed: the second only from records that are still above the
        threshold without the first, and so on.
    estimator : str
        One of `kanon_lab.risk.ESTIMATORS`.
    where : str
        What to call the frame in messages.

    Returns
    -------
    Suppression
        ``violating`` are the records that were above. ``claims`` has one row, ``above_threshold``: the records that
        still are; under the policy ``wildcard`` there are fewer with each variable.

    Raises
    ------
    DataError
        As `kanon_lab.classes.class_table` and `kanon_lab.risk.file_risk`.
    OptionError
        A threshold outside 0-1, no variable or one that is no key, the policy ``error``, or another estimator.

    References
    ----------
    INE Chile (2023), sections 7.7.2 and 8.2.2.
    """
    spec = as_spec(spec)
    if spec.missing == "error":
        raise OptionError("missing: suppressed values are missing, which error forbids; choose wildcard or category")
    if isinstance(threshold, bool) or not isinstance(threshold, numbers.Real) or not 0 <= threshold <= 1:
        raise OptionError(f"threshold must be a number from 0 to 1, not {threshold!r}")
    names = replace(spec, sensitive_variables=(), key_variables=variables, weight=None, household=None).key_variables
    if strange := [name for name in names if name not in spec.key_variables]:
        raise OptionError(f"variables: {shortened(str(strange[0]))} is no key variable; only keys can be suppressed")
    first = above = _risk(frame, spec, estimator, where) > threshold
    gone, current = {}, frame
    for name in names:
        if not above.any():
            break
        gone[name] = above
        current, _ = without_cells(frame, gone, spec)
        above = _risk(current, spec, estimator, where) > threshold
    protected, cells = without_cells(frame, gone, spec)
    lost = [rows & frame[name].notna().to_numpy() for name, rows in gone.items()]
    touched = np.any(lost, axis=0) if lost else np.zeros(len(frame), dtype=bool)
    claims = pd.DataFrame(
        {
            "claim": "above_threshold",
            "keys": ", ".join(map(str, spec.key_variables)),
            "k": None,
            "meaning": f"records whose individual risk ({estimator}) is above {threshold:g}",
            "records": int(above.sum()),
            "share": float(above.mean()),
        },
        index=[0],
    )
    return Suppression(protected, cells, int(first.sum()), int(touched.sum()), claims)


def _risk(frame: pd.DataFrame, spec: KeySpec, estimator: str, where: str) -> np.ndarray:
    return file_risk(class_table(frame, spec, where=where), estimator=estimator).risk
