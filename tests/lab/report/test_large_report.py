"""The report on a file that an engine counts: the whole command, its page, and the protected file beside it."""

import html
import json
import re
from dataclasses import replace
from pathlib import Path

import canaries
import pytest
import test_report_analysis as surveys
from cases import others_slow

from kanon_lab.cli import run
from kanon_lab.engines import source
from kanon_lab.engines.release import opened_records
from kanon_lab.recipes.streamed import counting
from kanon_lab.recipes.yaml_file import dump_yaml
from kanon_lab.report import analyse, as_config, build, read_config, section
from kanon_lab.report.words import texts

#: Limits that an engine does not count where keys are suppressed.
UNKNOWN = ["exposed_by_columns", "shown_by_neighbours", "identifiers_found"]
CONFIG = {
    **surveys.SETTINGS,
    "limits": {"k": 3, "global_risk": 0.2},
    "steps": [{"recode": {"variable": "age", "width": 20}}, {"suppress": {}}],
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to work in, with a survey and a configuration in it."""
    surveys.survey().to_csv(tmp_path / "survey.csv", index=False)
    (tmp_path / "r.yml").write_text(dump_yaml(CONFIG))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command(*options, file="survey.csv"):
    return run(["report", file, "--config", "r.yml", "--out", "r.html", "--engine", "duckdb", *options])


def inside(folder):
    return sorted(path.name for path in folder.iterdir())


def plain(page):
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())


@pytest.mark.parametrize("language", others_slow(["en", "es"]))
def test_page_and_protected_file_of_counts(folder, capsys, language):
    assert command("--protected", "public.csv", "--set", f"language={language}", "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["engine"] == "duckdb" and not shown["met"]
    assert [limit["name"] for limit in shown["limits"] if limit["value"] is None] == UNKNOWN
    assert any(f"not known, so not met: the limit {', '.join(UNKNOWN)};" in note for note in shown["notes"])
    assert inside(folder) == ["public.csv", "r.html", "r.yml", "survey.csv"]
    page = plain((folder / "r.html").read_text("utf-8"))
    titles = {f"h_{name}": texts()[f"h_{name}"][language] for name in ("variables", "utility", "release", "left")}
    for key in ("columns", "identifiers", "households", "loss", "indicators", "map", "remedy", "caution"):
        said = texts()[f"left_{key}"][language]
        assert said.format(title=titles["h_left"], **{k.removeprefix("h_"): v for k, v in titles.items()}) in page
    for key in ("v_unknown", "utility_left", "notes_left"):
        assert texts()[key][language] in page
    assert texts()["identifiers_dropped"][language].format(names="id") in page
    assert not [mark for mark in surveys.RARE if mark in page]
    assert run(["protect", "survey.csv", "--recipe", "r.yml", "--out", "p.csv", "--engine", "duckdb"]) == 0
    assert (folder / "p.csv").read_bytes() == (folder / "public.csv").read_bytes()
    assert shown["protected"]["records"] == 900


def test_what_is_left_out_is_what_was_asked_for(folder):
    settings = {name: CONFIG[name] for name in ("key_variables", "weight", "steps", "limits")}
    settings["steps"] = [*CONFIG["steps"][:1], {"suppress": {"claim": "true_key"}}]
    (folder / "r.yml").write_text(
        dump_yaml({**settings, "limits": {"k": 3, **{name: None for name in as_config(CONFIG).limits if name != "k"}}})
    )
    assert command("--fail") == 0
    page = plain((folder / "r.html").read_text("utf-8"))
    for key in ("identifiers", "households", "indicators", "map"):
        assert texts()[f"left_{key}"]["en"].partition(" (")[0].partition(":")[0] not in page
    assert texts()["all_met"]["en"] in page


def test_with_fail_the_page_alone_is_written(folder, capsys):
    assert command("--fail", "--protected", "public.csv") == 3
    assert "not written: public.csv" in capsys.readouterr().err
    assert inside(folder) == ["r.html", "r.yml", "survey.csv"]


@pytest.mark.parametrize("broken", others_slow(["page", "replace"]))
def test_neither_appears_where_one_cannot_be_written(folder, monkeypatch, capsys, broken):
    def no_space(*_, **__):
        raise OSError(28, "No space left on device")

    write_page = build._write
    if broken == "page":
        monkeypatch.setattr(build, "_write", no_space)
    else:
        (folder / "public.csv").write_text("other\n")
    assert command("--protected", "public.csv") == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert inside(folder) == (["public.csv"] if broken == "replace" else []) + ["r.yml", "survey.csv"]
    monkeypatch.setattr(build, "_write", write_page)
    assert command("--protected", "public.csv", "--overwrite") == 0
    assert (folder / "public.csv").read_text() != "other\n"


def test_a_folder_of_parts_is_counted_and_auto_says_so(folder, capsys):
    frame = surveys.survey()
    (folder / "parts").mkdir()
    for number, rows in enumerate((frame[:500], frame[500:])):
        rows.to_csv(folder / "parts" / f"part-{number}.csv", index=False)
    assert run(["report", "parts", "--config", "r.yml", "--out", "r.html", "--internal"]) == 0
    assert "counted by duckdb, since it is large" in capsys.readouterr().err
    page = (folder / "r.html").read_text("utf-8")
    assert '<p class="kanon-banner" role="note">' in page and 'id="internal"' in page
    told = plain(page[page.index('id="internal"') :])
    assert (
        "old category new category records 16 0-19 20" in told and "region sex age f_k F_k records" in told
    )  # what each category became, and the riskiest classes
    assert not re.search("ID-0", page)


def test_a_quantity_that_is_text_is_refused_as_in_memory(folder, capsys):
    surveys.survey().assign(income="ZQ").to_csv("survey.csv", index=False)
    assert command() == 2
    said = capsys.readouterr().err
    assert "column income: in some records: text, but numbers are needed" in said and "ZQ" not in said


def test_nothing_is_written_into_a_folder_that_is_read(folder, capsys, monkeypatch):
    monkeypatch.setattr(build, "_executed", lambda *_: pytest.fail("it ran"))
    (folder / "parts").mkdir()
    (folder / "survey.csv").rename(folder / "parts" / "a.csv")
    (folder / "link").symlink_to("parts")
    before = (folder / "parts" / "a.csv").read_bytes()
    report = ["report", "parts", "--config", "r.yml", "--engine", "duckdb"]
    protect = ["protect", "parts", "--recipe", "r.yml", "--engine", "duckdb", "--overwrite"]
    saved = ["measure", "parts", "--keys", "sex", "--save-classes", "parts/counts.parquet"]
    for command in (
        *(
            [*report, "--out", "r.html", "--protected", f"{place}", "--overwrite"]
            for place in ("parts/a.csv", "link/b.csv")
        ),
        [*report, "--out", "parts/r.html"],
        *([*protect, "--out", place] for place in ("parts/a.csv", "link/b.csv")),
        saved,
    ):
        assert run(command) == 2
        assert "the output path is in the folder of the input; choose another place" in capsys.readouterr().err
    assert inside(folder / "parts") == ["a.csv"] and (folder / "parts" / "a.csv").read_bytes() == before


def test_auto_takes_memory_where_an_engine_does_not_do_it(folder, capsys, monkeypatch):
    monkeypatch.setattr(source, "_LARGE", 10)
    config = CONFIG | {"map": None, "steps": [{"round": {"variable": "weight", "base": 5}}]}
    (folder / "r.yml").write_text(dump_yaml(config))
    assert run(["report", "survey.csv", "--config", "r.yml", "--out", "r.html", "--json"]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["engine"] == "memory" and shown.err == ""


def test_a_csv_file_without_names_is_refused(folder, capsys):
    frame = surveys.survey()[["region", "sex", "age", "income"]]
    frame.columns = ["region", "sex", "age", "4061.8"]
    frame.to_csv("survey.csv", index=False)
    (folder / "r.yml").write_text(dump_yaml({"key_variables": ["region", "sex"]}))
    assert command() == 2
    assert "row 1 holds no names of columns" in capsys.readouterr().err
    assert "r.html" not in inside(folder)


def test_the_page_holds_no_marked_value(tmp_path, capsys):
    """Attack: marked values in every column, searched for in all that the command makes and says."""
    reports = canaries.Reports(tmp_path)
    reports.write()
    out = reports.outputs / "en.html"
    made = ["report", str(reports.inputs / "survey.csv"), "--config", str(reports.inputs / "r.yml"), "--out", str(out)]
    assert run([*made, "--engine", "duckdb", "--json"]) == 0
    page = out.read_text("utf-8")
    assert canaries.leaks(page, page=True) == [] and canaries.told_together(page) == []
    assert canaries.leaks(capsys.readouterr().err) == []
    assert html.escape(canaries.SCRIPT) in page and html.escape(canaries.COLUMN) in page
    assert json.loads(json.dumps(read_config(reports.inputs / "r.yml").settings["map"]))  # left out, not refused
    assert 'id="map"' not in page
    assert inside(reports.outputs) == ["en.html"]


@pytest.mark.parametrize("internal", [False, True])
def test_sections_of_counts_are_those_of_records(folder, internal):
    """A public page hides of counts what it hides of records: these sections are the same to the letter."""
    config = as_config({**CONFIG, "map": None, "indicators": None, "limits": {"k": 3, **dict.fromkeys(UNKNOWN)}})
    asked = counting(config.recipe, config.recipe.spec.numeric_variables)
    by_memory = analyse(surveys.survey(), config, name="survey.csv", internal=internal)
    with opened_records(Path("survey.csv"), engine="duckdb", **asked) as records:
        by_engine = analyse(records, config, name="survey.csv", internal=internal)
    if internal:  # columns that are no keys are not counted
        by_memory = replace(by_memory, office=replace(by_memory.office, as_keys=None))
    for name in ("classes", "riskiest", "diversity", *(["internal"] if internal else [])):
        one, other = (
            [getattr(part, "html", None) or part.spec for part in section(each, name, "es")]
            for each in (by_engine, by_memory)
        )
        assert one == other, name
