"""Data sets: their catalogue, readers of population counts and of microdata, downloads, and what the package embeds."""

from kanon_lab.loading import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "counts": "load_counts national_totals read_counts",
        "labels": "check_counts",
        "microdata": "MicrodataFile load_microdata read_file read_microdata usual_marks",
        "sets": "PROVINCES catalogue data_path fetch",
        "tables": "parse_columns",
        "writing": "write_microdata",
    },
)
