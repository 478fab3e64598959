"""Charts of the subsample study: what they draw and say, compared with the figures they were made from."""

import html
import json
import math

import numpy as np
import pandas as pd
import pytest

from kanon_book.figures import detail as detail_figures
from kanon_book.figures import uniques as uniques_figures
from kanon_book.figures.uniques import _METHODS
from kanon_lab.digits import percent
from kanon_lab.errors import OptionError
from kanon_lab.sample import TRIAL_METHODS, area_threshold, expected_study, study_trials, uniqueness_curve

F = 0.04
SIZES = np.random.default_rng(4).poisson(np.random.default_rng(5).lognormal(-1, 2.5, 20_000))


def drawn(chart) -> str:
    svg = pytest.importorskip("vl_convert").vegalite_to_svg(json.dumps(chart.to_dict()), vl_version="5.20")
    return html.unescape(svg)


def inlined(spec) -> list[dict]:
    return [row for rows in spec["datasets"].values() for row in rows]


def rows_of(spec, layer) -> list[dict]:
    return spec["datasets"][layer["data"]["name"]]


@pytest.fixture(scope="module")
def curve():
    return uniqueness_curve(SIZES, np.geomspace(0.001, 1, 21))


@pytest.fixture(scope="module")
def study():
    return expected_study(SIZES, [F])


def test_the_curve_has_its_numbers_on_the_picture(curve, study):
    chart = uniques_figures.uniqueness_curve(curve, study, tangent=True)
    text, row = drawn(chart), study.iloc[0]
    shares = {
        "subsample": row["u2"] / row["n2"],
        "sample": row["u1"] / row["n1"],
        "ruler": row["p_c"],
        "tangent": row["tangent_p_c"],
        "truth": row["true_p_c"],
    }
    for name, share in shares.items():
        assert f">{name} {percent(share)}<" in text
        assert percent(share) in chart.description
    factor = f"{row['p_c'] / row['true_p_c']:.2g} times"
    assert f">{factor}<" in text and f"{factor} the truth" in chart.description
    nearer = f"{row['tangent_p_c'] / row['true_p_c']:.2g} times"
    assert f"{factor} the truth, the tangent at {nearer}" in " ".join(chart.to_dict()["title"]["text"])
    plain = uniques_figures.uniqueness_curve(curve, study)
    assert "tangent" not in drawn(plain) and "tangent" not in plain.description


def test_the_lines_are_straight_and_meet_the_curve(curve, study):
    spec = uniques_figures.uniqueness_curve(curve, study, tangent=True).to_dict()
    laid = next(layer for layer in spec["layer"] if layer["mark"]["type"] == "line")
    lines = pd.DataFrame(rows_of(spec, laid))
    ruler = lines[lines["line"] == "ruler"]
    slopes = np.diff(np.log(ruler["share"])) / np.diff(np.log(ruler["fraction"]))
    assert ruler["fraction"].tolist() == pytest.approx([F * F, F, 1])
    assert slopes[0] == pytest.approx(slopes[1], rel=1e-4)
    tangent = lines[lines["line"] == "tangent"]
    (slope,) = np.diff(np.log(tangent["share"])) / np.diff(np.log(tangent["fraction"]))
    assert slope == pytest.approx(uniqueness_curve(SIZES, [F])["slope"].iloc[0], rel=1e-4)
    at_f = tangent["share"].iloc[-1] * F**slope
    assert at_f == pytest.approx(study["u1"].iloc[0] / study["n1"].iloc[0], rel=1e-4)


def test_the_ruler_takes_the_same_step_twice(curve, study):
    chart = uniques_figures.uniqueness_curve(curve, study)
    steps = [row for row in inlined(chart.to_dict()) if "along" in row]
    fall = (study["u1"] / study["n1"] / (study["u2"] / study["n2"])).iloc[0]
    said = {(f"\u00d7 {1 / F:.3g}", f"\u00d7 {fall:.2g}")}
    assert {(row["along"], row["down"]) for row in steps} == said
    for along, down in said:
        assert drawn(chart).count(f">{along}<") == drawn(chart).count(f">{down}<") == 2
    for row in steps:
        assert row["fraction"] / row["left"] == pytest.approx(1 / F)
        assert row["below"] / row["share"] == pytest.approx(fall)


@pytest.mark.parametrize(("ruler", "tangent", "truth"), [(0.01, 0.0101, 0.0099), (0.0098, 0.0101, 0.0099)])
def test_labels_at_the_end_do_not_cover_each_other(ruler, tangent, truth):
    near = expected_study(SIZES, [F]).assign(p_c=ruler, tangent_p_c=tangent, true_p_c=truth)
    spec = uniques_figures.uniqueness_curve(uniqueness_curve(SIZES, [0.001, 0.99]), near, tangent=True).to_dict()
    curve = next(layer for layer in spec["layer"] if layer["mark"]["type"] == "line")
    low, high = curve["encoding"]["y"]["scale"]["domain"]
    texts = [layer for layer in spec["layer"] if layer["mark"]["type"] == "text" and layer["mark"].get("dx") == 17]
    ends = {row["label"]: row["share"] for layer in texts for row in rows_of(spec, layer)}
    heights = sorted(340 * math.log(share / low) / math.log(high / low) for share in ends.values())
    order = [label.split()[0] for label in sorted(ends, key=ends.get)]
    by_height = sorted([(ruler, "ruler"), (tangent, "tangent"), (truth, "truth")])
    assert [name for name in order if not name[0].isdigit()] == [name for _, name in by_height]
    assert len(heights) == 4 and np.diff(heights).min() > 16
    assert heights[0] > 8


def test_a_population_without_uniques_has_no_curve(curve):
    with pytest.raises(OptionError, match="somebody is unique"):
        uniques_figures.uniqueness_curve(curve, expected_study(np.array([2, 3, 9]), [F]))
    with pytest.raises(OptionError, match="one fraction of the study, not 2"):
        uniques_figures.uniqueness_curve(curve, expected_study(SIZES, [F, 0.1]))


def test_what_is_next_to_zero_is_cut_off_or_refused(curve, study):
    steep = uniques_figures.uniqueness_curve(curve, study.assign(tangent_p_c=0.0), tangent=True)
    low, _ = next(layer for layer in steep.to_dict()["layer"] if layer["mark"]["type"] == "line")["encoding"]["y"][
        "scale"
    ]["domain"]
    assert low == 1e-15
    assert ">tangent 0%<" in drawn(steep)
    for share in (0.0, np.nan, np.inf):
        with pytest.raises(OptionError, match="every share of the curve is 0, next to 0 or unknown"):
            uniques_figures.uniqueness_curve(curve.assign(share=share), study)
    with pytest.raises(OptionError, match="a sampling fraction must be"):
        uniques_figures.uniqueness_curve(curve, study.assign(fraction=1e-300))


def test_small_numbers_keep_their_digits():
    """Rounded to decimals they would be 0 on a logarithmic axis."""
    places = pd.DataFrame({"population": [10, 1e6], "true_p_c": [3.21e-11, 1.234567e-12]})
    shares = {row["share"] for row in inlined(detail_figures.area_threshold(places).to_dict()) if "share" in row}
    assert shares == {3.21e-11, 1.234567e-12}


def test_factors_multiply_and_the_ceiling_is_marked():
    frame = expected_study(SIZES, np.geomspace(0.005, 0.1, 7))
    chart = detail_figures.fraction_effect(frame, chosen=F)
    text = drawn(chart)
    assert ">ceiling 5%<" in text and ">4%<" in text
    rows = pd.DataFrame([row for row in inlined(chart.to_dict()) if "p" in row]).drop_duplicates()
    shares = rows.pivot(index="fraction", columns="what", values="p")
    factors = ["p(b): in the sample", "p(c): unique", "p(d): sure of the match"]
    np.testing.assert_allclose(shares[factors].prod(axis=1), shares["p(identification)"], rtol=1e-3)
    assert "the same with true shares" in shares
    without = detail_figures.fraction_effect(frame.drop(columns="true_p_identification"), ceiling=None)
    assert "true shares" not in drawn(without) and "ceiling" not in without.description
    with pytest.raises(OptionError, match="'ceiling 20%' lies outside the axis"):
        detail_figures.fraction_effect(frame, ceiling=0.2)
    for mark in ("5%", 0, -0.1, math.nan):
        with pytest.raises(OptionError, match="ceiling must be a number above 0 and at most 1"):
            detail_figures.fraction_effect(frame, ceiling=mark)
    one = detail_figures.fraction_effect(frame.head(1).assign(true_p_identification=0.0), ceiling=None, chosen=0.005)
    assert "Points left out as 0, next to 0 or unknown: 1." in one.description
    assert "NaN" not in drawn(one)
    with pytest.raises(OptionError, match="every probability is 0"):
        detail_figures.fraction_effect((frame * 0).assign(fraction=0.1))


def test_areas_are_read_off_their_line():
    persons = float(SIZES.sum())
    marks = {"small": persons / 50, "large": persons / 7}
    frame = area_threshold(SIZES, populations=np.geomspace(persons / 500, persons, 60), fraction=F)
    chart = detail_figures.area_threshold(frame, marks=marks)
    text = drawn(chart)
    for name, population in marks.items():
        share = uniqueness_curve(SIZES, [population / persons])["share"].iloc[0]
        told = next(row for row in inlined(chart.to_dict()) if row.get("mark") == name and "share" in row)
        assert told["share"] == pytest.approx(share, rel=0.002)
        assert f">{name}<" in text and f">{told['label']}<" in text and f"{name}: {told['label']}" in chart.description
    both = pd.concat([frame.assign(age=age) for age in ("1 year", "5 years")])
    assert "1 year, small" in detail_figures.area_threshold(both, marks=marks, series="age").description
    three = pd.concat([frame.assign(age=str(times), true_p_c=frame["true_p_c"] / times) for times in (1, 2, 2.1)])
    three = detail_figures.area_threshold(three, marks={"here": persons / 50}, series="age")
    words = [row["word"] for row in inlined(three.to_dict()) if row.get("mark") == "here" and "word" in row][:3]
    assert all(f">{word}<" in drawn(three) for word in words) and len(set(words)) == 3
    near = pd.concat([frame.assign(age=str(times), true_p_c=frame["true_p_c"] / times) for times in (1, 1.05, 2)])
    near = detail_figures.area_threshold(near, marks={"here": persons / 50}, series="age").to_dict()
    assert [row["word"] == "" for row in inlined(near) if row.get("mark") == "here" and "word" in row][:3] == [0, 1, 0]
    with pytest.raises(OptionError, match="room for 4 series, not 5"):
        detail_figures.area_threshold(pd.concat([frame.assign(age=age) for age in "abcde"]), series="age")
    with pytest.raises(OptionError, match="'city' lies outside the axis"):
        detail_figures.area_threshold(frame, marks={"city": 2 * persons})
    for place in ("many", 0, -5):
        with pytest.raises(OptionError, match="the mark 'city' must be a number above 0"):
            detail_figures.area_threshold(frame, marks={"city": place})
    with pytest.raises(OptionError, match="marks must be a mapping"):
        detail_figures.area_threshold(frame, marks=[5])


def test_one_area_and_areas_without_uniques():
    places = pd.DataFrame({"population": [100.0, 1000.0, 5000.0], "true_p_c": [0.2, 0.1, 0.0]})
    one = detail_figures.area_threshold(places.head(1), marks={"town": 100})
    assert "town: 20%" in one.description and "NaN" not in drawn(one)
    # Between the last uniques and none the line says nothing, and nothing is read off.
    some = detail_figures.area_threshold(places, marks={"town": 500, "city": 3000})
    assert some.description.endswith(" town: 12.3%. Areas left out as 0, next to 0 or unknown: 1.")
    with pytest.raises(OptionError, match="every share is 0"):
        detail_figures.area_threshold(places.tail(1))


@pytest.fixture(scope="module")
def scenarios():
    rows = [(place, age) for place in ("Catalonia", "14 regions") for age in ("1 year", "5 years")]
    frame = pd.DataFrame(rows, columns=["region", "age"])
    return frame.assign(p_identification=[0.000455, 0.0000686, 0.003264, 0.000636])


def test_scenarios_are_named_with_their_risks(scenarios):
    printed = scenarios.assign(printed=0.0004, low=0.00005, high=0.004)
    chart = detail_figures.scenario_risks(printed)
    text = drawn(chart)
    for p in scenarios["p_identification"]:
        assert f">{percent(p)}<" in text
    assert "From 0.00686% (Catalonia, 5 years) to 0.326% (14 regions, 1 year)." in chart.description
    assert "lines across: printed" in text and "bars: range of repeated subsamples" in text
    lost = detail_figures.scenario_risks(
        printed.assign(p_identification=[0.1, 0, np.nan, 1e-9], printed=0.0, low=[0, 1, 1, 0])
    )
    assert "of 2 scenarios" in lost.description
    assert lost.description.endswith("Scenarios left out as 0, next to 0 or unknown: 2.")
    assert "scenarios left out" in drawn(lost) and "NaN" not in drawn(lost)
    plain = detail_figures.scenario_risks(scenarios)
    assert "printed" not in drawn(plain) and len(plain.to_dict()["layer"]) == len(chart.to_dict()["layer"]) - 2


@pytest.mark.parametrize(
    ("ages", "places"),
    [(("1 year", "5 years"), [1, 5]), (("fine", "coarse"), [0, 1]), (("5 years", "5 months"), [0, 1])],
)
def test_bands_of_ages_are_drawn_to_scale_where_they_have_a_number(scenarios, ages, places):
    chart = detail_figures.scenario_risks(scenarios.assign(age=[*ages] * 2))
    assert chart.to_dict()["layer"][0]["encoding"]["x"]["axis"]["values"] == places
    assert all(f">{age}<" in drawn(chart) for age in ages)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: pd.concat([t, t]), "occurs twice"),
        (lambda t: pd.concat([t.assign(region=name) for name in "abcde"]).drop_duplicates(["region", "age"]), "not 5"),
        (lambda t: t.drop(columns="age"), "needs the column 'age'"),
        (lambda t: t.assign(p_identification=0.0), "every risk is 0, next to 0 or unknown"),
        (lambda t: t.assign(p_identification=np.nan), "every risk is 0, next to 0 or unknown"),
    ],
)
def test_scenarios_that_cannot_be_drawn_are_refused(scenarios, change, message):
    with pytest.raises(OptionError, match=message):
        detail_figures.scenario_risks(change(scenarios))


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
    chart = uniques_figures.estimates_against_truth(trials, quantity=quantity, methods=["tangent", "subsample"])
    rows = pd.DataFrame([row for row in inlined(chart.to_dict()) if "low" in row]).drop_duplicates()
    assert list(dict.fromkeys(rows["what"])) == ["subsample", "tangent"]
    wanted = trials[trials["method"].isin(["tangent", "subsample"])]
    np.testing.assert_allclose(rows["mean"], wanted[quantity], rtol=1e-8)
    assert ((rows["low"] <= rows["mean"]) & (rows["mean"] <= rows["high"])).all()
    assert chart.to_dict()["layer"][0]["encoding"]["color"]["scale"]["domain"] == ["truth", "tangent", "subsample"]
    last = trials[trials["fraction"] == 0.1].set_index("method")
    assert f"truth is {percent(last[f'true_{quantity}'].iloc[0])}" in chart.description
    assert f"{percent(last.loc['tangent', quantity])} by tangent" in chart.description
    assert ">tangent<" in drawn(chart)


def test_a_method_without_estimates_leaves_a_gap(trials):
    lacking = trials.copy()
    lacking.loc[(lacking["method"] == "zayatz") & (lacking["fraction"] == 0.1), ["p_c", "sd_p_c"]] = None
    rows = inlined(uniques_figures.estimates_against_truth(lacking).to_dict())
    assert {row["fraction"] for row in rows if row["what"] == "zayatz"} == {0.02}
    assert (
        "Means left out as 0, next to 0 or unknown: 1." in uniques_figures.estimates_against_truth(lacking).description
    )


def test_where_nobody_is_unique_or_nothing_is_estimated_the_rest_is_drawn(trials):
    no_truth = uniques_figures.estimates_against_truth(trials.assign(true_p_c=0.0))
    assert "the truth is 0%" in no_truth.description
    assert no_truth.description.endswith(". Values of the truth left out as 0, next to 0 or unknown: 2.")
    no_means = uniques_figures.estimates_against_truth(trials.assign(p_c=np.nan, sd_p_c=np.nan))
    assert "means are unknown. Means left out as 0, next to 0 or unknown: 8." in no_means.description
    assert "NaN" not in drawn(no_truth) + drawn(no_means)
    with pytest.raises(OptionError, match="every mean is 0, next to 0 or unknown"):
        uniques_figures.estimates_against_truth(trials.assign(p_c=np.nan, true_p_c=0.0))
    with pytest.raises(OptionError, match="needs the column 'failures'"):
        uniques_figures.estimates_against_truth(trials.drop(columns="failures"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"quantity": "p_b"}, "quantity must be p_c or p_d"),
        ({"quantity": ["p_c"]}, "quantity must be p_c or p_d"),
        ({"methods": ["pitman"]}, "methods: pitman is not one of one subsample, subsample, tangent, zayatz"),
        ({"methods": []}, "methods: name at least one"),
    ],
)
def test_estimates_that_are_not_there_are_refused(trials, options, message):
    with pytest.raises(OptionError, match=message):
        uniques_figures.estimates_against_truth(trials, **options)


@pytest.mark.parametrize(
    ("share", "words"),
    [(0.000443, "0.0443%"), (1e-9, "0.0000001%"), (1.0, "100%"), (0.123456, "12.3%"), (float("nan"), "unknown")]
    + [(0.0, "0%"), (1e-130, "under 0.0000001%")],
)
def test_small_shares_are_written_without_powers_of_ten(share, words):
    assert percent(share) == words
