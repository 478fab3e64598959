"""Small classes at every node, for explorers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from kanon_lab.arguments import check_whole
from kanon_lab.classes.compatible import compatible_sums
from kanon_lab.classes.subsets import MOST_K
from kanon_lab.keys import KeySpec
from kanon_lab.lattice.measured import check_names, weighted_levels
from kanon_lab.lattice.space import LevelSpace
from kanon_lab.recode import Hierarchy


def level_grid(
    frame: pd.DataFrame, hierarchies: Mapping[str, Hierarchy], *, spec: KeySpec | None = None, k_max: int = 20
) -> pd.DataFrame:
    """How many records stand in small classes at every node: what explorers show.

    Parameters
    ----------
    frame, hierarchies, spec
        As in `search`. Nothing is removed.
    k_max : int, 1 to 1,000
        Last k.

    Returns
    -------
    DataFrame
        One row a node, sorted by the levels: a column for each key variable (its level), ``n`` (records),
        ``n_classes``, ``k_achieved``, ``discernibility``, ``weighted_level`` (weights 1), then columns 1 to k_max:
        records with f_k of that many or fewer.

    Examples
    --------
    >>> import kanon_lab
    >>> age = kanon_lab.recode.Hierarchy.from_intervals([[0, 5, 10], [0, 10]], closed='left', name='age')
    >>> kanon_lab.lattice.level_grid(pd.DataFrame({'age': [1, 3, 7]}), {'age': age}, k_max=2)
       age  n  n_classes  k_achieved  discernibility  weighted_level  1  2
    0    0  3          3           1               3             0.0  3  3
    1    1  3          2           1               5             0.5  1  3
    2    2  3          1           3               9             1.0  0  0
    """
    check_whole(k_max, "k_max", 1, MOST_K)
    spec = spec or KeySpec(tuple(hierarchies))
    columns = ["n", "n_classes", "k_achieved", "discernibility", *range(1, k_max + 1)]
    check_names(spec, [*columns, "weighted_level"])
    space = LevelSpace.of(frame, hierarchies, spec)
    rows = []
    for node, classes in space.nodes():
        f_k = classes.records
        if space.has_wildcards:
            f_k = compatible_sums(space.patterns(node, classes), classes.records)
        sizes = np.bincount(np.minimum(f_k, k_max + 1), weights=classes.records, minlength=k_max + 2).astype(np.int64)
        squares = int((classes.records * f_k).sum())
        rows.append((*node, space.table.n, len(f_k), int(f_k.min()), squares, *np.cumsum(sizes)[1:-1]))
    grid = pd.DataFrame(rows, columns=[*spec.key_variables, *columns])
    grid.insert(len(spec.key_variables) + 4, "weighted_level", weighted_levels(grid, space, None))
    return grid.sort_values(list(spec.key_variables), ignore_index=True)
