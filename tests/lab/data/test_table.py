"""Tables with named columns: what is written is what is read, and every fault is told in one line."""

import io
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_lab.data import national_totals, parse_columns, read_counts
from kanon_lab.errors import DataError, OptionError

HEADER = "place,sex,age_group,persons\n"
ROW = "29025,men,0-4,12\n"
GROUPS = [f"{low}-{low + 4}" for low in range(0, 85, 5)] + ["85+"]


@pytest.fixture
def write(tmp_path):
    def _write(text, name="counts.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return _write


def fault_of(path, error=DataError, **options):
    with pytest.raises(error) as caught:
        read_counts(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message.removeprefix(f"{path}: ")


def a_frame(cells):
    frame = pd.DataFrame(
        [(place, f"Place {place}", place[:2], sex, age, n) for (place, sex, age), n in cells.items()],
        columns=["place", "name", "province", "sex", "age_group", "persons"],
    )
    return frame.astype(dict.fromkeys(frame.columns[:-1], "str"))


CELLS = st.dictionaries(
    st.tuples(
        st.sampled_from(["01001", "29025", "42134", "52001"]),
        st.sampled_from(["men", "women", "other", "X"]),
        st.sampled_from(GROUPS),
    ),
    st.integers(0, 10**10),
    min_size=1,
    max_size=30,
)


@settings(max_examples=10)
@given(cells=CELLS, delimiter=st.sampled_from([",", ";", "\t", "|"]), random=st.randoms(use_true_random=False))
def test_csv_reads_back_whatever_the_order_of_rows_and_columns(tmp_path_factory, cells, delimiter, random):
    frame = a_frame(cells)
    path = tmp_path_factory.mktemp("csv") / "counts.csv"
    frame.to_csv(path, index=False, sep=delimiter)
    pd.testing.assert_frame_equal(read_counts(path), frame)
    rows, columns = list(frame.index), list(frame.columns)
    random.shuffle(rows)
    random.shuffle(columns)
    frame.loc[rows, columns].to_csv(path, index=False, sep=delimiter)
    pd.testing.assert_frame_equal(read_counts(path), frame.loc[rows].reset_index(drop=True))


@settings(max_examples=5)
@given(cells=CELLS)
def test_parquet_and_xlsx_read_back(tmp_path_factory, cells):
    frame = a_frame(cells)
    folder = tmp_path_factory.mktemp("binary")
    frame.to_parquet(folder / "counts.parquet")
    frame.to_excel(folder / "counts.xlsx", index=False)
    frame.to_csv(folder / "counts.csv.gz", index=False)
    for path in folder.iterdir():
        pd.testing.assert_frame_equal(read_counts(path), frame)


def test_names_and_provinces_default_to_the_code(write):
    counts = read_counts(write(HEADER + ROW))
    assert counts.to_dict("records") == [
        {"place": "29025", "name": "29025", "province": "29", "sex": "men", "age_group": "0-4", "persons": 12}
    ]


def test_letters_of_windows_are_read(write):
    frame = read_counts(write("municipio;sexo;edad;población\n29025;varón;0-4;12\n".encode("cp1252")))
    assert frame[["place", "persons"]].to_numpy().tolist() == [["29025", 12]]


@pytest.mark.parametrize("end", ["\r", "\r\n", "\n"])
def test_ends_of_lines_of_every_system(write, end):
    assert len(read_counts(write((HEADER + ROW + "\n29025,men,5-9,1\n").replace("\n", end)))) == 2


def test_columns_of_ine_s_own_csv(write):
    text = (
        "\ufeffMunicipios;Sexo;Edad (grupos quinquenales);Periodo;Total\r\n"
        "Total Nacional;Hombres;De 0 a 4 años;1 de enero de 2010;90\r\n"
        "29 Málaga;Hombres;De 0 a 4 años;1 de enero de 2010;30\r\n"
        "29025 Benalmádena;Total;Todas las edades;1 de enero de 2010;21\r\n"
        "29025 Benalmádena;Hombres;De 0 a 4 años;1 de enero de 2010;12\r\n"
        "29025 Benalmádena;Hombres;100 y más años;1 de enero de 2010;0\r\n"
        "29025 Benalmádena;Mujeres;De 0 a 4 años;1 de enero de 2010;9\r\n"
        "29025 Benalmádena;Mujeres;De 0 a 4 años;1 de enero de 2011;8\r\n"
        "\r\n"
    )
    columns = parse_columns(
        "place=Municipios, sex=Sexo,age_group=Edad (grupos quinquenales),year=Periodo,persons=Total"
    )
    counts = read_counts(write(text), year=2010, columns=columns)
    assert counts["name"].unique().tolist() == ["Benalmádena"]
    assert counts[["sex", "age_group", "persons"]].to_numpy().tolist() == [
        ["men", "0-4", 12],
        ["men", "100+", 0],
        ["women", "0-4", 9],
    ]
    nation = national_totals(write(text), 2010, columns=columns)
    assert nation["persons"].tolist() == [90]


def test_leading_zeros_that_a_spreadsheet_dropped(tmp_path):
    frame = a_frame({("01001", "men", "0-4"): 1, ("29025", "men", "0-4"): 2})
    numeric = frame.drop(columns="name").astype({"place": int, "province": int})
    for name, write in {"counts.xlsx": numeric.to_excel, "counts.csv": numeric.to_csv}.items():
        write(tmp_path / name, index=False)
        counts = read_counts(tmp_path / name)
        assert counts["place"].tolist() == ["01001", "29025"]
        assert counts["province"].tolist() == ["01", "29"]


def test_whole_numbers_written_with_a_point(write):
    assert read_counts(write(HEADER + "29025,men,0-4,12.0\n"))["persons"].tolist() == [12]


@pytest.mark.parametrize("counts", [("1.000", "25.000"), ("7", "1.000")])
def test_points_between_thousands_are_not_read_as_decimal_ones(write, counts):
    rows = [f"29025,men,{5 * i}-{5 * i + 4},{count}\n" for i, count in enumerate(counts)]
    row = 2 + ("." not in counts[0])
    assert fault_of(write(HEADER + "".join(rows))).startswith(
        f"row {row}: the count in column persons has a sign between thousands"
    )


@pytest.mark.parametrize("persons", [[True, False], [True, 5], pd.array([True, False], dtype="boolean")])
def test_yes_and_no_are_no_counts(persons):
    from kanon_lab.data import check_counts

    frame = pd.DataFrame({"place": "29025", "sex": ["men", "women"], "age_group": "0-4", "persons": persons})
    with pytest.raises(DataError, match="row 0: the count in column persons is not a number"):
        check_counts(frame)


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ("29025,men,5-9,-3", "the count in column persons is negative"),
        ("29025,men,5-9,3.14", "the count in column persons has a fraction"),
        ("29025,men,5-9,", "the count in column persons is missing"),
        ("29025,men,5-9,..", "the count in column persons is not a number"),
        ("29025,men,5-9,inf", "the count in column persons is not a number"),
        ("29025,men,5-9,98765432109876543210", "the count in column persons is too large"),
        (",men,5-9,3", "no place"),
        ("29025,NaN,5-9,3", "no sex"),
        ("29025,men, ,3", "no age_group"),
        ("29025,men,5-9", "fewer cells than the header"),
        ("29025,men,5-9,3,4", "more cells than the header"),
        ('29025,"men,5-9,3', "a quotation mark is never closed"),
        ("29025,men,0-9,3", "column age_group holds no five-year age group"),
        ("29025,men,young,3", "column age_group holds no five-year age group"),
        (" 29025 ,men,0-4,3", "an earlier row has the same place, sex and age group"),
        ("29025,Hombres,De 0 a 4 años,3", "an earlier row has the same place, sex and age group"),
        ("29025,total,0-4,13", "the total is not the sum"),
        ("29025,men,total,13", "the total is not the sum"),
        ("28079,total,0-4,13", "the total is not the sum"),
    ],
)
def test_a_faulty_row_is_named_and_its_values_are_not(write, row, fault):
    message = fault_of(write(f"{HEADER}{ROW}\n{row}\n"))
    assert message.startswith(f"row 4: {fault}")
    assert "98765" not in message
    assert "3.14" not in message


def test_the_first_data_row_may_be_the_faulty_one(write):
    assert "row 2: more cells" in fault_of(write(HEADER + "29025,men,0-4,12,1\n"))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "is empty"),
        ("\n\n", "row 1: no column names"),
        (HEADER, "has no rows"),
        ("place,sex,persons\n1,2,3\n", "no column age_group"),
        ("region,answer\n1,2\n", "no column place, sex, age_group, persons"),
        ("place,sex,sex,age_group,persons\n1,2,2,0-4,3\n", "column sex occurs twice"),
        ("29025,men,0-4,12\n29025,women,0-4,12\n", "row 1 does not look like a header: no column place"),
        ("SECRET,SECRET,0-4,12\n", "row 1 does not look like a header: no column place"),
        ("x" * 140_000 + "\n1\n", "row 1: no column names"),
        ("place,sex,age_group,persons,year\n1,2,0-4,3,x\n", "row 2: column year holds no year"),
        (HEADER + "Total Nacional,men,0-4,3\n", "holds totals only"),
        (HEADER.encode() + "29025,niño,0-4,1\n".encode("cp850"), "row 2: wrong encoding"),
        (HEADER + "29025,men,85+,1\n29025,men,90-94,1\n", "age groups 85+ and 90-94 overlap"),
    ],
)
def test_faults_of_the_file(write, text, fault):
    assert fault in fault_of(write(text))


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("counts.parquet", "is not a Parquet file"),
        ("counts.xlsx", "is not an xlsx workbook"),
        ("counts.xls", "is not an xls workbook"),
        ("counts.ods", "must end in one of .px, .csv, .tsv, .parquet, .xlsx, .xls, .zip"),
        ("counts", "must end in one of"),
        ("counts.csv.gz", "is not a gzip file"),
    ],
)
def test_a_file_that_is_not_what_its_name_says(write, name, fault):
    assert fault in fault_of(write(HEADER + ROW, name))


def test_a_folder(tmp_path):
    assert "is a folder" in fault_of(tmp_path)


def test_cut_binary_files(tmp_path):
    frame = a_frame({("29025", "men", group): 1 for group in GROUPS})
    whole = {"counts.parquet": io.BytesIO(), "counts.xlsx": io.BytesIO()}
    frame.to_parquet(whole["counts.parquet"])
    frame.to_excel(whole["counts.xlsx"], index=False)
    for name, content in whole.items():
        (tmp_path / name).write_bytes(content.getvalue()[:-300])
        assert "damaged" in (fault := fault_of(tmp_path / name)) or "cut short" in fault


@given(data=st.data(), form=st.sampled_from(["csv", "csv.gz", "parquet", "xlsx"]))
def test_damage_is_told_in_one_line_or_does_no_harm(tmp_path_factory, data, form):
    path = tmp_path_factory.mktemp("damage") / f"counts.{form}"
    frame = a_frame({(place, "men", group): 1 for place in ("01001", "29025") for group in GROUPS})
    {"parquet": frame.to_parquet, "xlsx": partial(frame.to_excel, index=False)}.get(
        form, partial(frame.to_csv, index=False)
    )(path)
    content = bytearray(path.read_bytes())
    # Drawn as a fraction: compressed files differ in length with the time they hold.
    start = data.draw(st.integers(0, 9999)) * len(content) // 10_000
    content[start : start + data.draw(st.integers(0, 30))] = data.draw(st.binary(max_size=5))
    path.write_bytes(content)
    try:
        sound = read_counts(path)["persons"].ge(0).all()
    except DataError as error:
        sound = "\n" not in str(error)
    assert sound


@pytest.mark.parametrize("label", ["T", "Both", "Personas"])
def test_a_total_over_sexes_under_an_unknown_label_is_not_counted_twice(write, label):
    rows = [
        f"29025,{sex},{group},{number}\n"
        for i, group in enumerate(GROUPS)
        for sex, number in (("men", i), ("women", 2 * i + 1), (label, 3 * i + 1))
    ]
    assert "is the sum of the others" in fault_of(write(HEADER + "".join(rows)))


def test_a_province_is_read_from_ine_codes_only(write):
    counts = read_counts(write(HEADER + "29025,men,0-4,1\nLittle Town,men,0-4,2\n1059A,men,0-4,2\n"))
    assert counts["province"].tolist() == ["29", "", ""]


def test_an_empty_sheet(tmp_path):
    pd.DataFrame().to_excel(tmp_path / "counts.xlsx", index=False)
    assert "first sheet is empty" in fault_of(tmp_path / "counts.xlsx")


def test_missing_labels_and_counts_of_binary_files(tmp_path):
    frame = a_frame({("29025", "men", "0-4"): 1, ("29025", "men", "5-9"): 2})
    for column, fault in (("sex", "row 2: no sex"), ("persons", "row 2: the count in column persons is missing")):
        spoilt = frame.astype({"persons": float}).assign(**{column: frame[column].astype(object).where([True, False])})
        spoilt.to_parquet(tmp_path / "counts.parquet")
        assert fault in fault_of(tmp_path / "counts.parquet")


@pytest.mark.parametrize(
    ("columns", "fault"),
    [
        ({"place ": ["2", "2"]}, "column place occurs twice"),
        ({"year": [2010.0, None]}, "row 2: column year holds no year"),
        ({"year": ["2010", None]}, "row 2: column year holds no year"),
        ({"year": [[2010], [2010, 2011]]}, "row 2: column year holds no year"),
        ({"persons": [[1], [2]]}, "row 1: the count in column persons is not a number"),
    ],
)
def test_parquet_holds_what_csv_cannot(tmp_path, columns, fault):
    frame = a_frame({("29025", "men", "0-4"): 1, ("29025", "men", "5-9"): 2}).assign(**columns)
    frame.to_parquet(tmp_path / "counts.parquet")
    assert fault in fault_of(tmp_path / "counts.parquet")


def test_a_number_too_large_for_a_code_stays_text(tmp_path):
    frame = a_frame({("1", "men", "0-4"): 1, ("2", "men", "0-4"): 2}).assign(place=[1e300, 8.0])
    frame.to_parquet(tmp_path / "counts.parquet")
    assert read_counts(tmp_path / "counts.parquet")["place"].tolist() == ["1e+300", "8.0"]


@pytest.mark.parametrize(
    "persons",
    [
        [b"\xff\xfe", b"1"],
        pd.to_timedelta([1, 2], unit="s"),
        pd.to_timedelta([1, 2], unit="ns"),
        pd.to_datetime(["2010-01-01", "2010-01-02"]),
        [True, False],
    ],
    ids=["bytes", "seconds", "nanoseconds", "dates", "truth values"],
)
def test_persons_of_another_kind(tmp_path, persons):
    frame = a_frame({("29025", "men", "0-4"): 1, ("29025", "men", "5-9"): 2})
    frame.assign(persons=persons).to_parquet(tmp_path / "counts.parquet")
    assert "row 1: the count in column persons is not a number" in fault_of(tmp_path / "counts.parquet")


def test_years(write):
    path = write("year,place,sex,age_group,persons\n2010,1,men,0-4,1\n2011,1,men,0-4,2\n")
    assert read_counts(path, year=2011)["persons"].tolist() == [2]
    assert "holds several years; choose one (--year): 2010, 2011" in fault_of(path, OptionError)
    assert "has no year 1999" in fault_of(path, OptionError, year=1999)
    assert "names no years" in fault_of(write(HEADER + ROW), OptionError, year=2010)


def test_columns_that_are_not_there_or_not_known(write):
    path = write(HEADER + ROW)
    assert "no column cod_mun; it has place, sex" in fault_of(path, columns={"place": "cod_mun"})
    assert r"no column \udcff; it has" in fault_of(path, columns={"place": "\udcff"})
    wide = write(",".join(["place", "y" * 50, *(f"c{i}" for i in range(2_000))]) + "\n1" + "," * 2_001 + "\n")
    message = fault_of(wide, columns={"place": "q" * 5000})
    assert len(message) < 300
    assert message.endswith("c5 and 1994 more")
    assert "SECRET" not in fault_of(write("29025,SECRET,men,0-4,50\n"), columns={"place": "q"})
    assert "town is not a column of counts" in fault_of(path, OptionError, columns={"town": "place"})


@pytest.mark.parametrize(
    "header", ["Municipio,Sexo,Edad,Poblacion", "code,gender,age,count", "MUNICIPALITY,Sex,Age group,N"]
)
def test_usual_names_of_columns_are_understood(write, header):
    assert read_counts(write(f"{header}\n{ROW}"))["persons"].tolist() == [12]


def test_two_columns_that_may_both_be_it_are_asked_about(write):
    path = write("place,sex,age_group,population,n\n29025,men,0-4,12,3\n")
    assert "columns population and n may both be persons; say which one is (--columns persons=...)" in fault_of(path)
    assert read_counts(path, columns={"persons": "n"})["persons"].tolist() == [3]


@pytest.mark.parametrize("text", ["place", "place=", "=a", "place=a,place=b", ","])
def test_column_options_that_cannot_be_read(text):
    with pytest.raises(OptionError, match="write NAME=COLUMN"):
        parse_columns(text)


def test_no_column_option():
    assert parse_columns(None) == parse_columns("") == {}


@pytest.mark.parametrize("pool_from", [84, -5])
def test_pooling_inside_a_group(write, pool_from):
    assert "multiples of 5" in fault_of(write(HEADER + ROW), OptionError, pool_from=pool_from)


@settings(max_examples=12)
@given(cells=CELLS, pool_from=st.sampled_from(range(0, 105, 5)))
def test_pooling_keeps_every_person(tmp_path_factory, cells, pool_from):
    frame = a_frame({cell: n % 1000 for cell, n in cells.items()})
    path = tmp_path_factory.mktemp("pool") / "counts.csv"
    frame.to_csv(path, index=False)
    pooled = read_counts(path, pool_from=pool_from)
    by = ["place", "sex"]
    assert pooled.groupby(by)["persons"].sum().equals(frame.groupby(by)["persons"].sum())
    low = pooled["age_group"].str.extract(r"^(\d+)")[0].astype(int)
    assert (low[pooled["age_group"].str.endswith("+")] <= max(pool_from, 85)).all()
    assert low[~pooled["age_group"].str.endswith("+")].lt(pool_from).all() or pool_from > 85


def test_the_input_of_a_check_stays_as_it_was():
    from kanon_lab.data import check_counts

    frame = pd.DataFrame({"persons": [1.0], "age_group": ["0-4"], "sex": ["men "], "place": [29025]}, index=[7])
    before = frame.copy()
    checked = check_counts(frame)
    pd.testing.assert_frame_equal(frame, before)
    assert checked.to_numpy().tolist() == [["29025", "29025", "29", "men", "0-4", 1]]
    assert checked["persons"].dtype == np.int64
    with pytest.raises(DataError, match="row 7: the count in column persons is negative"):
        check_counts(frame.assign(persons=-1))


@pytest.mark.parametrize("coding", ["utf-8", "cp1252"])
@pytest.mark.parametrize("sign", [".", ","])
def test_the_layout_of_the_national_office_is_read_as_it_comes(tmp_path, coding, sign):
    rows = [("0-4", "46.815.916"), ("5-9", "1.081"), ("10-14", "977")]
    lines = ["Municipios;Sexo;Edad;Total", *(f"42134 Ólvega;Hombres;{age};{n.replace('.', sign)}" for age, n in rows)]
    (tmp_path / "ine.csv").write_bytes("\n".join(lines).encode(coding))
    counts = read_counts(tmp_path / "ine.csv")
    assert counts["persons"].tolist() == [46815916, 1081, 977] and counts["name"].unique().tolist() == ["Ólvega"]
    assert counts.attrs["notes"] == [f"the sign {sign} in the counts is read as a sign between thousands"]


def test_a_sign_between_thousands_that_is_not_sure_is_given(write):
    path = write(HEADER + "29025,men,0-4,1.000\n29025,men,5-9,25.000\n")
    assert fault_of(path).endswith("or say which sign it is (--thousands)")
    assert read_counts(path, thousands=".")["persons"].tolist() == [1000, 25000]
