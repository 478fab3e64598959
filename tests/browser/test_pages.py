"""Every page of the built book in a real browser, with no network."""

from __future__ import annotations

import html
import json
import re
from functools import cache

import pytest
from browsing import HTML, findings
from cases import others_slow
from playwright.sync_api import TimeoutError as PlaywrightTimeout
from processes import once

pytestmark = pytest.mark.browser

# Pages that hold something to read: no redirects, nor Sphinx's index and search. What Spanish notebooks show stands in
# Spanish chapters too.
PAGES = sorted(
    str(path.relative_to(HTML))
    for part in ("book", "notebooks", "es/book")
    for path in (HTML / part).rglob("*.html")
    if 'http-equiv="refresh"' not in path.read_text("utf-8")[:500]
)

OTHERS = ["genindex.html", "search.html"]
# One page of each kind, in both languages: axe-core looks at these in every run, and at the others with --all.
TEMPLATES = {
    "book/preface.html",  # the first page, its explorer and the map of chapters
    "book/spain.html",  # explorers of several controls
    "book/what-identifies.html",  # guesses, exercises and a review
    "book/households.html",  # a drawing of records
    "book/report.html",  # what a report shows
    "book/audit.html",  # a list to filter
    "book/glossary.html",
    "book/your-file.html",
    "book/recipes.html",  # tables of settings
    "book/bibliography.html",
    "book/api/roles.html",  # functions
    "notebooks/exercises.html",
    *OTHERS,
}
TEMPLATES |= {f"es/{page}" for page in TEMPLATES if page.startswith("book/")}

SLIDER = '"input":"range"'
FORMULA = 'class="math'
# Bytes: of a page itself, and of what it loads with all others, without what draws charts.
OWN, REST = 1_500_000, 800_000

OVERFLOWING = """() => {
  const width = document.documentElement.clientWidth;
  const scrolls = (e) => {
    while (e && !['auto', 'scroll', 'hidden'].includes(getComputedStyle(e).overflowX)) e = e.parentElement;
    return e !== null;
  };
  return [...document.querySelectorAll('article *')]
    .filter(e => e.getBoundingClientRect().right > width + 1 && e.getClientRects().length && !scrolls(e.parentElement))
    .map(e => e.tagName + '.' + e.getAttribute('class')).slice(0, 5);
}"""
UNNAMED = """() => [
  ...[...document.querySelectorAll('main img')].filter(e => !e.hasAttribute('alt')),
  ...[...document.querySelectorAll('.kanon-drawing')].filter(e => !e.getAttribute('aria-label')),
  ...[...document.querySelectorAll('main canvas')].filter(e => !e.closest('[aria-label]')),
].map(e => e.outerHTML.slice(0, 120))"""
# Text that reaches over the edge of its chart is cut off there.
CLIPPED = """() => [...document.querySelectorAll('.kanon-drawing svg')].flatMap(svg => {
  const edge = svg.getBoundingClientRect();
  return [...svg.querySelectorAll('text')].filter(text => {
    const box = text.getBoundingClientRect();
    return box.width && text.textContent.trim() && text.getAttribute('opacity') !== '0'
      && Math.max(edge.left - box.left, box.right - edge.right, edge.top - box.top, box.bottom - edge.bottom) > 1;
  }).map(text => text.textContent);
})"""
EMPTY_CHARTS = """() => [...document.querySelectorAll('.kanon-figure')]
  .filter(f => { const s = f.querySelector('.kanon-drawing svg');
                 return !s || s.getBoundingClientRect().height < 20 || !s.querySelector('path, text'); })
  .map(f => f.querySelector('.kanon-drawing').getAttribute('aria-label'))"""
UNSET_MATH = """() => [...document.querySelectorAll('span.math, div.math')]
  .filter(e => !e.querySelector('mjx-container')).map(e => e.textContent.slice(0, 60))"""

SCRIPTS_OF_FORMULAS = "() => document.querySelectorAll('script[src*=startup]').length"
NAMES_OF_TABLES = "() => [...document.querySelectorAll('.kanon-scroll')].map(e => e.getAttribute('aria-label'))"
HEIGHTS_OF_TABLES = """() => [...document.querySelectorAll('.kanon-scroll')]
  .filter(e => !e.closest('details')).map(e => getComputedStyle(e).maxHeight)"""
NAMES_OF_FIGURES = "() => [...document.querySelectorAll('.kanon-data summary')].map(e => e.textContent)"
COLOURS = """theme => {
  document.documentElement.setAttribute('data-theme', theme);
  const all = [...document.querySelectorAll('.kanon-drawing :is(.role-axis, .role-legend, .role-title) text')];
  return {texts: [...new Set(all.map(e => getComputedStyle(e).fill))],
          behind: getComputedStyle(document.body).backgroundColor};
}"""
# Charts are as wide as their place, and what they draw has that width.
FOLLOWED = """() => [...document.querySelectorAll('.kanon-figure')].every(figure => {
  const svg = figure.querySelector('.kanon-drawing svg');
  return !svg || (Math.abs(svg.getAttribute('width') - svg.getBoundingClientRect().width) < 1
    && svg.getBoundingClientRect().right <= document.documentElement.clientWidth + 1);
})"""
THEMES = ("light", "dark")
RANGE_AND_LIST = [("input[type=range]", "ArrowRight"), ("select", None)]


@pytest.fixture(scope="session")
def seen(book, desk, common, request):
    """What stands on a page (a function of its path), from one visit for all tests and all processes that test."""
    folder = common("seen")
    thorough = request.config.getoption("all") or request.config.getoption("markexpr")

    def look(page: str) -> dict:
        whole = thorough or page in TEMPLATES
        visit = desk.begin(1280 if whole else 390)  # one width, and so one drawing of its charts, where that will do
        opened = visit.open(f"{book}/{page}")
        return {
            "empty": opened.evaluate(EMPTY_CHARTS),
            "unnamed": opened.evaluate(UNNAMED),
            "unset": opened.evaluate(UNSET_MATH),
            "scripts": opened.evaluate(SCRIPTS_OF_FORMULAS),
            "tables": opened.evaluate(NAMES_OF_TABLES),
            "heights": opened.evaluate(HEIGHTS_OF_TABLES),
            "figures": opened.evaluate(NAMES_OF_FIGURES),
            "axe": findings(opened) if whole else None,
            "dark": _in_the_dark(opened) if whole else None,
            "outside": [*visit.outside],
            "errors": [*visit.errors],
            # Last, since they change the page.
            "phone": _on_a_phone(opened),
            "colours": {theme: opened.evaluate(COLOURS, theme) for theme in THEMES},
        }

    def look_once(page: str) -> dict:
        kept = folder / f"{page.replace('/', '--')}.json"
        once(kept, lambda: kept.write_text(json.dumps(look(page)), "utf-8"))
        return json.loads(kept.read_text("utf-8"))

    return look_once


def test_there_are_pages(book):
    assert any(page.startswith("book") for page in PAGES)
    assert any(page.startswith("notebooks") for page in PAGES)


def test_root_leads_to_the_first_chapter(book, visit):
    visit.page.goto(f"{book}/index.html")
    visit.page.wait_for_url("**/book/*.html", timeout=5_000)
    assert visit.outside == []


def test_every_page_says_what_it_is_about():
    """In plain text, to search engines and link previews; pages of names and of sources have no sentence."""
    heads = {page: (HTML / page).read_text("utf-8").partition("</head>")[0] for page in PAGES}
    told = {page: re.findall(r'<meta name="description" content="([^"]*)">', head) for page, head in heads.items()}
    assert {page.rpartition("/")[2] for page, found in told.items() if len(found) != 1} <= {"bibliography.html"}
    texts = [html.unescape(text) for found in told.values() for text in found]
    assert [text for text in texts if not 20 < len(text) <= 310 or re.search(r"<\w|[{}`$\\]", text)] == []
    assert [page for page, head in heads.items() if head.count('property="og:title"') != 1] == []


@pytest.mark.parametrize("page", [*PAGES, *OTHERS])
def test_page_works_without_network_and_fits_a_phone(seen, page):
    found = seen(page)
    names = ("outside", "errors", "empty", "unnamed", "unset")
    assert {name: found[name] for name in names if found[name]} == {}
    assert found["scripts"] <= 1
    if page not in OTHERS:
        phone = found["phone"]
        assert phone == {"drawn": True, "overflowing": [], "wider": phone["wider"], "clipped": []}
        assert phone["wider"] <= 0


def _looked_at(page: str):
    return page if page in TEMPLATES else pytest.param(page, marks=pytest.mark.slow)


def test_a_page_of_each_kind_is_looked_at(book):
    assert {*PAGES, *OTHERS} >= TEMPLATES


@pytest.mark.parametrize("page", [_looked_at(page) for page in [*PAGES, *OTHERS]])
def test_page_is_for_everybody(seen, page):
    found = seen(page)
    assert found["axe"] == []
    assert found["dark"] == []


@pytest.mark.parametrize("visit", [390], indirect=True)
@pytest.mark.parametrize("opener", others_slow([None, ".primary-toggle", ".secondary-toggle", ".search-button"]))
def test_a_page_on_a_phone_is_for_everybody(book, visit, opener):
    """With each of the boxes that the theme opens there, which the keyboard closes."""
    opened = visit.open(f"{book}/{pages_with(SLIDER)[0]}")
    if opener is None:
        assert findings(opened) == []
        return
    opened.locator(opener).locator("visible=true").first.press("Enter")
    box = opened.locator("dialog[open]")
    assert box.get_attribute("aria-label")
    assert findings(opened) == []
    opened.keyboard.press("Escape")
    box.wait_for(state="detached", timeout=2_000)


@pytest.mark.parametrize("visit", [390], indirect=True)
def test_a_page_opened_on_a_phone_fits_it(book, visit):
    """The others were made narrow after they were opened wide."""
    opened = visit.open(f"{book}/{max(pages_with('.kanon-figure'), key=lambda page: (HTML / page).stat().st_size)}")
    found = _on_a_phone(opened)
    assert found == {"drawn": True, "overflowing": [], "wider": found["wider"], "clipped": []}
    assert found["wider"] <= 0


def test_charts_follow_the_width_of_the_window(book, visit):
    opened = visit.open(f"{book}/{pages_with('.kanon-figure')[0]}")
    for width in (390, 1280, 800):
        opened.set_viewport_size({"width": width, "height": 900})
        opened.wait_for_function(FOLLOWED, timeout=5_000)


def _in_the_dark(opened) -> list[str]:
    """What axe-core finds of the dark theme's colours."""
    theme = "theme => { document.documentElement.dataset.theme = theme; }"
    opened.evaluate(theme, "dark")
    found = findings(opened, looks=True)
    opened.evaluate(theme, "light")
    return found


def _on_a_phone(opened) -> dict:
    """What stands wrong on a page of 390 points in width, once its charts have followed."""
    opened.set_viewport_size({"width": 390, "height": 900})
    try:
        opened.wait_for_function(FOLLOWED, timeout=10_000)
        # A drawing takes its new width before its axes have been set anew.
        opened.wait_for_function(f"() => !({CLIPPED})().length", timeout=5_000)
        drawn = True
    except PlaywrightTimeout:
        drawn = opened.evaluate(FOLLOWED)
    return {
        "drawn": drawn,
        "overflowing": opened.evaluate(OVERFLOWING),
        "wider": opened.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth"),
        "clipped": opened.evaluate(CLIPPED),
    }


@pytest.mark.parametrize("theme", THEMES)
def test_chart_text_stands_out_in_both_themes(seen, theme):
    for page in pages_with(".kanon-figure"):
        colours = seen(page)["colours"][theme]
        assert colours["texts"]
        assert all(contrast(text, colours["behind"]) >= 4.5 for text in colours["texts"])


@pytest.mark.parametrize("theme", THEMES)
def test_dates_stand_out_in_both_themes(book, visit, theme):
    page = pages_with("date of birth known to the")[0]
    opened = visit.open(f"{book}/{page}")
    opened.evaluate("theme => document.documentElement.setAttribute('data-theme', theme)", theme)
    colours = opened.evaluate(
        """() => [...[...document.querySelectorAll('.kanon-figure')].find(
          f => f.textContent.includes('date of birth known to the')
        ).querySelectorAll('.role-legend-symbol path')].map(e => {
          const style = getComputedStyle(e);
          return ['none', 'rgba(0, 0, 0, 0)'].includes(style.fill) ? style.stroke : style.fill;
        })"""
    )
    behind = opened.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert len(set(colours)) >= 3
    assert all(contrast(colour, behind) >= 3 for colour in colours)


def test_explorer_tells_screen_readers_its_result(book, visit):
    opened = visit.open(f"{book}/book/spain.html")
    figure = opened.query_selector(".kanon-figure:has(input[name=step])")
    live, drawing = figure.query_selector("[aria-live=polite]"), figure.query_selector(".kanon-drawing")
    assert "in a group of" in live.text_content()
    before = live.text_content()
    slider = figure.query_selector("input[name=step]")
    slider.evaluate("e => { e.value = 10; e.dispatchEvent(new Event('input')); }")
    opened.wait_for_function("([e, before]) => e.textContent !== before", arg=[live, before], timeout=5_000)
    assert live.text_content() in drawing.get_attribute("aria-label")
    # The slider says the k, not its place in the list.
    assert "in a group of 12 or fewer" in live.text_content()
    assert slider.get_attribute("aria-valuetext") == "12"


@pytest.mark.parametrize(
    ("page", "moves"),
    [
        (
            "what-k-says",
            [
                ("input[type=range]", "ArrowRight", "in a class of 2 or fewer"),
                ("input[type=checkbox]", "Space", "with all key variables"),
            ],
        ),
        ("generalise", [(control, key, "must be removed") for control, key in RANGE_AND_LIST]),
        ("sample-risk", [("input[type=range]", "ArrowRight", "times 1/estimate")]),
        pytest.param(
            "suppression", [(control, key, "suppressed") for control, key in RANGE_AND_LIST], marks=pytest.mark.slow
        ),
        pytest.param(
            "quantities", [(control, key, "right links") for control, key in RANGE_AND_LIST], marks=pytest.mark.slow
        ),
        ("choosing", [(control, key, "linked by their keys at most") for control, key in RANGE_AND_LIST]),
        ("detail", [("select[name=level0]", None, "with true shares"), ("select[name=step]", None, "sample of")]),
    ],
)
def test_explorers_of_a_file_say_what_they_show(book, visit, page, moves):
    opened = visit.open(f"{book}/book/{page}.html")
    for control, key, words in moves:
        figure = opened.query_selector(f".kanon-figure:has({control})")
        live, drawing = figure.query_selector("[aria-live=polite]"), figure.query_selector(".kanon-drawing")
        title, sentence = drawing.query_selector(".role-title").text_content(), live.text_content()
        assert sentence
        moved = figure.query_selector(control)
        if key is None:
            moved.select_option(index=(moved.evaluate("e => e.selectedIndex") + 1) % moved.evaluate("e => e.length"))
        else:
            moved.focus()
            opened.keyboard.press(key)
        opened.wait_for_function("([e, before]) => e.textContent !== before", arg=[live, sentence], timeout=5_000)
        assert words in live.text_content()
        assert live.text_content() in drawing.get_attribute("aria-label")
        assert drawing.query_selector(".role-title").text_content() != title
    assert visit.errors == []


def test_pages_load_only_what_they_use():
    """What is big is loaded where there is something for it to do; the rest of a page is small."""
    for page in [*PAGES, "genindex.html"]:
        text = (HTML / page).read_text("utf-8")
        loaded = re.findall(r'<(?:script|link)[^>]* (?:src|href)="([^"?#:]+)', text)
        assert any("mathjax" in each for each in loaded) == (FORMULA in text), page
        assert any("kanon-charts.js" in each for each in loaded) == ('class="kanon-figure"' in text), page
        assert [each for each in loaded if re.search("fontawesome|searchindex|searchtools", each)] == [], page
        assert len(text.encode()) < OWN, page
        files = {(HTML / page).parent / each for each in loaded if re.search(r"\.(js|css)$", each)}
        rest = sum(file.resolve().stat().st_size for file in files if "kanon-charts.js" not in file.name)
        assert rest < REST, page


def test_pages_name_only_files_that_are_there():
    for page in HTML.rglob("*.html"):
        text = re.sub(r"<(script|pre|code)\b[^>]*>.*?</\1>", "", page.read_text("utf-8"), flags=re.S)
        text += "".join(re.findall(r"<script [^>]*>", page.read_text("utf-8")))
        for address in {*re.findall(r'\s(?:href|src)="([^"#?:]+)["#?]', text)}:
            assert (page.parent / address).exists(), f"{page}: {address}"
    for sheet in HTML.rglob("*.css"):
        for address in re.findall(r"url\(([^):]+)\)", sheet.read_text("utf-8")):
            assert (sheet.parent / address.strip("\"'")).exists(), f"{sheet}: {address}"


def test_both_editions_have_one_copy_of_what_is_the_same():
    spanish = HTML / "es"
    assert (spanish / "index.html").exists()
    for path in (path for path in spanish.rglob("*") if path.is_file() and path.suffix != ".html"):
        twin = HTML / path.relative_to(spanish)
        assert not twin.exists() or twin.read_bytes() != path.read_bytes(), path


def test_the_search_of_the_theme_works_on_its_page(book, visit):
    visit.page.goto(f"{book}/search.html?q=individual_risk")
    visit.page.wait_for_selector("#search-results a[href*='api/measures']", timeout=10_000)
    assert visit.errors == []


def test_buttons_of_the_theme_show_their_icons(book, visit):
    opened = visit.open(f"{book}/{pages_with('.kanon-figure')[0]}")
    opened.wait_for_function("() => document.fonts.status === 'loaded'")
    icons = opened.query_selector_all("i[class*='fa-']")
    shown = [icon for icon in icons if icon.is_visible()]
    assert len(shown) >= 3
    for icon in shown:
        content = icon.evaluate("e => getComputedStyle(e, '::before').content")
        assert len(content.strip('"')) == 1
        assert icon.evaluate("e => getComputedStyle(e).fontFamily").startswith('"Font Awesome')
    assert opened.evaluate("() => [...document.fonts].some(f => /Awesome/.test(f.family) && f.status === 'loaded')")


def test_formulas_are_no_tab_stops(book, visit):
    opened = visit.open(f"{book}/{pages_with(FORMULA)[0]}")
    assert opened.query_selector_all("mjx-container")
    assert opened.query_selector_all("mjx-container[tabindex='0']") == []


@pytest.mark.parametrize("selector", [".primary-toggle", ".dropdown-toggle", ".bd-sidebar summary"])
def test_the_place_of_the_keyboard_is_visible(book, visit, selector):
    opened = visit.open(f"{book}/{pages_with('.kanon-figure')[0]}")
    opened.keyboard.press("Tab")
    button = opened.query_selector(selector)
    button.focus()
    assert button.evaluate("e => parseFloat(getComputedStyle(e).outlineWidth)") >= 2
    assert button.evaluate("e => getComputedStyle(e).outlineStyle") != "none"


def test_tables_have_names_and_only_data_of_figures_scroll_down(seen):
    for page in pages_with('class="kanon-scroll"'):
        named = seen(page)["tables"]
        assert len(set(named)) == len(named)
        assert set(seen(page)["heights"]) <= {"none"}


def test_code_and_tables_scroll_in_their_own_box_on_a_telephone(book, visit):
    opened = visit.open(f"{book}/book/report.html")
    opened.set_viewport_size({"width": 390, "height": 844})
    inside = """all => all.filter(e => e.scrollWidth > e.clientWidth && e.checkVisibility()).map(e => {
      const style = getComputedStyle(e);
      return [style.overflowX, style.backgroundImage.split('linear-gradient').length - 1];
    })"""
    for part in ('div[class*="highlight-"] pre', ".pst-scrollable-table-container"):
        boxes = opened.eval_on_selector_all(part, inside)
        assert boxes and all(box == ["auto", 4] for box in boxes)
    # A line of code stays one line.
    (kept,) = opened.eval_on_selector_all(
        'div[class*="highlight-"] pre',
        "all => [...new Set(all.map(e => getComputedStyle(e).whiteSpace))]",
    )
    assert kept == "pre"
    assert opened.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


def test_pictures_can_be_read_on_a_telephone(book, visit):
    opened = visit.open(f"{book}/book/workbench.html")
    opened.set_viewport_size({"width": 390, "height": 844})
    # One of 1120 pixels is shown at 896 or so, in a box that scrolls; a tap opens the file.
    for link in opened.query_selector_all("figure a.image-reference"):
        assert link.get_attribute("href").endswith(".png")
        shown, room, overflow = link.evaluate(
            "e => [e.firstElementChild.clientWidth, e.clientWidth, getComputedStyle(e).overflowX]"
        )
        assert shown > 800 > 390 > room and overflow == "auto"
    for theme, ending in (("light", "report-verdict.png"), ("dark", "report-verdict-dark.png")):
        opened.goto(f"{book}/book/report.html")
        opened.evaluate("theme => document.documentElement.setAttribute('data-theme', theme)", theme)
        seen = "all => all.filter(e => e.checkVisibility()).map(e => [e.getAttribute('src'), e.clientWidth])"
        ((source, width),) = opened.eval_on_selector_all("img.kanon-shot", seen)
        assert source.endswith(ending) and 300 < width < 390


def test_folded_boxes_have_names(book, visit):
    opened = visit.open(f"{book}/{pages_with('dropdown admonition')[0]}")
    named = "all => all.map(e => e.getAttribute('aria-label'))"
    names = opened.eval_on_selector_all(".toggle-button", named)
    assert len(set(names)) == len(names)
    assert all(name.startswith("Show: ") for name in names)
    opened.query_selector(".toggle-button").click()
    assert opened.eval_on_selector_all(".toggle-button", named)[0].startswith("Hide: ")


def test_tables_of_figures_say_which_figure(seen):
    for page in pages_with("kanon-data"):
        names = seen(page)["figures"]
        assert len(set(names)) == len(names)


def test_paper_shows_tables_whole_and_what_is_folded_at_its_end(book, visit):
    most = max(pages_with("dropdown admonition"), key=lambda page: text_of(page).count("dropdown admon"))
    opened = visit.open(f"{book}/{most}")
    opened.query_selector(".toggle-button").click()
    opened.emulate_media(media="print")
    opened.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    assert set(opened.eval_on_selector_all(".kanon-scroll", "all => all.map(e => getComputedStyle(e).maxHeight)")) <= {
        "none"
    }
    shown = "all => all.map(e => e.getBoundingClientRect().height > 0 && getComputedStyle(e).display !== 'none')"
    answers = opened.eval_on_selector_all(".admonition.toggle-hidden .admonition-title ~ *", shown)
    assert answers
    assert not any(answers)
    assert all(opened.eval_on_selector_all(".admonition.toggle:not(.toggle-hidden) .admonition-title ~ *", shown))
    assert all(opened.eval_on_selector_all(".admonition.toggle .admonition-title", shown))
    folded = opened.eval_on_selector_all(".admonition.toggle-hidden", "all => all.length")
    assert opened.eval_on_selector_all(".kanon-unfolded > .admonition", "all => all.length") == folded
    assert all(opened.eval_on_selector_all(".kanon-unfolded > .admonition > *", shown))
    opened.evaluate("() => dispatchEvent(new Event('afterprint'))")
    assert opened.query_selector(".kanon-unfolded") is None


def test_a_figure_without_javascript_is_its_description(book, chromium):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{book}/{pages_with('.kanon-figure')[0]}")
    figure = page.query_selector(".kanon-figure")
    assert figure.query_selector(".kanon-drawing").get_attribute("aria-label") in figure.inner_text()
    context.close()


def test_slider_of_the_explorer_changes_what_is_drawn(book, visit, request):
    """By keyboard, of one page; of all with --all: test_explorers.py moves every control of every page otherwise."""
    pages = pages_with(SLIDER)
    for page in pages if request.config.getoption("all") else pages[:1]:
        opened = visit.open(f"{book}/{page}")
        for slider in opened.query_selector_all(".vega-bindings input[type=range]"):
            drawing = slider.evaluate_handle("e => e.closest('.kanon-figure').querySelector('.kanon-drawing')")
            before = drawing.evaluate("e => e.innerHTML")
            slider.focus()
            opened.keyboard.press("ArrowRight")
            opened.wait_for_function("([e, before]) => e.innerHTML !== before", arg=[drawing, before], timeout=5_000)
            # At either end there may be nothing to show.
            opened.keyboard.press("Home")
            opened.keyboard.press("End")
        assert visit.errors == []


@cache
def text_of(page: str) -> str:
    return (HTML / page).read_text("utf-8")


def pages_with(mark: str) -> list[str]:
    """Return the pages that hold a text; at least one."""
    found = [page for page in PAGES if mark.strip(".") in text_of(page)]
    assert found, f"no page holds {mark}"
    return found


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two CSS colours as WCAG 2 defines it."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    channels = [float(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
