"""A visit to a page: what tests of pages and of JupyterLab share."""

from __future__ import annotations

import os
from functools import cache
from importlib.resources import files
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HTML = ROOT / "_build" / "html"
LOCAL = ("http://127.0.0.1:",)
READY = """() =>
  [...document.querySelectorAll('.kanon-figure')].every(f => f.classList.contains('kanon-drawn'))
  && [...document.querySelectorAll('span.math, div.math')].every(e => e.querySelector('mjx-container'))"""

# What a page shows after a guess is shown without one.
REVEAL = "() => document.querySelectorAll('.kanon-reveal').forEach(button => button.click())"


# What axe-core finds serious or critical, with what is folded laid open. Contrast is what takes its time: it is looked
# at in one text of each colour and size on each ground, `seen` being those that were looked at on other pages; and of
# links among words in one of each look, of all where `seen` is null.
AXE = """async ([looks, seen]) => {
  const COLOURS = ['color-contrast', 'link-in-text-block'];
  const folded = [...document.querySelectorAll('main details:not([open])')];
  const boxes = [...document.querySelectorAll('.toggle-hidden')];
  const still = document.head.appendChild(document.createElement('style'));
  still.textContent = '*, ::before, ::after { animation: none !important; transition: none !important; }';
  for (const each of folded) each.open = true;
  for (const each of boxes) each.classList.remove('toggle-hidden');
  await new Promise(resolve => setTimeout(resolve, 50));
  const known = new Map([[null, '']]);
  const ground = (e) => {
    if (!known.has(e)) {
      const {backgroundColor, opacity} = getComputedStyle(e), above = ground(e.parentElement);
      const clear = backgroundColor === 'rgba(0, 0, 0, 0)' && opacity === '1';
      known.set(e, clear ? above : `${above} ${backgroundColor} ${opacity}`);
    }
    return known.get(e);
  };
  const marked = (link) => {
    const {textDecorationLine, borderBottomWidth} = getComputedStyle(link);
    const block = link.parentElement.closest('p, li, dd, dt, td, th, div, nav, body');
    const alone = block.textContent.trim() === link.textContent.trim();
    return [textDecorationLine, borderBottomWidth, getComputedStyle(link.parentElement).color, alone].join();
  };
  const texts = new Map(), others = new Set(seen ?? []);
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const e = node.parentElement;
    if (!node.data.trim() || e.closest('mjx-container, svg, script, style, noscript')) continue;
    const {color, fontSize, fontWeight} = getComputedStyle(e), link = e.closest('a');
    const key = [color, fontSize, fontWeight, ground(e), link ? marked(link) : ''].join();
    if (!others.has(key) && !texts.has(key) && e.checkVisibility()) texts.set(key, link ?? e);
  }
  const run = (where, rules) => axe.run(where, {...rules, resultTypes: ['violations'], preload: false});
  const found = [];
  if (texts.size) found.push(await run({include: [...texts.values()]}, {runOnly: COLOURS}));
  // A text outside of all regions is never serious.
  const done = [...(seen ? COLOURS : ['color-contrast']), 'region'];
  const rest = {rules: Object.fromEntries(done.map(rule => [rule, {enabled: false}]))};
  if (!looks) found.push(await run(document, rest));
  for (const each of folded) each.open = false;
  for (const each of boxes) each.classList.add('toggle-hidden');
  still.remove();
  const serious = found.flatMap(each => each.violations).filter(each => ['serious', 'critical'].includes(each.impact));
  return {looked: [...texts.keys()], found: serious.flatMap(
    each => each.nodes.map(node => `${each.id}: ${node.html.slice(0, 150)} (${node.failureSummary.slice(0, 250)})`))};
}"""
_LOOKED_AT: set[str] = set()


@cache
def _axe() -> str:
    pytest.importorskip("axe_playwright_python", reason="axe-core is not installed")
    return (files("axe_playwright_python") / "axe.min.js").read_text("utf-8")


def findings(page, *, looks: bool = False, anew: bool = False) -> list[str]:
    """What axe-core finds serious on a page that is open; by its colours alone where only these have changed.

    Colours in which this process found nothing wrong on another page are not looked at again, unless all is done anew.
    """
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(_axe())
    result = page.evaluate(AXE, [looks, None if anew else [*_LOOKED_AT]])
    if not result["found"]:
        _LOOKED_AT.update(result["looked"])
    return result["found"]


def absent(reason: str) -> None:
    """Skip here, but fail where everything must run."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


class Visit:
    """A page that is used for one visit after another, so that what it has loaded it need not load again.

    `errors` and `outside` are what went wrong in this visit, and what it asked of other machines, which none can reach.
    """

    def __init__(self, context):
        self.errors: list[str] = []
        self.outside: list[str] = []
        self.local = LOCAL
        context.on("request", self._request)
        self.page = context.new_page()
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("response", self._response)

    def begin(self, width: int = 1280, local: tuple[str, ...] = LOCAL) -> Visit:
        """Leave what was visited, and be as a page that was never used; `local` is how addresses may begin."""
        self.page.evaluate("() => { try { localStorage.clear(); sessionStorage.clear(); } catch { /* none */ } }")
        self.page.goto("about:blank")
        self.page.emulate_media(media="null")
        self.page.set_viewport_size({"width": width, "height": 900})
        self.local = local
        self.errors.clear()
        self.outside.clear()
        return self

    def _request(self, request):
        if not request.url.startswith((*self.local, "data:", "blob:", "about:")):
            self.outside.append(request.url)

    def _console(self, message):
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    def _response(self, response):
        if response.status >= 400:
            self.errors.append(f"{response.status} {response.url}")

    def open(self, url: str):
        """Load a page and wait until its charts are drawn and its formulas set, or something fails."""
        self.page.goto(url, wait_until="load")
        self.page.evaluate(REVEAL)
        for _ in range(100):
            if self.errors or self.page.evaluate(READY):
                break
            self.page.wait_for_timeout(100)
        return self.page
