"""How much of a population its printed anonymity table gives away, and how much it leaves open."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from kanon_lab.errors import OptionError
from kanon_lab.reconstruct.inverse import Reconstruction
from kanon_lab.reconstruct.printed import Expectations, printed_table


def compare_cells(found: np.ndarray, real: np.ndarray) -> pd.DataFrame:
    """Set two multisets of cell sizes side by side, each in ascending order.

    Parameters
    ----------
    found, real : array of int, shape (cells,)
        Sizes in persons, in any order.

    Returns
    -------
    pandas.DataFrame
        One row per rank: rank (1 is the smallest), found, real, difference (found minus real; int64, persons).
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
    pandas.DataFrame
        One row per ordered pair of cells whose first is not empty: giver, taker (positions in `cells`), giver_persons,
        taker_persons (before the transfer), figures_changed (0 to 27) and persons_changed (sum of the absolute changes
        of the 27 figures). The table keeps silent on a transfer where figures_changed is 0.
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


def compare_reconstructions(reconstructions: Sequence[Reconstruction]) -> pd.DataFrame:
    """How far apart reconstructions of the same table are that differ in their seeds only.

    Parameters
    ----------
    reconstructions : sequence of Reconstruction
        Two or more, of the same municipality.

    Returns
    -------
    pandas.DataFrame
        One row per pair: seed_a, seed_b, equal_a, equal_b (figures equal as printed, of 27), cells_different (ranks at
        which the sizes differ), persons_moved (fewest persons to move to get from one to the other) and
        largest_difference (persons, at one rank).
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
