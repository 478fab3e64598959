"""Finding, checking and running notebooks, and reading back what they record."""

from kanon_lab.notebooks.defaults import is_own
from kanon_lab.notebooks.finding import find_notebooks
from kanon_lab.notebooks.reading import NotebookError, of_failed_run
from kanon_lab.notebooks.recording import record, recorded
from kanon_lab.notebooks.running import check_parameters, run_notebook

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
