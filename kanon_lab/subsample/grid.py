"""The study for every combination of levels and every fraction, from a population that is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

import pandas as pd

from kanon_lab.keys import as_spec
from kanon_lab.subsample.curve import STUDY, expected_study
from kanon_lab.subsample.levels import check_levels
from kanon_lab.subsample.sizes import as_fractions, population_sizes

if TYPE_CHECKING:
    from kanon_lab.keys import KeySpec


def detail_grid(
    cells: pd.DataFrame,
    spec: KeySpec | Iterable[str] | str,
    levels: Mapping[str, Mapping[str | int, Mapping[str, Any] | str | None]],
    fractions: Iterable[float],
    *,
    persons: str | None = None,
    p_a: float = 1.0,
) -> pd.DataFrame:
    """What the subsample study expects, and the truth, for each combination of levels and each fraction.

    Parameters
    ----------
    cells : DataFrame
        The population: one row a person, or a cell of it with the column `persons`.
    spec : KeySpec or sequence of str
        Its key variables.
    levels : mapping
        As in `scenario_grid`.
    fractions : iterable of float, 1e-9 to below 1
    persons : str, optional
        The column of counts.
    p_a : float, 0-1
        As in `expected_study`.

    Returns
    -------
    DataFrame
        A row a combination and fraction, combinations in the order of `levels`: a column of labels a variable, and the
        columns of `expected_study`.

    Examples
    --------
    >>> import kanon_lab
    >>> cells = pd.DataFrame({'age': [3, 7, 40], 'persons': [1, 2, 9]})
    >>> levels = {'age': {'years': None, 'bands': {'bands': [0, 18, None]}}}
    >>> found = kanon_lab.subsample.detail_grid(cells, 'age', levels, [0.1], persons='persons')
    >>> found[['age', 'fraction', 'p_c', 'true_p_c']].round(4)
         age  fraction     p_c  true_p_c
    0  years       0.1  0.3289    0.0833
    1  bands       0.1  0.2945    0.0000
    """
    spec = as_spec(spec)
    levels, fractions = check_levels(levels, spec, STUDY), as_fractions(fractions)
    parts = []
    for labels in product(*levels.values()):
        chosen = dict(zip(levels, labels, strict=True))
        recode = {name: levels[name][label] for name, label in chosen.items()}
        sizes = population_sizes(cells, spec, persons=persons, recode=recode)
        study = expected_study(sizes, fractions, p_a=p_a)
        for place, (name, label) in enumerate(chosen.items()):
            study.insert(place, name, label)
        parts.append(study)
    return pd.concat(parts, ignore_index=True)
