"""Recipes: the roles of a file's variables and the steps of its protection, as a YAML file holds them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import pandas as pd

from kanon_lab import files
from kanon_lab.arguments import as_share
from kanon_lab.data import MicrodataFile
from kanon_lab.errors import KanonLabError, OptionError, shortened
from kanon_lab.keys import KeySpec, check_k, check_seed
from kanon_lab.protection.chain import USUAL_ESTIMATOR, USUAL_K, USUAL_RISKS, Protection, protect
from kanon_lab.protection.checks import check_columns, check_names, step_errors
from kanon_lab.protection.hierarchy_files import beside, seen_from
from kanon_lab.protection.limits import as_limits, in_new_words
from kanon_lab.protection.reading import READING_SETTINGS, as_reading
from kanon_lab.protection.steps import kind_of
from kanon_lab.protection.yaml_file import dump_yaml, read_yaml
from kanon_lab.terms import LANGUAGES
from kanon_lab.utility import IndicatorSet, as_indicators

_ROLES = tuple(role.name for role in fields(KeySpec))
_ONE_NAME = ("weight", "household", "missing")
_MEASURED = ("k_required", "k", "risks", "estimator")
#: Settings of a recipe, and of its household level.
RECIPE_SETTINGS = (*_ROLES, *_MEASURED, "limits", "indicators", "language", "seed", "household_level", "steps")
_OF_FILES = ("household", "direct_identifiers", "limits", "indicators", "language", "household_level")
HOUSEHOLD_SETTINGS = tuple(name for name in RECIPE_SETTINGS if name not in _OF_FILES)
# Settings of a report's configuration that a recipe has no use for.
_OF_REPORTS = ("title", "least", "map")
#: Settings that the configuration of a report has besides (`kanon_lab.report`); a recipe may stand among them.
REPORT_SETTINGS = (*_OF_REPORTS, *READING_SETTINGS)
_INHERITED = ("missing", *_MEASURED)


@dataclass(frozen=True)
class Recipe:
    """What is to be done to a file.

    Attributes
    ----------
    spec : KeySpec
        The roles of its variables.
    steps : tuple of (str, dict)
        Name and settings of each step.
    k_required : int or None
        For the steps and reports that do not say another.
    k, risks, estimator, indicators, seed
        As in `kanon_lab.protection.protect`; the levels of a limit ``above_risk`` are among the risks.
    limits : dict
        Those of the office, as `kanon_lab.protection.limits.as_limits` gives them; empty where there are none.
    reading : dict
        How to read the file: options of `kanon_lab.data.read_file`.
    language : str
        Of reports; one of `kanon_lab.terms.LANGUAGES`.
    where : str
        What it is called in messages about a file that it is applied to; nothing where it is empty.
    notes : tuple of str
        What is to be known of its settings: old words that it was written in, and what only a report uses.
    """

    spec: KeySpec
    steps: tuple[tuple[str, dict[str, Any]], ...] = ()
    k_required: int | None = None
    k: tuple[int, ...] = USUAL_K
    risks: tuple[float, ...] = USUAL_RISKS
    estimator: str = USUAL_ESTIMATOR
    indicators: IndicatorSet | None = None
    seed: int = 0
    limits: dict[str, Any] = field(default_factory=dict)
    reading: dict[str, Any] = field(default_factory=dict)
    language: str = "en"
    where: str = field(default="", compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)

    @property
    def variables(self) -> tuple[str, ...]:
        """Every column that the recipe names, once."""
        named = [name for step, settings in self.steps for name in kind_of(step).variables(settings)]
        spec, wanted = self.spec, self.indicators.variables if self.indicators else ()
        return tuple(dict.fromkeys([*spec.variables, *spec.ghosts, *spec.direct_identifiers, *wanted, *named]))

    def check(self, frame: pd.DataFrame | MicrodataFile) -> None:
        """Raise a `KanonLabError` unless every column that the recipe names can be used, before anything is done."""
        with _named(self.where):
            self._check(frame.numbered if isinstance(frame, MicrodataFile) else frame)

    def _check(self, frame: pd.DataFrame) -> None:
        _check_lists(self.spec, frame)
        self.spec.check(frame)
        levels = _levels(self.steps)
        released = [name for name in frame.columns if name not in self.spec.direct_identifiers]
        for position, (name, settings) in enumerate(self.steps, start=1):
            with step_errors(position, name, levels=levels):
                check_columns(kind_of(name).variables(settings), released)

    def apply(self, frame: pd.DataFrame | MicrodataFile, *, progress: bool = False) -> Protection:
        """Protect a file.

        Parameters
        ----------
        frame : DataFrame or MicrodataFile
            As `kanon_lab.protection.protect` takes it. Not changed.
        progress : bool
            Whether to show the steps on standard error, if that is a terminal.

        Returns
        -------
        Protection
            With all steps applied: the same for the same frame and recipe.

        Raises
        ------
        DataError, OptionError
            As `kanon_lab.protection.protect` and `Protection.apply`.
        """
        from tqdm import tqdm

        self.check(frame)
        options = {"k": self.k, "risks": self.risks, "estimator": self.estimator, "seed": self.seed}
        options["indicators"] = self.indicators
        with _named(self.where):
            protection = protect(frame, self.spec, **options)
            steps = tqdm(self.steps, desc="steps", disable=None if progress else True, leave=False)
            for name, settings in steps:
                protection = protection.apply(name, settings)
            return protection


def as_recipe(settings: Mapping[str, Any], *, where: str = "the recipe", level: str = "person") -> Recipe:
    """A recipe from settings of plain types, as a YAML file or `Protection.recipe` holds them.

    Parameters
    ----------
    settings : mapping
        Names as in `RECIPE_SETTINGS`; of a file also as in `REPORT_SETTINGS`, of which only those that say how to read
        it are used.
    where : str
        What to call the settings in messages.
    level : {"person", "household"}
        Whether it is the recipe of a file, or its household level, which takes `HOUSEHOLD_SETTINGS`.

    Raises
    ------
    OptionError
        A setting or step that is not known or cannot be used.
    """
    if not isinstance(settings, Mapping):
        raise OptionError(f"{where}: must be a mapping of settings, such as key_variables: [region, sex, age]")
    with _named(where):
        if level == "household":
            _refuse_nested(settings)
        if "grid" in settings:
            raise OptionError(
                "it has a grid, so it is many recipes: kanon-lab map applies them, and can write one of them"
            )
        settings, notes = in_new_words(settings)
        check_names(settings, (*RECIPE_SETTINGS, *REPORT_SETTINGS) if level == "person" else HOUSEHOLD_SETTINGS)
        if unused := [name for name in _OF_REPORTS if settings.get(name) is not None]:
            notes = (*notes, f"{', '.join(unused)}: of a report (kanon-lab report), and not used here")
        recipe = replace(_recipe(settings), reading=as_reading(settings))
        notes = tuple(dict.fromkeys([*notes, *recipe.notes]))
        return replace(recipe, notes=notes, where=where if level == "person" else "")


def read_recipe(path: str | Path) -> Recipe:
    """Read a recipe.

    Parameters
    ----------
    path : str or Path
        A YAML file of at most a million bytes. A file of a hierarchy in it is looked for in the folder of the recipe.

    Raises
    ------
    DataError
        The file cannot be read, is no YAML, or has a key twice; or a file of a hierarchy is not there.
    OptionError
        A setting or step that is not known or cannot be used.
    """
    return as_recipe(beside(read_yaml(path), path), where=str(path))


def write_recipe(protection: Protection, path: str | Path) -> None:
    """Write the chain of a protection as a recipe, with the seeds of its random steps.

    Raises
    ------
    OptionError
        A step was given a setting that a recipe cannot hold.
    StorageError
        The file cannot be written.
    """
    files.write_text(path, dump_yaml(seen_from(protection.recipe(), path)))


def _recipe(settings: Mapping[str, Any]) -> Recipe:
    settings = {name: value for name, value in settings.items() if value is not None}
    if "key_variables" not in settings:
        raise OptionError("key_variables is not given; name the variables that an outsider may know")
    spec = KeySpec(**{role: _names(settings[role], role) for role in _ROLES if role in settings})
    options = {name: settings[name] for name in ("estimator", "seed", "language") if name in settings}
    check_seed(options.get("seed", 0))
    if str(options.get("language", "en")) not in LANGUAGES:
        raise OptionError(f"language must be one of {', '.join(LANGUAGES)}, not {shortened(repr(options['language']))}")
    for name in ("k", "risks"):
        if name in settings:
            values = settings[name]
            options[name] = tuple(values) if isinstance(values, (list, tuple)) else (values,)
    options |= _judged(settings, spec, options)
    if (k_required := options.get("k_required")) is not None:
        settings["k_required"] = k_required
    if (wanted := settings.get("indicators")) is not None:
        options["indicators"] = as_indicators(wanted, weight=spec.weight)
    levels: tuple[tuple[str, dict], ...] = ()
    if (household_level := settings.get("household_level")) is not None:
        inherited = {name: settings[name] for name in _INHERITED if name in settings}
        inner = household_level
        if isinstance(household_level, Mapping):
            with _named("household_level"):
                own, options["notes"] = in_new_words(household_level)
            inner = {**inherited, **own}
        as_recipe(inner, where="household_level", level="household")
        levels = (("household_level", inner),)
    steps = (*levels, *_steps(settings.get("steps", []), k_required, levels=len(levels)))
    return Recipe(spec, steps, **options)


def _judged(settings: Mapping[str, Any], spec: KeySpec, options: Mapping[str, Any]) -> dict[str, Any]:
    """The limits of the office, and what has to be measured for them."""
    risks = tuple(as_share(each, "risks") for each in options.get("risks", USUAL_RISKS))
    k_required = settings.get("k_required")
    if k_required is not None:
        check_k(k_required, "k_required")
    limits = as_limits(settings.get("limits", {}), spec=spec, risks=risks, k_required=k_required)
    k_required = limits.get("k") if k_required is None else k_required
    needed = {each for each in (k_required, limits.get("k")) if each is not None}
    ks = options.get("k", USUAL_K)
    found = {"limits": limits, "risks": tuple(dict.fromkeys([*risks, *limits.get("above_risk", ())]))}
    if needed:
        found |= {"k_required": k_required, "k": tuple(sorted({*map(check_k, ks), *needed}))}
    return found


def _refuse_nested(settings: Mapping[str, Any]) -> None:
    """Raise an `OptionError` where a household level has one of its own, before anything in it is read."""
    steps = settings.get("steps")
    listed = [step for step in steps if isinstance(step, Mapping)] if isinstance(steps, (list, tuple)) else []
    if any("household_level" in each for each in (settings, *listed)):
        raise OptionError("household_level stands inside household_level; households have no households, so remove it")


@contextmanager
def _named(where: str) -> Iterator[None]:
    """Put the name of the recipe, if it has one, before what is said against it."""
    try:
        yield
    except KanonLabError as error:
        if not where:
            raise
        raise type(error)(f"{where}: {error}") from None


def _levels(steps: tuple[tuple[str, dict], ...]) -> int:
    return int(bool(steps) and steps[0][0] == "household_level")


def _check_lists(spec: KeySpec, frame: pd.DataFrame) -> None:
    """Raise an `OptionError` where names of several columns stand as one text."""
    columns = set(frame.columns)
    for role in _ROLES:
        names = getattr(spec, role)
        for name in names if isinstance(names, tuple) else ():
            parts = [part.strip() for part in name.split(",")]
            if name not in columns and len(parts) > 1 and columns.issuperset(parts):
                raise OptionError(f"{role}: is one text; write a list, such as {role}: [{shortened(', '.join(parts))}]")


def _names(value: object, role: str) -> object:
    """The names of a role; YAML makes numbers of names such as 2019, and these are no columns."""
    lists = value.values() if role == "ghost_variables" and isinstance(value, Mapping) else [value]
    names = [name for each in lists for name in (each if isinstance(each, (list, tuple)) else [each])]
    several = role not in _ONE_NAME
    if (isinstance(value, (list, tuple)) and not several) or not all(isinstance(name, str) and name for name in names):
        wanted = "names of columns, as texts" if several else "one name, as text"
        raise OptionError(f"{role} must be {wanted} (numbers and yes or no in quotes), not {shortened(repr(value))}")
    return value


def _steps(steps: object, k_required: int | None, *, levels: int) -> tuple[tuple[str, dict], ...]:
    if not isinstance(steps, (list, tuple)):
        raise OptionError("steps must be a list, such as - suppress: {k_required: 3}")
    found = []
    for position, step in enumerate(steps, start=levels + 1):
        with step_errors(position, None, levels=levels):
            name, settings = _parted(step)
            kind = kind_of(name)
        with step_errors(position, name, levels=levels):
            if not isinstance(settings if settings is not None else {}, Mapping):
                raise OptionError(f"its settings must be names with values, not {shortened(repr(settings))}")
            settings = dict(settings or {})
            if kind.needs_k and k_required is not None:
                settings.setdefault("k_required", k_required)
            list(kind.variables(settings))
        found.append((name, settings))
    return tuple(found)


def _parted(step: object) -> tuple[object, object]:
    """Name and settings of a step."""
    if isinstance(step, Mapping) and len(step) == 1:
        return next(iter(step.items()))
    if isinstance(step, Mapping) and step and next(iter(step.values())) is None:
        name = shortened(str(next(iter(step))))
        raise OptionError(f"the settings stand beside {name}; indent them, so that they are under {name}")
    remedy = "; begin every step with a - of its own" if isinstance(step, Mapping) and len(step) > 1 else ""
    raise OptionError(
        f"must be one name with its settings, such as suppress: {{k_required: 3}}, not {shortened(repr(step))}{remedy}"
    )
