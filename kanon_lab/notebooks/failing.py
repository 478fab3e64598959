"""What is told and kept of a notebook that failed on somebody's data: no word that may quote them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from kanon_lab import errors
from kanon_lab.errors import KanonLabError

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
