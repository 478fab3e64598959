"""A browser that can reach the built book and nothing else."""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import threading

import pytest
from browsing import HTML, Visit, absent

BROWSER_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-software-rasterizer",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # no name, and no other machine, is found
]


def pytest_collect_file():
    """Say once, not for every test, that the browser somebody named is not there."""
    named = os.environ.get("CHROMIUM")
    if named and not shutil.which(named):
        raise pytest.Collector.CollectError(f"CHROMIUM={named}: no such program; install it or name another")


@pytest.fixture(scope="session")
def chromium():
    """Chromium, never one that playwright would download."""
    found = shutil.which(os.environ.get("CHROMIUM") or "chromium") or shutil.which("chromium-browser")
    if not found:
        absent("no Chromium here: install it, or name one in the variable CHROMIUM")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=BROWSER_FLAGS)
        yield browser
        browser.close()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="session")
def book():
    """Address of the built book, served from this machine."""
    if not (HTML / "index.html").exists():
        absent("the book is not built: run make book")
    handler = functools.partial(QuietHandler, directory=str(HTML))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def desk(chromium):
    """The page that all visits of a process share."""
    context = chromium.new_context()
    yield Visit(context)
    context.close()


@pytest.fixture
def visit(desk, request):
    """A page of the width of a desk (1280) or, by indirect parameter, another."""
    return desk.begin(getattr(request, "param", 1280))
