"""The frame of the book's pages, in a small book of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace

PAGES = {
    "preface": "# First screen\n\nWords.\n",
    "one": (
        "---\nneeds: []\ntrack: practitioner\nterms: [key, cell]\n---\n# One\n\n"
        "The word {es}`clave`, the word {ca}`clau`.\n"
    ),
    "two": (
        "---\nneeds: [one]\ntrack: complete\nterms: []\n---\n# Two\n\nWords.\n\n"
        "::::{predict} guess\nInside.\n::::\n\n```{exercises}\n```\n\n```{review} one.first one.second\n```\n"
    ),
}
TOC = """format: jb-book
root: book/preface
parts:
  - caption: "Part 1: First"
    chapters:
      - file: book/one
  - caption: "Part 2: Second"
    chapters:
      - file: book/two
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Soup of a page of the small book by its name."""
    source = tmp_path_factory.mktemp("small")
    out = source / "_build"
    (source / "book").mkdir()
    for name, text in PAGES.items():
        (source / "book" / f"{name}.md").write_text(text, "utf-8")
    (source / "_toc.yml").write_text(TOC, "utf-8")
    settings = {
        "extensions": ["myst_parser", "sphinx_external_toc", "kanon_lab.course.frame"],
        "exclude_patterns": ["_build"],
        "html_theme": "basic",
    }
    with docutils_namespace():
        app = Sphinx(source, None, out, out / "trees", "html", settings, status=None, warningiserror=True)
        app.build()
    return lambda name: BeautifulSoup((Path(out) / "book" / f"{name}.html").read_text("utf-8"), "html.parser")


@pytest.mark.parametrize(("language", "word"), [("es", "clave"), ("ca", "clau")])
def test_words_of_a_source_say_their_language(built, language, word):
    (found,) = built("one").select(f"em[lang={language}]")
    assert found.text == word
