"""What a perturbation gives back, and what each method promises to keep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

#: How strictly something is kept.
EXACTLY, EXPECTED, NEARLY = "exactly", "in expectation", "nearly"


@dataclass(frozen=True)
class Keep:
    """Something that a perturbation leaves as it was.

    Attributes
    ----------
    what : str
        Such as ``means`` or ``marginals``.
    how : {"exactly", "in expectation", "nearly"}
    of : str
        What it is said of, in words.
    """

    what: str
    how: str
    of: str


@dataclass(frozen=True)
class Perturbed:
    """The result of a perturbation.

    Attributes
    ----------
    frame : DataFrame
        The same records and columns; only the variables perturbed have other values.
    method : str
    variables, strata : tuple of str
    seed : int or None
        None where nothing is random.
    cells : DataFrame
        One row a variable: ``variable``, ``cells`` (that have another value), ``share`` (0-1 of all records).
    keeps : tuple of Keep
        What the method promises.
    details : mapping
        What only this method has; see its function.
    """

    frame: pd.DataFrame = field(repr=False)
    method: str
    variables: tuple[str, ...]
    strata: tuple[str, ...]
    seed: int | None
    cells: pd.DataFrame
    keeps: tuple[Keep, ...]
    details: Mapping[str, Any] = field(repr=False)
