"""The class table: the classes of a file, the class of each record, and counts of values in classes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from kanon_lab.arguments import is_number
from kanon_lab.columns import (
    Coded,
    coded,
    distinct_rows,
    firsts,
    grouped,
    holds_numbers,
    no_numbers,
    pack,
    rows_named,
    tallied,
    whole_type,
)
from kanon_lab.errors import DataError, OptionError, shortened
from kanon_lab.roles import KeySpec, as_spec, check_k

if TYPE_CHECKING:
    from kanon_lab.classes.sums import Sums

_MEND = "weights must be finite and above 0, so correct it or drop the record"
MISSING_REMEDY = "fill it in, or choose another policy for missing values"


@dataclass(frozen=True)
class ValueCounts:
    """How often each value of one variable occurs in each class.

    Attributes
    ----------
    values : Index
        The m distinct values in canonical order. A missing value is the last under the policy ``category`` and left out
        under ``wildcard``.
    class_, value, count : ndarray
        The counts that are not zero, sorted by class and then by value (a position in `values`). Under ``wildcard``
        those of all records compatible with the class's pattern.
    overall : ndarray
        The counts in the whole file, every record once, shape (m,).
    n_classes : int
        A class without any known value has no count.
    """

    values: pd.Index
    class_: np.ndarray
    value: np.ndarray
    count: np.ndarray
    overall: np.ndarray
    n_classes: int

    # A row is a class in which some value is known.

    @cached_property
    def start(self) -> np.ndarray:
        """Where the counts of each row begin."""
        return np.flatnonzero(firsts(self.class_))

    @cached_property
    def row(self) -> np.ndarray:
        """The row of each count."""
        return np.cumsum(firsts(self.class_)) - 1

    @cached_property
    def known(self) -> np.ndarray:
        """Records of each row's class whose value is known."""
        return self.sums(self.count)

    @cached_property
    def p(self) -> np.ndarray:
        """Share of each count's value in its class, above 0 and at most 1."""
        return self.count / self.known[self.row]

    @cached_property
    def q(self) -> np.ndarray:
        """Share of each count's value in the file, above 0 and at most 1."""
        return (self.overall / max(self.overall.sum(), 1))[self.value]

    def sums(self, numbers: np.ndarray) -> np.ndarray:
        """Sum over each row of one number a count."""
        return np.add.reduceat(numbers, self.start) if len(self.start) else np.zeros(0, dtype=numbers.dtype)

    def largest(self, numbers: np.ndarray) -> np.ndarray:
        """Largest in each row of one number a count."""
        return np.maximum.reduceat(numbers, self.start) if len(self.start) else np.zeros(0, dtype=numbers.dtype)

    def by_class(self, measured: np.ndarray) -> np.ndarray:
        """One number for every class of the file, from those of the rows: missing where no value is known."""
        full = np.full(self.n_classes, np.nan)
        full[self.class_[self.start]] = measured
        return full


def counted(
    class_: np.ndarray, value: np.ndarray, n_classes: int, m: int, weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How often each of m values occurs in each class: class, value and count, as in `ValueCounts`."""
    size = n_classes * m
    packed = np.multiply(class_, m, dtype=whole_type(size))
    packed += value
    if weights is None:
        distinct, count = tallied(packed, size)
    else:
        number, distinct = grouped(packed, size)
        count = np.bincount(number, weights, minlength=len(distinct)).astype(np.int64)
    distinct = distinct.astype(np.int64, copy=False)
    rows = distinct // m  # quicker than divmod
    return rows, distinct - rows * m, count


def compositions_of(home: np.ndarray, own: np.ndarray, times: np.ndarray) -> np.ndarray:
    """By household (or person) the number of the set of classes of its members (or records), from 0 on.

    The arrays are those of `ClassTable.members`.
    """
    household, class_ = np.repeat(home, times), np.repeat(own, times)
    members = np.bincount(household)
    start, composition, compositions = np.cumsum(members) - members, np.empty(len(members), dtype=np.int64), 0
    for size in np.unique(members):
        homes = np.flatnonzero(members == size)
        group, some = distinct_rows(class_[start[homes, None] + np.arange(size)])
        composition[homes] = compositions + group
        compositions += len(some)
    return composition


def is_agreeing(home: np.ndarray, code: np.ndarray, homes: int) -> np.ndarray:
    """Whether all members of each household have one code."""
    known = home >= 0
    some = np.zeros(homes, dtype=code.dtype)
    some[home[known]] = code[known]
    return np.bincount(home[known], code[known] != some[home[known]], homes) == 0


@dataclass(frozen=True)
class ClassTable:
    """The equivalence classes of a file; under the policy ``wildcard`` its patterns.

    Attributes
    ----------
    spec, index : KeySpec or Index
        The roles of the variables, and the index of the frame.
    records : ndarray
        Records that have exactly these key values, shape (n_classes,). Sums over records weigh classes by it.
    f_k : ndarray
        Sample frequency: records compatible with the class. It differs from `records` only under ``wildcard``. With a
        person in the spec, the different persons of these records.
    F_k : ndarray
        Population frequency: the sum of the weights of those records (each 1 without a weight variable), or persons.
    class_of_row : ndarray
        Class of each row, 0 to n_classes - 1. A row is a record, or several records with the same values.
    records_of_row : ndarray or None
        Records of each row; None where each row is one record.
    """

    spec: KeySpec
    index: pd.Index = field(repr=False)
    records: np.ndarray = field(repr=False)
    f_k: np.ndarray = field(repr=False)
    F_k: np.ndarray = field(repr=False)
    class_of_row: np.ndarray = field(repr=False)
    records_of_row: np.ndarray | None = field(repr=False)
    _keys: tuple[Coded, ...] = field(repr=False)
    _others: pd.DataFrame = field(repr=False)
    #: The number of each row's person; None where the spec names none, so that each record is one.
    person_of_row: np.ndarray | None = field(default=None, repr=False)
    #: Without a weight variable each person weighs 1; None where there are no persons.
    weight_of_person: np.ndarray | None = field(default=None, repr=False)

    @property
    def class_of_record(self) -> np.ndarray:
        """Row of each record's class, 0 to n_classes - 1, shape (n,); a `DataError` where the table is of counts."""
        if self.records_of_row is not None:
            raise DataError("this needs each record, but there are only counts of records; read the file in memory")
        return self.class_of_row

    @property
    def n(self) -> int:
        """Records of the file."""
        return len(self.class_of_row) if self.records_of_row is None else int(self.records_of_row.sum())

    @property
    def n_classes(self) -> int:
        """Classes, or patterns."""
        return len(self.records)

    @property
    def labels(self) -> tuple[pd.Index, ...]:
        """For each key its distinct values, in canonical order: numbers, then text, then others."""
        return tuple(key.values for key in self._keys)

    @cached_property
    def codes(self) -> np.ndarray:
        """Key values of each class, shape (n_classes, keys): positions in `labels`, or -1 where missing. Sorted."""
        some = np.empty(self.n_classes, dtype=np.int64)  # any one row of each class
        some[self.class_of_row] = np.arange(len(self.class_of_row))
        codes = np.empty((self.n_classes, len(self._keys)), dtype=np.int32)
        for j, key in enumerate(self._keys):
            codes[:, j] = key.codes[some]
        return codes

    @cached_property
    def policy_codes(self) -> np.ndarray:
        """`codes`, but under the policy ``category`` a missing value has a code of its own: the one after the last."""
        if self.spec.missing != "category":
            return self.codes
        return np.where(self.codes < 0, [len(labels) for labels in self.labels], self.codes)

    @cached_property
    def classes(self) -> pd.DataFrame:
        """One row a class: its key values, ``records``, ``f_k`` and ``F_k``."""
        keys = {
            name: pd.Series(labels).reindex(codes).to_numpy() if (codes < 0).any() else labels.take(codes)
            for name, labels, codes in zip(self.spec.key_variables, self.labels, self.codes.T, strict=True)
        }
        return pd.DataFrame(keys).assign(records=self.records, f_k=self.f_k, F_k=self.F_k)

    def f_k_of_records(self) -> pd.Series:
        """Sample frequency of each record's class, under the index of the frame."""
        return pd.Series(self.f_k.take(self.class_of_record), index=self.index, name="f_k")

    def F_k_of_records(self) -> pd.Series:
        """Population frequency of each record's class, under the index of the frame."""
        return pd.Series(self.F_k.take(self.class_of_record), index=self.index, name="F_k")

    @property
    def k_achieved(self) -> int:
        """The largest k for which the file is k-anonymous: the smallest f_k."""
        return int(self.f_k.min())

    @property
    def sample_uniques(self) -> int:
        """Records that no other is compatible with; or persons with a record that no other person's is."""
        return self.units_in(self.f_k == 1)

    @cached_property
    def own_k(self) -> np.ndarray:
        """Records, or persons, that have exactly these key values: `f_k` if a missing one is a value of its own."""
        if self.person_of_row is None:
            return self.records
        from kanon_lab.classes.persons import count_persons

        return count_persons(self.class_of_row, self.person_of_row, self.n_classes)

    @property
    def has_gaps(self) -> bool:
        """Whether some key is missing that may be any value."""
        return self.spec.missing == "wildcard" and bool((self.codes < 0).any())

    def units_in(self, classes: np.ndarray) -> int:
        """Records in the classes that are true; where the spec names a person, the persons with a record in them."""
        if self.person_of_row is None:
            return int(self.records.sum(where=classes))
        return int(np.count_nonzero(np.bincount(self.person_of_row[classes[self.class_of_row]])))

    @cached_property
    def n_units(self) -> int:
        """Records of the file, or persons where the spec names one."""
        return self.n if self.person_of_row is None else int(self.person_of_row.max()) + 1

    def by_unit(self, of_class: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Numbers and how many records have each; where the spec names a person, each person's largest once."""
        if self.person_of_row is None:
            return of_class, self.records
        largest = np.zeros(self.n_units)
        np.maximum.at(largest, self.person_of_row, of_class[self.class_of_row])
        return largest, np.ones(self.n_units, dtype=np.int64)

    def violations(self, k: Iterable[int]) -> dict[int, int]:
        """For each k, a whole number from 1 on, the number of records with f_k below it, or of persons with one."""
        if not isinstance(k, Iterable):
            raise OptionError(f"k must be several whole numbers, such as [2, 3, 5], not {k!r}")
        return {int(level): self.units_in(self.f_k < level) for level in map(check_k, k)}

    @property
    def weight_of_record(self) -> np.ndarray | None:
        """Weight of each record, wherever F_k comes from; None where the spec names no weight."""
        if self.spec.weight is None:
            return None
        return self._others[self.spec.weight].to_numpy(dtype=float)[: len(self.class_of_record)]

    @property
    def weight_of_row(self) -> np.ndarray | None:
        """The same of rows; None where these are counts, too."""
        return None if self.records_of_row is not None else self.weight_of_record

    @cached_property
    def members(self) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Households (numbered from 0), the classes of their members, and how many members are in each: sorted.

        None where the spec names no household. Each record must have one.
        """
        if self.spec.household is None:
            return None
        homes = coded(self._others[self.spec.household])
        self._refuse(homes.codes < 0, self.spec.household, "no household", "fill it in or drop the record")
        return counted(homes.codes, self.class_of_row, len(homes.values), self.n_classes, self.records_of_row)

    @property
    def persons_of_homes(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Each pair of a household and a person, once; None where the spec does not name both."""
        if self.person_of_row is None or self.spec.household is None:
            return None
        from kanon_lab.classes.persons import with_persons

        return with_persons(coded(self._others[self.spec.household]).codes.astype(np.int64), self.person_of_row)

    def records_at(self, rows: np.ndarray) -> int:
        """Records in some rows."""
        return int(rows.sum() if self.records_of_row is None else self.records_of_row[rows].sum())

    def _refuse(self, rows: np.ndarray, column: object, fault: str, remedy: str) -> None:
        """Raise a `DataError` that names the first of some rows, or of a table of counts their number of records."""
        if self.records_of_row is None:
            _refuse(rows, self.index, column, fault, remedy)
        elif rows.any():
            raise DataError(f"{self.records_at(rows):,} records: {fault} in column {shortened(str(column))}; {remedy}")

    def column(self, variable: str | pd.Series) -> pd.Series:
        """A sensitive or numeric variable of the spec; or a Series itself, if it has one value a record."""
        if isinstance(variable, pd.Series):
            if len(variable) != len(self.class_of_row):
                raise OptionError(f"the variable has {len(variable)} values, the file {self.n} records")
            return variable
        known = (*self.spec.sensitive_variables, *self.spec.numeric_variables)
        if variable not in known:
            raise OptionError(f"{variable!r} is not a sensitive variable of the spec: name it in sensitive_variables")
        return self._others[variable]

    def sensitive_counts(self, variable: str | pd.Series) -> ValueCounts:
        """How often each value of a sensitive or numeric variable, or of a Series by record, occurs in each class."""
        column = self.column(variable)
        values = coded(column)
        absent = values.codes < 0
        if self.spec.missing == "error":
            self._refuse(absent, column.name, "a missing value", MISSING_REMEDY)
        if absent.any() and self.spec.missing == "category":
            values = Coded(np.where(absent, len(values.values), values.codes), values.values.append(pd.Index([None])))
            absent = np.zeros_like(absent)
        if absent.all():
            raise DataError(f"column {shortened(str(column.name))} has no value; leave it out")
        m = len(values.values)
        known = ~absent if absent.any() else slice(None)
        records = None if self.records_of_row is None else self.records_of_row[known]
        if self.person_of_row is not None:
            return self._values_of_persons(values, known)
        own = counted(self.class_of_row[known], values.codes[known], self.n_classes, m, records)
        overall = np.bincount(own[1], weights=own[2], minlength=m).astype(np.int64)
        triplets = own if (self.f_k == self.records).all() else self._compatible_counts(*own, m)
        return ValueCounts(values.values, *triplets, overall, self.n_classes)

    def _values_of_persons(self, values: Coded, known: Any) -> ValueCounts:
        """How many persons have each value in each class; one who has several counts once for each."""
        from kanon_lab.classes.persons import compatible_items, with_persons

        assert self.person_of_row is not None
        m, persons = len(values.values), self.person_of_row[known]
        item = persons * np.int64(m) + values.codes[known]
        overall = np.bincount(np.unique(item) % m, minlength=m)
        class_, item = with_persons(self.class_of_row[known], item)
        own = counted(class_, item % m, self.n_classes, m)
        if not self.has_gaps:
            return ValueCounts(values.values, *own, overall, self.n_classes)
        number, items = pd.factorize(item)  # as many as there are
        parts = [
            counted(rows, items[which] % m, self.n_classes, m)
            for rows, which in compatible_items(self.codes, class_, number)
        ]
        rows, value, count = (np.concatenate(part) for part in zip(*parts, strict=True))
        return ValueCounts(values.values, rows, value, count, overall, self.n_classes)

    def _compatible_counts(
        self, class_: np.ndarray, value: np.ndarray, count: np.ndarray, m: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Class, value and count of the records compatible with each class."""
        from kanon_lab.classes.compatible import compatible_counts

        # A class that is compatible with no other keeps its own counts.
        joint = np.flatnonzero(self.f_k != self.records)
        row = np.full(self.n_classes, -1)
        row[joint] = np.arange(len(joint))
        here = row[class_] >= 0
        rows, values, counts = compatible_counts(self.codes[joint], row[class_[here]], value[here], count[here], m)
        rows = np.append(class_[~here], joint[rows])
        values, counts = np.append(value[~here], values), np.append(count[~here], counts)
        order = np.lexsort((values, rows))
        return rows[order], values[order], counts[order]


def class_table(frame: pd.DataFrame, spec: KeySpec | Iterable[str] | str) -> ClassTable:
    """Group the records of a file by their key values.

    The frame has one row a record; the spec has the roles of its variables, or is the names of the key variables. Under
    the policy ``wildcard`` a record that misses a key is compatible with every record that agrees on the keys both know
    (INE Chile 2023, Tabla 7.2). Compatibility is not transitive, so f_k belongs to patterns, not to classes.

    Examples
    --------
    >>> frame = pd.DataFrame({"sex": ["f", "f", "m", None], "age": [30, 30, 41, 41]})
    >>> table = kanon_lab.class_table(frame, ["sex", "age"])
    >>> table.k_achieved, table.sample_uniques, table.f_k_of_records().tolist()
    (2, 0, [2, 2, 2, 2])
    """
    spec = as_spec(spec)
    spec.check(frame)
    return _table(frame, spec, None, _checked_weights(frame, spec))


def table_of_counts(
    frame: pd.DataFrame, spec: KeySpec | Iterable[str] | str, *, records: np.ndarray, weights: Sums | None = None
) -> ClassTable:
    """The class table of a file of which only counts are known: that of `class_table`, but for single records.

    Parameters
    ----------
    frame : DataFrame
        One row a combination of values; parts of a file may repeat a combination.
    spec : KeySpec, iterable of str, or str
        The roles of its variables; the weight need be no column.
    records : ndarray
        How many records have these values, from 1 on, shape (rows,).
    weights : Sums, optional
        The sum of their weights; by default every record weighs 1.

    Examples
    --------
    >>> frame = pd.DataFrame({"age": [30, 41]})
    >>> table = kanon_lab.classes.table_of_counts(frame, "age", records=np.array([2, 1]))
    >>> table.n, table.k_achieved, table.sample_uniques
    (3, 1, 1)
    """
    spec = as_spec(spec)
    replace(spec, weight=None, released_as_is=()).check(frame)  # neither is counted
    return _table(frame, spec, np.asarray(records, dtype=np.int64), weights)


def _table(
    frame: pd.DataFrame, spec: KeySpec, records_of_row: np.ndarray | None, weights: np.ndarray | Sums | None
) -> ClassTable:
    columns = [coded(frame[name]) for name in spec.key_variables]
    absent = [column.codes.dtype.kind == "i" and bool((column.codes < 0).any()) for column in columns]
    radices = [len(column.values) + bool(has) for column, has in zip(columns, absent, strict=True)]
    if columns:
        class_of_row, distinct = grouped(*pack([column.codes for column in columns], radices))
    else:  # nothing is known of anybody: one class
        class_of_row, distinct = np.zeros(len(frame), dtype=np.int32), np.zeros(1, dtype=np.int32)
    classes = len(distinct)
    del distinct
    if records_of_row is not None and classes == len(class_of_row):  # each row is a class, of most files the next one
        records = records_of_row
        if (class_of_row[1:] < class_of_row[:-1]).any():
            records = np.empty_like(records_of_row)
            records[class_of_row] = records_of_row
    else:
        records = np.bincount(class_of_row, records_of_row, minlength=classes).astype(np.int64, copy=False)
    joined = spec.person is None and spec.missing == "wildcard" and any(absent)
    F_k = records.astype(float)
    if weights is not None and spec.person is None and not joined:
        from kanon_lab.classes.sums import sums_by_group

        F_k = sums_by_group(class_of_row, weights, classes).rounded
    others = frame[[name for name in spec.variables if name not in spec.key_variables and name in frame]]
    parts = class_of_row, records_of_row, tuple(columns), others.copy(deep=False)
    table = ClassTable(spec, frame.index, records, records, F_k, *parts)
    if spec.missing == "error" and any(absent):
        at = absent.index(True)
        table._refuse(columns[at].codes < 0, spec.key_variables[at], "a missing value", MISSING_REMEDY)
    if spec.person is not None:
        return _of_persons(table, frame[spec.person], weights)
    if joined:
        from kanon_lab.classes.compatible import compatible_sums
        from kanon_lab.classes.sums import joined_sums

        f_k = compatible_sums(table.codes, records)
        F_k = f_k.astype(float)
        if weights is not None:
            F_k = joined_sums(class_of_row, weights, classes, partial(compatible_sums, table.codes))
        table = ClassTable(spec, frame.index, records, f_k, F_k, *parts)
    return table


def _of_persons(table: ClassTable, column: pd.Series, weights: np.ndarray | Sums | None) -> ClassTable:
    """A class table whose frequencies count persons, each with the mean weight of its records."""
    from kanon_lab.classes.persons import compatible_persons, person_codes, with_persons

    person = person_codes(column)
    persons, of_person = int(person.max()) + 1, None
    if weights is not None:
        from kanon_lab.classes.sums import sums_by_group

        of_person = sums_by_group(person, weights, persons).rounded
        of_person = of_person / np.bincount(person, table.records_of_row, minlength=persons)
    class_, who = with_persons(table.class_of_row, person)
    f_k = np.bincount(class_, minlength=table.n_classes).astype(np.int64)
    F_k = f_k.astype(float)
    if of_person is not None and not table.has_gaps:
        F_k = sums_by_group(class_, of_person[who], table.n_classes).rounded
    if table.has_gaps:
        rows = table.codes[class_], who
        f_k = compatible_persons(table.codes, *rows)
        F_k = f_k.astype(float) if of_person is None else compatible_persons(table.codes, *rows, of_person)
    if of_person is None:
        of_person = np.ones(persons)
    return replace(table, f_k=f_k, F_k=F_k, person_of_row=person, weight_of_person=of_person)


def _checked_weights(frame: pd.DataFrame, spec: KeySpec) -> np.ndarray | None:
    if spec.weight is None:
        return None
    column = frame[spec.weight]
    number = np.full(len(column), holds_numbers(column))
    if column.dtype == object:
        decimal = column.map(lambda value: isinstance(value, Decimal)).to_numpy(dtype=bool)
        number = column.map(is_number).to_numpy(dtype=bool) | decimal | column.isna().to_numpy()
    if not number.any() and pd.api.types.is_string_dtype(column.dropna()):
        _refuse_texts(column)
    _refuse(~number, frame.index, spec.weight, "a weight that is not a number", _MEND)
    weights = column.to_numpy(dtype=float, na_value=np.nan)
    _refuse(np.isnan(weights), frame.index, spec.weight, "a missing weight", _MEND)
    _refuse(np.isinf(weights), frame.index, spec.weight, "an infinite weight", _MEND)
    _refuse(weights <= 0, frame.index, spec.weight, "a weight that is not above 0", _MEND)
    with np.errstate(over="ignore"):
        most = weights.sum() * len(weights)
    if np.isinf(most):  # the sum over records of F_k would be infinite too
        largest = weights == weights.max()
        _refuse(largest, frame.index, spec.weight, "a weight too large to be added up", "correct it")
    return weights


def _refuse_texts(column: pd.Series) -> None:
    """Raise a `DataError` that names the texts in a column of weights that are not numbers."""
    texts = column.astype("str").str.strip()
    bad = column.notna().to_numpy() & ~np.isfinite(pd.to_numeric(texts, errors="coerce").to_numpy(dtype=float))
    fault, remedy = "a weight that is not a number", _MEND
    if bad.any() and texts[bad].str.fullmatch(r"[-+]?\d[\d.,_' ]*").all():
        fault, remedy = "a weight with other signs than digits and one decimal point", "write it like 1234.5"
    elif (others := bad & no_numbers(texts)).any():  # rather than those with a decimal comma
        bad = others
    _refuse(bad, column.index, column.name, fault, remedy)
    raise DataError(
        f"column {shortened(str(column.name))} is text, though every weight in it is a number; write each "
        "number in one way only, without leading zeros, a plus or signs between thousands, or convert the column"
    )


def _refuse(rows: np.ndarray, index: pd.Index, column: object, fault: str, remedy: str) -> None:
    if rows.any():
        raise DataError(f"{rows_named(rows, index)}: {fault} in column {shortened(str(column))}; {remedy}")
