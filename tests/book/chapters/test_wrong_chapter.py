"""The cases that went wrong, in miniature: what the notebook recorded, and the same by other means."""

import hashlib

import pandas as pd
import pytest

from kanon_lab.data import load_microdata


@pytest.fixture(scope="module")
def results(book):
    return book["wrong"]


def test_recorded_links_are_those_of_a_merge(results):
    """Persons and records whose keys occur once in both tables, counted by joining the tables."""
    keys = ["postcode", "sex", "birth_date"]
    register, survey = (load_microdata(name).drop_duplicates(keys, keep=False) for name in FILES)
    found = load_microdata("town-register").merge(load_microdata("health-survey"), on=keys)
    joined = register.merge(survey, on=keys)
    assert results["linked-all"] == len(joined) == len(found.drop_duplicates(keys, keep=False))
    linked = results["linked"].set_index(["the intruder knows", "on the list"])
    assert linked["right (%)"].tolist()[:3] == [100, 100, 100]
    part = linked.loc[("age in years", "a part of the adults")]
    assert part["right (%)"] == round(100 - 100 * results["linked-wrong"])
    assert 0.1 < results["linked-wrong"] < 0.5


FILES = ("town-register", "health-survey")


def test_recorded_persons_of_the_panel(results):
    """Persons with all years, and those of them whose districts and work nobody else has, counted as texts."""
    panel = load_microdata("work-panel").sort_values("year").astype(str)
    path = (panel["district"] + panel["work"]).groupby(panel["person"]).agg(tuple)
    whole = path[path.map(len) == results["panel-years"]]
    row = results["history"].iloc[-1]
    assert row["persons with that many years"] == len(whole)
    assert row["alone"] == (whole.value_counts() == 1).sum()
    assert results["panel-k"] == panel.value_counts(["district", "work"]).min()


def test_recorded_hashes_are_undone(results):
    """Every card has six digits, so a table of a million hashes has it."""
    cards = load_microdata("school-survey")["bus_card"].astype(str)
    assert cards.str.fullmatch(r"\d{6}").all()
    assert results["cards-recovered"] == results["cards"] == len(cards) == cards.map(_md5).nunique()


def _md5(text):
    return hashlib.md5(text.encode()).hexdigest()


def test_recorded_noise_helps_where_k_does_not_change(results):
    moved = results["moved"]
    assert moved["one candidate (%)"].is_monotonic_decreasing
    assert moved["k"].tolist() == [1] * len(moved)
    assert moved["sample uniques"].min() > 0.99 * results["survey-records"]


def test_recorded_suppression_narrows_the_ages(results):
    """Of 27 files with three hidden ages six give this release: none hidden is 20-29, and not all are the same."""
    hidden = results["seven"]["age released"] == "-"
    collected = results["seven"]["age collected"]
    assert set(collected[hidden]) == {"30-39", "40-49"}
    assert (results["seven-files"], results["seven-chance"], results["seven-right"]) == (6, pytest.approx(1 / 3), 0.5)
    assert results["seven-k"] == pd.Series(results["seven"]["age released"]).value_counts().min() == 3


def test_the_table_of_all_cases_repeats_the_others(results):
    verdicts = results["verdicts"].set_index("case")
    assert verdicts.loc["AOL", "found (%)"] == round(100 * results["panel-all"])
    assert verdicts.loc["Australia", "found (%)"] == round(100 * results["moved-14"])
    assert verdicts.loc["New York", "k"] == results["largest-k"] == verdicts["k"].max()
