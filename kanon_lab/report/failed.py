"""What is told and kept of a report that failed: the step, and no word that may quote the data."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kanon_lab.notebooks import NotebookError
from kanon_lab.notebooks.failing import OWN, told, without_values
from kanon_lab.notebooks.reading import read_notebook
from kanon_lab.report.run import StepError

_OWN = {*OWN, StepError.__name__}


@dataclass(frozen=True)
class Failure:
    """How a run failed: the step that began last, and a line without values of the data."""

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
        message = told(kind, cause.evalue, _OWN)
    elif isinstance(cause, RuntimeError):
        message = "its Python process did not start, or died (out of memory?)"
    else:
        message = f"an unexpected {type(cause or error).__name__}"
    return Failure(last_step(steps), " ".join(message.split()))


def stripped(path: Path, failure: Failure) -> str:
    """A failed notebook as text, without what is printed: warnings of other packages quote values."""
    import nbformat

    return nbformat.writes(without_values(read_notebook(path), failure.message, _OWN))
