"""The survey's own indicators: weighted rates and means of its groups, with intervals from its design."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from kanon_lab.arguments import check_choice
from kanon_lab.classes.coding import coded, distinct_rows
from kanon_lab.errors import DataError, UnfitOptionError, shortened
from kanon_lab.recode.columns import one_column
from kanon_lab.risk.paired import numbers_of
from kanon_lab.utility.design import Survey, domains, mean_interval, rate_interval, ratios, read_survey
from kanon_lab.utility.wanted import BETWEEN, IndicatorSet, text_of

#: What names an indicator.
KEYS = ("kind", "variable", "category", "by", "group")
_FIGURES = ("records", "population", "estimate", "se", "lower", "upper", "df", "lone_strata")


@dataclass(frozen=True)
class _Labelled:
    """A column as text, making the groups of a file or the categories of a variable; -1 where a record has no label."""

    name: str
    codes: np.ndarray
    labels: np.ndarray


@dataclass(frozen=True)
class _Outcome:
    """What is estimated of a variable: each category (empty for a mean) with the value of every record."""

    kind: str
    variable: str
    known: np.ndarray
    shift: float
    values: Callable[[], Iterator[tuple[str, np.ndarray]]]


def indicators(
    frame: pd.DataFrame,
    wanted: IndicatorSet,
    *,
    design_from: pd.DataFrame | None = None,
    absent: str = "error",
) -> pd.DataFrame:
    """Estimate rates and means in the whole file and in groups, with intervals from the survey's design.

    Records without a value of the variable are left out, as are those without one of the variables that make the
    groups. Every estimate is of a part of the full design; see `kanon_lab.utility.design.ratios`. A group of
    few records gives their values away: these figures are for the office, until they are checked as tables are.

    Parameters
    ----------
    frame : DataFrame
        One row a record. Not changed.
    wanted : IndicatorSet
        Which rates and means, of which groups.
    design_from : DataFrame, optional
        Where to read the design, under the same index; for a released file the original, since the release may lack the
        design or have changed it.
    absent : {"error", "skip"}
        What becomes of a variable or category that is not there, or of a mean of what is no quantity: it is refused or
        has no row. With ``skip`` a category that only `design_from` has is estimated too, as 0, as long as all
        categories there are were in `design_from` also: else the variable was recoded.

    Returns
    -------
    DataFrame
        One row an indicator and group with a record: ``kind`` (``rate`` or ``mean``), ``variable``, ``category`` (empty
        for a mean), ``by`` (names between " x "; empty for the whole file), ``group`` (values between " x "),
        ``records`` (with a value), ``population`` (sum of their weights), ``estimate`` (0-1 for a rate), ``se``,
        ``lower``, ``upper``, ``df`` (units less strata, of those with such records), ``lone_strata`` (of these strata,
        those with one sampling unit). Where ``df`` is 0, as in a group within one unit, ``se`` and the interval are
        missing: nothing tells the error. Where ``se`` is 0 the interval is the estimate alone, but for a rate of 0 or
        1; see `kanon_lab.utility.design.rate_interval`.

    Examples
    --------
    >>> import kanon_lab
    >>> from kanon_lab.utility import indicators
    >>> frame = pd.DataFrame({"sex": list("ffmm"), "income": [10, 14, 20, 24], "weight": [1, 3, 1, 1]})
    >>> design = kanon_lab.utility.Design("weight")
    >>> wanted = kanon_lab.utility.IndicatorSet(means="income", by=["sex"], design=design)
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
    survey = read_survey(source, wanted.design)
    made = [names for names in ((), *wanted.by) if absent == "error" or {*names} <= {*frame.columns}]
    groupings = [_labelled(frame, names) for names in made]
    if absent == "error":
        _refuse_empty(groupings)
    rows: dict[str, list] = {name: [] for name in (*KEYS, *_FIGURES)}
    for outcome in _outcomes(frame, source, wanted, absent):
        for grouping in groupings:
            _add(rows, survey, outcome, grouping, wanted.level)
    return pd.DataFrame({name: np.concatenate(parts) if parts else [] for name, parts in rows.items()})


def _add(rows: dict[str, list], survey: Survey, outcome: _Outcome, grouping: _Labelled, level: float) -> None:
    """Add the estimates of one variable in the groups that have records with a value of it."""
    within = domains(survey, np.where(outcome.known, grouping.codes, -1), len(grouping.labels))
    some = within.records > 0
    for category, values in outcome.values():
        estimate, se = ratios(within, values, shift=outcome.shift)
        if outcome.kind == "rate":
            lower, upper = rate_interval(estimate, se, within.df, within.units, level)
        else:
            lower, upper = mean_interval(estimate, se, within.df, level)
        figures = (within.records, within.population, estimate, se, lower, upper, within.df, within.lone)
        names = (outcome.kind, outcome.variable, category, grouping.name)
        for key, text in zip(KEYS, names):
            rows[key].append(np.full(int(some.sum()), text, dtype=object))
        rows["group"].append(grouping.labels[some])
        for name, column in zip(_FIGURES, figures):
            rows[name].append(column[some])


def _outcomes(frame: pd.DataFrame, source: pd.DataFrame, wanted: IndicatorSet, absent: str) -> Iterator[_Outcome]:
    for name, categories in wanted.rates.items():
        if absent == "error" or name in frame:
            yield _outcome_of_rate(frame, source, name, categories, absent)
    for name in wanted.means:
        if absent == "error" or name in frame:
            try:
                yield _outcome_of_mean(frame, name, absent)
            except DataError:
                if absent == "error":
                    raise


def _outcome_of_rate(
    frame: pd.DataFrame, source: pd.DataFrame, name: str, wanted: tuple[str, ...] | None, absent: str
) -> _Outcome:
    found = _labelled(frame, (name,))
    if absent == "error":
        _refuse_empty([found])
    there = [str(label) for label in found.labels]
    known = there
    if absent == "skip" and name in source:
        before = _labelled(source, (name,)).labels
        known = list(dict.fromkeys([*before, *there])) if {*there} <= {*before} else there
    unknown = [category for category in wanted or () if category not in there]
    if absent == "error" and unknown:
        raise UnfitOptionError(
            f"rates: {shortened(name)}: no record has category {shortened(unknown[0])}; check how it is written"
        )
    categories = [category for category in wanted or known if category in known]
    number = {label: code for code, label in enumerate(there)}

    def values() -> Iterator[tuple[str, np.ndarray]]:
        for category in categories:
            yield category, (found.codes == number.get(category, len(there))).astype(float)

    return _Outcome("rate", name, found.codes >= 0, 0.0, values)


def _outcome_of_mean(frame: pd.DataFrame, name: str, absent: str) -> _Outcome:
    values = numbers_of(frame, name, may_lack_values=absent == "skip")[1][:, 0]
    known = ~np.isnan(values)
    shift = float(values[known].mean()) if known.any() else 0.0
    return _Outcome("mean", name, known, shift, lambda: iter([("", values)]))


def _labelled(frame: pd.DataFrame, names: tuple[str, ...]) -> _Labelled:
    """Groups of records with the same values, as text, of all of some columns; without columns all records are one."""
    if not names:
        return _Labelled("", np.zeros(len(frame), dtype=np.int64), np.array([""], dtype=object))
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
    return _Labelled(BETWEEN.join(names), numbers[group], labels)


def _refuse_empty(columns: list[_Labelled]) -> None:
    for column in columns:
        if not len(column.labels):
            raise DataError(f"no record has a value of {shortened(column.name)}; leave it out")
