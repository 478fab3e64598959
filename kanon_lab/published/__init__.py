"""The published figures of the four studies, and their audit: what was printed against what we compute."""

from kanon_lab.published.audit import VERDICTS, Audit, audit
from kanon_lab.published.explain import explanation
from kanon_lab.published.figures import CITATIONS, KINDS, SOURCES, as_printed, published_figures

__all__ = [
    "CITATIONS",
    "KINDS",
    "SOURCES",
    "VERDICTS",
    "Audit",
    "as_printed",
    "audit",
    "explanation",
    "published_figures",
]
