"""A state of a file beside the file as it came: what differs, what is true behind it, its risk and its losses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab.classes import ClassTable
from kanon_lab.classes.counts import Counts, table_of_rows
from kanon_lab.columns import as_text, coded, distinct, distinct_rows, named_columns, quantity
from kanon_lab.errors import DataError, KanonLabError
from kanon_lab.measures import (
    FileRisk,
    IndicatorSet,
    average_class_size,
    compare_indicators,
    discernibility,
    file_risk,
    granularity,
    indicator_loss,
    indicators,
    non_uniform_entropy,
    quantity_loss,
    record_linkage,
    records_above,
    table_distances,
    with_household_size,
)
from kanon_lab.methods.suppression_search import compatible_records
from kanon_lab.roles import KeySpec

#: What a step does to one column.
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
        return cls(codes, np.array([as_text(value) for value in values], dtype=object), values)


def joint_codes(one: pd.Series, other: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """Codes of two columns that are equal where the texts are; -1 where missing."""
    first, second = Texts.of(one), Texts.of(other)
    number = np.append(pd.factorize(np.concatenate([first.texts, second.texts]))[0], -1)
    return number[first.codes], number[np.where(second.codes < 0, -1, second.codes + len(first.texts))]


def same_values(one: pd.Series, other: pd.Series) -> np.ndarray:
    """Whether two columns, row by row, have the same value as text (34 and "34" do) or are both missing."""
    return np.equal(*joint_codes(one, other))


@dataclass(frozen=True)
class Changes:
    """By column the cells with another value, or none any more; and whether a record has one, or another place."""

    changed: dict[str, int]
    suppressed: dict[str, int]
    touched: np.ndarray = field(repr=False)


def changes(before: pd.DataFrame, after: pd.DataFrame) -> Changes:
    """Compare two states of a file by index labels; a column that is gone from the second lost all its values."""
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
            now = after[name].notna().to_numpy()
            gone, other = known & ~now, now & ~same_values(column, after[name])
        changed[name], suppressed[name] = int(other.sum()), int(gone.sum())
        touched = touched | other | gone
    return Changes(changed, suppressed, touched)


@dataclass(frozen=True)
class Truth:
    """What an outsider may know of some variables, told in the categories of the release."""

    #: In the order of the file as it came: values as they would be shown if nothing were suppressed or perturbed.
    values: Mapping[str, pd.Series] = field(repr=False)
    #: Columns that a step has perturbed.
    perturbed: frozenset[str] = frozenset()
    #: Those perturbed as quantities and not recoded since: who knows a true value looks for one that is near.
    blurred: frozenset[str] = frozenset()

    def beside(self, working: pd.DataFrame, names: Iterable[str]) -> tuple[np.ndarray, np.ndarray]:
        """Codes of variables as they truly are and as `working` shows them, each (n, variables); -1 where missing."""
        pairs = [joint_codes(self.values[name], working[name]) for name in names]
        known, shown = (np.column_stack([pair[side] for pair in pairs]).astype(np.int64) for side in (0, 1))
        return known, shown


def recoded_truth(true: pd.Series, before: pd.Series, after: pd.Series, rule: Rule | None) -> pd.Series:
    """True values after a step that does the same to equal values, or takes them away.

    True values that no record shows on both sides (`before`, `after`) become what the `rule` of the step makes of them;
    they stay as they are where there is none, or where it refuses them.
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
            made, of_shown = np.split(rule(beside).astype(object).to_numpy(), [sum(unseen)])
            # What the rule makes alike is shown alike: the mean of those beyond a limit is that of the released ones.
            as_shown = {each: became[text] for text, each in zip(was.texts, of_shown, strict=True) if text in became}
            values[unseen] = [as_shown.get(each, each) for each in made]
    released = [became.get(text, value) for text, value in zip(known.texts, values, strict=True)]
    cells = pd.Series([*released, None], dtype=object).array.take(known.codes)
    return pd.Series(cells, index=true.index, name=true.name)


def met_by(true: np.ndarray, shown: np.ndarray) -> np.ndarray:
    """For each record the released ones (`shown`) that its true codes are compatible with; both (n, variables)."""
    group, some = distinct_rows(shown)
    target, of_target = distinct_rows(true)
    return compatible_records(true[of_target], shown[some], np.bincount(group))[target]


#: What `kanon_lab.measures.indicator_loss` gives.
INDICATOR_LOSSES = ("compared", "lost", "overlap_all", "overlap_mean", "overlap_least", "covered")
# Records that are linked by their quantities, at most; more are chosen at equal steps.
_MOST_LINKED = 20_000

_COUNTED = ("classes", "k_achieved", "sample_uniques")
_UTILITY = (
    *("equal_cells", "known_cells", "distinct_values", "granularity", "non_uniform_entropy", "discernibility"),
    *("average_class_size", "table_distance", "il1s", "eigenvalues", "correlations", "numeric_lost", "indicators"),
)


@dataclass(frozen=True)
class Measured:
    """The measures of one state of a file; shares and risks are 0-1."""

    #: Classes, or patterns, under the policy of the spec for missing values; so are `k_achieved` and the risk.
    classes: int
    k_achieved: int
    #: By what a missing key means, ``wildcard`` or ``category``, for each k the records with f_k below it.
    violations: dict[str, dict[int, int]]
    estimator: str
    #: Mean and sum over records of the individual risk, by `estimator`.
    global_risk: float
    expected_reidentifications: float
    #: Mean over records of their household's risk; its sum over households, and over records. None without households.
    household_risk: float | None
    expected_household_reidentifications: float | None
    expected_persons_in_reidentified_households: float | None
    #: For each threshold of individual risk the records above it.
    above: dict[float, int]
    #: By what a missing key means: ``expected_reidentifications`` and ``above``. A value that may be any other makes a
    #: record look safer than a value of its own does. None for both where the weights of a class would add up to less
    #: than its records.
    by_meaning: dict[str, dict]
    #: ``classes``, ``k_achieved`` and ``sample_uniques`` for an outsider who counts the members of each household
    #: (`kanon_lab.measures.with_household_size`); None without households, or where their identifier is not released.
    with_household_size: dict[str, int] | None
    #: Expected share of records linked to their own released record by an outsider who knows all their true keys and
    #: looks for the same; see `right_links`. Unlike k and the risks above it does not take a perturbed key for true. It
    #: is no upper bound: who also knows how keys were perturbed finds more. None where a released key was perturbed as
    #: a quantity and not recoded since: nobody looks for the same number then.
    key_linkage: float | None
    #: The same of one who knows the true quantities and looks for the nearest (`kanon_lab.measures.record_linkage`, by
    #: standardised or Mahalanobis distance, whichever finds more), in up to 20,000 records at equal steps; None without
    #: numeric variables, as the other measures of quantities.
    numeric_linkage: float | None
    #: Share of all key cells that are as in the original, and that have a value.
    equal_cells: float
    known_cells: float
    #: By key variable, its different values; 0 for one that was removed.
    distinct_values: dict[str, int]
    #: Mean loss of the keys; one that is not released has lost everything. None where a released key is perturbed: then
    #: nearly every value may stand for any, however seldom.
    granularity: float | None
    #: The same; None where one was perturbed as a quantity: with noise, hardly two records share a value.
    non_uniform_entropy: float | None
    discernibility: int
    average_class_size: float
    #: Mean Hellinger distance of the one- and two-way tables of released keys and sensitive variables that are no
    #: quantities, from those that recoding alone would have left.
    table_distance: float
    #: See `kanon_lab.measures.quantity_loss`; of the numeric variables that are still numbers.
    il1s: float | None
    eigenvalues: float | None
    correlations: float | None
    #: Numeric variables that are not: removed, or recoded to bands.
    numeric_lost: int | None
    #: The survey's own indicators beside those of the file as it came: see `kanon_lab.measures.indicator_loss`.
    indicators: dict | None

    def to_dict(self) -> dict:
        """``violations``, ``risk`` and ``utility``, each a dict, as ``kanon-lab protect --json`` prints them."""
        plain = {each.name: getattr(self, each.name) for each in fields(self)}
        utility = {name: plain.pop(name) for name in _UTILITY}
        return {"violations": plain.pop("violations"), "risk": plain, "utility": utility}

    def row(self) -> dict:
        """The measures with one name each: ``violations_3_wildcard``, ``above_0.05_category``, ``distinct_sex``."""
        flat: dict[str, Any] = {}
        for name in (each.name for each in fields(self)):
            value = getattr(self, name)
            if name == "violations":
                flat |= {f"violations_{k}_{means}": n for means, counts in value.items() for k, n in counts.items()}
            elif name == "by_meaning":
                for means, risk in value.items():
                    flat[f"expected_reidentifications_{means}"] = risk["expected_reidentifications"]
                    above = risk["above"] or {}
                    flat |= {f"above_{each}_{means}": above.get(each) for each in self.above}
            elif name == "with_household_size":
                flat |= {f"{name}_{part}": None if value is None else value[part] for part in _COUNTED}
            elif name == "indicators":
                flat |= {f"{name}_{part}": None if value is None else value[part] for part in INDICATOR_LOSSES}
            elif isinstance(value, dict):
                flat |= {f"{name.removesuffix('_values')}_{part}": n for part, n in value.items()}
            else:
                flat[name] = value
        return flat


@dataclass(frozen=True)
class Baseline:
    """A file as it came, and what its states are measured by."""

    original: pd.DataFrame = field(repr=False)
    spec: KeySpec
    #: What is measured of each state; see `kanon_lab.recipes.protect`.
    k: tuple[int, ...]
    risks: tuple[float, ...]
    estimator: str
    #: The survey's own, and their estimates in the file as it came.
    indicators: IndicatorSet | None = field(repr=False)
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
        now = indicators(released, self.indicators, design_from=design, absent="skip")
        return compare_indicators(self.estimates, now)

    def measured(self, working: pd.DataFrame, removed: tuple[str, ...], truth: Truth) -> Measured:
        """Measure a state of the file of which some columns are not released (`removed`)."""
        original, every = self.original, self.spec.key_variables
        spec = without_variables(self.spec, removed)
        names = list(spec.key_variables)
        aligned = working if working.index is original.index else working.loc[original.index]
        released = aligned.drop(columns=list(removed))
        tracked = [*names, *(name for name in spec.sensitive_variables if name in released)]
        true, shown = truth.beside(aligned, tracked)
        tabled = [place for place, name in enumerate(tracked) if name not in spec.numeric_variables]
        blurred = not truth.blurred.isdisjoint(names)
        losses = {
            measure: np.mean([measure(original[name], aligned[name]) if name in names else 1.0 for name in every])
            for measure in (granularity, non_uniform_entropy)
        }
        equal = [same_values(original[name], aligned[name]).mean() if name in names else 0.0 for name in every]
        known = [aligned[name].notna().mean() if name in names else 0.0 for name in every]
        return Measured(
            **self.of_classes(working, spec, removed),
            key_linkage=None if blurred else right_links(true[:, : len(names)], shown[:, : len(names)]),
            equal_cells=float(sum(equal) / len(every)),
            known_cells=float(sum(known) / len(every)),
            distinct_values={name: int(aligned[name].nunique()) if name in names else 0 for name in every},
            granularity=float(losses[granularity]) if truth.perturbed.isdisjoint(names) else None,
            non_uniform_entropy=None if blurred else float(losses[non_uniform_entropy]),
            table_distance=table_loss(true[:, tabled], shown[:, tabled], [tracked[place] for place in tabled]),
            **quantity_measures(original, released, spec.numeric_variables),
            indicators=None if self.indicators is None else indicator_loss(self.compared(released)),
        )

    def of_classes(
        self, working: pd.DataFrame, spec: KeySpec, removed: tuple[str, ...], counts: Counts | None = None
    ) -> dict[str, Any]:
        """Those measures that need the classes of a file only, by the roles of what is released."""
        table = table_of_rows(working, spec, counts)
        gaps = working[list(spec.key_variables)].isna().any(axis=None)
        tables = {
            means: table_of_rows(working, replace(spec, missing=means), counts)
            if gaps and means != spec.missing
            else table
            for means in ("wildcard", "category")
        }
        risk = file_risk(table, estimator=self.estimator)
        counted = spec.household is not None and spec.household not in removed
        return {
            "classes": table.n_classes,
            "k_achieved": table.k_achieved,
            "violations": {means: each.violations(self.k) for means, each in tables.items()},
            "estimator": self.estimator,
            "global_risk": risk.global_risk,
            "expected_reidentifications": risk.expected_reidentifications,
            "household_risk": risk.household_risk,
            "expected_household_reidentifications": risk.expected_household_reidentifications,
            "expected_persons_in_reidentified_households": risk.expected_persons_in_reidentified_households,
            "above": self._above(table, risk),
            "by_meaning": {m: self._risk(each, risk if each is table else None) for m, each in tables.items()},
            "with_household_size": with_household_size(table) if counted else None,
            "discernibility": discernibility(table),
            "average_class_size": average_class_size(table),
        }

    def _risk(self, table: ClassTable, risk: FileRisk | None) -> dict:
        """What is given under each meaning of a missing key."""
        try:
            risk = risk or file_risk(table, estimator=self.estimator)
        except DataError:  # light weights, which only this meaning leaves in a class of their own
            return {"expected_reidentifications": None, "above": None}
        return {"expected_reidentifications": risk.expected_reidentifications, "above": self._above(table, risk)}

    def _above(self, table: ClassTable, risk: FileRisk) -> dict[float, int]:
        return {
            each: records_above(risk.of_class, threshold=each, records=table.records).records for each in self.risks
        }


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
    """Expected share (0-1) of records that are linked to their own released record by who knows all their true keys.

    The outsider looks for the released records that are compatible with the true keys, a missing value on either side
    being any, and chooses one of them at random; where none is compatible, none is chosen. Who knows also how keys were
    perturbed, and takes the likeliest record, finds more.
    """
    own = ((known == shown) | (known < 0) | (shown < 0)).all(axis=1)
    return float((own / np.maximum(met_by(known, shown), 1)).mean())


def table_loss(true: np.ndarray, shown: np.ndarray, names: list[str]) -> float:
    """Mean Hellinger distance (0-1) of all one- and two-way tables, beyond what recoding did; 0 without variables."""
    if np.array_equal(true, shown):
        return 0.0
    frames = (pd.DataFrame(np.where(side < 0, np.nan, side), columns=names) for side in (true, shown))
    return float(table_distances(*frames, variables=names)["hellinger"].mean())


def quantity_measures(original: pd.DataFrame, released: pd.DataFrame, names: tuple[str, ...]) -> dict[str, Any]:
    """Right links by distance, and what was lost, of the quantities that are still released as numbers."""
    kept = [name for name in names if name in released and _is_quantity(released[name])]
    nothing = dict.fromkeys(["numeric_linkage", "il1s", "eigenvalues", "correlations"])
    if not kept:
        return {**nothing, "numeric_lost": len(names) if names else None}
    loss = quantity_loss(original, released, variables=kept)
    rows = slice(None, None, -(-len(original) // _MOST_LINKED))
    scales = ("sd", "mahalanobis") if len(kept) > 1 else ("sd",)
    links = [record_linkage(original, released, variables=kept, targets=rows, scale=each).share for each in scales]
    losses = {name: getattr(loss, name) for name in ("il1s", "eigenvalues", "correlations")}
    return {"numeric_linkage": max(links), **losses, "numeric_lost": len(names) - len(kept)}


def _is_quantity(column: pd.Series) -> bool:
    try:
        return bool(len(quantity(column).numbers))
    except DataError:  # bands and the like
        return False
