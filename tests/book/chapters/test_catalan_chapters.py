"""The study of Catalonia: what the notebooks of its chapters recorded, and other parameters."""

import re
from pathlib import Path

import pytest

from kanon_book.studies import KINDS, published_figures
from kanon_lab.classes import class_table
from kanon_lab.cli import run as run_command
from kanon_lab.data import load_microdata, read_microdata
from kanon_lab.methods import recode_step
from kanon_lab.notebooks import NotebookError
from kanon_lab.roles import KeySpec

ROOT = Path(__file__).resolve().parents[3]


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
    assert by_method.loc["poisson-gamma"].max() < by_method.loc["poisson-gamma-ml"].max() < 0.5
    least, most = (results[f"pitman-{end}"] / results[f"subsample-{end}"] for end in ("least", "most"))
    assert (least, most) == pytest.approx((1, 1), abs=0.05)
    assert results["tangent-least"] > 1 and results["tangent-most"] < results["subsample-least"]
    assert results["spread-most"] < 0.1
    odd = results["odd"].set_index("level of detail")["ruler / truth"]
    fewest = results["nine"].set_index("level of detail")["population"].nsmallest(results["odd-under"]).index
    assert 0 < len(fewest) < 9 and {*odd[odd < 1].index} == {*fewest}
    slopes = results["slopes"].set_index("level of detail")
    assert (slopes.diff(axis=1).iloc[:, 1:] > 0).all(axis=None) and slopes.max(axis=None) == results["steepest"] < 0.9
    assert results["failures"] == 0
    luck = results["luck"].set_index("p(d) from")["sd / mean (%)"]
    assert luck.iloc[1] < 0.5 * luck.iloc[0]
    assert luck.iloc[3] < luck.iloc[2] < luck.iloc[0]
    assert results["bound-least"] == results["bounds-least"] == 0
    assert results["bound-most"] == pytest.approx(results["shown-sample"])
    bounds = results["bounds"]
    assert (bounds["truth"] < bounds["tangent"]).all() and (bounds["tangent"] < bounds["ruler"]).all()
    assert (bounds["ruler"] < bounds["most"]).all()
    assert (bounds["fewest"] == 0).all()
    assert results["bounds-shown-most"] / results["shown-ruler"] == pytest.approx(2, abs=0.1)
    # As the page says: the bounds hold, a sample of one in four proves somebody unique, one in two refutes methods.
    for number in range(1, 5):
        assert results[f"bounds-low-{number}"] <= results["shown-truth"] <= results[f"bounds-high-{number}"]
    assert results["bounds-low-2"] == 0 < results["bounds-low-3"] < results["bounds-low-4"]
    assert results["bounds-outside"] > 0 and abs(results["bounds-margin-gain"]) < 1e-5
    known = results["bounds-town"].set_index("known besides the sample")
    assert known["all subsamples (Zayatz)"].tolist() == ["inside", "inside", "outside", "inside", "outside"]
    assert (known["Poisson-gamma, likelihood"] == "inside").all()
    assert results["bounds-samples"] == 1000 and results["bounds-two-sd"] < 0.8
    assert results["bounds-confidence"] == 0.95 < results["bounds-sets"] <= results["bounds-covered"]
    # Between the product with true shares and what an intruder reaches who does not wait to be sure.
    assert results["shown-true-p"] < results["shown-p"] < results["shown-daring"]
    assert results["shown-true-p-d"] > 0.01 and results["shown-p-d"] < 2 * results["shown-true-p-d"]
    town = results["town"].set_index("method")
    told = town.loc["Poisson-gamma, likelihood, combinations known"] / town.loc["truth"]
    assert told.to_numpy() == pytest.approx([1, 1, 1], abs=0.1)
    assert 1.5 < results["town-tangent"] < results["town-subsample"]


@pytest.mark.slow
def test_the_notebook_of_uniques_on_a_users_population(run, shops):
    keys = ["area", "size", "owner"]
    levels = {"size": {"years": None, "tens": {"width": 10}}}
    asked = {"fraction": 0.3, "fractions": [0.1], "samples": 2, "lucky": 3}
    results = run("uniques", file=str(shops), key_variables=keys, levels=levels, **asked)
    assert results["n"] == 300
    assert (results["levels"], results["ratios-pairs"]) == (2, 4)
    table = class_table(read_microdata(shops), KeySpec(keys, missing="category"))
    assert results["shown-truth"] == pytest.approx((table.f_k == 1).sum() / 300)


def test_the_code_of_the_chapter_on_what_no_sample_can_say_runs_as_printed(tmp_path, monkeypatch):
    page = (ROOT / "book" / "no-sample.md").read_text()
    (command,) = re.findall(r"^kanon-lab (subsample health-survey .*)$", page, re.MULTILINE)
    assert run_command(command.split()) == 0
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names = {}
    exec(code, names)
    assert len(names["sample"]) == pytest.approx(0.04 * 6_059_494, rel=0.01)


def test_recorded_conditions(book):
    """A village by hand; and what the chapter says of the product against the synthetic census."""
    results = book["conditions"]
    # u1 = 5 of 12, u = 3 of u2 = 6; E u = f u1.
    assert results["village-p"] == pytest.approx(0.5 * (5 / 12) * (3 / 6) ** 2)
    assert results["village-every-u"] == pytest.approx(5 / 2)
    assert results["village-every-count"] == 924  # 6 of 12
    assert (results["village-every-least"], results["village-every-most"]) == (0, 1)
    # Garín i Ramírez (1996), Taula 1, 14 regions and five-year bands: 0,0636%.
    assert 100 * results["p"] == pytest.approx(0.0637, abs=1e-4)
    still = results["attempts"]["left of a million attempts"]
    assert still.is_monotonic_decreasing and still.iloc[-1] == pytest.approx(1e6 * results["p"])
    spread = results["spread"].set_index("quantity")
    assert spread["expected"].between(spread["least"], spread["most"]).all()
    # The page: a miss is no bad luck, one record that matches is mostly a double's, and those alone mostly work.
    known = spread.dropna(subset="truth")
    assert (known["truth"] < known["least"]).all()
    meanings = results["meanings"]["probability"]
    assert meanings.is_monotonic_decreasing
    assert results["one-right"] < 0.5 and results["daring"] > 1
    assert results["with-true-shares"] < results["estimate"] < results["dared"]  # the estimate lies between the two
    assert results["with-true-shares"] == pytest.approx(spread.loc["p_identification", "truth"])
    # Alone in the file, 38,349 of 245,944 records: enough for whoever knows that the neighbour is in it.
    assert results["alone-share"] == pytest.approx(38_349 / 245_944)
    assert results["neighbour"] == pytest.approx(results["alone-share"] / results["p"])
    assert results["village-every-none"] == 3
    assert results["few-u"] <= results["few-u2"] < 50
    assert results["working-alone"] > 1.5 * results["working-all"]
    assert results["warning"].startswith("a subsample has too few unique records")


def test_recorded_details(book):
    """What the chapter says of Taula 1, of areas, of the fraction and of one more variable."""
    results = book["detail"]
    steps = results["steps-place"]
    assert (steps["second"] > steps["first"]).all()
    assert (steps["second_per_doubling"] > steps["first_per_doubling"]).all()
    assert steps["second_per_area"].div(steps["first_per_area"]).between(0.9, 1.1).all()
    ages = results["steps-age"].iloc[:, 1:]
    assert ages.iloc[:, 0].max() < 1.5 and ages.iloc[:, 1].min() > 5
    fractions = results["fractions"].set_index("name")
    assert fractions.loc["section 4.5.1", "cut_of_four"] == 9
    assert (fractions.iloc[:4]["cut"] < 9).all()
    assert results["four-sizes"] == "9,990 or 9,991"
    assert results["fraction-low"] > results["four-low"] and results["fraction-high"] < results["four-high"]
    beside = results["beside"]
    worst = beside.assign(off=beside["off"].abs()).groupby("count")["off"].max()
    assert worst["u1"] <= 0.03 and worst["u2"] <= 0.10 and worst["u"] <= 0.10
    assert results["beside-inside"] == beside["inside"].sum()
    assert results["same-order"] is True
    assert results["over-least"] > 2
    # Two scenarios are in the other order in the synthetic census.
    assert results["catalonia-yearly"] > results["regions-ten"]
    truth = results["truth"].set_index(["geography", "age"])["p_identification"]
    assert truth["Catalonia", "1 year"] < truth["14 regions", "10 years"]
    # With true shares fourteen regions and single years pass; by the estimate they do not.
    yearly = results["explorer"].query("region == '14 regions' and age == '1 year'")
    assert (yearly["p_identification"] > results["limit"]).all()
    assert yearly.loc[yearly["true_p_identification"] <= results["limit"], "fraction"].max() == 0.040625
    assert results["yearly-true"] == "up to 4.06%"
    threshold = results["threshold"]
    assert (threshold[["p_identification", "true_p_c"]].diff().dropna() < 0).all().all()
    assert results["threshold-p-identification"] > results["refused-p"] > results["accepted-p"]
    assert 40_000 < results["refused-persons"] < results["accepted-persons"]
    assert results["smallest-p"] > 3 * results["accepted-p"]
    assert results["regions-below"] == 14
    assert results["small-sample-alone"] > 3 * results["large-sample-alone"]
    assert len(results["escaped"]) == 8 + 4
    assert results["smallest-alone"] == results["regions"]["alone"].max()
    assert results["largest-alone"] == results["regions"]["alone"].min()
    assert results["double-true-p"] > 2 > results["double-p"]
    assert results["more"]["share"].is_monotonic_increasing
    assert results["more-1"] == pytest.approx(results["truth"]["true_p_c"].iloc[7])
    assert (results["variables"], results["variables-key"], results["variables-out"]) == (36, 8, 28)
    assert results["figures"] == len(published_figures("garin-1996"))
    assert sum(results[f"kind-{kind}"] for kind in KINDS) == results["figures"]
    assert (results["bands-5"], results["bands-10"]) == (14, 9)


@pytest.mark.slow
def test_the_notebook_of_detail_on_a_users_file(run, shops):
    keys = ["area", "size", "owner"]
    levels = {
        "area": {"as it is": None, "left out": "remove"},
        "size": {"exact": None, "twenties": {"width": 20}},
    }
    own = {"key_variables": keys, "geography": "area", "age": "size", "levels": levels, "least": 30}
    chosen = {"geography_level": "as it is", "age_level": "twenties"}
    results = run("detail", file=str(shops), fraction=0.3, repeats=4, seed=2, **own, **chosen)
    frame = read_microdata(shops)
    assert results["n1"] == 300
    assert len(results["scenarios"]) == 4
    banded = recode_step(frame, {"variable": "size", "width": 20})
    assert results["chosen-u1"] == class_table(banded, KeySpec(keys, missing="category")).sample_uniques
    found = results["scenarios"].set_index(["area", "size"]).loc[("as it is", "twenties")]
    assert found["p_identification"] == pytest.approx(0.3 * found["u1"] / 300 * (found["u"] / found["u2"]) ** 2)
    assert not {"taula", "truth", "explorer", "threshold", "more", "figures"} & {*results}


@pytest.mark.slow
def test_the_notebook_of_detail_on_another_sample_of_the_census(run):
    results = run("detail", fraction=0.01, geography_level="Catalonia", age_level="10 years", repeats=2, seed=7)
    assert results["fraction"] == 0.01
    assert results["n1"] == pytest.approx(60_594.94, abs=5 * (60_594.94 * 0.99) ** 0.5)
    assert 0 < results["more-1"] < 0.02


def test_the_notebook_of_detail_names_a_level_that_is_absent(run):
    with pytest.raises(NotebookError, match="has no level 'comarques'"):
        run("detail", geography_level="comarques")


def test_the_pieces_of_python_of_the_catalan_chapters_run_as_printed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("conditions", "detail"):
        page = (ROOT / "book" / f"{name}.md").read_text()
        for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
            if "widgets" not in code:  # tests/lab/show has the explorer
                exec(code, {})
    load_microdata("health-survey").assign(region="N", occupation="x").to_csv("survey.csv", index=False)
    page = (ROOT / "book" / "conditions.md").read_text()
    (command,) = re.findall(r"^kanon-lab (subsample .*)$", page, re.MULTILINE)
    assert run_command(command.split()) == 0
