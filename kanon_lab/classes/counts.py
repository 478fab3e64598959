"""What is counted with classes: persons of a population, records by size, and groups by the keys that are known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import chain, combinations

import numpy as np
import pandas as pd

from kanon_lab.arguments import check_whole
from kanon_lab.classes.compatible import compatible_sums
from kanon_lab.classes.sums import Sums
from kanon_lab.classes.table import MISSING_REMEDY, ClassTable, class_table, table_of_counts
from kanon_lab.columns import as_text, coded, distinct_rows, first_row
from kanon_lab.errors import DataError, OptionError, about, shortened
from kanon_lab.population.law import KRange, as_ranges
from kanon_lab.roles import KeySpec


@dataclass(frozen=True)
class Counts:
    """How many records each row of a frame is, from 1 on, and the sum of their weights (None without a weight)."""

    records: np.ndarray = field(repr=False)
    weights: Sums | None = field(default=None, repr=False)


def records_in(rows: np.ndarray, counts: Counts | None, person: np.ndarray | None = None) -> int:
    """Records in the rows that are true (without counts each row is one); or the persons who have one, if numbered."""
    if person is not None:
        return int(np.count_nonzero(np.bincount(person[rows])))
    return int(rows.sum() if counts is None else counts.records[rows].sum())


def table_of_rows(frame: pd.DataFrame, spec: KeySpec, counts: Counts | None) -> ClassTable:
    """The class table of a frame whose rows are records, or so many records each."""
    if counts is None:
        return class_table(frame, spec)
    return table_of_counts(frame, spec, records=counts.records, weights=counts.weights)


def with_population(table: ClassTable, population: pd.DataFrame, *, count: str | None = None) -> ClassTable:
    """The same class table with F_k counted in a population.

    The table is of a sample of that population, and the keys of both are recoded alike. The population has one row a
    person, or a group of persons whose number is in the column `count` (finite, not negative). F_k is the number of
    persons compatible with the class.

    Examples
    --------
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
        persons = np.ones(len(population)) if count is None else counts_of_persons(population, count)
        F_k, _ = persons_alike(table, population, persons)
    short = F_k < table.f_k
    if short.any():
        row = first_row(short[table.class_of_record], table.index)
        raise DataError(
            f"row {row}: its class has more records than persons in the population, as have "
            f"{int(short.sum())} of {table.n_classes} classes; recode both alike, or give the whole population"
        )
    return replace(table, F_k=F_k)


def persons_alike(table: ClassTable, population: pd.DataFrame, persons: np.ndarray) -> tuple[np.ndarray, float]:
    """For each class of a table the persons of a population compatible with it, and the persons compatible with none.

    The population has a column for each key, and so many `persons` a row. Values are equal where their texts are, so
    that 34 and "34" are one.
    """
    sample, aligned = table.policy_codes.astype(np.int64), codes_of_population(population, table)
    both = np.concatenate([sample, aligned])
    group, some = distinct_rows(both)
    counts = np.zeros((len(some), 2))  # persons and records of each different key
    counts[:, 0] = np.bincount(group[len(sample) :], weights=persons, minlength=len(some))
    counts[:, 1] = np.bincount(group[: len(sample)], weights=table.records, minlength=len(some))
    alike = counts
    if table.spec.missing == "wildcard" and (both < 0).any():
        alike = compatible_sums(both[some], counts)
    return alike[group[: len(sample)], 0], float(counts[alike[:, 1] == 0, 0].sum())


def counts_of_persons(population: pd.DataFrame, count: str) -> np.ndarray:
    """The numbers of persons in a column; a `DataError` where one is no number from 0 on."""
    column = population[count]
    if not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
        raise DataError(f"column {shortened(str(count))} is not numbers; give counts of persons")
    persons = column.to_numpy(dtype=float, na_value=np.nan)
    wrong = ~(np.isfinite(persons) & (persons >= 0))
    if wrong.any():
        row = first_row(wrong, population.index)
        raise DataError(
            f"row {row}: column {shortened(str(count))} is not a count of persons; give a number of 0 or more"
        )
    return persons


def codes_of_population(population: pd.DataFrame, table: ClassTable) -> np.ndarray:
    """Key codes of the population: those of the table, or beyond them for values that the sample does not have."""
    columns = []
    for name, labels in zip(table.spec.key_variables, table.labels, strict=True):
        column = coded(population[name])
        if (absent := column.codes < 0).any() and table.spec.missing == "error":
            row = first_row(absent, population.index)
            raise DataError(f"row {row}: a missing value in column {shortened(str(name))}; {MISSING_REMEDY}")
        known = {as_text(value): code for code, value in reversed([*enumerate(labels)])}
        place = np.array([known.get(as_text(value), len(labels) + 1) for value in column.values], dtype=np.int64)
        gap = len(labels) if table.spec.missing == "category" else -1
        columns.append(np.append(place, gap)[column.codes])
    return np.column_stack(columns).astype(np.int64) if columns else np.zeros((len(population), 0), dtype=np.int64)


SIZE_RANGES = "1,2,3-4,5-9,10-19,20+"


def size_ranges(table: ClassTable, *, ranges: str | Iterable[KRange] = SIZE_RANGES) -> pd.DataFrame:
    """Records by the size of their own class, and by how many records are compatible with them.

    The two differ only where keys are missing under the policy ``wildcard``: a class of three records without a sex may
    have fifty compatible records. The ranges of sizes, such as ``"1,2,3-4,5+"``, may overlap or leave gaps.

    Returns
    -------
    DataFrame
        One row a range: ``size_from``, ``size_to`` (missing where open), ``label``; ``classes`` of that many records
        with the same key values (missing is a value), and the ``records`` in them and their ``share`` (0-1);
        ``compatible`` and ``compatible_share``: the records with f_k in the range.

    Examples
    --------
    >>> table = kanon_lab.class_table(pd.DataFrame({"age": [30, 30, 41]}), "age")
    >>> kanon_lab.classes.size_ranges(table, ranges="1,2+")[["label", "classes", "records"]]
      label  classes  records
    0     1        1        1
    1    2+        1        2
    """
    rows = []
    for k in as_ranges(ranges):
        own, alike = ((sizes >= k.k_from) & (k.k_to is None or sizes <= k.k_to) for sizes in (table.own_k, table.f_k))
        records, compatible = int(table.records[own].sum()), int(table.records[alike].sum())
        shares = records / table.n, compatible / table.n
        rows.append((k.k_from, k.k_to, k.label, int(own.sum()), records, shares[0], compatible, shares[1]))
    names = ["size_from", "size_to", "label", "classes", "records", "share", "compatible", "compatible_share"]
    return pd.DataFrame(rows, columns=names).astype({"size_to": "Int64"})


def by_meaning(sizes: pd.DataFrame, *, own: str = "own class", compatible: str = "compatible") -> pd.DataFrame:
    """`size_ranges` as one version for each meaning of a missing key, where these differ.

    The sizes may be of several versions of a file (column ``version``), one below the other; `own` and `compatible`
    name the two meanings. Columns: ``label``, ``records``, ``share``, ``version``.

    Examples
    --------
    >>> table = kanon_lab.class_table(pd.DataFrame({"age": [30, None]}), "age")
    >>> kanon_lab.classes.by_meaning(kanon_lab.classes.size_ranges(table, ranges="1,2"))
      label  records  share     version
    0     1        2    1.0   own class
    1     2        0    0.0   own class
    2     1        0    0.0  compatible
    3     2        2    1.0  compatible
    """
    parts, names = [], ["label", "records", "share"]
    for version, part in sizes.assign(version=sizes.get("version", "")).groupby("version", sort=False):
        kinds = {version: part[names]}
        if "compatible" in part and (part["compatible"] != part["records"]).any():
            shown = part[["label", "compatible", "compatible_share"]].set_axis(names, axis=1)
            prefix = f"{version!s}: " if version else ""
            kinds = {prefix + own: part[names], prefix + compatible: shown}
        parts += [rows.assign(version=name) for name, rows in kinds.items()]
    return pd.concat(parts, ignore_index=True)


#: Keys of a grid, of which there are 2^keys - 1 subsets, and its columns.
MOST_KEYS, MOST_K = 12, 1_000


def key_grid(frame: pd.DataFrame, spec: KeySpec, *, k_max: int = 20) -> pd.DataFrame:
    """Records in groups of k or fewer, for every set of key variables that an intruder may know.

    The result has one row per non-empty subset of the key variables (12 at most), smaller ones first: ``keys`` (tuple
    of str), ``n`` (records), ``classes`` (or patterns), ``k_achieved``, and a column for each k from 1 to `k_max`
    (1,000 at most): the number of records with f_k <= k.

    Examples
    --------
    >>> frame = pd.DataFrame({"sex": ["f", "f", "m"], "age": [30, 41, 30]})
    >>> kanon_lab.classes.key_grid(frame, kanon_lab.KeySpec(["sex", "age"]), k_max=2)
             keys  n  classes  k_achieved  1  2
    0      (sex,)  3        2           1  1  3
    1      (age,)  3        2           1  1  3
    2  (sex, age)  3        3           1  3  3
    """
    names = spec.key_variables
    if len(names) > MOST_KEYS:
        raise OptionError(f"{len(names)} key variables have too many subsets; choose {MOST_KEYS} of them or fewer")
    check_whole(k_max, "k_max", 1, MOST_K)
    table = class_table(frame, spec)
    rows = []
    for subset in chain.from_iterable(combinations(range(len(names)), size) for size in range(1, len(names) + 1)):
        group, some = distinct_rows(table.codes[:, subset])
        codes = table.codes[some][:, subset]
        records = np.bincount(group, weights=table.records).astype(np.int64)
        wildcard = spec.missing == "wildcard" and (codes < 0).any()
        f_k = compatible_sums(codes, records) if wildcard else records
        up_to = np.cumsum(np.bincount(np.minimum(f_k, k_max + 1), weights=records, minlength=k_max + 2))[1:-1]
        rows.append((tuple(names[j] for j in subset), table.n, len(records), f_k.min(), *up_to.astype(np.int64)))
    return pd.DataFrame(rows, columns=["keys", "n", "classes", "k_achieved", *range(1, k_max + 1)])
