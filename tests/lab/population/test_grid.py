"""Frames for pictures: the explorers' grid, Figura 1 thinned, the chance of being alone."""

import numpy as np
import pandas as pd
import pytest

from kanon_lab.errors import OptionError
from kanon_lab.population import anonymity
from kanon_lab.population.places import (
    alone_by_age,
    alone_by_cell_size,
    explorer_grid,
    municipality_grid,
    shares_at_k,
    thin_places,
)


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(7)
    places = ["42001", "42002", "29001", "29002", "29003"]
    frame = pd.DataFrame({"place": np.repeat(places, 6), "persons": rng.integers(1, 900, 30)})
    return frame.assign(name="Place " + frame["place"], province=frame["place"].str[:2])


def test_the_grid_is_the_cumulative_anonymity_of_each_level(counts):
    grid = explorer_grid(counts, municipalities=["29002"], k_max=12, whole="Both")
    assert grid["level"].unique().tolist() == ["whole", "province", "municipality"]
    assert grid["name"].unique().tolist() == ["Both", "Málaga", "Soria", "Place 29002"]
    for by, place in (("all", "all"), ("province", "42"), ("municipality", "29002")):
        expected = anonymity(counts, ranges="1,1-5,1-12", by=by)
        expected = expected[expected["place"] == place].pivot(index="dates", columns="k_to", values="share")
        got = grid[grid["place"] == place].set_index("dates")[[1, 5, 12]].loc[expected.index]
        np.testing.assert_allclose(got, expected.astype(float), rtol=1e-12)


def test_shares_never_fall_with_k_nor_pass_one(counts):
    shares = explorer_grid(counts, k_max=200)[list(range(1, 201))].to_numpy()
    assert (np.diff(shares, axis=1) >= 0).all()
    assert shares.max() <= 1


def test_one_municipality_alone_gives_its_rows_of_the_grid(counts):
    grid = explorer_grid(counts, municipalities=["29003"], k_max=9)
    one = municipality_grid(counts[counts["place"] == "29003"], k_max=9)
    pd.testing.assert_frame_equal(grid[grid["place"] == "29003"].reset_index(drop=True), one)


def test_places_without_persons_are_left_out(counts):
    empty = counts.assign(persons=counts["persons"].where(counts["province"] != "42", 0))
    assert set(explorer_grid(empty, k_max=3)["place"]) == {"all", "29"}
    assert municipality_grid(empty[empty["place"] == "42001"], k_max=3).empty


def test_shares_at_k_add_up(counts):
    grid = explorer_grid(counts, k_max=9)
    for k in (1, 2, 9):
        shares = shares_at_k(grid, k)
        np.testing.assert_allclose(shares["up_to"] + shares["more"], 1)
        before = 0 if k == 1 else grid[k - 1]
        np.testing.assert_allclose(shares["up_to"] - shares["exactly"], before, atol=1e-15)


def test_thinning_keeps_every_municipality(counts):
    frame = anonymity(counts, ranges="1", by="municipality")
    thin = thin_places(pd.concat([frame] * 50, ignore_index=True))
    assert (thin.groupby("dates")["municipalities"].sum() == 250).all()
    assert len(thin) <= len(frame)
    assert (thin["population"] > 0.999 * thin["population_from"]).all()
    assert (thin["population"] < 1.001 * thin["population_to"]).all()


def test_alone_is_the_birthday_law():
    frame = alone_by_cell_size([1, 2, 100])
    expected = (1 - 1 / frame["periods"]) ** (frame["n"] - 1)
    np.testing.assert_allclose(frame["probability"], expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda c: explorer_grid(c, municipalities=["99999"]),
            "no municipality of the population has the code '99999'",
        ),
        (lambda c: explorer_grid(c, k_max=0), "k_max must be 1 or more"),
        (lambda c: explorer_grid(c, dates=["week"]), "not 'week'"),
        (lambda c: municipality_grid(c), "exactly one municipality"),
        (lambda c: shares_at_k(explorer_grid(c, k_max=3), 4), "no k = 4"),
        (lambda c: alone_by_cell_size([0]), "1 person or more"),
    ],
)
def test_what_cannot_be_is_refused(counts, call, message):
    with pytest.raises(OptionError, match=message):
        call(counts)


def test_alone_by_age_is_the_sum_over_the_cells_of_the_age(counts):
    groups = ["100+", "5-9", "85-89"]
    aged = counts.assign(age_group=np.tile(groups, 10))
    rows = alone_by_age(aged, dates=["month", "day"])
    assert rows["age_group"].unique().tolist() == ["5-9", "85-89", "100+"]
    for row in rows.itertuples():
        n = aged.loc[aged["age_group"] == row.age_group, "persons"]
        periods = {"day": 1826, "month": 60}[row.dates]
        assert row.population == n.sum()
        assert row.persons == pytest.approx(sum(size * (1 - 1 / periods) ** (size - 1) for size in n), rel=1e-12)
        assert row.share == pytest.approx(row.persons / row.population)


def test_splitting_an_open_group_only_exposes(counts):
    """Persons of two ages never share a date of birth: one group for both can only hide those alone."""
    fine = counts.assign(age_group=np.tile(["85-89", "90-94", "95-99"], 10))
    one = fine.groupby(["place", "name", "province"], as_index=False)["persons"].sum().assign(age_group="85+")
    for dates in ("day", "month", "year"):
        assert alone_by_age(fine, dates=[dates])["persons"].sum() > alone_by_age(one, dates=[dates])["persons"].sum()


def test_ages_need_a_column(counts):
    with pytest.raises(OptionError, match="no column age_group"):
        alone_by_age(counts)
