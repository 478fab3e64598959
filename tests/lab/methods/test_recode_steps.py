"""Recodings from the settings of a recipe, as YAML gives them."""

import pandas as pd
import pytest
import yaml

from kanon_lab.errors import DataError, KanonLabError, about
from kanon_lab.methods.recode_settings import recode_step

FRAME = pd.DataFrame(
    {
        "age": [3, 40, 90],
        "sex": ["m", "w", None],
        "born": ["2001-02-03", None, "1990-01-01"],
        "code": ["37003", "37004", "08001"],
        "income": [1234.5, 7.0, 99999.0],
        "rent": [149.0, 151.0, 0.0],
    },
    index=["p", "q", "r"],
)


def applied(text):
    ((step, settings),) = yaml.safe_load(text).items()
    with about("survey.csv"):
        return recode_step(FRAME, settings, step=step)


@pytest.mark.parametrize(
    ("text", "variable", "expected"),
    [
        ("recode: {variable: age, bands: [0, 15, 60, null], closed: left}", "age", ["0-14", "15-59", "60+"]),
        ("recode: {variable: age, bands: [0, 15, 60], outside: 60+}", "age", ["0-14", "15-59", "60+"]),
        ("recode: {variable: age, bands: [0, 15, .inf], labels: [child, adult]}", "age", ["child", "adult", "adult"]),
        ("recode: {variable: age, width: 10, start: 0, stop: 100}", "age", ["0-9", "40-49", "90-99"]),
        ("recode: {variable: age, width: 30, whole: false}", "age", ["[0, 30)", "[30, 60)", "[90, 120)"]),
        ("recode: {variable: sex, groups: {person: [m, w]}}", "sex", ["person", "person", None]),
        ("recode: {variable: sex, groups: {man: m}, others: keep}", "sex", ["man", "w", None]),
        ("recode: {variable: born, dates: year}", "born", ["2001", None, "1990"]),
        ("recode: {variable: born, dates: age, reference: 2011-11-01}", "born", [10, None, 21]),
        ("recode: {variable: code, hierarchy: {masks: [5, 2, 0]}, level: 1}", "code", ["37***", "37***", "08***"]),
        ("top_code: {variable: age, above: 64}", "age", [3, 40, 64]),
        ("top_code: {variable: age, above: 64, label: 65+}", "age", ["3", "40", "65+"]),
        ("bottom_code: {variable: age, below: 5, value: 5}", "age", [5, 40, 90]),
        ("round: {variable: income, base: 1000}", "income", [1000, 0, 100000]),
        ("round: {variable: [income, rent], base: 0.5, half: up}", "income", [1234.5, 7, 99999]),
        ("round: {variable: [income, rent], base: 100, half: up}", "rent", [100, 200, 0]),
    ],
)
def test_each_step_recodes_its_variable_and_nothing_else(text, variable, expected):
    before = FRAME.copy()
    result = applied(text)
    assert [None if pd.isna(value) else value for value in result[variable]] == expected
    pd.testing.assert_frame_equal(FRAME, before)
    others = [name for name in FRAME if name not in text]
    pd.testing.assert_frame_equal(result[others], FRAME[others])
    assert list(result) == list(FRAME) and result.index.equals(FRAME.index)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("recode: {variable: age, bands: [0, 15, 75], closed: left}", "survey.csv: column age: row r: .*null.*outside"),
        ("recode: {variable: aeg, bands: [0, 1]}", "survey.csv: column aeg is not there; did you mean age?"),
        ("recode: {variable: born, dates: year, date_format: '%d/%m/%Y'}", "row p .*: not a date .* say how dates"),
        ("recode: {variable: age, bands: [0, 15, None]}", "may be null, without quotes"),
        ("bottom_code: {variable: sex, below: 5}", "column sex: row p .*text, but numbers are needed"),
    ],
)
def test_settings_that_cannot_be_used_are_refused_in_one_line(text, message):
    with pytest.raises(KanonLabError, match=message) as caught:
        applied(text)
    assert "\n" not in str(caught.value)


def test_a_column_that_stands_twice_is_refused():
    with pytest.raises(DataError, match="column age occurs twice"):
        recode_step(FRAME[["age", "age"]], {"variable": "age", "width": 5})
