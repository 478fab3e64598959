"""Generalisation of whole files, at chosen levels or at those of least loss, and removal of records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import floor
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab.arguments import as_share, check_choice, check_whole
from kanon_lab.classes.compatible import compatible_sums
from kanon_lab.classes.counts import MOST_K
from kanon_lab.columns import as_text, float_of, one_column, plain, with_columns
from kanon_lab.digits import percent
from kanon_lab.errors import DataError, OptionError, about, shortened
from kanon_lab.measures.information_loss import indistinct_pairs, mean_size
from kanon_lab.methods.hierarchy import Hierarchy
from kanon_lab.methods.lattice import LevelSpace, Node, NodeClasses, Requirement, check_k_of_file
from kanon_lab.roles import KeySpec, column_names


def generalise(frame: pd.DataFrame, hierarchies: Mapping[str, Hierarchy], levels: Mapping[str, int]) -> pd.DataFrame:
    """Recode every record to the same level of each variable; variables without a level stay as they are.

    Returns
    -------
    DataFrame
        The same records and columns; recoded ones are text.

    Examples
    --------
    >>> age = kanon_lab.methods.Hierarchy.from_intervals([[0, 5, 10], [0, 10]], closed='left', name='age')
    >>> kanon_lab.methods.generalise(pd.DataFrame({'age': [3, 7]}), {'age': age}, {'age': 1})
       age
    0  0-4
    1  5-9
    """
    recoded = {}
    for name, level in levels.items():
        recoded[name] = _hierarchy_of(hierarchies, name).recode(one_column(frame, name), level)
    return with_columns(frame, recoded)


def generalise_records(
    frame: pd.DataFrame, hierarchies: Mapping[str, Hierarchy], levels_of_records: pd.DataFrame
) -> pd.DataFrame:
    """Recode each record to levels of its own.

    Parameters
    ----------
    levels_of_records : DataFrame of int
        The level of each record (rows, under the index of `frame`) in each variable to recode (columns).

    Returns
    -------
    DataFrame
        The same records and columns; a column with a record above level 0 is text.

    Examples
    --------
    >>> age = kanon_lab.methods.Hierarchy.from_intervals([[0, 5, 10], [0, 10]], closed='left', name='age')
    >>> levels = pd.DataFrame({'age': [1, 2]})
    >>> kanon_lab.methods.generalise_records(pd.DataFrame({'age': [3, 7]}), {'age': age}, levels)
       age
    0  0-4
    1  0-9
    """
    if not levels_of_records.index.equals(frame.index):
        raise OptionError("levels_of_records must have the index of the frame, in its order")
    recoded = {}
    for name in levels_of_records.columns:
        hierarchy = _hierarchy_of(hierarchies, name)
        series = one_column(frame, name)
        with about("levels_of_records"):
            levels = one_column(levels_of_records, name)
        rows_at = {hierarchy.check_level(level): (levels == level).to_numpy() for level in levels.unique()}
        if set(rows_at) <= {0}:
            recoded[name] = plain(series)
            continue
        column = np.full(len(series), np.nan, dtype=object)
        for level, rows in rows_at.items():
            labels = hierarchy.recode(series[rows], level)
            column[rows] = labels.map(as_text, na_action="ignore") if level == 0 else labels
        recoded[name] = pd.Series(column, index=frame.index, name=name)
    return with_columns(frame, recoded)


def suppress_records(frame: pd.DataFrame, rows: Sequence | np.ndarray | pd.Series | pd.Index) -> pd.DataFrame:
    """Remove records from a file.

    Parameters
    ----------
    rows : array of bool, shape (n,), or sequence of index labels
        The records to remove. A Series of bool must have the index of the frame.

    Returns
    -------
    DataFrame
        The other records under their index labels, without categories that only removed records had.

    Examples
    --------
    >>> kanon_lab.methods.suppress_records(pd.DataFrame({'age': [3, 7, 9]}), [True, False, False])
       age
    1    7
    2    9
    """
    if isinstance(rows, pd.Series) and not rows.index.equals(frame.index):
        raise OptionError("rows must have the index of the frame, in its order")
    chosen = pd.Index(rows)
    if len(chosen) == 0:
        gone = np.zeros(len(frame), dtype=bool)
    elif pd.api.types.is_bool_dtype(chosen.dtype):
        if len(chosen) != len(frame):
            raise OptionError(f"rows has {len(chosen)} truth values, the frame {len(frame)} records")
        gone = np.asarray(chosen, dtype=bool)
    else:
        if not frame.index.is_unique:
            raise DataError("a label of the index occurs twice; choose the records by an array of truth values")
        if (absent := ~chosen.isin(frame.index)).any():
            raise OptionError(f"no record has the index label {shortened(str(chosen[absent][0]))}")
        gone = frame.index.isin(chosen)
    kept = frame.loc[~gone].copy()
    for i, dtype in enumerate(kept.dtypes):
        if isinstance(dtype, pd.CategoricalDtype):
            column: Any = kept.iloc[:, i].cat.remove_unused_categories()
            kept.isetitem(i, column)
    return kept


def _hierarchy_of(hierarchies: Mapping[str, Hierarchy], name: str) -> Hierarchy:
    if name not in hierarchies:
        raise OptionError(f"{shortened(str(name))} has no hierarchy; give one, or leave out its level")
    return hierarchies[name]


_MEASURES = ("classes", "k_achieved", "suppressed", "discernibility", "average_class_size")


def _measure_nodes(
    space: LevelSpace, required: Requirement, *, allowed: int, weights: Mapping[str, float] | None
) -> pd.DataFrame:
    """Measures of every node, sorted by the levels; see `kanon_lab.methods.LatticeResult.nodes`."""
    keys = list(space.table.spec.key_variables)
    if space.has_wildcards and all(key.nested for key in space.keys):
        # The coarsest nodes come first; nodes below one that removes too much for k alone are not measured. Where
        # levels nest, records that are compatible at a node are compatible at every node above it, so that the records
        # that k alone leaves never decrease upwards; any further requirement leaves a part of them.
        k_alone, rows = Requirement(required.k_required), []
        nodes = np.array(list(product(*(range(key.height + 1) for key in space.keys))))
        may_satisfy = np.ones(len(nodes), dtype=bool)
        for i in np.argsort(-nodes.sum(axis=1), kind="stable"):
            node = tuple(int(level) for level in nodes[i])
            measures: tuple = (None, None, None, np.nan, np.nan)
            if may_satisfy[i]:
                classes, _ = space.at(node)
                measures = _measure_node(space, node, replace(classes, values=()), k_alone)
                if measures[2] > allowed:
                    may_satisfy &= ~(nodes <= nodes[i]).all(axis=1)
                if required.needs_values:
                    measures = _measure_node(space, node, classes, required)
            rows.append((*node, *measures))
    else:
        rows = [(*node, *_measure_node(space, node, classes, required)) for node, classes in space.nodes()]
    table = pd.DataFrame(rows, columns=[*keys, *_MEASURES]).sort_values(keys, ignore_index=True)
    table = table.astype(dict.fromkeys(_MEASURES[:3], "Int64"))
    satisfied = (table["suppressed"] <= allowed) & (table["suppressed"] < space.table.n)
    table.insert(len(keys) + 3, "satisfied", satisfied.fillna(False).astype(bool))
    table["weighted_level"] = weighted_levels(table, space, weights)
    return table


def _measure_node(space: LevelSpace, node: Node, classes: NodeClasses, required: Requirement) -> tuple:
    """The measures of one node, in the order of `_MEASURES`."""
    kept, f_k = required.kept(classes, space.patterns(node, classes))
    records, f_k = classes.records[kept], f_k[kept]
    count, suppressed = len(records), space.table.n - int(records.sum())
    squares = indistinct_pairs(records, f_k, suppressed)
    if not count:
        return 0, 0, suppressed, squares, np.nan
    # Rounded, so that equal losses are equal.
    average = round(mean_size(records, f_k) / required.k_required, 12)
    return count, int(f_k.min()), suppressed, squares, average


def weighted_levels(nodes: pd.DataFrame, space: LevelSpace, weights: Mapping[str, float] | None) -> pd.Series:
    """For every row, the sum over the keys of weight (by default 1) times level, divided by the key's height."""
    names = space.table.spec.key_variables
    weights = {name: float_of(weight) for name, weight in (weights or {}).items()}
    if strange := [name for name in weights if name not in names]:
        raise OptionError(f"level_weights names {shortened(str(strange[0]))}, which is not a key variable")
    if not all(0 <= weight < np.inf for weight in weights.values()):
        raise OptionError("level_weights must be numbers of 0 or more")
    parts = (weights.get(name, 1.0) / max(key.height, 1) * nodes[name] for name, key in zip(names, space.keys))
    # Rounded, so that 1/3 + 2/3 and 1 are the same loss.
    return sum(parts, start=pd.Series(0.0, index=nodes.index)).round(12)


def check_names(spec: KeySpec, columns: Sequence) -> None:
    """Raise an `OptionError` where a key variable has the name of a column of the result."""
    if both := [name for name in spec.key_variables if name in columns]:
        raise OptionError(f"a key variable has the name of a column of the result, {both[0]!r}; rename it")


#: Loss -> what it adds up.
LOSSES = {
    "discernibility": "squares of class sizes; a removed record counts as many as the file has",
    "average_class_size": "records that stay, by their classes and by k_required; a removed record counts nothing",
    "weighted_level": "weight times level by height; a removed record counts nothing",
}

_NODE_COLUMNS = ("classes", "k_achieved", "suppressed", "satisfied", *LOSSES, "loss")


@dataclass(frozen=True)
class LatticeResult:
    """The node of least loss, and the file protected at its levels.

    Attributes
    ----------
    levels, node : dict of str to int, and tuple of int
        The level of each key variable, by name and in their order.
    loss, loss_name : float, and str
        The loss of the node, and its kind, one of `LOSSES`.
    nodes : DataFrame
        One row a node, sorted by the levels: a column for each key variable (its level), then ``classes`` (that
        stay), ``k_achieved`` (the smallest f_k among records that stay; 0 where none does), ``suppressed`` (records
        removed), ``satisfied``, the `LOSSES` and ``loss``, the chosen one. Measures of a node that was skipped (see
        `lattice_search`) are missing; so is the average class size where no record stays.
    frame : DataFrame
        The protected file: keys recoded, records removed, index labels and other columns as they were.
    suppressed : Index
        Labels of the removed records.
    """

    levels: dict[str, int]
    node: Node
    loss: float
    loss_name: str
    nodes: pd.DataFrame = field(repr=False)
    # Records do not belong on a screen.
    frame: pd.DataFrame = field(repr=False)
    suppressed: pd.Index = field(repr=False)


def lattice_search(
    frame: pd.DataFrame,
    hierarchies: Mapping[str, Hierarchy],
    *,
    k_required: int,
    spec: KeySpec | None = None,
    suppression_limit: float = 0.0,
    loss: str = "discernibility",
    level_weights: Mapping[str, float] | None = None,
    l_required: float | None = None,
    l_kind: str = "distinct",
    recursive_c: float = 2.0,
    t_required: float | None = None,
    distance: str = "equal",
    distance_hierarchy: Hierarchy | None = None,
    sensitive: Iterable[str] | str | None = None,
) -> LatticeResult:
    """Find the levels that protect a file at the least loss.

    Parameters
    ----------
    hierarchies : mapping of str to Hierarchy
        By key variable; a key variable without one stays as it is.
    spec : KeySpec, optional
        By default the keys are the variables of `hierarchies`, and a missing key value matches any value. Under
        ``category`` a missing key keeps a value of its own; it joins the others only at a level whose one label says
        nothing: a declared `top`, or masks alone. One band for all known values is no such level.
    suppression_limit : float, 0-1
        Share of the records that may be removed: all records of classes that fail.
    loss : {"discernibility", "average_class_size", "weighted_level"}
    level_weights : mapping of str to float, optional
        Weights of key variables in the weighted level, 0 or more; by default 1.
    l_required : float, optional
        The l of l-diversity, 1 or more, of every sensitive variable.
    l_kind : {"distinct", "entropy", "recursive"}
        Its kind; `recursive_c` is the c of recursive (c, l)-diversity.
    t_required : float, optional
        The t of t-closeness (0-1), of every sensitive variable, against the distribution in the whole file.
    distance : {"equal", "ordered", "hierarchical"}
        Distance between sensitive values; ``hierarchical`` needs `distance_hierarchy`.
    sensitive : names, optional
        Sensitive variables; by default those of `spec`. A class in which none of their values is known fails.

    Returns
    -------
    LatticeResult
        Of nodes with equal loss, the one that removes fewest records, then the one with the smallest weighted level,
        then the first in the node table. Where no node protects enough, an error says how much the best one removes.

    Notes
    -----
    Every node is measured (at most `MOST_NODES`), except where keys are missing under ``wildcard`` and all levels nest:
    then nodes below one that removes too many records for k alone are skipped, because they remove no fewer.

    With n records in the file and s removed, the discernibility is the sum of f_k over the records that stay, plus n s
    (Bayardo and Agrawal 2005, C_DM). The average class size is n - s divided by the sum of 1/f_k over the records that
    stay, divided by k_required. Where no key is missing, that sum is the number of classes (LeFevre et al. 2006, C_AVG,
    where nothing is removed). The weighted level is the sum of weight times level divided by height. The last two do
    not count removed records: only `suppression_limit` limits them.

    Examples
    --------
    >>> age = kanon_lab.methods.Hierarchy.from_intervals([[0, 5, 10], [0, 10]], closed='left', name='age')
    >>> result = kanon_lab.methods.lattice_search(pd.DataFrame({'age': [1, 3, 7]}), {'age': age}, k_required=2)
    >>> result.levels, result.loss
    ({'age': 2}, 9.0)
    >>> result.nodes[['age', 'classes', 'k_achieved', 'satisfied']]
       age  classes  k_achieved  satisfied
    0    0        0           0      False
    1    1        1           2      False
    2    2        1           3       True
    """
    if not isinstance(hierarchies, Mapping):
        raise OptionError("hierarchies: give a mapping of key variable to Hierarchy")
    check_choice(loss, "loss", LOSSES)
    suppression_limit = as_share(suppression_limit, "suppression_limit")
    required = Requirement(k_required, l_required, l_kind, recursive_c, t_required, distance, distance_hierarchy)
    spec = spec or KeySpec(tuple(hierarchies))
    if sensitive is not None:
        spec = replace(spec, sensitive_variables=column_names(sensitive, "sensitive_variables"))
    check_names(spec, _NODE_COLUMNS)
    if required.needs_values and not spec.sensitive_variables:
        raise OptionError("l-diversity and t-closeness need a sensitive variable: name one")
    names = spec.sensitive_variables if required.needs_values else ()
    space = LevelSpace.of(frame, hierarchies, spec, sensitive=names)
    check_k_of_file(k_required, space.table.n)
    # The share may fall short of a whole number of records by rounding alone.
    allowed = floor(suppression_limit * space.table.n + 1e-9)
    nodes = _measure_nodes(space, required, allowed=allowed, weights=level_weights)
    nodes["loss"] = nodes[loss]
    satisfied = nodes[nodes["satisfied"]].sort_values(["loss", "suppressed", "weighted_level"], kind="stable")
    if satisfied.empty:
        raise _unmet(required, nodes.iloc[int(nodes["suppressed"].astype(float).argmin())], space)
    best: Any = satisfied.iloc[0]
    node = tuple(int(best[name]) for name in spec.key_variables)
    classes, class_of_record = space.at(node)
    kept, _ = required.kept(classes, space.patterns(node, classes))
    gone = ~kept[class_of_record]
    levels = dict(zip(spec.key_variables, node))
    recoded = {name: levels[name] for name in hierarchies}
    protected = generalise(suppress_records(frame, gone), hierarchies, recoded)
    return LatticeResult(levels, node, float(best["loss"]), loss, nodes, protected, frame.index[gone])


def _unmet(required: Requirement, fewest: Any, space: LevelSpace) -> OptionError:
    """The error where no node meets a requirement, which names the node that removes the fewest records."""
    n = space.table.n
    share, limit = percent(fewest["suppressed"] / n), np.ceil(1000 * fewest["suppressed"] / n) / 1000
    asked = f"k_required {required.k_required}" + (" with the diversity asked for" if required.needs_values else "")
    at = ", ".join(f"{shortened(str(name))} {int(fewest[name])}" for name in space.table.spec.key_variables)
    remedy = "give the hierarchies a higher level or ask for less"
    if fewest["suppressed"] < n:
        remedy = f"raise suppression_limit to {limit:.3f}, or {remedy}"
    return OptionError(
        f"no node meets {asked} within the suppression limit: the best one removes {share} of the records "
        f"(levels {at}); {remedy}"
    )


def level_grid(
    frame: pd.DataFrame, hierarchies: Mapping[str, Hierarchy], *, spec: KeySpec | None = None, k_max: int = 20
) -> pd.DataFrame:
    """How many records are in small classes at every node.

    Parameters
    ----------
    hierarchies, spec
        As in `lattice_search`. Nothing is removed.
    k_max : int, 1 to 1,000

    Returns
    -------
    DataFrame
        One row a node, sorted by the levels: a column for each key variable (its level), ``n`` (records),
        ``n_classes``, ``k_achieved``, ``discernibility``, ``weighted_level`` (weights 1), then columns 1 to k_max:
        records with f_k of that many or fewer.

    Examples
    --------
    >>> age = kanon_lab.methods.Hierarchy.from_intervals([[0, 5, 10], [0, 10]], closed='left', name='age')
    >>> kanon_lab.methods.level_grid(pd.DataFrame({'age': [1, 3, 7]}), {'age': age}, k_max=2)
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
        patterns = space.patterns(node, classes)
        f_k = classes.records if patterns is None else compatible_sums(patterns, classes.records)
        sizes = np.bincount(np.minimum(f_k, k_max + 1), weights=classes.records, minlength=k_max + 2).astype(np.int64)
        squares = int((classes.records * f_k).sum())
        rows.append((*node, space.table.n, len(f_k), int(f_k.min()), squares, *np.cumsum(sizes)[1:-1]))
    grid = pd.DataFrame(rows, columns=[*spec.key_variables, *columns])
    grid.insert(len(spec.key_variables) + 4, "weighted_level", weighted_levels(grid, space, None))
    return grid.sort_values(list(spec.key_variables), ignore_index=True)
