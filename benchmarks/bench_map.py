"""The risk-utility map: a grid of 30 recipes with and without sharing first steps, in one process and in two.

    python benchmarks/bench_map.py [--rows 5000 50000 250000] [--repeats 3]

The data are those of bench_classes.py. The recipes recode age in five ways, remove a key or none of three, and suppress
for two k. Without sharing, each recipe is applied by itself, as a loop over recipes would. Prints medians and ranges
over the repeats; making the data and importing are not timed, starting processes is.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import pandas as pd
from bench_classes import make

KEYS = ["region", "age", "marital", "occupation"]
WIDTHS = (1, 2, 3, 5, 7)
RECIPE = {"key_variables": KEYS, "steps": ["$ages", "$gone", {"suppress": {"k_required": "$k"}}]}
GRID = {
    "ages": {
        f"bands of {width}": {"recode": {"variable": "age", "bands": [*range(1, 14, width), None], "closed": "left"}}
        for width in WIDTHS
    },
    "gone": {"none": None, **{name: {"remove_variables": {"variables": name}} for name in ("region", "occupation")}},
    "k": [3, 5],
}


def one_by_one(frame: pd.DataFrame) -> None:
    """Each recipe from the file as it came."""
    from kanon_lab.recipes import grid_candidates

    for candidate in grid_candidates(RECIPE, GRID):
        candidate.recipe.apply(frame)


def shared(workers: int) -> Callable[[pd.DataFrame], None]:
    """The map, in so many processes."""

    def run(frame: pd.DataFrame) -> None:
        from kanon_lab.recipes import risk_utility_map

        risk_utility_map(frame, RECIPE, GRID, workers=workers, progress=False)

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[5_000, 50_000, 250_000])
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    tasks = {"one by one": one_by_one, "shared, 1 process": shared(1), "shared, 2 processes": shared(2)}
    print("rows  task  seconds (range)")
    for rows in arguments.rows:
        frame = make(rows)
        for name, task in tasks.items():
            seconds = []
            for _ in range(arguments.repeats):
                start = time.perf_counter()
                task(frame)
                seconds.append(time.perf_counter() - start)
            print(f"{rows:>7,}  {name:<20} {statistics.median(seconds):7.2f} s ({min(seconds):.2f}-{max(seconds):.2f})")


if __name__ == "__main__":
    main()
