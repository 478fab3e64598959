"""Class sizes of a population or sample, at any levels of detail of the keys."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from kanon_lab.arguments import check_frame
from kanon_lab.classes import ClassTable, class_table
from kanon_lab.columns import refuse
from kanon_lab.errors import DataError, OptionError, about, shortened
from kanon_lab.methods.suppression import check_key
from kanon_lab.roles import KeySpec, as_spec

if TYPE_CHECKING:
    import pandas as pd


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
    from kanon_lab.methods.recode_settings import recode_step

    return recode_step(frame[[name]], {"variable": name, **settings})[name]


def table_of(frame: pd.DataFrame, spec: KeySpec, keys: Mapping[str, pd.Series | None]) -> ClassTable:
    """The classes under other columns of the keys; those that are None are left out."""
    kept = {name: column for name, column in keys.items() if column is not None}
    others = {} if spec.weight is None else {spec.weight: frame[spec.weight]}
    of_kept = KeySpec(tuple(kept), weight=spec.weight, missing=spec.missing)
    return class_table(pd.DataFrame({**kept, **others}), of_kept)


def _removed(settings: object) -> bool:
    return isinstance(settings, str) and settings == REMOVE


#: Sums of sizes stay exact as floats.
MOST_RECORDS = 2**53
#: The least sampling fraction: one of a thousand million persons.
LEAST_FRACTION = 1e-9


@dataclass(frozen=True)
class SizeCounts:
    """How many classes have each size."""

    size: np.ndarray  # (m,) The distinct sizes above 0, rising
    classes: np.ndarray  # (m,) How many classes have that size

    @property
    def records(self) -> float:
        """Records (persons) in all classes."""
        return float(self.size @ self.classes)

    def of_size(self, size: int) -> float:
        """How many classes have `size` records."""
        return float(self.classes[self.size == size].sum())


def size_counts(sizes: object, name: str = "sizes") -> SizeCounts:
    """Count class sizes; a size of 0 is no class and left out."""
    try:
        found = np.asarray(sizes)
        values = found.astype(float) if found.dtype.kind in "iuf" else np.empty(())
    except (TypeError, ValueError):
        values = np.empty(())
    if values.ndim != 1 or found.dtype.kind not in "iuf" or not ((values >= 0) & (values == np.floor(values))).all():
        raise OptionError(f"{name} must be whole numbers from 0 on, one a class, in one dimension")
    if not 0 < values.sum() <= MOST_RECORDS:
        raise OptionError(f"{name} must hold at least one record and at most 2 ** 53 in all")
    size, classes = np.unique(values[values > 0], return_counts=True)
    return SizeCounts(size, classes.astype(float))


def as_fraction(value: object, *, whole: bool = False) -> float:
    """A sampling fraction as a float; an `OptionError` unless it is from 1e-9 to below 1, or with `whole` up to 1."""
    number = isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_)) and 0 <= value <= 1
    fraction = float(value) if number else np.nan  # another kind of number may be rounded to 1
    if not (LEAST_FRACTION <= fraction < 1 or (whole and fraction == 1)):
        limit = "up to 1" if whole else "to below 1"
        raise OptionError(f"a sampling fraction must be a number from 1e-9 {limit}, not {shortened(repr(value))}")
    return fraction


def as_fractions(values: object, *, whole: bool = False) -> np.ndarray:
    """Several sampling fractions, at least one, as an array; errors as in `as_fraction`."""
    several = isinstance(values, Iterable) and not isinstance(values, (str, bytes)) and np.shape(values) != ()
    found = list(values) if several else [values]
    if not found:
        raise OptionError("fractions: give at least one sampling fraction, such as 0.04")
    return np.array([as_fraction(value, whole=whole) for value in found])


def population_sizes(
    frame: pd.DataFrame,
    spec: KeySpec | Iterable[str] | str,
    *,
    persons: str | None = None,
    recode: Mapping[str, Mapping[str, Any] | str | None] | None = None,
) -> np.ndarray:
    """The sizes F of the classes of a population.

    Parameters
    ----------
    frame : DataFrame
        One row a person, or with `persons` one row a group of persons.
    spec : KeySpec or sequence of str
        Its key variables, and what a missing key means; a weight variable of the spec is not used. Under ``wildcard``
        no key may be missing: persons would have no classes.
    persons : str, optional
        Column of whole numbers above 0, in all below 2 ** 53: how many persons each row stands for.
    recode : mapping of str to mapping, None or "remove", optional
        By key variable the settings of a recipe's step ``recode`` without ``variable``; None leaves it as it is, and
        ``"remove"`` leaves it out.

    Returns
    -------
    ndarray of int, shape (classes,)
        Persons a class, in the order of the class table.

    Examples
    --------
    >>> import kanon_lab
    >>> cells = pd.DataFrame({'age': [3, 7, 40], 'persons': [1, 2, 9]})
    >>> kanon_lab.sample.population_sizes(cells, 'age', persons='persons', recode={'age': {'bands': [0, 18, None]}})
    array([3, 9])
    """
    with about("the population"):
        return _population_sizes(frame, as_spec(spec), persons, recode)


def _population_sizes(
    frame: pd.DataFrame, spec: KeySpec, persons: str | None, recode: Mapping[str, Mapping[str, Any] | str | None] | None
) -> np.ndarray:
    check_frame(frame)
    bare = KeySpec(spec.key_variables, weight=persons, missing=spec.missing)
    bare.check(frame)
    levels = check_recode(recode, bare)
    keys = {name: at_level(frame, name, settings) for name, settings in levels.items()}
    table = table_of(frame, bare, keys)
    if (table.f_k != table.records).any():
        raise DataError(
            "a key is missing, so that persons have no classes; fill it in, or let missing be a category of its own"
        )
    if persons is None:
        return table.records
    counts = table.weight_of_record
    refuse(counts != np.floor(counts), frame.index, persons, "no whole number of persons; mend it")
    fault = "2 ** 53 persons or more up to here; mend the count"
    refuse(np.cumsum(counts) >= MOST_RECORDS, frame.index, persons, fault)
    return table.F_k.astype(np.int64)
