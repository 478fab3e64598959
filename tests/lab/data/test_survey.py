"""The embedded synthetic microdata: a register, a survey of it, and the truth."""

import importlib.util
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kanon_lab.data import catalogue, data_path, load_counts
from kanon_lab.errors import OptionError
from kanon_lab.files import csv_gz

ROOT = Path(__file__).resolve().parents[3]
NAMES = ["town-register", "health-survey", "health-survey-truth"]


@pytest.fixture(scope="module")
def make_survey():
    spec = importlib.util.spec_from_file_location("make_survey", ROOT / "scripts" / "make_survey.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def register():
    return pd.read_csv(data_path("town-register"), dtype={"postcode": str})


@pytest.fixture(scope="module")
def survey():
    return pd.read_csv(data_path("health-survey"), dtype={"postcode": str, "education": str})


@pytest.fixture(scope="module")
def known(register, survey):
    """The survey beside what the register has on the same persons."""
    truth = pd.read_csv(data_path("health-survey-truth"))
    assert truth["row"].tolist() == list(range(len(survey)))
    persons = register.set_index("person").loc[truth["person"]].reset_index()
    return survey.join(persons.rename(columns={name: f"{name}_true" for name in survey if name in persons}))


def test_the_same_bytes(make_survey):
    for name, table in make_survey.tables().items():
        assert csv_gz(table) == (make_survey.EMBEDDED / name).read_bytes(), name


def test_they_are_labelled_synthetic_and_small():
    sets = catalogue().set_index("name").loc[NAMES]
    assert set(sets["kind"]) == {"synthetic"}
    assert set(sets["licence"]) == {"CC BY 4.0"}
    assert sets["size"].sum() < 200_000
    for name in NAMES:
        with pytest.raises(OptionError, match="no persons by place, sex and age group"):
            load_counts(name)


def test_the_register_has_plausible_persons(register):
    assert register.columns.tolist() == "person name postcode birth_date age sex household".split()
    assert register["person"].tolist() == list(range(1, len(register) + 1))
    assert not register.isna().any(axis=None)
    assert 5500 <= len(register) <= 6500
    assert register["household"].nunique() == 2400
    assert set(register["postcode"].str[:2]) == {"24", "28", "37"}
    assert register["postcode"].nunique() == 12
    assert {"37003", "28108", "24700", "37891"} <= set(register["postcode"])
    assert register.groupby("household")["postcode"].nunique().eq(1).all()
    assert register.groupby("household")["age"].max().ge(18).all()
    assert 0.12 < (register["age"] < 15).mean() < 0.19
    assert 0.16 < (register["age"] >= 65).mean() < 0.24
    assert 0.49 < (register["sex"] == "woman").mean() < 0.54
    assert set(register["sex"]) == {"woman", "man"}


def test_ages_agree_with_dates_of_birth(register, survey):
    for frame in (register, survey):
        born = frame["birth_date"].str.split("-", expand=True).astype(int)
        # On 1 January only those born on that day have their birthday behind them.
        before = ((born[1] > 1) | (born[2] > 1)).astype(int)
        assert (2020 - born[0] - before == frame["age"]).all()


def test_the_survey_holds_whole_households_of_the_register(register, known):
    assert 1300 <= len(known) <= 1700
    for name in ("postcode", "birth_date", "age", "sex"):
        assert (known[name] == known[f"{name}_true"]).all()
    assert not known["person"].duplicated().any()
    sizes = register["household"].value_counts()
    assert (known.groupby("household_true").size() == sizes[sorted(known["household_true"].unique())]).all()
    numbers = known.groupby("household")["household_true"].unique()
    assert numbers.map(len).eq(1).all()
    assert sorted(numbers.index) == list(range(1, len(numbers) + 1))
    assert not numbers.map(lambda n: n[0]).is_monotonic_increasing
    assert abs(np.corrcoef(known.index, known["person"])[0, 1]) < 0.1


def test_weights_add_up_to_the_register_in_every_postcode(register, known):
    persons = register["postcode"].value_counts()
    sums = known.groupby("postcode")["weight"].sum()
    assert (sums - persons).abs().max() < 0.001
    assert known["weight"].min() > 1
    assert known["weight"].nunique() > 6


def test_what_is_missing_in_the_survey(make_survey, survey):
    assert survey.columns.tolist() == make_survey.COLUMNS
    missing = survey.isna().mean()
    assert set(missing.index[missing > 0]) == {"education", "income"}
    assert 0.01 < missing["education"] < 0.04
    assert 0.03 < missing["income"] < 0.08
    assert survey.groupby("household")["income"].nunique(dropna=False).eq(1).all()
    assert (survey["income"].dropna() % 1 == 0).all()
    not_asked = survey["education"] == make_survey.NOT_ASKED
    assert (not_asked == (survey["age"] < make_survey.ASKED_FROM)).all()
    assert set(survey["education"].dropna()) == {make_survey.NOT_ASKED, *make_survey.EDUCATION}


def test_what_is_sensitive_in_the_survey(make_survey, survey):
    assert set(survey["cholesterol"]) == {"high", "normal"}
    share = (survey["cholesterol"] == "high").groupby(pd.cut(survey["age"], [-1, 29, 59, 120]), observed=True).mean()
    assert share.is_monotonic_increasing
    diagnoses = survey["diagnosis"].value_counts()
    assert set(diagnoses.index) == set(make_survey.DIAGNOSES)
    assert diagnoses["HIV"] < 15
    assert (survey.loc[survey["diagnosis"].isin(["HIV", "depression"]), "age"] >= 18).all()
