"""A table that is filtered in the page: from a file, by keyboard, with what was chosen in the address."""

from __future__ import annotations

import json
import re

import pandas as pd
import pytest
from browsing import HTML

from kanon_book.pages.listing import Listing, script
from kanon_lab.show.page import style

pytestmark = pytest.mark.browser

SOURCES, KINDS = ("aepd", "garin-1996", "ine-chile-2023"), ("recomputed", "copied")
FIGURES = pd.DataFrame(
    [
        {
            "source": SOURCES[i % 3],
            "kind": KINDS[i % 2],
            "row": "Benalmádena" if i % 50 == 7 else f"row {i}",
            "printed": "<b>1,5</b>" if i == 0 else str(i),
            "chapter": "note",
            "figure_id": f"figure/{i}",
        }
        for i in range(100)
    ]
)
COUNT, ROWS = ".kanon-count", ".kanon-list tbody tr"


@pytest.fixture(scope="module")
def list_page(tmp_path_factory):
    """Address of a page with nothing but a list, as a file."""
    listing = Listing(
        FIGURES,
        {"Figure": ["source", "row"], "Printed": ["printed"], "Kind": ["kind"], "Why": ["chapter", "figure_id"]},
        filters=["source", "kind"],
        label="Every figure",
        rows="figures",
        fallback=pd.DataFrame({"source": SOURCES, "figures": [34, 33, 33]}),
        links={"chapter": "{}.html"},
        codes={"figure_id": "kanon-lab audit --figure {}"},
    )
    path = tmp_path_factory.mktemp("list") / "page.html"
    head = f"<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'><title>List</title><style>{style()}</style>"
    path.write_text(f"{head}</head><body><main><h1>List</h1>{listing.html()}</main>", "utf-8")
    with path.open("a", encoding="utf-8") as page:
        page.write(f"<script>{script()}</script></body></html>")
    return path.as_uri()


@pytest.fixture
def visit(desk, request):
    """A visit that reaches files and nothing else."""
    visit = desk.begin(getattr(request, "param", 1280), local=("file:",))
    yield visit
    assert visit.outside == []
    assert visit.errors == []


def expected(**chosen):
    return FIGURES[[all(row[name] == value for name, value in chosen.items()) for _, row in FIGURES.iterrows()]]


def shown(page):
    return page.locator(f"{ROWS} code").all_text_contents()


def test_all_rows_a_part_at_a_time(visit, list_page):
    page = visit.open(list_page)
    assert page.locator(COUNT).text_content() == "100 of 100 figures; the first 40 are shown"
    for told, rows in (("80 are shown", 80), ("100 of 100 figures", 100)):
        page.get_by_role("button", name=re.compile("^Show .* more$")).click()
        assert page.locator(ROWS).count() == rows
        assert page.locator(COUNT).text_content().endswith(told)
    assert shown(page) == [f"kanon-lab audit --figure {each}" for each in FIGURES["figure_id"]]
    assert page.locator(".kanon-more").is_hidden()
    # What stands in a value is text, whatever it looks like.
    assert page.locator(f"{ROWS} [data-part=printed]").first.text_content() == "<b>1,5</b>"
    assert {link.get_attribute("href") for link in page.query_selector_all(f"{ROWS} a")} == {"note.html"}


@pytest.mark.parametrize("chosen", [{"source": "aepd"}, {"kind": "copied"}, {"source": "aepd", "kind": "recomputed"}])
def test_filters_count_and_keep_what_was_chosen_in_the_address(visit, list_page, chosen):
    page = visit.open(list_page)
    for name, value in chosen.items():
        page.select_option(f"select[name={name}]", value)
    rows = expected(**chosen)
    assert page.locator(COUNT).text_content().startswith(f"{len(rows)} of 100 figures")
    assert shown(page) == [f"kanon-lab audit --figure {each}" for each in rows["figure_id"]][:40]
    assert page.url.endswith("#" + "&".join(f"{name}={value}" for name, value in chosen.items()))
    # Each option says how many rows it would leave.
    others = {name: value for name, value in chosen.items() if name != "kind"}
    options = page.locator("select[name=kind] option").all_text_contents()
    assert options == [f"all ({len(expected(**others))})"] + [f"{k} ({len(expected(**others, kind=k))})" for k in KINDS]
    address = page.url
    page.get_by_role("button", name="Show all").click()
    page.wait_for_function("() => !location.hash")
    assert page.locator(COUNT).text_content().startswith("100 of 100")
    page.goto("about:blank")
    again = visit.open(address)
    assert again.locator(COUNT).text_content().startswith(f"{len(rows)} of 100 figures")


def test_words_are_found_without_capitals_and_accents(visit, list_page):
    page = visit.open(f"{list_page}#q=benalmadena&source=aepd")
    rows = expected(row="Benalmádena", source="aepd")
    assert page.locator("input[name=q]").input_value() == "benalmadena"
    assert page.locator(COUNT).text_content() == f"{len(rows)} of 100 figures"
    page.fill("input[name=q]", "no such word")
    assert page.locator(COUNT).text_content() == "0 of 100 figures"
    assert page.locator(ROWS).count() == 0


def test_an_address_is_followed_also_when_only_it_changes(visit, list_page):
    page = visit.open(f"{list_page}#kind=copied")
    page.evaluate("() => { location.hash = 'source=garin-1996' }")
    page.wait_for_function("() => document.querySelector('.kanon-count').textContent.startsWith('33 of 100')")
    # The address of a section changes nothing, and a value that there is not is left out.
    page.evaluate("() => { location.hash = 'the-verdicts' }")
    page.wait_for_timeout(100)
    assert page.locator(COUNT).text_content().startswith("33 of 100")
    page.evaluate("() => { location.hash = 'source=golle-2006&kind=copied&constructor=x' }")
    page.wait_for_function("() => document.querySelector('.kanon-count').textContent.startsWith('50 of 100')")


def test_the_keyboard_reaches_all(visit, list_page):
    page = visit.open(list_page)
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.name") == "source"
    page.keyboard.type("aepd")
    page.wait_for_function("() => document.querySelector('.kanon-count').textContent.startsWith('34 of 100')")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.type("benalmádena")
    page.wait_for_function("() => !document.querySelector('.kanon-count').textContent.includes('34 of')")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('.kanon-count').textContent.startsWith('100 of 100')")
    more = page.locator(".kanon-more")
    more.focus()
    page.keyboard.press("Enter")
    assert page.locator(ROWS).count() == 80
    assert more.evaluate("e => e === document.activeElement")


def test_controls_and_table_have_names(visit, list_page):
    page = visit.open(list_page)
    for role, name in (
        ("combobox", "source"),
        ("combobox", "kind"),
        ("searchbox", "words"),
        ("region", "Every figure"),
    ):
        assert page.get_by_role(role, name=name).count() == 1
    assert page.get_by_role("status").text_content() == page.locator(COUNT).text_content()
    assert page.get_by_role("table").count() == 1
    assert page.get_by_role("row").count() == 41


def test_more_rows_keep_the_place_of_the_keyboard(visit, list_page):
    page = visit.open(list_page)
    more = page.locator(".kanon-more")
    more.press("Enter")
    assert more.evaluate("e => e === document.activeElement")
    more.press("Enter")
    assert more.is_hidden()
    row = page.evaluate("() => [...document.querySelectorAll('.kanon-list tbody tr')].indexOf(document.activeElement)")
    assert row == 80


def test_the_way_back_shows_what_was_chosen(visit, list_page):
    page = visit.open(f"{list_page}#q=benalmadena")
    assert page.locator(COUNT).text_content().startswith("2 of 100")
    page.evaluate("() => { document.querySelector('[name=q]').value = ''; dispatchEvent(new Event('pageshow')); }")
    assert page.locator("[name=q]").input_value() == "benalmadena"
    page.evaluate("() => { location.hash = ''; }")
    page.wait_for_function("() => document.querySelector('.kanon-count').textContent.startsWith('100 of 100')")
    assert page.locator("[name=q]").input_value() == ""


@pytest.mark.parametrize("visit", [390], indirect=True)
def test_rows_are_cards_on_a_telephone(visit, list_page):
    page = visit.open(list_page)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    box = page.locator(".kanon-list .kanon-scroll")
    assert box.evaluate("e => e.scrollWidth - e.clientWidth") <= 0
    tops = page.locator(f"{ROWS}:first-child td").evaluate_all("all => all.map(e => e.getBoundingClientRect().top)")
    assert tops == sorted({*tops})
    assert page.get_by_role("row").count() == 41


def test_without_javascript_the_counts_are_there(chromium, list_page):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(list_page)
    assert "34" in page.locator(".kanon-list table").text_content()
    context.close()


def test_the_lists_of_the_book_lead_to_chapters_and_are_led_to(visit):
    """Every link of a row is a page of the book; every link to a list asks for what it has."""
    path = HTML / "book" / "audit.html"
    if not path.exists():
        pytest.skip("the book is not built: run make book")
    page = visit.open(path.as_uri())
    data = json.loads(page.locator(".kanon-rows").text_content())
    assert data["filters"] == ["source", "kind", "verdict"]
    for chapter in data["values"]["chapter"]["of"]:
        assert (HTML / "book" / f"{chapter}.html").exists(), chapter
    assert path.stat().st_size < 1_000_000
    number = len(data["values"]["source"]["at"])
    found = [
        link
        for each in (HTML / "book").glob("*.html")
        for link in re.findall(r'href="audit.html#(\w+=[^"]*)"', each.read_text("utf-8"))
    ]
    assert found
    for link in {*found}:
        page.goto("about:blank")
        page.goto(f"{path.as_uri()}#{link.replace('&amp;', '&')}")
        page.wait_for_selector(".kanon-filled")
        count = page.locator(COUNT).text_content()
        asked = link.replace("&amp;", "&").split("&")
        for name, value in (each.split("=") for each in asked):
            assert page.input_value(f"select[name={name}]") == value, link
        assert 0 < int(count.split(" of ")[0].replace(",", "")) < number
