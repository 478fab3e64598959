"""The node table: what stays of the file at every node, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd

from kanon_lab.errors import OptionError, shortened
from kanon_lab.keys import KeySpec
from kanon_lab.lattice.nodes import NodeClasses
from kanon_lab.lattice.requirement import Requirement
from kanon_lab.lattice.space import LevelSpace, Node
from kanon_lab.recode.quantities import float_of
from kanon_lab.utility.classes import indistinct_pairs, mean_size

_MEASURED = ("classes", "k_achieved", "suppressed", "discernibility", "average_class_size")


def node_table(
    space: LevelSpace, required: Requirement, *, allowed: int, weights: Mapping[str, float] | None
) -> pd.DataFrame:
    """Measure every node, sorted by the levels; see `kanon_lab.lattice.LatticeResult.nodes`."""
    keys = list(space.table.spec.key_variables)
    prunes = space.has_wildcards and all(key.nested for key in space.keys)
    if prunes:
        rows = [(*node, *row) for node, row in _from_the_top(space, required, allowed)]
    else:
        rows = [(*node, *_row(space, node, classes, required)) for node, classes in space.nodes()]
    nodes = pd.DataFrame(rows, columns=[*keys, *_MEASURED]).sort_values(keys, ignore_index=True)
    nodes = nodes.astype(dict.fromkeys(_MEASURED[:3], "Int64"))
    satisfied = (nodes["suppressed"] <= allowed) & (nodes["suppressed"] < space.table.n)
    nodes.insert(len(keys) + 3, "satisfied", satisfied.fillna(False).astype(bool))
    nodes["weighted_level"] = weighted_levels(nodes, space, weights)
    return nodes


def _from_the_top(space: LevelSpace, required: Requirement, allowed: int) -> Iterator[tuple[Node, tuple]]:
    """The coarsest nodes first; nodes below one that removes too much for k alone are not measured.

    Where levels nest, records that are compatible at a node are so at every node above it, so that what k alone leaves
    there never shrinks; what k leaves holds what any further requirement leaves.
    """
    k_alone = Requirement(required.k_required)
    nodes = np.array(list(product(*(range(key.height + 1) for key in space.keys))))
    open_ = np.ones(len(nodes), dtype=bool)
    for i in np.argsort(-nodes.sum(axis=1), kind="stable"):
        node = tuple(int(level) for level in nodes[i])
        if not open_[i]:
            yield node, (None, None, None, np.nan, np.nan)
            continue
        classes, _ = space.at(node)
        row = _row(space, node, replace(classes, values=()), k_alone)
        if row[2] > allowed:
            open_ &= ~(nodes <= nodes[i]).all(axis=1)
        if required.needs_values:
            row = _row(space, node, classes, required)
        yield node, row


def _row(space: LevelSpace, node: Node, classes: NodeClasses, required: Requirement) -> tuple:
    """The measures of one node, in the order of the columns."""
    kept, f_k = required.kept(classes, space.patterns(node, classes) if space.has_wildcards else None)
    records, f_k = classes.records[kept], f_k[kept]
    count, suppressed = len(records), space.table.n - int(records.sum())
    squares = indistinct_pairs(records, f_k, suppressed)
    if not count:
        return 0, 0, suppressed, squares, np.nan
    # Rounding must not tell equal losses apart.
    average = round(mean_size(records, f_k) / required.k_required, 12)
    return count, int(f_k.min()), suppressed, squares, average


def weighted_levels(nodes: pd.DataFrame, space: LevelSpace, weights: Mapping[str, float] | None) -> pd.Series:
    """Sum over the keys of weight times level by height, for every row; weights are 1 where none is given."""
    names = space.table.spec.key_variables
    weights = {name: float_of(weight) for name, weight in (weights or {}).items()}
    if strange := [name for name in weights if name not in names]:
        raise OptionError(f"level_weights names {shortened(str(strange[0]))}, which is no key variable")
    if not all(0 <= weight < np.inf for weight in weights.values()):
        raise OptionError("level_weights must be numbers of 0 or more")
    parts = (weights.get(name, 1.0) / max(key.height, 1) * nodes[name] for name, key in zip(names, space.keys))
    # 1/3 + 2/3 and 1 are one loss.
    return sum(parts, start=pd.Series(0.0, index=nodes.index)).round(12)


def check_names(spec: KeySpec, columns: Sequence) -> None:
    """Raise an `OptionError` where a key variable has the name of a column of the result."""
    if both := [name for name in spec.key_variables if name in columns]:
        raise OptionError(f"a key variable has the name of a column of the result, {both[0]!r}; rename it")
