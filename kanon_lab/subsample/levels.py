"""Levels of detail of key variables: checked, and the classes of a file whose keys are at some of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from kanon_lab.classes import ClassTable, class_table
from kanon_lab.errors import OptionError, shortened
from kanon_lab.keys import KeySpec
from kanon_lab.suppress.options import check_key

#: In place of settings: the variable is not in the file that is released.
REMOVE = "remove"


def check_levels(levels: object, spec: KeySpec, results: Iterable[str]) -> dict[str, dict[str | int, Any]]:
    """Levels by key variable and label."""
    if not isinstance(levels, Mapping) or not levels:
        raise OptionError("levels: give a mapping of key variable to its levels, such as {age: {1 year: null, ...}}")
    for name, labels in levels.items():
        check_key(name, spec, "levels")
        if name in results:
            raise OptionError(f"levels: {name} is the name of a result too; give the variable another name")
        if not isinstance(labels, Mapping) or not labels or not all(isinstance(label, (str, int)) for label in labels):
            raise OptionError(
                f"levels of {shortened(str(name))}: give a mapping of label (text or whole number) to settings"
            )
    if set(levels) == set(spec.key_variables) and all(
        any(map(_removed, labels.values())) for labels in levels.values()
    ):
        raise OptionError("levels: one scenario removes every key variable; leave some in")
    return {name: dict(labels) for name, labels in levels.items()}


def check_recode(recode: object, spec: KeySpec) -> dict[str, Any]:
    """The level of each key variable, None where `recode` has none; an `OptionError` where it is no such mapping."""
    if recode is not None and not isinstance(recode, Mapping):
        raise OptionError("recode must map key variables to settings, such as {'age': {'bands': [0, 15, 65, None]}}")
    for name in recode or {}:
        check_key(name, spec, "recode")
    if recode and all(_removed(recode.get(name)) for name in spec.key_variables):
        raise OptionError("recode removes every key variable; leave some in")
    return {name: (recode or {}).get(name) for name in spec.key_variables}


def at_level(frame: pd.DataFrame, name: str, settings: object) -> pd.Series | None:
    """A variable at one level of detail; None where it is removed."""
    if settings is None:
        return frame[name]
    if _removed(settings):
        return None
    if not isinstance(settings, Mapping) or "variable" in settings:
        raise OptionError(
            f"{shortened(str(name))}: a level must be settings of recode without variable, such as {{'width': 5}}, "
            "None or 'remove'"
        )
    from kanon_lab.recode.steps import recode_step  # whose models take a while to load

    return recode_step(frame[[name]], {"variable": name, **settings})[name]


def table_of(frame: pd.DataFrame, spec: KeySpec, keys: Mapping[str, pd.Series | None]) -> ClassTable:
    """The classes under other columns of the keys; those that are None are left out."""
    kept = {name: column for name, column in keys.items() if column is not None}
    others = {} if spec.weight is None else {spec.weight: frame[spec.weight]}
    of_kept = KeySpec(tuple(kept), weight=spec.weight, missing=spec.missing)
    return class_table(pd.DataFrame({**kept, **others}), of_kept)


def _removed(settings: object) -> bool:
    return isinstance(settings, str) and settings == REMOVE
