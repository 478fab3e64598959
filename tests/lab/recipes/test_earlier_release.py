"""The limit ``k_with``: a release beside an earlier one."""

import pandas as pd
import pytest

from kanon_lab.cli import run
from kanon_lab.errors import KanonLabError
from kanon_lab.recipes import judge, read_recipe, risk_utility_map
from kanon_lab.report import analyse, as_config
from kanon_lab.report.sections import section

AGES = [4, 12, 13, 25, 4, 12, 13, 25]
FILE = pd.DataFrame({"id": range(8), "age": AGES, "zone": [*"nnnnssss"]})
SETTINGS = {"key_variables": ["age"], "direct_identifiers": ["zone"], "released_as_is": ["id"]}
BANDS = {"recode": {"variable": "age", "bands": [0, 10, None]}}


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "old.csv"
    FILE.assign(age=["0-14" if age < 15 else "15+" for age in AGES]).to_csv(path, index=False)
    return str(path)


def verdict(earlier, *steps, file=FILE, **limits):
    settings = {**SETTINGS, "earlier_release": earlier, "limits": {"k": 2, **limits}, "steps": [BANDS, *steps]}
    config = as_config(settings)
    chain = config.recipe.apply(file)
    judged = judge(chain, config.limits)
    return {row["name"]: (row["value"], row["limit"], row["met"]) for row in judged.to_dict()["limits"]}, judged


def test_the_limit_is_that_on_k_and_links_by_the_identifier(old):
    # 0-14 then 10+ are 4 persons; 15+ then 10+ are 2, and so are 0-14 then under 10
    rows, judged = verdict({"file": old, "id": "id"}, k=3)
    assert rows["k_with"] == (2, 3, False) and not judged.met
    assert judged.together.to_dict()["linked_by"] == "id"
    assert verdict({"file": old, "id": "id"}, k=3, k_with=2)[0]["k_with"] == (2, 2, True)
    assert "k_with" not in verdict({"file": old, "id": "id"}, k_with=None)[0]


def test_without_an_identifier_places_link_until_somebody_says_no(old):
    gone = {"remove_variables": {"variables": "id"}}
    assert verdict({"file": old, "id": "id"}, gone)[1].together.linked_by == "order"
    assert verdict({"file": old, "same_order": False}, gone)[1].together.linked_by is None
    shuffled = verdict({"file": old, "id": "id"}, gone, {"shuffle_records": {"seed": 3}})
    assert shuffled[1].together.linked_by is None
    # the counts of crossing bands are those of the same persons, who need no link to be counted
    assert shuffled[0]["k_with"] == (2, 2, True)


def test_new_pseudonyms_do_not_link(old):
    new = FILE.assign(id=[*"abcdefgh"])[:7]
    rows, judged = verdict({"file": old, "id": "id"}, file=new)
    assert judged.together.linked_by == "id" and len(judged.together.linked.joint) == 0
    assert rows["k_with"][0] == 2


def test_without_an_earlier_release_the_limit_is_not_met_and_says_what_to_add(tmp_path, capsys):
    FILE.to_csv(tmp_path / "new.csv", index=False)
    (tmp_path / "r.yml").write_text("{key_variables: [zone], released_as_is: [id, age], limits: {k: 2, k_with: 2}}")
    paths = [str(tmp_path / name) for name in ("new.csv", "r.yml")]
    assert run(["protect", paths[0], "--recipe", paths[1], "--dry-run", "--fail"]) == 3
    out = " ".join(capsys.readouterr().out.split())
    assert "NOT MET k (for an intruder who has the earlier release too): not known, to be at least 2 This needs" in out
    assert "earlier_release: {file: last_year.csv, id: pseudonym}" in out


def test_the_file_lies_beside_the_recipe_and_is_not_overwritten(old, tmp_path, capsys):
    (tmp_path / "r.yml").write_text("{key_variables: [age], earlier_release: {file: old.csv, id: id}}")
    assert read_recipe(tmp_path / "r.yml").earlier_release.path == old
    arguments = ["protect", old, "--recipe", str(tmp_path / "r.yml"), "--out"]
    other = tmp_path / "other.csv"
    FILE.to_csv(other, index=False)
    assert run(["protect", str(other), *arguments[2:], old]) == 2
    assert "the output path is equal to the earlier release" in capsys.readouterr().err
    (tmp_path / "r.yml").write_text("{key_variables: [age], earlier_release: {file: absent.csv}}")
    assert run([*arguments, str(tmp_path / "out.csv")]) == 2
    assert "r.yml: earlier release absent.csv is not there" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("earlier", "fault"),
    [
        ({"id": "id"}, "r.yml: earlier_release: file is not given; write it, such as file: last_year.csv"),
        ("old.csv", "r.yml: earlier_release: must be a file and what links its records"),
        ({"file": "old.csv", "ident": "id"}, "r.yml: earlier_release: "),
    ],
)
def test_faults_of_the_setting_are_one_line(earlier, fault):
    with pytest.raises(KanonLabError) as caught:
        as_config({**SETTINGS, "earlier_release": earlier}, name="r.yml")
    assert str(caught.value).startswith(fault) and "\n" not in str(caught.value)


def test_an_identifier_that_is_not_there_is_said_before_any_step(old):
    with pytest.raises(KanonLabError, match="old.csv: column pseudonym is not there"):
        verdict({"file": old, "id": "pseudonym"})


def test_pages_show_the_verdict_and_the_office_what_both_tell(old):
    settings = {**SETTINGS, "earlier_release": {"file": old, "id": "id"}, "limits": {"k": 3}, "steps": [BANDS]}
    for internal in (True, False):
        for language in ("en", "es"):
            found = analyse(FILE, as_config({**settings, "language": language}), name="x", internal=internal)
            text = " ".join(part.html for name in ("summary", "internal") for part in section(found, name, language))
            title = {"en": "has the earlier release too", "es": "tenga también la edición anterior"}[language]
            assert title in text
            alone = {"en": "persons in both, hidden keys filled in", "es": "con las claves ocultas completadas"}
            assert (alone[language] in text) == internal
            assert old not in text


def test_a_map_judges_each_recipe_with_it(old):
    grid = {"w": [[0, 10, None], [0, 15, None]]}
    steps = [{"recode": {"variable": "age", "bands": "$w"}}]
    tried = {**SETTINGS, "earlier_release": {"file": old, "id": "id"}, "limits": {"k": 2}, "steps": steps}
    mapped = risk_utility_map(FILE, tried, grid, workers=1, risk="k_with", progress=False)
    assert mapped.points["k_with"].tolist() == [2, 2]
    tried["limits"] = {"k": 2, "k_with": 3}
    assert not risk_utility_map(FILE, tried, grid, workers=1, progress=False).points["met"].any()


PANEL = pd.DataFrame({"p": [1, 1, 2, 2, 3, 3, 4, 4], "year": [1, 2] * 4, "zone": [*"nsnsnsns"], "job": [*"aaaaabab"]})
OF_PERSONS = {"key_variables": ["zone", "job"], "person": "p", "released_as_is": ["year"]}


def of_persons(tmp_path, *steps, file=PANEL, old=PANEL, **earlier):
    old.to_csv(tmp_path / "old.csv", index=False)
    earlier = {"file": str(tmp_path / "old.csv"), **earlier}
    config = as_config({**OF_PERSONS, "earlier_release": earlier, "limits": {"k": 2}, "steps": [*steps]})
    judged = judge(config.recipe.apply(file), config.limits)
    return judged.verdict.set_index("name").loc["k_with", "found"], judged.together


def test_a_person_with_several_records_is_one(tmp_path):
    # in either edition two persons have s with a, and two s with b; no two have the same in both
    new, gone = PANEL.assign(job=[*"abaaaaab"]), {"remove_variables": {"variables": "p"}}
    value, together = of_persons(tmp_path, file=new, same_order=False)
    assert (together.linked_by, value, together.to_dict()["uniques"]["joint"]) == ("person", 1, 4)
    by_year = of_persons(tmp_path, file=new, id="year")[1]
    assert (by_year.linked_by, by_year.to_dict()["records"]["both"]) == ("person", 8)
    value, together = of_persons(tmp_path, gone, {"shuffle_records": {"seed": 1}}, file=new, id="year")
    assert (together.linked_by, value) == (None, 2)
    value, together = of_persons(tmp_path, {"renumber": {"seed": 1}}, file=new)
    assert (together.linked_by, value, together.to_dict()["persons"]["both"]) == ("person", 1, 4)
    shuffled = of_persons(tmp_path, {"renumber": {"seed": 1}}, {"shuffle_records": {"seed": 1}}, file=new)
    assert (shuffled[1].linked_by, shuffled[0]) == (None, 2)
    # a year is left out: the records of two years are told apart by a subtraction, and are of four persons
    value, together = of_persons(tmp_path, gone, file=PANEL[PANEL["year"] == 1], same_order=False)
    assert (together.nested, value, together.to_dict()["persons"]["old"]) == ("old", 1, 4)


def test_places_say_which_record_of_a_person_is_the_same(tmp_path):
    hidden = PANEL.assign(job=[None, *PANEL["job"][1:]], zone=["n", None, *PANEL["zone"][2:]])
    value, together = of_persons(tmp_path, old=hidden)
    assert together.to_dict()["shown_in_one"]["zone"] == {"only_old": 0, "only_new": 1}
    assert "editions_same_places" in [note.key for note in together.notes]
    together = of_persons(tmp_path, old=hidden, same_order=False)[1]
    assert together.to_dict()["shown_in_one"]["zone"] == {"only_old": 0, "only_new": 0}
    assert "editions_records_not_aligned" in [note.key for note in together.notes]
    together = of_persons(tmp_path, {"remove_variables": {"variables": "p"}}, old=hidden.drop(columns="p"))[1]
    assert (together.linked_by, together.to_dict()["persons"]) == ("order", {"old": 4, "new": 4, "both": 4})


def test_a_year_needs_the_person_of_the_earlier_release(tmp_path):
    with pytest.raises(KanonLabError, match="old.csv: column p is not there"):
        of_persons(tmp_path, old=PANEL.drop(columns="p"), id="year")
    with pytest.raises(KanonLabError, match="old.csv: column zone: row .*a person's earlier row has this identifier"):
        of_persons(tmp_path, old=PANEL.assign(zone="n"), id="zone")


def test_the_office_reads_how_persons_are_linked(tmp_path):
    PANEL.to_csv(tmp_path / "old.csv", index=False)
    settings = {**OF_PERSONS, "earlier_release": {"file": str(tmp_path / "old.csv"), "id": "year"}, "limits": {"k": 2}}
    linked = {
        "en": "by the person's identifier, which both have",
        "es": "por el identificador de la persona, que ambas",
    }
    for language, text in linked.items():
        found = analyse(PANEL, as_config({**settings, "language": language}), name="x", internal=True)
        page = " ".join(part.html for part in section(found, "internal", language))
        assert text in page.replace("&#x27;", "'").replace("&#39;", "'")
