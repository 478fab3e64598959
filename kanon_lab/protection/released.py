"""What is released: every column with its role and what the protection did to it, and the file itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from kanon_lab.data.writing import write_microdata
from kanon_lab.errors import about
from kanon_lab.keys import KeySpec
from kanon_lab.protection.changes import changes
from kanon_lab.protection.identifiers import prove_absent
from kanon_lab.protection.state import Chain

#: Role of a column that the spec does not name.
NO_ROLE = "no role"


def released_columns(protection: Chain) -> pd.DataFrame:
    """What became of each column that is released, from the file as it came to the last step.

    Returns
    -------
    DataFrame
        One row a column, in their order: ``column``; ``role`` (several between commas, or `NO_ROLE`);
        ``cells_changed`` and ``cells_suppressed``; ``distinct_values`` (missing ones not counted; missing for the
        weight).

    Examples
    --------
    >>> import pandas as pd, kanon_lab
    >>> from kanon_lab.protection import released_columns
    >>> chain = kanon_lab.protect(pd.DataFrame({"age": [23, 27, 61], "flat": [1, 2, 3]}), ["age"])
    >>> released_columns(chain.apply("recode", {"variable": "age", "width": 20})).iloc[:, :3]
      column     role  cells_changed
    0    age      key              3
    1   flat  no role              0
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


def role_of(name: str, protection: Chain) -> str:
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


def proof(protection: Chain, *, neutralised: bool = False) -> Callable[[pd.DataFrame], None]:
    """What raises a `DataError` where a frame of the release, called so in messages, holds a direct identifier."""
    released, spec = protection.frame, protection.spec
    of_records = protection.original.loc[protection.state.working.index]
    roles = [*spec.variables, *spec.ghosts]

    def prove(frame: pd.DataFrame) -> None:
        if neutralised:
            frame = frame.set_axis(released.columns, axis=1)  # an apostrophe may stand before a name
        prove_absent(frame, of_records, spec.direct_identifiers, roles=roles)

    return prove


def write_release(
    protection: Chain, out: str | Path, *, overwrite: bool = False, neutralise: bool = False
) -> dict[str, int]:
    """Write the protected file, proved to hold no direct identifier before it gets its name; the same bytes each time.

    Parameters, result and errors as of `kanon_lab.data.write_microdata`.
    """
    prove = proof(protection, neutralised=neutralise)
    labels = {"labels": protection.labels, "variable_labels": protection.variable_labels}
    with about(str(out)):
        return write_microdata(protection.frame, out, overwrite=overwrite, check=prove, neutralise=neutralise, **labels)


def _distinct(column: pd.Series, spec: KeySpec) -> int | None:
    return None if column.name == spec.weight else int(column.nunique())
