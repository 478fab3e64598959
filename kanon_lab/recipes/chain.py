"""A chain of steps as settings of plain types, in the order in which a recipe is read."""

from __future__ import annotations

import datetime
import numbers
import warnings
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import fields, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab.arguments import as_share
from kanon_lab.columns import distinct, quantity
from kanon_lab.data.microdata import MicrodataFile
from kanon_lab.data.statistical import Labels
from kanon_lab.errors import DataError, OptionError, shortened
from kanon_lab.measures import ESTIMATORS, IndicatorSet
from kanon_lab.recipes.households import household_level
from kanon_lab.recipes.measured import Baseline, Measured, measured
from kanon_lab.recipes.notes import notes_of
from kanon_lab.recipes.plan import USUAL_ESTIMATOR, USUAL_K, USUAL_RISKS, Plan, columns_of
from kanon_lab.recipes.released import released_labels
from kanon_lab.recipes.settings import as_indicators
from kanon_lab.recipes.state import (
    Chain,
    State,
    Step,
    check_columns,
    derived_seed,
    several,
    step_errors,
    without_variables,
)
from kanon_lab.recipes.steps import Applied, Kind, kind_of
from kanon_lab.recipes.truth import Truth, changes, recoded_truth
from kanon_lab.recipes.verdict import claims_since
from kanon_lab.roles import KeySpec, as_spec, check_k, check_seed
from kanon_lab.terms import Note

_PLAIN = (str, bool, int, float, datetime.date, type(None))


def chain_settings(protection: Chain) -> dict[str, Any]:
    """Roles that are given, what is measured, the seed, and the steps with their seeds."""
    spec = protection.spec
    roles = {role.name: getattr(spec, role.name) for role in fields(spec)}
    measures = {name: getattr(protection, name) for name in ("k", "risks", "estimator", "seed")}
    settings = {**{role: value for role, value in roles.items() if value}, **measures}
    if protection.baseline.wanted is not None:
        settings["indicators"] = _indicators(protection.baseline.wanted)
    steps = [{step.name: _step_settings(step)} for step in protection.steps]
    if steps and "household_level" in steps[0]:
        settings |= steps.pop(0)
    return _plain({**settings, "steps": steps}, "the recipe")


def _indicators(wanted: IndicatorSet) -> dict[str, Any]:
    """The indicators as `kanon_lab.recipes.as_indicators` takes them; the weight is the recipe's."""
    given = {name: getattr(wanted, name) for name in ("rates", "means", "by", "level")}
    return {**given, "strata": wanted.design.strata, "sampling_unit": wanted.design.sampling_unit}


def _step_settings(step: Step) -> dict[str, Any]:
    if step.households is not None:
        inner = chain_settings(step.households)
        return {**inner, "weight": inner.get("weight")}  # without one it would be that of the persons
    return step.settings if step.seed is None else {**step.settings, "seed": step.seed}


def _plain(value: Any, place: str) -> Any:
    """The same in types that YAML has, every list and mapping a new one."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Mapping):
        return {_plain(key, place): _plain(each, f"{place}, {key}") for key, each in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(each, place) for each in value]
    if type(value) not in _PLAIN:
        raise OptionError(
            f"{place}: a {shortened(type(value).__name__)} cannot be written; give plain texts or numbers"
        )
    return value


class Protection(Chain):
    """A file and the steps applied to it; a further step gives another protection, and this one stays as it is.

    Its attributes are those of `kanon_lab.recipes.state.Chain`; `kanon_lab.protect` makes one.
    """

    @property
    def labels(self) -> Labels:
        """By released variable, the labels of its codes, for `kanon_lab.data.write_microdata`.

        Of codes that some released record has, and that no step has merged or changed; and those that steps give.
        """
        return released_labels(self).labels

    @property
    def variable_labels(self) -> dict[str, str]:
        """The labels of the variables that are released."""
        return {name: label for name, label in self.given_variable_labels.items() if name in self.frame}

    def apply(self, name: str, settings: Mapping[str, Any] | None = None, *, seed: int | None = None) -> Protection:
        """Apply a step.

        Parameters
        ----------
        name : str
            Its kind, one of `kanon_lab.recipes.STEPS`.
        settings : mapping, optional
            As in a recipe: plain texts, numbers, lists and mappings.
        seed : int, optional
            Of a random step. By default it is made from the seed of the protection and the place of the step in the
            chain, so that the same chain gives the same result whatever was tried and undone between.
        """
        kind = kind_of(name)
        position = len(self.steps) + 1
        levels = int(bool(self.steps) and self.steps[0].households is not None)
        with step_errors(position, name, levels=levels):
            settings, seed = self._with_seed(kind, settings, seed, position)
            self._check_columns(columns_of(name, settings))
            before = self.state
            if kind.within_strata:
                self._check_strata()
            spec = without_variables(self.spec, before.removed)
            apply = kind.apply or partial(household_level, protected=_carried_out)
            applied = apply(before.working, spec, settings, seed=0 if seed is None else seed)
            step = self._step(name, settings, seed, kind, before, applied)
        after = replace(self, steps=(*self.steps, step))
        if step.claims is None or not (before.truth.perturbed or any(earlier.suppressed for earlier in self.steps)):
            return after
        return replace(after, steps=(*self.steps, replace(step, claims=claims_since(after))))

    def undo(self, steps: int | None = None, *, to: int | None = None) -> Protection:
        """Take back the last `steps` steps (1 unless said), or all after number `to`; 0 is the file as it came."""
        if steps is not None and to is not None:
            raise OptionError("undo takes a number of steps, or the step to go back to, not both")
        last = len(self.steps)
        left = _whole(to, "to", last) if to is not None else last - _whole(1 if steps is None else steps, "steps", last)
        return replace(self, steps=self.steps[:left])

    @property
    def history(self) -> pd.DataFrame:
        """One row a state, 0 being the file as it came: what each step did, and the measures after it.

        Index ``step``; columns ``name``, ``seed`` (missing where nothing is random), ``records_touched``,
        ``cells_changed``, ``cells_suppressed``, ``columns_removed`` and the measures as `Measured.row` names them.
        """
        nothing = {"records_touched": 0, "cells_changed": 0, "cells_suppressed": 0, "columns_removed": 0}
        rows = [{"name": "as it came", "seed": None, **nothing}]
        for step in self.steps:
            cells = {"cells_changed": sum(step.changed.values()), "cells_suppressed": sum(step.suppressed.values())}
            cells |= {"columns_removed": len(step.removed)}
            rows.append({"name": step.name, "seed": step.seed, "records_touched": step.records_touched, **cells})
        states = [self.start, *(step.state for step in self.steps)]
        table = pd.DataFrame([{**row, **state.measured.row()} for row, state in zip(rows, states, strict=True)])
        table["seed"] = pd.array([row["seed"] for row in rows], dtype="Int64")  # no float holds all its digits
        absent = [name for name in table if name.startswith("with_household_size_")]
        return table.astype(dict.fromkeys(absent, "Int64")).rename_axis("step")

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a reader of the history should know."""
        return tuple(notes_of(self))

    def recipe(self) -> dict:
        """The chain as settings of plain types, which `kanon_lab.recipes.as_recipe` takes; seeds are spelled out."""
        return chain_settings(self)

    def _with_seed(
        self, kind: Kind, settings: Mapping[str, Any] | None, seed: int | None, position: int
    ) -> tuple[dict, int | None]:
        if not isinstance(settings if settings is not None else {}, Mapping):
            raise OptionError(f"its settings must be a mapping of names to values, not {shortened(repr(settings))}")
        try:
            settings = deepcopy(dict(settings or {}))
        except RecursionError:
            raise OptionError("its settings are nested too deeply; no step needs that") from None
        if not kind.random:
            if seed is not None or "seed" in settings:
                raise OptionError("nothing is random in it, so it takes no seed")
            return settings, None
        own = settings.pop("seed", None)
        seed = own if seed is None else seed
        return settings, check_seed(seed) if seed is not None else derived_seed(self.seed, position)

    def _check_columns(self, names: Iterable[str]) -> None:
        released = [name for name in self.state.working.columns if name not in self.state.removed]
        check_columns(names, released)

    def _check_strata(self) -> None:
        """Raise a `DataError` where a step before has suppressed a stratum; one that came without says so itself."""
        for name in self.spec.strata:
            culprits = [n for n, step in enumerate(self.steps, 1) if step.suppressed.get(name)]
            if culprits and (absent := int(self.state.working[name].isna().sum())):
                raise DataError(
                    f"column {shortened(name)}, a stratum, has no value in {absent:,} records: suppressed"
                    f" by step {culprits[0]} ({self.steps[culprits[0] - 1].name}); let it be no key there"
                )

    def _step(self, name: str, settings: dict, seed: int | None, kind: Kind, before: State, applied: Applied) -> Step:
        removed = (*before.removed, *applied.removed)
        done = changes(before.working, applied.frame.drop(columns=list(applied.removed)))
        kept = applied.frame.copy(deep=False)
        if kept.index.equals(before.working.index):  # columns as they were are kept once for all states
            for each, column in before.working.items():
                if each in kept and column.dtype == kept[each].dtype and column.equals(kept[each]):
                    kept[each] = column
        truth = self._truth(kind, settings, before, kept, applied.households)
        state = State(kept, removed, truth, self._measured(kept, removed, truth))
        gone = tuple(column for column in applied.removed if column not in before.removed)
        counts = [
            {column: n for column, n in each.items() if column not in removed}
            for each in (done.changed, done.suppressed)
        ]
        touched = int(done.touched.sum())
        return Step(name, settings, seed, touched, gone, *counts, state, applied.claims, applied.households)

    def _truth(self, kind: Kind, settings: dict, before: State, after: pd.DataFrame, households: Chain | None) -> Truth:
        """The truth after a step: recoded where it recodes, as before where it suppresses or perturbs.

        That of a household level holds for the members.
        """
        rules, inner = kind.rules(settings), None if households is None else households.state.truth
        perturbed = frozenset(kind.perturbed(settings) if inner is None else inner.perturbed)
        quantities = perturbed if kind.as_quantities else frozenset(() if inner is None else inner.blurred)
        values = dict(before.truth.values)
        for name, true in values.items():
            shown, rule = before.working[name].loc[true.index], rules.get(name)
            if inner is not None and name in inner.values:
                household = self.spec.household
                codes, ids = distinct(before.working[household].loc[true.index])
                home = pd.Index(households.original[household]).get_indexer(ids)[codes]
                values[name] = recoded_truth(true, shown, inner.values[name].take(home), rule)
            elif rule is not None or (inner is not None and name not in perturbed):
                values[name] = recoded_truth(true, shown, after[name].loc[true.index], rule)
        truth = before.truth
        return Truth(values, truth.perturbed | perturbed, (truth.blurred - {*rules}) | quantities)

    def _measured(self, working: pd.DataFrame, removed: tuple[str, ...], truth: Truth) -> Measured:
        spec = without_variables(self.spec, removed)
        options = {"k": self.k, "risks": self.risks, "estimator": self.estimator}
        options["counted"] = self.spec.household is not None and self.spec.household not in removed
        options |= {"removed": removed, "truth": truth, "baseline": self.baseline}
        return measured(working, self.original, spec, keys=self.spec.key_variables, **options)


def protect(
    frame: pd.DataFrame | MicrodataFile,
    spec: KeySpec | Iterable[str] | str,
    *,
    k: Iterable[int] = USUAL_K,
    risks: Iterable[float] = USUAL_RISKS,
    estimator: str = USUAL_ESTIMATOR,
    indicators: IndicatorSet | Mapping[str, Any] | None = None,
    seed: int = 0,
    thresholds: Iterable[float] | None = None,
) -> Protection:
    """Begin the protection of a file: its direct identifiers are dropped, and it is measured.

    Parameters
    ----------
    frame : DataFrame or MicrodataFile
        One row a record, under index labels of their own, which messages name (of a `MicrodataFile`, rows of the file).
    spec : KeySpec or sequence of str
        The roles of its variables, or the names of the key variables.
    k : iterable of int
        Count the records with f_k below these, from 1 on.
    risks : iterable of float
        Count the records whose individual risk is above these, 0-1; `thresholds` is the old name.
    estimator : str
        Of the individual risk: one of `kanon_lab.measures.ESTIMATORS`.
    indicators : IndicatorSet or mapping, optional
        The survey's own indicators, estimated after each step beside those of the file as it came; a mapping as
        `kanon_lab.recipes.as_indicators` takes it.
    seed : int
        From 0 on.

    Returns
    -------
    Protection
        Without steps.

    Examples
    --------
    >>> import pandas as pd, kanon_lab
    >>> survey = pd.DataFrame({"region": ["N", "N", "S", "S"], "age": [23, 27, 35, 61]})
    >>> chain = kanon_lab.protect(survey, ["region", "age"], k=[2])
    >>> chain = chain.apply("recode", {"variable": "age", "width": 20})
    >>> chain.history["global_risk"].tolist()
    [1.0, 0.75]
    """
    spec = as_spec(spec)
    if thresholds is not None:
        warnings.warn("thresholds of protect are now called risks", DeprecationWarning, stacklevel=2)
        risks = thresholds
    labels: dict[str, Any] = {}
    if isinstance(frame, MicrodataFile):
        labels = {"given_labels": frame.labels, "given_variable_labels": frame.variable_labels}
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
        raise DataError(f"column {twice} stands twice; give every column its own name")
    if not frame.index.is_unique:
        raise DataError("a label of the index stands twice; give every record its own, to follow it by")
    options = _measures(k, risks, estimator)
    original = frame.rename_axis(columns=None)
    original.attrs = {}
    working = original.drop(columns=list(spec.direct_identifiers))
    baseline = Baseline.of(original, indicators)
    truth = Truth({name: original[name] for name in (*spec.key_variables, *spec.sensitive_variables)})
    roles, counted = without_variables(spec, ()), spec.household is not None
    of_start = {"removed": (), "truth": truth, "baseline": baseline, "counted": counted}
    first = measured(working, original, roles, keys=spec.key_variables, **of_start, **options)
    start = State(working, (), truth, first)
    return Protection(original, spec, seed=check_seed(seed), baseline=baseline, start=start, **options, **labels)


def _carried_out(frame: pd.DataFrame, plan: Plan) -> Protection:
    """The protection of a file by a plan."""
    plan.check_frame(frame)
    protection = protect(frame, plan.spec, **plan.measured)
    for name, settings in plan.steps:
        protection = protection.apply(name, settings)
    return protection


def _measures(k: object, risks: object, estimator: object) -> dict[str, Any]:
    """What is measured, each level once."""
    if not isinstance(estimator, str) or estimator not in ESTIMATORS:
        raise OptionError(f"estimator must be one of {', '.join(ESTIMATORS)}, not {shortened(repr(estimator))}")
    levels = [as_share(each, "risks") for each in several(risks, "risks", "[0.05]")]
    ks = [check_k(each) for each in several(k, "k", "[2, 3, 5]")]
    return {"k": tuple(dict.fromkeys(ks)), "risks": tuple(dict.fromkeys(levels)), "estimator": estimator}


def _whole(number: object, name: str, most: int) -> int:
    if isinstance(number, bool) or not isinstance(number, numbers.Integral) or not 0 <= number <= most:
        raise OptionError(f"{name} must be a whole number from 0 to {most}, the steps there are, not {number!r}")
    return int(number)
