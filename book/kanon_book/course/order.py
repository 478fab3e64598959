"""The order of the chapters, from the table of contents of the book."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml


@dataclass(frozen=True)
class Chapter:
    """A chapter of the course.

    Attributes
    ----------
    name : str
        Of its file, which is also the name of its exercises: ``what-identifies``.
    document : str
        As the table of contents calls it: ``book/what-identifies``.
    number : int
        From 1, through all parts: exercise 3 of chapter 2 is 2.3.
    part : str
        The heading of its part.
    place, places : int
        Its number within the part, and how many chapters that has.
    """

    name: str
    document: str
    number: int
    part: str
    place: int
    places: int


def chapters(toc: Path) -> list[Chapter]:
    """The chapters of ``_toc.yml`` in their order; the last part, of reference, has none.

    Examples
    --------
    >>> from pathlib import Path
    >>> from kanon_book.course.order import chapters
    >>> toc = Path("_toc.yml")
    >>> chapters(toc)[0].name if toc.exists() else "what-identifies"
    'what-identifies'
    """
    listed: list[Chapter] = []
    for part in yaml.safe_load(toc.read_text("utf-8"))["parts"][:-1]:
        for place, entry in enumerate(part["chapters"], start=1):
            name = entry["file"].rpartition("/")[2]
            listed.append(Chapter(name, entry["file"], len(listed) + 1, part["caption"], place, len(part["chapters"])))
    return listed
