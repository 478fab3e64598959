"""Slides for teachers, made of the built book: drawn, within their place, and asking nobody."""

from __future__ import annotations

import pytest
from browsing import HTML, absent

from kanon_book.building import teach

pytestmark = pytest.mark.browser

# Of the slide that is shown: its place, how far down and to the right it reaches, and charts that are not drawn.
SHOWN = """() => {
  const slide = Reveal.getCurrentSlide(), {h, v} = Reveal.getIndices(), scale = Reveal.getScale();
  const top = document.querySelector('.slides').getBoundingClientRect().top;
  const boxes = [...slide.querySelectorAll('*:not(aside, aside *)')].map(e => e.getBoundingClientRect());
  const seen = boxes.filter(box => box.width && box.height);
  return {place: `${h}.${v}`, down: Math.max(...seen.map(box => (box.bottom - top) / scale)),
    right: Math.max(...seen.map(box => box.right)),
    bare: [...slide.querySelectorAll('.kanon-figure')].filter(each => !each.querySelector('svg, canvas')).length};
}"""


@pytest.fixture(scope="module")
def slides(tmp_path_factory):
    """Address of the slides of a course in a language."""
    if not (HTML / "index.html").exists():
        absent("the book is not built: run make book")
    folder = tmp_path_factory.mktemp("slides")
    teach.copy_assets(folder / "_static")

    def address(course, language):
        page = folder / f"{course}-{language}.html"
        page.write_text(teach.slides(HTML / ("es" if language == "es" else ""), language, course), "utf-8")
        return page.as_uri()

    return address


@pytest.mark.parametrize(
    ("course", "language"),
    [
        ("lesson", "en"),
        pytest.param("two-days", "en", marks=pytest.mark.slow),
        pytest.param("two-days", "es", marks=pytest.mark.slow),
    ],
)
def test_every_slide_fits_and_is_drawn(slides, desk, course, language):
    visit = desk.begin(local=("file:",))
    page = visit.page
    page.goto(slides(course, language))
    page.evaluate("Reveal.configure({transition: 'none', progress: false})")
    wrong = []
    for _ in range(page.evaluate("Reveal.getTotalSlides()")):
        page.wait_for_timeout(700)
        seen = page.evaluate(SHOWN)
        if seen["down"] > 722 or seen["right"] > 1282 or seen["bare"]:
            wrong.append(seen)
        page.evaluate("Reveal.next()")
    assert page.evaluate("Reveal.isLastSlide()")
    assert wrong == []
    assert visit.errors == visit.outside == []
    assert page.locator("aside.notes p").count() > 10


def test_each_slide_is_printed_on_one_page(slides, desk):
    visit = desk.begin(local=("file:",))
    page = visit.page
    page.goto(f"{slides('lesson', 'en')}?print-pdf")
    page.wait_for_selector(".pdf-page")
    page.wait_for_timeout(2500)
    rows = [row for row in teach.lessons() if row["lesson"] == "lesson"]
    answered = sum("guess" in row["show"] or "exercise:" in row["show"] for row in rows)
    assert page.locator(".pdf-page").count() == 1 + len(rows) + answered
    below = """() => [...document.querySelectorAll('.pdf-page')].map(
      (each) => each.querySelector('section').getBoundingClientRect().bottom - each.getBoundingClientRect().bottom)"""
    assert max(page.evaluate(below)) <= 2
    assert not page.locator(".vega-bindings").first.is_visible()
    assert visit.errors == visit.outside == []
