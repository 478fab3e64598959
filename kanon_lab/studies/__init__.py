"""What only the four studies need: their published figures and the audit, the inverse problem, the synthetic census."""

from kanon_lab.loading import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "census": "CATALAN_KEYS CATALAN_LEVELS Census catalan_census catalan_codes census_parameters",
        "figures": "CITATIONS KINDS SOURCES as_printed explanation published_figures",
        "inverse": """PRINTED_RANGES Reconstruction compare_cells compare_reconstructions one_person_transfers
            printed_row printed_table reconstruct_cells""",
        "verdicts": "VERDICTS Audit audit",
    },
)
