"""Work in a thread of its own, so that the page answers while it lasts: the newest job of a kind counts, or each."""

from __future__ import annotations

import atexit
import ctypes
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from threading import RLock, Thread, current_thread, main_thread
from time import monotonic, sleep
from typing import Any
from weakref import WeakSet

from kanon_lab.errors import KanonLabError

Job = Callable[[Callable[[str], None]], Any]
# So many seconds the end of the program waits for jobs to take away what they had begun to write.
_END = 4.0
# Seconds until it is looked again whether an import has ended.
_SOON = 0.02


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
    """Jobs one after another; `step` is the name of what runs, or None; whenever it has changed, `tell` is called.

    In a `queue` each job has its turn, because it writes a file; it is stopped between two of its steps only.
    """

    def __init__(self, tell: Callable[[], None], *, queue: bool = False) -> None:
        self.step: str | None = None
        self._tell, self._queue, self._lock = tell, queue, RLock()
        self._wanted: dict[Thread, str] = {}  # those that run or wait, with the kinds of their jobs
        self._last: Thread | None = None
        self._runs: Thread | None = None  # the one that may be interrupted
        _ALL.add(self)

    def submit(self, job: Job, done: Callable[[Any], None], failed: Callable[[str], None], kind: str = "") -> None:
        """Run a job, which is called with what names its steps; its result, or a line on its error, is for the others.

        It takes the place of earlier ones of its kind, or of all where it has none: nothing comes of these.
        """

        def progress(step: str) -> None:
            if thread not in self._wanted:
                raise Stopped
            self._say(step)

        def run() -> None:
            with suppress(Stopped):  # it may come when all is done
                if before is not None:
                    before.join()
                self._runs = thread
                try:
                    progress("")
                    result = job(progress)
                    self._shield()
                    if not self._queue:  # what is written is there, even if it was to be stopped
                        progress("")
                    done(result)
                except Exception as error:  # its words may hold values: no traceback may show them
                    self._shield()
                    if self._queue or thread in self._wanted:
                        failed(in_a_line(error))
                finally:
                    self._shield()
                    self._wanted.pop(thread, None)
                    if not self._wanted:
                        self._say(None)

        with self._lock:
            if not self._queue:
                self._drop(kind)
            before, thread = self._last, Thread(target=run, daemon=True)
            self._wanted[thread], self._last = kind, thread
            thread.start()

    def stop(self) -> None:
        """Drop what runs and what waits, and nothing comes of it but a file that is being written."""
        with self._lock:
            self._drop()
        self._say(None)

    def wait(self) -> None:
        """Wait until nothing runs; a job that is submitted by another's end is waited for too."""
        while (last := self._last) is not None and last.is_alive():
            last.join()

    def _say(self, step: str | None) -> None:
        self.step = step
        self._tell()

    def _shield(self) -> None:
        """From here on nothing interrupts the job that runs."""
        with self._lock:
            self._runs = None

    def _drop(self, kind: str = "") -> None:
        """Let jobs of a kind, or all, come to nothing."""
        for thread in [thread for thread, its in self._wanted.items() if kind in ("", its)]:
            del self._wanted[thread]
            if thread is self._runs and not self._queue:
                Thread(target=self.interrupt, args=[thread], daemon=True).start()

    def interrupt(self, thread: Thread) -> None:
        """End a job at its next line of Python, for a search may take minutes; but an import is not left half done."""
        while thread is self._runs and _imports(thread):
            sleep(_SOON)
        with self._lock:
            if thread is self._runs:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(Stopped))

    def end(self, until: float) -> None:
        """End all at the end of the program: a thread that ends with it would leave its temporary files."""
        self._wanted.clear()
        if self._runs is not None:
            self.interrupt(self._runs)
        if self._last is not None:
            self._last.join(max(until - monotonic(), 0))


def _imports(thread: Thread) -> bool:
    """Whether a thread is loading a module."""
    frame = sys._current_frames().get(thread.ident or 0)
    while frame is not None and "importlib" not in frame.f_code.co_filename:
        frame = frame.f_back
    return frame is not None


_ALL: WeakSet[Background] = WeakSet()


def leave_on_sigterm() -> None:
    """Let a kernel that is asked to end by a signal leave as any program does, so that no half-written file stays."""

    def leave(number: int, _: Any) -> None:
        raise SystemExit(128 + number)

    if current_thread() is main_thread() and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, leave)


@atexit.register
def _end() -> None:
    until = monotonic() + _END
    for jobs in [*_ALL]:
        jobs.end(until)
