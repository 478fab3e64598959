"""Gil Bellosta (2011): transcription against the text, facts against INE's files, half-widths, simplifications."""

import re
from itertools import product

import numpy as np
import pandas as pd
import pytest
import xlrd
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from kanon_book.studies import audit, gil_bellosta, published_figures
from kanon_book.studies.gil_bellosta import (
    CUADROS,
    PLACES,
    always_zero,
    assumptions,
    crossing,
)
from kanon_lab.data import load_counts, national_totals, read_counts
from kanon_lab.population import KRange, persons_by_k

pytestmark = pytest.mark.usefixtures("audited_once")

SOURCE = "gil-bellosta-2011"
TEXT = f"{SOURCE}.txt"
#: Formulas are printed as such, and what the words of a row say is not always one run of words.
IN_OTHER_WORDS = {
    "figure-number": "el gráfico 3 ilustra",
    "us-zip-census": "censo estadounidense de 1990",
    "us-place-census": "censo de 2000",
    "register-year": "padrón municipal de 2010",
    "last-age-group": "los mayores de 85 años",
    "ages-capped": "no excede los 90 años",
    "equal-lengths": "Tampoco debieran alterarlos demasiado",
    "formula-1": r"f_k(n) = \binom{n}{k} N^{1-n} (N-1)^{n-k}",
    "formula-unequal": r"f_k(n) = \sum_i \binom{n}{k} p_i^k (1 - p_i)^{n-k}",
    "formula-binomial": r"N \binom{n}{k} (1/N)^k (1 - 1/N)^{n-k}.",
    "formula-municipality": r"k \sum_{ij} \binom{n_{ij}}{k} N^{1-n_{ij}} (N - 1)^{n_{ij}-k}",
    "formula-persons": r"k f_k(n) = k \binom{n}{k} N^{1-n} (N - 1)^{n-k}",
    "births-even": "la distribución de los nacimientos a lo largo de año no es uniforme (véanse, por ejemplo, [4] y "
    "[1]) y de que existen personas de más de 90 años de edad, no se espera",
    "ages-above-90": "no se espera que estas simplificaciones desdibujen significativamente los resultados",
    "confidence": "intervalo de confianza al 95 %",
    "narrow": "dichos intervalos de confianza (véase el cuadro 1) son sumamente estrechos",
    "no-variance": "no permite medir la varianza",
    "other-proof": "Esta demostración, distinta de la que se ofrece en [2]",
    "banker": "banquero estadounidense",
    "municipalities": "los 8110 municipios españoles",
}


@pytest.fixture(scope="module")
def figures():
    return published_figures(SOURCE)


@pytest.fixture(scope="module")
def audited():
    return audit(SOURCE).figures.set_index("figure_id")


@pytest.fixture(scope="module")
def claims(audited):
    here = audited[audited["table"] == "text"]
    return here.set_index(here.index.str.rpartition("/").get_level_values(2))


@pytest.fixture(scope="module")
def found():
    return gil_bellosta.half_widths()


@pytest.fixture(scope="module")
def ways(found):
    return gil_bellosta.printings(found)


def printed_cuadro_1(text):
    """Row, and its nine figures, of Cuadro 1, out of the text."""
    lines = text[text.index("k\tdía-mes-año") : text.index("Cuadro 1:")].splitlines()
    return {cells[0]: cells[1:] for line in lines if len(cells := line.split("\t")) == 10 and cells[1][0].isdigit()}


def printed_cuadros(text):
    """Municipality, and its eleven figures, of the three tables of municipalities, in their order."""
    rows = [line.split("\t") for line in text.splitlines() if line.count("\t") == 11]
    return [(cells[0], cells[1:]) for cells in rows if cells[0] not in ("", "municipio")]


class TestAgainstTheText:
    def test_cuadro_1_cell_by_cell(self, source_text, figures):
        printed = printed_cuadro_1(source_text(TEXT))
        columns = [f"{dates} {kind}" for dates in ("day", "month", "year") for kind in "%n±"]
        cells = {
            (row, column): cell for row, line in printed.items() for column, cell in zip(columns, line, strict=True)
        }
        ours = figures[figures["table"] == "Cuadro 1"].set_index(["row", "column"])["printed"].to_dict()
        assert len(cells) == 81
        assert ours == cells

    def test_cuadros_2_to_4_cell_by_cell(self, source_text, figures):
        printed = printed_cuadros(source_text(TEXT))
        assert len(printed) == 60
        columns = ["1", "2", "3", "4", "5", "10", "20", "50", "100", ">100", "total"]
        cells = {
            (list(CUADROS)[i // 20], place, column): cell
            for i, (place, line) in enumerate(printed)
            for column, cell in zip(columns, line, strict=True)
        }
        ours = figures[figures["table"].isin(CUADROS)].set_index(["table", "row", "column"])["printed"].to_dict()
        assert len(cells) == 660
        assert ours == cells

    def test_statements_stand_in_the_text(self, source_text, figures):
        text = re.sub(r"\s+", " ", source_text(TEXT))
        absent = []
        for figure in figures[figures["table"] == "text"].itertuples():
            name = figure.figure_id.rpartition("/")[2]
            said = IN_OTHER_WORDS.get(name, "")
            whole = re.search(rf"(?<![\w,.]){re.escape(figure.printed)}(?![\w]|[,.]\d)", said or text, re.IGNORECASE)
            if said not in text or not (whole or figure.unit == "formula"):
                absent.append(figure.figure_id)
        assert absent == []

    def test_every_number_of_the_running_text_has_a_row_or_is_named_here(self, source_text, figures):
        """A fresh reading: no number of sections 1 to 4 is without a row but those left out on purpose."""
        text = source_text(TEXT)
        body = text[text.index("Resumen") : text.index("Referencias")]
        body = body.replace(body[body.index("k\tdía-mes-año") : body.index("Cuadro 1:")], "")
        body = re.sub(r"\$\$?.*?\$\$?|\[\d+\]|\d+-anonimidad|\d+-anónim\w+|agosto de 1960", " ", body, flags=re.DOTALL)
        numbers = {n.strip(".,") for n in re.findall(r"\d[\d.,]*", body)}
        ours = set(figures.loc[figures["table"] == "text", "printed"]) | {"20"}
        # Headings and cross-references; the bounds of the first groups of age; the day of the man of Ólvega; the
        # shares of the two thresholds; what the formulas have.
        named = {"1", "2", "3", "4", "0", "5", "9", "80"}
        assert numbers - ours - named == set()


class TestFactsOfINE:
    def test_totals_are_those_of_the_list(self, shared):
        sheet = xlrd.open_workbook(shared("ine-pobmun10.xls")).sheet_by_index(0)
        rows = [sheet.row_values(i) for i in range(2, sheet.nrows)]
        listed = {f"{int(r[0]):02d}{int(r[2]):03d}": int(r[4]) for r in rows if str(r[0]).strip()}
        assert gil_bellosta.totals().to_dict() == {code: listed[code] for code in PLACES.values()}
        assert gil_bellosta.population() == sum(listed.values()) == 47_021_031
        cities = sum(code[:2] in ("51", "52") for code in listed)
        assert gil_bellosta.municipalities() == (len(listed), len(listed) - cities) == (8114, 8112)

    def test_ages_are_those_of_table_33570(self, shared):
        path = shared("ine-padron-33570-malaga.px")
        cell = ["sex", "age_group"]
        nation = national_totals(path, 2010).set_index(cell)["persons"]
        assert gil_bellosta.oldest().to_dict() == nation[gil_bellosta.oldest().index].to_dict()
        for pool_from in (None, 85):
            by_place = read_counts(path, year=2010, pool_from=pool_from).set_index(["place", *cell])["persons"]
            assert (
                gil_bellosta.real_place(gil_bellosta.BENALMADENA, pool_from).to_dict()
                == by_place[gil_bellosta.BENALMADENA].to_dict()
            )
        assert gil_bellosta.national_cells().sum() == nation.sum()

    def test_where_the_ages_of_each_real_place_cross_the_two_lines(self, shared, claims):
        counts = read_counts(shared("ine-padron-33570-malaga.px"), year=2010, pool_from=85)
        parts = {name: part.to_numpy() for name, part in counts.groupby("name")["persons"]}
        found = {name: cells.tolist() for name, cells in gil_bellosta.real_places().items()}
        assert found == {name: cells.tolist() for name, cells in parts.items() if cells.sum() >= 1000}
        for claim, share, name in (("over-100000", 0.2, "Alhaurín de la Torre"), ("under-10000", 0.8, "Cártama")):
            sizes = pd.Series({place: crossing(np.array(cells), share) for place, cells in found.items()})
            assert sizes.idxmin() == name
            assert f"at {sizes.min():,.0f} ({name})" in claims.loc[claim, "reason"]
            assert f"{sizes.max():,.0f} ({sizes.idxmax()})" in claims.loc[claim, "reason"]

    def test_the_two_lines_hold_in_every_real_municipality(self, shared):
        """Over 80 per cent under 10,000 inhabitants, and none up to 100,000 below 20, in the 103 of Málaga."""
        counts = read_counts(shared("ine-padron-33570-malaga.px"), year=2010, pool_from=85)
        n = counts["persons"]
        alone = (n * (1 - 1 / 1826) ** (n - 1).clip(lower=0)).groupby(counts["place"]).sum()
        size = n.groupby(counts["place"]).sum()
        share = (alone / size)[size > 0]
        assert (share[size < 10_000] > 0.8).all()
        assert share[size < 10_000].min() == pytest.approx(0.852, abs=0.0005)
        assert (share[size <= 100_000] > 0.2).all()
        assert (share[size > 100_000] < 0.2).all()


class TestKindsAndVerdicts:
    def test_totals_and_benalmadena_are_confirmed_by_ine(self, audited):
        totals = audited[audited["column"] == "total"]
        assert len(totals) == 60
        here = audited[(audited["row"] == "Benalmádena") & audited["table"].isin(CUADROS)]
        assert len(here) == 33
        for part in (totals, here):
            assert set(part["verdict"]) == {"exact"}
        assert set(totals["kind"]) == {"recomputed"}
        # Cuadro 2: both rules give its 0. Cuadros 3 and 4: one of them does.
        assert here.loc[here["kind"] == "fitted", ["table", "column"]].to_numpy().tolist() == [
            ["Cuadro 3", ">100"],
            ["Cuadro 4", ">100"],
        ]

    def test_what_is_left_as_fitted(self, audited):
        fitted = audited[audited["kind"] == "fitted"]
        assert fitted["table"].value_counts().to_dict() == {
            "Cuadro 2": 156,
            "Cuadro 3": 179,
            "Cuadro 4": 176,
            "Cuadro 1": 27,
            "text": 5,
        }

    def test_an_open_cell_is_the_remainder_or_the_expectation(self, audited, figures):
        opened = audited[(audited["column"] == ">100")]
        assert (opened["verdict"] == "exact").all()
        assert (opened["reason"] != "").all()
        # Where the others leave a person too few, of the total, no person is left.
        clipped = opened[opened["row"].isin(["Zaragoza", "Bilbao", "Gijón"]) & (opened["table"] == "Cuadro 2")]
        assert clipped["reason"].str.contains("here -1 and so 0").all()
        assert not opened["reason"].str.contains("no ages").any()
        other = opened[opened["reason"].str.startswith("the expected persons")]
        assert (other["printed"] == "0").all()
        # FINDINGS: ten rows in which it is not the total minus the rest.
        wide = figures[figures["table"].isin(CUADROS)].pivot(
            index=["table", "row"], columns="column", values="published"
        )
        left = wide["total"] - wide.drop(columns=["total", ">100"]).sum(axis=1)
        rest = left.clip(lower=0)
        rows = [tuple(row) for row in other[["table", "row"]].to_numpy()]
        assert (rest != wide[">100"]).sum() == 10
        assert set(rest[rest != wide[">100"]].index) == set(rows)
        # It is what is left in 39 rows; in 11 the others leave -1 to -4, and 0 is printed.
        assert (left == wide[">100"]).sum() == 39
        below = left < 0
        assert (below.sum(), left[below].max(), left[below].min()) == (11, -1, -4)
        assert (wide.loc[below, ">100"] == 0).all()

    def test_an_open_cell_whose_rule_is_told_by_the_cell_is_fitted(self, audited, figures):
        """36 cells come out by either rule; of 24 the printed cell tells which of the two is taken."""
        opened = audited[audited["column"] == ">100"]
        assert opened["kind"].value_counts().to_dict() == {"recomputed": 36, "fitted": 24}
        both = opened["reason"].str.startswith("both rules give it")
        assert (both == (opened["kind"] == "recomputed")).all()
        # FINDINGS: what "total minus the rest" gives where the explanation was that no ages give another figure.
        for place, rest in {("Cuadro 2", "Talavera de la Reina"): 2, ("Cuadro 3", "Zalamea de la Serena"): 2}.items():
            (row,) = opened[(opened["table"] == place[0]) & (opened["row"] == place[1])].itertuples()
            assert (row.kind, f"here {rest}:" in row.reason) == ("fitted", True)

    def test_half_widths_are_judged_as_cut(self, audited):
        rows = audited[audited["column"].str.endswith("±")]
        cut = np.floor(rows["computed"] * 100 + 1e-9) / 100
        assert ((rows["verdict"] == "exact") == np.isclose(cut, rows["published"])).all()
        assert (rows["verdict"] == "exact").sum() == 13
        assert set(rows["verdict"]) == {"exact", "within-noise"}

    def test_counts_of_cuadro_1_follow_from_percentages(self, audited):
        rows = audited[audited["table"].eq("Cuadro 1") & audited["column"].str.endswith(" n")]
        assert set(rows["kind"]) == {"recomputed"}
        assert rows["reason"].str.contains("one number in two units").all()
        half = 0.00005 * 4702.1  # half a hundredth of a per cent of 47 million, in ten thousands
        assert ((rows["computed"] - rows["published"]).abs() <= half + 0.5).all()

    def test_errors_and_disagreements_of_the_study(self, audited):
        attention = audited[audited["verdict"].isin(["published-error", "disagrees"])]
        assert attention["verdict"].to_dict() == {
            f"{SOURCE}/text/municipalities": "disagrees",
            f"{SOURCE}/text/figure-number": "published-error",
        }

    def test_claims_say_what_they_were_set_against(self, claims):
        assert claims.loc["last-age-group", "reason"].startswith("printed cells of Benalmádena")
        assert claims.loc[["last-age-group", "ages-capped"], "computed"].tolist() == [85, 90]
        assert claims.loc["confidence", "computed"] == pytest.approx(95, abs=0.1)
        assert claims.loc["under-10000", "verdict"] == "exact"
        assert (
            "the 81 places of Málaga of fewer than 10,000 have 85.2% alone or more"
            in claims.loc["under-10000", "reason"]
        )
        assert claims.loc["over-100000", "verdict"] == "approximate"
        # Golle (2006) is known by its abstract only: which census its share by place is from was not read.
        assert claims.loc["us-place-census", ["verdict", "kind"]].tolist() == ["not-in-text", "unchecked"]
        assert claims.loc["no-variance", "verdict"] == "in-part"
        assert set(claims.loc[["banker", "other-proof"], "kind"]) == {"unchecked"}
        # Sweeney (2000), abstract: 216 and 132 of 248 million.
        assert claims.loc[["us-zip", "us-place"], "computed"].tolist() == pytest.approx([87.1, 53.2], abs=0.05)


class TestZeroWhateverTheAges:
    @given(
        total=st.integers(1, 60),
        periods=st.integers(2, 40),
        first=st.integers(1, 8),
        length=st.integers(0, 3),
        data=st.data(),
    )
    def test_no_division_into_cells_gives_another_figure(self, total, periods, first, length, data):
        k_range = KRange(first, first + length)
        if not always_zero(total, periods, k_range):
            return
        cuts = sorted(data.draw(st.lists(st.integers(0, total), max_size=5)))
        cells = np.diff([0, *cuts, total])
        by_k = persons_by_k(cells, periods, total).sum(axis=0)
        assert (np.rint(by_k[first - 1 : first + length]) == 0).all()

    def test_the_open_range_may_hold_what_rounding_leaves(self):
        """Gil Bellosta (2011), Cuadro 2, Siero: 51,730 inhabitants, none expected above 100, and 1 is printed."""
        assert not always_zero(51_730, 1826, KRange(101, None))

    def test_the_worst_cell_is_found(self):
        for total, periods, k in product((5, 30, 90), (3, 10), (1, 2, 5)):
            sizes = np.arange(1, total + 1)
            worst = (total * persons_by_k(sizes, periods, k, k)[:, 0] / sizes).max()
            assert always_zero(total, periods, KRange(k, k)) == (worst < 0.5)


class TestHalfWidths:
    def test_cut_is_likelier_than_rounded(self, ways):
        table = ways
        assert table["equal"].tolist()[:2] == [13, 7]
        assert table.loc["cut", "bias"] == pytest.approx(-0.002, abs=0.001)
        assert table.loc["rounded", "bias"] == pytest.approx(-0.017, abs=0.001)
        # Each with its own number of runs; the rounded ones need a factor of their own to come near.
        assert 300 < table.loc["cut", "likelihood"] < 450
        assert 1 < table["likelihood"].iloc[2] < table.loc["cut", "likelihood"] / 10
        # R's default quantiles lie too far inward, which favours rounding: 70 to 85.
        assert 70 < table.loc["cut", "likelihood, quantiles"] < 85

    def test_the_number_of_runs_has_an_interval(self, ways):
        cut = ways.loc["cut"]
        for how in gil_bellosta.RUNS:
            assert cut[f"runs, {how}, low"] < cut[f"runs, {how}"] < cut[f"runs, {how}, high"]
        assert cut["runs, standard deviation"] == pytest.approx(900, rel=0.05)
        assert cut["runs, quantiles"] == pytest.approx(1630, rel=0.05)

    @pytest.mark.parametrize("how", gil_bellosta.RUNS)
    def test_the_standard_error_of_a_simulated_half_width(self, how):
        rng, runs, repeats = np.random.default_rng(5), 1000, 3000
        draws = rng.standard_normal((repeats, runs))
        if how == "quantiles":
            found = np.diff(np.quantile(draws, [0.025, 0.975], axis=1), axis=0)[0] / 2
        else:
            found = norm.ppf(0.975) * draws.std(axis=1, ddof=1)
        assert found.std() / norm.ppf(0.975) == pytest.approx(gil_bellosta.RUNS[how] / np.sqrt(runs), rel=0.06)

    def test_how_far_inward_the_default_quantiles_lie(self):
        rng, runs = np.random.default_rng(6), 400
        draws = np.concatenate([rng.standard_normal((4000, runs)) for _ in range(4)])
        found = np.diff(np.quantile(draws, [0.025, 0.975], axis=1), axis=0)[0] / 2
        short = 1 - found.mean() / norm.ppf(0.975)
        assert short * runs == pytest.approx(gil_bellosta._INWARD, rel=0.1)

    @pytest.mark.parametrize("printing", gil_bellosta.PRINTINGS)
    def test_runs_and_printing_are_found_again(self, printing):
        """Printed half-widths that were drawn with 900 runs, cut or rounded: the way they were printed is likelier."""
        rng = np.random.default_rng(11)
        true = np.tile(np.geomspace(0.06, 1.0, 20), 5)
        drawn = true * (1 + rng.standard_normal(true.size) * gil_bellosta.RUNS["standard deviation"] / 30)
        ways = {"cut": np.floor(drawn * 100) / 100, "rounded": np.round(drawn, 2)}
        table = gil_bellosta.printings(pd.DataFrame({"printed": ways[printing], "computed": true}))
        assert table.loc[list(ways), "log_likelihood"].astype(float).idxmax() == printing
        row = table.loc[printing]
        assert row["runs, standard deviation, low"] < 900 < row["runs, standard deviation, high"]

    def test_a_figure_is_not_judged_by_itself(self, found):
        """A half-width far off widens the bound of the others, not its own."""
        nation = found.copy()
        nation.loc[("day", "1"), "printed"] = 0.70
        others = [gil_bellosta._bound(nation.drop(index=row)) for row in [("day", "1"), ("day", "2")]]
        before = [gil_bellosta._bound(found.drop(index=row)) for row in [("day", "1"), ("day", "2")]]
        assert others[0] == before[0]
        assert others[1] > 1.5 * before[1]


class TestSimplifications:
    def test_the_open_age_group_hides_people(self):
        """REVIEW: 105,600 by day, 94,000 by month, 30,200 by year; 31,700 fewer with a weekend dip."""
        table = assumptions()
        change = table["change"].round(-2)
        old, weekend = change.loc["those over 85 have their real ages"], change.filter(like="Saturdays")
        assert old.to_dict() == {"day": 105_600, "month": 94_000, "year": 30_200}
        assert weekend.tolist() == [-31_700]
        assert (table["half_widths"].abs().loc[["months have their real lengths"]] < 1).all()

    def test_the_split_is_the_mean_over_all_ways_to_split(self):
        """Two persons over 85 of a cell: alone unless in the same group and on the same date."""
        counts = load_counts("spain-2010").query("place == '22233'")
        counts = counts.assign(persons=np.where((counts["age_group"] == "85+") & (counts["sex"] == "men"), 2, 0))
        shares = gil_bellosta.oldest()["men"] / gil_bellosta.oldest()["men"].sum()
        expected = 2 * (1 - (shares**2).sum() / 5) - 2 * (1 - 1 / 5)
        assert gil_bellosta._change(counts, "those over 85 have their real ages", "year") == pytest.approx(expected)
