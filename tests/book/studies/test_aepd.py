"""The transcription and the audit of the AEPD's note on k-anonymity."""

import json
import re
import subprocess
import sys

import pandas as pd
import pytest

from kanon_book.studies import audit, published_figures
from kanon_book.studies.aepd import (
    HEADINGS,
    KEYS,
    TABLE_5_AGAIN,
    TABLES,
    generalisation,
    homogeneity,
    levels_used,
    local_levels,
    recomputed_tables,
    table,
)
from kanon_book.studies.aepd_audit import recompute
from kanon_lab.cli import run
from kanon_lab.errors import OptionError

pytestmark = pytest.mark.usefixtures("audited_once")

ROWS = {"Tabla 1": 6, "Tabla 2": 6, "Tabla 3": 6, "Tabla 4": 6, "Tabla 5": 8, TABLE_5_AGAIN: 8, "Tabla 6": 7}


@pytest.fixture(scope="module")
def figures():
    return audit("aepd").figures


@pytest.fixture(scope="module")
def claims(figures):
    found = figures[figures["table"] == "text"]
    return found.set_index(found["figure_id"].str.removeprefix("aepd/text/"))


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
    inputs, fitted = (cells[cells["kind"] == kind] for kind in ("input", "fitted"))
    assert inputs.groupby("table").size().to_dict() == {"Tabla 1": 18, "Tabla 2": 18, "Tabla 5": 6}
    assert inputs["reason"].str.startswith("input").all()
    assert fitted.groupby("table").size().to_dict() == {"Tabla 3": 12, "Tabla 4": 12, "Tabla 6": 14}
    assert fitted["reason"].str.startswith("the level is read off").all()
    assert set(fitted["column"]) == set(KEYS)
    assert cells.loc[~cells.index.isin([*inputs.index, *fitted.index]), "reason"].str.startswith("copied").all()


def test_kinds_of_figures(figures, claims):
    assert figures["kind"].value_counts().to_dict() == {
        "copied": 64,
        "input": 42,
        "fitted": 38,
        "recomputed": 33,
        "unchecked": 9,
    }
    # A copied cell stands in an earlier table: its own record's there, by plain look-up.
    before = {"Tabla 5": "Tabla 2", TABLE_5_AGAIN: "Tabla 5", "Tabla 6": "Tabla 5"}
    cells = figures[figures["table"].isin(list(ROWS)) & (figures["kind"] == "copied")]
    assert len(cells) == 61
    for cell in cells.itertuples():
        origin = table(before.get(cell.table, "Tabla 2"))
        assert str(origin.loc[int(cell.row), cell.column]) == cell.printed
    assert sorted(claims.index[claims["kind"] == "copied"]) == ["conclusions", "keys", "methods"]


def test_some_figures_alone():
    some = published_figures("aepd").query("table == 'Tabla 6'")
    assert recompute(some).loc[some.index, "computed_text"].tolist() == some["printed"].tolist()
    assert recompute(some.iloc[:0]).empty


def plain(text):
    """A text without blanks, which the extraction puts inside words, and with one kind of dash."""
    return re.sub(r"\s+", "", text).replace("–", "-")


@pytest.fixture(scope="module")
def pages(source_text):
    parts = re.split(r"PAGE\s+–\s+(\d+)\s+=+", source_text("aepd-k-anonimidad.txt"))
    return {f"page {number}": plain(text) for number, text in zip(parts[1::2], parts[2::2], strict=True)}


def test_every_cell_is_what_the_text_has(pages):
    """Tablas that stand side by side are read row by row: a record of the one, a record of the other."""
    found = re.findall(r"(\d{5}|\d{2}\*{3})(\d{2}(?:-\d{2})?)([SN])(?![a-z])", "".join(pages.values()))
    both, pair, fifth, last = found[:12], found[12:24], found[24:32], found[32:]
    printed = {
        "Tabla 1": both[::2],
        "Tabla 2": both[1::2],
        "Tabla 3": pair[::2],
        "Tabla 4": pair[1::2],
        "Tabla 5": fifth,
        TABLE_5_AGAIN: [*last[:14:2], last[14]],  # its last record has none beside it
        "Tabla 6": last[1:14:2],
    }
    for name, rows in printed.items():
        assert list(table(name).astype(str).itertuples(index=False, name=None)) == rows, name


#: Around what is printed, where it is too short to be found alone.
CONTEXT = {
    "recital-directive": "La Directiva 95/46 en su considerando {}",
    "recital-regulation": "el considerando {} del RGPD",
    "article-29": "grupo de trabajo del artículo {} de la",
    "keys": "existen {} atributos",
    "tabla-1-caption": "Tabla 1: {}-anonimización",
    "tabla-2-caption": "Tabla 2: {}-anonimización",
    "tabla-1-k": "La tabla 1 esta {}-anonimizada",
    "tabla-1-rows": "al menos en {} filas",
    "tabla-2-not-2": "la tabla 2 {} lo está",
    "tabla-3-k": "un conjunto de datos {}-anónimo",
    "tabla-4-k": "un conjunto de datos {}-anónimo",
    "tabla-3-kind": "Tabla 3 - Generalización {}",
    "tabla-4-kind": "Tabla 4 - Generalización {}",
    "first-records": "Para los {} primeros registros",
    "tabla-6-k": "llegaría a ser {}-anónima",
}


def test_every_claim_is_what_the_text_has(pages, claims):
    # Our word for what the page says of Madrid.
    printed = claims.drop("class-28-40-49").query("printed != ''")
    for name, claim in printed.iterrows():
        assert plain(CONTEXT.get(name, "{}").format(claim["printed"])) in pages[claim["row"]], name


def test_local_levels_keep_the_postcode_of_records_that_share_their_key():
    assert local_levels(table("Tabla 5")).values.tolist() == [[1, 1], [1, 1], [0, 1], [0, 1], *[[1, 1]] * 4]


def test_levels_of_records_are_read_off_the_tables():
    second = table("Tabla 2")
    assert levels_used(second, table("Tabla 3")).values.tolist() == [[1, 1]] * 6
    assert levels_used(second, table("Tabla 4")).equals(local_levels(second))


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
        "exact": 174,
        "in-part": 1,
        "published-error": 2,
        "illegible": 2,
        "not-in-text": 7,
    }
    wrong = claims[claims["verdict"] == "published-error"]
    assert sorted(wrong.index) == ["directive-page-2", "tabla-6-k"]
    assert wrong["computed_text"].to_dict() == {
        "directive-page-2": "95/46",
        "tabla-6-k": "",
    }
    assert claims.loc["tabla-6-k", ["published", "computed", "difference"]].tolist() == [2, 1, -1]
    assert "record 7 (37***, 30-39)" in claims.loc["tabla-6-k", "reason"]
    assert sorted(claims.index[claims["verdict"] == "illegible"]) == ["others-who-share", "probability"]
    assert sorted(claims.index[claims["verdict"] == "not-in-text"]) == [
        "close-values",
        "high-k",
        "page-7",
        "record-7",
        "useless",
    ]
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


def test_claims_about_what_the_two_methods_do(claims):
    """AEPD, pages 4 to 9, by plain comparison of the printed tables."""
    for name, before in {"Tabla 3": "Tabla 2", "Tabla 4": "Tabla 2", "Tabla 6": "Tabla 5"}.items():
        for old, new in zip(table(before).values.tolist(), table(name).values.tolist(), strict=False):
            assert new[0] in (old[0], old[0][:2] + "***")
            assert int(new[1][:2]) <= old[1] <= int(new[1][3:])
            assert new[2] == old[2]
    low, high = (pick(row[1] for row in table("Tabla 2").values.tolist()) for pick in (min, max))
    assert [low <= age <= high for age in (33, 13)] == [False, False]
    assert "4 of the 4 key values" in claims.loc["tabla-5-caption", "reason"]
    assert "is 0.5 without the two records, and 1 with them" in claims.loc["unusual", "reason"]
    assert claims.loc["no-guarantee", "reason"].startswith("Tabla 1, Tabla 3 and Tabla 4 are 2-anonymous")
    fine = ["not-perturbative", "increase", "tabla-5-caption", "unusual", "certainty", "no-guarantee"]
    assert (claims.loc[fine, ["verdict", "kind"]] == ["exact", "recomputed"]).all(axis=None)


def test_records_of_tabla_2_that_are_identifiable(claims):
    """AEPD, page 4, second conclusion, and page 3: k - 1 others at least, so 0 others at least for k = 1."""
    counts = f_k(table("Tabla 2").values.tolist())
    assert counts == [1, 1, 2, 2, 1, 1]
    assert all(count >= 1 for count in counts)
    said = claims.loc["one-anonymity"]
    assert (said["verdict"], said["kind"]) == ("exact", "recomputed")
    assert f"{counts.count(1)} of the {len(counts)} records of Tabla 2" in said["reason"]
    assert "3 and 4 share their key" in said["reason"]


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
    assert "the postcodes of 3 and 4 stay whole" in claims.loc["tabla-4-kind", "reason"]
    assert "the note's definition of global" in claims.loc["tabla-4-kind", "reason"]
    assert "37 to 44, but not the postcodes, 24700 to 37003, of 3" in claims.loc["close-values", "reason"]


def test_no_row_has_a_total():
    here = audit("aepd").rows_off
    assert here.empty
    assert here.columns.tolist() == ["source", "table", "row", "total", "sum", "difference"]


def test_a_population_does_not_concern_the_note(capsys):
    with pytest.raises(OptionError, match="aepd is recomputed from its own tables"):
        audit("aepd", pd.DataFrame())
    assert run(["audit", "--source", "aepd", "--population", "no-such-file.px"]) == 2
    assert capsys.readouterr().err.startswith("kanon-lab: aepd is recomputed from its own tables")


def test_the_command_prints_words_in_the_place_of_numbers(capsys):
    assert run(["audit", "--source", "aepd", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    figures = {(f["table"], f["row"], f["column"]): f for f in result["figures"]}
    assert len(figures) == len(result["figures"]) == 186
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
    assert "printed 45/96, computed 95/46 (published-error)" in out
    assert "2 of 186 figures ask for attention" in out


def test_the_note_alone_loads_no_population():
    code = (
        "import kanon_lab.data.counts as load; from kanon_book.studies import audit\n"
        "def fail(path): raise AssertionError('loaded')\n"
        "load._read_embedded = fail; print(len(audit('aepd').figures))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "186\n", done.stderr
