"""``kanon-lab subsample``."""

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from processes import PATIENCE

from kanon_lab.cli import run
from kanon_lab.digits import percent
from kanon_lab.roles import KeySpec
from kanon_lab.sample import bound_uniques, subsample_risk

# The contract of the command: what its JSON holds at least.
CONTRACT = """file keys n1 n2 u1 u2 u p_a p_b p_c p_d p_identification spread expected fraction repeats seed scheme
weight missing notes cluster household cluster_fraction units warnings""".split()
KEYS = ["--keys", "region,age", "--keys", "job"]


def a_file(records=600):
    rng = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "region": rng.choice(["01", "02"], records),
            "age": rng.integers(0, 80, records),
            "job": rng.choice(["SECRET", "OTHER"], records),
            "w": rng.choice([1.5, 4], records),
            "unit": range(records),
            "home": [i % 30 for i in range(records)],
            "one": 1,
        }
    )


@pytest.fixture
def survey(tmp_path):
    path = tmp_path / "survey.parquet"
    a_file().to_parquet(path)
    return str(path)


def test_json_holds_what_the_function_gives(survey, capsys):
    options = ["--fraction", "0.3", "--repeats", "5", "--seed", "2", "--p-a", "0.2", "--fixed-size"]
    assert run(["subsample", survey, *KEYS, *options, "--json"]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    risk = subsample_risk(a_file(), ["region", "age", "job"], fraction=0.3, repeats=5, seed=2, p_a=0.2, scheme="fixed")
    assert set(CONTRACT) <= set(found)
    assert found == {"audience": "office", "file": survey, **json.loads(json.dumps(risk.to_dict()))}
    assert err == ""


def test_text_names_the_four_conditions_and_no_value(survey, capsys):
    assert run(["subsample", survey, *KEYS, "--fraction", "0.3", "--repeats", "5"]) == 0
    out = capsys.readouterr().out
    risk = subsample_risk(a_file(), ["region", "age", "job"], fraction=0.3, repeats=5)
    for condition in ("coded alike and right, p(a)", "in the sample, p(b)", "unique in the population, p(c)", "p(d)"):
        assert condition in out
    for text in (
        f"{risk.u1:,}",
        f"{risk.u2:,.1f}",
        f"{percent(risk.p_c, digits=4)}",
        f"{percent(risk.p_identification, digits=4)}",
        "97.5%",
    ):
        assert text in out
    assert "SECRET" not in out


def test_weights_take_the_place_of_the_fraction(survey, capsys):
    assert run(["subsample", survey, *KEYS, "--weight", "w", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    risk = subsample_risk(a_file(), KeySpec(["region", "age", "job"], weight="w"))
    assert (found["weight"], found["p_b"], found["p_c"]) == ("w", risk.p_b, risk.p_c)
    assert found["spread"]["u2"]["sd"] is None
    assert run(["subsample", survey, *KEYS, "--weight", "w"]) == 0
    assert "each record with the chance 1 / w" in capsys.readouterr().out


def test_units_are_told_and_a_warning_where_none_is_named(tmp_path, capsys):
    frame = pd.DataFrame({"psu": np.arange(900) // 9, "age": np.arange(900) // 9 % 50, "job": np.arange(900) % 3})
    frame.to_csv(tmp_path / "clusters.csv", index=False)
    asked = ["subsample", str(tmp_path / "clusters.csv"), "--keys", "age,job", "--fraction", "0.2"]
    assert run(asked) == 0
    assert "\n- warning: psu seems to be a sampling unit: its units have 9 records" in capsys.readouterr().out
    assert run([*asked, "--cluster", "psu"]) == 0
    out = capsys.readouterr().out
    assert "warning" not in out
    assert "each whole psu by a draw of its own, fraction 0.2; 100 in the sample" in out
    assert run([*asked, "--cluster", "psu", "--cluster-fraction", "0.5", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["cluster"], found["cluster_fraction"], found["units"], found["warnings"]) == ("psu", 0.5, 900, [])


def test_what_is_not_known_is_said_in_words_and_is_null_in_json(tmp_path, capsys):
    path = tmp_path / "alike.csv"
    pd.DataFrame({"a": [1] * 150}).to_csv(path, index=False)
    asked = ["subsample", str(path), "--keys", "a", "--fraction", "0.5"]
    assert run(asked) == 0
    out = capsys.readouterr().out
    assert "unknown" in out
    assert "too few unique records" in out
    assert "nan" not in out
    assert run([*asked, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["p_identification"] is None


def test_too_few_records_and_light_weights_are_refused(tmp_path, capsys):
    path = tmp_path / "few.csv"
    a_file(99).to_csv(path, index=False)
    assert run(["subsample", str(path), *KEYS, "--fraction", "0.1"]) == 2
    assert "has 99 records; a study by subsamples needs 100 or more" in capsys.readouterr().err
    a_file().assign(w=0.5).to_csv(path, index=False)
    assert run(["subsample", str(path), *KEYS, "--weight", "w"]) == 2
    assert "row 2 (and 599 more): a weight below 1" in capsys.readouterr().err


def test_a_reader_who_leaves_ends_it_quietly(survey):
    command = [sys.executable, "-m", "kanon_lab", "subsample", survey, *KEYS, "--fraction", "0.1"]
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


def test_bounds_are_those_of_the_function_in_json_and_words(survey, tmp_path, capsys):
    asked = ["subsample", survey, *KEYS, "--fraction", "0.3", "--missing", "category"]
    table = str(tmp_path / "regions.csv")
    margin = pd.DataFrame({"region": ["01", "02"], "persons": [1000, 1000], "least": [1, 2]})
    margin.to_csv(table, index=False)
    more = ["--bounds", "--confidence", "0.9", "--cells", "320", "--known", table]
    assert run([*asked, *more, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    options = {"fraction": 0.3, "confidence": 0.9, "cells": 320, "known": margin}
    bounds = bound_uniques(a_file(), ["region", "age", "job"], **options)
    assert found.pop("bounds") == json.loads(json.dumps(bounds.to_dict()))
    assert run([*asked, "--json"]) == 0
    assert found == json.loads(capsys.readouterr().out)
    assert run([*asked, *more]) == 0
    out = capsys.readouterr().out
    assert "Population uniques that agree with the sample, with a confidence of 90%" in out
    assert f"{bounds.high:,}" in out and "inside" in out and "SECRET" not in out
    assert run(["subsample", survey, *KEYS, "--weight", "w", "--bounds", "--persons", "1650"]) == 0
    assert "are kept, which makes the chances of persons equal" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--fraction", "0.3", "--persons", "2000"], "--persons is for bounds: give --bounds too"),
        (["--fraction", "0.3", "--bounds", "--household", "home"], "leave out --cluster and --household"),
        (["--fraction", "0.3", "--bounds", "--known", "no.csv"], "--known: no.csv: no such file"),
        (["--fraction", "0.3", "--bounds", "--persons", "12"], "persons must be a whole number from 600"),
        (
            ["--fraction", "0.9", "--bounds", "--persons", "99999"],
            "and the sample has 600 records; correct the fraction",
        ),
    ],
)
def test_options_of_bounds_that_do_not_fit_are_refused_in_one_line(survey, capsys, options, text):
    assert run(["subsample", survey, *KEYS, *options]) == 2
    err = capsys.readouterr().err
    assert text in err and err.count("\n") == 1


def test_a_table_of_what_is_known_is_read_without_what_is_asked_of_the_sample_alone(tmp_path, capsys):
    sample = tmp_path / "sample.xlsx"
    with pd.ExcelWriter(sample) as book:
        pd.DataFrame({"other": [1]}).to_excel(book, sheet_name="first", index=False)
        a_file().to_excel(book, sheet_name="records", index=False)
    table = tmp_path / "regions.csv"
    margin = pd.DataFrame({"region": ["01", "02"], "persons": [1000, 1000]})
    margin.to_csv(table, index=False)
    asked = ["subsample", str(sample), "--sheet", "records", *KEYS, "--fraction", "0.3", "--bounds"]
    assert run([*asked, "--missing-codes", "job=99", "--known", str(table)]) == 0
    assert "population: 2,000 persons" in capsys.readouterr().out
    margin.assign(persons=["SECRET", -1]).to_csv(table, index=False)
    assert run([*asked, "--known", str(table)]) == 2
    err = capsys.readouterr().err
    assert "--known regions.csv: column persons: row 2 (and 1 more): not a whole number" in err
    assert "SECRET" not in err and str(tmp_path) not in err and err.count("\n") == 1
