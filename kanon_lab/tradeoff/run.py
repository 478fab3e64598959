"""Many recipes on one file: what several begin with is done once, in one process or in several."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, fields, replace
from itertools import takewhile
from pathlib import Path
from pickle import dumps
from typing import Any

import pandas as pd

from kanon_lab.errors import KanonLabError, OptionError
from kanon_lab.keys import check_k
from kanon_lab.protection import Protection, Recipe
from kanon_lab.protection.checks import derived_seed
from kanon_lab.protection.plan import Plan, household_plan
from kanon_lab.protection.steps import kind_of
from kanon_lab.protection.yaml_file import read_yaml
from kanon_lab.tradeoff.grid import MOST, Candidate, planned
from kanon_lab.tradeoff.processes import processors, shared_out
from kanon_lab.tradeoff.result import RiskUtilityMap
from kanon_lab.tradeoff.unseen import unseen_steps

# What of a recipe does not change the file as it came, nor what is measured in it.
_NOT_OF_THE_START = ("steps", "k_required", "seed", "language", "where")
# Others are started, which takes a second or two, after so many seconds in this process with as many to come.
_PATIENCE = 3.0


def risk_utility_map(
    frame: pd.DataFrame,
    recipe: Mapping[str, Any] | str | Path,
    grid: Mapping[str, Any] | None = None,
    *,
    repeats: int = 1,
    workers: int | None = None,
    progress: bool = True,
    path: str | Path | None = None,
) -> RiskUtilityMap:
    """Apply many recipes to one file, and measure what each leaves of risk and takes of utility.

    Parameters
    ----------
    frame : DataFrame
        One row a record, under index labels of their own.
    recipe, grid, path
        As in `kanon_lab.tradeoff.planned`: a recipe with placeholders and the values for them, or several recipes by
        their labels. A recipe may also be the path of a file, as ``kanon-lab map`` reads it.
    repeats : int
        Seeds that are tried of a recipe in which something is random: its own seed and those that follow it. A step
        with a seed in its settings keeps that.
    workers : int, optional
        Processes. By default as many as there are processors, once the first seconds show that it takes longer. The
        result is the same.
    progress : bool
        Whether to show the recipes on standard error, if that is a terminal.

    Returns
    -------
    RiskUtilityMap
        A recipe that cannot be applied to this file is in it with its error.

    Notes
    -----
    Steps that several recipes begin with are applied once in each process. What is kept in memory meanwhile are the
    states of one recipe.

    Examples
    --------
    >>> import pandas as pd
    >>> from kanon_lab.tradeoff import risk_utility_map
    >>> recipe = {"key_variables": ["age"], "steps": [{"recode": {"variable": "age", "width": "$w"}}]}
    >>> found = risk_utility_map(pd.DataFrame({"age": [23, 27, 35, 61]}), recipe, {"w": [10, 40]}, workers=1)
    >>> found.points[["label", "global_risk"]].values.tolist()
    [['w=10', 0.75], ['w=40', 0.5]]
    """
    repeats = check_k(repeats, "repeats")
    workers = None if workers is None else check_k(workers, "workers")
    if isinstance(recipe, (str, Path)):
        recipe, path = read_yaml(recipe), recipe
    candidates = planned(recipe, grid, path=path)
    runs = [run for number, each in enumerate(candidates) for run in _runs(number, each.recipe, repeats)]
    if len(runs) > MOST:
        raise OptionError(f"{len(runs):,} recipes and seeds are too many; take values or repeats out until {MOST:,}")
    ordered = _beside_those_alike(runs)
    rows = dict(_measured(ordered, frame, workers, progress))
    return _collected(candidates, runs, [rows[run.number, run.seed] for run in runs])


@dataclass(frozen=True)
class Run:
    """A recipe (the `number`-th of the map) with one seed, and the seed of each step.

    What is done has one key for the start and one for each step: where they are equal, so is the result.
    """

    number: int
    seed: int
    recipe: Recipe
    seeds: tuple[int | None, ...]
    keys: tuple


class Walk:
    """Apply one recipe after another to a file, going back no further than they differ."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame
        self._path: list[tuple[Any, Protection | KanonLabError]] = []

    def measure(self, run: Run) -> dict[str, Any]:
        """The measures after the last step, or the ``error``."""
        try:
            run.recipe.check(self._frame)
        except KanonLabError as error:
            return {"error": str(error)}
        same = len([*takewhile(lambda pair: pair[0][0] == pair[1], zip(self._path, run.keys))])
        del self._path[same:]
        for position in range(same, len(run.keys)):
            if not self._path or isinstance(self._path[-1][1], Protection):
                self._path.append((run.keys[position], self._reached(run, position)))
        reached = self._path[-1][1]
        if not isinstance(reached, Protection):
            return {"error": str(reached)}
        return {**_last(reached), "unseen": unseen_steps(reached)}

    def _reached(self, run: Run, position: int) -> Protection | KanonLabError:
        try:
            if position == 0:
                return replace(run.recipe, steps=()).apply(self._frame)
            name, settings = run.recipe.steps[position - 1]
            return self._path[-1][1].apply(name, settings, seed=run.seeds[position - 1])
        except KanonLabError as error:
            return error


def _last(protection: Protection) -> dict[str, Any]:
    """What is measured of the file in the end, in numbers."""
    return {name: value for name, value in protection.state.measured.row().items() if not isinstance(value, str)}


def _runs(number: int, recipe: Recipe, repeats: int) -> Iterator[Run]:
    start = tuple(_key(getattr(recipe, each.name)) for each in fields(Recipe) if each.name not in _NOT_OF_THE_START)
    for seed in range(recipe.seed, recipe.seed + (repeats if _is_random(recipe) else 1)):
        seeds = []
        for position, (name, settings) in enumerate(recipe.steps, start=1):
            own = settings.get("seed") is not None or not kind_of(name).random
            seeds.append(None if own else derived_seed(seed if _varies(name, settings) else recipe.seed, position))
        steps = [(name, _key(settings), each) for (name, settings), each in zip(recipe.steps, seeds)]
        yield Run(number, seed, recipe, tuple(seeds), (start, *steps))


def _is_random(recipe: Plan) -> bool:
    return any(_varies(*step) for step in recipe.steps)


def _varies(name: str, settings: Mapping[str, Any]) -> bool:
    """Whether the step gives another result for another seed of the recipe."""
    if settings.get("seed") is not None or not kind_of(name).random:
        return False
    if name != "household_level":
        return True
    return _is_random(Plan(**household_plan(settings)))


def _key(value: Any) -> Any:
    """Something that can be told apart quickly, and is equal only where settings are: 1, 1.0 and true are not."""
    if isinstance(value, Mapping):
        return tuple((_key(name), _key(each)) for name, each in value.items())
    if isinstance(value, (list, tuple)):
        return (type(value) is list, *map(_key, value))
    return type(value).__name__, value if isinstance(value, (str, int, float, type(None))) else dumps(value)


def _beside_those_alike(runs: Sequence[Run]) -> list[Run]:
    """The runs in an order in which those that begin with the same steps follow each other."""
    first: dict[tuple, int] = {}
    places = []
    for run in runs:
        beginnings = [run.keys[:length] for length in range(1, len(run.keys) + 1)]
        places.append([first.setdefault(beginning, len(first)) for beginning in beginnings])
    return [run for _, run in sorted(zip(places, runs), key=lambda pair: pair[0])]


def _measured(
    runs: Sequence[Run], frame: pd.DataFrame, workers: int | None, progress: bool
) -> Iterator[tuple[tuple[int, int], dict]]:
    from tqdm import tqdm

    with tqdm(total=len(runs), desc="recipes", disable=None if progress else True, leave=False) as bar:
        done, start = 0, time.monotonic()
        if workers in (None, 1):
            walk = Walk(frame)
            alone = workers == 1 or processors() == 1
            while done < len(runs) and (alone or not _takes_long(time.monotonic() - start, done, len(runs))):
                run = runs[done]
                yield (run.number, run.seed), walk.measure(run)
                done += 1
                bar.update()
            del walk
        rest = runs[done:]
        others = shared_out(Walk, (frame,), rest, min(workers or processors(), len(rest)))
        with closing(others):  # where this is interrupted, they are at once
            for run, row in others:
                yield (run.number, run.seed), row
                bar.update()


def _takes_long(seconds: float, done: int, total: int) -> bool:
    return done > 0 and min(seconds, seconds / done * (total - done)) >= _PATIENCE


def _collected(candidates: Sequence[Candidate], runs: Sequence[Run], rows: Sequence[dict]) -> RiskUtilityMap:
    labels, parameters = [each.label for each in candidates], tuple(candidates[0].parameters)
    of_run = [run.number for run in runs]
    measured = pd.DataFrame(rows).drop(columns=["error", "unseen", *parameters], errors="ignore").astype(float)
    error = pd.Series([row.get("error") for row in rows], name="error", dtype=object)
    every = pd.DataFrame({"label": [labels[number] for number in of_run], "seed": [run.seed for run in runs]})
    grouped, whole = measured.groupby(of_run), ~measured.isna().groupby(of_run).any()
    chosen = {name: [each.parameters[name] for each in candidates] for name in parameters}
    tried = {"repeats": error.groupby(of_run).size(), "error": error.groupby(of_run).agg(_first_known)}
    spread = grouped.std()
    spread.loc[[not _is_random(each.recipe) for each in candidates]] = 0.0
    return RiskUtilityMap(
        points=pd.concat([pd.DataFrame({"label": labels, **chosen, **tried}), grouped.mean().where(whole)], axis=1),
        spread=pd.concat([pd.Series(labels, name="label"), spread.where(whole)], axis=1),
        runs=pd.concat([every, error, measured], axis=1),
        recipes={each.label: each.settings for each in candidates},
        parameters=parameters,
        perturbing=tuple(each.label for each in candidates if _perturbs_keys(each.recipe)),
        unseen={labels[number]: row["unseen"] for number, row in zip(of_run, rows, strict=True) if "unseen" in row},
    )


def _perturbs_keys(recipe: Recipe) -> bool:
    names = {name for step, settings in recipe.steps for name in kind_of(step).perturbed(settings)}
    return not names.isdisjoint(recipe.spec.key_variables)


def _first_known(errors: pd.Series) -> str | None:
    known = errors.dropna()
    return None if known.empty else known.iloc[0]
