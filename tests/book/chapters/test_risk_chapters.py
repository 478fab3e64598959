"""The guide from Chile, risk to suppression: what its notebooks recorded, and other parameters."""

import re
import runpy
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cases import others_slow

from kanon_book.studies import published_figures
from kanon_lab.classes import class_table
from kanon_lab.cli import run as run_command
from kanon_lab.data import load_microdata, read_microdata
from kanon_lab.measures import measure
from kanon_lab.methods import local_suppression, recode_step
from kanon_lab.roles import KeySpec

ROOT = Path(__file__).resolve().parents[3]
LADDERS = {
    "area": {"mapping": dict.fromkeys("NSEW", "*")},
    "size": {"widths": [10, 30], "from": 0, "to": 60},
    "owner": {"mapping": {"family": "*", "chain": "*"}},
}


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


@pytest.mark.parametrize("missing", others_slow(["wildcard", "category"]))
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


@pytest.mark.slow
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


@pytest.mark.slow
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
    modules = "data|roles|measures|classes|methods|recipes"
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


def test_what_sdcmicro_alone_has_is_named():
    """sdcMicro 5.8.2, its documentation: exported functions that do what nothing here does."""
    page = (ROOT / "book" / "sdcmicro.md").read_text()
    alone = page.partition("## Only in sdcMicro\n")[2].partition("## Where results differ\n")[0]
    names = set(re.findall(r"`(\w+)\(\)`", alone))
    assert {"riskyCells", "recordSwap", "recordLinkage", "mvTopCoding", "LocalRecProg", "IL_variables"} <= names
    assert "Version `5.8.2`" in alone
    assert not any(f"`{name}()" in page.replace(alone, "") for name in names)


def test_recorded_guide(book):
    guide = book["guide"]
    figures = guide["figures"]
    assert (figures, guide["disagree"], guide["ways"]) == (len(published_figures("ine-chile-2023")), 0, 8)
    assert guide["contradict"] == sum(
        guide[f"errors-{part}"] for part in ("measures", "recoding", "suppression", "program")
    )
    # R's sample() divides by the sum; a position beyond the urban draws takes one of them again.
    assert guide["etnia-drawn"] == pytest.approx(0.95 / 1.45)
    again = 684 * 1316 * 1315 / (2000 * 1999)  # positions that are urban, and so is that of the same draw
    assert guide["ifelse-sd"] == pytest.approx((0.6 * 0.4 * (1316 + 2 * again)) ** 0.5, rel=0.04)
    assert guide["ifelse-unused"] == pytest.approx(again / 1316, rel=0.02)
    # INE Chile (2023), Tabla 8.4.
    assert guide["counts"]["after, compatible"].tolist() == [4, 3, 3, 3, 4, 4, 4]
