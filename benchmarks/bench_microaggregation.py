"""Microaggregation: how the time grows with the records, beside the plain algorithm.

    python benchmarks/bench_microaggregation.py [--rows 1250 5000 20000 80000 250000] [--k 3] [--repeats 5]

Three skewed, correlated quantities; the seed is fixed. `plain` is MDAV as it is defined, in numpy: every distance
anew for each group, so that time grows with the square of the records; it runs up to 20,000 rows, and its groups must
be ours. Medians and ranges over the repeats; making the data and importing are not timed. sdcMicro does not run here:
its version 5.8 took 2.1 seconds for 20,000 rows, k = 3, on a like machine.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd

from kanon_lab.methods import microaggregate
from kanon_lab.methods.grouping import on_grid, squared

SEED = 20260301
NAMES = ["income", "rent", "savings"]
PLAIN_AT_MOST = 20_000


def make(rows: int) -> pd.DataFrame:
    """Three quantities, from the seed."""
    rng = np.random.default_rng(SEED)
    mixed = rng.normal(size=(rows, 3)) @ [[1, 0.6, 0.3], [0, 0.8, 0.3], [0, 0, 0.9]]
    return pd.DataFrame(np.exp(mixed), columns=NAMES)


def plain(frame: pd.DataFrame, k: int) -> np.ndarray:
    """The group of each record."""
    points, weights = on_grid(frame.to_numpy())
    rows, groups, number = np.arange(len(frame)), np.empty(len(frame), dtype=np.int64), 0
    while len(rows) >= 2 * k:
        begin, centre = len(rows) >= 3 * k, points.sum(axis=1) / len(rows)
        for _ in range(1 + begin):
            first = squared(points, centre, weights).argmax()
            centre = points[:, first]
            distance = squared(points, centre, weights)
            distance[first] = -1
            near = np.flatnonzero(distance <= np.partition(distance, k - 1)[k - 1])
            near = near[distance[near].argsort(kind="stable")][:k]
            groups[rows[near]] = number
            number += 1
            points, rows = np.delete(points, near, axis=1), np.delete(rows, near)
    groups[rows] = number
    return groups


def timed(work: Callable[[], np.ndarray], repeats: int) -> tuple[str, np.ndarray]:
    """Seconds, in words, and the last result."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - start)
    return f"{statistics.median(seconds):8.3f} ({min(seconds):.3f}-{max(seconds):.3f})", result


def ours(frame: pd.DataFrame, k: int, method: str) -> np.ndarray:
    """The groups of the library; the whole work is done."""
    return microaggregate(frame, NAMES, k_required=k, method=method).details["groups"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1250, 5000, 20_000, 80_000, 250_000])
    parser.add_argument("--k", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    k, repeats = arguments.k, arguments.repeats

    print(f"k = {k}; seconds: median (range) of {repeats}")
    for rows in arguments.rows:
        frame = make(rows)
        seconds, groups = timed(partial(ours, frame, k, "mdav"), repeats)
        print(f"{rows:>9,} rows, 3 variables  mdav     {seconds}", flush=True)
        if rows <= PLAIN_AT_MOST:
            seconds, peer = timed(partial(plain, frame, k), repeats)
            same = "same groups" if (peer == groups).all() else "OTHER GROUPS"
            print(f"{rows:>9,} rows, 3 variables  plain    {seconds}  {same}", flush=True)
        seconds, _ = timed(partial(ours, frame, k, "optimal"), repeats)
        print(f"{rows:>9,} rows, 3 times one  optimal  {seconds}", flush=True)


if __name__ == "__main__":
    main()
