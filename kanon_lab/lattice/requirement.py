"""What is asked of every class, and the classes that are left when those that fail are removed."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kanon_lab.arguments import as_share, check_choice, check_positive, is_number
from kanon_lab.classes import ValueCounts
from kanon_lab.classes.compatible import compatible_counts, compatible_sums
from kanon_lab.diversity import DISTANCES
from kanon_lab.diversity.closeness import equal_distance, hierarchical_distance, ordered_distance
from kanon_lab.diversity.variety import distinct_l, entropy_l, recursive_l
from kanon_lab.errors import OptionError
from kanon_lab.keys import check_k
from kanon_lab.lattice.nodes import NodeClasses
from kanon_lab.recode import Hierarchy

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
        """Whether a sensitive variable is part of it."""
        return self.l_required is not None or self.t_required is not None

    def met(self, f_k: np.ndarray, values: tuple[ValueCounts, ...]) -> np.ndarray:
        """Which classes meet it; a class without a known sensitive value fails where one is asked for."""
        met = f_k >= self.k_required
        for counts in values:
            # Classes that have failed need no measuring.
            here = met[counts.class_]
            counts = replace(counts, class_=counts.class_[here], value=counts.value[here], count=counts.count[here])
            if self.l_required is not None:
                met &= self._l(counts) >= self.l_required * (1 - _THRESHOLD_ROUNDING)
            if self.t_required is not None:
                met &= self._t(counts) <= self.t_required + _THRESHOLD_ROUNDING
        return met

    def _l(self, counts: ValueCounts) -> np.ndarray:
        if self.l_kind == "recursive":
            return recursive_l(counts, c=self.recursive_c)
        return (distinct_l if self.l_kind == "distinct" else entropy_l)(counts)

    def _t(self, counts: ValueCounts) -> np.ndarray:
        if self.distance == "hierarchical":
            return hierarchical_distance(counts, self.distance_hierarchy)
        return (equal_distance if self.distance == "equal" else ordered_distance)(counts)

    def kept(self, classes: NodeClasses, patterns: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Which classes stay, and how many of the records that stay each is compatible with.

        Where no key is a wildcard (`patterns` is None), removing a class leaves the others as they were. Where one is,
        a record that goes was counted with others: all that fail go, and those that stay are counted anew, until none
        fails. For k alone that leaves as many records as any removal can.
        """
        if patterns is None:
            return self.met(classes.records, classes.values), classes.records
        kept, f_k = np.ones(len(patterns), dtype=bool), np.zeros(len(patterns), dtype=np.int64)
        while kept.any():
            f_k[kept] = compatible_sums(patterns[kept], classes.records[kept])
            values = tuple(_compatible_values(each, patterns, kept) for each in classes.values)
            met = kept & self.met(f_k, values)
            if (met == kept).all():
                break
            kept = met
        return kept, f_k


def _compatible_values(counts: ValueCounts, patterns: np.ndarray, kept: np.ndarray) -> ValueCounts:
    """Values among the kept records that each kept class is compatible with."""
    rows, here = np.flatnonzero(kept), kept[counts.class_]
    own = np.searchsorted(rows, counts.class_[here]), counts.value[here], counts.count[here]
    class_, value, count = compatible_counts(patterns[rows], *own, len(counts.values))
    return replace(counts, class_=rows[class_], value=value, count=count)


def check_k_of_file(k_required: int, n: int) -> None:
    """Raise an `OptionError` where a file has fewer records than one class must have."""
    if k_required > n:
        raise OptionError(f"k_required is {k_required} and there are {n} records; no class can be that large")
