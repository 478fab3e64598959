"""What subsamples say of the risk of a sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab.subsample.counting import COUNTS

#: What the spread is told of.
SPREAD = ["n2", "u2", "u", "p_c", "p_d", "p_identification"]


def _mean_count(name: str, told: str) -> property:
    """A count of the one subsample, or its mean over several."""

    def count(risk: SubsampleRisk) -> int | float:
        return int(risk.draws[name].iloc[0]) if risk.repeats == 1 else risk._means[name]

    return property(count, doc=told)


@dataclass(frozen=True)
class SubsampleRisk:
    """What subsamples say of the risk of a sample.

    Attributes
    ----------
    keys : tuple of str
    n1, u1 : int
        Records of the sample, and those of them that are unique in it (*úniques a la mostra*).
    fraction : float
        Sampling fraction (*factor de mostreig*), 0-1; with weights n1 over their sum.
    p_a : float
    scheme : str
    repeats, seed : int
    missing : str
        What a missing key means (`kanon_lab.keys.MISSING_POLICIES`).
    weight : str or None
    draws : DataFrame
        One row a subsample: ``repeat`` (from 1), ``n2``, ``u2``, ``u``, ``p_c``, ``p_d``, ``p_identification`` (0-1,
        NaN where u2 is 0).
    expected : dict of str to float
        The means of n2, u2 and u over all subsamples, in closed form, and ``p_c``, ``p_d``, ``p_identification`` that
        follow from them.
    notes : tuple of str
        What a reader of the numbers should know.
    cluster, household : str or None
        Columns of the units that subsamples took as wholes.
    cluster_fraction : float or None
        Chance of a cluster, where units were drawn in those that were drawn.
    units : int or None
        Units of the sample; None where records were drawn one by one. Records are units where only clusters are named,
        with a `cluster_fraction`.
    warnings : tuple of str
        Why records should perhaps not have been drawn one by one.
    """

    keys: tuple[str, ...]
    n1: int
    u1: int
    fraction: float
    p_a: float
    scheme: str
    repeats: int
    seed: int
    missing: str
    weight: str | None
    draws: pd.DataFrame = field(repr=False)
    expected: dict[str, float] = field(repr=False)
    notes: tuple[str, ...] = field(repr=False)
    cluster: str | None = None
    household: str | None = None
    cluster_fraction: float | None = None
    units: int | None = None
    warnings: tuple[str, ...] = field(default=(), repr=False)

    @cached_property
    def _means(self) -> dict[str, float]:
        means = {name: float(self.draws[name].mean()) for name in COUNTS}
        found = conditions(means, self.u1 / self.n1, self.fraction, self.p_a)
        return {**means, **{name: float(value) for name, value in found.items()}}

    n2 = _mean_count("n2", "Records of the subsample; the mean over several.")
    u2 = _mean_count("u2", "Records unique in the subsample (*submostra*); the mean over several.")
    u = _mean_count("u", "Records unique in the subsample and in the sample; the mean over several.")

    @property
    def p_b(self) -> float:
        """Chance that a person is in the sample: the sampling fraction."""
        return self.fraction

    @property
    def p_c(self) -> float:
        """Chance that a sampled person (without weights, any) is unique, (u1 / n1)(u / u2); NaN where u2 is 0."""
        return self._means["p_c"]

    @property
    def p_d(self) -> float:
        """Chance that a record unique in the sample is unique in the population, u / u2; NaN where u2 is 0."""
        return self._means["p_d"]

    @property
    def p_identification(self) -> float:
        """The product of the four; NaN where u2 is 0."""
        return self._means["p_identification"]

    @cached_property
    def spread(self) -> pd.DataFrame:
        """How much the subsamples differ: sd (NaN of one), min, max, and q025 and q975, the central 95 %."""
        of = self.draws[SPREAD]
        columns = {"sd": of.std(), "min": of.min(), "max": of.max(), "q025": of.quantile(0.025)}
        return pd.DataFrame({**columns, "q975": of.quantile(0.975)})

    def to_dict(self) -> dict:
        """The result by name, in types that JSON has, NaN as None; `draws` are left out."""
        single = "n1 n2 u1 u2 u p_a p_b p_c p_d p_identification".split()
        options = "fraction repeats seed scheme weight missing cluster household cluster_fraction units".split()
        return {
            "keys": list(self.keys),
            **{name: _known(getattr(self, name)) for name in single},
            "spread": {name: {at: _known(value) for at, value in row.items()} for name, row in self.spread.T.items()},
            "expected": {name: _known(value) for name, value in self.expected.items()},
            **{name: getattr(self, name) for name in options},
            "warnings": list(self.warnings),
            "notes": list(self.notes),
        }


def conditions(counts: Mapping, u1_share: float, fraction: float, p_a: float) -> dict[str, Any]:
    """p(c), p(d) and their product with p(a) and p(b), from numbers or columns of them; NaN where u2 is 0."""
    with np.errstate(invalid="ignore"):
        p_d = np.divide(counts["u"], counts["u2"])
    p_c = u1_share * p_d
    return {"p_c": p_c, "p_d": p_d, "p_identification": p_a * fraction * p_c * p_d}


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value
