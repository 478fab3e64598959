"""Equivalence classes of a microdata file: the class table, from which every other measure is taken."""

from kanon_lab.classes.compatible import compatible_counts, compatible_sums
from kanon_lab.classes.known import with_population
from kanon_lab.classes.subsets import key_grid
from kanon_lab.classes.table import ClassTable, ValueCounts, class_table

__all__ = [
    "ClassTable",
    "ValueCounts",
    "class_table",
    "compatible_counts",
    "compatible_sums",
    "key_grid",
    "with_population",
]
