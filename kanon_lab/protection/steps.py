"""The kinds of steps that a protection may be made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, Protocol

import numpy as np
import pandas as pd

from kanon_lab.classes.coding import coded
from kanon_lab.errors import OptionError, nearest, shortened
from kanon_lab.keys import KeySpec
from kanon_lab.protection.checks import check_names
from kanon_lab.protection.state import Chain, Step
from kanon_lab.protection.truth import Rule
from kanon_lab.recode import RECODE_STEPS
from kanon_lab.recode.steps import check_recoding
from kanon_lab.suppress import Suppression, local_suppression, suppress_above_risk


@dataclass(frozen=True)
class Applied:
    """What a step gives back.

    Attributes
    ----------
    frame : DataFrame
        The same records, in any order; columns that are not released any more are still there.
    removed : tuple of str
        Columns that are not released from now on.
    claims : DataFrame or None
        What a suppression may claim; see `kanon_lab.suppress.protection_claims`.
    households : Chain or None
        The protection of the file of households.
    """

    frame: pd.DataFrame
    removed: tuple[str, ...] = ()
    claims: pd.DataFrame | None = None
    households: Chain | None = None


class Apply(Protocol):
    """Apply a step to a frame whose variables have the roles of `spec`, with its settings and its seed."""

    def __call__(self, frame: pd.DataFrame, spec: KeySpec, settings: Mapping[str, Any], *, seed: int) -> Applied: ...


def _nothing(settings: Mapping[str, Any]) -> tuple[str, ...]:
    return ()


def _no_rules(settings: Mapping[str, Any]) -> dict[str, Rule]:
    return {}


@dataclass(frozen=True)
class Kind:
    """A kind of step.

    Attributes
    ----------
    apply : callable
        See `Apply`.
    variables : callable
        Settings -> the columns that they name, so that absent ones are refused before anything is done.
    random : bool
        Whether the result depends on the seed; then settings may have a ``seed`` of their own.
    needs_k : bool
        Whether settings without ``k_required`` take that of the recipe.
    within_strata : bool
        Whether every record must have its strata.
    perturbed : callable
        Settings -> the columns in which equal values may become different ones, so that what they show may be untrue.
    as_quantities : bool
        Whether these are perturbed as quantities, so that a released value is near the true one or far from it.
    rules : callable
        Settings and the name of the data -> by column that is recoded, what is done to it.
    """

    apply: Apply
    variables: Callable[[Mapping[str, Any]], Iterable[str]]
    random: bool = False
    needs_k: bool = False
    within_strata: bool = False
    perturbed: Callable[[Mapping[str, Any]], Iterable[str]] = _nothing
    as_quantities: bool = False
    rules: Callable[[Mapping[str, Any], str], Mapping[str, Rule]] = _no_rules


def kind_of(name: object) -> Kind:
    """The kind of that name; an `OptionError` that names the nearest one where there is none."""
    if not isinstance(name, str) or name not in STEPS:
        close = nearest(name, STEPS)
        remedy = f"did you mean {close}?" if close else f"there are {', '.join(STEPS)}"
        raise OptionError(f"there is no step {shortened(repr(name))}; {remedy}")
    return STEPS[name]


def perturbed_by(step: Step) -> list[str]:
    """The columns that a step has perturbed; those of a household level are in its own protection."""
    return list(kind_of(step.name).perturbed(step.settings))


# Settings of a whole recipe, which no step has.
_OF_RECIPES = (*(role.name for role in fields(KeySpec)), "limits", "risks", "language", "household_level")


def check_settings(settings: Mapping[str, Any], known: tuple[str, ...], required: Iterable[str] = ()) -> None:
    """Raise an `OptionError` for a setting that is not known, or for one that is required and not there."""
    check_names(settings, (*known, "seed"), above=_OF_RECIPES)
    for name in required:
        if settings.get(name) is None:
            raise OptionError(f"{name} is not given; say it in the settings of the step")


def names_in(value: object, setting: str) -> list[str]:
    """Names of columns in a setting: one text, or a list of them."""
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) and name for name in names):
        raise OptionError(f"{setting} must be names of columns, such as [region, age], not {shortened(repr(value))}")
    return list(names)


def _recode(step: str, function: Callable) -> Kind:
    def variables(settings):
        names = _recoded(settings)
        check_recoding(step, settings)
        return names

    def apply(frame, spec, settings, *, seed):
        return Applied(function(frame, settings))

    def rule(name, settings):
        return lambda column: function(column.to_frame(name), {**settings, "variable": name})[name]

    def rules(settings):
        return {name: rule(name, settings) for name in _recoded(settings)}

    return Kind(apply, variables, rules=rules)


def _recoded(settings: Mapping[str, Any]) -> list[str]:
    for name in settings:
        if name in _OF_RECIPES:
            raise OptionError(f"{name} belongs at the top of the recipe, beside key_variables")
    if "variable" not in settings:
        raise OptionError("variable is not given; name the column to recode, such as variable: age")
    return names_in(settings["variable"], "variable")


_SUPPRESS = ("k_required", "importance", "combinations")
_SUPPRESS_RISK = ("threshold", "variables", "estimator")


def _suppress(frame, spec, settings, *, seed) -> Applied:
    check_settings(settings, _SUPPRESS, ("k_required",))
    return _suppressed(local_suppression(frame, spec, **settings))


def _suppress_risk(frame, spec, settings, *, seed) -> Applied:
    check_settings(settings, _SUPPRESS_RISK, ("threshold", "variables"))
    return _suppressed(suppress_above_risk(frame, spec, **settings))


def _suppressed(result: Suppression) -> Applied:
    return Applied(result.frame, claims=result.claims)


def _named_by_suppress(settings: Mapping[str, Any]) -> Iterator[str]:
    check_settings(settings, _SUPPRESS, ("k_required",))
    importance, combinations = settings.get("importance"), settings.get("combinations")
    if isinstance(importance, Mapping):
        yield from importance
    for each in combinations if isinstance(combinations, (list, tuple)) else ():
        if isinstance(each, Mapping) and "keys" in each:
            yield from names_in(each["keys"], "keys")


def _named_by_suppress_risk(settings: Mapping[str, Any]) -> list[str]:
    check_settings(settings, _SUPPRESS_RISK, ("threshold", "variables"))
    return names_in(settings["variables"], "variables")


def _removed(settings: Mapping[str, Any]) -> list[str]:
    check_settings(settings, ("variables",), ("variables",))
    return names_in(settings["variables"], "variables")


def _remove_variables(frame, spec, settings, *, seed) -> Applied:
    """Weight and household may go too: they are still measured with, which an outsider does not have."""
    names = _removed(settings)
    ghosts = [ghost for name in names for ghost in spec.ghost_variables.get(name, ())]
    if set(spec.key_variables) <= set(names):
        raise OptionError("no key variable would be left to measure; keep one, or do not protect the file")
    return Applied(frame, removed=tuple(dict.fromkeys([*names, *ghosts])))


def _shuffle_members(frame, spec, settings, *, seed) -> Applied:
    """Change places at random within each household; line numbers stay where they are.

    INE Chile (2023), section 6.7, block 6.15.
    """
    if spec.household is None:
        raise OptionError("shuffle_members needs a household; name the variable that tells households apart")
    household = coded(frame[spec.household]).codes
    shuffled = frame.iloc[within_households(household, np.random.default_rng(seed))]
    if settings.get("line_number") is not None:
        (line,) = _numbered(settings)
        shuffled = shuffled.assign(**{line: frame[line].set_axis(shuffled.index)})
    return Applied(shuffled)


def within_households(household: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """An order in which members of each household (its number, for every record) have changed places at random."""
    places = np.argsort(household, kind="stable")
    order = np.empty(len(household), dtype=np.intp)
    order[places] = np.lexsort((rng.random(len(household)), household))
    return order


def _numbered(settings: Mapping[str, Any]) -> list[str]:
    check_settings(settings, ("line_number",))
    line = settings.get("line_number")
    if line is not None and (not isinstance(line, str) or not line):
        raise OptionError(f"line_number must be the name of a column, not {shortened(repr(line))}")
    return [] if line is None else [line]


#: Name of a step -> its kind. Other modules add theirs.
STEPS: dict[str, Kind] = {
    **{name: _recode(name, function) for name, function in RECODE_STEPS.items()},
    "suppress": Kind(_suppress, _named_by_suppress, needs_k=True, within_strata=True),
    "suppress_risk": Kind(_suppress_risk, _named_by_suppress_risk),
    "remove_variables": Kind(_remove_variables, _removed),
    "shuffle_members": Kind(_shuffle_members, _numbered, random=True),
}
