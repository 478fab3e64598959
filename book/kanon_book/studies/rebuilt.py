"""Rebuilt cells of a municipality beside the real ones, and beside a guess that knows no more than the total."""

from __future__ import annotations

import numpy as np
import pandas as pd

from kanon_book.studies.inverse import apportion
from kanon_lab.errors import OptionError


def beside_guess(real: np.ndarray, sizes: np.ndarray, pyramid: np.ndarray) -> pd.DataFrame:
    """The real cells of a municipality, the rebuilt ones, and the total spread over a pyramid, cell by cell.

    Parameters
    ----------
    real : array of int, shape (cells,)
        Persons of each cell, 0 or more, at least one in all.
    sizes : array of int, shape (cells,)
        Rebuilt sizes, in any order: `reconstruct_cells` finds no more.
    pyramid : array, shape (cells,)
        Persons of the same cells in a larger population. The rebuilt sizes get their names by it: the largest one is
        given to its largest cell, and so on.

    Returns
    -------
    DataFrame
        One row a cell, in the order of `real`: ``real``, ``rebuilt``, ``guess`` (the total spread over the pyramid) and
        ``renamed`` (the real sizes, named as the rebuilt ones: what no search for sizes can pass); and one row a rank,
        beside it: ``real_size``, ``rebuilt_size``, ``guess_size``, each ascending.

    Examples
    --------
    >>> kanon_book.studies.beside_guess([5, 1, 3], [1, 4, 4], [60, 30, 10])[['real', 'rebuilt', 'guess']]
       real  rebuilt  guess
    0     5        4      5
    1     1        4      3
    2     3        1      1
    """
    real, sizes, pyramid = (np.asarray(part) for part in (real, sizes, pyramid))
    if not real.shape == sizes.shape == pyramid.shape:
        raise OptionError(
            f"real, sizes, pyramid: {len(real)}, {len(sizes)}, {len(pyramid)} cells; need as many of each"
        )
    place = np.argsort(np.argsort(pyramid, kind="stable"), kind="stable")
    guess = apportion(int(real.sum()), pyramid)
    named = {"rebuilt": np.sort(sizes)[place], "guess": guess, "renamed": np.sort(real)[place]}
    ranked = {"real_size": np.sort(real), "rebuilt_size": np.sort(sizes), "guess_size": np.sort(guess)}
    return pd.DataFrame({"real": real, **named, **ranked})


def improvement(cells: pd.DataFrame) -> pd.Series:
    """Errors of rebuilt cells and of the guess: means over the rows of one or several frames of `beside_guess`.

    Returns
    -------
    Series
        Mean absolute errors in persons: ``size_guess``, ``size_rebuilt``, ``guess``, ``rebuilt``, ``renamed`` (the last
        three with names). Shares of cells, 0-1: ``exact_guess``, ``exact_rebuilt`` (with names, to the person),
        ``size_exact_guess``, ``size_exact_rebuilt``, ``nearer`` and ``further`` (rebuilt than guess, with names).

    Examples
    --------
    >>> cells = kanon_book.studies.beside_guess([5, 1, 3], [1, 4, 4], [60, 30, 10])
    >>> kanon_book.studies.improvement(cells)[['size_guess', 'size_rebuilt', 'exact_guess']].round(2).tolist()
    [0.0, 0.67, 0.33]
    """
    off = {name: (cells[name] - cells["real"]).abs() for name in ("guess", "rebuilt", "renamed")}
    sized = {name: (cells[f"{name}_size"] - cells["real_size"]).abs() for name in ("guess", "rebuilt")}
    means = {name: miss.mean() for name, miss in off.items()}
    means |= {f"size_{name}": miss.mean() for name, miss in sized.items()}
    means |= {f"exact_{name}": (off[name] == 0).mean() for name in ("guess", "rebuilt")}
    means |= {f"size_exact_{name}": (miss == 0).mean() for name, miss in sized.items()}
    means |= {"nearer": (off["rebuilt"] < off["guess"]).mean(), "further": (off["rebuilt"] > off["guess"]).mean()}
    return pd.Series(means)
