"""A visit to a page: what tests of pages and of JupyterLab share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HTML = ROOT / "_build" / "html"
READY = """() =>
  [...document.querySelectorAll('.kanon-figure')].every(f => f.classList.contains('kanon-drawn'))
  && [...document.querySelectorAll('span.math, div.math')].every(e => e.querySelector('mjx-container'))"""


def absent(reason: str) -> None:
    """Skip here, but fail where everything must run."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


class Visit:
    """One open page, with what went wrong on it."""

    def __init__(self, context):
        self.errors: list[str] = []
        self.outside: list[str] = []
        context.route("**/*", self._local_only)
        self.page = context.new_page()
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("response", self._response)

    def _local_only(self, route):
        if route.request.url.startswith(("http://127.0.0.1:", "data:", "blob:")):
            route.continue_()
        else:
            self.outside.append(route.request.url)
            route.abort()

    def _console(self, message):
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    def _response(self, response):
        if response.status >= 400:
            self.errors.append(f"{response.status} {response.url}")

    def open(self, url: str):
        """Load a page and wait until its charts are drawn and its formulas set, or something fails."""
        self.page.goto(url, wait_until="load")
        for _ in range(100):
            if self.errors or self.page.evaluate(READY):
                break
            self.page.wait_for_timeout(100)
        return self.page
