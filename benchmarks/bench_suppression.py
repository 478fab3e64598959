"""Local suppression: cells and seconds under both meanings of a missing value.

    python benchmarks/bench_suppression.py [--repeats 5] [--large]

The data are those of bench_classes.py. Medians and ranges over the repeats; making the data and importing are not
timed, the count of the three claims is. sdcMicro does not run here: its cells and seconds are of one run of version 5.8
on a like machine, and are printed beside ours for what they are worth.
"""

from __future__ import annotations

import argparse
import statistics
import time

from bench_classes import make

EASY = ["region", "age", "birthplace", "sex", "marital"]
HARD = ["region", "age", "marital", "occupation", "education"]
#: Name, rows, keys, k, and sdcMicro's cells and seconds.
CASES = [
    ("easy", 5_000, EASY, 3, 2145, 3.7),
    ("easy", 50_000, EASY, 5, 5172, 48.8),
    ("easy", 250_000, EASY, 5, 1562, 21.8),
    ("hard", 5_000, HARD, 3, 5551, 18.9),
    ("hard", 5_000, HARD, 5, 7537, 42.2),
    ("hard", 50_000, HARD, 3, 36097, 808.0),
]
LARGE = [("hard", 250_000, HARD, 3, None, None), ("hard", 1_000_000, HARD, 3, None, None)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--large", action="store_true", help="also 250 thousand and 1 million rows of the hard keys")
    arguments = parser.parse_args()

    from kanon_lab.methods import local_suppression
    from kanon_lab.roles import KeySpec

    print("keys  rows  k  below k | policy  cells  cells/record below k  seconds (range) | failing claims | sdcMicro")
    for name, rows, keys, k, peer_cells, peer_seconds in CASES + LARGE * arguments.large:
        frame = make(rows)
        for policy in ("wildcard", "category"):
            seconds = []
            for _ in range(arguments.repeats):
                start = time.perf_counter()
                result = local_suppression(frame, KeySpec(keys, missing=policy), k_required=k)
                seconds.append(time.perf_counter() - start)
            claims = ", ".join(f"{claim} {count:,}" for claim, count in result.claims[["claim", "records"]].to_numpy())
            peer = f"{peer_cells:,} cells, {peer_seconds:g} s" if peer_cells and policy == "wildcard" else "-"
            print(
                f"{name} {rows:>9,} {k} {result.violating:>7,} | {policy} {result.total:>7,} "
                f"{result.total / result.violating:.4f} {statistics.median(seconds):.3f} s "
                f"({min(seconds):.3f}-{max(seconds):.3f}) | {claims} | {peer}"
            )


if __name__ == "__main__":
    main()
