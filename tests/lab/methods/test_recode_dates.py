"""Dates as month, quarter, year, decade and age."""

import datetime

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_lab.errors import DataError, OptionError
from kanon_lab.methods import recode_dates

DAYS = st.dates(datetime.date(1890, 1, 1), datetime.date(2025, 12, 31))


@given(st.lists(st.one_of(DAYS, st.none()), min_size=1, max_size=15), DAYS, st.booleans())
def test_age_is_the_number_of_birthdays(days, reference, as_text):
    days = [None if day is None else min(day, reference) for day in days]
    series = pd.Series([day.isoformat() if as_text and day else day for day in days], dtype=object, name="born")
    ages = recode_dates(series, to="age", reference=reference)
    for day, age in zip(days, ages):
        if day is None:
            assert pd.isna(age)
            continue
        # A birthday that a year lacks is 1 March.
        birthdays = [
            datetime.date(year, 3, 1) if (day.month, day.day) == (2, 29) and year % 4 else day.replace(year=year)
            for year in range(day.year + 1, reference.year + 1)
            if year not in (1900,) or (day.month, day.day) != (2, 29)
        ]
        assert age == sum(birthday <= reference for birthday in birthdays) + _of_1900(day, reference)


def _of_1900(day, reference):
    """The birthday in 1900, no leap year, of one born on 29 February before it."""
    born_before = (day.month, day.day) == (2, 29) and day.year < 1900
    return int(born_before and datetime.date(1900, 3, 1) <= reference)


def test_twenty_ninth_of_february():
    born = pd.Series(["2000-02-29"])
    for reference, age in {"2001-02-28": 0, "2001-03-01": 1, "2004-02-28": 3, "2004-02-29": 4}.items():
        assert recode_dates(born, to="age", reference=reference).tolist() == [age]


@given(st.lists(DAYS, min_size=1, max_size=10))
def test_parts_of_dates(days):
    series = pd.Series(pd.to_datetime([day.isoformat() for day in days]))
    assert recode_dates(series, to="month").tolist() == [f"{d:%Y-%m}" for d in days]
    assert recode_dates(series, to="quarter").tolist() == [f"{d:%Y}-Q{(d.month - 1) // 3 + 1}" for d in days]
    assert recode_dates(series, to="year").tolist() == [f"{d:%Y}" for d in days]
    assert recode_dates(series, to="decade").tolist() == [f"{d.year // 10}0-{d.year // 10}9" for d in days]


def test_other_formats_are_said():
    assert recode_dates(pd.Series(["31/05/2001", None]), to="year", date_format="%d/%m/%Y").fillna("-").tolist() == [
        "2001",
        "-",
    ]


@pytest.mark.parametrize("value", ["2001-02-30", "2001-5-3", "31/05/2001", "2001", "", 20010531, 3.5])
def test_what_is_no_date_is_named_by_its_row(value):
    series = pd.Series(["2001-05-31", value], index=["p", "q"], name="born", dtype=object)
    with pytest.raises(DataError, match="column born: row q") as caught:
        recode_dates(series, to="month")
    assert str(value) not in str(caught.value).replace("%Y-%m-%d", "") or value == ""


def test_births_after_the_reference_are_refused():
    with pytest.raises(DataError, match=r"row 1: .*after the reference"):
        recode_dates(pd.Series(["2001-05-31", "2011-11-02"]), to="age", reference="2011-11-01")


def test_a_reference_goes_with_age_alone():
    born = pd.Series(["2001-05-31"])
    for options in ({"to": "age"}, {"to": "year", "reference": "2011-11-01"}, {"to": "week"}):
        with pytest.raises(OptionError):
            recode_dates(born, **options)
    with pytest.raises(OptionError, match="not a date"):
        recode_dates(born, to="age", reference="1 November")
