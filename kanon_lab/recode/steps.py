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
from kanon_lab.settings import COLUMNS, REQUIRED, TEXT, TRUTH, Settings, checked, one_of, read, setting

# Whole numbers as they are written, and few enough digits for every format.
_WHOLE = re.compile(r"0|-?[1-9]\d{0,8}")
_OF_BANDS = ("bands", "width")
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

    kinds = ("bands", "width", "groups", "dates", "hierarchy")
    such_as = "settings, such as {variable: age, width: 10}"

    variable: COLUMNS = setting(
        REQUIRED,
        "the column, or several that are recoded alike",
        "[income]",
        need="name the column to recode, such as variable: age",
    )
    bands: checked(list[float | None]) = setting(
        None, "edges, rising; `null` at either end leaves it open", "[0, 15, 65, null]"
    )
    width: checked(float) = setting(None, "bands of one width instead", "10")
    start: checked(float) = setting(0, "where the bands of one width begin", "0", goes=["width"])
    stop: checked(float) = setting(None, "where they end; else as far as the values reach", "120", goes=["width"])
    closed: checked(str) = setting("left", "the edge that belongs to a band", "right", goes=_OF_BANDS)
    whole: TRUTH = setting(
        None,
        "labels as of whole numbers (`40-49`) or not (`[40, 50)`); else by what the values and edges are",
        "false",
        goes=_OF_BANDS,
    )
    labels: checked(list[str] | dict[str, str]) = setting(
        None,
        "a list: own labels, one a band; or a mapping such as `{1: North, 2: South}`: what the new codes are called in "
        "a file of SPSS or Stata",
        "[child, adult, old]",
        goes=["bands", "width", "groups", "hierarchy"],
    )
    outside: checked(str | dict[str, str]) = setting(
        "raise",
        "what lies outside: refused, a label, or labels `below` and `above`",
        '{above: "75+"}',
        goes=_OF_BANDS,
    )
    groups: checked(dict[str, Any]) = setting(None, "new label, and the old value or values", "{studied: university}")
    others: checked(str) = setting(
        "raise", "values in no group: refused, kept, or a label for all", "keep", goes=["groups"]
    )
    dates: one_of([*UNITS, "age"]) = setting(None, f"{', '.join(f'`{unit}`' for unit in UNITS)} or `age`", "month")
    reference: checked(str | datetime.date) = setting(
        None, "the day of an age, and only of an age", "2011-11-01", goes=["dates"]
    )
    date_format: checked(str) = setting("%Y-%m-%d", "how the file writes dates", '"%d/%m/%Y"', goes=["dates"])
    hierarchy: HierarchySettings = setting(None, "a ladder of levels, see the next table", "{masks: [5, 2]}")
    level: checked(int) = setting(None, "the level to go to; required", "1", unless="", goes=["hierarchy"])

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


class _Tail(Recoding):
    variable: COLUMNS = setting(REQUIRED, "the column, or several", "income")
    label: TEXT = setting(None, "a text for the coded values; the column becomes text", '"85+"')
    value: checked(float | str) = setting(
        None, "a number for them, or `mean`; without `label` and `value` they become the limit", "mean"
    )

    def check(self) -> None:
        limit = self.options.get("above", self.options.get("below"))
        if not isinstance(limit, str):  # a text is one of ordered categories, which the column has
            self.recoded(_NO_NUMBERS)
        elif self.label is not None and self.value is not None:
            raise OptionError("give label (text) or value (a number), not both")


class TopCode(_Tail):
    """The highest values become alike."""

    above: checked(float | str) = setting(REQUIRED, "the highest value that stays", "6000", need="give it")

    def recoded(self, series: pd.Series) -> pd.Series:
        return top_code(series, **self.options)


class BottomCode(_Tail):
    """The lowest values become alike."""

    below: checked(float | str) = setting(REQUIRED, "the lowest value that stays", "500", need="give it")

    def recoded(self, series: pd.Series) -> pd.Series:
        return bottom_code(series, **self.options)


class Round(Recoding):
    """Numbers are rounded."""

    variable: COLUMNS = setting(REQUIRED, "the column, or several", "[income]")
    base: checked(float, check_number) = setting(REQUIRED, "rounded to multiples of this", "100", need="give it")
    half: one_of(HALVES) = setting(
        "even", "where a number half-way goes: to the `even` multiple, or `up`, away from zero", "up"
    )

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
        raise OptionError(f"{step}: {error}") from None
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
