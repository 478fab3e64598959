"""Where the notebooks are, and reading one: a whole notebook, or one clear line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kanon_lab.errors import DataError, KanonLabError
from kanon_lab.files import MAX_BYTES, limited, read_bytes
from kanon_lab.loading import load_jsonschema

PACKAGE = Path(__file__).resolve().parents[1]


def notebooks_folder() -> Path:
    """Return the folder of the notebooks."""
    inside = PACKAGE / "_notebooks"
    return inside if inside.is_dir() else PACKAGE.parent / "notebooks"


def find_notebooks() -> dict[str, Path]:
    """Return the path of every notebook by its name without extension, in alphabetical order."""
    return {path.stem: path for path in sorted(notebooks_folder().glob("*.ipynb"))}


class NotebookError(KanonLabError):
    """A notebook that cannot be read, or that did not run to its end."""


def mark_failed(notebook: Any) -> None:
    """Let a notebook tell that it was left by a run that failed."""
    notebook.metadata["kanon_lab"] = {"failed": True}


def of_failed_run(path: str | Path) -> bool:
    """Whether a file was left by a run that failed, and may go: else it is somebody's own."""
    try:
        return read_notebook(path).metadata.get("kanon_lab") == {"failed": True}
    except NotebookError:
        return False


def read_notebook(path: str | Path) -> Any:
    """The notebook of a file as nbformat's node, in version 4 and valid."""
    load_jsonschema()
    import nbformat

    try:
        with limited(MAX_BYTES):  # what a user sets is for tables
            content = read_bytes(path)
        notebook = nbformat.reads(content.decode("utf-8"), as_version=4)
        nbformat.validate(notebook)
        nbformat.writes(notebook).encode("utf-8")  # half a surrogate pair can be read, but not written again
    except (DataError, OSError) as error:
        raise NotebookError(str(error)) from None
    except Exception as error:  # whatever stands in the file: nbformat has no common base for its errors
        fault = type(error).__name__
        raise NotebookError(f"{path}: not a notebook that can be read ({fault}); save it again in JupyterLab") from None
    return notebook
