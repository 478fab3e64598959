"""The ENUSC case and the page on reports: what the notebook recorded, other files, and the printed code."""

import re
from pathlib import Path

import pytest
import yaml

import kanon_lab.report
from kanon_lab import load_microdata
from kanon_lab.cli import run as run_command
from kanon_lab.data import read_microdata, write_microdata
from kanon_lab.notebooks import find_notebooks
from kanon_lab.notebooks.recording import read_notebook
from kanon_lab.report import Report, as_config, read_config
from kanon_lab.report.sections import SECTIONS
from kanon_lab.report.words import Words

BOOK = Path(__file__).resolve().parents[3] / "book"
CASE, PAGE = ((BOOK / f"{name}.md").read_text() for name in ("enusc", "report"))


def blocks(text, language):
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def commands(text, name):
    return [line.split(" && ")[0].split() for line in re.findall(rf"^kanon-lab ({name} .*)$", text, re.MULTILINE)]


def number(table, measure, column):
    return float(table.set_index("measure").loc[measure, column].replace(",", ""))


def test_recorded_risks_of_the_case(book):
    results = book["enusc"]
    assert results["absent"] == "none"
    assert set(results["most-contributing"].split(" and ")) == {"comuna", "rph_edad"}
    before, after = "before", "after"
    risk = results["risk-table"]
    assert (number(risk, "k achieved", before), number(risk, "k achieved", after)) == (1, results["k-required"])
    assert number(risk, "records alone", after) == 0
    assert results["household-before"] > results["global-before"]
    # All but two, the page says: the order of the file, which it mixes, and columns that go a little with keys.
    verdict = results["verdict"].set_index("measure")["verdict"]
    assert [*verdict.index[verdict != "met"]] == ["exposed by columns", "shown by neighbours"]
    # Far below, the page says.
    assert results["global-after"] < results["limit-global-risk"] / 3
    assert results["household-after"] < results["limit-household-risk"] / 3
    # The true key is that before PRAM, which suppression does not count.
    assert results["claims"]["records"].tolist() == [0, 0, results["true-key-fails"]]
    assert 0 < results["true-key-fails"] < 20
    f_k = results["frequencies"].set_index("f_k")
    assert f_k.loc["1", "records"] == round(results["alone-share"] * results["persons"])
    assert f_k.loc["1", "estimated F_k, median"] > 100
    assert f_k["individual risk, mean (%)"].is_monotonic_decreasing
    found = number(risk, "households re-identified, expected", before)
    assert found < results["household-before"] * results["households"]
    assert results["linked-after-count"] == round(results["linked-after"] * results["persons"])


def test_recorded_design_of_the_case(book):
    """Strata tell as much as the commune, sampling units more; the weight, rounded, tells less."""
    results = book["enusc"]
    alone = results["given-away"].set_index("the intruder knows")["records alone"]
    assert alone["and VarStrat"] > 0.8 * alone["and comuna"] > 3 * alone["the keys of the release"]
    assert alone["and Conglomerado"] > 2 * alone["and comuna"]
    assert results["told-by-unit"] == 1 > results["told-by-stratum"] > 0.6
    assert 40 <= results["places-told"].set_index("variable").loc["Conglomerado", "records per value, median"] <= 45
    assert results["weight-alone-before"] > 50 * results["weight-alone-after"]
    assert 0 < results["weight-alone-after"] - results["weight-alone-unsuppressed"] < 10
    assert 0.8 < results["weight-once"] < results["told-by-weight"]
    alone = results["profiles"].set_index("measure").filter(like="records alone", axis=0)
    for _, counts in alone.map(lambda count: int(count.replace(",", ""))).items():
        counts = counts[counts.index.str.startswith("ages in bands")].tolist()
        assert counts[0] == 0 < counts[1] < 100 < counts[2]


def test_recorded_utility_of_the_case(book):
    results = book["enusc"]
    steps = results["steps"].set_index("after")
    chance, recoded = steps.loc["pram actividad"], steps.loc["top code tam_hogar"]
    assert chance["records alone"] > recoded["records alone"]
    assert chance["linked by their keys (%)"] < recoded["linked by their keys (%)"]
    assert results["suppressed"] > results["suppressed-without-pram"]
    assert results["suppressed-most"] == "actividad"
    assert results["lost"] == 0
    assert results["overlap-least"] > 0.9
    rates = results["pram-rates"].set_index("activity")
    counts = rates.pop("n, released").str.replace(",", "").astype(int)
    rates = rates.map(lambda share: float(share.rstrip("%") or "nan"))
    apart = rates.loc["studies"] - rates.loc["retired"]
    assert apart["after PRAM"] < apart["as collected"]
    # Suppression: all six rise, since those who were taken out were victims less often.
    six, taken = rates.iloc[:6], rates.loc["none (suppressed)", "released"]
    assert (six["released"] > six["after PRAM"]).all() and len(rates) == 7
    assert taken == round(100 * results["rate-of-suppressed"], 2) < six["after PRAM"].min()
    assert counts["none (suppressed)"] > 3000
    assert results["user-width-all"] < 1 < results["design-effect"]
    assert results["users"]["most"].astype(float).max() > 1
    assert 0.2 < results["together-share"] < 1
    assert any("in the order of the input" in note for note in results["notes"]["note"])


def test_the_configuration_of_the_page_is_the_notebooks():
    (text,) = blocks(CASE, "yaml")
    assert text.count("\n") <= 36
    assert max(map(len, text.splitlines())) <= 74
    (cell,) = (each for each in read_notebook(find_notebooks()["enusc"]).cells if each.metadata.get("tags"))
    names = {}
    exec(cell.source, names)
    printed = yaml.safe_load(text)
    assert printed == names["configuration"]
    steps = [*printed["household_level"]["steps"], *printed["steps"]]
    assert {"microaggregate", "remove_variables", "recode", "top_code", "pram", "suppress"} <= {
        *map(next, map(iter, steps))
    }


@pytest.mark.slow
def test_the_notebook_on_a_users_file(run, shops):
    configuration = {
        "key_variables": ["area", "owner", "absent"],
        "weight": "absent",
        "sensitive_variables": ["fined"],
        "missing": "category",
        "limits": {"k": 3, "household_risk": 0.1},
        "indicators": {"rates": {"fined": None}, "by": ["area", "absent"]},
        "household_level": {"key_variables": ["area"]},
        "steps": [
            {"recode": {"variable": "area", "groups": {"east": ["E"]}, "others": "keep"}},
            {"round": {"variable": "absent", "base": 5}},
            {"pram": {"variables": ["owner"], "keep": 0.7}},
            {"suppress": {}},
        ],
    }
    own = {"variables": {"area": "key", "size": "key", "owner": "key", "fined": "sensitive", "absent": "key"}}
    own |= {"scenarios": {"a guest": ["area", "owner"], "nobody": ["absent"]}, "design": ["size"], "real": ""}
    own |= {"region": "area", "place": "owner", "perturbed": "owner", "reduced_to": ["area", "size", "fined"]}
    results = run("enusc", file=str(shops), configuration=configuration, **own)
    frame = read_microdata(shops)
    assert (results["persons"], results["absent"], results["households"]) == (300, "absent", None)
    assert results["scenarios"]["intruder"].tolist() == ["a guest"]
    alone = results["given-away"].set_index("the intruder knows")["records alone"]
    assert alone["and size"] == (~frame.duplicated(["area", "owner", "size"], keep=False)).sum()
    assert results["steps"]["after"].tolist() == ["original", "recode area", "pram owner", "suppress"]
    assert results["verdict"]["measure"].tolist() == ["k", "exposed by columns"]
    assert results["real-said"].startswith("The file of the real survey was not at hand")
    assert results["profiles"].columns.tolist() == ["measure", "this file"]


def test_the_reduced_profile_on_the_real_file(book, shared):
    """What is absent is named; strata and sampling units counted by hand."""
    real, results = load_microdata(shared("enusc-2019.csv.gz")), book["enusc"]
    if "real, 2019" not in results["profiles"]:
        pytest.skip("the book was built without the real file")
    assert results["real-said"].endswith("rut, comuna, educacion, actividad, tam_hogar, hogar and ingreso.")
    profile = results["profiles"].set_index("measure")["real, 2019"]
    assert profile["persons"] == f"{len(real):,}"
    band = real["rph_edad"].clip(upper=75) // 15
    for age, called in ((real["rph_edad"], "ages in years"), (band, "ages in bands")):
        for name in ("VarStrat", "Conglomerado"):
            key = real.assign(age=age)[["enc_region", "rph_sexo", "age", name]]
            assert profile[f"{called} and {name}: records alone"] == f"{(~key.duplicated(keep=False)).sum():,}"


@pytest.mark.slow  # the notebook of the case does the same for the book
def test_the_printed_code_of_the_case(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("enusc.yml").write_text(blocks(CASE, "yaml")[0])
    mixing, releasing = blocks(CASE, "python")
    exec(mixing, {})
    survey, mixed = load_microdata("enusc-synthetic"), read_microdata("mixed.csv")
    assert sorted(mixed["rut"]) == sorted(survey["rut"])
    assert (mixed["rut"].to_numpy() != survey["rut"].to_numpy()).mean() > 0.9
    # What follows is made from that file; some regions are enough here.
    mixed = mixed[mixed["enc_region"] <= 4]
    write_microdata(mixed, "mixed.csv", overwrite=True)
    exec(releasing, {})
    released = read_microdata("enusc-public.csv")
    assert len(released) == len(mixed)
    assert {"rut", "comuna", "VarStrat", "Conglomerado", "hogar", "Fact_Hog"}.isdisjoint(released)
    assert released["VP_DC"].fillna(-1).tolist() == mixed["VP_DC"].fillna(-1).tolist()
    (command,) = commands(CASE, "report")
    assert command[1] == "mixed.csv"
    assert run_command(command) == 3  # for columns that go a little with keys
    assert 50_000 < Path("enusc.html").stat().st_size < 200_000  # no script: no chart needs one


@pytest.fixture
def reports(tmp_path, monkeypatch):
    """The configurations for which reports are asked, none of which is made; a folder with those of the page."""
    asked = []

    def make(file, config, out, **options):
        asked.append((file, config, Path(out)))
        met = config.limits.get("k", 0) < 5
        Path(out).write_text("")
        return Report(Path(out), {}, 0.1, {"limits": [], "met": met, "cautions": []})

    monkeypatch.setattr(kanon_lab.report, "make_report", make)
    monkeypatch.chdir(tmp_path)
    (text,) = blocks(PAGE, "yaml")
    for name in ("report", "strict"):
        Path(f"{name}.yml").write_text(text)
    return asked


def test_the_commands_of_the_page_on_reports(reports, tmp_path, monkeypatch, capsys):
    plain, checked, spanish, folder, pattern, internal = commands(PAGE, "report")
    assert [run_command(each) for each in (plain, folder, pattern, internal, checked)] == [0] * 5
    assert run_command(spanish) == 0
    assert [out.name for _, _, out in reports] == [
        *("report.html", "report.html", "strict.html", "health-report.html", "health-strict.html"),
        *("internal.html", "report.html"),
        "informe.html",
    ]
    config = reports[-1][1]
    assert (config.language, config.limits["k"]) == ("es", 5)
    assert run_command([*spanish, "--fail"]) == 3
    assert "a limit is not met" in capsys.readouterr().err
    names = {}
    for code in blocks(PAGE, "python"):
        exec(code, names)
    assert reports[-1][1].limits["k"] == 5
    assert run_command("protect health-survey --recipe report.yml --out health-public.csv".split()) == 0
    assert len(read_microdata("health-public.csv")) == len(load_microdata("health-survey"))


def test_the_first_configuration_of_the_page_is_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (command,) = commands(PAGE, "init")
    assert run_command(command) == 0
    config = read_config("report.yml")
    assert config.recipe.spec.weight == "weight"
    assert run_command(command) == 2


def test_the_configuration_of_the_page_meets_its_limits():
    (text,) = blocks(PAGE, "yaml")
    config = as_config(yaml.safe_load(text))
    chain = config.recipe.apply(load_microdata("health-survey"))
    assert chain.state.measured.violations["category"][3] == 0
    assert len(config.map["grid"]["k"]) > 1


def test_the_page_names_every_section_of_a_report():
    shown = re.search(r"## What the report shows\n(.*?)\n## ", PAGE, re.DOTALL)[1]
    assert re.findall(r"^- \*\*(.*?)\.\*\*", shown, re.MULTILINE) == [
        Words("en").say(f"h_{section}").rstrip(".") for section in SECTIONS
    ]
