"""Pages of the reference of functions, made from the docstrings: one page a room, and the list of rooms.

`book.py` writes them into book/api, where autodoc and numpydoc read the docstrings.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import yaml

import kanon_lab
from kanon_book.places import TOC

FOLDER = "book/api"


def rooms(toc: Path = TOC) -> list[str]:
    """The rooms that have a page, in the order of the table of contents."""
    parts = yaml.safe_load(toc.read_text("utf-8"))["parts"]
    sections = [section for part in parts for chapter in part["chapters"] for section in chapter.get("sections", ())]
    return [
        section["file"].removeprefix(f"{FOLDER}/") for section in sections if section["file"].startswith(f"{FOLDER}/")
    ]


def write_pages(folder: Path) -> None:
    """Write a page for each room into a folder, where it says anything new."""
    folder.mkdir(parents=True, exist_ok=True)
    for room in rooms():
        path, text = folder / f"{room}.md", page(room)
        if not path.is_file() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def module_of(room: str) -> ModuleType:
    """A room of the library, or else of the book's engine."""
    return import_module(f"{'kanon_lab' if find_spec(f'kanon_lab.{room}') else 'kanon_book'}.{room}")


def page(room: str) -> str:
    """The page of a room: what it is for, a table of its names, then each with its docstring."""
    module = module_of(room)
    names = {name: getattr(module, name) for name in public_names(room)}
    classes = [name for name, value in names.items() if inspect.isclass(value)]
    functions = [name for name, value in names.items() if callable(value) and name not in classes]
    constants = [name for name in names if name not in functions + classes]
    lines = [*_lines(module, names), "", ".. autosummary::", "   :nosignatures:", ""]
    lines += [f"   {name}" for name in functions + classes]
    parts = [f"# {module.__name__}", _block(lines)]
    for title, which in (("Functions", functions), ("Classes", classes)):
        if which:
            entries = [line for name in which for line in _entry(name, names[name])]
            parts += [f"## {title}", _block([f".. currentmodule:: {module.__name__}", "", *entries])]
    if constants:
        entries = [
            line
            for name in constants
            for line in (f".. py:data:: {name}", "", f"   {_write_constant(names[name])}", "")
        ]
        parts += ["## Constants", _block([f".. currentmodule:: {module.__name__}", "", *entries])]
    return "\n\n".join(parts) + "\n"


def public_names(room: str) -> list[str]:
    """What a room exports; a room of one file, what is its own and has no underscore."""
    module = module_of(room)
    if hasattr(module, "__all__"):
        return module.__all__
    own = {name: value for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__}
    return sorted(name for name, value in own.items() if not name.startswith("_") and inspect.isclass(value))


def _entry(name: str, value: object) -> list[str]:
    if not inspect.isclass(value):
        return [f".. autofunction:: {name}", ""]
    kind = "autoexception" if issubclass(value, Exception) else "autoclass"
    return [f".. {kind}:: {name}", "   :members:", ""]


def _lines(module: ModuleType, names: Mapping[str, object]) -> list[str]:
    beside = [name for name in kanon_lab.__all__ if names.get(name) is getattr(kanon_lab, name)]
    lines = [f".. py:module:: {module.__name__}", "", *inspect.getdoc(module).splitlines()]
    if beside:
        lines += ["", f"From ``kanon_lab`` itself too: {', '.join(f'`{name}`' for name in beside)}."]
    return [*lines, "", f".. currentmodule:: {module.__name__}"]


def _write_constant(value: object) -> str:
    """A constant: its value where that is short, else its names."""
    if isinstance(value, (Mapping, tuple, list, set, frozenset)) and all(isinstance(item, str) for item in value):
        return ", ".join(f"``{item}``" for item in value)
    return f"``{value!r}``"


def _block(lines: list[str]) -> str:
    return "\n".join(["```{eval-rst}", *lines, "```"])
