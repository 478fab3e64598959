"""Charts of the risk-utility map: what they draw and say, compared with the map they were made from."""

import html
import json
import re

import pandas as pd
import pytest

from kanon_lab import show
from kanon_lab.errors import DataError, OptionError
from kanon_lab.recipes import RiskUtilityMap, cheapest, frontier

LABELS = [f"k={k}, ages={ages}" for k in (2, 3) for ages in ("a <&>", "b", "c")]


@pytest.fixture(scope="module")
def points():
    return pd.DataFrame(
        {
            "label": LABELS,
            "k": [2, 2, 2, 3, 3, 3],
            "ages": ["a <&>", "b", "c"] * 2,
            "repeats": 1,
            "error": [None] * 5 + ["step 1: it cannot"],
            "global_risk": [0.04, 0.02, 0.03, 0.01, 0.005, None],
            "violations_3_wildcard": [40.0, 20.0, 30.0, 0.0, 5.0, None],
            "non_uniform_entropy": [0.1, 0.3, 0.4, 0.35, 0.6, None],
            "equal_cells": [0.9, 0.8, 0.7, 0.5, None, None],
            "discernibility": [100.0, 200.0, 300.0, 400.0, 500.0, None],
            "known_cells": [1.0] * 5 + [None],
        }
    )


def drawn(chart) -> str:
    spec = chart if isinstance(chart, dict) else chart.to_dict()
    return html.unescape(pytest.importorskip("vl_convert").vegalite_to_svg(json.dumps(spec), vl_version="5.20"))


def set_to(chart, **values) -> dict:
    """The explorer with its controls moved."""
    spec = chart.to_dict()
    for param in spec["params"]:
        param["value"] = values.get(param["name"], param.get("value"))
        if param["value"] is None:
            del param["value"]
    return spec


def test_the_chart_marks_the_frontier_and_the_cheapest(points):
    chart = show.risk_utility(points, at_most=0.02)
    rows = {row["label"]: row for row in chart.to_dict()["data"]["values"]}
    assert set(rows) == set(LABELS[:5])
    assert {label for label, row in rows.items() if row["front"][0]} == set(frontier(points)["label"])
    chosen = next(param["value"] for param in chart.to_dict()["params"] if param["name"] == "chosen")
    assert list(rows)[chosen] == cheapest(points, at_most=0.02)["label"]
    assert chart.description.endswith(
        "With global risk at most 2%, the cheapest is k=2, ages=b: information lost (non-uniform entropy) 30%."
    )
    text = drawn(chart)
    assert "beaten by none" in text and "Global risk (%)" in text


def test_a_risk_that_none_meets_is_said_and_without_one_there_is_no_rule(points):
    assert show.risk_utility(points, at_most=0.001).description.endswith("at most 0.1%, none.")
    plain = show.risk_utility(points)
    assert plain.description.endswith("4 recipes are beaten by no other.")
    assert len(plain.to_dict()["layer"]) < len(show.risk_utility(points, at_most=0.02).to_dict()["layer"])


@pytest.mark.parametrize(("number", "loss"), [*enumerate(["equal_cells", "non_uniform_entropy", "discernibility"])])
def test_the_explorer_says_the_cheapest_at_every_step(points, number, loss):
    chart = show.tradeoff_explorer(points)
    bound = {param["name"]: param["bind"] for param in chart.to_dict()["params"] if "bind" in param}
    assert len(bound["loss"]["labels"]) == 3  # known_cells is the same in all
    slider = bound["limit"]
    assert slider["min"] == 0 and slider["max"] >= 4
    words = {"equal_cells": "20%", "non_uniform_entropy": "30%", "discernibility": "200"}
    text = drawn(set_to(chart, loss=number, limit=2))
    assert ">Global risk<" in text and f">at most 2%: least loss {words[loss]}<" in text
    assert ">k: 2<" in text and ">ages: b<" in text
    best = next(param["value"] for param in chart.to_dict()["params"] if param["name"] == "best")[number]
    shown = [row["label"] for row in chart.to_dict()["data"]["values"]]
    for step, place in enumerate(best):
        try:
            wanted = cheapest(points, at_most=min(1, round(step * slider["step"] / 100, 10)), loss=loss)["label"]
        except OptionError:
            wanted = None
        assert (None if place < 0 else shown[place]) == wanted


def test_the_explorer_says_when_none_meets_the_risk(points):
    text = drawn(set_to(show.tradeoff_explorer(points), limit=0))
    assert ">at most 0%: no recipe meets it<" in text and ">The smallest risk of a recipe is 0.5%<" in text


def test_counts_are_risks_too(points):
    chart = show.tradeoff_explorer(points, risk="violations_3_wildcard", losses=["discernibility"], at_most=21)
    text = drawn(chart)
    assert ">Records below k = 3 (missing: any<" in text and ">value)<" in text
    assert ">at most 21: least loss 200<" in text
    assert "With records below k = 3 (missing: any value) at most 21, the cheapest is" in chart.description


def test_recipes_without_the_risk_are_left_out_of_its_explorer(points):
    lacking = points.assign(key_linkage=[None, None, 0.3, 0.2, 0.1, None], il1s=[0.1, 0.2, None, None, None, None])
    chart = show.tradeoff_explorer(lacking.astype({"key_linkage": float, "il1s": float}), risk="key_linkage")
    assert [row["label"] for row in chart.to_dict()["data"]["values"]] == LABELS[2:5]
    labels = next(param["bind"]["labels"] for param in chart.to_dict()["params"] if param["name"] == "loss")
    assert not any("IL1s" in label for label in labels)
    with pytest.raises(DataError, match="no recipe of the map has both key_linkage"):
        show.tradeoff_explorer(lacking.assign(key_linkage=float("nan")), risk="key_linkage")


def test_where_nothing_is_at_risk_there_is_a_slider_still(points):
    chart = show.tradeoff_explorer(points.assign(global_risk=0.0))
    assert "least loss 10%<" in drawn(chart)


def test_it_tells_a_page_its_result(points):
    spec = show.tradeoff_explorer(points).to_dict()
    told = spec["usermeta"]["live"]
    assert told["signal"] in {param["name"] for param in spec["params"]}
    assert spec["description"].startswith(told["description"])


def test_spread_is_drawn_where_seeds_differ(points):
    spread = pd.DataFrame({"label": LABELS, "global_risk": [0.01, 0, 0, 0, 0, None], "non_uniform_entropy": 0.0})
    found = RiskUtilityMap(points, spread, points, {}, ("k", "ages"), ())
    spec = show.risk_utility(found).to_dict()
    assert len(spec["layer"]) == len(show.risk_utility(points).to_dict()["layer"]) + 1
    (row,) = spec["datasets"][spec["layer"][0]["data"]["name"]]
    assert (row["y"], row["y2"], row["x"]) == pytest.approx((0.03, 0.05, 0.1))
    assert "scatter" in " ".join(spec["title"]["subtitle"])
    assert "scatter" not in " ".join(show.risk_utility(points).to_dict()["title"]["subtitle"])


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"loss": "granularity"}, OptionError),
        ({"at_most": 2}, OptionError),
        ({"risk": "equal_cells"}, OptionError),
        ({"loss": "il1s"}, OptionError),
    ],
)
def test_what_cannot_be_drawn_is_refused(points, options, error):
    for draw in (show.risk_utility, show.tradeoff_explorer):
        with pytest.raises(error):
            draw(points, **options)


def test_a_map_of_nothing_is_refused(points):
    with pytest.raises(DataError, match="no recipe of the map could be applied"):
        show.risk_utility(points.tail(1))
    with pytest.raises(OptionError):
        show.tradeoff_explorer(points, losses=[])
    with pytest.raises(OptionError, match="give it a frame from risk_utility_map"):
        show.risk_utility(points.drop(columns="label"))


@pytest.mark.parametrize("loss", ["non_uniform_entropy", "discernibility"])
def test_an_axis_of_close_values_tells_them_apart(points, loss):
    unit = 1e-6 if loss == "non_uniform_entropy" else 1
    start = 0.153 if loss == "non_uniform_entropy" else 1_234_560
    close = points.assign(**{loss: [start + n * unit for n in range(5)] + [None]})
    close["global_risk"] = [0.1000005, 0.1000004, 0.1000003, 0.1000002, 0.1000001, None]
    texts = re.findall(r">(15\.3\d*%|1,234,5\d\d)<", drawn(show.risk_utility(close, loss=loss)))
    assert len(texts) > 2 and len({*texts}) == len(texts)


def test_recipes_that_miss_a_limit_and_ones_own_are_marked(points):
    judged = points.assign(met=[True, False, False, True, True, None], own=[False, True] + [False] * 4)
    judged["unmet"] = [None, "k", "k, global_risk", None, None, None]
    spec = show.risk_utility(judged).to_dict()
    rows = {row["label"]: row for row in spec["data"]["values"]}
    assert {label: row["unmet"] for label, row in rows.items() if "unmet" in row} == {
        LABELS[1]: "k",
        LABELS[2]: "k, global_risk",
    }
    assert [label for label, row in rows.items() if row.get("own")] == [LABELS[1]]
    assert {label for label, row in rows.items() if row["front"][0]} == {LABELS[0], LABELS[3], LABELS[4]}
    words = "3 recipes are beaten by no other of those that meet every limit. Your recipe misses k."
    assert spec["description"].endswith(words)
    svg = drawn(spec)
    assert "misses a limit" in svg and "square: your recipe" in svg
    assert "misses a limit" not in drawn(show.risk_utility(points))
    none = judged.assign(met=False, own=False)
    assert show.risk_utility(none).description.endswith("beaten by no other. None meets every limit.")
    explorer = show.tradeoff_explorer(judged, at_most=0.04).description
    assert f"the cheapest is {LABELS[0]}" in explorer
