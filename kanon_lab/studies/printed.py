"""What a municipality's printed anonymity table is, what it gives away of the cells, and what it leaves open."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from kanon_lab.errors import DataError, OptionError
from kanon_lab.population import PERIODS, persons_by_k
from kanon_lab.population.law import CUADRO_2_RANGES

PRINTED_PERIODS = tuple(PERIODS.values())
PRINTED_RANGES = tuple((r.k_from, r.k_to) for r in CUADRO_2_RANGES if r.k_to is not None)
RANGE_WIDTHS = np.array([last - first + 1 for first, last in PRINTED_RANGES])
PRINTED_SHAPE = (len(PRINTED_PERIODS), len(PRINTED_RANGES))

_TABLES = ("Cuadro 2", "Cuadro 3", "Cuadro 4")  # day, month, year
_K_MAX = PRINTED_RANGES[-1][1]
_FIRST = np.array([first - 1 for first, _ in PRINTED_RANGES])


class Expectations:
    """Expected persons at k = 1..100 in cells of up to `largest` persons, computed once per size and kept."""

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
    the printed figures came about (Gil Bellosta 2011, Cuadros 2-4).

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

    Examples
    --------
    >>> from kanon_lab import studies
    >>> studies.printed_table([500, 800])[0]
    array([897, 330,  64,   8,   1,   0,   0,   0,   0])
    """
    cells = np.asarray(cells)
    expected = expectations or Expectations(int(cells.max(initial=0)))
    figures = sum_ranges(np.rint(expected(cells).sum(axis=-2))).astype(np.int64)
    return figures.reshape(*figures.shape[:-1], *PRINTED_SHAPE)


def printed_row(figures: pd.DataFrame, municipality: str) -> tuple[np.ndarray, int]:
    """One municipality's rows of Cuadros 2-4.

    Parameters
    ----------
    figures : DataFrame
        `published_figures` of ``gil-bellosta-2011``.
    municipality : str
        Its name as printed.

    Returns
    -------
    printed : ndarray of int64, shape (3, 9)
        Persons; rows day, month, year; columns `PRINTED_RANGES`.
    total : int
        Printed total, persons.

    Examples
    --------
    >>> from kanon_lab import studies
    >>> printed, total = studies.printed_row(studies.published_figures("gil-bellosta-2011"), "Benalmádena")
    >>> printed.shape, total
    ((3, 9), 61383)
    """
    rows = figures[(figures["row"] == municipality) & figures["table"].isin(_TABLES)]
    if rows.empty:
        raise DataError(f"{municipality}: not a municipality of {', '.join(_TABLES)}; write its name as printed there")
    wide = rows.pivot(index="table", columns="column", values="printed").loc[list(_TABLES)].astype("int64")
    bounds = [str(last) for _, last in PRINTED_RANGES]
    return wide[bounds].to_numpy(), int(wide["total"].iloc[0])


def compare_cells(found: np.ndarray, real: np.ndarray) -> pd.DataFrame:
    """Set two multisets of cell sizes side by side, each in ascending order.

    Parameters
    ----------
    found, real : array of int, shape (cells,)
        Sizes in persons, in any order.

    Returns
    -------
    DataFrame
        One row a rank: ``rank`` (1 is the smallest), ``found``, ``real``, ``difference`` (found minus real; persons).

    Examples
    --------
    >>> from kanon_lab import studies
    >>> studies.compare_cells([3, 1, 2], [2, 2, 2])["difference"].tolist()
    [-1, 0, 1]
    """
    found, real = np.sort(found), np.sort(real)
    if found.shape != real.shape:
        raise OptionError(f"cells: {len(found)} against {len(real)}; only as many can be compared")
    ranks = np.arange(1, len(found) + 1)
    return pd.DataFrame({"rank": ranks, "found": found, "real": real, "difference": found - real})


def one_person_transfers(cells: np.ndarray) -> pd.DataFrame:
    """What the printed table says of every transfer of one person from one cell to another.

    Parameters
    ----------
    cells : array of int, shape (cells,)
        Sizes in persons.

    Returns
    -------
    DataFrame
        One row an ordered pair of cells whose first is not empty: ``giver``, ``taker`` (positions), ``giver_persons``,
        ``taker_persons`` (before it), ``figures_changed`` (0 to 27; 0 where the table keeps silent) and
        ``persons_changed`` (sum of the absolute changes of the 27 figures).

    Examples
    --------
    >>> from kanon_lab import studies
    >>> studies.one_person_transfers([10, 500])["figures_changed"].tolist()
    [6, 6]
    """
    cells = np.asarray(cells)
    giver, taker = (part.ravel() for part in np.indices((len(cells), len(cells))))
    possible = (giver != taker) & (cells[giver] > 0)
    giver, taker = giver[possible], taker[possible]
    moved = np.repeat(cells[None], len(giver), axis=0)
    rows = np.arange(len(giver))
    moved[rows, giver] -= 1
    moved[rows, taker] += 1
    expectations = Expectations(int(cells.max()) + 1)
    change = (printed_table(moved, expectations) - printed_table(cells, expectations)).reshape(len(giver), -1)
    return pd.DataFrame(
        {
            "giver": giver,
            "taker": taker,
            "giver_persons": cells[giver],
            "taker_persons": cells[taker],
            "figures_changed": (change != 0).sum(axis=1),
            "persons_changed": np.abs(change).sum(axis=1),
        }
    )


def compare_reconstructions(reconstructions: Sequence) -> pd.DataFrame:
    """How far apart reconstructions of the same table are that differ in their seeds only.

    Parameters
    ----------
    reconstructions : sequence of Reconstruction
        Two or more, of the same municipality.

    Returns
    -------
    DataFrame
        One row a pair: ``seed_a``, ``seed_b``, ``equal_a``, ``equal_b`` (figures equal as printed, of 27),
        ``cells_different`` (ranks at which sizes differ), ``persons_moved`` (fewest persons to move to get from one to
        the other) and ``largest_difference`` (persons, at one rank).
    """
    rows = []
    for a, b in combinations(reconstructions, 2):
        difference = compare_cells(a.cells, b.cells)["difference"].abs()
        rows.append(
            {
                "seed_a": a.seed,
                "seed_b": b.seed,
                "equal_a": a.equal,
                "equal_b": b.equal,
                "cells_different": int((difference > 0).sum()),
                "persons_moved": int(difference.sum()) // 2,
                "largest_difference": int(difference.max()),
            }
        )
    return pd.DataFrame(rows)
