"""What an engine writes is what is written in memory, record by record, and what is told of it is the same."""

import json
import tempfile
from pathlib import Path

import pandas as pd
import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st
from test_counting import KINDS, NO_SPARK, WEIGHTS, write

from kanon_lab.cli import run
from kanon_lab.data import read_microdata
from kanon_lab.recipes.counted import MEASURED

# What both tell of a protection, and of each of its steps.
TOLD = "n verdict keys weight household missing k_required columns untouched violations diversity".split()
OF_STEPS = "step name settings records_touched variables_removed cells_changed cells_suppressed violations claims".split()
# Of limits these need records.
UNCOUNTED = {"exposed_by_columns", "key_linkage"}


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
    risky = {"suppress_risk": {"threshold": 0.3, "variables": ["age", "k0é"]}}
    rounded = {"round": {"variable": "income", "base": 50}}
    groups = {"recode": {"variable": "k0é", "groups": {"one": [1, "1", "a"]}, "others": "keep"}}
    removed = {"remove_variables": {"variables": draw(st.sampled_from([["other"], ["age"]]))}}
    choices = [recode, top, suppress, suppress, risky, rounded, groups, removed]
    recipe["steps"] = draw(st.lists(st.sampled_from(choices), min_size=1, max_size=5))
    form = draw(st.sampled_from(["parquet", "csv", "csv.gz"]))
    style = {"sep": draw(st.sampled_from(",;\t")), "encoding": draw(st.sampled_from(["utf-8", "utf-16"]))}
    options = draw(st.sampled_from([[], ["--na", "NA"], ["--missing-codes", "k0é=1,a"], ["--missing-codes", "other=1"]]))
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


def protected(file, folder, engine, options, capsys=None):
    """The code, what is told, and the records of a release."""
    out = folder / f"{engine}.{file.name.partition('.')[2]}"
    return out, ["protect", str(file), "--recipe", str(folder / "r.yml"), "--out", str(out), "--engine", engine, *options]


@given(protections())
def test_duckdb_writes_what_memory_writes(given_protection):
    columns, recipe, form, style, options = given_protection
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / f"file.{form}"
        write(columns, file, style)
        (folder / "r.yml").write_text(yaml.safe_dump(recipe, allow_unicode=True))
        codes, results, frames = {}, {}, {}
        for engine in ("memory", "duckdb"):
            out, command = protected(file, folder, engine, options)
            codes[engine], results[engine] = said([*command, "--json"])
            frames[engine] = read_microdata(out) if out.exists() else None
        assert codes["memory"] == codes["duckdb"], results
        assume(codes["memory"] == 0)
        assert told(results["duckdb"]) == without_uncounted(told(results["memory"]), results["duckdb"])
        pd.testing.assert_frame_equal(frames["duckdb"], frames["memory"])


def without_uncounted(found, other):
    """What is told in memory without the records touched that an engine does not count."""
    for place, step in enumerate(other["steps"], 1):
        if step["records_touched"] is None:
            found[place].pop("records_touched", None)
    return found


def said(command):
    """Exit code of a command, and its JSON or what standard error says."""
    import contextlib
    import io

    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        code = run(command)
    return code, json.loads(out.getvalue()) if code == 0 else error.getvalue()
