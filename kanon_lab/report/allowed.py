"""Which settings a report shows: a list of those that may be shown, and of what each may hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import PureWindowsPath
from typing import Any

from kanon_lab.tradeoff.measures import is_measure

# Words that a setting may be without being a category: methods, units, and what becomes of a value.
_WORDS = {
    *("wildcard", "category", "error", "benedetti-franconi", "exact", "inverse", "en", "es", "ca"),
    *("left", "right", "raise", "keep", "even", "up", "month", "quarter", "year", "decade", "age"),
    *("mdav", "optimal", "mean", "median", "robust", "leave", "additive", "correlated", "restricted", "outliers"),
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
    named = {each for name in ("variable", "variables", "key_variables") for each in _listed(settings.get(name))}
    return {str(name): _one(str(name), value, named) for name, value in settings.items() if name != "seed"}


def _one(name: str, value: Any, named: set) -> Any:
    """A setting as it may be shown; `named` are columns that stand beside it."""
    kind = _KINDS.get(name, _hidden)
    return value if _placeholder(value) else kind(value, named)


def _listed(value: Any) -> list:
    return [*value] if isinstance(value, (list, tuple)) else [value]


def _hidden(value: Any, named: set) -> str:
    return f"({len(value) if isinstance(value, (Mapping, list, tuple)) else 1})"


def _placeholder(value: Any) -> bool:
    return isinstance(value, str) and _PLACEHOLDER.fullmatch(value) is not None


def _number(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float))


def _each(fits: Callable[[Any], bool]) -> Callable[[Any, set], Any]:
    """The value where it, or all in its lists, may be shown."""

    def fitting(value: Any) -> bool:
        if isinstance(value, (list, tuple)):
            return all(map(fitting, value))
        return _placeholder(value) or fits(value)

    return lambda value, named: value if fitting(value) else _hidden(value, named)


def _text(value: Any) -> bool:
    return value is None or isinstance(value, str)


_names = _each(_text)
_numbers = _each(_number)
_words = _each(lambda value: _number(value) or (isinstance(value, str) and value in _WORDS))
_measures = _each(lambda value: isinstance(value, str) and is_measure(value))
_dates = _each(lambda value: _number(value) or (isinstance(value, str) and _DATE.fullmatch(value) is not None))
_signs = _each(lambda value: isinstance(value, str) and _SIGN.fullmatch(value) is not None)


def _by_name(value: Any, named: set) -> Any:
    """Names of columns by names, or such names, or importance by name."""
    if isinstance(value, Mapping):
        return {
            str(name): _words(each, named) if _number(each) else _names(each, named) for name, each in value.items()
        }
    return _names(value, named)


def _counted(value: Any, named: set) -> Any:
    """Names alone of a mapping by column, with how many values stand under each."""
    if isinstance(value, Mapping):
        return {str(name): _hidden(each, named) for name, each in value.items()}
    return _hidden(value, named)


def _columns(value: Any, named: set) -> Any:
    """Names of the columns of a mapping to categories, or such names."""
    return [*map(str, value)] if isinstance(value, Mapping) else _names(value, named)


def _of_columns(value: Any, named: set) -> Any:
    """Numbers by column: keys that are no column of the step may be categories."""
    if not isinstance(value, Mapping):
        return _words(value, named)
    if not {*value} <= named:
        return _hidden(value, named)
    return {str(name): _numbers(each, named) for name, each in value.items()}


def _limits(value: Any, named: set) -> Any:
    """Limits by their names; a limit may be one number, or numbers by level or by variable."""
    if not isinstance(value, Mapping):
        return _numbers(value, named)
    return {
        str(name): {str(part): _numbers(each, named) for part, each in limit.items()}
        if isinstance(limit, Mapping)
        else _numbers(limit, named)
        for name, limit in value.items()
    }


def _file(value: Any, named: set) -> Any:
    return PureWindowsPath(value).name if isinstance(value, str) else _hidden(value, named)  # it knows both slashes


def _inner(value: Any, named: set) -> Any:
    """Settings in settings, or a list of them."""
    if isinstance(value, (list, tuple)):
        return [_inner(each, named) for each in value]
    return allowed(value) if isinstance(value, Mapping) else value if _placeholder(value) else _hidden(value, named)


def _steps(value: Any, named: set) -> Any:
    """A list of steps, each a name with its settings."""
    if isinstance(value, (list, tuple)):
        return [_steps(each, named) for each in value]
    if not isinstance(value, Mapping):
        return value if _placeholder(value) or value is None else _hidden(value, named)
    return {str(name): _inner(each or {}, named) for name, each in value.items()}


def _all(kind: Callable[[Any, set], Any], *names: str) -> dict[str, Callable[[Any, set], Any]]:
    return dict.fromkeys(names, kind)


#: Setting -> how it is shown.
_KINDS: dict[str, Callable[[Any, set], Any]] = {
    **_all(_names, "title", "key_variables", "weight", "household", "sensitive_variables", "numeric_variables"),
    **_all(_names, "strata", "direct_identifiers", "variable", "variables", "given", "line_number", "keys", "text"),
    **_all(_names, "means", "by", "sampling_unit"),
    **_all(_by_name, "ghost_variables", "importance"),
    **_all(_columns, "rates"),
    **_all(_numbers, "k_required", "risks", "least", "base", "above", "below", "width", "start", "stop", "level"),
    **_all(_numbers, "bands", "masks", "widths", "from", "to", "threshold", "size", "whole", "nested", "header"),
    **_all(_numbers, "numbers", "invariant"),
    **_all(_words, "k", "missing", "estimator", "language", "closed", "others", "outside", "half", "dates", "method"),
    **_all(_words, "centre", "top"),
    **_all(_measures, "risk", "loss"),
    **_all(_of_columns, "keep", "strength", "window"),
    **_all(_limits, "thresholds", "limits"),
    **_all(_dates, "reference", "date_format"),
    **_all(_signs, "encoding", "separator", "decimal", "mask"),
    **_all(_counted, "missing_codes"),
    **_all(_inner, "indicators", "household_level", "hierarchy", "hierarchies", "combinations", "map"),
    **_all(_steps, "steps"),
    "file": _file,
    "grid": _counted,
}
