"""What only the four studies need: their published figures and the audit, the inverse problem, the synthetic census."""

from kanon_lab.studies.census import (
    CATALAN_KEYS,
    CATALAN_LEVELS,
    Census,
    catalan_census,
    catalan_codes,
    census_parameters,
)
from kanon_lab.studies.figures import CITATIONS, KINDS, SOURCES, as_printed, explanation, published_figures
from kanon_lab.studies.inverse import (
    PRINTED_RANGES,
    Reconstruction,
    compare_cells,
    compare_reconstructions,
    one_person_transfers,
    printed_row,
    printed_table,
    reconstruct_cells,
)
from kanon_lab.studies.verdicts import VERDICTS, Audit, audit

__all__ = [
    "CATALAN_KEYS",
    "CATALAN_LEVELS",
    "CITATIONS",
    "KINDS",
    "PRINTED_RANGES",
    "SOURCES",
    "VERDICTS",
    "Audit",
    "Census",
    "Reconstruction",
    "as_printed",
    "audit",
    "catalan_census",
    "catalan_codes",
    "census_parameters",
    "compare_cells",
    "compare_reconstructions",
    "explanation",
    "one_person_transfers",
    "printed_row",
    "printed_table",
    "published_figures",
    "reconstruct_cells",
]
