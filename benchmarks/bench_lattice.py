"""The best of 1512 nodes of a file the size of Adult, Mondrian, and a scan of nodes by pandas, in one run.

    python benchmarks/bench_lattice.py [--repeats 5] [--records 32561] [--pandas-nodes 60]

The file is made from a seed: six keys whose hierarchies have 7, 4, 3, 3, 3 and 2 levels, and a sensitive variable of 14
values. Each task runs in a process of its own, so that its peak memory is its own. Prints medians and ranges over the
repeats; making the file and importing are not timed. The scan by pandas takes evenly spread nodes and is extrapolated
to all of them.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import statistics
import time
from collections.abc import Callable
from itertools import product

import numpy as np
import pandas as pd

from kanon_lab.methods import Hierarchy, lattice_search, level_grid, mondrian

SEED = 1996
KEYS = {"education": 16, "workclass": 8, "marital": 7, "country": 41}
EXPONENT = {"education": 1.0, "workclass": 1.6, "marital": 1.0, "country": 2.2}


def adult_like(records: int) -> pd.DataFrame:
    """Skewed values, independent of each other, in as many categories as Adult has."""
    rng = np.random.default_rng(SEED)

    def skewed(m: int, exponent: float) -> np.ndarray:
        weights = 1 / np.arange(1, m + 1) ** exponent
        return rng.choice(m, records, p=weights / weights.sum())

    frame = pd.DataFrame({"age": np.clip(np.rint(17 + rng.gamma(2.2, 10, records)), 17, 90).astype(int)})
    for name, m in KEYS.items():
        frame[name] = [f"{name} {value:02}" for value in skewed(m, EXPONENT[name])]
    frame["sex"] = rng.choice(["man", "woman"], records, p=[0.67, 0.33])
    return frame.assign(occupation=[f"occupation {value:02}" for value in skewed(14, 0.3)])


def hierarchies() -> dict[str, Hierarchy]:
    """Seven levels of age, four of education, three, three, three and two."""
    edges = [range(15, 100, 5), range(15, 100, 10), range(15, 100, 20), [15, 55, 95], [15, 95]]
    groups = {"education": (3, 9), "workclass": (3,), "marital": (3,), "country": (10,)}
    made = {"age": Hierarchy.from_intervals(edges, closed="left", top="*", name="age")}
    for name, sizes in groups.items():
        rows = {f"{name} {v:02}": [f"group of {size}, {v // size}" for size in sizes] for v in range(KEYS[name])}
        made[name] = Hierarchy.from_mapping(rows, top="*", name=name)
    return made | {"sex": Hierarchy.from_mapping({"man": "*", "woman": "*"}, name="sex")}


def discernibility(frame: pd.DataFrame) -> None:
    """k = 10, nothing removed."""
    lattice_search(frame, hierarchies(), k_required=10)


def discernibility_removing(frame: pd.DataFrame) -> None:
    """k = 10, 2 % of the records may be removed."""
    lattice_search(frame, hierarchies(), k_required=10, suppression_limit=0.02)


def average_class_size(frame: pd.DataFrame) -> None:
    lattice_search(frame, hierarchies(), k_required=10, loss="average_class_size")


def weighted_level(frame: pd.DataFrame) -> None:
    lattice_search(frame, hierarchies(), k_required=10, loss="weighted_level")


def distinct_l(frame: pd.DataFrame) -> None:
    """k = 5 and distinct 3-diversity, 2 % removed at most; so the next ones."""
    diverse(frame, l_required=3)


def entropy_l(frame: pd.DataFrame) -> None:
    diverse(frame, l_required=3, l_kind="entropy")


def recursive_l(frame: pd.DataFrame) -> None:
    diverse(frame, l_required=3, l_kind="recursive")


def t_closeness(frame: pd.DataFrame) -> None:
    diverse(frame, t_required=0.3)


def diverse(frame: pd.DataFrame, **options: object) -> None:
    lattice_search(frame, hierarchies(), k_required=5, suppression_limit=0.02, sensitive="occupation", **options)


def wildcards(frame: pd.DataFrame) -> None:
    """k = 10 where 0.5 % of each key is missing and compatible with anything."""
    rng = np.random.default_rng(SEED)
    gaps = {name: frame[name].astype(object).mask(rng.random(len(frame)) < 0.005) for name in hierarchies()}
    lattice_search(frame.assign(**gaps), hierarchies(), k_required=10)


def all_counts(frame: pd.DataFrame) -> None:
    """The explorers' grid."""
    level_grid(frame, hierarchies())


def mondrian_strict(frame: pd.DataFrame) -> None:
    """k = 10, age by numbers, the other keys by their hierarchies."""
    mondrian(frame, k_required=10, keys=list(hierarchies()), hierarchies=by_tree())


def mondrian_relaxed(frame: pd.DataFrame) -> None:
    mondrian(frame, k_required=10, keys=list(hierarchies()), hierarchies=by_tree(), strict=False)


def by_tree() -> dict[str, Hierarchy]:
    return {name: hierarchy for name, hierarchy in hierarchies().items() if name != "age"}


def pandas_scan(frame: pd.DataFrame, nodes: int) -> tuple[float, int]:
    """Seconds of grouping by pandas at so many nodes, from columns recoded beforehand; and how many nodes there are."""
    made = hierarchies()
    recoded = {
        (name, level): hierarchy.recode(frame[name], level).astype("category")
        for name, hierarchy in made.items()
        for level in range(hierarchy.height + 1)
    }
    every = list(product(*(range(hierarchy.height + 1) for hierarchy in made.values())))
    chosen = every[:: max(1, len(every) // nodes)]
    start = time.perf_counter()
    for node in chosen:
        columns = [recoded[name, level] for name, level in zip(made, node)]
        sizes = frame["age"].groupby(columns, observed=True).size()
        int((sizes[sizes >= 10] ** 2).sum())
    return (time.perf_counter() - start) / len(chosen), len(every)


TASKS = (
    discernibility,
    discernibility_removing,
    average_class_size,
    weighted_level,
    distinct_l,
    entropy_l,
    recursive_l,
    t_closeness,
    wildcards,
    all_counts,
    mondrian_strict,
    mondrian_relaxed,
)


def measure(task: Callable[[pd.DataFrame], None], records: int, repeats: int) -> tuple[list[float], float]:
    """Seconds of each repeat, and peak memory in MB."""
    frame = adult_like(records)
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        task(frame)
        seconds.append(time.perf_counter() - start)
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--records", type=int, default=32_561)
    parser.add_argument("--pandas-nodes", type=int, default=60)
    options = parser.parse_args()
    print(f"{options.records} records, 1512 nodes, {options.repeats} repeats")
    print(f"{'task':26}{'median s':>10}{'min':>8}{'max':>8}{'peak MB':>9}")
    for task in TASKS:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            seconds, peak = pool.apply(measure, (task, options.records, options.repeats))
        spread = f"{statistics.median(seconds):10.2f}{min(seconds):8.2f}{max(seconds):8.2f}"
        print(f"{task.__name__:26}{spread}{peak:9.0f}", flush=True)
    each, nodes = pandas_scan(adult_like(options.records), options.pandas_nodes)
    print(f"pandas groupby: {each * 1000:.1f} ms a node, {each * nodes:.1f} s for all {nodes}")


if __name__ == "__main__":
    main()
