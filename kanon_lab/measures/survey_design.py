"""Ratios of a complex survey, weighted rates and means of its groups, with the error that its design gives them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from kanon_lab.columns import ORIGINAL, RELEASED, coded, distinct_rows, grouped, numbers_of, one_column, pack, refuse
from kanon_lab.errors import DataError, OptionError, about, described
from kanon_lab.roles import names_of

#: A standard error, or a length, below this share of its estimate is 0 but for rounding.
NOTHING = 1e-13


@dataclass(frozen=True)
class Design:
    """How the records of a survey were drawn: by names of columns.

    Without a sampling `weight` every record weighs 1. The `strata` together name the stratum of a record; without them
    there is one. The `sampling_unit` is the primary one (UPM, conglomerado), nested in the stratum: the same name in
    two strata is two units. Without it every record is a unit.

    Examples
    --------
    >>> kanon_lab.measures.Design("weight", strata=["region", "urban"], sampling_unit="block").variables
    ('weight', 'region', 'urban', 'block')
    """

    weight: str | None = None
    strata: tuple[str, ...] = ()
    sampling_unit: str | None = None

    def __post_init__(self):
        object.__setattr__(self, "strata", names_of(self.strata, "strata"))
        for setting in ("weight", "sampling_unit"):
            name = getattr(self, setting)
            if name is not None and not (isinstance(name, str) and name):
                raise OptionError(f"{setting} must be the name of one column, not {described(name)}")

    @property
    def variables(self) -> tuple[str, ...]:
        """Every column that it names, once."""
        return tuple(dict.fromkeys(name for name in (self.weight, *self.strata, self.sampling_unit) if name))


class Survey:
    """The design of a file, record by record; a `DataError` where one lacks a weight above 0, a stratum or a unit."""

    def __init__(self, frame: pd.DataFrame, design: Design):
        if len(frame) == 0:
            raise DataError("has no records; nothing can be estimated")
        self.unit = np.arange(len(frame))  # Of each record
        strata = [_complete_codes(frame, name, "stratum") for name in design.strata]
        self.stratum, _ = distinct_rows(np.column_stack([np.zeros_like(self.unit), *strata]))  # Of each unit
        if design.sampling_unit is not None:
            label = _complete_codes(frame, design.sampling_unit, "sampling unit")
            self.unit, some = distinct_rows(np.column_stack([self.stratum, label]))
            self.stratum = self.stratum[some]
        self.weights = weights_of(frame, design.weight)
        self.units = np.bincount(self.stratum)  # Of each stratum
        self.lone = self.units == 1  # Strata with one unit only, and so no spread of their own


class Domains:
    """Groups of a survey's records (-1: in none). A pair is a unit with records in a group, a cell such a stratum."""

    def __init__(self, survey: Survey, group: np.ndarray, groups: int):
        self.survey = survey
        self.rows = np.flatnonzero(group >= 0)
        group, unit = group[self.rows], survey.unit[self.rows]
        self.pair, pairs = grouped(*pack([group, unit], [max(groups, 1), len(survey.stratum)]))
        self.group, unit_of_pair = np.divmod(pairs, len(survey.stratum))
        stratum = survey.stratum[unit_of_pair]
        self.cell, cells = grouped(*pack([self.group, stratum], [max(groups, 1), len(survey.units)]))
        self.group_of_cell, self.stratum_of_cell = np.divmod(cells, len(survey.units))
        self.weight_of_pair = np.bincount(self.pair, survey.weights[self.rows], minlength=len(pairs))
        self.records = np.bincount(group, minlength=groups)
        # By pairs, as what is divided by it: a rate of 1 is then exactly 1.
        self.population = np.bincount(self.group, self.weight_of_pair, minlength=groups)
        self.units = np.bincount(self.group, minlength=groups)
        self.df = self.units - np.bincount(self.group_of_cell, minlength=groups)
        lone = survey.lone[self.stratum_of_cell]
        self.lone = np.bincount(self.group_of_cell, lone, minlength=groups).astype(np.int64)


def ratios(within: Domains, values: np.ndarray, *, shift: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    r"""Weighted means of some values (of every record) in each group, and their standard errors.

    The mean of group d is R = sum w y / sum w over its records. Taylor linearisation gives a record of the group z = w
    (y - R) / sum w, any other record 0. With z_{hi} the sum over unit i of stratum h, and n_h all its units, those
    without a record in the group too,

    .. math:: V = \sum_h \frac{n_h}{n_h - 1} \sum_{i=1}^{n_h} (z_{hi} - \bar z_h)^2

    as if units were drawn with replacement (ultimate clusters), without a correction for a finite population (Wolter
    2007, Introduction to Variance Estimation, chapter 6). A stratum with one unit has no spread; its z is centred at
    the mean of all units of the survey, which is 0 for a ratio. Groups, df and lone units are as in the R package
    survey of Lumley (``degf`` of a subset, ``lonely.psu="adjust"``).

    A `shift`, a number near the values, is subtracted before the sums and added at the end, for precision. The error is
    missing where the group has no degree of freedom: within one unit z adds up to 0 whatever the values.
    """
    survey, groups = within.survey, len(within.records)
    weighted = survey.weights[within.rows] * (values[within.rows] - shift)
    total = np.bincount(within.pair, weighted, minlength=len(within.group))
    ratio = np.bincount(within.group, total, minlength=groups) / np.where(within.records > 0, within.population, np.nan)
    z = (total - ratio[within.group] * within.weight_of_pair) / within.population[within.group]
    units, lone = survey.units[within.stratum_of_cell], survey.lone[within.stratum_of_cell]
    centre = np.where(lone, 0.0, np.bincount(within.cell, z, minlength=len(units)) / units)
    factor = np.where(lone, 1.0, units / np.maximum(units - 1, 1))
    absent = units - np.bincount(within.cell, minlength=len(units))
    spread = np.bincount(within.cell, (z - centre[within.cell]) ** 2, minlength=len(units)) + absent * centre**2
    se = np.sqrt(np.bincount(within.group_of_cell, factor * spread, minlength=groups))
    estimate = ratio + shift
    se[se <= NOTHING * (np.abs(estimate) + abs(shift))] = 0.0
    return estimate, np.where(within.df == 0, np.nan, se)


def mean_interval(estimate: np.ndarray, se: np.ndarray, df: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper end of the t interval of means; missing where `se` is."""
    half = _t(df, level) * se
    return estimate - half, estimate + half


def rate_interval(
    estimate: np.ndarray, se: np.ndarray, df: np.ndarray, units: np.ndarray, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper end of the interval of rates, within 0-1; missing where `se` is.

    The t interval of log(p / (1 - p)), whose standard error is se / (p (1 - p)), transformed back to rates.

    A rate of 0 or 1 has the interval of Clopper and Pearson for none, or all, of `units`: the sampling units with
    records in the group. It is conservative, unless weights differ widely (Korn and Graubard 1998, Survey Methodology
    24 (2), 193-201, take the effective sample size). Any other rate without error is its own interval.
    """
    from scipy.special import expit, logit

    p, certain = np.where(se > 0, estimate, 0.5), se == 0
    half = _t(df, level) * se / (p * (1 - p))
    ends = (expit(logit(p) - half), expit(logit(p) + half))
    lower, upper = (np.where(certain, estimate, end) for end in ends)
    # The largest p at which none of so many units is no surprise: (1 - p)^units = (1 - level) / 2.
    reach = 1 - ((1 - level) / 2) ** (1 / np.maximum(units, 1))
    return np.where(certain & (estimate == 1), 1 - reach, lower), np.where(certain & (estimate == 0), reach, upper)


def weights_of(frame: pd.DataFrame, weight: str | None) -> np.ndarray:
    """The weight of each record, 1 without a column of weights; a `DataError` unless all are numbers above 0."""
    if weight is None:
        return np.ones(len(frame))
    weights = numbers_of(frame, weight)[1][:, 0]
    refuse(np.isnan(weights), frame.index, weight, "a missing weight; fill it in, or drop the record")
    refuse(weights <= 0, frame.index, weight, "a weight that is not above 0; correct it, or drop the record")
    return weights


def _t(df: np.ndarray, level: float) -> np.ndarray:
    from scipy.special import stdtrit

    return stdtrit(df.astype(float), (1 + level) / 2)


def weights_of_both(original: pd.DataFrame, released: pd.DataFrame, weight: str | None) -> tuple[np.ndarray, ...]:
    """The weights of the original and of the released file, as `weights_of`."""
    with about(ORIGINAL):
        before = weights_of(original, weight)
    with about(RELEASED):
        return before, weights_of(released, weight)


def _complete_codes(frame: pd.DataFrame, name: str, what: str) -> np.ndarray:
    codes = coded(one_column(frame, name)).codes
    refuse(codes < 0, frame.index, name, f"no {what}; fill it in, or drop the record")
    return codes
