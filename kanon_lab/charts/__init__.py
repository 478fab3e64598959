"""Altair charts from finished result frames: aggregates only, never microdata.

The functions need altair (``pip install 'kanon-lab[report]'``) when called, not when imported. Every chart says what it
shows in its title and in its ``description``, the alternative text. `kanon_lab.page.figure` makes it fit a page.
"""

from kanon_lab.charts.explorer import explorer
from kanon_lab.charts.keys import key_explorer
from kanon_lab.charts.levels import level_explorer, nodes
from kanon_lab.charts.microdata import attack, class_distribution, class_sizes
from kanon_lab.charts.population import alone, distribution, figura_1, provinces
from kanon_lab.charts.published import audit_overview, reconstruction

__all__ = [
    "alone",
    "attack",
    "audit_overview",
    "class_distribution",
    "class_sizes",
    "distribution",
    "explorer",
    "figura_1",
    "key_explorer",
    "level_explorer",
    "nodes",
    "provinces",
    "reconstruction",
]
