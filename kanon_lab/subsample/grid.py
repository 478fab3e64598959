"""The study for every combination of levels and every fraction, from a population that is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

import pandas as pd

from kanon_lab.errors import OptionError, shortened
from kanon_lab.keys import as_spec
from kanon_lab.subsample.curve import expected_study
from kanon_lab.subsample.sizes import population_sizes

if TYPE_CHECKING:
    from kanon_lab.keys import KeySpec


def detail_grid(
    cells: pd.DataFrame,
    spec: KeySpec | Iterable[str] | str,
    levels: Mapping[str, Mapping[str, Mapping[str, Any] | None]],
    fractions: Iterable[float],
    *,
    persons: str | None = None,
    p_a: float = 1.0,
) -> pd.DataFrame:
    """What the subsample study expects, and the truth, for each combination of levels and each fraction.

    Parameters
    ----------
    cells : DataFrame
        The population: one row a person, or a cell of it with the column `persons`. Not changed.
    spec : KeySpec or sequence of str
        Its key variables.
    levels : mapping
        Of one or several key variables to their levels: a label to the settings of a recipe's step ``recode`` without
        ``variable``, or to None for the variable as it is.
    fractions : iterable of float
        Above 0 and below 1.
    persons : str, optional
        The column of counts.
    p_a : float
        As in `kanon_lab.subsample.expected_study`.

    Returns
    -------
    DataFrame
        A row a combination and fraction, combinations in the order of `levels`: a column of labels a variable, and the
        columns of `kanon_lab.subsample.expected_study`.

    Raises
    ------
    DataError, OptionError
        As in `kanon_lab.subsample.population_sizes` and `kanon_lab.subsample.expected_study`; or levels of what is no
        key variable, or a variable without levels.
    """
    spec = as_spec(spec)
    _check(levels, spec.key_variables)
    fractions = list(fractions)
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


def _check(levels: Mapping, keys: tuple[str, ...]) -> None:
    if not isinstance(levels, Mapping) or not levels:
        raise OptionError("levels must name at least one key variable, such as {'age': {'1 year': None}}")
    for name, of in levels.items():
        if name not in keys:
            raise OptionError(f"levels: {shortened(str(name))} is not a key variable")
        if not isinstance(of, Mapping) or not of:
            raise OptionError(f"levels: {shortened(str(name))} needs at least one level, such as {{'as it is': None}}")
