"""What is told and kept of a report that failed: the step, and no word that may quote the data."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kanon_lab import errors
from kanon_lab.errors import KanonLabError
from kanon_lab.notebooks import NotebookError
from kanon_lab.notebooks.reading import read_notebook
from kanon_lab.report.run import StepError

# The words of these never quote a value of the data; of any other error only the type is told.
_OWN = {name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, KanonLabError)}
_OWN |= {StepError.__name__}


@dataclass(frozen=True)
class Failure:
    """How a run failed.

    Attributes
    ----------
    step : str
        That began last.
    message : str
        One line without values of the data.
    """

    step: str
    message: str


def last_step(steps: Path) -> str:
    """The step that the notebook said last."""
    told = steps.read_text("utf-8").splitlines() if steps.exists() else []
    return told[-1] if told else "start Python"


def failure_of(error: NotebookError, steps: Path) -> Failure:
    """How a run failed, by the error that `run_notebook` raised."""
    cause = error.__cause__
    while isinstance(cause, NotebookError):
        cause = cause.__cause__
    if (kind := getattr(cause, "ename", None)) is not None:
        message = cause.evalue if kind in _OWN else f"an unexpected {kind}"
    elif isinstance(cause, RuntimeError):
        message = "its Python process did not start, or died (out of memory?)"
    else:
        message = f"an unexpected {type(cause or error).__name__}"
    return Failure(last_step(steps), " ".join(message.split()))


def stripped(path: Path, failure: Failure) -> str:
    """A failed notebook as text: what its cells showed, of errors the type, nothing of where and when it ran.

    What is printed goes too: warnings of other packages quote values.
    """
    import nbformat

    notebook = read_notebook(path)
    for holder in (notebook, *notebook.cells):
        for key in ("papermill", "execution"):
            holder.metadata.pop(key, None)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [_told(output, failure) for output in cell.outputs if output.output_type != "stream"]
    return nbformat.writes(notebook)


def _told(output: Any, failure: Failure) -> Any:
    if output.output_type == "error":
        own = output.ename in _OWN
        kind = re.sub(r"\W", "", output.ename)
        output.ename, output.evalue = kind, failure.message if own else ""
        output.traceback = [f"{kind}: {failure.message}" if own else kind]
    return output
