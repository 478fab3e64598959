"""Checks of what a step is given, and how its errors begin."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import numpy as np

from kanon_lab.errors import KanonLabError, OptionError, nearest, shortened


def check_columns(names: Iterable[str], columns: Iterable[str], where: str) -> None:
    """Raise an `OptionError` for a name that is none of the columns."""
    columns = list(columns)
    for name in names:
        if name not in columns:
            close = nearest(name, columns)
            remedy = f"did you mean {shortened(close)}?" if close else "check the name"
            raise OptionError(f"{where} has no column {shortened(str(name))} that is released; {remedy}")


def check_seed(seed: object) -> int:
    """A seed as an int; an `OptionError` unless it is a whole number from 0 on."""
    if isinstance(seed, bool) or not isinstance(seed, numbers.Integral) or seed < 0:
        raise OptionError(f"seed must be a whole number from 0 on, not {shortened(repr(seed))}")
    return int(seed)


def derived_seed(seed: int, position: int) -> int:
    """The seed of the step at a position of the chain, from 1 on."""
    return int(np.random.SeedSequence([seed, position]).generate_state(1)[0])


@contextmanager
def step_errors(position: int, name: str) -> Iterator[None]:
    """Put number and name of the step before what is said against it."""
    try:
        yield
    except KanonLabError as error:
        raise type(error)(f"step {position} ({name}): {error}") from None


def several(values: object, name: str, such_as: str) -> list:
    """Values as a list; an `OptionError` unless there may be several."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise OptionError(f"{name} must be several numbers, such as {such_as}, not {shortened(repr(values))}")
    return list(values)
