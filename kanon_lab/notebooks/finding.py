"""Where the notebooks are: beside the package in a checkout, inside it in a wheel."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]


def notebooks_folder() -> Path:
    """Return the folder of the notebooks."""
    inside = PACKAGE / "_notebooks"
    return inside if inside.is_dir() else PACKAGE.parent / "notebooks"


def find_notebooks() -> dict[str, Path]:
    """Return the path of every notebook by its name without extension, in alphabetical order."""
    return {path.stem: path for path in sorted(notebooks_folder().glob("*.ipynb"))}
