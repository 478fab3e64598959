"""The subsample study: nine scenarios of detail in one sample, once and with many subsamples, and a plain groupby.

    python benchmarks/bench_subsample.py [--fraction 0.040588] [--draws 1 200] [--repeats 5] [--skip-gaps]

The data are a sample of the synthetic census of Catalonia (fitted, not real) with eight keys; the seed is fixed. The
scenarios are three levels of residence by three of age; recoding the sample and counting it are timed too. "groupby"
counts the finest scenario alone with pandas: u1, u2 and u of one subsample, no more. "gaps" is the finest scenario with
2 % missing in five keys, where a missing key is compatible with any value. sdcMicro and ARX have no counterpart:
neither draws subsamples of a sample. Prints medians and ranges over the repeats, and the peak memory of the whole run
with the census in it; making the data and importing are not timed.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Callable

import numpy as np
import pandas as pd
from bench_classes import MISSING_SHARE, SEED

from kanon_lab.sample import scenario_grid, subsample_risk
from kanon_lab.studies import CATALAN_KEYS, CATALAN_LEVELS, catalan_census

KEYS = list(CATALAN_KEYS)


def by_groupby(frame: pd.DataFrame, fraction: float) -> tuple[int, int, int]:
    """u1, u2 and u of one subsample, as pandas counts them."""
    drawn = frame[np.random.default_rng(SEED).random(len(frame)) < fraction]
    in_sample = frame.groupby(KEYS)["sex"].transform("size") == 1
    in_subsample = drawn.groupby(KEYS)["sex"].transform("size") == 1
    return int(in_sample.sum()), int(in_subsample.sum()), int(in_sample[drawn.index].sum())


def with_gaps(frame: pd.DataFrame) -> pd.DataFrame:
    rng = np.random.default_rng(SEED)
    gaps = {name: frame[name].astype("Int16").mask(rng.random(len(frame)) < MISSING_SHARE) for name in KEYS[:5]}
    return frame.assign(**gaps)


def tasks(frame: pd.DataFrame, options: argparse.Namespace) -> dict[str, Callable[[], object]]:
    """What is timed, on data that are made already."""
    fraction, found = options.fraction, {}
    for draws in options.draws:
        found[f"9 scenarios, {draws} drawn"] = lambda draws=draws: scenario_grid(
            frame, KEYS, CATALAN_LEVELS, fraction=fraction, repeats=draws
        )
        found[f"1 scenario, {draws} drawn"] = lambda draws=draws: subsample_risk(
            frame, KEYS, fraction=fraction, repeats=draws
        )
    found["groupby, 1 drawn"] = lambda: by_groupby(frame, fraction)
    if not options.skip_gaps:
        incomplete = with_gaps(frame)
        found["gaps, 1 drawn"] = lambda: subsample_risk(incomplete, KEYS, fraction=fraction)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fraction", type=float, default=245_944 / 6_059_494)
    parser.add_argument("--draws", type=int, nargs="+", default=[1, 200], help="subsamples of each study")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--skip-gaps", action="store_true")
    options = parser.parse_args()
    start = time.perf_counter()
    census = catalan_census()
    print(f"census of {census.persons:,}: {time.perf_counter() - start:.2f} s")
    start = time.perf_counter()
    frame = census.sample(options.fraction)
    print(f"sample of {len(frame):,}: {time.perf_counter() - start:.2f} s")
    print(f"{'task':28}{'median s':>10}{'min':>9}{'max':>9}")
    for name, task in tasks(frame, options).items():
        task()  # imports
        seconds = []
        for _ in range(options.repeats):
            start = time.perf_counter()
            task()
            seconds.append(time.perf_counter() - start)
        print(f"{name:28}{statistics.median(seconds):10.3f}{min(seconds):9.3f}{max(seconds):9.3f}", flush=True)
    print(f"peak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")


if __name__ == "__main__":
    main()
