"""Risk of re-identification: of records, households and a file, and the attack by linkage.

The measures of risk are made for a sample with its weights: F_k stands for the population that the file was drawn from.
"""

from kanon_lab.risk.attackers import attacker_risks
from kanon_lab.risk.file import FileRisk, file_risk
from kanon_lab.risk.households import (
    household_risk,
    household_risks,
    household_size,
    with_household_composition,
    with_household_size,
)
from kanon_lab.risk.individual import ESTIMATORS, individual_risk
from kanon_lab.risk.intervals import Interval, interval_disclosure
from kanon_lab.risk.linkage import LinkageResult, linkage_attack
from kanon_lab.risk.loglinear import LogLinear, loglinear
from kanon_lab.risk.nearest import Linked, record_linkage
from kanon_lab.risk.robust import Outliers, Robust, outliers, robust_disclosure
from kanon_lab.risk.suda import Suda, suda
from kanon_lab.risk.tail import UpperTail, upper_tail
from kanon_lab.risk.thresholds import Above, records_above

__all__ = [
    "ESTIMATORS",
    "Above",
    "FileRisk",
    "Interval",
    "LinkageResult",
    "Linked",
    "LogLinear",
    "Outliers",
    "Robust",
    "Suda",
    "UpperTail",
    "attacker_risks",
    "file_risk",
    "household_risk",
    "household_risks",
    "household_size",
    "individual_risk",
    "interval_disclosure",
    "linkage_attack",
    "loglinear",
    "outliers",
    "record_linkage",
    "records_above",
    "robust_disclosure",
    "suda",
    "upper_tail",
    "with_household_composition",
    "with_household_size",
]
