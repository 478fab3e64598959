"""The steps ``shuffle_records`` and ``renumber``: order and numbers of records that tell nothing of those that came."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab.classes.coding import coded
from kanon_lab.errors import OptionError, nearest, shortened
from kanon_lab.keys import KeySpec
from kanon_lab.protection.perturbing import own_seed
from kanon_lab.protection.steps import STEPS, Applied, Kind, check_settings, names_in, within_households
from kanon_lab.recode.columns import refuse, with_columns

#: What ``shuffle_records`` puts in random order.
SHUFFLED_BY = ("record", "household", "within_household")


def shuffled_by(settings: Mapping[str, Any]) -> str:
    """What a step ``shuffle_records`` puts in random order, one of `SHUFFLED_BY`."""
    check_settings(settings, ("by",))
    by = settings.get("by")
    if by is not None and by not in SHUFFLED_BY:
        close = nearest(by, SHUFFLED_BY) if isinstance(by, str) else None
        remedy = f"; did you mean {close}?" if close else ""
        raise OptionError(f"by must be one of {', '.join(SHUFFLED_BY)}, not {shortened(repr(by))}{remedy}")
    return by or SHUFFLED_BY[0]


def _shuffle_records(frame, spec, settings, *, seed) -> Applied:
    """Records in random order; or whole households, their members together as they stood; or members within theirs."""
    by = shuffled_by(settings)
    rng = np.random.default_rng(own_seed(seed, "shuffle_records", settings, frame, list(frame)))
    if by == "record":
        return Applied(frame.iloc[rng.permutation(len(frame))])
    home = _households(frame, spec, f"shuffle_records by {by}")
    if by == "within_household":
        return Applied(frame.iloc[within_households(home, rng)])
    place = rng.permutation(home.max() + 1)
    return Applied(frame.iloc[np.argsort(place[home], kind="stable")])


def _renumber(frame, spec, settings, *, seed) -> Applied:
    """Identifiers anew: of each its values one to one, at random; and line numbers, from 1 on in each household."""
    lines, names = _line_numbers(settings), _identifiers(settings)
    if not names and not lines and spec.household is None:
        raise OptionError("renumber needs a household, or the variables to renumber; name them")
    names = names or ([] if spec.household is None else [spec.household])
    _check_roles([*names, *lines], spec)
    rng = np.random.default_rng(own_seed(seed, "renumber", settings, frame, list(frame)))
    columns = {}
    for name in names:
        known = coded(frame[name])
        columns[name] = _numbers(rng.permutation(len(known.values)) + 1, known.codes, frame[name])
    for name in lines:
        home = _households(frame, spec, "renumber with a line_number")
        order = np.lexsort((rng.random(len(frame)), home))
        starts = np.concatenate([[0], np.cumsum(np.bincount(home))])[:-1]
        line = np.empty(len(frame), dtype=np.int64)
        line[order] = np.arange(len(frame)) - starts[home[order]] + 1
        columns[name] = _numbers(line, np.where(frame[name].isna(), -1, np.arange(len(frame))), frame[name])
    return Applied(with_columns(frame, columns))


def _households(frame: pd.DataFrame, spec: KeySpec, step: str) -> np.ndarray:
    """The number of each record's household."""
    if spec.household is None:
        raise OptionError(f"{step} needs a household; name the variable that tells households apart")
    home = coded(frame[spec.household]).codes
    refuse(home < 0, frame.index, spec.household, "no household; fill it in, or drop the record")
    return home


def _numbers(numbers: np.ndarray, codes: np.ndarray, like: pd.Series) -> pd.Series:
    column = pd.array(numbers, dtype="Int64").take(codes, allow_fill=True)
    return pd.Series(column if (codes < 0).any() else column.astype("int64"), index=like.index, name=like.name)


def _check_roles(names: list[str], spec: KeySpec) -> None:
    """Raise an `OptionError` for a variable whose values say something, or one that is named twice."""
    if twice := [name for place, name in enumerate(names) if name in names[:place]]:
        raise OptionError(f"{shortened(twice[0])} is named twice; name each variable once")
    said = (*spec.key_variables, *spec.ghosts, *spec.sensitive_variables, *spec.numeric_variables, spec.weight)
    for name in names:
        if name in said:
            raise OptionError(f"{shortened(name)} is no identifier, since it has another role; recode or perturb it")


def _identifiers(settings: Mapping[str, Any]) -> list[str]:
    check_settings(settings, ("variables", "line_number"))
    names = settings.get("variables")
    return [] if names is None else names_in(names, "variables")


def _line_numbers(settings: Mapping[str, Any]) -> list[str]:
    lines = settings.get("line_number")
    if lines is not None and (not isinstance(lines, str) or not lines):
        raise OptionError(f"line_number must be the name of a column, not {shortened(repr(lines))}")
    return [] if lines is None else [lines]


def _no_columns(settings: Mapping[str, Any]) -> tuple[str, ...]:
    shuffled_by(settings)
    return ()


STEPS |= {
    "shuffle_records": Kind(_shuffle_records, _no_columns, random=True),
    "renumber": Kind(_renumber, lambda settings: [*_identifiers(settings), *_line_numbers(settings)], random=True),
}
