"""The survey's own indicators: weighted rates and means of its groups, with intervals, before and after."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab.arguments import ROUNDING, check_choice, is_number
from kanon_lab.columns import as_text, coded, composed, distinct_rows, numbers_of, one_column
from kanon_lab.errors import DataError, OptionError, UnfitOptionError, described, shortened
from kanon_lab.measures.survey_design import NOTHING, Design, Domains, Survey, mean_interval, rate_interval, ratios
from kanon_lab.roles import names_of

#: The text between names, and between values, that are crossed.
BETWEEN = " x "


@dataclass(frozen=True)
class IndicatorSet:
    """The rates and means that a survey publishes.

    Parameters
    ----------
    rates : mapping of str to tuple of str or None
        By variable the categories whose share of the population is estimated; None means all of them. Categories are
        matched as text, so that 1, 1.0 and "1" are equal.
    means : tuple of str
        Quantities whose mean is estimated.
    by : tuple of tuple of str
        Groups to estimate besides the whole file: of one variable, or of several that are crossed.
    design : Design
    level : float
        Of the intervals, above 0 and below 1.
    """

    rates: Mapping[str, tuple[str, ...] | None] = field(default_factory=dict, hash=False)
    means: tuple[str, ...] = ()
    by: tuple[tuple[str, ...], ...] = ()
    design: Design = field(default_factory=Design)
    level: float = 0.95

    def __post_init__(self):
        wanted = self.rates if isinstance(self.rates, Mapping) else dict.fromkeys(names_of(self.rates, "rates"))
        rates = {name: _categories(name, wanted[name]) for name in names_of(list(wanted), "rates")}
        object.__setattr__(self, "rates", rates)
        object.__setattr__(self, "means", names_of(self.means, "means"))
        object.__setattr__(self, "by", _by(self.by))
        if not (self.rates or self.means):
            raise OptionError("no indicator: name variables under rates or means")
        if not is_number(self.level) or not 0 < self.level < 1:
            raise OptionError(f"level must be a number above 0 and below 1, not {described(self.level)}")

    @property
    def variables(self) -> tuple[str, ...]:
        """Every column that it names, once: those of its design too."""
        crossed = [name for names in self.by for name in names]
        return tuple(dict.fromkeys([*self.rates, *self.means, *crossed, *self.design.variables]))


def text_of(value: object) -> str:
    """A category as text, however it is written: 1 and 1.0 are one, and so are two ways to write an accent."""
    return composed(as_text(value))


def _categories(name: str, wanted: object) -> tuple[str, ...] | None:
    """The categories of a rate as text; None for all of them."""
    if wanted is None:
        return None
    place = f"rates: {shortened(name)}"
    if not isinstance(wanted, (list, tuple)) or not wanted:
        raise OptionError(
            f"{place}: categories must be a list, such as [diabetes], or null for all, not {described(wanted)}"
        )
    if unfit := [value for value in wanted if value is None or isinstance(value, (list, tuple, Mapping))]:
        raise OptionError(f"{place}: a category must be one text or number, not {described(unfit[0])}")
    texts = tuple(map(text_of, wanted))
    if twice := [i for i, text in enumerate(texts, start=1) if text in texts[: i - 1]]:
        raise OptionError(f"{place}: category {twice[0]} is named before; name each once")
    return texts


def _by(by: object) -> tuple[tuple[str, ...], ...]:
    listed = (by,) if isinstance(by, str) else by
    if not isinstance(listed, Iterable) or isinstance(listed, Mapping):
        raise OptionError(f"by must be a list of variables or of lists to cross, not {described(by)}")
    groups = tuple(names_of(names, "by") for names in listed)
    if not all(groups):
        raise OptionError("by: an empty list; the whole file is estimated anyway")
    labels = [BETWEEN.join(names) for names in groups]
    if twice := [label for i, label in enumerate(labels) if label in labels[:i]]:
        raise OptionError(f"by: {shortened(twice[0])} is named twice; name each group once")
    return groups


#: What names an indicator.
KEYS = ("kind", "variable", "category", "by", "group")
_FIGURES = ("records", "population", "estimate", "se", "lower", "upper", "df", "lone_strata")


@dataclass(frozen=True)
class _Outcome:
    """What is estimated of a variable: its categories with their codes, or its mean."""

    kind: str
    variable: str
    numbers: np.ndarray  # Of each record: its value, or the code of its category (-1 where missing)
    categories: dict[str, int] = field(default_factory=lambda: {"": 0})
    shift: float = 0.0


def indicators(
    frame: pd.DataFrame,
    wanted: IndicatorSet,
    *,
    design_from: pd.DataFrame | None = None,
    absent: str = "error",
) -> pd.DataFrame:
    """Estimate rates and means in the whole file and in groups, with intervals from the survey's design.

    Records that lack the variable, or a variable of the groups, are left out. Every estimate is of a part of the full
    design; see `kanon_lab.measures.survey_design.ratios`. A group of few records discloses their values: keep these
    figures inside the office until they are checked as tables are.

    Parameters
    ----------
    frame : DataFrame
        One row a record.
    wanted : IndicatorSet
        Which rates and means, of which groups.
    design_from : DataFrame, optional
        Where to read the design, under the same index; for a released file the original, since the release may lack the
        design or have changed it.
    absent : str
        ``error`` or ``skip``: whether a variable or category that is not there, or a mean of what is no quantity, is
        refused or has no row. With ``skip`` a category that only `design_from` has is estimated as 0, unless `frame`
        has new categories: then the variable was recoded.

    Returns
    -------
    DataFrame
        One row an indicator and group with a record: ``kind`` (``rate`` or ``mean``), ``variable``, ``category`` (empty
        for a mean), ``by`` (names between " x "; empty for the whole file), ``group`` (values between " x "),
        ``records`` (with a value), ``population`` (sum of their weights), ``estimate`` (0-1 for a rate), ``se``,
        ``lower``, ``upper``, ``df`` (units less strata, of those with such records), ``lone_strata`` (of these strata,
        those with one sampling unit). Where ``df`` is 0, as in a group within one unit, ``se`` and the interval are
        missing.

    Examples
    --------
    >>> from kanon_lab.measures import indicators
    >>> frame = pd.DataFrame({"sex": list("ffmm"), "income": [10, 14, 20, 24], "weight": [1, 3, 1, 1]})
    >>> design = kanon_lab.measures.Design("weight")
    >>> wanted = kanon_lab.measures.IndicatorSet(means="income", by=["sex"], design=design)
    >>> indicators(frame, wanted)[["group", "population", "estimate", "df"]]
      group  population  estimate  df
    0               6.0      16.0   3
    1     f         4.0      13.0   1
    2     m         2.0      22.0   1
    """
    check_choice(absent, "absent", ("error", "skip"))
    source = frame if design_from is None else design_from
    if not frame.index.equals(source.index):
        raise DataError("its index is not that of the file its design is read from; give both the same records")
    survey = Survey(source, wanted.design)
    present = [names for names in ((), *wanted.by) if absent == "error" or {*names} <= {*frame.columns}]
    groupings = {BETWEEN.join(names): _labelled(frame, names, absent) for names in present}
    parts = [
        estimates
        for outcome in _outcomes(frame, source, wanted, absent)
        for by, (codes, labels) in groupings.items()
        for estimates in _estimates(survey, outcome, by, codes, labels, wanted.level)
    ]
    columns = (*KEYS, *_FIGURES)
    return pd.DataFrame({name: np.concatenate([part[name] for part in parts]) if parts else [] for name in columns})


def _estimates(
    survey: Survey, outcome: _Outcome, by: str, codes: np.ndarray, labels: np.ndarray, level: float
) -> Iterator[dict[str, np.ndarray]]:
    """The rows of each category of one variable, in the groups that have records with a value of it."""
    is_rate = outcome.kind == "rate"
    known = outcome.numbers >= 0 if is_rate else ~np.isnan(outcome.numbers)
    within = Domains(survey, np.where(known, codes, -1), len(labels))
    some = within.records > 0
    for category, code in outcome.categories.items():
        values = (outcome.numbers == code).astype(float) if is_rate else outcome.numbers
        estimate, se = ratios(within, values, shift=outcome.shift)
        if is_rate:
            lower, upper = rate_interval(estimate, se, within.df, within.units, level)
        else:
            lower, upper = mean_interval(estimate, se, within.df, level)
        figures = (within.records, within.population, estimate, se, lower, upper, within.df, within.lone)
        texts = (outcome.kind, outcome.variable, category, by)
        repeated = [np.full(int(some.sum()), text, dtype=object) for text in texts]
        yield dict(zip((*KEYS, *_FIGURES), [*repeated, labels[some], *(column[some] for column in figures)]))


def _outcomes(frame: pd.DataFrame, source: pd.DataFrame, wanted: IndicatorSet, absent: str) -> Iterator[_Outcome]:
    """What is estimated of each variable of the set: rates, then means."""
    for name, categories in wanted.rates.items():
        if absent == "error" or name in frame:
            yield _outcome_of_rate(frame, source, name, categories, absent)
    for name in wanted.means:
        if absent == "error" or name in frame:
            try:
                values = numbers_of(frame, name, may_lack_values=absent == "skip")[1][:, 0]
            except DataError:
                if absent == "error":
                    raise
                continue
            known = values[~np.isnan(values)]
            yield _Outcome("mean", name, values, shift=float(known.mean()) if len(known) else 0.0)


def _outcome_of_rate(
    frame: pd.DataFrame, source: pd.DataFrame, name: str, wanted: tuple[str, ...] | None, absent: str
) -> _Outcome:
    codes, labels = _labelled(frame, (name,), absent)
    code_of = {str(label): code for code, label in enumerate(labels)}
    known = list(code_of)
    if absent == "skip" and name in source:
        _, before = _labelled(source, (name,), absent)
        known = [*before] if {*known} <= {*before} else known
    unknown = [category for category in wanted or () if category not in code_of]
    if absent == "error" and unknown:
        place = f"category {(wanted or ()).index(unknown[0]) + 1} of those asked for"
        raise UnfitOptionError(f"rates: {shortened(name)}: no record has {place}; check how it is written")
    categories = [category for category in wanted or known if category in known]
    return _Outcome("rate", name, codes, {category: code_of.get(category, len(labels)) for category in categories})


def _labelled(frame: pd.DataFrame, names: tuple[str, ...], absent: str) -> tuple[np.ndarray, np.ndarray]:
    """The group of each record, -1 where it lacks a value of one of the columns, and the groups' labels, as text."""
    if not names:
        return np.zeros(len(frame), dtype=np.int64), np.array([""], dtype=object)
    columns, texts = [], []
    for name in names:
        column = coded(one_column(frame, name))
        numbers, distinct = pd.factorize(np.array([text_of(value) for value in column.values], dtype=object))
        columns.append(np.append(numbers, -1)[column.codes])
        texts.append(distinct)
    rows = np.column_stack(columns)
    group, some = distinct_rows(rows)
    crossed = [
        BETWEEN.join(text[code] for text, code in zip(texts, row)) if row.min() >= 0 else None for row in rows[some]
    ]
    numbers, labels = pd.factorize(np.array(crossed, dtype=object))
    if absent == "error" and not len(labels):
        raise DataError(f"no record has a value of {shortened(BETWEEN.join(names))}; leave it out")
    return numbers[group], labels


_ENDS = ("estimate", "lower", "upper")


def compare_indicators(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """Set the indicators of a released file beside those of the original, both with the same level.

    The overlap of two intervals is the mean of the two shares of their lengths that both cover: 1 for the same
    interval, 0 for two that do not meet (Karr, Kohnen, Oganian, Reiter and Sanil 2006, The American Statistician 60
    (3), 224-232). An interval of one point counts a half within another interval, and 1 beside the same point. Numbers
    beyond an end by rounding only (1e-9 of the length, or their last digits) count as inside.

    Returns
    -------
    DataFrame
        One row of `before` each, in its order: ``kind``, ``variable``, ``category``, ``by``, ``group``;
        ``estimate_before``, ``lower_before``, ``upper_before`` and the same ``_after``; ``difference`` (after less
        before); ``relative_difference`` (over the absolute value before; missing where that is 0); ``overlap`` (0-1;
        missing where an interval is); ``covered`` (whether the estimate after lies in the interval before); ``status``:
        ``compared``, or ``lost`` where `after` has no such row. Rows that only `after` has are left out.

    Examples
    --------
    >>> from kanon_lab.measures import indicators
    >>> frame = pd.DataFrame({"income": [10, 14, 20, 24]})
    >>> wanted = kanon_lab.measures.IndicatorSet(means="income")
    >>> before, after = indicators(frame, wanted), indicators(frame + 3, wanted)
    >>> kanon_lab.measures.compare_indicators(before, after)[["difference", "overlap", "covered", "status"]].round(4)
       difference  overlap  covered    status
    0         3.0   0.8484     True  compared
    """
    keys, columns = list(KEYS), [*KEYS, *_ENDS]
    for name, frame in (("before", before), ("after", after)):
        if not {*columns} <= {*frame.columns} or frame.duplicated(keys).any():
            raise OptionError(f"{name} must be what indicators gives, with one row per indicator and group")
    # Without rows there are no types to join by.
    first, second = (frame[columns].astype(dict.fromkeys(KEYS, object)) for frame in (before, after))
    rows = first.merge(second, on=keys, how="left", suffixes=("_before", "_after"), indicator="status")
    rows["status"] = np.where(rows["status"] == "both", "compared", "lost")
    figures = [f"{end}_{side}" for side in ("before", "after") for end in _ENDS]
    was, low, high, now, other_low, other_high = (rows[name].to_numpy(dtype=float) for name in figures)
    slack = ROUNDING * (high - low) + NOTHING * np.abs(was)
    covered = pd.array((low - slack <= now) & (now <= high + slack), dtype="boolean")
    covered[np.isnan(now) | np.isnan(low)] = pd.NA
    measured = {
        "difference": now - was,
        "relative_difference": (now - was) / np.where(was == 0, np.nan, np.abs(was)),
        "overlap": _overlap(low, high, other_low, other_high),
        "covered": covered,
    }
    return rows.assign(**measured)[[*keys, *figures, *measured, "status"]]


def indicator_loss(compared: pd.DataFrame) -> dict[str, Any]:
    """Summary of what a protection did to the indicators of a survey, from `compare_indicators`.

    Returns
    -------
    dict
        ``compared`` and ``lost`` (indicators, with an interval or not); ``overlap_mean`` and ``overlap_least`` (0-1),
        of those with an overlap; ``covered`` (0-1), the share of those for which it is known; ``overlap_all`` (0-1),
        the mean over all that had an interval before, where a lost indicator or interval counts as no overlap. None
        where there is no such indicator. Compare protections by ``overlap_all``: the others look better the more is
        lost.

    Examples
    --------
    >>> from kanon_lab.measures import indicators
    >>> frame = pd.DataFrame({"income": [10, 14, 20, 24]})
    >>> wanted = kanon_lab.measures.IndicatorSet(means="income")
    >>> before = indicators(frame, wanted)
    >>> kanon_lab.measures.indicator_loss(kanon_lab.measures.compare_indicators(before, before))
    {'compared': 1, 'lost': 0, 'overlap_all': 1.0, 'overlap_mean': 1.0, 'overlap_least': 1.0, 'covered': 1.0}
    """
    overlap, covered = compared["overlap"].dropna(), compared["covered"].dropna()
    counted = int(compared["lower_before"].notna().sum())
    return {
        "compared": int((compared["status"] == "compared").sum()),
        "lost": int((compared["status"] == "lost").sum()),
        "overlap_all": float(overlap.sum() / counted) if counted else None,
        "overlap_mean": float(overlap.mean()) if len(overlap) else None,
        "overlap_least": float(overlap.min()) if len(overlap) else None,
        "covered": float(covered.mean()) if len(covered) else None,
    }


def _overlap(low: np.ndarray, high: np.ndarray, other_low: np.ndarray, other_high: np.ndarray) -> np.ndarray:
    """Mean of the shares of two intervals' lengths that lie in the other; missing where an end is."""
    rounding = NOTHING * np.max(np.abs([low, high, other_low, other_high]), axis=0)
    common = np.minimum(high, other_high) - np.maximum(low, other_low)
    lengths = high - low, other_high - other_low
    slack = ROUNDING * np.maximum(*lengths) + rounding
    shares = []
    for length in lengths:
        point = length <= rounding
        share = np.clip(common, 0.0, None) / np.where(point, 1.0, length)
        shares.append(np.where(point, (common >= -slack).astype(float), share))
    return np.where(np.isnan(common), np.nan, (shares[0] + shares[1]) / 2)
