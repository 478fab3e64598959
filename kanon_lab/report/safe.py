"""Which settings a report shows: a list of those that may be shown, and of what each may hold."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import PureWindowsPath
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab.errors import shortened, visible
from kanon_lab.recipes.steps import STEPS
from kanon_lab.recipes.tradeoff import is_measure
from kanon_lab.report.words import Words

# Words that a setting may be without being a category: methods, units, and what becomes of a value.
_WORDS = {
    *"wildcard category error benedetti-franconi exact inverse en es ca".split(),
    *"left right raise keep even up month quarter year decade age".split(),
    *"compatible own_class true_key".split(),
    *"mdav optimal mean median robust leave additive correlated restricted outliers".split(),
}
_PLACEHOLDER = re.compile(r"\$\{?\w+\}?")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}|(?:%[a-zA-Z]|[-/. ])+")
# An encoding, a separator, a sign.
_SIGN = re.compile(r"[\w.-]{1,20}|\W{1,2}")


def allowed(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a recipe or report, or of one of its steps, with "(3)" for three of what may not be shown.

    Shown are names of columns, numbers, truth values, methods and dates, and files without their folders. A setting
    that this module does not know is taken for one that may not be shown, so that one which is added to a step stays
    out of pages until somebody has thought about it. ``seed`` is left out: with the seed of a step that is random its
    draws can be made again, and taken back.
    """
    beside = [settings.get(name) for name in ("variable", "variables", "key_variables")]
    named = {name for value in beside for name in (value if isinstance(value, (list, tuple)) else [value])}
    return {
        str(name): value if _placeholder(value) else _KINDS.get(name, _hidden)(value, named)
        for name, value in settings.items()
        if name != "seed"
    }


# How a setting is shown: its value, and the columns that its step or recipe names -> what is shown of it.
_Kind = Callable[[Any, set], Any]


def _hidden(value: Any, named: set) -> str:
    return f"({len(value) if isinstance(value, (Mapping, list, tuple)) else 1})"


def _placeholder(value: Any) -> bool:
    return isinstance(value, str) and _PLACEHOLDER.fullmatch(value) is not None


def _number(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float))


def _each(fits: Callable[[Any], bool]) -> _Kind:
    """The value where it, or all in its lists, may be shown."""

    def fitting(value: Any) -> bool:
        if isinstance(value, (list, tuple)):
            return all(map(fitting, value))
        return _placeholder(value) or fits(value)

    return lambda value, named: value if fitting(value) else _hidden(value, named)


def _text(fits: Callable[[str], Any]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and bool(fits(value))


_numbers = _each(_number)
_names = _each(lambda value: value is None or isinstance(value, str))
_words = _each(lambda value: _number(value) or _text(_WORDS.__contains__)(value))
_dates = _each(lambda value: _number(value) or _text(_DATE.fullmatch)(value))
_measures = _each(_text(is_measure))
_signs = _each(_text(_SIGN.fullmatch))


def _mapped(of_values: _Kind, otherwise: _Kind) -> _Kind:
    """What to show of a mapping: its names, and its values by `of_values`; of all else what `otherwise` shows."""

    def kind(value: Any, named: set) -> Any:
        if isinstance(value, Mapping):
            return {str(name): of_values(part, named) for name, part in value.items()}
        return otherwise(value, named)

    return kind


# Names of columns by names, or importance by name; and the names of what is hidden.
_by_name = _mapped(lambda value, named: (_words if _number(value) else _names)(value, named), _names)
_counted = _mapped(_hidden, _hidden)
# Limits by their names; a limit may be one number, or numbers by level or by variable.
_limits = _mapped(_mapped(_numbers, _numbers), _numbers)


def _columns(value: Any, named: set) -> Any:
    """Names of the columns of a mapping to categories, or such names."""
    return [*map(str, value)] if isinstance(value, Mapping) else _names(value, named)


def _of_columns(value: Any, named: set) -> Any:
    """Numbers by column: keys that are no column of the step may be categories."""
    hidden = isinstance(value, Mapping) and not {*value} <= named
    return _hidden(value, named) if hidden else _mapped(_numbers, _words)(value, named)


def _file(value: Any, named: set) -> Any:
    return PureWindowsPath(value).name if isinstance(value, str) else _hidden(value, named)  # it knows both slashes


def _inner(value: Any, named: set) -> Any:
    """Settings in settings, or a list of them."""
    if isinstance(value, (list, tuple)):
        return [_inner(part, named) for part in value]
    return allowed(value) if isinstance(value, Mapping) else value if _placeholder(value) else _hidden(value, named)


def _steps(value: Any, named: set) -> Any:
    """A list of steps, each a name with its settings."""
    if isinstance(value, (list, tuple)):
        return [_steps(part, named) for part in value]
    if value is None or _placeholder(value):
        return value
    return _mapped(lambda settings, named: _inner(settings or {}, named), _hidden)(value, named)


_SHOWN: dict[_Kind, str] = {
    _names: """title key_variables weight household person sensitive_variables numeric_variables strata date
        source release direct_identifiers released_as_is variable variables given line_number keys
        text means by sampling_unit id""",
    _by_name: "ghost_variables importance",
    _columns: "rates",
    _numbers: """k_required risks least base above below width start stop level bands masks widths from to threshold
        size whole nested header numbers invariant sheet
        same_order""",
    _words: "k missing estimator language closed others outside half dates method centre top claim",
    _measures: "risk loss",
    _of_columns: "keep strength window",
    _limits: "limits",
    _dates: "reference date_format",
    _signs: "encoding separator decimal thousands mask",
    _counted: "missing_codes grid",
    _inner: "indicators household_level hierarchy hierarchies combinations map earlier_release decision",
    _steps: "steps",
    _file: "file",
}
#: Setting -> how it is shown.
_KINDS = {name: kind for kind, names in _SHOWN.items() for name in names.split()}


#: Shares (0-1) of the records below which the quantiles of a report lie.
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
# Of a variable, so many categories have a line of their own at most.
_MOST = 30
# Counts of categories are multiples of it.
_BASE = 5
# Characters of a label, and of a text of a grid that is its own label.
_LONGEST, _SHORT = 60, 40


@dataclass(frozen=True)
class Pooled:
    """The categories of a variable, as far as a report may name them: records by category, the largest first.

    `categories` are pooled, and not named; together they have so many `records`, None where there are none, or where it
    would be the count of a single one.
    """

    shown: pd.Series = field(repr=False)
    categories: int
    records: int | None


def pooled(counts: pd.Series, *, least: int, most: int = _MOST, homes: pd.Series | None = None) -> Pooled:
    """Pool the categories of fewer than `least` records, in such a way that no count follows by subtraction.

    The pool has `least` records or more, and two categories, unless there are no others to take. The largest are named,
    `most` of them. With `homes`, households by category, those of fewer than `least` are not named either, since one
    large household would be.
    """
    ordered = counts[counts > 0].sort_values(ascending=False, kind="stable")
    many = (ordered if homes is None else homes.reindex(ordered.index)) >= least
    ordered, cut = pd.concat([ordered[many], ordered[~many]]), min(int(many.sum()), most)
    while 0 < cut < len(ordered) and (len(ordered) - cut < 2 or ordered.iloc[cut:].sum() < least):
        cut -= 1
    rest = ordered.iloc[cut:]
    secret = len(rest) < 2 or rest.sum() < least
    return Pooled(ordered.iloc[:cut], len(rest), None if secret else int(rest.sum()))


def safe_quantiles(
    values: np.ndarray, *, least: int, homes: np.ndarray | None = None, records: np.ndarray | None = None
) -> dict[float, float]:
    """Quantiles by share of `QUANTILES`, of which no single record's value can be read off.

    Each is the mean of `least` values around its place in the order, or of values from so many households (`homes`, by
    record), in steps of a twentieth to a tenth of it, so that one person seldom moves it. One is left out where fewer
    than twice `least` records lie beyond it, so that neither the smallest nor the largest values enter. A value may be
    that of several `records`.
    """
    order = np.lexsort((values,) if homes is None else (homes, values))[: int(np.isfinite(values).sum())]
    last = np.arange(1, len(order) + 1) if records is None else np.cumsum(records[order])
    n, quantiles = int(last[-1]) if len(last) else 0, {}
    size = 1 if homes is None or not n else n / len(np.unique(homes[order]))

    def between(low: int, high: int) -> np.ndarray:
        """The rows of the records at these places of the order."""
        return order[np.searchsorted(last, np.arange(low, high), side="right")]

    for share in QUANTILES:
        low = round(share * (n - 1)) - least // 2
        high = low + least
        while homes is not None and least <= low and high <= n - least:
            if len(np.unique(homes[between(low, high)])) >= least:
                break
            low, high = low - 1, high + 1
        if min(share, 1 - share) * n >= 2 * least * size:
            quantiles[share] = _coarse(values[between(low, high)].mean())
    return quantiles


def _coarse(value: float) -> float:
    """The multiple nearest to it of a step: the largest of 1, 2, 5, 10 and so on that is a tenth of it at most."""
    if value == 0:
        return 0.0
    unit = 10.0 ** math.floor(math.log10(abs(value)) - 1)
    step = unit * max(digit for digit in (1, 2, 5, 10) if digit * unit <= abs(value) / 10 * (1 + 1e-12))
    return float(f"{step * round(value / step):.3g}")


def counted(records: int) -> int:
    """A count as a report shows it, rounded so that the difference of two counts never shows a single record."""
    return _BASE * round(int(records) / _BASE)


def told_label(text: str) -> str:
    """The label of a category or group, which may hold anything, in a few characters that do what they show."""
    return shortened(visible(text), _LONGEST)


def named_grid(settings: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The values of a map's grid, by placeholder and label, without categories of the data among the labels.

    A label is the one given; or a number, truth value or short text itself, unless it stands where categories do; or
    "setting" with a number.
    """
    others = {name: value for name, value in settings.items() if name not in ("grid", "map")}
    words, as_text, shown = Words(settings.get("language", "en")), str(others), str(allowed(others))
    named = {}
    for name, values in settings["grid"].items():
        places = re.compile(rf"\${re.escape(name)}\b")
        open_to_all = 0 < len(places.findall(as_text)) == len(places.findall(shown))
        pairs = values.items() if isinstance(values, Mapping) else [_labelled(value, open_to_all) for value in values]
        numbered = [words.say("setting", n=n) for n in range(1, len(pairs) + 1)]
        labels = [n if pair[0] is None else told_label(str(pair[0])) for n, pair in zip(numbered, pairs, strict=True)]
        labels = labels if len({*labels}) == len(labels) else numbered
        named[name] = {label: value for label, (_, value) in zip(labels, pairs, strict=True)}
    return named


def _labelled(value: Any, open_to_all: bool) -> tuple[Any, Any]:
    """A value of a grid with its label, or None for it."""
    if isinstance(value, Mapping) and len(value) == 1 and (label := next(iter(value))) not in STEPS:
        return label, value[label]
    if open_to_all and isinstance(value, (bool, int, float)):
        return str(value).lower() if isinstance(value, bool) else value, value
    return value if open_to_all and isinstance(value, str) and len(value) <= _SHORT else None, value


def shown_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as a page for everybody has them: those of `kanon_lab.report.safe`, others as their number."""
    shown = allowed(settings)
    if "grid" in (settings.get("map") or ()):
        shown["map"]["grid"] = {
            name: [*choices] for name, choices in named_grid({**settings, **settings["map"]}).items()
        }
    return shown
