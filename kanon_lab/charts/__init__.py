"""Altair charts from finished result frames: aggregates only, never microdata.

The functions need altair (``pip install 'kanon-lab[report]'``) when called, not when imported. Every chart says what it
shows in its title and in its ``description``, the alternative text. `kanon_lab.page.figure` makes it fit a page.
"""

from kanon_lab.charts.explorer import explorer
from kanon_lab.charts.population import alone, distribution, figura_1, provinces
from kanon_lab.charts.published import audit_overview, reconstruction

__all__ = [
    "alone",
    "audit_overview",
    "distribution",
    "explorer",
    "figura_1",
    "provinces",
    "reconstruction",
]
