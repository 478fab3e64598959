"""The ages of the guide's survey: their three lost counts, the bands of Bloques 8.2 and 8.3, and rounding to tens.

The counts of single ages stand in three lines of section 8.2.1.3. Of the third line, for ages 67 to 91, three are
lost. What is left of it stands in order; the printed bands and the rounded counts then leave few ways to fill the gaps.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations

import numpy as np
import pandas as pd

from kanon_lab.recode import cut_bands, round_values
from kanon_lab.studies.ine_chile.printed import counts

RAW, EQUAL, UNEQUAL = "Ages (8.2.1.3)", "Bloque 8.2", "Bloque 8.3"
#: The first age whose count may be lost.
FIRST_LOST = 67
#: Edges of the bands; the guide cuts them closed on the right.
EDGES = {EQUAL: tuple(range(0, 101, 10)), UNEQUAL: (0, 5, 11, 17, 21, 25, 49, 65, 100)}
#: What the text calls the bands of Bloque 8.3.
GROUPS = ("1-5", "6-11", "12-17", "18-21", "22-25", "26-49", "50-64", "65+")

# The ages above the third line.
_THIRD = (*range(FIRST_LOST, 89), 90, 91)


def recoded(ages: pd.Series) -> pd.DataFrame:
    """Ages as the guide recodes them.

    Parameters
    ----------
    ages : Series of int

    Returns
    -------
    DataFrame
        Under the index of `ages`: the band that Bloque 8.2 and Bloque 8.3 put it in, and the ten that section 8.2.1.3
        rounds it to (all text). Half-way ages go to the even ten.
    """
    bands = {name: cut_bands(ages, bands=edges, closed="right", labels=_labels(edges)) for name, edges in EDGES.items()}
    return pd.DataFrame({**bands, RAW: round_values(ages, base=10).astype(str)})


def frequencies(persons: pd.Series) -> dict[str, pd.Series]:
    """Persons by the recoded ages of `recoded`.

    Parameters
    ----------
    persons : Series of int
        Persons, under their age.

    Returns
    -------
    dict of str to Series
        For each table the persons under each of its labels; a band without persons has 0.
    """
    found = {}
    for name, labels in recoded(persons.index.to_series()).items():
        sums = persons.groupby(labels).sum()
        found[name] = sums.reindex(_labels(EDGES[name]), fill_value=0) if name in EDGES else sums
    return found


def completions() -> pd.DataFrame:
    """Every way to fill the three gaps of the third line that gives all printed bands and rounded counts.

    Returns
    -------
    DataFrame
        Index ``age``; one column a way: persons (int). The counts that are left keep their order, and every age that
        is named has somebody.
    """
    return _completions().copy()


@lru_cache
def _completions() -> pd.DataFrame:
    raw = counts(RAW, "persons")
    third = raw.index.str.startswith("third")
    known = raw[~third].rename(index=int)
    ways, rest = _fillings(raw[third].to_numpy(), len(_THIRD)), known.reindex(known.index.union(_THIRD), fill_value=0)
    fits = np.ones(len(ways), dtype=bool)
    labels = recoded(rest.index.to_series())
    for name in labels:
        column = "rounded to tens" if name == RAW else "persons"
        for label, printed in counts(name, column).items():
            here = (labels[name] == label).to_numpy()
            # Lines one and two alone fall short of the printed count by what the third has to give.
            fits &= ways[:, here[-len(_THIRD) :]].sum(axis=1) == printed - rest[here].sum()
    whole = np.column_stack([np.tile(known, (fits.sum(), 1)), ways[fits]])
    return pd.DataFrame(np.unique(whole, axis=0).T, index=rest.index.rename("age"))


def _fillings(left: np.ndarray, places: int) -> np.ndarray:
    """The counts that are left, in order, with every choice of places and small counts for those that are lost."""
    lost = places - len(left)
    total = counts(UNEQUAL, "persons").iloc[-1] - counts(RAW, "persons").loc["66"] - left.sum()
    # All counts of one or more that add up to what is missing in the last band.
    cuts = np.array(list(combinations(range(1, total), lost - 1)))
    values = np.diff(cuts, axis=1, prepend=0, append=total)
    gaps = np.array(list(combinations(range(places), lost)))
    filled = np.empty((len(gaps), len(values), places), dtype=np.int64)
    for gap, rows in zip(gaps, filled, strict=True):
        rows[:, gap] = values
        rows[:, np.delete(np.arange(places), gap)] = left
    return filled.reshape(-1, places)


def _labels(edges: tuple[int, ...]) -> list[str]:
    return [f"({low},{high}]" for low, high in zip(edges, edges[1:], strict=False)]
