"""Labels for reconstructed cells: which sex and age group each size is given to.

A printed anonymity table is the same for every order of the cells, so labels cannot be recovered; they are *assigned*,
by one rule.
"""

from __future__ import annotations

import numpy as np

from kanon_lab.errors import OptionError


def assign_labels(cells: np.ndarray, pyramid: np.ndarray) -> np.ndarray:
    """Order cell sizes so that they come closest to a scaled pyramid.

    The rule: the largest size goes to the largest group of the pyramid, the next to the next, and so on. By the
    rearrangement inequality no other order has a smaller sum of squared (or absolute) differences from the pyramid
    scaled to the municipality's total. Groups of equal size are taken in the pyramid's order.

    Parameters
    ----------
    cells : array of int, shape (cells,)
        Sizes in any order, persons.
    pyramid : array, shape (cells,)
        Reference population, persons per labelled cell; its scale does not matter.

    Returns
    -------
    ndarray of int64, shape (cells,)
        The sizes in the pyramid's order. The labels are assigned, not recovered.

    Raises
    ------
    OptionError
        If the two have different lengths.
    """
    cells, pyramid = np.asarray(cells), np.asarray(pyramid)
    if cells.shape != pyramid.shape or cells.ndim != 1:
        raise OptionError(f"cells: {cells.shape} sizes for {pyramid.shape} groups; they must be as many")
    labelled = np.empty(len(cells), dtype=np.int64)
    labelled[np.argsort(pyramid, kind="stable")] = np.sort(cells)
    return labelled
