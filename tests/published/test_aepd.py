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
    kinds,
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


def printed_rows():
    return [table(name).values.tolist() for name in TABLES]


def test_every_cell_of_the_tables_is_transcribed():
    cells = published_figures("aepd")
    assert cells["figure_id"].is_unique
    per_table = cells.groupby("table").size()
    assert {name: per_table[name] for name in ROWS} == {name: 3 * rows for name, rows in ROWS.items()}
    assert set(cells["table"]) == {*ROWS, "Figura 1", "Figura 2", "text"}
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
    read_off = fitted["reason"].str.startswith("the level is read off")
    assert fitted[~read_off].groupby("table").size().to_dict() == {"Tabla 1": 18, "Tabla 2": 18, "Tabla 5": 6}
    assert fitted.loc[~read_off, "reason"].str.startswith("input").all()
    assert fitted[read_off].groupby("table").size().to_dict() == {"Tabla 3": 12, "Tabla 4": 12, "Tabla 6": 14}
    assert set(fitted.loc[read_off, "column"]) == set(KEYS)
    assert cells.loc[~cells["fitted"], "reason"].str.startswith("copied").all()


def test_kinds_of_figures(figures):
    found = kinds(figures)
    assert found.value_counts().to_dict() == {"copied": 61, "input": 42, "generalised": 38, "claim": 20, "absent": 6}
    assert found.index.equals(figures.index)
    assert found.isin(["input", "generalised"]).equals(figures["fitted"])
    assert set(figures.loc[found == "absent", "verdict"]) == {"illegible", "not-in-text"}
    # A copied cell stands in an earlier table: its own record's there, by plain look-up.
    before = {"Tabla 5": "Tabla 2", TABLE_5_AGAIN: "Tabla 5", "Tabla 6": "Tabla 5"}
    for cell in figures[found == "copied"].itertuples():
        origin = table(before.get(cell.table, "Tabla 2"))
        assert str(origin.loc[int(cell.row), cell.column]) == cell.printed
    assert kinds(published_figures("aepd")).value_counts().equals(found.value_counts())
    assert kinds(figures.iloc[:0]).empty


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
        "exact": 156,
        "published-error": 5,
        "illegible": 2,
        "not-in-text": 4,
    }
    wrong = claims[claims["verdict"] == "published-error"]
    assert sorted(wrong.index) == ["directive-page-2", "high-k", "one-anonymity", "tabla-4-kind", "tabla-6-k"]
    assert wrong["computed_text"].to_dict() == {
        "directive-page-2": "95/46",
        "tabla-4-kind": "global",
        "high-k": "con total certeza",
        "one-anonymity": "4 de 6",
        "tabla-6-k": "",
    }
    assert claims.loc["tabla-6-k", ["published", "computed", "difference"]].tolist() == [2, 1, -1]
    assert "record 7 (37***, 30-39)" in claims.loc["tabla-6-k", "reason"]
    assert sorted(claims.index[claims["verdict"] == "illegible"]) == ["others-who-share", "probability"]
    assert sorted(claims.index[claims["verdict"] == "not-in-text"]) == ["page-7", "record-7"]
    assert figures.set_index("table").loc[["Figura 1", "Figura 2"], "verdict"].tolist() == ["not-in-text"] * 2


def test_only_the_last_record_is_out_of_range(claims):
    """AEPD, page 6: the last added record is out of range. The other one is in ranges of Tabla 3."""
    codes, ranges = set(table("Tabla 3")["postcode"]), set(table("Tabla 3")["age"])
    outside = [
        record
        for record, (code, age, _) in zip(range(1, 9), table("Tabla 5").values.tolist(), strict=True)
        if f"{code[:2]}***" not in codes or f"{age // 10 * 10}-{age // 10 * 10 + 9}" not in ranges
    ]
    assert outside == [8]
    assert claims.loc["out-of-range", ["computed_text", "verdict"]].tolist() == ["el último", "exact"]
    assert "record 8" in claims.loc["out-of-range", "reason"]
    assert "37*** and 30-39" in claims.loc["out-of-range", "reason"]
    assert "7 of 8, and not record 7" in claims.loc["record-7", "reason"]


def test_records_of_tabla_2_that_are_identifiable(claims):
    """AEPD, page 4, second conclusion, and page 3: k - 1 others at least, so 0 others at least for k = 1."""
    counts = f_k(table("Tabla 2").values.tolist())
    assert counts == [1, 1, 2, 2, 1, 1]
    assert all(count >= 1 for count in counts)
    assert f"{counts.count(1)} of {len(counts)} stand alone, and 3 and 4" in claims.loc["one-anonymity", "reason"]


def test_reasons_hold_what_was_computed(claims):
    by_age = [(postcode, age // 10) for postcode, age, _ in table("Tabla 2").values.tolist()]
    assert f"give k = {min(f_k(by_age))}" in claims.loc["tabla-3-k", "reason"]
    finer = sum(
        a != b for key in KEYS for a, b in zip(table("Tabla 3")[key], table("Tabla 4")[key], strict=True)
    )  # in Tabla 4 two postcodes stand in full
    assert claims.loc["tabla-4-precision", "reason"].startswith(f"{finer} of 12 key cells")
    assert "25 of the 25 classes" in claims.loc["class-28-40-49", "reason"]
    pairs = sum(len({tuple(r[:2]) for r, n in zip(rows, f_k(rows), strict=True) if n > 1}) for rows in printed_rows())
    assert f"{pairs} of the {pairs} classes" in claims.loc["high-k", "reason"]
    assert "only the postcodes of 3 and 4 stay whole" in claims.loc["tabla-4-kind", "reason"]


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
    assert len(figures) == len(result["figures"]) == 167
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
    assert "5 of 167 figures ask for attention" in out


def test_the_note_alone_loads_no_population():
    code = (
        "import kanon_lab.data.load as load; from kanon_lab.published import audit\n"
        "def fail(path): raise AssertionError('loaded')\n"
        "load._read_embedded = fail; print(len(audit('aepd').figures))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "167\n", done.stderr
