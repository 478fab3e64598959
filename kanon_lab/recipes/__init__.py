"""Protection of a file: a chain of steps with risk and utility after each, recipes, and the map of many recipes."""

from kanon_lab.recipes.chain import Protection, Recipe, as_recipe, protect, read_recipe, write_recipe
from kanon_lab.recipes.exposure import dependent_columns
from kanon_lab.recipes.frontier import MEASURES, Measure, cheapest, costs, frontier, measure_of
from kanon_lab.recipes.grid import Candidate, planned
from kanon_lab.recipes.households import household_disclosure, household_file, merge_households
from kanon_lab.recipes.released import prove_absent, released_columns
from kanon_lab.recipes.risk_map import RiskUtilityMap, risk_utility_map
from kanon_lab.recipes.settings import as_indicators
from kanon_lab.recipes.state import State, Step, final_claims, final_indicators
from kanon_lab.recipes.steps import STEPS
from kanon_lab.recipes.verdict import judge

__all__ = [
    "Candidate",
    "MEASURES",
    "Measure",
    "Protection",
    "Recipe",
    "RiskUtilityMap",
    "STEPS",
    "State",
    "Step",
    "as_indicators",
    "as_recipe",
    "cheapest",
    "costs",
    "dependent_columns",
    "final_claims",
    "final_indicators",
    "frontier",
    "household_disclosure",
    "household_file",
    "judge",
    "measure_of",
    "merge_households",
    "planned",
    "protect",
    "prove_absent",
    "read_recipe",
    "released_columns",
    "risk_utility_map",
    "write_recipe",
]
