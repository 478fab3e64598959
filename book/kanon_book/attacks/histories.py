"""Persons with several records, by an intruder who knows some of them: each is common, and all together are not."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from kanon_lab.arguments import check_whole
from kanon_lab.columns import distinct_rows, one_column
from kanon_lab.roles import check_seed, names_of


def history_attack(
    frame: pd.DataFrame, keys: Iterable[str] | str, *, person: str, when: str, most: int, seed: int = 0
) -> pd.DataFrame:
    """How many persons are alone for an intruder who knows some of their records, drawn at random.

    Parameters
    ----------
    frame : DataFrame
        A release in which the records of a person can be put together.
    keys : names
        What the intruder knows of a record; a missing value is a value of its own.
    person, when : str
        The identifier of the person, and what tells a person's records apart, such as the year. Both have no gaps.
    most : int, 1 or more
        The most records that the intruder knows.
    seed : int
        Of the records drawn.

    Returns
    -------
    DataFrame
        For 1, 2, ... known records (`known`): ``persons`` who have so many, ``alone`` (those for whom nobody else has
        the same keys at all these times) and ``share``.

    References
    ----------
    Cohen (2021): students who are unique by all their certificates.

    Examples
    --------
    >>> frame = pd.DataFrame({'who': [1, 1, 2, 2, 3, 3], 'year': [1, 2] * 3, 'work': list('abaabb')})
    >>> kanon_book.attacks.history_attack(frame, 'work', person='who', when='year', most=2)[['known', 'alone']]
       known  alone
    0      1      1
    1      2      3
    """
    most, rng = check_whole(most, "most", 1, 1000), np.random.default_rng(check_seed(seed))
    names = names_of(keys, "keys")
    label, _ = distinct_rows(np.column_stack([pd.factorize(frame[name])[0] for name in names]))
    row, column = (pd.factorize(one_column(frame, name))[0] for name in (person, when))
    wide = np.full((row.max() + 1, column.max() + 1), -1)
    wide[row, column] = label
    rows = []
    order = [rng.permutation(np.flatnonzero(has)) for has in wide >= 0]
    for known in range(1, most + 1):
        attacked = [number for number, times in enumerate(order) if len(times) >= known]
        alike = [
            (wide[:, order[number][:known]] == wide[number, order[number][:known]]).all(axis=1).sum()
            for number in attacked
        ]
        alone = sum(persons == 1 for persons in alike)
        rows.append((known, len(attacked), alone, alone / len(attacked) if attacked else np.nan))
    return pd.DataFrame(rows, columns=["known", "persons", "alone", "share"])
