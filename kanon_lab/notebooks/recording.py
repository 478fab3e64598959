"""Notebooks found and read, and the results that one records: chapters of the book insert them, tests read them back.

A recorded result is an ordinary output. Its metadata carry the name under the key that myst-nb's glue roles look
for, and the value as JSON for `recorded`; so a notebook needs nothing of the book's tools to run.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

from kanon_lab.errors import DataError, KanonLabError, OptionError
from kanon_lab.files import MAX_BYTES, limited, read_bytes
from kanon_lab.loading import load_jsonschema
from kanon_lab.show.page import Figure, scrolling_table

_PACKAGE = Path(__file__).resolve().parents[1]
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
# The mark of myst-nb for an output that is inserted elsewhere but not shown where it was recorded.
_HIDDEN = "application/papermill.record/"
_METADATA = "kanon_lab"


class NotebookError(KanonLabError):
    """A notebook that cannot be read, or that did not run to its end."""


def find_notebooks() -> dict[str, Path]:
    """Return the path of every notebook by its name without extension, in alphabetical order."""
    inside = _PACKAGE / "_notebooks"
    folder = inside if inside.is_dir() else _PACKAGE.parent / "notebooks"
    return {path.stem: path for path in sorted(folder.glob("*.ipynb"))}


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


def has_json_form(value: Any, **options: Any) -> bool:
    """Whether a notebook, a JSON file in UTF-8 (which has no half of a surrogate pair), can hold a value."""
    try:
        json.dumps(value, ensure_ascii=False, **options).encode()
    except (TypeError, ValueError):
        return False
    return True


def record(name: str, value: Any, text: Any = None, *, caption: str | None = None) -> None:
    """Show a result in the notebook and record it under a name.

    Parameters
    ----------
    name : str
        Lower-case letters, digits and single hyphens; unique in the notebook.
    value : bool, int, float, str, None, list or dict of these, pandas.DataFrame or kanon_lab.show.Figure
        The result. A number of numpy counts as a number. Also any object with a method ``html()`` and a ``frame``: the
        page shows its HTML, and the frame is recorded.
    text : str or pandas.DataFrame, optional
        How the value is shown, and inserted with the format ``s``: a string in place of a number or string, a frame
        of rounded or worded cells in place of a frame. Absent: as Python and pandas write it.
    caption : str, optional
        What a table shows, in a line above it; screen readers call it by that. Only for a frame.

    Examples
    --------
    >>> kanon_lab.notebooks.record("unique-share", 0.8725, text="87.25%")  # doctest: +ELLIPSIS
    unique-share = 87.25%
    ...
    """
    import pandas as pd

    if not _NAME.fullmatch(name):
        raise OptionError(f"record: name {name!r} is not lower-case letters, digits and single hyphens")
    kind, stored = _stored(name, value)
    wanted = pd.DataFrame if kind == "frame" else str
    if text is not None and not isinstance(text, wanted):
        raise OptionError(f"record: the text of {name!r} must be a {wanted.__name__}, not {type(text).__name__}")
    if caption is not None and (kind != "frame" or not isinstance(caption, str) or not caption.strip()):
        raise OptionError(f"record: the caption of {name!r} must be some words, and above a frame")
    if kind == "figure":
        data, metadata = value.mimebundle()
        _display(name, kind, stored, data, metadata)
    elif kind == "listing":
        print(f"{name}: {value}")
        _display(name, kind, stored, {"text/html": value.html()}, hidden=True)
    elif kind == "frame":
        frame: Any = value if text is None else text
        label = f"Table: {name.removesuffix('-table').replace('-', ' ')}"
        table = scrolling_table(frame, label, caption=caption)
        _display(name, kind, stored, {"text/html": table, "text/plain": frame.to_string(index=False)})
    else:
        shown = repr(stored) if text is None else text
        print(f"{name} = {shown}")
        _display(name, kind, stored, {"text/plain": shown}, hidden=True)


def recorded(path: str | Path) -> dict[str, Any]:
    """Read back what an executed notebook recorded, by name.

    Values are Python's as recorded, a DataFrame for a frame or listing, and for a figure the DataFrame of its data
    (None if it has none).
    """
    results: dict[str, Any] = {}
    for cell in read_notebook(path).cells:
        for output in cell.get("outputs", []):
            entry = output.get("metadata", {}).get(_METADATA)
            if entry is None:
                continue
            try:
                name, value = entry["name"], _restored(entry["kind"], entry["value"])
            except (KeyError, TypeError, ValueError):
                raise DataError(f"{path}: holds a result that record did not write; run the notebook again") from None
            if name in results:
                raise DataError(f"{Path(path).name}: {name!r} is recorded twice; each result needs its own name")
            results[name] = value
    return results


def _display(
    name: str,
    kind: str,
    stored: Any,
    data: dict[str, Any],
    extra: dict[str, Any] | None = None,
    *,
    hidden: bool = False,
) -> None:
    from IPython.display import display

    prefix = _HIDDEN if hidden else ""
    own = {
        "scrapbook": {"name": name, "mime_prefix": prefix},
        _METADATA: {"name": name, "kind": kind, "value": stored},
    }
    display({prefix + mime: content for mime, content in data.items()}, raw=True, metadata=own | (extra or {}))


def _stored(name: str, value: Any) -> tuple[str, Any]:
    """Return the kind of a value and its JSON form."""
    import numpy as np
    import pandas as pd

    if isinstance(value, Figure):
        return "figure", None if value.table is None else _frame_to_json(name, value.table)
    if callable(getattr(value, "html", None)):
        return "listing", _frame_to_json(name, value.frame)
    if isinstance(value, pd.DataFrame):
        return "frame", _frame_to_json(name, value)
    plain = value.item() if isinstance(value, np.generic) else value
    if not has_json_form(plain, allow_nan=False):
        hint = " (wrap it in page.figure)" if hasattr(value, "mark") or hasattr(value, "to_dict") else ""
        raise OptionError(f"record: {name!r} is a {type(value).__name__} that has no JSON form{hint}")
    return "value", plain


def _frame_to_json(name: str, frame: Any) -> list[dict[str, Any]]:
    if not frame.columns.map(str).is_unique:
        raise OptionError(f"record: {name!r} has two columns of one name; rename one")
    return [
        # Numbers and booleans keep their type, everything else becomes text or objects.
        {
            "name": str(column),
            "dtype": str(series.dtype) if series.dtype.kind in "biuf" else "object",
            "values": [_cell(cell) for cell in series.tolist()],
        }
        for column, series in frame.items()
    ]


def _cell(cell: Any) -> Any:
    if cell is None or isinstance(cell, bool | int | str):
        return cell
    if isinstance(cell, float):
        return cell if math.isfinite(cell) else None
    return None if str(cell) in ("<NA>", "NaT") else str(cell)


def _restored(kind: str, stored: Any) -> Any:
    if kind == "value" or stored is None:
        return stored
    import pandas as pd

    return pd.DataFrame({column["name"]: pd.Series(column["values"], dtype=column["dtype"]) for column in stored})
