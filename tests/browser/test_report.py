"""The report opened from disk in a real browser, with no network: charts, both languages, keyboard, contrast."""

from __future__ import annotations

import re

import pytest
from browsing import READY, Visit, findings
from canaries import COLUMN, SCRIPT
from test_pages import OVERFLOWING, UNNAMED, contrast
from warm_kernels import forked_notebooks

from kanon_lab.report import as_config, make_report

pytestmark = pytest.mark.browser

LANGUAGES = ["en", "es"]
# What the keyboard should reach, in the order of the page; what is folded away is not reached.
CONTROLS = """() => [...document.querySelectorAll('a[href], button, input, select, summary, [tabindex="0"]')]
  .filter(e => e.checkVisibility()).map(e => e.outerHTML.slice(0, 150))"""
PLACE = """() => {
  const e = document.activeElement, style = getComputedStyle(e);
  return e === document.body ? null : {
    html: e.outerHTML.slice(0, 150),
    seen: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2,
  };
}"""
# What is drawn: all of it without a script.
PICTURES = ".kanon-bars, .kanon-columns, .kanon-numbers, .kanon-plane"
# Tables that a printer would not show.
NOT_ON_PAPER = """() => [...document.querySelectorAll('table')].filter(e => !e.checkVisibility())
  .filter(e => matchMedia('print').matches).map(e => e.textContent.slice(0, 80))"""
# Colours of every text and of what is behind it; none where it is an image or transparent to the root.
COLOURS = """() => {
  const seen = new Map();
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor;
      if (!['rgba(0, 0, 0, 0)', 'transparent'].includes(colour)) return colour;
    }
    return 'rgb(255, 255, 255)';
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const e = node.parentElement;
    if (!node.data.trim() || ['SCRIPT', 'STYLE', 'NOSCRIPT', 'title'].includes(e.tagName)) continue;
    const style = getComputedStyle(e), drawn = e.closest('svg');
    if (e.closest('details:not([open])') && e.closest('summary') === null) continue;
    const pair = [drawn ? style.fill : style.color, behind(e)];
    seen.set(pair.join(' on '), [...pair, node.data.trim().slice(0, 40), !!(drawn && e.closest('.mark-text'))]);
  }
  return [...seen.values()];
}"""


class FromDisk(Visit):
    """A visit to one file; whatever else is asked for is noted."""

    def __init__(self, context, path):
        super().__init__(context)
        self.file = path.as_uri()

    def _request(self, request):
        if request.url.split("#")[0] != self.file and not request.url.startswith(("data:", "blob:")):
            self.outside.append(request.url)

    def _console(self, message):
        self.errors.append(f"{message.type}: {message.text}")


@pytest.fixture(scope="module", params=LANGUAGES)
def report(chromium, canary_reports, request):
    """The report in one language, opened."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, offline=True)
    visit = FromDisk(context, canary_reports.page(request.param))
    visit.language = request.param
    visit.dialogs = []
    visit.page.on("dialog", lambda dialog: (visit.dialogs.append(dialog.message), dialog.dismiss()))
    visit.open(visit.file)
    yield visit
    context.close()


def test_the_report_works_from_disk_without_network(report):
    assert report.page.evaluate(READY)
    assert report.page.evaluate(f"() => document.querySelectorAll('{PICTURES}').length") >= 15
    assert report.page.evaluate(UNNAMED) == []
    assert report.outside == []
    assert report.errors == []


def test_the_report_is_for_everybody(report):
    assert findings(report.page) == []


def test_the_report_is_in_its_language(report):
    assert report.page.evaluate("() => document.documentElement.lang") == report.language
    headings = report.page.eval_on_selector_all("h1, h2", "all => all.map(e => e.textContent)")
    titles = report.page.eval_on_selector_all("caption", "all => all.map(e => e.textContent)")
    assert ("Variables and their categories" in headings) == (report.language == "en")
    assert titles
    assert any(" de " in title or " del " in title for title in titles) == (report.language == "es")
    assert report.page.title()


def test_texts_of_the_file_stay_texts(report):
    assert report.dialogs == []
    assert report.page.evaluate("() => typeof window.zq") == "undefined"
    text = report.page.inner_text("main")
    assert SCRIPT in text
    assert (COLUMN in text) == (report.language == "en")
    assert report.page.query_selector("main i, main b, main img, main script:not([type='application/json'])") is None


def test_headings_lead_through_the_report(report):
    levels = report.page.eval_on_selector_all("h1, h2, h3, h4", "all => all.map(e => +e.tagName[1])")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in zip(levels, levels[1:], strict=False))
    links = report.page.eval_on_selector_all("nav a", "all => all.map(e => e.getAttribute('href'))")
    assert links
    assert all(report.page.query_selector(link) for link in links)


def test_every_control_is_reached_by_keyboard_and_seen(report):
    page = report.page
    wanted = page.evaluate(CONTROLS)
    page.evaluate("() => { document.activeElement.blur(); window.scrollTo(0, 0); }")
    reached = []
    for _ in range(len(wanted) + 5):
        page.keyboard.press("Tab")
        place = page.evaluate(PLACE)
        if place is None or (reached and place["html"] == reached[0]["html"] and len(reached) >= len(wanted)):
            break
        reached.append(place)
    assert [place["html"] for place in reached] == wanted
    assert [place["html"] for place in reached if not place["seen"]] == []


def test_whatever_is_folded_opens_by_keyboard(report):
    page = report.page
    for summary in page.query_selector_all("details > summary"):
        details = summary.evaluate_handle("e => e.parentElement")
        summary.focus()
        page.keyboard.press("Enter")
        assert details.evaluate("e => e.open")
        assert details.evaluate("e => e.lastElementChild.checkVisibility()")
        page.keyboard.press("Enter")
        assert not details.evaluate("e => e.open")


def test_links_lead_to_their_sections_by_keyboard(report):
    page = report.page
    link = page.query_selector("nav li:last-child a")
    link.focus()
    page.keyboard.press("Enter")
    page.wait_for_function("e => location.hash === e.getAttribute('href')", arg=link, timeout=5_000)
    assert page.evaluate("() => document.querySelector(location.hash).getBoundingClientRect().top < innerHeight")
    assert report.outside == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out(report, scheme):
    report.page.emulate_media(color_scheme=scheme)
    report.page.evaluate("() => document.querySelectorAll('details').forEach(e => { e.open = true; })")
    colours = report.page.evaluate(COLOURS)
    report.page.evaluate("() => document.querySelectorAll('details').forEach(e => { e.open = false; })")
    report.page.emulate_media(color_scheme="light")
    assert len(colours) >= 2
    assert [pair for pair in colours if contrast(*pair[:2]) < 4.5] == []


def test_the_report_fits_a_phone(report):
    report.page.set_viewport_size({"width": 390, "height": 900})
    report.page.wait_for_function(READY, timeout=5_000)
    report.page.wait_for_timeout(300)
    overflowing = report.page.evaluate(OVERFLOWING.replace("article *", "main *"))
    wide = report.page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth")
    report.page.set_viewport_size({"width": 1280, "height": 900})
    assert overflowing == []
    assert wide <= 0


def test_without_javascript_the_words_and_tables_are_there(chromium, canary_reports):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(canary_reports.page("en").as_uri())
    assert page.locator(".kanon-bar .kanon-fill").count() > 20
    page.emulate_media(media="print")
    assert page.locator("details:not([open])").count() > 10
    assert page.evaluate(NOT_ON_PAPER) == []
    assert "600 records" in page.inner_text("main")
    context.close()


@pytest.fixture(scope="module", params=LANGUAGES)
def survey(chromium, tmp_path_factory, request):
    """The report on a survey of 22 variables, on the screen of a laptop."""
    path = tmp_path_factory.mktemp("survey") / "report.html"
    limits = {"k": 3, "global_risk": 0.02, "household_risk": 0.05, "numeric_linkage": 0.05, "household_uniques": 0}
    steps = [
        {"recode": {"variable": "rph_edad", "bands": [0, 15, 30, 45, 60, 75, None], "closed": "left"}},
        {"remove_variables": {"variables": ["hogar", "comuna"]}},
        {"suppress": {"importance": {"enc_region": 1, "rph_sexo": 2, "rph_edad": 3, "educacion": 4, "tam_hogar": 5}}},
    ]
    roles = {
        "key_variables": ["enc_region", "comuna", "rph_sexo", "rph_edad", "educacion", "actividad", "tam_hogar"],
        "weight": "Fact_Pers",
        "household": "hogar",
        "direct_identifiers": ["rut"],
        "sensitive_variables": ["VP_DC", "VA_DC"],
        "numeric_variables": ["ingreso"],
    }
    with forked_notebooks():
        make_report(
            "enusc-synthetic", as_config({**roles, "limits": limits, "steps": steps, "language": request.param}), path
        )
    page = chromium.new_context(viewport={"width": 1366, "height": 768}).new_page()
    page.goto(path.as_uri())
    yield page
    page.context.close()


@pytest.mark.parametrize("width", [1366, 390])
def test_bars_beside_each_other_have_one_scale(survey, width):
    survey.set_viewport_size({"width": width, "height": 768})
    widths = survey.evaluate("""() => [...document.querySelectorAll('.kanon-bars:not(.kanon-limits)')]
      .map(e => [...e.querySelectorAll('.kanon-bar')].map(bar => bar.getBoundingClientRect().width))""")
    survey.set_viewport_size({"width": 1366, "height": 768})
    assert [bars for bars in widths if bars and max(bars) > 1.06 * min(bars)] == []


@pytest.mark.parametrize("width", [1366, 390])
def test_an_opened_explanation_stays_in_its_cell(survey, width):
    survey.set_viewport_size({"width": width, "height": 768})
    outside = survey.evaluate("""() => [...document.querySelectorAll('.kanon-says')].filter(e => {
      e.open = true;
      const range = document.createRange(), cell = e.closest('th, td').getBoundingClientRect();
      range.selectNodeContents(e.querySelector('p'));
      const text = range.getBoundingClientRect();
      e.open = false;
      return !text.width || text.right > cell.right + 1 || text.bottom > cell.bottom + 1;
    }).length""")
    survey.set_viewport_size({"width": 1366, "height": 768})
    assert survey.locator(".kanon-says").count() > 10
    assert outside == 0


def test_a_term_that_opens_looks_like_what_is_pressed(survey):
    summary = survey.locator(".kanon-says summary").first
    look = "(e, part) => getComputedStyle(e, part)"
    assert summary.evaluate(f"e => ({look})(e).cursor") == "pointer"
    assert "▸" in summary.evaluate(f"e => ({look})(e, '::after').content")
    summary.focus()
    survey.keyboard.press("Enter")
    assert "▾" in summary.evaluate(f"e => ({look})(e, '::after').content")
    assert summary.evaluate(f"e => ({look})(e).outlineStyle") == "solid"
    survey.keyboard.press("Enter")


def test_a_survey_is_read_on_six_screens_and_six_sheets(survey):
    """The verdict, the limits, three numbers and what to do are on the first; all variables on two more."""
    assert survey.evaluate("() => document.documentElement.scrollHeight") <= 6 * 768
    first = [".kanon-verdict", ".kanon-limits table", ".kanon-numbers", ".kanon-next > ul"]
    ends = [survey.evaluate("e => document.querySelector(e).getBoundingClientRect().bottom", part) for part in first]
    assert max(ends) <= 768
    assert survey.evaluate("() => document.querySelector('.kanon-grid').getBoundingClientRect().height") <= 2 * 768
    assert survey.locator(".kanon-card").count() == 22
    sheets = survey.pdf(format="A4", prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", sheets)) <= 6
