"""Which edition of the book a page is of, what it says to search engines and link previews, and where pages went."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from html import escape, unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from docutils import nodes

from kanon_book.words import texts
from kanon_lab import __version__
from kanon_lab.errors import OptionError
from kanon_lab.files import write_bytes

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config

#: The variable with the address at which the book is published. Without it pages hold nothing that needs an address,
#: and there is no map of the site, no picture for previews, and no page for what is not found.
ADDRESS = "KANON_LAB_ADDRESS"
#: The variable with the address of the repository on its code host. With both, each page links to the form for reports
#: of mistakes: .github/ISSUE_TEMPLATE/book.yml.
REPOSITORY = "KANON_LAB_REPOSITORY"
#: Language of an edition -> its folder, and its name in link previews.
EDITIONS = {"en": ("", "en_GB"), "es": ("es/", "es_ES")}
PICTURE, _SIZE = "preview.png", (1200, 630)
_ABSENT, _TAG = "404", re.compile("<[^>]*>")
# Folder of the reference of functions, which stands in English in every edition.
_ENGLISH = "book/api/"
# Characters of a description that search engines show, or a few more.
_MOST = 300

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
    >>> from kanon_book.pages.edition import commit_of
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


def address(language: str = "en") -> str:
    """The address of an edition, with a slash at its end; empty where none is known.

    Parameters
    ----------
    language : str
        Of the edition: ``"en"`` or ``"es"``.

    Examples
    --------
    >>> import os
    >>> from kanon_book.pages.edition import ADDRESS, address
    >>> os.environ[ADDRESS] = "https://example.org/book"
    >>> address("es")
    'https://example.org/book/es/'
    >>> del os.environ[ADDRESS]
    >>> address()
    ''
    """
    published = _address_in(ADDRESS)
    return f"{published}/{EDITIONS[language][0]}" if published else ""


def _address_in(variable: str) -> str:
    """The address in a variable of the environment, without a slash at its end; empty where the variable is not set."""
    written = os.environ.get(variable, "").strip().rstrip("/")
    if written and not re.fullmatch(r"https?://[^\s?#\"'<>]+", written):
        raise OptionError(f"{variable} must be an address such as https://example.org/book, not {written!r}")
    return written


def _mistake_link(page: str, language: str) -> str:
    """A link to the form for reports of mistakes, with the address of the page in it; empty where none is known."""
    if not (repository := _address_in(REPOSITORY)):
        return ""
    form = f"{repository}/issues/new?{urlencode({'template': 'book.yml', 'page': address(language) + page})}"
    return f'<p class="kanon-edition"><a href="{escape(form)}">{escape(texts("page", language)["mistake"])}</a></p>'


def add_address(app: Sphinx, config: Config) -> None:
    """Of this it makes the canonical address of each page."""
    if config.language in EDITIONS and (known := address(config.language)):
        config.html_baseurl = known
        # Pages are written anew where the context changes.
        config.html_context = {**config.html_context, "repository": _address_in(REPOSITORY)}


def add_metadata(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """What a page says of itself to search engines and link previews."""
    language = app.config.language if app.config.language in EDITIONS else "en"
    title = unescape(_TAG.sub("", context.get("title") or app.config.html_title))
    told = {"og:title": title, "og:type": "article", "og:site_name": app.config.html_title}
    told["og:locale"] = EDITIONS[language][1]
    lines = []
    if pagename == _ABSENT:
        # It is shown at any address: its links must not depend on which.
        lines += [f'<base href="{address(language)}{_ABSENT}.html">', '<meta name="robots" content="noindex">']
        context["pageurl"] = None
    elif doctree is not None:
        if description := first_sentence(doctree):
            lines.append(f'<meta name="description" content="{escape(description)}">')
            told["og:description"] = description
        if address():
            page = app.builder.get_target_uri(pagename)
            picture = address(language) + PICTURE
            told |= {"og:url": address(language) + page, "og:image": picture, "og:image:alt": app.config.html_title}
            told |= dict(zip(("og:image:width", "og:image:height"), map(str, _SIZE)))
            lines.append('<meta name="twitter:card" content="summary_large_image">')
            lines += [f'<link rel="alternate" {which}>' for which in _alternates(page)]
            context["theme_extra_footer"] = context.get("theme_extra_footer", "") + _mistake_link(page, language)
    if language != "en" and pagename.startswith(_ENGLISH):
        note = escape(texts("page", language)["reference"])
        context["body"] = f'<p class="kanon-english">{note}</p>\n<div lang="en">\n{context["body"]}\n</div>'
    lines += [f'<meta property="{name}" content="{escape(text)}">' for name, text in told.items()]
    context["metatags"] = "\n".join([context.get("metatags", ""), *lines, ""])


def _alternates(page: str) -> Iterator[str]:
    """Attributes of links to a page in each language, and to that for other languages."""
    for name, language in [*zip(EDITIONS, EDITIONS), ("x-default", "en")]:
        yield f'hreflang="{name}" href="{escape(address(language) + page)}"'


def first_sentence(doctree: nodes.document) -> str:
    """The first sentence of a page's own text as plain text; empty where there is none."""
    for paragraph in doctree.findall(nodes.paragraph):
        if isinstance(paragraph.parent, nodes.section | nodes.document) and not list(paragraph.findall(nodes.math)):
            leaves = ((leaf.astext(), isinstance(leaf.parent, nodes.raw)) for leaf in paragraph.findall(nodes.Text))
            text = " ".join("".join(unescape(_TAG.sub("", said)) if raw else said for said, raw in leaves).split())
            if len(text) > 1:
                found = re.split(r"(?<=[.?!:])\s+(?=\W?[^\W\d_a-zà-ÿ])", text)[0]
                return found if len(found) <= _MOST else f"{found[:_MOST].rsplit(' ', 1)[0]} …"
    return ""


def absent_page(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """The page that a server shows where there is none, in all languages: it knows one for all editions."""
    if app.builder.format != "html" or not address():
        return
    parts = []
    for language in sorted(EDITIONS, key=lambda each: each != app.config.language):
        words, head = texts("page", language), "h2" if parts else "h1"
        links = [("index.html", words["absent_first"]), ("search.html", words["absent_search"])]
        items = "".join(f'<li><a href="{address(language)}{page}">{escape(text)}</a></li>' for page, text in links)
        told = f"<{head}>{escape(words['absent'])}</{head}><p>{escape(words['absent_do'])}</p><ul>{items}</ul>"
        parts.append(f'<section lang="{language}">{told}</section>')
    title = texts("page", app.config.language)["absent"]
    yield _ABSENT, {"title": title, "body": "".join(parts)}, "page.html"


def write_published(app: Sphinx, failed: Exception | None) -> None:
    """The picture for link previews and, once for all editions, the map of the site."""
    if failed or app.builder.format != "html" or not address():
        return
    write_bytes(
        Path(app.outdir) / PICTURE, preview(Path(app.srcdir) / "book" / "how-anonymous.svg", app.config.html_title)
    )
    if app.config.language == "en":
        commit = commit_of(Path(app.confdir))
        pages = [app.builder.get_target_uri(name) for name in sorted(app.env.found_docs)]
        (Path(app.outdir) / "sitemap.xml").write_text(sitemap(pages, commit[1] if commit else ""), "utf-8")


def sitemap(pages: list[str], date: str = "") -> str:
    """The map of the site: each page in each language, with its address in the others."""
    changed = f"<lastmod>{date}</lastmod>" if date else ""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"']
    lines[-1] += ' xmlns:xhtml="http://www.w3.org/1999/xhtml">'
    for language in EDITIONS:
        for page in pages:
            links = "".join(f'<xhtml:link rel="alternate" {which}/>' for which in _alternates(page))
            lines.append(f"<url><loc>{escape(address(language) + page)}</loc>{changed}{links}</url>")
    return "\n".join([*lines, "</urlset>", ""])


def preview(chart: Path, title: str) -> bytes:
    """A picture (PNG) for link previews: the title over the lines of a chart, without its words, which are English."""
    import vl_convert

    lines = re.sub(r"<text\b.*?</text>", "", chart.read_text("utf-8"), flags=re.DOTALL)
    width, height = _SIZE
    return vl_convert.svg_to_png(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">'
        f'<rect width="{width}" height="{height}" fill="white"/>'
        f'<svg x="80" y="170" width="1040" height="440" viewBox="50 120 580 310" preserveAspectRatio="none">'
        f"{lines}</svg>"
        f'<text x="80" y="115" font-family="sans-serif" font-size="64" font-weight="bold" fill="#1a1a1a">'
        f"{escape(title)}</text></svg>"
    )


def add_edition(app: Sphinx, config: Config) -> None:
    """Version, commit and date at the foot of every page, after what the configuration has there (themes differ)."""
    if "extra_footer" not in config.html_theme_options:
        return
    words = texts("page", config.language)
    told = words["version"].format(version=__version__)
    if found := commit_of(Path(app.confdir)):
        told += ", " + words["commit"].format(commit=found[0], date=found[1])
    config.html_theme_options["extra_footer"] += f'<p class="kanon-edition">{escape(told)}</p>'


def write_redirects(app: Sphinx, failed: Exception | None) -> None:
    """A page at each old address that leads to the new one, its section too, once that exists."""
    if failed or app.builder.format != "html":
        return
    words = texts("page", app.config.language)
    for old, new in MOVED.items():
        if new in app.env.found_docs and old not in app.env.found_docs:
            target = app.builder.get_relative_uri(old, new)
            page = _PAGE.format(language=app.config.language, title=escape(words["moved"]), target=target)
            (Path(app.outdir) / app.builder.get_target_uri(old)).write_text(page, "utf-8")
