"""Equivalence classes of a microdata file: the class table, from which every other measure is taken."""

from kanon_lab.classes.known import with_population
from kanon_lab.classes.sizes import by_meaning, size_ranges
from kanon_lab.classes.subsets import key_grid
from kanon_lab.classes.table import ClassTable, ValueCounts, class_table

__all__ = ["ClassTable", "ValueCounts", "by_meaning", "class_table", "key_grid", "size_ranges", "with_population"]
