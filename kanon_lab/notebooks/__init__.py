"""Finding, checking and running notebooks, and reading back what they record."""

from kanon_lab.loading import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "recording": "NotebookError find_notebooks record recorded",
        "running": "check_parameters is_own of_failed_run run_notebook",
    },
)
