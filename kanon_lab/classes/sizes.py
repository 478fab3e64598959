"""How the records of a file are spread over classes of different sizes."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from kanon_lab.classes.table import ClassTable
from kanon_lab.population.ranges import KRange, as_ranges

SIZE_RANGES = "1,2,3-4,5-9,10-19,20+"


def size_ranges(table: ClassTable, *, ranges: str | Iterable[KRange] = SIZE_RANGES) -> pd.DataFrame:
    """Records by the size of their own class, and by how many records are compatible with them.

    The two differ only where keys are missing under the policy ``wildcard``: three records of a class of their own,
    each of which misses the sex, may have fifty compatible records. They are counted apart, since the classes of
    neither have the records of the other.

    Parameters
    ----------
    ranges : str or iterable of KRange
        Ranges of sizes such as ``"1,2,3-4,5+"``. Each is counted on its own: they may overlap or leave gaps.

    Returns
    -------
    DataFrame
        One row a range: ``size_from``, ``size_to`` (missing where open), ``label``; ``classes``, ``records`` and
        ``share`` (0-1): classes of so many records with exactly the same key values, a missing one being a value of its
        own, and the records in them; ``compatible`` and ``compatible_share``: the records with f_k in the range.

    Examples
    --------
    >>> import kanon_lab
    >>> table = kanon_lab.class_table(pd.DataFrame({"age": [30, 30, 41]}), "age")
    >>> kanon_lab.classes.size_ranges(table, ranges="1,2+")[["label", "classes", "records"]]
      label  classes  records
    0     1        1        1
    1    2+        1        2
    """
    rows = []
    for each in as_ranges(ranges):
        own, compatible = (
            (sizes >= each.k_from) & (each.k_to is None or sizes <= each.k_to) for sizes in (table.records, table.f_k)
        )
        records, alike = int(table.records[own].sum()), int(table.records[compatible].sum())
        bounds = (each.k_from, each.k_to, each.label)
        rows.append((*bounds, int(own.sum()), records, records / table.n, alike, alike / table.n))
    names = ["size_from", "size_to", "label", "classes", "records", "share", "compatible", "compatible_share"]
    return pd.DataFrame(rows, columns=names).astype({"size_to": "Int64"})


def by_meaning(sizes: pd.DataFrame, *, own: str = "own class", compatible: str = "compatible") -> pd.DataFrame:
    """`size_ranges` with a version for each meaning of a missing key, of the versions for which they differ.

    Parameters
    ----------
    sizes : DataFrame
        From `size_ranges`, also of several versions (column ``version``), one below the other.
    own, compatible : str
        What the two are called; after the name of their version, if it has one.

    Returns
    -------
    DataFrame
        ``version``, ``label``, ``records`` and ``share``.

    Examples
    --------
    >>> import kanon_lab
    >>> table = kanon_lab.class_table(pd.DataFrame({"age": [30, None]}), "age")
    >>> kanon_lab.classes.by_meaning(kanon_lab.classes.size_ranges(table, ranges="1,2"))
      label  records  share     version
    0     1        2    1.0   own class
    1     2        0    0.0   own class
    2     1        0    0.0  compatible
    3     2        2    1.0  compatible
    """
    parts, names = [], ["label", "records", "share"]
    for version, part in sizes.assign(version=sizes.get("version", "")).groupby("version", sort=False):
        kinds = {version: part[names]}
        if "compatible" in part and (part["compatible"] != part["records"]).any():
            shown = part[["label", "compatible", "compatible_share"]].set_axis(names, axis=1)
            texts = [f"{version}: {each}" if version else each for each in (own, compatible)]
            kinds = dict(zip(texts, (part[names], shown), strict=True))
        parts += [each.assign(version=name) for name, each in kinds.items()]
    return pd.concat(parts, ignore_index=True)
