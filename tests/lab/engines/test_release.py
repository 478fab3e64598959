"""What an engine writes is what is written in memory, record by record, and what is told of it is the same."""

import contextlib
import io
import json
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_counting import KINDS, NO_SPARK, WEIGHTS, write

from kanon_lab.cli import run
from kanon_lab.data import read_microdata
from kanon_lab.recipes.counted import MEASURED

# What both tell of a protection, and of each of its steps.
TOLD = "n verdict keys weight household missing k_required columns untouched violations diversity".split()
OF_STEPS = (
    "step name settings records_touched variables_removed cells_changed cells_suppressed violations claims".split()
)
# Of limits these need records.
UNCOUNTED = {"exposed_by_columns", "identifiers_found", "key_linkage", "shown_by_members", "shown_by_neighbours"}


@st.composite
def protections(draw):
    """Columns of a file, a recipe for it, and how the file is written."""
    n = draw(st.integers(6, 40))

    def column(kind, gaps=None):
        gaps = draw(st.booleans()) if gaps is None else gaps
        value = st.one_of(st.none(), KINDS[kind], KINDS[kind]) if gaps else KINDS[kind]
        return draw(st.lists(value, min_size=n, max_size=n))

    kinds = draw(st.lists(st.sampled_from(["text", "whole", "number", "date", "digits"]), min_size=1, max_size=3))
    columns = {f"k{i}é": column(kind) for i, kind in enumerate(kinds)}
    columns["age"] = draw(st.lists(st.integers(0, 30), min_size=n, max_size=n))
    recipe = {"key_variables": list(columns), "missing": draw(st.sampled_from(["wildcard", "category"]))}
    if weights := draw(st.sampled_from([None, "cents", "whole"])):
        columns["w"] = draw(st.lists(WEIGHTS[weights], min_size=n, max_size=n))
        recipe["weight"] = "w"
    if draw(st.booleans()):
        columns["s"] = column("text", gaps=False)
        recipe["sensitive_variables"] = ["s"]
    if draw(st.booleans()):
        columns["part"] = draw(st.lists(st.sampled_from(["x", "y"]), min_size=n, max_size=n))
        recipe["strata"] = ["part"]
    if draw(st.booleans()):
        columns["ghost"] = [None if age is None else age // 10 for age in columns["age"]]
        recipe["ghost_variables"] = {"age": ["ghost"]}
    columns["name"] = [f"Person {i} {chr(65 + i % 26)}" for i in range(n)]
    columns["other"] = column(draw(st.sampled_from(sorted(KINDS))))
    columns["income"] = draw(st.lists(st.integers(0, 500), min_size=n, max_size=n))
    recipe |= {"direct_identifiers": ["name"], "k_required": draw(st.integers(2, 3)), "limits": {"global_risk": 0.4}}
    recode = {"recode": {"variable": "age", "width": draw(st.sampled_from([5, 10]))}}
    top = {"top_code": {"variable": "age", "above": draw(st.integers(5, 25))}}
    suppress = {"suppress": {"importance": {"age": 1}} if draw(st.booleans()) else {}}
    again = {"suppress": {"combinations": [{"size": 1}], "seed": draw(st.none() | st.just(4))}}
    risky = {"suppress_risk": {"threshold": 0.3, "variables": ["age", "k0é"]}}
    rounded = {"round": {"variable": "income", "base": 50}}
    groups = {"recode": {"variable": "k0é", "groups": {"one": ["a", "1"]}, "others": "keep"}}
    removed = {"remove_variables": {"variables": draw(st.sampled_from([["other"], ["age"]]))}}
    choices = [draw(st.sampled_from([recode, top])), suppress, again, risky, rounded, removed]
    choices += [groups] if kinds[0] == "text" else []
    recipe["steps"] = draw(st.lists(st.sampled_from(choices), min_size=1, max_size=5, unique_by=id))
    if suppress in recipe["steps"] or again in recipe["steps"]:
        recipe["missing"] = "wildcard"  # under category memory cuts classes, and counts do not
    form = draw(st.sampled_from(["parquet", "csv", "csv.gz"]))
    style = {"sep": draw(st.sampled_from(",;\t")), "encoding": draw(st.sampled_from(["utf-8", "utf-16"]))}
    options = draw(
        st.sampled_from([[], ["--na", "NA"], ["--missing-codes", "k0é=1,a"], ["--missing-codes", "other=1"]])
    )
    return columns, recipe, form, style, options


def told(result):
    """What every engine tells."""
    found = {name: result[name] for name in TOLD}
    found["limits"] = [row for row in result["limits"] if row["name"] not in UNCOUNTED]
    for place, state in enumerate([result["before"], *result["steps"]]):
        found[place] = {name: state.get(name) for name in OF_STEPS}
        if state.get("records_touched", 0) is None:
            del found[place]["records_touched"]
        for part in ("risk", "utility"):
            found[place][part] = {name: value for name, value in state[part].items() if name in MEASURED}
    found["released"] = [{**row, "distinct_values": None} for row in result["released"]]
    return found


def protected(file, folder, engine, options):
    """What a release is written to, the exit code, and what is told of it."""
    out = folder / f"{engine}.{file.name.partition('.')[2]}"
    command = ["protect", str(file), "--recipe", str(folder / "r.yml"), "--out", str(out), "--engine", engine]
    return out, *said([*command, "--json", *options])


def both(given_protection, folder, engine):
    """A file protected in memory and by an engine: what is told alike, and the two releases; None where refused."""
    columns, recipe, form, style, options = given_protection
    file = folder / f"file.{form}"
    write(columns, file, style)
    (folder / "r.yml").write_text(json.dumps(recipe))
    of_memory, code, expected = protected(file, folder, "memory", options)
    out, code_of_engine, found = protected(file, folder, engine, options)
    assert code == code_of_engine, (expected, found)
    if code:
        assert not out.exists()
        return None
    assert told(found) == without_uncounted(told(expected), found)
    return of_memory, out


@settings(max_examples=3)
@given(protections())
def test_duckdb_writes_what_memory_writes(given_protection):
    with tempfile.TemporaryDirectory() as folder:
        if written := both(given_protection, Path(folder), "duckdb"):
            expected, found = map(read_microdata, written)
            pd.testing.assert_frame_equal(found, expected)


def test_in_counts_whole_classes_lose_values_and_it_is_said(tmp_path):
    frame = pd.DataFrame({"key": ["A"] * 100 + ["B"], "w": range(1, 102)})
    frame.to_csv(tmp_path / "file.csv", index=False)
    recipe = {"key_variables": ["key"], "weight": "w", "missing": "category", "k_required": 5}
    (tmp_path / "r.yml").write_text(json.dumps(recipe | {"steps": [{"suppress": {}}]}))
    out = {engine: protected(tmp_path / "file.csv", tmp_path, engine, []) for engine in ("memory", "duckdb")}
    certificates = {engine: found["steps"][0]["certificate"] for engine, (_, _, found) in out.items()}
    assert certificates["memory"] == {"cells": 5, "lower_bound": 5, "above": 0.0, "no_bound": None}
    assert certificates["duckdb"] == {"cells": 101, "lower_bound": 5, "above": 101 / 5 - 1, "no_bound": None}
    assert any("suppresses values of whole classes" in note for note in out["duckdb"][2]["notes"])
    for path, code, _ in out.values():
        assert code == 0
        assert read_microdata(path).value_counts("key", dropna=False).min() >= 5


def survey(folder, n=3000):
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"place": rng.integers(100, 130, n).astype(str), "age": rng.integers(0, 90, n)})
    frame = frame.assign(name=[f"Person number {i}" for i in range(n)])
    frame.to_parquet(folder / "survey.parquet", index=False)
    recipe = {"key_variables": ["place", "age"], "direct_identifiers": ["name"], "k_required": 3}
    recipe["steps"] = [{"recode": {"variable": "age", "width": 10}}, {"suppress": {}}]
    (folder / "r.yml").write_text(json.dumps(recipe))
    return folder / "survey.parquet"


@pytest.mark.slow
@NO_SPARK
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_spark_writes_what_memory_writes(spark, tmp_path, form):
    file = survey(tmp_path, 300)
    if form == "csv":
        file = tmp_path / "survey.csv"
        read_microdata(tmp_path / "survey.parquet").to_csv(file, index=False)
    (of_memory, code, expected), (out, code_of_spark, found) = (
        protected(file, tmp_path, engine, []) for engine in ("memory", "spark")
    )
    assert code == code_of_spark == 0 and told(found) == told(expected)
    (part,) = out.glob(f"part-*.{form}")
    pd.testing.assert_frame_equal(read_microdata(part), read_microdata(of_memory))
    assert protected(file, tmp_path, "spark", [])[1] == 2  # it is there already
    assert not list(tmp_path.glob(".kanon-lab*"))


def test_the_same_recipe_gives_the_same_bytes(tmp_path):
    file, hashes = survey(tmp_path), set()
    for options in ([], ["--memory", "200MB"], ["--spill", str(tmp_path)]):
        out, code, found = protected(file, tmp_path, "duckdb", options)
        assert code == 0 and list(read_microdata(out)) == ["place", "age"] and found["columns"] == ["place", "age"]
        hashes.add(found["sha256"])
        out.unlink()
    assert len(hashes) == 1
    assert not list(tmp_path.glob("*kanon-lab-*"))


def test_records_keep_their_order(tmp_path):
    file = survey(tmp_path, 300_000)
    frame = pd.read_parquet(file).assign(number=range(300_000))
    frame.to_parquet(file, index=False, row_group_size=10_000)
    out, code, _ = protected(file, tmp_path, "duckdb", [])
    assert code == 0 and read_microdata(out)["number"].is_monotonic_increasing


def test_a_limit_that_is_not_counted_is_not_met(tmp_path):
    _, code, found = protected(survey(tmp_path), tmp_path, "duckdb", [])
    assert code == 0 and found["verdict"]["met"] and not found["met"]
    assert [row["name"] for row in found["limits"] if not row["met"]] == ["exposed_by_columns", "identifiers_found"]
    assert any(
        "not known, so not met: the limit exposed_by_columns, identifiers_found;" in note for note in found["notes"]
    )


def test_what_is_released_as_it_is_need_not_be_counted(tmp_path, capsys):
    pd.DataFrame({"age": [1, 2] * 9, "opinion": range(18)}).to_csv(tmp_path / "file.csv", index=False)
    limits = {"k": 3, "exposed_by_columns": None, "shown_by_neighbours": None, "identifiers_found": None}
    for listed, expected in ((["opinion"], 0), ([], 3), (["opinon"], 2)):
        recipe = {"key_variables": ["age"], "released_as_is": listed, "limits": limits, "steps": []}
        (tmp_path / "r.yml").write_text(json.dumps(recipe))
        command = ["protect", str(tmp_path / "file.csv"), "--recipe", str(tmp_path / "r.yml"), "--dry-run", "--fail"]
        assert {run([*command, "--engine", engine]) for engine in ("memory", "duckdb")} == {expected}
        error = capsys.readouterr().err
        assert expected != 2 or error.count("column opinon is not there; did you mean opinion?") == 2


def test_blanks_around_cells_of_csv_part_no_records(tmp_path):
    """What is one value when records are counted is one value in the file that is released."""
    file = tmp_path / "f.csv"
    file.write_text('place,age,x\na,3,1.50\na ,3,NA\n"a ",3,\n a,3,"p, q"\n')
    recipe = {"key_variables": ["place", "age"], "k_required": 4, "steps": [{"suppress": {}}]}
    (tmp_path / "r.yml").write_text(json.dumps(recipe))
    (of_memory, _, expected), (out, code, found) = (
        protected(file, tmp_path, engine, ["--na", "NA"]) for engine in ("memory", "duckdb")
    )
    assert code == 0 and told(found) == told(expected) and out.read_text().count("a,3,") == 4
    pd.testing.assert_frame_equal(read_microdata(out), read_microdata(of_memory))


def test_a_csv_file_of_one_column_is_refused(tmp_path):
    file = tmp_path / "one.csv"
    file.write_text("place,name\nx,p1\nx,p2\ny,p3\n")
    recipe = {"key_variables": ["place"], "direct_identifiers": ["name"], "steps": [{"suppress": {"k_required": 2}}]}
    (tmp_path / "r.yml").write_text(json.dumps(recipe))
    out, code, said_of_it = protected(file, tmp_path, "duckdb", [])
    assert code == 2 and "csv cannot hold an empty row" in said_of_it and not out.exists()


def test_what_is_written_for_people(tmp_path, capsys):
    file = survey(tmp_path)
    command = ["protect", str(file), "--recipe", str(tmp_path / "r.yml"), "--dry-run", "--engine", "duckdb"]
    assert run(command) == 0
    shown = capsys.readouterr().out
    assert "k = 3 (k_required): MET" in shown and "counted by an engine" in shown and "linked by keys" not in shown


def test_nothing_is_left_where_writing_ends_early(tmp_path, monkeypatch):
    from kanon_lab.engines.duckdb_engine import DuckDB

    file, write_all = survey(tmp_path), DuckDB.write

    def interrupted(self, *args):
        write_all(self, *args)
        raise KeyboardInterrupt

    monkeypatch.setattr(DuckDB, "write", interrupted)
    before = {path.name for path in tmp_path.iterdir()}
    out, code, _ = protected(file, tmp_path, "duckdb", ["--spill", str(tmp_path)])
    assert code == 130 and {path.name for path in tmp_path.iterdir()} == before


def test_another_file_is_not_replaced(tmp_path):
    file = survey(tmp_path)
    (tmp_path / "duckdb.parquet").write_bytes(b"other")
    _, code, said_of_it = protected(file, tmp_path, "duckdb", [])
    assert code == 2 and "exists and holds something else" in said_of_it
    assert protected(file, tmp_path, "duckdb", ["--overwrite"])[1] == 0


def without_uncounted(found, other):
    """What is told in memory without the records touched that an engine does not count."""
    for place, step in enumerate(other["steps"], 1):
        if step["records_touched"] is None:
            found[place].pop("records_touched", None)
    return found


def said(command):
    """Exit code of a command, and its JSON or what standard error says."""
    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        code = run(command)
    return code, json.loads(out.getvalue()) if code == 0 else error.getvalue()
