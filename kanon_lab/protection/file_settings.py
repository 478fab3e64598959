"""Settings of files of settings: recipes, their household level and indicators, and the configurations of reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, create_model

from kanon_lab import files
from kanon_lab.arguments import as_share
from kanon_lab.data.delimited import Dialect
from kanon_lab.errors import OptionError, shortened
from kanon_lab.keys import MISSING_POLICIES, check_k, check_seed
from kanon_lab.protection.limits import LIMITS
from kanon_lab.risk import ESTIMATORS
from kanon_lab.settings import REQUIRED, Check, Settings, Several, checked, one_of, read, setting
from kanon_lab.terms import LANGUAGES
from kanon_lab.utility import Design, IndicatorSet

#: A category that fewer records hold may point at persons: no report shows it alone, whatever is asked for.
LEAST = 10
#: Languages of reports.
REPORT_LANGUAGES = ("en", "es")
_LONGEST_TITLE = 200
_DIALECT = ("encoding", "separator", "decimal")


def _each(check: Check) -> Check:
    """A check of one value or several, which become a tuple."""

    def checked_each(values: Any, name: str) -> tuple:
        return tuple(check(each, name) for each in (values if isinstance(values, (list, tuple)) else [values]))

    return checked_each


def _names(value: Any, role: str) -> Any:
    """The names of a role; YAML makes numbers of names such as 2019, and these are no columns."""
    lists = value.values() if role == "ghost_variables" and isinstance(value, Mapping) else [value]
    names = [name for each in lists for name in (each if isinstance(each, (list, tuple)) else [each])]
    if not all(isinstance(name, str) and name for name in names):
        raise OptionError(
            f"{role} must be names of columns, as texts (numbers and yes or no in quotes), not {shortened(repr(value))}"
        )
    return value


def _one_name(value: Any, role: str) -> str:
    if not isinstance(value, str) or not value:
        raise OptionError(
            f"{role} must be one name, as text (numbers and yes or no in quotes), not {shortened(repr(value))}"
        )
    return value


def _texts(values: Any, name: str) -> tuple[str, ...]:
    values = values if isinstance(values, (list, tuple)) else [values]
    if not all(isinstance(value, str) for value in values):
        raise OptionError(f"{name} must be texts, such as {name}: ['A'] (numbers in quotes)")
    return tuple(values)


def _sign(value: Any, name: str) -> str:
    (text,) = _texts([value], name)
    Dialect(**{name: text})
    return text


def _bytes(value: Any, name: str) -> Any:
    with files.limited(value):  # so that one which cannot be used is refused here
        return value


def _codes(given: Any, name: str) -> dict[str, tuple]:
    """By variable its codes; one code may stand without a list."""
    if not isinstance(given, Mapping) or not all(isinstance(column, str) for column in given):
        raise OptionError(f"{name} must be names of columns with their codes, such as {{income: [88, 99]}}")
    found = {column: tuple(codes) if isinstance(codes, (list, tuple)) else (codes,) for column, codes in given.items()}
    for column, codes in found.items():
        if not codes or any(isinstance(code, bool) or not isinstance(code, (str, int, float)) for code in codes):
            raise OptionError(f"{name}: the codes of {shortened(column)} must be numbers or texts, such as [88]")
    return found


def _steps(value: Any, name: str) -> Any:
    if not isinstance(value, (list, tuple)):
        raise OptionError(f"{name} must be a list, such as - suppress: {{k_required: 3}}")
    return value


def _title(title: Any, name: str) -> str:
    if not isinstance(title, str) or len(title) > _LONGEST_TITLE:
        raise OptionError(f"{name} must be a text of at most {_LONGEST_TITLE} characters, in quotes if it is a number")
    return " ".join(title.split())


def _least(least: Any, name: str) -> int:
    if check_k(least, name) < LEAST:
        raise OptionError(f"{name} must be {LEAST} or more: a report names no category that fewer records hold")
    return int(least)


K = checked(Annotated[int, Field(ge=1)], check_k)
SEED = checked(Annotated[int, Field(ge=0)], lambda value, name: check_seed(value))
_NAME, _SEVERAL = checked(str, _one_name), checked(Several, _names)
_SHARES = checked(list[float] | float, _each(as_share))


class IndicatorSettings(Settings):
    """What the users of the file will publish; see `kanon_lab.utility.IndicatorSet`."""

    such_as = "a mapping of settings, such as {means: [income], by: [sex]}"

    rates: checked(dict[str, list[Any] | None] | Several) = setting(
        (),
        "variables whose categories have rates: those listed, or all (`null`); `rates: [sex]` is short for the latter",
        "{diagnosis: [diabetes], sex: null}",
    )
    means: checked(Several) = setting((), "quantities that have means", "[income]")
    by: checked(list[Several] | str) = setting(
        (), "groups to estimate for; a list inside crosses its variables", "[sex, [sex, postcode]]"
    )
    strata: checked(Several) = setting((), "strata of the design", "[postcode]")
    sampling_unit: checked(str) = setting(None, "the units that were drawn", "household")
    level: checked(float) = setting(0.95, "of the intervals", "0.9")

    def check(self) -> None:
        self.made(None)

    def made(self, weight: str | None) -> IndicatorSet:
        """The indicators, estimated with a weight."""
        given = self.said
        design = Design(weight, **{name: given.pop(name) for name in ("strata", "sampling_unit") if name in given})
        return IndicatorSet(**given, design=design)


def as_indicators(settings: Mapping[str, Any], *, weight: str | None = None) -> IndicatorSet:
    """Indicators from settings of plain types, as a recipe holds them.

    Parameters
    ----------
    settings : mapping
        ``rates``, ``means``, ``by`` and ``level`` as in `kanon_lab.utility.IndicatorSet`, ``strata`` and
        ``sampling_unit`` as in `kanon_lab.utility.Design`.
    weight : str, optional
        Sampling weight.

    Examples
    --------
    >>> import kanon_lab
    >>> kanon_lab.protection.as_indicators({"means": "income", "by": "sex"}).variables
    ('means', 'by')
    """
    try:
        return read(IndicatorSettings, settings).made(weight)
    except OptionError as error:
        raise OptionError(f"indicators: {error}") from None


_OF_FILES = "no"
_OWN, _SAME = {"Household level": "own"}, {"Household level": "same"}
_NO = {"Household level": _OF_FILES}


class RecipeSettings(Settings):
    """A recipe."""

    such_as = "a mapping of settings, such as key_variables: [region, sex, age]"

    key_variables: _SEVERAL = setting(
        REQUIRED,
        "names of columns that an outsider may know",
        "[postcode, age]",
        need="name the variables that an outsider may know",
        **_OWN,
    )
    weight: _NAME = setting(
        None, "the column of sampling weights; without one every record counts as one person", "weight", **_SAME
    )
    household: _NAME = setting(None, "the column that tells households apart", "household", **_NO)
    sensitive_variables: _SEVERAL = setting((), "columns that an outsider wants to learn", "[diagnosis]", **_OWN)
    numeric_variables: _SEVERAL = setting(
        (),
        "columns that are quantities: what they have lost is measured, and who is linked by them",
        "[income]",
        **_OWN,
    )
    strata: _SEVERAL = setting(
        (), "columns within whose groups `suppress` and the steps that perturb work; no gaps", "[sex]", **_OWN
    )
    ghost_variables: checked(dict[str, Several], _names) = setting(
        {},
        "by key, the columns that say the same in other words: suppressed and removed with it",
        "{age: birth_date}",
        **_OWN,
    )
    direct_identifiers: _SEVERAL = setting(
        (),
        "columns that name a person; they are dropped first, and proved absent from the output",
        "[birth_date]",
        **_NO,
    )
    missing: one_of(MISSING_POLICIES) = setting(
        "wildcard",
        "what a missing key means: `wildcard` any value, `category` a value of its own, `error` none may be missing",
        "category",
        **_SAME,
    )
    k_required: K = setting(None, "the k of each `suppress` without its own, and of the report's verdict", "3", **_SAME)
    k: checked(list[int] | int, _each(check_k)) = setting(
        (2, 3, 5), "the report counts the records below each of these", "[2, 3, 5, 10]", **_SAME
    )
    risks: _SHARES = setting(
        (0.05,),
        "the report counts the records whose risk is above each of these, from `0` to `1`",
        "[0.02, 0.1]",
        **_SAME,
    )
    estimator: one_of(ESTIMATORS) = setting(
        "benedetti-franconi",
        "how the risk of a record is estimated: `benedetti-franconi`, `exact` or `inverse`",
        "exact",
        **_SAME,
    )
    limits: checked(dict[str, Any]) = setting(
        {},
        "the limits of the office, each explained in {doc}`report`; without a `k_required`, their `k` is it",
        "{k: 3, global_risk: 0.02}",
        **_NO,
    )
    indicators: IndicatorSettings = setting(
        None, "what the users will publish, see {doc}`recipes`", "{means: [income], by: [sex]}", **_NO
    )
    language: one_of(LANGUAGES) = setting(
        "en",
        "that of a report on the file, `en` or `es`; see {doc}`report`. `kanon-lab protect` prints English",
        "es",
        **_NO,
    )
    seed: SEED = setting(0, "whole number from `0` on, from which the seeds of random steps are made", "2011", **_OWN)
    household_level: checked(dict[str, Any]) = setting(
        None, "households are protected first, see {doc}`recipes`", "{key_variables: [postcode]}", **_NO
    )
    steps: checked(list[Any], _steps) = setting(
        (), "the list of steps, applied in this order", "[round: {variable: income, base: 100}]", **_OWN
    )


class _Level(Settings):
    such_as = RecipeSettings.such_as

    @classmethod
    def misplaced(cls, name: str) -> str | None:
        return None


#: The settings of a recipe that its household level has too.
HouseholdLevel: type[Settings] = create_model(
    "HouseholdLevel",
    __base__=_Level,
    **{
        name: (field.annotation, field)
        for name, field in RecipeSettings.model_fields.items()
        if field.json_schema_extra["Household level"] != _OF_FILES
    },
)


class FileSettings(RecipeSettings):
    """A recipe, and how to read the file that it is for: options of `kanon_lab.data.read_file`."""

    missing_codes: checked(dict[str, Any], _codes) = setting(
        {}, "by column the codes that mean missing", "{income: [88, 99]}"
    )
    na: checked(Several, _texts) = setting((), "texts that mean missing in every column", '["NA"]')
    text: checked(Several, _texts) = setting(
        (), "columns of a csv file that are text, though they look like numbers", "[postcode]"
    )
    encoding: checked(str, _sign) = setting(None, "of a csv, SPSS, Stata or SAS file", "cp1252", unless="found")
    separator: checked(str, _sign) = setting(None, "the sign between the cells of a csv file", '";"', unless="found")
    decimal: checked(Literal[",", "."], _sign) = setting(
        None, "the sign before decimals in a csv file: `,` or `.`", '","', unless="found"
    )
    max_bytes: checked(int, _bytes) = setting(
        None,
        "the memory that reading the file may take, as estimated before it is unpacked; `4 GB` where nothing is said",
        "8000000000",
    )

    @property
    def reading(self) -> dict[str, Any]:
        """Those settings that say how to read the file."""
        return {name: value for name, value in self.said.items() if name not in RecipeSettings.model_fields}


class MapSettings(Settings):
    """Recipes to compare."""

    such_as = "settings with a grid, such as {grid: {k: [2, 3, 5]}}"

    grid: checked(dict[str, Any]) = setting(
        REQUIRED, "by placeholder the values to try", "{k: [2, 3, 5]}", need="write one, such as grid: {k: [2, 3, 5]}"
    )
    steps: checked(list[Any], _steps) = setting(
        None,
        "the steps, with placeholders such as `$k`",
        "[suppress: {k_required: $k}]",
        unless="those of the report",
    )
    risk: checked(str) = setting(
        None, "the measure of risk, as listed in {doc}`recipes`", "key_linkage", unless="`global_risk`"
    )
    loss: checked(str) = setting(None, "the measure of loss", "table_distance", unless="`non_uniform_entropy`")

    def check(self) -> None:
        if not self.grid:
            raise OptionError("has no grid; write one, such as grid: {k: [2, 3, 5]}")


class ReportSettings(FileSettings):
    """The configuration of a report: a recipe, and what the office wants said about the file."""

    language: one_of(REPORT_LANGUAGES) = setting("en", "of the report: `en` or `es`", "es")
    title: checked(str, _title) = setting("", "of the report", "Health survey", unless="a usual one")
    least: checked(Annotated[int, Field(ge=LEAST)], _least) = setting(
        LEAST,
        f"categories of fewer records are not shown, and indicators of fewer not compared; `{LEAST}` or more",
        "20",
    )
    map: MapSettings = setting(
        None,
        "other recipes to compare, see below",
        "{grid: {k: [2, 3]}, steps: [suppress: {k_required: $k}]}",
    )


#: The settings of a report that a recipe has no use for.
OF_REPORTS = ("title", "least", "map")
#: The limits of an office, each by itself.
LimitSettings: type[Settings] = create_model(
    "LimitSettings",
    __base__=Settings,
    **{name: (checked(each.shape), setting(None, each.says, each.example, unless="")) for name, each in LIMITS.items()},
)
