"""Charts of the subsample study: what they draw and say, compared with the figures they were made from."""

import html
import json
import math

import numpy as np
import pandas as pd
import pytest

from kanon_lab import charts
from kanon_lab.charts.axes import share_words
from kanon_lab.charts.estimates import _METHODS
from kanon_lab.errors import OptionError
from kanon_lab.subsample import TRIAL_METHODS, area_threshold, expected_study, study_trials, uniqueness_curve

F = 0.04
SIZES = np.random.default_rng(4).poisson(np.random.default_rng(5).lognormal(-1, 2.5, 20_000))


def drawn(chart) -> str:
    svg = pytest.importorskip("vl_convert").vegalite_to_svg(json.dumps(chart.to_dict()), vl_version="5.20")
    return html.unescape(svg)


def inlined(spec) -> list[dict]:
    return [row for rows in spec["datasets"].values() for row in rows]


@pytest.fixture(scope="module")
def curve():
    return uniqueness_curve(SIZES, np.geomspace(0.001, 1, 21))


@pytest.fixture(scope="module")
def study():
    return expected_study(SIZES, [F])


def test_the_curve_has_its_numbers_on_the_picture(curve, study):
    chart = charts.uniqueness_curve(curve, study)
    text, row = drawn(chart), study.iloc[0]
    shares = {
        "subsample": row["u2"] / row["n2"],
        "sample": row["u1"] / row["n1"],
        "ruler": row["p_c"],
        "tangent": row["tangent_p_c"],
        "truth": row["true_p_c"],
    }
    for name, share in shares.items():
        assert f">{name} {share_words(share)}<" in text
        assert share_words(share) in chart.description
    for name in ("the population's curve", "ruler through the two points", "tangent at the sample"):
        assert f">{name}<" in text
    assert f"{row['p_c'] / row['true_p_c']:.2g} times the truth" in " ".join(chart.to_dict()["title"]["text"])


def test_the_lines_are_straight_and_meet_the_curve(curve, study):
    lines = pd.DataFrame(
        [row for row in inlined(charts.uniqueness_curve(curve, study).to_dict()) if "what" in row and row["what"]]
    )
    ruler = lines[lines["what"] == "ruler through the two points"]
    slopes = np.diff(np.log(ruler["share"])) / np.diff(np.log(ruler["fraction"]))
    assert ruler["fraction"].tolist() == pytest.approx([F * F, F, 1])
    assert slopes[0] == pytest.approx(slopes[1], rel=1e-4)
    tangent = lines[lines["what"] == "tangent at the sample"]
    (slope,) = np.diff(np.log(tangent["share"])) / np.diff(np.log(tangent["fraction"]))
    assert slope == pytest.approx(uniqueness_curve(SIZES, [F])["slope"].iloc[0], rel=1e-4)
    at_f = tangent["share"].iloc[-1] * F**slope
    assert at_f == pytest.approx(study["u1"].iloc[0] / study["n1"].iloc[0], rel=1e-4)


def test_labels_at_the_end_do_not_cover_each_other():
    near = expected_study(SIZES, [F]).assign(p_c=0.01, tangent_p_c=0.0101, true_p_c=0.0099)
    spec = charts.uniqueness_curve(uniqueness_curve(SIZES, [0.001, 0.99]), near).to_dict()
    curve = next(layer for layer in spec["layer"] if layer["mark"]["type"] == "line")
    low, high = curve["encoding"]["y"]["scale"]["domain"]
    ends = {row["name"]: row["share"] for row in inlined(spec) if row.get("name") in ("ruler", "tangent", "truth")}
    heights = sorted(340 * math.log(share / low) / math.log(high / low) for share in ends.values())
    assert sorted(ends, key=ends.get) == ["truth", "ruler", "tangent"]
    assert np.diff(heights).min() > 16
    assert heights[0] > 8


def test_a_population_without_uniques_has_no_curve(curve):
    with pytest.raises(OptionError, match="somebody is unique"):
        charts.uniqueness_curve(curve, expected_study(np.array([2, 3, 9]), [F]))
    with pytest.raises(OptionError, match="one fraction of the study, not 2"):
        charts.uniqueness_curve(curve, expected_study(SIZES, [F, 0.1]))


def test_factors_multiply_and_the_ceiling_is_marked():
    frame = expected_study(SIZES, np.geomspace(0.005, 0.1, 7))
    chart = charts.fraction_effect(frame, chosen=F)
    text = drawn(chart)
    assert ">ceiling 5%<" in text and ">4%<" in text
    rows = pd.DataFrame([row for row in inlined(chart.to_dict()) if "p" in row]).drop_duplicates()
    shares = rows.pivot(index="fraction", columns="what", values="p")
    factors = ["p(b): in the sample", "p(c): unique", "p(d): verified"]
    np.testing.assert_allclose(shares[factors].prod(axis=1), shares["p(identification)"], rtol=1e-3)
    assert "the same, in truth" in shares
    without = charts.fraction_effect(frame.drop(columns="true_p_identification"), ceiling=None)
    assert "in truth" not in drawn(without) and "ceiling" not in without.description
    with pytest.raises(OptionError, match="'ceiling 20%' lies outside the axis"):
        charts.fraction_effect(frame, ceiling=0.2)


def test_areas_are_read_off_their_line():
    persons = float(SIZES.sum())
    marks = {"small": persons / 50, "large": persons / 7}
    frame = area_threshold(SIZES, populations=np.geomspace(persons / 500, persons, 60), fraction=F)
    chart = charts.area_threshold(frame, marks=marks)
    text = drawn(chart)
    for name, population in marks.items():
        share = uniqueness_curve(SIZES, [population / persons])["share"].iloc[0]
        told = next(row for row in inlined(chart.to_dict()) if row.get("mark") == name and "share" in row)
        assert told["share"] == pytest.approx(share, rel=0.002)
        assert f">{name}<" in text and f">{told['label']}<" in text and f"{name}: {told['label']}" in chart.description
    both = pd.concat([frame.assign(age=age) for age in ("1 year", "5 years")])
    assert "1 year, small" in charts.area_threshold(both, marks=marks, series="age").description
    with pytest.raises(OptionError, match="room for 4 series, not 5"):
        charts.area_threshold(pd.concat([frame.assign(age=age) for age in "abcde"]), series="age")
    with pytest.raises(OptionError, match="'city' lies outside the axis"):
        charts.area_threshold(frame, marks={"city": 2 * persons})


@pytest.fixture(scope="module")
def scenarios():
    rows = [(place, age) for place in ("Catalonia", "14 regions") for age in ("1 year", "5 years")]
    frame = pd.DataFrame(rows, columns=["region", "age"])
    return frame.assign(p_identification=[0.000455, 0.0000686, 0.003264, 0.000636])


def test_scenarios_are_named_with_their_risks(scenarios):
    printed = scenarios.assign(printed=0.0004, low=0.00005, high=0.004)
    chart = charts.scenario_risks(printed)
    text = drawn(chart)
    for p in scenarios["p_identification"]:
        assert f">{share_words(p)}<" in text
    assert "From 0.00686% (Catalonia, 5 years) to 0.326% (14 regions, 1 year)." in chart.description
    assert "lines across: printed" in text and "bars: repeated subsamples" in text
    plain = charts.scenario_risks(scenarios)
    assert "printed" not in drawn(plain) and len(plain.to_dict()["layer"]) == len(chart.to_dict()["layer"]) - 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: pd.concat([t, t]), "stands twice"),
        (lambda t: pd.concat([t.assign(region=name) for name in "abcde"]).drop_duplicates(["region", "age"]), "not 5"),
        (lambda t: t.drop(columns="age"), "needs the column 'age'"),
    ],
)
def test_scenarios_that_cannot_be_drawn_are_refused(scenarios, change, message):
    with pytest.raises(OptionError, match=message):
        charts.scenario_risks(change(scenarios))


@pytest.fixture(scope="module")
def trials():
    cells = pd.DataFrame({"key": range(SIZES.size), "persons": SIZES})[SIZES > 0]
    methods = ["one subsample", "subsample", "tangent", "zayatz"]
    return study_trials(cells, "key", fractions=[0.02, 0.1], seed=1, persons="persons", samples=4, methods=methods)


def test_every_method_has_a_look_of_its_own():
    assert set(_METHODS) == set(TRIAL_METHODS)
    assert len({str(look) for look in _METHODS.values()}) == len(_METHODS)


@pytest.mark.parametrize("quantity", ["p_c", "p_d"])
def test_estimates_stand_beside_the_truth(trials, quantity):
    chart = charts.estimates_against_truth(trials, quantity=quantity, methods=["tangent", "subsample"])
    rows = pd.DataFrame([row for row in inlined(chart.to_dict()) if "low" in row]).drop_duplicates()
    assert list(dict.fromkeys(rows["what"])) == ["subsample", "tangent"]
    wanted = trials[trials["method"].isin(["tangent", "subsample"])]
    np.testing.assert_allclose(rows["mean"], wanted[quantity], atol=1e-9)
    assert ((rows["low"] <= rows["mean"]) & (rows["mean"] <= rows["high"])).all()
    assert chart.to_dict()["layer"][0]["encoding"]["color"]["scale"]["domain"] == ["truth", "tangent", "subsample"]
    last = trials[trials["fraction"] == 0.1].set_index("method")
    assert f"truth is {share_words(last[f'true_{quantity}'].iloc[0])}" in chart.description
    assert f"{share_words(last.loc['tangent', quantity])} by tangent" in chart.description
    assert ">tangent<" in drawn(chart)


def test_a_method_without_estimates_leaves_a_gap(trials):
    lacking = trials.copy()
    lacking.loc[(lacking["method"] == "zayatz") & (lacking["fraction"] == 0.1), ["p_c", "sd_p_c"]] = None
    rows = inlined(charts.estimates_against_truth(lacking).to_dict())
    assert {row["fraction"] for row in rows if row["what"] == "zayatz"} == {0.02}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"quantity": "p_b"}, "quantity must be one of p_c, p_d"),
        ({"methods": ["pitman"]}, "'pitman' is none of the frame"),
    ],
)
def test_estimates_that_are_not_there_are_refused(trials, options, message):
    with pytest.raises(OptionError, match=message):
        charts.estimates_against_truth(trials, **options)


@pytest.mark.parametrize(
    ("share", "words"),
    [(0.000443, "0.0443%"), (1e-9, "0.0000001%"), (1.0, "100%"), (0.123456, "12.3%"), (float("nan"), "unknown")],
)
def test_small_shares_are_written_without_powers_of_ten(share, words):
    assert share_words(share) == words
