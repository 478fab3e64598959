"""Steps of a recipe that a measure of loss does not see: by such a measure erasing a variable may cost nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import pandas as pd

from kanon_lab.digits import is_finite, number, percent
from kanon_lab.errors import shortened
from kanon_lab.recipes.frontier import MEASURES, USUAL_LOSS, measure_of

if TYPE_CHECKING:
    from kanon_lab.recipes.chain import Protection
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, fields, replace
from itertools import takewhile
from pathlib import Path
from pickle import dumps
from typing import Any

from kanon_lab.errors import KanonLabError, OptionError
from kanon_lab.recipes.chain import Protection, Recipe
from kanon_lab.recipes.frontier import USUAL_RISK, cheapest, frontier, is_measure
from kanon_lab.recipes.grid import MOST, Candidate, planned
from kanon_lab.recipes.plan import Plan, household_plan
from kanon_lab.recipes.processes import processors, shared_out
from kanon_lab.recipes.state import derived_seed
from kanon_lab.recipes.steps import kind_of
from kanon_lab.recipes.yaml_file import read_yaml
from kanon_lab.roles import check_k

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


#: How the seeds of a recipe are put into one number.
REPEATS = ("mean", "worst")


@dataclass(frozen=True)
class RiskUtilityMap:
    """Many recipes on one file: what each leaves of risk, and what it takes of utility.

    Attributes
    ----------
    points : DataFrame
        One row a recipe, in the order of the grid: ``label``, a column for each placeholder, ``repeats`` (seeds tried;
        1 where nothing is random), ``error`` (one line where the recipe could not be applied, else missing), and the
        measures of the last state (see `kanon_lab.recipes.measured.Measured.row`), the mean over the seeds. A
        measure that is not defined is missing.
    spread : DataFrame
        ``label`` and the standard deviation of each measure over the seeds: 0 where nothing is random, missing where
        one seed was tried.
    runs : DataFrame
        One row a recipe and seed: ``label``, ``seed``, ``error`` and the measures.
    recipes : dict of str to dict
        By label the settings, as in a recipe file.
    parameters : tuple of str
        The placeholders.
    perturbing : tuple of str
        Labels of recipes that perturb a key variable: risks of classes take what it shows for true.
    unseen : dict of str to dict
        By label and measure of loss, the steps that it does not see (`unseen_steps`).
    """

    points: pd.DataFrame = field(repr=False)
    spread: pd.DataFrame = field(repr=False)
    runs: pd.DataFrame = field(repr=False)
    recipes: dict[str, dict[str, Any]] = field(repr=False)
    parameters: tuple[str, ...]
    perturbing: tuple[str, ...] = field(repr=False)
    unseen: dict[str, dict[str, tuple[str, ...]]] = field(repr=False, default_factory=dict)

    @property
    def worst(self) -> pd.DataFrame:
        """As `points`, with the worst of each measure over the seeds instead of the mean: its largest cost."""
        runs, worst = self.runs.groupby("label", sort=False), self.points.copy()
        for name in worst.columns[worst.columns.get_loc("error") + 1 :]:
            if is_measure(name):
                each = runs[name].min() if measure_of(name).kept else runs[name].max()
                worst[name] = worst["label"].map(each).where(worst[name].notna())
        return worst

    def frontier(self, *, risk: str = USUAL_RISK, loss: str = USUAL_LOSS, repeats: str = "mean") -> pd.DataFrame:
        """`kanon_lab.recipes.frontier` of the mean over the seeds, or of the ``worst`` of them."""
        return frontier(self._points(repeats), risk=risk, loss=loss)

    def cheapest(
        self, *, at_most: float, risk: str = USUAL_RISK, loss: str = USUAL_LOSS, repeats: str = "mean"
    ) -> pd.Series:
        """`kanon_lab.recipes.cheapest` of the mean over the seeds, or of the ``worst`` of them."""
        return cheapest(self._points(repeats), at_most=at_most, risk=risk, loss=loss)

    def notes(self, risk: str = USUAL_RISK) -> tuple[str, ...]:
        """What a reader of the map should know where `risk` is the measure."""
        found = []
        if self.perturbing and risk not in ("key_linkage", "numeric_linkage"):
            found.append(f"{risk} takes perturbed keys for true ones; key_linkage does not")
        measures = list(self.spread.columns[1:])
        if (self.spread[measures].isna() & self.points[measures].notna()).any(axis=None):
            found.append(
                "something is random in a recipe of which one seed was tried; repeats show how much it matters"
            )
        return tuple(found)

    def caution(self, label: str, loss: str = USUAL_LOSS) -> str | None:
        """`blind_spot` of a recipe."""
        recipe = self.points.set_index("label", drop=False).loc[label]
        return blind_spot(recipe, self.unseen.get(label, {}), loss)

    def _points(self, repeats: str) -> pd.DataFrame:
        if repeats not in REPEATS:
            raise OptionError(f"repeats must be {' or '.join(REPEATS)}, not {shortened(repr(repeats))}")
        return self.points if repeats == "mean" else self.worst


# What of a recipe does not change the file as it came, nor what is measured in it.
_NOT_OF_THE_START = ("steps", "k_required", "seed", "language", "name")
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
        As in `kanon_lab.recipes.planned`: a recipe with placeholders and the values for them, or several recipes by
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
    >>> from kanon_lab.recipes import risk_utility_map
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
    return _is_random(household_plan(settings))


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
