"""Direct identifiers are proved absent, under their names and under others."""

import pandas as pd
import pytest

from kanon_lab.errors import DataError, about
from kanon_lab.recipes import prove_absent

NAMES = ["Ana Soto Rey", "Luz Mora", "Juan Pérez-Cruz", None, "Eva Gil Roca"]
ORIGINAL = pd.DataFrame({"name": NAMES, "id": [101, 102, 103, 104, 105]}, index=list("vwxyz"))
SAFE = pd.DataFrame(
    {"age": [30, 41, 52, 30, 19], "town": ["Soto", "Mora", "Ana", None, "Rey"], "remark": ["none", None, "x", "ok", ""]}
)


def prove(frame, identifiers=("name", "id")):
    with about("out.csv"):
        prove_absent(frame, ORIGINAL, identifiers)


def test_a_file_without_them_is_let_through():
    prove(SAFE)
    prove(ORIGINAL.assign(other=1)[["other"]])
    prove(ORIGINAL, identifiers=())


@pytest.mark.parametrize(
    ("column", "fault"),
    [
        ({"name": SAFE["age"]}, "column name is a direct identifier"),
        ({"other": NAMES}, "column other has the values of the direct identifier name"),
        ({"other": [101, 102, 103, 104, 105]}, "column other has the values of the direct identifier id"),
        ({"other": ["101", "102", "103", "104", "105"]}, "column other has the values of the direct identifier id"),
        ({"other": [101.0, None, 103, None, None]}, "the direct identifier id"),
        ({"other": [101, 102, 103, 104, 0]}, "the direct identifier id"),
        ({"other": [" ana soto REY ", "LUZ MORA", None, None, None]}, "the direct identifier name"),
        ({"other": ["x", "x", "met juan pérez cruz.", "x", "x"]}, "column other: row x: holds the record's own name"),
        ({"other": ["(Ana Soto Rey)", "Luz", "x", None, "by Eva-Gil-Roca"]}, r"row v \(and 1 more\): holds"),
    ],
)
def test_a_file_with_them_is_refused(column, fault):
    with pytest.raises(DataError, match=fault) as caught:
        prove(SAFE.assign(**{name: list(values) for name, values in column.items()}))
    assert str(caught.value).startswith("out.csv: ")
    assert not any(part in str(caught.value) for part in ("Ana", "Soto", "103"))


def test_short_or_few_values_may_agree_by_chance():
    """A surname may be a town's, and the numbers of members in households may be like their sizes."""
    people = pd.DataFrame({"surname": ["Toledo", "Mora", "Gil"] * 4, "line": [1, 2, 3] * 4})
    released = pd.DataFrame({"town": ["Toledo", "Burgos", "Ávila"] * 4, "size": [1, 2, 2] * 4})
    prove_absent(released, people, ["surname", "line"])


def test_another_number_of_records():
    with pytest.raises(DataError, match="does not have the number of records"):
        prove(SAFE.iloc[:3])


@pytest.mark.parametrize("written", ["{0}.{1}.{2}-K", "{0}{1}{2}k", " {0} {1} {2} K", "{0},{1},{2}/k"])
def test_punctuation_and_accents_hide_no_copy(written):
    parts = [(10 + i, 100 + 7 * i, 200 + 3 * i) for i in range(20)]
    people = pd.DataFrame({"id": [f"{a}{b}{c}-K" for a, b, c in parts], "name": ["José Ñu"] * 20})
    released = pd.DataFrame({"other": [written.format(*part) for part in parts]})
    with pytest.raises(DataError, match="column other has the values of the direct identifier id"), about("out.csv"):
        prove_absent(released, people, ["id"])
    people["name"] = [f"José Núñez {chr(65 + i)}" for i in range(20)]
    released["other"] = [f"JOSE NUNEZ {chr(65 + i)}." for i in range(20)]
    with pytest.raises(DataError, match="column other has the values of the direct identifier name"), about("out.csv"):
        prove_absent(released, people, ["name"])


def test_a_part_of_an_identifier_is_another_coding():
    people = pd.DataFrame({"id": [f"{1000 + i}-{i % 10}" for i in range(20)]})
    prove_absent(pd.DataFrame({"number": range(1000, 1020)}), people, ["id"])


PEOPLE = pd.DataFrame(
    {
        "name": [f"Ágata N{i:02} Peña" for i in range(20)],
        "id": [f"{i:08}" for i in range(12_340, 12_360)],
        "nick": [f"Lu{chr(97 + i)}" for i in range(20)],
        "born": pd.date_range("1980-01-01", periods=20, freq="31D"),
    }
)


@pytest.mark.parametrize(
    ("identifier", "column"),
    [
        ("name", PEOPLE["name"].iloc[::-1].str.upper()),
        ("id", PEOPLE["id"].iloc[::-1]),
        ("id", PEOPLE["id"].astype(int)),
        ("id", "no. " + PEOPLE["id"].astype(int).astype(str)),
        ("nick", "called " + PEOPLE["nick"] + ", a friend"),
        ("nick", PEOPLE["nick"].iloc[::-1].where(PEOPLE.index % 3 > 0, "other").iloc[::-1]),
        ("born", PEOPLE["born"].dt.strftime("%Y-%m-%d")),
        ("born", "on " + PEOPLE["born"].dt.strftime("%Y-%m-%d")),
        ("name", "with agata n" + PEOPLE["name"].str[7:9] + " pena"),
    ],
)
def test_other_rows_short_ones_dates_zeros_and_accents_hide_nothing(identifier, column):
    released = pd.DataFrame({"other": column.to_numpy()})
    with (
        pytest.raises(DataError, match=f"column other.*{identifier}, |direct identifier {identifier};"),
        about("out.csv"),
    ):
        prove_absent(released, PEOPLE, [identifier])


def test_a_column_with_a_role_may_have_the_values_of_other_records():
    people = pd.DataFrame({"surname": ["Toledo", "Burgos", "Soria", "Gil"] * 5})
    released = pd.DataFrame({"town": ["Burgos", "Soria", "Toledo", "Jaca"] * 5})
    prove_absent(released, people, ["surname"], roles=["town"])
    with (
        pytest.raises(DataError, match="column town has the values of the direct identifier surname"),
        about("out.csv"),
    ):
        prove_absent(released, people, ["surname"])
