"""Noise, rank swapping and shuffling: how the time grows with the records, beside plain loops.

    python benchmarks/bench_swapping.py [--rows 1000 10000 50000 250000] [--repeats 5] [--peer-most 10000]

The data are three lognormal quantities that go with each other; the seed is fixed. A task ending in "loop" is the same
method as its definition is written, in plain Python, one record after the other; it is timed up to `--peer-most`
records, since that of rank swapping grows with their square. Prints medians and ranges over the repeats; making the
data and importing are not timed.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable

import numpy as np
import pandas as pd
from bench_classes import SEED

from kanon_lab.methods import add_noise, rank_swap, shuffle

NAMES = ["a", "b", "c"]
WINDOW, STRENGTH = 0.05, 0.1


def make(rows: int) -> pd.DataFrame:
    mixed = np.random.default_rng(SEED).normal(size=(rows, 3)) @ [[1, 0.5, 0.2], [0, 1, 0.3], [0, 0, 1]]
    return pd.DataFrame(np.exp(mixed), columns=NAMES)


def noise_loop(columns: dict[str, list[float]]) -> None:
    draw = random.Random(SEED)
    for values in columns.values():
        sd = STRENGTH * statistics.stdev(values)
        for value in values:
            value + draw.gauss(0, sd)


def rank_swap_loop(columns: dict[str, list[float]]) -> None:
    """Of those not swapped yet in the window one is drawn, from a list made for each record."""
    draw = random.Random(SEED)
    for values in columns.values():
        ranked, window = sorted(values), int(WINDOW * len(values))
        swapped = [False] * len(ranked)
        for i in range(len(ranked)):
            reach = range(i + 1, min(i + window + 1, len(ranked))) if not swapped[i] else ()
            if free := [j for j in reach if not swapped[j]]:
                j = draw.choice(free)
                ranked[i], ranked[j] = ranked[j], ranked[i]
                swapped[i] = swapped[j] = True


def shuffle_loop(columns: dict[str, list[float]]) -> None:
    """One variable, with one that is given."""
    draw, normal = random.Random(SEED), statistics.NormalDist()
    scores = []
    for values in (columns["a"], columns["c"]):
        order, score = sorted(range(len(values)), key=values.__getitem__), [0.0] * len(values)
        for rank, i in enumerate(order):
            score[i] = normal.inv_cdf((rank + 0.5) / len(values))
        scores.append(score)
    r = statistics.correlation(*scores)
    new = [r * known + draw.gauss(0, (1 - r * r) ** 0.5) for known in scores[1]]
    released, ordered = [0.0] * len(new), sorted(columns["a"])
    for rank, i in enumerate(sorted(range(len(new)), key=new.__getitem__)):
        released[i] = ordered[rank]


def tasks(rows: int, peer_most: int) -> dict[str, Callable[[], object]]:
    """What is timed, on data that are made already."""
    frame = make(rows)
    found = {f"noise, {method}": lambda method=method: add_noise(frame, NAMES, method=method, strength=STRENGTH)
             for method in ("additive", "correlated", "restricted", "outliers")}  # fmt: skip
    found["rank swap, 1"] = lambda: rank_swap(frame, "a", window=WINDOW)
    found["rank swap"] = lambda: rank_swap(frame, NAMES, window=WINDOW)
    found["shuffle 1, 1 given"] = lambda: shuffle(frame, "a", given="c")
    found["shuffle"] = lambda: shuffle(frame, NAMES)
    if rows <= peer_most:
        lists = {name: frame[name].tolist() for name in NAMES}
        found["noise loop"] = lambda: noise_loop(lists)
        found["rank swap loop"] = lambda: rank_swap_loop(lists)
        found["shuffle 1 loop"] = lambda: shuffle_loop(lists)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 10_000, 50_000, 250_000])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--peer-most", type=int, default=10_000, help="records up to which the loops are timed")
    options = parser.parse_args()
    print(f"{'task':22}{'rows':>10}{'median s':>10}{'min':>9}{'max':>9}")
    for rows in options.rows:
        for name, task in tasks(rows, options.peer_most).items():
            if not name.endswith("loop"):
                task()  # imports
            seconds = []
            for _ in range(options.repeats):
                start = time.perf_counter()
                task()
                seconds.append(time.perf_counter() - start)
            numbers = f"{statistics.median(seconds):10.4f}{min(seconds):9.4f}{max(seconds):9.4f}"
            print(f"{name:22}{rows:10}{numbers}", flush=True)


if __name__ == "__main__":
    main()
