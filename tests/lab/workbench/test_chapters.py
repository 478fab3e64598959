"""The terms of the workbench: each with its sentence, and a way to the chapter that explains it."""

from __future__ import annotations

import re
import webbrowser
from pathlib import Path

import pytest
from ipywidgets import Button

from kanon_lab.show import book_pages
from kanon_lab.show.book_pages import chapter_of
from kanon_lab.terms import TERMS
from kanon_lab.workbench.parts import Speech

PLACES = Path(book_pages.__file__).parents[1] / "workbench"
# The terms that the places show.
NAMED = {
    key
    for path in PLACES.glob("*.py")
    for keys in re.findall(r'\.terms\("([\w ]+)"\)', path.read_text("utf-8"))
    for key in keys.split()
}


@pytest.fixture(autouse=True)
def nowhere(monkeypatch, tmp_path):
    """No book beside the package, and none on the web."""
    monkeypatch.setattr(book_pages, "_PACKAGE", tmp_path / "nowhere" / "kanon_lab")
    monkeypatch.setattr(book_pages, "_documentation", lambda: "")


def built(folder: Path, language: str) -> Path:
    """A book of one page."""
    page = folder / "_build/html" / ("" if language == "en" else language) / "book" / "what-k-says.html"
    page.parent.mkdir(parents=True)
    page.write_text("")
    return page


def test_every_term_of_the_workbench_has_its_chapter():
    assert len(NAMED) >= 12 and all(chapter_of(key) for key in NAMED)


@pytest.mark.parametrize("language", ["en", "es"])
def test_without_the_book_its_command_is_named(language):
    (box,) = Speech(language).terms("k_anonymity").children
    (line,) = box.children
    assert TERMS["k_anonymity"].meaning_in(language) in line.value and "kanon-lab book" in line.value
    assert chapter_of("k_anonymity")[language] in line.value and "href" not in line.value


@pytest.mark.parametrize("language", ["en", "es"])
def test_a_book_of_this_machine_is_opened_by_a_click(language, monkeypatch):
    page, opened = built(Path(), language), []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or True)
    (box,) = Speech(language).terms("k_anonymity").children
    line, button = box.children
    assert isinstance(button, Button) and chapter_of("k_anonymity")[language] in button.description
    assert not opened and "href" not in line.value
    button.click()
    assert opened == [page.absolute().as_uri()] and opened[0] not in line.value


def test_where_no_browser_is_found_the_address_is_shown(monkeypatch):
    page = built(Path(), "en")
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    (box,) = Speech("en").terms("k_anonymity").children
    box.children[1].click()
    assert page.absolute().as_uri() in box.children[0].value


def test_a_book_of_the_web_is_a_link_that_tells_nothing(monkeypatch):
    monkeypatch.setattr(book_pages, "_documentation", lambda: "https://book.example/")
    (box,) = Speech("es").terms("k_anonymity").children
    (line,) = box.children
    wanted = 'href="https://book.example/es/book/what-k-says.html" target="_blank" rel="noreferrer"'
    assert wanted in line.value and not re.search(r"\bsrc=|@import|url\(", line.value)
