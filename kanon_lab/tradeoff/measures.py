"""Which measures of a protected file are risks and which are losses, and how each is told to a reader."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kanon_lab.errors import OptionError, meant, shortened

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Measure:
    """A measure as an axis of the map: less of its cost is always better.

    Attributes
    ----------
    kind : {"risk", "loss"}
    label : str
        What the cost is, in a reader's words.
    share : bool
        Whether it is a share of 0-1, shown as per cent.
    kept : bool
        Whether the measure is a share (0-1) of what was kept; its cost is the rest, 1 less the measure.
    """

    kind: str
    label: str
    share: bool = True
    kept: bool = False

    def cost(self, values: pd.Series) -> pd.Series:
        """The cost of each value of the measure; of a cost the value."""
        return 1 - values if self.kept else values


_BY_CHANCE = "records re-identified, expected"
#: Name of a measure -> what it is; # stands for a number. See `kanon_lab.protection.measured.Measured`.
MEASURES: dict[str, Measure] = {
    "global_risk": Measure("risk", "global risk"),
    "expected_reidentifications": Measure("risk", _BY_CHANCE, share=False),
    "expected_reidentifications_wildcard": Measure("risk", f"{_BY_CHANCE} (missing: any value)", share=False),
    "expected_reidentifications_category": Measure("risk", f"{_BY_CHANCE} (missing: a value)", share=False),
    "household_risk": Measure("risk", "household risk"),
    "expected_household_reidentifications": Measure("risk", "households re-identified, expected", share=False),
    "expected_persons_in_reidentified_households": Measure("risk", "persons in such households", share=False),
    "key_linkage": Measure("risk", "records linked by their keys"),
    "numeric_linkage": Measure("risk", "records linked by their quantities"),
    "violations_#_wildcard": Measure("risk", "records below k = # (missing: any value)", share=False),
    "violations_#_category": Measure("risk", "records below k = # (missing: a value)", share=False),
    "above_#": Measure("risk", "records with a risk above #", share=False),
    "above_#_wildcard": Measure("risk", "records with a risk above # (missing: any value)", share=False),
    "above_#_category": Measure("risk", "records with a risk above # (missing: a value)", share=False),
    "with_household_size_sample_uniques": Measure("risk", "unique records, with household size", share=False),
    "equal_cells": Measure("loss", "key cells changed or missing", kept=True),
    "known_cells": Measure("loss", "key cells without a value", kept=True),
    "granularity": Measure("loss", "granularity lost"),
    "non_uniform_entropy": Measure("loss", "information lost (non-uniform entropy)"),
    "discernibility": Measure("loss", "discernibility", share=False),
    "average_class_size": Measure("loss", "average class size", share=False),
    "table_distance": Measure("loss", "distance of tables (Hellinger)"),
    "il1s": Measure("loss", "change of quantities (IL1s)", share=False),
    "eigenvalues": Measure("loss", "difference of eigenvalues", share=False),
    "correlations": Measure("loss", "difference of correlations", share=False),
    "numeric_lost": Measure("loss", "quantities lost", share=False),
    "indicators_lost": Measure("loss", "indicators lost", share=False),
    "indicators_overlap_all": Measure("loss", "overlap of intervals lost", kept=True),
    "indicators_overlap_mean": Measure("loss", "overlap lost, where compared", kept=True),
    "indicators_overlap_least": Measure("loss", "overlap lost, the worst compared", kept=True),
    "indicators_covered": Measure("loss", "indicators outside their first interval", kept=True),
}
_NUMBER = r"(\d+(?:\.\d+)?(?:e-\d+)?)"
_KINDS = {"risk": "risk", "loss": "loss of utility"}


def measure_of(name: str, kind: str | None = None) -> Measure:
    """The measure of that name; an `OptionError` where there is none, or it is not of the `kind` asked for.

    Examples
    --------
    >>> from kanon_lab.tradeoff import measure_of
    >>> measure_of("violations_3_wildcard").label
    'records below k = 3 (missing: any value)'
    """
    found = _found(name)
    if found is None:
        several = [each for each in MEASURES if kind in (None, MEASURES[each].kind)]
        there = f"there are {', '.join(several)} (# stands for a number)"
        remedy = meant(name, [each for each in several if "#" not in each], there)
        raise OptionError(f"there is no measure {shortened(repr(name))}; {remedy}")
    if kind is not None and found.kind != kind:
        others = ", ".join(each for each in MEASURES if MEASURES[each].kind == kind)
        raise OptionError(f"{name} is no {_KINDS[kind]}; choose out of {others}")
    return found


def is_measure(name: str) -> bool:
    """Whether there is a measure of that name."""
    return _found(name) is not None


def _found(name: object) -> Measure | None:
    if not isinstance(name, str):
        return None
    if "#" not in name and name in MEASURES:
        return MEASURES[name]
    for family, measure in MEASURES.items():
        start, mark, end = family.partition("#")
        if mark and (number := re.fullmatch(re.escape(start) + _NUMBER + re.escape(end), name)):
            return Measure(measure.kind, measure.label.replace("#", number[1]), measure.share, measure.kept)
    return None
