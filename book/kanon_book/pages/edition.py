"""Which edition of the book a page is of, and what it says to search engines and link previews.

The map of the site and the tags for previews are ours: sphinx-sitemap cannot put one language at the root and another
in a folder, and sphinxext-opengraph writes an address where none is known and cuts a description inside a sentence.
"""

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


def commit_of(folder: Path) -> tuple[str, str] | None:
    """Return the commit of a checkout of this project and its date, or None without a checkout or git.

    The date is the commit's, not the build's, so everyone who builds the same commit gets the same pages.

    Parameters
    ----------
    folder : Path
        Any folder of the checkout.

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
    """Return the address of an edition with a slash at its end, or "" if none is known.

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
    """Tell Sphinx the address of the edition: it makes the canonical address of every page from it."""
    if config.language in EDITIONS and (known := address(config.language)):
        config.html_baseurl = known
        # Pages are written anew where the context changes.
        config.html_context = {**config.html_context, "repository": _address_in(REPOSITORY)}


def add_metadata(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Write into the head of a page what search engines and link previews need."""
    language = app.config.language if app.config.language in EDITIONS else "en"
    title = unescape(_TAG.sub("", context.get("title") or app.config.html_title))
    tags = {"og:title": title, "og:type": "article", "og:site_name": app.config.html_title}
    tags["og:locale"] = EDITIONS[language][1]
    lines = []
    if pagename == _ABSENT:
        # It is shown at any address: its links must not depend on which.
        lines += [f'<base href="{address(language)}{_ABSENT}.html">', '<meta name="robots" content="noindex">']
        context["pageurl"] = None
    elif doctree is not None:
        if description := first_sentence(doctree):
            lines.append(f'<meta name="description" content="{escape(description)}">')
            tags["og:description"] = description
        if address():
            page = app.builder.get_target_uri(pagename)
            picture = address(language) + PICTURE
            tags |= {"og:url": address(language) + page, "og:image": picture, "og:image:alt": app.config.html_title}
            tags |= dict(zip(("og:image:width", "og:image:height"), map(str, _SIZE)))
            lines.append('<meta name="twitter:card" content="summary_large_image">')
            lines += [f'<link rel="alternate" {which}>' for which in _alternates(page)]
            context["theme_extra_footer"] = context.get("theme_extra_footer", "") + _mistake_link(page, language)
    if language != "en" and pagename.startswith(_ENGLISH):
        note = escape(texts("page", language)["reference"])
        context["body"] = f'<p class="kanon-english">{note}</p>\n<div lang="en">\n{context["body"]}\n</div>'
    lines += [f'<meta property="{name}" content="{escape(text)}">' for name, text in tags.items()]
    context["metatags"] = "\n".join([context.get("metatags", ""), *lines, ""])


def _alternates(page: str) -> Iterator[str]:
    """Yield the attributes of the links to a page in each language, and in English for every other language."""
    for name, language in [*zip(EDITIONS, EDITIONS), ("x-default", "en")]:
        yield f'hreflang="{name}" href="{escape(address(language) + page)}"'


def first_sentence(doctree: nodes.document) -> str:
    """Return the first sentence of a page's own text as plain text, or ""."""
    for paragraph in doctree.findall(nodes.paragraph):
        if isinstance(paragraph.parent, nodes.section | nodes.document) and not list(paragraph.findall(nodes.math)):
            leaves = ((leaf.astext(), isinstance(leaf.parent, nodes.raw)) for leaf in paragraph.findall(nodes.Text))
            text = " ".join("".join(unescape(_TAG.sub("", part)) if raw else part for part, raw in leaves).split())
            if len(text) > 1:
                sentence = re.split(r"(?<=[.?!:])\s+(?=\W?[^\W\d_a-zà-ÿ])", text)[0]
                return sentence if len(sentence) <= _MOST else f"{sentence[:_MOST].rsplit(' ', 1)[0]} …"
    return ""


def absent_page(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield the page that a server shows for any unknown address, in both languages: it knows only one such page."""
    if app.builder.format != "html" or not address():
        return
    parts = []
    for language in sorted(EDITIONS, key=lambda name: name != app.config.language):
        words, head = texts("page", language), "h2" if parts else "h1"
        links = [("index.html", words["absent_first"]), ("search.html", words["absent_search"])]
        items = "".join(f'<li><a href="{address(language)}{page}">{escape(text)}</a></li>' for page, text in links)
        section = f"<{head}>{escape(words['absent'])}</{head}><p>{escape(words['absent_do'])}</p><ul>{items}</ul>"
        parts.append(f'<section lang="{language}">{section}</section>')
    title = texts("page", app.config.language)["absent"]
    yield _ABSENT, {"title": title, "body": "".join(parts)}, "page.html"


def write_published(app: Sphinx, failed: Exception | None) -> None:
    """Write the picture for link previews and, once for both editions, the map of the site."""
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
    """Return the map of the site: every page in every language, with its addresses in the others."""
    changed = f"<lastmod>{date}</lastmod>" if date else ""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"']
    lines[-1] += ' xmlns:xhtml="http://www.w3.org/1999/xhtml">'
    for language in EDITIONS:
        for page in pages:
            links = "".join(f'<xhtml:link rel="alternate" {which}/>' for which in _alternates(page))
            lines.append(f"<url><loc>{escape(address(language) + page)}</loc>{changed}{links}</url>")
    return "\n".join([*lines, "</urlset>", ""])


def preview(chart: Path, title: str) -> bytes:
    """Return a PNG for link previews: the title above the lines of a chart, whose English labels are left out."""
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
    """Add version, commit and date to the foot of every page, if the theme has one."""
    if "extra_footer" not in config.html_theme_options:
        return
    words = texts("page", config.language)
    version = words["version"].format(version=__version__)
    if commit := commit_of(Path(app.confdir)):
        version += ", " + words["commit"].format(commit=commit[0], date=commit[1])
    config.html_theme_options["extra_footer"] += f'<p class="kanon-edition">{escape(version)}</p>'
