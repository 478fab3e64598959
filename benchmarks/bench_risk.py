"""Risk of a sample from its class table: how the time grows with the records.

    python benchmarks/bench_risk.py [--rows 1000 10000 100000 1000000] [--repeats 5]

The data are the eight categorical keys of `bench_classes.py`, a weight of about 100 for each record, and households of
two or three; the seed is fixed. The class table is made once, and timed by itself (`f_k_and_F_k`). `exact_of_all_f_k`
takes as many classes as there are rows, with f_k from 1 to 500 and F_k from f_k to 10,000 times that, so that every way
to the exact risk is in it. Prints medians and ranges over the repeats.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import time
from collections.abc import Callable

import numpy as np
import pandas as pd
from bench_classes import KEYS, SEED, SENSITIVE

from kanon_lab.classes import class_table
from kanon_lab.measures import attacker_risks, file_risk, individual_risk, loglinear, with_household_size
from kanon_lab.roles import KeySpec

SAMPLE = KeySpec(list(KEYS), weight="w")
HOUSEHOLDS = KeySpec(list(KEYS), weight="w", household="home")
PAIRS = list(itertools.combinations(list(KEYS)[:6], 2))


def make(rows: int) -> pd.DataFrame:
    """Keys, weight and household, from the seed."""
    rng = np.random.default_rng(SEED)
    columns = {}
    for name, (values, exponent) in {**KEYS, SENSITIVE: (10, 1.0)}.items():
        weights = np.arange(1, values + 1) ** -exponent
        columns[name] = (rng.choice(values, rows, p=weights / weights.sum()) + 1).astype("int8")
    columns["w"] = np.round(rng.gamma(4, 25, rows) + 1, 2)
    columns["home"] = np.sort(rng.integers(0, max(rows * 2 // 5, 1), rows))
    return pd.DataFrame(columns)


def frequencies(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """f_k and F_k of all sizes."""
    rng = np.random.default_rng(SEED)
    f_k = np.exp(rng.uniform(0, np.log(500), rows)).astype(int)
    return f_k, f_k * np.exp(rng.uniform(0, np.log(10_000), rows))


def tasks(rows: int) -> dict[str, Callable[[], object]]:
    """What is timed, on data that are made already."""
    frame, (f_k, F_k) = make(rows), frequencies(rows)
    table, with_homes = class_table(frame, SAMPLE), class_table(frame, HOUSEHOLDS)
    return {
        "f_k_and_F_k": lambda: class_table(frame, SAMPLE),
        "inverse": lambda: file_risk(table, estimator="inverse"),
        "benedetti_franconi": lambda: file_risk(table),
        "exact": lambda: file_risk(table, estimator="exact"),
        "exact_of_all_f_k": lambda: individual_risk(f_k, F_k, estimator="exact"),
        "households": lambda: file_risk(with_homes),
        "with_household_size": lambda: with_household_size(with_homes),
        "attackers": lambda: attacker_risks(table),
        "loglinear": lambda: loglinear(table),
        "loglinear_15_pairs": lambda: loglinear(table, interactions=PAIRS),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    print(f"{'task':22}{'rows':>10}{'median s':>10}{'min':>9}{'max':>9}")
    for rows in options.rows:
        for name, task in tasks(rows).items():
            task()  # imports
            seconds = []
            for _ in range(options.repeats):
                start = time.perf_counter()
                task()
                seconds.append(time.perf_counter() - start)
            print(
                f"{name:22}{rows:10}{statistics.median(seconds):10.4f}{min(seconds):9.4f}{max(seconds):9.4f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
