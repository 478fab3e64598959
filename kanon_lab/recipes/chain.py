"""The protection of a file: steps applied one after another, by hand or by a recipe."""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab import files, measures
from kanon_lab.arguments import as_share
from kanon_lab.columns import distinct, holds_numbers, quantity
from kanon_lab.data.microdata import MicrodataFile
from kanon_lab.data.values import Labels, UserMissing
from kanon_lab.errors import DataError, OptionError, TextError, about, described, inside, shortened
from kanon_lab.measures import ESTIMATORS
from kanon_lab.methods.suppression import without_cells
from kanon_lab.recipes.earlier import EarlierRelease
from kanon_lab.recipes.households import household_file, merge_households
from kanon_lab.recipes.identifiers import Identifier, identifiers_in_labels
from kanon_lab.recipes.measured import Baseline, Truth, changes, recoded_truth, sharing
from kanon_lab.recipes.notes import notes_of
from kanon_lab.recipes.plan import USUAL_ESTIMATOR, USUAL_K, USUAL_RISKS, Plan, columns_of, file_plan, household_plan
from kanon_lab.recipes.population_file import check_population, recoded_population
from kanon_lab.recipes.released import proof, released_columns, released_labels
from kanon_lab.recipes.settings import as_indicators
from kanon_lab.recipes.state import (
    Cells,
    Chain,
    State,
    Step,
    check_columns,
    claims_since,
    derived_seed,
    drawn_seed,
    step_errors,
)
from kanon_lab.recipes.steps import Applied, Kind, kind_of
from kanon_lab.recipes.yaml_file import beside, dump_yaml, read_yaml, seen_from
from kanon_lab.roles import KeySpec, as_spec, check_k, check_seed
from kanon_lab.terms import Note

_PLAIN = (str, bool, int, float, datetime.date, type(None))


def _plain(value: Any, place: str) -> Any:
    """The same in types that YAML has, every list and mapping a new one."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Mapping):
        return {_plain(key, place): _plain(part, f"{place}, {key}") for key, part in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(part, place) for part in value]
    if type(value) not in _PLAIN:
        raise OptionError(
            f"{place}: a {shortened(type(value).__name__)} cannot be written; give plain texts or numbers"
        )
    return value


class Protection(Chain):
    """A file and the steps applied to it; a further step gives another protection, and this one stays as it is.

    Its attributes are those of `kanon_lab.recipes.state.Chain`; `kanon_lab.protect` makes one.
    """

    @cached_property
    def identifiers(self) -> tuple[Identifier, ...] | None:
        """Released columns that identify persons by what their cells, or the labels of these, hold."""
        by_cells = super().identifiers
        if by_cells is None or not (self.given_labels or self.given_variable_labels):
            return by_cells
        return (*by_cells, *identifiers_in_labels(self.state.released, self.labels, self.variable_labels))

    @property
    def labels(self) -> Labels:
        """By released variable, the labels of its codes, for `kanon_lab.data.write_microdata`.

        Of codes that a released record has and no step has merged or changed, and labels that steps give.
        """
        return released_labels(self).labels

    @property
    def variable_labels(self) -> dict[str, str]:
        """The labels of the variables that are released."""
        released = self.state.released
        return {name: label for name, label in self.given_variable_labels.items() if name in released}

    @property
    def formats(self) -> dict[str, str]:
        """The formats of the variables that are released with the values that they came with."""
        return {name: shown for name, shown in self.given_formats.items() if self._is_as_it_came(name)}

    @property
    def user_missing(self) -> UserMissing:
        """Codes that mean missing and were kept, of such variables."""
        return {name: codes for name, codes in self.given_user_missing.items() if self._is_as_it_came(name)}

    def _is_as_it_came(self, name: str) -> bool:
        """Whether a column is released and each of its cells has its own value, or none where it is suppressed."""
        return name in self.released_columns and not any(step.changed.get(name) for step in self.steps)

    def apply(self, name: str, settings: Mapping[str, Any] | None = None, *, seed: int | None = None) -> Protection:
        """Apply a step.

        Parameters
        ----------
        name : str
            Its kind, one of `kanon_lab.recipes.STEPS`.
        settings : mapping, optional
            As in a recipe: plain texts, numbers, lists and mappings.
        seed : int, optional
            Of a random step, from 0 on. By default it follows from the seed of the protection and the place of the step
            in the chain: the same chain gives the same result, whatever was tried and undone.
        """
        kind, position = kind_of(name), len(self.steps) + 1
        levels = int(bool(self.steps) and self.steps[0].households is not None)
        with step_errors(position, name, levels=levels):
            if not isinstance(settings if settings is not None else {}, Mapping):
                raise OptionError(f"its settings must be a mapping of names to values, not {described(settings)}")
            try:
                settings = deepcopy(dict(settings or {}))
            except RecursionError:
                raise OptionError("its settings are nested too deeply; no step needs that") from None
            if kind.draws(seed, settings):
                own = settings.pop("seed", None)
                seed = own if seed is None else seed
                seed = derived_seed(self.seed, position) if seed is None else check_seed(seed)
            elif seed is not None or ("seed" in settings and "seed" not in kind.model.model_fields):
                raise OptionError("nothing is random in it, so it takes no seed")
            check_columns(columns_of(name, settings), self.released_columns)
            if kind.within_strata:
                self._check_strata()
            try:
                after = self._with_step(name, kind, settings, seed)
            except TextError as error:
                self._check_recoded(error.column)
                raise
        step, before = after.steps[-1], self.steps
        if step.claims is not None and (self.state.truth.perturbed or any(earlier.suppressed for earlier in before)):
            return replace(after, steps=(*after.steps[:-1], replace(step, claims=claims_since(after))))
        return after

    def undo(self, steps: int | None = None, *, to: int | None = None) -> Protection:
        """Take back the last `steps` steps (by default 1), or all after number `to`; 0 is the file as it came."""
        if steps is not None and to is not None:
            raise OptionError("undo takes a number of steps, or the step to go back to, not both")
        last = len(self.steps)
        name, number = ("to", to) if to is not None else ("steps", 1 if steps is None else steps)
        if isinstance(number, bool) or not isinstance(number, numbers.Integral) or not 0 <= int(number) <= last:
            raise OptionError(f"{name} must be a whole number from 0 to {last}, its steps, not {described(number)}")
        return replace(self, steps=self.steps[: last - int(number) if to is None else int(number)])

    @property
    def history(self) -> pd.DataFrame:
        """One row a state, 0 being the file as it came: what each step did, and the measures after it.

        Index ``step``; columns ``name``, ``seed`` (missing where nothing is random), ``records_touched``,
        ``cells_changed``, ``cells_suppressed``, ``columns_removed`` and the measures as `Measured.row` names them.
        """
        names = ("name", "seed", "records_touched", "cells_changed", "cells_suppressed", "columns_removed")
        done: list[tuple[Any, ...]] = [("original", None, 0, 0, 0, 0)]
        for step in self.steps:
            cells = sum(step.changed.values()), sum(step.suppressed.values()), len(step.removed)
            done.append((step.name, step.seed, step.records_touched, *cells))
        states = [self.start, *(step.state for step in self.steps)]
        rows = [dict(zip(names, row)) | state.measured.row() for row, state in zip(done, states, strict=True)]
        table = pd.DataFrame(rows)
        table["seed"] = pd.array([row["seed"] for row in rows], dtype="Int64")  # no float holds all its digits
        absent = [name for name in table.columns if name.startswith("with_household_size_")]
        return table.astype(dict.fromkeys(absent, "Int64")).rename_axis("step")

    @property
    def released_table(self) -> pd.DataFrame:
        """What became of each released column: `kanon_lab.recipes.released_columns`."""
        return released_columns(self)

    def recodings(self) -> Iterator[tuple[int, str, str, Cells]]:
        """Place and name of each step that recodes, a variable, and its cells row by row; households come first."""
        before = self.start.working
        for place, step in enumerate(self.steps, start=1):
            after = step.state.working
            if step.households is not None:
                for _, name, variable, cells in step.households.recodings():
                    yield place, f"{step.name}: {name}", variable, cells
            for variable in kind_of(step.name).rules(step.settings):
                yield place, step.name, variable, Cells(before[variable].loc[after.index], after[variable])
            before = after

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes for a reader of the history."""
        return tuple(notes_of(self))

    def write(self, out: str | Path, *, overwrite: bool = False, neutralise: bool = False) -> dict[str, int]:
        """Write the protected file as `kanon_lab.data.write_microdata` does, proved to hold no direct identifier."""
        from kanon_lab.data.writing import write_microdata

        with about(str(out)):
            return write_microdata(
                self.frame,
                out,
                overwrite=overwrite,
                neutralise=neutralise,
                check=proof(self, neutralised=neutralise),
                labels=self.labels,
                variable_labels=self.variable_labels,
                formats=self.formats,
                user_missing=self.user_missing,
            )

    def recipe(self) -> dict:
        """The chain as settings of plain types, which `kanon_lab.recipes.as_recipe` takes; seeds are spelled out."""
        spec, wanted = self.spec, self.indicators
        roles = {role.name: value for role in fields(spec) if (value := getattr(spec, role.name))}
        settings = roles | {name: getattr(self, name) for name in ("k", "risks", "estimator", "seed")}
        if wanted is not None:  # their weight is that of the recipe
            settings["indicators"] = {name: getattr(wanted, name) for name in ("rates", "means", "by", "level")}
            settings["indicators"] |= {"strata": wanted.design.strata, "sampling_unit": wanted.design.sampling_unit}
        steps = []
        for step in self.steps:
            own = step.settings if step.seed is None else {**step.settings, "seed": step.seed}
            if step.households is not None:  # without a weight it would be that of the persons
                own = step.households.recipe()
                own["weight"] = own.get("weight")
            steps.append({step.name: own})
        if steps and "household_level" in steps[0]:
            settings |= steps.pop(0)
        return _plain({**settings, "steps": steps}, "the recipe")

    def _check_strata(self) -> None:
        """Raise a `DataError` if a step has suppressed a stratum; the method itself reports one that came missing."""
        for name in self.spec.strata:
            culprits = [n for n, step in enumerate(self.steps, 1) if step.suppressed.get(name)]
            if culprits and (absent := int(self.state.working[name].isna().sum())):
                raise DataError(
                    f"column {shortened(name)}, a stratum, has no value in {absent:,} records: suppressed"
                    f" by step {culprits[0]} ({self.steps[culprits[0] - 1].name}); let it be no key there"
                )

    def _check_recoded(self, column: str) -> None:
        """Raise a `DataError` if a step has made text of the numbers of a column."""
        cells = [self._as_it_came(column), *(step.state.working.get(column) for step in self.steps)]
        numbers = [part is not None and holds_numbers(part) for part in cells]
        for place, step in enumerate(self.steps, start=1):
            if numbers[place - 1] and not numbers[place] and step.changed.get(column):
                raise DataError(
                    f"column {shortened(column)} has labels instead of numbers since step {place} ({step.name}), "
                    "but numbers are needed; recode it in one step, or give groups"
                )

    def _check_weight(self, after: pd.DataFrame, changed: Mapping[str, int]) -> None:
        """Raise a `DataError` if a step would leave weights that are not above 0; `changed` are its cells by column."""
        name = self.released_spec.weight
        if name is None or not changed.get(name) or name not in after:
            return
        if lost := int((after[name] <= 0).sum()):
            raise DataError(
                f"column {shortened(name)}, the weight, would be 0 or less in {lost:,} records, and weights must be "
                "above 0; choose a finer step, such as a smaller base, or leave the weight out (remove_variables)"
            )

    def _as_it_came(self, column: str) -> pd.Series | None:
        """The values of a column before any step."""
        return self.original.get(column)

    def _with_step(self, name: str, kind: Kind, settings: dict[str, Any], seed: int | None) -> Protection:
        before, apply = self.state, kind.apply or _household_level
        applied = apply(before.working, self.released_spec, settings, seed=seed, **self._known(name))
        removed = (*before.removed, *applied.removed)
        done = changes(before.working, applied.frame.drop(columns=list(applied.removed)))
        kept = applied.frame.copy(deep=False)
        if kept.index.equals(before.working.index):  # columns as they were are kept once for all states
            kept = sharing(kept, before.working)
        self._check_weight(kept, done.changed)
        truth = self._truth(kind, settings, before, kept, applied.households)
        step = Step(
            name,
            settings,
            seed,
            records_touched=int(done.touched.sum()),
            removed=tuple(column for column in applied.removed if column not in before.removed),
            changed={column: n for column, n in done.changed.items() if column not in removed},
            suppressed={column: n for column, n in done.suppressed.items() if column not in removed},
            state=State(kept, removed, truth, self.measured(kept, removed, truth)),
            claims=applied.claims,
            certificate=applied.certificate,
            households=applied.households,
        )
        return replace(self, steps=(*self.steps, step))

    def _known(self, step: str) -> dict[str, Any]:
        """What `suppress` is told beside its settings: the true keys behind those that earlier steps suppressed."""
        if step != "suppress" or not any(any(earlier.suppressed.values()) for earlier in self.steps):
            return {}
        return {"true_keys": self.state.truth.attacked(self.state.working, self.released_spec.key_variables)}

    def _truth(self, kind: Kind, settings: dict, before: State, after: pd.DataFrame, households: Chain | None) -> Truth:
        """The truth after a step: recoded if the step recodes, as before if it suppresses or perturbs.

        The truth of a household level is that of its members.
        """
        rules, inner = kind.rules(settings), None if households is None else households.state.truth
        perturbed = frozenset(kind.perturbed(settings) if inner is None else inner.perturbed)
        quantities = perturbed if kind.as_quantities else frozenset(() if inner is None else inner.blurred)
        truth, rows = before.truth, self.original.index
        if inner is not None and households is not None:
            codes, ids = distinct(before.working[self.spec.household].loc[rows])
            home = pd.Index(households.original[self.spec.household]).get_indexer(ids)[codes]
        values = dict(truth.values)
        for name, true in values.items():
            shown, rule = before.working[name].loc[rows], rules.get(name)
            if inner is not None and name in inner.values:
                values[name] = recoded_truth(true, shown, inner.values[name].take(home), rule)
            elif rule is not None or (inner is not None and name not in perturbed):
                values[name] = recoded_truth(true, shown, after[name].loc[rows], rule)
        if inner is not None:
            own = {name: column for name, column in inner.values.items() if name not in values}
            values |= {name: pd.Series(column.take(home).array, index=rows, name=name) for name, column in own.items()}
        blurred = (truth.blurred - {*rules}) | quantities
        return Truth(values, truth.perturbed | perturbed, blurred, self._population(kind, settings, after, households))

    def _population(
        self, kind: Kind, settings: dict, after: pd.DataFrame, households: Chain | None
    ) -> measures.Population | None:
        """The population after a step, recoded as the file is."""
        known, before = self.state.truth.population, self.state.working
        if known is None:
            return None
        if households is None:
            rules, perturbed = kind.rules(settings), kind.perturbed(settings)
            return recoded_population(known, rules, before, after.loc[before.index] if rules else after, perturbed)
        before = households.start.working
        for step in households.steps:
            inner, now = kind_of(step.name), step.state.working
            rules, perturbed = inner.rules(step.settings), inner.perturbed(step.settings)
            known = recoded_population(known, rules, before, now.loc[before.index], perturbed)
            before = now
        return known


def protect(
    frame: pd.DataFrame | MicrodataFile,
    spec: KeySpec | Iterable[str] | str,
    *,
    k: Iterable[int] = USUAL_K,
    risks: Iterable[float] = USUAL_RISKS,
    estimator: str = USUAL_ESTIMATOR,
    indicators: measures.IndicatorSet | Mapping[str, Any] | None = None,
    seed: int | None = None,
    earlier_release: EarlierRelease | None = None,
    population: measures.Population | None = None,
) -> Protection:
    """Start the protection of a file: drop its direct identifiers and measure it.

    Parameters
    ----------
    frame : DataFrame or MicrodataFile
        One row a record, with unique index labels, which messages name (of a `MicrodataFile`, rows of the file).
    spec : KeySpec or sequence of str
        The roles of its variables, or the names of the key variables.
    k : iterable of int
        Count the records with f_k below these, from 1 on.
    risks : iterable of float
        Count the records whose individual risk is above these, 0-1.
    estimator : str
        Of the individual risk: one of `kanon_lab.measures.ESTIMATORS`.
    indicators : IndicatorSet or mapping, optional
        The survey's own indicators, estimated after each step beside those of the file as it came; a mapping as
        `kanon_lab.recipes.as_indicators` takes it.
    seed : int, optional
        From 0 on, of what is random in later steps. Without one it is drawn, so that nobody can guess it.
    earlier_release : EarlierRelease, optional
        An earlier release that an intruder may have too, for the limit ``k_with``.
    population : Population, optional
        The persons that the records are from, in which keys are counted; it is recoded as the file is.

    Returns
    -------
    Protection
        Without steps.

    Examples
    --------
    >>> survey = pd.DataFrame({"region": ["N", "N", "S", "S"], "age": [23, 27, 35, 61]})
    >>> chain = kanon_lab.protect(survey, ["region", "age"], k=[2])
    >>> chain = chain.apply("recode", {"variable": "age", "width": 20})
    >>> chain.history["global_risk"].tolist()
    [1.0, 0.75]
    """
    spec = as_spec(spec)
    labels: dict[str, Any] = {}
    if isinstance(frame, MicrodataFile):
        labels = {"given_labels": frame.labels, "given_variable_labels": frame.variable_labels}
        labels |= {"given_formats": frame.formats, "given_user_missing": frame.user_missing}
        frame = frame.numbered
    if not isinstance(frame, pd.DataFrame):
        raise OptionError(f"protect takes a DataFrame, not {shortened(type(frame).__name__)}; read a file first")
    if isinstance(indicators, Mapping):
        indicators = as_indicators(indicators, weight=spec.weight)
    spec.check(frame)
    for name in spec.numeric_variables:
        quantity(frame[name])
    if not frame.columns.is_unique:
        twice = shortened(str(frame.columns[frame.columns.duplicated()][0]))
        raise DataError(f"column {twice} occurs twice; give every column its own name")
    if not frame.index.is_unique:
        raise DataError("a label of the index occurs twice; give every record its own, so that it can be followed")
    if not isinstance(estimator, str) or estimator not in ESTIMATORS:
        raise OptionError(f"estimator must be one of {', '.join(ESTIMATORS)}, not {described(estimator)}")
    levels = tuple(dict.fromkeys(as_share(level, "risks") for level in _several(risks, "risks", "[0.05]")))
    ks = tuple(dict.fromkeys(check_k(number) for number in _several(k, "k", "[2, 3, 5]")))
    original = frame.rename_axis(columns=None)
    original.attrs = {}
    estimates = None if indicators is None else measures.indicators(original, indicators)
    baseline = Baseline(original, spec, ks, levels, estimator, indicators, estimates)
    working = original.drop(columns=list(spec.direct_identifiers))
    if population is not None:
        check_population(population, spec)
    values = {name: original[name] for name in (*spec.key_variables, *spec.sensitive_variables)}
    truth = Truth(values, population=population)
    start = State(working, (), truth, baseline.measured(working, (), truth))
    seed = drawn_seed() if seed is None else check_seed(seed)
    return Protection(**vars(baseline), seed=seed, start=start, earlier_release=earlier_release, **labels)


def _several(values: object, name: str, such_as: str) -> list:
    """Values as a list; an `OptionError` unless there may be several."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise OptionError(f"{name} must be several numbers, such as {such_as}, not {described(values)}")
    return list(values)


def apply_steps(protection: Any, steps: Iterable[tuple[str, Mapping[str, Any]]], *, progress: bool = False) -> Any:
    """The protection after more steps, each a name with its settings; `progress` shows them in a terminal."""
    from tqdm import tqdm

    for name, settings in tqdm(steps, desc="steps", disable=None if progress else True, leave=False):
        protection = protection.apply(name, settings)
    return protection


def _household_level(frame: pd.DataFrame, spec: KeySpec, settings: Mapping[str, Any], *, seed: int | None) -> Applied:
    """Protect the variables of households in a file with one record per household, and merge them back.

    See INE Chile (2023), section 6.7. By default the weight is that of the persons, if members of a household share it
    (``weight: null`` means none). Ghosts of a key are suppressed or removed with it.
    """
    if spec.household is None:
        raise OptionError("household_level needs a household; name the variable that identifies the household")
    if spec.weight is not None and frame.groupby(spec.household)[spec.weight].nunique(dropna=False).max() == 1:
        settings = {"weight": spec.weight, **settings}
    plan = household_plan({**settings, "seed": seed})
    households = household_file(frame, spec.household, plan.variables)
    with about("one record per household", part=True):
        plan.check(households)
        protection = apply_steps(protect(households, plan.spec, **plan.measured), plan.steps)
    merged = merge_households(frame, protection.state.working, spec.household)
    # The ghosts of persons would still reveal what their keys do not.
    ghosts_of = {
        key: ghosts for key, ghosts in spec.ghost_variables.items() if (frame[key].notna() & merged[key].isna()).any()
    }
    if ghosts_of:
        merged, _ = without_cells(merged, {}, replace(spec, key_variables=tuple(ghosts_of), ghost_variables=ghosts_of))
    gone = protection.state.removed
    ghosts = [ghost for key in gone for ghost in spec.ghost_variables.get(key, ())]
    return Applied(merged, removed=tuple(dict.fromkeys([*gone, *ghosts])), households=protection)


class Recipe(Plan):
    """A plan that can be applied to a file; its attributes are those of `kanon_lab.recipes.plan.Plan`."""

    def apply(self, frame: pd.DataFrame | MicrodataFile, *, progress: bool = False) -> Protection:
        """Protect a file.

        Parameters
        ----------
        frame : DataFrame or MicrodataFile
            As `kanon_lab.recipes.protect` takes it. Not changed.
        progress : bool
            Whether to show the steps on standard error, if that is a terminal.

        Returns
        -------
        Protection
            With all steps applied: the same for the same frame and recipe.
        """
        self.check(frame)
        with inside(self.name):
            return apply_steps(protect(frame, self.spec, **self.measured), self.steps, progress=progress)


def as_recipe(settings: Mapping[str, Any], *, name: str = "the recipe") -> Recipe:
    """A recipe from settings of plain types, as a YAML file or `Protection.recipe` holds them.

    Parameters
    ----------
    settings : mapping
        As the chapter on recipes lists them. The configuration of a report is a recipe too; its title, map and least
        count are not used.
    name : str
        Its name in messages.

    Examples
    --------
    >>> steps = [{"recode": {"variable": "age", "width": 10}}, {"suppress": {"k_required": 3}}]
    >>> recipe = kanon_lab.recipes.as_recipe({"key_variables": ["age", "sex"], "steps": steps})
    >>> chain = recipe.apply(kanon_lab.load_microdata("health-survey"))
    >>> chain.state.measured.violations["wildcard"][3]
    0
    """
    with inside(name):
        return Recipe(**file_plan(settings), name=name)


def read_recipe(path: str | Path) -> Recipe:
    """Read a recipe.

    Parameters
    ----------
    path : str or Path
        A YAML file of at most a million bytes. A file of a hierarchy in it is looked for in the folder of the recipe.
    """
    return as_recipe(beside(read_yaml(path), path), name=str(path))


def write_recipe(protection: Protection, path: str | Path) -> None:
    """Write the chain of a protection as a recipe, with the seeds of its random steps."""
    files.write_text(path, dump_yaml(seen_from(protection.recipe(), path)))
