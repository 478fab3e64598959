"""Households of a file of persons: a file of them and back, and what members show of each other."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from kanon_lab.columns import distinct, one_column, refuse
from kanon_lab.errors import DataError, about, shortened
from kanon_lab.recipes.state import Chain


def household_file(frame: pd.DataFrame, household: str, variables: Iterable[str]) -> pd.DataFrame:
    """One record a household, out of a file of persons.

    Parameters
    ----------
    frame : DataFrame
        One row a person.
    household : str
        The identifier of the household.
    variables : iterable of str
        Variables of households: all members of one have the same value, or all have none; else a `DataError` says
        where.

    Returns
    -------
    DataFrame
        Columns `household` and `variables`; households in the order in which they come first, each under the index
        label of its first member.

    References
    ----------
    INE Chile (2023), section 6.7, block 6.12; it keeps the first member's values unchecked.

    Examples
    --------
    >>> import pandas as pd
    >>> from kanon_lab.recipes import household_file
    >>> household_file(pd.DataFrame({"home": [1, 1, 2], "rooms": [3, 3, 5]}), "home", ["rooms"])
       home  rooms
    0     1      3
    2     2      5
    """
    codes, ids = distinct(one_column(frame, household))
    refuse(codes < 0, frame.index, household, "no household; fill it in, or drop the record")
    first = np.full(len(ids), len(codes))
    np.minimum.at(first, codes, np.arange(len(codes)))
    names = [name for name in dict.fromkeys(variables) if name != household]
    for name in names:
        values, _ = distinct(one_column(frame, name))
        fault = "another value than others of the same household; mend it, or protect it as a variable of persons"
        refuse(values != values[first][codes], frame.index, name, fault)
    return frame[[household, *names]].iloc[first]


def merge_households(frame: pd.DataFrame, households: pd.DataFrame, household: str) -> pd.DataFrame:
    """Give every person the values of their household.

    Parameters
    ----------
    frame : DataFrame
        One row a person.
    households : DataFrame
        One row a household, as `household_file` made it, in any order, its other columns recoded or suppressed.
    household : str
        The identifier of the household, in both; the same households, or a `DataError`.

    Returns
    -------
    DataFrame
        The same persons in the same order, with the columns of `households` in place of their own.

    References
    ----------
    INE Chile (2023), section 6.7, block 6.13; its merge drops and multiplies persons where the households differ.

    Examples
    --------
    >>> import pandas as pd
    >>> from kanon_lab.recipes import merge_households
    >>> persons = pd.DataFrame({"home": [1, 1, 2], "rooms": [3, 3, 5]})
    >>> merge_households(persons, pd.DataFrame({"home": [2, 1], "rooms": ["4+", "1-3"]}), "home")
       home rooms
    0     1   1-3
    1     1   1-3
    2     2    4+
    """
    codes, ids = distinct(one_column(frame, household))
    with about("the households"):
        there = pd.Index(one_column(households, household))
    if not there.is_unique:
        label = shortened(str(households.index[int(there.duplicated().argmax())]))
        raise DataError(f"the households: row {label}: the household stands twice; keep one record of each")
    position = there.get_indexer(ids)
    lost, more = int((position < 0).sum()), len(there) - int((position >= 0).sum())
    if lost or more or (codes < 0).any():
        raise DataError(
            f"{lost} households of the persons have no record and {more} records have no persons; the file of "
            "households must be of the same households"
        )
    merged = frame.copy(deep=False)
    for name in households.columns.drop(household):
        column = households[name].take(position[codes])
        merged[name] = column.set_axis(frame.index)
    return merged


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
    >>> from kanon_lab.recipes import household_disclosure
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


def shared_by_members(home: np.ndarray, code: np.ndarray) -> float:
    """Share (0-1) of the households with several known members in which all have one value."""
    members = pd.DataFrame({"home": home, "code": code})[code >= 0].groupby("home")["code"].agg(["size", "nunique"])
    several = members[members["size"] > 1]
    return float((several["nunique"] == 1).mean()) if len(several) else 0.0
