"""Jobs in threads: those that write have their turn, others make way, and the end of the program leaves no draft."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Event, Thread

import pytest

from kanon_lab.workbench.background import Background

ENDS = """
import time
from threading import Event
from kanon_lab import files
from kanon_lab.workbench.background import Background

began = Event()

def write(progress):
    with files.atomic_path("out.csv"):
        began.set()
        while True:
            time.sleep(0.01)

Background(lambda: None, queue=True).submit(write, print, print)
assert began.wait(20)
"""

KERNEL = """
import time
from threading import Event
from kanon_lab import files
from kanon_lab.workbench import workbench

began, box = Event(), workbench()

def write(progress):
    with files.atomic_path("out.csv"):
        began.set()
        time.sleep(60)

box.bench.writing.submit(write, print, print)
assert began.wait(20)
"""


def test_those_of_a_queue_run_in_their_order_until_it_is_stopped():
    jobs, ran, go = Background(lambda: None, queue=True), [], Event()

    def job(name):
        return lambda progress: go.wait(20) and name

    for name in range(5):
        jobs.submit(job(name), ran.append, ran.append)
    go.set()
    jobs.wait()
    assert ran == [*range(5)]
    go.clear()
    begun = Event()

    def write(progress):
        begun.set()
        return go.wait(20) and "first"

    jobs.submit(write, ran.append, ran.append)
    jobs.submit(job("second"), ran.append, ran.append)
    assert begun.wait(20)
    jobs.stop()
    go.set()
    jobs.wait()
    assert ran[5:] == ["first"]  # it was being written; the other had not begun


def test_of_jobs_from_many_threads_the_last_alone_comes_to_something():
    jobs, ran = Background(lambda: None), []

    def job(progress):
        time.sleep(0.2)
        progress("")

    threads = [Thread(target=jobs.submit, args=(job, ran.append, ran.append)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    jobs.wait()
    assert ran == [None]


def test_a_newer_job_takes_the_place_of_those_of_its_kind_alone():
    jobs, ran, go = Background(lambda: None), [], Event()

    def job(name):
        return lambda progress: go.wait(20) and name

    for name, kind in (("asked", "asked"), ("old", "view"), ("new", "view")):
        jobs.submit(job(name), ran.append, ran.append, kind)
    go.set()
    jobs.wait()
    assert ran == ["asked", "new"]
    go.clear()
    for name, kind in (("asked", "asked"), ("view", "view"), ("change", "")):
        jobs.submit(job(name), ran.append, ran.append, kind)
    go.set()
    jobs.wait()
    assert ran[2:] == ["change"]


def test_an_import_is_never_left_half_done(monkeypatch):
    Path("slow_module.py").write_text("import time\nfor _ in range(50):\n    time.sleep(0.01)\nwhole = True\n")
    monkeypatch.syspath_prepend(str(Path.cwd()))
    jobs, ran, began = Background(lambda: None), [], Event()

    def job(progress):
        began.set()
        importlib.import_module("slow_module")
        while True:
            time.sleep(0.01)

    jobs.submit(job, ran.append, ran.append)
    assert began.wait(20)
    while "slow_module" not in sys.modules:
        time.sleep(0.01)
    jobs.stop()
    jobs.wait()
    assert sys.modules.pop("slow_module").whole and not ran


def test_what_runs_is_named_until_all_has_ended():
    steps, go = [], Event()
    jobs = [Background(lambda: None), Background(lambda: None, queue=True)]
    for background in jobs:
        background.submit(lambda progress: go.wait(20), steps.append, steps.append)
    jobs[0].stop()
    assert [background.step for background in jobs] == [None, ""]
    go.set()
    jobs[1].wait()
    assert jobs[1].step is None


@pytest.mark.skipif(os.name != "posix", reason="other systems have no such signal")
def test_a_kernel_that_is_asked_to_end_leaves_no_half_written_file():
    jupyter_client = pytest.importorskip("jupyter_client")
    manager, client = jupyter_client.manager.start_new_kernel(kernel_name="python3")
    try:
        assert client.execute_interactive(KERNEL, timeout=60, output_hook=print)["content"]["status"] == "ok"
        assert len([*Path.cwd().iterdir()]) == 2
        manager.signal_kernel(signal.SIGTERM)
        until = time.monotonic() + 30
        while manager.is_alive() and time.monotonic() < until:
            time.sleep(0.05)
        assert [path.name for path in Path.cwd().iterdir()] == ["survey.csv"]
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_the_end_of_the_program_leaves_no_half_written_file():
    done = subprocess.run([sys.executable, "-c", ENDS], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in Path.cwd().iterdir()] == ["survey.csv"]
