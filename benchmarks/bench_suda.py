"""Special uniques, and risk of quantities: how the time grows with the records.

    python benchmarks/bench_suda.py [--rows 50000 250000 1000000] [--repeats 5]

SUDA takes the eight categorical keys of `bench_classes.py`, every set of them, class table included; `gaps` has 2 % of
the values of five of them missing, as wildcards. The quantities are three lognormal ones, and the same with noise of a
tenth of a standard deviation. The seeds are fixed. Each task runs in a process of its own, so that its peak memory is
its own. Prints medians and ranges over the repeats; making the data and importing are not timed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import statistics
import time

import numpy as np
import pandas as pd
from bench_classes import INCOMPLETE, KEYS, SEED, make, with_gaps

from kanon_lab.classes import class_table
from kanon_lab.measures import interval_disclosure, record_linkage, robust_disclosure, suda

_MEGABYTE = 1024  # getrusage counts in units of 1024 bytes


def keys(rows: int) -> tuple[pd.DataFrame]:
    return (make(rows)[list(KEYS)],)


def gaps(rows: int) -> tuple[pd.DataFrame]:
    frame = make(rows)
    return (with_gaps(frame).join(frame.drop(columns=INCOMPLETE))[list(KEYS)],)


def quantities(rows: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(SEED)
    mixed = rng.normal(size=(rows, 3)) @ [[1, 0.5, 0.2], [0, 1, 0.3], [0, 0, 1]]
    original = pd.DataFrame(np.exp(mixed), columns=["a", "b", "c"])
    return original, original + rng.normal(size=(rows, 3)) * 0.1 * original.std().to_numpy()


def special_uniques(frame: pd.DataFrame) -> None:
    suda(class_table(frame, list(frame)))


#: Task -> its data, and what is timed.
TASKS = {
    "suda": (keys, special_uniques),
    "suda, gaps": (gaps, special_uniques),
    "record linkage": (quantities, record_linkage),
    "intervals, sd": (quantities, interval_disclosure),
    "intervals, rank": (quantities, lambda *files: interval_disclosure(*files, by="rank")),
    "robust distances": (quantities, robust_disclosure),
}


def measure(name: str, rows: int, repeats: int) -> tuple[list[float], float, float]:
    """Seconds of each repeat, and peak memory in MB before and after."""
    data, task = TASKS[name]
    task(*data(1000))  # imports
    files = data(rows)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _MEGABYTE
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        task(*files)
        seconds.append(time.perf_counter() - start)
    return seconds, before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _MEGABYTE


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[50_000, 250_000, 1_000_000])
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    print(f"{'task':18}{'rows':>10}{'median s':>10}{'min':>9}{'max':>9}{'peak MB':>9}{'of it data and imports':>24}")
    for rows in options.rows:
        for name in TASKS:
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                seconds, before, peak = pool.apply(measure, (name, rows, options.repeats))
            numbers = f"{statistics.median(seconds):10.3f}{min(seconds):9.3f}{max(seconds):9.3f}"
            print(f"{name:18}{rows:10}{numbers}{peak:9.0f}{before:24.0f}", flush=True)


if __name__ == "__main__":
    main()
