"""Where the book's pages are that say more of a term: on this machine if it was built here, else at its address."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
# Where `make book` writes it, and where the bundle has it.
_BUILT = ("_build/html", "book")


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
