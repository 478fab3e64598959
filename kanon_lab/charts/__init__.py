"""Altair charts from finished result frames: aggregates only, never microdata.

The functions need altair (``pip install 'kanon-lab[report]'``) when called, not when imported. Every chart says what it
shows in its title and in its ``description``, the alternative text. `kanon_lab.page.figure` makes it fit a page.
"""

from kanon_lab.charts.cost import indicator_intervals
from kanon_lab.charts.detail import detail_explorer
from kanon_lab.charts.estimates import estimates_against_truth, scenario_risks
from kanon_lab.charts.explorer import explorer
from kanon_lab.charts.fractions import area_threshold, fraction_effect
from kanon_lab.charts.keys import key_explorer
from kanon_lab.charts.levels import level_explorer, nodes
from kanon_lab.charts.microdata import attack, class_distribution, class_sizes
from kanon_lab.charts.perturbation import by_strength, groups_of_points, perturbation_explorer
from kanon_lab.charts.population import ages, alone, distribution, figura_1, provinces
from kanon_lab.charts.protection import banded, contributions, suppressed_cells, suppression_explorer
from kanon_lab.charts.published import audit_evidence, audit_overview, reconstruction
from kanon_lab.charts.risk import household_bounds, risk_by_frequency, risk_distribution, risk_explorer
from kanon_lab.charts.subsample import uniqueness_curve
from kanon_lab.charts.tradeoff import risk_utility, tradeoff_explorer

__all__ = [
    "ages",
    "alone",
    "area_threshold",
    "attack",
    "audit_evidence",
    "audit_overview",
    "banded",
    "by_strength",
    "class_distribution",
    "class_sizes",
    "contributions",
    "detail_explorer",
    "distribution",
    "estimates_against_truth",
    "explorer",
    "figura_1",
    "fraction_effect",
    "groups_of_points",
    "household_bounds",
    "indicator_intervals",
    "key_explorer",
    "level_explorer",
    "nodes",
    "perturbation_explorer",
    "provinces",
    "reconstruction",
    "risk_by_frequency",
    "risk_distribution",
    "risk_explorer",
    "risk_utility",
    "scenario_risks",
    "suppressed_cells",
    "suppression_explorer",
    "tradeoff_explorer",
    "uniqueness_curve",
]
