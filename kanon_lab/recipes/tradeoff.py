"""Measures of risk and of loss of protected files, and the recipes that no other beats by them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from kanon_lab.arguments import is_number
from kanon_lab.digits import is_finite, number, percent
from kanon_lab.errors import DataError, OptionError, described, meant, shortened
from kanon_lab.measures.registry import LIMITS, Measure, find_measure, measures
from kanon_lab.recipes.state import Chain

# A loss that rises by less has not risen.
_SAME = 1e-12
_MOST_TOLD = 3


_KINDS = {"risk": "a risk", "loss": "a loss of utility"}
# Measures that a message names at most.
_NAMED = 12


def _as_axis(measure: Measure | None) -> Measure | None:
    """A measure as an axis of a map, None where it can be none; what an office limits is a risk."""
    if measure is None or (measure.kind in _KINDS and measure.is_shown("state")):
        return measure
    if measure.limit is None:
        return None
    return replace(measure, kind="risk", unit="share" if measure.more_is_better else measure.unit)


#: The measures that may be axes of a map, by name, those of limits among the risks; # stands for a number.
MEASURES: dict[str, Measure] = {
    row.name: row
    for kind in _KINDS
    for row in sorted(
        (axis for axis in map(_as_axis, (*measures(shown="state"), *LIMITS.values())) if axis and axis.kind == kind),
        key=lambda row: (bool(row.levels), not row.is_shown("state")),
    )
}
_LOSSES = [row for row in MEASURES.values() if row.kind == "loss"]


def measure_of(name: str, kind: str | None = None) -> Measure:
    """The measure of that name; an `OptionError` if there is none, or if it is not of the `kind`.

    Examples
    --------
    >>> kanon_lab.recipes.measure_of("violations_3_wildcard").label
    'records below k = 3 (missing: any value)'
    """
    measure = find_measure(name)
    names = [row.name for row in MEASURES.values() if kind in (None, row.kind)]
    if measure is None:
        remedy = meant(name, [n for n in names if "#" not in n], f"there are {', '.join(names)} (# is a number)")
        raise OptionError(f"there is no measure {shortened(repr(name))}; {remedy}")
    measure = _axis(name) or measure
    if _axis(name) is None or kind not in (None, measure.kind):
        wanted = (
            "an axis of the map" if kind is None else _KINDS[kind] + (" on the map" if measure.kind == kind else "")
        )
        more = f", and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        raise OptionError(f"{name} is not {wanted}; choose one of {', '.join(names[:_NAMED])}{more}")
    return measure


def is_measure(name: object) -> bool:
    """Whether there is a measure of that name."""
    return _axis(name) is not None


def _axis(name: object) -> Measure | None:
    """The measure of that name, if it may be an axis of a map."""
    return _as_axis(find_measure(name))


def axis_named(name: str) -> str:
    """The name of the measure that a limit is about; another name stays as it is."""
    measure = LIMITS.get(name)
    return name if measure is None or measure.levels else measure.name


#: Default measures.
USUAL_RISK, USUAL_LOSS = "global_risk", "non_uniform_entropy"


def risk_and_loss(points: pd.DataFrame, *, risk: str = USUAL_RISK, loss: str = USUAL_LOSS) -> pd.DataFrame:
    """The recipes of a map that can be compared, with the costs ``risk`` and ``loss`` as the last columns.

    Parameters
    ----------
    points : DataFrame
        `RiskUtilityMap.points` or `RiskUtilityMap.worst`.
    risk, loss : str
        Names of measures (`MEASURES`). The cost of a share that was kept, such as ``indicators_overlap_mean``, is 1
        less the share, so that less is always better.

    Returns
    -------
    DataFrame
        Without recipes that could not be applied or that lack one of the two measures; a `DataError` if none is left.
        Costs are rounded to 12 digits: sums of the same numbers in another order differ in the last of 16.

    Examples
    --------
    >>> points = pd.DataFrame({"label": ["a"], "error": [None], "global_risk": [0.3], "known_cells": [0.9]})
    >>> kanon_lab.recipes.risk_and_loss(points, loss="known_cells")[["risk", "loss"]].round(9).values.tolist()
    [[0.3, 0.1]]
    """
    errors = points["error"].dropna()
    if len(errors) == len(points):
        raise DataError(f"no recipe of the map could be applied; the first says: {errors.iloc[0]}")
    costs = {}
    for kind, name in (("risk", risk), ("loss", loss)):
        measure = measure_of(name, kind)
        if name not in points.columns:
            there = [column for column in points.columns if (row := _axis(column)) is not None and row.kind == kind]
            remedy = meant(name, there, f"there are {', '.join(there) or 'none of its kind'}")
            raise OptionError(f"the map has no {shortened(name)}; {remedy}")
        costs[kind] = measure.cost(points[name]).map(_rounded)
    rows = points.assign(**costs)
    rows = rows[rows["error"].isna() & rows["risk"].notna() & rows["loss"].notna()]
    if rows.empty:
        raise DataError(f"no recipe of the map has both {risk} and {loss}; choose others")
    return rows


def frontier(points: pd.DataFrame, *, risk: str = USUAL_RISK, loss: str = USUAL_LOSS) -> pd.DataFrame:
    """The recipes that no other beats: none has less risk without more loss, nor less loss without more risk.

    Parameters as of `risk_and_loss`, of which these are rows, the smallest risk first. Recipes with equal risk and
    equal loss stay together. Where some recipes meet every limit (``met``), the others do not count.

    References
    ----------
    Duncan, Keller-McNulty & Stokes (2001), Disclosure risk vs. data utility: the R-U confidentiality map.

    Examples
    --------
    >>> points = pd.DataFrame({"label": [*"abc"], "error": None, "global_risk": [0.3, 0.1, 0.2]})
    >>> points["granularity"] = [0, 0.5, 0.6]
    >>> kanon_lab.recipes.frontier(points, loss="granularity")["label"].tolist()
    ['b', 'a']
    """
    rows = risk_and_loss(points, risk=risk, loss=loss).sort_values(["risk", "loss"], kind="stable")
    met = meeting(rows)
    rows = rows[met] if met.any() else rows
    least = np.minimum.accumulate(rows["loss"].to_numpy())
    # The first of each loss has the least risk for it; those equal to it in both stay too.
    first = np.append(True, least[1:] < least[:-1])
    of_first = rows[["risk", "loss"]].to_numpy()[np.maximum.accumulate(np.where(first, np.arange(len(rows)), 0))]
    return rows[(rows[["risk", "loss"]].to_numpy() == of_first).all(axis=1)]


def cheapest(points: pd.DataFrame, *, at_most: float, risk: str = USUAL_RISK, loss: str = USUAL_LOSS) -> pd.Series:
    """The recipe of least loss among those whose risk is at most as required; an `OptionError` if there is none.

    Parameters
    ----------
    points, risk, loss
        As in `risk_and_loss`.
    at_most : float
        The required risk: 0-1 for a share, such as 0.05, and a count from 0 on for a count.

    Returns
    -------
    Series
        A row of `risk_and_loss`; among equal losses the one of least risk, and among those the first in the map.

    Examples
    --------
    >>> points = pd.DataFrame({"label": [*"abc"], "error": None, "global_risk": [0.3, 0.1, 0.2]})
    >>> points["granularity"] = [0, 0.5, 0.4]
    >>> kanon_lab.recipes.cheapest(points, at_most=0.25, loss="granularity")["label"]
    'c'
    """
    check_required(at_most, measure_of(risk, "risk"))
    rows = frontier(points, risk=risk, loss=loss)
    met = meeting(rows)
    if not met.any() and "met" in points and points["met"].notna().any():
        missed = f"none of those with {risk} and {loss} " if meeting(points).any() else "no recipe "
        raise OptionError(f"{missed}meets every limit; try stronger steps, or other values in the grid")
    place = least_loss(rows, at_most)
    if place is None:
        label, smallest = rows.iloc[0]["label"], rows.iloc[0]["risk"]
        among = " that meets every limit" if met.any() else ""
        name = f"1 / {risk}" if measure_of(risk).more_is_better else risk
        raise OptionError(
            f"no recipe{among} has {name} at most {number(at_most, smallest)}: the smallest reached is "
            f"{number(smallest, at_most, digits=6)}, by {shortened(label, 80)}; allow as much, or try stronger steps"
        )
    return rows.iloc[place]


def meeting(points: pd.DataFrame) -> pd.Series:
    """Whether each recipe of a map meets every limit; none does where there are no limits."""
    met = points.get("met", pd.Series(False, index=points.index))
    return met.fillna(False).astype(bool)


def least_loss(rows: pd.DataFrame, at_most: float) -> int | None:
    """Position in a frontier of the recipe of least loss with at most so much risk; None if there is none."""
    risks = rows["risk"].to_numpy()
    met = int(np.searchsorted(risks, at_most, side="right"))
    return int(np.searchsorted(risks, risks[met - 1])) if met else None


def risk_steps(largest: float, *, about: int = 50) -> list[float]:
    """Required risks for a slider: from 0 in equal steps of 1, 2 or 5 times a power of ten, to `largest` or above."""
    if largest <= 0:
        return [0.0, 1.0]
    raw = float(largest) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * (1 - 1e-9))
    return [_rounded(number * step) for number in range(math.ceil(largest / step - 1e-9) + 1)]


def middle_step(rows: pd.DataFrame, steps: list[float]) -> float:
    """The step of a slider at which the recipe in the middle of a frontier meets the risk."""
    return min((step for step in steps if step >= rows["risk"].iloc[len(rows) // 2]), default=steps[-1])


def check_required(at_most: object, measure: Measure) -> float:
    """A required risk as a float; an `OptionError` unless it is a share, or a number from 0 on."""
    if not is_number(at_most) or not 0 <= at_most <= (1 if measure.share else np.inf):
        wanted = "a share from 0 to 1, such as 0.05" if measure.share else "a number from 0 on"
        raise OptionError(f"at_most must be {wanted}, not {described(at_most)}")
    return float(at_most)


def _rounded(value: float) -> float:
    return float(f"{value:.12g}")


def unseen_steps(protection: Chain) -> dict[str, tuple[str, ...]]:
    """For each measure of loss the steps that it does not see, each as ``1 (recode age)``.

    These are steps that touched a key, sensitive or numeric variable while the cost did not rise, or is not defined.
    """
    spec = protection.spec
    tracked = dict.fromkeys((*spec.key_variables, *spec.sensitive_variables, *spec.numeric_variables))
    unseen: dict[str, list[str]] = {row.name: [] for row in _LOSSES}
    before = protection.start.measured
    for position, step in enumerate(protection.steps, start=1):
        after, cells = step.state.measured, (step.changed, step.suppressed)
        touched = [name for name in tracked if name in step.removed or any(counts.get(name) for counts in cells)]
        if touched:
            text = f"{position} ({step.name} {', '.join(shortened(str(name)) for name in touched)})"
            for row in _LOSSES:
                was, now = before[row.name], after[row.name]
                if not (is_finite(was) and is_finite(now) and row.cost(now) - row.cost(was) > _SAME):
                    unseen[row.name].append(text)
        before = after
    return {name: tuple(steps) for name, steps in unseen.items()}


def blind_spot(recipe: pd.Series, unseen: Mapping[str, Iterable[str]], loss: str) -> str | None:
    """A line on the steps of a recipe (a row of the map) that a loss does not see, and its cost by other measures."""
    steps = list(unseen.get(loss, ()))
    if not steps:
        return None
    rows = [MEASURES[name] for name in seeing([unseen], loss) if is_finite(recipe.get(name))]
    costs = [f"{row.name} {(percent if row.share else number)(row.cost(recipe[row.name]))}" for row in rows]
    beside = f"its cost by measures that do: {', '.join(costs[:_MOST_TOLD])}" if costs else "no measure here does"
    return f"{loss} does not see step {', '.join(steps)} of {shortened(str(recipe['label']), 80)}; {beside}"


def seeing(recipes: Iterable[Mapping[str, Iterable[str]]], loss: str) -> list[str]:
    """Measures that see all steps that `loss` does not see, in all of the recipes; the default loss first."""
    recipes = list(recipes)
    names = sorted((row.name for row in _LOSSES), key=lambda name: name != USUAL_LOSS)
    return [name for name in names if all({*steps.get(loss, ())}.isdisjoint(steps.get(name, ())) for steps in recipes)]
