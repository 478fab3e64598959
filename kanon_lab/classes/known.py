"""Population frequencies that are known, in place of estimates from weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from kanon_lab.classes.coding import Coded, coded, distinct_rows
from kanon_lab.classes.compatible import compatible_sums
from kanon_lab.classes.table import ClassTable
from kanon_lab.errors import DataError, OptionError, about, shortened
from kanon_lab.keys import KeySpec

_POPULATION = "the population"


def with_population(table: ClassTable, population: pd.DataFrame, *, count: str | None = None) -> ClassTable:
    """The same class table with F_k counted in a population.

    Parameters
    ----------
    table : ClassTable
        Of a sample of that population, with its keys recoded alike.
    population : DataFrame
        One row a person, or with `count` one row a group of persons. It has every key variable of the table.
    count : str, optional
        Column of `population`: how many persons each row stands for, finite and not negative.

    Returns
    -------
    ClassTable
        F_k is the number of persons compatible with the class; under the policy ``category`` those with the same keys.

    Examples
    --------
    >>> import kanon_lab
    >>> table = kanon_lab.class_table(pd.DataFrame({"age": [30, 41]}), "age")
    >>> people = pd.DataFrame({"age": [30, 41, 52], "persons": [9, 4, 7]})
    >>> kanon_lab.classes.with_population(table, people, count="persons").F_k.tolist()
    [9.0, 4.0]
    """
    spec = table.spec
    if count in spec.key_variables:
        raise OptionError(f"count: {shortened(str(count))} is a key variable; name the column of persons")
    with about("the population"):
        KeySpec(spec.key_variables, weight=count, missing=spec.missing).check(population)
        persons, aligned = _persons_of_rows(population, count), _codes_of_population(population, table)
    sample = table.policy_codes.astype(np.int64)
    both = np.concatenate([sample, aligned])
    group, some = distinct_rows(both)
    of_person = np.bincount(group[len(sample) :], weights=persons, minlength=len(some))
    missing = spec.missing == "wildcard" and (both < 0).any()
    F_k = (compatible_sums(both[some], of_person) if missing else of_person)[group[: len(sample)]]
    short = F_k < table.f_k
    if short.any():
        row = shortened(str(table.index[int(short[table.class_of_record].argmax())]))
        raise DataError(
            f"row {row}: its class has more records than persons in the population, as have "
            f"{int(short.sum())} of {table.n_classes} classes; recode both alike, or give the whole population"
        )
    return replace(table, F_k=F_k)


def _persons_of_rows(population: pd.DataFrame, count: str | None) -> np.ndarray:
    if count is None:
        return np.ones(len(population))
    column = population[count]
    if not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
        raise DataError(f"column {shortened(str(count))} is not numbers; give counts of persons")
    persons = column.to_numpy(dtype=float, na_value=np.nan)
    wrong = ~(np.isfinite(persons) & (persons >= 0))
    if wrong.any():
        row = shortened(str(population.index[int(wrong.argmax())]))
        raise DataError(f"row {row}: column {shortened(str(count))} is no count of persons; give a number from 0 on")
    return persons


def _codes_of_population(population: pd.DataFrame, table: ClassTable) -> np.ndarray:
    """Key codes of the population: those of the table, or beyond them for values that the sample does not have."""
    columns = []
    for name, labels in zip(table.spec.key_variables, table.labels, strict=True):
        column: Coded = coded(population[name])
        if (absent := column.codes < 0).any() and table.spec.missing == "error":
            row = shortened(str(population.index[int(absent.argmax())]))
            raise DataError(
                f"row {row}: a missing value in column {shortened(str(name))}; fill it in, or choose "
                "another policy for missing values"
            )
        place = pd.Index(labels).get_indexer(column.values)
        place = np.where(place < 0, len(labels) + 1, place)
        gap = len(labels) if table.spec.missing == "category" else -1
        columns.append(np.append(place, gap)[column.codes])
    return np.column_stack(columns).astype(np.int64)
