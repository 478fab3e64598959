"""The verdict on a release: its measures beside the limits of an office, and cautions of what no limit counts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab.classes.counts import records_in
from kanon_lab.columns import named_rows
from kanon_lab.data.names import meanings, names_key
from kanon_lab.errors import shortened
from kanon_lab.measures import measure, with_path
from kanon_lab.measures.class_values import distinct_l
from kanon_lab.measures.editions import Editions
from kanon_lab.measures.file_measures import UNWEIGHTED, ClassRisks
from kanon_lab.measures.registry import LIMITS, MEASURES, limit_of
from kanon_lab.methods import CLAIMS
from kanon_lab.recipes.combinations import by_keys
from kanon_lab.recipes.exposure import Exposure, exposed_by_columns
from kanon_lab.recipes.found_households import FoundHouseholds, found_households
from kanon_lab.recipes.households import household_keys, keeps_household_ids
from kanon_lab.recipes.identifiers import columns_of
from kanon_lab.recipes.joint_links import joint_linkage, released_beside_original
from kanon_lab.recipes.measured import Comparison
from kanon_lab.recipes.met_values import MetValues
from kanon_lab.recipes.notes import grave_notes
from kanon_lab.recipes.persons import Linked, linked_records, repeated_identifiers
from kanon_lab.recipes.released import unassigned
from kanon_lab.recipes.shown import Shown, shown_by_members, shown_by_neighbours
from kanon_lab.recipes.state import Chain, final_claims, final_counts
from kanon_lab.terms import Note


def decisive_claim(protection: Chain) -> str:
    """The claim that says whether k is met.

    Where keys are suppressed and may be any value (``wildcard``), an intruder who knows the true keys finds fewer
    records than those that are alike as released.
    """
    if protection.spec.missing != "wildcard":
        return "own_class"
    suppressed = {name for step in protection.steps for name, cells in step.suppressed.items() if cells}
    return "compatible" if suppressed.isdisjoint(protection.spec.key_variables) else "true_key"


def records_below(protection: Chain, k: int) -> int:
    """Records for which a limit of k is not met, or persons who have one."""
    alike = final_counts(with_household_keys(protection))[decisive_claim(protection)]
    return records_in(alike < k, protection.state.counts, protection.person)


def with_household_keys(protection: Chain) -> Chain:
    """The protection with its `household_keys` among its keys, and its end measured so."""
    spec, state = protection.spec, protection.state
    if not (keys := household_keys(protection)):
        return protection
    sensitive = tuple(name for name in spec.sensitive_variables if name not in keys)
    spec = replace(spec, key_variables=(*spec.key_variables, *keys), sensitive_variables=sensitive)
    protection = replace(protection, spec=spec)
    measured = protection.measured(state.working, state.removed, state.truth, state.counts)
    last = replace(protection.steps[-1], state=replace(state, measured=measured))
    return replace(protection, steps=(*protection.steps[:-1], last))


def final_diversity(protection: Chain, met: MetValues | None = None) -> tuple[dict[str, dict], list[str]]:
    """Diversity of the released sensitive variables and notes on it; a `DataError` where one has no value at all.

    Where an intruder who knows true keys decides on k, the worst is that of the records whom these keys meet too:
    `met`, unless they are still to be found.
    """
    if not (sensitive := _released_sensitive(protection)):
        return {}, []
    spec = replace(protection.released_spec, sensitive_variables=sensitive, weight=None, household=None, strata=())
    table = protection.state.table(spec)
    measured = measure(table, k=(), thresholds=()).to_dict()
    if decisive_claim(protection) == "true_key":
        met = MetValues(protection, table) if met is None else met
        for name, of_variable in measured["diversity"].items():
            for key, value in met.worst(name).items():
                if value is not None and (
                    of_variable[key] is None or MEASURES[key].least == (value < of_variable[key])
                ):
                    of_variable[key] = value
    return measured["diversity"], [note for note in measured["notes"] if note != UNWEIGHTED]


def _released_sensitive(protection: Chain) -> tuple[str, ...]:
    """The sensitive variables that are released."""
    removed = protection.state.removed
    return tuple(name for name in protection.released_spec.sensitive_variables if name not in removed)


#: Columns of a verdict.
VERDICT = ["name", "variable", "level", "limit", "bound", "found", "met", "records", "columns"]
# Notes on an earlier release that are cautions: its keys are not those of this one.
_OF_EDITIONS = ("editions_key_in_one", "editions_other_codes")
# Categories that cannot be merged without leaving one alone.
_FEWEST_VALUES = 2
# Where neither limits nor recipe have a k, records are counted that nobody else is like.
_USUAL_K = 2
# Cautions that reveal nobody: they say what a number takes for true.
_HOW_COUNTED = ("own_class", "perturbed")
# Limits that judge a release by more than its key variables.
_WITHOUT_KEYS = ("numeric_linkage", "household_uniques")
# A caution is given if more than this share (0-1) of the records is linked by their quantities, or so many more by keys
# and quantities together than by either alone.
_MOST_LINKED = 0.05
# Limits that an engine's counts cannot be held against; where an office takes one away, nothing else speaks of it.
_OF_RECORDS = [
    name
    for name, measure in LIMITS.items()
    if not measure.counted and measure.limit is not None and (measure.limit.always or measure.limit.with_risk)
]
# Limits on the values of a class: with one of them an office has said what is enough.
_OF_VALUES = [name for name, measure in LIMITS.items() if measure.kind == "diversity"]


@dataclass(frozen=True)
class Caution:
    """A risk of a release that no limit covers.

    `key` is ``identifier``, ``exposed``, ``own_class``, ``true_key``, ``household_size``,
    ``household_composition``, ``household_few``, ``household_values``, ``homogeneous``, ``numeric_linkage``,
    ``joint_linkage``, ``perturbed``, ``population_short``, ``stale_ghosts``, ``key_by_name``,
    ``editions_key_in_one``, ``editions_other_codes``, ``uncounted`` or, in a report, ``held_identifier``; `count`
    the records (of an identifier the cells; None where none are counted); `columns` those that reveal it; `text` a
    sentence.
    """

    key: str
    count: int | None
    columns: tuple[str, ...]
    text: Note

    @property
    def is_danger(self) -> bool:
        """Whether somebody must decide on it; others only say how something was counted."""
        return self.key not in _HOW_COUNTED

    def to_dict(self) -> dict[str, Any]:
        """``key``, ``count``, ``columns`` and ``text``."""
        return {"key": self.key, "count": self.count, "columns": list(self.columns), "text": self.text}


@dataclass(frozen=True)
class Judged:
    """A release beside the limits of an office.

    `k` is that of the limits, else the required one, else that of a claim, else 2. `verdict` has one row a limit:
    ``name`` (see `kanon_lab.measures.registry.LIMITS`), ``variable`` (of diversity), ``level`` (of ``above_risk``),
    ``limit``, ``bound`` ("at least" or "at most"), ``found`` (the value; missing where it is not known), ``met``,
    ``records`` (of the value, if it counts records) and ``columns`` (names of those that it is about, if any).
    """

    k: int
    verdict: pd.DataFrame = field(repr=False)
    exposure: Exposure | None = field(repr=False)
    claims: pd.DataFrame = field(repr=False)
    cautions: tuple[Caution, ...] = field(repr=False)
    records: float = inf  # Of the release: a limit of as many is none
    rarest: str = ""  # Where advice on a limit that is not met names it: see `rarest_key`
    #: Where a limit is not met, the released variables of two values or fewer, which broader categories would empty.
    narrow: tuple[str, ...] = ()
    #: What an earlier release and this one tell together, where the limit ``k_with`` is set.
    together: Editions | None = field(default=None, repr=False)

    @property
    def met(self) -> bool:
        """Whether a limit on k or a risk was set, and every limit is met."""
        return is_set(self.limits, self.records) and bool(self.verdict["met"].all())

    @property
    def limits(self) -> list[tuple[str, Any]]:
        """Name and limit of each row of the verdict."""
        return [*zip(self.verdict["name"], self.verdict["limit"], strict=True)]

    @property
    def unknown(self) -> list[str]:
        """Names of the limits whose measures cannot be taken."""
        return self.verdict.loc[self.verdict["found"].isna(), "name"].tolist()

    def to_dict(self) -> dict[str, Any]:
        """``limits`` (rows, with ``value`` for ``found``), ``met`` and ``cautions``, in types that JSON has."""
        rows = self.verdict.rename(columns={"found": "value"}).astype(object)
        rows["columns"] = rows["columns"].map(list)
        limits = rows.where(rows.notna(), None).to_dict("records")
        return {"limits": limits, "met": self.met, "cautions": [caution.to_dict() for caution in self.cautions]}


def is_set(limits: Iterable[tuple[str, Any]], records: float = inf) -> bool:
    """Whether there is a limit on k or a risk, by name and limit, that a file of which everybody is found would miss.

    Others alone say nothing of who can be found. A k of 1, or a mean risk of 100 %, is met by every file, and at most
    so many `records` by a file that has no more.
    """
    return any(_can_fail(name, limit, records) for name, limit in limits)


def _can_fail(name: str, limit: Any, records: float) -> bool:
    """Whether a limit is on k or a risk, and some file does not meet it."""
    measure, asked = LIMITS[name], limit_of(name)
    limits = limit.values() if isinstance(limit, Mapping) else [limit]
    if asked.by == "combination" and not isinstance(limit, int):
        limits = [entry.least for entry in limit]
    least, most = (0, 1) if measure.share else (1, records)  # of what is measured
    return not asked.beside and any(value > least if asked.bound == "at least" else value < most for value in limits)


def judge(protection: Chain, limits: Mapping[str, Any], *, k_required: int | None = None) -> Judged:
    """Hold a release against limits.

    Parameters
    ----------
    protection : Protection
    limits : mapping
        Names of `kanon_lab.measures.registry.LIMITS` with their bounds, as the ``limits`` of a recipe once it is read.
    k_required : int, optional
        The k to count with if the limits have none, from 1 on; by default 2.

    Returns
    -------
    Judged
        A limit is not met if its measure cannot be taken (links by a key that was perturbed as a quantity; a k-map
        without a population). It does not bind if its sensitive variable, or the household ID, is not released; one on
        k or a risk by keys not without key variables. Nobody is linked by quantities of which none is released.

    Examples
    --------
    >>> survey = pd.DataFrame({"region": [*"NNNS"], "sex": [*"mmff"]})
    >>> judged = kanon_lab.recipes.judge(kanon_lab.protect(survey, ["region", "sex"]), {"k": 2, "global_risk": 0.8})
    >>> judged.verdict["met"].tolist(), judged.met
    ([False, True], False)
    """
    return judge_release(Release(protection, k_of(limits, k_required)), limits)


def judge_release(release: Release, limits: Mapping[str, Any]) -> Judged:
    """The same of a release of which more is asked: what is counted once serves both."""
    rows = [row for name, limit in limits.items() for row in release.rows(name, limit)]
    verdict = pd.DataFrame(rows, columns=VERDICT, dtype=object)
    verdict = verdict.astype({"level": float, "met": bool, "records": "Int64"})
    unmet = verdict.loc[~verdict["met"], "name"]
    narrow = narrow_variables(release) if len(unmet) else ()
    rarest = rarest_key(release, narrow) if any("{key}" in LIMITS[name].advice() for name in unmet) else ""
    cautions, together = tuple(_cautions(release, limits)), release.together if "k_with" in limits else None
    n = release.protection.n
    return Judged(release.k, verdict, release.exposure, release.claims, cautions, n, rarest, narrow, together)


def narrow_variables(release: Release) -> tuple[str, ...]:
    """The released keys and sensitive variables of two values or fewer: coarser, they would say nothing."""
    protection = release.protection
    names = dict.fromkeys((*protection.released_spec.key_variables, *_released_sensitive(protection)))
    cells = [(name, protection.cells(name)) for name in names]
    return tuple(name for name, column in cells if column is not None and column.after.nunique() <= _FEWEST_VALUES)


def rarest_key(release: Release, narrow: Collection[str] = ()) -> str:
    """The released key without which fewest records are below k; of several, the one with most values.

    None of those that are `narrow`, since it is named to be recoded; "" where no other is released.
    """
    spec, state = replace(release.protection.released_spec, weight=None), release.protection.state
    keys = [name for name in spec.key_variables if name not in narrow]
    if len(keys) < 2:
        return "".join(keys)

    def rank(key: str) -> tuple[int, int]:
        others = state.table(by_keys(spec, tuple(name for name in spec.key_variables if name != key)))
        return others.violations([release.k])[release.k], -state.table(by_keys(spec, (key,))).n_classes

    return min(keys, key=rank)


def k_of(limits: Mapping[str, Any], k_required: int | None) -> int:
    """The k that records are counted by: without a limit on k, or a required one, the largest of a claim."""
    claimed = max((limits[claim] for claim in CLAIMS if limits.get(claim)), default=_USUAL_K)
    return limits.get("k") or k_required or claimed


class Release:
    """A release and what is counted of it, when it is asked for: the limits and cautions read the same counts."""

    def __init__(self, protection: Chain, k: int):
        protection = with_household_keys(protection)
        self.protection, self.k, self.last = protection, k, protection.state.measured

    @cached_property
    def claims(self) -> pd.DataFrame:
        """What the release may claim."""
        return final_claims(self.protection, self.k, self.alike)

    @cached_property
    def alike(self) -> dict[str, np.ndarray]:
        """By claim, for each record the released records that are counted for it."""
        return final_counts(self.protection)

    @cached_property
    def exposure(self) -> Any:
        """The records that released columns bring below k."""
        return exposed_by_columns(self.protection, self.k)

    @cached_property
    def table(self) -> Any:
        """The class table of what is released."""
        return self.protection.state.table(self.protection.released_spec)

    @cached_property
    def households(self) -> FoundHouseholds:
        """See `kanon_lab.recipes.found_households.found_households`."""
        return found_households(self.protection, self.k)

    def failing(self, claim: str) -> int:
        """Records for which a claim does not hold."""
        return int(self.claims.set_index("claim")["records"][claim])

    def least(self, claim: str) -> int:
        """The fewest records that are counted for a record by a claim."""
        return int(self.alike[claim].min())

    @cached_property
    def by_members(self) -> Shown:
        """See `kanon_lab.recipes.shown.shown_by_members`."""
        return shown_by_members(self.protection, self.k)

    @cached_property
    def by_records(self) -> Shown:
        """The same of persons and their other records."""
        return shown_by_members(self.protection, self.k, "person")

    @cached_property
    def path_uniques(self) -> int | None:
        """Persons who are unique by all their records, if the file says which are of one person; None if not known."""
        known = self.paths.known
        return with_path(self.table)["sample_uniques"] if known else None if known is None else 0

    @cached_property
    def paths(self) -> Linked:
        """Whether the release says which records are of one person."""
        return linked_records(self.protection, "person")

    @cached_property
    def repeated(self) -> tuple[str, ...]:
        """See `kanon_lab.recipes.persons.repeated_identifiers`."""
        return repeated_identifiers(self.protection)

    @cached_property
    def by_neighbours(self) -> Shown:
        """See `kanon_lab.recipes.shown.shown_by_neighbours`."""
        return shown_by_neighbours(self.protection, self.k)

    def rows(self, name: str, limit: Any) -> Iterator[tuple]:
        """The verdict on a limit, one row or one for each variable or level.

        Where no key variables are named, all records are alike, and limits on k and risks by keys say nothing.
        """
        measure, by = LIMITS[name], limit_of(name).by
        if not (self.table.spec.key_variables or limit_of(name).beside or name in _WITHOUT_KEYS):
            return
        if by == "variable":
            for variable in limit:
                if variable in self.diversity:
                    yield _row(name, limit[variable], self.diversity[variable][measure.name], variable=variable)
        elif by == "level":
            for level, most in limit.items():
                records = measure.of(self.classes, level)
                yield _row(name, most, records, level=level, records=records)
        elif name == "k" or name in CLAIMS:
            claim = decisive_claim(self.protection) if name == "k" else name
            below = records_in(self.alike[claim] < limit, self.protection.state.counts, self.protection.person)
            yield _row(name, limit, self.least(claim), records=below)
        elif by == "combination":
            true_keys = decisive_claim(self.protection) == "true_key"
            for entry in limit:
                fewest, below, worst = entry.count(self.protection, true_keys=true_keys)
                if fewest >= 0:
                    about = {"variable": entry.called, "records": below, "columns": worst}
                    yield _row(name, entry.least, fewest, **about)
        elif measure.needs == "population":
            yield self._in_population(name, limit)
        elif measure.is_shown("state"):
            named = measure.needs == "numeric_variables" and self.protection.spec.numeric_variables
            gone = named and {*named} <= {*self.protection.state.removed}  # nobody is linked by what is not released
            yield _row(name, limit, 0.0 if gone else self.last[measure.name])
        else:
            value = measure.of(self if measure.taken_from == "release" else self.classes)
            if limit_of(name).quiet and not value:
                return
            names_of = limit_of(name).columns
            columns = () if names_of is None else tuple(names_of(self))
            yield _row(name, limit, value, records=value if measure.unit == "records" else None, columns=columns)

    def _in_population(self, name: str, limit: Any) -> tuple:
        """The verdict on a limit that is counted in the population; not known, the keys that cannot be counted."""
        measure, inside = LIMITS[name], self.classes.in_population
        if inside is None:
            return _row(name, limit, None, columns=self.uncounted)
        records = inside.below(limit) if name == "k_map" else inside.above(limit)
        return _row(name, limit, measure.of(self.classes), records=records)

    @property
    def uncounted(self) -> tuple[str, ...]:
        """Released keys that cannot be counted in the population: it lacks them, or a step has perturbed them."""
        if (population := self.protection.state.truth.population) is None:
            return ()
        known = {*population.keys} - {*population.untold}
        return tuple(name for name in self.table.spec.key_variables if name not in known)

    @cached_property
    def met_values(self) -> MetValues | None:
        """The values that true keys meet, where an intruder who knows them decides on k."""
        decides = decisive_claim(self.protection) == "true_key"
        return MetValues(self.protection, self.table) if decides else None

    def alike_in(self, variable: str) -> int:
        """Records for whom only one value of a sensitive variable is met."""
        if self.met_values is not None:
            return self.met_values.alike(variable)
        return self.table.units_in(distinct_l(self.table.sensitive_counts(variable)) == 1)

    @property
    def identifying(self) -> tuple[str, ...] | None:
        """Released columns that identify persons by what their cells hold; None where it is not known."""
        identifiers = self.protection.identifiers
        return None if identifiers is None else columns_of(identifiers)

    @cached_property
    def unassigned(self) -> tuple[str, ...]:
        """Released columns without a role."""
        return unassigned(self.protection)

    @cached_property
    def together(self) -> Any:
        """What an earlier release and this one tell together (`Editions`); None without one, or where not known."""
        earlier = self.protection.earlier_release
        return None if earlier is None else earlier.with_release(self.protection)

    @property
    def k_with(self) -> int | None:
        """The fewest persons alike for an intruder who has an earlier release too.

        None where it is not known: nothing links the records, and nobody has said that nothing does.
        """
        earlier, together = self.protection.earlier_release, self.together
        if earlier is None or together is None:
            return None
        answers = (earlier.id, earlier.same_order, self.protection.spec.person)
        return None if together.linked_by is None and answers == (None, None, None) else together.k_with

    @cached_property
    def joint_linkage(self) -> float | None:
        """See `kanon_lab.recipes.joint_links.joint_linkage`; None for an engine's counts."""
        return None if self.protection.state.counts is not None else joint_linkage(self.compared)

    @cached_property
    def compared(self) -> Comparison:
        """The release beside the file as it came; of an engine's counts there is none."""
        return released_beside_original(self.protection)

    @cached_property
    def classes(self) -> ClassRisks:
        """The classes of what is released."""
        return ClassRisks(self.table, self.protection.estimator, self.protection.state.truth.population)

    @cached_property
    def diversity(self) -> dict[str, dict]:
        """Diversity of each released sensitive variable."""
        return final_diversity(self.protection, self.met_values)[0]


def _row(name: str, limit: float, value: float | None, *, variable=None, level=None, records=None, columns=()) -> tuple:
    """A row of the verdict."""
    bound = limit_of(name).bound
    met = value is not None and (value >= limit if bound == "at least" else value <= limit)
    return name, variable, level, limit, bound, value, met, records, columns


def _cautions(release: Release, limits: Mapping[str, Any]) -> Iterator[Caution]:
    """Cautions of what no limit counts, the gravest first."""
    protection, last, k = release.protection, release.last, release.k
    spec = protection.spec
    for identifier in protection.identifiers or ():
        key = "varied" if identifier.by_variety else "identifier"
        names = " + ".join(map(shortened, identifier.columns))
        parts: dict[str, Any] = {"names": names, "cells": identifier.cells}
        if identifier.kind == "person":
            key = "person"
        else:
            scheme = {"scheme": identifier.scheme} if identifier.scheme else {}
            parts["content"] = Note(f"identifier_{identifier.kind}", **scheme)
        text = Note(f"caution_{key}", **parts)
        yield Caution("identifier", identifier.cells, identifier.columns, text)
    for row in named_rows(release.exposure.columns.sort_values("records", ascending=False, kind="stable")):
        if row.records:
            names, keys = (" + ".join(map(shortened, side)) for side in (row.columns, row.keys))
            parts = {"names": names, "role": row.role, "keys": keys, "records": row.records, "k": k}
            parts["remedy"] = Note("mend_weight" if spec.weight in row.columns else "mend_column")
            yield Caution("exposed", row.records, row.columns, Note(f"caution_exposed_{row.direction}", **parts))
    for claim in ("own_class", "true_key"):
        failing, counted = release.failing(claim), claim in limits or (claim == "true_key" and "k" in limits)
        if counted and failing == records_in(release.alike[claim] < k, protection.state.counts, protection.person):
            continue
        if failing > release.failing("compatible"):
            yield _caution(claim, failing, spec.key_variables, k=k)
    household, counts = (str(spec.household),), last.with_household_size or {"sample_uniques": 0}
    if "household_uniques" not in limits:
        if (unique := counts["sample_uniques"]) > release.table.sample_uniques:
            yield _caution("household_size", unique, household)
        if (households := release.households).records:
            yield _caution("household_composition", households.records, households.columns or household)
        if households.few:
            yield _caution("household_few", households.few, households.columns, k=k)
    if keeps_household_ids(protection):
        yield _caution("household_values", None, household)
    limited = {name for measure in _OF_VALUES for name in limits.get(measure, ())}
    for name in [name for name in _released_sensitive(protection) if name not in limited]:
        if records := release.alike_in(name):
            yield _caution("homogeneous", records, (name,))
    yield from _of_quantities(release, limits)
    if perturbed := tuple(name for name in spec.key_variables if name in protection.state.truth.perturbed):
        yield _caution("perturbed", None, perturbed)
    as_is = [name for name in spec.released_as_is if name not in spec.variables]
    if key_names := tuple(name for name in as_is if names_key(meanings(str(name)))):
        yield _caution("key_by_name", None, key_names)
    together = release.together if "k_with" in limits else None
    for note in () if together is None else together.notes:
        if note.key in _OF_EDITIONS:
            yield Caution(note.key, None, (), Note("caution_grave", note=note))
    for columns, note in grave_notes(protection):
        yield Caution(note.key, note.parts.get("records"), columns, Note("caution_grave", note=note))
    if protection.state.counts is None:
        return
    left = [name for name in _OF_RECORDS if name not in limits and getattr(spec, LIMITS[name].needs or "k", True)]
    if left:
        yield Caution("uncounted", None, (), Note("caution_uncounted", names=tuple(left)))


def _of_quantities(release: Release, limits: Mapping[str, Any]) -> Iterator[Caution]:
    """Cautions of records linked by their quantities, alone or beside the keys."""
    last, linked = release.last, release.last["numeric_linkage"]
    if linked is None:
        return
    if "numeric_linkage" not in limits and linked > _MOST_LINKED:
        yield _caution("numeric_linkage", None, release.protection.spec.numeric_variables, linked=linked)
    joint = None if "joint_linkage" in limits else release.joint_linkage
    if joint is not None and joint - max(linked, last["key_linkage"]) > _MOST_LINKED:
        yield _caution("joint_linkage", None, tuple(release.compared.quantities), linked=joint)


def _caution(key: str, records: int | None, columns: tuple[str, ...], **parts: Any) -> Caution:
    counted = {} if records is None else {"records": records}
    return Caution(key, records, columns, Note(f"caution_{key}", names=columns, **counted, **parts))
