"""Files of counts that somebody has forged or damaged: one line, and no more memory than was allowed."""

import json
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from kanon_lab import files
from kanon_lab.engines import load_counts
from kanon_lab.errors import DataError, SizeError

RECORDS, SUM, REST = "records of the combination", "sum of weights", "rest of the sum"
SAYS = {"version": 1, "key_variables": ["age"], "sensitive_variables": [], "weight": None, "spelled": []}
COUNTS = {"age": pa.array([1, 2]), RECORDS: pa.array([1, 2])}


def write(path, columns=COUNTS, says=SAYS):
    metadata = says if isinstance(says, bytes) else json.dumps(says)
    parquet.write_table(pa.table(columns).replace_schema_metadata({b"kanon_lab_counts": metadata}), path)
    return path


@pytest.fixture(scope="module")
def many_rows(tmp_path_factory):
    """Two million rows in a few kilobytes."""
    same = pa.array(np.ones(2_000_000, dtype=np.int64))
    return write(tmp_path_factory.mktemp("counts") / "many.parquet", {"age": same, RECORDS: same})


def test_small_file_with_many_rows_is_refused_before_it_is_unpacked(many_rows):
    assert many_rows.stat().st_size < 100_000
    with files.limited(100_000_000), pytest.raises(SizeError, match="many.parquet: reading it would take more"):
        load_counts([many_rows])


def test_memory_is_that_of_all_parts(many_rows):
    with files.limited(200_000_000):
        assert load_counts([many_rows]).records.sum() == 2_000_000
        with pytest.raises(SizeError):
            load_counts([many_rows, many_rows])


@pytest.mark.parametrize(
    "says",
    [
        *(b"[1]", b'"text"', b"1", b"null", b"\xff\xfe", b"[" * 100_000),
        *({"key_variables": value} for value in (5, None, [], [["age"]], [1], ["age", "age"], ["age", RECORDS])),
        *({"weight": value} for value in (["w"], 3, "age")),
        *({"spelled": value} for value in (5, None, [5], [[1]])),
        {"sensitive_variables": ["age"]},
    ],
    ids=str,
)
def test_forged_roles_are_one_line(tmp_path, says):
    path = write(tmp_path / "forged.parquet", says=says if isinstance(says, bytes) else {**SAYS, **says})
    with pytest.raises(DataError, match="forged.parquet: holds no counts of records"):
        load_counts([path])


@pytest.mark.parametrize(
    "counts", [[2**62, 2**62], [0, 1], [None, 1], [True, True], [1.0, 2.0], ["1", "2"], [[1], [2]]], ids=str
)
def test_forged_counts_are_one_line(tmp_path, counts):
    path = write(tmp_path / "forged.parquet", {**COUNTS, RECORDS: pa.array(counts)})
    with pytest.raises(DataError, match="a count is not a whole number"):
        load_counts([path])


@pytest.mark.parametrize("sums", [["a", "b"], [np.nan, 1.0], [np.inf, 1.0], [[3.0], [1.0]], [None, 1.0]], ids=str)
def test_forged_weights_are_one_line(tmp_path, sums):
    columns = {**COUNTS, SUM: pa.array(sums), REST: pa.array([0.0, 0.0])}
    path = write(tmp_path / "forged.parquet", columns, {**SAYS, "weight": "w"})
    with pytest.raises(DataError, match="a sum of weights is not a number"):
        load_counts([path])


def test_damaged_file_ends_the_process_as_it_should(tmp_path):
    path = write(tmp_path / "counts.parquet")
    content = path.read_bytes()
    path.write_bytes(content[:4] + bytes(20) + content[24:])
    command = [sys.executable, "-m", "kanon_lab", "measure", "--classes", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ, check=False)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "is not a Parquet file, or is cut short" in done.stderr
