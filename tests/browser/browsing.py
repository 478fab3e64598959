"""A visit to a page: what tests of pages and of JupyterLab share."""

from __future__ import annotations

import os
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
