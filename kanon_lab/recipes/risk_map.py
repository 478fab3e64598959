"""The map of many recipes on one file: what each leaves of risk, and what it takes of utility."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, fields, replace
from itertools import takewhile
from pathlib import Path
from pickle import dumps
from types import ModuleType
from typing import Any

import pandas as pd

from kanon_lab.errors import KanonLabError, OptionError, shortened
from kanon_lab.files import check_open_files
from kanon_lab.recipes.chain import Protection, Recipe
from kanon_lab.recipes.grid import MOST, Candidate, grid_candidates
from kanon_lab.recipes.plan import Plan, household_plan
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
        for name in worst.columns[list(worst.columns).index("error") + 1 :]:
            if is_measure(name):
                value = runs[name].min() if measure_of(name).kept else runs[name].max()
                worst[name] = worst["label"].map(value).where(worst[name].notna())
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
        As in `kanon_lab.recipes.grid_candidates`: a recipe with placeholders and the values for them, or several
        recipes by their labels. A recipe may also be the path of a file, as ``kanon-lab map`` reads it.
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
    >>> recipe = {"key_variables": ["age"], "steps": [{"recode": {"variable": "age", "width": "$w"}}]}
    >>> survey = pd.DataFrame({"age": [23, 27, 35, 61]})
    >>> found = kanon_lab.recipes.risk_utility_map(survey, recipe, {"w": [10, 40]}, workers=1)
    >>> found.points[["label", "global_risk"]].values.tolist()
    [['w=10', 0.75], ['w=40', 0.5]]
    """
    repeats = check_k(repeats, "repeats")
    workers = None if workers is None else check_k(workers, "workers")
    if isinstance(recipe, (str, Path)):
        path, recipe = recipe, read_yaml(recipe)
    candidates = grid_candidates(recipe, grid, path=path)
    runs = [run for n, candidate in enumerate(candidates) for run in _runs(n, candidate.recipe, repeats)]
    if len(runs) > MOST:
        raise OptionError(f"{len(runs):,} recipes and seeds are too many; take values or repeats out until {MOST:,}")
    first: dict[tuple, int] = {}

    def places(run: Run) -> list[int]:
        """Where it sorts beside the runs that begin with the same steps."""
        return [first.setdefault(run.keys[:length], len(first)) for length in range(1, len(run.keys) + 1)]

    ordered = sorted(runs, key=places)
    rows = {(run.number, run.seed): row for run, row in _measured(ordered, frame, workers, progress)}
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
        row = reached.state.measured.row()
        del row["estimator"]
        return {**row, "unseen": unseen_steps(reached)}

    def _reached(self, run: Run, position: int) -> Protection | KanonLabError:
        try:
            if position == 0:
                return replace(run.recipe, steps=()).apply(self._frame)
            name, settings = run.recipe.steps[position - 1]
            last: Any = self._path[-1][1]
            return last.apply(name, settings, seed=run.seeds[position - 1])
        except KanonLabError as error:
            return error


def _runs(number: int, recipe: Recipe, repeats: int) -> Iterator[Run]:
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
    """Something that can be told apart quickly, and is equal only where settings are: 1, 1.0 and true are not."""
    if isinstance(value, Mapping):
        return tuple((_key(name), _key(part)) for name, part in value.items())
    if isinstance(value, (list, tuple)):
        return (type(value) is list, *map(_key, value))
    return type(value).__name__, value if isinstance(value, (str, int, float, type(None))) else dumps(value)


def _measured(
    runs: Sequence[Run], frame: pd.DataFrame, workers: int | None, progress: bool
) -> Iterator[tuple[Run, dict]]:
    from tqdm import tqdm

    with tqdm(total=len(runs), desc="recipes", disable=None if progress else True, leave=False) as bar:
        done, start = 0, time.monotonic()
        if workers in (None, 1):
            walk = Walk(frame)
            alone = workers == 1 or processors() == 1
            while done < len(runs) and (alone or not _takes_long(time.monotonic() - start, done, len(runs))):
                yield runs[done], walk.measure(runs[done])
                done += 1
                bar.update()
            del walk
        rest = runs[done:]
        others = shared_out(Walk, (frame,), rest, min(workers or processors(), len(rest)))
        with closing(others):  # where this is interrupted, they are at once
            for measured in others:
                yield measured
                bar.update()


def _takes_long(seconds: float, done: int, total: int) -> bool:
    return done > 0 and min(seconds, seconds / done * (total - done)) >= _PATIENCE


def _collected(candidates: Sequence[Candidate], runs: Sequence[Run], rows: Sequence[dict]) -> RiskUtilityMap:
    labels, parameters = [candidate.label for candidate in candidates], tuple(candidates[0].parameters)
    of_run = [run.number for run in runs]
    measured = pd.DataFrame(rows).drop(columns=["error", "unseen", *parameters], errors="ignore").astype(float)
    error = pd.Series([row.get("error") for row in rows], name="error", dtype=object)
    every = pd.DataFrame({"label": [labels[number] for number in of_run], "seed": [run.seed for run in runs]})
    grouped, whole = measured.groupby(of_run), ~measured.isna().groupby(of_run).any()
    chosen = {name: [candidate.parameters[name] for candidate in candidates] for name in parameters}
    tried = {"repeats": error.groupby(of_run).size(), "error": error.groupby(of_run).first()}
    spread = grouped.std()
    spread.loc[[not _is_random(candidate.recipe) for candidate in candidates]] = 0.0
    perturbing = []
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
    )


# Parts for each process: small enough that none waits long for the last, and large enough to share their first steps.
_PARTS = 4
_of_this_process: list[Walk] = []


def processors() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def shared_out(
    maker: Callable, data: tuple, tasks: Sequence[Any], workers: int
) -> Generator[tuple[Any, Any], None, None]:
    """Each task with ``maker(*data).measure(task)``, as they are done; neighbours go to one process.

    Processes are new ones on every system: a copy of this one would have its threads' locks, but not its threads.
    """
    if not tasks:
        return
    check_open_files()
    size = -(-len(tasks) // (_PARTS * workers))
    parts = [tasks[start : start + size] for start in range(0, len(tasks), size)]
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _begin, (maker, data))
    try:
        with _without_script(), _without_signals():
            futures = {pool.submit(_work, part): part for part in parts}
        for future in as_completed(futures):
            yield from zip(futures[future], future.result())
    except BrokenProcessPool:
        raise OptionError("a process of the map was ended, perhaps for lack of memory; try fewer workers") from None
    except BaseException:
        for child in set(multiprocessing.active_children()) - others:
            child.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _without_script() -> Iterator[None]:
    """New processes would run the script of this one again, unless it has the guard that few scripts have."""
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


@contextmanager
def _without_signals() -> Iterator[None]:
    """What asks to stop is for this process alone, which then ends the new ones: begun so, they never hear of it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(maker: Callable, data: tuple) -> None:
    from tqdm import tqdm

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # where it cannot be blocked
    tqdm.set_lock(threading.RLock())  # by default one of the system, which stays where this process is ended
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _of_this_process[:] = [maker(*data)]


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)


def _work(tasks: Sequence[Any]) -> list[Any]:
    return [_of_this_process[0].measure(task) for task in tasks]
