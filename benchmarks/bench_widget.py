"""How long the JupyterLab explorer takes to answer one move of a control, on the whole nation.

Run: python benchmarks/bench_widget.py
It times the kernel's part: sentence, table and the specification of the chart. Drawing it is the browser's.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

import numpy as np

from kanon_lab import load_counts
from kanon_lab.widgets import explore


def main() -> None:
    counts = load_counts("spain-2010")
    start = time.perf_counter()
    explorer = explore(counts)
    print(f"{len(counts):,} cells; explorer built in {time.perf_counter() - start:.2f} s")
    _report("k slider, Spain", lambda k: setattr(explorer.k, "value", k), range(1, 101))
    _report("granularity, Spain", lambda d: setattr(explorer.dates, "value", d), ["day", "month", "year"] * 10)
    provinces = [code for _, code in explorer.province.options]
    _report("province", lambda code: setattr(explorer.province, "value", code), provinces)
    largest = counts["province"].value_counts().index[0]
    explorer.province.value = largest
    municipalities = [code for _, code in explorer.municipality.options]
    _report("municipality, first visit", lambda m: setattr(explorer.municipality, "value", m), municipalities)
    _report("municipality, again", lambda m: setattr(explorer.municipality, "value", m), municipalities)


def _report(what: str, move: Callable, values: Iterable) -> None:
    milliseconds = []
    for value in values:
        start = time.perf_counter()
        move(value)
        milliseconds.append(1000 * (time.perf_counter() - start))
    print(
        f"{what:28} {len(milliseconds):4} moves: median {np.median(milliseconds):6.1f} ms, "
        f"95 % under {np.quantile(milliseconds, 0.95):6.1f} ms, slowest {max(milliseconds):6.1f} ms"
    )


if __name__ == "__main__":
    main()
