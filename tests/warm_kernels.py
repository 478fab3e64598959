"""Notebooks run in processes forked from one that has imported what they import: each is as new as one that did it.

That a notebook imports all it needs in a kernel that has nothing is shown by making the book.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import forkserver
from pathlib import Path
from typing import Any
from unittest.mock import patch

FOLDER = str(Path(__file__).parent)


def _forking() -> Any:
    """The context of processes forked from one that begins by importing `preloaded`, which lies beside this file."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["preloaded"])
    with patch.dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, [FOLDER, os.environ.get("PYTHONPATH")]))):
        forkserver.ensure_running()
    return context


@contextmanager
def forked_notebooks() -> Iterator[None]:
    """Let a forked process run the cells that papermill would send to a kernel; on Linux only, elsewhere it does."""
    if sys.platform != "linux":
        yield
        return
    import nbformat
    from papermill.exceptions import PapermillExecutionError

    context = _forking()

    def execute(notebook: Any, output: str, *, cwd: str, **_: Any) -> None:
        ready, told = context.Pipe(duplex=False)
        target = output.replace("{{", "{").replace("}}", "}")
        process = context.Process(target=_run_cells, args=(told, nbformat.writes(notebook), target, cwd))
        process.start()
        told.close()
        try:
            failed = ready.recv()
        except EOFError:
            raise RuntimeError("the process died") from None
        finally:
            process.join()
        if failed is not None:
            raise PapermillExecutionError(**failed)

    with patch("papermill.execute_notebook", execute):
        yield


def _run_cells(told: Any, content: str, target: str, cwd: str) -> None:
    """Run a notebook's cells up to the first that fails, write it, and send what failed, or None."""
    import nbformat
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output
    from nbformat.v4 import new_output

    _begin(cwd, os.environ)
    notebook, failed = nbformat.reads(content, as_version=4), None
    shell = InteractiveShell.instance()
    shell.history_manager.enabled = False
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type != "code":
            continue
        with capture_output() as shown:
            result = shell.run_cell(cell.source, store_history=True)
        streams = {"stdout": shown.stdout, "stderr": shown.stderr}
        cell.outputs = [new_output("stream", name=name, text=text) for name, text in streams.items() if text]
        cell.outputs += [new_output("display_data", each.data, metadata=each.metadata or {}) for each in shown.outputs]
        error = result.error_before_exec or result.error_in_exec
        if error is not None:
            words = {"ename": type(error).__name__, "evalue": str(error), "traceback": [shown.stdout]}
            cell.outputs.append(new_output("error", **words))
            failed = {"cell_index": index, "exec_count": index, "source": cell.source, **words}
            break
    nbformat.write(notebook, target)
    told.send(failed)
    told.close()
    os._exit(0)  # as a kernel ends: whatever the notebook began does not keep it


@contextmanager
def warm_kernels() -> Iterator[None]:
    """Let Jupyter fork its Python kernels instead of starting Python anew, within `forked_notebooks` too.

    On Linux only; elsewhere nothing changes.
    """
    if sys.platform != "linux":
        yield
        return
    from papermill.execute import execute_notebook

    def launch(command: list[str], *, cwd: str | None = None, env: dict[str, str] | None = None, **_: Any) -> Kernel:
        assert command[1:3] == ["-m", "ipykernel_launcher"], command
        return Kernel(_forking(), command[3:], cwd or ".", dict(env or os.environ))

    launcher = "jupyter_client.provisioning.local_provisioner.launch_kernel"
    with patch(launcher, launch), patch("papermill.execute_notebook", execute_notebook):
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
    # It ends with its parent, which is the process that forked it.
    _begin(cwd, {**env, "JPY_PARENT_PID": str(os.getppid())})
    sys.argv = ["ipykernel_launcher", *arguments]
    from ipykernel.kernelapp import IPKernelApp

    IPKernelApp.launch_instance(argv=arguments)


def _begin(cwd: str, env: Any) -> None:
    """Be what a kernel is: nothing of the tests can be imported, and what lies in the working folder can."""
    multiprocessing.current_process().daemon = False  # it may have processes of its own
    os.chdir(cwd)
    given = dict(env)
    os.environ.clear()
    os.environ.update(given)
    with suppress(ValueError):
        sys.path.remove("")
    sys.path[:] = ["", *(each for each in sys.path if each and "tests" not in Path(each).parts)]
