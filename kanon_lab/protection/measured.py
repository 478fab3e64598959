"""Anonymity, risk and utility of one state of a file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

import pandas as pd

from kanon_lab.classes import ClassTable, class_table
from kanon_lab.errors import DataError
from kanon_lab.keys import KeySpec
from kanon_lab.protection.changes import same_values
from kanon_lab.risk import FileRisk, file_risk, records_above, with_household_size

_COUNTED = ("classes", "k_achieved", "sample_uniques")


@dataclass(frozen=True)
class Measured:
    """The measures of one state of a file.

    Attributes
    ----------
    classes : int
        Classes, or patterns, under the policy of the spec for missing values; so are `k_achieved` and the risk.
    k_achieved : int
        The largest k for which the file is k-anonymous.
    violations : dict of str to dict of int to int
        By what a missing key means, ``wildcard`` or ``category``, for each k the records with f_k below it.
    estimator : str
        Of the risk.
    global_risk, expected_reidentifications : float
        Mean and sum over records of the individual risk.
    household_risk : float or None
        Mean over records of their household's risk; None without households, as the next two.
    expected_household_reidentifications, expected_persons_in_reidentified_households : float or None
        Sum over households of their risk, and sum over records of their household's.
    above : dict of float to int
        For each threshold of individual risk (0-1) the records above it.
    by_meaning : dict of str to dict
        By what a missing key means, ``wildcard`` or ``category``: ``expected_reidentifications`` and ``above``. A value
        that may be any other makes a record look safer than a value of its own does. None for both where the weights of
        a class would add up to less than its records.
    with_household_size : dict of str to int or None
        ``classes``, ``k_achieved`` and ``sample_uniques`` for an outsider who counts the members of each household
        (`kanon_lab.risk.with_household_size`); None without households, or where their identifier is not released.
    equal_cells, known_cells : float
        Share (0-1) of all key cells that are as in the original, and that have a value.
    distinct_values : dict of str to int
        By key variable, its different values; 0 for one that was removed.
    """

    classes: int
    k_achieved: int
    violations: dict[str, dict[int, int]]
    estimator: str
    global_risk: float
    expected_reidentifications: float
    household_risk: float | None
    expected_household_reidentifications: float | None
    expected_persons_in_reidentified_households: float | None
    above: dict[float, int]
    by_meaning: dict[str, dict]
    with_household_size: dict[str, int] | None
    equal_cells: float
    known_cells: float
    distinct_values: dict[str, int]

    def to_dict(self) -> dict:
        """``violations``, ``risk`` and ``utility``, each a dict, as ``kanon-lab protect --json`` prints them."""
        plain = {each.name: getattr(self, each.name) for each in fields(self)}
        utility = {name: plain.pop(name) for name in ("equal_cells", "known_cells", "distinct_values")}
        return {"violations": plain.pop("violations"), "risk": plain, "utility": utility}

    def row(self) -> dict:
        """The measures with one name each: ``violations_3_wildcard``, ``above_0.05_category``, ``distinct_sex``."""
        flat = {}
        for name in (each.name for each in fields(self)):
            value = getattr(self, name)
            if name == "violations":
                flat |= {f"violations_{k}_{means}": n for means, counts in value.items() for k, n in counts.items()}
            elif name == "by_meaning":
                for means, risk in value.items():
                    flat[f"expected_reidentifications_{means}"] = risk["expected_reidentifications"]
                    above = risk["above"] or {}
                    flat |= {f"above_{each}_{means}": above.get(each) for each in self.above}
            elif name == "with_household_size":
                flat |= {f"{name}_{part}": None if value is None else value[part] for part in _COUNTED}
            elif isinstance(value, dict):
                flat |= {f"{name.removesuffix('_values')}_{part}": n for part, n in value.items()}
            else:
                flat[name] = value
        return flat


def measured(
    frame: pd.DataFrame,
    original: pd.DataFrame,
    spec: KeySpec,
    *,
    keys: Iterable[str],
    k: Iterable[int],
    thresholds: Iterable[float],
    estimator: str,
    counted: bool,
    where: str,
) -> Measured:
    """Measure a state of a file.

    Parameters
    ----------
    frame : DataFrame
        The state, with the variables of `spec`.
    original : DataFrame
        The file as it came, under the same index labels.
    spec : KeySpec
        Roles of the variables that are still released, and of weight and household.
    keys : iterable of str
        All key variables, those that were removed too: utility is about the cells that there were.
    k, thresholds, estimator, where
        As in `kanon_lab.protection.protect`.
    counted : bool
        Whether households are released, so that their members can be counted.
    """
    table = class_table(frame, spec, where=where)
    gaps = frame[list(spec.key_variables)].isna().any(axis=None)
    tables = {
        means: class_table(frame, replace(spec, missing=means), where=where)
        if gaps and means != spec.missing
        else table
        for means in ("wildcard", "category")
    }
    risk = file_risk(table, estimator=estimator)
    equal, known, distinct_values = [], [], {}
    for name in keys:
        released = name in spec.key_variables
        column = frame[name].loc[original.index]
        equal.append(same_values(original[name], column, where).mean() if released else 0.0)
        known.append(column.notna().mean() if released else 0.0)
        distinct_values[name] = int(column.nunique()) if released else 0
    return Measured(
        table.n_classes,
        table.k_achieved,
        {means: each.violations(k) for means, each in tables.items()},
        estimator,
        risk.global_risk,
        risk.expected_reidentifications,
        risk.household_risk,
        risk.expected_household_reidentifications,
        risk.expected_persons_in_reidentified_households,
        _above(risk, thresholds),
        {means: _risk(each, risk if each is table else None, thresholds, estimator) for means, each in tables.items()},
        with_household_size(table) if counted else None,
        float(sum(equal) / len(equal)),
        float(sum(known) / len(known)),
        distinct_values,
    )


def _risk(table: ClassTable, risk: FileRisk | None, thresholds: Iterable[float], estimator: str) -> dict:
    """What is given under each meaning of a missing key."""
    try:
        risk = risk or file_risk(table, estimator=estimator)
    except DataError:  # light weights, which only this meaning leaves in a class of their own
        return {"expected_reidentifications": None, "above": None}
    return {"expected_reidentifications": risk.expected_reidentifications, "above": _above(risk, thresholds)}


def _above(risk: FileRisk, thresholds: Iterable[float]) -> dict[float, int]:
    return {each: records_above(risk.risk, threshold=each).records for each in thresholds}
