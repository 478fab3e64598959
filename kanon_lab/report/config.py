"""The configuration of a report, and the run of the notebook by it: steps that let no value of the file out."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanon_lab import files
from kanon_lab.data.microdata import MicrodataFile, read_file, reading_notes
from kanon_lab.errors import KanonLabError, OptionError, about, encodable, inside, names_only, renamed, shortened
from kanon_lab.recipes.chain import Recipe, as_recipe
from kanon_lab.recipes.settings import LEAST, OF_REPORTS, RecipeSettings, ReportSettings
from kanon_lab.recipes.tradeoff import axis_named, measure_of
from kanon_lab.recipes.yaml_file import beside, named_files, parse_yaml, read_yaml, without_folders
from kanon_lab.report.shapes import check_named
from kanon_lab.roles import ROLES_OF_SEVERAL
from kanon_lab.settings import parts_of, read

if TYPE_CHECKING:
    from kanon_lab.engines.release import Records
    from kanon_lab.recipes.chain import Protection
    from kanon_lab.report.large import LargeFile

_MOST_RECORDS = 1_000_000
_OF_RECORDS = ("k", "k_required", "least")
# More than a column of whole numbers can hold.
_TOO_LARGE = 2**63
_EXAMPLE_FILE, _EXAMPLE = "health-survey", "example.yml"


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
    def own(self) -> dict[str, Any]:
        """The settings of its recipe, to be marked on the map."""
        return {name: value for name, value in self.settings.items() if name in RecipeSettings.model_fields}

    @property
    def files(self) -> dict[str, str]:
        """Files that it names, and what each is."""
        return named_files(self.settings)

    @property
    def shown(self) -> dict[str, Any]:
        """The settings as a report shows them: files of hierarchies by their names, the seed always."""
        return {**without_folders(self.settings), "seed": self.recipe.seed}


def read_config(path: str | Path, overrides: Iterable[str] | Mapping[str, Any] = ()) -> ReportConfig:
    """Read a configuration.

    Parameters
    ----------
    path : str or Path
        A YAML file of settings. Files of hierarchies are looked for in its folder. Errors call files by their names.
    overrides : mapping, or iterable of str
        Settings to put in place of the file's, such as ``{"language": "es", "limits.k": 5}``; dots lead into mappings.
        In texts such as ``limits.k=5`` the part after the first ``=`` is YAML.
    """
    path = Path(path)
    pairs = [*overrides.items()] if isinstance(overrides, Mapping) else [*map(_parsed, overrides)]
    with names_only(path, path.absolute()):
        settings = read_yaml(path)
        for name, value in pairs:
            settings = _overridden(settings, name, value)
        kinds = named_files(settings)
        written = {path.absolute().parent / name: name for name in kinds}
        with renamed(written):
            for file, name in written.items():
                with inside(f"{path.name}: {kinds[name]}"), files.reading_errors(file):
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
        report = read(ReportSettings, settings)
        of_recipe = {setting: value for setting, value in settings.items() if setting not in OF_REPORTS}
        recipe = as_recipe(of_recipe, name="")
        options: dict[str, Any] = {"title": report.title, "least": report.least}
        if report.map is not None:
            with inside("map"):
                options |= _map(report.map.fields_set, of_recipe)
    return ReportConfig(
        replace(recipe, name=name), deepcopy(dict(settings)), limits=recipe.limits, reading=recipe.reading, **options
    )


def _check_plain(settings: Mapping[str, Any]) -> None:
    """Refuse numbers that nothing could count, texts that no file can hold, and names in one text for a list."""
    for name, value in settings.items():
        for part in parts_of(value):
            if isinstance(part, int) and abs(part) >= _TOO_LARGE and name != "seed":
                raise OptionError(f"{shortened(name)}: a number has more than 18 digits; write a smaller one")
            if isinstance(part, str) and not encodable(part):
                raise OptionError(f"{shortened(name)}: a text has half a character (a surrogate); write it again")
    limits = settings.get("limits")
    counts = {name: settings.get(name) for name in _OF_RECORDS}
    counts |= {"limits: k": limits.get("k")} if isinstance(limits, Mapping) else {}
    for name, value in counts.items():
        if any(isinstance(part, int) and part > _MOST_RECORDS for part in parts_of(value)):
            raise OptionError(f"{name} must be {_MOST_RECORDS:,} or less")
    for name in ROLES_OF_SEVERAL:
        if isinstance(text := settings.get(name), str) and "," in text:
            raise OptionError(f"{name} is one text with a comma in it; write a list, such as {name}: [region, sex]")


def _parsed(override: str) -> tuple[str, Any]:
    """Name and value of an override such as limits.k=5."""
    name, sign, text = override.partition("=")
    if not sign or not all(part.strip() for part in name.split(".")):
        raise OptionError(f"--set {shortened(override)}: write name=value, such as language=es or limits.k=5")
    return name, parse_yaml(text, f"--set {shortened(name)}")


def _overridden(settings: dict[str, Any], name: str, value: Any) -> dict[str, Any]:
    """Settings with one of them replaced, or one within mappings; those given are not changed."""
    *outer, last = [part.strip() for part in name.split(".")]
    place = settings = deepcopy(settings)
    for part in outer:
        place[part] = place = {} if place.get(part) is None else place[part]
        if not isinstance(place, dict):
            raise OptionError(f"--set {shortened(name)}: {shortened(part)} holds no names; set it as a whole")
    place[last] = value
    return settings


def _map(mapped: Mapping[str, Any], of_recipe: Mapping[str, Any]) -> dict[str, Any]:
    """The recipes to compare, each of them checked, and the measures to compare them by."""
    from kanon_lab.recipes.grid import grid_candidates

    recipe = {name: value for name, value in of_recipe.items() if name in RecipeSettings.model_fields}
    settings = {**recipe, "steps": mapped.get("steps", recipe.get("steps", [])), "grid": mapped["grid"]}
    grid_candidates(settings)
    measures = {kind: axis_named(mapped[kind]) for kind in ("risk", "loss") if isinstance(mapped.get(kind), str)}
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
        if isinstance(self.file, MicrodataFile):
            yield self.file
            return
        with names_only(*self.file.paths), self.file.opened(self.config.recipe, self.say) as records:
            yield records

    def notes(self, data: MicrodataFile | Records) -> list[str]:
        """What reading the file has noted, for the office: some notes quote codes that were declared missing."""
        return list(reading_notes(data if isinstance(data, MicrodataFile) else data.counted))

    def say(self, step: str) -> None:
        """Tell who waits for the report which step begins."""
        _say(self.steps, step)

    def write(self, protection: Protection) -> None:
        """Write the protected file, where one is asked for."""
        if self.protected is not None:
            with names_only(self.protected):
                protection.write(self.protected)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Do a step; of an error that was not foreseen only its type goes on, since its words may hold values."""
        with about(self.name), names_only(*map(Path, self.config.files)), _step(self.steps, name):
            yield


def open_run(
    file: str = _EXAMPLE_FILE,
    configuration: str | Mapping[str, Any] | None = None,
    overrides: Mapping[str, Any] | None = None,
    *,
    internal: bool = False,
    called: str = "the configuration",
    steps: str | None = None,
    protected: str | None = None,
    reading: Mapping[str, Any] | None = None,
    counted: Mapping[str, Any] | None = None,
) -> Run:
    """Read the file and the configuration of a report.

    Parameters
    ----------
    file : str
        A microdata file, or the name of a data set.
    configuration : str or mapping, optional
        A YAML file, or settings as `as_config` takes them; a small example where `file` is not given either.
    overrides : mapping, optional
        As in `read_config`.
    internal : bool
        Whether the report is for the office only.
    called : str
        What errors call settings that come as a mapping.
    steps, protected : str, optional
        Files to write: names of steps as they begin, and the release.
    reading : mapping, optional
        Options of `read_file` that hold in place of the configuration's.
    counted : mapping, optional
        Options of a `LargeFile`, where an engine is to count the file.
    """
    from kanon_lab.notebooks import is_own

    if is_own(file):
        warnings.simplefilter("ignore")  # some quote values
    if not isinstance(file, str):
        raise OptionError("file must be the path of a file, or the name of a data set, as a text")
    path, noted = Path(file), None if steps is None else Path(steps)
    data: MicrodataFile | LargeFile
    with _step(noted, "read the file"):
        config = _configured(file, configuration, overrides or {}, called)
        if counted:
            from kanon_lab.report.large import LargeFile

            data = LargeFile(path, dict(counted))
        else:
            with names_only(path):
                data = read_file(file, **{**config.reading, **(reading or {})})
            check_named(data, path.name)
            with about(path.name):
                config.recipe.check(data)
    return Run(data, config, noted, None if protected is None else Path(protected), internal)


def _configured(
    file: str, configuration: str | Mapping[str, Any] | None, overrides: Mapping[str, Any], called: str
) -> ReportConfig:
    """The configuration of a run, as `open_run` takes it."""
    if isinstance(configuration, (str, Path)):
        return read_config(configuration, overrides)
    if configuration is None:
        if file != _EXAMPLE_FILE:
            raise OptionError("configuration is not given; name a YAML file (kanon-lab init writes a first one)")
        example = resources.files(__package__).joinpath(_EXAMPLE)
        configuration, called = dict(parse_yaml(example.read_text("utf-8"), _EXAMPLE)), _EXAMPLE
    settings: dict[str, Any] = {**configuration}
    for name, value in overrides.items():
        settings = _overridden(settings, name, value)
    return as_config(settings, name=called)


def _say(steps: Path | None, step: str) -> None:
    if steps is not None:
        with steps.open("a", encoding="utf-8") as file:
            file.write(f"{' '.join(step.split())}\n")


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
