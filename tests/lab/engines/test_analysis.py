"""What a report tells from counts is what it tells from records, number by number, as far as counts tell it."""

import tempfile
from pathlib import Path

import pandas as pd
import pytest
from cases import others_slow
from hypothesis import given, settings
from hypothesis import strategies as st
from test_counting import NO_SPARK, write
from test_release import protections

from kanon_lab.data import read_file
from kanon_lab.engines.release import opened_records
from kanon_lab.errors import KanonLabError
from kanon_lab.recipes.counted import MEASURED
from kanon_lab.recipes.streamed import check_streamed, counting
from kanon_lab.report import analyse, as_config
from kanon_lab.terms import key_of

# Frames that counts tell as a whole; of the others some columns or rows.
WHOLE = ["sizes", "risks", "riskiest", "suda", "unique_sets", "diversity", "claims", "categories"]
OF_VARIABLES = ["kind", "distinct_before", "distinct_after", "few", "missing"]
OF_STEPS = ["step", "name", "settings", "cells_changed", "cells_suppressed", "columns_removed", "below"]
UNCOUNTED = {"exposed_by_columns", "identifiers_found", "key_linkage", "shown_by_neighbours"}
OF_RECORDS = {"exposed", "identifier", "joint_linkage", "numeric_linkage", "stale_ghosts"}
SURVEY = {
    "key_variables": ["postcode", "age", "sex"],
    "weight": "weight",
    "household": "household",
    "sensitive_variables": ["diagnosis"],
    "numeric_variables": ["income"],
    "direct_identifiers": ["birth_date"],
    "limits": {"k": 3, "global_risk": 0.02, "household_risk": 0.1, "distinct": 2, "household_uniques": 100},
    "steps": [
        {"recode": {"variable": "age", "bands": [0, 15, 30, 45, 60, 75, None], "closed": "left"}},
        {"recode": {"variable": "education", "groups": {"some": ["lower secondary", "under 16"]}, "others": "keep"}},
        {"round": {"variable": "income", "base": 100}},
        {"suppress": {"importance": {"sex": 1, "postcode": 2, "age": 3}}},
        {"recode": {"variable": "postcode", "hierarchy": {"masks": [5, 2]}, "level": 1}},
    ],
}


def by(engine, path, config, *, internal=False):
    """The analysis of a file in memory, or of its counts."""
    if engine == "memory":
        return analyse(read_file(path, **config.reading), config, internal=internal)
    check_streamed(config.recipe, path)
    asked = counting(config.recipe, config.recipe.spec.numeric_variables)
    with opened_records(path, engine=engine, **asked) as records:
        return analyse(records, config, name=Path(path).name, internal=internal)


def counted(found, by_memory):
    """What both tell, of an analysis, beside that of counts (`found`)."""
    a = by_memory
    uncounted = found.variables.loc[found.variables["kind"].isna(), "column"]
    told = {name: getattr(a, name) for name in WHOLE}
    told |= {name: getattr(a, name) for name in ("suda_size", "title", "parameters", "seeds", "versions", "internal")}
    told["variables"] = a.variables.mask(a.variables["column"].isin(uncounted), pd.NA)[OF_VARIABLES]
    told["roles"] = a.variables[["column", "role", "fate"]]
    told["released"] = a.released.drop(columns="distinct_values")
    told["distinct"] = a.released.set_index("column")["distinct_values"].drop(uncounted, errors="ignore")
    told["quantiles"] = a.quantiles[a.quantiles["variable"].isin(found.quantiles["variable"])]
    told["steps"] = a.steps[OF_STEPS]
    told["touched"] = a.steps["records_touched"].mask(found.steps["records_touched"].isna().to_numpy())
    known = [name for name in a.summary["after"] if name.startswith(tuple(MEASURED))]
    for when in ("before", "after"):
        told[when] = {name: a.summary[when][name] for name in known}
    told["summary"] = {
        name: value for name, value in a.summary.items() if name not in ("before", "after", "identifiers_searched")
    }
    told["file"] = {name: value for name, value in a.file.items() if name not in ("decimal", "notes")}
    told["verdict"] = a.judged.verdict[~a.judged.verdict["name"].isin(UNCOUNTED)].reset_index(drop=True)
    told["cautions"] = [each for each in a.judged.cautions if each.key not in OF_RECORDS]
    if a.office is not None:
        told["settings"] = a.office.settings
        told |= {("recoded", *step): table for step, table in a.office.recodings.items()}
        told |= {("riskiest", version): table for version, table in a.office.riskiest.items()}
    return told


def same(found, expected):
    """Hold what both tell side by side."""
    one, other = (counted(found, each) for each in (found, expected))
    assert one.keys() == other.keys()
    if found.file.get("decimal") == expected.file.get("decimal"):  # those of columns that are not counted are not seen
        of_cells, notes = ("marks_as_values", "spelled_twice", "nearly_numbers"), found.file["notes"]  # if counted
        assert notes == tuple(n for n in expected.file["notes"] if n in notes or key_of(n) not in of_cells)
    for name, value in one.items():
        if isinstance(value, (pd.DataFrame, pd.Series)):
            compare = (
                pd.testing.assert_frame_equal if isinstance(value, pd.DataFrame) else pd.testing.assert_series_equal
            )
            try:
                compare(value, other[name], check_dtype=False, check_exact=True, check_names=False)
            except AssertionError as error:
                raise AssertionError(f"{name}: {error}\n{value}\n{other[name]}") from None
        else:
            assert value == other[name], name


def both(columns, config, form, style, folder, engine="duckdb"):
    file = Path(folder, f"file.{form}")
    write(columns, file, style)
    try:
        expected = by("memory", file, config, internal=True)
    except KanonLabError:
        with pytest.raises(KanonLabError):
            by(engine, file, config, internal=True)
        return None
    try:
        found = by(engine, file, config, internal=True)
    except KanonLabError as error:
        assert "use --engine memory" in str(error)  # of csv files there are some that engines misread
        return None
    same(found, expected)
    return found


@st.composite
def reports(draw):
    columns, recipe, form, style, options = draw(protections())
    n = len(columns["age"])
    if draw(st.booleans()):
        columns["home"] = draw(st.lists(st.integers(1, 9), min_size=n, max_size=n))
        recipe["household"] = "home"
    recipe["numeric_variables"] = ["income"]
    settings = {"na": ["NA"]} if "--na" in options else {}
    if "--missing-codes" in options:
        name, _, codes = options[1].partition("=")
        settings["missing_codes"] = {name: [int(code) if code.isdigit() else code for code in codes.split(",")]}
    return columns, as_config({**recipe, **settings}), form, style


@settings(max_examples=3)
@given(reports())
def test_counts_by_duckdb_tell_what_records_tell(report):
    with tempfile.TemporaryDirectory() as folder:
        both(*report, folder)


@pytest.mark.slow
@NO_SPARK
@settings(max_examples=8)
@given(report=reports())
def test_counts_by_spark_tell_what_records_tell(spark, report):
    with tempfile.TemporaryDirectory() as folder:
        both(*report, folder, engine="spark")


@pytest.mark.parametrize("household", others_slow(["household", None]))
def test_the_survey_by_counts_is_the_survey_by_records(household):
    drop = {"limits": {"k": 3, "global_risk": 0.02}} if household is None else {}
    config = as_config({**SURVEY, **drop, "household": household})
    found, expected = (by(engine, "health-survey", config, internal=True) for engine in ("duckdb", "memory"))
    same(found, expected)
    assert found.quantiles["variable"].tolist() == ([] if household else ["income"])
    assert found.office.recodings.keys() == expected.office.recodings.keys()
