"""The configuration of a report, and the run of the notebook by it: steps that let no value of the file out."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, chdir, contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanon_lab import files
from kanon_lab.errors import KanonLabError, OptionError, about, inside, shortened
from kanon_lab.recipes.chain import Recipe, as_recipe
from kanon_lab.recipes.grid import grid_candidates
from kanon_lab.recipes.settings import LEAST, OF_REPORTS, RecipeSettings, ReportSettings
from kanon_lab.recipes.tradeoff import measure_of
from kanon_lab.recipes.yaml_file import beside, hierarchy_paths, parse_yaml, read_yaml, without_folders
from kanon_lab.report.large import LargeFile
from kanon_lab.report.shapes import check_named
from kanon_lab.settings import read

if TYPE_CHECKING:
    from kanon_lab.data.microdata import MicrodataFile
    from kanon_lab.engines.release import Records
    from kanon_lab.recipes.chain import Protection

_MOST_RECORDS = 1_000_000
_OF_RECORDS = ("k", "k_required", "least")
# More than a column of whole numbers can hold.
_TOO_LARGE = 2**63
#: File of the working folder to which the names of steps are written as they begin.
STEPS = "steps.txt"
#: Folder in it for the protected file.
RELEASE = "release"
_EXAMPLE_FILE, _EXAMPLE = "health-survey", "example.yml"
_ROLES_OF_SEVERAL = ("key_variables", "sensitive_variables", "numeric_variables", "strata", "direct_identifiers")


@dataclass(frozen=True)
class ReportConfig:
    """What a report is about.

    Attributes
    ----------
    recipe : Recipe
        The roles of the variables, the steps, and what is measured after each.
    settings : dict
        All that was given, of plain types, as `as_config` takes it.
    title : str
        Of the report; "" for a usual one.
    limits : dict
        The limits to judge by: those of the recipe, and ``k`` where ``k_required`` is given.
    least : int
        Categories held by fewer records are pooled.
    reading : dict
        How to read the file: options of `kanon_lab.data.read_file`.
    map : dict or None
        Recipe settings with a ``grid``, as `kanon_lab.recipes.risk_utility_map` takes them.
    map_risk, map_loss : str
        The measures that it shows; see `kanon_lab.recipes.MEASURES`.
    """

    recipe: Recipe
    settings: dict[str, Any] = field(repr=False)
    title: str = ""
    limits: dict[str, Any] = field(default_factory=dict)
    least: int = LEAST
    reading: dict[str, Any] = field(default_factory=dict)
    map: dict[str, Any] | None = None
    map_risk: str = "global_risk"
    map_loss: str = "non_uniform_entropy"

    @property
    def language(self) -> str:
        """That of the report."""
        return self.recipe.language

    @property
    def risks(self) -> tuple[float, ...]:
        """The individual risks above which records are counted, 0-1."""
        return self.recipe.risks

    @property
    def hierarchies(self) -> tuple[Path, ...]:
        """Files of hierarchies that the steps read."""
        return tuple(map(Path, hierarchy_paths(self.settings)))

    @property
    def shown(self) -> dict[str, Any]:
        """The settings as a report shows them: files of hierarchies by their names, the seed always."""
        return {**without_folders(self.settings), "seed": self.recipe.seed}


def read_config(path: str | Path, overrides: Iterable[str] = ()) -> ReportConfig:
    """Read a configuration.

    Parameters
    ----------
    path : str or Path
        A YAML file of settings. Files of hierarchies are looked for in its folder. Errors call files by their names.
    overrides : iterable of str
        Settings to put in place of the file's, such as ``language=es`` or ``limits.k=5``: what stands after the
        first ``=`` is YAML, and dots lead into mappings.
    """
    path = Path(path)
    with names_only(path, path.absolute()):
        settings = read_yaml(path)
        for override in overrides:
            settings = _overridden(settings, override)
        written = {path.absolute().parent / name: name for name in hierarchy_paths(settings)}
        with _called(written):
            for file in written:
                with inside(f"{path.name}: hierarchy file"), files.reading_errors(file):
                    files.check_file(file)
                    file.open("rb").close()
            return as_config(beside(settings, path.absolute()), name=path.name)


def as_config(settings: Mapping[str, Any], *, name: str = "the configuration") -> ReportConfig:
    """A configuration from settings of plain types.

    Parameters
    ----------
    settings : mapping
        As the chapter on reports lists them. Without ``limits: {k: ...}`` the limit is ``k_required``, and the other
        way round.
    name : str
        What it is called in messages.
    """
    with inside(name):
        if isinstance(settings, Mapping):
            settings = {setting: value for setting, value in settings.items() if value is not None}
            if "grid" in settings:
                raise OptionError("grid belongs under map, such as map: {grid: {k: [2, 3, 5]}}")
            _check_plain(settings)
        given = read(ReportSettings, settings)
        of_recipe = {setting: value for setting, value in settings.items() if setting not in OF_REPORTS}
        recipe = as_recipe(of_recipe, name="")
        options: dict[str, Any] = {"title": given.title, "least": given.least}
        if given.map is not None:
            with inside("map"):
                options |= _map(given.map.fields_set, of_recipe)
    return ReportConfig(
        replace(recipe, name=name), deepcopy(dict(settings)), limits=recipe.limits, reading=recipe.reading, **options
    )


def names_only(*paths: Path) -> AbstractContextManager[None]:
    """Let errors call files by their names: where a file lies is not for those who read what went wrong."""
    return _called({path: path.name for path in paths if path.name})


@contextmanager
def _called(names: Mapping[Path, str]) -> Iterator[None]:
    """Let errors call files by other names than their paths, which stand in them as errors show them."""
    try:
        yield
    except KanonLabError as error:
        text = str(error)
        for path, name in names.items():
            text = text.replace(str(KanonLabError(str(path))), name)
        raise type(error)(text) from None


def _check_plain(settings: Mapping[str, Any]) -> None:
    """Refuse numbers that nothing could count, texts that no file can hold, and names in one text for a list."""
    for name, value in settings.items():
        for each in _parts(value):
            if isinstance(each, int) and abs(each) >= _TOO_LARGE and name != "seed":
                raise OptionError(f"{shortened(name)}: a number has more than 18 digits; write a smaller one")
            if isinstance(each, str) and any("\ud800" <= letter <= "\udfff" for letter in each):
                raise OptionError(f"{shortened(name)}: a text has half a character (a surrogate); write it again")
    limits = settings.get("limits")
    counts = {name: settings.get(name) for name in _OF_RECORDS}
    counts |= {"limits: k": limits.get("k")} if isinstance(limits, Mapping) else {}
    for name, value in counts.items():
        if any(isinstance(each, int) and each > _MOST_RECORDS for each in _parts(value)):
            raise OptionError(f"{name} must be {_MOST_RECORDS:,} or less")
    for name in _ROLES_OF_SEVERAL:
        if isinstance(text := settings.get(name), str) and "," in text:
            raise OptionError(f"{name} is one text with a comma in it; write a list, such as {name}: [region, sex]")


def _parts(value: Any) -> Iterator[Any]:
    """What stands in lists and mappings, names too."""
    if isinstance(value, Mapping):
        value = [*value, *value.values()]
    if not isinstance(value, (list, tuple)):
        yield value
        return
    for each in value:
        yield from _parts(each)


def _overridden(settings: dict[str, Any], override: str) -> dict[str, Any]:
    """Settings with one of them replaced, or one within mappings; those given are not changed."""
    name, sign, text = override.partition("=")
    *outer, last = names = [part.strip() for part in name.split(".")]
    if not sign or not all(names):
        raise OptionError(f"--set {shortened(override)}: write name=value, such as language=es or limits.k=5")
    place = settings = deepcopy(settings)
    for part in outer:
        place[part] = place = {} if place.get(part) is None else place[part]
        if not isinstance(place, dict):
            raise OptionError(f"--set {shortened(name)}: {shortened(part)} holds no names; set it as a whole")
    place[last] = parse_yaml(text, f"--set {shortened(name)}")
    return settings


def _map(given: Mapping[str, Any], of_recipe: Mapping[str, Any]) -> dict[str, Any]:
    """The recipes to compare, each of them checked, and the measures to compare them by."""
    recipe = {name: value for name, value in of_recipe.items() if name in RecipeSettings.model_fields}
    settings = {**recipe, "steps": given.get("steps", recipe.get("steps", [])), "grid": given["grid"]}
    grid_candidates(settings)
    measures = {kind: given[kind] for kind in ("risk", "loss") if kind in given}
    for kind, name in measures.items():
        measure_of(name, kind)
    return {"map": settings, **{f"map_{kind}": name for kind, name in measures.items()}}


class StepError(KanonLabError):
    """A step of a report that ended by an error which was not foreseen."""


@dataclass(frozen=True)
class Run:
    """One run of the notebook: a file, its configuration, and whether the report is for the office only.

    Names of steps are written to the file `steps`, and the release to the file `protected`, where there are such.
    """

    file: MicrodataFile | LargeFile
    config: ReportConfig
    steps: Path | None = None
    protected: Path | None = None
    internal: bool = False

    @property
    def name(self) -> str:
        """What the file is called."""
        return str(self.file.found["name"])

    @contextmanager
    def data(self) -> Iterator[MicrodataFile | Records]:
        """The file as it was read, or held open by an engine that has counted it."""
        if not isinstance(self.file, LargeFile):
            yield self.file
            return
        with names_only(*self.file.paths), self.file.opened(self.config.recipe, self.say) as records:
            yield records

    def say(self, step: str) -> None:
        """Tell who waits for the report which step begins."""
        _say(self.steps, step)

    def write(self, protection: Protection) -> None:
        """Write the protected file, where one is asked for."""
        if self.protected is not None:
            self.protected.parent.mkdir(exist_ok=True)
            with names_only(self.protected):
                protection.write(self.protected)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Do a step; of an error that was not foreseen only its type goes on, since its words may hold values."""
        with about(self.name), names_only(*self.config.hierarchies), _step(self.steps, name):
            yield


def opened(request: str = "") -> Run:
    """Read the file that a report is asked for.

    `request` is the name of a JSON file in the working folder: ``folder`` and ``name`` of the microdata file, the
    ``configuration`` as YAML, and ``where``, what to call that; ``protected``, the name of the file to write the
    release to in the folder ``beside`` (`RELEASE`), and whether it is ``internal``; ``reading``, what holds instead of
    its options; ``counted``, options of a `LargeFile`, for one that an engine is to count. "" is an embedded survey and
    a small configuration.
    """
    from kanon_lab.data.microdata import read_file

    if not request:
        text = resources.files(__package__).joinpath(_EXAMPLE).read_text("utf-8")
        return Run(read_file(_EXAMPLE_FILE), as_config(parse_yaml(text, _EXAMPLE), name=_EXAMPLE))
    warnings.simplefilter("ignore")  # some quote values
    steps = Path(STEPS).absolute()
    with _step(steps, "read the file"):
        asked = json.loads(Path(request).read_text("utf-8"))
        config = as_config(parse_yaml(asked["configuration"], asked["where"]), name=asked["where"])
        file: MicrodataFile | LargeFile
        if "counted" in asked:
            file = LargeFile(asked["folder"], asked["name"], asked["counted"])
        else:
            with chdir(asked["folder"]):  # so that errors call the file by its name
                file = read_file(asked["name"], **(config.reading | asked.get("reading", {})))
            check_named(file, asked["name"])
            with about(asked["name"]):
                config.recipe.check(file)
    protected = Path(asked.get("beside", RELEASE), asked["protected"]).absolute() if asked.get("protected") else None
    return Run(file, config, steps, protected, internal=asked.get("internal", False))


def _say(steps: Path | None, step: str) -> None:
    if steps is not None:
        with steps.open("a", encoding="utf-8") as told:
            told.write(f"{' '.join(step.split())}\n")


@contextmanager
def _step(steps: Path | None, name: str) -> Iterator[None]:
    _say(steps, name)
    try:
        yield
    except KanonLabError:
        raise
    except MemoryError:
        raise StepError("not enough memory; close other programs, or take fewer columns or records") from None
    except Exception as error:
        raise StepError(f"an unexpected {type(error).__name__}") from None
