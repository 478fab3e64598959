"""Risk of re-identification: of records, households and a file, and the attack by linkage."""

from kanon_lab.risk.file import FileRisk, file_risk
from kanon_lab.risk.households import household_risk
from kanon_lab.risk.individual import ESTIMATORS, individual_risk
from kanon_lab.risk.linkage import LinkageResult, linkage_attack

__all__ = [
    "ESTIMATORS",
    "FileRisk",
    "LinkageResult",
    "file_risk",
    "household_risk",
    "individual_risk",
    "linkage_attack",
]
