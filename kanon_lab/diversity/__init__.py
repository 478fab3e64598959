"""Diversity of sensitive values in the classes of a file: l-diversity, t-closeness and their kin."""

from kanon_lab.diversity.bands import Bands
from kanon_lab.diversity.closeness import DISTANCES
from kanon_lab.diversity.measures import MEASURES, AlphaK, Diversity, PSensitivity, alpha_k, diversity, p_sensitivity

__all__ = [
    "DISTANCES",
    "MEASURES",
    "AlphaK",
    "Bands",
    "Diversity",
    "PSensitivity",
    "alpha_k",
    "diversity",
    "p_sensitivity",
]
