"""The print edition: two chapters printed anew, and the whole book where it was printed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from browsing import HTML, absent
from pypdf import PdfReader

from kanon_book.building import printing
from kanon_book.building.one_page import Edition

CHAPTERS = {"what-identifies": "What identifies a person", "scenarios": "Disclosure scenarios and kinds of release"}
AUTHORS = "The kanon_lab authors"


def flat(text: str) -> str:
    return "".join(text.split())


class Printed:
    """A PDF, the text of its pages, and its outline as (depth, title, page)."""

    def __init__(self, path):
        self.document = PdfReader(path)
        self.texts = [page.extract_text() for page in self.document.pages]
        self.outline = [*self._entries(self.document.outline, 0)]

    def _entries(self, level, depth):
        for each in level:
            if isinstance(each, list):
                yield from self._entries(each, depth + 1)
            else:
                yield depth, each.title.strip(), self.document.get_destination_page_number(each) + 1

    def page_of(self, title: str) -> int:
        return next(page for _, said, page in self.outline if flat(said) == flat(title))


@pytest.fixture(scope="module")
def two(tmp_path_factory, chromium):
    """Two chapters and the glossary, printed in a thread: a browser of the other tests runs in this one."""
    if not (HTML / "index.html").exists():
        absent("the book is not built: run make book")
    target = tmp_path_factory.mktemp("print") / "two.pdf"
    edition = Edition("en", {*CHAPTERS, "glossary"})
    with ThreadPoolExecutor(1) as pool:
        pool.submit(printing.print_pages, edition.whole(), target, printing.chromium(), AUTHORS).result()
    assert [path.name for path in target.parent.iterdir()] == ["two.pdf"]
    return Printed(target)


@pytest.mark.slow
def test_contents_name_the_page_where_each_heading_stands(two):
    check_contents(two)
    titles = [flat(title) for _, title, _ in two.outline]
    order = ["Part1:Whocanbefound", "1Whatidentifiesaperson", "2Disclosurescenariosandkindsofrelease"]
    assert [title for title in titles if title in order] == order
    assert titles.index("Glossary") < titles.index("Hintsandanswers")


def check_contents(printed):
    """Every entry has the number of the page on which its heading stands, in the outline and in the text."""
    last = printed.outline[0][2]
    contents = flat("".join(printed.texts[1 : last - 1]))
    entries = [(title, page) for _, title, page in printed.outline]
    assert len(entries) > 10
    for title, page in entries:
        assert flat(title) in flat(printed.texts[page - 1])
    listed = [f"{flat(title)}{page}" for title, page in entries if f"{flat(title)}{page}" in contents]
    assert len(listed) >= 0.9 * len(entries)


@pytest.mark.slow
def test_answers_stand_at_the_end_and_not_under_their_questions(two):
    start = two.page_of("Hints and answers")
    before, after = "".join(two.texts[: start - 1]), "".join(two.texts[start - 1 :])
    assert "Other answers, and what they reveal" not in before
    assert "Other answers, and what they reveal" in after
    for number in re.findall(r"Exercise [12]\.\d", before):
        assert number in after
    told = re.findall(r"Answer: p\. (\d+)", before)
    assert len(told) >= 10
    assert all(start <= int(page) <= len(two.texts) for page in told)


@pytest.mark.slow
def test_charts_are_lines_and_texts_not_pixels(two):
    assert not [image for page in two.document.pages for image in page.images]
    assert "Probability of being alone (%)" in "".join(two.texts)


@pytest.mark.slow
def test_what_is_of_use_on_a_screen_only_is_left_out(two):
    whole = "".join(two.texts)
    assert "In the book on the screen, this drawing has controls: book/what-identifies.html" in whole
    for words in ("Compare", "Show it without a guess", "Data of this figure", "JavaScript", "download"):
        assert words not in whole
    links = [each.get_object() for page in two.document.pages for each in page.get("/Annots", [])]
    addresses = [link["/A"]["/URI"] for link in links if "/URI" in link.get("/A", {})]
    assert not [address for address in addresses if not address.startswith("https://")]


@pytest.mark.slow
def test_the_document_says_what_it_is(two):
    root = two.document.trailer["/Root"]
    assert root["/MarkInfo"]["/Marked"]
    assert root["/Lang"] == "en"
    assert two.document.metadata.title == "How anonymous are you?"
    assert two.document.metadata.author == AUTHORS
    assert "Version" in two.texts[0]
    assert "CC BY 4.0" in two.texts[0]


def check_nothing_leaves_the_paper(printed):
    """No text begins outside the page."""
    for number, page in enumerate(printed.document.pages, start=1):
        places = []
        page.extract_text(visitor_text=lambda text, cm, tm, font, size: places.append((text, cm, tm)))  # noqa: B023
        width = float(page.mediabox.width)
        for text, cm, tm in places:
            left = cm[0] * tm[4] + cm[2] * tm[5] + cm[4]
            assert not text.strip() or 20 < left < width - 20, (number, text)


@pytest.mark.slow
def test_no_text_leaves_the_paper(two):
    check_nothing_leaves_the_paper(two)


def test_without_chromium_one_line_says_so():
    command = [sys.executable, "-m", "kanon_book.building.printing", "en"]
    done = subprocess.run(command, env=os.environ | {"CHROMIUM": "no-such-browser"}, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "Chromium" in done.stderr


@pytest.mark.parametrize("language", ["en", "es"])
def test_the_whole_book_as_it_was_printed(language):
    path = printing.BUILD / f"kanon-lab-{language}.pdf"
    if not path.exists():
        pytest.skip(f"no {path.name}: run make pdf")
    assert path.stat().st_size < 25_000_000
    document = PdfReader(path)
    assert document.trailer["/Root"]["/Lang"] == language
    assert len(document.outline) > 8
    assert not [
        number for number, page in enumerate(document.pages) if "/XObject" in page["/Resources"] and page.images
    ]
