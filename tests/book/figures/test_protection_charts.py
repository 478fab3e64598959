"""Charts of protection: what they draw and say, evaluated by Vega and compared with the frames they were made from."""

import html
import json

import pandas as pd
import pytest

from kanon_book.figures import suppression as suppression_figures
from kanon_lab import show
from kanon_lab.digits import percent
from kanon_lab.errors import OptionError
from kanon_lab.methods import CLAIMS

NAMES = ("place", "age <&>")
ORDERS = ("no order", "age <&> last")
KS = (2, 3, 4)


def cells_at(k, order, variable):
    return (7 * k + 3 * ORDERS.index(order)) * (variable == "place") + (k == 3)


def records_at(k, claim):
    return {"before": 20 * k, "compatible": 0, "own_class": 5 * k, "true_key": 1}[claim]


@pytest.fixture(scope="module")
def cells():
    rows = [
        {"k": k, "order": order, "variable": name, "cells": cells_at(k, order, name), "touched": k - 2}
        for k in KS
        for order in ORDERS
        for name in NAMES
    ]
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def claims():
    rows = [
        {"k": k, "order": order, "claim": claim, "records": records_at(k, claim)}
        for k in KS
        for order in ORDERS
        for claim in ("before", *CLAIMS)
    ]
    return pd.DataFrame(rows)


def drawn(chart) -> str:
    svg = pytest.importorskip("vl_convert").vegalite_to_svg(json.dumps(chart.to_dict()), vl_version="5.20")
    return html.unescape(svg)


@pytest.mark.parametrize("k", KS)
@pytest.mark.parametrize("order", ORDERS)
def test_the_explorer_says_and_draws_the_counts_of_its_state(cells, claims, k, order):
    text = drawn(suppression_figures.suppression_explorer(cells, claims, records=200, k=k, order=order))
    total = sum(cells_at(k, order, name) for name in NAMES)
    assert f"k = {k}, {order}:" in text
    assert f">{total} cells suppressed<" in text
    words = "record" if k - 2 == 1 else "records"
    assert f"in {k - 2} {words} ({percent((k - 2) / 200)})" in text
    for name in NAMES:
        count = cells_at(k, order, name)
        assert f">{count} ({percent(count / 200)})<" in text
        assert f">{name}<" in text
    for claim in ("before", *CLAIMS):
        assert f">{records_at(k, claim)} ({percent(records_at(k, claim) / 200)})<" in text


def test_no_cell_and_one_cell_are_singular(cells, claims):
    for count, words in ((0, "no cells suppressed"), (1, "1 cell suppressed")):
        few = cells.assign(cells=[count if name == "place" else 0 for name in cells["variable"]])
        assert f">{words}<" in drawn(suppression_figures.suppression_explorer(few, claims, records=200))


def test_controls_reach_every_k_and_order(cells, claims):
    spec = suppression_figures.suppression_explorer(cells, claims, records=200, k=3).to_dict()
    bound = {param["name"]: param["bind"] for param in spec["params"] if "bind" in param}
    assert (bound["k_required"]["min"], bound["k_required"]["max"]) == (2, 4)
    assert bound["order"]["labels"] == list(ORDERS)
    states = {row["state"] for row in spec["data"]["values"]}
    assert states == {f"{k} {number}" for k in KS for number in bound["order"]["options"]}


def test_it_tells_a_page_its_result(cells, claims):
    spec = suppression_figures.suppression_explorer(cells, claims, records=200).to_dict()
    told = spec["usermeta"]["live"]
    assert told["signal"] in {param["name"] for param in spec["params"]}
    assert spec["description"].startswith(told["description"])
    assert "At k = 3, no order: cells 23, records touched 1." in spec["description"]


def test_a_file_without_any_suppression_is_drawn(cells, claims):
    text = drawn(suppression_figures.suppression_explorer(cells.assign(cells=0), claims.assign(records=0), records=200))
    assert ">0 (0%)<" in text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"k": 5}, "no k = 5"),
        ({"order": "none"}, "no k = 3 with the order 'none'"),
        ({"cells": lambda frame: frame.drop(columns="touched")}, "needs the column 'touched'"),
        ({"cells": lambda frame: frame[frame["k"] != 3]}, "every k from the smallest to the largest"),
        ({"cells": lambda frame: pd.concat([frame, frame])}, "occur twice"),
        ({"claims": lambda frame: frame[frame["claim"] != "before"]}, "lack a variable or a claim for k = 2"),
    ],
)
def test_an_explorer_that_cannot_be_drawn_is_refused(cells, claims, change, message):
    frames = {"cells": cells, "claims": claims}
    given = {name: change.get(name, lambda frame: frame)(frame) for name, frame in frames.items()}
    start = {name: value for name, value in change.items() if name not in frames}
    with pytest.raises(OptionError, match=message):
        suppression_figures.suppression_explorer(**given, records=200, **start)


def test_cells_of_two_ways_stand_side_by_side():
    one, other = (
        pd.DataFrame({"variable": NAMES, "cells": cells, "share": [each / 2000 for each in cells], "version": name})
        for name, cells in (("plain", [1500, 0]), ("age kept", [1600, 20]))
    )
    chart = suppression_figures.suppressed_cells(pd.concat([one, other]))
    text = drawn(chart)
    assert ">1,500 (75%)<" in text
    assert ">20 (1%)<" in text
    assert "age kept: place 1,600 (80%)" in chart.to_dict()["description"]
    assert "plain" not in drawn(suppression_figures.suppressed_cells(one.drop(columns="version")))
    with pytest.raises(OptionError, match="occurs twice"):
        suppression_figures.suppressed_cells(pd.concat([one, one]))
    many = pd.concat([one.assign(version=str(i)) for i in range(5)])
    with pytest.raises(OptionError, match="room for 4 versions, not 5"):
        suppression_figures.suppressed_cells(many)


@pytest.mark.parametrize("most", [0, 0.004, 0.1, 0.15, 0.184, 0.3, 0.7, 1])
def test_ticks_go_as_far_as_the_axis_but_not_beyond_all(most):
    cells = pd.DataFrame({"variable": NAMES, "cells": [1, 2], "share": [0, most]})
    for layer in suppression_figures.suppressed_cells(cells).to_dict()["layer"]:
        if "axis" in (x := layer["encoding"]["x"]):
            ticks, (start, end) = x["axis"]["values"], x["scale"]["domain"]
            step = ticks[1]
            assert (start, ticks[0]) == (0, 0)
            assert ticks == pytest.approx([step * i for i in range(len(ticks))])
            assert most <= end and ticks[-1] <= min(end, 1) + 1e-9 < ticks[-1] + step + 2e-9
            assert len(ticks) <= 7


def test_areas_of_bands_are_records():
    before = pd.DataFrame({"start": [0, 1, 2, 5], "end": [1, 2, 3, 6], "records": [4, 2, 9, 1], "version": "before"})
    after = pd.DataFrame({"start": [0, 2], "end": [2, 7], "records": [6, 10], "version": "after"})
    chart = suppression_figures.banded(
        pd.concat([before, after]), variable="age (years)", unit="year", heading="Two bands"
    )
    text, chart = drawn(chart), chart.to_dict()
    assert ">Two bands<" in text and ">Records per year<" in text
    assert "4 values with records became 2 bands" in chart["description"]
    assert "from 0 to below 2, has 6 records" in chart["description"]
    rows = [row for layer in chart["layer"] for row in layer.get("data", chart.get("data", {})).get("values", [])]
    assert all(row["height"] * (row["end"] - row["start"]) == pytest.approx(row["records"]) for row in rows)
    with pytest.raises(OptionError, match="version must hold before and after"):
        suppression_figures.banded(before, variable="age")
    with pytest.raises(OptionError, match="end must be above start"):
        suppression_figures.banded(pd.concat([before, after.assign(end=0)]), variable="age")


def test_contributions_are_drawn_largest_first():
    frame = pd.DataFrame({"variable": ["a", "b", "c"], "contribution": [0.2, 1.0, 0.5]})
    chart = show.contributions(frame)
    assert chart.to_dict()["description"].endswith("b 100%, c 50%, a 20%.")
    assert ">100%<" in drawn(chart)
    with pytest.raises(OptionError, match="needs the column 'contribution'"):
        show.contributions(frame[["variable"]])
