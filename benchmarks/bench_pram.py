"""PRAM: seconds by the number of records, with strata and without, beside a loop over categories in pandas and NumPy.

    python benchmarks/bench_pram.py [--rows 10000 50000 250000 1000000 2500000] [--strata 1 50 2000] [--repeats 5]

One text variable of ten categories, Zipf-like; a value stays with probability 0.8 and else is drawn from the shares
of its stratum. The loop does the same work: the matrix of each stratum, then `Generator.choice` for the records of
each category; it is left out where strata are many, which takes it minutes. Both also tell how far the largest share
moved. Medians and ranges over the repeats; making the data and importing are not timed. sdcMicro does not run here: its
3.0 s are of one run of version 5.8, on 250 thousand records without strata on a like machine.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
import pandas as pd

SEED, KEEP = 20110709, 0.8
# The loop gets no more strata.
LOOPED = 50
CATEGORIES = [f"category {i}" for i in range(10)]
SDCMICRO = {(250_000, 1): 3.0}


def make(rows: int, strata: int) -> pd.DataFrame:
    """A variable and a stratum, from the seed."""
    rng = np.random.default_rng(SEED)
    law = 1 / np.arange(1, len(CATEGORIES) + 1)
    variable = pd.Series(rng.choice(CATEGORIES, rows, p=law / law.sum()), dtype="str")
    return pd.DataFrame({"variable": variable, "stratum": rng.integers(0, strata, rows)})


def loop(frame: pd.DataFrame, strata: list[str]) -> pd.Series:
    """The same by the definition, one category of one stratum after the other."""
    rng = np.random.default_rng(SEED)
    result = frame["variable"].copy()
    for _, group in frame.groupby(strata) if strata else [((), frame)]:
        shares = group["variable"].value_counts(normalize=True)
        size = len(shares)
        if size == 1:
            continue
        matrix = KEEP * np.eye(size) + (1 - KEEP) * shares.to_numpy()
        for each, law in zip(shares.index, matrix):
            rows = group.index[group["variable"] == each]
            result[rows] = rng.choice(shares.index, len(rows), p=law)
    return result


def timed(task: Callable[[], pd.Series], repeats: int) -> tuple[str, pd.Series]:
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = task()
        seconds.append(time.perf_counter() - start)
    return f"{statistics.median(seconds):.3f} s ({min(seconds):.3f}-{max(seconds):.3f})", result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 50_000, 250_000, 1_000_000, 2_500_000])
    parser.add_argument("--strata", type=int, nargs="+", default=[1, 50, 2000])
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()

    from kanon_lab.methods import pram

    print("records  strata | kanon_lab  changed  largest share | loop  changed  largest share | sdcMicro")
    for rows in arguments.rows:
        for number in arguments.strata:
            frame = make(rows, number)
            strata = ["stratum"] if number > 1 else []
            true, told = frame["variable"].value_counts(normalize=True).iloc[0], []
            tasks = [
                lambda f=frame, s=strata: pram(f, "variable", keep=KEEP, strata=s, seed=SEED).frame["variable"],
                lambda f=frame, s=strata: loop(f, s),
            ]
            for task in tasks[: 2 if number <= LOOPED else 1]:
                seconds, result = timed(task, arguments.repeats)
                changed = (result != frame["variable"]).mean()
                largest = result.value_counts(normalize=True).iloc[0]
                told.append(f"{seconds}  {changed:.4f}  {true:.4f} -> {largest:.4f}")
            peer = f"{SDCMICRO[rows, number]} s" if (rows, number) in SDCMICRO else "-"
            print(f"{rows:>9,} {number:>5,} | {' | '.join(told)} | {peer}")


if __name__ == "__main__":
    main()
