"""``kanon-lab audit``: every published figure, and one alone."""

import json

import pytest

from kanon_book.studies import KINDS, SOURCES, VERDICTS, published_figures
from kanon_lab.cli import run

pytestmark = pytest.mark.usefixtures("audited_once")

STUDY = "gil-bellosta-2011"


def call(capsys, *args):
    code = run([*args])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.fixture(scope="module")
def note():
    """The JSON of the shortest source to audit."""
    from contextlib import redirect_stdout
    from io import StringIO

    with redirect_stdout(StringIO()) as out:
        assert run(["audit", "--source", "aepd", "--json"]) == 0
    return json.loads(out.getvalue())


def test_json_lists_every_figure_and_strict_exits_with_1_where_one_disagrees(capsys):
    code, out, _ = call(capsys, "audit", "--strict", "--source", STUDY, "--json")
    result = json.loads(out)
    assert (code, result["verdicts"]["disagrees"] > 0) == (1, True)
    transcribed = published_figures(STUDY)
    assert {figure["figure_id"] for figure in result["figures"]} == {*transcribed["figure_id"]}
    assert sum(table["figures"] for table in result["summary"]) == len(transcribed)
    keys = "figure_id source table row column printed published computed difference verdict kind fitted reason chapter"
    assert {*keys.split()} <= set(result["figures"][0])
    assert isinstance(result["figures"][0]["printed"], str)


def test_json_counts_kinds_and_verdicts(note):
    figures = note["figures"]
    assert list(note["kinds"]) == list(KINDS)
    assert list(note["verdicts"]) == list(VERDICTS)
    for name, counts in (("kind", note["kinds"]), ("verdict", note["verdicts"])):
        assert counts == {each: sum(figure[name] == each for figure in figures) for each in counts}
    for row in note["evidence"]:
        same = [each["verdict"] for each in figures if each["kind"] == row["kind"] and each["source"] == row["source"]]
        assert row["figures"] == len(same) > 0
        assert {verdict: row[verdict] for verdict in VERDICTS} == {v: same.count(v) for v in VERDICTS}
    assert [row["kind"] for row in note["evidence"]] == [kind for kind in KINDS if note["kinds"][kind]]


def test_the_headline_counts_what_is_set_against_something_else(capsys, note):
    code, out, _ = call(capsys, "audit", "--source", "aepd")
    assert (code, note["verdicts"]["published-error"] > 0) == (0, True)
    first = out.splitlines()[0]
    assert first.startswith(f"{len(note['figures'])} figures printed; {note['kinds']['recomputed']} recomputed from ")
    right = sum(figure["kind"] == "recomputed" and figure["verdict"] == "exact" for figure in note["figures"])
    assert f": {right} exact, " in first
    # A terminal of a common width: at most ten columns of counts, and nobody's eye has to cross sixteen.
    header = next(line for line in out.splitlines() if line.startswith("source"))
    assert len(header.split()) <= 10
    for figure in note["figures"]:
        assert (f"  {figure['figure_id']} ({figure['kind']})\n" in out) == (
            figure["verdict"] in ("disagrees", "published-error")
        )


@pytest.mark.parametrize("figure_id", ["aepd/tabla-6/1/age", "aepd/text/directive-page-2", "garin-1996/text/p-b"])
def test_one_figure_alone(capsys, figure_id):
    code, out, _ = call(capsys, "audit", "--figure", figure_id, "--json")
    one = json.loads(out)
    assert code == 0
    assert isinstance(one, dict)
    told = "figure_id source citation place table row column unit printed computed difference tolerance inputs formula "
    told += "code kind kind_meaning verdict verdict_meaning reason chapter"
    assert {*told.split()} <= set(one)
    assert one["figure_id"] == figure_id
    assert (one["kind_meaning"], one["verdict_meaning"]) == (KINDS[one["kind"]], VERDICTS[one["verdict"]])
    code, out, _ = call(capsys, "audit", "--figure", figure_id)
    assert code == 0
    assert out.startswith(f"{figure_id}\n")
    for name in (
        "citation",
        "row",
        "printed",
        "verdict_meaning",
        "kind_meaning",
        "reason",
        "inputs",
        "formula",
        "code",
    ):
        assert one[name] in out


def test_one_figure_is_the_one_of_the_list(capsys, note):
    figure = note["figures"][0]
    _, out, _ = call(capsys, "audit", "--source", "aepd", "--figure", figure["figure_id"], "--json")
    one = json.loads(out)
    assert {name: one[name] for name in figure if name != "fitted"} == {
        n: v for n, v in figure.items() if n != "fitted"
    }


def test_an_unknown_figure_is_answered_by_the_nearest(capsys):
    code, out, err = call(capsys, "audit", "--figure", "aepd/tabla-1/1/agge")
    assert (code, out) == (2, "")
    assert "did you mean aepd/tabla-1/1/age?" in err
    code, _, err = call(capsys, "audit", "--figure", "AEPD/Tabla-1/1/age")
    assert code == 2
    assert "did you mean aepd/tabla-1/1/age?" in err


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--figure", ""], "the figure_id is empty"),
        (["--figure", "aepd/" + "x" * 100_000], "kanon-lab audit --source aepd --json lists every figure_id of it"),
        (["--figure", "ine-chile-2023/text/xyz"], "kanon-lab audit --source ine-chile-2023 --json lists"),
        (["--figure", "golle-2006/text/day"], "it begins with no source (gil-bellosta-2011, aepd, "),
        (["--source", "nosource", "--figure", "aepd/tabla-1/1/age"], "unknown source 'nosource'"),
        (["--source", "nosource", "--figure", "x"], "unknown source 'nosource'"),
    ],
)
def test_a_figure_that_there_is_not(capsys, args, said):
    """What is far from every figure is answered by how to list them, not by another figure."""
    code, out, err = call(capsys, "audit", *args)
    assert (code, out) == (2, "")
    assert said in err
    assert "did you mean" not in err
    assert len(err) < 400


@pytest.mark.parametrize(
    ("figure_id", "place"),
    {
        "ine-chile-2023/text/formula": "section 7.5.2",
        "ine-chile-2023/text/block-k": "Bloque 7.5",
        "ine-chile-2023/tabla-7-1/1/f-k": "section 7.5.1",
    }.items(),
)
def test_json_says_where_a_figure_stands(capsys, figure_id, place):
    _, out, _ = call(capsys, "audit", "--figure", figure_id, "--json")
    assert json.loads(out)["place"] == place


def test_every_place_of_the_list_is_said(note):
    assert [figure["figure_id"] for figure in note["figures"] if not figure["place"]] == []


def test_a_population_given_takes_the_place_of_the_embedded_one(capsys, tmp_path):
    """The inputs of a figure that is recomputed from counts say which."""
    figure, said = f"{STUDY}/text/narrow", "; the population given takes the place of spain-2010"
    file = tmp_path / "counts.csv"
    file.write_text(
        "place,name,sex,age_group,persons\n29025,Benalmádena,men,0-4,1500\n29025,Benalmádena,women,0-4,1400\n"
    )
    code, out, _ = call(capsys, "audit", "--figure", figure, "--population", str(file))
    assert code == 0
    assert said in out
    _, out, _ = call(capsys, "audit", "--figure", figure)
    assert said not in out


def test_strict_of_one_figure_judges_it_alone(capsys, note):
    wrong = next(figure for figure in note["figures"] if figure["verdict"] == "published-error")
    right = next(figure for figure in note["figures"] if figure["verdict"] == "exact")
    assert call(capsys, "audit", "--strict", "--figure", wrong["figure_id"])[0] == 1
    assert call(capsys, "audit", "--strict", "--figure", right["figure_id"])[0] == 0


def test_every_source_has_a_citation():
    """As the book's bibliography has it."""
    from pathlib import Path

    from kanon_book.studies import CITATIONS

    bibliography = (Path(__file__).resolve().parents[2] / "book" / "references.bib").read_text("utf-8")
    assert set(CITATIONS) == set(SOURCES)
    for citation in CITATIONS.values():
        title = citation.split("). ")[1].split(". ")[0]
        assert title in bibliography
