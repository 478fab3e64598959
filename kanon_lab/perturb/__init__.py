"""Perturbation: values are changed, not taken away, so that no released one need be true."""

from kanon_lab.perturb.microaggregation import KEEPS as _MICROAGGREGATE
from kanon_lab.perturb.microaggregation import microaggregate
from kanon_lab.perturb.noise import KEEPS as _NOISE
from kanon_lab.perturb.noise import add_noise
from kanon_lab.perturb.pram import KEEPS as _PRAM
from kanon_lab.perturb.pram import pram
from kanon_lab.perturb.rank_swap import KEEPS as _RANK_SWAP
from kanon_lab.perturb.rank_swap import rank_swap
from kanon_lab.perturb.result import Keep, Perturbed
from kanon_lab.perturb.shuffle import KEEPS as _SHUFFLE
from kanon_lab.perturb.shuffle import shuffle
from kanon_lab.perturb.transition import (
    estimated_shares,
    invariant_matrix,
    posterior,
    redrawing_matrix,
    shares_covariance,
    transition_matrix,
)

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
    "Keep",
    "Perturbed",
    "add_noise",
    "estimated_shares",
    "invariant_matrix",
    "microaggregate",
    "posterior",
    "pram",
    "rank_swap",
    "redrawing_matrix",
    "shares_covariance",
    "shuffle",
    "transition_matrix",
]
