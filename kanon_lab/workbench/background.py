"""Work in a thread of its own, so that the page answers while it lasts: the newest job counts, older ones stop."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from threading import Lock, Thread
from typing import Any

from kanon_lab.errors import KanonLabError

Job = Callable[[Callable[[str], None]], Any]


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
    """Jobs one after another. A new job takes the place of the one that runs, which is stopped.

    Parameters
    ----------
    tell : callable
        Called with the name of each step before it begins, and with None when nothing runs any more.
    gently : bool
        Whether a job is stopped between two of its steps only, because it writes files.
    """

    def __init__(self, tell: Callable[[str | None], None], *, gently: bool = False) -> None:
        self._tell, self._gently, self._newest, self._one = tell, gently, 0, Lock()
        self._threads: list[Thread] = []
        self._runs: int | None = None

    def submit(self, job: Job, done: Callable[[Any], None], failed: Callable[[str], None]) -> None:
        """Run a job, which is called with what names its steps; its result, or a line on its error, is for the others.

        Neither is called where another job was submitted, or all was stopped, in the meantime.
        """
        self._interrupt()
        number = self._newest

        def progress(step: str) -> None:
            if number != self._newest:
                raise Stopped
            self._tell(step)

        def run() -> None:
            try:
                progress("")
                result = job(progress)
                self._runs = None  # from here on nothing interrupts it
                progress("")
                done(result)
            except Stopped:
                pass
            except Exception as error:  # its words may hold values: no traceback may show them
                self._runs = None
                if number == self._newest:
                    failed(in_a_line(error))
            finally:
                self._runs = None
                if number == self._newest:
                    self._tell(None)

        def alone() -> None:
            try:
                with self._one:
                    self._runs = None if self._gently else thread.ident
                    run()
            except Stopped:  # it came when all was done
                pass

        thread = Thread(target=alone, daemon=True)
        self._threads = [other for other in self._threads if other.is_alive()] + [thread]
        thread.start()

    def stop(self) -> None:
        """Drop what runs, and nothing comes of it."""
        self._interrupt()
        self._tell(None)

    def _interrupt(self) -> None:
        """Let what runs end at its next line of Python: a search may take minutes."""
        self._newest += 1
        if (running := self._runs) is not None:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(running), ctypes.py_object(Stopped))

    def wait(self) -> None:
        """Wait until nothing runs; a job that is submitted by another's end is waited for too."""
        while self._threads:
            self._threads.pop().join()
