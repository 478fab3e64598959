"""PC-Axis: INE's two layouts read right, and every fault told in one line."""

import gzip

import pytest
from px_files import PLACES, YEARS, person_rows, px_text

from kanon_lab.data import national_totals, read_counts
from kanon_lab.errors import DataError, OptionError


@pytest.fixture
def write(tmp_path):
    def _write(text: str, encoding: str = "iso-8859-15"):
        path = tmp_path / "counts.px"
        path.write_bytes(text.encode(encoding))
        return path

    return _write


def fault_of(path, year=2010, error=DataError):
    with pytest.raises(error) as caught:
        read_counts(path, year=year)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    return message.removeprefix(str(path))


# Cuadro 2 of Gil Bellosta (2011) prints this total; the file is INE table 33570.
def test_benalmadena_2010_has_the_total_of_cuadro_2(shared):
    counts = read_counts(shared("ine-padron-33570-malaga.px"), year=2010, pool_from=85)
    here = counts[counts["place"] == "29025"]
    assert here["persons"].sum() == 61383
    assert len(here) == 36
    assert set(here["name"]) == {"Benalmádena"}
    assert set(here["province"]) == {"29"}
    assert list(here["age_group"].unique()[[0, 1, 17]]) == ["0-4", "5-9", "85+"]


# INE's official figure for Spain on 1 January 2010, Real Decreto 1612/2010.
def test_national_totals_of_2010_are_the_official_population(shared):
    nation = national_totals(shared("ine-padron-33570-malaga.px"), 2010, pool_from=85)
    assert nation["persons"].sum() == 47_021_031
    assert len(nation) == 36
    assert list(nation.columns) == ["sex", "age_group", "persons"]


def test_a_municipality_is_absent_from_the_years_before_it_was_founded(shared):
    path = shared("ine-padron-33570-malaga.px")
    founded_2014 = {"29903", "29904"}
    assert not founded_2014 & set(read_counts(path, year=2010)["place"])
    assert founded_2014 <= set(read_counts(path, year=2022)["place"])


# 95258 and 3798 are the file's own rows "Total" and "42134-olvega ", all ages and both sexes.
def test_the_layout_of_2005_with_stray_spaces_and_totals(shared):
    counts = read_counts(shared("ine-padron-2005-soria.px"))
    assert counts["persons"].sum() == 95258
    assert counts.loc[counts["place"] == "42134", "persons"].sum() == 3798
    assert counts["place"].nunique() == 183
    assert list(counts["sex"].unique()) == ["men", "women"]
    assert list(counts["age_group"].unique()[[0, 1, -1]]) == ["0-4", "5-9", "85+"]
    assert counts["name"].eq(counts["name"].str.strip()).all()


def test_codes_come_from_the_labels_and_cells_in_file_order(write):
    counts = read_counts(write(px_text()), year=2010)
    assert list(counts["place"].unique()) == ["01001", "29025"]
    assert list(counts["name"].unique()) == ["Alegría-Dulantzi", "Benalmádena"]
    assert list(counts["age_group"][:3]) == ["0-4", "5-9", "100+"]
    assert counts["persons"].tolist() == [10, 11, 12, 3, 8, 13, 17, 18, 19, 5, 10, 15]


def test_pooling_adds_up_the_oldest(write):
    counts = read_counts(write(px_text()), year=2010, pool_from=5)
    assert counts["age_group"].unique().tolist() == ["0-4", "5+"]
    assert counts["persons"].tolist() == [10, 23, 3, 21, 17, 37, 5, 25]


def test_a_compressed_file_is_the_same(write, tmp_path):
    plain = write(px_text())
    packed = tmp_path / "counts.px.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes(), mtime=0))
    assert read_counts(packed, year=2010).equals(read_counts(plain, year=2010))


def test_years_must_be_chosen_from_those_there(write):
    path = write(px_text())
    assert "2010, 2011" in fault_of(path, None, OptionError)
    assert "no year 1999" in fault_of(path, 1999, OptionError)


def test_a_table_without_years_takes_none(write):
    dated = px_text(years=YEARS[:1])
    expected = read_counts(write(dated))
    path = write(dated.replace(',"Periodo";', ";").replace('VALUES("Periodo")', "NOTE"))
    assert read_counts(path).equals(expected)
    assert "names no years" in fault_of(path, 2010, OptionError)


def test_no_columns_can_be_named(write):
    with pytest.raises(OptionError, match="no columns to name"):
        read_counts(write(px_text()), year=2010, columns={"place": "Municipios"})


def test_a_place_without_figures_in_the_year_did_not_exist(write):
    rows = person_rows()
    for row in (5, 11, 17):
        rows[row] = ['""'] * 4
    path = write(px_text(rows))
    assert set(read_counts(path, year=2010)["place"]) == {"01001"}
    assert set(read_counts(path, year=2011)["place"]) == {"01001", "29025"}


@pytest.mark.parametrize("symbol", ['".."', '"."', '"-"', "..", '""'])
def test_a_suppressed_cell_is_named_by_its_labels(write, symbol):
    rows = person_rows()
    rows[9][2] = symbol
    path = write(px_text(rows))
    assert "place 01001, men, 5-9: the count is suppressed" in fault_of(path)
    assert len(read_counts(path, year=2011)) == 12


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("-12", "is negative"),
        ("12.5", "has a fraction"),
        ("12,5", "has a fraction"),
        ("x2", "is not a number"),
        ("nan", "is not a number"),
        ("98765432109876543210", "too large"),
    ],
)
def test_a_faulty_count_is_named_by_its_labels_and_not_quoted(write, text, fault):
    rows = person_rows()
    rows[9][2] = text
    message = fault_of(write(px_text(rows)))
    assert f"Hombres, 01001 Alegría-Dulantzi, 1 de enero de 2010, De 5 a 9 años: the count {fault}" in message.replace(
        "the count is too large", "the count too large"
    )
    assert text not in message


def test_totals_that_are_not_the_sum_of_their_parts(write):
    rows = person_rows()
    rows[3][1] = str(int(rows[3][1]) + 1)
    assert "place 01001, sex total, age_group 0-4: the total is not" in fault_of(write(px_text(rows)))
    rows = person_rows()
    rows[9][0] = str(int(rows[9][0]) + 1)
    assert "place 01001, sex men, age_group total: the total is not" in fault_of(write(px_text(rows)))


def test_truncated_files(write):
    whole = px_text()
    assert "no ; after the last number" in fault_of(write(whole.removesuffix(";\n")))
    cut = fault_of(write(whole[: whole.rindex("\n", 0, -3)]))
    assert "cut short at Mujeres, 29025 Benalmádena, 1 de enero de 2010, Todas las edades: 68 of 72 numbers" in cut
    assert "no DATA= line" in fault_of(write(whole[: whole.index("DATA=")]))
    assert "no DATA= line" in fault_of(write("<html>Página no encontrada</html>"))


def test_too_many_numbers(write):
    assert "more numbers than the 72" in fault_of(write(px_text([*person_rows(), ["1"]])))
    assert "more numbers than the 72" in fault_of(write(px_text(end=";\n1 2 3;\n")))


def test_encodings_that_are_not_those_declared(write):
    assert "wrong encoding: its bytes are UTF-8" in fault_of(write(px_text(), "utf-8"))
    assert "row 4: wrong encoding" in fault_of(write(px_text(), "cp850"))
    assert "row 4: wrong encoding: its bytes are not utf-8" in fault_of(write(px_text(codepage="utf-8"), "latin-1"))


@pytest.mark.parametrize("codepage", "klingon rot13 base64 hex zlib undefined punycode utf-16 a\0b".split(" "))
def test_code_pages_that_are_none(write, codepage):
    assert "declares an unknown CODEPAGE" in fault_of(write(px_text(codepage=codepage)))


@pytest.mark.parametrize("blank", ["\v", "\f", "\t", "\r\n"])
def test_numbers_may_stand_apart_by_any_blank(write, blank):
    rows = [[blank.join(row)] for row in person_rows()]
    assert read_counts(write(px_text(rows)), year=2010).equals(read_counts(write(px_text()), year=2010))


def test_utf_8_is_read_where_declared(write):
    counts = read_counts(write(px_text(codepage="utf-8"), "utf-8"), year=2010)
    assert "Benalmádena" in set(counts["name"])


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('STUB="Sexo","Municipios","Periodo";\nHEADING="Edad (grupos quinquenales)";', "", "no STUB or HEADING"),
        ('VALUES("Sexo")', 'VALUES("Género")', "dimension Sexo: no VALUES"),
        ('"Hombres"', '"Personas"', "dimension Sexo: label 2"),
        ('"De 0 a 4 años"', '"De 0 a 9 años"', "dimension Edad (grupos quinquenales): label 2"),
        ('"29025 Benalmádena"', '"Benalmádena"', "dimension Municipios: label 3"),
        ('"29025 Benalmádena"', '"01001 Alegría"', "dimension Municipios: a label occurs twice"),
        ('"De 5 a 9 años"', '"100 y más"', "a label occurs twice"),
        ('"De 5 a 9 años"', '"105 y más"', "age groups"),
        ("CODES(", "KEYS(", "leaves out empty cells"),
        ('"Municipios","Periodo"', '"Municipios"', "more numbers than the 36"),
        ("TITLE=", "TITLE", "header is not PC-Axis"),
    ],
)
def test_a_header_that_does_not_fit(write, old, new, fault):
    text = px_text()
    assert old in text
    assert fault in fault_of(write(text.replace(old, new, 1)))


def test_a_table_without_ages(write):
    text = px_text().replace(',"Periodo";\nHEADING="Edad (grupos quinquenales)"', ';\nHEADING="Periodo"')
    rows = "\n".join("1 2" for _ in range(9))
    head = text[: text.index("DATA=")]
    assert "no dimension for age" in fault_of(write(f"{head}DATA=\n{rows};\n"))


def test_only_totals(write):
    assert "holds totals only" in fault_of(write(px_text(places=PLACES[:1])))


def test_national_totals_need_their_row(write):
    assert national_totals(write(px_text()), 2010)["persons"].tolist() == [3, 4, 5, 1, 6, 11]
    path = write(px_text(places=("01001 Alegría-Dulantzi", "29025 Benalmádena")))
    with pytest.raises(DataError, match="no row for the whole nation"):
        national_totals(path, 2010)
