"""The transcription and the audit of Garín i Ramírez (1996), on the sample of the 1991 census of Catalonia."""

import json
import re
from fractions import Fraction
from importlib import import_module
from itertools import product
from math import floor, log, sqrt
from pathlib import Path

import pandas as pd
import pytest

from kanon_book.studies import audit, explanation, published_figures
from kanon_book.studies.garin import (
    AGES,
    GEOGRAPHIES,
    age_codes,
    count_codes,
    data_dictionary,
    draws,
    fraction_range,
    fractions,
    most_explained,
    scenarios,
    shared_subsample,
    steps,
    taula,
)
from kanon_book.studies.garin_audit import recompute
from kanon_lab.cli import run
from kanon_lab.errors import OptionError

pytestmark = pytest.mark.usefixtures("audited_once")

ROOT = Path(__file__).resolve().parents[3]
SOURCE = "garin-1996"
#: Garín i Ramírez (1996), section 5.
N, N1 = 6059494, 245944
#: Garín i Ramírez (1996), Taula 1: u1, u2, u and p in per cent, by rows.
TAULA_1 = list(taula().itertuples(index=False, name=None))
#: What the text says against itself, with what we have in its place.
CONTRADICTIONS = {
    "text/fourth-letter": "d)",
    "text/second-step": "més significatiu",
    "text/error": 100 * 1.96 * sqrt(0.25 / N1),
}


@pytest.fixture(scope="module")
def whole():
    return audit(SOURCE)


@pytest.fixture(scope="module")
def figures(whole):
    """The audit under the last parts of figure_id, as ``text/n2``."""
    return whole.figures.set_index(whole.figures["figure_id"].str.removeprefix(f"{SOURCE}/"))


def test_every_figure_is_transcribed():
    figures = published_figures(SOURCE)
    assert figures["figure_id"].is_unique
    assert figures.groupby("table").size().drop("text").to_dict() == {
        "Taula 1": 36,
        "Section 5": 54,
        "Section 4.4": 22,
    }
    printed = figures.query("table == 'Taula 1'")["printed"].to_numpy().reshape(9, 4)
    assert printed.tolist() == [[*map(str, row[:3]), row[3]] for row in TAULA_1]
    assert TAULA_1[0] == (33831, 4771, 1362, "0,0455%")
    assert taula().index.tolist() == [(place, age) for place in GEOGRAPHIES for age in AGES]


def cells(line):
    """The cells of a line of a table in the text; none for another line."""
    return [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []


@pytest.fixture(scope="module")
def text(source_text):
    return source_text("garin-1996.txt")


@pytest.fixture(scope="module")
def sections(text):
    """The text by section, without marks of print and with single blanks."""
    body, summary = text.split("ENGLISH SUMMARY")
    parts = re.split(r"(?m)^(\d(?:\.\d)*)\. ", body)
    found = dict(zip(parts[1::2], parts[2::2], strict=True)) | {"English summary": summary}
    return {name: " ".join(re.sub(r"[*$]", "", part).split()) for name, part in found.items()}


def test_every_cell_of_taula_1_is_what_the_text_has(text, figures):
    lines = [cells(line) for line in text[text.index("Resultats del càlcul de") :].splitlines()]
    printed = [line[2:] for line in lines if len(line) == 5 and re.match(r"u\b|u_|p\(", line[1].strip("$"))]
    assert len(printed) == 12
    for number, row in enumerate(printed):
        for age, value in zip(AGES, row, strict=True):
            key = f"taula-1/{GEOGRAPHIES[number // 4]}/{age}/{['u1', 'u2', 'u', 'p'][number % 4]}"
            assert figures.loc[key.lower().replace(" ", "-"), "printed"] == value


def released(text):
    """Section 5's variables, and items of INFRA, as printed: what is said of the codes of each."""
    found, name = {}, ""
    for line in text[text.index("(1) Variables de l'individu") : text.index("REFERÈNCIES METODOL")].splitlines():
        name, *rest = cells(line) or [""]
        if len(rest) == 2 and (name or rest[1]) and name != "VARIABLE" and "---" not in name:
            found[name or rest[0]] = rest[1]
    # Three share one definition, over three lines.
    codes, coding, asked = (found[f"PREG_{number}"] for number in (14, 15, 16))
    assert coding == "Codificació original del qüestionari Cens-91"
    return found | dict.fromkeys(("PREG_14", "PREG_15", "PREG_16"), f"{codes} {asked}")


def test_every_cell_of_section_5_is_what_the_text_has(text, figures):
    said = released(text)
    rows = figures[figures["table"] == "Section 5"]
    dictionary = data_dictionary().set_index("variable")
    assert said.pop("INFRA").startswith("La codificació és directa")
    assert len(said) == len(dictionary)
    for variable in dictionary.itertuples():
        item = variable.Index.startswith("INFRA: ")
        line = said.pop(variable.heading if item else variable.Index)
        printed = rows[rows["row"] == variable.Index].set_index("column")["printed"].to_dict()
        if item:
            codes = {"absolute": "XX"}.get(variable.codes, variable.codes.replace(" ", ""))
            assert line == f"{printed.pop('positions in the string INFRA')} ({codes})"
        elif variable.Index not in ("PREG_17", "PREG_25", "SUPF"):
            assert line.startswith(f"{printed.pop('categories')} estrats / {variable.codes}")
        asked = re.findall(r"\d+", " ".join(re.findall(r"Pregunt(?:a|es) ([\d, i]+)", line)))
        if asked:
            # The three share theirs.
            assert printed.pop("question of the questionnaire") in asked
            assert len(asked) == (3 if "Preguntes" in line else 1)
        for column, before, after in (
            ("years of a band", "Estrats de ", " anys"),
            ("first age of code 13", "13 = ", " o més"),
            ("page of the questionnaire with the codes", "pàgina ", " del"),
            ("digits of a code of the CNAE-74", "(", " dígits)"),
            ("situations that the questionnaire allows", "De les ", " permeses"),
        ):
            if column in printed:
                assert before + printed.pop(column) + after in line
        assert printed in ({}, {"year of the ages": "1995"})
    assert not said
    assert "| PREG_7 | Edat (l'any 1995) |" in text


def test_every_line_of_section_4_4_is_what_the_text_has(sections, figures):
    words = {2: "dos", 3: "tres", 5: "cinc", 10: "deu", 15: "quinze", 20: "vint"}
    names = {
        "birthplace": "Lloc de naixement:",
        "sex": "Sexe:",
        "marital status": "Estat civil:",
        "occupation": "Ocupació o Profesió:",
        "study level": "Nivell d'estudis acabats:",
        "activity": "Relació amb l'activitat:",
    }
    rows = figures[figures["table"] == "Section 4.4"]
    for name, of in rows.groupby("row"):
        printed = of.set_index("column")["printed"]
        if name in names:
            part = sections["4.4"].split(names[name])[1].split(" - ")[0]
            assert f"{words[int(printed['categories'])]} estrats" in part
            assert f"({printed['codes']})" in part
            phrases = {"question of the questionnaire": "la pregunta {} del Cens", "regions that": "en {} Regions"}
            for column, phrase in phrases.items():
                assert all(phrase.format(value) in part for value in printed[printed.index.str.startswith(column)])
    forms = ["(1) {} estrat: Catalunya", "(2) {} estrats: nivell Prov", "(3) {} estrats: distr"]
    forms += ["(1) estrats d'{} any", "13 estrats de {} anys", "(3) estrats de {} anys"]
    ids = [f"section-4-4/residence/level-{n}" for n in (1, 2, 3)]
    ids += [f"section-4-4/age/level-{n}-width" for n in (1, 2, 3)]
    for form, name in zip(forms, ids, strict=True):
        assert form.format(rows.loc[name, "printed"]) in sections["4.4"], name


#: Around what is printed, where it is too short to be found alone.
CONTEXT = {
    "fourth-letter": "- {} El procés de comparació",
    "municipalities": "Municipis > {} habitants",
    "components": "Els {} components",
    "p-intent": "p(\\text{{intent}}) = {};",
    "p-a": "de l'ordre de {} [",
    "p-b": "FM = f = {} ",
    "fraction-4-1": "FM = f = {} ",
    "year-of-ages": "respecte a {}, data d'extracció",
    "comarca": "no supera els {} habitants",
    "about-4": "un FM del {} aproximadament",
    "threshold": "calculat en {} habitants",
    "regions": "s'obtenen {} regions",
    "region-4-3": "la Regió {} (PENEDÈS)",
    "region-4-4": "la Regió {} (Penedès)",
    "age-5": "(2) {0} estrats de 5 anys (1...{0})",
    "age-5-top": "(13 = {} anys i més",
    "age-10": "(3) estrats de 10 anys (1...{})",
    "age-10-top": "(8 = {} anys i més",
    "p-d-elsewhere": "({}, per a una combinació",
    "fraction-4-5": "amb una FM de {}.",
    "census-date": "amb data {}",
    "population": "Població: {} ",
    "inclusion": "Probabilitat teòrica d'inclusió: {} ",
    "n1-5": "Dimensió final de la mostra: {} ",
    "resulting": "Factor de mostreig resultant: {} ",
    "error": "de variància màxima: {} ",
    "summary-levels": "by fixing {} territorial division levels",
}


def test_every_claim_is_what_the_text_has(sections, figures):
    claims = figures.query("table == 'text' and printed != ''")
    for name, claim in claims.set_index(claims.index.str.removeprefix("text/")).iterrows():
        section = {"3.2 and 4.1": "4.1"}.get(claim["row"], claim["row"])
        assert CONTEXT.get(name, "{}").format(claim["printed"]) in sections[section], name


def test_the_key_of_section_4_5_is_that_of_section_4_2(sections):
    named = (
        "lloc residència | edat | lloc naixement | sexe | estat civil | professió | nivell estudis acabats | relació"
    )
    assert named in sections["4.5"]
    assert data_dictionary()["in_key"].sum() == len(named.split(" | "))


def test_verdicts(whole):
    verdicts = whole.figures["verdict"].value_counts().to_dict()
    assert verdicts == {
        "exact": 160,
        "not-in-text": 24,
        "in-part": 5,
        "published-error": 3,
        "within-noise": 1,
        "approximate": 1,
    }
    assert whole.rows_off.empty


def test_what_contradicts_the_study(figures):
    found = figures[figures["verdict"] == "published-error"]
    assert set(found.index) == {*CONTRADICTIONS}
    for name, value in CONTRADICTIONS.items():
        row = found.loc[name]
        assert row["reason"]
        assert (row["computed_text"] == value) if isinstance(value, str) else (row["computed"] == pytest.approx(value))


def test_bands_of_five_and_of_ten_years_are_judged_alike(figures):
    """Garín i Ramírez (1996), section 4.4: ages from 4 on, codes from 1, tops 65 and 80: one code fewer than bands."""
    for name, width, top, named in (("age-5", 5, 65, 13), ("age-10", 10, 80, 8)):
        row = figures.loc[f"text/{name}"]
        needed = len({min(age // width, top // width) for age in range(4, 120)})
        assert (row["published"], row["computed"]) == (named, needed) == (named, named + 1)
        assert (row["verdict"], row["kind"]) == ("in-part", "recomputed")
        assert f"if a first band {width}-{2 * width - 1} takes in the youngest" in row["reason"]
    assert figures.loc["section-5/preg-7/categories", ["computed", "verdict"]].tolist() == [14, "in-part"]


def test_what_holds_in_part(figures):
    found = figures[figures["verdict"] == "in-part"]
    age = ["section-5/preg-7/categories", "text/age-10", "text/age-5"]
    assert sorted(found.index) == [*age, "text/disclosure", "text/interplay"]
    assert "14 of the 14 classes of two or more" in figures.loc["text/disclosure", "reason"]


def test_kinds_of_figures(figures):
    table = figures[figures["table"] == "Taula 1"]
    assert (table["verdict"] == "exact").all()
    p = table["unit"] == "per cent"
    assert (table.loc[~p, ["kind", "reason"]] == ["input", "input: compared with itself"]).all(axis=None)
    assert (table.loc[p, "kind"] == "fitted").all()
    assert table.loc[p, "reason"].str.contains("cut, not rounded").all()
    assert figures["kind"].value_counts().to_dict() == {
        "copied": 90,
        "recomputed": 39,
        "input": 29,
        "unchecked": 24,
        "fitted": 12,
    }
    copied = figures[figures["kind"] == "copied"].drop("text/fourth-letter")
    assert copied["reason"].str.startswith("copied").all()


def test_the_fraction_of_the_conclusion_lies_among_those_that_explain_taula_1(figures):
    row = figures.loc["text/fraction-4-5"]
    assert (row["verdict"], row["kind"]) == ("approximate", "fitted")
    edges = [row["computed"] + sign * row["tolerance"] for sign in (-1, 1)]
    assert edges == pytest.approx(list(fraction_range(decimals=4)))
    assert [explained(Fraction(f), "cut", 4) for f in (edges[0] - 1e-9, edges[0] + 1e-9, edges[1] - 1e-9)] == [8, 9, 9]


def test_a_bernoulli_sample_is_a_simple_random_one_given_its_size():
    """What section 5 calls both: every sample of 2 out of 5 is as likely as any other."""
    f, sizes = Fraction(1, 3), {}
    for drawn in product((0, 1), repeat=5):
        chance = f ** sum(drawn) * (1 - f) ** (5 - sum(drawn))
        sizes.setdefault(sum(drawn), set()).add(chance)
    assert all(len(chances) == 1 for chances in sizes.values())


def test_growth_is_more_than_chance(figures):
    """Sections 4.5.1b and the summary, by hand: p has the square of u/u2, and of u2 uniques u are drawn."""
    (_, u2, u, _), (_, v2, v, _) = TAULA_1[0], TAULA_1[3]
    spread = sqrt(4 * (1 / u - 1 / u2) + 4 * (1 / v - 1 / v2))
    times = exact_p(1)[3] / exact_p(1)[0]
    assert f"by {log(times) / spread:.0f} and" in figures.loc["text/first-step", "reason"]
    assert "at least 20 standard deviations" in figures.loc["text/summary-influential", "reason"]


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
    # Growth in per cent for each area added does fall; but so it does where p is the square of the number of areas.
    by_area = [100 * found[f"{name}_growth_per_area"].round(2) for name in ("first", "second")]
    assert [each.tolist() for each in by_area] == [pytest.approx([47, 61, 61]), pytest.approx([20, 23, 21])]
    square = [area**2 for area in (1, 4, 14)]
    assert (square[2] / square[1] - 1) / 10 < (square[1] / square[0] - 1) / 3 / 4
    assert "47-61% to 20-23%" in figures.loc["text/second-step", "reason"]
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
        assert found.loc[name, "needed_from_5"] == len({min(age // width, last) for age in ages[1:]})
    assert found["nameless"].tolist() == ["4", "4-9"]
    assert found["needed_from_5"].tolist() == [13, 9]
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
    figures = published_figures(SOURCE).query("table == 'Section 5' and column == 'categories'")
    figures = figures.set_index("row")["published"]
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
    some = published_figures(SOURCE).query("table == 'Section 4.4' and column == 'categories'")
    assert recompute(some)["computed"].tolist() == [3, 2, 5, 20, 15, 10]
    assert recompute(some.iloc[:0]).empty


def test_a_population_does_not_concern_the_study():
    with pytest.raises(OptionError, match="garin-1996 is recomputed from its own tables"):
        audit(SOURCE, pd.DataFrame())


@pytest.mark.parametrize("source", ["aepd", SOURCE])
def test_every_figure_is_explained(source):
    for figure_id in published_figures(source)["figure_id"]:
        said = explanation(figure_id)
        module, _, name = said["code"].rpartition(".")
        assert hasattr(import_module(module), name), figure_id
        assert (ROOT / "book" / f"{said['chapter']}.md").is_file(), figure_id


def test_the_command(capsys):
    assert run(["audit", "--source", SOURCE, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert len(result["figures"]) == len(published_figures(SOURCE))
    found = {(f["table"], f["row"], f["column"]): f for f in result["figures"]}
    assert found["Taula 1", "14 regions", "5 years, p"]["computed"] == 0.0636
    assert found["text", "4.1", "sampling fraction f"]["computed"] == pytest.approx(N1 / N)
    assert run(["audit", "--source", SOURCE, "--strict"]) == 1
    out = capsys.readouterr().out
    assert "printed 0,02%, computed 0.1976 (published-error)" in out
    assert "3 of 194 figures ask for attention" in out
