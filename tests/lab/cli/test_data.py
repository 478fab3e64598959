"""The command as a user meets it: what it prints, where, and its exit code."""

import json
import os
import subprocess
import sys
from importlib.metadata import version

import pandas as pd
import pytest
from cases import others_slow

from kanon_lab.cli import run
from kanon_lab.cli.output import print_json, print_parts
from kanon_lab.errors import NetworkError
from kanon_lab.show.parts import Table


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setattr("kanon_lab.files.cache_folder", lambda: tmp_path)
    return tmp_path


def command(*args, **options):
    return subprocess.run([sys.executable, "-m", "kanon_lab", *args], capture_output=True, text=True, **options)


def test_the_module_is_the_command():
    done = command("--version")
    assert done.returncode == 0
    assert done.stdout == f"kanon-lab {version('kanon-lab')}\n"


@pytest.mark.parametrize("statement", ["import kanon_lab", "import kanon_lab.cli, kanon_lab.cli.counts"])
def test_importing_loads_nothing_heavy(statement):
    code = f"{statement}; import sys; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "pandas", "scipy", "requests", "altair"} & set(loaded)


def test_public_names_load_when_used():
    code = "import kanon_lab as k; k.load_counts, k.KanonLabError; print(k.__version__, *dir(k))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {version("kanon-lab"), "catalogue", "read_counts"} <= set(done.stdout.split())


@pytest.mark.parametrize("args", [[], ["data"], ["--help"], ["data", "-h"], ["data", "list", "--help"]])
def test_help(args, capsys):
    assert run(args) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("Usage: kanon-lab")
    assert printed.err == ""


@pytest.mark.parametrize("name", ["list", "fetch", "path"])
def test_every_command_shows_an_example(name, capsys):
    assert run(["data", name, "--help"]) == 0
    assert f"Example: kanon-lab data {name}" in capsys.readouterr().out


def test_list(capsys, empty_cache):
    assert run(["data", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["name", "kind", "licence", "size", "sha256", "present"]
    assert lines[1].startswith("spain-2010 ")
    assert run(["data", "list", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert list(rows["spain-2010"]) == lines[0].split()
    assert len(rows["spain-2010"]["sha256"]) == 64
    assert rows["ine-33570"]["present"] is False
    assert rows["ine-33570"]["sha256"] is None


def test_path(capsys):
    assert run(["data", "path", "spain-2010"]) == 0
    path = capsys.readouterr().out.strip()
    assert path.endswith("spain-2010.csv.gz")
    assert run(["data", "path", "spain-2010", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["path"] == path


def test_fetch_of_what_is_there(capsys):
    assert run(["data", "fetch", "spain-2010", "--json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["name"] == "spain-2010"
    assert "already there" in printed.err


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (NetworkError("no network"), 2, "no network"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (MemoryError(), 2, "not enough memory"),
        (OSError(28, "No space left on device", "somewhere"), 2, "no space left on the disk for somewhere"),
    ],
)
def test_what_stops_a_command_is_one_line(monkeypatch, capsys, error, code, line):
    def stop(*args, **options):
        raise error

    monkeypatch.setattr("kanon_lab.data.sets.fetch", stop)
    assert run(["data", "fetch", "ine-33570"]) == code
    printed = capsys.readouterr()
    assert printed.err.startswith(f"kanon-lab: {line}")
    assert printed.err.count("\n") == 1
    assert printed.out == ""


def test_a_defect_keeps_its_traceback(monkeypatch):
    def fail(*args, **options):
        raise PermissionError(13, "a defect of ours")

    monkeypatch.setattr("kanon_lab.data.sets.fetch", fail)
    with pytest.raises(PermissionError):
        run(["data", "fetch", "ine-33570"])


@pytest.mark.parametrize("args", [["data", "list"], ["--help"], ["--version"]])
def test_a_closed_output(args):
    closing = ["sh", "-c", 'exec "$@" >&-', "sh", sys.executable, "-m", "kanon_lab", *args]
    done = subprocess.run(closing, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr == "kanon-lab: standard output is closed; leave it open, or send it to a file\n"


@pytest.mark.parametrize("more", others_slow([[], ["--json"]]))
def test_letters_that_the_output_cannot_encode(tmp_path, more):
    (tmp_path / "counts.csv").write_text("place,name,sex,age_group,persons\n29025,Łódź,men,0-4,3\n", encoding="utf-8")
    args = ["population", "counts.csv", "--place", "29025", *more]
    done = command(*args, cwd=tmp_path, env={**os.environ, "PYTHONIOENCODING": "latin1"}, encoding="latin1")
    assert done.returncode == 0
    assert r"\u0141\xf3d\u017a" in done.stdout.replace(r"\u00f3", r"\xf3").replace("ó", r"\xf3")
    assert not more or json.loads(done.stdout)["rows"][0]["name"] == "Łódź"


def test_a_reader_that_has_seen_enough_is_no_error():
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        done = subprocess.run(
            [sys.executable, "-m", "kanon_lab", "data", "list"], stdout=closed, stderr=subprocess.PIPE, text=True
        )
    assert done.stderr == ""


def test_numbers_and_missing_values_as_text(capsys):
    frame = pd.DataFrame({"place": ["01001", None], "n": pd.array([61383, None], dtype="Int64"), "share": [0.5, 1 / 3]})
    print_parts(Table(frame.assign(fitted=[True, False]), formats={"share": ".1%"}))
    assert capsys.readouterr().out == (
        "place      n  share  fitted\n01001  61383  50.0%  yes\n-          -  33.3%  no\n"
    )


def test_json_has_null_for_what_is_not_a_number(capsys):
    frame = pd.DataFrame({"k_to": pd.array([1, None], dtype="Int64"), "name": ["Málaga", None]})
    print_json({"b": float("nan"), "a": [frame["k_to"].to_numpy(float), float("inf"), True], "rows": frame})
    assert json.loads(capsys.readouterr().out) == {
        "b": None,
        "a": [[1.0, None], None, True],
        "rows": [{"k_to": 1, "name": "Málaga"}, {"k_to": None, "name": None}],
    }
