"""Work in a thread of its own, so that the page answers while it lasts: the newest job counts, or each in its turn."""

from __future__ import annotations

import atexit
import ctypes
from collections.abc import Callable
from threading import Lock, Thread
from time import monotonic
from typing import Any
from weakref import WeakSet

from kanon_lab.errors import KanonLabError

Job = Callable[[Callable[[str], None]], Any]
# So many seconds the end of the program waits for jobs to take away what they had begun to write.
_END = 4.0


class Stopped(BaseException):
    """A job is no longer wanted."""


def in_a_line(error: BaseException) -> str:
    """What a page says of an error; of one that was not foreseen only its type, since its words may hold values."""
    if isinstance(error, KanonLabError):
        return str(error)
    if isinstance(error, MemoryError):
        return "not enough memory; close other programs, or take fewer columns or records"
    return f"an unexpected {type(error).__name__}"


class Background:
    """Jobs one after another. A new job takes the place of the one that runs, which is stopped, or waits for its turn.

    Parameters
    ----------
    tell : callable
        Called with the name of each step before it begins, and with None when nothing runs any more.
    queue : bool
        Whether each job has its turn, because it writes a file; it is stopped between two of its steps only.
    """

    def __init__(self, tell: Callable[[str | None], None], *, queue: bool = False) -> None:
        self._tell, self._queue, self._newest, self._lock = tell, queue, 0, Lock()
        self._last: Thread | None = None
        self._runs: int | None = None
        _ALL.add(self)

    def submit(self, job: Job, done: Callable[[Any], None], failed: Callable[[str], None]) -> None:
        """Run a job, which is called with what names its steps; its result, or a line on its error, is for the others.

        Neither is called where another job took its place, or all was stopped before it ended.
        """

        def progress(step: str) -> None:
            if number != self._newest:
                raise Stopped
            self._tell(step)

        def run() -> None:
            try:
                progress("")
                result = job(progress)
                self._runs = None  # from here on nothing interrupts it
                if not self._queue:  # what is written is there, even if it was to be stopped
                    progress("")
                done(result)
            except Stopped:
                pass
            except Exception as error:  # its words may hold values: no traceback may show them
                self._runs = None
                if self._queue or number == self._newest:
                    failed(in_a_line(error))
            finally:
                self._runs = None
                if number == self._newest:
                    self._tell(None)

        def alone() -> None:
            try:
                if before is not None:
                    before.join()
                self._runs = thread.ident
                run()
            except Stopped:  # it came when all was done
                pass

        with self._lock:
            number = self._newest if self._queue else self._interrupt()
            before, thread = self._last, Thread(target=alone, daemon=True)
            thread.start()
            self._last = thread

    def stop(self) -> None:
        """Drop what runs and what waits, and nothing comes of it but a file that is being written."""
        with self._lock:
            self._interrupt(self._queue)
        self._tell(None)

    def _interrupt(self, gently: bool = False) -> int:
        """Let what runs end at its next line of Python, or step if `gently`: a search may take minutes. Its number."""
        self._newest += 1
        if (running := self._runs) is not None and not gently:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(running), ctypes.py_object(Stopped))
        return self._newest

    def wait(self) -> None:
        """Wait until nothing runs; a job that is submitted by another's end is waited for too."""
        while (last := self._last) is not None and last.is_alive():
            last.join()


_ALL: WeakSet[Background] = WeakSet()


@atexit.register
def _end() -> None:
    """Stop all jobs at the end of the program: a thread that ends with it would leave its temporary files."""
    until, left = monotonic() + _END, [*_ALL]
    for jobs in left:
        jobs._interrupt()
    for jobs in left:
        if jobs._last is not None:
            jobs._last.join(max(until - monotonic(), 0))
