"""The transcription and the audit of Garín i Ramírez (1996), on the sample of the 1991 census of Catalonia."""

import json
from fractions import Fraction
from math import floor, sqrt

import pandas as pd
import pytest

from kanon_lab.cli import run
from kanon_lab.errors import OptionError
from kanon_lab.published import audit, published_figures
from kanon_lab.published.garin import (
    AGES,
    GEOGRAPHIES,
    KINDS,
    age_codes,
    data_dictionary,
    draws,
    fraction_range,
    fractions,
    kinds,
    most_explained,
    recompute,
    scenarios,
    shared_subsample,
    steps,
    taula,
)
from kanon_lab.published.garin.variables import count_codes

SOURCE = "garin-1996"
#: Garín i Ramírez (1996), section 5.
N, N1 = 6059494, 245944
#: Garín i Ramírez (1996), Taula 1: u1, u2, u and p in per cent, by rows.
TAULA_1 = [
    (33831, 4771, 1362, "0,0455%"),
    (11737, 2460, 463, "0,00686%"),
    (9585, 2104, 378, "0,00511%"),
    (50528, 5586, 2022, "0,1093%"),
    (20073, 3309, 802, "0,0194%"),
    (16678, 2960, 679, "0,0144%"),
    (83816, 6853, 3328, "0,3264%"),
    (38349, 4847, 1537, "0,0636%"),
    (32519, 4539, 1305, "0,0443%"),
]
#: What the text says against itself, with what we have in its place.
CONTRADICTIONS = {
    "sample-only": "és possible",
    "fourth-letter": "d)",
    "p-a-source": "no hi és",
    "p-b": 0.040625,
    "age-10": 9,
    "second-step": "més significatiu",
    "error": 100 * 1.96 * sqrt(0.25 / N1),
}


@pytest.fixture(scope="module")
def whole():
    return audit(SOURCE)


@pytest.fixture(scope="module")
def figures(whole):
    """The audit under the last parts of figure_id, as ``text/n2``."""
    names = published_figures(SOURCE)[["figure_id", "table", "row", "column"]]
    found = names.merge(whole.figures, on=["table", "row", "column"], validate="one_to_one")
    return found.set_index(found["figure_id"].str.removeprefix(f"{SOURCE}/"))


def test_every_figure_is_transcribed():
    figures = published_figures(SOURCE)
    assert figures["figure_id"].is_unique
    assert figures.groupby("table").size().drop("text").to_dict() == {"Taula 1": 36, "Section 5": 20, "Section 4.4": 6}
    printed = figures.query("table == 'Taula 1'")["printed"].to_numpy().reshape(9, 4)
    assert printed.tolist() == [[*map(str, row[:3]), row[3]] for row in TAULA_1]
    assert taula().index.tolist() == [(place, age) for place in GEOGRAPHIES for age in AGES]
    assert list(taula().itertuples(index=False, name=None)) == TAULA_1


def test_the_transcription_stands_in_the_source(shared):
    text = (shared("README.md").parents[1] / "sources" / "garin-1996.txt").read_text(encoding="utf-8")
    figures = published_figures(SOURCE)
    for printed in figures.loc[figures["table"].isin(["Taula 1", "text"]), "printed"]:
        assert all(word in text for word in printed.split()), printed
    sections = text[text.index("(1) Variables de l'individu") : text.index("REFERÈNCIES METODOL")]
    squeezed = sections.replace(" ", "")
    for variable in data_dictionary().itertuples():
        assert variable.variable.partition(":")[0].replace("_", "") in squeezed.replace("_", "")
        assert variable.codes in ("absolute", "3 digits") or variable.codes.replace(" ", "") in squeezed


def test_verdicts(whole):
    verdicts = whole.figures["verdict"].value_counts().to_dict()
    assert verdicts == {"exact": 87, "not-in-text": 15, "published-error": 7, "within-noise": 1}
    assert whole.rows_off.empty


def test_what_contradicts_the_study(figures):
    found = figures[figures["verdict"] == "published-error"]
    assert set(found.index) == {f"text/{name}" for name in CONTRADICTIONS}
    for name, value in CONTRADICTIONS.items():
        row = found.loc[f"text/{name}"]
        assert row["reason"]
        assert (row["computed_text"] == value) if isinstance(value, str) else (row["computed"] == pytest.approx(value))


def test_inputs_and_fitted_figures_say_so(figures):
    table = figures[figures["table"] == "Taula 1"]
    assert table["fitted"].all()
    assert (table["verdict"] == "exact").all()
    p = table["unit"] == "per cent"
    assert (table.loc[~p, "reason"] == KINDS["input"]).all()
    assert table.loc[p, "reason"].str.contains("cut, not rounded").all()
    assert kinds(published_figures(SOURCE)).value_counts().to_dict() == {
        "input": 30,
        "fitted": 10,
        "computed": 20,
        "copied": 6,
        "claim": 41,
        "unchecked": 3,
    }


def exact_p(fraction, decimals=None):
    """The nine p in per cent in exact arithmetic, from the table as it stands in this file."""
    found = []
    for u1, u2, u, _ in TAULA_1:
        ratio = Fraction(u, u2) if decimals is None else Fraction(round(Fraction(u, u2) * 10**decimals), 10**decimals)
        found.append(100 * Fraction(fraction) * Fraction(u1, N1) * ratio**2)
    return found


def explained(fraction, last_digit, decimals=None):
    """How many printed p a fraction gives."""
    count = 0
    for p, (*_, printed) in zip(exact_p(fraction, decimals), TAULA_1, strict=True):
        digits = printed.rstrip("%").partition(",")[2]
        scaled = p * 10 ** len(digits) + (Fraction(1, 2) if last_digit == "rounded" else 0)
        count += floor(scaled) == int(digits)
    return count


def test_which_fraction_explains_the_nine_p():
    low, high = fraction_range()
    assert (low, high) == pytest.approx((0.0406230836, 0.0406238764), abs=5e-11)
    tiny = 1e-12
    assert [explained(f, "cut") for f in (low + tiny, high - tiny)] == [9, 9]
    assert [explained(f, "cut") for f in (low - tiny, high + tiny)] == [8, 8]
    assert fraction_range(last_digit="rounded") == pytest.approx((float("nan"),) * 2, nan_ok=True)
    assert most_explained() == 9
    assert most_explained(last_digit="rounded") == 5


def test_no_whole_subsample_explains_the_nine_p_with_all_decimals():
    """If f is n2 / n1, then n2 lies between 9,991.0 and 9,991.2, where no whole number is."""
    low, high = (each * N1 for each in fraction_range())
    assert 9991 < low < high < 9992
    assert [explained(Fraction(n2, N1), "cut") for n2 in (9990, 9991, 9992)] == [8, 8, 7]
    low, high = (each * N1 for each in fraction_range(decimals=4))
    assert 9989 < low < 9990 < 9991 < high < 9992
    assert [explained(Fraction(n2, N1), "cut", 4) for n2 in (9989, 9990, 9991, 9992)] == [8, 9, 9, 8]


def test_what_each_fraction_of_the_study_explains():
    found = fractions().set_index("name")
    printed = {"4.1": "0.0407", "resulting": "0.0406", "section 4.5.1": "0.040625"}
    for start, text in printed.items():
        row = found[found.index.str.contains(start, regex=False)].iloc[0]
        assert row["fraction"] == float(text)
        f = Fraction(text)
        assert row[["rounded", "cut", "cut_of_four"]].tolist() == [
            explained(f, "rounded"),
            explained(f, "cut"),
            explained(f, "cut", 4),
        ]
    assert found.loc["section 4.5.1", ["rounded", "cut", "cut_of_four"]].tolist() == [2, 7, 9]
    assert found.loc["n1 / N", ["rounded", "cut", "either"]].tolist() == [5, 6, 8]
    assert found["either"].iloc[0] == 1


def test_equation_3():
    found = scenarios(N1 / N)
    # With f = n1 / N the records cancel: p = (u1 / N) (u / u2)^2.
    by_hand = [u1 / N * (u / u2) ** 2 for u1, u2, u, _ in TAULA_1]
    assert found["p_identification"].tolist() == pytest.approx(by_hand, rel=1e-12)
    assert found["identifications"].tolist() == pytest.approx([N * p for p in by_hand], rel=1e-12)
    product = found["p_b"] * found["p_c"] * found["p_d"]
    assert found["p_identification"].tolist() == pytest.approx(product.tolist())
    with pytest.raises(OptionError, match="fraction must be a number above 0 and at most 1"):
        scenarios(0)
    with pytest.raises(OptionError, match="last_digit must be one of cut, rounded"):
        fraction_range(last_digit="floor")


def test_the_second_step_is_the_greater_one(figures):
    """Garín i Ramírez (1996), section 4.5.1b, against Taula 1: 2.40, 2.83, 2.82 and then 2.99, 3.28, 3.08."""
    found = steps()
    assert found["first"].round(2).tolist() == [2.40, 2.83, 2.82]
    assert found["second"].round(2).tolist() == [2.99, 3.28, 3.08]
    for more in ("_points", "_per_doubling"):
        assert (found[f"second{more}"] > found[f"first{more}"]).all()
    # The one reading that comes near: for each area added, in one of three columns, by a thirtieth.
    less = found["second_per_area"] / found["first_per_area"]
    assert (less < 1).tolist() == [False, False, True]
    assert less.min() > 0.96
    assert "2.99, 3.28, 3.08" in figures.loc["text/second-step", "reason"]


def test_u_is_a_draw_from_u1():
    found = draws()
    expected = [0.040625 * row[0] for row in TAULA_1]
    assert found["expected"].tolist() == pytest.approx(expected)
    assert found["z"].abs().max() == pytest.approx(1.35, abs=0.005)
    assert (found["z"] < 0).sum() == 8


def test_counts_fit_one_shared_subsample():
    """A finer scenario keeps what was unique: u1, u2 and u never fall where categories nest."""
    table = taula()
    for name in ("u1", "u2", "u"):
        wide = table[name].unstack()[list(AGES)].loc[list(GEOGRAPHIES)]
        assert (wide.diff().iloc[1:] > 0).all(axis=None)
        assert (wide["1 year"] > wide[["5 years", "10 years"]].max(axis=1)).all()
    shared = shared_subsample()
    assert shared["likelihood_ratio"].between(1.5, 4).all()
    # By hand, for the first step of the first chain: 301 more of 7,093 more.
    mean = 0.040625 * (16678 - 9585)
    assert shared["z"].iloc[0][0] == pytest.approx((679 - 378 - mean) / sqrt(mean * (1 - 0.040625)))


def test_age_codes():
    """Code = age // width; ages of 4 and over; 13 = 65 and over, 8 = 80 and over."""
    found = age_codes().set_index("age")
    ages = range(4, 120)
    for name, width, last in (("5 years", 5, 13), ("10 years", 10, 8)):
        codes = {min(age // width, last) for age in ages}
        assert found.loc[name, ["width", "named", "needed"]].tolist() == [width, last, len(codes)]
    assert found["nameless"].tolist() == ["4", "4-9"]
    # The tops do not nest: 65-79 is one code of five years, and several of ten; and 60-64 and 65-69 share one of ten.
    assert {min(age // 10, 8) for age in range(65, 90)} == {6, 7, 8}
    assert {min(age // 5, 13) for age in range(60, 70)} == {12, 13}


def test_the_data_dictionary():
    found = data_dictionary()
    assert found["variable"].is_unique
    assert found.loc[found["in_key"], "variable"].tolist() == [
        "REG_R",
        "REG_N",
        "PREG_6",
        "PREG_7",
        "PREG_12",
        "PREG_19",
        "PREG_22",
        "PREG_23",
    ]
    assert set(found["part"]) == {"person", "dwelling"}
    assert (found[["heading", "definition", "codes", "matters"]] != "").all(axis=None)
    listed = found.set_index("variable")["categories"]
    figures = published_figures(SOURCE).query("table == 'Section 5'").set_index("row")["published"]
    assert listed[figures.index].tolist() == figures.tolist()
    assert found.loc[found["categories"].isna(), "variable"].tolist() == [
        "PREG_17",
        "PREG_25",
        "SUPF",
        "INFRA: toilets",
        "INFRA: baths",
    ]


@pytest.mark.parametrize(("codes", "count"), [("1...14, 99", 15), ("1, 6", 2), ("1...3", 3), ("absolute", None)])
def test_codes_are_counted(codes, count):
    assert count_codes(codes) == count


def test_some_figures_alone():
    some = published_figures(SOURCE).query("table == 'Section 4.4'")
    assert recompute(some)["computed"].tolist() == [3, 2, 5, 20, 15, 10]
    assert recompute(some.iloc[:0]).empty


def test_a_population_does_not_concern_the_study():
    with pytest.raises(OptionError, match="garin-1996 is recomputed from its own tables"):
        audit(SOURCE, pd.DataFrame())


def test_the_command(capsys):
    assert run(["audit", "--source", SOURCE, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert len(result["figures"]) == len(published_figures(SOURCE))
    found = {(f["table"], f["row"], f["column"]): f for f in result["figures"]}
    assert found["Taula 1", "14 regions", "5 years, p"]["computed"] == 0.0636
    assert found["text", "4.1", "sampling fraction f"]["computed"] == pytest.approx(N1 / N)
    assert run(["audit", "--source", SOURCE, "--strict"]) == 1
    out = capsys.readouterr().out
    assert "printed 0,02%, computed 0.19761 (published-error)" in out
    assert "7 of 110 figures ask for attention" in out
