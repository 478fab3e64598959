"""Running a notebook with parameters: all of it and a result, or one clear line and no result."""

from __future__ import annotations

import ast
import contextlib
import json
import re
import signal
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kanon_lab import errors
from kanon_lab.errors import KanonLabError, MissingPackageError, OptionError, StorageError
from kanon_lab.files import atomic_path, check_open_files, status, storage_errors
from kanon_lab.loading import load_jsonschema
from kanon_lab.notebooks.reading import NotebookError, mark_failed, of_failed_run, read_notebook

#: The words of these never quote a value of the data; of any other error only the type is told.
OWN = frozenset(
    name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, KanonLabError)
)
#: And of these the name of the file stands in front.
OF_DATA = frozenset({"DataError", "UnfitOptionError"})


def told(name: str, words: str, own: Iterable[str] = OWN) -> str:
    """An error in one line: its words if it is one of ours, else its type."""
    return " ".join((words if name in own else f"an unexpected {name}").split())


def without_values(notebook: Any, message: str, own: Iterable[str] = OWN) -> Any:
    """A failed notebook, changed: of errors the type, and the message of one of ours; nothing that was printed.

    Warnings of other packages quote values. What says where and when it ran goes too.
    """
    for holder in (notebook, *notebook.cells):
        for key in ("papermill", "execution"):
            holder.metadata.pop(key, None)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [_told(each, message, own) for each in cell.outputs if each.output_type != "stream"]
    return notebook


def _told(output: Any, message: str, own: Iterable[str]) -> Any:
    if output.output_type == "error":
        ours = output.ename in own
        kind = re.sub(r"\W", "", output.ename)
        output.ename, output.evalue = kind, message if ours else ""
        output.traceback = [f"{kind}: {message}" if ours else kind]
    return output


#: Lines of a parameters cell: what follows is about the default file alone.
EMPTY = "# Of this file: with another one each of these is empty unless it is given."
NEEDED = "# Of this file: with another one each of these must be given."
# Parameters that name what a notebook reads.
_FILES = ("file", "population")
# What to do about a notebook that names no kernel, or one that is not here.
CHOOSE_KERNEL = "open it in JupyterLab, choose the kernel Python 3 and save it"
_NOTHING = {ast.Dict: dict, ast.List: list}


@dataclass(frozen=True)
class _Parameter:
    """A parameter of the default file: what it says of itself, whether it is needed, and what it is when empty."""

    words: str
    needed: bool
    empty: Any


def papermill() -> Any:
    """The package papermill; a `MissingPackageError` where it is not installed."""
    load_jsonschema()
    try:
        import papermill
    except ModuleNotFoundError:
        raise MissingPackageError("running notebooks needs papermill: pip install 'kanon-lab[report]'") from None
    return papermill


def defaults(path: Path) -> dict[str, Any]:
    """The default of each parameter; None where it is not a literal."""
    return {name: _literal(node.value) for name, node in _assigned(read_notebook(path), path)[0].items()}


def _assigned(notebook: Any, path: Path) -> tuple[dict[str, ast.Assign | ast.AnnAssign], list[str]]:
    """The assignments of the cell of parameters by name, and its lines."""
    cells = [cell.source for cell in notebook.cells if "parameters" in cell.metadata.get("tags", [])]
    source = cells[0] if cells else ""
    try:
        if cells and notebook.metadata.get("kernelspec", {}).get("language") != "python":
            raise ValueError
        nodes = [node for node in ast.parse(source).body if isinstance(node, ast.Assign | ast.AnnAssign)]
    except (ValueError, SyntaxError):
        raise NotebookError(f"{path}: its parameters cannot be read; {CHOOSE_KERNEL}") from None
    targets = [node.target if isinstance(node, ast.AnnAssign) else node.targets[0] for node in nodes]
    return {each.id: node for each, node in zip(targets, nodes) if isinstance(each, ast.Name)}, source.splitlines()


def other_file(path: Path, parameters: Mapping[str, Any]) -> str | None:
    """The parameter by which another file than the notebook's own is asked for, or None."""
    known = defaults(path)
    name = next((name for name in _FILES if name in known), None)
    return name if name in parameters and parameters[name] != known[name] else None


def is_own(file: object) -> bool:
    """Whether a file is the user's own, and not a data set that comes with the package.

    A notebook shows of such a file only what ten records or more have in common.

    Examples
    --------
    >>> from kanon_lab.notebooks import is_own
    >>> is_own("survey.csv"), is_own("health-survey"), is_own("")
    (True, False, False)
    """
    from kanon_lab.data.sets import catalogue

    return bool(file) and str(file) not in {*catalogue()["name"]}


def for_the_file(path: Path, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters, without a default that is about the notebook's own file where another one is asked for."""
    asked = other_file(path, parameters)
    if asked is None:
        return dict(parameters)
    own = _of_its_file(path)
    if absent := [name for name, each in own.items() if each.needed and name not in parameters]:
        wanted = "; ".join(f"{name} ({own[name].words})" for name in absent)
        raise OptionError(f"{path.name}: with another {asked} give {wanted}")
    return {name: each.empty for name, each in own.items() if not each.needed} | dict(parameters)


def _of_its_file(path: Path) -> dict[str, _Parameter]:
    """The parameters below the lines `EMPTY` and `NEEDED`."""
    nodes, lines = _assigned(read_notebook(path), path)
    marks = {number: line for number, line in enumerate(lines, start=1) if line in (EMPTY, NEEDED)}
    found = {}
    for name, node in nodes.items():
        above = [line for number, line in marks.items() if number < node.lineno]
        if above:
            words = lines[node.lineno - 1].partition("# ")[2] or lines[node.end_lineno - 1].partition("# ")[2]
            found[name] = _Parameter(words, above[-1] == NEEDED, _empty(node.value))
    return found


def _empty(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return ""
    return _NOTHING[type(node)]() if type(node) in _NOTHING else None


def _literal(node: ast.expr | None) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        return None


def check_parameters(path: str | Path, parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that a notebook does not have, and values of another type than its default.

    papermill itself injects a misspelt name without an error, and the notebook then runs with its default. A whole
    number passes where the default is a float; a default of None, or one that is not a literal, accepts anything.
    """
    known = defaults(Path(path))
    for name, value in parameters.items():
        if name not in known:
            names = ", ".join(known) or "none"
            raise OptionError(f"{Path(path).name}: unknown parameter {name!r}; it has: {names}")
        default = known[name]
        if default is not None and not _same_type(value, default):
            wanted, given = type(default).__name__, type(value).__name__
            raise OptionError(f"{Path(path).name}: parameter {name!r} must be of type {wanted}, not {given}")
        if not _has_json_form(value):
            raise OptionError(
                f"{Path(path).name}: parameter {name!r} has no JSON form ({type(value).__name__}); "
                "give a number, text, true or false, or a list or dict of these"
            )


def run_notebook(
    source: str | Path, target: str | Path, parameters: Mapping[str, Any] | None = None, *, progress: bool = False
) -> None:
    """Execute a notebook and write the executed copy.

    The copy appears when the last cell has run. After a failure the cells that ran, with the traceback, are kept
    beside it as ``NAME.failed.ipynb``; after an interruption (SIGINT, SIGTERM) nothing is kept.

    Parameters
    ----------
    source, target : str or Path
        The notebook, and the executed copy to write; its folder is made, and is the kernel's working folder.
    parameters : mapping, optional
        Value by name, checked by `check_parameters`.
    progress : bool
        Show a bar that counts cells.
    """
    source, target = Path(source), Path(target)
    parameters = dict(parameters or {})
    check_open_files()
    check_parameters(source, parameters)
    secret = (asked := other_file(source, parameters)) is not None and is_own(parameters[asked])
    own = (str(parameters[asked]), list(parameters)) if secret else None
    parameters = for_the_file(source, parameters)
    _check_kernel(source)
    with storage_errors(target), _terminated_as_interrupted():
        _prepare(target)
        _run(source, target, parameters, progress, own)


def _prepare(target: Path) -> None:
    """Refuse, before minutes of work, a target that is no place for a file; make its folder."""
    if target.is_dir():
        raise StorageError(f"{target}: is a folder; give the path of a file in it")
    if target.parent.is_file():
        raise StorageError(f"{target.parent}: is a file; choose a folder")
    target.parent.mkdir(parents=True, exist_ok=True)


def _run(
    source: Path, target: Path, parameters: dict[str, Any], progress: bool, own: tuple[str, list[str]] | None = None
) -> None:
    """Execute and keep what there is; of a user's `own` file, with the parameters given, no error quotes values."""
    failed = target.with_name(f"{target.stem}.failed.ipynb")
    if failed.exists() and of_failed_run(failed):
        failed.unlink()
    with atomic_path(target, ending=".ipynb") as partial:
        try:
            _execute(source, partial, parameters, progress)
            _strip(partial)
        except NotebookError as error:
            if not partial.stat().st_size:
                raise
            line = str(error) if own is None else _without_values(partial, error, *own)
            what = "traceback in" if own is None else "the cells that ran are in"
            cause = error if own is None else None
            if status(failed) is not None:
                raise NotebookError(f"{line}; its notebook was not kept, since {failed} is another file") from cause
            _strip(partial, failed=True)
            partial.replace(failed)
            raise NotebookError(f"{line}; {what} {failed}") from cause


def _without_values(partial: Path, error: NotebookError, file: str, given: Sequence[str]) -> str:
    """Take what may quote the data out of a failed notebook; the error in one line that does not."""
    import nbformat

    cause = error.__cause__
    if not hasattr(cause, "ename"):  # no cell failed, but its process, or papermill
        line, message = str(error) if isinstance(cause, RuntimeError) else told(type(cause).__name__, ""), ""
    else:
        message = told(cause.ename, cause.evalue)
        if cause.ename in OF_DATA and not message.startswith(f"{file}: "):
            message = f"{file}: {message}"
        remedy = "" if cause.ename in OWN else f"; check what was given: {', '.join(given)}"
        line = f"{str(error).partition(': ')[0]}: {message}{remedy}"
    nbformat.write(without_values(read_notebook(partial), message), partial)
    return line


def _execute(source: Path, partial: Path, parameters: dict[str, Any], progress: bool) -> None:
    package = papermill()
    from nbclient.exceptions import CellExecutionError, CellTimeoutError
    from papermill.exceptions import PapermillException, PapermillExecutionError
    from traitlets.config import Config

    try:
        # Left by itself, the file of the kernel's ports and key outlives a run that is interrupted.
        with TemporaryDirectory(prefix="kanon-lab-") as folder:
            package.execute_notebook(
                _injected(read_notebook(source), parameters),
                str(partial).replace("{", "{{").replace("}", "}}"),  # papermill takes it for a template
                cwd=str(partial.parent),
                progress_bar=progress,
                config=Config(KernelManager={"connection_file": str(Path(folder, "kernel.json"))}),
                # Its own log speaks of local connections and of being stopped; what cells raise arrives another way.
                extra_arguments=["--IPKernelApp.log_level=50"],
            )
    except PapermillExecutionError as error:
        # One cell was added for the parameters.
        number = error.cell_index + 1 - bool(parameters)
        fault = f"{error.ename}: {error.evalue}".rstrip(": ")
        raise NotebookError(f"{source.name}, cell {number} ({_first_line(error.source)}): {fault}") from error
    except (CellExecutionError, CellTimeoutError, PapermillException) as error:
        raise NotebookError(f"{source.name}: {type(error).__name__}: {error}") from error
    except RuntimeError as error:  # of jupyter_client when it does not start, of nbclient when it dies
        raise NotebookError(f"{source.name}: its Python process did not start, or died (out of memory?)") from error


def _injected(notebook: Any, parameters: Mapping[str, Any]) -> Any:
    """The notebook with a cell of parameters after its own; papermill's own way makes text of the keys of mappings."""
    from nbformat.v4 import new_code_cell
    from papermill.translators import PythonTranslator

    class Translator(PythonTranslator):
        @classmethod
        def translate_dict(cls, val: Mapping[Any, Any]) -> str:
            return "{" + ", ".join(f"{cls.translate(key)}: {cls.translate(each)}" for key, each in val.items()) + "}"

    if parameters:
        own = [i for i, cell in enumerate(notebook.cells) if "parameters" in cell.metadata.get("tags", [])]
        cell = new_code_cell(Translator.codify(parameters), metadata={"tags": ["injected-parameters"]})
        notebook.cells.insert(own[0] + 1 if own else 0, cell)
    return notebook


def _strip(path: Path, failed: bool = False) -> None:
    """Remove metadata that says where and when a notebook ran, and the state of live controls, dead without Python."""
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    for holder in (notebook, *notebook.cells):
        for key in ("papermill", "widgets", "execution"):
            holder.metadata.pop(key, None)
    if failed:
        mark_failed(notebook)
    nbformat.write(notebook, path)


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


def _has_json_form(value: Any) -> bool:
    """Whether a notebook, a JSON file in UTF-8, can hold a value."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except (TypeError, ValueError):
        return False
    return True


def _same_type(value: Any, default: Any) -> bool:
    if isinstance(default, float):
        return isinstance(value, int | float) and not isinstance(value, bool)
    return type(value) is type(default)
