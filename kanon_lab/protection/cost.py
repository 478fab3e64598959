"""What the release has lost, after each step."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab.classes import ClassTable
from kanon_lab.errors import DataError
from kanon_lab.protection.truth import Truth
from kanon_lab.recode.quantities import quantity
from kanon_lab.risk import record_linkage
from kanon_lab.utility import (
    IndicatorSet,
    average_class_size,
    compare_indicators,
    discernibility,
    granularity,
    indicator_loss,
    indicators,
    non_uniform_entropy,
    quantity_loss,
    table_distances,
)

#: What `kanon_lab.utility.indicator_loss` gives.
INDICATOR_LOSSES = ("compared", "lost", "overlap_all", "overlap_mean", "overlap_least", "covered")
# Records that are linked by their quantities, at most; more are chosen at equal steps.
_MOST_LINKED = 20_000


@dataclass(frozen=True)
class Baseline:
    """What the file as it came is compared by: the survey's own indicators, and their estimates before any step."""

    wanted: IndicatorSet | None = None
    estimates: pd.DataFrame | None = None

    @classmethod
    def of(cls, original: pd.DataFrame, wanted: IndicatorSet | None) -> Baseline:
        """The indicators of the file as it came."""
        return cls(wanted, None if wanted is None else indicators(original, wanted))


def value_loss(
    original: pd.DataFrame, working: pd.DataFrame, keys: Iterable[str], released: Collection[str], truth: Truth
) -> dict:
    """Mean loss over the keys, 0-1; a key that is not released has lost everything.

    Granularity is None where a released key is perturbed: then nearly every value may stand for any, however seldom.
    Entropy is None where one was perturbed as a quantity: with noise, hardly two records share a value.
    """
    pairs = [(original[name], working[name] if name in released else None) for name in keys]
    losses = {
        measure.__name__: float(np.mean([1.0 if now is None else measure(was, now) for was, now in pairs]))
        for measure in (granularity, non_uniform_entropy)
    }
    if not truth.perturbed.isdisjoint(released):
        losses["granularity"] = None
    if not truth.blurred.isdisjoint(released):
        losses["non_uniform_entropy"] = None
    return losses


def class_loss(table: ClassTable) -> dict:
    """How coarse the classes are."""
    return {"discernibility": discernibility(table), "average_class_size": average_class_size(table)}


def table_loss(true: np.ndarray, shown: np.ndarray, names: list[str]) -> float:
    """Mean Hellinger distance (0-1) of all one- and two-way tables, beyond what recoding did; 0 without variables.

    Codes are those of `kanon_lab.protection.truth.true_and_shown`.
    """
    if np.array_equal(true, shown):
        return 0.0
    frames = (pd.DataFrame(np.where(side < 0, np.nan, side), columns=names) for side in (true, shown))
    return float(table_distances(*frames, variables=names)["hellinger"].mean())


def quantity_measures(original: pd.DataFrame, released: pd.DataFrame, names: Iterable[str]) -> dict[str, Any]:
    """Right links by distance, and what was lost, of the quantities that are still released as numbers."""
    names = tuple(names)
    kept = [name for name in names if name in released and _is_quantity(released[name])]
    nothing = dict.fromkeys(["numeric_linkage", "il1s", "eigenvalues", "correlations"])
    if not kept:
        return {**nothing, "numeric_lost": len(names) if names else None}
    loss = quantity_loss(original, released, variables=kept)
    rows = slice(None, None, -(-len(original) // _MOST_LINKED))
    scales = ("sd", "mahalanobis") if len(kept) > 1 else ("sd",)
    links = [record_linkage(original, released, variables=kept, targets=rows, scale=each).share for each in scales]
    return {
        "numeric_linkage": max(links),
        "il1s": loss.il1s,
        "eigenvalues": loss.eigenvalues,
        "correlations": loss.correlations,
        "numeric_lost": len(names) - len(kept),
    }


def indicators_after(original: pd.DataFrame, released: pd.DataFrame, baseline: Baseline) -> pd.DataFrame:
    """The indicators of a released file; those of variables that it has no more are left out.

    Strata and sampling units are those of the file as it came, since the users' values are judged, not what is left of
    the design. The weight is the released one, if there is one for every record.
    """
    weight, design = baseline.wanted.design.weight, original
    if weight is not None and weight in released and released[weight].notna().all():
        design = original.assign(**{weight: released[weight]})
    return indicators(released, baseline.wanted, design_from=design, absent="skip")


def indicator_measures(original: pd.DataFrame, released: pd.DataFrame, baseline: Baseline) -> dict | None:
    """Overlap of the indicators' intervals with those before any step."""
    if baseline.wanted is None:
        return None
    now = indicators_after(original, released, baseline)
    return indicator_loss(compare_indicators(baseline.estimates, now))


def _is_quantity(column: pd.Series) -> bool:
    try:
        return bool(len(quantity(column).numbers))
    except DataError:  # bands and the like
        return False
