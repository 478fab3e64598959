"""The transcription and the audit of the AEPD's note on k-anonymity."""

import json
import subprocess
import sys

import pandas as pd
import pytest

from kanon_lab.cli import run
from kanon_lab.errors import OptionError
from kanon_lab.published import audit, published_figures
from kanon_lab.published.aepd import (
    HEADINGS,
    KEYS,
    TABLE_5_AGAIN,
    TABLES,
    generalisation,
    homogeneity,
    local_levels,
    recomputed_tables,
    rows_that_do_not_add_up,
    table,
)
from kanon_lab.published.gil_bellosta import rows_that_do_not_add_up as rows_of_gil_bellosta

ROWS = {"Tabla 1": 6, "Tabla 2": 6, "Tabla 3": 6, "Tabla 4": 6, "Tabla 5": 8, TABLE_5_AGAIN: 8, "Tabla 6": 7}


@pytest.fixture(scope="module")
def figures():
    return audit("aepd").figures


@pytest.fixture(scope="module")
def claims(figures):
    ids = published_figures("aepd").set_index(["table", "row", "column"])["figure_id"]
    found = figures[figures["table"] == "text"].set_index(["table", "row", "column"])
    return found.set_axis(ids.loc[found.index].str.removeprefix("aepd/text/"))


def f_k(rows):
    """How many rows have the key of each one, by plain comparison."""
    return [sum(a[:2] == b[:2] for b in rows) for a in rows]


def test_every_cell_of_the_tables_is_transcribed():
    cells = published_figures("aepd")
    assert cells["figure_id"].is_unique
    per_table = cells.groupby("table").size()
    assert {name: per_table[name] for name in ROWS} == {name: 3 * rows for name, rows in ROWS.items()}
    assert set(cells["table"]) == {*ROWS, "Figura 2", "text"}
    in_tables = cells[cells["table"].isin(list(ROWS))]
    assert set(in_tables["column"]) == set(HEADINGS)
    assert not (in_tables["printed"] == "").any()


def test_tables_are_as_printed():
    """AEPD, Tabla 2 and Tabla 6."""
    second, sixth = table("Tabla 2"), table("Tabla 6")
    assert list(second.itertuples(index=False, name=None)) == [
        ("37003", 40, "S"),
        ("28108", 44, "S"),
        ("24700", 37, "N"),
        ("24700", 37, "N"),
        ("37003", 44, "S"),
        ("28108", 40, "S"),
    ]
    assert sixth.loc[7].tolist() == ["37***", "30-39", "N"]
    assert second.index.tolist() == [1, 2, 3, 4, 5, 6]
    assert table("Tabla 5").equals(table(TABLE_5_AGAIN))


@pytest.mark.parametrize(("name", "k"), list(zip(TABLES, [2, 1, 2, 2, 1, 1], strict=True)))
def test_k_of_every_table(name, k):
    """AEPD, Tablas 1 to 6: k 2, 1, 2, 2, 1, 1, counted here by plain comparison too."""
    assert min(f_k(table(name).values.tolist())) == k
    assert homogeneity().set_index("table").loc[name, "k_achieved"] == k


def test_every_class_of_every_table_has_one_sensitive_value():
    found = homogeneity().set_index("table")
    assert (found["classes"] == found["homogeneous"]).all()
    assert found["records"].to_dict() == {name: ROWS[name] for name in TABLES}
    assert found["alone"].tolist() == [sum(n == 1 for n in f_k(table(name).values.tolist())) for name in TABLES]


def test_every_table_follows_from_the_inputs(figures):
    for name, computed in recomputed_tables().items():
        pd.testing.assert_frame_equal(computed.astype(str), table(name).astype(str), check_names=False)
    cells = figures[figures["table"].isin(list(ROWS))]
    assert (cells["verdict"] == "exact").all()
    fitted = cells[cells["fitted"]]
    assert fitted.groupby("table").size().to_dict() == {"Tabla 1": 18, "Tabla 2": 18, "Tabla 5": 6}
    assert fitted["reason"].str.startswith("input").all()


def test_local_levels_keep_the_postcode_of_records_that_share_their_key():
    assert local_levels(table("Tabla 5")).values.tolist() == [[1, 1], [1, 1], [0, 1], [0, 1], *[[1, 1]] * 4]


def test_a_generalisation_is_global_where_equal_values_are_treated_alike():
    """AEPD, section IV: the definition, and Tablas 3, 4 and 6."""
    second, fifth, sixth = table("Tabla 2"), table("Tabla 5"), table("Tabla 6")
    assert generalisation(second, table("Tabla 3")) == "global"
    assert generalisation(second, table("Tabla 4")) == "global"
    assert generalisation(fifth.loc[sixth.index], sixth) == "global"
    really_local = table("Tabla 4").replace({"postcode": {"37***": "37003"}})
    assert generalisation(second, really_local) == "global"
    really_local.loc[1, "postcode"] = "37***"
    assert generalisation(second, really_local) == "local"


def test_verdicts(figures, claims):
    assert figures["verdict"].value_counts().to_dict() == {
        "exact": 155,
        "published-error": 4,
        "illegible": 2,
        "not-in-text": 2,
    }
    wrong = claims[claims["verdict"] == "published-error"]
    assert sorted(wrong.index) == ["directive-page-2", "out-of-range", "tabla-4-kind", "tabla-6-k"]
    assert wrong["computed_text"].to_dict() == {
        "directive-page-2": "95/46",
        "tabla-4-kind": "global",
        "out-of-range": "los dos",
        "tabla-6-k": "",
    }
    assert claims.loc["tabla-6-k", ["published", "computed", "difference"]].tolist() == [2, 1, -1]
    assert "record 7 (37***, 30-39)" in claims.loc["tabla-6-k", "reason"]
    assert sorted(claims.index[claims["verdict"] == "illegible"]) == ["others-who-share", "probability"]
    assert figures.set_index("table").loc["Figura 2", "verdict"] == "not-in-text"


def test_reasons_hold_what_was_computed(claims):
    by_age = [(postcode, age // 10) for postcode, age, _ in table("Tabla 2").values.tolist()]
    assert f"give k = {min(f_k(by_age))}" in claims.loc["tabla-3-k", "reason"]
    finer = sum(
        a != b for key in KEYS for a, b in zip(table("Tabla 3")[key], table("Tabla 4")[key], strict=True)
    )  # in Tabla 4 two postcodes stand in full
    assert claims.loc["tabla-4-precision", "reason"].startswith(f"{finer} of 12 key cells")
    assert "25 of the 25 classes" in claims.loc["class-28-40-49", "reason"]


def test_no_row_has_a_total(figures):
    here, there = rows_that_do_not_add_up(figures), rows_of_gil_bellosta(published_figures("gil-bellosta-2011"))
    assert here.empty
    assert here.columns.tolist() == there.columns.tolist()


def test_a_population_does_not_concern_the_note(capsys):
    with pytest.raises(OptionError, match="aepd is recomputed from its own tables"):
        audit("aepd", pd.DataFrame())
    assert run(["audit", "--source", "aepd", "--population", "no-such-file.px"]) == 2
    assert capsys.readouterr().err.startswith("kanon-lab: aepd is recomputed from its own tables")


def test_the_command_prints_words_in_the_place_of_numbers(capsys):
    assert run(["audit", "--source", "aepd", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    figures = {(f["table"], f["row"], f["column"]): f for f in result["figures"]}
    assert len(figures) == len(result["figures"]) == 163
    assert result["rows_that_do_not_add_up"] == []
    fields = ["printed", "published", "computed", "difference", "verdict"]

    def pick(*key):
        return [figures[key][field] for field in fields]

    assert pick("Tabla 6", "7", "postcode") == ["37***", None, "37***", None, "exact"]
    assert pick("Tabla 2", "1", "age") == ["40", 40, 40, 0, "exact"]
    assert pick("text", "page 6", "Tabla 6, k in the text") == ["2", 2, 1, -1, "published-error"]
    assert pick("Figura 2", "levels", "hierarchy of the postcode") == ["", None, None, None, "not-in-text"]


def test_strict_and_in_words(capsys):
    assert run(["audit", "--source", "aepd", "--strict"]) == 1
    out = capsys.readouterr().out
    assert "printed local, computed global (published-error)" in out
    assert "4 of 163 figures ask for attention" in out


def test_the_note_alone_loads_no_population():
    code = (
        "import kanon_lab.data.load as load; from kanon_lab.published import audit\n"
        "def fail(path): raise AssertionError('loaded')\n"
        "load._read_embedded = fail; print(len(audit('aepd').figures))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "163\n", done.stderr
