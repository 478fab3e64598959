"""Arguments of every perturbation, checked."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from kanon_lab.errors import OptionError, UnfitOptionError, shortened
from kanon_lab.recode.columns import names_of

#: What becomes of records without a value, and how it is told to a reader.
MISSING = {
    "error": "no value may be missing",
    "leave": "a record without any of the values stays as it is",
}


def check_frame(frame: object) -> None:
    """Raise an `OptionError` unless it is a DataFrame."""
    if not isinstance(frame, pd.DataFrame):
        raise UnfitOptionError(f"a DataFrame is needed, not {type(frame).__name__}")


def variables_of(names: Iterable[str] | str) -> tuple[str, ...]:
    """The variables to perturb, at least one."""
    found = names_of(names, "variables")
    if not found:
        raise OptionError("variables: name at least one variable to perturb")
    return found


def check_choice(value: object, name: str, choices: Iterable[str]) -> str:
    """One of some words; an `OptionError` that calls it `name` for anything else."""
    choices = tuple(choices)
    if not isinstance(value, str) or value not in choices:
        raise OptionError(f"{name} must be {' or '.join(choices)}, not {shortened(repr(value))}")
    return value
