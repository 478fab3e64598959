"""Marked values of every kind of column, searched for in every byte of whatever a report leaves and says."""

import html
import json
import os
import signal
import subprocess
import sys
import time

import canaries
import numpy as np
import pandas as pd
import pytest
from processes import PATIENCE, hear_signals

from kanon_lab import files
from kanon_lab.cli import run
from kanon_lab.errors import KanonLabError, StorageError
from kanon_lab.recipes.yaml_file import parse_yaml
from kanon_lab.report import build, make_report, open_run, read_config
from kanon_lab.report.analysis import analyse
from kanon_lab.show import page as figures

# Begins every Python that is started with this folder on its path; only the kernel of a report fails by it.
SABOTAGE = """
import sys
if any("ipykernel" in each for each in sys.orig_argv):
    import logging, warnings
    from kanon_lab.report import analysis, sections
    section, analyse = sections.section, analysis.analyse

    def remembering(file, config, **options):
        sections.frame = file.frame
        return analyse(file, config, **options)

    def failing(found, name, language):
        if name == "diversity":
            print(sections.frame.to_string())
            print(sections.frame.head(), file=sys.stderr)
            warnings.warn(str(sections.frame.iloc[0].tolist()))
            logging.getLogger().error(str(sections.frame.iloc[1].tolist()))
            first = sections.frame["name"].iloc[0]
            raise ValueError(f"cannot use {first}", sections.frame.iloc[2].tolist()) from KeyError(first)
        return section(found, name, language)

    analysis.analyse, sections.section = remembering, failing
"""


@pytest.fixture(scope="module")
def failed(tmp_path_factory):
    """A report that failed by an error, output and warnings that quote the data: what was said, and its folder."""
    folder = tmp_path_factory.mktemp("failed")
    reports = canaries.Reports(folder)
    reports.write()
    (folder / "sitecustomize.py").write_text(SABOTAGE)
    temporary = folder / "tmp"
    temporary.mkdir()
    found = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": found, "TMPDIR": str(temporary)}
    asked = [*command(reports), "--set", "map="]  # it fails before it shows one
    done = subprocess.run(asked, capture_output=True, text=True, env=environment, timeout=PATIENCE)
    return done, reports, temporary


def command(reports):
    made = [sys.executable, "-m", "kanon_lab", "report", reports.inputs / "survey.csv", "--json"]
    return [*map(str, made), "--config", str(reports.inputs / "r.yml"), "--out", str(reports.outputs / "en.html")]


@pytest.fixture
def survey(tmp_path):
    """The inputs alone."""
    reports = canaries.Reports(tmp_path)
    reports.write()
    return reports


@pytest.mark.parametrize("language", ["en", "es"])
def test_a_report_and_its_notebook_hold_no_marked_value(canary_reports, language):
    page = canary_reports.page(language)
    assert canaries.leaks(page.read_bytes(), page=True) == []
    assert canaries.leaks(page.with_suffix(".ipynb").read_bytes()) == []
    assert canaries.leaks(page.with_suffix(".said").read_bytes()) == []
    assert canaries.told_together(page.read_text("utf-8")) == []


def test_what_is_not_secret_is_there_and_stays_text(canary_reports):
    """So that the search is one of a whole report: common categories, and texts that would be markup, escaped."""
    text = canary_reports.page("en").read_text("utf-8")
    for common in ["North", "51001", canaries.SCRIPT, canaries.COLUMN, "Canaries <i>zqtitle</i>"]:
        assert html.escape(common) in text
    assert f"{canaries.RECORDS} records" in text
    assert "survey.csv" in text


def test_a_report_is_private(canary_reports):
    assert canary_reports.page("en").stat().st_mode & 0o777 == 0o600


def test_the_search_finds_what_it_searches_for(survey):
    content = (survey.inputs / "survey.csv").read_bytes()
    found = set(canaries.leaks(content, page=True))
    frame = canaries.a_file()
    for name in ("number", "home", "weight", "income"):
        assert set(map(str, frame[name])) <= found
    assert {"ZQ", "2087-", "587331", canaries.SCRIPT, canaries.COLUMN} <= found
    rows = "<tr><td>North</td><td>51001</td></tr><tr><td>North</td></tr>"
    assert len(canaries.told_together(rows)) == 1
    spec = '<script class="s" type="application/json">{"data": [{"a": "North", "b": "Plain"}, {"a": "East"}]}</script>'
    assert len(canaries.told_together(spec)) == 1


def test_a_failure_says_its_step_and_nothing_else(failed):
    done, reports, _ = failed
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "ValueError" in done.stderr
    assert "show diversity" in done.stderr
    assert "en.failed.ipynb" in done.stderr
    assert canaries.leaks(done.stderr) == []


def test_the_notebook_kept_of_a_failure_holds_no_marked_value(failed):
    _, reports, temporary = failed
    assert [path.name for path in reports.outputs.iterdir()] == ["en.failed.ipynb"]
    assert list(temporary.iterdir()) == []
    kept = reports.outputs / "en.failed.ipynb"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert canaries.leaks(kept.read_bytes()) == []
    cells = json.loads(kept.read_text("utf-8"))["cells"]
    errors = [output for cell in cells for output in cell.get("outputs", []) if output["output_type"] == "error"]
    assert [error["ename"] for error in errors] == ["StepError"]
    assert sum(bool(cell.get("outputs")) for cell in cells) > 3  # those that ran are kept


def test_an_interrupted_report_leaves_nothing(survey, tmp_path):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    process = subprocess.Popen(
        command(survey),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(temporary)},
        preexec_fn=hear_signals,
    )
    begun = time.monotonic()
    while not list(temporary.glob("kanon-lab-*/steps.txt")) and time.monotonic() < begun + PATIENCE:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    try:
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert (process.returncode, out) == (130, b"")
    assert err == b"kanon-lab: interrupted\n"
    assert list(survey.outputs.iterdir()) == []
    assert list(temporary.iterdir()) == []


def test_a_full_disk_leaves_nothing(canary_reports, survey, monkeypatch):
    """The notebook has run; the page finds no place."""
    executed = canary_reports.page("en").with_suffix(".ipynb")
    monkeypatch.setattr(build, "_executed", lambda *_: executed)
    monkeypatch.setattr(figures, "script", str)
    monkeypatch.setattr(files.Path, "write_text", no_space)
    with pytest.raises(StorageError) as caught:
        make_report(survey.inputs / "survey.csv", read_config(survey.inputs / "r.yml"), survey.outputs / "en.html")
    assert "en.html" in str(caught.value)
    assert canaries.leaks(str(caught.value)) == []
    assert list(survey.outputs.iterdir()) == []


def no_space(*_, **__):
    raise OSError(28, "No space left on device", f"/{canaries.FOLDER}/draft")


def spoilt(**columns):
    """The survey with some columns replaced."""
    return canaries.a_file().assign(**columns)


FRAME = canaries.a_file()
SPOILT = {
    "weight of text": ({"weight": [f"ZQ{i}" for i in range(canaries.RECORDS)]}, {}),
    "weight missing": ({"weight": FRAME["weight"].mask(FRAME["age"] == 37)}, {}),
    "weight negative": ({"weight": -FRAME["weight"]}, {}),
    "weight below 1": ({"weight": FRAME["weight"] / 1e5}, {}),
    "weight endless": ({"weight": FRAME["weight"].replace(101.37, np.inf)}, {}),
    "household missing": ({"home": FRAME["home"].mask(FRAME["age"] == 37)}, {}),
    "income of text": ({"income": [f"ZQ{i}" for i in range(canaries.RECORDS)]}, {}),
    "value in no group": ({}, {"steps": [{"recode": {"variable": "job", "groups": {"a": ["clerk"]}}}]}),
    "age of text": ({"age": [f"ZQ{i}" for i in range(canaries.RECORDS)]}, {}),
    "age outside": ({}, {"steps": [{"recode": {"variable": "age", "bands": [0, 50]}}]}),
    "no date": ({}, {"steps": [{"recode": {"variable": "note", "dates": "year"}}]}),
    "another date": ({}, {"steps": [{"recode": {"variable": "born", "dates": "age", "reference": "2020-01-01"}}]}),
    "key missing": ({"region": FRAME["region"].mask(FRAME["age"] == 37)}, {"missing": "error"}),
    "identifier left": ({"code": FRAME["name"]}, {}),
    "micro of text": ({}, {"steps": [{"microaggregate": {"variables": ["note"], "k": 3}}]}),
    "top code of text": ({}, {"steps": [{"top_code": {"variable": "note", "above": 3}}]}),
    "pram without k": ({}, {"steps": [{"pram": {"variable": "code"}}]}),
    "rate of none": ({}, {"indicators": {"rates": {"illness": ["ZQNONE"]}}}),
    "mean of text": ({}, {"indicators": {"means": ["note"]}}),
}


@pytest.mark.parametrize("name", SPOILT)
def test_errors_of_bad_values_quote_none_of_them(tmp_path, monkeypatch, name):
    """What the kernel would do, in this process; an error that was not foreseen loses its words (`Run.step`)."""
    columns, settings = SPOILT[name]
    (tmp_path / canaries.FOLDER).mkdir()
    spoilt(**columns).to_csv(tmp_path / canaries.FOLDER / "survey.csv", index=False)
    monkeypatch.chdir(tmp_path)
    configuration = {**parse_yaml(canaries.CONFIG, "c"), "map": None, "title": "t", **settings}
    try:
        made = open_run(
            str(tmp_path / canaries.FOLDER / "survey.csv"), configuration, called="r.yml", steps="steps.txt"
        )
        with made.step("measure"):
            found = vars(analyse(made.file, made.config, progress=made.say))
            said = repr([each for each in found.values() if not isinstance(each, pd.DataFrame)])
    except KanonLabError as error:
        said = str(error)
        assert said.count("\n") == 0
        assert not said.startswith("an unexpected"), f"{name}: {said}"
    said += (tmp_path / "steps.txt").read_text()
    assert canaries.leaks(said.replace("ZQNONE", "")) == []


@pytest.mark.parametrize(
    "setting",
    [
        *["weight=absent", "k_required=0", "steps=[{nothing: {}}]"],
        *["direct_identifiers=[absent]", "least=2", "map={grid: {}}", "key_variables=[name]", "missing_codes=[1]"],
    ],
)
def test_a_bad_configuration_is_said_by_names_only(survey, capsys, monkeypatch, setting):
    monkeypatch.setattr(build, "_executed", lambda folder, parameters, *_: opened_here(folder, parameters, monkeypatch))
    args = [str(survey.inputs / "survey.csv"), "--config", str(survey.inputs / "r.yml"), "--set", setting]
    assert run(["report", *args, "--out", str(survey.outputs / "en.html"), "--json"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert canaries.leaks(err) == []
    assert list(survey.outputs.iterdir()) == []


def opened_here(folder, parameters, monkeypatch):
    """What the notebook begins with, in this process."""
    options = parameters.pop("options")
    monkeypatch.chdir(folder)
    open_run(**parameters, **options)
    pytest.fail("the configuration was taken")
