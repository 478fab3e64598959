"""Local suppression: single key values are removed until every record is alike to enough others."""

from kanon_lab.suppress.above_risk import suppress_above_risk
from kanon_lab.suppress.claims import CLAIMS, protection_claims
from kanon_lab.suppress.local import local_suppression
from kanon_lab.suppress.result import Suppression

__all__ = ["CLAIMS", "Suppression", "local_suppression", "protection_claims", "suppress_above_risk"]
