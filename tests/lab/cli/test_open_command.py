"""``kanon-lab open``: what it refuses, what it prints, and whom it asks to show the page."""

import importlib.util
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import webbrowser

import pytest
from processes import PATIENCE, hear_signals

from kanon_lab.cli import open as command
from kanon_lab.cli import run


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("args", "line"),
    [
        (["nowhere.csv"], "nowhere.csv: neither a data set (kanon-lab data list) nor a file; check the name or path"),
        ([""], "FILE is empty; name a file or a data set such as health-survey"),
        (["--language", "ca"], "'ca' is not one of 'en', 'es'"),
        (["--port", "70000"], "70000 is not in the range 0<=x<=65535"),
        (["--wait", "-1"], "-1.0 is not in the range 0<=x<=86400"),
        (["x" * 300], "cannot be read"),
    ],
)
def test_what_cannot_be_opened_is_one_line(args, line, capsys):
    pytest.importorskip("voila")
    assert run(["open", *args, "--no-browser"]) == 2
    printed = capsys.readouterr()
    assert line in printed.err and printed.err.count("\n") == 1 and not printed.out


def test_without_voila_one_line_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    assert run(["open"]) == 2
    assert capsys.readouterr().err == "kanon-lab: the workbench needs voila: pip install 'kanon-lab[workbench]'\n"


def test_a_port_in_use_is_one_line(capsys):
    pytest.importorskip("voila")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert run(["open", "--no-browser", "--port", str(port)]) == 2
    line = f"kanon-lab: port {port}: is in use; choose another (--port), or leave it out\n"
    assert capsys.readouterr().err == line


@pytest.mark.parametrize(
    ("name", "opened"), [("firefox", True), ("firefox", False), ("/usr/bin/w3m", True), ("", None)]
)
def test_the_address_is_printed_whether_or_not_there_is_a_browser(name, opened, tmp_path, monkeypatch, capsys):
    """A browser gets a file to open: the arguments of processes, such as an address, are seen by all users."""
    serving = pytest.importorskip("kanon_lab.workbench.serving")
    asked, threads = [], []

    def browser():
        if opened is None:
            raise webbrowser.Error
        return webbrowser.GenericBrowser(name)

    def serve(*, tell, **options):
        tell("http://127.0.0.1:9000/x/?token=y", tmp_path / "open.html")
        for thread in threads:
            thread.join(PATIENCE)

    class Kept(threading.Thread):
        def start(self):
            threads.append(self)
            super().start()

    monkeypatch.setattr(webbrowser, "get", browser)
    monkeypatch.setattr(webbrowser, "open", lambda address: asked.append(address) or opened)
    monkeypatch.setattr(command.threading, "Thread", Kept)
    monkeypatch.setattr(serving, "serve", serve)
    assert run(["open"]) == 0
    printed = capsys.readouterr()
    assert printed.out == "http://127.0.0.1:9000/x/?token=y\n"
    assert asked == ([(tmp_path / "open.html").as_uri()] if name == "firefox" else [])
    assert ("no browser was found" in printed.err) == (name != "firefox" or not opened)


def test_it_prints_its_address_and_ends_with_ctrl_c(tmp_path):
    pytest.importorskip("voila")
    for name in ("home", "tmp", "work"):
        (tmp_path / name).mkdir()
    places = {"HOME": str(tmp_path / "home"), "TMPDIR": str(tmp_path / "tmp")}
    started = subprocess.Popen(
        [sys.executable, "-m", "kanon_lab", "open", "health-survey", "--no-browser", "--json"],
        cwd=tmp_path / "work",
        env=os.environ | places,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_signals,
    )
    result = json.loads(started.stdout.readline())
    started.send_signal(signal.SIGINT)
    _, err = started.communicate(timeout=PATIENCE)
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[0-9a-f]{16}/\?token=[\w-]{43}", result.pop("address"))
    assert result == {"file": "health-survey", "language": "en"}
    assert started.returncode == 0
    assert err == "The workbench is open. Close its window or press Ctrl-C here to end.\nThe workbench has ended.\n"
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_nothing_of_voila_is_loaded_for_the_help():
    code = "import sys; from kanon_lab.cli import run; run(['open', '--help']); sys.exit('voila' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0
    assert importlib.util.find_spec("kanon_lab.workbench.serving") is not None
