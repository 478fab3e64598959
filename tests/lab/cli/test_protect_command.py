"""``kanon-lab protect``."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pyreadstat
import pytest
from cases import others_slow

from kanon_lab import read_microdata
from kanon_lab.cli import run
from kanon_lab.data import data_path, read_file, writing
from kanon_lab.recipes import read_recipe

FORMATS = ["csv", "csv.gz", "parquet", "xlsx", "sav", "dta"]
RECIPE = """
key_variables: [region, sex, age]
weight: w
household: hh
direct_identifiers: [name]
k_required: 3
seed: 0
household_level:
  key_variables: [region]
  steps:
    - suppress:
steps:
  - recode: {variable: age, bands: [0, 15, 30, 45, 60, 75, null], closed: left}
  - shuffle_members: {line_number: line}
  - suppress: {importance: {sex: 1, region: 2, age: 3}, claim: true_key}
"""


def a_file():
    """120 persons in 40 households, with gaps in keys and a text that must never be printed."""
    homes = [i % 40 for i in range(120)]
    frame = pd.DataFrame(
        {
            "name": [f"SECRET Person {i}" for i in range(120)],
            "region": [None if home == 3 else f"r{home * 7 % 6}" for home in homes],
            "sex": ["man" if i * 13 % 5 < 2 else "woman" for i in range(120)],
            "age": [None if i % 31 == 7 else i * 37 % 90 for i in range(120)],
            "w": [1 + i % 7 for i in range(120)],
            "hh": homes,
            "line": [1 + i // 40 for i in range(120)],
            "s": [["SECRET flu", "SECRET cold", None][i % 3] for i in range(120)],
        }
    )
    return frame.astype({"name": "str", "region": "str", "sex": "str", "s": "str", "age": "Int64"})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The same file in every format, and a recipe."""
    folder = tmp_path_factory.mktemp("survey")
    for form in FORMATS:
        writing.write_microdata(a_file(), folder / f"survey.{form}")
    (folder / "recipe.yml").write_text(RECIPE)
    return folder


@pytest.fixture
def recipe(tmp_path):
    def _recipe(text):
        (tmp_path / "other.yml").write_text(text)
        return tmp_path / "other.yml"

    return _recipe


def call(capsys, *args):
    """Exit code, standard output and standard error of one command."""
    code = run(["protect", *(str(arg) for arg in args)])
    out, err = capsys.readouterr()
    return code, out, err


def inside(folder):
    """Names of what is in a folder, hidden files too."""
    return sorted(path.name for path in folder.iterdir())


def protected(capsys, folder, out, *args, source="survey.csv"):
    code, text, err = call(capsys, folder / source, "--recipe", folder / "recipe.yml", "--out", out, "--json", *args)
    assert (code, err) == (0, "")
    return json.loads(text)


@pytest.mark.parametrize("form", others_slow(FORMATS))  # test_values.py has what every format holds
def test_every_format_is_protected_alike(capsys, folder, tmp_path, form):
    out = tmp_path / f"out.{form}"
    result = protected(capsys, folder, out, source=f"survey.{form}")
    chain = read_recipe(folder / "recipe.yml").apply(read_microdata(folder / f"survey.{form}"))
    released = read_microdata(out)
    assert (
        released.fillna("-").astype(str).to_numpy().tolist() == chain.frame.fillna("-").astype(str).to_numpy().tolist()
    )
    assert list(released.columns) == result["columns"] == ["region", "sex", "age", "w", "hh", "line", "s"]
    assert result["sha256"] == hashlib.sha256(out.read_bytes()).hexdigest()
    assert result["violations"]["wildcard"] == {"2": 0, "3": 0, "5": chain.state.measured.violations["wildcard"][5]}
    assert inside(tmp_path) == [out.name]
    again = tmp_path / f"again.{form}"
    repeated = protected(capsys, folder, again, source=f"survey.{form}")
    assert again.read_bytes() == out.read_bytes()
    if form == "csv":
        repeated = protected(capsys, folder, out, source=f"survey.{form}")
        assert repeated == result
    assert repeated["sha256"] == result["sha256"]


def test_json_holds_the_contract(capsys, folder, tmp_path):
    result = protected(capsys, folder, tmp_path / "out.csv")
    assert [step["name"] for step in result["steps"]] == ["household_level", "recode", "shuffle_members", "suppress"]
    measures = {"violations", "risk", "utility"}
    rows = {row["column"]: row for row in result["released"]}
    assert list(rows) == result["columns"]
    assert {name: row["role"] for name, row in rows.items()} == {
        **{"region": "key", "sex": "key", "age": "key", "w": "weight", "hh": "household"},
        **{"line": "no role", "s": "no role"},
    }
    assert set(rows["age"]) == {"column", "role", "cells_changed", "cells_suppressed", "distinct_values"}
    assert (rows["w"]["distinct_values"], rows["hh"]["distinct_values"]) == (None, 40)
    assert result["untouched"] == ["s"]
    assert (result["verdict"]["k"], result["verdict"]["met"], result["verdict"]["decisive"]) == (3, True, "true_key")
    assert [claim["claim"] for claim in result["verdict"]["claims"]] == ["compatible", "own_class", "true_key"]
    below = {claim["claim"]: claim["records"] for claim in result["verdict"]["claims"]}
    assert (below["compatible"], below["own_class"]) == tuple(each["3"] for each in result["violations"].values())
    assert measures == set(result["before"])
    for step in result["steps"]:
        assert measures | {"records_touched", "cells_changed", "cells_suppressed", "seed"} <= set(step)
        assert set(step["violations"]) == {"wildcard", "category"}
        assert set(step["risk"]["by_meaning"]) == {"wildcard", "category"}
        for found in step["risk"]["by_meaning"].values():
            assert set(found) == {"expected_reidentifications", "above"}
        assert set(step["risk"]["with_household_size"]) == {"classes", "k_achieved", "sample_uniques"}
        assert {"classes", "k_achieved", "global_risk", "expected_reidentifications", "household_risk"} <= set(
            step["risk"]
        )
        assert {"key_linkage", "numeric_linkage"} <= set(step["risk"])
        assert {"equal_cells", "granularity", "il1s", "table_distance", "indicators"} <= set(step["utility"])
        assert set(step["cells_changed"]) == set(step["cells_suppressed"]) >= {"region", "sex", "age"}
    homes, recode, shuffle, suppress = result["steps"]
    assert [step["name"] for step in homes["households"]["steps"]] == ["suppress"]
    assert recode["cells_changed"]["age"] == a_file()["age"].notna().sum()
    assert (shuffle["cells_changed"]["line"] > 0) and shuffle["seed"] is not None
    assert {claim["claim"] for claim in suppress["claims"]} == {"compatible", "own_class", "true_key"}
    certificate = {"cells": sum(suppress["cells_suppressed"].values()), "lower_bound": None, "above": None}
    assert suppress["certificate"] == {**certificate, "no_bound": "true_keys"} and recode["certificate"] is None
    assert result["violations"] == suppress["violations"]
    assert result["direct_identifiers"] == ["name"]
    assert "SECRET" not in json.dumps(result)


def test_a_suppressed_value_is_an_empty_cell(capsys, folder, tmp_path):
    result = protected(capsys, folder, tmp_path / "out.csv")
    rows = [line.split(",") for line in (tmp_path / "out.csv").read_text().splitlines()]
    gone = {step["name"]: step["cells_suppressed"] for step in result["steps"]}
    assert sum(gone["suppress"].values()) > 0
    for position, name in enumerate(rows[0]):
        suppressed = gone["suppress"].get(name, 0) + gone["household_level"].get(name, 0)
        assert sum(row[position] == "" for row in rows[1:]) == a_file()[name].isna().sum() + suppressed


def test_a_dry_run_writes_nothing_and_reports_the_same(capsys, folder, tmp_path):
    result = protected(capsys, folder, tmp_path / "out.csv")
    (tmp_path / "out.csv").unlink()
    differs = {"dry_run", "out", "sha256"}
    for args in ([], ["--out", tmp_path / "out.csv"]):
        options = ["--recipe", folder / "recipe.yml", "--dry-run", "--json", *args]
        code, out, err = call(capsys, folder / "survey.csv", *options)
        dry = json.loads(out)
        assert (code, err, inside(tmp_path)) == (0, "", [])
        assert {key: value for key, value in dry.items() if key not in differs} == {
            key: value for key, value in result.items() if key not in differs
        }
        assert (dry["dry_run"], dry["out"], dry["sha256"]) == (True, None, None)


def test_output_for_people(capsys, folder, tmp_path):
    code, out, err = call(
        capsys, folder / "survey.csv", "--recipe", folder / "recipe.yml", "--out", tmp_path / "out.sav"
    )
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert "120 records" in lines[0]
    assert lines[1] == "k = 3 (k_required): MET (missing keys: wildcard)"
    assert lines[2].endswith("compatible released records (a missing value may be any value): holds")
    assert max(len(line) for line in lines if str(tmp_path) not in line and str(folder) not in line) <= 100
    out = " ".join(out.split())
    for text in [
        "keys: region, sex, age",
        "released unchanged, and without a role: s",
        "household_level is step 1; the first under steps is step 2",
        "direct identifiers dropped: name",
        "(one record per household)",
        "Cells",
        "after each step",
        "true key",
        "wildcard category",
        "s no role 0 0 2",
        "anyone can count the records that share a household ID",
        f"written: {tmp_path / 'out.sav'}",
    ]:
        assert text in out
    assert not any(value in out for value in ["SECRET", "woman", "r1"])


def test_verdict_and_exit_code(capsys, folder, tmp_path, recipe):
    out = tmp_path / "out.csv"
    path = recipe("key_variables: [region, sex]\nsteps:\n- suppress: {k_required: 3}\n")
    args = [folder / "survey.csv", "--recipe", path, "--out", out, "--json"]
    code, text, err = call(capsys, *args)
    assert (code, err, json.loads(text)["verdict"]) == (0, "", None)
    out.unlink()
    code, text, err = call(capsys, *args, "--fail-under-k", 3)
    assert (code, err, json.loads(text)["verdict"]["met"]) == (0, "", True)
    out.unlink()
    for k, extra in ((60, []), (60, ["--dry-run"])):
        code, text, err = call(capsys, *args, *extra, "--fail-under-k", k)
        result = json.loads(text)
        assert code == 1
        assert (result["verdict"]["k"], result["verdict"]["met"], result["out"], out.exists()) == (
            k,
            False,
            None,
            False,
        )
        assert f"{result['verdict']['records']} records are below {k} (--fail-under-k)" in err
        assert err.count("\n") == 1
    code, text, _ = call(capsys, *args[:-1], "--fail-under-k", 60)
    assert code == 1
    assert "k = 60 (--fail-under-k): NOT MET by" in text.splitlines()[1]
    assert "nothing was written" in text
    path.write_text("key_variables: [region, sex]\nk_required: 60\n")
    code, text, _ = call(capsys, *args[:-1])
    assert (code, out.exists()) == (0, True)
    assert "k = 60 (k_required): NOT MET by" in text.splitlines()[1]


def test_columns_removed_are_not_called_suppressed(capsys, folder, tmp_path, recipe):
    path = recipe("key_variables: [region, sex]\nsteps:\n- remove_variables: {variables: [s, name]}\n")
    args = [folder / "survey.csv", "--recipe", path, "--dry-run"]
    (step,) = json.loads(call(capsys, *args, "--json")[1])["steps"]
    assert step["variables_removed"] == ["s", "name"]
    assert not {"s", "name"} & set(step["cells_suppressed"])
    text = " ".join(call(capsys, *args)[1].split())
    assert "1 s - - removed" in text
    assert "k: not judged, since the recipe has no k_required" in text


def test_what_is_measured_of_sensitive_variables(capsys, folder, tmp_path, recipe):
    text = "key_variables: [region, sex]\nsensitive_variables: [s]\nnumeric_variables: [age]\nlanguage: es\n"
    args = [folder / "survey.csv", "--recipe", recipe(text), "--dry-run"]
    result = json.loads(call(capsys, *args, "--json")[1])
    run(["measure", str(folder / "survey.csv"), "--keys", "region,sex", "--sensitive", "s", "--json"])
    assert result["diversity"] == json.loads(capsys.readouterr().out)["diversity"]
    assert result["before"]["risk"]["numeric_linkage"] > 0 and result["before"]["utility"]["il1s"] == 0
    assert any(note.startswith("language is es: nothing") for note in result["notes"])
    printed = call(capsys, *args)[1]
    assert "t-closeness (largest)" in printed and "\nglobal risk " in printed


def test_of_many_claims_those_that_fail_are_printed(capsys, folder, tmp_path, recipe):
    path = recipe(
        "key_variables: [region, sex, age, line]\nmissing: category\nsteps:\n"
        "- suppress: {k_required: 2, combinations: [{size: 1}]}\n- suppress: {k_required: 3, combinations: [{size: 2}]}"
    )
    args = [folder / "survey.csv", "--recipe", path, "--dry-run"]
    out, steps = call(capsys, *args)[1], json.loads(call(capsys, *args, "--json")[1])["steps"]
    for step in steps:
        failing = [claim for claim in step["claims"] if claim["records"]]
        assert f"{len(step['claims']) - len(failing)} of {len(step['claims'])} claims hold" in out
    assert len(steps[1]["claims"]) == 18
    assert max(len(line) for line in out.splitlines() if str(path) not in line and str(folder) not in line) <= 100


def test_a_data_set_and_labels_that_are_lost(capsys, folder, tmp_path, recipe):
    path = recipe("key_variables: [age, sex]\nsteps:\n- suppress: {k_required: 2}\n")
    code, out, _ = call(capsys, "health-survey", "--recipe", path, "--out", tmp_path / "out.csv")
    assert code == 0
    assert "labels of values" not in out
    labels = {"age": {1: "young", 2: "never"}, "sex": {1: "CANARY", 2: "CANARY"}}
    frame = pd.DataFrame({"age": [1, 1], "sex": [1, 2]})
    pyreadstat.write_sav(frame, tmp_path / "in.sav", variable_value_labels=labels, column_labels={"age": "Age group"})
    for ending, kept in {"sav": True, "dta": True, "csv": False}.items():
        target = tmp_path / f"labelled.{ending}"
        code, out, _ = call(capsys, tmp_path / "in.sav", "--recipe", path, "--out", target)
        assert code == 0
        assert ("labels of values and variables are not kept" in out) == (not kept)
        assert "labels left out because no released record has their codes: age 1, sex 2" in out
        assert b"CANARY" not in target.read_bytes() and b"never" not in target.read_bytes()
        read = read_file(target)
        assert (read.labels, read.variable_labels) == (
            ({"age": {1: "young"}}, {"age": "Age group"}) if kept else ({}, {})
        )


def test_texts_that_mean_missing(capsys, tmp_path, recipe):
    (tmp_path / "in.csv").write_text("a,b\n1,x\nNA,y\n1,z\n")
    path = recipe("key_variables: [a]\nk_required: 2\n")
    args = [tmp_path / "in.csv", "--recipe", path, "--out", tmp_path / "out.csv", "--overwrite", "--json"]
    notes = json.loads(call(capsys, *args)[1])["notes"]
    assert any("a: NA is taken as a value" in note for note in notes)
    assert any("k_required is 2: 1 record is below it" in note for note in notes)
    assert not any(
        "NA" in note or "k_required" in note for note in json.loads(call(capsys, *args, "--na", "NA")[1])["notes"]
    )
    assert (tmp_path / "out.csv").read_text() == "a,b\n1,x\n,y\n1,z\n"


@pytest.mark.parametrize("options", [["--json"], ["--overwrite"], ["--dry-run"]])
def test_the_input_and_the_recipe_are_never_written(capsys, tmp_path, monkeypatch, options):
    source, path = tmp_path / "in.csv", tmp_path / "recipe.csv"
    source.write_text("a\n1\n1\n")
    path.write_text("key_variables: [a]\n")
    (tmp_path / "link.csv").symlink_to(source)
    (tmp_path / "hard.csv").hardlink_to(source)
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    outs = ["in.csv", source, "link.csv", "hard.csv", "sub/../in.csv", path]
    for out in outs:
        code, text, err = call(capsys, "in.csv", "--recipe", path, "--out", out, *options)
        assert (code, text, err.count("\n")) == (2, "", 1)
        assert f"the output path is equal to the {'recipe' if out is path else 'input'}" in err
    code, _, err = call(capsys, "link.csv", "--recipe", path, "--out", "in.csv", *options)
    assert (code, "equal to the input" in err) == (2, True)
    code, _, err = call(capsys, "health-survey", "--recipe", path, "--out", data_path("health-survey"), *options)
    assert (code, "equal to the input" in err) == (2, True)
    assert (source.read_text(), path.read_text()) == ("a\n1\n1\n", "key_variables: [a]\n")
    assert len(inside(tmp_path)) == 5


def test_another_file_is_replaced_only_when_said(capsys, folder, tmp_path):
    out = tmp_path / "out.csv"
    out.write_text("old")
    args = [folder / "survey.csv", "--recipe", folder / "recipe.yml", "--out", out]
    code, text, err = call(capsys, *args)
    assert (code, text, out.read_text()) == (2, "", "old")
    assert "exists and holds something else" in err and "--overwrite" in err
    assert call(capsys, *args, "--overwrite")[0] == 0
    assert out.read_text().startswith("region,sex")


@pytest.mark.parametrize("dry", [[], ["--dry-run"]])
def test_an_identifier_under_another_name_is_refused(capsys, tmp_path, recipe, dry):
    (tmp_path / "in.csv").write_text("name,who,note,a\nAna Soto Rey,ana soto rey,x,1\nLuz Mora Paz,luz mora paz,y,1\n")
    path = recipe("key_variables: [a]\ndirect_identifiers: [name]\n")
    args = ["--recipe", path, "--out", tmp_path / "out.csv", *dry]
    code, out, err = call(capsys, tmp_path / "in.csv", *args)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "column who has the values of the direct identifier name" in err
    assert not (tmp_path / "out.csv").exists()
    path.write_text("key_variables: [a]\ndirect_identifiers: [name, who]\n")
    assert call(capsys, tmp_path / "in.csv", *args)[0] == 0


def test_the_written_file_itself_is_proved(capsys, folder, tmp_path, monkeypatch):
    """A writer that lets an identifier through is found out before the file has its name."""
    content = writing._content
    monkeypatch.setattr(writing, "_content", lambda frame, *rest: content(frame.assign(name="x"), *rest))
    code, out, err = call(
        capsys, folder / "survey.csv", "--recipe", folder / "recipe.yml", "--out", tmp_path / "out.csv"
    )
    assert (code, out) == (2, "")
    assert "column name is a direct identifier" in err
    assert inside(tmp_path) == []


def test_an_interruption_leaves_nothing(capsys, folder, tmp_path, monkeypatch):
    def interrupted(path):
        raise KeyboardInterrupt

    monkeypatch.setattr(writing, "read_microdata", interrupted)
    code, out, err = call(
        capsys, folder / "survey.csv", "--recipe", folder / "recipe.yml", "--out", tmp_path / "out.csv"
    )
    assert (code, out, err) == (130, "", "kanon-lab: interrupted\n")
    assert inside(tmp_path) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("key_variables: [regoin]\n", "column regoin is not there; did you mean region?"),
        (
            "key_variables: [region]\nsteps:\n- supress: {k_required: 3}\n",
            "step 1: there is no step 'supress'; did you",
        ),
        ("key_variables: [region]\nsteps:\n- recode: {variable: agee, bands: [0, 9]}\n", "no column agee"),
        ("key_variables: [region]\nsteps:\n- recode: {variable: age, bands: 0-9}\n", "step 1 (recode): "),
        ("key_variables: [region]\nsteps:\n- recode: {variable: age, bands: [0, 20]}\n", "step 1 (recode): "),
        ("key_variables: [region]\nsteps:\n- suppress: {k_required: 999}\n", "step 1 (suppress): "),
        ("key_variables: [region]\nweight: sex\n", "column sex"),
        ("key_variables: [region\n", "line 1, column 16: "),
        ("key_variables: [region]\nhousehold: hh\nhousehold_level: {key_variables: [line]}\n", "column line: row "),
    ],
)
def test_recipes_that_cannot_be_applied(capsys, folder, tmp_path, recipe, text, fault):
    path = recipe(text)
    code, out, err = call(capsys, folder / "survey.csv", "--recipe", path, "--out", tmp_path / "out.csv")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert fault in err
    assert "SECRET" not in err
    assert inside(tmp_path) == [path.name]


def test_names_cannot_command_the_terminal(capsys, tmp_path, recipe):
    (tmp_path / "in.csv").write_text("\x1b[31mred,b\x07\n1,NA\n1,b\n2,c\n", newline="")
    path = recipe('key_variables: ["\\x1b[31mred"]\nsteps:\n- suppress: {k_required: 2}\n')
    code, out, _ = call(capsys, tmp_path / "in.csv", "--recipe", path, "--out", tmp_path / "out.csv")
    assert code == 0
    assert out.replace("\n", "").isprintable()


def test_help_has_an_example(capsys):
    code, out, _ = call(capsys, "--help")
    assert code == 0
    assert "kanon-lab protect survey.csv --recipe recipe.yml --out protected.csv" in out
    text = " ".join(out.split())
    assert "75, null], closed: left}" in text
    assert "every other column is released unchanged" in text
    assert "does not find an identifier in another coding" in text
    assert run(["--help"]) == 0
    assert "protect " in capsys.readouterr().out


def test_a_limit_that_is_not_met_exits_with_3_and_writes_nothing(capsys, tmp_path):
    """The region is a function of a suppressed commune, and goes out untouched."""
    commune = [code for code in range(12) for _ in range(code + 1)]
    lines = ["commune,sex,region", *(f"c{code},{'mw'[n % 2]},r{code // 4}" for n, code in enumerate(commune * 4))]
    (tmp_path / "survey.csv").write_text("\n".join(lines))
    settings = "key_variables: [commune, sex]\nmissing: category\nk_required: 9\n"
    settings += "released_as_is: region\nsteps:\n- suppress: {}\n- shuffle_records: {}\n"
    out = tmp_path / "out.csv"
    for limits, code, region in (("", 3, True), ("limits: {exposed_by_columns: 100}\n", 0, True), ("", 0, False)):
        gone = "" if region else "- remove_variables: {variables: region}\n"
        (tmp_path / "recipe.yml").write_text(f"{settings}{gone}{limits}")
        args = [tmp_path / "survey.csv", "--recipe", tmp_path / "recipe.yml", "--out", out, "--fail", "--json"]
        found, text, err = call(capsys, *args)
        result = json.loads(text)
        rows = {row["name"]: row for row in result["limits"]}
        assert (found, result["met"], out.exists()) == (code, code == 0, code == 0)
        said = "kanon-lab: a limit is not met (--fail); nothing was written; the page of kanon-lab report"
        assert err.startswith(said) if code else err == ""
        assert (rows["exposed_by_columns"]["value"] > 0) == region
        assert [each["columns"] for each in result["cautions"] if each["key"] == "exposed"] == [["region"]] * region
        assert {row["column"] for row in result["columns_as_keys"]} == ({"region"} if region else set())
        out.unlink(missing_ok=True)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no device that is always full")
@pytest.mark.parametrize(
    ("command", "written"),
    [
        (["protect", "--recipe", "r.yml", "--out", "out.csv"], "out.csv"),
        pytest.param(["init", "--out", "out.yml"], "out.yml", marks=pytest.mark.slow),
        (
            ["map", "--recipe", "m.yml", "--at-most", "1", "--out", "out.csv", "--write-recipe", "w.yml"],
            "out.csv, w.yml",
        ),
        (["measure", "--keys", "age"], None),
    ],
    ids=["protect", "init", "map", "measure"],
)
def test_where_nothing_can_be_printed_the_line_says_what_was_written(tmp_path, command, written):
    recipe = "key_variables: [age]\nsteps: [{recode: {variable: age, width: 10}}]\n"
    (tmp_path / "r.yml").write_text(recipe)
    (tmp_path / "m.yml").write_text(recipe.replace("10", "$w") + "grid: {w: [10]}\n")
    call = [sys.executable, "-m", "kanon_lab", command[0], "health-survey", *command[1:]]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(call, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True)
    there = "" if written is None else f"; what was written is there: {written}"
    said = f"kanon-lab: standard output cannot be written (No space left on device){there}\n"
    assert (done.returncode, done.stderr) == (2, said)
    assert all((tmp_path / name).is_file() for name in (written or "r.yml").split(", "))


def test_json_commands_no_terminal(capsys):
    """A name that turns the direction of text, or is of more than two bytes, is an escape of JSON and stays itself."""
    from kanon_lab.cli.output import print_json

    told = {"gpj.\u202efdp \U000e0001 \x7f\x9b": "Coru\xf1a \u6771\u4eac"}
    print_json(told)
    shown = capsys.readouterr().out
    assert json.loads(shown) == told
    assert shown.rstrip("\n").isprintable() and "Coru\xf1a \u6771\u4eac" in shown


def test_a_caution_exits_with_3_where_asked_and_writes_nothing(capsys, tmp_path):
    """Nobody has named a column in which everybody has a value of their own."""
    rows = [f"{'mw'[n % 2]},{n // 2 % 3},r{n % 3},x{n}" for n in range(60)]
    (tmp_path / "survey.csv").write_text("\n".join(["sex,age,region,code", *rows]))
    settings = "key_variables: [sex, age]\nlimits: {k: 3, unassigned_columns: null, identifiers_found: null}\n"
    out = tmp_path / "out.csv"
    for gone, code in (("", 3), ("steps:\n- remove_variables: {variables: code}\n", 0)):
        (tmp_path / "recipe.yml").write_text(settings + gone)
        args = [tmp_path / "survey.csv", "--recipe", tmp_path / "recipe.yml", "--out", out, "--fail", "--json"]
        found, text, err = call(capsys, *args, "--fail-on-cautions")
        result = json.loads(text)
        assert (found, result["met"], out.exists()) == (code, True, code == 0)
        assert [(each["key"], each["columns"]) for each in result["cautions"]] == [("identifier", ["code"])] * (
            code == 3
        )
        said = "kanon-lab: 1 caution in the result (--fail-on-cautions); nothing was written\n"
        assert err == (said if code else "")
