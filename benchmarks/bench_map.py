"""The risk-utility map: a grid of 30 recipes with first steps shared or not, in one process and in two.

The recipes recode age in five ways, remove a key or none of three, and suppress for two k.
"""

from generators import keys
from harness import Question

import kanon_lab

RECIPE = {
    "key_variables": ["region", "age", "marital", "occupation"],
    "steps": ["$ages", "$gone", {"suppress": {"k_required": "$k"}}],
}
BANDS = {f"bands of {width}": [*range(1, 14, width), None] for width in (1, 2, 3, 5, 7)}
GRID = {
    "ages": {name: {"recode": {"variable": "age", "bands": bands, "closed": "left"}} for name, bands in BANDS.items()},
    "gone": {"none": None, **{name: {"remove_variables": {"variables": name}} for name in ("region", "occupation")}},
    "k": [3, 5],
}


def shared(workers):
    return lambda frame: kanon_lab.recipes.risk_utility_map(frame, RECIPE, GRID, workers=workers, progress=False)


def one_by_one(frame):
    for candidate in kanon_lab.recipes.grid_candidates(RECIPE, GRID):
        candidate.recipe.apply(frame)


QUESTION = Question(
    "A map of 30 recipes",
    keys,
    {"steps shared, 1 process": shared(1), "steps shared, 2 processes": shared(2), "one after the other": one_by_one},
    processes=True,
    sizes=(2_000, 10_000, 50_000, 250_000),
)
