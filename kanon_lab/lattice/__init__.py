"""Protection by generalising: the optimal levels of hierarchies, and Mondrian's multidimensional partitions."""

from kanon_lab.lattice.full_domain import LOSSES, LatticeResult, search
from kanon_lab.lattice.grid import level_grid
from kanon_lab.lattice.mondrian import MondrianResult, mondrian
from kanon_lab.lattice.requirement import L_KINDS
from kanon_lab.lattice.space import MOST_NODES

__all__ = [
    "LOSSES",
    "L_KINDS",
    "MOST_NODES",
    "LatticeResult",
    "MondrianResult",
    "level_grid",
    "mondrian",
    "search",
]
