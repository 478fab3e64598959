"""How long, and how much memory: what every question of speed shares, in the process that is measured.

A question is a script ``bench_*.py``: data of a size, and the tasks that are done with them, peers among them. Only the
standard library is imported here: a peer may need another interpreter, with other versions of everything.
"""

from __future__ import annotations

import ctypes
import gc
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

#: Records of a first call, which is not timed: it imports.
TINY = 200
#: Seconds of one task at one size after which no repeat begins.
PATIENCE = 12
#: Names the interpreter that has pycanon, which pins old versions of pandas and numpy.
PYCANON = "KANON_LAB_PYCANON"
#: Names the folder for files that a question makes.
FILES = "KANON_LAB_BENCH_FILES"


@dataclass(frozen=True)
class Task:
    """What is timed: `work`, on the data in the form that `given` makes of them.

    Text is an expression of R with sdcMicro, of the data frame ``data``. Without the package that it `needs` a task is
    left out (a function says itself what is lacking). A result is known by the question's answer, or by its own.
    """

    work: Callable[[Any], Any] | str
    given: Callable[[Any], Any] | None = None
    needs: str | Callable[[], str] = ""
    answer: Callable[[Any], str] | str | None = "the question's"

    def lacks(self) -> str:
        """Why it cannot be done here; nothing where it can."""
        if callable(self.needs):
            return self.needs()
        if self.needs == "pycanon":
            return "" if os.environ.get(PYCANON) else f"not installed: {PYCANON} names no Python that has it"
        if isinstance(self.work, str):
            has = in_r('cat(requireNamespace("sdcMicro", quietly = TRUE))').endswith("TRUE")
        else:
            has = not self.needs or importlib.util.find_spec(self.needs) is not None
        return "" if has else "not installed"


@dataclass(frozen=True)
class Question:
    """A question: a title, data of a size (made from a seed, not timed), and by its name each task, or its work alone.

    There are four sizes, which count the `unit`, and a `large` one on request. What a result is known by, its answer
    as text, must be the same for all tasks where they `agree`. Of tasks that start `processes` no first call is made,
    and the memory of those counts too, as seen ten times a second, pages that two of them share twice.
    """

    title: str
    make: Callable[[int], Any]
    tasks: Mapping[str, Task | Callable[[Any], Any]]
    sizes: tuple[int, ...] = (10_000, 50_000, 250_000, 1_000_000)
    unit: str = "records"
    large: int | None = None
    answer: Callable[[Any], str] | None = None
    agree: bool = False
    processes: bool = False

    def task(self, name: str) -> Task:
        found = self.tasks[name]
        return found if isinstance(found, Task) else Task(found)


def load(name: str) -> Question:
    """The question of a script."""
    return import_module(f"bench_{name}").QUESTION


def measure(question: Question, name: str, size: int, repeats: int) -> dict[str, Any]:
    """Seconds of each repeat, peak memory in MB with the work and before it, and the answer; in this process."""
    task = question.task(name)
    given = task.given or (lambda data: data)
    if isinstance(task.work, str):
        return _measured_in_r(task.work, given(question.make(size)), repeats)
    if size > TINY and not question.processes:
        task.work(given(question.make(TINY)))
    data = given(question.make(size))
    _forget_peak()
    before, seconds, result = _peak(), [], None
    while len(seconds) < repeats and sum(seconds) < PATIENCE:
        result = None
        start = time.perf_counter()
        result = task.work(data)
        seconds.append(time.perf_counter() - start)
    peak, answer = _peak(), question.answer if isinstance(task.answer, str) else task.answer
    return {"seconds": seconds, "peak_mb": peak, "data_mb": before, "answer": answer and answer(result)}


def _forget_peak() -> None:
    """Let the peak begin at what is held now: making the data may have taken more."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")
    except (OSError, AttributeError):  # not Linux: the peak is then that of the process from its start
        pass


def _peak() -> float:
    try:
        return megabytes(os.getpid(), "VmHWM:")
    except OSError:
        from resource import RUSAGE_SELF, getrusage

        return getrusage(RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def megabytes(process: int, what: str) -> float:
    """What Linux says of the memory of a process."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(what)), 0.0)


def in_r(code: str) -> str:
    """What R prints; nothing without R."""
    if shutil.which("Rscript") is None:
        return ""
    return subprocess.run(["Rscript", "-e", code], capture_output=True, text=True).stdout.strip()


def _measured_in_r(expression: str, frame: Any, repeats: int) -> dict[str, Any]:
    """The same by R, which reads the data from a csv file."""
    with tempfile.TemporaryDirectory() as folder:
        frame.to_csv(file := Path(folder, "data.csv"), index=False)
        said = in_r(f"""
            suppressMessages(library(sdcMicro))
            all <- read.csv("{file.as_posix()}", na.strings = "", stringsAsFactors = TRUE)
            work <- function(data) {expression}
            invisible(work(head(all, {TINY})))
            seconds <- c()
            while (length(seconds) < {repeats} && sum(seconds) < {PATIENCE}) {{
                start <- as.numeric(Sys.time())
                work(all)
                seconds <- c(seconds, as.numeric(Sys.time()) - start)
            }}
            peak <- grep("VmHWM", readLines("/proc/self/status"), value = TRUE)
            cat("\\n", gsub("[^0-9]", "", peak), seconds)""")
    kilobytes, *seconds = map(float, said.splitlines()[-1].split())
    return {"seconds": seconds, "peak_mb": kilobytes / 1024, "data_mb": None, "answer": None}


def files() -> Path:
    """Where files of a question stand while it is asked."""
    return Path(os.environ.get(FILES) or tempfile.gettempdir())
