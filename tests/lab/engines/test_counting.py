"""Every engine counts the same, to the last digit: generated files, in Parquet and csv, whole and in parts."""

import datetime
import gzip
import json
import os
import shutil
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import kanon_lab
from kanon_lab import KeySpec
from kanon_lab.data import read_file
from kanon_lab.engines import count_frame, count_records, load_counts, queries, save_counts
from kanon_lab.errors import DataError, KanonLabError, OptionError, StorageError

HAS_SPARK = find_spec("pyspark") is not None and (shutil.which("java") or "JAVA_HOME" in os.environ)
NO_SPARK = pytest.mark.skipif(not HAS_SPARK, reason="Spark needs pyspark and Java")

TEXTS = [
    "a",
    "á",
    "a ",
    "  b",
    "b",
    "",
    "NA",
    "01",
    "1",
    "1.0",
    "ñandú",
    "Z\u0301",
    "x,y",
    'q"q',
    "two\nlines",
    "-0.0",
    "\u00a0a",
    "a\u0301",
    " ",
]
KINDS = {
    "text": st.sampled_from(TEXTS),
    "whole": st.integers(-3, 4),
    "digits": st.sampled_from(["1", "2", "03", "4"]),
    "number": st.sampled_from([0.0, -0.0, 1.5, 2.25, float("nan"), 1e22]),
    "date": st.dates(datetime.date(2000, 1, 1), datetime.date(2000, 1, 4)),
    "time": st.sampled_from([datetime.datetime(2000, 1, day, 3) for day in (1, 2, 3)]),
    "truth": st.booleans(),
}
WEIGHTS = {
    "cents": st.integers(100, 99_999).map(lambda cents: cents / 100),
    "wide": st.floats(1, 1e9),
    "whole": st.integers(1, 50),
    "faulty": st.sampled_from([1.5, 2.0, 0.0, -1.0]),
}


@st.composite
def files(draw):
    """Columns of a file, their roles, and how it is written."""
    n = draw(st.integers(1, 40))

    def column(kind):
        value = KINDS[kind] if draw(st.booleans()) else st.one_of(st.none(), KINDS[kind], KINDS[kind])
        return draw(st.lists(value, min_size=n, max_size=n))

    keys = draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=4))
    columns = {f"k{i}é": column(kind) for i, kind in enumerate(keys)}
    roles = {"key_variables": list(columns), "missing": draw(st.sampled_from(["wildcard", "category", "error"]))}
    if weights := draw(st.sampled_from([None, *WEIGHTS])):
        columns["w"] = draw(st.lists(WEIGHTS[weights], min_size=n, max_size=n))
        roles["weight"] = "w"
    if draw(st.booleans()):
        columns["home"] = draw(st.lists(st.sampled_from("uvxyz"), min_size=n, max_size=n))
        roles["household"] = "home"
    if draw(st.booleans()):
        columns["s"] = column(draw(st.sampled_from(["text", "whole", "number"])))
        roles["sensitive_variables"] = ["s"]
    reading = {
        "na": draw(st.sampled_from([(), ("NA",), ("-", "1")])),
        "missing_codes": draw(st.sampled_from([None, {"k0é": [1, "a"]}])),
    }
    form = draw(st.sampled_from(["parquet", "csv", "csv.gz"] if len(columns) > 1 else ["parquet"]))  # else refused
    style = {"sep": draw(st.sampled_from(",;\t")), "encoding": draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))}
    return columns, KeySpec(**roles), reading, form, style, draw(st.integers(1, n))


def write(columns, path, style):
    if path.suffix == ".parquet":
        parquet.write_table(pa.table({name: pa.array(cells) for name, cells in columns.items()}), path)
    else:
        pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()}).to_csv(
            path, index=False, **style
        )


def told(measure):
    """The measures and their classes as text, or the class of the error."""
    try:
        counted, measured = measure()
    except KanonLabError as error:
        return type(error).__name__
    return json.dumps([measured.to_dict(), measured.table.classes.astype(str).to_dict("list"), list(counted.notes)])


def in_memory(path, spec, reading):
    read = read_file(path, columns=spec.variables, **reading)
    return read, kanon_lab.measure(read.numbered, spec)


def by(engine, path, spec, reading):
    counted = count_records(path, spec, engine=engine, **reading)
    return counted, kanon_lab.measure(counted.table())


# The first part has blanks in the second column only, the second part in the first.
BLANKS_IN_TURN = {"k0é": ["a", "a ", "a"], "s": [" b", "b", "b"]}
BLANKS_SPEC = KeySpec("k0é", sensitive_variables=["s"], missing="category")
PLAIN = {"sep": ",", "encoding": "utf-8"}


@settings(max_examples=10)
@example((BLANKS_IN_TURN, BLANKS_SPEC, {"na": ()}, "parquet", PLAIN, 1))
@example((BLANKS_IN_TURN, BLANKS_SPEC, {"na": ()}, "csv", PLAIN, 1))
@given(files())
def test_duckdb_counts_as_memory_does(given_file):
    columns, spec, reading, form, style, cut = given_file
    with tempfile.TemporaryDirectory() as folder:
        whole, parts = Path(folder, f"whole.{form}"), Path(folder, "parts")
        write(columns, whole, style)
        expected = told(lambda: in_memory(whole, spec, reading))
        assert told(lambda: by("duckdb", whole, spec, reading)) == expected
        parts.mkdir()
        for i, rows in enumerate((slice(0, cut), slice(cut, None))):
            if part := {name: cells[rows] for name, cells in columns.items() if cells[rows]}:
                typed = {name: cells if form == "parquet" else cells for name, cells in part.items()}
                write(typed, parts / f"part-{i}.{form}", style)
        schemas = {str(parquet.read_schema(part)) for part in parts.iterdir()} if form == "parquet" else {1}
        if len(schemas) == 1:
            assert told(lambda: by("duckdb", parts, spec, reading)) == expected


@settings(max_examples=15)
@given(files())
def test_saved_parts_make_the_whole(given_file):
    columns, spec, reading, _, _, cut = given_file
    spec = KeySpec(spec.key_variables, weight=spec.weight, sensitive_variables=spec.sensitive_variables)
    frame = pd.DataFrame({name: pd.Series(cells) for name, cells in columns.items()}).infer_objects()
    try:
        whole = count_frame(frame, spec)
    except KanonLabError:
        return
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, f"{i}.parquet") for i in range(2)]
        parts = [frame.iloc[:cut], frame.iloc[cut:]]
        saved = [path for path, part in zip(paths, parts, strict=True) if len(part)]
        for path, part in zip(paths, parts, strict=True):
            if len(part):
                save_counts(count_frame(part, spec), path)
        merged = load_counts(saved)
    assert told(lambda: (merged, kanon_lab.measure(merged.table()))) == told(
        lambda: (whole, kanon_lab.measure(whole.table()))
    )


@pytest.mark.slow
@NO_SPARK
@settings(max_examples=15)
@given(given_file=files())
def test_spark_counts_as_memory_does(spark, given_file):
    columns, spec, reading, form, style, _ = given_file
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"whole.{form}")
        write(columns, path, style)
        assert told(lambda: by("spark", path, spec, reading)) == told(lambda: in_memory(path, spec, reading))


@pytest.mark.slow
@NO_SPARK
def test_a_table_of_spark(spark):
    frame = pd.DataFrame({"age": [30, 41, 30], "w": [1.5, 2.5, 3.0]})
    spark.createDataFrame(pa.Table.from_pandas(frame)).createOrReplaceTempView("people")
    counted = count_records("people", KeySpec("age", weight="w"), engine="spark")
    assert counted.table().F_k.tolist() == [4.5, 2.5]
    with pytest.raises(DataError, match="nobody: neither a file nor a table"):
        count_records("nobody", KeySpec("age"), engine="spark")


def survey(tmp_path, rows=200):
    rng = np.random.default_rng(3)
    folder = tmp_path / "survey"
    folder.mkdir()
    for i in range(40):
        frame = pd.DataFrame({"sex": rng.choice(["f", "m"], rows), "age": rng.integers(0, 90, rows), "w": 1.5})
        frame.to_csv(folder / f"part-{i:02}.csv", index=False)
    return folder


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("f,30", "row 11: fewer cells than the header has; correct the row"),
        ("f,30,1.5,9", "row 11: more cells than the header has; correct the row"),
        ('f,"30,1.5', "row 11: a quotation mark is never closed; close it"),
        ("f,30,-1", "row 11: a weight that is not above 0 in column w"),
        ("f,30,", "row 11: a missing weight in column w"),
        ("f,30,x", "row 11: a weight that is not a number in column w"),
    ],
)
def test_a_faulty_row_is_named_with_its_part(tmp_path, row, said):
    folder = survey(tmp_path)
    part = folder / "part-37.csv"
    lines = part.read_text().splitlines()
    lines[10] = row
    part.write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError, match=f"survey/part-37.csv: {said}") as error:
        count_records(folder, KeySpec(["sex", "age"], weight="w"), engine="duckdb", spill=tmp_path)
    assert row not in str(error.value)
    assert [each.name for each in tmp_path.iterdir()] == ["survey"]  # nothing spilled is left


def test_parts_must_be_alike(tmp_path):
    folder = survey(tmp_path, rows=3)
    (folder / "part-05.csv").write_text("age,sex,w\n30,f,1\n")
    with pytest.raises(DataError, match="survey/part-05.csv: its columns or separator are others"):
        count_records(folder, KeySpec("sex"), engine="duckdb")
    (folder / "part-05.csv").write_text("sex,ages,w\nf,30,1\n")
    with pytest.raises(DataError, match="survey/part-05.csv: no column age"):
        count_records(folder, KeySpec("age"), engine="duckdb")
    (folder / "part-05.csv").unlink()
    (folder / "part-05.xlsx").write_bytes(b"")
    with pytest.raises(DataError, match="the folder holds files of other kinds"):
        count_records(folder, KeySpec("age"), engine="duckdb")


def test_names_with_signs_of_patterns(tmp_path):
    frame = pd.DataFrame({'a "b" `c`': [1, 1, 2], "w": [1.0, 2.0, 3.0]})
    path = tmp_path / "a*[1] 'b'.parquet"
    frame.to_parquet(path)
    counted = count_records(path, KeySpec('a "b" `c`', weight="w"), engine="duckdb")
    assert counted.table().F_k.tolist() == [3.0, 3.0]


def test_more_keys_than_one_number_holds(tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({f"k{i}": rng.integers(0, 10**9, 3000) for i in range(8)})
    frame = pd.concat([frame, frame.iloc[:100]])
    frame.to_parquet(tmp_path / "wide.parquet")
    spec = KeySpec(list(frame))
    counted = count_records(tmp_path / "wide.parquet", spec, engine="duckdb").table()
    expected = kanon_lab.class_table(frame, spec)
    assert (counted.f_k == expected.f_k).all()
    assert (counted.codes == expected.codes).all()


def test_full_folder_is_one_line_without_its_path(tmp_path, monkeypatch):
    duckdb = pytest.importorskip("duckdb")
    pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "one.parquet")

    def connect(*_, **__):
        raise duckdb.IOException('Could not write file "/somewhere/records.duckdb": No space left on device')

    monkeypatch.setattr(duckdb, "connect", connect)
    with pytest.raises(StorageError, match="^no space left in the folder of --spill; free some, or name another$"):
        count_records(tmp_path / "one.parquet", KeySpec("a"), engine="duckdb", spill=tmp_path)


def test_refusals_of_counts(tmp_path):
    frame = pd.DataFrame({"a": [1, 1, 2], "h": [1, 1, 2], "t": list("xyz")})
    with pytest.raises(OptionError, match="counts by household are records of persons"):
        save_counts(count_frame(frame, KeySpec("a", household="h")), tmp_path / "c.parquet")
    save_counts(count_frame(frame, KeySpec("a")), tmp_path / "a.parquet")
    with pytest.raises(StorageError, match="already exists"):
        save_counts(count_frame(frame, KeySpec("a")), tmp_path / "a.parquet")
    save_counts(count_frame(frame, KeySpec("t")), tmp_path / "t.parquet")
    with pytest.raises(DataError, match="counts other variables"):
        load_counts([tmp_path / "a.parquet", tmp_path / "t.parquet"])
    frame.to_parquet(tmp_path / "plain.parquet")
    with pytest.raises(DataError, match="holds no counts of records"):
        load_counts([tmp_path / "plain.parquet"])
    table = load_counts([tmp_path / "a.parquet"]).table()
    with pytest.raises(DataError, match="there are only counts of records"):
        table.f_k_of_records()


def test_codes_that_are_text_in_one_part_only(tmp_path):
    whole = ["1", "2", "03", "2"]
    for i, cells in enumerate((whole[:2], whole[2:])):
        Path(tmp_path, f"{i}.csv").write_text("code\n" + "\n".join(cells) + "\n")
        save_counts(count_records(tmp_path / f"{i}.csv", KeySpec("code"), engine="memory"), tmp_path / f"{i}.parquet")
    merged = load_counts([tmp_path / "0.parquet", tmp_path / "1.parquet"]).table()
    assert merged.classes["code"].tolist() == ["03", "1", "2"]
    assert merged.f_k.tolist() == [1, 1, 2]


@pytest.mark.parametrize(
    "text",
    [
        b"a,b\n1,2\n3,4,\n",
        b"a,b\n1,2\n\n3\n",
        b'a,b\n1,"x" \n',
        b'a,b\n1,"two\nlines"\n\n3,"x\n',
        b"a,b\n1,2\0\n",
        "a,b\n1,ñ\n".encode("cp850"),
        b"a b\n1 2\n",
        b"\n1,2\n",
        b"a,a\n1,2\n",
        b"b,c\n1,2\n",
        b"a,b\n",
    ],
)
def test_what_is_no_csv_file_is_refused_in_the_words_of_memory(tmp_path, text):
    (tmp_path / "f.csv").write_bytes(text)
    said = []
    for engine in ("memory", "duckdb"):
        with pytest.raises(DataError) as error:
            count_records(tmp_path / "f.csv", KeySpec("a"), engine=engine, spill=tmp_path)
        said.append(str(error.value))
    assert said[0] == said[1]
    assert [each.name for each in tmp_path.iterdir()] == ["f.csv"]


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ('a,b\n"x",1\n"x ",1\n x,1\nx,1\n', [4]),
        ('a,b\n1, "x"\n1, "x"\n1,x\n', [3]),
        ("a\n1\n\n2\n1\n", [2, 1]),
        ("sep=;\na;b\n1,5;2\n1,5;3\n1.5;3\n", [2, 1]),
    ],
)
def test_cells_of_csv_are_one_value_by_the_rules_of_memory(tmp_path, text, counts):
    """Blanks around cells, blank lines, and the line that declares a separator."""
    (tmp_path / "f.csv").write_text(text)
    for engine in ("memory", "duckdb"):
        assert count_records(tmp_path / "f.csv", KeySpec("a"), engine=engine).table().f_k.tolist() == counts, engine


def test_weights_too_far_apart_are_refused(tmp_path):
    (tmp_path / "f.csv").write_text("a,b\n1,1e-300\n2,1\n")
    with pytest.raises(DataError, match="too far apart for an engine"):
        count_records(tmp_path / "f.csv", KeySpec("a", weight="b"), engine="duckdb")


def test_csv_is_converted_in_little_memory_and_nothing_is_left_of_it(tmp_path, monkeypatch):
    from kanon_lab.data import delimited

    (tmp_path / "f.csv").write_text("a,b\n" + "1,x\n2,y\n" * 30_000)
    monkeypatch.setattr(delimited, "_BLOCK", 2**14)
    longest, parse = [], delimited.DelimitedReader._cells

    def watched(self, content, positions):
        longest.append(len(content))
        if len(longest) == 10:
            raise KeyboardInterrupt
        return parse(self, content, positions)

    monkeypatch.setattr(delimited.DelimitedReader, "_cells", watched)
    with pytest.raises(KeyboardInterrupt):
        count_records(tmp_path / "f.csv", KeySpec("a"), engine="duckdb", spill=tmp_path)
    assert max(longest) <= 2**14 and [each.name for each in tmp_path.iterdir()] == ["f.csv"]
    assert count_records(tmp_path / "f.csv", KeySpec("a"), engine="duckdb").records.tolist() == [30_000, 30_000]


def test_a_full_folder_for_what_does_not_fit_is_named(tmp_path, monkeypatch):
    import errno

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "f.csv").write_text("a,b\n1,2\n")
    monkeypatch.setattr(parquet.ParquetWriter, "write_table", full)
    with pytest.raises(StorageError, match="no space left in the folder of --spill; free some, or name another"):
        count_records(tmp_path / "f.csv", KeySpec("a"), engine="duckdb")


def test_a_packed_file_that_is_cut_short(tmp_path):
    (tmp_path / "f.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n" * 1000, mtime=0)[:-20])
    with pytest.raises(DataError, match="is cut short or damaged; make or download it again"):
        count_records(tmp_path / "f.csv.gz", KeySpec("a"), engine="duckdb")


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("largest", [2**63 - 1, 10**4, 250])
def test_values_by_distance_and_in_several_words(tmp_path, monkeypatch, weight, largest):
    rng, days = np.random.default_rng(3), [datetime.date(2001, 1, 1) + datetime.timedelta(i) for i in range(20)]
    frame = pd.DataFrame({"born": rng.integers(1990, 2000, 200), "day": rng.choice(days, 200)})
    frame = frame.assign(gaps=frame["born"].astype("Int64").mask(frame["born"] > 1997), far=frame["born"] * 10**6)
    frame.assign(w=1.5).to_parquet(tmp_path / "f.parquet")
    monkeypatch.setattr(queries, "LARGEST_PACKED", largest)
    spec = KeySpec(["born", "gaps", "day", "far"], weight=weight, missing="category")
    for codes in (None, {"born": [1995]}):
        tables = [
            count_records(tmp_path / "f.parquet", spec, engine=engine, missing_codes=codes).table()
            for engine in ("memory", "duckdb")
        ]
        pd.testing.assert_frame_equal(tables[1].classes, tables[0].classes)


def test_empty_cells_between_tabs_are_no_blanks(tmp_path):
    (tmp_path / "f.csv").write_text('a\tb\tc\n"x y"\t\t\n\t\t"z"\n')
    counted = count_records(tmp_path / "f.csv", KeySpec(["a", "b", "c"], missing="category"), engine="duckdb")
    assert counted.table().f_k.tolist() == [1, 1]


def test_columns_that_differ_in_case_only_are_refused(tmp_path):
    pd.DataFrame({"Age": [1, 2], "age": [1, 1]}).to_parquet(tmp_path / "f.parquet")
    with pytest.raises(DataError, match="columns Age and age are one to an engine"):
        count_records(tmp_path / "f.parquet", KeySpec("age"), engine="duckdb")


def test_types_that_an_engine_reads_otherwise_are_refused(tmp_path):
    cells = pa.array([bytes([i] * 16) for i in (1, 2, 1)], pa.binary(16))
    parquet.write_table(pa.table({"u": pa.ExtensionArray.from_storage(pa.uuid(), cells)}), tmp_path / "f.parquet")
    assert count_records(tmp_path / "f.parquet", KeySpec("u"), engine="memory").records.tolist() == [2, 1]
    with pytest.raises(DataError, match="column u is of a type that this engine cannot read"):
        count_records(tmp_path / "f.parquet", KeySpec("u"), engine="duckdb")


def test_times_of_the_old_kind_are_refused(tmp_path):
    table = pa.table({"t": pa.array([1, 2], pa.timestamp("ns"))})
    parquet.write_table(table, tmp_path / "f.parquet", use_deprecated_int96_timestamps=True)
    with pytest.raises(DataError, match="times of the old kind"):
        count_records(tmp_path / "f.parquet", KeySpec("t"), engine="duckdb")


def test_parts_in_hidden_folders_are_passed_over(tmp_path):
    for name in ("1.parquet", ".tmp/2.parquet", "_temporary/0/3.parquet"):
        (tmp_path / "f" / name).parent.mkdir(parents=True, exist_ok=True)
        pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "f" / name)
    assert count_records(tmp_path / "f", KeySpec("a"), engine="duckdb").table().n == 1


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_decimals_of_csv_are_not_put_together(tmp_path, engine):
    """As cells of one file 1.10 and 1.1 would be two values; who has the counts of parts no longer sees that."""
    paths = []
    for i, cell in enumerate(("1.10", "1.1")):
        (tmp_path / f"{i}.csv").write_text(f"a,b\n{cell},1\n")
        paths.append(tmp_path / f"{i}.parquet")
        save_counts(count_records(tmp_path / f"{i}.csv", KeySpec(["a", "b"]), engine=engine), paths[-1])
    assert load_counts(paths[:1]).table().n == 1
    with pytest.raises(DataError, match="column a has decimals of a csv file"):
        load_counts(paths)
