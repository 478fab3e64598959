"""What an intruder who knows only some of the key variables finds."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd

from kanon_lab.arguments import check_whole
from kanon_lab.classes.coding import distinct_rows
from kanon_lab.classes.compatible import compatible_sums
from kanon_lab.classes.table import class_table
from kanon_lab.errors import OptionError
from kanon_lab.keys import KeySpec

#: There are 2^keys - 1 subsets.
MOST_KEYS = 12
#: Columns of a grid.
MOST_K = 1_000


def key_grid(frame: pd.DataFrame, spec: KeySpec, *, k_max: int = 20) -> pd.DataFrame:
    """Records in groups of k or fewer, for every set of key variables that an intruder may know.

    Parameters
    ----------
    frame, spec
        As in `class_table`; at most 12 key variables.
    k_max : int
        The last k, 1 to 1,000.

    Returns
    -------
    DataFrame
        One row per non-empty subset of the key variables, smaller subsets first: ``keys`` (tuple of str), ``n``
        (records), ``classes`` (or patterns), ``k_achieved``, and a column for each k from 1 to `k_max`: the number of
        records with f_k <= k.

    Examples
    --------
    >>> import kanon_lab
    >>> frame = pd.DataFrame({"sex": ["f", "f", "m"], "age": [30, 41, 30]})
    >>> kanon_lab.classes.key_grid(frame, kanon_lab.KeySpec(["sex", "age"]), k_max=2)
             keys  n  classes  k_achieved  1  2
    0      (sex,)  3        2           1  1  3
    1      (age,)  3        2           1  1  3
    2  (sex, age)  3        3           1  3  3
    """
    names = spec.key_variables
    if len(names) > MOST_KEYS:
        raise OptionError(f"{len(names)} key variables have too many subsets; choose {MOST_KEYS} of them or fewer")
    check_whole(k_max, "k_max", 1, MOST_K)
    table = class_table(frame, spec)
    positions = range(len(names))
    subsets = [subset for size in range(1, len(names) + 1) for subset in combinations(positions, size)]
    rows = []
    for subset in subsets:
        codes, records = _merged_patterns(table.codes[:, subset], table.records)
        wildcard = spec.missing == "wildcard" and (codes < 0).any()
        f_k = compatible_sums(codes, records) if wildcard else records
        up_to = np.cumsum(np.bincount(np.minimum(f_k, k_max + 1), weights=records, minlength=k_max + 2))[1:-1]
        rows.append((tuple(names[j] for j in subset), table.n, len(records), f_k.min(), *up_to.astype(np.int64)))
    return pd.DataFrame(rows, columns=["keys", "n", "classes", "k_achieved", *range(1, k_max + 1)])


def _merged_patterns(codes: np.ndarray, records: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct rows, and the records of each."""
    group, some = distinct_rows(codes)
    return codes[some], np.bincount(group, weights=records).astype(np.int64)
