"""Models of settings in files: recipes, their household level, indicators, limits, and configurations of reports."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from numbers import Integral
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, SkipValidation, StrictStr, create_model

from kanon_lab import files, measures
from kanon_lab.arguments import as_share, is_number
from kanon_lab.data.delimited import Dialect
from kanon_lab.errors import OptionError, described, inside, shortened
from kanon_lab.measures.registry import LIMITS
from kanon_lab.roles import MISSING_POLICIES, check_k, check_seed
from kanon_lab.settings import Check, CheckedBy, Settings, Several, chosen_from, read, setting
from kanon_lab.terms import LANGUAGES

#: Reports never show a category that fewer records hold, since it may identify persons.
LEAST = 10
#: Languages of reports.
REPORT_LANGUAGES = ("en", "es")
#: For whom a file may be: anybody, researchers who sign an agreement, those who work inside the office.
RELEASES = ("public", "scientific", "enclave")
_LONGEST_TITLE = 200


def _must_be(what: str, fits: Callable[[Any], bool], convert: Callable[[Any], Any] = lambda value: value) -> Check:
    """A check that converts a value that fits; `what` says what others must be, and may hold {name} and {given}."""

    def check(value: Any, name: str) -> Any:
        if not fits(value):
            raise OptionError(f"{name} must be {what.format(name=name, given=described(value))}")
        return convert(value)

    return check


def _listed(value: Any) -> list:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _each(check: Check) -> Check:
    """A check of one value or several, which become a tuple."""
    return lambda values, name: tuple(check(value, name) for value in _listed(values))


def _are_names(value: Any) -> bool:
    return all(isinstance(name, str) and name for name in _listed(value))


def _sign(value: Any, name: str) -> str:
    _must_be("a text, in quotes, not {given}", lambda text: isinstance(text, str))(value, name)
    Dialect(**{name: value})
    return value


_sheet = _must_be(
    "the name of a sheet, or its number from 1 on, not {given}",
    lambda value: not isinstance(value, bool) and value != "" and isinstance(value, (str, int)),
)


def _bytes(value: Any, name: str) -> Any:
    with files.limited(value):  # raises an error for a value that cannot be used
        return value


def _codes(columns: Any, name: str) -> dict[str, tuple]:
    """By column its codes; a single code needs no list."""
    if not isinstance(columns, Mapping) or not all(isinstance(column, str) for column in columns):
        raise OptionError(f"{name} must be names of columns with their codes, such as {{income: [88, 99]}}")
    listed = {column: tuple(_listed(codes)) for column, codes in columns.items()}
    for column, codes in listed.items():
        if not codes or any(isinstance(code, bool) or not isinstance(code, (str, int, float)) for code in codes):
            raise OptionError(f"{name}: the codes of {shortened(column)} must be numbers or texts, such as [88]")
    return listed


def _is_day(day: Any) -> bool:
    """Whether a text is a day as 2026-11-28."""
    try:
        return datetime.date.fromisoformat(day).isoformat() == day
    except (TypeError, ValueError):
        return False


def _least(least: Any, name: str) -> int:
    if check_k(least, name) < LEAST:
        raise OptionError(f"{name} must be {LEAST} or more: a report names no category that fewer records hold")
    return int(least)


_one_name = _must_be(
    "one name, as text (numbers and yes or no in quotes), not {given}",
    lambda name: isinstance(name, str) and name != "",
)
# YAML reads a name such as 2019 as a number, which is no column.
_NAMES = "names of columns, as texts (numbers and yes or no in quotes), not {given}"
_ghosts = _must_be(
    _NAMES, lambda ghosts: all(map(_are_names, ghosts.values() if isinstance(ghosts, Mapping) else [ghosts]))
)
_texts = _must_be(
    "texts, such as {name}: ['A'] (numbers in quotes)",
    lambda values: all(isinstance(value, str) for value in _listed(values)),
    lambda values: tuple(_listed(values)),
)
_steps = _must_be("a list, such as - suppress: {{k_required: 3}}", lambda value: isinstance(value, (list, tuple)))
_title = _must_be(
    f"a text of at most {_LONGEST_TITLE} characters, in quotes if it is a number",
    lambda title: isinstance(title, str) and len(title) <= _LONGEST_TITLE,
    lambda title: " ".join(title.split()),
)
_day = _must_be("a day, such as 2026-11-28, not {given}", _is_day)
K = Annotated[int, Field(ge=1), CheckedBy(check_k)]
SEED = Annotated[int, Field(ge=0), CheckedBy(lambda value, name: check_seed(value))]
STEP_SEED = Annotated[SEED | None, setting(None, "of this step", "5", unless="made from that of the file")]
_NAME = Annotated[str, CheckedBy(_one_name)]
_SEVERAL = Annotated[list[str] | tuple[str, ...] | str, CheckedBy(_must_be(_NAMES, _are_names), Several)]
_TEXTS = Annotated[tuple[str, ...], CheckedBy(_texts, Several)]
_STEPS = Annotated[list[Any] | tuple[Any, ...], CheckedBy(_steps, list[Any])]
# The functions that use these check them.
_MAPPING = SkipValidation[dict[str, Any]]
_WORDS = SkipValidation[Several]


class IndicatorSettings(Settings):
    """What the users of the file will publish; see `kanon_lab.measures.IndicatorSet`."""

    such_as = "a mapping of settings, such as {means: [income], by: [sex]}"

    rates: SkipValidation[dict[str, list[Any] | None] | Several] = setting(
        [],
        "variables whose categories have rates: those listed, or all (`null`); `rates: [sex]` is short for the latter",
        "{diagnosis: [diabetes], sex: null}",
    )
    means: _WORDS = setting([], "quantities that have means", "[income]")
    by: SkipValidation[list[Several] | str] = setting(
        [], "groups to estimate for; a list inside crosses its variables", "[sex, [sex, postcode]]"
    )
    strata: _WORDS = setting([], "strata of the design", "[postcode]")
    sampling_unit: SkipValidation[str | None] = setting(None, "the units that were drawn", "household")
    level: SkipValidation[float] = setting(0.95, "of the intervals", "0.9")

    def check(self) -> None:
        self.with_weight(None)

    def with_weight(self, weight: str | None) -> measures.IndicatorSet:
        """The indicators, estimated with a weight."""
        options = self.fields_set
        design = {name: options.pop(name) for name in ("strata", "sampling_unit") if name in options}
        return measures.IndicatorSet(**options, design=measures.Design(weight, **design))


class EarlierSettings(Settings):
    """An earlier release of the file, or last year's, that an intruder may have too."""

    such_as = "a file and what links its records, such as {file: last_year.csv, id: pseudonym}"

    file: _NAME = setting(..., "the released file, as seen from the folder of the configuration", "last_year.csv")
    id: _NAME | None = setting(
        None,
        "the column that identifies the same person in both releases; with a `person`, it identifies the same record "
        "of a person, such as the year",
        "pseudonym",
    )
    same_order: bool | None = setting(
        None,
        "whether both have the same records in the same order",
        "false",
        unless="yes, if both have as many records and no step has shuffled them",
    )


def as_indicators(settings: Mapping[str, Any], *, weight: str | None = None) -> measures.IndicatorSet:
    """Indicators from settings of plain types, as a recipe holds them.

    Parameters
    ----------
    settings : mapping
        ``rates``, ``means``, ``by`` and ``level`` as in `kanon_lab.measures.IndicatorSet`, ``strata`` and
        ``sampling_unit`` as in `kanon_lab.measures.Design`.
    weight : str, optional
        Sampling weight.

    Examples
    --------
    >>> kanon_lab.recipes.as_indicators({"means": "income", "by": "sex"}).variables
    ('income', 'sex')
    """
    with inside("indicators"):
        return read(IndicatorSettings, settings).with_weight(weight)


class HouseholdLevel(Settings):
    """Settings of a recipe that its household level may have too."""

    such_as = "a mapping of settings, such as key_variables: [region, sex, age]"

    key_variables: _SEVERAL = setting(..., "names of columns that an intruder may know", "[postcode, age]")
    weight: _NAME | None = setting(
        None, "the column of sampling weights; without one every record counts as one person", "weight"
    )
    sensitive_variables: _SEVERAL = setting([], "columns that an intruder wants to learn", "[diagnosis]")
    numeric_variables: _SEVERAL = setting(
        [], "columns that are quantities: what they have lost is measured, and who is linked by them", "[income]"
    )
    strata: _SEVERAL = setting(
        [], "columns within whose groups `suppress` and the steps that perturb work; no gaps", "[sex]"
    )
    ghost_variables: Annotated[dict[str, Several], CheckedBy(_ghosts)] = setting(
        {}, "by key, the columns that say the same in other words: suppressed and removed with it", "{age: birth_date}"
    )
    missing: Annotated[str, chosen_from(MISSING_POLICIES)] = setting(
        "wildcard",
        "what a missing key means: `wildcard` any value, `category` a value of its own, `error` none may be missing",
        "category",
    )
    k_required: K | None = setting(None, "the k of each `suppress` without its own, and of the report's verdict", "3")
    k: Annotated[tuple[int, ...], CheckedBy(_each(check_k), list[int] | int)] = setting(
        (2, 3, 5), "the report counts the records below each of these", "[2, 3, 5, 10]"
    )
    risks: Annotated[tuple[float, ...], CheckedBy(_each(as_share), list[float] | float)] = setting(
        (0.05,), "the report counts the records whose risk is above each of these, from `0` to `1`", "[0.02, 0.1]"
    )
    estimator: Annotated[str, chosen_from(measures.ESTIMATORS)] = setting(
        "benedetti-franconi",
        "how the risk of a record is estimated: `benedetti-franconi`, `exact` or `inverse`",
        "exact",
    )
    seed: SEED | None = setting(
        None,
        "whole number from `0` on, from which the seeds of random steps are made. Without one a number that nobody can "
        "guess is drawn for a recipe with a random step; what the command prints for the office names it",
        "2011",
        unless="drawn where a step is random",
    )
    steps: _STEPS = setting([], "the list of steps, applied in this order", "[round: {variable: income, base: 100}]")

    @classmethod
    def misplaced(cls, name: str) -> str | None:
        return None


class PopulationSettings(Settings):
    """A population beside the file, in which its keys are counted."""

    such_as = "a file, or settings such as {file: register.csv, count: persons}"

    file: StrictStr = setting(..., "a row for each person, or group of persons, with the key variables", "register.csv")
    count: _NAME | None = setting(
        None, "the column of numbers of persons, where a row is a group", "persons", unless="each row is a person"
    )


def _as_population(value: Any) -> Any:
    """A file by itself as settings."""
    return {"file": value} if isinstance(value, str) else value


class RecipeSettings(HouseholdLevel):
    """A recipe."""

    key_variables: _SEVERAL = setting(
        [],
        "names of columns that an intruder may know. Without any, all records are alike: then only a limit on "
        "`numeric_linkage` can be met",
        "[postcode, age]",
        unless="none",
    )

    household: _NAME | None = setting(None, "the column with the household ID", "household")
    person: _NAME | None = setting(
        None,
        "the column with the person ID, if a person may have several records (a panel, visits, firms): then persons "
        "are counted",
        "id",
    )
    direct_identifiers: _SEVERAL = setting(
        [], "columns that name a person; they are dropped first, and proved absent from the output", "[birth_date]"
    )
    released_as_is: _SEVERAL = setting(
        [],
        "columns that the office has looked at, that have no other role, and that anybody may have as they are",
        "[tenure]",
    )
    limits: _MAPPING = setting(
        {},
        "the limits of the office, each explained in {doc}`report`; without a `k_required`, their `k` is it",
        "{k: 3, global_risk: 0.02}",
    )
    earlier_release: EarlierSettings | None = setting(
        None,
        "an earlier release that an intruder may have too: the limit `k_with` counts what both reveal together, and is "
        "that on `k` unless it is set",
        "{file: last_year.csv, id: pseudonym}",
    )
    population: Annotated[
        PopulationSettings | None,
        BeforeValidator(_as_population, json_schema_input_type=PopulationSettings | str | None),
    ] = setting(
        None,
        "a file of the population that the records are from, such as a register, with the same key variables in the "
        "same codes (as they are before any step): its path, or `{file: ..., count: ...}` where a row is a group of "
        "persons. Limits on `k_map` and `delta_presence` are counted in it",
        "register.csv",
    )
    indicators: IndicatorSettings | None = setting(
        None, "what the users will publish, see {doc}`recipes`", "{means: [income], by: [sex]}"
    )
    language: Annotated[str, chosen_from(LANGUAGES)] = setting(
        "en", "that of a report on the file, `en` or `es`; see {doc}`report`. `kanon-lab protect` prints English", "es"
    )
    household_level: SkipValidation[dict[str, Any] | None] = setting(
        None, "households are protected first, see {doc}`recipes`", "{key_variables: [postcode]}"
    )


class FileSettings(RecipeSettings):
    """A recipe, and options of `kanon_lab.data.read_file` to read its file by."""

    missing_codes: Annotated[dict[str, tuple[Any, ...]], CheckedBy(_codes, dict[str, Any])] = setting(
        {}, "by column the codes that mean missing", "{income: [88, 99]}"
    )
    keep_missing_codes: bool = setting(
        False,
        "whether codes that a file of SPSS, Stata or SAS declares as missing are kept as values of their own, letters "
        "as `.a`. Otherwise they are missing values, and a release has empty cells in their place",
        "true",
    )
    na: _TEXTS = setting((), "texts that mean missing in every column", '["NA"]')
    text: _TEXTS = setting((), "columns of a csv file that are text, though they look like numbers", "[postcode]")
    encoding: Annotated[str, CheckedBy(_sign)] | None = setting(
        None, "of a csv, SPSS, Stata or SAS file", "cp1252", unless="found"
    )
    separator: Annotated[str, CheckedBy(_sign)] | None = setting(
        None, "the sign between the cells of a csv file", '";"', unless="found"
    )
    decimal: Annotated[str, CheckedBy(_sign, Literal[",", "."])] | None = setting(
        None, "the sign before decimals in a csv file: `,` or `.`", '","', unless="found"
    )
    thousands: Annotated[str, CheckedBy(_sign)] | None = setting(
        None, "the sign between thousands in a csv file, such as `.`", '"."', unless="found"
    )
    sheet: Annotated[str | int, CheckedBy(_sheet)] | None = setting(
        None, "the sheet of an xlsx file, by its name or its number from `1` on", "2", unless="the first"
    )
    max_bytes: Annotated[int, CheckedBy(_bytes)] | None = setting(
        None,
        "the memory that reading the file may take, as estimated before it is unpacked; `4 GB` where nothing is said",
        "8000000000",
    )

    @property
    def reading(self) -> dict[str, Any]:
        """Those settings that say how to read the file."""
        return {name: value for name, value in self.fields_set.items() if name not in RecipeSettings.model_fields}


class MapSettings(Settings):
    """Recipes to compare."""

    such_as = "settings with a grid, such as {grid: {k: [2, 3, 5]}}"

    grid: _MAPPING = setting(..., "by placeholder the values to try", "{k: [2, 3, 5]}")
    steps: _STEPS | None = setting(
        None, "the steps, with placeholders such as `$k`", "[suppress: {k_required: $k}]", unless="those of the report"
    )
    risk: SkipValidation[str | None] = setting(
        None, "the measure of risk, as listed in {doc}`recipes`", "key_linkage", unless="`global_risk`"
    )
    loss: SkipValidation[str | None] = setting(
        None, "the measure of loss", "table_distance", unless="`non_uniform_entropy`"
    )

    def check(self) -> None:
        if not self.grid:
            raise OptionError("has no grid; add one, such as grid: {k: [2, 3, 5]}")


class DecisionSettings(Settings):
    """Who set the limits, by which rules, for which release and when: nothing is computed from it."""

    such_as = "who set the limits and for what, such as {by: methods unit, release: public, date: 2026-11-28}"

    by: Annotated[str, CheckedBy(_title)] | None = setting(None, "who set the limits", "methods unit")
    source: Annotated[str, CheckedBy(_title)] | None = setting(
        None, "the rules that the limits follow", "house rules of 2025"
    )
    release: Annotated[str, chosen_from(RELEASES)] | None = setting(
        None,
        "for whom the file is: `public` (anybody), `scientific` (researchers who sign an agreement) or `enclave` (work "
        "inside the office)",
        "public",
    )
    date: Annotated[str, CheckedBy(_day)] | None = setting(None, "on which day the limits were set", "2026-11-28")


class ReportSettings(FileSettings):
    """The configuration of a report: a recipe, and what the report shows."""

    language: Annotated[str, chosen_from(REPORT_LANGUAGES)] = setting("en", "of the report: `en` or `es`", "es")
    title: Annotated[str, CheckedBy(_title)] = setting("", "of the report", "Health survey", unless="a usual one")
    decision: DecisionSettings | None = setting(
        None,
        "who set the limits, for which release and when, for the first screen to show, see below",
        "{by: methods unit, release: public, date: 2026-11-28}",
    )
    least: Annotated[int, Field(ge=LEAST), CheckedBy(_least)] = setting(
        LEAST, "categories of fewer records are not shown, and indicators of fewer not compared; `10` or more", "20"
    )
    map: MapSettings | None = setting(
        None, "other recipes to compare, see below", "{grid: {k: [2, 3]}, steps: [suppress: {k_required: $k}]}"
    )


#: The settings of a report that a recipe has no use for.
OF_REPORTS = ("title", "decision", "least", "map")


_counts = {
    unit: _must_be(
        f"a whole number of {unit} from 0 on, not {{given}}",
        lambda value: is_number(value) and isinstance(value, Integral) and value >= 0,
        int,
    )
    for unit in ("records", "columns")
}
_number = _must_be(
    "a number from 0 on, not {given}",
    lambda value: is_number(value) and 0 <= value < float("inf"),
    float,
)
_l = _must_be(
    "a number from 1 on, not {given}",
    lambda value: is_number(value) and 1 <= value < float("inf"),
    lambda value: value if isinstance(value, int) else float(value),
)
_BOUNDS: dict[str, Check] = {"share": as_share, **_counts, "k": check_k}


def as_bound(name: str, value: Any, place: str) -> int | float:
    """The bound of a limit as a number; an `OptionError` that names the `place` if the measure cannot have it."""
    measure = LIMITS[name]
    check = _l if measure.least else _BOUNDS.get(measure.unit, as_share if measure.kind == "diversity" else _number)
    return check(value, place)


_FORMS: dict[str, Any] = {
    "": float,
    **dict.fromkeys(("variable", "level"), float | dict[str, float]),
    "combination": list[dict[str, Any]],
}
#: The limits of an office, each by itself.
_LIMITS: dict[str, Any] = {
    name: (
        Annotated[_FORMS[row.limit.by], SkipValidation()],
        setting(None, row.limit.meaning, row.limit.example, unless="-"),
    )
    for name, row in LIMITS.items()
    if row.limit is not None
}
LimitSettings: type[Settings] = create_model("LimitSettings", __base__=Settings, **_LIMITS)
