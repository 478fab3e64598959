"""Equivalence classes of a microdata file: the class table, from which every other measure is taken."""

from kanon_lab.classes.counts import by_meaning, key_grid, size_ranges, with_population
from kanon_lab.classes.table import ClassTable, ValueCounts, class_table

__all__ = ["ClassTable", "ValueCounts", "by_meaning", "class_table", "key_grid", "size_ranges", "with_population"]
