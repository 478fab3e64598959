"""What a printed anonymity table says: Cuadros 2-4 of Gil Bellosta (2011) as a function of the cells behind them.

A row of the Cuadros prints, for three precisions of the date of birth, how many persons of a municipality are expected
to be 1, 2, 3, 4, 5, 6-10, 11-20, 21-50 and 51-100 alike: 27 bounded figures. (The open range ">100" follows no rule
that fits every row, so it is not used.)
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from kanon_lab.errors import DataError
from kanon_lab.population import CUADRO_2_RANGES, PERIODS, persons_by_k

PRINTED_PERIODS = tuple(PERIODS.values())
PRINTED_RANGES = tuple((r.k_from, r.k_to) for r in CUADRO_2_RANGES if r.k_to is not None)
RANGE_WIDTHS = np.array([last - first + 1 for first, last in PRINTED_RANGES])
PRINTED_SHAPE = (len(PRINTED_PERIODS), len(PRINTED_RANGES))

_TABLES = ("Cuadro 2", "Cuadro 3", "Cuadro 4")  # day, month, year
_K_MAX = PRINTED_RANGES[-1][1]
_FIRST = np.array([first - 1 for first, _ in PRINTED_RANGES])


class Expectations:
    """Expected persons at k = 1..100 in a cell, computed once per size and kept.

    Parameters
    ----------
    largest : int
        Largest size that will be asked for, in persons.
    """

    def __init__(self, largest: int):
        self._row_of = np.full(largest + 1, -1)
        self._count = 0
        self._rows = np.empty((0, len(PRINTED_PERIODS) * _K_MAX))

    def __call__(self, sizes: np.ndarray) -> np.ndarray:
        """Persons at each k, shape sizes.shape + (300,): day k = 1..100, then month, then year."""
        rows = self._row_of[sizes]
        if rows.min(initial=0) < 0:
            self._add(np.unique(sizes[rows < 0]))
            rows = self._row_of[sizes]
        return self._rows[rows]

    def _add(self, sizes: np.ndarray) -> None:
        parts = [persons_by_k(sizes, periods, _K_MAX) for periods in PRINTED_PERIODS]
        count = self._count + len(sizes)
        if count > len(self._rows):  # room for as many again, so that growing stays cheap
            self._rows = np.vstack([self._rows[: self._count], np.empty((count, self._rows.shape[1]))])
        self._rows[self._count : count] = np.concatenate(parts, axis=1)
        self._row_of[sizes] = np.arange(self._count, count)
        self._count = count


def sum_ranges(persons: np.ndarray) -> np.ndarray:
    """Sum persons per k, shape (..., 300), into the printed ranges, shape (..., 27)."""
    by_k = persons.reshape(*persons.shape[:-1], len(PRINTED_PERIODS), _K_MAX)
    return np.add.reduceat(by_k, _FIRST, axis=-1).reshape(*persons.shape[:-1], -1)


def printed_table(cells: np.ndarray, expectations: Expectations | None = None) -> np.ndarray:
    """The 27 bounded figures that Cuadros 2-4 would print for a municipality with these cells.

    The expected persons of the municipality are rounded for every single k and then summed into ranges, which is how
    the printed figures came about.

    Parameters
    ----------
    cells : array of int, shape (..., cells)
        Cell sizes in persons, each 0 or more; the order does not matter.
    expectations : Expectations, optional
        To be reused over many calls.

    Returns
    -------
    ndarray of int64, shape (..., 3, 9)
        Persons; rows day, month, year; columns `PRINTED_RANGES`.

    References
    ----------
    Gil Bellosta, C. J. (2011). Microdatos y k-anonimidad: un enfoque cuantitativo en el contexto español. Cuadros 2-4.
    """
    cells = np.asarray(cells)
    expected = expectations or Expectations(int(cells.max(initial=0)))
    figures = sum_ranges(np.rint(expected(cells).sum(axis=-2))).astype(np.int64)
    return figures.reshape(*figures.shape[:-1], *PRINTED_SHAPE)


def printed_row(figures: pd.DataFrame, municipality: str) -> tuple[np.ndarray, int]:
    """One municipality's rows of Cuadros 2-4.

    Parameters
    ----------
    figures : pandas.DataFrame
        Published figures: columns table, row, column and printed (str), as in the package's transcription.
    municipality : str
        Its name as printed.

    Returns
    -------
    printed : ndarray of int64, shape (3, 9)
        Persons; rows day, month, year; columns `PRINTED_RANGES`.
    total : int
        Printed total, persons.

    Raises
    ------
    DataError
        If the Cuadros have no such municipality.
    """
    rows = figures[(figures["row"] == municipality) & figures["table"].isin(_TABLES)]
    if rows.empty:
        raise DataError(f"{municipality}: not a municipality of {', '.join(_TABLES)}; write its name as printed there")
    wide = rows.pivot(index="table", columns="column", values="printed").loc[list(_TABLES)].astype("int64")
    bounds = [str(last) for _, last in PRINTED_RANGES]
    return wide[bounds].to_numpy(), int(wide["total"].iloc[0])
