"""What the study's simplifications do to its results: each undone, with the same population."""

from __future__ import annotations

import numpy as np
import pandas as pd

from kanon_lab.data import load_counts
from kanon_lab.population import PERIODS, anonymity, persons_by_k
from kanon_lab.studies.gil_bellosta.facts import oldest

#: What is undone, by the date known.
UNDONE = {
    "those over 85 have their real ages": ("day", "month", "year"),
    "a fifth fewer births on Saturdays and Sundays": ("day",),
    "months have their real lengths": ("month",),
    "years have their real lengths": ("year",),
}
_OPEN = "85+"
_WEEKEND = 0.8
# One leap day in five years, as in the study's 1,826 days.
_MONTHS = np.array([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] * 5) + (np.arange(60) == 1)


def assumptions(counts: pd.DataFrame | None = None, alone: pd.DataFrame | None = None) -> pd.DataFrame:
    """How many persons more or fewer are alone when one of the study's simplifications is undone.

    Parameters
    ----------
    counts : DataFrame, optional
        A counts frame whose last age group is ``85+``; by default the embedded ``spain-2010``.
    alone : DataFrame, optional
        What `anonymity` gives for these counts at k = 1, for all dates; computed where absent.

    Returns
    -------
    DataFrame
        Index ``undone`` and ``dates`` (`UNDONE`); columns ``persons`` (alone with the simplification), ``change``
        (persons more without it), ``half_width`` (of the 95 per cent interval of the first) and ``half_widths`` (the
        change in those).

    Notes
    -----
    INE counts the nation's persons of 85 and over in groups of five years up to 100 and over. Within each sex, every
    person of a cell 85+ falls in one of these groups with the nation's share of it, and within it on any date: the law
    of unequal birth probabilities with as many periods more.
    """
    counts = load_counts("spain-2010") if counts is None else counts
    alone = anonymity(counts, dates=PERIODS, ranges="1") if alone is None else alone
    alone = alone.set_index("dates")
    rows = []
    for undone, dates in UNDONE.items():
        for date in dates:
            change = _change(counts, undone, date)
            rows.append((undone, date, alone.at[date, "persons"], change, alone.at[date, "half_width"]))
    frame = pd.DataFrame(rows, columns=["undone", "dates", "persons", "change", "half_width"])
    frame["half_widths"] = frame["change"] / frame["half_width"]
    return frame.set_index(["undone", "dates"])


def _change(counts: pd.DataFrame, undone: str, date: str) -> float:
    if undone.startswith("those over 85"):
        is_open = counts["age_group"] == _OPEN
        changes = []
        for sex, persons in oldest().groupby("sex"):
            cells = counts.loc[is_open & (counts["sex"] == sex), "persons"]
            shares = persons.to_numpy() / persons.sum()
            law = np.repeat(shares, PERIODS[date]) / PERIODS[date]
            changes.append(_alone(cells, law) - _alone(cells, PERIODS[date]))
        return sum(changes)
    if undone.startswith("a fifth fewer"):
        weights = np.where(np.arange(PERIODS["day"]) % 7 >= 5, _WEEKEND, 1.0)
    else:
        weights = _MONTHS if date == "month" else _MONTHS.reshape(5, 12).sum(axis=1)
    return _alone(counts["persons"], weights / weights.sum()) - _alone(counts["persons"], PERIODS[date])


def _alone(cells: pd.Series, law: int | np.ndarray) -> float:
    """Expected persons alone in cells of so many persons."""
    sizes, times = np.unique(cells, return_counts=True)
    return float(times @ persons_by_k(sizes, law, 1)[:, 0])
