"""Charts of what protection costs: what they draw and say, evaluated by Vega and compared with their frames."""

import html
import json

import pandas as pd
import pytest

from kanon_book.figures.cost import indicator_intervals
from kanon_lab.digits import percent
from kanon_lab.errors import OptionError
from kanon_lab.measures import IndicatorSet, compare_indicators, indicators


@pytest.fixture(scope="module")
def compared():
    """A survey of two places; in the release one place is another, and one person's illness."""
    frame = pd.DataFrame(
        {"place": ["a"] * 6 + ["b <&>"] * 6, "ill": ["yes", "no", "no"] * 4, "income": range(100, 1300, 100)}
    )
    wanted = IndicatorSet(rates={"ill": ["yes"]}, means=["income"], by=["place"])
    released = frame.assign(place=frame["place"].replace("b <&>", "c"), ill=["no", *frame["ill"][1:]])
    after = indicators(released, wanted, design_from=frame, absent="skip")
    return compare_indicators(indicators(frame, wanted), after)


def rates(compared):
    return compared[compared["kind"] == "rate"]


def drawn(chart) -> str:
    svg = pytest.importorskip("vl_convert").vegalite_to_svg(json.dumps(chart.to_dict()), vl_version="5.8")
    return html.unescape(svg)


@pytest.mark.parametrize("kind", ["rate", "mean"])
def test_every_group_has_its_intervals_and_its_overlap(compared, kind):
    rows = compared[compared["kind"] == kind]
    chart = indicator_intervals(rows)
    text = drawn(chart)
    for label in ("everybody", "a", "b <&>", "lost"):
        assert f">{label}<" in text
    for overlap in rows["overlap"].dropna():
        assert f">{percent(overlap)}<" in text
    # Two lines a group that is compared, one for a lost one.
    spec = chart.to_dict()
    lines = spec["datasets"][spec["layer"][0]["data"]["name"]]
    assert [row["side"] for row in lines] == ["before"] * 3 + ["after"] * 2
    assert [row["lower"] for row in lines[:3]] == pytest.approx(rows["lower_before"].tolist(), abs=1e-5)


def test_the_description_names_the_worst_and_counts_the_lost(compared):
    text = indicator_intervals(rates(compared)).to_dict()["description"]
    assert "in 3 groups" in text
    assert "1 of them is lost." in text
    least = rates(compared)["overlap"].min()
    assert text.endswith(f"The smallest overlap is {percent(least)}, for everybody.")
    other = compared[compared["kind"] == "mean"].assign(overlap=[1.0, 0.25, None])
    text = indicator_intervals(other).to_dict()["description"]
    assert text.endswith("The smallest overlap is 25%, for place a.")


def test_the_axis_holds_every_interval(compared):
    for kind in ("rate", "mean"):
        rows = compared[compared["kind"] == kind]
        low, high = indicator_intervals(rows).to_dict()["layer"][0]["encoding"]["x"]["scale"]["domain"]
        assert low <= rows[["lower_before", "lower_after"]].min(axis=None)
        assert high > rows[["upper_before", "upper_after"]].max(axis=None)


@pytest.mark.parametrize("kind", ["rate", "mean"])
def test_an_interval_much_wider_than_the_others_ends_in_an_arrow(compared, kind):
    rows = compared[compared["kind"] == kind].reset_index(drop=True)
    others = rows.drop(index=1)
    for side in ("before", "after"):
        rows.loc[1, f"upper_{side}"] = 20 * rows[f"upper_{side}"].max()
    spec = indicator_intervals(rows).to_dict()
    end = spec["layer"][0]["encoding"]["x"]["scale"]["domain"][1]
    assert others[["upper_before", "upper_after"]].max(axis=None) < end < rows["upper_before"].max() / 2
    assert "triangle-right" in [layer["mark"].get("shape") for layer in spec["layer"]]
    assert "arrow" in spec["title"]["subtitle"][0]
    assert "arrow" not in str(indicator_intervals(others).to_dict()["title"])


def test_a_group_without_an_interval_after_says_so(compared):
    rows = rates(compared).reset_index(drop=True)
    rows.loc[1, ["lower_after", "upper_after", "overlap"]] = None
    text = drawn(indicator_intervals(rows))
    assert text.count(">no interval<") == 1
    assert text.count(">lost<") == 1
    assert "nan" not in text.lower()


def test_all_groups_lost_or_without_error_are_drawn(compared):
    gone = rates(compared).assign(status="lost", overlap=None, estimate_after=None, lower_after=None, upper_after=None)
    text = drawn(indicator_intervals(gone.astype({"overlap": float, "lower_after": float, "upper_after": float})))
    assert text.count(">lost<") == 3
    nothing = dict.fromkeys(
        [f"{end}_{side}" for side in ("before", "after") for end in ("estimate", "lower", "upper")], 0.0
    )
    assert "NaN" not in drawn(indicator_intervals(rates(compared).assign(**nothing, status="compared", overlap=1.0)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda frame: frame, "shows one indicator, not 2"),
        (lambda frame: frame.drop(columns="overlap"), "needs the column 'overlap'"),
        (lambda frame: rates(frame).assign(lower_before=None), "leave out rows where lower_before is missing"),
        (lambda frame: frame[:0], "without rows"),
    ],
)
def test_a_frame_that_cannot_be_drawn_is_refused(compared, change, message):
    with pytest.raises(OptionError, match=message):
        indicator_intervals(change(compared))
