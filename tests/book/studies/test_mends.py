"""The smallest changes that make Tabla 6 of the AEPD's note 2-anonymous."""

from itertools import combinations

import pytest

from kanon_book.studies.aepd import Change, generalisation, mended, smallest_mends, table, without_removal
from kanon_lab.errors import OptionError


@pytest.fixture(scope="module")
def mends():
    return {missing: smallest_mends(missing=missing) for missing in ("category", "wildcard")}


def compatible(a, b):
    return all(x == y or set(x) == {"*"} or set(y) == {"*"} for x, y in zip(a[:2], b[:2], strict=True))


def k_of(frame, missing):
    rows = frame.values.tolist()
    alike = compatible if missing == "wildcard" else lambda a, b: a[:2] == b[:2]
    return min(sum(alike(a, b) for b in rows) for a in rows)


def test_nothing_changed_is_tabla_6():
    assert mended().astype(str).equals(table("Tabla 6").astype(str))


def test_three_cells_mend_tabla_6_and_no_two_do(mends):
    found = mends["category"]
    assert found.loc[0, ["kind", "cells", "k_category"]].tolist() == ["as printed", 0, 1]
    smallest = found[found["kind"].isin(["record removed", "cells generalised"])]
    assert smallest["mend"].tolist() == ["record 7 removed", "postcode of 3, 4, 7 to *****", "age of 1, 5, 7 to *"]
    assert set(smallest["cells"]) == {3}
    # By plain trial: no two cells masked at all give every record a companion.
    places = [(record, key) for record in range(1, 8) for key in ("postcode", "age")]
    sixth = mended()
    for pair in combinations(places, 2):
        frame = sixth.copy()
        for record, key in pair:
            frame.loc[record, key] = "*****" if key == "postcode" else "*"
        assert k_of(frame, "category") == 1


def test_under_the_wildcard_meaning_one_cell_is_enough(mends):
    found = mends["wildcard"].set_index("mend")
    single = found[found["kind"] == "cells generalised"]
    assert set(single["cells"]) == {1}
    assert (single["k_category"] == 1).all()
    # Masking the stray record itself leaves it the only match of its true key; masking another one does not.
    matches = single["fewest_matches"].to_dict()
    assert {mend for mend, n in matches.items() if n == 1} == {"postcode of 7 to *****", "age of 7 to *"}
    assert {mend for mend, n in matches.items() if n == 2} == {
        *(f"postcode of {record} to *****" for record in (3, 4)),
        *(f"age of {record} to *" for record in (1, 5)),
    }


@pytest.mark.parametrize("missing", ["category", "wildcard"])
def test_every_row_says_what_its_table_is(mends, missing):
    for row in mends[missing].itertuples():
        frame = mended(row.changes)
        assert [row.k_category, row.k_wildcard] == [k_of(frame, m) for m in ("category", "wildcard")]
        keys = [tuple(r[:2]) for r in frame.values.tolist()]
        assert (row.records, row.classes) == (len(frame), len(set(keys)))
        values = {key: {v for k, v in zip(keys, frame["cholesterol"], strict=True) if k == key} for key in keys}
        assert row.homogeneous == sum(len(found) == 1 for found in values.values())


def test_a_whole_column_at_the_top_mends_it_too(mends):
    whole = mends["category"].query("kind == 'whole column to the top'")
    assert whole["cells"].tolist() == [7, 7]
    assert whole["k_category"].tolist() == [3, 2]
    postcodes, ages = (mended(changes) for changes in whole["changes"])
    assert set(postcodes["postcode"]) == {"*****"}
    assert set(ages["age"]) == {"*"}


def test_one_level_more_for_every_postcode_does_not_mend_it():
    levels = [2, 2, 1, 1, 2, 2, 2]  # one above those of Tabla 6
    frame = mended([Change(record, "postcode", level) for record, level in enumerate(levels, start=1)])
    assert frame["postcode"].tolist() == ["*****"] * 2 + ["24***"] * 2 + ["*****"] * 3
    assert k_of(frame, "category") == 1


def test_tabla_5_is_2_anonymous_without_removing_a_record():
    kept = without_removal()
    fourth = table("Tabla 4").values.tolist()
    assert kept.table.values.tolist() == [*fourth, ["*****", "*", "N"], ["*****", "*", "S"]]
    assert kept.table.index.equals(table("Tabla 5").index)
    assert generalisation(table("Tabla 5"), kept.table) == "global"
    said = ["kind", "cells", "records", "classes", "homogeneous", "k_category", "k_wildcard"]
    assert kept.mend[said].tolist() == ["nothing removed", 4, 8, 4, 3, 2, 4]
    assert [k_of(kept.table, missing) for missing in ("category", "wildcard")] == [2, 4]
    # Whoever knows the true key of record 7 or 8 finds both; every other key fits its own pair, and these two.
    assert kept.mend["fewest_matches"] == 2
    assert {(change.record, change.variable) for change in kept.mend["changes"]} == {
        (record, key) for record in (7, 8) for key in ("postcode", "age")
    }


def test_changes_are_applied():
    frame = mended([Change(7), Change(3, "postcode", 1), Change(1, "age", 2)])
    assert frame.index.tolist() == [1, 2, 3, 4, 5, 6]
    assert frame.loc[3, "postcode"] == "24***"
    assert frame.loc[1, "age"] == "*"


def test_another_meaning_is_one_line():
    with pytest.raises(OptionError, match="category or wildcard"):
        smallest_mends(missing="error")
