"""A chain of steps as settings of plain types, in the order in which a recipe is read."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from kanon_lab.errors import OptionError, shortened
from kanon_lab.protection.state import Chain, Step
from kanon_lab.utility import IndicatorSet

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
    """The indicators as `kanon_lab.protection.as_indicators` takes them; the weight is the recipe's."""
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
