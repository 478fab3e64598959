"""Methods of protection: recoding and hierarchies, suppression, perturbation, generalisation of whole files."""

from kanon_lab.methods.full_domain import LOSSES, LatticeResult, level_grid, search
from kanon_lab.methods.global_recoding import (
    cut_bands,
    generalise,
    generalise_records,
    group_categories,
    suppress_records,
)
from kanon_lab.methods.hierarchy import Hierarchy
from kanon_lab.methods.lattice import L_KINDS, MOST_NODES
from kanon_lab.methods.local_suppression import local_suppression
from kanon_lab.methods.microaggregation import KEEPS as _MICROAGGREGATE
from kanon_lab.methods.microaggregation import microaggregate
from kanon_lab.methods.mondrian import MondrianResult, mondrian
from kanon_lab.methods.noise import KEEPS as _NOISE
from kanon_lab.methods.noise import add_noise
from kanon_lab.methods.numeric_coding import bottom_code, round_values, top_code
from kanon_lab.methods.perturbation import Keep, Perturbed
from kanon_lab.methods.pram import KEEPS as _PRAM
from kanon_lab.methods.pram import pram
from kanon_lab.methods.rank_swap import KEEPS as _RANK_SWAP
from kanon_lab.methods.rank_swap import rank_swap
from kanon_lab.methods.shuffle import KEEPS as _SHUFFLE
from kanon_lab.methods.shuffle import shuffle
from kanon_lab.methods.suppression import CLAIMS, Suppression, protection_claims, suppress_above_risk
from kanon_lab.methods.transition import (
    estimated_shares,
    invariant_matrix,
    posterior,
    redrawing_matrix,
    shares_covariance,
    transition_matrix,
)
from kanon_lab.rules import recode_dates

#: Function -> method -> what it keeps.
KEEPS: dict[str, dict[str, tuple[Keep, ...]]] = {
    "pram": _PRAM,
    "microaggregate": _MICROAGGREGATE,
    "add_noise": _NOISE,
    "rank_swap": _RANK_SWAP,
    "shuffle": _SHUFFLE,
}

__all__ = [
    "KEEPS",
    "recode_step",
    "CLAIMS",
    "Hierarchy",
    "Keep",
    "LOSSES",
    "L_KINDS",
    "LatticeResult",
    "MOST_NODES",
    "MondrianResult",
    "Perturbed",
    "Suppression",
    "add_noise",
    "bottom_code",
    "cut_bands",
    "estimated_shares",
    "generalise",
    "generalise_records",
    "group_categories",
    "invariant_matrix",
    "level_grid",
    "local_suppression",
    "microaggregate",
    "mondrian",
    "posterior",
    "pram",
    "protection_claims",
    "rank_swap",
    "recode_dates",
    "redrawing_matrix",
    "round_values",
    "search",
    "shares_covariance",
    "shuffle",
    "suppress_above_risk",
    "suppress_records",
    "top_code",
    "transition_matrix",
]


def __getattr__(name: str):
    if name == "recode_step":  # it loads pydantic
        from kanon_lab.methods.recode_settings import recode_step

        return recode_step
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
