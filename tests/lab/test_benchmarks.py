"""The questions of speed: each runs, the same is answered by all who say so, and the kept results have their fields."""

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cases import others_slow
from hypothesis import given
from hypothesis import strategies as st
from processes import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = ROOT / "benchmarks"
RESULTS = json.loads((ROOT / "book" / "kanon_book" / "figures" / "speed.json").read_text("utf-8"))
RUNS = [run for run in RESULTS["runs"] if "left_out" not in run]
NAMES = sorted(path.stem.removeprefix("bench_") for path in BENCHMARKS.glob("bench_*.py"))


@pytest.fixture(scope="module")
def bench():
    """The harness and the program, as modules of their own folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        yield importlib.import_module("harness"), importlib.import_module("run")


@pytest.mark.parametrize("name", others_slow(NAMES))
def test_every_task_of_a_question_does_its_work(bench, name, tmp_path, monkeypatch):
    harness, _ = bench
    monkeypatch.setenv(harness.FILES, str(tmp_path))
    question = harness.load(name)
    here = [task for task in question.tasks if not question.task(task).lacks() and "spark" not in task]
    found = [
        harness.measure(question, task, harness.TINY, 1) for task in here if question.task(task).needs != "pycanon"
    ]
    assert found
    assert all(len(each["seconds"]) == 1 and each["seconds"][0] > 0 and each["peak_mb"] > 1 for each in found)
    answers = {each["answer"] for each in found} - {None}
    assert bool(answers) == (question.answer is not None)
    assert len(answers) == 1 or not question.agree
    assert len(question.sizes) == 4
    assert list(question.sizes) == sorted(question.sizes)


def test_all_scripts_are_questions_of_the_program(bench):
    assert sorted(bench[1].NAMES) == NAMES


@pytest.mark.slow
def test_the_program_writes_what_it_measured(tmp_path):
    out = tmp_path / "r.json"
    command = [sys.executable, BENCHMARKS / "run.py", "wildcard", "--sizes", "50", "100", "400", "--repeats", "2"]
    subprocess.run([*command, "--out", out], check=True, timeout=PATIENCE, capture_output=True)
    found = json.loads(out.read_text("utf-8"))
    assert {(run["task"], run["size"], len(run["seconds"])) for run in found["runs"]} == {
        (task, size, 2) for task in ("five keys, gaps in each", "eight keys, gaps in five") for size in (50, 100, 400)
    }
    assert [(fit["question"], fit["sizes"]) for fit in found["fits"]] == [("wildcard", 3)] * 2
    assert found["made"].keys() == RESULTS["made"].keys()
    assert list(tmp_path.iterdir()) == [out]


@given(st.floats(-0.5, 3), st.floats(1e-6, 1e3), st.lists(st.integers(1, 10**9), min_size=2, unique=True))
def test_the_exponent_is_that_of_a_power(bench, power, factor, sizes):
    runs = [{"size": size, "seconds": [factor * size**power]} for size in sorted(sizes)]
    assert bench[1].exponent(runs) == pytest.approx(power, abs=1e-6)
    following = 2 * runs[-1]["size"]
    assert bench[1].expected(following, runs) == pytest.approx(
        factor * runs[-1]["size"] ** power * 2 ** max(0.0, power), rel=1e-4
    )


def test_a_size_that_would_take_too_long_is_left_out_unless_it_is_asked_for(bench, monkeypatch):
    _, run = bench
    monkeypatch.setattr(
        run, "in_a_process", lambda name, task, size, *_: {"seconds": [size / 6_000], "peak_mb": 1, "answer": None}
    )
    sizes = [30_000, 90_000, 240_000, run.load("microaggregation").large]
    rows = [row for row in run.ask("microaggregation", sizes, 1, "") if row["task"] == "MDAV"]
    assert [row["size"] for row in rows if "seconds" in row] == [sizes[0], sizes[1], sizes[3]]
    assert [(row["size"], row["left_out"]) for row in rows if "left_out" in row] == [(sizes[2], "would take some 40 s")]


def test_another_answer_is_noticed(bench, monkeypatch, capsys):
    _, run = bench
    answers = iter(["a", "a", "b", None, "a", "a"])
    monkeypatch.setattr(run, "in_a_process", lambda *_: {"seconds": [1], "peak_mb": 1, "answer": next(answers, "a")})
    rows = run.ask("classes", [10], 1, "")
    assert [row["task"] for row in rows if row.get("differs")] == [list(run.load("classes").tasks)[2]]
    assert "DIFFERS" in capsys.readouterr().out


def test_the_kept_results_say_on_what_and_when():
    made = RESULTS["made"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", made["date"])
    assert all(made[name] for name in ("commit", "processor", "cores", "memory_gb", "system", "python", "packages"))
    assert all(made[name] >= 0 for name in ("load", "minutes", "others"))


def test_the_kept_results_have_seconds_and_memory_of_every_run():
    for run in RUNS:
        assert run["size"] > 0
        assert 1 <= len(run["seconds"]) <= 5
        assert all(each > 0 for each in run["seconds"])
        assert run["peak_mb"] > 1
        assert not run.get("differs")
    assert all("left_out" in run or run in RUNS for run in RESULTS["runs"])
    assert {(run["question"], run["task"]) for run in RESULTS["runs"]} == {
        (fit["question"], fit["task"]) for fit in RESULTS["fits"]
    }


def test_the_page_shows_every_question_that_was_asked():
    page = (ROOT / "book" / "speed.md").read_text("utf-8")
    shown = set(re.findall(r"^```\{glue\} (\S+)$", page, flags=re.MULTILINE)) - {"overview", "left-out"}
    assert shown == {each["question"] for each in RESULTS["questions"]} == {run["question"] for run in RUNS}
    assert shown == set(NAMES)
