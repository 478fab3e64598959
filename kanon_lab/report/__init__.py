"""The report on one's own file: validated configuration -> notebook -> one offline HTML file."""

from kanon_lab.loading import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "analysis": "Analysis analyse",
        "build": "Report make_report",
        "config": "ReportConfig Run as_config open_run read_config",
        "sections": "SECTIONS section",
    },
)
