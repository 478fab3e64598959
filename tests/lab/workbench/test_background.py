"""Jobs in threads: those that write have their turn, others make way, and the end of the program leaves no draft."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from threading import Event, Thread

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


def test_the_end_of_the_program_leaves_no_half_written_file():
    done = subprocess.run([sys.executable, "-c", ENDS], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in Path.cwd().iterdir()] == ["survey.csv"]
