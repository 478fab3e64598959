"""The step ``household_level``: households are protected as a file of their own, before the persons in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from kanon_lab.errors import OptionError, about
from kanon_lab.keys import KeySpec
from kanon_lab.protection.households import household_file, merge_households
from kanon_lab.protection.plan import Plan, household_plan
from kanon_lab.protection.state import Chain
from kanon_lab.protection.steps import Applied
from kanon_lab.suppress.result import without_cells


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
