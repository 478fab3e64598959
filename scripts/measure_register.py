"""Draw everybody of the country, count how many share a record, and write down what was found and what it took.

    python scripts/measure_register.py [FOLDER]

It makes kanon_lab/population/measured_register.json, which the chapter *Does the theory hold?* reads, in some minutes.
It needs the extra kanon-lab[duckdb].
FOLDER (by default that of temporary files) needs 200 MB for the register, and what DuckDB spills.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np

from kanon_lab import class_table, load_counts
from kanon_lab.files import write_text
from kanon_lab.population import CUADRO_1_RANGES, PERIODS, anonymity, beside_register, draw_register, simulate

TARGET = Path(__file__).resolve().parents[1] / "kanon_lab" / "population" / "measured_register.json"
SEED = 2010
MEMORY, BELOW = "2GB", (2, 3, 4, 5, 6, 11, 21, 51)
# Small registers, each of everybody in one place.
PLACE, REGISTERS, RANGES = "29025", 2_000, "1,2,3,4,5,6,7,8+"
# What the law supposes and is not so: births at a weekend for each on another day, and persons with a twin at home.
WEEKEND, TWINS = 0.8, 0.01
_COUNT = """
import duckdb
with duckdb.connect(config={{"memory_limit": "{memory}", "temp_directory": "{folder}/spill"}}) as connection:
    connection.sql("SET enable_progress_bar = false")
    classes = "SELECT count(*) AS k FROM '{register}' GROUP BY place, sex, birth_date"
    for k, n in connection.sql(f"SELECT k, count(*) FROM ({{classes}}) GROUP BY k ORDER BY k").fetchall():
        print(k, n)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", metavar="FOLDER", help="for the register and what DuckDB spills")
    parent = parser.parse_args().folder
    steps, spain = [], load_counts("spain-2010")
    with tempfile.TemporaryDirectory(dir=parent) as folder:
        register = Path(folder) / "register.parquet"
        command = ["data", "make", "register", "--seed", str(SEED), "--out", str(register)]
        run(steps, f"kanon-lab data make register --seed {SEED}", [sys.executable, "-m", "kanon_lab", *command])
        size = register.stat().st_size
        measure = ["measure", str(register), "--keys", "place,sex,birth_date", "--engine", "duckdb", "--memory", MEMORY]
        command = [*measure, "--spill", folder, "--k", ",".join(map(str, BELOW)), "--json"]
        name = f"kanon-lab measure --engine duckdb --memory {MEMORY}"
        found = json.loads(run(steps, name, [sys.executable, "-m", "kanon_lab", *command]))
        code = _COUNT.format(memory=MEMORY, folder=folder, register=register)
        printed = run(steps, f"GROUP BY of DuckDB alone, memory_limit {MEMORY}", [sys.executable, "-c", code])
    classes = {int(k): int(n) for k, n in map(str.split, printed.splitlines())}
    for k in BELOW:
        counted = sum(size * number for size, number in classes.items() if size < k)
        assert found["violations"][str(k)] == counted, f"the two counts differ below {k}"
    measured = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": f"{os.cpu_count()} cores, {os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 1e9:.0f} GB",
        "versions": {"python": platform.python_version()}
        | {name: version(name) for name in ("kanon-lab", "numpy", "pyarrow", "duckdb")},
        "seed": SEED,
        "persons": sum(k * n for k, n in classes.items()),
        "file_bytes": size,
        "steps": steps,
        "classes": {k: classes[k] for k in sorted(classes)},  # how many have k records
        "coverage": {"place": PLACE, "registers": REGISTERS, "ranges": RANGES, "inside": coverage(spain)},
        "weekend": WEEKEND,
        "alone_weekend": alone_with_weekends(spain),
        "twins": TWINS,
        "alone_twins": alone_with_twins(spain["persons"].to_numpy(), np.random.default_rng(SEED)),
    }
    write_text(TARGET, json.dumps(measured, indent=1) + "\n")


def run(steps: list[dict], name: str, command: list[str]) -> str:
    """What a command prints; its seconds and the most memory that it took are added to the steps."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        printed = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{name} failed")
    seconds = round(time.perf_counter() - start, 1)
    processor = round(used.ru_utime + used.ru_stime, 1)
    steps.append(
        {"step": name, "seconds": seconds, "processor_seconds": processor, "peak_bytes": used.ru_maxrss * 1024}
    )
    return printed


def coverage(counts) -> list[int]:
    """For each range of k, in how many of the small registers the persons counted are in the interval."""
    here = counts[counts["place"] == PLACE]
    law, inside = anonymity(here, dates=["day"], ranges=RANGES), 0
    for number in range(REGISTERS):
        table = class_table(draw_register(here, seed=SEED + 10_000 + number), ["place", "sex", "birth_date"])
        inside += beside_register(law, np.bincount(table.f_k))["inside"].to_numpy().astype(int)
    return inside.tolist()


def alone_with_weekends(counts) -> int:
    """Persons who are alone in one draw in which weekends have fewer births."""
    weights = np.where(np.arange(PERIODS["day"]) % 7 >= 5, WEEKEND, 1.0)
    drawn = simulate(counts, dates={"weekend": weights / weights.sum()}, ranges=CUADRO_1_RANGES, repeats=1, seed=SEED)
    return int(drawn["persons"].iloc[0])


def alone_with_twins(cells: np.ndarray, rng: np.random.Generator) -> int:
    """Persons who are alone in one draw in which some have the date of another of their cell: a twin."""
    alone, days = 0, PERIODS["day"]
    for part in np.array_split(cells, 100):
        pairs = rng.binomial(part // 2, TWINS)
        units, number = np.concatenate([part - 2 * pairs, pairs]), np.arange(2 * len(part)) % len(part)
        born = np.repeat(number, units) * days + rng.integers(0, days, units.sum())
        weights = np.repeat([1, 2], [(part - 2 * pairs).sum(), pairs.sum()])
        alone += int((np.bincount(born, weights) == 1).sum())
    return alone


if __name__ == "__main__":
    main()
