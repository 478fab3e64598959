"""Charts of perturbation: what they draw and say, evaluated by Vega and compared with the frames they are made of."""

import html
import json

import pandas as pd
import pytest

from kanon_book.figures import perturbation as perturbation_figures
from kanon_lab.digits import percent
from kanon_lab.errors import OptionError

METHODS = ("groups <&>", "noise")
STEPS = (1, 2, 3)


def linked_at(method, step):
    return (0.9 if method == "noise" else 0.45) / step


def outlying_at(method, step):
    return linked_at(method, step) + 0.05


def il1s_at(method, step):
    return step / (10 if method == "noise" else 20)


@pytest.fixture(scope="module")
def grid():
    rows = [
        {
            "method": method,
            "label": f"at {10 * step}",
            "linked": linked_at(method, step),
            "outlying": outlying_at(method, step),
            "il1s": il1s_at(method, step),
        }
        for method in METHODS
        for step in STEPS
    ]
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def series():
    rows = [
        (name, strength, share)
        for name, shares in {"all <&>": (0.5, 0.25, 0.125), "largest": (0.75, 0.5, 0.004)}.items()
        for strength, share in zip((0.02, 0.1, 1), shares)
    ]
    return pd.DataFrame(rows, columns=["series", "strength", "share"])


def drawn(chart) -> str:
    svg = pytest.importorskip("vl_convert").vegalite_to_svg(json.dumps(chart.to_dict()), vl_version="5.20")
    return html.unescape(svg)


def by_strength(frame):
    return perturbation_figures.by_strength(
        frame, heading="Links", strength="Noise", share="Records (%)", note="A note"
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("step", STEPS)
def test_the_explorer_says_the_links_and_the_loss_of_its_state(grid, method, step):
    text = drawn(perturbation_figures.perturbation_explorer(grid, few="the '<&>' 15", method=method, step=step))
    assert f">{method}, at {10 * step}:<" in text
    assert f">right links {percent(linked_at(method, step))}, loss {il1s_at(method, step):.3f},<" in text
    assert f">of the '<&>' 15 {percent(outlying_at(method, step))}<" in text


def test_a_method_with_fewer_strengths_stays_at_its_last(grid):
    few = grid[(grid["method"] == "noise") | (grid["label"] == "at 10")]
    text = drawn(perturbation_figures.perturbation_explorer(few, step=3))
    assert f">right links {percent(linked_at(METHODS[0], 1))}, loss {il1s_at(METHODS[0], 1):.3f},<" in text
    assert ">noise, at 30:<" in drawn(perturbation_figures.perturbation_explorer(few, method="noise", step=3))


def test_the_other_methods_have_names(grid):
    text = drawn(perturbation_figures.perturbation_explorer(grid))
    assert all(f">{method}<" in text for method in METHODS)


def test_every_method_has_a_colour_and_a_mark_of_its_own(grid):
    spec = perturbation_figures.perturbation_explorer(grid).to_dict()
    for channel in ("color", "shape"):
        (scale,) = {json.dumps(at[channel]["scale"]) for at in encodings(spec) if channel in at}
        assert len({*json.loads(scale)["range"]}) == len(json.loads(scale)["domain"]) == len(METHODS)


def encodings(spec):
    return [layer["encoding"] for layer in spec["layer"]]


def test_its_controls_reach_every_state(grid):
    spec = perturbation_figures.perturbation_explorer(grid).to_dict()
    bound = {param["name"]: param["bind"] for param in spec["params"] if "bind" in param}
    assert bound["method"]["labels"] == list(METHODS)
    assert (bound["step"]["min"], bound["step"]["max"]) == (1, 3)
    assert {row["state"] for row in spec["data"]["values"]} == {f"{m} {s}" for m in (0, 1) for s in STEPS}


def test_the_explorer_tells_a_page_its_result(grid):
    spec = perturbation_figures.perturbation_explorer(grid, step=3).to_dict()
    told = spec["usermeta"]["live"]
    assert told["signal"] in {param["name"] for param in spec["params"]}
    assert spec["description"].startswith(told["description"])
    assert "At groups <&>, at 30: right links 15%, of the largest 20%, loss 0.150." in spec["description"]


@pytest.mark.parametrize(
    ("change", "start", "message"),
    [
        (lambda frame: frame, {"step": 4}, "no step 4 of the method 'groups <&>'"),
        (lambda frame: frame, {"method": "PRAM"}, "no step 1 of the method 'PRAM'"),
        (lambda frame: frame.drop(columns="il1s"), {}, "needs the column 'il1s'"),
        (lambda frame: frame.assign(method=list("abcdef")), {}, "room for 5 methods, not 6"),
    ],
)
def test_an_explorer_that_cannot_be_drawn_is_refused(grid, change, start, message):
    with pytest.raises(OptionError, match=message):
        perturbation_figures.perturbation_explorer(change(grid), **start)


def test_series_by_strength_are_drawn_in_the_order_of_size(series):
    chart = by_strength(series.sample(frac=1, random_state=1))
    text = drawn(chart)
    for words in ("all <&>", "largest", "Links", "A note", "Noise", "0.2"):
        assert f">{words}<" in text
    description = chart.to_dict()["description"]
    assert "all <&>: 50% at 0.02, 25% at 0.1, 12.5% at 1" in description
    assert "largest: 75% at 0.02, 50% at 0.1, 0.4% at 1" in description
    # To scale: 0.02 lies closer to 0.1 than that does to 1.
    assert chart.to_dict()["layer"][0]["encoding"]["x"]["type"] == "quantitative"


def test_series_that_cannot_be_told_apart_are_refused(series):
    with pytest.raises(OptionError, match="occurs twice"):
        by_strength(pd.concat([series, series]))
    with pytest.raises(OptionError, match="room for 4 series, not 5"):
        by_strength(pd.concat([series.head(1).assign(series=str(i)) for i in range(5)]))
    with pytest.raises(OptionError, match="needs the column 'share'"):
        by_strength(series.drop(columns="share"))


POINTS = pd.DataFrame({"income": [0.0, 4, 20], "age": [0.0, 0, 10]}, index=list("ABC"))
# A moves past the middle between A and B, all others stay.
RELEASED = {0.1: POINTS + 0.0, 0.5: POINTS.assign(income=[2.5, 4, 20])}


def test_a_link_goes_to_the_closest_true_point():
    spec = perturbation_figures.noise_explorer(POINTS, RELEASED, step=1).to_dict()
    links = {(row["step"], row["point"]): (row["linked"], row["link"]) for row in spec["data"]["values"]}
    assert [links[0, name] for name in "ABC"] == [(name, "right link") for name in "ABC"]
    assert links[1, "A"] == ("B", "wrong link") and links[1, "B"] == ("B", "right link")
    assert "Noise of 50%: 2 of 3 links right; wrong: A." in spec["description"]
    assert spec["usermeta"]["labels"] == {"step": ["10%", "50%"]}


@pytest.mark.parametrize(("step", "words"), [(0, ("10%: 3", "none is wrong")), (1, ("50%: 2", "wrong: A"))])
def test_the_links_are_said_at_every_strength(step, words):
    text = drawn(perturbation_figures.noise_explorer(POINTS, RELEASED, step=step))
    assert f">Noise of {words[0]} of 3 links right<" in text and f">{words[1]}<" in text
    with pytest.raises(OptionError, match="step must be from 0 to 1, not 2"):
        perturbation_figures.noise_explorer(POINTS, RELEASED, step=2)


def test_every_point_leads_to_the_mean_of_its_group():
    points = pd.DataFrame({"x": [0, 2, 10, 14], "y": [1, 3, 5, 5], "group": [1, 1, 2, 2]})
    spec = perturbation_figures.groups_of_points(points).to_dict()
    rows = next(rows for rows in spec["datasets"].values() if len(rows) == 4) if "datasets" in spec else None
    rows = rows or spec["layer"][0]["data"]["values"]
    assert [(row["mean_x"], row["mean_y"]) for row in rows] == [(1, 2), (1, 2), (12, 5), (12, 5)]
    assert "4 invented points" in spec["description"]
    assert "group 1 has 2, group 2 has 2" in spec["description"]
    assert drawn(perturbation_figures.groups_of_points(points)).count("<path") >= 6
    with pytest.raises(OptionError, match="room for 4 groups, not 5"):
        perturbation_figures.groups_of_points(pd.DataFrame({"x": range(5), "y": 0, "group": range(5)}))
    with pytest.raises(OptionError, match="needs the column 'group'"):
        perturbation_figures.groups_of_points(points[["x", "y"]])
