"""Ask the questions of speed: ``python benchmarks/run.py [QUESTION ...] [--quick] [--large] [--out FILE]``.

Each task at each size runs in a process of its own, so that its peak memory is its own. All questions at their own
sizes (``make bench``) write what the book shows as *How fast, how large*; else results are printed alone.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from harness import FILES, PYCANON, load, measure, megabytes

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parent / "book" / "kanon_book" / "figures" / "speed.json"
#: The questions, in the order of the book's page.
NAMES = """classes wildcard diversity risk suda linkage suppression microaggregation pram swapping lattice subsample
population map moves engines""".split()
PACKAGES = set("numpy pandas pyarrow scipy polars duckdb pyspark".split())
REPEATS = 5
#: A size is left out where one repeat would take more seconds, by what smaller sizes took.
LONGEST = 30


def ask(name: str, sizes: list[int], repeats: int, folder: str) -> list[dict[str, Any]]:
    """A row for each task at each size, or why it is left out; the large size may take ten times as long."""
    question, rows, answers = load(name), [], {}
    print(f"\n{name}: {question.title} ({question.unit})", flush=True)
    for task in question.tasks:
        runs, lacks = [], question.task(task).lacks()
        for size in sizes[:1] if lacks else sizes:
            soon, longest = expected(size, runs), LONGEST * (10 if size == question.large else 1)
            why = lacks or (f"would take some {soon:.0f} s" if soon > longest else "")
            row = {"question": name, "task": task, "size": size}
            row |= {"left_out": why} if why else in_a_process(name, task, size, repeats, folder)
            if question.agree and (told := row.get("answer")) is not None and told != answers.setdefault(size, told):
                row["differs"] = True
            rows.append(row)
            print(f"  {task:30}{size:>12,}  {in_words(row)}", flush=True)
            runs += [row] if "seconds" in row else []
    return rows


def in_words(row: dict[str, Any]) -> str:
    if "left_out" in row:
        return f"left out: {row['left_out']}"
    seconds = row["seconds"]
    spread = f"{statistics.median(seconds):.3g} s ({min(seconds):.3g} to {max(seconds):.3g}; {len(seconds)})"
    return f"{spread:34}{row['peak_mb']:>8,.0f} MB  {row['answer'] or ''}{' DIFFERS' * row.get('differs', False)}"


def in_a_process(name: str, task: str, size: int, repeats: int, folder: str) -> dict[str, Any]:
    """What `measure` gives, from a new process; or why there is nothing, as ``left_out``."""
    question, held = load(name), 0.0
    python = os.environ[PYCANON] if question.task(task).needs == "pycanon" else sys.executable
    path = os.pathsep.join(filter(None, [str(HERE.parent), os.environ.get("PYTHONPATH")]))
    with subprocess.Popen(
        [python, __file__, "--measure", name, task, str(size), str(repeats)],
        env=os.environ | {FILES: folder, "PYTHONPATH": path},
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True},
    ) as process:
        while process.returncode is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                said, faults = process.communicate(timeout=0.1 if question.processes else None)
            held = max(held, held_by(process.pid)) if question.processes else 0.0
    if process.returncode:
        return {"left_out": f"failed: {(faults.strip().splitlines() or ['no message'])[-1][:200]}"}
    found = json.loads(said.splitlines()[-1])
    return found | {"peak_mb": max(held, found["peak_mb"])}


def held_by(process: int | str) -> float:
    """MB that a process and all below it hold; nothing of those that have ended, or where there is no /proc."""
    try:
        children = [path.read_text().split() for path in Path(f"/proc/{process}/task").glob("*/children")]
        return megabytes(process, "VmRSS:") + sum(held_by(each) for those in children for each in those)
    except OSError:
        return 0.0


def exponent(runs: list[dict[str, Any]]) -> float | None:
    """The power of the size with which the median grows: least squares of the logarithms, of two sizes at least."""
    if len(runs) < 2:
        return None
    sizes = [math.log(run["size"]) for run in runs]
    return statistics.linear_regression(sizes, [math.log(statistics.median(run["seconds"])) for run in runs]).slope


def expected(size: int, runs: list[dict[str, Any]]) -> float:
    """Seconds that a size may take at the least, by the two before it: the first ones take the time of a start."""
    if not runs:
        return 0.0
    power = max(0.0, exponent(runs[-2:]) or 0.0)
    return statistics.median(runs[-1]["seconds"]) * (size / runs[-1]["size"]) ** power


def machine() -> dict[str, Any]:
    """On what, with what and when."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], capture_output=True, text=True, cwd=HERE).stdout.strip()

    models = []
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        models = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    changed = ", with changes" if git("status", "--porcelain", "--untracked-files=no") else ""
    return {
        "date": datetime.date.today().isoformat(),
        "commit": (git("rev-parse", "--short", "HEAD") or "unknown") + changed,
        "processor": (models or [platform.processor() or platform.machine()])[0],
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "packages": dict(sorted((each.name, each.version) for each in distributions() if each.name in PACKAGES)),
        "load": round(os.getloadavg()[0], 2),
    }


def worked() -> float:
    """Seconds that all cores have worked for others than us and our children."""
    try:
        ticks = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    except OSError:
        return math.nan
    return (sum(ticks) - sum(ticks[3:5])) / os.sysconf("SC_CLK_TCK") - sum(os.times()[:4])


def write(path: Path, made: dict[str, Any], names: list[str], rows: list[dict[str, Any]]) -> None:
    """The results as JSON, one run a line; whole or not at all."""
    asked = [{"question": name, "title": load(name).title, "unit": load(name).unit} for name in names]
    fits, lines = [], []
    for name, task in dict.fromkeys((row["question"], row["task"]) for row in rows):
        runs = [row for row in rows if (row["question"], row["task"]) == (name, task) and "seconds" in row]
        fits.append({"question": name, "task": task, "exponent": exponent(runs), "sizes": len(runs)})
    for row in rows:
        peaks = {each: row[each] and round(row[each]) for each in ("peak_mb", "data_mb") if each in row}
        seconds = {"seconds": [float(f"{each:.4g}") for each in row["seconds"]]} if "seconds" in row else {}
        lines.append(row | peaks | seconds)
    parts = {"questions": asked, "fits": fits, "runs": lines}
    text = [f'"{part}": [\n' + ",\n".join(map(json.dumps, each)) + "\n]" for part, each in parts.items()]
    half = path.with_name(f"{path.name}.part")
    half.write_text("{" + ",\n".join([f'"made": {json.dumps(made)}', *text]) + "}\n", "utf-8")
    half.replace(path)


def main() -> int:
    parser = argparse.ArgumentParser(description="Seconds and peak memory of tasks, beside peers.")
    parser.add_argument("names", nargs="*", metavar="QUESTION", help=f"all of them if absent: {' '.join(NAMES)}")
    parser.add_argument("--quick", action="store_true", help="without the largest size, three repeats")
    parser.add_argument("--large", action="store_true", help="one more size, of 1 and of 47 million")
    parser.add_argument("--sizes", type=int, nargs="+", help="in place of each question's own four")
    parser.add_argument("--repeats", type=int, help=f"{REPEATS} if absent")
    parser.add_argument("--out", type=Path, help="write the results to this file")
    parser.add_argument("--measure", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        name, task, size, repeats = options.measure
        print(json.dumps(measure(load(name), task, int(size), int(repeats))))
        return 0
    if unknown := [name for name in options.names if name not in NAMES]:
        parser.error(f"there is no question {unknown[0]!r}; there are {', '.join(NAMES)}")
    names, repeats = options.names or NAMES, options.repeats or (3 if options.quick else REPEATS)
    made, start, others, rows = machine(), time.monotonic(), worked(), []
    print("\n".join(f"{name}: {value}" for name, value in made.items()))
    with tempfile.TemporaryDirectory(prefix="kanon-lab-bench-") as folder:
        for name in names:
            question = load(name)
            sizes = options.sizes or list(question.sizes[:-1] if options.quick else question.sizes)
            rows += ask(name, sizes + [question.large] * bool(options.large and question.large), repeats, folder)
    elapsed = time.monotonic() - start
    busy = max(0.0, worked() - others) / elapsed / made["cores"]
    made |= {"minutes": round(elapsed / 60, 1), "others": round(busy, 3)}
    print(f"\n{made['minutes']} minutes; other work took {busy:.0%} of the cores meanwhile")
    own = not (options.names or options.quick or options.sizes)
    if target := options.out or (RESULTS if own else None):
        write(target, made, names, rows)
        print(f"results: {target}")
    return int(any(row.get("differs") for row in rows))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("\nmake bench: interrupted; no results are written", file=sys.stderr)
        sys.exit(130)
