"""Recoding: groups, bands, tails, rounding, dates; value hierarchies; global and local generalisation."""

from kanon_lab.recode.bands import cut_bands
from kanon_lab.recode.dates import recode_dates
from kanon_lab.recode.groups import group_categories
from kanon_lab.recode.hierarchy import Hierarchy
from kanon_lab.recode.records import generalise, generalise_records, suppress_records
from kanon_lab.recode.rounding import round_values
from kanon_lab.recode.tails import bottom_code, top_code

__all__ = [
    "Hierarchy",
    "bottom_code",
    "cut_bands",
    "generalise",
    "generalise_records",
    "group_categories",
    "recode_dates",
    "round_values",
    "suppress_records",
    "top_code",
]
