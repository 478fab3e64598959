"""What a sample tells of its population: the subsample study (Garín i Ramírez 1996) and other estimators."""

from kanon_lab.loading import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "curve": "area_threshold expected_study frequency_control uniqueness_curve",
        "estimators": "METHODS population_uniques",
        "scenarios": "Scenarios TRIAL_METHODS detail_grid population_sizes scenario_grid study_trials",
        "study": "SubsampleRisk subsample_risk",
    },
)
