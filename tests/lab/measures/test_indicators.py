"""The indicators of a survey: which rows there are, and what they say."""

import math
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_lab.errors import DataError, OptionError, about
from kanon_lab.measures import Design, IndicatorSet, indicators
from kanon_lab.measures.survey_design import Domains, Survey, mean_interval, rate_interval, ratios
from kanon_lab.recipes import as_indicators

PEOPLE = pd.DataFrame(
    {
        "sex": ["m", "f", "m", "f", None, "m"],
        "place": [1, 1, 2, 2, 2, 1],
        "ill": ["no", "flu", None, "no", "flu", "no"],
        "income": [10.0, 20.0, 30.0, None, 50.0, 60.0],
        "w": [1.0, 1.0, 2.0, 2.0, 1.0, 3.0],
    },
    index=list("abcdef"),
)
WANTED = IndicatorSet(rates={"ill": None}, means="income", by=["sex", ("place", "sex")], design=Design("w"))


def rows_of(found, **keys):
    for name, value in keys.items():
        found = found[found[name] == value]
    return found


def figures_of(found, **keys):
    (row,) = rows_of(found, **keys).to_dict("records")
    return row


def test_rates_and_means_of_the_file_and_of_its_groups():
    found = indicators(PEOPLE, WANTED)
    whole = figures_of(found, variable="ill", category="flu", by="")
    # The weights of a, b, d, e, f are 1, 1, 2, 1, 3; those of b and e are ill.
    assert (whole["kind"], whole["group"], whole["records"], whole["population"]) == ("rate", "", 5, 8.0)
    assert whole["estimate"] == pytest.approx(2 / 8)
    men = figures_of(found, variable="income", by="sex", group="m")
    assert (men["kind"], men["category"], men["records"], men["population"]) == ("mean", "", 3, 6.0)
    assert men["estimate"] == pytest.approx((10 + 60 + 180) / 6)
    assert rows_of(found, variable="income", by="place x sex")["group"].tolist() == ["1 x f", "1 x m", "2 x m"]
    assert rows_of(found, kind="mean")["df"].tolist() == [4, 0, 2, 0, 1, 0]
    assert (found["lower"].isna() == (found["df"] == 0)).all()
    assert found.columns.tolist() == [
        *("kind", "variable", "category", "by", "group", "records", "population"),
        *("estimate", "se", "lower", "upper", "df", "lone_strata"),
    ]


def test_groups_without_a_value_and_records_without_a_group_have_no_row():
    found = indicators(PEOPLE, WANTED)
    assert rows_of(found, variable="ill", by="place x sex", group="2 x m").empty
    assert rows_of(found, variable="ill", category="no", by="sex")["records"].sum() == 4


def test_categories_are_matched_as_text():
    frame = PEOPLE.assign(ill=[1, 1.0, "1", 2.5, None, "x"], sex=pd.Categorical(PEOPLE["sex"], ["f", "m", "x"]))
    found = indicators(frame, IndicatorSet(rates={"ill": [1, 2.5]}, by="sex"))
    assert found["category"].unique().tolist() == ["1", "2.5"]
    assert found["group"].unique().tolist() == ["", "f", "m"]
    assert figures_of(found, category="1", by="")["estimate"] == pytest.approx(3 / 5)


@given(
    st.lists(
        st.tuples(st.sampled_from(["x", "y", None]), st.sampled_from([1, 2, None]), st.sampled_from([0.0, 1.0, 4.5])),
        min_size=2,
        max_size=12,
    )
)
def test_each_row_is_the_estimate_of_one_group_alone(records):
    frame = pd.DataFrame([*records, ("x", 1, 0.0)], columns=["a", "b", "y"], dtype=object)
    wanted = IndicatorSet(rates=["a"], means=["y"], by=["b"], design=Design("w", (), "unit"))
    frame["w"], frame["unit"] = np.arange(len(frame)) % 3 + 1.0, np.arange(len(frame)) // 2
    survey = Survey(frame, wanted.design)
    for row in indicators(frame, wanted).to_dict("records"):
        value = frame["a"].eq(row["category"]) if row["kind"] == "rate" else frame["y"]
        inside = frame[row["variable"]].notna() & (frame["b"].map(str).eq(row["group"]) | (row["by"] == ""))
        within = Domains(survey, np.where(inside, 0, -1), 1)
        estimate, se = ratios(within, value.to_numpy(dtype=float))
        if row["kind"] == "rate":
            ends = rate_interval(estimate, se, within.df, within.units, 0.95)
        else:
            ends = mean_interval(estimate, se, within.df, 0.95)
        expected = [inside.sum(), frame["w"][inside].sum(), estimate[0], se[0], ends[0][0], ends[1][0], within.df[0]]
        found = [row[name] for name in ("records", "population", "estimate", "se", "lower", "upper", "df")]
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_the_level_moves_the_ends_only():
    wide, narrow = (indicators(PEOPLE, as_indicators({"means": ["income"], "level": level})) for level in (0.99, 0.5))
    assert (wide["estimate"] == narrow["estimate"]).all() and (wide["lower"] < narrow["lower"]).all()


@pytest.mark.parametrize("frame", [PEOPLE.convert_dtypes(), PEOPLE.astype({"sex": "category", "place": "float"})])
def test_types_of_columns_say_nothing(frame):
    pd.testing.assert_frame_equal(indicators(frame, WANTED), indicators(PEOPLE, WANTED))


def test_the_input_stays_as_it_is():
    frame = PEOPLE.copy()
    indicators(frame, WANTED, design_from=frame, absent="skip")
    pd.testing.assert_frame_equal(frame, PEOPLE)


class TestReleased:
    """A file released from another, whose design it lacks."""

    def now(self, frame, wanted=WANTED):
        return indicators(frame, wanted, design_from=PEOPLE, absent="skip")

    def test_the_design_is_that_of_the_original(self):
        released = PEOPLE.drop(columns="w")
        pd.testing.assert_frame_equal(self.now(released), indicators(PEOPLE, WANTED))

    def test_what_is_not_there_or_no_quantity_has_no_row(self):
        released = PEOPLE.drop(columns="sex").assign(income=["0-29", "0-29", "30+", None, "30+", "30+"])
        found = self.now(released)
        assert found["by"].unique().tolist() == [""] and found["variable"].unique().tolist() == ["ill"]
        assert self.now(PEOPLE[["sex"]]).empty

    def test_a_suppressed_category_is_estimated_as_zero(self):
        found = self.now(PEOPLE.assign(ill=PEOPLE["ill"].replace("flu", None)))
        flu = figures_of(found, category="flu", by="")
        assert [flu[name] for name in ("estimate", "se", "lower")] == [0, 0, 0]
        # Three records have a value, each a unit: (1 - upper)^3 = 0.025.
        assert flu["upper"] == pytest.approx(1 - 0.025 ** (1 / 3))

    @pytest.mark.parametrize("rates", [["ill"], {"ill": ["flu", "no"]}])
    def test_categories_that_were_recoded_have_no_row(self, rates):
        found = self.now(PEOPLE.assign(ill=PEOPLE["ill"].replace("flu", "infection")), IndicatorSet(rates=rates))
        assert "flu" not in found["category"].tolist() and "no" in found["category"].tolist()

    def test_a_variable_without_any_value_has_no_row(self):
        found = self.now(PEOPLE.assign(ill=None, income=np.nan, sex=None))
        assert found.empty

    def test_another_index_is_refused(self):
        with pytest.raises(DataError, match="^its index is not that of the file its design is read from"):
            self.now(PEOPLE.reset_index(drop=True))


@pytest.mark.parametrize(
    "settings, told",
    [
        ({"rates": {"ilness": None}}, "test: column ilness is not there; check the name"),
        ({"means": ["Income"]}, "test: column Income is not there; did you mean income?"),
        ({"means": ["income"], "by": ["Sex"]}, "test: column Sex is not there; did you mean sex?"),
        ({"means": ["ill"]}, "test: column ill: row a (and 4 more): text, but numbers are needed"),
        ({"means": ["nothing"]}, "test: column nothing has no value; leave it out"),
        ({"rates": ["nothing"]}, "test: no record has a value of nothing; leave it out"),
        ({"means": ["income"], "by": [["sex", "nothing"]]}, "test: no record has a value of sex x nothing; leave"),
        ({"means": ["income"], "sampling_unit": "sex"}, "test: column sex: row e: no sampling unit"),
    ],
)
def test_data_that_cannot_be_estimated_are_refused(settings, told):
    with pytest.raises(DataError) as caught, about("test"):
        indicators(PEOPLE.assign(nothing=np.nan), as_indicators(settings))
    assert str(caught.value).startswith(told)


def test_a_category_that_no_record_has_is_refused():
    with pytest.raises(OptionError) as caught, about("test"):
        indicators(PEOPLE, IndicatorSet(rates={"ill": ["no", "Flu"]}))
    assert str(caught.value) == "test: rates: ill: no record has category 2 of those asked for; check how it is written"
    with pytest.raises(OptionError, match="^absent must be error or skip, not text$"):
        indicators(PEOPLE, WANTED, absent="drop")


@pytest.mark.parametrize(
    "settings, told",
    [
        (["income"], "indicators: must be a mapping of settings"),
        ({}, "indicators: no indicator: name variables under rates or means"),
        ({"rate": ["ill"]}, "indicators: unknown setting rate; did you mean rates?"),
        (
            {"colour": 1},
            "indicators: unknown setting (number 1); there are by, level, means, rates, sampling_unit, strata",
        ),
        ({"weight": "w"}, "indicators: weight belongs at the top of the recipe, beside key_variables"),
        (
            {"rates": {"ill": "flu"}},
            "indicators: rates: ill: categories must be a list, such as [diabetes], or null for all, not text",
        ),
        ({"rates": {"ill": []}}, "indicators: rates: ill: categories must be a list"),
        ({"rates": {"ill": [["flu"]]}}, "indicators: rates: ill: a category must be one text or number, not a list"),
        ({"rates": {"ill": [1, "1"]}}, "indicators: rates: ill: category 2 is named before"),
        ({"rates": {2019: None}}, "indicators: rates must be names of columns"),
        ({"means": [{"income": 1}]}, "indicators: means must be names of columns"),
        ({"means": ["income", "income"]}, "indicators: means: income is named twice"),
        ({"means": ["income"], "by": {"sex": 1}}, "indicators: by must be a list of variables or of lists to cross"),
        ({"means": ["income"], "by": [7]}, "indicators: by must be names of columns"),
        ({"means": ["income"], "by": [[]]}, "indicators: by: an empty list; the whole file is estimated anyway"),
        ({"means": ["income"], "by": ["sex", ["sex"]]}, "indicators: by: sex is named twice"),
        ({"means": ["income"], "level": 95}, "indicators: level must be a number above 0 and below 1, not 95"),
        ({"means": ["income"], "level": True}, "indicators: level must be a number above 0 and below 1, not True"),
        ({"means": ["income"], "strata": 5}, "indicators: strata must be names of columns"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(settings, told):
    with pytest.raises(OptionError) as caught:
        as_indicators(settings)
    assert str(caught.value).startswith(told) and "\n" not in str(caught.value)


def test_settings_of_a_recipe():
    settings = {
        **{"rates": {"ill": ["flu"], "sex": None}, "means": ["income"], "by": ["sex", ["place", "sex"]]},
        **{"strata": ["place"], "sampling_unit": "house", "level": None},
    }
    wanted = as_indicators(settings, weight="w")
    assert wanted.variables == ("ill", "sex", "income", "place", "w", "house")
    assert wanted == IndicatorSet(
        {"ill": ("flu",), "sex": None}, ("income",), (("sex",), ("place", "sex")), Design("w", ("place",), "house")
    )
    # Processes that try recipes side by side pass them on.
    assert pickle.loads(pickle.dumps(wanted)) == wanted


@pytest.fixture(scope="module")
def enusc(shared):
    return pd.read_csv(shared("enusc-2019.csv.gz"))


@pytest.fixture(scope="module")
def found(enusc):
    by = ["enc_region", "rph_sexo", ("enc_region", "rph_sexo")]
    design = Design("Fact_Pers", "VarStrat", "Conglomerado")
    return indicators(enusc, IndicatorSet(["VA_DC", "VP_DC"], "rph_edad", by, design))


class TestEnusc:
    """The survey of victimisation itself: VA_DC says that the household was a victim, VP_DC the person."""

    def test_rates_add_up_and_have_one_error(self, found):
        no, yes = (rows_of(found, variable="VA_DC", category=each).reset_index(drop=True) for each in "01")
        assert len(no) == 1 + 16 + 2 + 32
        np.testing.assert_allclose(no["estimate"] + yes["estimate"], 1)
        np.testing.assert_allclose(no["se"], yes["se"])
        np.testing.assert_allclose(no["lower"], 1 - yes["upper"])

    def test_groups_add_up_to_the_country(self, found, enusc):
        for variable in ("VA_DC", "VP_DC", "rph_edad"):
            category = "" if variable == "rph_edad" else "1"
            whole = figures_of(found, variable=variable, category=category, by="")
            assert whole["population"] == pytest.approx(enusc["Fact_Pers"].sum())
            assert whole["estimate"] == pytest.approx(np.average(enusc[variable], weights=enusc["Fact_Pers"]))
            for by in ("enc_region", "rph_sexo", "enc_region x rph_sexo"):
                groups = rows_of(found, variable=variable, category=category, by=by)
                assert groups["records"].sum() == len(enusc)
                assert np.average(groups["estimate"], weights=groups["population"]) == pytest.approx(whole["estimate"])

    def test_the_design_shows(self, found, enusc):
        whole = figures_of(found, variable="VA_DC", category="1", by="")
        units = enusc.groupby("VarStrat")["Conglomerado"].nunique()
        assert (whole["df"], whole["lone_strata"]) == (units.sum() - len(units), (units == 1).sum())

        def error(*names):
            return indicators(enusc, IndicatorSet({"VA_DC": [1]}, design=Design(*names)))["se"][0]

        # Weights that differ and neighbours who share what befalls them cost precision; strata give some back.
        assert whole["se"] ** 2 > whole["estimate"] * (1 - whole["estimate"]) / len(enusc)
        assert error() < error("Fact_Pers")
        assert error(None, "VarStrat") < error(None, "VarStrat", "Conglomerado")
        assert whole["se"] < error("Fact_Pers", (), "Conglomerado")
        regions = rows_of(found, variable="VA_DC", category="1", by="enc_region")
        assert (regions["se"] > whole["se"]).all()
        # Regions are made of whole strata: their errors are independent and make that of the country.
        shares = regions["population"] / whole["population"]
        within = ((shares * regions["se"]) ** 2).sum()
        assert math.sqrt(within) < whole["se"] < 1.2 * math.sqrt(within)
