"""Measures of a file: risk of re-identification, diversity of sensitive values, and what a release has lost."""

from kanon_lab.measures.class_diversity import DISTANCES
from kanon_lab.measures.disclosed_quantities import Interval, Linked, interval_disclosure, record_linkage
from kanon_lab.measures.extreme_values import Outliers, Robust, UpperTail, outliers, robust_disclosure, upper_tail
from kanon_lab.measures.file_measures import Measures, measure
from kanon_lab.measures.global_risk import (
    FileRisk,
    attacker_risks,
    file_risk,
    household_risk,
    household_risks,
    household_size,
    with_household_composition,
    with_household_size,
)
from kanon_lab.measures.information_loss import (
    average_class_size,
    discernibility,
    granularity,
    non_uniform_entropy,
    table_distances,
)
from kanon_lab.measures.linkage import LinkageResult, linkage_attack
from kanon_lab.measures.loglinear_model import LogLinear, loglinear
from kanon_lab.measures.numeric_loss import QuantityLoss, quantity_loss
from kanon_lab.measures.propensity_scores import Propensity, propensity
from kanon_lab.measures.record_risk import ESTIMATORS, Above, individual_risk, records_above
from kanon_lab.measures.sensitive_values import (
    MEASURES,
    AlphaK,
    Bands,
    Diversity,
    PSensitivity,
    alpha_k,
    diversity,
    p_sensitivity,
)
from kanon_lab.measures.special_uniques import Suda, suda
from kanon_lab.measures.survey_design import Design
from kanon_lab.measures.survey_indicators import IndicatorSet, compare_indicators, indicator_loss, indicators

__all__ = [
    "Measures",
    "measure",
    "Above",
    "AlphaK",
    "Bands",
    "DISTANCES",
    "Design",
    "Diversity",
    "ESTIMATORS",
    "FileRisk",
    "IndicatorSet",
    "Interval",
    "LinkageResult",
    "Linked",
    "LogLinear",
    "MEASURES",
    "Outliers",
    "PSensitivity",
    "Propensity",
    "QuantityLoss",
    "Robust",
    "Suda",
    "UpperTail",
    "alpha_k",
    "attacker_risks",
    "average_class_size",
    "compare_indicators",
    "discernibility",
    "diversity",
    "file_risk",
    "granularity",
    "household_risk",
    "household_risks",
    "household_size",
    "indicator_loss",
    "indicators",
    "individual_risk",
    "interval_disclosure",
    "linkage_attack",
    "loglinear",
    "non_uniform_entropy",
    "outliers",
    "p_sensitivity",
    "propensity",
    "quantity_loss",
    "record_linkage",
    "records_above",
    "robust_disclosure",
    "suda",
    "table_distances",
    "upper_tail",
    "with_household_composition",
    "with_household_size",
]
