"""The law of correctness: the share of right guesses by the key, beside enumeration, simulation and the command."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kanon_lab
from kanon_lab.cli import run
from kanon_lab.population import correctness, occupancy, occupied_keys
from kanon_lab.population.places import expected_by_k, explorer_grid, shares_at_k
from kanon_lab.population.simulation import draw_key_sizes


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 5), st.lists(st.integers(1, 9), min_size=1, max_size=4))
def test_occupied_keys_are_those_of_all_ways_to_be_born(n, weights):
    p = np.array(weights) / sum(weights)
    mean = square = 0.0
    for births in itertools.product(range(len(p)), repeat=n):
        chance, keys = np.prod(p[list(births)]) if births else 1.0, len(set(births))
        mean, square = mean + chance * keys, square + chance * keys**2
    expected, variance = occupied_keys([n], p)
    assert expected[0] == pytest.approx(mean, abs=1e-12)
    assert variance[0] == pytest.approx(square - mean**2, abs=1e-12)


@pytest.mark.parametrize(("n", "periods"), [(2, 1826), (30, 60), (200, 5), (7, 1)])
def test_equal_and_listed_probabilities_give_the_same(n, periods):
    one, other = occupied_keys([n], periods), occupied_keys([n], np.full(periods, 1 / periods))
    np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    expected = periods * (1 - (1 - 1 / periods) ** n)
    assert one[0][0] == pytest.approx(expected, rel=1e-12)


def test_the_country_by_date():
    """Computed twice, independently, before this law was written: .56835 with a deviation of 3.1e-5, .13847, .02425."""
    spain = correctness(kanon_lab.load_counts("spain-2010"))
    assert spain["correctness"].round(5).tolist() == [0.56835, 0.13847, 0.02425]
    assert spain["sd"].iloc[0] == pytest.approx(3.1e-5, rel=0.02)


def test_places_add_up_and_draws_agree():
    counts = kanon_lab.load_counts("malaga-2010")
    country, towns = correctness(counts, dates=["month"]), correctness(counts, dates=["month"], by="municipality")
    assert towns["keys"].sum() == pytest.approx(country["keys"][0])
    rng = np.random.default_rng(5)
    drawn = [draw_key_sizes(counts["persons"].to_numpy(), 60, rng) for _ in range(60)]
    persons = counts["persons"].sum()
    assert all((np.arange(keys.size) * keys).sum() == persons for keys in drawn)
    shares = np.array([keys.sum() / persons for keys in drawn])
    sd = country["sd"][0]
    assert abs(shares.mean() - country["correctness"][0]) < 4 * sd / np.sqrt(60)
    assert 0.7 < shares.std() / sd < 1.3


def test_a_place_without_persons_has_none():
    counts = pd.DataFrame({"place": ["29001", "29002"], "name": "", "province": "29", "persons": [0, 3]})
    rows = correctness(counts, dates=["year"], by="municipality")
    assert rows["keys"][0] == 0 and np.isnan(rows["correctness"][0]) and rows["correctness"][1] > 0.5


def test_the_explorer_has_the_same_share():
    counts = kanon_lab.load_counts("malaga-2010")
    shares = shares_at_k(explorer_grid(counts, k_max=3), 2).query("place == 'all'")
    np.testing.assert_allclose(shares["correctness"], correctness(counts)["correctness"], rtol=1e-12)


def test_the_explorer_computes_no_variance(monkeypatch):
    monkeypatch.setattr(occupancy, "pairs_of_periods", None)
    chances = np.arange(1, 367) / np.arange(1, 367).sum()
    counts = pd.DataFrame({"place": "29001", "name": "", "province": "29", "persons": [0, 1, 9]})
    expected = expected_by_k(counts, dates={"day": chances, "once": 1}, k_max=2)
    assert expected["keys"].tolist() == pytest.approx([1 + (1 - (1 - chances) ** 9).sum(), 2])


def test_the_command_adds_it(capsys):
    assert run(["population", "malaga-2010", "--dates", "year", "--correctness", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["correctness"]
    expected = correctness(kanon_lab.load_counts("malaga-2010"), dates=["year"])
    assert rows[0]["correctness"] == pytest.approx(expected["correctness"][0])
    assert rows[0]["sd"] == pytest.approx(expected["sd"][0])
    assert run(["population", "malaga-2010", "--dates", "year", "--correctness"]) == 0
    assert "Right guesses by place, sex and date of birth" in capsys.readouterr().out
