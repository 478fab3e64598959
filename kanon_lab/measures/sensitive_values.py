"""Sensitive values in each class: l-diversity, t-closeness and their kin."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from kanon_lab.arguments import check_choice
from kanon_lab.classes import ClassTable, ValueCounts
from kanon_lab.columns import distinct, from_labels, grouped, refuse, refuse_texts
from kanon_lab.errors import OptionError
from kanon_lab.measures.class_values import (
    DISTANCES,
    LAST_DIGITS,
    ClassValues,
    Hierarchy,
    distinct_l,
    equal_distance,
    hierarchical_distance,
    largest_share,
    ordered_distance,
)
from kanon_lab.measures.inference import Guesses, guesses_of
from kanon_lab.measures.registry import MEASURES as ROWS
from kanon_lab.measures.registry import measures

if TYPE_CHECKING:
    from kanon_lab import rules


@dataclass(frozen=True)
class Bands:
    """Bands of a numeric variable that make a sensitive variable with few values of it.

    The edges are two or more, rising; None as the first or last leaves that side open. `closed`, left or right, is the
    edge that belongs to a band: 0, 10, 20 are [0, 10) and [10, 20), or (0, 10] and (10, 20].

    Examples
    --------
    >>> kanon_lab.measures.Bands([0, 10, None], closed="left").labels
    ('[0, 10)', '>= 10')
    """

    edges: Sequence[float | None]
    closed: str
    _rule: rules.Bands = field(init=False, repr=False, compare=False)

    def __post_init__(self):
        from kanon_lab import rules

        object.__setattr__(self, "edges", tuple(self.edges))
        object.__setattr__(self, "_rule", rules.Bands.of(self.edges, self.closed, False, None, "bands"))

    @property
    def labels(self) -> tuple[str, ...]:
        """The bands as intervals, such as ``[0, 10)`` or ``>= 10``, in rising order."""
        return self._rule.names

    def cut(self, column: pd.Series) -> pd.Series:
        """The band of each number as an ordered categorical; missing values stay missing."""
        from kanon_lab import rules

        rule, (codes, values) = self._rule, distinct(column)
        labels = rule.labels(values)
        uncovered = np.isin(codes, [i for i, label in enumerate(labels) if label is None])
        if any(isinstance(value, str) for value in values):
            refuse_texts(uncovered, column, fault=rules.TEXT_IN_BANDS)
        refuse(uncovered, column.index, column.name, rule.uncovered)
        return from_labels(labels, codes, column).astype(pd.CategoricalDtype(list(rule.names), ordered=True))


#: Measure -> whether more of it protects better; the file has the least of such a measure, and the most of the others.
MEASURES = {row.name: row.least for row in measures(taken_from="values")}


@dataclass(frozen=True)
class Diversity:
    """Diversity of one sensitive variable.

    Attributes
    ----------
    distance, missing : str
        Between values, for ``t_closeness``; and the policy for missing values.
    values : Index
        The distinct values, in the order of the ordered distance.
    classes : DataFrame
        One row a class, in the order of the class table: ``records`` (of the class itself), ``known`` (records with a
        known value, under ``wildcard`` all compatible ones), then the `MEASURES`, missing where nothing is known.
    file : dict of str to float or None
        For each of the `MEASURES` its worst value over the classes; None where no class has one.
    """

    variable: str
    recursive_c: float
    distance: str
    missing: str
    values: pd.Index
    classes: pd.DataFrame
    file: dict[str, float | None]

    def failing(self, **required: float) -> pd.DataFrame:
        """The classes that miss a requirement: rows of `classes`.

        Requirements have the names of `MEASURES`: a minimum of ``distinct``, ``entropy``, ``recursive``, a maximum of
        the others (``delta_disclosure`` must stay below its own). A class without a known value misses nothing.

        Examples
        --------
        >>> frame = pd.DataFrame({"age": [30, 30, 41, 41, 41], "illness": ["flu", "none", "none", "none", "none"]})
        >>> table = kanon_lab.class_table(frame, kanon_lab.KeySpec("age", sensitive_variables="illness"))
        >>> int(kanon_lab.measures.diversity(table, "illness").failing(distinct=2)["records"].sum())
        3
        """
        if not required:
            raise OptionError(f"nothing is required: name one of {', '.join(MEASURES)}")
        missed = np.zeros(len(self.classes), dtype=bool)
        for name, bound in required.items():
            if name not in MEASURES:
                raise OptionError(f"{name!r} is not a measure of diversity: choose one of {', '.join(MEASURES)}")
            if isinstance(bound, bool) or not isinstance(bound, (int, float, np.number)) or np.isnan(bound):
                raise OptionError(f"{name}: what is required must be a number, not {bound!r}")
            measured = self.classes[name].to_numpy(dtype=float, na_value=np.nan)
            if name == "delta_disclosure":
                missed |= measured >= bound
            elif MEASURES[name]:
                missed |= measured < bound * (1 - LAST_DIGITS)
            else:
                missed |= measured > bound * (1 + LAST_DIGITS)
        return self.classes[missed]


@dataclass(frozen=True)
class PSensitivity:
    """p-sensitive k-anonymity of a file: p is the smallest number of distinct values in any class, of any variable."""

    k_achieved: int
    p_achieved: int
    by_variable: dict[str, int]


@dataclass(frozen=True)
class AlphaK:
    """(alpha, k)-anonymity of a file; alpha is the largest share in any class of any value, or of a chosen value."""

    k_achieved: int
    alpha: float


def diversity(
    table: ClassTable,
    variable: str | pd.Series,
    *,
    recursive_c: float = 2.0,
    distance: str = "equal",
    hierarchy: Hierarchy | None = None,
    bands: Bands | None = None,
) -> Diversity:
    """Measure the diversity of a sensitive variable in every class and in the file.

    Parameters
    ----------
    variable : str or Series
        A sensitive or numeric variable of the table's spec, or a Series with one value a record.
    recursive_c : float
        The c of recursive (c, l)-diversity, above 0.
    distance : {"equal", "ordered", "hierarchical"}
        Distance between values for t-closeness; see `DISTANCES`. Ordered: numbers by size, then text by its letters;
        bands and ordered categoricals by their own order.
    hierarchy : Hierarchy, optional
        Of the sensitive variable, for the hierarchical distance.
    bands : Bands, optional
        Bands to put a numeric variable into first.

    Notes
    -----
    A missing value adds no diversity under the policy ``wildcard`` and is a value under ``category``. The shares of the
    file count every record once, without weights.

    With p the share of a value in the class and q its share in the file:

    - ``distinct``: how many values it has (Li, Li and Venkatasubramanian 2007).
    - ``entropy``: exp(-sum p ln p); from 1 to ``distinct`` (Machanavajjhala et al. 2007).
    - ``recursive``: the largest l with r_1 < c (r_l + ... + r_m), where r are the frequencies from the largest on; 0
      where not even l = 1 holds, which takes a c of at most 1 (the same).
    - ``alpha``: the largest p (Wong et al. 2006).
    - ``t_closeness``: the distance between p and q, 0-1 (Li, Li and Venkatasubramanian 2007).
    - ``delta_disclosure``: the largest abs(ln(p / q)), infinite where a value is lacking (Brickell and Shmatikov 2008).
    - ``beta_likeness``: the largest gain (p - q) / q; ``enhanced_beta_likeness``: the same, but infinite where a gain
      exceeds -ln q (Cao and Karras 2012).

    Of the file only, not of a class: ``inferred`` and ``inferred_own``, see `guesses_of`.

    Examples
    --------
    >>> frame = pd.DataFrame({"age": [30, 30, 41, 41], "illness": ["flu", "none", "none", "none"]})
    >>> table = kanon_lab.class_table(frame, kanon_lab.KeySpec("age", sensitive_variables="illness"))
    >>> illness = kanon_lab.measures.diversity(table, "illness")
    >>> illness.classes["distinct"].tolist(), illness.file["distinct"], illness.file["t_closeness"]
    ([2, 1], 1, 0.25)
    """
    check_choice(distance, "distance", DISTANCES)
    if (hierarchy is not None) != (distance == "hierarchical"):
        raise OptionError("a hierarchy and the distance hierarchical go together: give both or neither")
    column = table.column(variable)
    if bands is not None:
        column = bands.cut(column)
    counts, number = _distributions(_counts_in_order(table, column))
    between: Callable[[ValueCounts], np.ndarray] = ordered_distance if distance == "ordered" else equal_distance
    if hierarchy is not None:
        first_rows = column.drop_duplicates()
        for level in range(1, hierarchy.height + 1):
            hierarchy.recode(first_rows, level)  # where it lacks a value, this names the first row that has it
        between = partial(hierarchical_distance, hierarchy=hierarchy)
    values = ClassValues(counts, recursive_c, between)
    file: dict[str, float | None] = {}
    columns: dict[str, Any] = {"records": table.records, "known": np.append(counts.known, 0)[number]}
    for row in measures(taken_from="values"):
        numbers = row.of(values)
        file[row.name] = _worst(row.name, numbers)
        columns[row.name] = (pd.array(numbers, dtype="Int64") if row.unit == "values" else numbers).take(number)
    classes = pd.DataFrame(columns, copy=False)
    file |= inferred(guesses_of(table, column))
    return Diversity(str(column.name), recursive_c, distance, table.spec.missing, counts.values, classes, file)


def inferred(guesses: Guesses) -> dict[str, float | None]:
    """The measures of guesses by name."""
    return {row.name: row.of(guesses) for row in measures(taken_from="guesses")}


def worst_values(counts: ValueCounts, *, recursive_c: float = 2.0) -> dict[str, float | None]:
    """For each of the `MEASURES` its worst value over classes of which only the counts of values are known.

    Values are at equal distances.
    """
    values = ClassValues(_distributions(counts)[0], recursive_c, equal_distance)
    return {row.name: _worst(row.name, row.of(values)) for row in measures(taken_from="values")}


def p_sensitivity(table: ClassTable, variables: Iterable[str] | str | None = None) -> PSensitivity:
    """The p and the k for which a file is p-sensitive k-anonymous (Truta and Vinay 2006).

    The variables are by default the sensitive ones of the spec. A class in which no value is known does not count.

    Examples
    --------
    >>> frame = pd.DataFrame({"age": [30, 30, 41, 41], "illness": ["flu", "none", "none", "none"]})
    >>> table = kanon_lab.class_table(frame, kanon_lab.KeySpec("age", sensitive_variables="illness"))
    >>> kanon_lab.measures.p_sensitivity(table)
    PSensitivity(k_achieved=2, p_achieved=1, by_variable={'illness': 1})
    """
    variables = (variables,) if isinstance(variables, str) else variables or table.spec.sensitive_variables
    by_variable: Any = {name: _worst("distinct", distinct_l(table.sensitive_counts(name))) for name in variables}
    if not by_variable:
        raise OptionError("no sensitive variable: name at least one")
    return PSensitivity(table.k_achieved, min(by_variable.values()), by_variable)


def alpha_k(table: ClassTable, variable: str | pd.Series, *, value: object = None) -> AlphaK:
    """The alpha and the k for which a file is (alpha, k)-anonymous (Wong et al. 2006).

    The variable is as in `diversity`; `value` is the only sensitive value that matters, by default all do. A class in
    which no value is known does not count.

    Examples
    --------
    >>> frame = pd.DataFrame({"age": [30, 30, 41, 41], "illness": ["flu", "none", "none", "none"]})
    >>> table = kanon_lab.class_table(frame, kanon_lab.KeySpec("age", sensitive_variables="illness"))
    >>> kanon_lab.measures.alpha_k(table, "illness", value="flu")
    AlphaK(k_achieved=2, alpha=0.5)
    """
    counts = table.sensitive_counts(variable)
    position = None
    if value is not None:
        position = next((i for i, label in enumerate(counts.values) if label == value), None)
        if position is None:
            raise OptionError("no record has that value in the sensitive variable; check how it is written")
    alpha: Any = _worst("alpha", largest_share(counts, position=position))
    return AlphaK(table.k_achieved, alpha)


def _counts_in_order(table: ClassTable, column: pd.Series) -> ValueCounts:
    """The counts of a variable, its values in the order of its categories if they have one."""
    counts = table.sensitive_counts(column)
    if not (isinstance(column.dtype, pd.CategoricalDtype) and column.dtype.ordered):
        return counts
    place = column.cat.categories.get_indexer(counts.values)
    # A missing value that counts as one stays the last.
    order = np.argsort(np.where(place < 0, len(column.cat.categories), place), kind="stable")
    value = np.argsort(order)[counts.value]
    rows = np.lexsort((value, counts.class_))
    return replace(
        counts,
        values=counts.values[order],
        class_=counts.class_[rows],
        value=value[rows],
        count=counts.count[rows],
        overall=counts.overall[order],
    )


#: Most values of a class, and records of each, for which classes with the same counts are looked for.
_FEW_VALUES, _FEW_RECORDS = 3, 15


def _distributions(counts: ValueCounts) -> tuple[ValueCounts, np.ndarray]:
    """Counts with one class for all classes that have equal counts, and the number of that class for each class.

    A class in which nothing is known has the number -1: the last class, which has no counts. Only classes of one to
    three values of few records are merged: with many keys, millions of them have a few hundred different counts.
    """
    m, start = len(counts.values), counts.start
    length = np.diff(start, append=len(counts.class_))
    # The values and their counts as the digits of a number; no digit is 0. Digits and class must fit 63 bits.
    base = (_FEW_RECORDS + 1) * m
    most = _FEW_VALUES if base**_FEW_VALUES <= 2**62 else 0
    digit = counts.count * m
    digit += counts.value
    same = digit[start]
    alone = (length > most) | (same >= base)
    for place in range(1, most):
        longer = np.flatnonzero(length > place)
        further = digit[start[longer] + place]
        alone[longer] |= further >= base
        same[longer] += further * base**place
    same[alone] = base**most + np.arange(np.count_nonzero(alone))
    group, different = grouped(same, base**most + len(same))
    rows = np.empty(len(different), dtype=np.intp)
    rows[group] = np.arange(len(start))
    number = np.full(counts.n_classes, -1, dtype=np.intp)
    number[counts.class_[start]] = group
    class_ = np.repeat(np.arange(len(rows)), length[rows])
    first = np.concatenate([[0], np.cumsum(length[rows])[:-1]]) if len(rows) else start
    at = np.arange(len(class_)) + (start[rows] - first)[class_]
    reduced = replace(counts, class_=class_, value=counts.value[at], count=counts.count[at], n_classes=len(rows) + 1)
    return reduced, number


def _worst(measure: str, numbers: np.ndarray) -> float | None:
    """The least or most over the classes in which something is known."""
    numbers = numbers[~np.isnan(numbers)]
    if not len(numbers):
        return None
    worst = numbers.min() if MEASURES[measure] else numbers.max()
    return int(worst) if ROWS[measure].unit == "values" else float(worst)
