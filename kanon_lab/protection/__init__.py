"""Protection of a file: a chain of steps with risk and utility after each, undo, and recipes."""

from kanon_lab.protection.chain import Protection, protect
from kanon_lab.protection.disclosed import dependent_columns, household_disclosure
from kanon_lab.protection.file_settings import as_indicators
from kanon_lab.protection.households import household_file, merge_households
from kanon_lab.protection.identifiers import prove_absent
from kanon_lab.protection.judged import judge
from kanon_lab.protection.recipe import Recipe, as_recipe, read_recipe, write_recipe
from kanon_lab.protection.released import released_columns
from kanon_lab.protection.state import State, Step
from kanon_lab.protection.steps import STEPS
from kanon_lab.protection.verdict import final_claims, final_indicators

__all__ = [
    "STEPS",
    "Protection",
    "Recipe",
    "State",
    "Step",
    "as_indicators",
    "as_recipe",
    "final_claims",
    "final_indicators",
    "household_file",
    "judge",
    "merge_households",
    "prove_absent",
    "protect",
    "read_recipe",
    "released_columns",
    "household_disclosure",
    "dependent_columns",
    "write_recipe",
]
