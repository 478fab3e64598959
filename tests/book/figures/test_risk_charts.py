"""Charts of risk: the explorer's words against the integral behind them, and what the others draw and say."""

import html
import json

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad

from kanon_book.figures import risk as risk_figures
from kanon_lab import show
from kanon_lab.digits import percent
from kanon_lab.errors import OptionError
from kanon_lab.measures import individual_risk

SIZES = pd.DataFrame(
    {
        "members": ["1", "2+"],
        "households": [5, 3],
        "person": 0.2,
        "lower": [0.2, 0.25],
        "risk": [0.2, 0.36],
        "upper": 0.4,
    }
)


@pytest.fixture(scope="module")
def grid():
    f = np.repeat([1, 2, 3, 4], 50)
    F = f * np.tile(np.arange(1, 51), 4)
    return pd.DataFrame({"f_k": f, "F_k": F}).assign(
        **{name: individual_risk(f, F, estimator=name) for name in ("exact", "benedetti-franconi")}
    )


def drawn(chart) -> str:
    svg = pytest.importorskip("vl_convert").vegalite_to_svg(json.dumps(chart.to_dict()), vl_version="5.20")
    return html.unescape(svg)


@pytest.mark.parametrize(("f", "weight"), [(1, 1), (1, 50), (2, 20), (4, 7)])
def test_the_words_of_the_explorer_are_the_integral(grid, f, weight):
    """E[1/F] where F - f counts the failures before the f-th success: the integral of s^(f-1) (p / (1 - qs))^f ds."""
    p = 1 / weight
    risk = quad(lambda s: s ** (f - 1) * (p / (1 - (1 - p) * s)) ** f, 0, 1)[0]
    chart = risk_figures.risk_explorer(grid, f=f, weight=weight)
    text = drawn(chart)
    alike = f"{f} records alike" if f > 1 else "One record alone"
    assert f">{alike}, estimated F_k {f * weight}:<" in text
    assert f">risk {percent(risk)}, 1/estimate {percent(1 / f / weight)}<" in text
    times = f"the risk is {risk * f * weight:.2f} times 1/estimate" if weight > 1 else "they agree"
    assert f">{times}<" in text
    assert chart.to_dict()["description"].endswith(f"{percent(risk)}, {percent(1 / f / weight)}.")


@pytest.mark.parametrize(("f", "curves"), [(2, 2), (3, 3)])
def test_the_approximation_is_drawn_where_it_is_used(grid, f, curves):
    spec = risk_figures.risk_explorer(grid, f=f, weight=9).to_dict()
    assert drawn(risk_figures.risk_explorer(grid, f=f, weight=9)).count('aria-roledescription="line mark"') == curves
    assert [len(row["exact"]) for row in spec["data"]["values"]] == [50] * 4


def test_the_explorer_has_two_sliders_and_tells_a_page_its_result(grid):
    spec = risk_figures.risk_explorer(grid, weight=9).to_dict()
    sliders = {param["name"]: param for param in spec["params"] if "bind" in param}
    assert {name: (s["bind"]["min"], s["bind"]["max"], s["value"]) for name, s in sliders.items()} == {
        "f_k": (1, 4, 1),
        "weight": (1, 50, 9),
    }
    told = spec["usermeta"]["live"]
    assert told["signal"] in {param["name"] for param in spec["params"]}
    assert spec["description"].startswith(told["description"])


@pytest.mark.parametrize(
    ("change", "start", "message"),
    [
        (lambda g: g.drop(columns="exact"), {}, "needs the column 'exact'"),
        (lambda g: g.iloc[:-1], {}, "equally many weights"),
        (lambda g: g.iloc[::2], {}, "in order"),
        (lambda g: g, {"f": 5}, "f must be from 1 to 4"),
        (lambda g: g, {"weight": 51}, "weight from 1 to 50"),
    ],
)
def test_a_grid_or_start_that_does_not_fit_is_refused(grid, change, start, message):
    with pytest.raises(OptionError, match=message):
        risk_figures.risk_explorer(change(grid), **({"weight": 9} | start))


def test_a_distribution_says_where_most_records_are():
    bins = pd.DataFrame({"low": [0.01, 0.1], "high": [0.1, 1], "records": [30, 1200], "known": [1000, 230]})
    chart = show.risk_distribution(bins, threshold=0.05)
    assert "1,230 records" in chart.to_dict()["description"]
    assert f"1,200, have a risk above {percent(0.1)} and up to {percent(1)}" in chart.to_dict()["description"]
    text = drawn(chart)
    assert ">threshold 5%<" in text
    assert "diamonds: true" in text
    assert "diamonds" not in drawn(show.risk_distribution(bins.drop(columns="known")))


def test_measures_by_frequency_keep_their_order():
    rows = [(f, measure, 0.5 / n, 10) for measure in ("true", "b", "a") for n, f in enumerate(("1", "2", "3+"), 1)]
    frame = pd.DataFrame(rows, columns=["f_k", "measure", "risk", "records"])
    spec = risk_figures.risk_by_frequency(frame).to_dict()
    assert spec["layer"][0]["encoding"]["color"]["scale"]["domain"] == ["true", "b", "a"]
    assert f"At f_k = 1: {percent(0.5)} by true" in spec["description"]
    five = pd.concat([frame.assign(measure=name) for name in "abcde"])
    with pytest.raises(OptionError, match="room for 4 measures, not 5"):
        risk_figures.risk_by_frequency(five)


def test_households_are_described_by_their_bounds():
    described = risk_figures.household_bounds(SIZES).to_dict()["description"]
    lower, upper, independent, member = map(percent, (0.25, 0.4, 0.36, 0.2))
    assert f"With 2+: {lower} to {upper}, {independent} if independent, {member} for a member." in described


@pytest.mark.parametrize("least", [1e-6, 1e-4, 0.05, 0.5])
def test_a_histogram_of_small_risks_has_ticks_where_they_are(least):
    bins = pd.DataFrame({"low": [least, 2 * least], "high": [2 * least, 1], "records": [30, 10]})
    chart = show.risk_distribution(bins)
    assert f"a risk above {percent(least)} and up to {percent(2 * least)}." in chart.to_dict()["description"]
    text = drawn(chart)
    assert f">{percent(least)}<" in text and text.count("%<") > 1
