"""Anonymity of a population known only as counts: expectation, exact variance, simulation."""

from kanon_lab.population.anonymity import anonymity
from kanon_lab.population.law import (
    PERIODS,
    covariance_in_ranges,
    persons_by_k,
    persons_in_ranges,
    variance_in_ranges,
)
from kanon_lab.population.ranges import CUADRO_1_RANGES, CUADRO_2_RANGES, KRange, parse_ranges
from kanon_lab.population.simulate import simulate

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
