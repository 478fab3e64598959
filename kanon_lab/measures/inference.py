"""Guesses of a sensitive value by an outsider who finds the class of a record, beside guesses without the class."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum

import numpy as np
import pandas as pd

from kanon_lab.classes import ClassTable, ValueCounts
from kanon_lab.columns import coded


@dataclass(frozen=True)
class Guesses:
    """How likely the value of each row with a known one is guessed: arrays of 0-1, shape (rows,).

    Attributes
    ----------
    right, margins : ndarray
        By who takes the most frequent value of the class, or of the whole file; any of several equally frequent ones.
    drawn, others : ndarray
        By who takes the value of a record of the class that is drawn at random, itself included or not. Where nobody
        else is in the class, the others are those of the whole file. Where persons are counted, each value that a
        person has in the class counts once, and itself is this value of the person: what else the person has stays.
    records : ndarray
        Records of each row.
    """

    right: np.ndarray
    margins: np.ndarray
    drawn: np.ndarray
    others: np.ndarray
    records: np.ndarray

    def share(self, guesses: np.ndarray) -> float | None:
        """Mean over records, 0-1; None without a known value."""
        # Summed exactly, so that it is the same for any order of the records.
        return fsum(guesses * self.records) / float(self.records.sum()) if len(guesses) else None

    @property
    def beyond_margins(self) -> float | None:
        """Share of records guessed rightly by their class, less that by the most frequent value of the file."""
        return self.share(self.right - self.margins)

    @property
    def beyond_others(self) -> float | None:
        """How much more often a value drawn from the class is right because the record is in the file: 0-1.

        Where persons are counted: because of the records of the person that have this value, not of all its records.
        """
        return self.share(self.drawn - self.others)


def guesses_of(table: ClassTable, variable: str | pd.Series) -> Guesses:
    """Guess a sensitive value of every record by its class, by its class without it, and by the file.

    A missing value is left out under the policy ``wildcard`` and is a value under ``category``.

    Parameters
    ----------
    variable : str or Series
        A sensitive or numeric variable of the table's spec, or a Series with one value a record.

    Notes
    -----
    What a class tells beyond the file's margins includes what the other records of the class tell: that those of an
    age share an illness. What it tells beyond the others is owed to the record itself. There a value is drawn, since
    in an even class of any size a single record makes its value the most frequent one. Of a person with several records
    the other values stay among the others, though they would not be there without the person: where values of a person
    agree more than those of different persons, less is owed to a record than to the whole person.

    Examples
    --------
    >>> frame = pd.DataFrame({"age": [30, 30, 41, 41, 41], "illness": ["flu", "none", "none", "none", "none"]})
    >>> table = kanon_lab.class_table(frame, kanon_lab.KeySpec("age", sensitive_variables="illness"))
    >>> guesses = kanon_lab.measures.guesses_of(table, "illness")
    >>> guesses.right.tolist(), guesses.margins.tolist()
    ([0.5, 0.5, 1.0, 1.0, 1.0], [0.0, 1.0, 1.0, 1.0, 1.0])
    >>> guesses.drawn.tolist(), guesses.others.tolist()
    ([0.5, 0.5, 1.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0, 1.0])
    """
    counts = table.sensitive_counts(variable)
    value, known = values_of_rows(table, variable, counts)
    records = np.ones(len(known)) if table.records_of_row is None else table.records_of_row[known].astype(float)
    return guessed(counts, table.class_of_row[known], value, records)


def values_of_rows(table: ClassTable, variable: str | pd.Series, counts: ValueCounts) -> tuple[np.ndarray, np.ndarray]:
    """The position in `counts` of the value of each row that has one, and which rows these are."""
    codes = coded(table.column(variable)).codes
    if table.spec.missing == "category":
        codes = np.where(codes < 0, len(counts.values) - 1, codes)
    known = np.flatnonzero(codes >= 0)
    return codes[known], known


def guessed(counts: ValueCounts, class_: np.ndarray, value: np.ndarray, records: np.ndarray) -> Guesses:
    """Guesses of rows of so many records, from the counts of the class of each."""
    m, n = len(counts.values), counts.overall.sum()
    at = np.searchsorted(counts.class_ * np.int64(m) + counts.value, class_ * np.int64(m) + value)
    of_row = counts.row[at]
    top = counts.largest(counts.count)
    ties = counts.sums((counts.count == top[counts.row]).astype(np.int64))
    same, known, overall = counts.count[at], counts.known[of_row], counts.overall[value]
    is_most = counts.overall == counts.overall.max(initial=0)
    alone = known == 1
    others = np.where(alone, (overall - 1) / max(n - 1, 1), (same - 1) / np.maximum(known - 1, 1))
    return Guesses(
        np.where(same == top[of_row], 1 / ties[of_row], 0.0),
        is_most[value] / np.count_nonzero(is_most),
        same / known,
        others,
        records,
    )
