"""The embedded synthetic ENUSC: its persons and households, its design, and its frequencies beside the real ones."""

import importlib.util
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kanon_lab.data import catalogue, data_path
from kanon_lab.files import csv_gz

SCRIPTS = Path(__file__).resolve().parents[3] / "scripts"
ASKED = ["VP_DC", "P3_1_1", "P8_1_1", "muj_insg_micro", "hom_insg_micro"]
ASKED += ["muj_insg_calles.barrio", "hom_insg_calles.barrio"]


def script(name):
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def make_enusc():
    return script("make_enusc")


@pytest.fixture(scope="module")
def compare_enusc():
    return script("compare_enusc")


@pytest.fixture(scope="module")
def enusc():
    return pd.read_csv(data_path("enusc-synthetic"))


@pytest.fixture(scope="module")
def printed():
    """The comparison in the repository."""
    return pd.read_csv(SCRIPTS / "enusc-synthetic.csv", dtype={"group": str}).set_index(["measure", "group"])


def test_the_same_bytes(make_enusc):
    assert csv_gz(make_enusc.enusc()) == make_enusc.TARGET.read_bytes()


def test_it_is_labelled_synthetic_and_small():
    entry = catalogue().set_index("name").loc["enusc-synthetic"]
    assert (entry["kind"], entry["licence"]) == ("synthetic", "CC BY 4.0")
    assert entry["size"] < 1_000_000


def test_whole_households(make_enusc, enusc):
    assert enusc.columns.tolist() == make_enusc.COLUMNS
    assert 24_000 < len(enusc) < 26_000
    households = enusc.groupby("hogar")
    assert (enusc["tam_hogar"] == households["rph_edad"].transform("size")).all()
    assert enusc["hogar"].is_monotonic_increasing
    assert households.ngroups == enusc["hogar"].max()
    for same in ["enc_region", "comuna", "VarStrat", "Conglomerado", "Fact_Hog", "ingreso", "VA_DC"]:
        assert (households[same].nunique(dropna=False) == 1).all(), same
    assert (households["rph_edad"].max() >= 18).all()
    assert set(enusc["rph_sexo"]) == {1, 2}
    assert enusc["rph_edad"].between(0, make_enusc.OLDEST).all()
    # The numbers of households say nothing of the region.
    assert abs(enusc["hogar"].corr(enusc["enc_region"])) < 0.05


def test_geography_and_design_are_nested(enusc):
    assert set(enusc["enc_region"]) == set(range(1, 17))
    regions = enusc.groupby("enc_region")
    assert (enusc["VarStrat"].nunique(), enusc["Conglomerado"].nunique()) == (102, 588)
    for inner, outer in [
        ("Conglomerado", "VarStrat"),
        ("Conglomerado", "comuna"),
        ("VarStrat", "enc_region"),
        ("comuna", "enc_region"),
    ]:
        assert (enusc.groupby(inner)[outer].nunique() == 1).all(), (inner, outer)
    # Strata are mostly communes, sometimes larger and sometimes smaller.
    communes = enusc.groupby("VarStrat")["comuna"].nunique()
    strata = enusc.groupby("comuna")["VarStrat"].nunique()
    assert set(communes) == set(strata) == {1, 2}
    assert ((communes == 1).mean() > 0.8) and ((strata == 1).mean() > 0.8)
    assert regions["comuna"].nunique().min() >= 2
    assert (enusc["comuna"].str[1:3].astype(int) == enusc["enc_region"]).all()
    assert enusc.groupby("Conglomerado").size().between(30, 50).all()


def test_weights_add_up_to_the_regions(make_enusc, enusc):
    homes, persons = enusc.drop_duplicates("hogar"), enusc[enusc["rph_edad"] >= 15]
    for frame, weight, figure in [
        (homes, "Fact_Hog", make_enusc.HOUSEHOLDS),
        (persons, "Fact_Pers", make_enusc.PERSONS),
    ]:
        sums = frame.groupby("enc_region")[weight].sum()
        np.testing.assert_allclose(sums, make_enusc.figures(figure) * 1000, atol=0.1)
    assert (enusc[["Fact_Hog", "Fact_Pers"]] > 1).all(axis=None)
    # Within the strata of a region mean weights differ: the design is not proportional.
    assert homes.groupby("VarStrat")["Fact_Hog"].mean().pipe(lambda means: means.max() / means.min()) > 10


def test_what_is_missing_and_its_codes(make_enusc, enusc):
    child = enusc["rph_edad"] < 15
    assert set(enusc.columns[enusc.isna().any()]) == {*ASKED, "ingreso"}
    for item in ASKED:
        assert (enusc[item].isna() == child).all(), item
    assert 0.10 < enusc.loc[~enusc["hogar"].duplicated(), "ingreso"].isna().mean() < 0.14
    assert (enusc["ingreso"].dropna() % 10_000 == 0).all()
    assert enusc["ingreso"].min() >= 60_000
    assert set(enusc["P3_1_1"].dropna()) == {1, 2, 3, 88, 99}
    assert set(enusc["P8_1_1"].dropna()) == {*range(1, 17), 77, 85, 88, 99}
    assert set(enusc["educacion"]) == {*range(6), 88, 99}
    assert not enusc.loc[child, "educacion"].isin([88, 99]).any()
    assert 0.005 < enusc.loc[~child, "educacion"].isin([88, 99]).mean() < 0.03


def test_who_answers_what(enusc):
    persons = enusc[enusc["rph_edad"] >= 15]
    assert (persons["VP_DC"] <= persons["VA_DC"]).all()
    for prefix, other in (("muj", 1), ("hom", 2)):
        items = [name for name in ASKED if name.startswith(prefix)]
        assert (persons.loc[persons["rph_sexo"] == other, items] == 0).all(axis=None)


def test_lives_are_plausible(enusc):
    age, level = enusc["rph_edad"], enusc["educacion"]
    assert ((enusc["actividad"] == 0) == (age < 15)).all()
    assert set(enusc["actividad"]) == set(range(7))
    assert age[enusc["actividad"] == 5].min() >= 50
    assert (level[age < 6] == 0).all()
    assert (level[age.between(6, 13)] == 1).all()
    assert (age[level.isin([3, 4])] >= 18).all()
    assert (age[level == 5] >= 25).all()
    higher = level.isin([3, 4, 5]).groupby(pd.cut(age, [24, 39, 54, 69, 120])).mean()
    assert higher.is_monotonic_decreasing
    assert higher.iloc[0] > 2 * higher.iloc[-1]
    women, working = enusc["rph_sexo"] == 2, enusc["actividad"] == 1
    assert working[women & age.between(25, 59)].mean() + 0.1 < working[~women & age.between(25, 59)].mean()
    grown = enusc[age.between(30, 59) & level.between(0, 5)]
    assert grown.groupby("educacion")["ingreso"].median().loc[1:].is_monotonic_increasing
    richer = enusc.groupby("enc_region")["ingreso"].median()
    assert richer[13] > 1.2 * richer[9]


def test_victims_depend_on_region_age_and_income_and_fear_on_sex(enusc):
    homes, persons = enusc.drop_duplicates("hogar"), enusc[enusc["rph_edad"] >= 15]
    by_income = homes.groupby(pd.qcut(homes["ingreso"], 3, labels=False))["VA_DC"].mean()
    assert by_income[2] > by_income[0] * 1.2
    by_age = persons.groupby(persons["rph_edad"] < 45)["VP_DC"].mean()
    assert by_age[True] > by_age[False] * 1.2
    by_region = homes.groupby("enc_region")["VA_DC"].mean()
    assert by_region.max() > 3 * by_region.min()
    for item in ("insg_micro", "insg_calles.barrio"):
        sexes = [
            persons.loc[persons["rph_sexo"] == sex, f"{name}_{item}"].mean() for name, sex in (("hom", 1), ("muj", 2))
        ]
        assert sexes[1] > sexes[0] + 0.02


def check_digit(number):
    """The digit of a Chilean identity number, by modulo 11."""
    left = 11 - sum(int(figure) * (2 + place % 6) for place, figure in enumerate(reversed(number))) % 11
    return {11: "0", 10: "K"}.get(left, str(left))


def test_no_rut_has_its_own_check_digit(enusc):
    assert check_digit("12345678") == "5"
    assert enusc["rut"].is_unique
    for rut in enusc["rut"]:
        number, digit = rut.split("-")
        assert digit in "0123456789K" and digit != check_digit(number)
    assert set(enusc["rut"].str[-1]) == set("0123456789K")


def test_the_comparison_is_of_this_file(compare_enusc, enusc, printed):
    pd.testing.assert_series_equal(compare_enusc.figures(enusc), printed["synthetic"], check_names=False)


@pytest.mark.parametrize(
    ("measures", "apart"),
    [
        (["strata", "sampling units"], 0),
        (["rows of a sampling unit, quantile"], 3),
        (["share of rows"], 0.02),
        (["P3_1_1", "P8_1_1", "sex and age, weighted"], 0.01),
        (["Fact_Hog, thousands", "Fact_Pers, thousands"], 0.06),
        (["VP_DC", "VP_DC by sex and age", "VP_DC, deviation between sampling units"], 0.02),
        (["VA_DC", "hom_insg_micro", "muj_insg_micro", "hom_insg_calles.barrio", "muj_insg_calles.barrio"], 0.035),
        (["hom_insg_micro by age", "muj_insg_micro by age"], 0.03),
        (["hom_insg_calles.barrio by age", "muj_insg_calles.barrio by age"], 0.03),
        (["Fact_Hog, coefficient of variation", "Fact_Pers, coefficient of variation"], 0.65),
    ],
)
def test_frequencies_are_near_the_real_ones(printed, measures, apart):
    near = printed[printed.index.get_level_values("measure").isin(measures)]
    assert set(near.index.get_level_values("measure")) == set(measures)
    assert near["difference"].abs().max() <= apart


def test_the_real_file_has_the_figures_printed(compare_enusc, shared, printed):
    real = pd.read_csv(shared("enusc-2019.csv.gz"))
    pd.testing.assert_series_equal(compare_enusc.figures(real), printed["real"], check_names=False)


def test_parameters_are_the_real_ones_rounded(make_enusc, shared):
    real = pd.read_csv(shared("enusc-2019.csv.gz"))
    regions = real.groupby("enc_region")
    rounded = regions[["Fact_Hog", "Fact_Pers"]].sum() / 1000
    np.testing.assert_allclose(make_enusc.figures(make_enusc.HOUSEHOLDS), rounded["Fact_Hog"], atol=0.051)
    np.testing.assert_allclose(make_enusc.figures(make_enusc.PERSONS), rounded["Fact_Pers"], atol=0.051)
    np.testing.assert_allclose(make_enusc.figures(make_enusc.VA), regions["VA_DC"].mean(), atol=0.0051)
    np.testing.assert_allclose(make_enusc.figures(make_enusc.VP), regions["VP_DC"].mean(), atol=0.00051)
    units = real.groupby(["enc_region", "VarStrat"])["Conglomerado"].nunique()
    for region, sizes in make_enusc.UNITS.items():
        assert sizes == sorted(units[region], reverse=True), region
    np.testing.assert_allclose(sum(make_enusc.OPINION.values()), 1, atol=0.005)
