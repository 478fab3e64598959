"""Equivalence classes of a microdata file: the class table, from which every other measure is taken."""

from kanon_lab.loading import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "counts": "by_meaning key_grid size_ranges with_population",
        "table": "ClassTable ValueCounts class_table table_of_counts",
    },
)
