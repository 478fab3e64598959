"""Parameters of a notebook: their defaults, and which of these are about the notebook's own file alone."""

from __future__ import annotations

import ast
from collections.abc import Mapping
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
