"""The embedded population spain-2010 and the facts it is made from: margins, printed figures, same bytes again."""

import importlib.util
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kanon_book.studies import compare_cells, one_person_transfers, printed_row, printed_table, reconstruct_cells
from kanon_book.studies.gil_bellosta import PLACES
from kanon_lab.data import PROVINCES, load_counts, national_totals, read_counts
from kanon_lab.files import csv_gz

ROOT = Path(__file__).resolve().parents[2]
EMBEDDED = ROOT / "kanon_lab" / "data" / "embedded"


def script(name):
    """A generator of scripts/ as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


make_spain_2010 = script("make_spain_2010")


@pytest.fixture(scope="module")
def figures():
    return pd.read_csv(make_spain_2010.FIGURES, dtype=str)


@pytest.fixture(scope="module")
def counts():
    return load_counts("spain-2010")


@pytest.fixture(scope="module")
def pyramid():
    return pd.read_csv(EMBEDDED / "spain-2010-pyramid.csv.gz")


@pytest.fixture(scope="module")
def benalmadena(shared):
    real = read_counts(shared("ine-padron-33570-malaga.px"), year=2010, pool_from=85)
    return real.loc[real["place"] == "29025", "persons"].to_numpy()


def cells_of(counts, place):
    return counts.loc[counts["place"] == place, "persons"].to_numpy()


class TestMargins:
    def test_national_totals_by_sex_and_age_are_exact(self, counts, pyramid):
        sums = counts.groupby(["sex", "age_group"], sort=False)["persons"].sum()
        assert len(sums) == 36
        assert sums.reset_index().astype({"persons": "int64"}).to_dict("list") == pyramid.to_dict("list")

    def test_municipalities_by_province_and_size_class_are_exact(self, counts):
        classes = pd.read_csv(EMBEDDED / "spain-2010-municipalities.csv.gz", dtype={"province": str})
        sizes = counts.groupby(["province", "place"])["persons"].sum()
        bounds = np.unique(classes["size_from"])
        size_from = bounds[np.searchsorted(bounds, sizes, side="right") - 1]
        made = sizes.groupby([sizes.index.get_level_values("province"), size_from]).agg(["size", "sum"])
        expected = classes.set_index(["province", "size_from"])
        assert made.index.tolist() == expected.index.tolist()
        assert (made.to_numpy() == expected.to_numpy()).all()
        assert expected["municipalities"].sum() == 8114
        assert set(classes["province"]) == set(PROVINCES)

    def test_codes_and_kinds(self, counts):
        places = counts.drop_duplicates("place")
        reconstructed = places[places["kind"] == "reconstructed"]
        synthetic = places[places["kind"] == "synthetic"]
        assert dict(zip(reconstructed["name"], reconstructed["place"])) == PLACES
        assert len(synthetic) == 8094
        assert synthetic["place"].str.fullmatch(r"\d\dS\d{3}").all()
        assert synthetic["name"].str.startswith("Synthetic municipality").all()
        assert len(counts) == 36 * 8114

    def test_all_embedded_files_are_small(self):
        assert sum(path.stat().st_size for path in EMBEDDED.iterdir()) < 1_200_000


class TestPublished:
    def test_all_540_bounded_figures_of_cuadros_2_to_4_are_as_printed(self, counts, figures):
        for name, place in PLACES.items():
            printed, total = printed_row(figures, name)
            cells = cells_of(counts, place)
            assert cells.sum() == total
            assert printed_table(cells).tolist() == printed.tolist(), name

    def test_cuadro_1_within_a_tenth_of_a_percentage_point(self, counts, figures):
        differences = make_spain_2010.cuadro_1_differences(counts["persons"].to_numpy(), figures)
        assert len(differences) == 27
        assert differences.abs().max() < 0.10


class TestReal:
    def test_real_benalmadena_gives_the_printed_table(self, benalmadena, figures):
        printed, total = printed_row(figures, "Benalmádena")
        assert benalmadena.sum() == total
        assert printed_table(benalmadena).tolist() == printed.tolist()

    def test_reconstructed_benalmadena_has_nearly_the_real_sizes(self, benalmadena, counts):
        compared = compare_cells(cells_of(counts, "29025"), benalmadena)
        assert compared["difference"].abs().sum() / 2 < 0.02 * benalmadena.sum()

    def test_labels_are_assigned_and_not_recovered(self, benalmadena, counts):
        sorted_apart = compare_cells(cells_of(counts, "29025"), benalmadena)["difference"].abs().sum()
        assert np.abs(cells_of(counts, "29025") - benalmadena).sum() > 2 * sorted_apart

    def test_transfers_that_the_table_of_benalmadena_keeps_silent_on(self, benalmadena):
        transfers = one_person_transfers(benalmadena)
        assert len(transfers) == 36 * 35
        assert 0 < (transfers["figures_changed"] == 0).sum() < len(transfers) / 2

    def test_codes_and_totals_of_the_named_municipalities_are_ines(self, shared, counts):
        xlrd = pytest.importorskip("xlrd", reason="needs xlrd to read INE's spreadsheet")
        sheet = xlrd.open_workbook(shared("ine-pobmun10.xls")).sheet_by_index(0)
        rows = [sheet.row_values(row) for row in range(2, sheet.nrows)]
        official = {row[0] + row[2]: int(row[4]) for row in rows}
        for place in PLACES.values():
            assert cells_of(counts, place).sum() == official[place]

    def test_malaga_is_ines_table(self, shared):
        real = read_counts(shared("ine-padron-33570-malaga.px"), year=2010)
        embedded = load_counts("malaga-2010", pool_from=None)
        cell = ["place", "name", "sex", "age_group"]
        assert embedded.set_index(cell)["persons"].to_dict() == real.set_index(cell)["persons"].to_dict()

    def test_the_oldest_are_those_of_the_pyramid(self, pyramid):
        oldest = pd.read_csv(EMBEDDED / "spain-oldest.csv.gz").query("year == 2010")
        sums = oldest.groupby("sex")["persons"].sum()
        assert sums.to_dict() == pyramid[pyramid["age_group"] == "85+"].set_index("sex")["persons"].to_dict()

    def test_names_of_municipalities_in_ines_list(self, shared):
        """The study's 8,110 are neither all 8,114 nor those of one name taken together."""
        xlrd = pytest.importorskip("xlrd", reason="needs xlrd to read INE's spreadsheet")
        sheet = xlrd.open_workbook(shared("ine-pobmun10.xls")).sheet_by_index(0)
        names = [sheet.cell_value(row, 3).strip() for row in range(2, sheet.nrows)]
        assert len(names) == 8114
        stated = re.search(r"distinct_names = (\d+)", (ROOT / "notebooks" / "spain.ipynb").read_text("utf-8"))[1]
        assert len(set(names)) == int(stated) == 8097

    def test_pyramid_is_the_nations(self, shared, pyramid):
        nation = national_totals(shared("ine-padron-33570-malaga.px"), 2010, pool_from=85)
        assert nation.to_dict("list") == pyramid.to_dict("list")


class TestSameBytes:
    def test_synthetic_rest_from_the_reconstructed_twenty(self, counts, pyramid):
        cells = [cells_of(counts, place) for place in PLACES.values()]
        named = pd.DataFrame({"place": PLACES.values(), "name": PLACES.keys()})
        named = named.assign(kind="reconstructed", cells=cells)
        rest = make_spain_2010.synthetic(named, pyramid["persons"].to_numpy())
        table = make_spain_2010.one_row_each([named, rest], pyramid)
        assert csv_gz(table) == make_spain_2010.OUTPUT.read_bytes()

    @pytest.mark.parametrize("name", ["Talavera de la Reina", "Pozo Alcón", "Selva", "Torre la Ribera"])
    def test_quick_reconstructions(self, name, counts, figures, pyramid):
        printed, total = printed_row(figures, name)
        result = reconstruct_cells(
            printed, total, pyramid=pyramid["persons"].to_numpy(), seed=make_spain_2010.SEED, max_rounds=300
        )
        assert result.cells.tolist() == sorted(cells_of(counts, PLACES[name]))

    def test_facts(self, shared):
        shared("ine-padron-33570-malaga.px")
        pytest.importorskip("xlrd", reason="needs xlrd to read INE's spreadsheet")
        make_facts = script("make_facts")
        for name, table in make_facts.facts().items():
            assert csv_gz(table) == (EMBEDDED / name).read_bytes(), name

    @pytest.mark.slow
    def test_everything_again(self, figures, pyramid):
        persons = pyramid["persons"].to_numpy()
        named = make_spain_2010.reconstructed(figures, persons)
        table = make_spain_2010.one_row_each([named, make_spain_2010.synthetic(named, persons)], pyramid)
        assert csv_gz(table) == make_spain_2010.OUTPUT.read_bytes()
