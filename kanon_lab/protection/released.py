"""Every released column: its role, and what the protection did to it."""

from __future__ import annotations

import pandas as pd

from kanon_lab.keys import KeySpec
from kanon_lab.protection.chain import Protection
from kanon_lab.protection.changes import changes

#: Role of a column that the spec does not name.
NO_ROLE = "no role"


def released_columns(protection: Protection) -> pd.DataFrame:
    """What became of each column that is released, from the file as it came to the last step.

    Returns
    -------
    DataFrame
        One row a column, in their order: ``column``; ``role`` (several between commas, or `NO_ROLE`);
        ``cells_changed`` and ``cells_suppressed``; ``distinct_values`` (missing ones not counted; missing for the
        weight).
    """
    spec, state = protection.spec, protection.state
    frame = state.working.drop(columns=list(state.removed))
    done = changes(protection.original[list(frame.columns)], frame)
    rows = [
        (name, role_of(name, protection), done.changed[name], done.suppressed[name], _distinct(frame[name], spec))
        for name in frame.columns
    ]
    names = ["column", "role", "cells_changed", "cells_suppressed", "distinct_values"]
    return pd.DataFrame(rows, columns=names).astype({"distinct_values": "Int64"})


def untouched(columns: pd.DataFrame) -> list[str]:
    """Names of the columns that have no role and are released as they came, of what `released_columns` gives."""
    same = (columns["cells_changed"] == 0) & (columns["cells_suppressed"] == 0)
    return columns.loc[same & (columns["role"] == NO_ROLE), "column"].tolist()


def role_of(name: str, protection: Protection) -> str:
    """The roles of a column, between commas; ``household key`` is a key variable of the household level."""
    spec, levels = protection.spec, (step.households for step in protection.steps if step.households is not None)
    roles = {
        "key": spec.key_variables,
        "ghost": spec.ghosts,
        "sensitive": spec.sensitive_variables,
        "numeric": spec.numeric_variables,
        "stratum": spec.strata,
        "weight": (spec.weight,),
        "household": (spec.household,),
        "household key": [key for level in levels for key in level.spec.key_variables if key not in spec.key_variables],
    }
    return ", ".join(role for role, names in roles.items() if name in names) or NO_ROLE


def _distinct(column: pd.Series, spec: KeySpec) -> int | None:
    return None if column.name == spec.weight else int(column.nunique())
