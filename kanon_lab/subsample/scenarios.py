"""Scenarios of detail: the subsample study of one file under every combination of recodings of its keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import pandas as pd

from kanon_lab.classes import class_table
from kanon_lab.classes.coding import coded
from kanon_lab.keys import KeySpec
from kanon_lab.subsample.clustering import clustering
from kanon_lab.subsample.counting import COUNTS, Uniques, count_subsamples
from kanon_lab.subsample.levels import at_level, check_levels, table_of
from kanon_lab.subsample.result import SubsampleRisk
from kanon_lab.subsample.study import checked, collected, completed

_REPORTED = ["n1", "u1", "n2", "u2", "u", "p_b", "p_c", "p_d", "p_identification"]
_WITH_SD = ["u2", "u", "p_identification"]
_SCENARIO_COLUMNS = ["repeat", *COUNTS, *_REPORTED, *(f"{name}_sd" for name in _WITH_SD)]


@dataclass(frozen=True)
class Scenarios:
    """The subsample study under several scenarios.

    Attributes
    ----------
    variables : tuple of str
        Those whose detail differs.
    risks : tuple of SubsampleRisk
        One a scenario, in the order of `table`; all from the same subsamples of records.
    table : DataFrame
        One row a scenario: for each of the variables the label of its level; ``n1``, ``u1``, ``n2``, ``u2``, ``u``,
        ``p_b``, ``p_c``, ``p_d``, ``p_identification`` as in `SubsampleRisk` (means over the subsamples), and the
        standard deviations ``u2_sd``, ``u_sd``, ``p_identification_sd`` over them (NaN of one subsample).
    draws : DataFrame
        One row a scenario and subsample: the labels, and the columns of `SubsampleRisk.draws`.
    notes : tuple of str
        Each of them once, with the scenarios that it is about where it is not about all.
    """

    variables: tuple[str, ...]
    risks: tuple[SubsampleRisk, ...] = field(repr=False)
    table: pd.DataFrame = field(repr=False)
    draws: pd.DataFrame = field(repr=False)
    notes: tuple[str, ...] = field(repr=False)


def scenario_grid(
    frame: pd.DataFrame,
    spec: KeySpec | Iterable[str] | str,
    levels: Mapping[str, Mapping[str | int, Mapping[str, Any] | str | None]],
    *,
    fraction: float | None = None,
    repeats: int = 1,
    scheme: str = "bernoulli",
    p_a: float = 1.0,
    seed: int = 0,
    cluster: str | None = None,
    cluster_fraction: float | None = None,
) -> Scenarios:
    """Estimate the risk of identification under every combination of levels of detail.

    Parameters
    ----------
    frame, spec, fraction, repeats, scheme, p_a, seed, cluster, cluster_fraction
        As in `subsample_risk`.
    levels : mapping of str to mapping
        By key variable its levels, by their labels (text or whole numbers): settings of a recipe's step ``recode``
        without ``variable``, such as ``{"bands": [0, 15, 65, None]}``; None for the variable as it is; or
        ``"remove"``. Levels need not nest.

    Returns
    -------
    Scenarios
        The last variable's levels change fastest. All scenarios see the same subsamples of records.

    References
    ----------
    Garín i Ramírez (1996), section 4.4 and Taula 1: three levels of residence by three of age.

    Examples
    --------
    >>> import kanon_lab
    >>> frame = pd.DataFrame({'age': range(200)})
    >>> levels = {'age': {'years': None, 'tens': {'width': 10}}}
    >>> kanon_lab.subsample.scenario_grid(frame, 'age', levels, fraction=0.5, seed=1).table[['age', 'n1', 'u1', 'u2']]
         age   n1   u1  u2
    0  years  200  200  95
    1   tens  200    0   0
    """
    asked = {"cluster": cluster, "cluster_fraction": cluster_fraction}
    spec, design, p_a = checked(frame, spec, fraction, repeats, scheme, p_a, seed, **asked)
    levels = check_levels(levels, spec, _SCENARIO_COLUMNS)
    columns = {name: {None: frame[name]} for name in spec.key_variables}
    for name, labels in levels.items():
        columns[name] = {label: at_level(frame, name, settings) for label, settings in labels.items()}
    # Values are numbered once a level, not once a scenario.
    columns = {name: {label: _numbered(each) for label, each in of.items()} for name, of in columns.items()}
    chosen = [dict(zip(levels, labels, strict=True)) for labels in product(*levels.values())]
    uniques = []
    for labels in chosen:
        keys = {name: of[labels.get(name)] for name, of in columns.items()}
        table = table_of(frame, spec, keys)
        design = completed(design, table, frame)
        uniques.append(Uniques(table))
    counts = count_subsamples(uniques, design)
    risks = [collected(each, design, counted, p_a) for each, counted in zip(uniques, counts, strict=True)]
    warnings = () if design.units else clustering(frame, spec, class_table(frame, spec))
    return _collected_scenarios(tuple(levels), chosen, tuple(risks), warnings)


def _numbered(column: pd.Series | None) -> pd.Series | None:
    if column is None:
        return None
    numbers = coded(column)
    return pd.Series(pd.Categorical.from_codes(numbers.codes, numbers.values), index=column.index)


def _collected_scenarios(
    variables: tuple[str, ...],
    chosen: list[dict[str, str | int]],
    risks: tuple[SubsampleRisk, ...],
    warnings: tuple[str, ...],
) -> Scenarios:
    rows, draws, notes = [], [], {}
    for labels, risk in zip(chosen, risks, strict=True):
        sd = {f"{name}_sd": risk.draws[name].std() for name in _WITH_SD}
        rows.append({**labels, **{name: getattr(risk, name) for name in _REPORTED}, **sd})
        draws.append(pd.concat([pd.DataFrame(labels, index=risk.draws.index), risk.draws], axis=1))
        for note in risk.notes:
            notes.setdefault(note, []).append(", ".join(f"{name}: {label}" for name, label in labels.items()))
    told = [note if len(of) == len(risks) else f"{'; '.join(of)}: {note}" for note, of in notes.items()]
    return Scenarios(variables, risks, pd.DataFrame(rows), pd.concat(draws, ignore_index=True), (*warnings, *told))
