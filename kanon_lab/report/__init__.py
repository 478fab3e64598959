"""The report on one's own file: validated configuration -> notebook -> one offline HTML file."""

from importlib import import_module
from typing import Any

from kanon_lab.report.build import Report, make_report
from kanon_lab.report.config import ReportConfig, as_config, read_config
from kanon_lab.report.run import Run, opened

# What only the notebook needs loads when it is used: with it come packages that take a second.
_OF_NOTEBOOK = {"Analysis": "analysis", "analyse": "analysis", "SECTIONS": "sections", "section": "sections"}

__all__ = ["Report", "ReportConfig", "Run", "as_config", "make_report", "opened", "read_config", *_OF_NOTEBOOK]


def __getattr__(name: str) -> Any:
    if name not in _OF_NOTEBOOK:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_OF_NOTEBOOK[name]}"), name)
