"""The frame of the book's pages, in a small book of its own."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from docutils.core import publish_doctree
from sphinx.application import Sphinx
from sphinx.errors import SphinxWarning
from sphinx.locale import translators
from sphinx.util.docutils import docutils_namespace

from kanon_book.building import fit_minutes
from kanon_book.course.minutes import READING, count, reading_minutes
from kanon_book.course.order import chapters
from kanon_book.pages.frame import LOOKED_UP
from kanon_book.pages.glossary import GLOSSED, anchor_of, entries, forms
from kanon_book.words import wordings
from kanon_lab.measures.registry import MEASURES, Measure, measures
from kanon_lab.terms import TERMS

PAGES = {
    "glossary": "# Glossary\n\nA key.\n\n```{terms}\n```\n",
    "preface": (
        "# First screen\n\n```{map}\n```\n\n(minutes)=\n## Minutes\n\n```{minutes}\n```\n\n```{hours} complete\n```\n\n"
        "Both: {time}`one two`.\n"
    ),
    "one": (
        "---\nneeds: []\ntrack: practitioner\nterms: [key, cell]\n---\n# One\n\n" + 400 * "word " + "\n\n"
        "The word {es}`clave`, the word {ca}`clau`. An *equivalence class* (*clase de equivalencia*, "
        "*classe d'equivalència*, *únics a la mostra*, *variables sensibles*).\n\n"
        "## A sample unique\n\nData protection has `sample unique`, [sample unique](two.md), Sample Uniques <b>.\n\n"
        "Many equivalence classes, keyholes and key variables; a key, sample uniques.\n"
    ),
    "two": ("---\nneeds: [one]\ntrack: complete\nterms: []\n---\n# Two\n\nA cell, a pattern.\n\n"),
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
  - caption: Reference
    chapters:
      - file: book/glossary
"""


def build(source, pages, **settings):
    """Build a book of these pages; a function from the name of a page to its soup."""
    out = source / "_build"
    (source / "book").mkdir()
    for name, text in pages.items():
        (source / "book" / f"{name}.md").write_text(text, "utf-8")
    (source / "_toc.yml").write_text(TOC, "utf-8")
    extensions = ["myst_parser", "sphinx_external_toc", "kanon_book.pages.exercises", "kanon_book.pages.frame"]
    settings |= {"extensions": extensions, "exclude_patterns": ["_build"], "html_theme": "basic"}
    with docutils_namespace():
        Sphinx(source, None, out, out / "trees", "html", settings, status=None, warningiserror=True).build()
    translators.clear()  # Sphinx keeps catalogues for whatever the process builds next
    return lambda name: BeautifulSoup((Path(out) / "book" / f"{name}.html").read_text("utf-8"), "html.parser")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Soup of a page of the small book by its name."""
    return build(tmp_path_factory.mktemp("small"), PAGES)


@pytest.mark.parametrize(("language", "word"), [("es", "clave"), ("ca", "clau")])
def test_words_of_a_source_say_their_language(built, language, word):
    found = built("one").select(f"em[lang={language}]")
    assert found[0].text == word


def test_the_line_under_the_title_says_where_one_is(built):
    page = built("two")
    line = page.select_one("h1 + .kanon-line")
    first, *rest = [" ".join(p.text.split()) for p in line.select("p")]
    assert (
        first
        == "Chapter 2 · Part 2: Second, 1 of 1 · 5 minutes to read (how minutes are counted) · complete track only"
    )
    assert rest == ["Builds on: One", "Previous: One"]
    assert [a["href"] for a in line.select("a")] == ["preface.html#minutes", "one.html", "one.html"]
    first = built("one").select_one(".kanon-line")
    assert [a["href"] for a in first.select("a")][1:] == [
        "glossary.html#term-key",
        "glossary.html#term-cell",
        "two.html",
    ]
    assert built("preface").select(".kanon-line") == built("glossary").select(".kanon-line") == []


def test_the_map_has_every_chapter_and_adds_up_both_tracks(built):
    page = built("preface")
    rows = [[cell.text for cell in row.select("th, td")] for row in page.select(".kanon-map tbody tr")]
    assert rows == [["1. One", "5", "", "", ""], ["2. Two complete only", "5", "", "1", ""]]
    parts = [part.text for part in page.select("details.kanon-part > summary")]
    assert parts == [f"{part} 5 minutes to read" for part in ("Part 1: First", "Part 2: Second")]
    practitioner, complete = (item.text for item in page.select(".kanon-totals li"))
    assert "practitioner track: 1 chapters" in practitioner
    assert "all 2 chapters" in complete
    assert [cell["data-chapter"] for cell in page.select("td.kanon-progress")] == ["one", "two"]


def test_times_of_chapters_are_added_up(built):
    assert built("preface").find(string=re.compile("^Both: ")).parent.text == "Both: 10 minutes to read."


def test_the_rule_of_minutes_stands_on_the_page(built):
    told = built("preface").select_one("#minutes").parent.text
    for seconds in READING.values():
        assert f" {seconds}" in told


def test_the_rule_fits_the_minutes_that_a_reader_took():
    """Each constant is near the fitted one, and chapters are told within three minutes, on average."""
    frame = fit_minutes.read_minutes()
    for kind, seconds in fit_minutes.fitted(frame).items():
        assert fit_minutes.KINDS[kind] == pytest.approx(seconds, rel=0.25), kind
    rule, taken = fit_minutes.by_rule(frame), frame["minutes"]
    assert (rule - taken).abs().mean() < 3
    assert rule.sum() == pytest.approx(taken.sum(), rel=0.02)


def test_the_rule_fits_a_reader_who_did_the_exercises_too():
    """To within an eighth, as the first page says."""
    frame = fit_minutes.with_exercises()
    assert (frame["rule"] / frame["minutes"] - 1).abs().max() < 1 / 8
    assert frame["rule"].sum() == pytest.approx(frame["minutes"].sum(), rel=0.05)


def test_minutes_are_counted_from_what_stands_on_the_page():
    document = publish_doctree("Three words here.\n\n.. math:: x\n\n::\n\n  one\n  two\n\n=  =\na  b\n=  =\n")
    counts = count(document, lambda node: "table")
    assert counts == {"word": 3, "formula": 1, "code": 2, "table": 1}
    looked_up = publish_doctree("Read this.\n\n.. class:: kanon-lookup\n\nOptions\n-------\n\nNot this.\n")
    assert count(looked_up, lambda node: "word", {LOOKED_UP}) == {"word": 2}
    assert reading_minutes(counts) == pytest.approx((3 * 0.75 + 50 + 2 * 5 + 30) / 60)


@pytest.mark.parametrize(
    ("front", "said"),
    [
        ("needs: [nowhere]", "no chapter before this one is called nowhere"),
        ("needs: [two]", "no chapter before this one is called two"),
        ("terms: [nothing]", "nothing is not a key"),
        ("terms: [key, cell, periods, recipe, seed, pattern]", "6, at most 5"),
        ("track: both", "both, must be one of practitioner, complete"),
    ],
)
def test_what_a_chapter_says_of_itself_is_checked(tmp_path, front, said):
    with pytest.raises(SphinxWarning, match=said):
        build(tmp_path, PAGES | {"two": f"---\n{front}\n---\n# Two\n"})


def test_the_course_is_in_another_language_when_the_book_is(tmp_path):
    said = {"Two": "Dos", "One": "Uno"}
    (tmp_path / "locale" / "es" / "LC_MESSAGES").mkdir(parents=True)
    entries = [f'msgid "{text}"\nmsgstr "{other}"\n' for text, other in {"": "", **said}.items()]
    (tmp_path / "locale" / "es" / "LC_MESSAGES" / "book.po").write_text("\n".join(entries), "utf-8")
    page = build(tmp_path, PAGES, language="es", locale_dirs=["locale"])("two")
    line = page.select_one(".kanon-line").text
    assert "Capítulo 2 · Part 2: Second, 1 de 1 · 5 minutos de lectura" in line
    assert "Se apoya en: Uno" in line
    assert all(text for row in wordings("page").values() for text in (row["en"], row["es"]))


def test_the_first_use_of_each_term_leads_to_the_glossary(built):
    page = built("one")
    links = page.select("a.kanon-term")
    assert [(link.text, link["href"]) for link in links] == [
        ("equivalence class", "glossary.html#term-equivalence-class"),
        ("Sample Uniques", "glossary.html#term-sample-unique"),
        ("key variables", "glossary.html#term-key-variables"),
        ("key", "glossary.html#term-key"),
    ]
    assert links[1]["data-definition"] == TERMS["sample_unique"].meaning
    glossary = built("glossary")
    assert {link["href"].partition("#")[2] for link in links} <= {term["id"] for term in glossary.select("dt[id]")}
    assert page.select('script[src*="kanon-frame.js"]')
    assert glossary.select(".kanon-term, script[src*='kanon-frame.js']") == []
    # What a search finds is what the page says.
    assert "which no other record" not in page.text


def test_ordinary_words_are_terms_where_a_chapter_builds_on_them(built):
    assert [link.text for link in built("two").select("a.kanon-term")] == ["cell"]


@pytest.mark.parametrize(
    ("language", "name"),
    [
        ("es", "clase de equivalencia"),
        ("ca", "classe d'equivalència"),
        ("ca", "únics a la mostra"),
        ("es", "variables sensibles"),
    ],
)
def test_names_of_terms_in_other_languages_say_which(built, language, name):
    assert name in [found.text.replace("\u2019", "'") for found in built("one").select(f"em[lang={language}]")]


def test_the_glossary_has_every_term_once_and_in_order(built):
    page = built("glossary")
    names = [next(term.strings).strip() for term in page.select(".kanon-terms dt")]
    assert names == sorted(names, key=lambda name: name.lower().lstrip("("))
    assert len(names) == len({term["id"] for term in page.select("dt[id]")}) == len(entries())
    index = built("../genindex").select("a[href*='glossary.html#term-']")
    assert {link.text for link in index} == {name.replace("\u2019", "'") for name in names}
    text = page.select_one("#term-pattern + dd")
    assert [name["lang"] for name in text.select("em")] == ["es", "ca"]
    assert page.select_one("#term-tau-1 .math")


def test_the_glossary_has_every_measure_by_the_title_in_its_row(built):
    page = built("glossary")
    for measure in measures(missing=""):
        name = page.find("code", string=measure.name).find_parent("dd").find_previous_sibling("dt")
        assert name["id"] == anchor_of(measure.name) or next(name.strings).strip() == measure.called()
        assert measure.name in GLOSSED or next(name.strings).strip() == measure.called().replace("#", "…")


def test_a_measure_is_in_the_glossary_once_it_is_registered(monkeypatch):
    row = Measure("largest_class", "size", ("largest class", "clase mayor"), lambda file: 0)
    monkeypatch.setitem(MEASURES, row.name, row)
    assert entries()["largest_class"].es == "clase mayor"


def test_a_name_that_two_terms_have_would_lead_to_one_of_them():
    shared = [form for form, number in Counter(f for t in GLOSSED.values() for f in forms(t.en)).items() if number > 1]
    assert shared == []


def test_parts_are_numbered_in_their_order():
    parts = list(dict.fromkeys(each.part for each in chapters(Path(__file__).resolve().parents[3] / "_toc.yml")))
    assert [part.split(":")[0] for part in parts] == [f"Part {number}" for number in range(1, len(parts) + 1)]
