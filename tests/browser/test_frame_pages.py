"""What stands around the text of a chapter: definitions on hover and focus, the first page's control, the map."""

from __future__ import annotations

import http.server
import re
import threading

import pytest
import small_course
import yaml
from browsing import ROOT
from cases import others_slow

from kanon_book.pages.edition import ADDRESS

pytestmark = pytest.mark.browser

CHAPTER = "book/what-k-says.html"
BOX = ".kanon-definition"
INSIDE = """() => {
  const box = document.querySelector('.kanon-definition').getBoundingClientRect();
  return box.width > 0 && box.left >= 0 && box.right <= document.documentElement.clientWidth && box.top >= 0
    && box.bottom <= innerHeight;
}"""


@pytest.mark.parametrize(
    ("visit", "how"),
    [(1280, "hover"), *others_slow([(390, "focus"), (1280, "focus"), (390, "hover")])],
    indirect=["visit"],
)
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
    country, figure = page.locator(".kanon-figure").all()
    live = country.locator("[aria-live=polite]")
    assert re.match(r"Spain, day and municipality known: \d\d\.\d% are alone", live.text_content())
    areas = country.locator("path[aria-roledescription=geoshape]")
    assert areas.count() == 52
    colours = areas.evaluate_all("all => all.map(e => e.getAttribute('fill'))")
    country.locator("input[value=year]").focus()
    page.keyboard.press("Space")
    page.wait_for_function("e => e.textContent.includes('year and')", arg=live.element_handle(), timeout=5_000)
    assert areas.evaluate_all("all => all.map(e => e.getAttribute('fill'))") != colours
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


@pytest.mark.parametrize("folder", ["", "es/"])
def test_map_controls_and_doors_are_on_the_first_screen(book, visit, folder):
    page = visit.page
    page.set_viewport_size({"width": 1366, "height": 768})
    visit.open(f"{book}/{folder}book/preface.html")
    first = page.locator(".kanon-first")
    shown = [*first.locator(".sd-card").all(), first.locator(".vega-bindings"), first.locator(".kanon-drawing")]
    assert len(shown) == 5
    assert max(box["y"] + box["height"] for box in (each.bounding_box() for each in shown)) <= 768


def test_the_map_leads_to_every_chapter_of_the_side_bar(book, visit):
    page = visit.open(f"{book}/book/preface.html")
    chapters = page.locator(".kanon-map th[scope=row] a").evaluate_all("all => all.map(e => e.href)")
    bar = page.locator(".bd-sidebar-primary li.toctree-l1 > a").evaluate_all("all => all.map(e => e.href)")
    assert len(chapters) > 20
    assert [each for each in bar if each in chapters] == chapters
    assert page.locator(".kanon-edition").text_content().startswith("Version ")


@pytest.mark.parametrize("folder", ["", "es/"])
def test_old_addresses_lead_to_new_ones_and_keep_the_section(book, visit, folder):
    redirects = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))["sphinx"]["config"]["redirects"]
    for old, new in redirects.items():
        visit.page.goto(f"{book}/{folder}{old}.html#exercises")
        visit.page.wait_for_url(f"**/{folder}book/{new}#exercises", timeout=5_000)
    assert visit.errors == []


def test_the_page_for_what_is_not_found_works_at_any_depth(tmp_path, monkeypatch, visit):
    """As a host of pages does it: below a folder of the server, and whatever the address that is not there."""
    out = tmp_path / "_build" / "html"

    class Host(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            path = out / self.path.partition("?")[0].removeprefix("/a/book/")
            self.send_response(200 if path.is_file() else 404)
            kind = {".css": "text/css", ".js": "text/javascript"}.get(path.suffix, "text/html; charset=utf-8")
            self.send_header("Content-Type", kind)
            self.end_headers()
            self.wfile.write((path if path.is_file() else out / "404.html").read_bytes())

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Host) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        place = f"http://127.0.0.1:{server.server_port}/a/book"
        monkeypatch.setenv(ADDRESS, place)
        small_course.use(tmp_path, monkeypatch)
        (tmp_path / "book").mkdir()
        (tmp_path / "book" / "how-anonymous.svg").write_bytes((ROOT / "book" / "how-anonymous.svg").read_bytes())
        small_course.build(tmp_path)
        small_course.forget()
        page = visit.open(f"{place}/es/deep/er/absent.html")
        assert page.evaluate("() => [...document.styleSheets].every(each => each.cssRules.length)")
        # The page itself, and nothing that it loads.
        assert [each for each in visit.errors if each.startswith("404")] == [f"404 {page.url}"]
        page.locator("section[lang=en] a").last.click()
        assert page.url == f"{place}/search.html"
        server.shutdown()
