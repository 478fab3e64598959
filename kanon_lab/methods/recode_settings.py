"""Steps that recode, and hierarchies, from settings; apart from the methods, since it loads pydantic."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, ClassVar

import pandas as pd
from pydantic import SkipValidation, StrictBool, StrictStr

from kanon_lab.columns import as_text, check_number, distinct, one_column, with_columns
from kanon_lab.errors import OptionError, shortened
from kanon_lab.methods.hierarchy import Hierarchy
from kanon_lab.methods.recoding import (
    HALVES,
    bottom_code,
    cut_bands,
    equal_edges,
    group_categories,
    round_values,
    top_code,
)
from kanon_lab.rules import UNITS, recode_dates
from kanon_lab.settings import COLUMNS, CheckedBy, Settings, chosen_from, read, setting

# Settings of which there is one entry a level.
_LISTS = {"masks": "[5, 2, 0]", "bands": "[[0, 15, 65, null]]", "widths": "[5, 10]", "dates": "[month, year]"}


def _levels(value: Any, name: str) -> Any:
    if not isinstance(value, (list, tuple)):
        entries = f", one entry a level, such as {_LISTS[name]}" if name in _LISTS else " of names, one a level"
        raise OptionError(f"{name} must be a list{entries}")
    return value


class HierarchySettings(Settings):
    """A hierarchy by one of its kinds."""

    kinds = {
        "masks": ("width", "mask", "level_names"),
        "bands": ("closed", "whole", "labels", "nested", "top", "level_names"),
        "widths": ("from", "to", "closed", "top", "level_names"),
        "mapping": ("nested", "top", "level_names"),
        "dates": ("date_format", "top", "level_names"),
        "file": ("header", "numbers", "nested"),
    }
    such_as = "settings, such as {masks: [5, 2]}"

    masks: Annotated[list[int], CheckedBy(_levels)] | None = setting(
        None, "characters kept at each level; the first is the full length, level `0`", "[5, 2, 0]"
    )
    width: SkipValidation[int | None] = setting(None, "the full length, where numbers lost their leading zeros", "5")
    mask: SkipValidation[str] = setting("*", "the character in place of those not kept", "x")
    bands: Annotated[list[list[float | None]], CheckedBy(_levels)] | None = setting(
        None, "edges, one list a level", "[[0, 15, 65, null], [0, null]]"
    )
    widths: Annotated[list[float], CheckedBy(_levels)] | None = setting(
        None, "bands of equal width, one a level", "[5, 10]"
    )
    start: SkipValidation[float | None] = setting(None, "where they begin; required", "0", unless="-", alias="from")
    to: SkipValidation[float | None] = setting(None, "where they end; required", "120", unless="-")
    mapping: SkipValidation[dict[str, Any] | None] = setting(
        None, "for each value its label, or the list of its labels at each level", "{man: any, woman: any}"
    )
    dates: Annotated[list[str], CheckedBy(_levels)] | None = setting(
        None, "units out of `month`, `quarter`, `year`, `decade`, one a level", "[month, year]"
    )
    file: StrictStr | None = setting(
        None, "a csv file beside the recipe: a row for each value, and a column for each level", "education.csv"
    )
    closed: SkipValidation[str] = setting("left", "the edge that belongs to a band", "right")
    whole: StrictBool | None = setting(
        None, "labels as of whole numbers (`40-49`) or not (`[40, 50)`); else by what the edges are", "true"
    )
    labels: SkipValidation[list[list[str]] | None] = setting(
        None, "own labels, one list a level", "[[child, adult, old], [any]]"
    )
    date_format: SkipValidation[str] = setting("%Y-%m-%d", "how the file writes dates", '"%d/%m/%Y"')
    header: StrictBool = setting(True, "whether its first row holds the names of the levels", "false")
    numbers: StrictBool = setting(False, "whether its values are numbers; else text", "true")
    nested: StrictBool = setting(True, "whether each level must be made of whole groups of the one below", "false")
    top: SkipValidation[str | None] = setting(
        None, 'label of one more level, at which all are alike; with `dates` it is `"*"` unless given', '"*"'
    )
    level_names: Annotated[list[str], CheckedBy(_levels)] = setting(
        [], "a name for each level, level `0` included", "[as it is, coarse]"
    )

    def check(self) -> None:
        if self.file is None:
            self.made("")

    def made(self, name: str) -> Hierarchy:
        """The hierarchy of a variable; one in a file is read."""
        settings = dict(self)
        settings["from"] = settings.pop("start")
        (kind,) = [each for each in self.kinds if settings[each] is not None]
        options = {each: settings[each] for each in self.kinds[kind] if settings[each] is not None}
        if not isinstance(self.top or "", str):
            raise OptionError("top must be text, such as '*'")
        try:
            return _MAKERS[kind](settings[kind], name=name, **options)
        except (KeyError, TypeError, ValueError):
            raise OptionError(f"{kind} or one of its settings is of the wrong kind; check each of them") from None


def hierarchies(settings: Mapping[str, Mapping[str, Any]]) -> dict[str, Hierarchy]:
    """A hierarchy for each variable, from settings as the chapter on recipes lists them.

    Examples
    --------
    >>> from kanon_lab.methods.recode_settings import hierarchies
    >>> ladder = hierarchies({"postcode": {"masks": [5, 2, 0]}})["postcode"]
    >>> ladder.table(["37003"]).iloc[0].tolist()
    ['37003', '37***', '*****']
    """
    if not isinstance(settings, Mapping):
        raise OptionError("hierarchies: give a mapping of variable to settings")
    made = {}
    for name, each in settings.items():
        try:
            made[name] = read(HierarchySettings, each).made(name)
        except OptionError as error:
            raise OptionError(f"hierarchy of {shortened(str(name))}: {error}") from None
    return made


def _widths(widths: Sequence[float], **options: Any) -> Hierarchy:
    for end in ("from", "to"):
        if end not in options:
            raise OptionError(f"{end} is not given; widths need both ends of the bands, such as from: 0, to: 100")
    low, high = options.pop("from"), options.pop("to")
    return Hierarchy.from_intervals([equal_edges(width, low, high) for width in widths], **options)


_MAKERS: dict[str, Callable[..., Hierarchy]] = {
    "masks": Hierarchy.from_masks,
    "bands": Hierarchy.from_intervals,
    "widths": _widths,
    "mapping": Hierarchy.from_mapping,
    "dates": Hierarchy.from_dates,
    "file": Hierarchy.from_file,
}


# Whole numbers as they are written, and few enough digits for every format.
_WHOLE = re.compile(r"0|-?[1-9]\d{0,8}")
_NO_NUMBERS = pd.Series([], dtype=float)


class Recoding(Settings):
    """What every step that recodes has: columns, and a function that makes of one what the other settings say."""

    function: ClassVar[Callable[..., pd.Series]]

    @property
    def options(self) -> dict[str, Any]:
        """All that is given but the columns."""
        return {name: value for name, value in self.fields_set.items() if name != "variable"}

    def recoded(self, series: pd.Series) -> pd.Series:
        """A column by these settings."""
        return type(self).function(series, **self.options)

    def check(self) -> None:
        """Refuse what the recoding of any column would refuse."""
        self.recoded(_NO_NUMBERS)


class Recode(Recoding):
    """Global recoding."""

    kinds = {
        "bands": ("closed", "whole", "labels", "outside"),
        "width": ("start", "stop", "closed", "whole", "labels", "outside"),
        "groups": ("others", "labels"),
        "dates": ("reference", "date_format"),
        "hierarchy": ("level", "labels"),
    }
    such_as = "settings, such as {variable: age, width: 10}"

    variable: COLUMNS = setting(..., "the column, or several that are recoded alike", "[income]")
    bands: SkipValidation[list[float | None] | None] = setting(
        None, "edges, rising; `null` at either end leaves it open", "[0, 15, 65, null]"
    )
    width: SkipValidation[float | None] = setting(None, "bands of one width instead", "10")
    start: SkipValidation[float] = setting(0, "where the bands of one width begin", "0")
    stop: SkipValidation[float | None] = setting(None, "where they end; else as far as the values reach", "120")
    closed: SkipValidation[str] = setting("left", "the edge that belongs to a band", "right")
    whole: StrictBool | None = setting(
        None, "labels as of whole numbers (`40-49`) or not (`[40, 50)`); else by what the values and edges are", "false"
    )
    labels: SkipValidation[list[str] | dict[str, str] | None] = setting(
        None,
        "a list: own labels, one a band; or a mapping such as `{1: North, 2: South}`: what the new codes are "
        "called in a file of SPSS or Stata",
        "[child, adult, old]",
    )
    outside: SkipValidation[str | dict[str, str]] = setting(
        "raise", "what lies outside: refused, a label, or labels `below` and `above`", '{above: "75+"}'
    )
    groups: SkipValidation[dict[str, Any] | None] = setting(
        None, "new label, and the old value or values", "{studied: university}"
    )
    others: SkipValidation[str] = setting("raise", "values in no group: refused, kept, or a label for all", "keep")
    dates: Annotated[str, chosen_from([*UNITS, "age"])] | None = setting(
        None, "`month`, `quarter`, `year`, `decade` or `age`", "month"
    )
    reference: SkipValidation[str | datetime.date | None] = setting(
        None, "the day of an age, and only of an age", "2011-11-01"
    )
    date_format: SkipValidation[str] = setting("%Y-%m-%d", "how the file writes dates", '"%d/%m/%Y"')
    hierarchy: HierarchySettings | None = setting(None, "a ladder of levels, see the next table", "{masks: [5, 2]}")
    level: SkipValidation[int | None] = setting(None, "the level to go to; required", "1", unless="-")

    @classmethod
    def misplaced(cls, name: str) -> str | None:
        if name in HierarchySettings.fields():
            return f"{name} goes inside hierarchy, such as hierarchy: {{masks: [5, 2]}}, level: 1"
        return super().misplaced(name)

    def check(self) -> None:
        if self.hierarchy is not None:
            self._check_level()
        elif self.groups is not None:
            self._check_groups()
        else:
            self._recoded(_NO_NUMBERS if self.dates is None else _NO_NUMBERS.astype(object))
        if self._codes is not None:
            self._check_codes()

    def recoded(self, series: pd.Series) -> pd.Series:
        found = self._recoded(series)
        return found if self._codes is None else _as_codes(found)

    def _recoded(self, series: pd.Series) -> pd.Series:
        if self.hierarchy is not None:
            return self.hierarchy.made(str(series.name)).recode(series, self.level or 0)
        options = {name: value for name, value in self.options.items() if name != "labels" or self._codes is None}
        if self.dates is not None:
            return recode_dates(series, to=options.pop("dates"), **options)
        return (cut_bands if self.groups is None else group_categories)(series, **options)

    @property
    def _codes(self) -> Any:
        """The labels of new codes, where labels are not those of bands."""
        bands = self.groups is None and self.hierarchy is None and not isinstance(self.labels, Mapping)
        return None if bands else self.labels

    def _check_level(self) -> None:
        made = None if self.hierarchy is None or self.hierarchy.file else self.hierarchy.made(self.variable[0])
        if self.level is None:
            to = "" if made is None else f", from 1 to {made.height}"
            raise OptionError(f"level is not given; say which one{to}")
        if made is not None:
            made.check_level(self.level)

    def _check_groups(self) -> None:
        """Of groups only what they are is refused: which values there are, the column says."""
        lists = self.groups.values() if isinstance(self.groups, Mapping) else ()
        values = [value for each in lists for value in (each if isinstance(each, (list, tuple)) else [each])]
        plain = [value for value in values if isinstance(value, (str, int, float))]
        self._recoded(pd.Series(plain, dtype=object))

    def _check_codes(self) -> None:
        """Refuse labels that are no mapping of codes to texts, or of codes that no group makes."""
        codes = self._codes.items() if isinstance(self._codes, Mapping) else [(None, None)]
        if not all(isinstance(code, (str, int, float)) and isinstance(label, str) and label for code, label in codes):
            raise OptionError("labels must be a mapping of new code to text, such as labels: {1: North, 2: South}")
        if self.groups is not None and self.others != "keep":
            made = {as_text(each) for each in (*self.groups, self.others)}
            if unmade := [code for code, _ in codes if as_text(code) not in made]:
                raise OptionError(f"labels name {shortened(repr(unmade[0]))}, and no group is called so; mend it")


def _as_codes(found: pd.Series) -> pd.Series:
    """A column of codes that have labels: numbers where all are whole, as Stata must have them."""
    codes, values = distinct(found)
    texts = [as_text(value) for value in values]
    if not texts or not all(_WHOLE.fullmatch(text) for text in texts):
        return found
    numbers = pd.array([int(text) for text in texts], dtype="Int64").take(codes, allow_fill=True)
    return pd.Series(numbers if (codes < 0).any() else numbers.astype("int64"), index=found.index, name=found.name)


class Tail(Recoding):
    variable: COLUMNS = setting(..., "the column, or several", "income")
    label: StrictStr | None = setting(None, "a text for the coded values; the column becomes text", '"85+"')
    value: SkipValidation[float | str | None] = setting(
        None, "a number for them, or `mean`; without `label` and `value` they become the limit", "mean"
    )

    def check(self) -> None:
        limit = self.options.get("above", self.options.get("below"))
        if not isinstance(limit, str):  # a text is one of ordered categories, which the column has
            super().check()
        elif self.label is not None and self.value is not None:
            raise OptionError("give label (text) or value (a number), not both")


class TopCode(Tail):
    """The highest values become alike."""

    function = top_code
    above: SkipValidation[float | str] = setting(..., "the highest value that stays", "6000")


class BottomCode(Tail):
    """The lowest values become alike."""

    function = bottom_code
    below: SkipValidation[float | str] = setting(..., "the lowest value that stays", "500")


class Round(Recoding):
    """Numbers are rounded."""

    function = round_values
    variable: COLUMNS = setting(..., "the column, or several", "[income]")
    base: Annotated[float, CheckedBy(check_number)] = setting(..., "rounded to multiples of this", "100")
    half: Annotated[str, chosen_from(HALVES)] = setting(
        "even", "where a number half-way goes: to the `even` multiple, or `up`, away from zero", "up"
    )


#: By its name, the settings of each step that recodes.
RECODINGS: Mapping[str, type[Recoding]] = {
    "recode": Recode,
    "top_code": TopCode,
    "bottom_code": BottomCode,
    "round": Round,
}


def recode_step(frame: pd.DataFrame, settings: Mapping[str, Any], *, step: str = "recode") -> pd.DataFrame:
    """One step of a recipe that recodes, one of `RECODINGS`, from its settings as the chapter on recipes lists them.

    Returns
    -------
    DataFrame
        The same records and columns, the variables recoded.

    Examples
    --------
    >>> frame = pd.DataFrame({"age": [3, 40], "income": [1230, 880]})
    >>> tens = kanon_lab.methods.recode_step(frame, {"variable": "age", "width": 10})
    >>> kanon_lab.methods.recode_step(tens, {"variable": "income", "base": 100}, step="round").values.tolist()
    [['0-9', 1200], ['40-49', 900]]
    """
    try:
        given = read(RECODINGS[step], settings)
    except OptionError as error:
        named = settings.get("variable") if isinstance(settings, Mapping) else None
        of = f" of {shortened(named)}" if isinstance(named, str) else ""
        raise OptionError(f"{step}{of}: {error}") from None
    return recoded(step, given, frame)


def recoded(step: str, given: Recoding, frame: pd.DataFrame) -> pd.DataFrame:
    """A frame with the columns that settings name recoded."""
    columns = {}
    for name in given.columns:
        columns[name] = recoded_column(step, given, one_column(frame, name))
    return with_columns(frame, columns)


def recoded_column(step: str, given: Recoding, column: pd.Series) -> pd.Series:
    """One column recoded; each of its values by itself, so that it may also be that of the different values."""
    try:
        return given.recoded(column)
    except OptionError as error:
        raise OptionError(f"{step} of {shortened(str(column.name))}: {error}") from None
