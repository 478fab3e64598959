"""Processes: those that tests start and ask to stop, and those that test, which share what takes long to make."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

PATIENCE = 600
"""Seconds after which a process is taken to hang: a loaded machine takes its time, and a test waits no longer than that
only where something is wrong."""

STOPS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


def hear_signals() -> None:
    """To be run in a new process before it begins: a background job, or one under nohup, ignores some signals."""
    for number in STOPS:
        signal.signal(number, signal.SIG_DFL)


def once(key: Path, make: Callable[[], object]) -> None:
    """Let the first of the processes that test make something; the others wait until it is there, which `key` says."""
    done = key.with_name(f"{key.name}.done")
    try:
        os.close(os.open(key.with_name(f"{key.name}.lock"), os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        end = time.monotonic() + PATIENCE
        while not done.exists() and time.monotonic() < end:
            time.sleep(0.1)
    else:
        try:
            make()
            key.touch()
        finally:
            done.touch()
    assert key.exists(), f"{key.name} could not be made"
