"""Steps of a recipe that recode: their settings, and the recoding of a frame by them."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pandas as pd

from kanon_lab.errors import OptionError, shortened
from kanon_lab.recode.bands import cut_bands
from kanon_lab.recode.columns import as_text, distinct, one_column, with_columns
from kanon_lab.recode.configuration import HierarchySettings
from kanon_lab.recode.dates import UNITS, recode_dates
from kanon_lab.recode.groups import group_categories
from kanon_lab.recode.quantities import check_number
from kanon_lab.recode.rounding import HALVES, round_values
from kanon_lab.recode.tails import bottom_code, top_code
from kanon_lab.settings import COLUMNS, TEXT, TRUTH, Settings, checked, one_of, read

# Whole numbers as they are written, and few enough digits for every format.
_WHOLE = re.compile(r"0|-?[1-9]\d{0,8}")
_NO_NUMBERS = pd.Series([], dtype=float)


class Recoding(Settings):
    """What every step that recodes has: columns, and what becomes of each."""

    def recoded(self, series: pd.Series) -> pd.Series:
        """A column by these settings."""
        raise NotImplementedError

    @property
    def options(self) -> dict[str, Any]:
        """All that is given but the columns."""
        return {name: value for name, value in self.said.items() if name != "variable"}


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

    variable: COLUMNS
    bands: checked(list[float | None]) = None
    width: checked(float) = None
    start: checked(float) = 0
    stop: checked(float) = None
    closed: checked(str) = "left"
    whole: TRUTH = None
    labels: checked(list[str] | dict[str, str]) = None
    outside: checked(str | dict[str, str]) = "raise"
    groups: checked(dict[str, Any]) = None
    others: checked(str) = "raise"
    dates: one_of([*UNITS, "age"]) = None
    reference: checked(str | datetime.date) = None
    date_format: checked(str) = "%Y-%m-%d"
    hierarchy: HierarchySettings = None
    level: checked(int) = None

    @classmethod
    def misplaced(cls, name: str) -> str | None:
        if name in HierarchySettings.fields():
            return f"{name} goes inside hierarchy, such as hierarchy: {{masks: [5, 2]}}, level: 1"
        return super().misplaced(name)

    def check(self) -> None:
        """Refuse what the recoding of any column would refuse."""
        if self.hierarchy is not None:
            self._check_level()
        elif self.groups is None:
            self._function(_NO_NUMBERS if self.dates is None else _NO_NUMBERS.astype(object))
        else:
            self._check_groups()
        if self._codes is not None:
            self._check_codes()

    def recoded(self, series: pd.Series) -> pd.Series:
        found = self._function(series)
        return found if self._codes is None else _as_codes(found)

    @property
    def _function(self) -> Callable[..., pd.Series]:
        options = self.options if self._codes is None else {**self.options, "labels": None}
        if self.groups is not None or self.hierarchy is not None:
            options.pop("labels", None)
        if self.dates is not None:
            return partial(recode_dates, to=options.pop("dates"), **options)
        if self.groups is not None:
            return partial(group_categories, **options)
        if self.hierarchy is not None:
            return lambda series: self.hierarchy.made(series.name).recode(series, self.level)
        return partial(cut_bands, **options)

    @property
    def _codes(self) -> Any:
        """The labels of new codes, where labels are not those of bands."""
        of_codes = self.groups is not None or self.hierarchy is not None or isinstance(self.labels, Mapping)
        return self.labels if of_codes else None

    def _check_level(self) -> None:
        made = None if self.hierarchy.file is not None else self.hierarchy.made(self.variable[0])
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
        options = {name: value for name, value in self.options.items() if name != "labels"}
        group_categories(pd.Series(plain, dtype=object), **options)

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
    variable: COLUMNS
    label: TEXT = None
    value: checked(float | str) = None

    def check(self) -> None:
        limit = self.options.get("above", self.options.get("below"))
        if not isinstance(limit, str):  # a text is one of ordered categories, which the column has
            self.recoded(_NO_NUMBERS)
        elif self.label is not None and self.value is not None:
            raise OptionError("give label (text) or value (a number), not both")


class TopCode(Tail):
    """The highest values become alike."""

    above: checked(float | str)

    def recoded(self, series: pd.Series) -> pd.Series:
        return top_code(series, **self.options)


class BottomCode(Tail):
    """The lowest values become alike."""

    below: checked(float | str)

    def recoded(self, series: pd.Series) -> pd.Series:
        return bottom_code(series, **self.options)


class Round(Recoding):
    """Numbers are rounded."""

    variable: COLUMNS
    base: checked(float, check_number)
    half: one_of(HALVES) = "even"

    def check(self) -> None:
        self.recoded(_NO_NUMBERS)

    def recoded(self, series: pd.Series) -> pd.Series:
        return round_values(series, **self.options)


#: By its name, the settings of each step that recodes.
RECODINGS: Mapping[str, type[Recoding]] = {
    "recode": Recode,
    "top_code": TopCode,
    "bottom_code": BottomCode,
    "round": Round,
}


def recode_step(frame: pd.DataFrame, settings: Mapping[str, Any], *, step: str = "recode") -> pd.DataFrame:
    """One step of a recipe that recodes, from its settings as a YAML file holds them.

    Parameters
    ----------
    frame : DataFrame
        One row a record. Not changed.
    settings : mapping
        As the chapter on recipes lists them.
    step : str
        Its name, one of `RECODINGS`.

    Returns
    -------
    DataFrame
        The same records and columns, the variables recoded.

    Examples
    --------
    >>> import pandas as pd
    >>> import kanon_lab
    >>> frame = pd.DataFrame({"age": [3, 40], "income": [1230, 880]})
    >>> tens = kanon_lab.recode.recode_step(frame, {"variable": "age", "width": 10})
    >>> kanon_lab.recode.recode_step(tens, {"variable": "income", "base": 100}, step="round").values.tolist()
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
        column = one_column(frame, name)
        try:
            columns[name] = given.recoded(column)
        except OptionError as error:
            raise OptionError(f"{step} of {shortened(str(name))}: {error}") from None
    return with_columns(frame, columns)
