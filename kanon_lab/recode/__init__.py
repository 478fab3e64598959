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
    "recode_step",
    "round_values",
    "suppress_records",
    "top_code",
]


def __getattr__(name: str):
    if name == "recode_step":  # it reads settings, whose models take a while to load
        from kanon_lab.recode.steps import recode_step

        return recode_step
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
