"""The risk-utility map: many recipes on one file, what each leaves of risk and takes of utility, and the best."""

from kanon_lab.tradeoff.best import cheapest, costs, frontier
from kanon_lab.tradeoff.grid import Candidate, planned
from kanon_lab.tradeoff.measures import MEASURES, Measure, measure_of
from kanon_lab.tradeoff.result import RiskUtilityMap
from kanon_lab.tradeoff.run import risk_utility_map

__all__ = [
    "MEASURES",
    "Candidate",
    "Measure",
    "RiskUtilityMap",
    "cheapest",
    "costs",
    "frontier",
    "measure_of",
    "planned",
    "risk_utility_map",
]
