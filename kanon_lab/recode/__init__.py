"""Recoding: value hierarchies, dates, global and local generalisation, suppression of records."""

from kanon_lab.recode.dates import recode_dates
from kanon_lab.recode.hierarchy import Hierarchy
from kanon_lab.recode.records import generalise, generalise_records, suppress_records

__all__ = ["Hierarchy", "generalise", "generalise_records", "recode_dates", "suppress_records"]
