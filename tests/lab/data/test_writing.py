"""Writing microdata: the same bytes each time, what is missing stays missing, and no half-written file."""

import errno
import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from kanon_lab.data.microdata import FORMATS, read_microdata
from kanon_lab.data.writing import write_microdata
from kanon_lab.errors import DataError, KanonLabError, StorageError

ENDINGS = [*FORMATS, *(f"{form}.gz" for form in FORMATS)]


def a_frame():
    frame = pd.DataFrame(
        {
            "text": pd.Series(["ñandú", None, '"a,b"'], dtype="str"),
            "code": pd.Series(["007", "010", None], dtype="str"),
            "whole": pd.array([1, None, -3], dtype="Int64"),
            "number": [1.5, np.nan, 1e-7],
            "kind": pd.Categorical(["b", None, "b"], categories=["a", "b"]),
        }
    )
    return frame.set_index(pd.Index([9, 5, 7]))


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_format_is_read_again_as_it_was(tmp_path, ending):
    frame = a_frame()
    write_microdata(frame, tmp_path / f"out.{ending}")
    again = read_microdata(tmp_path / f"out.{ending}")
    expected = frame.astype({"kind": "str"}).astype(object).where(frame.notna(), None).to_numpy().tolist()
    found = again.astype(object).where(again.notna(), None).to_numpy().tolist()
    assert list(again.columns) == list(frame.columns)
    assert found == expected
    pd.testing.assert_frame_equal(frame, a_frame())


def test_the_same_frame_gives_the_same_bytes_at_any_time(tmp_path):
    """In a process whose clock is a year ahead."""
    code = (
        "import sys, time; sys.path[:0] = [sys.argv[1]]\n"
        "later = time.time() + 366 * 86400; time.time = lambda: later\n"
        "import test_writing; from kanon_lab.data.writing import write_microdata\n"
        "for ending in test_writing.ENDINGS: write_microdata(test_writing.a_frame(), f'{sys.argv[2]}.{ending}')"
    )
    subprocess.run([sys.executable, "-c", code, Path(__file__).parent, tmp_path / "two"], check=True)
    for ending in ENDINGS:
        write_microdata(a_frame(), tmp_path / f"one.{ending}")
        assert (tmp_path / f"one.{ending}").read_bytes() == (tmp_path / f"two.{ending}").read_bytes(), ending


def test_clocks_of_formats_that_have_one_are_set(tmp_path):
    """SPSS has 17 bytes from 92 on, Stata a tag: where their writer put today's date, and nothing else."""
    frame = a_frame()[["number"]]
    for form, write in {"sav": pyreadstat.write_sav, "dta": partial(pyreadstat.write_dta, version=14)}.items():
        write(frame, tmp_path / f"today.{form}")
        write_microdata(frame, tmp_path / f"out.{form}")
        today, ours = ((tmp_path / f"{name}.{form}").read_bytes() for name in ("today", "out"))
        differ = [i for i, (one, other) in enumerate(zip(today, ours, strict=True)) if one != other]
        stamp = ours[92:109] if form == "sav" else re.search(rb"<timestamp>.(.{17})</timestamp>", ours)[1]
        assert stamp == (b"01 Jan 0000:00:00" if form == "sav" else b"01 Jan 2000 00:00")
        assert differ and max(differ) - min(differ) < len(stamp)


def test_a_category_that_no_record_has_is_not_written(tmp_path):
    write_microdata(a_frame()[["kind"]], tmp_path / "out.parquet")
    assert list(pd.read_parquet(tmp_path / "out.parquet")["kind"].dropna().unique()) == ["b"]
    assert not isinstance(pd.read_parquet(tmp_path / "out.parquet")["kind"].dtype, pd.CategoricalDtype)


def test_categories_that_are_numbers_stay_numbers(tmp_path):
    frame = pd.DataFrame({"a": pd.Categorical([2, None, 1], categories=[1, 2, 3])})
    write_microdata(frame, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == 'a\n2\n""\n1\n'


def test_a_sheet_has_no_formulas(tmp_path):
    texts = ["=1+1", "#N/A", "=", "#", "plain"]
    write_microdata(pd.DataFrame({"=a": texts}), tmp_path / "out.xlsx")
    assert read_microdata(tmp_path / "out.xlsx")["=a"].tolist() == texts


@pytest.mark.parametrize("form", ["xlsx", "sav", "dta"])
def test_a_number_that_the_format_would_change_is_refused(tmp_path, form):
    frame = pd.DataFrame({"id": [1, 2**53 + 1]}, index=["x", "y"])
    with pytest.raises(DataError, match=r"column id: row y: a number with more digits") as caught:
        write_microdata(frame, tmp_path / f"out.{form}")
    assert str(2**53 + 1) not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("form", "frame", "fault"),
    [
        ("sav", pd.DataFrame({"a": [1], "two words": [1]}), "column two words has a name or values"),
        ("dta", pd.DataFrame({"a": [1], "if": [1]}), "column if has a name or values"),
        ("dta", pd.DataFrame({"a": [1], "b": [np.inf]}), "column b has a name or values"),
        ("parquet", pd.DataFrame({"a": [1, 2], "b": [1, "SECRET"]}), "column b has a name or values"),
        ("xlsx", pd.DataFrame({"a": ["SECRET\x01"]}), "column a has a name or values"),
        ("xlsx", pd.DataFrame({"a": ["b", "SECRET" * 6000]}), "column a: row 1: a text of more than 32,767"),
        ("xlsx", pd.DataFrame({"a": [1.5, -np.inf]}), "column a: row 1: an infinite number"),
        ("xlsx", pd.DataFrame({"a": ["b", np.inf]}, dtype=object), "column a: row 1: an infinite number"),
        ("xlsx", pd.DataFrame({"a": ["b", None, "c"], "b": [1, None, 2]}), "row 1: every cell is missing"),
        *(
            (form, pd.DataFrame({"a": ["b", "SECRET\0"]}), "column a: row 1: a text with a zero byte")
            for form in FORMATS
        ),
        ("csv", pd.DataFrame({"a\0": [1]}), "zero byte"),
        ("csv", pd.DataFrame({"a": ["SECRET\ud800"]}, dtype=object), "column a has a name or values"),
        ("csv", pd.DataFrame({"a": []}), "no records"),
        ("csv", pd.DataFrame({"": [1]}), "is not text"),
        ("csv", pd.DataFrame({2019: [1]}), "is not text"),
        ("csv", pd.DataFrame([[1, 2]], columns=["a", "a"]), "column a occurs twice"),
    ],
)
def test_what_a_format_cannot_hold(tmp_path, form, frame, fault):
    with pytest.raises(DataError, match=fault) as caught:
        write_microdata(frame, tmp_path / f"out.{form}")
    assert "SECRET" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("form", ["csv", "parquet", "xlsx"])
def test_a_carriage_return_in_a_text_stays_there(tmp_path, form):
    frame = pd.DataFrame({"a": ["one\rtwo", "b", None], "b": [1.5, None, 2]})
    write_microdata(frame, tmp_path / f"out.{form}")
    again = read_microdata(tmp_path / f"out.{form}")
    assert len(again) == 3
    assert [again["a"].iloc[0].replace("\n", "\r"), again["a"].iloc[1]] == ["one\rtwo", "b"]
    assert again["b"].isna().tolist() == [False, True, False]


@pytest.mark.parametrize("ending", ["csv", "sav.gz", "xlsx"])
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444])
def test_who_may_read_a_file_stays_so_when_it_is_replaced(tmp_path, ending, mode):
    target, seen = tmp_path / f"out.{ending}", []
    target.write_text("old")
    target.chmod(mode)

    def check(frame):
        seen.extend(path.stat().st_mode & 0o077 for path in tmp_path.iterdir())

    write_microdata(a_frame(), target, overwrite=True, check=check)
    assert target.stat().st_mode & 0o777 == mode
    assert set(seen) == {mode & 0o077}


def test_a_sheet_that_finds_no_room_says_so_once_and_leaves_nothing(tmp_path):
    """A limit on the size of files stands for a full disk."""
    code = (
        "import resource, sys; import pandas as pd; from kanon_lab.data.writing import write_microdata\n"
        "from kanon_lab.errors import StorageError\n"
        "frame = pd.DataFrame({'a': [f'text {i}' for i in range(20_000)]})\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        "try: write_microdata(frame, sys.argv[1])\n"
        "except StorageError as error: print(error)\n"
        "import os, tempfile; print(os.listdir(tempfile.gettempdir()))"
    )
    pytest.importorskip("resource")
    done = subprocess.run(
        [sys.executable, "-c", code, "out.xlsx"],
        capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    assert done.stderr == ""
    assert re.fullmatch(r"out.xlsx: cannot be written \(.*\n\[\]\n", done.stdout)


def test_a_file_that_holds_something_else_stays_unless_said(tmp_path):
    target = tmp_path / "out.csv"
    target.write_text("old")
    with pytest.raises(StorageError, match="exists and holds something else"):
        write_microdata(a_frame(), target)
    assert target.read_text() == "old"
    write_microdata(a_frame(), target, overwrite=True)
    before = target.read_bytes()
    write_microdata(a_frame(), target)
    assert target.read_bytes() == before
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("fault", [DataError("refused"), KeyboardInterrupt(), OSError(errno.ENOSPC, "No space left")])
@pytest.mark.parametrize("ending", ["csv", "sav.gz"])
def test_what_fails_or_is_interrupted_leaves_nothing(tmp_path, fault, ending):
    seen = []

    def check(frame):
        seen.append(frame)
        raise fault

    expected = StorageError if isinstance(fault, OSError) else type(fault)
    with pytest.raises(expected):
        write_microdata(a_frame(), tmp_path / f"out.{ending}", check=check)
    assert seen[0]["code"].tolist()[:2] == ["007", "010"]
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_one_line_and_leaves_nothing(tmp_path):
    """A limit on the size of files stands for the disk."""
    code = (
        "import resource, sys; import numpy as np, pandas as pd, pyreadstat\n"
        "from kanon_lab.data.writing import FORMATS, write_microdata; from kanon_lab.errors import StorageError\n"
        "frame = pd.DataFrame(np.random.default_rng(1).random((4000, 4)), columns=list('abcd'))\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        "for form in FORMATS:\n"
        "    try: write_microdata(frame, f'{sys.argv[1]}/out.{form}')\n"
        "    except StorageError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-B", "-c", code, tmp_path], capture_output=True, text=True)
    assert [line.split(": ")[0] for line in done.stdout.splitlines()] == [f"{tmp_path}/out.{form}" for form in FORMATS]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["out.txt", "out", "absent/out.csv", "folder.csv"])
def test_a_place_that_cannot_be_written(tmp_path, name):
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(StorageError) as caught:
        write_microdata(a_frame(), tmp_path / name)
    assert isinstance(caught.value, KanonLabError)
    assert "\n" not in str(caught.value)
