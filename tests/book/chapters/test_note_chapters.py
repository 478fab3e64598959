"""The agency's note: what the notebooks of its chapters recorded, and other parameters."""

import pytest
from cases import others_slow

from kanon_lab.classes import class_table
from kanon_lab.data import load_microdata, read_microdata
from kanon_lab.measures import measure
from kanon_lab.roles import KeySpec


def test_recorded_note(book):
    """AEPD, Tablas 1 to 6: their k is 2, 1, 2, 2, 1, 1; Tabla 6 is called 2-anonymous and is not."""
    note = book["note"]
    assert note["k-of-tables"]["k"].tolist() == [2, 1, 2, 2, 1, 1]
    assert (note["input"], note["copied"], note["fitted"]) == (42, 61, 38)
    assert note["recomputed"] == 33
    assert note["equal"] == note["cells-count"] == 141
    assert note["figures"] == 186
    assert "Tabla 6, k in the text" in note["findings"]["claim"].tolist()
    assert len(note["cells"]) == 47


def test_recorded_ways_to_protect_tabla_5(book):
    """The key of a record may go, or the record: only the company of an unusual one gives a class two values."""
    ways = book["note"]["ways"]
    assert ways["records"].tolist() == [7, 7, 7, 8]
    assert ways["k"].tolist() == [1, 2, 3, 2]
    assert ways["classes with one value"].tolist() == ["4 of 4", "3 of 3", "2 of 2", "3 of 4"]
    assert book["note"]["decades-with-one-value"] == book["note"]["decades"]


def test_recorded_generalisation(book):
    results = book["generalise"]
    assert results["tabla-3-as-printed"] is True
    assert (results["k-3"], results["k-4"], results["k-6"]) == (2, 2, 1)
    assert results["mends"].set_index("change").loc["record 7 removed", ["cells changed", "k"]].tolist() == [3, 2]
    assert len(results["optima"]) == 4
    assert (results["optima"]["records removed"] <= results["suppression-limit"] * results["records"]).all()
    assert (results["mondrian"]["k"] >= results["k-required"]).all()


def test_recorded_attack(book):
    """The intruder who found single records in the file as collected finds none in the generalised one."""
    results = book["diversity"]
    assert results["matched-before"] > results["right-before"] > 0
    assert results["matched-after"] == 0
    assert results["learned-after"] > results["learned-right-after"] > 0
    assert results["homogeneity"].iloc[:, 2].tolist() == results["homogeneity"].iloc[:, 4].tolist()
    assert results["attack-figure"].iloc[:, 1:].sum().tolist() == [results["persons"]] * 2


def test_the_chapter_of_classes_is_the_command(book):
    results = book["classes"]
    roles = {"weight": "weight", "household": "household", "missing": "category"}
    spec = KeySpec(["postcode", "age", "sex", "education"], **roles)
    measured = measure(load_microdata("health-survey"), spec, k=[3]).to_dict()
    for name, key in {"n": "n", "classes": "classes", "uniques": "sample_uniques", "k-achieved": "k_achieved"}.items():
        assert results[name] == measured[key]
    assert results["violations"] == measured["violations"]["3"]


LADDERS = {
    "area": {"mapping": dict.fromkeys("NSEW", "*")},
    "size": {"widths": [10, 30], "from": 0, "to": 60},
    "owner": {"mapping": {"family": "*", "chain": "*"}},
}


@pytest.mark.parametrize("missing", others_slow(["wildcard", "category"]))
def test_the_class_notebook_on_a_users_file(run, shops, missing):
    keys = ["area", "size", "owner"]
    results = run(
        "classes", file=str(shops), key_variables=keys, weight="", household="", missing=missing, k_required=5
    )
    table = class_table(read_microdata(shops), KeySpec(keys, missing=missing))
    assert results["k-achieved"] == table.k_achieved
    assert results["violations"] == table.violations([5])[5]
    assert results["population-uniques"] is None
    assert results["key-sets"] == 7


@pytest.mark.slow
@pytest.mark.parametrize("limit", [0, 0.1])
def test_the_generalising_notebook_on_a_users_file(run, shops, limit):
    asked = {"k_required": 4, "suppression_limit": limit, "level_weights": {}, "levels": {"size": 1}}
    results = run("generalise", file=str(shops), hierarchies=LADDERS, **asked)
    assert results["nodes"] == 2 * 3 * 2
    assert (results["optima"]["records removed"] <= 300 * limit).all()
    assert (results["mondrian"]["k"] >= 4).all()


def test_the_diversity_notebook_on_a_users_file(run, shops):
    results = run(
        "diversity", file=str(shops), hierarchies=LADDERS, sensitive="fined", quantity="", k_required=3, l_required=2
    )
    assert "matched-before" not in results
    assert results["l-distinct"] in (1, 2)
    assert results["cost"]["l"].iloc[1] in ("2", "-")


def test_the_explorer_starts_where_it_is_told(run):
    results = run("explorer", dates="year", k=20)
    assert 0 < results["share"] < 1
