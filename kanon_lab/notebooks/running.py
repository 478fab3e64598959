"""Running a notebook with parameters: all of it and a result, or one clear line and no result."""

from __future__ import annotations

import ast
import contextlib
import os
import re
import signal
import socket
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

from kanon_lab.errors import AbsentFileError, DataError, KanonLabError, MissingPackageError, OptionError, StorageError
from kanon_lab.files import atomic_path, check_address_space, check_open_files, status, storage_errors
from kanon_lab.folders import held_folder
from kanon_lab.loading import load_jsonschema
from kanon_lab.notebooks.recording import NotebookError, has_json_form, read_notebook


def own_errors(kind: type[KanonLabError] = KanonLabError) -> set[str]:
    """Names of the errors of a kind that quote no value of the data: all but the one that says what a cell raised."""
    kinds = [subclass for subclass in kind.__subclasses__() if subclass is not NotebookError]
    return {kind.__name__}.union(*map(own_errors, kinds))


def in_one_line(name: str, words: str) -> str:
    """An error in one line: its words if it is one of ours, else its type."""
    return " ".join((words if name in own_errors() else f"an unexpected {name}").split())


def without_values(notebook: Any, message: str) -> Any:
    """A failed notebook, changed: of errors the type, and the message of one of ours; nothing that was printed.

    Warnings of other packages quote values. What says where and when it ran goes too.
    """
    _pop_metadata(notebook, "papermill", "execution")
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.output_type != "stream"]
            for error in (output for output in cell.outputs if output.output_type == "error"):
                kind, words = re.sub(r"\W", "", error.ename), message if error.ename in own_errors() else ""
                error.ename, error.evalue, error.traceback = kind, words, [f"{kind}: {words}" if words else kind]
    return notebook


def _pop_metadata(notebook: Any, *keys: str) -> None:
    for holder in (notebook, *notebook.cells):
        for key in keys:
            holder.metadata.pop(key, None)


#: Lines of a parameters cell: what follows is about the default file alone.
EMPTY = "# Of this file: with another one each of these is empty unless it is given."
NEEDED = "# Of this file: with another one each of these must be given."
# Parameters that name what a notebook reads.
_FILES = ("file", "population")
# What to do about a notebook that names no kernel, or one that is not here.
CHOOSE_KERNEL = "open it in JupyterLab, choose the kernel Python 3 and save it"
# The tag of the cell with the parameters of a run.
_INJECTED = "injected-parameters"
# Bytes of memory that a kernel and its libraries need where the system limits them (1,500 MB were too few).
_MEMORY = 2_000_000_000
# What the metadata of a notebook say that a failed run has left.
_FAILED = {"failed": True}


@dataclass(frozen=True)
class Parameter:
    """A parameter of a notebook."""

    default: Any  # None where it is not a literal
    words: str  # What its line says of it
    mark: str  # The line above it, `EMPTY` or `NEEDED`, where it is about the default file alone
    empty: Any  # What it is where there is nothing: of a text, mapping or list an empty one


def parameters_of(path: Path) -> dict[str, Parameter]:
    """The parameters of a notebook: the assignments of the cell with that tag, by name."""
    notebook = read_notebook(path)
    source = next((cell.source for cell in notebook.cells if "parameters" in cell.metadata.get("tags", [])), None)
    if source is None:
        return {}
    try:
        if notebook.metadata.get("kernelspec", {}).get("language") != "python":
            raise ValueError
        nodes = [node for node in ast.parse(source).body if isinstance(node, ast.Assign | ast.AnnAssign)]
    except (ValueError, SyntaxError):
        raise NotebookError(f"{path}: its parameters cannot be read; {CHOOSE_KERNEL}") from None
    parameters, lines = {}, source.splitlines()
    for node in nodes:
        target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
        if isinstance(target, ast.Name):
            words = (
                lines[node.lineno - 1].partition("# ")[2]
                or lines[(node.end_lineno or node.lineno) - 1].partition("# ")[2]
            )
            marks = [line for line in lines[: node.lineno - 1] if line in (EMPTY, NEEDED)]
            parameters[target.id] = Parameter(
                _literal(node.value), words, marks[-1] if marks else "", _empty(node.value)
            )
    return parameters


def _literal(node: ast.expr | None) -> Any:
    try:
        return ast.literal_eval(node) if node else None
    except (ValueError, TypeError):
        return None


def _empty(node: ast.expr | None) -> Any:
    if isinstance(node, ast.Constant):
        return "" if isinstance(node.value, str) else None
    return {} if isinstance(node, ast.Dict) else [] if isinstance(node, ast.List) else None


def _other_file(known: Mapping[str, Parameter], parameters: Mapping[str, Any]) -> str | None:
    """The parameter by which another file than the notebook's own is asked for, or None."""
    name = next((name for name in _FILES if name in known), None)
    return name if name and name in parameters and parameters[name] != known[name].default else None


def is_own(file: object) -> bool:
    """Whether a file is the user's own, and not a data set that comes with the package.

    A notebook shows of such a file only what ten records or more have in common.

    Examples
    --------
    >>> is_own = kanon_lab.notebooks.is_own
    >>> is_own("survey.csv"), is_own("health-survey"), is_own("")
    (True, False, False)
    """
    from kanon_lab.data.sets import catalogue

    return bool(file) and str(file) not in {*catalogue()["name"]}


def for_the_file(path: Path, known: Mapping[str, Parameter], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters, without a default that is about the notebook's own file where another one is asked for."""
    if (asked := _other_file(known, parameters)) is None:
        return dict(parameters)
    needed = {name: row.words for name, row in known.items() if row.mark == NEEDED and name not in parameters}
    if needed:
        wanted = "; ".join(f"{name} ({words})" for name, words in needed.items())
        raise OptionError(f"{path.name}: with another {asked} give {wanted}")
    return {name: row.empty for name, row in known.items() if row.mark == EMPTY} | dict(parameters)


def check_parameters(path: str | Path, parameters: Mapping[str, Any]) -> dict[str, Parameter]:
    """Refuse parameters that a notebook does not have, and values of another type than its default; return its own.

    papermill itself injects a misspelt name without an error, and the notebook then runs with its default. A whole
    number passes where the default is a float; a default of None, or one that is not a literal, accepts anything.
    """
    known, of = parameters_of(Path(path)), Path(path).name
    for name, value in parameters.items():
        if name not in known:
            raise OptionError(f"{of}: unknown parameter {name!r}; it has: {', '.join(known) or 'none'}")
        default, kind = known[name].default, type(value).__name__
        wanted = (int, float) if isinstance(default, float) and not isinstance(value, bool) else ()
        if default is not None and type(value) is not type(default) and not isinstance(value, wanted):
            raise OptionError(f"{of}: parameter {name!r} must be of type {type(default).__name__}, not {kind}")
        if not has_json_form(value):
            raise OptionError(
                f"{of}: parameter {name!r} has no JSON form ({kind}); "
                "give a number, text, true or false, or a list or dict of these"
            )
    return known


def run_notebook(
    source: str | Path,
    target: str | Path,
    parameters: Mapping[str, Any] | None = None,
    *,
    progress: bool = False,
    private: bool = False,
) -> None:
    """Execute a notebook and write the executed copy.

    The copy appears when the last cell has run. After a failure the cells that ran, with the traceback, are kept
    beside it as ``NAME.failed.ipynb``; after an interruption (SIGINT, SIGTERM) nothing is kept.

    Parameters
    ----------
    source, target : str or Path
        The notebook, and the executed copy to write; its folder is made, and is the kernel's working folder.
    parameters : mapping, optional
        Values of the parameters by name; `check_parameters` checks them.
    progress : bool
        Show a bar that counts cells.
    private : bool
        Keep the parameters out of the copy, and of a failure, as where the file is the user's own, what may quote the
        data: printed text, and the words of errors that are not ours.
    """
    source, target, chosen = Path(source), Path(target), dict(parameters or {})
    check_open_files()
    check_address_space(_MEMORY)
    known = check_parameters(source, chosen)
    asked = _other_file(known, chosen)
    own = None if private or asked is None or not is_own(chosen[asked]) else str(chosen[asked])
    parameters = for_the_file(source, known, chosen)
    failed = target.with_name(f"{target.stem}.failed.ipynb")
    with storage_errors(target), _terminated_as_interrupted(), held_folder() as folder, _ipython_in(folder):
        _check_kernel(source)
        _prepare(target)
        if failed.exists() and of_failed_run(failed):
            failed.unlink()
        with atomic_path(target, ending=".ipynb") as partial:
            try:
                _execute(source, partial, parameters, folder, progress)
                _strip(partial, private=private)
            except NotebookError as error:
                if not partial.stat().st_size:
                    raise
                line, what = str(error), "traceback in"
                cause: NotebookError | None = error
                if private or own is not None:
                    line, what, cause = _without_values(partial, error, own, chosen), "the cells that ran are in", None
                if status(failed) is not None:
                    kept = f"its notebook was not kept, since {failed} is another file"
                else:
                    _strip(partial, private=private, failed=True)
                    partial.replace(failed)
                    kept = f"{what} {failed}"
                raise NotebookError(f"{line}; {kept}", error.reason) from cause


def _prepare(target: Path) -> None:
    """Refuse, before minutes of work, a target that is no place for a file; make its folder."""
    if target.is_dir():
        raise StorageError(f"{target}: is a folder; give the path of a file in it")
    if target.parent.is_file():
        raise StorageError(f"{target.parent}: is a file; choose a folder")
    target.parent.mkdir(parents=True, exist_ok=True)


def _without_values(partial: Path, error: NotebookError, file: str | None, names: Iterable[str]) -> str:
    """Take what may quote the data out of a failed notebook; the error in one line that does not, but says the file."""
    import nbformat

    name, message = getattr(error.__cause__, "ename", ""), error.reason
    if file and name in own_errors(DataError) - own_errors(AbsentFileError) and not message.startswith(f"{file}: "):
        message = f"{file}: {message}"
    nbformat.write(without_values(read_notebook(partial), message), partial)
    remedy = f"; check what was given: {', '.join(names)}" if name and name not in own_errors() else ""
    return f"{str(error).partition(': ')[0]}: {message}{remedy}"


def _execute(source: Path, partial: Path, parameters: dict[str, Any], folder: Path, progress: bool) -> None:
    load_jsonschema()
    try:
        import papermill
        from jupyter_client import AsyncKernelManager
    except ModuleNotFoundError:
        raise MissingPackageError("running notebooks needs papermill: pip install 'kanon-lab[report]'") from None
    from nbclient.exceptions import CellExecutionError, CellTimeoutError
    from papermill.exceptions import PapermillException, PapermillExecutionError
    from traitlets.config import Config

    class QuietKernel(AsyncKernelManager):
        async def _async_start_kernel(self, **options: Any) -> None:
            # What the process itself prints, as when it is stopped in its start, would stand beside our one line.
            await super()._async_start_kernel(**options, stdout=DEVNULL, stderr=DEVNULL)

        start_kernel = _async_start_kernel

    try:
        # Left by itself, the file of the kernel's ports and key outlives a run that is interrupted.
        papermill.execute_notebook(
            _injected(read_notebook(source), parameters),
            str(partial).replace("{", "{{").replace("}", "}}"),  # papermill takes it for a template
            cwd=str(partial.parent),
            progress_bar=progress,
            config=Config(KernelManager={"connection_file": str(folder / "kernel.json"), **_free_ports()}),
            kernel_manager_class=QuietKernel,
            # Its own log speaks of local connections and of being stopped; what cells raise arrives another way.
            extra_arguments=["--IPKernelApp.log_level=50"],
        )
    except PapermillExecutionError as error:
        # One cell was added for the parameters.
        number = error.cell_index + 1 - bool(parameters)
        fault = f"{error.ename}: {error.evalue}".rstrip(": ")
        place = f"{source.name}, cell {number} ({_first_line(error.source)})"
        raise NotebookError(f"{place}: {fault}", in_one_line(error.ename, error.evalue)) from error
    except (CellExecutionError, CellTimeoutError, PapermillException) as error:
        kind = type(error).__name__
        raise NotebookError(f"{source.name}: {kind}: {error}", f"an unexpected {kind}") from error
    except RuntimeError as error:  # of jupyter_client when it does not start, of nbclient when it dies
        reason = "its Python process did not start, or died (out of memory?)"
        raise NotebookError(f"{source.name}: {reason}", reason) from error


@contextlib.contextmanager
def _ipython_in(folder: Path) -> Iterator[None]:
    """Let IPython keep its profile in a folder: one's own may change what a notebook does, or not be writable."""
    name = "IPYTHONDIR"
    before = os.environ.get(name)
    os.environ[name] = str(folder / "ipython")
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def _free_ports() -> dict[str, Any]:
    """Ports for a kernel, from a range of this process and below those that systems hand out.

    Two kernels that start at once may else be given the same ones, and one of them waits for ever.
    """
    names = ["shell_port", "iopub_port", "stdin_port", "hb_port", "control_port"]
    free: list[int] = []
    for offset in range(20_000):
        port = 10_000 + (os.getpid() * 211 + offset) % 20_000  # ranges of processes that follow each other are apart
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            free.append(port)
        if len(free) == len(names):
            break
    return {"cache_ports": False, **dict(zip(names, free))}


def _injected(notebook: Any, parameters: Mapping[str, Any]) -> Any:
    """The notebook with a cell of parameters after its own; papermill's own way makes text of the keys of mappings."""
    from nbformat.v4 import new_code_cell
    from papermill.translators import PythonTranslator

    class Translator(PythonTranslator):
        @classmethod
        def translate(cls, val: Any) -> str:
            return super().translate([*val] if isinstance(val, tuple) else val)

        @classmethod
        def translate_dict(cls, val: Mapping[Any, Any]) -> str:
            return "{" + ", ".join(f"{cls.translate(key)}: {cls.translate(value)}" for key, value in val.items()) + "}"

    if parameters:
        own = [i for i, cell in enumerate(notebook.cells) if "parameters" in cell.metadata.get("tags", [])]
        cell = new_code_cell(Translator.codify(parameters), metadata={"tags": [_INJECTED]})
        notebook.cells.insert(own[0] + 1 if own else 0, cell)
    return notebook


def _strip(path: Path, *, private: bool, failed: bool = False) -> None:
    """Remove metadata that says where and when a notebook ran, and the state of live controls, dead without Python."""
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    if private:
        notebook.cells = [cell for cell in notebook.cells if _INJECTED not in cell.metadata.get("tags", [])]
    _pop_metadata(notebook, "papermill", "widgets", "execution")
    if failed:
        notebook.metadata["kanon_lab"] = _FAILED
    nbformat.write(notebook, path)


def of_failed_run(path: str | Path) -> bool:
    """Whether a file was left by a run that failed, and may go: else it is somebody's own."""
    try:
        return read_notebook(path).metadata.get("kanon_lab") == _FAILED
    except NotebookError:
        return False


def _first_line(code: str) -> str:
    lines = [line.strip() for line in code.splitlines()]
    return next((line for line in lines if line and not line.startswith("#")), "empty")


def _check_kernel(path: Path) -> None:
    from jupyter_client.kernelspec import KernelSpecManager

    name = read_notebook(path).metadata.get("kernelspec", {}).get("name")
    if name is None:
        raise NotebookError(f"{path}: names no kernel; {CHOOSE_KERNEL}")
    if name not in KernelSpecManager().find_kernel_specs():
        raise NotebookError(f"{path}: its kernel {name!r} is not installed; {CHOOSE_KERNEL}")


@contextlib.contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """Let SIGTERM unwind the block as an exception, so that nothing half done stays and the kernel is stopped."""
    ours = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    if not ours:  # only the main thread may set a handler, and one that a program has set is its own
        yield
        return

    def stop(number: int, _: Any) -> None:
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
