"""The embedded synthetic survey of pupils: the same bytes again, what holds in it, and its traps."""

import importlib.util
from pathlib import Path

import pandas as pd
import pytest

from kanon_lab import load_microdata
from kanon_lab.data import catalogue
from kanon_lab.files import csv_gz

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def make_school():
    spec = importlib.util.spec_from_file_location("make_school", ROOT / "scripts" / "make_school.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def survey():
    return load_microdata("school-survey")


def differ(survey, by, of):
    """The most values of a column within a value of another."""
    return survey.groupby(by)[of].nunique().max()


def test_the_same_bytes(make_school):
    assert csv_gz(make_school.school_survey()) == make_school.TARGET.read_bytes()


def test_it_is_labelled_synthetic_and_small():
    row = catalogue().set_index("name").loc["school-survey"]
    assert (row["kind"], row["licence"]) == ("synthetic", "CC BY 4.0")
    assert row["size"] < 60_000


def test_its_values_are_plausible(survey, make_school):
    assert survey.columns.tolist() == make_school.COLUMNS
    assert not survey.isna().any(axis=None)
    assert 2500 < len(survey) < 3500
    assert set(survey["district"]) == set(make_school.DISTRICTS)
    assert set(survey["sex"]) == {"girl", "boy"}
    assert survey["age"].between(12, 17).all()
    assert survey["siblings"].between(0, 6).all()
    assert set(survey["home_language"]) == set(make_school.LANGUAGES)
    assert set(survey["bullied"]) == {"never", "sometimes", "often"}
    assert survey["reading"].between(150, 800).all()


def test_members_of_a_family_fit_together(survey):
    for shared in ("school", "home_language", "siblings", "meals"):
        assert differ(survey, "family", shared) == 1
    members = survey.groupby("family").agg(found=("age", "size"), ages=("age", "nunique"), siblings=("siblings", "max"))
    assert (members["found"] == members["ages"]).all()
    assert (members["found"] <= members["siblings"] + 1).all()


def test_weights_are_pupils_over_answers_of_the_school(survey):
    assert differ(survey, "school", "weight") == 1
    of_school = survey.groupby("school")["weight"].agg(["first", "size"])
    pupils = of_school["first"] * of_school["size"]
    assert (pupils - pupils.round()).abs().max() < 0.02
    assert survey["weight"].between(2, 5).all()


def test_the_district_is_a_coarser_copy_and_the_weight_a_finer_one(survey):
    assert differ(survey, "school", "district") == 1
    assert differ(survey, "weight", "school") == 1


def test_one_number_is_a_direct_identifier(survey):
    assert survey["bus_card"].is_unique


def test_the_date_tells_the_age_of_those_who_began_here(survey):
    years = pd.to_datetime(survey["first_enrolled"]).dt.year
    usual = years == 2023 - survey["age"] + 6
    assert 0.85 < usual.mean() < 0.97
    assert differ(survey[usual], "first_enrolled", "age") == 1
    # Those who came later came on days of their own.
    assert survey.loc[~usual, "first_enrolled"].nunique() > 100


def test_one_language_is_rare_and_another_tells_the_meals(survey):
    counts = survey["home_language"].value_counts()
    assert counts.idxmin() == "Georgian"
    assert 5 <= counts["Georgian"] <= 15
    assert differ(survey, "home_language", "district") > 1
    assert survey.loc[survey["home_language"] == "Georgian", "district"].unique().tolist() == ["West"]
    assert set(survey.loc[survey["home_language"] == "Ukrainian", "meals"]) == {"free"}
    assert survey["meals"].eq("free").mean() < 0.35


def test_the_records_stand_as_schools_sent_them(survey):
    assert survey["school"].is_monotonic_increasing
    assert survey.groupby("school")["age"].apply(lambda ages: ages.is_monotonic_increasing).all()
