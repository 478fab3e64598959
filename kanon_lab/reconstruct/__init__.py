"""Populations from published tables (an inverse problem) and fitted synthetic ones."""

from kanon_lab.reconstruct.census import (
    CATALAN_KEYS,
    CATALAN_LEVELS,
    Census,
    catalan_census,
    catalan_codes,
    census_parameters,
)
from kanon_lab.reconstruct.compare import compare_cells, compare_reconstructions, one_person_transfers
from kanon_lab.reconstruct.fitted import draw_whole, expected_cells, fit_margins, size_tilt, sizes_in_class
from kanon_lab.reconstruct.inverse import Reconstruction, reconstruct_cells
from kanon_lab.reconstruct.labels import assign_labels
from kanon_lab.reconstruct.printed import PRINTED_RANGES, printed_row, printed_table

__all__ = [
    "CATALAN_KEYS",
    "CATALAN_LEVELS",
    "PRINTED_RANGES",
    "Census",
    "Reconstruction",
    "assign_labels",
    "catalan_census",
    "catalan_codes",
    "census_parameters",
    "compare_cells",
    "compare_reconstructions",
    "draw_whole",
    "expected_cells",
    "fit_margins",
    "one_person_transfers",
    "printed_row",
    "printed_table",
    "reconstruct_cells",
    "size_tilt",
    "sizes_in_class",
]
