"""The map of many recipes on one file: what each leaves of risk, and what it takes of utility."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, fields, replace
from itertools import takewhile
from pathlib import Path
from pickle import dumps
from typing import Any

import pandas as pd

from kanon_lab.data.microdata import MicrodataFile
from kanon_lab.errors import KanonLabError, OptionError, described
from kanon_lab.measures.registry import limit_of
from kanon_lab.memory import Memory
from kanon_lab.recipes.chain import Protection, Recipe, as_recipe
from kanon_lab.recipes.grid import MOST, Candidate, grid_candidates
from kanon_lab.recipes.map_limits import OWN, judged_rows, summarised, unmet_by_all, verdict_of, verdicts_of
from kanon_lab.recipes.plan import Plan, household_plan
from kanon_lab.recipes.processes import processors, shared_out
from kanon_lab.recipes.state import derived_seed
from kanon_lab.recipes.steps import kind_of
from kanon_lab.recipes.tradeoff import (
    USUAL_LOSS,
    USUAL_RISK,
    blind_spot,
    cheapest,
    frontier,
    is_measure,
    measure_of,
    risk_and_loss,
    unseen_steps,
)
from kanon_lab.recipes.yaml_file import read_yaml
from kanon_lab.roles import check_k

#: How the seeds of a recipe are put into one number.
REPEATS = ("mean", "worst")


@dataclass(frozen=True)
class RiskUtilityMap:
    """Many recipes on one file: what each leaves of risk, and what it takes of utility.

    Attributes
    ----------
    points : DataFrame
        One row a recipe, in the order of the grid: ``label``, a column for each placeholder, ``repeats`` (seeds tried;
        1 if nothing is random), ``met`` (whether every limit is met, by each of the seeds; missing where no limit is
        set), ``unmet`` (names of the limits that are not met), ``own`` (whether it is one's own), ``error`` (one line
        if the recipe could not be applied, else missing), and the measures of the last state (see
        `kanon_lab.recipes.measured.Measured.row`), as the mean over the seeds; missing if not defined.
    spread : DataFrame
        ``label`` and the standard deviation of each measure over the seeds: 0 if nothing is random, missing if one seed
        was tried.
    runs : DataFrame
        One row a recipe and seed: ``label``, ``seed``, ``error`` and the measures.
    recipes : dict of str to dict
        By label the settings, as in a recipe file.
    parameters : tuple of str
        The placeholders.
    perturbing : tuple of str
        Labels of recipes that perturb a key variable: risks of classes take perturbed values as true.
    unseen : dict of str to dict
        By label and measure of loss, the steps that the measure does not see (`unseen_steps`).
    verdicts : DataFrame
        One row a recipe, seed and limit: ``label``, ``seed`` and the columns of `kanon_lab.recipes.Judged.verdict`.
        Limits that need a search of the released columns are judged where all others are met.
    unjudged : tuple of str
        Names of the limits by which no recipe was judged, since none meets all others.
    """

    points: pd.DataFrame = field(repr=False)
    spread: pd.DataFrame = field(repr=False)
    runs: pd.DataFrame = field(repr=False)
    recipes: dict[str, dict[str, Any]] = field(repr=False)
    parameters: tuple[str, ...]
    perturbing: tuple[str, ...] = field(repr=False)
    unseen: dict[str, dict[str, tuple[str, ...]]] = field(repr=False, default_factory=dict)
    verdicts: pd.DataFrame = field(repr=False, default_factory=lambda: verdicts_of((), (), ()))
    unjudged: tuple[str, ...] = ()

    @property
    def limits(self) -> pd.DataFrame:
        """One row a limit: ``name``, ``variable``, ``level``, ``limit``, ``bound``, the ``recipes`` that meet it out of
        those that were ``judged`` by it, and the value that comes ``nearest``, with the ``label`` of its recipe."""
        return summarised(self.verdicts)

    @property
    def own(self) -> str | None:
        """The label of one's own recipe, where it is among them."""
        return next(iter(self.points.loc[self.points["own"], "label"]), None)

    def own_point(self, *, risk: str = USUAL_RISK, loss: str = USUAL_LOSS, repeats: str = "mean") -> pd.Series | None:
        """One's own recipe as a row of `kanon_lab.recipes.risk_and_loss`; None where it is not among them."""
        rows = risk_and_loss(self._points(repeats), risk=risk, loss=loss)
        return rows[rows["own"]].iloc[0] if rows["own"].any() else None

    @property
    def none_meets(self) -> str | None:
        """A line on the limits that no recipe meets; None where some recipe meets all, or none is set."""
        met = self.points["met"]
        return unmet_by_all(self.limits) if len(self.verdicts) and not met.fillna(False).any() else None

    @property
    def worst(self) -> pd.DataFrame:
        """As `points`, with the largest cost of each measure over the seeds instead of the mean."""
        runs, worst = self.runs.groupby("label", sort=False), self.points.copy()
        for name in worst.columns[list(worst.columns).index("error") + 1 :]:
            if is_measure(name):
                value = runs[name].min() if measure_of(name).more_is_better else runs[name].max()
                worst[name] = worst["label"].map(value).where(worst[name].notna())
        return worst

    def frontier(self, *, risk: str = USUAL_RISK, loss: str = USUAL_LOSS, repeats: str = "mean") -> pd.DataFrame:
        """`kanon_lab.recipes.frontier` of the mean over the seeds, or of the ``worst`` of them."""
        return frontier(self._points(repeats), risk=risk, loss=loss)

    def cheapest(
        self, *, at_most: float, risk: str = USUAL_RISK, loss: str = USUAL_LOSS, repeats: str = "mean"
    ) -> pd.Series:
        """`kanon_lab.recipes.cheapest` of the mean over the seeds, or of the ``worst`` of them.

        Where limits are set, it meets all of them; an `OptionError` names those that no recipe meets.
        """
        if line := self.none_meets:
            raise OptionError(line)
        return cheapest(self._points(repeats), at_most=at_most, risk=risk, loss=loss)

    def notes(self, risk: str = USUAL_RISK) -> tuple[str, ...]:
        """Notes for a reader of the map whose measure of risk is `risk`."""
        notes = []
        if self.perturbing and measure_of(risk).taken_from == "classes":
            notes.append(f"{risk} takes perturbed keys for true ones; key_linkage does not")
        measures = list(self.spread.columns[1:])
        if (self.spread[measures].isna() & self.points[measures].notna()).any(axis=None):
            notes.append(
                "something is random in a recipe of which one seed was tried; repeats show how much it matters"
            )
        return tuple(notes)

    def caution(self, label: str, loss: str = USUAL_LOSS) -> str | None:
        """`blind_spot` of a recipe."""
        recipe: Any = self.points.set_index("label", drop=False).loc[label]
        return blind_spot(recipe, self.unseen.get(label, {}), loss)

    def _points(self, repeats: str) -> pd.DataFrame:
        if repeats not in REPEATS:
            raise OptionError(f"repeats must be {' or '.join(REPEATS)}, not {described(repeats)}")
        return self.points if repeats == "mean" else self.worst


# Parts of a recipe that change neither the file as it came nor its measures.
_NOT_OF_THE_START = ("steps", "k_required", "limits", "seed", "language", "name", "notes")
# Other processes, which take a second or two to start, are started after so many seconds with as many to come.
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
    own: Mapping[str, Any] | None = None,
    risk: str | None = None,
) -> RiskUtilityMap:
    """Apply many recipes to one file, and measure the risk that each leaves and the utility that it costs.

    Parameters
    ----------
    frame : DataFrame
        One row a record, under index labels of their own.
    recipe, grid, path
        As in `kanon_lab.recipes.grid_candidates`: a recipe with placeholders and the values for them, or several
        recipes by their labels. A recipe may also be the path of a file, as ``kanon-lab map`` reads it.
    repeats : int
        Seeds to try of a recipe with random steps, from 1 on: its own seed and those that follow it. A step keeps
        a seed in its settings.
    workers : int, optional
        Processes, from 1 on. By default one, or as many as there are processors if it takes more than seconds. The
        result is the same.
    progress : bool
        Whether to show the recipes on standard error, if that is a terminal.
    own : mapping, optional
        One's own recipe, to be marked among the others, and tried beside them if it is none of them.
    risk : str, optional
        A measure that is to be an axis of the map, taken of every recipe even if only limits need it, such as
        ``exposed_by_columns``; see `kanon_lab.recipes.MEASURES`.

    Returns
    -------
    RiskUtilityMap
        A recipe that cannot be applied to this file has an error.

    Notes
    -----
    Steps that several recipes begin with are applied once in each process, which holds the states of one recipe.

    Examples
    --------
    >>> recipe = {"key_variables": ["age"], "steps": [{"recode": {"variable": "age", "width": "$w"}}]}
    >>> survey = pd.DataFrame({"age": [23, 27, 35, 61]})
    >>> tried = kanon_lab.recipes.risk_utility_map(survey, recipe, {"w": [10, 40]}, workers=1)
    >>> tried.points[["label", "global_risk"]].values.tolist()
    [['w=10', 0.75], ['w=40', 0.5]]
    """
    repeats = check_k(repeats, "repeats")
    workers = None if workers is None else check_k(workers, "workers")
    if isinstance(recipe, (str, Path)):
        path, recipe = recipe, read_yaml(recipe)
    candidates = grid_candidates(recipe, grid, path=path)
    runs = [run for n, candidate in enumerate(candidates) for run in runs_of(n, candidate.recipe, repeats)]
    number = None
    if own is not None:
        wanted = as_recipe(own, name="")
        number = next((n for n, candidate in enumerate(candidates) if candidate.recipe == wanted), None)
        if number is None:
            number = len(candidates)
            candidates = (*candidates, Candidate(OWN, dict.fromkeys(candidates[0].parameters), dict(own), wanted))
            runs += runs_of(number, wanted, repeats)
    if len(runs) > MOST:
        raise OptionError(f"{len(runs):,} recipes and seeds are too many; remove values or repeats until {MOST:,}")
    first: dict[tuple, int] = {}

    def places(run: Run) -> list[int]:
        """Where it sorts beside the runs that begin with the same steps."""
        return [first.setdefault(run.keys[:length], len(first)) for length in range(1, len(run.keys) + 1)]

    ordered = sorted(runs, key=places)
    axis = None if risk is None else measure_of(risk, "risk")
    more = () if axis is None or axis.is_shown("state") else (axis.name,)  # no process can be sent its functions
    rows = {(run.number, run.seed): row for run, row in _measured(ordered, (frame, more), workers, progress)}
    return _collected(candidates, runs, [rows[run.number, run.seed] for run in runs], number)


@dataclass(frozen=True)
class Run:
    """A recipe (the `number`-th of the map) with one seed, and the seed of each step.

    `keys` has one key for the start and one for each step: equal keys mean equal results.
    """

    number: int
    seed: int
    recipe: Recipe
    seeds: tuple[int | None, ...]
    keys: tuple


class Walk:
    """Apply one recipe after another to a file, going back no further than they differ."""

    def __init__(self, frame: pd.DataFrame | MicrodataFile, more: tuple[str, ...] = ()) -> None:
        self._frame, self._more, self.memory = frame, tuple(map(measure_of, more)), Memory()
        self._path: list[tuple[Any, Protection | KanonLabError]] = []

    def measure(self, run: Run) -> dict[str, Any]:
        """The measures after the last step and the ``verdict``, or the ``error``."""
        try:
            with self.memory.used():
                return self._measured(self.reach(run), run)
        except KanonLabError as error:
            return {"error": str(error)}

    def _measured(self, reached: Protection, run: Run) -> dict[str, Any]:
        row = reached.state.measured.row()
        del row["estimator"]
        return {**row, "unseen": unseen_steps(reached), **judged_rows(reached, run.recipe, self._more)}

    def reach(self, run: Run, before: Callable[[int], None] = lambda position: None) -> Protection:
        """The file after the last step; `before` is called with the place of each step that is applied, the start 0."""
        run.recipe.check(self._frame)
        same = len([*takewhile(lambda pair: pair[0][0] == pair[1], zip(self._path, run.keys))])
        del self._path[same:]
        for position in range(same, len(run.keys)):
            if not self._path or isinstance(self._path[-1][1], Protection):
                before(position)
                self._path.append((run.keys[position], self._reached(run, position)))
        reached = self._path[-1][1]
        if not isinstance(reached, Protection):
            raise reached
        return reached

    def _reached(self, run: Run, position: int) -> Protection | KanonLabError:
        try:
            if position == 0:
                return replace(run.recipe, steps=()).apply(self._frame)
            name, settings = run.recipe.steps[position - 1]
            last: Any = self._path[-1][1]
            return last.apply(name, settings, seed=run.seeds[position - 1])
        except KanonLabError as error:
            return error


def runs_of(number: int, recipe: Recipe, repeats: int = 1) -> Iterator[Run]:
    """The runs of the `number`-th recipe: one, or as many seeds if something in it is random."""
    start = tuple(_key(getattr(recipe, part.name)) for part in fields(Recipe) if part.name not in _NOT_OF_THE_START)
    for seed in range(recipe.seed, recipe.seed + (repeats if _is_random(recipe) else 1)):
        seeds = []
        for position, (name, settings) in enumerate(recipe.steps, start=1):
            own = settings.get("seed") is not None or not kind_of(name).random
            seeds.append(None if own else derived_seed(seed if _varies(name, settings) else recipe.seed, position))
        steps = [(name, _key(settings), own) for (name, settings), own in zip(recipe.steps, seeds)]
        yield Run(number, seed, recipe, tuple(seeds), (start, *steps))


def _is_random(recipe: Plan) -> bool:
    return any(_varies(*step) for step in recipe.steps)


def _varies(name: str, settings: Mapping[str, Any]) -> bool:
    """Whether the step gives another result for another seed of the recipe."""
    random = settings.get("seed") is None and kind_of(name).random
    return random and (name != "household_level" or _is_random(household_plan(settings)))


def _key(value: Any) -> Any:
    """A hashable form of settings, equal only if the settings are: 1, 1.0 and true are not."""
    if isinstance(value, Mapping):
        return tuple((_key(name), _key(part)) for name, part in value.items())
    if isinstance(value, (list, tuple)):
        return (type(value) is list, *map(_key, value))
    return type(value).__name__, value if isinstance(value, (str, int, float, type(None))) else dumps(value)


def _measured(runs: Sequence[Run], data: tuple, workers: int | None, progress: bool) -> Iterator[tuple[Run, dict]]:
    from tqdm import tqdm

    with tqdm(total=len(runs), desc="recipes", disable=None if progress else True, leave=False) as bar:
        done, start = 0, time.monotonic()
        if workers in (None, 1):
            walk = Walk(*data)
            alone = workers == 1 or processors() == 1
            while done < len(runs):
                seconds = time.monotonic() - start
                if not alone and done and min(seconds, seconds / done * (len(runs) - done)) >= _PATIENCE:
                    break
                yield runs[done], walk.measure(runs[done])
                done += 1
                bar.update()
            del walk
        rest = runs[done:]
        others = shared_out(Walk, data, rest, min(workers or processors(), len(rest)))
        with closing(others):  # where this is interrupted, they are at once
            for measured in others:
                yield measured
                bar.update()


def _collected(
    candidates: Sequence[Candidate], runs: Sequence[Run], rows: Sequence[dict], own: int | None
) -> RiskUtilityMap:
    labels, parameters = [candidate.label for candidate in candidates], tuple(candidates[0].parameters)
    of_run = [run.number for run in runs]
    others = ["error", "unseen", "verdict", *parameters]
    measured = pd.DataFrame(rows).drop(columns=others, errors="ignore").astype(float)
    error = pd.Series([row.get("error") for row in rows], name="error", dtype=object)
    every = pd.DataFrame({"label": [labels[number] for number in of_run], "seed": [run.seed for run in runs]})
    grouped, whole = measured.groupby(of_run), ~measured.isna().groupby(of_run).any()
    chosen: dict[str, Any] = {name: [candidate.parameters[name] for candidate in candidates] for name in parameters}
    if labels[-1] == OWN:  # it has no values, and numbers beside none stay whole
        chosen = {name: pd.Series(values, dtype=object) for name, values in chosen.items()}
    of_seeds: list[list] = [[] for _ in candidates]
    for place, row in zip(of_run, rows, strict=True):
        of_seeds[place] += row.get("verdict", ())
    met, unmet = zip(*map(verdict_of, of_seeds))
    tried = {
        "repeats": error.groupby(of_run).size(),
        "met": pd.array(met, dtype="boolean"),
        "unmet": pd.Series(unmet, dtype=object),
        "own": [number == own for number in range(len(candidates))],
        "error": error.groupby(of_run).first(),
    }
    spread = grouped.std()
    spread.loc[[not _is_random(candidate.recipe) for candidate in candidates]] = 0.0
    verdicts = verdicts_of([*every["label"]], [*every["seed"]], rows)
    wanted = dict.fromkeys(name for candidate in candidates for name in candidate.recipe.limits)
    judged, perturbing = {*verdicts["name"]}, []
    for candidate in candidates:
        keys, steps = {*candidate.recipe.spec.key_variables}, candidate.recipe.steps
        if any(keys.intersection(kind_of(step).perturbed(settings)) for step, settings in steps):
            perturbing.append(candidate.label)
    return RiskUtilityMap(
        points=pd.concat([pd.DataFrame({"label": labels, **chosen, **tried}), grouped.mean().where(whole)], axis=1),
        spread=pd.concat([pd.Series(labels, name="label"), spread.where(whole)], axis=1),
        runs=pd.concat([every, error, measured], axis=1),
        recipes={candidate.label: candidate.settings for candidate in candidates},
        parameters=parameters,
        perturbing=tuple(perturbing),
        unseen={labels[number]: row["unseen"] for number, row in zip(of_run, rows, strict=True) if "unseen" in row},
        verdicts=verdicts,
        unjudged=tuple(name for name in wanted if len(verdicts) and not (name in judged or limit_of(name).quiet)),
    )
