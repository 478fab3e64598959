"""How the records of a file are spread over classes of different sizes."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from kanon_lab.classes.table import ClassTable
from kanon_lab.population.ranges import KRange, as_ranges

SIZE_RANGES = "1,2,3-4,5-9,10-19,20+"


def size_ranges(table: ClassTable, *, ranges: str | Iterable[KRange] = SIZE_RANGES) -> pd.DataFrame:
    """Classes and records by the size f_k of their class.

    Parameters
    ----------
    table : ClassTable
    ranges : str or iterable of KRange
        Ranges of sizes such as ``"1,2,3-4,5+"``. Each is counted on its own: they may overlap or leave gaps.

    Returns
    -------
    DataFrame
        One row a range, in the order given: ``size_from``, ``size_to`` (missing where open), ``label``, ``classes``,
        ``records`` and ``share`` (of the file's records, 0-1).

    Raises
    ------
    OptionError
        A range that is none.
    """
    rows = []
    for each in as_ranges(ranges):
        here = (table.f_k >= each.k_from) & (each.k_to is None or table.f_k <= each.k_to)
        records = int(table.records[here].sum())
        rows.append((each.k_from, each.k_to, each.label, int(here.sum()), records, records / table.n))
    frame = pd.DataFrame(rows, columns=["size_from", "size_to", "label", "classes", "records", "share"])
    return frame.astype({"size_to": "Int64"})
