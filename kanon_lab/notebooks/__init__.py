"""Finding, checking and running notebooks, and reading back what they record."""

from kanon_lab.notebooks.reading import NotebookError, find_notebooks, of_failed_run
from kanon_lab.notebooks.recording import record, recorded
from kanon_lab.notebooks.running import check_parameters, is_own, run_notebook

__all__ = [
    "NotebookError",
    "check_parameters",
    "find_notebooks",
    "is_own",
    "of_failed_run",
    "record",
    "recorded",
    "run_notebook",
]
