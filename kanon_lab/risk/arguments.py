"""Arguments of the measures of risk: numbers, risks and shares, checked."""

from __future__ import annotations

import numbers

import numpy as np

from kanon_lab.errors import OptionError, shortened

#: Sums of the same numbers in different orders differ by less than this share of them.
ROUNDING = 1e-9


def as_numbers(values: object, name: str) -> np.ndarray:
    """An array of floats, shape (n,); an `OptionError` that calls it `name` for anything else."""
    try:
        found = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        found = np.empty(())
    if found.ndim != 1:
        raise OptionError(f"{name} must be an array of numbers in one dimension")
    return found


def as_risk(values: object) -> np.ndarray:
    """Risks as an array of floats, shape (n,); an `OptionError` unless they are numbers from 0 to 1."""
    risk = as_numbers(values, "risk")
    if not ((risk >= 0) & (risk <= 1)).all():
        raise OptionError("a risk must be a number from 0 to 1")
    return risk


def as_share(value: object, name: str) -> float:
    """A number from 0 to 1 as a float; an `OptionError` that calls it `name` for anything else."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 <= value <= 1:
        raise OptionError(f"{name} must be a number from 0 to 1, not {shortened(repr(value))}")
    return float(value)


def check_positive(value: object, name: str, most: float = np.inf) -> float:
    """A number above 0 and up to `most` as a float; an `OptionError` that calls it `name` for anything else."""
    number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not number or not 0 < value <= most or value == np.inf:
        limit = "" if most == np.inf else f" and at most {most:g}"
        raise OptionError(f"{name} must be a number above 0{limit}, not {shortened(repr(value))}")
    return float(value)
