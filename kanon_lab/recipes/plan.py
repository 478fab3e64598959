"""A plan for protecting a file: a recipe read from its settings, and checked as far as it can be without the file."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import pandas as pd

from kanon_lab import measures
from kanon_lab.arguments import as_share
from kanon_lab.data.microdata import MicrodataFile
from kanon_lab.data.sets import DATA_SETS
from kanon_lab.errors import OptionError, described, inside, meant, misspelt, shortened
from kanon_lab.measures.registry import LIMITS, limit_of
from kanon_lab.methods.recode_settings import HierarchySettings
from kanon_lab.recipes.combinations import as_combination_limits
from kanon_lab.recipes.earlier import EarlierRelease
from kanon_lab.recipes.settings import (
    OF_REPORTS,
    DecisionSettings,
    EarlierSettings,
    FileSettings,
    HouseholdLevel,
    IndicatorSettings,
    LimitSettings,
    MapSettings,
    RecipeSettings,
    ReportSettings,
    as_bound,
)
from kanon_lab.recipes.state import check_columns, drawn_seed, step_errors
from kanon_lab.recipes.steps import STEPS, kind_of
from kanon_lab.recipes.tradeoff import MEASURES
from kanon_lab.recipes.yaml_file import named_files
from kanon_lab.roles import ROLES_WITHOUT_KEYS, KeySpec
from kanon_lab.settings import Settings, check_numbers, read, schema, table, unknown

#: Defaults of what is measured.
USUAL_K, USUAL_RISKS, USUAL_ESTIMATOR = (
    RecipeSettings.model_fields[name].default for name in ("k", "risks", "estimator")
)
_ROLES = tuple(role.name for role in fields(KeySpec))
# Roles of one variable that a measure may need.
_UNITS = ("household", "person")
# The household level takes these settings of the file by default.
_INHERITED = ("missing", "k_required", "k", "risks", "estimator")
# Other names of limits, to suggest the right one.
_MEANT = dict.fromkeys(("diversity", "l_diversity", "l"), "distinct or entropy") | {
    "k_required": "k",
    "t": "t_closeness",
}
_Steps = tuple[tuple[str, dict[str, Any]], ...]


@dataclass(frozen=True)
class Plan:
    """A plan for protecting a file."""

    spec: KeySpec
    #: Name and settings of each step, as they are written.
    steps: _Steps = ()
    #: The k of steps and reports that have none of their own.
    k_required: int | None = None
    #: As in `kanon_lab.recipes.protect`; the levels of a limit ``above_risk`` are among the risks.
    k: tuple[int, ...] = USUAL_K
    risks: tuple[float, ...] = USUAL_RISKS
    estimator: str = USUAL_ESTIMATOR
    indicators: measures.IndicatorSet | None = None
    seed: int = 0
    #: Those of the office, as `as_limits` returns them.
    limits: dict[str, Any] = field(default_factory=dict)
    #: How to read the file: options of `kanon_lab.data.read_file`.
    reading: dict[str, Any] = field(default_factory=dict)
    #: An earlier release that an intruder may have too.
    earlier_release: EarlierRelease | None = None
    #: File and count of a population, as `kanon_lab.recipes.population_file.read_population` takes them.
    population: tuple[str, str | None] | None = None
    #: Of reports; one of `kanon_lab.terms.LANGUAGES`.
    language: str = "en"
    #: Its name in messages about a file that it is applied to.
    name: str = field(default="", compare=False)
    #: Which of its settings only a report uses.
    notes: tuple[str, ...] = field(default=(), compare=False)

    @property
    def variables(self) -> tuple[str, ...]:
        """Every column that it names, once."""
        named = [name for step, settings in self.steps for name in columns_of(step, settings)]
        spec, wanted = self.spec, self.indicators.variables if self.indicators else ()
        named += [*spec.direct_identifiers, *spec.released_as_is]
        return tuple(dict.fromkeys([*spec.variables, *spec.ghosts, *wanted, *named]))

    @property
    def measured(self) -> dict[str, Any]:
        """Options of `kanon_lab.recipes.protect`."""
        names = ("k", "risks", "estimator", "seed", "indicators", "earlier_release")
        options = {name: getattr(self, name) for name in names}
        return options | ({} if self.population is None else {"population": self.read_population()})

    @property
    def files(self) -> dict[str, str]:
        """Files that it names, and what each is."""
        named = named_files([settings for _, settings in self.steps])
        if self.earlier_release is not None:
            named[str(self.earlier_release.path)] = "earlier release"
        if self.population is not None and self.population[0] not in DATA_SETS:
            named[self.population[0]] = "population"
        return named

    def read_population(self) -> measures.Population | None:
        """The population beside the file; None without one."""
        if self.population is None:
            return None
        from kanon_lab.recipes.population_file import read_population

        file, count = self.population
        return read_population(file, self.spec.key_variables, count=count, reading=self.reading)

    def check(self, frame: pd.DataFrame | MicrodataFile) -> None:
        """Raise a `KanonLabError` if a column that it names cannot be used."""
        frame = frame.numbered if isinstance(frame, MicrodataFile) else frame
        with inside(self.name):
            for role in _ROLES:
                names = getattr(self.spec, role)
                for name in names if isinstance(names, tuple) else ():
                    parts = [part.strip() for part in name.split(",")]
                    if name not in frame.columns and len(parts) > 1 and {*frame.columns}.issuperset(parts):
                        such_as = f"{role}: [{shortened(', '.join(parts))}]"
                        raise OptionError(f"{role}: is one text; write a list, such as {such_as}")
            self.spec.check(frame)
            if self.earlier_release is not None:
                self.earlier_release.check(frame, self.spec.person)
            released = [name for name in frame.columns if name not in self.spec.direct_identifiers]
            levels = int(bool(self.steps) and self.steps[0][0] == "household_level")
            for position, (name, settings) in enumerate(self.steps, start=1):
                with step_errors(position, name, levels=levels):
                    check_columns(columns_of(name, settings), released)


def columns_of(step: str, settings: Mapping[str, Any]) -> list[str] | tuple[str, ...]:
    """The columns that a step names."""
    return household_plan(settings).variables if step == "household_level" else kind_of(step).variables(settings)


def household_plan(settings: Mapping[str, Any]) -> Plan:
    """The plan of a household level."""
    if isinstance(settings, Mapping):  # before anything in it is read
        steps = settings.get("steps")
        parts = [settings, *(steps if isinstance(steps, (list, tuple)) else ())]
        if any(isinstance(part, Mapping) and "household_level" in part for part in parts):
            fault = "household_level is inside household_level; households have no households, so remove it"
            raise OptionError(fault)
    return Plan(**_planned(read(HouseholdLevel, settings), settings))


def file_plan(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of the `Plan` of a file; settings may be those of a report."""
    notes: tuple[str, ...] = ()
    if isinstance(settings, Mapping):
        if "grid" in settings:
            raise OptionError(
                "it has a grid, so it is many recipes: kanon-lab map applies them, and can write one of them"
            )
        if unused := [name for name in OF_REPORTS if settings.get(name) is not None]:
            notes = (f"{', '.join(unused)}: of a report (kanon-lab report), and not used here",)
        for place, name in enumerate(settings, 1):
            if name not in ReportSettings.model_fields:
                raise OptionError(unknown(name, ReportSettings.model_fields, place))
        settings = {name: value for name, value in settings.items() if name not in OF_REPORTS}
    model = read(FileSettings, settings)
    earlier = None
    if model.earlier_release is not None:
        release = model.earlier_release
        earlier = EarlierRelease(release.file, release.id, release.same_order, model.reading)
    planned = {**_planned(model, settings), "reading": model.reading, "earlier_release": earlier}
    return {**planned, "language": model.language, "notes": notes}


def _planned(model: HouseholdLevel, written: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a `Plan` that the settings of a file, or of its household level, give."""
    roles = {role: value for role, value in model.fields_set.items() if role in _ROLES}
    if "key_variables" not in roles and not any(map(roles.get, ROLES_WITHOUT_KEYS)):
        raise OptionError("key_variables is not given; write it, such as key_variables: [postcode, age]")
    spec = KeySpec(**{"key_variables": (), **roles})
    file = model if isinstance(model, RecipeSettings) else None
    limits = as_limits(
        _limits_with_earlier(file, model.k_required) if file else {},
        spec=spec,
        risks=model.risks,
        k_required=model.k_required,
    )
    k_required = limits.get("k") if model.k_required is None else model.k_required
    needed = {k for k in (k_required, limits.get("k"), limits.get("k_map")) if k is not None}
    levels: _Steps = ()
    if file and (level := file.household_level) is not None:
        with inside("household_level"):
            if isinstance(level, Mapping):
                whole = {**written, "k_required": k_required}
                level = {**{name: whole[name] for name in _INHERITED if whole.get(name) is not None}, **level}
            household_plan(level)
        levels = (("household_level", level),)
    steps = (*levels, *_steps(model.steps, k_required, spec, levels=len(levels)))
    return {
        "spec": spec,
        "seed": model.seed if model.seed is not None else drawn_seed() if any(map(_draws, steps)) else 0,
        "estimator": model.estimator,
        "limits": limits,
        "risks": tuple(dict.fromkeys([*model.risks, *limits.get("above_risk", ())])),
        "k_required": k_required,
        "k": tuple(sorted({*model.k, *needed})) if needed else model.k,
        "indicators": file.indicators.with_weight(spec.weight) if file and file.indicators is not None else None,
        "population": (file.population.file, file.population.count) if file and file.population else None,
        "steps": steps,
    }


def _limits_with_earlier(file: RecipeSettings, k_required: int | None) -> Mapping[str, Any]:
    """The limits of a recipe; with an earlier release, what is asked of both together is by default the limit on k."""
    limits = file.limits
    if file.earlier_release is None or not isinstance(limits, Mapping) or "k_with" in limits:
        return limits
    k = limits.get("k") or k_required
    return {**limits, "k_with": k} if k else limits


def _draws(step: tuple[str, Mapping[str, Any]]) -> bool:
    """Whether a step needs the seed of the file."""
    name, settings = step
    if name == "household_level":
        return settings.get("seed") is None and any(map(_draws, household_plan(settings).steps))
    return kind_of(name).random and settings.get("seed") is None


def _steps(
    steps: Sequence[Any], k_required: int | None, spec: KeySpec, *, levels: int
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and settings of each step as they are written, once they are checked."""
    for position, step in enumerate(steps, start=levels + 1):
        with step_errors(position, None, levels=levels):
            if not isinstance(step, Mapping) or len(step) != 1:
                raise OptionError(_not_a_step(step))
            name, settings = next(iter(step.items()))
            kind = kind_of(name)
        with step_errors(position, name, levels=levels):
            if not isinstance(settings if settings is not None else {}, Mapping):
                raise OptionError(f"its settings must be names with values, not {described(settings)}")
            settings = dict(settings or {})
            if kind.needs_k and k_required is not None:
                settings.setdefault("k_required", k_required)
            if name == "household_level":
                household_plan(settings)
            else:
                kind.check(settings, spec)
        yield name, settings


def _not_a_step(step: object) -> str:
    """What to say of something that is not one name with its settings."""
    remedy = ""
    if isinstance(step, Mapping) and step:
        if next(iter(step.values())) is None:
            name = shortened(str(next(iter(step))))
            return f"the settings are beside {name}; indent them, so that they are under {name}"
        remedy = "; begin every step with a - of its own"
    if isinstance(step, str) and step in STEPS:
        return f"must have settings after its name; without any, write {shortened(step)}: {{}}"
    such_as = "suppress: {k_required: 3}"
    return f"must be one name with its settings, such as {such_as}, not {described(step)}{remedy}"


def as_limits(
    limits: Mapping[str, Any], *, spec: KeySpec, risks: Collection[float] = (), k_required: int | None = None
) -> dict[str, Any]:
    """The limits of an office as numbers, or mappings of variables or levels of risk to numbers, in `LIMITS`' order.

    Without a limit ``k`` it is `k_required`. Limits that always hold, such as that on ``unassigned_columns``, are 0 by
    default, and so are those that hold with a limit on k, a claim or a risk, such as that on ``exposed_by_columns``
    (None: no such limit).
    """
    if not isinstance(limits, Mapping):
        such_as = "{k: 3, global_risk: 0.02}"
        raise OptionError(f"limits must be names with bounds, such as {such_as}, not {described(limits)}")
    check_numbers({"limits": limits})
    for place, name in enumerate(limits, 1):
        if name not in LIMITS:
            other = _MEANT.get(str(name).casefold())
            remedy = f"did you mean {other}?" if other else meant(name, LIMITS, f"there are {', '.join(LIMITS)}")
            shown = str(name) if other else misspelt(name, LIMITS, f"of this name (number {place})")
            raise OptionError(f"limits: there is no limit {shown}; {remedy}")
    wanted = {**({} if k_required is None else {"k": k_required}), **limits}
    if not spec.key_variables and spec.numeric_variables:  # nothing else is asked of those who know quantities
        wanted.setdefault("numeric_linkage", 0)
    risky = any(bound is not None and not limit_of(name).beside for name, bound in wanted.items())
    for name, measure in LIMITS.items():
        has_role = measure.needs not in _UNITS or getattr(spec, measure.needs) is not None
        if limit_of(name).always or (risky and limit_of(name).with_risk and has_role):
            wanted.setdefault(name, 0)
    return {name: _bounds(name, wanted[name], spec, risks) for name in LIMITS if wanted.get(name) is not None}


def _bounds(name: str, bound: object, spec: KeySpec, risks: Collection[float]) -> Any:
    """The bound of a limit as a number, or by variable or level a mapping of numbers."""
    measure, place, sensitive = LIMITS[name], f"limits: {name}", spec.sensitive_variables
    by = limit_of(name).by
    if by == "combination" and not spec.key_variables:
        raise OptionError(f"{place} needs key variables; name them (key_variables: [...])")
    if by == "combination":
        return as_combination_limits(bound, spec, place)
    if measure.needs in _UNITS and getattr(spec, measure.needs) is None:
        raise OptionError(f"{place} needs a {measure.needs}; name its variable ({measure.needs}: ...)")
    if measure.needs == "numeric_variables" and not spec.numeric_variables:
        raise OptionError(f"{place} needs a quantity; name it (numeric_variables: [...])")
    if by == "variable" and not sensitive:
        raise OptionError(f"{place} needs a sensitive variable; name it (sensitive_variables: [...])")
    if not isinstance(bound, Mapping) or not by:
        most, levels = as_bound(name, bound, place), sorted({*risks})
        if by != "level":
            return dict.fromkeys(sensitive, most) if by else most
        if len(levels) != 1:
            counts = f"risks has {len(levels)} levels; say the records above each, such as {{0.05: 0}}"
            raise OptionError(f"{place}: {counts}")
        return {levels[0]: most}
    if by == "level":
        bounds = ((as_share(level, f"{place}: a level"), as_bound(name, most, place)) for level, most in bound.items())
        return dict(sorted(bounds))
    for variable in bound:
        if variable not in sensitive:
            remedy = meant(variable, sensitive, f"there are {shortened(', '.join(sensitive), 80)}")
            raise OptionError(f"{place}: {shortened(repr(variable))} is not a sensitive variable; {remedy}")
    return {
        variable: as_bound(name, bound[variable], f"{place}: {shortened(variable)}")
        for variable in sensitive
        if variable in bound
    }


_STEP_MODELS: dict[str, type[Settings]] = {name: kind.model for name, kind in STEPS.items()}
#: Name of a table of settings on a page -> the model that it shows.
MODELS: dict[str, type[Settings]] = {
    "recipe": RecipeSettings,
    "report": ReportSettings,
    "limits": LimitSettings,
    "map": MapSettings,
    "decision": DecisionSettings,
    "indicators": IndicatorSettings,
    "earlier_release": EarlierSettings,
    "hierarchy": HierarchySettings,
    **{name: model for name, model in _STEP_MODELS.items() if name != "household_level"},
}
# Whether the household level has a setting of its own ("own"), by default that of the file ("same"), or none ("no").
_LEVELS = {
    name: "no" if name not in HouseholdLevel.model_fields else "same" if name in ("weight", *_INHERITED) else "own"
    for name in RecipeSettings.model_fields
}
_PLACE = re.compile(r"^```\{settings\} (\w+)\n```\n", re.MULTILINE)


def filled(page: str) -> str:
    """A page whose blocks of code ``{settings} NAME`` are replaced by tables of settings or measures."""

    def render(place: re.Match[str]) -> str:
        if place[1] == "measures":
            return measures_table()
        return table(MODELS[place[1]], {"Household level": _LEVELS} if place[1] == "recipe" else None)

    return _PLACE.sub(render, page)


def measures_table() -> str:
    """The measures that a map may have as its axes, as a table in Markdown."""
    rows = [("Name", "What", "Kind", "Needs"), ("---",) * 4]
    for row in MEASURES.values():
        setting, comma, much = row.needs.partition(",")
        needs = f"# in `{row.levels}`" if row.levels else f"`{setting}`{comma}{much}" if setting else ""
        rows.append((f"`{row.name}`", row.label, row.kind, needs))
    return "".join(f"| {' | '.join(cells)} |\n" for cells in rows)


def config_schema() -> dict[str, Any]:
    """The JSON Schema of the configuration of a report, which recipes follow too."""
    parts: dict[str, type[Settings]] = {"household_level": HouseholdLevel, "limits": LimitSettings}
    return schema(ReportSettings, _STEP_MODELS, **parts)
