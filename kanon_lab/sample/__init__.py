"""What a sample tells of its population: the subsample study (Garín i Ramírez 1996) and other estimators."""

from kanon_lab.sample.curve import area_threshold, expected_study, frequency_control, uniqueness_curve
from kanon_lab.sample.estimators import METHODS, population_uniques
from kanon_lab.sample.scenarios import TRIAL_METHODS, Scenarios, detail_grid, scenario_grid, study_trials
from kanon_lab.sample.sizes import population_sizes
from kanon_lab.sample.study import SubsampleRisk, subsample_risk

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
