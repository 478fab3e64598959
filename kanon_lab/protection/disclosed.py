"""What a released file still tells of key values that were changed, suppressed or removed."""

from __future__ import annotations

import numpy as np
import pandas as pd

from kanon_lab.protection.changes import same_values
from kanon_lab.protection.exposure import told_by
from kanon_lab.protection.released import role_of
from kanon_lab.protection.state import Chain
from kanon_lab.recode.columns import distinct


def household_disclosure(protection: Chain) -> pd.DataFrame:
    """Suppressed values that another member of the same household still shows.

    Returns
    -------
    DataFrame
        One row a released key variable or ghost with suppressed values, none where no household is released:
        ``variable``; ``suppressed`` (values that are missing now); ``shown`` (those whose original value another member
        of the released household has, and shows as released); ``shared`` (0-1, of the households with several known
        members those that agree in the variable: of one that is shared, a shown value is a disclosed one).

    Examples
    --------
    >>> import pandas as pd, kanon_lab
    >>> from kanon_lab.protection import household_disclosure
    >>> frame = pd.DataFrame({"home": [1, 1, 2, 2], "town": [*"aabb"], "sex": [*"mfff"]})
    >>> chain = kanon_lab.protect(frame, kanon_lab.KeySpec(["town", "sex"], household="home"))
    >>> chain = chain.apply("suppress", {"k_required": 2, "importance": {"sex": 1, "town": 2}})
    >>> household_disclosure(chain)
      variable  suppressed  shown  shared
    0     town           1      1     1.0
    1      sex           1      0     0.5
    """
    spec, rows = protection.spec, []
    if protection.shows_households:
        original, released = protection.original, protection.aligned
        home, _ = distinct(released[spec.household])
        for name in [name for name in (*spec.key_variables, *spec.ghosts) if name in released]:
            code, values = distinct(original[name])
            kept = released[name].notna().to_numpy()
            lost = (code >= 0) & ~kept
            if lost.any():
                pair = home.astype(np.int64) * (len(values) + 1) + code
                shown = lost & np.isin(pair, np.unique(pair[kept & (code >= 0)]))
                rows.append((name, int(lost.sum()), int(shown.sum()), shared_by_members(home, code)))
    return pd.DataFrame(rows, columns=["variable", "suppressed", "shown", "shared"])


def dependent_columns(protection: Chain) -> pd.DataFrame:
    """Released columns whose values tell the original value of a key that was changed, suppressed or removed.

    Returns
    -------
    DataFrame
        One row a pair: ``variable`` (a key, or the household where its identifier is removed); ``column``, its ``role``
        and ``distinct_values``; ``cells`` of the variable that are not as they came; ``told`` (those whose original
        value goes with the column's value).

    Notes
    -----
    A province goes with its region, a date of birth with an age, and a weight with a region if it was made by region:
    whoever knows which value goes with which undoes the protection. Each column is tested alone; members of one
    household count once, since they share what they share by living together.

    Examples
    --------
    >>> import pandas as pd, kanon_lab
    >>> from kanon_lab.protection import dependent_columns
    >>> frame = pd.DataFrame({"region": [*"NNSSWW"] * 9, "town": [1, 2, 3, 4, 5, 6] * 9})
    >>> groups = {"variable": "region", "groups": {"N or S": ["N", "S"], "W": ["W"]}}
    >>> dependent_columns(kanon_lab.protect(frame, ["region"]).apply("recode", groups))[["column", "cells", "told"]]
      column  cells  told
    0   town     36    36
    """
    spec, original = protection.spec, protection.original
    released = protection.aligned
    home = None if spec.household is None else distinct(original[spec.household])[0]
    columns = {name: distinct(released[name])[0] for name in released if name != spec.household}
    hidden = [spec.household] if spec.household is not None and spec.household not in released else []
    perturbed = [name for name in released if name in protection.state.truth.perturbed]
    rows = []
    for variable in dict.fromkeys([*spec.key_variables, *perturbed, *hidden]):
        code, _ = distinct(original[variable])
        lost = code >= 0
        if variable in released:
            lost &= ~same_values(original[variable], released[variable])
        for name, column in columns.items() if lost.any() else ():
            usual = None if name == variable else told_by(column, code, None if variable == spec.household else home)
            if usual is not None and (told := (usual == code) & lost).any():
                some = (name, role_of(name, protection), int(column.max()) + 1)
                rows.append((variable, *some, int(lost.sum()), int(told.sum())))
    return pd.DataFrame(rows, columns=["variable", "column", "role", "distinct_values", "cells", "told"])


def shared_by_members(home: np.ndarray, code: np.ndarray) -> float:
    """Share (0-1) of the households with several known members in which all have one value."""
    members = pd.DataFrame({"home": home, "code": code})[code >= 0].groupby("home")["code"].agg(["size", "nunique"])
    several = members[members["size"] > 1]
    return float((several["nunique"] == 1).mean()) if len(several) else 0.0
