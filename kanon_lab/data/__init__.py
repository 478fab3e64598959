"""Data sets: their catalogue, readers of population counts and of microdata, downloads, and what the package embeds."""

from kanon_lab.data.checks import check_counts
from kanon_lab.data.counts import national_totals, read_counts
from kanon_lab.data.download import fetch
from kanon_lab.data.file import MicrodataFile, read_file
from kanon_lab.data.load import load_counts
from kanon_lab.data.microdata import load_microdata, read_microdata, usual_marks
from kanon_lab.data.provinces import PROVINCES
from kanon_lab.data.sets import catalogue, data_path
from kanon_lab.data.table import parse_columns
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
