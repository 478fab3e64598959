"""Arguments of functions, checked: numbers, shares, choices. Errors call the argument by its `name`."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import TypeGuard

import numpy as np
import pandas as pd

from kanon_lab.errors import OptionError, UnfitOptionError, described

#: Sums of the same numbers in different orders differ by less than this share of them.
ROUNDING = 1e-9


def as_numbers(values: object, name: str) -> np.ndarray:
    """An array of floats, shape (n,)."""
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        array = np.empty(())
    if array.ndim != 1:
        raise OptionError(f"{name} must be an array of numbers in one dimension")
    return array


def as_risk(values: object) -> np.ndarray:
    """Risks, numbers from 0 to 1, as an array of floats, shape (n,)."""
    risk = as_numbers(values, "risk")
    if not ((risk >= 0) & (risk <= 1)).all():
        raise OptionError("a risk must be a number from 0 to 1")
    return risk


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a number: a truth value is none."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def as_share(value: object, name: str, ends: bool = True) -> float:
    """A number from 0 to 1 as a float; without the `ends`, one between them."""
    if not is_number(value) or not 0 <= value <= 1 or (value in (0, 1) and not ends):
        limits = "from 0 to 1" if ends else "above 0 and below 1"
        raise OptionError(f"{name} must be a number {limits}, not {described(value)}")
    return float(value)


def check_positive(value: object, name: str, most: float = np.inf) -> float:
    """A number above 0 and up to `most` as a float."""
    if not is_number(value) or not 0 < value <= most or value == np.inf:
        limit = "" if most == np.inf else f" and at most {most:,}"
        raise OptionError(f"{name} must be a number above 0{limit}, not {described(value)}")
    return float(value)


def check_whole(value: object, name: str, least: int, most: int) -> int:
    """A whole number from `least` to `most` as an int."""
    if not is_number(value) or not isinstance(value, numbers.Integral) or not least <= int(value) <= most:
        raise OptionError(f"{name} must be a whole number from {least} to {most:,}, not {described(value)}")
    return int(value)


def check_choice(value: object, name: str, choices: Iterable[str]) -> str:
    """One of some words."""
    choices = tuple(choices)
    if not isinstance(value, str) or value not in choices:
        words = " or ".join(choices) if len(choices) == 2 else f"one of {', '.join(choices)}"
        raise OptionError(f"{name} must be {words}, not {described(value)}")
    return value


def check_frame(frame: object) -> None:
    """Raise an `OptionError` unless it is a DataFrame."""
    if not isinstance(frame, pd.DataFrame):
        raise UnfitOptionError(f"a DataFrame is needed, not {type(frame).__name__}")
