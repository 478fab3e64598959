"""Protection of a file: a chain of steps with risk and utility after each, recipes, and the map of many recipes."""

from kanon_lab.loading import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "chain": "Protection Recipe as_recipe protect read_recipe write_recipe",
        "exposure": "dependent_columns",
        "grid": "Candidate grid_candidates",
        "households": "household_disclosure household_file merge_households",
        "released": "prove_absent released_columns",
        "risk_map": "RiskUtilityMap risk_utility_map",
        "settings": "as_indicators",
        "state": "State Step final_claims final_indicators",
        "steps": "STEPS",
        "tradeoff": "MEASURES Measure cheapest frontier measure_of risk_and_loss",
        "verdict": "judge",
    },
)
