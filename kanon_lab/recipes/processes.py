"""Tasks shared out to other processes, which end with this one."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from kanon_lab.errors import OptionError
from kanon_lab.files import check_open_files

# Parts of the tasks for each process: small enough to end together, and large enough to share first steps.
_PARTS = 4
_of_this_process: list[Any] = []


def processors() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def shared_out(
    maker: Callable, data: tuple, tasks: Sequence[Any], workers: int
) -> Generator[tuple[Any, Any], None, None]:
    """Each task with ``maker(*data).measure(task)``, in the order in which they are done; neighbours share a process.

    Processes are spawned on every system: a forked one would have the locks of our threads, but not the threads.
    """
    if not tasks:
        return
    check_open_files()
    size = -(-len(tasks) // (_PARTS * workers))
    parts = [tasks[start : start + size] for start in range(0, len(tasks), size)]
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _begin, (maker, data))
    try:
        with _without_script(), _without_signals():
            futures = {pool.submit(_work, part): part for part in parts}
        for future in as_completed(futures):
            yield from zip(futures[future], future.result())
    except BrokenProcessPool:
        raise OptionError("a process of the map was ended, perhaps for lack of memory; try fewer workers") from None
    except BaseException:
        for child in set(multiprocessing.active_children()) - others:
            child.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _without_script() -> Iterator[None]:
    """Keep new processes from running the script of this one again, which few scripts guard against."""
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


@contextmanager
def _without_signals() -> Iterator[None]:
    """Keep signals to stop from new processes; this process hears them alone, and ends the others."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(maker: Callable, data: tuple) -> None:
    from tqdm import tqdm

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # where it cannot be blocked
    tqdm.set_lock(threading.RLock())  # by default one of the system, which stays where this process is ended
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _of_this_process[:] = [maker(*data)]


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)


def _work(tasks: Sequence[Any]) -> list[Any]:
    return [_of_this_process[0].measure(task) for task in tasks]
