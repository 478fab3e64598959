"""The course project: its model solution and rivals, as recorded and by the marker; what a learner begins with."""

import re
from pathlib import Path

import pandas as pd
import pytest
import yaml
from cases import others_slow
from warm_kernels import forked_notebooks

from kanon_lab import load_microdata
from kanon_lab.cli import run as run_command
from kanon_lab.data import read_microdata
from kanon_lab.notebooks import find_notebooks
from kanon_lab.notebooks.recording import read_notebook
from kanon_lab.report import as_config

BOOK = Path(__file__).resolve().parents[3] / "book"
PAGE = (BOOK / "project.md").read_text("utf-8")
START = BOOK / "project-start.yml"
(MODEL,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
KEYS = ["district", "sex", "age", "home_language", "siblings"]


@pytest.fixture
def school(tmp_path, monkeypatch):
    """The model solution as a file in the working folder; its settings."""
    monkeypatch.chdir(tmp_path)
    Path("school.yml").write_text(MODEL)
    return yaml.safe_load(MODEL)


def mark(capsys, *more):
    """The exit code of the command of the page, and what it says."""
    (command,) = re.findall(r"^kanon-lab (report .*)$", PAGE, re.MULTILINE)
    with forked_notebooks():
        code = run_command([*command.split(), *more])
    return code, "".join(capsys.readouterr())


def test_the_configuration_of_the_page_is_the_notebooks():
    assert max(map(len, MODEL.splitlines())) <= 74
    (cell,) = (each for each in read_notebook(find_notebooks()["project"]).cells if each.metadata.get("tags"))
    names = {}
    exec(cell.source, names)
    assert yaml.safe_load(MODEL) == names["configuration"]


def test_what_a_learner_begins_with_is_what_the_model_keeps_to():
    start, model = yaml.safe_load(START.read_text("utf-8")), yaml.safe_load(MODEL)
    # It can be run as it is.
    assert as_config(start).limits["household_risk"] == 0.035
    for name in ("title", "limits", "missing", "seed", "indicators", "weight", "household"):
        assert start.pop(name) == model[name]
    assert start == {"key_variables": ["sex"], "sensitive_variables": ["meals"]}
    assert "{download}`download it <project-start.yml>`" in PAGE
    assert "```{literalinclude} project-start.yml" in PAGE


def test_the_marker_takes_the_model_solution(school, capsys):
    code, said = mark(capsys, "--protected", "public.csv")
    assert (code, "NOT MET" in said, said.count("caution  ")) == (0, False, 2)
    # By hand: no class below five, no column that was removed, no class in which all have free meals.
    released, survey = read_microdata("public.csv"), load_microdata("school-survey")
    assert len(released) == len(survey)
    assert {"bus_card", "school", "weight", "first_enrolled", "family"}.isdisjoint(released)
    classes = released.groupby(KEYS, dropna=False)
    assert classes.size().min() == 5
    assert (classes["meals"].agg(lambda meals: (meals == "free").mean()) < 0.9).all()
    # In random order: neighbours came from one school, and are now of one district as often as any two.
    neighbours = (released["district"] == released["district"].shift()).mean()
    assert neighbours == pytest.approx((released["district"].value_counts(normalize=True) ** 2).sum(), abs=0.04)


def test_the_marker_takes_the_raw_file_by_a_single_key(school, capsys):
    """As the page says of what a learner begins with."""
    Path("school.yml").write_bytes(START.read_bytes())
    code, said = mark(capsys)
    assert code == 3 and said.count("NOT MET") == 2
    columns = "[bus_card, school, district, age, first_enrolled, home_language, siblings, bullied, reading]"
    code, _ = mark(capsys, "--set", f"released_as_is={columns}", "--protected", "public.csv")
    assert code == 0
    assert "bus_card" in read_microdata("public.csv")


@pytest.mark.parametrize(
    ("kept", "limit"),
    others_slow([("weight", "that other columns bring below k"), ("family", "composition of their household")]),
)
def test_the_marker_stops_who_forgets_a_column(school, capsys, kept, limit):
    school["steps"][0]["remove_variables"]["variables"].remove(kept)
    Path("school.yml").write_text(yaml.safe_dump(school))
    code, said = mark(capsys)
    assert code == 3
    assert re.search(rf"NOT MET .*{limit}", said)


def test_recorded_solution(book):
    results = book["project"]
    assert set(results["verdict"]["verdict"]) == {"met"}
    assert len(results["verdict"]) == 10
    assert (results["cautions"], len(results["notes"])) == (
        2,
        1,
    )  # classes in which nobody is often bullied; the points
    (seeds,) = results["notes"]["note"]
    assert seeds.startswith("step 7 (shuffle_records): the seed is short")
    risk = results["before-after"].set_index("measure")
    assert risk.loc["k achieved"].tolist() == ["1", "5"]
    assert risk.loc["records alone", "released"] == "0"
    assert results["claims"]["records"].tolist() == [0, 0, 0]
    assert results["lost-by"] == "age"
    assert results["inside"] == results["groups"] == 1 + results["districts"]
    # The page says that dropping records with gaps makes the problem smaller.
    assert results["often-gaps"] > results["often-whole"]
    assert results["gap-minority"] > 2 * results["minority"]
    assert results["free-all"] == results["families-found"] == 0
    assert results["bullied-most"] > 0.5
    assert results["points-alone"] < results["points-alone-unrounded"] / 5


def test_recorded_traps(book):
    survey, results = load_microdata("school-survey"), book["project"]
    assert results["weights"] == results["schools"] == survey["school"].nunique()
    assert results["weight-schools"] == 1
    assert results["told-free"] == 1 > 3 * results["free"]
    assert results["rare-districts"] == 1
    assert results["alone-raw"] == (~survey.duplicated([*KEYS, "school"], keep=False)).sum()
    begun = pd.to_datetime(survey["first_enrolled"]).dt.year == 2023 - survey["age"] + 6
    assert results["date-tells"] == pytest.approx(begun.mean(), abs=0.002)


def test_recorded_rivals(book):
    """Each is stopped by its own limit; with too few keys, somebody who knows one thing more finds pupils alone."""
    results = book["project"]
    rivals = results["rivals"].set_index("difference from the model solution")
    few = "the keys are district, sex and age"
    for called, limit in {
        "the weight stays, rounded": "household uniques",
        few: "household uniques",
        "the date of enrolment stays as a year, and is not a key": "exposed by columns",
        "the family ID stays": "household uniques",
        "only the two smallest languages are merged": "t closeness",
        "nothing is recoded, more is suppressed": "global risk",
    }.items():
        assert rivals.loc[called, "exit code"] == 3
        assert rivals.loc[called, "limits not met"].startswith(limit)
    assert len(rivals) == 6 and ";" not in rivals.loc[few, "limits not met"]
    assert rivals.loc[few, "cautions"] == 2  # the points; columns that are released as they are have names of keys
    attacked = results["rivals-attacked"].set_index("difference from the model solution")
    assert (attacked["records below 5 by the keys"] == 0).all()
    assert attacked.loc[few, "alone"] > 100
    # The gap has become the value.
    assert results["only-suppressed-left"] < results["only-suppressed-were"] / 4
    assert results["only-suppressed-minority"] > 0.6


def test_the_rubric_adds_up():
    points = re.findall(r"^\| \*\*.*\| (\w+) \|$", PAGE, re.MULTILINE)
    number = {"two": 2, "four": 4, "six": 6}
    assert sum(number[each] for each in points) == 24
    assert "Twenty of the twenty-four points" in PAGE
    traps = re.search(r"\*\*The traps, and what we did about each\.\*\*\n(.*?)\n\*\*", PAGE, re.DOTALL)[1]
    assert len(re.findall(r"^- \*", traps, re.MULTILINE)) >= 7
