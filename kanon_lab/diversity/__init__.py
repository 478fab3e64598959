"""Diversity of sensitive values in the classes of a file: l-diversity, t-closeness and their kin."""

from kanon_lab.diversity.bands import Bands
from kanon_lab.diversity.closeness import DISTANCES, equal_distance, hierarchical_distance, ordered_distance
from kanon_lab.diversity.gain import beta_likeness, delta_disclosure, enhanced_beta_likeness
from kanon_lab.diversity.measures import (
    MEASURES,
    AlphaK,
    Diversity,
    PSensitivity,
    alpha_k,
    diversity,
    p_sensitivity,
)
from kanon_lab.diversity.variety import distinct_l, entropy_l, largest_share, recursive_l

__all__ = [
    "DISTANCES",
    "MEASURES",
    "AlphaK",
    "Bands",
    "Diversity",
    "PSensitivity",
    "alpha_k",
    "beta_likeness",
    "delta_disclosure",
    "distinct_l",
    "diversity",
    "enhanced_beta_likeness",
    "entropy_l",
    "equal_distance",
    "hierarchical_distance",
    "largest_share",
    "ordered_distance",
    "p_sensitivity",
    "recursive_l",
]
