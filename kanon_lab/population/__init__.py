"""Anonymity of a population known only as counts: expectation, exact variance, simulation."""

from kanon_lab.population.anonymity import anonymity, simulate
from kanon_lab.population.law import (
    CUADRO_1_RANGES,
    CUADRO_2_RANGES,
    PERIODS,
    KRange,
    covariance_in_ranges,
    parse_ranges,
    persons_by_k,
    persons_in_ranges,
    variance_in_ranges,
)

__all__ = [
    "CUADRO_1_RANGES",
    "CUADRO_2_RANGES",
    "PERIODS",
    "KRange",
    "anonymity",
    "covariance_in_ranges",
    "parse_ranges",
    "persons_by_k",
    "persons_in_ranges",
    "simulate",
    "variance_in_ranges",
]
