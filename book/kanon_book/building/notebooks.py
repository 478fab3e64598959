"""The notebooks of the book, run where anything that they read has changed, two at a time."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from tempfile import TemporaryDirectory

from kanon_book.building.stamps import STAMPS, hash_file, write_stamp
from kanon_book.course.notebooks import notebook_faults
from kanon_book.places import EXECUTED, ROOT
from kanon_lab.errors import KanonLabError
from kanon_lab.notebooks import find_notebooks, run_notebook

_WORKERS = 2


def check_notebooks() -> None:
    """Say the first fault of a notebook before any is run."""
    for path in find_notebooks().values():
        if problems := notebook_faults(path):
            raise KanonLabError(problems[0])


def run_notebooks() -> None:
    """Run, with its default parameters, every notebook whose stamp is missing or old; their outputs are in `EXECUTED`.

    A stamp holds the hash of each file of the project that the notebook read, its modules among them, as `trace.py`
    noted them. A run that fails or is interrupted writes none.
    """
    notebooks = find_notebooks()
    EXECUTED.mkdir(parents=True, exist_ok=True)
    # Executed notebooks whose source is gone, and remains of runs that failed.
    for path in {*EXECUTED.iterdir()} - {EXECUTED / f"{name}.ipynb" for name in notebooks}:
        path.unlink() if path.is_file() else shutil.rmtree(path)
    old = {name: path for name, path in notebooks.items() if not is_stamped(name, path)}
    if not old:
        return
    print(f"{len(old)} of {len(notebooks)} notebooks are run", flush=True)
    # Those that take longest begin; where that is not known yet, those with most in them.
    order = sorted(old, key=lambda name: (_read_stamp(name).get("seconds", 0), old[name].stat().st_size), reverse=True)
    pool = ProcessPoolExecutor(_WORKERS, multiprocessing.get_context("spawn"))
    runs = {pool.submit(run_traced, name, old[name]): name for name in order}
    try:
        for number, run in enumerate(as_completed(runs), start=1):
            print(f"[{number}/{len(old)}] notebooks/{runs[run]}.ipynb: {run.result():.1f} s", flush=True)
    finally:
        pool.shutdown(cancel_futures=True)


def is_stamped(name: str, source: Path) -> bool:
    """Whether a notebook has run since anything that it reads has changed."""
    stamp = _read_stamp(name)
    made_from = stamp.get("made_from", {})
    return (
        (EXECUTED / f"{name}.ipynb").is_file()
        and stamp.get("python") == _python()
        and source.relative_to(ROOT).as_posix() in made_from
        and all(hash_file(ROOT / path) == known for path, known in made_from.items())
    )


def run_traced(name: str, source: Path) -> float:
    """Run a notebook, write its stamp, and return the seconds that it took."""
    stamp = STAMPS / f"{name}.json"
    stamp.unlink(missing_ok=True)
    start = time.monotonic()
    with TemporaryDirectory(prefix="kanon-lab-") as folder:
        notes = Path(folder, "read.txt")
        os.environ["KANON_LAB_TRACE"] = f"{ROOT}{os.pathsep}{notes}"
        os.environ["PYTHONSTARTUP"] = str(Path(__file__).with_name("trace.py"))
        run_notebook(source, EXECUTED / f"{name}.ipynb")
        if not notes.is_file():
            raise KanonLabError(f"notebooks/{name}.ipynb: nothing was noted of what it reads; mend trace.py")
        read = {*notes.read_text("utf-8").splitlines()}
    seconds = time.monotonic() - start
    read |= {"constraints.txt", source.relative_to(ROOT).as_posix()}
    made_from = {path: hash_file(ROOT / path) for path in sorted(read)}
    write_stamp(stamp, json.dumps({"python": _python(), "seconds": seconds, "made_from": made_from}, indent=1))
    return seconds


def _python() -> str:
    return ".".join(map(str, sys.version_info[:2]))


def _read_stamp(name: str) -> dict:
    try:
        return json.loads((STAMPS / f"{name}.json").read_text("utf-8"))
    except (OSError, ValueError):
        return {}
