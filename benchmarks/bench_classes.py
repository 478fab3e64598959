"""f_k, wildcard f_k and l-diversity: the class table, a sort by hand, pandas and pycanon, on the same data in one run.

    python benchmarks/bench_classes.py [--rows 25000 250000 2500000] [--large] [--repeats 5] [--skip-pycanon]

The data are eight categorical keys of 2 to 20 values, Zipf-like, in small integers, and a sensitive variable of ten
values; the seed is fixed. Each task runs in a process of its own, so that its peak memory is its own. Prints medians
and ranges over the repeats; making the data and importing are not timed. pycanon (the benchmark extra) runs once, on no
more rows than it gets through in half a minute.
"""

from __future__ import annotations

import argparse
import importlib.util
import multiprocessing
import resource
import statistics
import time
from collections.abc import Callable

import numpy as np
import pandas as pd

SEED = 20110709
#: Key -> its number of values, and the exponent of their Zipf law.
KEYS = {
    "region": (14, 0.8),
    "age": (13, 0.3),
    "birthplace": (3, 1.8),
    "sex": (2, 0.05),
    "marital": (5, 1.0),
    "occupation": (20, 1.0),
    "education": (15, 0.8),
    "activity": (10, 1.0),
}
SENSITIVE = "sens"
INCOMPLETE, MISSING_SHARE = list(KEYS)[:5], 0.02
LARGE = 6_000_000
_MEGABYTE = 1024  # getrusage counts in units of 1024 bytes


def make(rows: int) -> pd.DataFrame:
    """Keys and sensitive variable, from the seed."""
    rng = np.random.default_rng(SEED)

    def column(values: int, exponent: float) -> np.ndarray:
        weights = np.arange(1, values + 1) ** -exponent
        return (rng.choice(values, rows, p=weights / weights.sum()) + 1).astype("int8")

    return pd.DataFrame({name: column(*law) for name, law in {**KEYS, SENSITIVE: (10, 1.0)}.items()})


def with_gaps(frame: pd.DataFrame) -> pd.DataFrame:
    """Five of the keys, with 2 % missing in each."""
    rng = np.random.default_rng(SEED)
    gaps = {name: frame[name].astype("Int8").mask(rng.random(len(frame)) < MISSING_SHARE) for name in INCOMPLETE}
    return pd.DataFrame(gaps)


def f_k(frame: pd.DataFrame) -> None:
    """f_k of every record by the class table."""
    from kanon_lab.classes import class_table

    class_table(frame, list(KEYS)).f_k_of_records()


def f_k_sort(frame: pd.DataFrame) -> None:
    """The same by hand: the keys packed with the row into one number, one sort; twice as quick as `np.unique`."""
    packed = np.zeros(len(frame), dtype=np.int64)
    for name, (values, _) in KEYS.items():
        packed *= values
        packed += frame[name].to_numpy()
    packed -= packed.min()
    bits = len(frame).bit_length()
    packed <<= bits
    packed |= np.arange(len(frame))
    packed.sort()
    row = packed & ((1 << bits) - 1)
    packed >>= bits
    start = np.flatnonzero(np.concatenate([[True], packed[1:] != packed[:-1]]))
    records = np.diff(start, append=len(frame))
    f_k_of_row = np.empty(len(frame), dtype=np.int64)
    f_k_of_row[row] = np.repeat(records, records)


def f_k_pandas(frame: pd.DataFrame) -> None:
    """The same by groupby and transform."""
    frame.groupby(list(KEYS))["region"].transform("size")


def f_k_pycanon(frame: pd.DataFrame) -> None:
    """Only the smallest of them."""
    from pycanon import anonymity

    anonymity.k_anonymity(frame, list(KEYS))


def wildcard(frame: pd.DataFrame) -> None:
    """f_k of every record where a missing key is compatible with anything (pandas and pycanon have no such thing)."""
    from kanon_lab.classes import class_table

    class_table(frame, INCOMPLETE).f_k_of_records()


def l_diversity(frame: pd.DataFrame) -> None:
    """Classes, then distinct, entropy and recursive l, t-closeness and four more of every class."""
    from kanon_lab.classes import class_table
    from kanon_lab.measures import diversity
    from kanon_lab.roles import KeySpec

    diversity(class_table(frame, KeySpec(list(KEYS), sensitive_variables=[SENSITIVE])), SENSITIVE)


def l_diversity_pandas(frame: pd.DataFrame) -> None:
    """Distinct and entropy l of every class by groupby."""
    counts = frame.groupby([*KEYS, SENSITIVE]).size()
    by_class = counts.groupby(list(KEYS))
    by_class.size()
    shares = counts / by_class.transform("sum")
    np.exp((-shares * np.log(shares)).groupby(list(KEYS)).sum())


def l_diversity_pycanon(frame: pd.DataFrame) -> None:
    """Distinct, entropy and recursive l of the file."""
    from pycanon import anonymity

    anonymity.l_diversity(frame, list(KEYS), [SENSITIVE])
    anonymity.entropy_l_diversity(frame, list(KEYS), [SENSITIVE])
    anonymity.recursive_c_l_diversity(frame, list(KEYS), [SENSITIVE])


#: Rows that pycanon gets through in half a minute.
MOST_ROWS = {f_k_pycanon: 250_000, l_diversity_pycanon: 25_000}
TASKS = (f_k, f_k_sort, f_k_pandas, f_k_pycanon, l_diversity, l_diversity_pandas, l_diversity_pycanon, wildcard)


def measure(task: Callable[[pd.DataFrame], None], rows: int, repeats: int) -> tuple[list[float], float, float]:
    """Seconds of each repeat, and peak memory in MB before and after."""
    task(make(1000) if task is not wildcard else with_gaps(make(1000)))  # imports
    frame = make(rows)
    if task is wildcard:
        frame = with_gaps(frame)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _MEGABYTE
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        task(frame)
        seconds.append(time.perf_counter() - start)
    return seconds, before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _MEGABYTE


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[25_000, 250_000, 2_500_000])
    parser.add_argument("--large", action="store_true", help=f"f_k of {LARGE} rows too")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--skip-pycanon", action="store_true")
    options = parser.parse_args()
    without_pycanon = options.skip_pycanon or importlib.util.find_spec("pycanon") is None
    tasks = [task for task in TASKS if not (without_pycanon and task in MOST_ROWS)]
    runs = [(task, rows) for rows in options.rows for task in tasks if rows <= MOST_ROWS.get(task, rows)]
    runs += [(task, LARGE) for task in (f_k, f_k_sort, f_k_pandas) if options.large]
    print(f"{'task':22}{'rows':>10}{'median s':>10}{'min':>9}{'max':>9}{'peak MB':>9}{'of it data and imports':>24}")
    for task, rows in runs:
        repeats = 1 if task in MOST_ROWS else options.repeats
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            seconds, before, peak = pool.apply(measure, (task, rows, repeats))
        numbers = f"{statistics.median(seconds):10.3f}{min(seconds):9.3f}{max(seconds):9.3f}"
        print(f"{task.__name__:22}{rows:10}{numbers}{peak:9.0f}{before:24.0f}", flush=True)


if __name__ == "__main__":
    main()
