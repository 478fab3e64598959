"""Parameters of a notebook: their defaults, and which of these are about the notebook's own file alone."""

from __future__ import annotations

import ast
import contextlib
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kanon_lab.errors import MissingPackageError, OptionError
from kanon_lab.loading import load_jsonschema
from kanon_lab.notebooks.reading import NotebookError, read_notebook

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
    """Return the default of each parameter; None where it is not a literal."""
    package = papermill()
    notebook = read_notebook(path)
    # Its warning about a notebook without parameters says nothing that the empty result does not.
    with _quiet(logging.getLogger("papermill")):
        try:
            found = package.inspect_notebook(notebook)
        except (ValueError, package.PapermillException):  # no language named, or one it does not know
            raise NotebookError(f"{path}: its parameters cannot be read; {CHOOSE_KERNEL}") from None
    return {name: _literal(parameter["default"]) for name, parameter in found.items()}


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
    from kanon_lab.data import catalogue

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
    cells = [cell for cell in read_notebook(path).cells if "parameters" in cell.metadata.get("tags", [])]
    lines = cells[0].source.splitlines() if cells else []
    marks = {number: line for number, line in enumerate(lines, start=1) if line in (EMPTY, NEEDED)}
    found = {}
    for node in ast.parse("\n".join(lines)).body:
        above = [line for number, line in marks.items() if number < node.lineno]
        if above and isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            words = lines[node.lineno - 1].partition("# ")[2] or lines[node.end_lineno - 1].partition("# ")[2]
            found[node.targets[0].id] = _Parameter(words, above[-1] == NEEDED, _empty(node.value))
    return found


def _empty(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return ""
    return _NOTHING[type(node)]() if type(node) in _NOTHING else None


@contextlib.contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None
