"""Data sets: their catalogue, readers of population counts and of microdata, downloads, and what the package embeds."""

from kanon_lab.data.counts import load_counts, national_totals, read_counts
from kanon_lab.data.labels import check_counts
from kanon_lab.data.microdata import MicrodataFile, load_microdata, read_file, read_microdata, usual_marks
from kanon_lab.data.sets import PROVINCES, catalogue, data_path, fetch
from kanon_lab.data.tables import parse_columns
from kanon_lab.data.writing import write_microdata

__all__ = [
    "PROVINCES",
    "MicrodataFile",
    "catalogue",
    "check_counts",
    "data_path",
    "fetch",
    "load_counts",
    "load_microdata",
    "national_totals",
    "parse_columns",
    "read_counts",
    "read_file",
    "read_microdata",
    "usual_marks",
    "write_microdata",
]
