"""How long the JupyterLab explorers take to answer one move of a control: on the whole nation, and on a survey.

Run: python benchmarks/bench_widget.py
It times the kernel's part: sentence, table and the specification of the chart. Drawing it is the browser's.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

import numpy as np

from kanon_lab import load_counts, load_microdata
from kanon_lab.methods import Hierarchy
from kanon_lab.show import explore, explore_keys, explore_levels


def main() -> None:
    _population()
    _microdata()


def _population() -> None:
    counts = load_counts("spain-2010")
    start = time.perf_counter()
    explorer = explore(counts)
    print(f"{len(counts):,} cells; explorer built in {time.perf_counter() - start:.2f} s")
    _report("k slider, Spain", lambda k: setattr(explorer.controls["k"], "value", k), range(1, 101))
    _report(
        "granularity, Spain", lambda d: setattr(explorer.controls["dates"], "value", d), ["day", "month", "year"] * 10
    )
    provinces = [code for _, code in explorer.controls["province"].options]
    _report("province", lambda code: setattr(explorer.controls["province"], "value", code), provinces)
    largest = counts["province"].value_counts().index[0]
    explorer.controls["province"].value = largest
    municipalities = [code for _, code in explorer.controls["municipality"].options]
    _report(
        "municipality, first visit", lambda m: setattr(explorer.controls["municipality"], "value", m), municipalities
    )
    _report("municipality, again", lambda m: setattr(explorer.controls["municipality"], "value", m), municipalities)


def _microdata() -> None:
    survey = load_microdata("health-survey")
    ladders = {
        "postcode": Hierarchy.from_masks([5, 4, 3, 2, 0]),
        "age": Hierarchy.from_intervals([range(0, 121, step) for step in (5, 10, 20, 40)], closed="left", top="*"),
        "sex": Hierarchy.from_mapping({"woman": "*", "man": "*"}),
        "education": Hierarchy.from_mapping(dict.fromkeys(survey["education"].dropna().unique(), "*")),
    }
    start = time.perf_counter()
    levels = explore_levels(survey, ladders, suppression_limit=0.02)
    print(f"{len(survey):,} records; explorer of levels built in {time.perf_counter() - start:.2f} s")
    _report("k required", lambda k: setattr(levels.controls["k_required"], "value", k), range(1, 21))
    _report("level of age", lambda level: setattr(levels.controls["level1"], "value", level), [1, 2, 3, 4, 5, 0] * 5)
    _report(
        "best levels",
        lambda k: (setattr(levels.controls["k_required"], "value", k), levels.button.click()),
        range(2, 21),
    )
    start = time.perf_counter()
    keys = explore_keys(survey, list(ladders))
    print(f"explorer of keys built in {time.perf_counter() - start:.2f} s")
    _report("k, keys", lambda k: setattr(keys.controls["k_class"], "value", k), range(1, 21))
    _report("box of age", lambda known: setattr(keys.controls["knows1"], "value", known), [False, True] * 10)


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
