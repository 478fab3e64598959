"""Maps: shapes with their source, one for each area that has counts, and shares that are those of the law."""

import json
from importlib.resources import files

import numpy as np
import pytest

from kanon_book.figures.maps import SHAPES, _topology, area_map, explore_areas
from kanon_book.studies import alone_by_area, shares_by_area
from kanon_lab import load_counts
from kanon_lab.population import anonymity


@pytest.fixture(scope="module")
def spain():
    return load_counts("spain-2010", pool_from=85)


@pytest.fixture(scope="module")
def shares(spain):
    return shares_by_area(spain, ks=[1, 100, 1000])


def corners(topology):
    """Longitude and latitude of the corners of every area, by its code."""
    scale, start = (np.array(topology["transform"][part]) for part in ("scale", "translate"))
    arcs = [np.cumsum(arc, axis=0) * scale + start for arc in topology["arcs"]]
    return {
        area["id"]: np.concatenate(
            [arcs[i if i >= 0 else ~i] for rings in area["arcs"] for ring in rings for i in ring]
        )
        for area in topology["objects"]["areas"]["geometries"]
    }


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_say_their_source_and_licence(name):
    whole = json.loads((files("kanon_book.figures") / f"{name}.json").read_text("utf-8"))
    assert "Instituto Geográfico Nacional" in whole["source"]
    assert "CC BY 4.0 (IGN)" in whole["licence"] and "MIT" in whole["licence"]


def test_every_area_with_counts_has_a_shape(spain):
    assert {*corners(_topology("spain"))} == {*spain["province"]}
    assert {*corners(_topology("malaga"))} == {*load_counts("malaga-2010")["place"]}


def test_islands_are_in_the_frame_and_small_cities_can_be_seen():
    topology = _topology("spain")
    (west, south), *_, (east, north) = sorted(map(tuple, topology["inset"]))
    places = corners(topology)
    for code, points in places.items():
        inside = ((points > [west, south]) & (points < [east, north])).all(axis=1)
        assert inside.all() if code in ("35", "38") else not inside.any()
        assert np.ptp(points, axis=0).min() > 0.15


def test_shares_are_those_of_the_law(spain, shares):
    law = anonymity(spain, ranges="1", by="province", spread=False).set_index(["place", "dates"])["share"]
    known = shares[(shares["known"] == "municipality") & (shares["place"] != "all")].set_index(["place", "dates"])[1]
    assert np.abs(known - law).max() < 1e-9
    merged = spain.groupby(["province", "sex", "age_group"], as_index=False)["persons"].sum()
    law = anonymity(merged.assign(place=merged["province"], name=""), ranges="1,2+", spread=False)["share"]
    province = shares[(shares["known"] == "province") & (shares["place"] == "all")][1]
    assert province.tolist() == pytest.approx(law[::2].tolist())


def test_the_less_is_known_the_fewer_are_in_small_groups(shares):
    wide = shares.set_index(["place", "dates", "known"])[100].unstack("known")
    assert (wide["municipality"] >= wide["province"] - 1e-12).all()
    whole = shares[shares["place"] == "all"].set_index(["known", "dates"])
    assert whole.loc[("country", "day"), 1] < 1e-9 < 0.5 < whole.loc[("country", "day"), 1000]


def test_the_table_has_what_the_map_draws(shares):
    table = alone_by_area(shares, "province")
    assert len(table) == 3 * 53
    assert table.iloc[0].tolist() == ["Spain", "municipality", 42.36, 5.76, 0.45]


def test_controls_are_those_with_a_choice(shares):
    def bound(chart):
        return [param["name"] for param in chart.to_dict()["params"] if "bind" in param]

    assert bound(area_map(shares, "spain")) == ["step", "dates", "known"]
    few = shares[shares["known"] == "municipality"].drop(columns=[100, 1000])
    assert bound(area_map(few, "spain")) == ["dates"]


def test_in_jupyterlab_the_sentence_and_the_table_follow(shares):
    pytest.importorskip("ipywidgets")
    explorer = explore_areas(shares, "spain")
    assert (
        "At k = 1, day and municipality known: Spain 42.4%; least Madrid 16.6%, most Teruel" in explorer.sentence.value
    )
    explorer.controls["known"].value = "country"
    explorer.controls["k"].value = 1000
    assert "At k = 1000, day and country known: Spain" in explorer.sentence.value
    assert explorer.table.value.count("<tr") == 54
