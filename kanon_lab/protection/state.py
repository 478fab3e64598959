"""What is kept of a file between steps, and of each step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from kanon_lab.protection.measured import Measured
from kanon_lab.protection.truth import Truth

if TYPE_CHECKING:
    from kanon_lab.protection.chain import Protection


@dataclass(frozen=True)
class State:
    """A file between two steps.

    Attributes
    ----------
    working : DataFrame
        The file, with the columns that are removed but still measured with (a weight, say).
    removed : tuple of str
        Those columns: they are not released.
    truth : Truth
        What an outsider may know of the key and sensitive variables.
    measured : Measured
    """

    working: pd.DataFrame = field(repr=False)
    removed: tuple[str, ...]
    truth: Truth = field(repr=False)
    measured: Measured


@dataclass(frozen=True)
class Step:
    """A step that was applied.

    Attributes
    ----------
    name : str
        Its kind, one of `kanon_lab.protection.STEPS`.
    settings : dict
    seed : int or None
        Of what is random in it; None where nothing is.
    records_touched : int
        Records with a cell that was changed, suppressed or removed, or in another place.
    removed : tuple of str
        Columns that are not released from this step on.
    changed, suppressed : dict of str to int
        By column that was and is released, the cells that have another value, and those that have none any more.
    state : State
        The file after it.
    claims : DataFrame or None
        What a suppression may claim; see `kanon_lab.suppress.protection_claims`. After another suppression true keys
        are those before the first; ``suppress_risk`` then makes no claim of them.
    households : Protection or None
        Of ``household_level``: the protection of the file of households.
    """

    name: str
    settings: dict[str, Any]
    seed: int | None
    records_touched: int
    removed: tuple[str, ...]
    changed: dict[str, int]
    suppressed: dict[str, int]
    state: State
    claims: pd.DataFrame | None = field(repr=False)
    households: Protection | None = field(repr=False)
