"""The chapters that explain terms, and where their pages are: on this machine if the book is, else at its address."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any

from kanon_lab.terms import rows

_PACKAGE = Path(__file__).resolve().parents[1]
# Where `make book` writes it, and where the bundle has it.
_BUILT = ("_build/html", "book")


@cache
def chapter_of(term: str) -> dict[str, Any] | None:
    """The chapter that explains a term: its ``name``, and its title in ``en`` and ``es``; None where there is none.

    Examples
    --------
    >>> from kanon_lab.show.book_pages import chapter_of
    >>> chapter_of("suda_score")["es"]
    'Combinaciones raras'
    """
    return next((row for row in rows("chapters.csv") if term in row["terms"].split()), None)


def page_of(chapter: str, language: str = "en") -> str:
    """The address of a chapter's page: of a file, of the project's documentation, or "" where neither is known.

    Examples
    --------
    >>> from kanon_lab.show.book_pages import page_of
    >>> page_of("rare", "es").endswith(("es/book/rare.html", ""))
    True
    """
    page = f"{'' if language == 'en' else f'{language}/'}book/{chapter}.html"
    for place in (folder / built for folder in (_PACKAGE.parent, Path()) for built in _BUILT):
        if (place / page).is_file():
            return (place / page).absolute().as_uri()
    return f"{address}{page}" if (address := _documentation()) else ""


def _documentation() -> str:
    """The address of the project's documentation, if the package names one."""
    try:
        named = metadata("kanon-lab").get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    addresses = dict(line.split(", ", 1) for line in named)
    address = addresses.get("Documentation", "")
    return f"{address.rstrip('/')}/" if address.startswith("https://") else ""
