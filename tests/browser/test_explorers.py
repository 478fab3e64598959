"""Every explorer of the book in a real browser: each control is moved to its ends, on a desk and on a phone."""

from __future__ import annotations

import pytest
from browsing import HTML
from test_pages import CLIPPED, FOLLOWED

pytestmark = pytest.mark.browser

CONTROLS = ".vega-bindings :is(input, select)"
PAGES = sorted(
    f"book/{path.name}"
    for path in (HTML / "book").glob("*.html")
    if '"input":' in path.read_text("utf-8") and 'class="kanon-figure"' in path.read_text("utf-8")
)
# Those whose charts differ most: on a phone their controls are moved in every run, those of the others with --all.
MANY = ["book/generalise.html", "book/spain.html"]
# By the name of its group, each control with the values that it is moved to: both ends and the middle of a slider, of
# a list the first, the second and the last, either state of a box. It ends where it began.
VALUES = """e => {
  const some = all => [...new Set([0, 1, all.length - 1].map(at => all[at]))].filter(v => v !== undefined);
  if (e.type === 'checkbox') return [!e.checked, e.checked];
  if (e.type === 'radio') return e.checked ? [] : [true];
  if (e.type === 'select-one') return [...some([...e.options].map(o => o.value)), e.value];
  const [low, high, step] = [e.min, e.max, e.step || 1].map(Number);
  return [low, high, low + Math.round((high - low) / 2 / step) * step, Number(e.value)];
}"""
MOVE = """([e, value]) => {
  if (e.type === 'checkbox' || e.type === 'radio') { if (e.checked !== value) e.click(); return; }
  e.value = value;
  e.dispatchEvent(new Event(e.type === 'range' ? 'input' : 'change', { bubbles: true }));
}"""
# What an explorer says and draws; Vega draws in the next frame.
SHOWN = """figure => new Promise(done => requestAnimationFrame(() => setTimeout(() => done({
  said: figure.querySelector('.kanon-live').textContent,
  drawn: figure.querySelector('.kanon-drawing svg').outerHTML,
  described: figure.querySelector('.kanon-drawing').getAttribute('aria-label'),
}), 30)))"""
# Marks are cut where the plot ends, so the drawing itself counts, not what is in it.
RIGHT = """figure => Math.max(...[...figure.querySelectorAll('*:not(svg *)')]
  .filter(e => e.checkVisibility() && !e.closest('.kanon-scroll, .kanon-hidden'))
  .map(e => e.getBoundingClientRect().right))"""
NAMELESS = """figure => [...figure.querySelectorAll('.vega-bindings :is(input, select)')]
  .filter(e => !(e.labels?.[0]?.textContent || e.getAttribute('aria-label') || '').trim()).map(e => e.outerHTML)"""


def moved(opened, figure):
    """What is shown at the start, and, by control, what is shown at each place that it is moved to."""
    yield "start", opened.evaluate(SHOWN, figure)
    for control in figure.query_selector_all(CONTROLS):
        if not control.is_visible() or control.is_disabled():
            continue
        name = control.get_attribute("name")
        for value in control.evaluate(VALUES):
            opened.evaluate(MOVE, [control, value])
            yield f"{name} = {value}", opened.evaluate(SHOWN, figure)


def explorers(opened):
    return [each for each in opened.query_selector_all(".kanon-figure") if each.query_selector(CONTROLS)]


@pytest.mark.parametrize("page", PAGES)
def test_every_control_changes_what_is_drawn_and_said(book, visit, page):
    opened = visit.open(f"{book}/{page}")
    assert explorers(opened)
    for figure in explorers(opened):
        assert figure.evaluate(NAMELESS) == []
        seen: dict[str, list] = {}
        for place, shown in moved(opened, figure):
            assert shown["said"].strip(" ."), place
            assert shown["said"] in shown["described"], place
            assert "NaN" not in shown["said"] + shown["drawn"], place
            assert "undefined" not in shown["said"], place
            seen.setdefault(place.partition(" = ")[0], []).append(shown)
            assert visit.errors == [], place
        for name, all_shown in seen.items():
            if name != "start":
                places = [*seen["start"], *all_shown]
                assert len({shown["said"] for shown in places}) > 1, f"{name} changes nothing that is said"
                assert len({shown["drawn"] for shown in places}) > 1, f"{name} changes nothing that is drawn"


def test_pages_of_every_run_are_there(book):
    assert {*MANY} <= {*PAGES}


@pytest.mark.parametrize("visit", [390], indirect=True)
@pytest.mark.parametrize(
    "page", [page if page in MANY else pytest.param(page, marks=pytest.mark.slow) for page in PAGES]
)
def test_nothing_is_cut_off_on_a_phone_wherever_a_control_is(book, visit, page):
    opened = visit.open(f"{book}/{page}")
    opened.wait_for_function(FOLLOWED, timeout=5_000)
    cut = {}
    for figure in explorers(opened):
        for place, _ in moved(opened, figure):
            # A title of other lines moves what is below it, in the frame after its own.
            for _ in range(10):
                if not (found := opened.evaluate(CLIPPED)):
                    break
                opened.wait_for_timeout(50)
            else:
                cut[place] = found
        assert figure.evaluate(RIGHT) <= opened.evaluate("() => document.documentElement.clientWidth") + 1
    assert cut == {}
    assert visit.errors == []
