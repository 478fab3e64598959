"""Which edition of the book a page is of, and where pages went that once had another address."""

from __future__ import annotations

import subprocess
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from kanon_lab import __version__
from kanon_lab.terms import texts

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config

#: Document that there was -> the one that took its place.
MOVED = {"book/uniques": "book/ruler"}

_PAGE = """<!DOCTYPE html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<title>{title}</title>
<meta http-equiv="refresh" content="0; url={target}">
<link rel="canonical" href="{target}">
<script>location.replace({target!r} + location.hash);</script>
</head>
<body><p>{title}: <a href="{target}">{target}</a></p></body>
</html>
"""


def commit_of(folder: Path) -> tuple[str, str] | None:
    """The commit of a checkout of this project, and its date; none where it is no checkout, or there is no git.

    Of the commit, not of the build: whoever builds the same commit gets the same pages.

    Parameters
    ----------
    folder : Path
        In the checkout.

    Examples
    --------
    >>> from kanon_lab.course.edition import commit_of
    >>> commit_of(Path("/")) is None
    True
    """
    try:
        top = subprocess.run(
            ["git", "-C", folder, "rev-parse", "--show-toplevel"], capture_output=True, text=True, check=True
        ).stdout.strip()
        # The project may have been unpacked inside another's checkout.
        if not (Path(top) / "_toc.yml").is_file():
            return None
        log = subprocess.run(
            ["git", "-C", top, "log", "-1", "--format=%h %cs", "--abbrev=9"], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    commit, _, date = log.stdout.strip().partition(" ")
    return (commit, date) if date else None


def add_edition(app: Sphinx, config: Config) -> None:
    """Version, commit and date at the foot of every page, after what the configuration has there (themes differ)."""
    if "extra_footer" not in config.html_theme_options:
        return
    words = texts("course/words.csv", config.language)
    told = words["version"].format(version=__version__)
    if found := commit_of(Path(app.confdir)):
        told += ", " + words["commit"].format(commit=found[0], date=found[1])
    config.html_theme_options["extra_footer"] += f'<p class="kanon-edition">{escape(told)}</p>'


def write_redirects(app: Sphinx, failed: Exception | None) -> None:
    """A page at each old address that leads to the new one, its section too, once that exists."""
    if failed or app.builder.format != "html":
        return
    words = texts("course/words.csv", app.config.language)
    for old, new in MOVED.items():
        if new in app.env.found_docs and old not in app.env.found_docs:
            target = app.builder.get_relative_uri(old, new)
            page = _PAGE.format(language=app.config.language, title=escape(words["moved"]), target=target)
            (Path(app.outdir) / app.builder.get_target_uri(old)).write_text(page, "utf-8")
