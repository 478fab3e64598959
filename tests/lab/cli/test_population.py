"""``kanon-lab population``, and what ``kanon-lab population`` and ``kanon-lab audit`` refuse."""

import json
import zipfile

import pandas as pd
import pytest

from kanon_lab.cli import run

BENALMADENA = ["--year", "2010", "--place", "29025", "--round-each-k", "--ranges"]
BENALMADENA += ["1,2,3,4,5,6-10,11-20,21-50,51-100,101+", "--json"]
FIELDS = ["place", "name", "population", "dates", "periods", "k_from", "k_to", "persons", "share", "sd", "half_width"]


def call(capsys, *args):
    """Exit code, standard output and standard error of one command."""
    code = run([str(arg) for arg in args])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.parametrize(
    "dates,printed",
    [
        ("day", [21759, 21187, 11698, 4696, 1512, 533, 0, 0, 0, 0]),
        ("month", [4, 18, 47, 88, 135, 1249, 5348, 47709, 6783, 2]),
        ("year", [0, 0, 0, 0, 0, 0, 0, 77, 1020, 60286]),
    ],
)
def test_benalmadena_as_printed(capsys, shared, dates, printed):
    """Gil Bellosta (2011), Cuadros 2-4; the open cell of Cuadro 3 is printed 0 and is 2 by the rule."""
    file = shared("ine-padron-33570-malaga.px")
    code, out, _ = call(capsys, "population", file, *BENALMADENA, "--dates", dates)
    rows = json.loads(out)["rows"]
    assert code == 0
    assert [row["persons"] for row in rows] == printed
    assert list(rows[0]) == FIELDS
    assert rows[0]["population"] == 61383
    assert rows[-1]["k_to"] is None


def test_the_embedded_population_by_province(capsys):
    args = ["population", "spain-2010", "--by", "province", "--dates", "day", "--ranges", "1,2+", "--json"]
    code, out, _ = call(capsys, *args)
    rows = json.loads(out)["rows"]
    assert code == 0
    assert len(rows) == 2 * 52
    assert {row["place"]: row["name"] for row in rows}["28"] == "Madrid"


def test_dates_all_three_if_absent_and_others_by_number(capsys):
    _, out, _ = call(capsys, "population", "spain-2010", "--place", "22233", "--json")
    assert {row["dates"]: row["periods"] for row in json.loads(out)["rows"]} == {"day": 1826, "month": 60, "year": 5}
    _, out, _ = call(capsys, "population", "spain-2010", "--place", "22233", "--dates", "week=261", "--json")
    assert {row["periods"] for row in json.loads(out)["rows"]} == {261}


def test_exact_intervals_are_added_on_request(capsys):
    asked = ["population", "spain-2010", "--place", "29S099", "--dates", "day", "--ranges", "1,2,3+"]
    code, out, _ = call(capsys, *asked, "--exact", "--json")
    found = json.loads(out)
    assert code == 0 and list(found["rows"][0]) == [*FIELDS, "lower", "upper", "interval"]
    assert [(row["lower"], row["upper"], row["interval"]) for row in found["rows"]] == [
        (116, 118, "exact"),
        (0, 2, "exact"),
        (0, 0, "exact"),
    ]
    _, out, _ = call(capsys, *asked, "--exact")
    assert "lower  upper  interval" in out and "the normal approximation is good" in " ".join(out.split())
    code, _, err = call(capsys, *asked, "--exact", "--round-each-k")
    assert code == 2 and "not rounded k by k" in err


def test_output_for_people_says_what_the_interval_covers(capsys):
    code, out, err = call(capsys, "population", "spain-2010", "--place", "22233")
    assert code == 0
    assert "Torre la Ribera" in out
    assert "birth dates" in out
    assert err == ""


def test_a_name_cannot_command_the_terminal(capsys, tmp_path):
    file = tmp_path / "counts.csv"
    file.write_text('place,name,sex,age_group,persons\n29025,"\x1b[31mred\x1b]0;pwn\x07\nX\u202e",men,0-4,3\n')
    code, out, _ = call(capsys, "population", file, "--by", "municipality", "--dates", "day", "--ranges", "1+")
    assert code == 0
    assert out.replace("\n", "").isprintable()
    assert r"\x1b[31mred\x1b]0;pwn\x07\nX\u202e" in out


def test_counts_are_read_from_another_sheet_tabs_and_an_archive(capsys, tmp_path):
    counts = pd.DataFrame({"place": ["28079"] * 2, "sex": ["men", "women"], "age_group": ["0-4"] * 2})
    counts["persons"] = [1731, 1650]
    with pd.ExcelWriter(tmp_path / "a.xlsx") as book:
        pd.DataFrame({"title": ["Counts"]}).to_excel(book, sheet_name="about", index=False)
        counts.to_excel(book, sheet_name="counts", index=False)
    counts.to_csv(tmp_path / "a.tsv", sep="\t", index=False)
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.write(tmp_path / "a.tsv", "a.tsv")
    results = []
    for name, *options in (("a.xlsx", "--sheet", "counts"), ("a.xlsx", "--sheet", "2"), ("a.tsv",), ("a.zip",)):
        code, out, err = call(capsys, "population", tmp_path / name, *options, "--json")
        assert (code, err) == (0, "")
        results.append(json.loads(out)["rows"])
    assert results == [results[0]] * 4
    code, out, err = call(capsys, "population", tmp_path / "a.tsv", "--sheet", "2")
    assert (code, out) == (2, "") and err.endswith("has no sheets to choose from; leave out the sheet (--sheet)\n")
    assert call(capsys, "population", tmp_path / "a.xlsx", "--sheet", "3")[0] == 2


def test_right_guesses_are_added_on_request(capsys):
    asked = ["population", "spain-2010", "--place", "29025", "--dates", "day", "--ranges", "1+", "--correctness"]
    code, out, _ = call(capsys, *asked, "--json")
    found = json.loads(out)
    (row,) = found["correctness"]
    assert code == 0 and row["correctness"] == row["keys"] / row["population"]
    assert found["notes"][0].startswith("correctness: expected share of right guesses")
    _, out, _ = call(capsys, *asked)
    assert "61.6%" in out and found["notes"][0] in " ".join(out.split())
