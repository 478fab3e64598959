"""The extension by which ``jupyter-book build .`` makes the whole book from a checkout, in both languages.

It runs the notebooks where their stamps say so, and hands what they recorded to the pages; writes the pages of the
reference of functions; and has a second Jupyter Book make the Spanish pages at the same time, which are put into the
folder ``es`` of the English ones.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx.errors import ExtensionError

from kanon_book import places
from kanon_book.building.api_pages import write_pages
from kanon_book.building.editions import LANGUAGE, prepare
from kanon_book.building.lighten import lighten
from kanon_book.building.notebooks import check_notebooks, run_notebooks
from kanon_book.building.stamps import JUPYTER_BOOK, digest, files_under, first_reason
from kanon_lab import __version__
from kanon_lab.errors import KanonLabError

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config

#: Where the Spanish edition is made.
SPANISH = places.BUILD / LANGUAGE
_LOOKS = {".css", ".js", ".html"}
_NAMED = re.compile(r"notebooks/([\w-]+)\.ipynb")


class Book:
    """What a build of one edition holds: the executed notebooks that it reads, and the other edition under way."""

    def __init__(self) -> None:
        self.other: subprocess.Popen[bytes] | None = None
        self.log = SPANISH / "log.txt"
        self.before: list[float] = []

    def begin(self, app: Sphinx, config: Config) -> None:
        """Before anything is read: bring notebooks, the reference and the other edition's sources up to date."""
        packages = [*files_under(places.ROOT / "kanon_lab"), *files_under(places.CHAPTERS / "kanon_book")]
        config.kanon_code = digest(path for path in packages if path.suffix not in _LOOKS)
        config.kanon_looks = digest(path for path in packages if path.suffix in _LOOKS)
        spanish = config.language == LANGUAGE
        config.kanon_executed = str(SPANISH / "notebooks" if spanish else places.EXECUTED)
        if not spanish:
            with one_line():
                check_notebooks()
                run_notebooks()
                write_pages(places.CHAPTERS / "api")

    def begin_other(self, app: Sphinx) -> None:
        """Let another process make the Spanish edition."""
        if app.config.language == LANGUAGE or app.builder.name != "html" or not app.config.kanon_solutions:
            return
        self.before = made_at(Path(app.outdir))
        with one_line():
            prepare(SPANISH)
        paths = {"config": SPANISH / "_config.yml", "toc": SPANISH / "_toc.yml", "path-output": SPANISH}
        options = [part for name, path in paths.items() for part in (f"--{name}", str(path))]
        if app.warningiserror:
            options += ["-W", "--keep-going"]
        command = [*JUPYTER_BOOK, "build", str(places.ROOT), *options]
        with self.log.open("wb") as log:
            self.other = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)

    def end(self, app: Sphinx, failed: Exception | None) -> None:
        """Put both editions together."""
        if self.other is None:
            return
        if failed:
            self.other.terminate()
            return
        if self.other.wait():
            raise ExtensionError(f"the Spanish pages were not built:\n{self.log.read_text('utf-8', 'replace')}")
        html = Path(app.outdir)
        if (html / LANGUAGE).is_dir() and made_at(html) == self.before:
            return
        shutil.rmtree(html / LANGUAGE, ignore_errors=True)
        shutil.copytree(SPANISH / "_build" / "html", html / LANGUAGE)
        lighten(html)


def made_at(html: Path) -> list[float]:
    """When the pages of each edition were last made, as far as they are there."""
    inventories = [html / "objects.inv", SPANISH / "_build" / "html" / "objects.inv"]
    return [path.stat().st_mtime for path in inventories if path.is_file()]


@contextmanager
def one_line() -> Iterator[None]:
    """Say in one line what stops the build."""
    try:
        yield
    except KanonLabError as error:
        raise ExtensionError(str(error)) from None
    except OSError as error:
        raise ExtensionError(f"{first_reason(error)}; free space, or correct the permissions of _build") from None


def read(app: Sphinx, name: str, source: list[str]) -> None:
    """The text of a page: of a notebook what it recorded; a page depends on the notebooks that it names."""
    from kanon_lab.recipes.plan import filled

    executed = Path(app.config.kanon_executed)
    if name.startswith("notebooks/"):
        path = executed / f"{name.removeprefix('notebooks/')}.ipynb"
        app.env.note_dependency(str(path))
        source[0] = path.read_text("utf-8")
    elif name.startswith("book/"):
        source[0] = filled(source[0])
        for notebook in _NAMED.findall(source[0]):
            app.env.note_dependency(str(executed / f"{notebook}.ipynb"))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx (``kanon_book.building.book`` in ``_config.yml``)."""
    book = Book()
    # What was made with other code is read again; with other scripts and style sheets, written again.
    app.add_config_value("kanon_code", "", "env")
    app.add_config_value("kanon_looks", "", "html")
    app.connect("config-inited", book.begin, priority=100)
    app.connect("builder-inited", book.begin_other)
    app.connect("source-read", read)
    app.connect("build-finished", book.end, priority=900)
    return {"version": __version__, "parallel_read_safe": False, "parallel_write_safe": True}
