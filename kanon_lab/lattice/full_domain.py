"""Optimal full-domain generalisation: the node of least loss among all that protect enough."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import floor

import numpy as np
import pandas as pd

from kanon_lab.arguments import as_share, check_choice
from kanon_lab.digits import percent
from kanon_lab.errors import OptionError, shortened
from kanon_lab.keys import KeySpec
from kanon_lab.lattice.measured import check_names, node_table
from kanon_lab.lattice.requirement import Requirement, check_k_of_file
from kanon_lab.lattice.space import LevelSpace, Node
from kanon_lab.recode import Hierarchy, generalise, suppress_records

#: Loss -> what it adds up.
LOSSES = {
    "discernibility": "squares of class sizes; a removed record counts as many as the file has",
    "average_class_size": "records that stay, by their classes and by k_required; a removed record counts nothing",
    "weighted_level": "weight times level by height; a removed record counts nothing",
}

_NODE_COLUMNS = ("classes", "k_achieved", "suppressed", "satisfied", *LOSSES, "loss")


@dataclass(frozen=True)
class LatticeResult:
    """The node of least loss and what it makes of the file.

    Attributes
    ----------
    levels : dict of str to int
        The level of each key variable.
    node : tuple of int
        The same, in the order of the key variables.
    loss : float
        What was made least; see `loss_name`.
    loss_name : str
        One of `LOSSES`.
    nodes : DataFrame
        One row a node, sorted by the levels: a column for each key variable (its level), then ``classes`` (that
        stay), ``k_achieved`` (the smallest f_k among records that stay; 0 where none does), ``suppressed`` (records
        removed), ``satisfied``, the `LOSSES` and ``loss``, the one chosen. What a node that was skipped (see `search`)
        would give is missing; so is the average class size where no record stays.
    frame : DataFrame
        The protected file: keys recoded, removed records left out, index labels and other columns as they were.
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


def search(
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
    frame : DataFrame
    hierarchies : mapping of str to Hierarchy
        By key variable; a key variable without one stays as it is.
    k_required : int, 1 or more
    spec : KeySpec, optional
        By default the variables of `hierarchies` are the keys, and a missing one is compatible with anything. Under
        ``category`` a missing key keeps a value of its own, but at a level where all values are alike it joins them.
    suppression_limit : float, 0-1
        Share of the records that may be removed: all records of classes that fail.
    loss : {"discernibility", "average_class_size", "weighted_level"}
        See the notes.
    level_weights : mapping of str to float, optional
        Weights of key variables in the weighted level, 0 or more; 1 where none is given.
    l_required : float, optional
        The l of l-diversity, 1 or more, of every sensitive variable.
    l_kind : {"distinct", "entropy", "recursive"}
        Its kind; `recursive_c` is the c of recursive (c, l)-diversity.
    t_required : float, optional
        The t of t-closeness (0-1), of every sensitive variable, against the distribution in the whole file.
    distance : {"equal", "ordered", "hierarchical"}
        Distance between sensitive values; the last needs `distance_hierarchy`.
    sensitive : names, optional
        Sensitive variables; by default those of `spec`. A class in which none of their values is known fails.

    Returns
    -------
    LatticeResult
        Of equal losses the node that removes fewer records is chosen, then that of the smaller weighted level, then
        the one that comes first in the node table.

    Raises
    ------
    OptionError
        No node protects enough (the message says how much the best one removes), or there are more than `MOST_NODES`.

    Notes
    -----
    Every node is measured: after the file has been grouped once, a node costs about as much as deciding whether it may
    be skipped, and l-diversity and t-closeness with removal do not grow steadily from node to node. Only where keys
    are missing under ``wildcard`` and all levels nest, the nodes below one that removes too many records for k alone
    are skipped: they remove no fewer.

    With n records in the file and s removed, the discernibility is the sum of f_k over the records that stay, plus n s
    (Bayardo and Agrawal 2005, C_DM). The average class size is n - s by the sum of 1/f_k over them, by k_required.
    Where no key is missing, that sum is the number of classes (LeFevre et al. 2006, C_AVG, where nothing is removed);
    under ``wildcard`` it keeps compatible patterns from counting as classes of their own. Removing records costs
    nothing in the latter nor in the weighted level, the sum of weight times level by height: there only
    `suppression_limit` holds it down.

    Examples
    --------
    >>> import kanon_lab
    >>> age = kanon_lab.recode.Hierarchy.from_intervals([[0, 5, 10], [0, 10]], closed='left', name='age')
    >>> found = kanon_lab.lattice.search(pd.DataFrame({'age': [1, 3, 7]}), {'age': age}, k_required=2)
    >>> found.levels, found.loss
    ({'age': 2}, 9.0)
    >>> found.nodes[['age', 'classes', 'k_achieved', 'satisfied']]
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
        spec = replace(spec, sensitive_variables=sensitive)
    check_names(spec, _NODE_COLUMNS)
    if required.needs_values and not spec.sensitive_variables:
        raise OptionError("l-diversity and t-closeness need a sensitive variable: name one")
    names = spec.sensitive_variables if required.needs_values else ()
    space = LevelSpace.of(frame, hierarchies, spec, sensitive=names)
    check_k_of_file(k_required, space.table.n)
    # The share may fall short of a whole number of records by rounding alone.
    allowed = floor(suppression_limit * space.table.n + 1e-9)
    nodes = node_table(space, required, allowed=allowed, weights=level_weights)
    nodes["loss"] = nodes[loss]
    best = _best(nodes, required, space.table.n, spec.key_variables)
    node = tuple(int(level) for level in nodes.loc[best, list(spec.key_variables)])
    classes, class_of_record = space.at(node)
    kept, _ = required.kept(classes, space.patterns(node, classes) if space.has_wildcards else None)
    gone = ~kept[class_of_record]
    levels = dict(zip(spec.key_variables, node))
    recoded = {name: levels[name] for name in hierarchies}
    protected = generalise(suppress_records(frame, gone), hierarchies, recoded)
    return LatticeResult(levels, node, float(nodes.loc[best, "loss"]), loss, nodes, protected, frame.index[gone])


def _best(nodes: pd.DataFrame, required: Requirement, n: int, names: Sequence[str]) -> int:
    """Row of the chosen node."""
    satisfied = nodes[nodes["satisfied"]]
    if not satisfied.empty:
        return satisfied.sort_values(["loss", "suppressed", "weighted_level"], kind="stable").index[0]
    fewest = nodes.loc[nodes["suppressed"].astype(float).idxmin()]
    share, limit = percent(fewest["suppressed"] / n), np.ceil(1000 * fewest["suppressed"] / n) / 1000
    asked = f"k_required {required.k_required}" + (" with the diversity asked for" if required.needs_values else "")
    at = ", ".join(f"{shortened(str(name))} {int(fewest[name])}" for name in names)
    remedy = "give the hierarchies a higher level or ask for less"
    if fewest["suppressed"] < n:
        remedy = f"raise suppression_limit to {limit:.3f}, or {remedy}"
    raise OptionError(
        f"no node meets {asked} within the suppression limit: the best one removes {share} of the records "
        f"(levels {at}); {remedy}"
    )
