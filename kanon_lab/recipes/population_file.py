"""The population beside a file: read, and recoded as the steps recode the file, as an intruder recodes a register."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab import files
from kanon_lab.data.microdata import located, read_file
from kanon_lab.errors import DataError, KanonLabError, OptionError, about, inside, names_only, shortened
from kanon_lab.measures import Population
from kanon_lab.recipes.measured import Rule, recoded_truth
from kanon_lab.roles import KeySpec

# Settings of the file that hold for the population too; signs of csv files are found in each.
_SHARED = ("text", "na", "missing_codes", "keep_missing_codes", "max_bytes")


def read_population(
    file: str | Path, keys: Iterable[str], *, count: str | None = None, reading: Mapping[str, Any] | None = None
) -> Population:
    """The keys of a population in a file of persons, or of groups of persons whose numbers are in a column `count`.

    Counts that ``kanon-lab measure --save-classes`` has written are read too. Of the options of `read_file` (`reading`)
    those hold that say what cells mean.
    """
    names = tuple(keys)
    columns = {*names}
    options = {name: value for name, value in (reading or {}).items() if name in _SHARED and value}
    if isinstance(texts := options.get("text", ()), (list, tuple)):
        options["text"] = tuple(name for name in texts if name in columns)
    if "missing_codes" in options:
        options["missing_codes"] = {name: codes for name, codes in options["missing_codes"].items() if name in columns}
    path = located(file)[0]
    status = files.status(path)
    state = None if status is None else (status.st_mtime_ns, status.st_size)
    key = (str(file), names, count, repr(sorted(options.items())), state)
    if key not in _read_before:
        if len(_read_before) >= _MOST_HELD:
            _read_before.clear()
        with inside("population"), names_only(Path(file)), about(str(file)):
            _read_before[key] = _read(str(file), names, count, options)
    return _read_before[key]


# Populations by what they were read from: recipes of a map have the same.
_read_before: dict[tuple[Any, ...], Population] = {}
_MOST_HELD = 4
_PERSONS = "records of the combination"


def _read(file: str, names: tuple[str, ...], count: str | None, options: dict[str, Any]) -> Population:
    if (counted := _counts(file)) is not None:
        if count is not None:
            raise OptionError("holds counts of records that --save-classes has written; leave the count out")
        for name in names:
            if name not in counted.frame:
                raise DataError(f"column {shortened(name)} is not there; count the population by every key variable")
        return Population.of(counted.frame.assign(**{_PERSONS: counted.records}), names, count=_PERSONS)
    read = read_file(file, columns=[*names, *([] if count is None else [count])] or None, **options)
    return Population.of(read.numbered, names, count=count)


def _counts(file: str) -> Any:
    """Counts that were saved; None where the file is none."""
    path = Path(file)
    if path.suffix.lower() != ".parquet" or not files.is_file(path):
        return None
    from pyarrow import parquet

    try:
        held = parquet.read_schema(path).metadata or {}
    except Exception:  # its reader says what is wrong
        return None
    if b"kanon_lab_counts" not in held:
        return None
    from kanon_lab.engines import load_counts

    return load_counts([file])


def recoded_population(
    population: Population,
    rules: Mapping[str, Rule],
    before: pd.DataFrame,
    after: pd.DataFrame,
    perturbed: Iterable[str],
) -> Population:
    """The population after a step of which the file is known `before` and `after`, row by row.

    A value becomes what it became in the file; one that no record has, what the step makes of it. Keys that the step
    has `perturbed` cannot be followed.
    """
    columns, refused = {}, dict(population.refused)
    for name, rule in rules.items():
        if name not in population.keys:
            continue
        true = population.keys[name]
        no = _refused(rule, true, before[name])
        if no.any():
            refused[name] = refused.get(name, 0) + float(population.persons[no].sum())
        column = recoded_truth(true.mask(no), before[name], after[name], rule)
        columns[name] = column.where(~no, true.astype(object))
    untold = dict.fromkeys([*population.untold, *(name for name in perturbed if name in population.keys)])
    return replace(population, keys=population.keys.assign(**columns), untold=tuple(untold), refused=refused)


def _refused(rule: Rule, true: pd.Series, shown: pd.Series) -> np.ndarray:
    """Whether the rule of a step refuses each value, as one that lies outside of all bands."""
    values = true.dropna().unique()
    known = shown.dropna().unique()

    def faults(part: np.ndarray) -> list[Any]:
        try:
            rule(pd.Series([*part, *known], name=true.name))
        except KanonLabError:
            if len(part) == 1:
                return [*part]
            half = len(part) // 2
            return [*faults(part[:half]), *faults(part[half:])]
        return []

    wrong = faults(np.asarray(values, dtype=object)) if len(values) else []
    return true.isin(wrong).to_numpy() if wrong else np.zeros(len(true), dtype=bool)


def check_population(population: Population, spec: KeySpec) -> None:
    """Raise a `DataError` where a key is missing in the population and none may be (``missing: error``)."""
    if spec.missing == "error":
        for name in spec.key_variables:
            if name in population.keys and population.keys[name].isna().any():
                raise DataError(f"the population has no value in column {shortened(name)} for some; fill it in")
