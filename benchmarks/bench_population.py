"""Anonymity of the whole nation: closed form, simulation, and a straightforward pandas version, in one run.

    python benchmarks/bench_population.py [--repeats 5] [--population spain-2010]

Each task runs in processes of its own, so that its peak memory is its own. Prints medians and ranges over the repeats;
reading the data and importing are not timed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import statistics
import time
from collections.abc import Callable

import pandas as pd

from kanon_lab.data import load_counts


def closed_form(counts: pd.DataFrame) -> None:
    """Means and half-widths, three granularities, nine ranges, for the nation."""
    from kanon_lab.population import anonymity

    anonymity(counts)


def closed_form_by_municipality(counts: pd.DataFrame) -> None:
    """The same for every municipality."""
    from kanon_lab.population import anonymity

    anonymity(counts, by="municipality")


def simulate_days(counts: pd.DataFrame) -> None:
    """One simulation of the nation by days."""
    from kanon_lab.population import simulate

    simulate(counts, dates=["day"], repeats=1, seed=1)


def simulate_months(counts: pd.DataFrame) -> None:
    """One simulation of the nation by months."""
    from kanon_lab.population import simulate

    simulate(counts, dates=["month"], repeats=1, seed=1)


def pandas_means(counts: pd.DataFrame) -> None:
    """Means only, by day, as one would write it: a column per k, then a groupby (the study's table for places)."""
    from scipy.stats import binom

    n = counts["persons"]
    by_k = {k: n * binom.pmf(k - 1, (n - 1).clip(lower=0), 1 / 1826) for k in range(1, 101)}
    pd.DataFrame(by_k).groupby(counts["place"]).sum()


TASKS = (closed_form, closed_form_by_municipality, simulate_days, simulate_months, pandas_means)


def measure(task: Callable[[pd.DataFrame], None], population: str, repeats: int) -> tuple[list[float], float, float]:
    """Seconds of each repeat, and peak memory in MB before and after."""
    counts = load_counts(population)

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        task(counts)
        seconds.append(time.perf_counter() - start)
    return seconds, before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--population", default="spain-2010")
    options = parser.parse_args()
    counts = load_counts(options.population)
    print(f"{counts['place'].nunique()} municipalities, {len(counts)} cells, {counts['persons'].sum()} persons")
    print(f"{'task':30}{'median s':>10}{'min':>8}{'max':>8}{'peak MB':>9}{'of it data and imports':>24}")
    for task in TASKS:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            seconds, before, peak = pool.apply(measure, (task, options.population, options.repeats))
        row = f"{statistics.median(seconds):10.2f}{min(seconds):8.2f}{max(seconds):8.2f}{peak:9.0f}{before:24.0f}"
        print(f"{task.__name__:30}{row}")


if __name__ == "__main__":
    main()
