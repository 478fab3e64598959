"""What is wrong with the notebooks of a chapter: said in seconds, before any is run."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kanon_book import places
from kanon_lab.errors import shortened
from kanon_lab.notebooks import NotebookError, find_notebooks
from kanon_lab.notebooks.recording import read_notebook
from kanon_lab.notebooks.running import CHOOSE_KERNEL

_INSERTED = re.compile(r"/notebooks/([\w-]+)\.ipynb")
# It takes what the exercises are, and nothing else.
_WITHOUT_PARAMETERS = ("exercises",)


def chapter_faults(chapter: str) -> list[str]:
    """What is wrong with a chapter's place in the book and with the notebooks that it inserts from, a line for each.

    Examples
    --------
    >>> kanon_book.course.notebooks.chapter_faults("nowhere")
    ['book/nowhere.md: no such file; write it, or check the name']
    """
    page = places.CHAPTERS / f"{chapter}.md"
    if not page.is_file():
        return [f"book/{page.name}: no such file; write it, or check the name"]
    problems, there = _not_listed(f"book/{chapter}"), find_notebooks()
    for name in sorted(notebooks_of(chapter)):
        if name in there:
            problems += notebook_faults(there[name]) + _not_listed(f"notebooks/{name}")
        else:
            problems.append(f"book/{page.name}: inserts from notebooks/{name}.ipynb, which is not there; write it")
    return problems


def notebooks_of(chapter: str) -> Counter[str]:
    """How often a chapter inserts from each notebook, by name; nothing where the chapter is not there."""
    page = places.CHAPTERS / f"{chapter}.md"
    return Counter(_INSERTED.findall(page.read_text("utf-8")) if page.is_file() else ())


def notebook_faults(path: Path) -> list[str]:
    """What is wrong with a notebook of the book as it is committed, a line for each fault.

    Examples
    --------
    >>> kanon_book.course.notebooks.notebook_faults(kanon_lab.notebooks.find_notebooks()["rare"])
    []
    """
    name = f"notebooks/{path.name}"
    try:
        notebook = read_notebook(path)
    except NotebookError as error:
        return [str(error).replace(str(path), name)]
    return [f"{name}{fault}" for fault in _faults(notebook, path.stem)]


def _faults(notebook: Any, name: str) -> Iterator[str]:
    first = next(iter(notebook.cells), None)
    if first is None or first.cell_type != "markdown" or not first.source.startswith("# "):
        yield ", cell 1: no title; begin with a Markdown cell whose first line is # and the title"
    kernel = notebook.metadata.get("kernelspec", {}).get("name")
    if kernel != "python3":
        yield f": {f'its kernel is {shortened(repr(kernel))}' if kernel else 'names no kernel'}; {CHOOSE_KERNEL}"
    tagged = [i for i, cell in enumerate(notebook.cells, 1) if "parameters" in cell.metadata.get("tags", [])]
    if not tagged and name not in _WITHOUT_PARAMETERS:
        yield ": no cell has the tag parameters; give it to the code cell that sets them"
    if len(tagged) > 1:
        yield f": cells {' and '.join(map(str, tagged))} have the tag parameters; keep one"
    for i in tagged:
        try:
            parts = ast.parse(notebook.cells[i - 1].source).body
            other = [part.lineno for part in parts if not isinstance(part, ast.Assign | ast.AnnAssign)]
        except SyntaxError as error:
            other = [error.lineno]
        if other:
            yield f", cell {i}, line {other[0]}: is not a plain assignment; the cell of the parameters has nothing else"
    for i, cell in enumerate(notebook.cells, 1):
        if cell.get("outputs") or cell.get("execution_count"):
            yield f", cell {i}: has run; clear all outputs and save the notebook"
            break


def _not_listed(document: str) -> list[str]:
    listed = re.search(rf"^\W*(file|root): {document}$", places.TOC.read_text("utf-8"), flags=re.MULTILINE)
    return [] if listed else [f"{document}: is not in _toc.yml; add the line - file: {document}"]
