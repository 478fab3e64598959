"""The file grouped once, and how each key's values merge from level to level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np
import pandas as pd

from kanon_lab.classes import ClassTable, ValueCounts, class_table
from kanon_lab.errors import DataError, OptionError, shortened
from kanon_lab.keys import KeySpec
from kanon_lab.lattice.nodes import NodeClasses
from kanon_lab.recode import Hierarchy

#: Nodes that a search may have: some minutes for a file of ordinary size.
MOST_NODES = 200_000

Node = tuple[int, ...]


@dataclass(frozen=True)
class KeyLevels:
    """One key at every level of its hierarchy, as codes in the order of the class table's values.

    The last code is that of the missing value: after all others, except at a level in which it is like all of them.
    """

    codes: np.ndarray  # (height + 1, values + 1) at each level the code of each value
    sizes: tuple[int, ...]  # Codes of each level, the missing value's included
    nested: bool  # Values of the file that are equal at a level are equal at the next

    @classmethod
    def of(cls, labels: Sequence[list], alike: Sequence[bool]) -> KeyLevels:
        """From the label of each value at each level, 0 first, and whether missing values have the same one."""
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
        table = class_table(frame, spec)
        ladders = [hierarchies.get(name, Hierarchy(())) for name in spec.key_variables]
        keys = tuple(
            KeyLevels.of(
                level_labels(frame[name], values, ladder),
                [ladder.anything(level) is not None for level in range(ladder.height + 1)],
            )
            for name, values, ladder in zip(spec.key_variables, table.labels, ladders)
        )
        return cls(table, keys, tuple(_own_values(frame, table, name) for name in sensitive))

    @cached_property
    def has_wildcards(self) -> bool:
        """Whether a missing key stands for any value, and there is one."""
        return self.table.spec.missing == "wildcard" and bool((self.table.codes < 0).any())

    @property
    def size(self) -> int:
        """Number of nodes."""
        return prod(key.height + 1 for key in self.keys)

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

    def patterns(self, node: Node, classes: NodeClasses) -> np.ndarray:
        """Codes of a node's classes as `compatible_sums` takes them, shape (classes, keys): -1 where missing."""
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


def _own_values(frame: pd.DataFrame, table: ClassTable, name: str) -> ValueCounts:
    """Values of a sensitive variable among the records of each class itself, not among all that are compatible."""
    counts = table.sensitive_counts(name)
    if (table.f_k == table.records).all():
        return counts
    own = class_table(frame, replace(table.spec, missing="category")).sensitive_counts(name)
    # Missing is its last value, and none here.
    known = own.value < len(counts.values)
    return replace(counts, class_=own.class_[known], value=own.value[known], count=own.count[known])
