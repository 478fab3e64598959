"""The page of ``kanon-lab open``: who gets it, what it asks for, how it ends, and that nothing is left."""

from __future__ import annotations

import http.client
import json
import signal
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import pytest
from browsing import Visit, findings
from serving import Served

pytest.importorskip("voila", reason="voila is not installed: pip install 'kanon-lab[workbench]'")
pytestmark = pytest.mark.browser

# What stands in for the workbench: a button, a chart as its own are, and a value that must be nowhere afterwards.
CANARY = "canary-4711"
CELL = """
import os
from pathlib import Path
import altair as alt
import ipywidgets as widgets
import pandas as pd
from kanon_lab.show import page
frame = pd.DataFrame({"k": [1, 2, 3], "persons": [5, 3, 1]})
chart = alt.Chart(frame, height=100).mark_bar().encode(x="k:O", y="persons")
data, metadata = page.figure(chart, table=frame, alt="Persons fall as k rises").mimebundle()
drawing = widgets.Output(outputs=({"output_type": "display_data", "data": data, "metadata": metadata},))
said = widgets.HTML("<h1>Here</h1>")
text = widgets.Text(description="Name")
button = widgets.Button(description="Count")
def counted(_):
    Path(os.environ["TMPDIR"], "spill").write_text(text.value)
    said.value = f"<h1>{text.value} of {os.environ.get('KANON_LAB_OPEN_FILE')} in {Path.cwd().name}</h1>"
button.on_click(counted)
widgets.VBox([said, text, button, drawing])
"""
# Voila 0.5.13 was built with JupyterLab 4.2, the widgets with a newer one; they draw all the same.
_KNOWN = ("Unsatisfied version", "No satisfying version")


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A page that many tests share, and which the last one ends."""
    page = Served(tmp_path_factory.mktemp("served"), cell=CELL, file="survey.csv")
    yield page
    if page.process.poll() is None:
        page.end()


def ready(page):
    page.get_by_role("button", name="Count").wait_for(timeout=60_000)
    return page


def status(address: str, **headers: str) -> tuple[int, str]:
    """What a request without the cookie gets."""
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode()


def cookie_of(address: str) -> str:
    """The cookie that the address with the token gives."""
    parts = urllib.parse.urlsplit(address)
    connection = http.client.HTTPConnection(parts.netloc, timeout=10)
    connection.request("GET", f"{parts.path}?{parts.query}")
    answer = connection.getresponse()
    assert answer.status == 303 and "token" not in answer.headers["Location"]
    return answer.headers["Set-Cookie"].partition(";")[0]


def test_the_page_opens_answers_and_asks_nothing_of_other_machines(served, chromium):
    assert Path(served.start).stat().st_mode & 0o77 == 0
    context = chromium.new_context()
    visit = Visit(context).begin(local=(served.page, "file:"))
    page, answers = visit.page, {}
    page.on("response", lambda response: answers.update({response.url: response.headers}))
    # the file that the command opens: no address has the token
    page.goto(Path(served.start).as_uri())
    ready(page)
    assert page.url == served.page
    page.get_by_label("Name").fill(CANARY)
    page.get_by_role("button", name="Count").click()
    page.get_by_text(f"{CANARY} of survey.csv in work").wait_for(timeout=10_000)
    page.locator(".jp-OutputArea-output :is(canvas.marks, svg.marks)").wait_for(timeout=20_000)
    assert visit.outside == [] and not [url for url in answers if "token" in url]
    assert [line for line in visit.errors if not line.startswith(_KNOWN)] == []
    for url, headers in answers.items():
        if url.startswith(served.page):
            policy = headers["content-security-policy"]
            assert policy.startswith("default-src 'none'; script-src 'self';") and "http" not in policy
            assert "no-store" in headers["cache-control"] and headers["x-content-type-options"] == "nosniff"
    assert findings(page, anew=True) == []
    # a page that is longer than the window scrolls as any other
    page.set_viewport_size({"width": 390, "height": 200})
    height, width = page.evaluate("() => [document.body.parentNode.scrollHeight, document.body.parentNode.scrollWidth]")
    assert height > 200 and width <= 390
    (cookie,) = context.cookies()
    assert cookie["httpOnly"] and cookie["sameSite"] == "Strict" and cookie["path"] != "/"
    assert served.address.partition("=")[2] not in page.content() + cookie["value"]
    context.close()


def test_without_the_token_nobody_gets_anything(served, chromium):
    root = served.page.split("/", 3)
    places = [
        "",
        "voila/static/voila.js",
        "voila/files/workbench.ipynb",
        "api/kernels",
        "login",
        "?token=wrong",
        "?token=",
    ]
    for address in [*(served.page + place for place in places), "/".join(root[:3]) + "/"]:
        code, body = status(address)
        assert code == 403 and "opens only from the address" in body and len(body) < 300
    # a name that leads to this machine, and another site's request
    assert status(served.address, Host="example.org")[0] == 403
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    channels = f"{served.page}api/kernels/00000000-0000-0000-0000-000000000000/channels"
    assert status(channels, **upgrade, **{"Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="})[0] == 403
    cookie = cookie_of(served.address)
    script = f"{served.page}voila/static/voila.js"
    assert status(script, Cookie=cookie)[0] == 200 and status(script, Cookie=f"{cookie}x")[0] == 403
    assert status(script, Cookie=cookie, Origin="http://example.org")[0] == 403
    assert status(channels, Cookie=cookie, Origin="null", **upgrade)[0] == 403
    context = chromium.new_context()
    page = context.new_page()
    assert page.goto(served.page).status == 403
    assert context.cookies() == []
    context.close()


def test_ctrl_c_ends_it_and_leaves_nothing(served):
    held = served.held()
    kernels = [path for folder in held for path in folder.glob("kernel-*.json")]
    assert kernels and [path for path in kernels[0].parent.iterdir() if path.is_socket()]
    for place in kernels:  # other users of the machine could listen at a port
        assert json.loads(place.read_text())["transport"] == "ipc" and place.parent.stat().st_mode & 0o77 == 0
    inside = {path for path in served.left() if "ipynb" in path or "kernel" in path or "secret" in path}
    assert inside and all("kanon-lab-" in path for path in inside)
    assert not [path for path in served.left() if str(served.temporary) not in path]
    assert served.end() == (0, "ended\n", "")
    assert served.left() == [] and not [folder for folder in held if folder.exists()]


@pytest.mark.slow
def test_it_ends_with_its_last_window_and_not_before(tmp_path, chromium):
    served = Served(tmp_path, wait=8, cell=CELL)
    context = chromium.new_context()
    one, two = context.new_page(), context.new_page()
    one.goto(served.address)
    two.goto(served.page)
    ready(one)
    ready(two).close(run_before_unload=True)
    one.wait_for_timeout(9000)
    assert served.process.poll() is None
    one.close(run_before_unload=True)
    again = context.new_page()
    again.wait_for_timeout(3000)
    again.goto(served.page)
    ready(again)
    again.wait_for_timeout(9000)
    assert served.process.poll() is None
    context.close()
    assert served.end(None) == (0, "ended\n", "")
    assert served.left() == []


def test_a_window_that_is_just_opening_does_not_end_it():
    """Its kernel is in the list a moment before it has a state, which Jupyter's list takes for granted."""
    from kanon_lab.workbench.serving import Kernels

    kernels = Kernels()
    kernels._kernels["starting"] = kernels.kernel_manager_factory()
    assert kernels.list_kernels() == []


@pytest.mark.slow
def test_a_signal_ends_it_too(tmp_path, chromium):
    """The address that is printed opens the page too, and the token is not in what the browser shows then."""
    served = Served(tmp_path, cell=CELL)
    context = chromium.new_context()
    page = context.new_page()
    page.goto(served.address)
    ready(page)
    assert page.url == served.page
    assert served.end(signal.SIGTERM) == (128 + signal.SIGTERM, "", "")
    assert served.left() == []
    context.close()


@pytest.mark.slow
def test_what_fails_is_said_without_its_values(tmp_path, visit):
    served = Served(tmp_path, cell=f"raise ValueError({CANARY!r})")
    visit.page.goto(served.address)
    visit.page.get_by_role("alert").get_by_text("could not start").wait_for(timeout=60_000)
    assert CANARY not in visit.page.content()
    code, out, err = served.end()
    assert (code, CANARY in out + err, served.left()) == (0, False, [])
