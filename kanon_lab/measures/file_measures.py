"""Measures of a whole file: its risk for several attackers, and all of anonymity, risk and diversity at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from kanon_lab.arguments import as_share, check_choice, check_positive
from kanon_lab.classes import ClassTable, class_table
from kanon_lab.errors import OptionError, shortened
from kanon_lab.measures.registry import above, measures
from kanon_lab.measures.risk import (
    FileRisk,
    file_risk,
    individual_risk,
    records_above,
    refuse_light_classes,
    with_household_size,
    with_path,
)
from kanon_lab.measures.sensitive_values import Bands, Diversity, diversity
from kanon_lab.roles import KeySpec, as_spec
from kanon_lab.terms import Note

if TYPE_CHECKING:
    from kanon_lab.measures.known_population import InPopulation, Population


@dataclass(frozen=True)
class ClassRisks:
    """The classes of a file, and what several measures of them share: what the registry's measures are functions of."""

    table: ClassTable
    estimator: str
    population: Population | None = None

    @cached_property
    def in_population(self) -> InPopulation | None:
        """The classes in the population; None without one, or where it cannot be counted in."""
        return None if self.population is None else self.population.beside(self.table)

    @cached_property
    def risk(self) -> FileRisk:
        """See `file_risk`."""
        return file_risk(self.table, estimator=self.estimator)

    @cached_property
    def with_household_size(self) -> dict[str, int] | None:
        """See `kanon_lab.measures.with_household_size`; None without a household."""
        return None if self.table.spec.household is None else with_household_size(self.table)


_ATTACKERS = {
    "prosecutor": "knows that the target is in the file: 1/f_k",
    "journalist": "picks any record of the file and looks for its person in the population: 1/F_k, mean over records",
    "marketer": "links every record of the file to a person of the population: share of the links that are right",
}


def attacker_risks(table: ClassTable, *, threshold: float = 0.2, estimator: str = "inverse") -> pd.DataFrame:
    """Risk of the file for three attackers who know different things.

    Parameters
    ----------
    table : ClassTable
        F_k from weights, or from a known population.
    threshold : float
        Records with a risk strictly above it are counted, 0-1.
    estimator : str
        Of the expected 1/F_k, one of `ESTIMATORS`; ``inverse`` takes F_k as known.

    Returns
    -------
    DataFrame
        Rows ``prosecutor``, ``journalist`` and ``marketer``; columns ``meaning``, ``highest`` and ``mean`` (risk, over
        records, 0-1), ``records_above`` and ``share_above`` (0-1). The marketer has no single target, so only a mean.

    Notes
    -----
    The marketer links each record of the file to one of the F_k persons of the population who share its key. The
    expected share of right links is the mean of 1/F_k over records (Dankar and El Emam 2010), as is the journalist's
    mean; El Emam and Dankar (2008) measure prosecutor and journalist by the highest risk only.

    Examples
    --------
    >>> frame = pd.DataFrame({"age": [30, 30, 41], "weight": [10, 15, 40]})
    >>> table = kanon_lab.class_table(frame, kanon_lab.KeySpec("age", weight="weight"))
    >>> kanon_lab.measures.attacker_risks(table)["highest"].tolist()
    [1.0, 0.04, nan]
    """
    threshold = as_share(threshold, "threshold")
    refuse_light_classes(table, table.f_k, table.F_k)
    journalist = individual_risk(table.f_k, table.F_k, estimator=estimator)
    rows: dict[str, tuple[Any, ...]] = {}
    for attacker, of_class in (("prosecutor", 1 / table.f_k), ("journalist", journalist)):
        risks, units = table.by_unit(of_class)
        risky = records_above(risks, threshold=threshold, records=units)
        mean = float((risks * units).sum()) / table.n_units
        rows[attacker] = (_ATTACKERS[attacker], of_class.max(), mean, risky.records, risky.share)
    rows["marketer"] = (_ATTACKERS["marketer"], np.nan, rows["journalist"][2], pd.NA, np.nan)
    columns = ["meaning", "highest", "mean", "records_above", "share_above"]
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    return frame.astype({"highest": float, "mean": float, "records_above": "Int64", "share_above": float})


UNWEIGHTED, _MOST_C = Note("unweighted"), 1_000_000
# Measures that may be infinite, and why.
_INFINITE = {
    "delta_disclosure": "some class lacks a value that the file has",
    "enhanced_beta_likeness": "some value is so much more frequent in a class than in the file that no beta allows it",
}


@dataclass(frozen=True)
class Measures:
    """The measures of a microdata file.

    Attributes
    ----------
    table : ClassTable
        The class table, with the roles of the variables (``table.spec``).
    violations, records_above : dict of int to int or dict of float to int
        By k the records with f_k below it, by threshold the records with a risk above it; persons, where the spec names
        one.
    with_household_size : dict of str to int or None
        See `kanon_lab.measures.with_household_size`; None without a household.
    values : dict of str to float or None
        By name, the measures of the registry that are one number; None where not defined.
    diversity : dict of str to Diversity
        By sensitive variable.
    notes : tuple of str
        What a reader of the numbers should know.
    population : dict of str to object or None
        The measures of the registry that are taken in a known population, and ``below``: by k the records whose key
        fewer persons have. None without one.
    """

    table: ClassTable
    violations: dict[int, int]
    risk: FileRisk
    records_above: dict[float, int]
    with_household_size: dict[str, int] | None
    values: dict[str, float | None]
    diversity: dict[str, Diversity]
    notes: tuple[str, ...]
    population: dict[str, Any] | None = None

    @property
    def k_achieved(self) -> int:
        """The largest k for which the file is k-anonymous."""
        return self.table.k_achieved

    def to_dict(self) -> dict:
        """The measures by name, in types that JSON has, as ``kanon-lab measure --json`` prints them.

        Where the spec names a ``person``, ``persons`` has their number and ``with_path`` what is known to an intruder
        who knows all records of one. ``own_class`` takes a missing key for a value; it is None unless keys are missing
        under ``wildcard``. An infinite measure of diversity is None.
        """
        spec, sizes, own_class, persons = self.table.spec, self.table.own_k, None, {}
        if spec.person is not None:
            persons = {"person": spec.person, "persons": self.table.n_units, "with_path": with_path(self.table)}
        if (sizes != self.table.f_k).any():
            below = {str(k): self.table.units_in(sizes < k) for k in self.violations}
            uniques = self.table.units_in(sizes == 1)
            own_class = {"k_achieved": int(sizes.min()), "sample_uniques": uniques, "violations": below}
        return {
            "n": self.table.n,
            "keys": list(spec.key_variables),
            "weight": spec.weight,
            "household": spec.household,
            **persons,
            "missing": spec.missing,
            "estimator": self.risk.estimator,
            **self.values,
            "violations": {str(k): records for k, records in self.violations.items()},
            "own_class": own_class,
            "records_above": {str(threshold): records for threshold, records in self.records_above.items()},
            "with_household_size": self.with_household_size,
            "diversity": {
                name: {measure: value if value is not None and np.isfinite(value) else None for measure, value in file}
                | {"recursive_c": variable.recursive_c, "distance": variable.distance}
                for name, variable in self.diversity.items()
                for file in [variable.file.items()]
            },
            **({} if self.population is None else {"population": self.population}),
            "notes": list(self.notes),
        }


def measure(
    data: pd.DataFrame | ClassTable,
    spec: KeySpec | Iterable[str] | str | None = None,
    *,
    k: Iterable[int] = (2, 3, 5),
    thresholds: Iterable[float] = (0.05,),
    estimator: str = "benedetti-franconi",
    recursive_c: float = 2.0,
    distance: str = "equal",
    bands: Mapping[str, Bands] | None = None,
    population: Population | None = None,
) -> Measures:
    """Measure the anonymity, the risk and the diversity of a microdata file.

    Parameters
    ----------
    data : DataFrame or ClassTable
        A frame with one row a record, or its class table, such as one made of counts.
    spec : KeySpec, iterable of str, or str, optional
        The roles of the variables of the frame, or the names of the key variables; a class table has its own.
    k : iterable of int
        Thresholds, from 1 on, for which to count the records with f_k below.
    thresholds : iterable of float
        Risks, 0-1, for which to count the records with a risk above.
    estimator : str
        Of the individual risk, one of `kanon_lab.measures.ESTIMATORS`; without a weight, all estimate the risk of a
        whole population.
    recursive_c : float
        The c of recursive (c, l)-diversity, above 0 and up to a million.
    distance : {"equal", "ordered"}
        Between values of a sensitive variable, for t-closeness. `kanon_lab.measures.diversity` takes a hierarchy.
    bands : mapping of str to Bands, optional
        For sensitive variables that are quantities, the bands to put them into first.
    population : Population, optional
        In which to count F_k too.

    Examples
    --------
    >>> frame = pd.DataFrame({"sex": list("ffmm"), "age": [30, 30, 41, 52], "weight": [9.0, 11.0, 20.0, 40.0]})
    >>> measures = kanon_lab.measure(frame, kanon_lab.KeySpec(["sex", "age"], weight="weight"))
    >>> measures.k_achieved, measures.violations, round(measures.risk.global_risk, 4)
    (1, {2: 2, 3: 4, 5: 4}, 0.1044)
    """
    if not isinstance(k, Iterable):
        raise OptionError(f"k must be several whole numbers, such as (2, 3, 5), not {k!r}")
    if isinstance(thresholds, str) or not isinstance(thresholds, Iterable):
        raise OptionError(f"thresholds must be several numbers from 0 to 1, such as (0.05, 0.2), not {thresholds!r}")
    check_choice(distance, "distance", ("equal", "ordered"))
    check_positive(recursive_c, "recursive_c", _MOST_C)
    spec, bands = as_spec(spec or ()) if isinstance(data, pd.DataFrame) else data.spec, bands or {}
    if strange := [name for name in bands if name not in spec.sensitive_variables]:
        raise OptionError(f"bands are given for {shortened(str(strange[0]))}, which is not a sensitive variable")
    table = class_table(data, spec) if isinstance(data, pd.DataFrame) else data
    violations = table.violations(k)
    classes = ClassRisks(table, estimator, population)
    levels = {float(level): above(classes, level) for level in thresholds}
    values = {row.name: row.of(classes) for row in measures(shown="file", taken_from="classes") if row.is_plain}
    by_variable = {
        name: diversity(table, name, recursive_c=recursive_c, distance=distance, bands=bands.get(name))
        for name in spec.sensitive_variables
    }
    notes: list[str] = [UNWEIGHTED] if table.spec.weight is None else []
    counted = classes.with_household_size
    if counted is not None and counted["classes"] > table.n_classes:
        notes.append(
            f"{shortened(str(table.spec.household))}: whoever has it can count the members, even where a variable of "
            "household size is removed; with that count as a further key, k achieved: "
            f"{counted['k_achieved']:,}, sample uniques: {counted['sample_uniques']:,} "
            f"(without it {table.k_achieved:,} and {table.sample_uniques:,})"
        )
    if spec.person is not None:
        notes += _notes_on_persons(table)
    for measured in by_variable.values():
        notes += _notes_on_diversity(measured, table, bands.get(measured.variable))
    known = None
    if (inside := classes.in_population) is not None:
        known = {row.name: row.of(classes) for row in measures(shown="file", part_of="population") if not row.levels}
        known["below"] = {str(level): inside.below(level) for level in violations}
        notes += inside.notes
    return Measures(table, violations, classes.risk, levels, counted, values, by_variable, tuple(notes), known)


def _notes_on_persons(table: ClassTable) -> Iterator[str]:
    """What is counted where a person may have several records."""
    paths, weights, person = with_path(table), table.weight_of_row, table.person_of_row
    assert person is not None
    name = shortened(str(table.spec.person))
    yield Note("persons_counted", person=name, persons=table.n_units, records=table.n)
    yield Note("paths_known", person=name, uniques=paths["sample_uniques"], persons=table.n_units)
    if weights is not None:
        least, most = np.full(table.n_units, np.inf), np.zeros(table.n_units)
        np.minimum.at(least, person, weights)
        np.maximum.at(most, person, weights)
        if varied := int((least < most).sum()):
            yield Note("weights_of_persons", weight=shortened(str(table.spec.weight)), persons=varied)


def _notes_on_diversity(measured: Diversity, table: ClassTable, bands: Bands | None) -> Iterator[str]:
    """What a reader of the diversity of a variable should know, in a sentence each."""
    name, column = shortened(measured.variable), table.column(measured.variable)
    absent = table.records_at(column.isna().to_numpy())
    if absent and measured.missing == "wildcard":
        yield f"{name}: missing in {absent:,} of the records, which may have any value and so add no diversity"
    for measure_name, reason in _INFINITE.items():
        if measured.file[measure_name] == np.inf:
            yield f"{name}: {measure_name.replace('_', '-')} is infinite, since {reason}"
    if bands is not None:
        yield f"{name}: measured in bands, {'; '.join(bands.labels)}"
    if measured.distance == "ordered":
        has_own_order = bands is not None or getattr(column.dtype, "ordered", False)
        if not has_own_order and any(isinstance(value, str) for value in measured.values):
            yield f"{name}: the ordered distance takes its texts in alphabetical order, whatever they mean"
        if measured.values.hasnans:
            yield f"{name}: a missing value is the last in order for the ordered distance"
