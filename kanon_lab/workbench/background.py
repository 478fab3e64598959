"""Work in a thread of its own, so that the page answers while it lasts: the newest job counts, older ones stop."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock, Thread
from typing import Any

from kanon_lab.errors import KanonLabError

Job = Callable[[Callable[[str], None]], Any]


class Stopped(Exception):
    """A job is no longer wanted."""


def in_a_line(error: BaseException) -> str:
    """What a page says of an error; of one that was not foreseen only its type, since its words may hold values."""
    if isinstance(error, KanonLabError):
        return str(error)
    if isinstance(error, MemoryError):
        return "not enough memory; close other programs, or take fewer columns or records"
    return f"an unexpected {type(error).__name__}"


class Background:
    """Jobs one after another. A new job takes the place of the one that runs, which stops before its next step.

    Parameters
    ----------
    tell : callable
        Called with the name of each step before it begins, and with None when nothing runs any more.
    """

    def __init__(self, tell: Callable[[str | None], None]) -> None:
        self._tell, self._newest, self._one = tell, 0, Lock()
        self._threads: list[Thread] = []

    def submit(self, job: Job, done: Callable[[Any], None], failed: Callable[[str], None]) -> None:
        """Run a job, which is called with what names its steps; its result, or a line on its error, is for the others.

        Neither is called where another job was submitted, or all was stopped, in the meantime.
        """
        self._newest += 1
        number = self._newest

        def progress(step: str) -> None:
            if number != self._newest:
                raise Stopped
            self._tell(step)

        def run() -> None:
            with self._one:
                try:
                    progress("")
                    result = job(progress)
                    progress("")
                    done(result)
                except Stopped:
                    pass
                except BaseException as error:  # noqa: BLE001 - its words may hold values: no traceback may show them
                    if number == self._newest:
                        failed(in_a_line(error))
                finally:
                    if number == self._newest:
                        self._tell(None)

        thread = Thread(target=run, daemon=True)
        self._threads = [other for other in self._threads if other.is_alive()] + [thread]
        thread.start()

    def stop(self) -> None:
        """Drop what runs: it stops before its next step, and nothing comes of it."""
        self._newest += 1
        self._tell(None)

    def wait(self) -> None:
        """Wait until nothing runs; a job that is submitted by another's end is waited for too."""
        while self._threads:
            self._threads.pop().join()
