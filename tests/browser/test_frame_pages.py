"""What stands around the text of a chapter: definitions on hover and focus, the first page's control, the map."""

from __future__ import annotations

import pytest

from kanon_lab.course.edition import MOVED

pytestmark = pytest.mark.browser

CHAPTER = "book/what-k-says.html"
BOX = ".kanon-definition"
INSIDE = """() => {
  const box = document.querySelector('.kanon-definition').getBoundingClientRect();
  return box.width > 0 && box.left >= 0 && box.right <= document.documentElement.clientWidth && box.top >= 0
    && box.bottom <= innerHeight;
}"""


@pytest.mark.parametrize("visit", [1280, 390], indirect=True)
@pytest.mark.parametrize("how", ["hover", "focus"])
def test_a_term_says_what_it_means(book, visit, how):
    page = visit.open(f"{book}/{CHAPTER}")
    link, box = page.locator("a.kanon-term").first, page.locator(BOX)
    assert box.is_hidden()
    link.scroll_into_view_if_needed()
    page.wait_for_timeout(300)
    getattr(link, how)()
    box.wait_for(state="visible", timeout=2_000)
    assert box.text_content() == link.get_attribute("data-definition")
    assert page.evaluate(INSIDE)
    # What a screen reader speaks after the link is the same.
    described = page.locator(f"#{link.get_attribute('aria-describedby')}")
    assert described.text_content() == box.text_content()
    page.keyboard.press("Escape")
    assert box.is_hidden()
    assert visit.errors == []


def test_a_definition_goes_when_the_keyboard_leaves_and_stays_under_the_pointer(book, visit):
    page = visit.open(f"{book}/{CHAPTER}")
    link, box = page.locator("a.kanon-term").first, page.locator(BOX)
    link.focus()
    box.wait_for(state="visible", timeout=2_000)
    link.blur()
    assert box.is_hidden()
    link.hover()
    box.hover()
    page.wait_for_timeout(400)
    assert box.is_visible()
    page.mouse.move(1, 1)
    box.wait_for(state="hidden", timeout=2_000)


def test_a_term_leads_to_its_place_in_the_glossary(book, visit):
    page = visit.open(f"{book}/{CHAPTER}")
    link = page.locator("a.kanon-term").first
    term = link.get_attribute("href").partition("#")[2]
    link.press("Enter")
    page.wait_for_url(f"**/book/glossary.html#{term}", timeout=5_000)
    assert page.locator(f"dt#{term}").is_visible()


@pytest.mark.parametrize("visit", [1280, 390], indirect=True)
def test_the_first_page_answers_by_keyboard(book, visit):
    page = visit.open(f"{book}/book/preface.html")
    figure = page.locator(".kanon-figure").first
    slider, live = figure.locator("input[type=range]"), figure.locator("[aria-live=polite]")
    assert "In a town of 20,000, day known: you are alone with a chance of" in live.text_content()
    assert slider.get_attribute("aria-valuetext") == "20,000"
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("e => e.textContent.includes('town of 30,000')", arg=live.element_handle(), timeout=5_000)
    assert slider.get_attribute("aria-valuetext") == "30,000"
    assert slider.locator("xpath=following-sibling::*").first.text_content() == "30,000"
    figure.locator("input[value=year]").focus()
    page.keyboard.press("Space")
    page.wait_for_function("e => e.textContent.includes('year known')", arg=live.element_handle(), timeout=5_000)
    assert visit.errors == []


def test_the_map_leads_to_every_chapter_of_the_side_bar(book, visit):
    page = visit.open(f"{book}/book/preface.html")
    chapters = page.locator(".kanon-map th[scope=row] a").evaluate_all("all => all.map(e => e.href)")
    bar = page.locator(".bd-sidebar-primary li.toctree-l1 > a").evaluate_all("all => all.map(e => e.href)")
    assert len(chapters) > 20
    assert [each for each in bar if each in chapters] == chapters
    assert page.locator(".kanon-edition").text_content().startswith("Version ")


@pytest.mark.parametrize("old", MOVED)
def test_old_addresses_lead_to_new_ones(book, visit, old):
    visit.page.goto(f"{book}/{old}.html#exercises")
    visit.page.wait_for_url(f"**/{MOVED[old]}.html#exercises", timeout=5_000)
    assert visit.errors == []
