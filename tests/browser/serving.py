"""The page of ``kanon-lab open``, served by a process of its own with folders of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from processes import PATIENCE, hear_signals

SERVED = """
import sys
from kanon_lab.workbench.serving import serve
cell, wait, file = sys.argv[1:]
cells = [cell] if cell else []
serve(*cells, wait=float(wait), file=file or None, tell=lambda address, start: print(address, start, flush=True))
print("ended", flush=True)
"""


class Served:
    """A page that is served: its address with the token and without, the file that opens it, and its process.

    Its one cell is, by default, the workbench; `work` is the folder where it was started.
    """

    def __init__(self, folder: Path, wait: float = 30, cell: str = "", file: str = ""):
        self.home, self.temporary, self.work = (folder / name for name in ("home", "tmp", "work"))
        for path in (self.home, self.temporary, self.work):
            path.mkdir()
        environment = os.environ | {"HOME": str(self.home), "TMPDIR": str(self.temporary)}
        for name in [name for name in environment if name.startswith(("JUPYTER", "IPYTHON", "XDG_"))]:
            del environment[name]
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVED, cell, str(wait), file],
            cwd=self.work,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=hear_signals,
        )
        self.address, self.start = self.process.stdout.readline().split()
        self.page = self.address.partition("?")[0]

    def end(self, number: int | None = signal.SIGINT) -> tuple[int, str, str]:
        """The exit code and what was printed, after a signal or by itself."""
        if number is not None:
            self.process.send_signal(number)
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out, err

    def held(self) -> list[Path]:
        """The temporary folders that it holds by a lock, while it runs."""
        links = [link.readlink() for link in Path(f"/proc/{self.process.pid}/fd").iterdir()]
        return [link.parent for link in links if link.name == ".held"]

    def left(self) -> list[str]:
        """Files in any of its folders."""
        places = (self.home, self.temporary, self.work)
        return [str(path) for place in places for path in place.rglob("*") if path.is_file()]
