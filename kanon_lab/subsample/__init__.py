"""The subsample study: how many records unique in a sample are unique in the population (Garín i Ramírez 1996)."""

from kanon_lab.subsample.curve import expected_study, uniqueness_curve
from kanon_lab.subsample.detail import area_threshold, frequency_control
from kanon_lab.subsample.estimators import METHODS, population_uniques
from kanon_lab.subsample.grid import detail_grid
from kanon_lab.subsample.result import SubsampleRisk
from kanon_lab.subsample.scenarios import Scenarios, scenario_grid
from kanon_lab.subsample.simulate import TRIAL_METHODS, study_trials
from kanon_lab.subsample.sizes import population_sizes
from kanon_lab.subsample.study import subsample_risk

__all__ = [
    "METHODS",
    "Scenarios",
    "SubsampleRisk",
    "TRIAL_METHODS",
    "area_threshold",
    "detail_grid",
    "expected_study",
    "frequency_control",
    "population_sizes",
    "population_uniques",
    "scenario_grid",
    "study_trials",
    "subsample_risk",
    "uniqueness_curve",
]
