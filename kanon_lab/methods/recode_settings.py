"""Settings of hierarchies and of the steps that recode; a module of its own because it loads pydantic."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, ClassVar

import pandas as pd
from pydantic import SkipValidation, StrictBool, StrictStr

from kanon_lab import methods
from kanon_lab.columns import as_text, check_number, distinct, one_column, with_columns
from kanon_lab.errors import OptionError, shortened
from kanon_lab.rules import UNITS, recode_dates
from kanon_lab.settings import COLUMNS, CheckedBy, Settings, chosen_from, read, setting

# Settings of which there is one entry a level.
_LISTS = {"masks": "[5, 2, 0]", "bands": "[[0, 15, 65, null]]", "widths": "[5, 10]", "dates": "[month, year]"}


def _levels(value: Any, name: str) -> Any:
    if not isinstance(value, (list, tuple)):
        entries = f", one entry per level, such as {_LISTS[name]}" if name in _LISTS else " of names, one per level"
        raise OptionError(f"{name} must be a list{entries}")
    return value


class HierarchySettings(Settings):
    """A hierarchy by one of its kinds."""

    kinds = {
        "masks": ("width", "mask", "level_names"),
        "bands": ("closed", "whole", "labels", "nested", "top", "level_names"),
        "widths": ("from", "to", "closed", "nested", "top", "level_names"),
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
        None, "edges, one list per level", "[[0, 15, 65, null], [0, null]]"
    )
    widths: Annotated[list[float], CheckedBy(_levels)] | None = setting(
        None, "bands of equal width, one per level", "[5, 10]"
    )
    start: SkipValidation[float | None] = setting(None, "where they begin; required", "0", unless="-", alias="from")
    to: SkipValidation[float | None] = setting(None, "where they end; required", "120", unless="-")
    mapping: SkipValidation[dict[str, Any] | None] = setting(
        None, "for each value its label, or the list of its labels at each level", "{man: any, woman: any}"
    )
    dates: Annotated[list[str], CheckedBy(_levels)] | None = setting(
        None, "units out of `month`, `quarter`, `year`, `decade`, one per level", "[month, year]"
    )
    file: StrictStr | None = setting(
        None, "a csv file beside the recipe: a row for each value, and a column for each level", "education.csv"
    )
    closed: SkipValidation[str] = setting("left", "the edge that belongs to a band", "right")
    whole: StrictBool | None = setting(
        None, "labels as of whole numbers (`40-49`) or not (`[40, 50)`); else by what the edges are", "true"
    )
    labels: SkipValidation[list[list[str]] | None] = setting(
        None, "own labels, one list per level", "[[child, adult, old], [any]]"
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
            self.build("")

    def build(self, variable: str) -> methods.Hierarchy:
        """The hierarchy of a variable; one in a file is read."""
        settings = dict(self)
        settings["from"] = settings.pop("start")
        (kind,) = [name for name in self.kinds if settings[name] is not None]
        options = {name: settings[name] for name in self.kinds[kind] if settings[name] is not None}
        if not isinstance(self.top or "", str):
            raise OptionError("top must be text, such as '*'")
        try:
            return _builder(kind)(settings[kind], name=variable, **options)
        except (KeyError, TypeError, ValueError):
            raise OptionError(f"{kind} or one of its settings is of the wrong kind; check each of them") from None


def hierarchies(settings: Mapping[str, Mapping[str, Any]]) -> dict[str, methods.Hierarchy]:
    """A hierarchy for each variable, from the settings that the chapter on recipes lists.

    Examples
    --------
    >>> from kanon_lab.methods.recode_settings import hierarchies
    >>> ladder = hierarchies({"postcode": {"masks": [5, 2, 0]}})["postcode"]
    >>> ladder.table(["37003"]).iloc[0].tolist()
    ['37003', '37***', '*****']
    """
    if not isinstance(settings, Mapping):
        raise OptionError("hierarchies: give a mapping of variable to settings")
    ladders = {}
    for name, entry in settings.items():
        try:
            ladders[name] = read(HierarchySettings, entry).build(name)
        except OptionError as error:
            raise OptionError(f"hierarchy of {shortened(str(name))}: {error}") from None
    return ladders


def _widths(widths: Sequence[float], **options: Any) -> methods.Hierarchy:
    from kanon_lab.methods.recoding import equal_edges

    for end in ("from", "to"):
        if end not in options:
            raise OptionError(f"{end} is not given; widths need both ends of the bands, such as from: 0, to: 100")
    low, high = options.pop("from"), options.pop("to")
    return methods.Hierarchy.from_intervals([equal_edges(width, low, high) for width in widths], **options)


def _builder(kind: str) -> Callable[..., methods.Hierarchy]:
    """The function that makes a hierarchy of a kind."""
    builders: dict[str, Callable[..., methods.Hierarchy]] = {
        "masks": methods.Hierarchy.from_masks,
        "bands": methods.Hierarchy.from_intervals,
        "widths": _widths,
        "mapping": methods.Hierarchy.from_mapping,
        "dates": methods.Hierarchy.from_dates,
        "file": methods.Hierarchy.from_file,
    }
    return builders[kind]


# Whole numbers as they are written, with few enough digits for every format.
_WHOLE = re.compile(r"0|-?[1-9]\d{0,8}")
_NO_NUMBERS = pd.Series([], dtype=float)


class Recoding(Settings):
    """Settings of a step that recodes: columns, and options of the function that recodes them."""

    function: ClassVar[str]  # Its name in `kanon_lab.methods`

    @property
    def options(self) -> dict[str, Any]:
        """All settings of the user except the columns."""
        return {name: value for name, value in self.fields_set.items() if name != "variable"}

    def recoded(self, series: pd.Series) -> pd.Series:
        """A column recoded by these settings."""
        return getattr(methods, self.function)(series, **self.options)

    def check(self) -> None:
        """Raise an `OptionError` where the recoding of any column would raise one."""
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
        "a list: own labels, one per band; or a mapping such as `{1: North, 2: South}`: what the new codes are "
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
            ladder = None if self.hierarchy.file else self.hierarchy.build(self.variable[0])
            if self.level is None:
                to = "" if ladder is None else f", from 1 to {ladder.height}"
                raise OptionError(f"level is not given; say which one{to}")
            if ladder is not None:
                ladder.check_level(self.level)
        elif self.groups is not None:
            # The values of the groups stand for a column: which values there are is known only when one is recoded.
            lists = self.groups.values() if isinstance(self.groups, Mapping) else ()
            values = [value for entry in lists for value in (entry if isinstance(entry, (list, tuple)) else [entry])]
            plain = [value for value in values if isinstance(value, (str, int, float))]
            self._recoded(pd.Series(plain, dtype=object))
        else:
            self._recoded(_NO_NUMBERS if self.dates is None else _NO_NUMBERS.astype(object))
        if self._codes is None:
            return
        codes = self._codes.items() if isinstance(self._codes, Mapping) else [(None, None)]
        if not all(isinstance(code, (str, int, float)) and isinstance(label, str) and label for code, label in codes):
            raise OptionError("labels must be a mapping of new code to text, such as labels: {1: North, 2: South}")
        if self.groups is not None and self.others != "keep":
            known = {as_text(code) for code in (*self.groups, self.others)}
            if unknown := [place for place, (code, _) in enumerate(codes, start=1) if as_text(code) not in known]:
                raise OptionError(f"labels: no group has code {unknown[0]} of those that are listed; correct it")

    def recoded(self, series: pd.Series) -> pd.Series:
        recoded = self._recoded(series)
        if self._codes is None:
            return recoded
        codes, values = distinct(recoded)
        texts = [as_text(value) for value in values]
        if not texts or not all(_WHOLE.fullmatch(text) for text in texts):
            return recoded
        # Codes that have labels are numbers where all are whole, as Stata requires.
        numbers = pd.array([int(text) for text in texts], dtype="Int64").take(codes, allow_fill=True)
        return pd.Series(numbers if (codes < 0).any() else numbers.astype("int64"), recoded.index, name=recoded.name)

    def _recoded(self, series: pd.Series) -> pd.Series:
        if self.hierarchy is not None:
            return self.hierarchy.build(str(series.name)).recode(series, self.level or 0)
        options = {name: value for name, value in self.options.items() if name != "labels" or self._codes is None}
        if self.dates is not None:
            return recode_dates(series, to=options.pop("dates"), **options)
        return (methods.cut_bands if self.groups is None else methods.group_categories)(series, **options)

    @property
    def _codes(self) -> Any:
        """The labels of new codes; None where labels are those of bands."""
        bands = self.groups is None and self.hierarchy is None and not isinstance(self.labels, Mapping)
        return None if bands else self.labels


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

    function = "top_code"
    above: SkipValidation[float | str] = setting(..., "the highest value that stays", "6000")


class BottomCode(Tail):
    """The lowest values become alike."""

    function = "bottom_code"
    below: SkipValidation[float | str] = setting(..., "the lowest value that stays", "500")


class Round(Recoding):
    """Numbers are rounded."""

    function = "round_values"
    variable: COLUMNS = setting(..., "the column, or several", "[income]")
    base: Annotated[float, CheckedBy(check_number)] = setting(..., "rounded to multiples of this", "100")
    half: Annotated[str, chosen_from(["even", "up"])] = setting(
        "even", "where a number half-way goes: to the `even` multiple, or `up`, away from zero", "up"
    )


#: Name of a step that recodes -> its settings.
RECODINGS: Mapping[str, type[Recoding]] = {
    "recode": Recode,
    "top_code": TopCode,
    "bottom_code": BottomCode,
    "round": Round,
}


def recode_step(frame: pd.DataFrame, settings: Mapping[str, Any], *, step: str = "recode") -> pd.DataFrame:
    """A frame after one step of a recipe that recodes (`RECODINGS`), with the settings the chapter on recipes lists.

    Examples
    --------
    >>> frame = pd.DataFrame({"age": [3, 40], "income": [1230, 880]})
    >>> tens = kanon_lab.methods.recode_step(frame, {"variable": "age", "width": 10})
    >>> kanon_lab.methods.recode_step(tens, {"variable": "income", "base": 100}, step="round").values.tolist()
    [['0-9', 1200], ['40-49', 900]]
    """
    try:
        recoding = read(RECODINGS[step], settings)
    except OptionError as error:
        variable = settings.get("variable") if isinstance(settings, Mapping) else None
        of = f" of {shortened(variable)}" if isinstance(variable, str) else ""
        raise OptionError(f"{step}{of}: {error}") from None
    return recoded(step, recoding, frame)


def recoded(step: str, recoding: Recoding, frame: pd.DataFrame) -> pd.DataFrame:
    """A frame with the columns that the settings name recoded."""
    columns = {name: recoded_column(step, recoding, one_column(frame, name)) for name in recoding.columns}
    return with_columns(frame, columns)


def recoded_column(step: str, recoding: Recoding, column: pd.Series) -> pd.Series:
    """One column recoded, value by value, so that it may also hold only the distinct values of a column."""
    try:
        return recoding.recoded(column)
    except OptionError as error:
        raise OptionError(f"{step} of {shortened(str(column.name))}: {error}") from None
