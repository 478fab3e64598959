"""Two levels of one file: a file of households out of a file of persons, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab.columns import distinct, one_column, refuse
from kanon_lab.errors import DataError, OptionError, about, shortened
from kanon_lab.methods.suppression import without_cells
from kanon_lab.recipes.plan import Plan, household_plan
from kanon_lab.recipes.state import Chain
from kanon_lab.recipes.steps import Applied
from kanon_lab.roles import KeySpec


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


def household_level(
    frame: pd.DataFrame,
    spec: KeySpec,
    settings: Mapping[str, Any],
    *,
    seed: int,
    protected: Callable[[pd.DataFrame, Plan], Chain],
) -> Applied:
    """Protect the variables of households in one record a household, and merge them back (INE Chile 2023, 6.7).

    Without a ``weight`` of its own (none: null) it takes that of the persons, where that does not differ in households.
    Ghosts that persons have for a key go where it is suppressed or removed. `protected` carries out a plan.
    """
    if spec.household is None:
        raise OptionError("household_level needs a household; name the variable that tells households apart")
    settings = {**_shared_weight(frame, spec), **settings}
    plan = Plan(**household_plan({**settings, "seed": seed}))
    households = household_file(frame, spec.household, plan.variables)
    with about("one record a household", part=True):
        protection = protected(households, plan)
    merged = merge_households(frame, protection.state.working, spec.household)
    # The ghosts of persons would still tell what their keys do not.
    ghosts_of = {
        key: ghosts for key, ghosts in spec.ghost_variables.items() if (frame[key].notna() & merged[key].isna()).any()
    }
    if ghosts_of:
        merged, _ = without_cells(merged, {}, replace(spec, key_variables=tuple(ghosts_of), ghost_variables=ghosts_of))
    gone = protection.state.removed
    ghosts = [ghost for key in gone for ghost in spec.ghost_variables.get(key, ())]
    return Applied(merged, removed=tuple(dict.fromkeys([*gone, *ghosts])), households=protection)


def _shared_weight(frame: pd.DataFrame, spec: KeySpec) -> dict[str, str]:
    """The weight of the persons, if it is the same for all members of every household and so that of households too."""
    if spec.weight is None or (frame.groupby(spec.household)[spec.weight].nunique(dropna=False) > 1).any():
        return {}
    return {"weight": spec.weight}
