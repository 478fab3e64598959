"""Utility: what a protected file has lost, measure by measure, and what its users would publish from it."""

from kanon_lab.utility.classes import average_class_size, discernibility
from kanon_lab.utility.design import Design
from kanon_lab.utility.indicators import indicators
from kanon_lab.utility.overlap import compare_indicators, indicator_loss
from kanon_lab.utility.propensity import Propensity, propensity
from kanon_lab.utility.quantities import QuantityLoss, quantity_loss
from kanon_lab.utility.tables import table_distances
from kanon_lab.utility.values import granularity, non_uniform_entropy
from kanon_lab.utility.wanted import IndicatorSet

__all__ = [
    "Design",
    "IndicatorSet",
    "Propensity",
    "QuantityLoss",
    "average_class_size",
    "compare_indicators",
    "discernibility",
    "granularity",
    "indicator_loss",
    "indicators",
    "non_uniform_entropy",
    "propensity",
    "quantity_loss",
    "table_distances",
]
