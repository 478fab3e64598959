"""Levels of detail of key variables: checked, and the classes of a file whose keys are at some of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from kanon_lab.classes import ClassTable, class_table
from kanon_lab.errors import OptionError, nearest, shortened
from kanon_lab.keys import KeySpec
from kanon_lab.recode import recode_step

#: In place of settings: the variable is not in the file that is released.
REMOVE = "remove"


def check_levels(levels: object, keys: tuple[str, ...], results: Iterable[str]) -> dict[str, dict[str | int, Any]]:
    """Levels by key variable and label."""
    if not isinstance(levels, Mapping) or not levels:
        raise OptionError("levels: give a mapping of key variable to its levels, such as {age: {1 year: null, ...}}")
    for name, labels in levels.items():
        _check_key(name, keys, "levels")
        if name in results:
            raise OptionError(f"levels: {name} is the name of a result too; give the variable another name")
        if not isinstance(labels, Mapping) or not labels or not all(isinstance(label, (str, int)) for label in labels):
            raise OptionError(
                f"levels of {shortened(str(name))}: give a mapping of label (text or whole number) to settings"
            )
    if set(levels) == set(keys) and all(any(map(_removed, labels.values())) for labels in levels.values()):
        raise OptionError("levels: one scenario removes every key variable; leave some in")
    return {name: dict(labels) for name, labels in levels.items()}


def check_recode(recode: object, keys: tuple[str, ...]) -> dict[str, Any]:
    """The level of each key variable, None where `recode` has none; an `OptionError` where it is no such mapping."""
    if recode is not None and not isinstance(recode, Mapping):
        raise OptionError("recode must map key variables to settings, such as {'age': {'bands': [0, 15, 65, None]}}")
    for name in recode or {}:
        _check_key(name, keys, "recode")
    if recode and all(_removed(recode.get(name)) for name in keys):
        raise OptionError("recode removes every key variable; leave some in")
    return {name: (recode or {}).get(name) for name in keys}


def at_level(frame: pd.DataFrame, name: str, settings: object, where: str) -> pd.Series | None:
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
    return recode_step(frame[[name]], {"variable": name, **settings}, where)[name]


def table_of(frame: pd.DataFrame, spec: KeySpec, keys: Mapping[str, pd.Series | None], where: str) -> ClassTable:
    """The classes under other columns of the keys; those that are None are left out."""
    kept = {name: column for name, column in keys.items() if column is not None}
    others = {} if spec.weight is None else {spec.weight: frame[spec.weight]}
    of_kept = KeySpec(tuple(kept), weight=spec.weight, missing=spec.missing)
    return class_table(pd.DataFrame({**kept, **others}), of_kept, where=where)


def _removed(settings: object) -> bool:
    return isinstance(settings, str) and settings == REMOVE


def _check_key(name: object, keys: tuple[str, ...], of: str) -> None:
    if name not in keys:
        near = nearest(str(name), keys)
        remedy = f"did you mean {shortened(near)}?" if near else "name one that is"
        raise OptionError(f"{of}: {shortened(str(name))} is no key variable; {remedy}")
