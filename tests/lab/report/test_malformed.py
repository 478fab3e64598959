"""Malformed inputs of ``kanon-lab report``: each is refused in one line that says what to do, and nothing is left."""

import gzip
import io
import zipfile

import openpyxl
import pandas as pd
import pytest

from kanon_lab.cli import run
from kanon_lab.report import build, open_run

HEADER = "region,sex,age,weight\n"
ROWS = "".join(f"CANARY{i % 4},{i % 2},{i % 50},{1.5 + i % 3}\n" for i in range(40))
CONFIG = "key_variables: [region, sex, age]\nweight: weight\n"


def a_sheet(*rows):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def locked():
    """An archive whose entries are marked as encrypted."""
    content = bytearray(a_sheet(["region"], ["CANARY"]))
    for start, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = content.find(start)
        while at >= 0:
            content[at + place] |= 1
            at = content.find(start, at + 4)
    return bytes(content)


def empty_archive():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("CANARY.txt", "CANARY")
    return buffer.getvalue()


OLE = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(1000) + "EncryptedPackage".encode("utf-16-le") + bytes(1000)
# What is wrong -> name of the file, its content, and words of the line.
FILES = {
    "empty": ("a.csv", b"", "is empty"),
    "header only": ("a.csv", HEADER, "has no records"),
    "no names": ("a.csv", ",,,\n" + ROWS, "no column names"),
    "no header": ("a.csv", ROWS, "the same name"),
    "name twice": ("a.csv", "region,sex,age,weight,sex\n" + "CANARY,1,2,3,4\n" * 9, "the same name"),
    "long row": ("a.csv", HEADER + ROWS + "CANARY,1,2,3,4,5\n", "row"),
    "open quote": ("a.csv", HEADER + ROWS + '"CANARY,1,2,3\n' + ROWS, "quot"),
    "zero bytes": ("a.csv", (HEADER + ROWS).replace("CANARY1", "CAN\0ARY").encode(), "zero byte"),
    "column absent": ("a.csv", "regoin,sex,age,weight\n" + ROWS, "did you mean regoin"),
    "not utf-16": ("a.csv", b"\xff\xfe" + (HEADER + ROWS).encode("utf-16-le")[:-1], "wrong encoding"),
    "no gzip": ("a.csv.gz", (HEADER + ROWS).encode(), "not a gzip file"),
    "gzip cut short": ("a.csv.gz", gzip.compress((HEADER + ROWS).encode(), mtime=0)[:-20], "cut short"),
    "no format": ("a.text", (HEADER + ROWS).encode(), "its name must end in one of"),
    "encrypted sheet": ("a.xlsx", OLE, "password"),
    "locked archive": ("a.xlsx", locked(), "password"),
    "no workbook": ("a.xlsx", empty_archive(), "xlsx"),
    "bytes for a sheet": ("a.xlsx", b"CANARY" * 100, "xlsx"),
    "error in a cell": ("a.xlsx", a_sheet(HEADER.strip().split(","), ["CANARY", 1, "#N/A", 3]), "error value"),
    "row missing": ("a.xlsx", a_sheet(["region"], ["CANARY"], [None], ["CANARY"]), "row 3"),
    "bytes for parquet": ("a.parquet", b"PAR1" + b"CANARY" * 50, "arquet"),
    "bytes for SPSS": ("a.sav", b"$FL2" + b"CANARY" * 50, "not a .sav file, or is damaged"),
    "bytes for Stata": ("a.dta", b"CANARY" * 50, "not a .dta file, or is damaged"),
    "bytes for SAS": ("a.sas7bdat", b"CANARY" * 50, "not a .sas7bdat file, or is damaged"),
}
CONFIGURATIONS = {
    "empty": ("", "is empty"),
    "no YAML": ("key_variables: [region", "line"),
    "a list": ("- region", "does not hold settings"),
    "setting unknown": (CONFIG + "limts: {k: 3}\n", "did you mean limits"),
    "setting twice": (CONFIG + "weight: age\n", "a name that is already there"),
    "limit unknown": (CONFIG + "limits: {global_rik: 0.1}\n", "did you mean global_risk"),
    "limit too large": (CONFIG + "limits: {global_risk: 5}\n", "from 0 to 1"),
    "limit of households": (CONFIG + "limits: {household_risk: 0.1}\n", "needs a household"),
    "k of nothing": (CONFIG + "k_required: three\n", "whole number"),
    "no keys": ("weight: weight\n", "key_variables is not given"),
    "two roles": ("key_variables: [weight]\nweight: weight\n", "one of the two roles"),
    "step unknown": (CONFIG + "steps: [{supress: {}}]\n", "did you mean suppress"),
    "step without k": (CONFIG + "steps: [{suppress: {}}]\n", "k_required"),
    "language unknown": (CONFIG + "language: fr\n", "language must be one of en, es"),
    "an anchor": ("key_variables: &a [region]\nna: *a\n", "anchor"),
    "a type": ("key_variables: !!python/object:os.system [ls]\n", "in quotes"),
    "hierarchy absent": (
        CONFIG + "steps: [{recode: {variable: age, hierarchy: {file: no.csv}, level: 1}}]\n",
        "no.csv",
    ),
    "map without grid": (CONFIG + "map: {}\n", "grid"),
    "codes of no column": (CONFIG + "missing_codes: {agge: [99]}\n", "did you mean age"),
    "separator": (CONFIG + "separator: ';'\n", "separator"),
    "encoding": (CONFIG + "encoding: klingon\n", "encoding"),
    "column unknown": ("key_variables: [region, sexx]\n", "did you mean sex"),
}
OPTIONS = {
    "no configuration": (["--out", "r.html"], "--config is not given"),
    "no page": (["--config", "r.yml"], "--out is not given"),
    "another ending": (["--config", "r.yml", "--out", "r.pdf"], "must end in .html"),
    "folder absent": (["--config", "r.yml", "--out", "no/r.html"], "its folder does not exist"),
    "one page of two": (["--config", "r.yml", "--config", "r.yml", "--out", "r.html"], "would write one page"),
    "setting of nothing": (["--config", "r.yml", "--out", "r.html", "--set", "language"], "name=value"),
    "setting in a text": (["--config", "r.yml", "--out", "r.html", "--set", "weight.k=3"], "weight"),
    "option unknown": (["--config", "r.yml", "--out", "r.html", "--fial"], "--fail"),
}


@pytest.fixture
def refused(tmp_path, monkeypatch, capsys):
    """Say what was wrong with a file or configuration, and check that it was one line and nothing more.

    The notebook begins in this process: a kernel for each would take minutes.
    """

    def executed(folder, parameters, *_):
        options = parameters.pop("options")
        with monkeypatch.context() as patch:
            patch.chdir(folder)
            open_run(**parameters, **options)
        pytest.fail("the input was taken")

    def _refused(name, *args):
        before = sorted(tmp_path.iterdir())
        code = run(["report", name, *args])
        out, err = capsys.readouterr()
        assert (code, out) == (2, "")
        assert err.startswith("kanon-lab: ")
        assert err.count("\n") == 1
        assert len(err) < 500
        for secret in ("CANARY", str(tmp_path), "Traceback", "Error"):
            assert secret not in err
        assert sorted(tmp_path.iterdir()) == before
        return err

    monkeypatch.setattr(build, "_executed", executed)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text(HEADER + ROWS)
    (tmp_path / "r.yml").write_text(CONFIG)
    return _refused


@pytest.mark.parametrize("case", FILES)
def test_malformed_file(refused, tmp_path, case):
    name, content, words = FILES[case]
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    err = refused(str(tmp_path / name), "--config", "r.yml", "--out", "r.html")
    assert words in err
    assert name in err


@pytest.mark.parametrize("case", CONFIGURATIONS)
def test_malformed_configuration(refused, tmp_path, case):
    text, words = CONFIGURATIONS[case]
    (tmp_path / "r.yml").write_text(text)
    assert words in refused("a.csv", "--config", str(tmp_path / "r.yml"), "--out", "r.html")


@pytest.mark.parametrize("case", OPTIONS)
def test_malformed_options(refused, case):
    args, words = OPTIONS[case]
    assert words in refused("a.csv", *args)


@pytest.mark.parametrize(("name", "words"), [("absent.csv", "no such file"), (".", "folder"), ("", "is empty")])
def test_no_file(refused, name, words):
    assert words in refused(name, "--config", "r.yml", "--out", "r.html")


def test_what_is_right_is_taken(refused):
    """So that the refusals above are not those of the test's own inputs."""
    with pytest.raises(pytest.fail.Exception, match="the input was taken"):
        refused("a.csv", "--config", "r.yml", "--out", "r.html")
    assert pd.read_csv("a.csv").columns.tolist() == HEADER.strip().split(",")
