"""Processes that tests start and ask to stop, whatever the tests themselves were started by."""

import signal

PATIENCE = 600
"""Seconds after which a process is taken to hang: a loaded machine takes its time, and a test waits no longer than that
only where something is wrong."""

STOPS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


def hear_signals() -> None:
    """To be run in a new process before it begins: a background job, or one under nohup, ignores some signals."""
    for number in STOPS:
        signal.signal(number, signal.SIG_DFL)
