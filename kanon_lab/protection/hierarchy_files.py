"""Files of hierarchies in a recipe: beside the recipe, whatever the working folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kanon_lab.errors import AbsentFileError, shortened


def beside(settings: dict, recipe: str | Path) -> dict:
    """Settings in which the files of hierarchies, named as seen from the recipe, are named as seen from here."""
    folder = Path(recipe).parent

    def here(name: str) -> str:
        path = folder / name
        if not path.exists():
            looked = "" if Path(name).is_absolute() else f"; it was looked for in {folder.absolute()}"
            raise AbsentFileError(f"{recipe}: hierarchy file {shortened(name)} is not there{looked}; mend its path")
        return str(path)

    return _renamed(settings, here)


def seen_from(settings: dict, recipe: str | Path) -> dict:
    """The reverse of `beside`, for a recipe to be written; absolute paths stay."""
    folder = Path(recipe).absolute().parent
    return _renamed(settings, lambda name: name if Path(name).is_absolute() else os.path.relpath(name, folder))


def hierarchy_paths(settings: dict) -> list[str]:
    """The files of hierarchies that settings name, once each."""
    found: dict[str, None] = {}
    _renamed(settings, lambda name: found.setdefault(name) or name)
    return list(found)


def without_folders(settings: dict) -> dict:
    """Settings in which the files of hierarchies are called by their names, to be shown to others."""
    return _renamed(settings, lambda name: Path(name).name)


def _renamed(settings: Any, rename: Callable[[str], str]) -> Any:
    """The same settings, with every ``hierarchy: {file: ...}`` renamed."""
    if isinstance(settings, Mapping):
        return {
            name: {**value, "file": rename(value["file"])}
            if name == "hierarchy" and isinstance(value, Mapping) and isinstance(value.get("file"), str)
            else _renamed(value, rename)
            for name, value in settings.items()
        }
    return [_renamed(each, rename) for each in settings] if isinstance(settings, list) else settings
