"""Kernels forked from a process that has imported what notebooks import: each is as new as one that imported it."""

from __future__ import annotations

import multiprocessing
import os
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import kanon_lab

# That notebooks import what they need in a kernel that has nothing is shown by making the book.
PACKAGES = "ipykernel.kernelapp ipykernel.ipkernel IPython pandas scipy.stats scipy.optimize altair pyarrow".split()
PACKAGES += [each.name for each in pkgutil.walk_packages(kanon_lab.__path__, "kanon_lab.") if "__" not in each.name]


@contextmanager
def warm_kernels() -> Iterator[None]:
    """Let Jupyter fork its Python kernels instead of starting Python anew; on Linux only, elsewhere nothing changes."""
    if sys.platform != "linux":
        yield
        return
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PACKAGES)

    def launch(command: list[str], *, cwd: str | None = None, env: dict[str, str] | None = None, **_: Any) -> Kernel:
        assert command[1:3] == ["-m", "ipykernel_launcher"], command
        return Kernel(context, command[3:], cwd or ".", dict(env or os.environ))

    with patch("jupyter_client.provisioning.local_provisioner.launch_kernel", launch):
        yield


class Kernel:
    """What Jupyter needs of a subprocess."""

    stdin = stdout = stderr = None

    def __init__(self, context: Any, arguments: list[str], cwd: str, env: dict[str, str]):
        ready, told = context.Pipe(duplex=False)
        self._process = context.Process(
            target=_serve, args=(told, arguments, str(Path(cwd).resolve()), env), daemon=True
        )
        self._process.start()
        told.close()
        # Its group of processes must be its own before anyone asks for it: signals go to groups.
        assert ready.recv() == "ready"
        self.pid = self._process.pid
        self.send_signal = lambda number: os.kill(self.pid, number)
        self.terminate, self.kill = self._process.terminate, self._process.kill

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int | None:
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired("kernel", timeout or 0)
        return self._process.exitcode


def _serve(told: Any, arguments: list[str], cwd: str, env: dict[str, str]) -> None:
    os.setsid()
    told.send("ready")
    told.close()
    os.chdir(cwd)
    os.environ.clear()
    # It ends with its parent, which is the process that forked it.
    os.environ.update(env, JPY_PARENT_PID=str(os.getppid()))
    sys.argv = ["ipykernel_launcher", *arguments]
    # Nothing of the tests can be imported, and what lies in the working folder can.
    sys.path[:] = ["", *(each for each in sys.path if each and "tests" not in Path(each).parts)]
    from ipykernel.kernelapp import IPKernelApp

    IPKernelApp.launch_instance(argv=arguments)
