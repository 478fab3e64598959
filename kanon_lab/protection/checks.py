"""Checks of what a step is given, and how its errors begin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import numpy as np

from kanon_lab.errors import KanonLabError, OptionError, UnfitOptionError, meant, shortened


def check_columns(names: Iterable[str], columns: Iterable[str]) -> None:
    """Raise an `UnfitOptionError` for a name that is none of the columns."""
    columns = list(columns)
    for name in names:
        if name not in columns:
            remedy = meant(name, columns, "check the name")
            raise UnfitOptionError(f"there is no column {shortened(str(name))} that is released; {remedy}")


def derived_seed(seed: int, position: int) -> int:
    """The seed of the step at a position of the chain, from 1 on: so large that it is not found by trying."""
    return int(np.random.SeedSequence([seed, position]).generate_state(1, np.uint64)[0] >> np.uint64(1))


@contextmanager
def step_errors(position: int, name: object, *, levels: int = 0) -> Iterator[None]:
    """Put number and name of the step before what is said against it.

    `levels` are the steps that a recipe does not list under ``steps``: 1 where it has a household level.
    """
    listed = f"; number {position - levels} under steps" if 0 < levels < position else ""
    named = f" ({name}{listed})" if isinstance(name, str) else f" ({listed[2:]})" if listed else ""
    try:
        yield
    except KanonLabError as error:
        raise type(error)(f"step {position}{named}: {error}") from None


def several(values: object, name: str, such_as: str) -> list:
    """Values as a list; an `OptionError` unless there may be several."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise OptionError(f"{name} must be several numbers, such as {such_as}, not {shortened(repr(values))}")
    return list(values)
