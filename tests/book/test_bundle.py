"""The archive for a class without internet: what is in it, where its first page leads, and that it is reproducible."""

from __future__ import annotations

import hashlib
import os
import zipfile

import pytest
from bs4 import BeautifulSoup

from kanon_book.building import bundle
from kanon_lab.errors import KanonLabError
from kanon_lab.notebooks import find_notebooks

WHEEL = "kanon_lab-1-py3-none-any.whl"


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A function that makes the archive of a small book with some packages, and its path."""
    html = tmp_path / "html"
    for name in ("index.html", "es/index.html", "exercises/rare.ipynb", "es/exercises/rare.ipynb"):
        (html / name).parent.mkdir(parents=True, exist_ok=True)
        (html / name).write_text(name)
    for language in ("en", "es"):
        (tmp_path / f"kanon-lab-{language}.pdf").write_bytes(b"%PDF")
    monkeypatch.setattr(bundle, "BUILD", tmp_path)
    monkeypatch.setattr(bundle, "HTML", html)
    monkeypatch.setattr(bundle.printing, "chromium", lambda: "chromium")
    monkeypatch.setattr(bundle.printing, "main", lambda languages: 0)

    def make(*packages, options=()):
        def pip(command):
            folder = command[command.index("--wheel-dir") + 1]
            for name in (WHEEL, *packages) if "--constraint" in command else [WHEEL]:
                (folder / name).write_text(name)

        monkeypatch.setattr(bundle, "run", pip)
        assert bundle.main([*options]) == 0
        return tmp_path / "kanon-lab-bundle.zip"

    return make


def first_page(archive):
    with zipfile.ZipFile(archive) as bundle:
        return BeautifulSoup(bundle.read("kanon-lab-bundle/README.html"), "html.parser"), bundle.namelist()


def test_all_is_there_and_the_first_page_leads_to_it(made):
    soup, names = first_page(made())
    inside = {name.removeprefix("kanon-lab-bundle/") for name in names}
    assert {f"notebooks/{path.name}" for path in find_notebooks().values()} <= inside
    assert {f"packages/{WHEEL}", "packages/constraints.txt", "kanon-lab-en.pdf", "exercises/school.yml"} <= inside
    sections = soup.select("section")
    assert [each["lang"] for each in sections] == ["en", "es"]
    for section, start in zip(sections, ("book/index.html", "book/es/index.html")):
        links = [each["href"] for each in section.select("a")]
        assert len(links) == 5 and links[0] == start
        assert [link for link in links if not any(name.startswith(link) for name in inside)] == []
        assert f"-c packages/constraints.txt './packages/{WHEEL}[lab]'" in section.pre.text


def test_with_packages_nothing_asks_a_network(made):
    soup, names = first_page(made("numpy-1-any.whl", options=[bundle.WITH_PACKAGES]))
    assert "kanon-lab-bundle/packages/numpy-1-any.whl" in names
    assert "--no-index --find-links packages 'kanon-lab[lab]'" in soup.pre.text
    assert "This needs no network." in soup.text


def test_the_same_files_give_the_same_archive(made):
    first = hashlib.sha256(made().read_bytes()).hexdigest()
    for path in bundle.HTML.rglob("*.html"):
        os.utime(path, (1, 1))
    archive = made()
    assert hashlib.sha256(archive.read_bytes()).hexdigest() == first
    names = zipfile.ZipFile(archive).namelist()
    assert names == sorted(names)


def test_without_chromium_what_was_printed_before_is_left_out_and_that_is_said(made, monkeypatch, capsys):
    def absent():
        raise KanonLabError("no Chromium here")

    monkeypatch.setattr(bundle.printing, "chromium", absent)
    soup, names = first_page(made())
    assert not [name for name in names if name.endswith(".pdf")] and "pdf" not in soup.text
    assert capsys.readouterr().err == "make bundle: without the book on paper; no Chromium here\n"


def test_what_fails_is_one_line_and_leaves_no_archive(made, monkeypatch, capsys):
    monkeypatch.setattr(bundle.printing, "main", lambda languages: 2)
    assert bundle.main([]) == 2
    monkeypatch.setattr(bundle.printing, "main", lambda languages: 0)
    monkeypatch.setattr(bundle, "ROOT", bundle.BUILD)  # no project: pip refuses it
    assert bundle.main([]) == 2
    assert capsys.readouterr().err.startswith("make bundle: the wheels were not made: ")
    assert not list(bundle.BUILD.glob("*.zip"))
