"""Expected anonymity of places, its spread, and the simulation it must agree with."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_lab.errors import OptionError
from kanon_lab.population import CUADRO_2_RANGES, PERIODS, anonymity, simulate
from kanon_lab.population.places import expected_by_k

# Gil Bellosta (2011), Cuadros 2, 3 and 4, row Benalmádena: bounded ranges.
BENALMADENA = {
    "day": [21759, 21187, 11698, 4696, 1512, 533, 0, 0, 0],
    "month": [4, 18, 47, 88, 135, 1249, 5348, 47709, 6783],
    "year": [0, 0, 0, 0, 0, 0, 0, 77, 1020],
}

CELLS = st.lists(st.integers(0, 3000), min_size=1, max_size=12)


def counts_of(cells, places=1):
    place = [f"{10 + i % places:02d}001" for i in range(len(cells))]
    return pd.DataFrame(
        {
            "place": place,
            "name": [f"Place {p}" for p in place],
            "province": [p[:2] for p in place],
            "sex": "women",
            "age_group": [f"{5 * i}-{5 * i + 4}" for i in range(len(cells))],
            "persons": np.array(cells, dtype=np.int64),
        }
    )


@settings(max_examples=6)
@given(cells=CELLS, places=st.integers(1, 4))
def test_places_add_up_to_provinces_and_to_the_whole(cells, places):
    counts = counts_of(cells, places)
    by_place, by_province, whole = (anonymity(counts, by=by) for by in ("municipality", "province", "all"))
    for finer in (by_place, by_province):
        finer = finer.assign(variance=finer["sd"] ** 2)
        summed = finer.groupby(["dates", "k_from"], sort=False)[["persons", "variance"]].sum()
        expected = whole.assign(variance=whole["sd"] ** 2).set_index(["dates", "k_from"])
        np.testing.assert_allclose(summed["persons"], expected["persons"], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(summed["variance"], expected["variance"], rtol=1e-6, atol=1e-9)
    assert whole["population"].iloc[0] == sum(cells)


@settings(max_examples=6)
@given(cells=CELLS, seed=st.integers(0, 2**32 - 1))
def test_order_of_cells_and_labels_make_no_difference(cells, seed):
    counts = counts_of(cells, 3)
    shuffled = counts.sample(frac=1, random_state=seed).set_index(np.arange(len(counts)) * 7)
    expected = anonymity(counts, by="municipality").sort_values(["place", "dates", "k_from"], ignore_index=True)
    result = anonymity(shuffled, by="municipality").sort_values(["place", "dates", "k_from"], ignore_index=True)
    pd.testing.assert_frame_equal(result, expected)


@given(cells=CELLS, dates=st.sampled_from(sorted(PERIODS)))
def test_rounding_each_k_first_leaves_the_rest_to_the_open_range(cells, dates):
    counts = counts_of(cells)
    rounded = anonymity(counts, dates=[dates], ranges="1-3,4-9,10+", round_each_k=True)["persons"]
    by_k = expected_by_k(counts, dates=[dates], k_max=9)[list(range(1, 10))].to_numpy()[0]
    assert rounded[0] == np.rint(by_k[:3]).sum()
    assert rounded[1] == np.rint(by_k[3:]).sum()
    assert rounded[2] == max(sum(cells) - rounded[0] - rounded[1], 0)


def test_benalmadena_as_printed_in_cuadros_2_to_4(shared):
    from kanon_lab.data import read_counts

    counts = read_counts(shared("ine-padron-33570-malaga.px"), year=2010, pool_from=85)
    here = counts[counts["place"] == "29025"]
    result = anonymity(here, ranges=CUADRO_2_RANGES, by="municipality", round_each_k=True)
    for dates, printed in BENALMADENA.items():
        assert result.loc[result["dates"] == dates, "persons"].tolist()[:9] == printed


def test_closed_form_agrees_with_two_thousand_simulations():
    # Cells of a municipality; the bounds are five standard errors of 2,000 repeats.
    cells = np.random.default_rng(11).integers(20, 3000, 5)
    counts, ranges, repeats = counts_of(cells), "1,2,3,4,5,6-10,11-20,21-50,51+", 2000
    exact = anonymity(counts, dates=["day", "month"], ranges=ranges).set_index(["dates", "k_from"])
    draws = simulate(counts, dates=["day", "month"], ranges=ranges, repeats=repeats, seed=20110816)
    drawn = draws.groupby(["dates", "k_from"])["persons"].agg(["mean", "var"]).loc[exact.index]
    visible = exact["sd"] > 1
    assert visible.sum() > 10
    error = np.abs(drawn["mean"] - exact["persons"]) / (exact["sd"] / np.sqrt(repeats))
    assert (error[visible] < 5).all()
    ratio = drawn["var"] / exact["sd"] ** 2
    # The fourth moment of rare k is not normal: a wider bound than 5 sqrt(2 / repeats).
    assert (np.abs(ratio[visible] - 1) < 0.25).all()


def test_simulated_persons_sum_to_the_population_and_repeat_with_the_seed():
    counts = counts_of([0, 1, 5, 40, 2000, 700], 3)
    dates = {"day": 1826, "skewed": [0.5, 0.25, 0.125, 0.125]}
    first = simulate(counts, dates=dates, by="municipality", repeats=3, seed=4)
    pd.testing.assert_frame_equal(first, simulate(counts, dates=dates, by="municipality", repeats=3, seed=4))
    sums = first.groupby(["repeat", "dates", "place"])["persons"].sum().unstack()
    assert (sums.to_numpy() == counts.groupby("place")["persons"].sum()[sums.columns].to_numpy()).all()


@pytest.mark.parametrize("cells", [[0], [0, 0], [1], [1, 1, 0]])
def test_small_populations_simulate(cells):
    persons = simulate(counts_of(cells), ranges="1,2+", repeats=2, seed=1)["persons"]
    assert persons.tolist() == [sum(cells), 0] * 2


def test_a_place_without_people_has_no_share():
    result = anonymity(counts_of([0]), dates=["day"], ranges="1")
    assert result["share"].isna().all()
    assert result["persons"].tolist() == [0]


@pytest.mark.parametrize(
    "options",
    [
        {"dates": ["week"]},
        {"dates": []},
        {"dates": None},
        {"ranges": ["1"]},
        {"ranges": None},
        {"by": "village"},
        {"ranges": ()},
        {"dates": {"week": 0}},
    ],
)
def test_unknown_options_are_one_line(options):
    with pytest.raises(OptionError) as error:
        anonymity(counts_of([3]), **options)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("measure", [anonymity, lambda c, **o: simulate(c, repeats=1, seed=1, **o)])
def test_impossible_populations_and_levels_are_refused_alike(measure):
    with pytest.raises(OptionError, match="no cells"):
        measure(counts_of([3]).iloc[:0])
    for persons in ([3, -1], [3, 2**62], [3, 1.5], [3, None], ["3", "4"]):
        with pytest.raises(OptionError, match="persons must be whole numbers"):
            measure(counts_of([1, 1]).assign(persons=persons))
    for column in ("place", "province", "persons"):
        with pytest.raises(OptionError, match=f"no column {column}"):
            measure(counts_of([3]).drop(columns=column))
    with pytest.raises(OptionError, match="no place"):
        measure(counts_of([3]).assign(place=None))
    with pytest.raises(OptionError, match="by must be one of"):
        measure(counts_of([3]), by="village")
    with pytest.raises(OptionError, match="no five-digit INE code"):
        measure(counts_of([3]).assign(province=""), by="province")


def test_one_more_date_leaves_the_draws_of_the_first_as_they_were():
    counts = counts_of([50, 300])
    alone = simulate(counts, dates=["day"], repeats=3, seed=5)
    both = simulate(counts, dates=["day", "month"], repeats=3, seed=5)
    assert both[both["dates"] == "day"]["persons"].tolist() == alone["persons"].tolist()


def test_a_range_far_beyond_every_cell_costs_nothing():
    assert simulate(counts_of([5]), ranges="1-999999999", repeats=1, seed=1)["persons"].tolist() == [5]


def test_work_beyond_measure_is_refused_and_not_begun():
    with pytest.raises(OptionError, match="too much work"):
        anonymity(counts_of([10**10]), dates=["year"], ranges="1-9999999999", round_each_k=True)
    with pytest.raises(OptionError, match="smaller k_max"):
        expected_by_k(counts_of([5]), k_max=10**9)
    with pytest.raises(OptionError, match="too large to draw"):
        simulate(counts_of([10**10]), repeats=1, seed=1)


def test_without_spread_only_the_expectation_is_computed():
    counts = counts_of([40, 700])
    quick, full = anonymity(counts, spread=False), anonymity(counts)
    assert quick[["sd", "half_width"]].isna().all().all()
    assert quick["persons"].tolist() == full["persons"].tolist()


@pytest.mark.parametrize("options", [{"repeats": 0}, {"repeats": 1.5}, {"seed": -1}, {"seed": None}])
def test_impossible_simulations_are_refused(options):
    with pytest.raises(OptionError):
        simulate(counts_of([3]), **{"repeats": 1, "seed": 1, **options})
