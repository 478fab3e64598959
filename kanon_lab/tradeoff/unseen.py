"""Steps of a recipe that a measure of loss does not see: by such a measure erasing a variable may cost nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import pandas as pd

from kanon_lab.digits import is_finite, number, percent
from kanon_lab.errors import shortened
from kanon_lab.tradeoff.best import USUAL_LOSS
from kanon_lab.tradeoff.measures import MEASURES, measure_of

if TYPE_CHECKING:
    from kanon_lab.protection import Protection

# A loss that rises by less has not risen.
_SAME = 1e-12
_MOST_TOLD = 3


def unseen_steps(protection: Protection) -> dict[str, tuple[str, ...]]:
    """By measure of loss the steps that it does not see, each as ``1 (recode age)``.

    One that touched a key, sensitive or numeric variable while the cost did not rise, or is not defined.
    """
    spec = protection.spec
    tracked = dict.fromkeys((*spec.key_variables, *spec.sensitive_variables, *spec.numeric_variables))
    found: dict[str, list[str]] = {name: [] for name in MEASURES if MEASURES[name].kind == "loss"}
    before = protection.start.measured.row()
    for position, step in enumerate(protection.steps, start=1):
        after, cells = step.state.measured.row(), (step.changed, step.suppressed)
        touched = [name for name in tracked if name in step.removed or any(each.get(name) for each in cells)]
        if touched:
            text = f"{position} ({step.name} {', '.join(shortened(str(name)) for name in touched)})"
            for name, steps in found.items():
                if not _rises(name, before.get(name), after.get(name)):
                    steps.append(text)
        before = after
    return {name: tuple(steps) for name, steps in found.items()}


def blind_spot(recipe: pd.Series, unseen: Mapping[str, Iterable[str]], loss: str) -> str | None:
    """In a line, which steps of a recipe (a row of the map) its loss does not see, and what it costs by others."""
    steps = list(unseen.get(loss, ()))
    if not steps:
        return None
    costs = [f"{name} {_told(name, recipe[name])}" for name in seeing([unseen], loss) if is_finite(recipe.get(name))]
    beside = f"its cost by measures that do: {', '.join(costs[:_MOST_TOLD])}" if costs else "no measure here does"
    return f"{loss} does not see step {', '.join(steps)} of {shortened(str(recipe['label']), 80)}; {beside}"


def seeing(recipes: Iterable[Mapping[str, Iterable[str]]], loss: str) -> list[str]:
    """Measures that see every step that `loss` does not in any of the recipes, the usual loss first."""
    recipes = list(recipes)
    names = sorted((name for name in MEASURES if MEASURES[name].kind == "loss"), key=lambda name: name != USUAL_LOSS)
    return [name for name in names if all({*each.get(loss, ())}.isdisjoint(each.get(name, ())) for each in recipes)]


def _rises(name: str, before: float | None, after: float | None) -> bool:
    if not (is_finite(before) and is_finite(after)):
        return False
    kept = measure_of(name).kept
    return (before - after if kept else after - before) > _SAME


def _told(name: str, value: float) -> str:
    measure = measure_of(name)
    return percent(1 - value if measure.kept else value) if measure.share else number(value)
