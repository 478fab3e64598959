"""Texts of exercises where the book's roles are not known: in JupyterLab, as plain Markdown."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from kanon_book.places import EXECUTED

_GLUE = re.compile(r"\{glue:text\}`[^`]*?(\w[\w-]*)\.ipynb::([a-z0-9-]+):([^`]*)`")
_ROLE = re.compile(r"\{([a-z:]+)\}`([^`]*)`")
_FIGURE = re.compile(r"^(`{3,}|:{3,})\{glue\}.*?^\1[ \t]*$", re.DOTALL | re.MULTILINE)


def without_roles(text: str) -> str:
    """A text in which every role is what it stands for, and what a notebook recorded a number."""
    text = _FIGURE.sub("*(The figure is in the page of the chapter.)*", text)
    return _ROLE.sub(_plain, _GLUE.sub(_recorded, text))


def _plain(match: re.Match[str]) -> str:
    role, text = match[1], re.sub(r"\s*<[^>]*>$", "", match[2])
    if role == "math":
        return f"${text}$"
    return f"*{text.rpartition('/')[2]}*" if role in ("doc", "es", "ca", "term") else text


def _recorded(match: re.Match[str]) -> str:
    name, key, form = match.groups()
    value, text = _values(EXECUTED / f"{name}.ipynb").get(key, (None, None))
    if text is None:
        return "(the number is in the page of the chapter)"
    return text if form == "s" else format(value, form)


@cache
def _values(path: Path) -> dict[str, tuple[object, str]]:
    """By name, what an executed notebook recorded, and how it wrote it; nothing where it is not there."""
    from kanon_lab.notebooks.recording import read_notebook

    if not path.exists():
        return {}
    values = {}
    for cell in read_notebook(path).cells:
        for output in cell.get("outputs", []):
            if (entry := output.get("metadata", {}).get("kanon_lab")) and entry["kind"] == "value":
                text = next((words for kind, words in output.data.items() if kind.endswith("text/plain")), "")
                values[entry["name"]] = entry["value"], text
    return values
