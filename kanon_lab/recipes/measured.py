"""A state of a file beside the file as it came: changed cells, the truth behind it, its risks and its losses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab import measures as room
from kanon_lab.classes.counts import Counts, records_in, table_of_rows
from kanon_lab.classes.persons import compatible_persons
from kanon_lab.columns import as_text, coded, distinct, distinct_rows, named_columns, quantity, stacked
from kanon_lab.errors import DataError, KanonLabError
from kanon_lab.measures.file_measures import ClassRisks
from kanon_lab.measures.registry import MEASURES, measures
from kanon_lab.memory import remembered, same_place
from kanon_lab.methods.suppression_search import compatible_records
from kanon_lab.roles import KeySpec

#: A step's recoding of one column.
Rule = Callable[[pd.Series], pd.Series]


@dataclass(frozen=True)
class Texts:
    """A column by its texts, so that 34 and "34" are one: codes (-1 missing) among `texts`, and the `values`."""

    codes: np.ndarray
    texts: np.ndarray
    values: pd.Index

    @classmethod
    def of(cls, column: pd.Series) -> Texts:
        """The values of a column."""
        if isinstance(column.dtype, pd.CategoricalDtype):
            known = coded(column)
            codes, values = known.codes.astype(np.intp), known.values
        else:
            codes, values = distinct(column)
        return cls(codes, remembered(_texts, column), values)


def _texts(column: pd.Series) -> np.ndarray:
    """The texts of a column's values, in the order of `Texts`."""
    is_category = isinstance(column.dtype, pd.CategoricalDtype)
    values = coded(column).values if is_category else distinct(column)[1]
    return np.array([as_text(value) for value in values], dtype=object)


def joint_codes(left: pd.Series, right: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """Codes of two columns that are equal where the texts are; -1 where missing."""
    first = Texts.of(left)
    if same_place(left, right):
        codes = np.append(pd.factorize(first.texts)[0], -1)[first.codes]
        return codes, codes
    second = Texts.of(right)
    number = np.append(pd.factorize(np.concatenate([first.texts, second.texts]))[0], -1)
    return number[first.codes], number[np.where(second.codes < 0, -1, second.codes + len(first.texts))]


def sharing(frame: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """A frame whose columns are the very ones of another, with the same index, where they are equal to these."""
    result = frame.copy(deep=False)
    for name, cells in named_columns(other):
        if name in result and cells.dtype == result[name].dtype and cells.equals(result[name]):
            result[name] = cells
    return result


def in_order_of(frame: pd.DataFrame, column: pd.Series) -> pd.Series:
    """A column of the same records in the order of a frame."""
    return column if column.index.equals(frame.index) else column.loc[frame.index]


def same_values(left: pd.Series, right: pd.Series) -> np.ndarray:
    """Whether two columns, row by row, have the same value as text (34 and "34" do) or are both missing."""
    return remembered(_same_values, left, right)


def _same_values(left: pd.Series, right: pd.Series) -> np.ndarray:
    return np.ones(len(left), dtype=bool) if same_place(left, right) else np.equal(*joint_codes(left, right))


def changed_cells(before: pd.Series, after: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """Whether each cell of a column has another value than before, and whether it has lost its value."""
    known, shown = before.notna().to_numpy(), after.notna().to_numpy()
    return shown & ~same_values(before, after), known & ~shown


@dataclass(frozen=True)
class Changes:
    """By column the cells that were changed or suppressed; and whether each record has one, or has moved."""

    changed: dict[str, int]
    suppressed: dict[str, int]
    touched: np.ndarray = field(repr=False)


def changes(before: pd.DataFrame, after: pd.DataFrame) -> Changes:
    """Compare two states of a file by index labels; a column that the second lacks has lost all its values."""
    touched = before.index != after.index
    if touched.any():
        after = after.loc[before.index]
    changed, suppressed = {}, {}
    for name, column in named_columns(before):
        known = column.notna().to_numpy()
        other, gone = np.zeros((2, len(known)), dtype=bool)
        if name not in after:
            gone = known
        elif column.dtype != after[name].dtype or not column.equals(after[name]):
            other, gone = changed_cells(column, after[name])
        changed[name], suppressed[name] = int(other.sum()), int(gone.sum())
        touched = touched | other | gone
    return Changes(changed, suppressed, touched)


@dataclass(frozen=True)
class Truth:
    """What an intruder may know of some variables, in the categories of the release."""

    #: In the order of the file as it came: the values as if nothing had been suppressed or perturbed.
    values: Mapping[str, pd.Series] = field(repr=False)
    #: Columns that a step has perturbed.
    perturbed: frozenset[str] = frozenset()
    #: Those perturbed as quantities and not recoded since: an intruder looks for values near the true one.
    blurred: frozenset[str] = frozenset()
    #: The population beside the file, as an intruder recodes it; None without one.
    population: room.Population | None = None

    def beside(self, working: pd.DataFrame, names: Iterable[str]) -> tuple[np.ndarray, np.ndarray]:
        """Codes of variables as they truly are and as `working` shows them, each (n, variables); -1 where missing."""
        pairs = [joint_codes(in_order_of(working, self.values[name]), working[name]) for name in names]
        if not pairs:
            return np.zeros((len(working), 0), dtype=np.int64), np.zeros((len(working), 0), dtype=np.int64)
        return stacked([known for known, _ in pairs]), stacked([shown for _, shown in pairs])

    def attacked(self, working: pd.DataFrame, names: Iterable[str]) -> tuple[np.ndarray, np.ndarray]:
        """The same, but where a perturbed variable is shown, its shown value counts as the true one, as k counts it."""
        names = list(names)
        known, shown = self.beside(working, names)
        if self.perturbed.isdisjoint(names):
            return known, shown
        untrue = np.array([name in self.perturbed for name in names], dtype=bool) & (shown >= 0)
        return np.where(untrue, shown, known), shown


def recoded_truth(true: pd.Series, before: pd.Series, after: pd.Series, rule: Rule | None) -> pd.Series:
    """True values after a step that does the same to equal values, or takes them away.

    A true value that no record shows both `before` and `after` is recoded by the `rule` of the step; it stays as it is
    without a rule, or if the rule refuses it.
    """
    was, now, known = Texts.of(before), Texts.of(after), Texts.of(true)
    both = (was.codes >= 0) & (now.codes >= 0)
    shown, first = np.unique(was.codes[both], return_index=True)
    became = dict(zip(was.texts[shown], now.values[now.codes[both][first]].astype(object), strict=True))
    unseen = [text not in became for text in known.texts]
    values = known.values.astype(object).to_numpy(copy=True)
    if rule is not None and any(unseen):
        # Beside those shown, on which it may depend how values are told: [30, 40) where not all are whole.
        beside = pd.Series([*known.values[unseen], *was.values], name=true.name)
        with suppress(KanonLabError):
            of_unseen, of_shown = np.split(rule(beside).astype(object).to_numpy(), [sum(unseen)])
            # What the rule makes alike is shown alike: the mean of those beyond a limit is that of the released ones.
            as_shown = {value: became[text] for text, value in zip(was.texts, of_shown, strict=True) if text in became}
            values[unseen] = [as_shown.get(value, value) for value in of_unseen]
    released = [became.get(text, value) for text, value in zip(known.texts, values, strict=True)]
    cells = pd.Series([*released, None], dtype=object).array.take(known.codes)
    return pd.Series(cells, index=true.index, name=true.name)


def met_by(true: np.ndarray, shown: np.ndarray, person: np.ndarray | None = None) -> np.ndarray:
    """For each record the released ones (`shown`) that its true codes are compatible with; both (n, variables).

    With the number of each record's `person`, the different persons of these.
    """
    if person is not None:
        return compatible_persons(true, shown, person)
    group, some = distinct_rows(shown)
    target, of_target = (group, some) if np.array_equal(true, shown) else distinct_rows(true)
    return compatible_records(true[of_target], shown[some], np.bincount(group))[target]


# What a missing key may mean where both meanings are measured.
_MEANINGS = ("wildcard", "category")
# Records that are linked by their quantities, at most; more are chosen at equal steps.
_MOST_LINKED = 20_000


@dataclass(frozen=True)
class Measured:
    """The measures of one state of a file; shares and risks are 0-1.

    Attributes
    ----------
    values : dict of str to object
        The measures of `kanon_lab.measures.registry` for states; None if not defined, or not known from counts.
    estimator : str
        Of the individual risk.
    levels : dict of str to tuple
        Levels of families of measures: ``k``, ``risks`` and ``keys``.
    """

    values: dict[str, Any]
    estimator: str
    levels: dict[str, tuple]

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def family(self, name: str) -> dict[Any, Any]:
        """The measures of a family by their levels."""
        return {level: self.values[MEASURES[name].at(level).name] for level in self.levels[MEASURES[name].levels]}

    @property
    def k_achieved(self) -> int:
        """The largest k for which the file is k-anonymous under the meaning of missing keys that it has."""
        return self.values["k_achieved"]

    @property
    def violations(self) -> dict[str, dict[int, int]]:
        """For each meaning of a missing key, ``wildcard`` and ``category``, and k, the records with f_k below k."""
        return {missing: self.family(f"violations_#_{missing}") for missing in _MEANINGS}

    @property
    def above(self) -> dict[float, int]:
        """For each level of individual risk the records above it."""
        return self.family("above_#")

    @property
    def by_meaning(self) -> dict[str, dict]:
        """For each meaning of a missing key: ``expected_reidentifications`` and ``above``.

        A missing value that may be any value makes a record look safer than one that is a value of its own. Both are
        None if the weights of a class add up to less than its records.
        """
        expected = {missing: self[f"expected_reidentifications_{missing}"] for missing in _MEANINGS}
        return {
            missing: {
                "expected_reidentifications": value,
                "above": None if value is None else self.family(f"above_#_{missing}"),
            }
            for missing, value in expected.items()
        }

    @property
    def with_household_size(self) -> dict[str, int] | None:
        """See `kanon_lab.measures.with_household_size`; None unless the identifier of the household is released."""
        return self._whole("with_household_size")

    @property
    def distinct_values(self) -> dict[str, int]:
        """By key variable its different values; 0 for one that was removed."""
        return self.family("distinct_#")

    @property
    def indicators(self) -> dict | None:
        """The survey's own indicators beside those of the file as it came: see `kanon_lab.measures.indicator_loss`."""
        return self._whole("indicators")

    @property
    def population(self) -> dict[str, Any] | None:
        """The measures that are taken in a known population, and ``below``: by k the records with fewer persons."""
        known = {row.name: self.values.get(row.name) for row in measures(part_of="population") if not row.levels}
        below = {k: self.values.get(MEASURES["k_map_below_#"].at(k).name) for k in self.levels["k"]}
        return None if known["k_map"] is None else {**known, "below": below}

    def _whole(self, name: str) -> dict | None:
        """The mapping of the measures that are part of it; None where they are not defined."""
        rows = [row for row in measures(shown="state", part_of=name) if row.name in self.values]
        parts = {row.name.removeprefix(f"{name}_"): self[row.name] for row in rows}
        return None if all(value is None for value in parts.values()) else parts

    def to_dict(self) -> dict:
        """``violations``, ``risk`` and ``utility``, each a dict, as ``kanon-lab protect --json`` prints them."""
        plain = [row for row in measures(shown="state") if row.is_plain]
        losses = {row.name: self[row.name] for row in plain if row.kind == "loss"}
        others = {row.name: self[row.name] for row in plain if row.kind != "loss"}
        levels = {name: getattr(self, name) for name in ("above", "by_meaning", "with_household_size")}
        return {
            "violations": self.violations,
            **({} if self.population is None else {"population": self.population}),
            "risk": {"estimator": self.estimator, **others, **levels},
            "utility": {**losses, "distinct_values": self.distinct_values, "indicators": self.indicators},
        }

    def row(self) -> dict:
        """The measures with one name each: ``violations_3_wildcard``, ``above_0.05_category``, ``distinct_sex``."""
        return {**self.values, "estimator": self.estimator}


@dataclass(frozen=True)
class Comparison:
    """A state of a file beside the file as it came: what the registry's measures of states are functions of."""

    original: pd.DataFrame = field(repr=False)
    #: The state in the order of the original, with the columns that are `removed`.
    aligned: pd.DataFrame = field(repr=False)
    removed: tuple[str, ...]
    spec: KeySpec
    truth: Truth = field(repr=False)
    indicators: dict | None = None
    #: How many records each row is; None where it is one. Of counts there is no original, and no order.
    counts: Counts | None = field(default=None, repr=False)

    @cached_property
    def released(self) -> pd.DataFrame:
        """The columns that are released."""
        return self.aligned.drop(columns=list(self.removed))

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The key variables that are released."""
        return tuple(name for name in self.spec.key_variables if name not in self.removed)

    @cached_property
    def tracked(self) -> tuple[str, ...]:
        """The released key and sensitive variables."""
        return (*self.keys, *(name for name in self.spec.sensitive_variables if name in self.released))

    @cached_property
    def codes(self) -> tuple[np.ndarray, np.ndarray]:
        """Codes of the tracked variables as they truly are and as they are shown."""
        return self.truth.beside(self.aligned, self.tracked)

    @property
    def is_blurred(self) -> bool:
        """Whether a released key was perturbed as a quantity, and not recoded since."""
        return not self.truth.blurred.isdisjoint(self.keys)

    def _mean(self, measured: Callable[[str], float], *, removed: float) -> float | None:
        """The mean over the key variables; one that is not released counts as `removed`. None without keys."""
        if not self.spec.key_variables:
            return None
        values = [measured(name) if name in self.keys else removed for name in self.spec.key_variables]
        return float(sum(values) / len(values))

    @property
    def key_linkage(self) -> float | None:
        """Expected share of records that an intruder with all their true keys links to their own: see `right_links`.

        Unlike k and the risks of classes it does not take a perturbed key as true. It is no upper bound: an intruder
        who knows how keys were perturbed finds more. None if `is_blurred`, since nobody looks for equal numbers then.
        """
        known, shown = (side[:, : len(self.keys)] for side in self.codes)
        return None if self.is_blurred else right_links(known, shown)

    @property
    def equal_cells(self) -> float | None:
        """Share of all key cells that are as in the original."""
        return self._mean(lambda name: same_values(self.original[name], self.aligned[name]).mean(), removed=0.0)

    @property
    def known_cells(self) -> float | None:
        """Share of all key cells that have a value."""
        n = len(self.aligned) if self.counts is None else int(self.counts.records.sum())
        known = {name: records_in(self.aligned[name].notna().to_numpy(), self.counts) / n for name in self.keys}
        return self._mean(known.__getitem__, removed=0.0)

    @cached_property
    def distinct_values(self) -> dict[str, int]:
        """By key variable its different values; 0 for one that was removed."""
        return {n: remembered(_different, self.aligned[n]) if n in self.keys else 0 for n in self.spec.key_variables}

    @property
    def granularity(self) -> float | None:
        """Mean loss of the keys; one that is not released has lost everything.

        None if a released key is perturbed: then nearly every value may be any other, however seldom.
        """
        if not self.truth.perturbed.isdisjoint(self.keys):
            return None
        return self._mean(lambda name: room.granularity(self.original[name], self.aligned[name]), removed=1.0)

    @property
    def non_uniform_entropy(self) -> float | None:
        """Mean loss of the keys; None if one was perturbed as a quantity: with noise, few records share a value."""
        if self.is_blurred:
            return None
        return self._mean(lambda name: room.non_uniform_entropy(self.original[name], self.aligned[name]), removed=1.0)

    @property
    def table_distance(self) -> float:
        """Mean Hellinger distance (0-1) of one- and two-way tables from those that recoding alone would have left.

        Of released keys and sensitive variables that are no quantities; 0 without variables.
        """
        tabled = [place for place, name in enumerate(self.tracked) if name not in self.spec.numeric_variables]
        true, shown = (side.T[tabled].T for side in self.codes)
        if np.array_equal(true, shown):
            return 0.0
        names = [self.tracked[place] for place in tabled]
        frames = (pd.DataFrame(np.where(side < 0, np.nan, side), columns=names) for side in (true, shown))
        return float(room.table_distances(*frames, variables=names)["hellinger"].mean())

    @cached_property
    def quantities(self) -> list[str]:
        """The numeric variables that are still released as numbers."""
        names = [name for name in self.spec.numeric_variables if name in self.released]
        return [name for name in names if _is_quantity(self.released[name])]

    @property
    def numeric_linkage(self) -> float | None:
        """Share of records that an intruder with their true quantities links to their own, as the nearest.

        See `kanon_lab.measures.record_linkage`: by standardised or Mahalanobis distance, whichever finds more, in up to
        20,000 records at equal steps. None without numbers, as for the other measures of quantities.
        """
        if not self.quantities:
            return None
        columns = [frame[name] for frame in (self.original, self.released) for name in self.quantities]
        scales = ("sd", "mahalanobis") if len(self.quantities) > 1 else ("sd",)
        return max(remembered(_linked_share, *columns, scale=scale) for scale in scales)

    @cached_property
    def quantity_loss(self) -> dict[str, float | None] | None:
        """See `kanon_lab.measures.quantity_loss`; of the numeric variables that are still numbers."""
        if not self.quantities:
            return None
        return vars(room.quantity_loss(self.original, self.released, variables=self.quantities))

    @property
    def numeric_lost(self) -> int | None:
        """Numeric variables that are not numbers any more: removed, or recoded to bands."""
        names = self.spec.numeric_variables
        return len(names) - len(self.quantities) if names else None


@dataclass(frozen=True)
class Baseline:
    """A file as it came, and how its states are measured."""

    original: pd.DataFrame = field(repr=False)
    spec: KeySpec
    #: What is measured of each state; see `kanon_lab.recipes.protect`.
    k: tuple[int, ...]
    risks: tuple[float, ...]
    estimator: str
    #: The survey's own, and their estimates in the file as it came.
    indicators: room.IndicatorSet | None = field(repr=False)
    estimates: pd.DataFrame | None = field(repr=False)

    def compared(self, released: pd.DataFrame) -> pd.DataFrame:
        """The indicators before any step and those of a released file, where it still has their variables.

        Strata and sampling units are those of the file as it came, since the users' values are judged, not what is left
        of the design. The weight is the released one, if there is one for every record.
        """
        assert self.indicators is not None and self.estimates is not None
        weight, design = self.indicators.design.weight, self.original
        if weight is not None and weight in released and released[weight].notna().all():
            design = design.assign(**{weight: released[weight]})
        now = room.indicators(released, self.indicators, design_from=design, absent="skip")
        return room.compare_indicators(self.estimates, now)

    def measured(
        self, working: pd.DataFrame, removed: tuple[str, ...], truth: Truth, counts: Counts | None = None
    ) -> Measured:
        """Measure a state of the file of which some columns are not released (`removed`).

        Of rows that stand for several records (`counts`), the measures that need records are None.
        """
        spec, aligned = without_variables(self.spec, removed), working
        if counts is not None:  # quantities are not counted
            spec = replace(spec, numeric_variables=())
        elif working.index is not self.original.index:
            aligned = sharing(working.loc[self.original.index], self.original)
        comparison = Comparison(self.original, aligned, removed, self.spec, truth, counts=counts)
        if self.indicators is not None:
            comparison = replace(comparison, indicators=room.indicator_loss(self.compared(comparison.released)))
        classes = ClassRisks(table_of_rows(working, spec, counts), self.estimator, truth.population)
        gaps = working[list(spec.key_variables)].isna().any(axis=None)
        by_meaning = {
            missing: ClassRisks(table_of_rows(working, replace(spec, missing=missing), counts), self.estimator)
            if gaps and missing != spec.missing
            else classes
            for missing in _MEANINGS
        }
        levels = {"k": self.k, "risks": self.risks, "keys": self.spec.key_variables}
        shows_households = spec.household is not None and spec.household not in removed
        values: dict[str, Any] = {}
        for row in measures(shown="state"):
            if row.needs == "population" and truth.population is None:
                continue
            source = comparison if row.taken_from == "states" else by_meaning.get(row.missing, classes)
            for level in levels[row.levels] if row.levels else [None]:
                value = None
                if (row.counted or counts is None) and (shows_households or not row.identifier):
                    with suppress(*([DataError] if row.missing else [])):  # light weights, which only this meaning has
                        value = row.of(source) if level is None else row.of(source, level)
                values[row.name if level is None else row.at(level).name] = value
        return Measured(values, self.estimator, levels)


def without_variables(spec: KeySpec, removed: Iterable[str]) -> KeySpec:
    """The roles that matter when these variables are not released: no key of them, and no direct identifiers.

    Weight, household and strata stay: they are used without being released.
    """
    gone = set(removed)
    keys = tuple(name for name in spec.key_variables if name not in gone)
    ghosts = {key: spec.ghost_variables[key] for key in keys if key in spec.ghost_variables}
    ghosts = {key: tuple(name for name in names if name not in gone) for key, names in ghosts.items()}
    return replace(spec, key_variables=keys, ghost_variables=ghosts, direct_identifiers=())


def right_links(known: np.ndarray, shown: np.ndarray) -> float:
    """Expected share (0-1) of records that an intruder with all their true keys links to their own released record.

    The intruder chooses one of the released records compatible with the true keys at random, if there is one; a missing
    value on either side may be any. One who knows how keys were perturbed, and takes the likeliest record, finds more.
    """
    own = ((known == shown) | (known < 0) | (shown < 0)).all(axis=1)
    return float((own / np.maximum(met_by(known, shown), 1)).mean())


def _different(column: pd.Series) -> int:
    return int(column.nunique())


def _linked_share(*columns: pd.Series, scale: str) -> float:
    """See `Comparison.numeric_linkage`; the columns as they came, and then as they are released."""
    number, rows = len(columns) // 2, slice(None, None, -(-len(columns[0]) // _MOST_LINKED))
    before, after = (pd.concat([*part], axis=1) for part in (columns[:number], columns[number:]))
    return room.record_linkage(before, after, scale=scale, targets=rows).share


def _is_quantity(column: pd.Series) -> bool:
    try:
        return bool(len(quantity(column).numbers))
    except DataError:  # bands and the like
        return False
