"""Two releases of overlapping persons: what the classes of a person in both leave of its sensitive value."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from kanon_lab.columns import distinct_rows, one_column
from kanon_lab.errors import OptionError
from kanon_lab.roles import names_of


def composition_attack(
    old: pd.DataFrame, new: pd.DataFrame, keys: Iterable[str] | str, sensitive: str, *, truth: pd.Series | None = None
) -> pd.DataFrame:
    """What an intruder learns of a sensitive value who finds a person's class in each of two releases, and in both.

    The intruder knows the keys of everybody and how they were recoded, and so the class of a person in each release:
    the records with the same labels. The value of the person is one that both classes have.

    Parameters
    ----------
    old, new : DataFrame
        Releases, one record a person, who has the same label of the index in both. Only persons in both are attacked.
    keys : names
        The released keys. A missing one is a label of its own.
    sensitive : str
        The sensitive variable of both, missing in no record.
    truth : Series, optional
        The true values of the persons, by label; default: those of `old`.

    Returns
    -------
    DataFrame
        Rows ``old``, ``new``, ``both``: ``persons`` (attacked), ``classes``, ``k`` and ``least_values`` (the smallest
        class, and the fewest different values in one, of the whole release; missing for ``both``), ``values``
        (mean number of values left for a person), ``determined`` (persons with a single value left) and ``uncommon``
        (those of them whose value is not the most common one of `truth`).

    References
    ----------
    Ganta, Kasiviswanathan and Smith (2008): the intersection attack.

    Examples
    --------
    >>> old = pd.DataFrame({'age': ['0-9', '0-9', '10-19', '10-19'], 'ill': ['flu', 'no', 'flu', 'cold']})
    >>> new = pd.DataFrame({'age': ['5-14', '0-4', '5-14', '0-4'], 'ill': ['flu', 'no', 'flu', 'cold']})
    >>> kanon_book.attacks.composition_attack(old, new, 'age', 'ill')[['values', 'determined']]
          values  determined
    old      2.0           0
    new      1.5           2
    both     1.0           4
    """
    names = names_of(keys, "keys")
    persons = old.index.intersection(new.index, sort=False)
    if not len(persons) or not (old.index.is_unique and new.index.is_unique):
        raise OptionError("old and new: label each person once in the index, the same in both; no person is in both")
    truth = one_column(old, sensitive) if truth is None else truth
    values = pd.Index(pd.concat([one_column(frame, sensitive) for frame in (old, new)]).unique())
    common = values.get_loc(truth.mode()[0])
    codes, rows, left = values.get_indexer(truth.loc[persons]), [], []
    for release in (old, new):
        of_record, first = distinct_rows(np.column_stack([pd.factorize(release[name])[0] for name in names]))
        has = np.zeros((len(first), len(values)), dtype=bool)
        has[of_record, values.get_indexer(release[sensitive])] = True
        left.append(has[of_record[release.index.get_indexer(persons)]])
        rows.append((len(first), np.bincount(of_record).min(), has.sum(axis=1).min()))
    left.append(left[0] & left[1])
    answers = []
    for (classes, k, least), may in zip([*rows, (pd.NA, pd.NA, pd.NA)], left, strict=True):
        single = may.sum(axis=1) == 1
        uncommon = int((single & (codes != common)).sum())
        answers.append((len(persons), classes, k, least, may.sum(axis=1).mean(), int(single.sum()), uncommon))
    columns = ["persons", "classes", "k", "least_values", "values", "determined", "uncommon"]
    table = pd.DataFrame(answers, columns=columns, index=["old", "new", "both"])
    return table.astype({"classes": "Int64", "k": "Int64", "least_values": "Int64"})
