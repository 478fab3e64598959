"""``kanon-lab report``: where pages go, what is printed, exit codes. The pages are tested in tests/lab/report."""

import json

import pytest

from kanon_lab import report
from kanon_lab.cli import output, run
from kanon_lab.errors import DataError
from kanon_lab.report import Report

CONFIG = "key_variables: [region, age]\nk_required: 3\n"


def limit(name, bound, limit, value, met):
    return {
        **{"name": name, "variable": None, "level": None, "limit": limit, "bound": bound},
        **{"value": value, "met": met, "records": None, "columns": ["mail"] if name == "unassigned_columns" else []},
        "advice": None if met else f"mend {name}",
    }


VERDICT = {
    "limits": [
        limit("k", "at least", 3, 2, False),
        limit("global_risk", "at most", 0.02, 0.011, True),
        limit("household_risk", "at most", 0.05, None, True),
        limit("unassigned_columns", "at most", 0, 1, False),
    ],
    "met": False,
    "cautions": [{"key": "perturbed", "count": None, "columns": ["age"], "text": "age was perturbed"}],
}


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Pages asked for, in a folder with configurations a.yml and b.yml; none is made."""
    asked = []

    def make_report(file, config, out, *, progress, **options):
        asked.append((file, config.language, out))
        if config.title == "fails":
            raise DataError("survey.csv: has no records (step: read the file)")
        out.write_text("page")
        verdict = VERDICT | {"met": True, "cautions": []} if config.title == "met" else VERDICT
        return Report(out, {"file": file, **config.shown}, 1.25, verdict)

    monkeypatch.setattr(report, "make_report", make_report)
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        (tmp_path / f"{name}.yml").write_text(CONFIG)
    return asked


def command(*options, out="r.html", configs=("a.yml",)):
    return run(["report", "survey.csv", *(each for c in configs for each in ("--config", c)), "--out", out, *options])


def test_json_has_page_parameters_seconds_and_verdict(made, capsys):
    assert command("--json", "--set", "language=es") == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown == {
        "audience": "office",
        "report": "r.html",
        "config": "a.yml",
        "parameters": {
            "file": "survey.csv",
            "key_variables": ["region", "age"],
            "k_required": 3,
            "language": "es",
            "seed": 0,
        },
        "seconds": 1.25,
        "engine": "memory",
        **VERDICT,
        "protected": None,
        "notes": [],
    }


def test_people_read_the_verdict_in_a_line_a_limit(made, capsys):
    assert command() == 0
    assert capsys.readouterr().out.splitlines() == [
        "r.html: 4 bytes, 1.2 s (a.yml)",
        "  NOT MET  k (for an intruder who knows the true keys): 2, to be at least 3",
        "           mend k",
        "  met      global risk: 1.1%, to be at most 2%",
        "  met      household risk: not known, to be at most 5%",
        "  NOT MET  released columns without a role (mail): 1, to be at most 0",
        "           mend unassigned_columns",
        "  caution  age was perturbed",
    ]


def test_exit_code_is_3_where_asked_and_a_limit_is_not_met(made, capsys):
    assert command("--fail") == 3
    shown = capsys.readouterr()
    assert shown.out.startswith("r.html: 4 bytes")
    assert shown.err == "kanon-lab: a limit is not met (--fail)\n"
    assert command("--fail", "--set", "title=met") == 0


def test_a_caution_ends_the_command_with_3_where_asked(made, capsys):
    assert command("--fail-on-cautions") == 3
    assert capsys.readouterr().err == "kanon-lab: 1 caution in the result (--fail-on-cautions)\n"
    assert command("--fail", "--fail-on-cautions") == 3
    assert capsys.readouterr().err == "kanon-lab: a limit is not met (--fail)\n"
    assert command("--fail-on-cautions", "--set", "title=met") == 0


def test_where_nothing_can_be_printed_the_line_says_that_the_page_is_there(made, monkeypatch, capsys):
    def fail(result):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(output, "print_json", fail)
    monkeypatch.setattr(output, "drop_output", lambda: None)
    assert command("--json") == 2
    said = "standard output cannot be written (No space left on device); the report is there: r.html"
    assert capsys.readouterr().err == f"kanon-lab: {said}\n"


@pytest.mark.parametrize("out", ["new/", "old", "{name}.html", "old/x-{name}.html"])
def test_many_configurations_make_many_pages(made, tmp_path, capsys, out):
    (tmp_path / "old").mkdir()
    assert command("--json", configs=("a.yml", "b.yml"), out=out) == 0
    rows = json.loads(capsys.readouterr().out)["reports"]
    assert [row["config"] for row in rows] == ["a.yml", "b.yml"]
    pages = {
        "new/": "new/{}.html",
        "old": "old/{}.html",
        "{name}.html": "{}.html",
        "old/x-{name}.html": "old/x-{}.html",
    }
    assert [row["report"] for row in rows] == [pages[out].format(name) for name in "ab"]
    assert all((tmp_path / row["report"]).is_file() for row in rows)
    if out == "new/":
        assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700


def test_one_that_fails_does_not_stop_the_others(made, tmp_path, capsys):
    (tmp_path / "a.yml").write_text(f"{CONFIG}title: fails\n")
    assert command("--json", "--fail", configs=("a.yml", "b.yml"), out="{name}.html") == 2
    shown = capsys.readouterr()
    assert [row["report"] for row in json.loads(shown.out)["reports"]] == ["b.html"]
    assert shown.err == "kanon-lab: a.yml: survey.csv: has no records (step: read the file)\n"
