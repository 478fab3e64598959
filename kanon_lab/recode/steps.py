"""Recodings of one recipe step, from plain settings as a YAML file holds them."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping
from functools import partial

import pandas as pd

from kanon_lab.errors import OptionError, shortened
from kanon_lab.recode.bands import cut_bands
from kanon_lab.recode.columns import as_text, distinct, one_column, with_columns
from kanon_lab.recode.configuration import HIERARCHY_KINDS, check_settings, hierarchies, only_kind
from kanon_lab.recode.dates import UNITS, recode_dates
from kanon_lab.recode.groups import group_categories
from kanon_lab.recode.rounding import round_values
from kanon_lab.recode.tails import bottom_code, top_code

# Whole numbers as they are written, and few enough digits for every format.
_WHOLE = re.compile(r"0|-?[1-9]\d{0,8}")
_BANDS = {"closed", "whole", "labels", "outside"}
# What `recode` goes by -> other settings it takes.
_RECODINGS = {
    "bands": _BANDS,
    "width": {"start", "stop", *_BANDS},
    "groups": {"others", "labels"},
    "dates": {"reference", "date_format"},
    "hierarchy": {"level", "labels"},
}


def recode_step(frame: pd.DataFrame, settings: Mapping) -> pd.DataFrame:
    """One step `recode` of a recipe.

    Parameters
    ----------
    frame : DataFrame
        One row a record. Not changed.
    settings : mapping
        ``variable``: the name of a column, or a list of names, each recoded alike; and one of

        - ``bands``: edges, null for an open end; with ``closed``, ``whole``, ``labels``, ``outside`` as in `cut_bands`;
        - ``width``: with ``start``, ``stop`` and the same;
        - ``groups``: new label to old values, with ``others``, as in `group_categories`;
        - ``dates``: month, quarter, year, decade or age, with ``reference`` and ``date_format``, as in `recode_dates`;
        - ``hierarchy``: settings as in `kanon_lab.recode.configuration.hierarchies`, with a ``level``.

        With all but dates also ``labels``, a mapping of new code to its label in a file of SPSS or Stata: where all new
        codes are whole numbers, the column then holds numbers.

    Returns
    -------
    DataFrame
        The same records and columns, the variables recoded.

    Raises
    ------
    DataError
        A variable is absent, or one of its values cannot be recoded.
    OptionError
        Settings that are unknown, absent or cannot be used.
    """
    names, recode = _planned_recode(settings)
    return _applied(frame, names, "recode", recode)


def _planned_recode(settings: Mapping) -> tuple[list[Hashable], Callable[..., pd.Series]]:
    """Names of the variables, and what is to be done to each."""
    names, options = _parted(settings, "recode")
    of = f"recode of {_listed(names)}"
    if not set(options) & set(_RECODINGS) and (inner := [key for key in options if key in HIERARCHY_KINDS]):
        raise OptionError(f"{of}: {inner[0]} goes inside hierarchy, such as hierarchy: {{masks: [5, 2]}}, level: 1")
    kind = only_kind(options, _RECODINGS, of)
    if isinstance(options.get("labels"), Mapping) or (kind in ("groups", "hierarchy") and "labels" in options):
        _check_labels(options.pop("labels"), options, of)
        return names, partial(_as_codes, _RECODERS[kind], options)
    return names, partial(_RECODERS[kind], **options)


def _check_labels(labels: object, options: Mapping, of: str) -> None:
    """Raise an `OptionError` for labels that are no mapping of codes to texts, or of codes that no group makes."""
    codes = labels.items() if isinstance(labels, Mapping) else [(None, None)]
    if not all(isinstance(code, (str, int, float)) and isinstance(label, str) and label for code, label in codes):
        raise OptionError(f"{of}: labels must be a mapping of new code to text, such as labels: {{1: North, 2: South}}")
    groups, others = options.get("groups"), options.get("others", "raise")
    if isinstance(groups, Mapping) and others != "keep":
        made = {as_text(each) for each in (*groups, others)}
        if unmade := [code for code, _ in codes if as_text(code) not in made]:
            raise OptionError(f"{of}: labels name {shortened(repr(unmade[0]))}, and no group is called so; mend it")


def _as_codes(recode: Callable[..., pd.Series], options: Mapping, series: pd.Series) -> pd.Series:
    """A column recoded to codes that have labels: numbers where all are whole, as Stata must have them."""
    found = recode(series, **options)
    codes, values = distinct(found)
    texts = [as_text(value) for value in values]
    if not texts or not all(_WHOLE.fullmatch(text) for text in texts):
        return found
    numbers = pd.array([int(text) for text in texts], dtype="Int64").take(codes, allow_fill=True)
    return pd.Series(numbers if (codes < 0).any() else numbers.astype("int64"), index=found.index, name=found.name)


def _by_date(series: pd.Series, *, dates: str, **options) -> pd.Series:
    if dates not in (*UNITS, "age"):
        raise OptionError(f"dates must be one of {', '.join(UNITS)}, age, not {shortened(repr(dates))}")
    return recode_dates(series, to=dates, **options)


def _by_hierarchy(series: pd.Series, *, hierarchy: Mapping, level: int | None = None) -> pd.Series:
    made = hierarchies({series.name: hierarchy})[series.name]
    if level is None:
        raise OptionError(f"level is not given; say which one, from 1 to {made.height}")
    return made.recode(series, level)


_RECODERS = {
    "bands": cut_bands,
    "width": cut_bands,
    "groups": group_categories,
    "dates": _by_date,
    "hierarchy": _by_hierarchy,
}
# Other steps: their function, the setting that each needs, and those that it may have.
_OTHERS = {
    "top_code": (top_code, "above", {"label", "value"}),
    "bottom_code": (bottom_code, "below", {"label", "value"}),
    "round": (round_values, "base", {"half"}),
}


def _other_step(step: str, frame: pd.DataFrame, settings: Mapping) -> pd.DataFrame:
    names, recode = _planned_other(step, settings)
    return _applied(frame, names, step, recode)


def _planned_other(step: str, settings: Mapping) -> tuple[list[Hashable], Callable[..., pd.Series]]:
    recode, needed, others = _OTHERS[step]
    names, options = _parted(settings, step)
    of = f"{step} of {_listed(names)}"
    check_settings(options, {needed, *others}, of)
    if needed not in options:
        raise OptionError(f"{of}: has no {needed}; give it")
    return names, partial(recode, **options)


#: By name of a step a function of the frame and the settings, which gives a frame.
RECODE_STEPS: Mapping[str, Callable[..., pd.DataFrame]] = {
    "recode": recode_step,
    **{step: partial(_other_step, step) for step in _OTHERS},
}


def check_recoding(step: str, settings: Mapping) -> None:
    """Raise an `OptionError` for settings of a step of `RECODE_STEPS` that are unknown or absent, whatever the data."""
    if step == "recode":
        _planned_recode(settings)
    else:
        _planned_other(step, settings)


def _parted(settings: Mapping, step: str) -> tuple[list[Hashable], dict[str, object]]:
    """Names of the variables, and the other settings."""
    if not isinstance(settings, Mapping) or "variable" not in settings:
        raise OptionError(f"{step}: has no variable; give settings such as {{variable: age, ...}}")
    names = settings["variable"]
    names = list(names) if isinstance(names, (list, tuple)) else [names]
    if not names or not all(isinstance(name, Hashable) and name is not None for name in names):
        raise OptionError(f"{step}: variable must be the name of a column, or a list of names")
    if twice := [name for i, name in enumerate(names) if name in names[:i]]:
        raise OptionError(f"{step}: {shortened(str(twice[0]))} is named twice; name each variable once")
    return names, {key: value for key, value in settings.items() if key != "variable"}


def _listed(names: list[Hashable]) -> str:
    return shortened(", ".join(str(name) for name in names))


def _applied(frame: pd.DataFrame, names: list[Hashable], step: str, recode: Callable[..., pd.Series]) -> pd.DataFrame:
    columns = {}
    for name in names:
        column = one_column(frame, name)
        try:
            columns[name] = recode(column)
        except OptionError as error:
            raise OptionError(f"{step} of {shortened(str(name))}: {error}") from None
    return with_columns(frame, columns)
