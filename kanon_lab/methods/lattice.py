"""The lattice of levels: the classes of a file at every node, and the requirements on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np
import pandas as pd

from kanon_lab.arguments import as_share, check_choice, check_positive, is_number
from kanon_lab.classes import ClassTable, ValueCounts, class_table
from kanon_lab.classes.compatible import compatible_counts, compatible_sums
from kanon_lab.columns import grouped, pack
from kanon_lab.errors import DataError, OptionError, shortened
from kanon_lab.measures import DISTANCES
from kanon_lab.measures.class_values import (
    distinct_l,
    entropy_l,
    equal_distance,
    hierarchical_distance,
    ordered_distance,
    recursive_l,
)
from kanon_lab.methods.hierarchy import Hierarchy
from kanon_lab.roles import KeySpec, check_k, refuse_person


@dataclass(frozen=True)
class NodeClasses:
    """The classes of one node."""

    codes: np.ndarray  # (keys, classes) The code of each key at its level
    records: np.ndarray  # (classes,) Records that have exactly these codes
    values: tuple[ValueCounts, ...] = ()  # For each sensitive variable how often its values occur among those records

    def rolled_up(self, j: int, mapping: np.ndarray, sizes: Sequence[int], *, rising: bool) -> NodeClasses:
        """The classes after key `j` has new codes; `rising` says that the mapping keeps their order."""
        codes = self.codes.copy()
        codes[j] = mapping[codes[j]]
        if rising and j == len(codes) - 1:
            # Sorted classes stay sorted, so those that merge are neighbours.
            starts = (codes[:, 1:] != codes[:, :-1]).any(axis=0)
            first = np.concatenate([[0], np.flatnonzero(starts) + 1])
            group = np.concatenate([[0], np.cumsum(starts)]) if self.values else first
            records = np.add.reduceat(self.records, first)
            return NodeClasses(codes[:, first], records, tuple(_merged(v, group, len(first)) for v in self.values))
        return replace(self, codes=codes).merged(sizes)[0]

    def merged(self, sizes: Sequence[int]) -> tuple[NodeClasses, np.ndarray]:
        """Sorted classes, those with equal codes merged, and the new class of each old one."""
        group, distinct = grouped(*pack(list(self.codes), sizes))
        first = np.empty(len(distinct), dtype=np.intp)
        first[group] = np.arange(len(group))
        records = np.bincount(group, weights=self.records).astype(np.int64)
        values = tuple(_merged(counts, group, len(first)) for counts in self.values)
        return NodeClasses(self.codes[:, first], records, values), group


def _merged(counts: ValueCounts, group: np.ndarray, groups: int) -> ValueCounts:
    """The counts after class i has become a part of class ``group[i]``."""
    m = len(counts.values)
    number, distinct = grouped(group[counts.class_].astype(np.int64) * m + counts.value, groups * m)
    class_, value = np.divmod(distinct, m)
    count = np.bincount(number, weights=counts.count, minlength=len(distinct)).astype(np.int64)
    return replace(counts, class_=class_, value=value, count=count, n_classes=groups)


#: Kinds of l-diversity.
L_KINDS = ("distinct", "entropy", "recursive")

# A threshold that rounding alone would miss is met.
_THRESHOLD_ROUNDING = 1e-12


@dataclass(frozen=True)
class Requirement:
    """k-anonymity, alone or with l-diversity, t-closeness or both, of every sensitive variable."""

    k_required: int
    l_required: float | None = None
    l_kind: str = "distinct"
    recursive_c: float = 2.0
    t_required: float | None = None
    distance: str = "equal"
    distance_hierarchy: Hierarchy | None = None

    def __post_init__(self):
        check_k(self.k_required, "k_required")
        check_choice(self.l_kind, "l_kind", L_KINDS)
        if self.l_required is not None and not (is_number(self.l_required) and self.l_required >= 1):
            raise OptionError(f"l_required must be a number of 1 or more, not {self.l_required!r}")
        check_positive(self.recursive_c, "recursive_c")
        if self.t_required is not None:
            as_share(self.t_required, "t_required")
        check_choice(self.distance, "distance", DISTANCES)
        if (self.distance_hierarchy is not None) != (self.distance == "hierarchical"):
            raise OptionError("distance_hierarchy and the distance hierarchical go together: give both or neither")

    @property
    def needs_values(self) -> bool:
        """Whether it needs the values of sensitive variables."""
        return self.l_required is not None or self.t_required is not None

    def met(self, f_k: np.ndarray, values: tuple[ValueCounts, ...]) -> np.ndarray:
        """Which classes meet it; a class without a known sensitive value fails l-diversity and t-closeness."""
        met = f_k >= self.k_required
        for counts in values:
            # Classes that have failed need no measuring.
            here = met[counts.class_]
            counts = replace(counts, class_=counts.class_[here], value=counts.value[here], count=counts.count[here])
            if self.l_required is not None:
                if self.l_kind == "recursive":
                    l_achieved = recursive_l(counts, c=self.recursive_c)
                else:
                    l_achieved = (distinct_l if self.l_kind == "distinct" else entropy_l)(counts)
                met &= l_achieved >= self.l_required * (1 - _THRESHOLD_ROUNDING)
            if self.t_required is not None:
                if self.distance_hierarchy is not None:
                    distances = hierarchical_distance(counts, self.distance_hierarchy)
                else:
                    distances = (equal_distance if self.distance == "equal" else ordered_distance)(counts)
                met &= distances <= self.t_required + _THRESHOLD_ROUNDING
        return met

    def kept(self, classes: NodeClasses, patterns: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Which classes stay, and how many of the records that stay each is compatible with.

        Where no key is a wildcard (`patterns` is None), removing a class leaves the others as they were. Otherwise a
        removed record was also counted with others: all that fail are removed and the rest counted anew, until none
        fails. For k alone no removal leaves more records.
        """
        if patterns is None:
            return self.met(classes.records, classes.values), classes.records
        kept, f_k = np.ones(len(patterns), dtype=bool), np.zeros(len(patterns), dtype=np.int64)
        while kept.any():
            f_k[kept] = compatible_sums(patterns[kept], classes.records[kept])
            rows, values = np.flatnonzero(kept), []
            for counts in classes.values:
                here = kept[counts.class_]
                own = np.searchsorted(rows, counts.class_[here]), counts.value[here], counts.count[here]
                class_, value, count = compatible_counts(patterns[rows], *own, len(counts.values))
                values.append(replace(counts, class_=rows[class_], value=value, count=count))
            met = kept & self.met(f_k, tuple(values))
            if (met == kept).all():
                break
            kept = met
        return kept, f_k


def check_k_of_file(k_required: int, n: int) -> None:
    """Raise an `OptionError` where a file has fewer records than one class must have."""
    if k_required > n:
        raise OptionError(f"k_required is {k_required} and there are {n} records; no class can be that large")


#: Nodes that a search may have: some minutes for a file of ordinary size.
MOST_NODES = 200_000

Node = tuple[int, ...]


@dataclass(frozen=True)
class KeyLevels:
    """One key at every level of its hierarchy, as codes in the order of the class table's values.

    The last code is that of the missing value: after all others, except at a level where it equals all of them.
    """

    codes: np.ndarray  # (height + 1, values + 1) at each level the code of each value
    sizes: tuple[int, ...]  # Codes of each level, the missing value's included
    nested: bool  # Values of the file that are equal at a level are equal at the next

    @classmethod
    def of(cls, labels: Sequence[list], alike: Sequence[bool]) -> KeyLevels:
        """From the label of each value at each level, 0 first, and whether missing values share one label with all."""
        numbers = np.array([pd.factorize(pd.Series(level, dtype=object))[0] for level in labels])
        nested = True
        for fine, coarse in zip(numbers, numbers[1:]):
            parent = np.empty(fine.max() + 1, dtype=np.intp)
            parent[fine] = coarse
            nested &= bool((parent[fine] == coarse).all())
        # Sorted from the top down, so that nested codes rise together at all levels.
        order = np.lexsort(numbers)
        codes = np.empty((len(numbers), numbers.shape[1] + 1), dtype=np.int32)
        sizes = []
        for level, number in enumerate(numbers):
            codes[level, order], seen = pd.factorize(number[order])
            sizes.append(len(seen) + 1)
            codes[level, -1] = 0 if alike[level] else len(seen)
        return cls(codes, tuple(sizes), nested)

    @property
    def height(self) -> int:
        """The highest level."""
        return len(self.codes) - 1

    def mapping(self, level: int) -> np.ndarray:
        """Codes at a level by the codes of the level below it; where levels do not nest, by those of level 0."""
        source = level - 1 if self.nested else 0
        mapping = np.empty(self.sizes[source], dtype=np.int32)
        mapping[self.codes[source]] = self.codes[level]
        return mapping


@dataclass(frozen=True)
class LevelSpace:
    """All nodes of a file: every choice of one level for each key."""

    table: ClassTable  # The classes at level 0
    keys: tuple[KeyLevels, ...]  # In the order of the spec's key variables
    values: tuple[ValueCounts, ...] = ()  # Of each sensitive variable, among the records of each class itself

    @classmethod
    def of(
        cls, frame: pd.DataFrame, hierarchies: Mapping[str, Hierarchy], spec: KeySpec, *, sensitive: Sequence[str] = ()
    ) -> LevelSpace:
        """Group a file by its keys; a key without a hierarchy has level 0 alone."""
        if strange := [name for name in hierarchies if name not in spec.key_variables]:
            raise OptionError(f"{shortened(str(strange[0]))} has a hierarchy and is not a key variable; make it one")
        nodes = prod(hierarchy.height + 1 for hierarchy in hierarchies.values())
        if nodes > MOST_NODES:
            raise OptionError(f"{nodes:,} nodes are too many (the most is {MOST_NODES:,}); leave out some levels")
        refuse_person(spec, "a search of levels")
        table = class_table(frame, spec)
        ladders = [hierarchies.get(name, Hierarchy(())) for name in spec.key_variables]
        keys = []
        for name, labels, ladder in zip(spec.key_variables, table.labels, ladders):
            alike = [ladder.anything(level) is not None for level in range(ladder.height + 1)]
            keys.append(KeyLevels.of(level_labels(frame[name], labels, ladder), alike))
        values = []
        for name in sensitive:
            counts = table.sensitive_counts(name)
            if (table.f_k != table.records).any():
                # Values in each class itself, not in all that are compatible; missing is the last value, and left out.
                own = class_table(frame, replace(spec, missing="category")).sensitive_counts(name)
                known = own.value < len(counts.values)
                counts = replace(counts, class_=own.class_[known], value=own.value[known], count=own.count[known])
            values.append(counts)
        return cls(table, tuple(keys), tuple(values))

    @cached_property
    def has_wildcards(self) -> bool:
        """Whether a missing key may be any value, and a key is missing."""
        return self.table.spec.missing == "wildcard" and bool((self.table.codes < 0).any())

    def sizes(self, node: Node) -> list[int]:
        """Codes of each key at the levels of a node."""
        return [key.sizes[level] for key, level in zip(self.keys, node)]

    def nodes(self) -> Iterator[tuple[Node, NodeClasses]]:
        """Every node with its classes, each merged from those of a node below it."""
        # The key with most levels comes last: it is rolled up innermost, where classes are few and stay sorted.
        order = sorted(range(len(self.keys)), key=lambda j: self.keys[j].height)
        back = np.argsort(order)
        keys = [self.keys[j] for j in order]
        bottom = NodeClasses(self._codes((0,) * len(self.keys))[order], self.table.records, self.values)
        start, _ = bottom.merged([key.sizes[0] for key in keys])
        for node, classes in _walk(keys, (0,) * len(keys), start, 0):
            yield tuple(node[i] for i in back), replace(classes, codes=classes.codes[back])

    def at(self, node: Node) -> tuple[NodeClasses, np.ndarray]:
        """The classes of one node, and the class of each record."""
        classes, group = NodeClasses(self._codes(node), self.table.records, self.values).merged(self.sizes(node))
        return classes, group[self.table.class_of_record]

    def patterns(self, node: Node, classes: NodeClasses) -> np.ndarray | None:
        """Codes of a node's classes as `compatible_sums` takes them, shape (classes, keys): -1 where missing.

        None where no key is a wildcard.
        """
        if not self.has_wildcards:
            return None
        codes = classes.codes.T
        return np.where(codes == np.array(self.sizes(node)) - 1, -1, codes)

    def _codes(self, node: Node) -> np.ndarray:
        # Position -1, missing, is the last of the codes.
        columns = zip(self.keys, node, self.table.codes.T)
        return np.array([key.codes[level][column] for key, level, column in columns])


def _walk(keys: Sequence[KeyLevels], node: Node, classes: NodeClasses, j: int) -> Iterator[tuple[Node, NodeClasses]]:
    """Every node that differs from `node` at most in the keys from `j` on, which are at level 0 there."""
    if j == len(keys):
        yield node, classes
        return
    key, finest = keys[j], classes
    for level in range(key.height + 1):
        node = (*node[:j], level, *node[j + 1 :])
        if level:
            sizes = [other.sizes[at] for other, at in zip(keys, node)]
            source = classes if key.nested else finest
            classes = source.rolled_up(j, key.mapping(level), sizes, rising=key.nested)
        yield from _walk(keys, node, classes, j + 1)


def level_labels(column: pd.Series, values: pd.Index, hierarchy: Hierarchy) -> list[list]:
    """The label of each value at each level."""
    if not len(values):
        raise DataError(f"column {shortened(str(column.name))} has no value; leave the variable out")
    labels = [hierarchy.labels(values, level) for level in range(hierarchy.height + 1)]
    for level, of_values in enumerate(labels[1:], start=1):
        if None in of_values:
            hierarchy.recode(column, level)  # raises, and names the row
    return labels
