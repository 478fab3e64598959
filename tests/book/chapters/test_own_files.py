"""Every notebook on a file of one's own: no default of the book's file is applied to it, and no error quotes it."""

import re

import nbformat
import numpy as np
import pandas as pd
import pytest
from cases import others_slow
from warm_kernels import forked_notebooks

from kanon_lab.errors import KanonLabError, OptionError
from kanon_lab.notebooks import NotebookError, find_notebooks, recorded, run_notebook
from kanon_lab.notebooks.running import EMPTY, NEEDED, for_the_file, parameters_of

NOTEBOOKS = find_notebooks()
OWN = sorted(name for name, path in NOTEBOOKS.items() if "file" in parameters_of(path))
KEYS = ["zone", "years", "gender"]
LADDERS = {"zone": {"mapping": dict.fromkeys("PQRS", "*")}, "years": {"widths": [10], "from": 0, "to": 100}}
OFTEN = {"rates": {"ill": None}, "by": ["zone"]}
SUPPRESS = [{"suppress": {"k_required": 2}}]
# What each notebook needs beside the file and the keys.
MORE = {
    "choosing": {
        "recipe": {"key_variables": KEYS, "indicators": OFTEN, "steps": ["$how"]},
        "grid": {"how": {"as it is": None, "tens": {"recode": {"variable": "years", "width": 10}}}},
        "required": 1.0,
        "repeats": 1,
    },
    "cost": {"roles": {"key_variables": KEYS}, "indicators": OFTEN, "steps": SUPPRESS, "repeats": 3},
    "detail": {
        "geography": "zone",
        "age": "years",
        "levels": {"zone": {"whole": None}, "years": {"tens": {"width": 10}}},
        **{"geography_level": "whole", "age_level": "tens", "fraction": 0.2, "repeats": 2},
    },
    "diversity": {"hierarchies": LADDERS, "sensitive": "ill"},
    "enusc": {"configuration": {"key_variables": KEYS, "k_required": 2, "indicators": OFTEN, "steps": SUPPRESS}},
    "generalise": {"hierarchies": LADDERS},
    "households": {"household": "hh"},
    "levels": {"hierarchies": LADDERS},
    "perturbation": {
        **{"quantities": {"pay": "pay"}, "bases": {"pay": [10]}, "moved": ["gender"], "sensitive": "ill"},
        **{"repeats": 1, "keeps": [0.8], "strengths": [0.1], "windows": [0.1], "group_sizes": [3]},
    },
    "recoding": {
        **{"variable": "years", "unit": "year", "width": 10, "bands": [0, 30, 60, 100], "top": 80},
        "only_from": 30,
    },
    "report": {"configuration": {"key_variables": KEYS, "k_required": 2, "steps": SUPPRESS}},
    "uniques": {"samples": 2, "lucky": 3},
}


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """A file with none of the column names of the book's, text in each record, and a rare diagnosis."""
    rng, n = np.random.default_rng(1), 160
    frame = pd.DataFrame({"hh": np.repeat(range(n // 2), 2), "nota": [f"CANARY {i}" for i in range(n)]})
    frame["zone"] = rng.choice(list("PQRS"), n // 2)[frame["hh"]]
    frame["years"], frame["pay"] = rng.integers(18, 90, n), rng.integers(500, 3000, n)
    frame["gender"], frame["w"] = rng.choice(["x", "y"], n), rng.choice([2.5, 4.0], n)
    frame["ill"] = ["CANARY rare"] * 5 + [*rng.choice(["flu", "cold"], n - 5)]
    path = tmp_path_factory.mktemp("own") / "own.csv"
    frame.to_csv(path, index=False)
    return str(path)


def filled(path, parameters):
    return for_the_file(path, parameters_of(path), parameters)


def given(name, path, **more):
    known = parameters_of(NOTEBOOKS[name])
    usual = {"file": path, "key_variables": KEYS, "weight": "w"}
    return {each: value for each, value in (usual | more).items() if each in known}


def run(name, folder, parameters):
    target = folder / f"{name}.ipynb"
    with forked_notebooks():
        run_notebook(NOTEBOOKS[name], target, parameters)
    return target


@pytest.mark.parametrize("name", OWN)
def test_a_notebook_runs_with_file_and_keys_or_names_what_it_needs(own, tmp_path, name):
    try:
        run(name, tmp_path, given(name, own))
    except KanonLabError as error:
        line = str(error)
        assert "\n" not in line
        assert any(re.search(rf"\b{each}\b", line) for each in MORE[name]), line
        for word in ("unexpected", "KeyError", "Traceback", "CANARY", "health-survey"):
            assert word not in line
    else:
        assert name not in MORE or name == "uniques"


@pytest.mark.parametrize("keys", [KEYS[:2], KEYS[1:]])
def test_two_keys_suffice_for_suppression(own, tmp_path, keys):
    assert recorded(run("suppression", tmp_path, given("suppression", own, key_variables=keys)))


def test_a_message_of_a_notebook_names_the_row_of_the_file(own, tmp_path):
    frame = pd.read_csv(own)
    frame["hh"] = frame["hh"].where(frame.index != 5)
    frame.to_csv(tmp_path / "gap.csv", index=False)
    with pytest.raises(KanonLabError, match="row 7: no household"):
        run("households", tmp_path, given("households", str(tmp_path / "gap.csv"), household="hh"))


# The others are run like this by the tests of their chapters.
@pytest.mark.parametrize("name", ["diversity", "households", *others_slow(["recoding", "choosing", "enusc", "report"])])
def test_a_notebook_runs_with_no_more_than_what_it_needs(own, tmp_path, name):
    target = run(name, tmp_path, given(name, own, **MORE[name]))
    assert recorded(target)


def test_a_default_that_is_about_the_books_file_is_empty_for_another_one(tmp_path):
    path = NOTEBOOKS["risk"]
    found = filled(path, {"file": "own.csv", "key_variables": ["a"]})
    empty = {
        "weight": "",
        "population": "",
        "coarser": {},
        "broader": {},
        "scenarios": {},
        "interactions": [],
        "count": "",
    }
    assert found == {"file": "own.csv", "key_variables": ["a"], **empty}
    assert filled(path, {"file": "health-survey"}) == {"file": "health-survey"}
    assert filled(path, {"seed": 3}) == {"seed": 3}
    asked = {"file": "own.csv", "key_variables": ["a"], "population": "theirs.csv"}
    assert filled(path, asked)["population"] == "theirs.csv"
    with pytest.raises(OptionError, match=r"^risk\.ipynb: with another file give key_variables \(what an intruder may"):
        filled(path, {"file": "own.csv"})
    with pytest.raises(OptionError, match=r"^place\.ipynb: with another population give place"):
        filled(NOTEBOOKS["place"], {"population": "own.csv"})


@pytest.mark.parametrize("name", OWN)
def test_columns_of_the_books_file_are_defaults_below_a_mark_only(name):
    """Whoever adds a parameter that names a column of the book's survey must say that it is of that file."""
    columns = "postcode birth_date sex education household weight cholesterol diagnosis income town-register".split()
    cells = nbformat.read(NOTEBOOKS[name], as_version=4).cells
    (cell,) = (cell.source for cell in cells if "parameters" in cell.metadata.get("tags", []))
    general = re.split("|".join(map(re.escape, (EMPTY, NEEDED))), cell)[0]
    assert not [each for each in columns if f'"{each}"' in general]


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("recoding", {"quantity": "nota", "quantity_top": 3}),
        ("rare", {"household": "homes"}),
        ("perturbation", {"quantities": {"pay": "nota"}}),
        ("suppression", {"strata": ["nowhere"]}),
    ],
)
def test_a_wrong_column_is_one_line_that_quotes_no_cell(own, tmp_path, name, more):
    with pytest.raises(NotebookError, match=r"column|check what was given") as caught:
        run(name, tmp_path, given(name, own, **{**MORE.get(name, {}), **more}))
    assert "CANARY" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert "CANARY" not in (tmp_path / f"{name}.failed.ipynb").read_text()


def test_few_records_of_ones_own_file_are_not_shown(own, tmp_path):
    results = recorded(run("risk", tmp_path, given("risk", own)))
    assert results["uniques"] > 10
    assert not {"pair", "pair-product", "pair-weight"} & {*results}
    # Five persons have the rare diagnosis: it is in no table or figure of estimates.
    target = run("cost", tmp_path, given("cost", own, **MORE["cost"]))
    assert "CANARY" not in target.read_text()
    assert (recorded(target)["published"]["indicator"].str.startswith("ill: flu")).any()
    control = recorded(run("detail", tmp_path, given("detail", own, **MORE["detail"], least=50)))["control"]
    assert len(control) == 0 or control["least_records"].min() >= 10
