"""A recipe with placeholders and a grid of values for them: every combination as a recipe of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from kanon_lab.errors import OptionError, described, inside, nearest, shortened
from kanon_lab.measures.registry import measures
from kanon_lab.recipes.chain import Recipe, as_recipe
from kanon_lab.recipes.state import drawn_seed
from kanon_lab.recipes.steps import STEPS
from kanon_lab.recipes.tradeoff import is_measure
from kanon_lab.recipes.yaml_file import beside

#: Recipes of a map, each seed counted, at most.
MOST = 5_000
_PLACEHOLDER = re.compile(r"\$(\$*)([^\W\d]\w*)")
_NAME = re.compile(r"[^\W\d]\w*")
_LABEL = 60
_ALONE = "the recipe"
_RESERVED = {
    "label",
    "repeats",
    "met",
    "unmet",
    "own",
    "error",
    "risk",
    "loss",
    "estimator",
    *(row.name for row in measures(shown="state")),
}


@dataclass(frozen=True)
class Candidate:
    """One recipe of a map."""

    #: Its name: of each placeholder the value, or the name of the value.
    label: str
    #: By placeholder its value where that is a text, number or truth value, and otherwise the name of the value.
    parameters: dict[str, Any]
    #: As in a recipe file.
    settings: dict[str, Any]
    #: The same, checked.
    recipe: Recipe


def grid_candidates(
    recipe: Mapping[str, Any],
    grid: Mapping[str, Any] | None = None,
    *,
    path: str | Path | None = None,
) -> tuple[Candidate, ...]:
    """Every recipe of a map, checked before any of them is applied.

    Parameters
    ----------
    recipe : mapping
        Settings as in a recipe file, in which a text ``$name`` is replaced by a value of the grid (``$$name`` is the
        text $name); or a mapping of labels to settings, without a grid. Among the ``steps`` a placeholder may be a
        step, a list of steps, or None.
    grid : mapping of str to list, optional
        Name of a placeholder -> its values. A value may have a name: write ``{name: value}`` in the list, unless the
        name is that of a step, or a mapping of names to values instead of the list. A value may hold other
        placeholders. By default the setting ``grid`` of the recipe.
    path : str or Path, optional
        The recipe file: files of hierarchies are looked for beside it.

    Examples
    --------
    >>> recipe = {"key_variables": ["age"], "steps": [{"recode": {"variable": "age", "width": "$w"}}]}
    >>> [candidate.label for candidate in kanon_lab.recipes.grid_candidates(recipe, {"w": [10, 20]})]
    ['w=10', 'w=20']
    """
    if not isinstance(recipe, Mapping) or not recipe:
        raise OptionError("a recipe must be a mapping of settings, such as key_variables: [region, sex, age]")
    seed = drawn_seed()
    if grid is None and all(isinstance(part, Mapping) for part in recipe.values()):
        labelled = _labelled(recipe).items()
        return tuple(_candidate(label, {}, _filled(settings, {}, set()), path, seed) for label, settings in labelled)
    template = {name: value for name, value in recipe.items() if name != "grid"}
    if grid is not None and "grid" in recipe:
        raise OptionError("the recipe has a grid of its own; give one of the two")
    choices = _choices(recipe.get("grid") if grid is None else grid)
    if (count := prod(map(len, choices.values()))) > MOST:
        raise OptionError(f"the grid makes {count:,} recipes; remove values until there are {MOST:,} or fewer")
    candidates: list[Candidate] = []
    used: set[str] = set()
    for combination in product(*(values.items() for values in choices.values())):
        chosen = dict(zip(choices, combination))
        shown = {  # a value by its name, unless that says no more than the value itself
            name: value if isinstance(value, (str, int, float)) and label == _words(value) else label
            for name, (label, value) in chosen.items()
        }
        label = ", ".join(f"{name}={label}" for name, (label, _) in chosen.items()) or _ALONE
        values = {name: value for name, (_, value) in chosen.items()}
        candidates.append(_candidate(label, shown, _filled(template, values, used), path, seed))
    if unused := [name for name in choices if name not in used]:
        raise OptionError(f"grid: {shortened(unused[0])} does not occur in the recipe; write ${unused[0]} there")
    return tuple(candidates)


def _labelled(values: Mapping[Any, Any]) -> dict[str, Any]:
    """Values by their names as texts."""
    labelled = {str(label): value for label, value in values.items()}
    if len(labelled) < len(values):
        raise OptionError("two names are alike as texts, such as 1 and '1'; choose others")
    return labelled


def _candidate(
    label: str, shown: dict[str, Any], settings: dict[str, Any], path: str | Path | None, seed: int
) -> Candidate:
    with inside("" if label == _ALONE else f"recipe {shortened(label, _LABEL)}"):
        settings = settings if path is None else beside(settings, path)
        recipe = as_recipe(settings, name="")
        if recipe.seed and settings.get("seed") is None:  # it was drawn; all recipes of a map have one, and keep it
            settings = {**settings, "seed": seed}
            recipe = as_recipe(settings, name="")
        return Candidate(label, shown, settings, recipe)


def _choices(grid: Any) -> dict[str, dict[str, Any]]:
    """By placeholder the values by their names."""
    if not isinstance(grid if grid is not None else {}, Mapping):
        raise OptionError("grid must be names with lists of values, such as k: [3, 5]")
    choices = {}
    for name, values in (grid or {}).items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise OptionError(f"grid: {shortened(repr(name))} can be no placeholder; take letters, digits and _")
        if name in _RESERVED or is_measure(name):
            raise OptionError(f"grid: {name} is a column of the map already; choose another name for the placeholder")
        choices[name] = _named(name, values)
    return choices


def _named(name: str, values: object) -> dict[str, Any]:
    if isinstance(values, str) or not isinstance(values, Iterable) or not (listed := list(values)):
        raise OptionError(f"grid: {name} must be a list of values, such as [3, 5], not {described(values)}")
    if isinstance(values, Mapping):
        return _labelled(values)
    labelled: dict[str, Any] = {}
    for value in listed:
        label = None
        if isinstance(value, Mapping) and len(value) == 1 and (key := next(iter(value))) not in STEPS:
            label, value = str(key), value[key]
        value = value.item() if isinstance(value, np.generic) else value
        label = shortened(_words(value), _LABEL) if label is None else label
        if label in labelled:
            raise OptionError(f"grid: {name} has two values {label}; name each, as in - {{first: ...}}")
        labelled[label] = value
    return labelled


def _words(value: object) -> str:
    """A value in a few characters, to tell recipes apart by."""
    if isinstance(value, Mapping):
        words = {key: f"({_words(part)})" if isinstance(part, Mapping) else _words(part) for key, part in value.items()}
        return ", ".join(f"{key}" if word == "none" else f"{key} {word}" for key, word in words.items())
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_words, value))}]"
    if value is None:
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _filled(value: Any, values: Mapping[str, Any], used: set[str]) -> Any:
    """The same settings with values in the place of placeholders; their names are added to `used`."""
    if isinstance(value, str) and (place := _PLACEHOLDER.fullmatch(value)):
        dollars, name = place.groups()
        if dollars:
            return value[1:]
        if name not in values:
            close = nearest(name, values)
            remedy = f"did you mean ${close}?" if close else f"write the values in the grid, or $${name} for the text"
            raise OptionError(f"${shortened(name)} has no values in the grid; {remedy}")
        used.add(name)
        return _filled(values[name], {other: values[other] for other in values if other != name}, used)
    if isinstance(value, Mapping):
        settings = {name: _filled(part, values, used) for name, part in value.items()}
        if isinstance(steps := value.get("steps"), (list, tuple)):  # a placeholder may be several steps, or none
            filled, settings["steps"] = settings["steps"], []
            for step, part in zip(steps, filled, strict=True):
                several = isinstance(step, str) and (part is None or isinstance(part, list))
                settings["steps"] += (part or []) if several else [part]
        return settings
    return [_filled(part, values, used) for part in value] if isinstance(value, (list, tuple)) else value
