"""The inverse problem: cell sizes of a municipality from its printed anonymity table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kanon_lab.errors import OptionError
from kanon_lab.reconstruct.printed import PRINTED_SHAPE, printed_table


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """Cells found for one printed table.

    Attributes
    ----------
    cells : ndarray of int64, shape (cells,)
        Cell sizes in persons, ascending: a multiset, no labels.
    total : int
        Persons in all cells.
    printed : ndarray of int64, shape (3, 9)
        The table to reproduce: rows day, month, year; columns `PRINTED_RANGES`.
    found : ndarray of int64, shape (3, 9)
        The table that `cells` gives.
    rounds : int
        Rounds of search spent.
    seed : int
        Seed of the search.
    """

    cells: np.ndarray
    total: int
    printed: np.ndarray
    found: np.ndarray
    rounds: int
    seed: int

    @property
    def equal(self) -> int:
        """How many of the 27 figures are equal as printed."""
        return int((self.found == self.printed).sum())

    @property
    def persons_off(self) -> int:
        """Sum of the absolute differences from the printed figures, in persons."""
        return int(np.abs(self.found - self.printed).sum())


def reconstruct_cells(
    printed: np.ndarray,
    total: int,
    *,
    pyramid: np.ndarray,
    seed: int = 0,
    max_rounds: int = 12_000,
    progress: bool = False,
    label: str = "reconstruct",
) -> Reconstruction:
    """Find whole-number cell sizes that give a printed anonymity table.

    The total and the 27 figures are functions of the multiset of the cell sizes, so no more than the multiset can be
    found; many multisets give the same figures, and this is one of them.

    Parameters
    ----------
    printed : array of int, shape (3, 9)
        Persons as printed; rows day, month, year; columns `PRINTED_RANGES`.
    total : int
        Printed total of the municipality, 1 or more.
    pyramid : array, shape (cells,)
        Persons by cell of a reference population, up to scale: where the search starts, and how many cells there are.
    seed : int, optional
        Seed of the search, 0 or more: the same seed gives the same cells.
    max_rounds : int, optional
        Rounds of search before the best found is returned, 0 or more.
    progress : bool, optional
        Show a progress bar on standard error.
    label : str, optional
        What the progress bar is called.

    Returns
    -------
    Reconstruction
        Look at `equal`: 27 means that every figure is as printed.

    Raises
    ------
    OptionError
        If `printed` is not 3 x 9 or holds a negative figure, or `total` or `pyramid` cannot be used.

    References
    ----------
    Gil Bellosta, C. J. (2011). Microdatos y k-anonimidad: un enfoque cuantitativo en el contexto español. Cuadros 2-4.
    """
    from tqdm import tqdm

    from kanon_lab.reconstruct.search import Search

    printed, pyramid = _checked(printed, total, pyramid)
    search = Search(printed.ravel(), pyramid, total, seed)
    with tqdm(total=max_rounds, desc=label, disable=not progress, leave=False) as bar:
        cells, rounds = search.run(max_rounds, bar)
    return Reconstruction(
        cells=cells, total=total, printed=printed, found=printed_table(cells), rounds=rounds, seed=seed
    )


def _checked(printed: np.ndarray, total: int, pyramid: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    printed = np.asarray(printed)
    if printed.shape != PRINTED_SHAPE or not np.issubdtype(printed.dtype, np.integer) or printed.min() < 0:
        raise OptionError(f"printed: needs {PRINTED_SHAPE[0]} x {PRINTED_SHAPE[1]} whole numbers, none below 0")
    if total < 1:
        raise OptionError(f"total: a municipality has at least 1 person, not {total}")
    pyramid = np.asarray(pyramid, dtype=float)
    if pyramid.ndim != 1 or len(pyramid) < 2 or pyramid.min() < 0 or pyramid.sum() == 0:
        raise OptionError("pyramid: needs at least 2 cells, none below 0, not all of them 0")
    return printed.astype(np.int64), pyramid
