"""The notebooks behind the chapters: what the book's own run recorded, and other parameters."""

import re
import runpy
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kanon_lab.classes import class_table
from kanon_lab.cli import run as run_command
from kanon_lab.data import load_microdata, read_microdata
from kanon_lab.errors import OptionError
from kanon_lab.keys import KeySpec
from kanon_lab.measures import measure
from kanon_lab.notebooks import find_notebooks, recorded, run_notebook
from kanon_lab.population import PERIODS
from kanon_lab.protection import as_recipe
from kanon_lab.published import published_figures
from kanon_lab.recode import recode_step
from kanon_lab.suppress import local_suppression

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = find_notebooks()
EXECUTED = ROOT / "_build" / "site" / "notebooks"

GLUE = re.compile(r"\{glue:text\}`[^`]*`|\{glue\} \S+")


@pytest.fixture
def run(tmp_path):
    """Run a notebook with parameters and return what it recorded."""

    def call(name, **parameters):
        target = tmp_path / f"{name}.ipynb"
        run_notebook(NOTEBOOKS[name], target, parameters)
        return recorded(target)

    return call


@pytest.fixture(scope="module")
def book():
    """What each executed notebook of the built book recorded."""
    if not EXECUTED.is_dir():
        pytest.skip("the book is not built: run make book")
    return {path.stem: recorded(path) for path in EXECUTED.glob("*.ipynb")}


@pytest.fixture(scope="module")
def towns(tmp_path_factory):
    """A small population as a user's own csv: three places of two provinces."""
    ages = [f"{a}-{a + 4}" for a in range(0, 85, 5)] + ["85+"]
    rng = np.random.default_rng(3)
    rows = [
        {"place": place, "name": f"Town {place}", "sex": sex, "age_group": age, "persons": int(rng.poisson(mean))}
        for place, mean in (("10001", 5), ("10002", 80), ("20001", 900))
        for sex in ("women", "men")
        for age in ages
    ]
    path = tmp_path_factory.mktemp("counts") / "towns.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def test_the_book_holds_every_notebook(book):
    assert set(book) == set(NOTEBOOKS)


def test_chapters_insert_only_what_notebooks_record(book):
    missing = []
    for chapter in (ROOT / "book").glob("*.md"):
        for notebook, name in re.findall(r"notebooks/([a-z]+)\.ipynb::([a-z0-9-]+)", chapter.read_text()):
            if name not in book[notebook]:
                missing.append(f"{chapter.name}: {notebook} has no {name}")
    assert missing == []


def test_no_figure_is_typed_into_the_prose():
    """Digits stand in names (Cuadro 1, table 33570, dates), formulas, code and commands only."""
    allowed = re.compile(
        r"((Cuadro|Tabla|Bloque)s? \d(\.\d+)?( (to|and) \d(\.\d+)?)?|Figura \d|[Ff]ormula \(\d\)|gráfico 3|\bIL1s?\b"
        r"|[Tt]able 33570|spain-2010|1-anonymous|2-anonymous|1 January 2010|CC BY 4\.0|In 2011|\{cite\}`[^`]*`|\{doc\}`[^`]*`|https?://\S+)"
    )
    typed = []
    for chapter in (ROOT / "book").glob("*.md"):
        text = re.sub(r"```.*?```", "", chapter.read_text(), flags=re.DOTALL)
        text = re.sub(r"\$\$.*?\$\$|\$[^$]*\$|`[^`]*`", "", GLUE.sub("", allowed.sub("", text)), flags=re.DOTALL)
        typed += [f"{chapter.name}: {line.strip()}" for line in text.splitlines() if re.search(r"\d", line)]
    assert typed == []


def test_recorded_shares_of_the_country(book):
    """Gil Bellosta (2011), Cuadro 1, row 1: 42.38, 5.77 and 0.45 per cent; ours is fitted within 0.10 points."""
    spain = book["spain"]
    for dates, printed in {"day": 42.38, "month": 5.77, "year": 0.45}.items():
        assert 100 * spain[f"share-{dates}"] == pytest.approx(printed, abs=0.10)
    assert spain["population"] == 47_021_031  # INE, 1 January 2010
    assert len(spain["cuadro-1"]) == 9
    assert spain["explorer-places"] == 1 + 52 + 20


def test_recorded_audit(book):
    audit = book["audit"]
    assert audit["figures"] == 750
    assert sum(value for name, value in audit.items() if name.startswith("verdict-")) == 750
    assert audit["bounded-equal"] == audit["bounded"] == 540
    assert audit["worst-share"] <= 0.10


def test_recorded_reconstruction(book):
    reconstruction = book["reconstruction"]
    assert reconstruction["all-equal"] == reconstruction["all-figures"] == 540
    assert reconstruction["real-equal"] == 27
    assert reconstruction["fresh-complete"] == reconstruction["fresh-count"]
    assert 0 < reconstruction["transfers-silent"] < reconstruction["transfers"]


def test_recorded_simulation_agrees_with_the_closed_form(book):
    assert book["place"]["worst-standard-error"] < 4


@pytest.mark.parametrize("place,dates", [("22233", "month"), ("28079", "day"), ("06160", "year")])
def test_another_municipality(run, place, dates):
    results = run("place", place=place, dates=dates, repeats=40, seed=1)
    assert results["repeats"] == 40
    table = results["simulation-table"]
    assert table["expected"].sum() == pytest.approx(results["population"], abs=1)
    assert table["mean of draws"].sum() == pytest.approx(results["population"], abs=1)
    assert results["worst-standard-error"] < 6
    assert results["alone-day"] >= results["alone-month"] >= results["alone-year"]


@pytest.mark.parametrize("dates", sorted(PERIODS))
def test_the_country_notebook_on_another_population(run, towns, dates):
    results = run("spain", population=str(towns), dates=dates)
    counts = pd.read_csv(towns)
    assert results["population"] == counts["persons"].sum()
    assert results["share"] == results[f"share-{dates}"]
    assert results["explorer-places"] == 1 + 2
    day, month, year = (results[f"share-{name}"] for name in PERIODS)
    assert day > month > year


def test_the_first_chapter_on_a_users_counts(run, towns):
    results = run("identify", population=str(towns))
    assert results["places"] == 3
    assert results["cells"] == 3 * 36
    assert results["persons"] == pd.read_csv(towns)["persons"].sum()


def test_the_audit_on_real_counts(run, shared):
    results = run("audit", population=str(shared("ine-padron-33570-malaga.px")), year=2010)
    assert results["fitted"] == 0
    assert results["bounded-equal"] == 27
    assert results["verdict-not-in-text"] == 750 - 33


def test_a_reconstruction_that_is_cut_short_says_so(run):
    results = run("reconstruction", seeds=[11], max_rounds=1)
    assert results["fresh-count"] == 1
    assert results["fresh-complete"] == sum(value == 27 for value in results["fresh-equal"])


def test_recorded_note(book):
    """AEPD, Tablas 1 to 6: their k is 2, 1, 2, 2, 1, 1; Tabla 6 is called 2-anonymous and is not."""
    note = book["note"]
    assert note["k-of-tables"]["k"].tolist() == [2, 1, 2, 2, 1, 1]
    assert (note["input"], note["copied"], note["generalised"]) == (42, 61, 38)
    assert note["equal"] == note["cells-count"] == 141
    assert note["figures"] == 167
    assert "Tabla 6, k in the text" in note["findings"]["claim"].tolist()
    assert len(note["cells"]) == 47


def test_recorded_generalisation(book):
    results = book["generalise"]
    assert results["tabla-3-as-printed"] is True
    assert (results["k-3"], results["k-4"], results["k-6"]) == (2, 2, 1)
    assert results["mends"].set_index("change").loc["record 7 removed", ["cells changed", "k"]].tolist() == [3, 2]
    assert len(results["optima"]) == 4
    assert (results["optima"]["records removed"] <= results["suppression-limit"] * results["records"]).all()
    assert (results["mondrian"]["k"] >= results["k-required"]).all()


def test_recorded_attack(book):
    """The outsider who found single records in the file as collected finds none in the generalised one."""
    results = book["diversity"]
    assert results["matched-before"] > results["right-before"] > 0
    assert results["matched-after"] == 0
    assert results["learned-after"] > results["learned-right-after"] > 0
    assert results["homogeneity"].iloc[:, 2].tolist() == results["homogeneity"].iloc[:, 4].tolist()
    assert results["attack-figure"].iloc[:, 1:].sum().tolist() == [results["persons"]] * 2


def test_the_chapter_of_classes_is_the_command(book):
    results = book["classes"]
    roles = {"weight": "weight", "household": "household", "missing": "category"}
    spec = KeySpec(["postcode", "age", "sex", "education"], **roles)
    measured = measure(load_microdata("health-survey"), spec, k=[3]).to_dict()
    for name, key in {"n": "n", "classes": "classes", "uniques": "sample_uniques", "k-achieved": "k_achieved"}.items():
        assert results[name] == measured[key]
    assert results["violations"] == measured["violations"]["3"]


@pytest.fixture(scope="module")
def shops(tmp_path_factory):
    """A user's own file: other variables, gaps, no weight, no household."""
    rng = np.random.default_rng(8)
    frame = pd.DataFrame({"area": rng.choice(list("NSEW"), 300), "size": rng.integers(1, 60, 300)})
    frame["owner"] = rng.choice(["family", "chain"], 300)
    frame["fined"] = rng.choice(["CANARY-yes", "no", "no"], 300)
    frame.loc[rng.random(300) < 0.05, "owner"] = None
    path = tmp_path_factory.mktemp("microdata") / "shops.csv"
    frame.to_csv(path, index=False)
    return path


LADDERS = {
    "area": {"mapping": dict.fromkeys("NSEW", "*")},
    "size": {"widths": [10, 30], "from": 0, "to": 60},
    "owner": {"mapping": {"family": "*", "chain": "*"}},
}


@pytest.mark.parametrize("missing", ["wildcard", "category"])
def test_the_class_notebook_on_a_users_file(run, shops, missing):
    keys = ["area", "size", "owner"]
    results = run(
        "classes", file=str(shops), key_variables=keys, weight="", household="", missing=missing, k_required=5
    )
    table = class_table(read_microdata(shops), KeySpec(keys, missing=missing))
    assert results["k-achieved"] == table.k_achieved
    assert results["violations"] == table.violations([5])[5]
    assert results["population-uniques"] is None
    assert results["key-sets"] == 7


@pytest.mark.parametrize("limit", [0, 0.1])
def test_the_generalising_notebook_on_a_users_file(run, shops, limit):
    asked = {"k_required": 4, "suppression_limit": limit, "level_weights": {}, "levels": {"size": 1}}
    results = run("generalise", file=str(shops), hierarchies=LADDERS, **asked)
    assert results["nodes"] == 2 * 3 * 2
    assert (results["optima"]["records removed"] <= 300 * limit).all()
    assert (results["mondrian"]["k"] >= 4).all()


def test_the_diversity_notebook_on_a_users_file(run, shops):
    results = run(
        "diversity", file=str(shops), hierarchies=LADDERS, sensitive="fined", quantity="", k_required=3, l_required=2
    )
    assert "matched-before" not in results
    assert results["l-distinct"] in (1, 2)
    assert results["cost"]["l"].iloc[1] in ("2", "-")


def test_the_explorer_starts_where_it_is_told(run):
    results = run("explorer", dates="year", k=20)
    assert 0 < results["share"] < 1


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_an_unknown_parameter_is_refused(run, name):
    with pytest.raises(OptionError, match="unknown parameter 'granularity'"):
        run(name, granularity="day")


def test_recorded_risks(book):
    """INE Chile (2023), Tabla 7.1: R1 = 0.01582; and what the chapter says of each measure against the truth."""
    results = book["risk"]
    assert results["ten-risk"] == pytest.approx(0.0158235, abs=5e-8)
    assert results["ten-printed"] == "0.1582%"
    assert results["ten-above"] == 0
    keys = ["postcode", "age", "sex"]
    survey, persons = load_microdata("health-survey"), load_microdata("town-register").groupby(keys).size()
    assert results["true-expected"] == pytest.approx(
        (1 / persons.loc[list(survey[keys].itertuples(index=False))]).sum()
    )
    spec = KeySpec(keys, weight="weight", missing="category")
    assert results["expected"] == pytest.approx(measure(survey, spec).to_dict()["expected_reidentifications"])
    assert results["above-true"] == results["n"]
    by_f_k = results["frequency-figure"]
    for name in ("1/estimate (%)", "log-linear (%)"):
        assert by_f_k[name].lt(by_f_k["true (%)"]).all()
    compared = results["compared"].set_index(["file", "measure"]).loc["as collected"]
    assert compared["expected re-identifications"].idxmax() == "true"


def test_recorded_risks_of_further_samples(book):
    """What the chapter says of records alone: Benedetti and Franconi err with bands, the model does without pairs."""
    alone = book["risk"]["redrawn-alone"].set_index(["file", "measure"])
    years, bands = alone.loc["as collected"], alone.loc["ages in fives"]
    assert years.loc["Benedetti-Franconi", "mean"] == pytest.approx(1, abs=0.05)
    assert bands.loc["Benedetti-Franconi", "least"] > 1.3
    assert years.loc["1/estimate", "most"] < 0.7
    assert bands.loc["1/estimate", "mean"] == pytest.approx(1, abs=0.1)
    for ratios in (years, bands):
        assert ratios.loc["log-linear", "mean"] == pytest.approx(1, abs=0.05)
        assert (ratios["mean"] - 1).abs()["log-linear, with pairs"] > 0.05
    assert book["risk"]["redrawn-worst"] == alone["most"].max()


def test_two_records_by_hand(book):
    """The steps of the chapter, from shares to (1 - exp(-x))/x, end at the risk of the library's model."""
    results = book["risk"]
    pair = results["pair"].set_index("of the record")
    expected = results["n"] * pair.filter(like="with this", axis=0).div(100).prod()
    outside = expected * (pair.loc["weight"] - 1)
    assert pair.loc["expected in the sample"].to_numpy() == pytest.approx(expected.to_numpy())
    assert pair.loc["risk, log-linear (%)"].to_numpy() == pytest.approx(100 * (1 - np.exp(-outside)) / outside)
    assert results["pair-outside"] == pytest.approx(outside["first"])
    ours, theirs = (pair.loc[f"risk, {name} (%)"] for name in ("log-linear", "Benedetti-Franconi"))
    assert ours["first"] > theirs["first"] == theirs["second"] > ours["second"]


def test_recorded_households(book):
    """INE Chile (2023), section 7.8: members of 0.02, 0.03 and 0.03 make 0.078."""
    results = book["households"]
    assert results["three-risk"] == pytest.approx(1 - 0.98 * 0.97 * 0.97)
    assert results["expected-persons"] == pytest.approx(2 * results["expected"], rel=0.02)
    bounds = results["bounds-figure"]
    assert bounds["lower (%)"].le(bounds["independent (%)"]).all()
    assert bounds["independent (%)"].le(bounds["upper (%)"]).all()
    assert (results["whole"]["whole"] > results["whole"]["upper"]).all()
    assert results["persons-shown"] > 0 == results["households-shown"]


@pytest.mark.parametrize("missing", ["wildcard", "category"])
def test_the_risk_notebook_on_a_users_file(run, shops, missing, tmp_path):
    """Without weights the risk is 1/f_k; a population of three times the file is given as counts."""
    keys = ["area", "size", "owner"]
    frame = read_microdata(shops)
    counts = frame.groupby(keys, dropna=False).size().mul(3).rename("shops").reset_index()
    counts.to_csv(tmp_path / "counts.csv", index=False)
    asked = {"key_variables": keys, "weight": "", "missing": missing, "coarser": {"size": LADDERS["size"]}}
    results = run("risk", file=str(shops), population=str(tmp_path / "counts.csv"), count="shops", **asked)
    f_k = class_table(frame, KeySpec(keys, missing=missing)).f_k_of_records()
    assert results["expected"] == pytest.approx((1 / f_k).sum())
    assert results["true-expected"] == pytest.approx((1 / f_k).sum() / 3)
    assert results["tau-1"] is None
    assert not {"pair", "redrawn-alone"} & {*results}
    assert len(results["scenarios"]) == 0


def test_the_risk_notebook_without_a_population(run):
    results = run("risk", population="", interactions=[["postcode", "sex"]], threshold=0.5, coarser={})
    assert results["true-expected"] is None
    assert set(results["compared"]["file"]) == {"as collected"}
    assert results["above"] == (results["distribution-figure"]["records"].iloc[-1])
    assert results["frequency-figure"].columns[2:].tolist() == [
        "Benedetti-Franconi (%)",
        "1/estimate (%)",
        "log-linear (%)",
    ]


def test_the_household_notebook_on_a_users_file(run, tmp_path):
    rng = np.random.default_rng(6)
    home = np.repeat(np.arange(120), rng.integers(1, 5, 120))
    frame = pd.DataFrame(
        {"home": home, "area": rng.choice(list("NSEW"), 120)[home], "age": rng.integers(0, 90, len(home))}
    )
    frame.assign(w=5).to_csv(tmp_path / "homes.csv", index=False)
    asked = {"key_variables": ["area", "age"], "weight": "w", "household": "home", "household_variables": ["area"]}
    results = run("households", file=str(tmp_path / "homes.csv"), population="", estimator="inverse", **asked)
    miss = (1 - 1 / (5 * frame.groupby(["area", "age"])["age"].transform("size"))).groupby(home).prod()
    assert results["expected-households"] == pytest.approx((1 - miss).sum())
    assert results["households-shown"] == 0
    assert "whole" not in results


def test_recorded_rarities(book):
    """sdcMicro's SUDA scores of INE Chile (2023), Tabla 7.1; special uniques are the rarer ones in the population."""
    results = book["rare"]
    assert results["scores-71"]["score"].tolist() == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]
    assert results["hand-agrees"] is True
    truth = results["truth"]
    assert truth["records"].sum() == results["truth-uniques"]
    assert truth["of them (%)"].is_monotonic_decreasing
    assert results["match-estimate"] == pytest.approx(results["match-truth"], abs=0.05)
    assert results["match-records"] > results["match-truth"]
    # U f / (U f + P (1 - f)) with 4 records alone and 6 in pairs; the weights of the table add up to 1570.
    assert results["dis-guess"] == pytest.approx(0.4 / 5.8)
    assert results["fraction-71"] == pytest.approx(10 / 1570)
    assert results["dis-71"] == pytest.approx(4 * 10 / (4 * 10 + 6 * 1560))
    assert results["linked-outliers"] > 3 * results["linked"] * results["outliers"]
    assert results["inside"] == pytest.approx(results["inside-expected"], abs=0.03)
    masked = results["masked"].set_index("at risk")
    assert masked.loc["some value inside the robust interval"].iloc[1] == results["outliers"]


def test_recorded_recodings(book):
    """INE Chile (2023): Tabla 8.2 is wrong in row 5 only; Tabla 8.3, Bloques 8.2 and 8.3 and the rounded ages agree."""
    results = book["recoding"]
    table = results["tabla-82"].set_index("individual")
    assert table.index[table["f_k printed"] != table["f_k computed"]].tolist() == ["5"]
    assert results["after-as-printed"] is True
    assert results["tabla-83"]["combinations computed"].tolist() == [16_000, 540]
    assert results["sizeres"]["records of the new category"].tolist() == results["sizeres"]["as printed"].tolist()
    for name, count in (("equal", 6), ("unequal", 6)):
        known = results[name].dropna()
        assert known["computed"].tolist() == known["printed"].tolist()
        assert len(known) == count
    known = results["rounding"].dropna()
    assert known["half to even"].tolist() == known["printed"].tolist()
    assert len(known) == 6
    assert (results["rounding-printed"], results["rounding-up"]) == (176, 137)
    assert (results["aged-65"], results["older-meant"], results["lost-14-65"]) == (25, 234, 28)
    assert "(and 42 more)" in results["edges-refused"]
    assert results["quantity-mean-kept"] == pytest.approx(results["quantity-mean"])
    assert results["quantity-weighted-kept"] != pytest.approx(results["quantity-weighted"], rel=1e-3)
    assert results["partly-share"] > 2 * results["everywhere-share"]
    assert results["uniques-category"] == book["rare"]["uniques"] == book["classes"]["uniques"]
    bought = results["bought"]
    assert bought.iloc[:, -1].tolist() == bought.iloc[:, -2].tolist()


def test_recorded_suppressions(book):
    """INE Chile (2023), Tabla 8.4 after suppression, counted in three ways; and the survey as the library has it."""
    results = book["suppression"]
    assert results["counts-84"].iloc[:, 1:].T.to_numpy().tolist() == [
        [4, 3, 3, 3, 4, 4, 4],
        [1, 3, 3, 3, 3, 3, 3],
        [1, 3, 3, 3, 4, 4, 4],
    ]
    assert (results["mended-84"], results["category-84"]) == (0, 4)
    assert (results["cheap-84"], results["cheap-84-own"]) == (0, 4)
    assert results["guide-total"] == 240 + 20 + 18 + 1
    survey = load_microdata("health-survey")
    survey["postcode"] = survey["postcode"].str[:3]
    survey = recode_step(survey, {"variable": "age", "bands": [*range(0, 90, 10), None]})
    found = local_suppression(survey, ["postcode", "age", "sex", "education"], k_required=3)
    assert (results["total"], results["violating"]) == (found.total, found.violating)
    assert results["touched"] == found.records_touched == found.violating
    tricks = results["tricks"].set_index("release")
    assert tricks.iloc[1][["cells suppressed", "compatible"]].tolist() == [8, 0]
    assert tricks.iloc[1]["complete and alone"] >= tricks.iloc[0]["complete and alone"] > 100
    assert tricks.iloc[3][["compatible", "true key", "own class", "complete and alone"]].tolist() == [0] * 4
    assert results["above-compatible"] == 0 < results["above-true-key"] < results["above-own-class"]


def test_the_recipes_of_the_chapter_run_as_printed(tmp_path, monkeypatch):
    page = (ROOT / "book" / "suppression.md").read_text()
    recipes, programs = (re.findall(rf"```{kind}\n(.*?)```", page, re.DOTALL) for kind in ("yaml", "python"))
    commands = re.findall(r"^kanon-lab (protect .*)$", page, re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    for program in programs:
        Path("printed.py").write_text(program)
        runpy.run_path("printed.py")
    for recipe, command in zip(recipes, commands, strict=True):
        arguments = command.split()
        Path(arguments[arguments.index("--recipe") + 1]).write_text(recipe)
        assert run_command(arguments) == 0
    persons, levels = (read_microdata(name) for name in ("released.csv", "levels.csv"))
    assert len(persons) == len(levels) == len(load_microdata("health-survey"))
    gaps = levels["postcode"].isna()
    assert gaps.any()
    assert not gaps.groupby(levels["household"]).nunique().gt(1).any()


OWN_KEYS = ["area", "size", "owner"]


def test_the_notebook_of_rarities_on_a_users_file(run, shops):
    asked = {"key_variables": OWN_KEYS, "weight": "", "household": "", "missing": "wildcard", "seed": 7}
    results = run("rare", file=str(shops), quantities=["size"], bases=[5, 20], noise=0.001, outliers=10, **asked)
    frame = read_microdata(shops)
    assert results["uniques"] == class_table(frame, OWN_KEYS).sample_uniques
    assert results["linked"] == pytest.approx(frame["size"].nunique() / 300)
    assert "truth" not in results


def test_the_recoding_notebook_on_a_users_file(run, shops):
    asked = {"key_variables": OWN_KEYS, "k_required": 4, "only_from": 10, "groups": {"any": ["family", "chain"]}}
    own = {"variable": "size", "width": 20, "bands": [0, 10, 40, 60], "top": 50, "category": "owner", "quantity": ""}
    results = run("recoding", file=str(shops), unit="person", weight="", **asked, **own)
    recoded = recode_step(read_microdata(shops), {"variable": "size", "width": 20})
    assert results["bought"]["alone"].iloc[1] == class_table(recoded, OWN_KEYS).sample_uniques
    assert results["unequal-figure"]["records"].sum() == 300
    assert "quantity-mean" not in results


def test_the_suppression_notebook_on_a_users_file(run, shops):
    own = {"recoding": [{"recode": {"variable": "size", "width": 20}}], "orders": {"size kept": {"size": 1}}}
    asked = {"key_variables": OWN_KEYS, "weight": "", "missing": "category", "k_required": 5, "k_explored": 6}
    others = {"strata": [], "ghost_variables": {}, "combination_sizes": [1], "risk_variables": ["size"]}
    results = run("suppression", file=str(shops), **own, **asked, **others)
    survey = recode_step(read_microdata(shops), {"variable": "size", "width": 20})
    spec = KeySpec(OWN_KEYS, missing="category")
    found = local_suppression(survey, spec, k_required=5)
    assert results["total"] == found.total
    kept = local_suppression(survey, spec, k_required=5, importance={"size": 1})
    assert results["orders"]["all cells"].tolist() == [found.total, kept.total]
    assert results["explorer"]["k"].tolist() == [k for k in range(2, 7) for _ in range(2)]


def test_the_table_of_sdcmicro_names_what_there_is():
    page = (ROOT / "book" / "sdcmicro.md").read_text()
    modules = "data|keys|measures|classes|diversity|risk|recode|suppress|protection"
    for module, path in re.findall(rf"`({modules})\.([\w.]+)", page):
        kind, _, attribute = path.partition(".")
        found = getattr(import_module(f"kanon_lab.{module}"), kind)
        if attribute:
            assert hasattr(found, attribute) or attribute in found.__dataclass_fields__, f"{path} of {module}"
    assert set(re.findall(r"`([A-Z]\w+)\.", page)) == set()  # every class stands with its module


def test_the_table_of_sdcmicro_has_every_function_of_the_guide(shared):
    page = (ROOT / "book" / "sdcmicro.md").read_text()
    path = shared("README.md").parents[1] / "sources" / "ine-chile-guia-sdc-2023.txt"
    functions = set(re.findall(r"\b([A-Za-z][\w.]*)\(\)", path.read_text(encoding="utf-8"))) - {"Suppression", "getwd"}
    assert {name for name in functions if f"`{name}(" not in page} == set()


def test_recorded_guide(book):
    guide = book["guide"]
    figures = guide["figures"]
    assert (figures, guide["disagree"], guide["ways"]) == (len(published_figures("ine-chile-2023")), 0, 8)
    assert guide["contradict"] == sum(
        guide[f"errors-{part}"] for part in ("measures", "recoding", "suppression", "program")
    )
    # INE Chile (2023), Tabla 8.4.
    assert guide["counts"]["after, compatible"].tolist() == [4, 3, 3, 3, 4, 4, 4]


def test_recorded_perturbations(book):
    """What the chapter says of each attack; the arithmetic of the spinner by hand."""
    results = book["perturbation"]
    # 10 of 100 ill, truth with 0.8: 8 + 18 = 26 are seen, and (26 - 20) / 0.6 = 10.
    assert results["seen-ill"] == pytest.approx(8 + 18)
    assert results["seen-truly"] == pytest.approx(8 / 26)
    assert results["back"] == pytest.approx(10)
    told = results["told"].set_index("diagnosis")
    assert (told["truly so (%)"] - told["truly so, measured (%)"]).abs().max() < 6
    # The page says that the first file's estimate is below zero, and the mean of all above.
    assert results["rare-first"] < 0 < results["rare-back"] < results["rare-error"]
    assert told.loc[results["rare"], "worked back, first file (%)"] == round(100 * results["rare-first"], 1)
    rules = results["rules"].set_index("rule")
    assert rules["stays (%)"].iloc[1:].tolist() == rules["truly so (%)"].iloc[1:].tolist()
    assert rules["seen (%)"].iloc[1:].tolist() == [round(100 * results["rare-share"], 1)] * 2
    assert results["links-right"] == pytest.approx(results["formula-right"], rel=0.1)
    assert results["links-wrong"] == pytest.approx(results["formula-wrong"], rel=0.15)
    assert results["alone-before"] > results["links-right"] < results["links-guess"] < results["guess-before"]
    assert results["links-guess"] < results["persons"] / 2
    assert results["impossible"] > 50 > results["impossible-within"] == 0


def test_recorded_perturbations_of_quantities(book):
    """Where the chapter says that a mean is kept exactly, and that no more than one link in k is right."""
    results = book["perturbation"]
    groups = results["groups"].set_index("groups")
    together, single = groups.loc["together"], groups.loc["each by itself"]
    assert (together["right links (%)"] <= together["1/k (%)"] + 1e-9).all()
    assert (single["right links (%)"] > 3 * together["right links (%)"].where(together["k"] > 2, 0).to_numpy()).all()
    assert results["noise-outlying"] > 2 * results["noise-linked"]
    assert results["strong-additive"] > results["strong-outliers"]
    by_noise = results["by-noise"].set_index("strength")
    assert results["strong-additive"] == pytest.approx(by_noise["of the 15 largest (%)"][0.5] / 100, abs=1e-3)
    assert results["slope-kept"] == pytest.approx(results["slope-expected"], rel=0.05)
    assert results["slope-expected"] == pytest.approx(1 / (1 + 0.5**2))
    averaged = results["averaged"]
    assert averaged["right links (%)"].is_monotonic_increasing
    noise = averaged["noise left (sd)"] * np.sqrt(averaged["releases"])
    assert noise.to_numpy() == pytest.approx(0.1, rel=0.1)
    assert results["seed-linked"] == pytest.approx(results["linked-before"])
    assert results["person-averaged"] < 0.6 * results["person-noise"]
    measured = results["measured-risk"].merge(results["measured-loss"], on="method").set_index("method")
    kept = measured["mean moved (%)"].round(9) == 0
    assert kept.tolist() == [True, True, True, False, False, True, False, True, True]
    assert measured.loc["grouped, k = 3", "of the 15 largest (%)"] > 100 / 3
    noise = results["explorer"].set_index("method").loc["noise", "of the 15 largest (%)"]
    assert noise.min() > 100 * results["goal"]
    assert results["swap-intersected"] > results["swap-linked"]
    assert measured.iloc[1:]["IL1s"].idxmax() == measured.iloc[1:]["right links (%)"].idxmin() == "shuffling"
    assert measured.iloc[1:]["IL1s"].idxmin() == measured.iloc[1:]["right links (%)"].idxmax()
    assert abs(results["beside-blind"]) < 0.05 < results["beside-swapped"] < results["beside-true"] - 0.1


def test_the_notebook_of_perturbation_on_a_users_file(run, shops):
    own = {"quantities": {"size": "size"}, "beside": "", "bases": {"size": [1, 20]}, "household": "", "weight": ""}
    keys = {"key_variables": ["area", "owner"], "recoding": [], "moved": ["owner"], "moved_strata": ["area"]}
    steps = {"keeps": [0.7], "strengths": [0.1, 1.0], "windows": [0.1, 0.5], "group_sizes": [2, 4], "k_required": 4}
    results = run("perturbation", file=str(shops), sensitive="fined", repeats=3, **own, **keys, **steps)
    frame = read_microdata(shops)
    assert results["units"] == results["persons"] == len(frame) == 300
    assert results["guess-before"] == pytest.approx(frame.groupby(["area", "owner"], dropna=False).ngroups)
    assert results["alone-before"] == results["links-right"] == 0
    assert results["belief"] is None
    assert results["mdav-linked"] <= 1 / 4
    assert len(results["explorer"]) == 4 * 2 + 1
    assert "slope-kept" not in results
    assert "person-noise" not in results


def test_the_recipe_of_the_chapter_of_quantities_runs_as_printed(tmp_path, monkeypatch):
    page = (ROOT / "book" / "quantities.md").read_text()
    (recipe,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    (command,) = re.findall(r"^kanon-lab (protect .*)$", page, re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    Path("recipe.yml").write_text(recipe)
    assert run_command(command.split()) == 0
    released, survey = read_microdata("released.csv"), load_microdata("health-survey")
    incomes = survey.groupby("household")["income"].first()
    shared = released["income"].groupby(survey["household"].to_numpy()).agg(["nunique", "first"])
    assert shared["nunique"].max() == 1
    assert shared["first"].value_counts().min() >= 5
    assert shared["first"].mean() == pytest.approx(incomes.mean())


def test_recorded_costs(book):
    """What the chapter says of the design, of what is lost, and of the small files that fool each measure."""
    results = book["cost"]
    errors = results["errors"].set_index("indicator")
    ratio = [
        float(row["drawn again"].rstrip("%").replace(",", ""))
        / float(row["by the design"].rstrip("%").replace(",", ""))
        for _, row in errors.iterrows()
    ]
    assert ratio == pytest.approx([1] * len(ratio), abs=0.2)
    assert results["narrow"] > results["wide"] > 0
    assert results["mean-worth"] < results["mean-units"] < results["mean-records"]
    assert results["lost"] == results["lost-groups"].set_index("group").loc["postcode", "lost"] > 0
    assert results["lost-overlap-after"] > results["lost-overlap-before"]
    assert results["overlap-all"] == pytest.approx(
        results["overlap-mean"] * results["compared"] / (results["compared"] + results["lost"])
    )
    assert results["user-width"] < 0.7
    assert results["il-shifted"] == results["il-mixed"] and results["il-mixed-mean"] == 0 < results["il-shifted-mean"]
    assert (results["bowl-correlations"], results["bowl-eigenvalues"], results["xor-most"]) == (0, 0, 0)
    assert (results["xor-three"], results["swap-entropy"], results["dealt-ratio"]) == (1, 0, 0)
    assert results["classes-dealt"] < results["classes-before"]
    assert (results["unasked-overlap"], results["unasked-lost"]) == (1, 0)
    best = results["best"].set_index("by the measure")
    assert (best.loc["tables", "costs least"], best.loc["average class", "costs least"]) == ("PRAM", "shuffling")
    assert best.loc["IL1s", "not seen"] == "recoding, suppression, PRAM"
    assert best.loc["information lost", "not seen"] == "rank swapping, shuffling"
    assert best.loc["overlap of those left", "not seen"] == "recoding"
    assert results["asked"] == results["narrow"] + results["wide"] + results["no-ratio"]
    price = results["history-cost"].set_index("after")["information lost (%)"]
    assert price["pram"] == price["suppress"] > price["recode age"]
    assert 0 < results["never-after"] < results["never-upper"]
    assert results["never-units"] > 0
    empty = results["methods"].set_index("method")["linked by their keys (%)"].isna()
    assert list(empty.index[empty]) == ["rank swapping", "shuffling"]


def test_recorded_choices(book):
    """What the chapter says of the chosen recipe, of a risk that takes perturbed keys for true, and of seeds."""
    results = book["choosing"]
    assert results["recipes"] == 54
    assert results["failed"] == 0
    assert results["answers-different"] > 1
    assert results["emptied"] == "age" and results["emptied-share"] > 0.5
    assert results["blind-global-last"] > results["blind-global-first"]
    assert results["blind-key-last"] < results["blind-key-first"]
    # Whatever the seeds: by either list, its own best is better than any seed, and than the best by the other list.
    assert results["seeds-listed"] < 0
    assert results["seeds-other"] < min(0, results["seeds-unlisted"])
    assert results["undefined"] == 0
    assert results["prices"].iloc[0, 1:].eq("-").all()
    # With the age on the list, what had won is no longer cheapest, and another key pays.
    again = results["again"].set_index("suppress")
    assert list(again.index) == ["age first", "postcode first"]
    assert again.loc["age first", "risk"] == results["chosen-risk"]
    assert again.loc["age first", "no age (%)"] == pytest.approx(100 * results["emptied-share"])
    assert again.loc["postcode first", "loss"] == results["again-loss"] < again.loc["age first", "loss"]
    assert results["again-emptied"] == "postcode" and results["again-emptied-share"] > 0.5


def test_the_notebook_of_costs_on_a_users_file(run, shops):
    roles = {"key_variables": ["area", "size", "owner"], "numeric_variables": ["size"], "missing": "category"}
    asked = {"rates": {"fined": None}, "means": ["size"], "by": ["area", "owner"]}
    steps = [{"recode": {"variable": "size", "width": 20}}, {"pram": {"variables": ["fined"], "keep": 0.9}}]
    methods = {
        "swapping": [{"rank_swap": {"variables": ["size"]}}],
        "removal": [{"remove_variables": {"variables": ["owner"]}}],
    }
    own = {"roles": roles, "indicators": asked, "household_steps": [], "steps": steps, "methods": methods}
    results = run("cost", file=str(shops), repeats=20, **own)
    frame = read_microdata(shops)
    assert results["records"] == 300
    assert results["mean-units"] == results["mean-records"] == 300
    assert results["lost"] == 1 + frame["area"].nunique() + frame["owner"].nunique()  # the size is bands now
    assert len(results["users"]) == 3
    assert results["methods"]["lost"].tolist() == [0, 0, 3 * 2]


def test_the_notebook_of_choices_on_a_users_file(run, shops):
    recipe = {
        "key_variables": ["area", "size", "owner"],
        "missing": "category",
        "indicators": {"rates": ["fined"], "by": ["area"]},
        "steps": ["$noise", {"recode": {"variable": "size", "width": "$width"}}],
    }
    grid = {
        "width": [10, 30],
        "noise": {"none": None, "swapped": {"rank_swap": {"variables": ["size"], "window": 0.2}}},
    }
    asked = {"losses": ["non_uniform_entropy", "average_class_size"], "loss": "non_uniform_entropy", "required": 0.9}
    unlisted = {"rates": ["owner"]}
    own = {"recipe": recipe, "grid": grid, "perturbing": "noise", "unlisted": unlisted}
    own |= {"listed_again": ["area", "owner"], "prepared": [], "grid_again": grid, "compared_again": "noise"}
    results = run("choosing", file=str(shops), repeats=2, seeds=4, best_of=2, other_required=[0.0], **own, **asked)
    assert results["recipes"] == 4
    assert results["prices"].iloc[0, 1] == "-"
    assert results["blind-key-last"] < results["blind-key-first"]
    assert len(results["frontier"]) == results["frontier-size"]
    assert results["again"]["noise"].tolist() == ["none", "swapped"]
    plain = run(
        "choosing",
        file=str(shops),
        grid={"width": [10, 30]},
        perturbing="",
        seeds=2,
        repeats=1,
        **asked,
        recipe=recipe | {"steps": recipe["steps"][1:]},
        unlisted=unlisted,
    )
    assert "seeds" not in plain and "again" not in plain


def test_the_recipes_of_the_chapters_on_cost_run_as_printed(tmp_path, monkeypatch):
    """The grid and both pieces of Python; the indicators as a setting of a recipe."""
    import yaml

    monkeypatch.chdir(tmp_path)
    choosing, cost = ((ROOT / "book" / f"{name}.md").read_text() for name in ("choosing", "cost"))
    (grid,) = re.findall(r"```yaml\n(.*?)```", choosing, re.DOTALL)
    Path("grid.yml").write_text(grid)
    (command,) = re.findall(r"^kanon-lab (map .*)$", choosing, re.MULTILINE)
    assert run_command(command.split()) == 0
    (code,) = re.findall(r"```python\n(.*?)```", choosing, re.DOTALL)
    names = {}
    exec(code, names)
    assert len(names["found"].points) == 6
    assert names["found"].points["error"].isna().all()
    (code,) = re.findall(r"```python\n(.*?)```", cost, re.DOTALL)
    exec(code, names)
    assert len(names["before"]) == len(names["after"]) == 3
    (wanted,) = re.findall(r"```yaml\n(.*?)```", cost, re.DOTALL)
    recipe = yaml.safe_load(grid) | {"steps": []} | yaml.safe_load(wanted)
    del recipe["grid"]
    applied = as_recipe(recipe).apply(names["survey"])
    assert applied.history["indicators_lost"].tolist() == [0]


def test_recorded_uniques(book):
    """Eight people by hand; where the ruler is too high; that no count forces one unique person."""
    results = book["uniques"]
    assert results["village-mean-alone"] == 1.75  # half of 1 + 1 + 1 + 1/2
    # G(1/4), G(1/2), G(1) of classes 1, 1, 2, 4 are 5.1875, 3.5, 2; of 1, 1, 1, 1, 4 they are 5.6875, 4.5, 4.
    assert results["village-ratio"] == pytest.approx(3.5**2 / (5.1875 * 2))
    assert results["other-ratio"] == pytest.approx(4.5**2 / (5.6875 * 4))
    assert results["n"] == 6_059_494
    assert results["ratios-over"] == results["ratios-pairs"] == 6 * results["levels"] == 54
    assert results["concave"] == 9
    assert (results["nearest"], results["nearest-times"], results["between"]) == ("tangent", 54, 54)
    ratios, tangent = (results[name] for name in ("ratios", "methods"))
    assert (ratios.iloc[:, 1:].diff(axis=1).iloc[:, 1:] < 0).all(axis=None)  # the smaller the sample, the worse
    by_method = tangent.set_index("method")
    assert by_method.loc["zayatz"].to_numpy() == pytest.approx(by_method.loc["subsample"].to_numpy(), rel=1e-3)
    assert 0 < results["odd-under"] < 9 and results["odd-least"] < 1
    assert results["failures"] == 0
    luck = results["luck"].set_index("p(d) from")["sd / mean (%)"]
    assert luck.iloc[1] < 0.6 * luck.iloc[0]
    assert luck.iloc[3] < luck.iloc[2] < luck.iloc[0]
    assert results["bound-least"] == results["bounds-least"] == 0
    assert results["bound-most"] == pytest.approx(results["shown-sample"])
    bounds = results["bounds"]
    assert (bounds["truth"] < bounds["tangent"]).all() and (bounds["tangent"] < bounds["ruler"]).all()
    assert (bounds["ruler"] < bounds["most"]).all()
    town = results["town"].set_index("method")
    told = town.loc["poisson-gamma-ml, all combinations told"] / town.loc["truth"]
    assert told.to_numpy() == pytest.approx([1, 1, 1], abs=0.1)
    assert (town.loc["tangent"] > 1.5 * town.loc["truth"]).all()


def test_the_notebook_of_uniques_on_a_users_population(run, shops):
    keys = ["area", "size", "owner"]
    levels = {"size": {"years": None, "tens": {"width": 10}}}
    asked = {"fraction": 0.3, "fractions": [0.1, 0.3], "samples": 2, "lucky": 3}
    results = run("uniques", file=str(shops), key_variables=keys, levels=levels, **asked)
    assert results["n"] == 300
    assert (results["levels"], results["ratios-pairs"]) == (2, 4)
    table = class_table(read_microdata(shops), KeySpec(keys, missing="category"))
    assert results["shown-truth"] == pytest.approx((table.f_k == 1).sum() / 300)


def test_the_code_of_the_chapter_of_uniques_runs_as_printed(tmp_path, monkeypatch):
    page = (ROOT / "book" / "uniques.md").read_text()
    (command,) = re.findall(r"^kanon-lab (subsample health-survey .*)$", page, re.MULTILINE)
    assert run_command(command.split()) == 0
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names = {}
    exec(code, names)
    assert len(names["sample"]) == pytest.approx(0.04 * 6_059_494, rel=0.01)
