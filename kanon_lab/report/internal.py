"""What only the office sees: every setting, what each category became, and the key values at the highest risk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from kanon_lab.classes import ClassTable
from kanon_lab.errors import visible
from kanon_lab.protection import Protection
from kanon_lab.protection.steps import kind_of
from kanon_lab.report.safe import told_label
from kanon_lab.report.tables import Risks, is_quantity

#: Of the riskiest classes, so many.
MOST_CLASSES = 50


@dataclass(frozen=True)
class Internal:
    """What an internal report shows besides; no value of a direct identifier is in it.

    `settings` are those of the configuration, files without their folders; `recodings`, by step, its name and variable,
    the ``old`` and ``new`` categories with their ``records``; `riskiest`, by version, the classes at the highest risk:
    a column for each key, ``records``, ``f_k``, ``F_k`` and ``risk`` (0-1).
    """

    settings: dict[str, Any] = field(repr=False)
    recodings: dict[tuple[int, str, str], pd.DataFrame] = field(repr=False)
    riskiest: dict[str, pd.DataFrame] = field(repr=False)


def internal_tables(protection: Protection, settings: Mapping[str, Any], risks: Mapping[str, Risks]) -> Internal:
    """What an internal report shows of a protection, its settings, and the classes before and after."""
    found = {(place, *step): table for place, *step, table in _recodings(protection)}
    return Internal(dict(settings), found, {version: _riskiest(each) for version, each in risks.items()})


def _recodings(protection: Protection) -> Iterator[tuple[int, str, str, pd.DataFrame]]:
    """Of each step that recodes, and each variable, what its categories became; households' come first."""
    before = protection.start.working
    for place, step in enumerate(protection.steps, start=1):
        after = step.state.working
        if step.households is not None:
            for _, name, variable, table in _recodings(step.households):
                yield place, f"{step.name}: {name}", variable, table
        for variable in kind_of(step.name).rules(step.settings):
            spec = protection.spec
            coded = variable in spec.key_variables
            if not is_quantity(after[variable], named=variable in spec.numeric_variables, coded=coded):
                yield place, step.name, variable, _pairs(before[variable], after[variable])
        before = after


def _pairs(old: pd.Series, new: pd.Series) -> pd.DataFrame:
    texts = {"old": _as_labels(old), "new": _as_labels(new.reindex(old.index))}
    found = pd.DataFrame(texts).groupby(["old", "new"], dropna=False, sort=False).size().reset_index(name="records")
    return found.sort_values("records", ascending=False, kind="stable", ignore_index=True)


def _as_labels(column: pd.Series) -> pd.Series:
    return column.astype(object).map(lambda value: told_label(str(value)), na_action="ignore")


def _riskiest(each: Risks) -> pd.DataFrame:
    table: ClassTable = each.table
    frame = table.classes
    keys = {visible(name): _as_labels(frame[name]) for name in table.spec.key_variables}
    counts = {"records": table.records, "f_k": table.f_k, "F_k": table.F_k, "risk": each.of_class}
    found = pd.DataFrame(keys).assign(**counts)
    return found.sort_values(["risk", "f_k"], ascending=[False, True], kind="stable").head(MOST_CLASSES)
