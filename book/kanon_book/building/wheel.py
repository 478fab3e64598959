"""What a wheel has of the book: a hook of hatchling, which puts chapters and exercises inside the package."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_PATTERNS = ("_toc.yml", "book/*.md", "book/*.yml", "book/exercises/*.yml")
# The Spanish of chapters and exercises, for `kanon-lab lab --language es`.
_PATTERNS += ("book/locale/es/LC_MESSAGES/book/*.po",)


class FilesOfTheBook(BuildHookInterface):
    """Add the files to wheels; an editable install finds them in the checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "editable":
            paths = [path for pattern in _PATTERNS for path in Path(self.root).glob(pattern)]
            places = {str(path): path.relative_to(self.root).as_posix() for path in paths}
            build_data["force_include"] |= {path: f"kanon_book/_files/{place}" for path, place in places.items()}
