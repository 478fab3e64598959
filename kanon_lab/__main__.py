"""``python -m kanon_lab`` is the command ``kanon-lab``."""

import os
import signal
import sys


def main() -> None:
    """Run the command; an interrupt while it is still being loaded is one line too."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # This leaves at once: an exception could be lost, or printed, in the middle of an import.
        signal.signal(signal.SIGINT, _leave)
    from kanon_lab.cli import main as command

    command()


def _leave(number: int, frame: object) -> None:
    if sys.stderr is not None:
        print("kanon-lab: interrupted", file=sys.stderr, flush=True)
    os._exit(130)


if __name__ == "__main__":
    main()
