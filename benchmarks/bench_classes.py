"""f_k of each record: the class table, one sort of packed keys, and GROUP BY written back to the records."""

import numpy as np
from generators import KEYS, keys
from harness import Question, Task

import kanon_lab

NAMES = list(KEYS)
LIST = ", ".join(NAMES)
CLASSES = f"SELECT {LIST}, count(*) AS f_k FROM records GROUP BY {LIST}"


def packed(frame):
    """What there is to do at the least: keys and row packed into one number, one sort, written back."""
    code = np.zeros(len(frame), dtype=np.int64)
    for name in NAMES:
        code *= KEYS[name][0]
        code += frame[name].to_numpy()
    bits = len(frame).bit_length()
    code = (code - code.min() << bits) | np.arange(len(frame))
    code.sort()
    row = code & ((1 << bits) - 1)
    code >>= bits
    records = np.diff(np.flatnonzero(np.r_[True, code[1:] != code[:-1]]), append=len(frame))
    f_k = np.empty(len(frame), dtype=np.int64)
    f_k[row] = np.repeat(records, records)
    return f_k


def to_polars(frame):
    import polars

    return polars.from_pandas(frame)


def over(frame):
    import polars

    return frame.select(polars.len().over(NAMES)).to_series().to_numpy()


def to_duckdb(frame):
    """A table of its own, its records numbered."""
    import duckdb

    connection = duckdb.connect()
    connection.register("numbered", frame.assign(record=np.arange(len(frame))))
    connection.execute("CREATE TABLE records AS SELECT * FROM numbered")
    connection.unregister("numbered")
    return connection


def joined(connection):
    return connection.execute(f"SELECT record, f_k FROM records JOIN ({CLASSES}) USING ({LIST})").fetchnumpy()["f_k"]


def smallest(frame):
    from pycanon import anonymity

    return anonymity.k_anonymity(frame, NAMES)


def total(f_k):
    return f"sum of f_k {int(np.asarray(f_k).sum()):,}"


QUESTION = Question(
    "f_k of each record, eight keys",
    keys,
    {
        "kanon_lab": lambda frame: kanon_lab.class_table(frame, NAMES).f_k_of_records(),
        "NumPy, keys packed, one sort": packed,
        "pandas": lambda frame: frame.groupby(NAMES)["region"].transform("size"),
        "Polars": Task(over, to_polars, "polars"),
        "DuckDB, joined": Task(joined, to_duckdb, "duckdb"),
        "DuckDB, classes alone": Task(
            lambda connection: connection.execute(CLASSES).fetchnumpy()["f_k"],
            *(to_duckdb, "duckdb"),
            answer=lambda sizes: total(np.square(sizes, dtype=np.int64)),
        ),
        "pycanon, the smallest alone": Task(smallest, needs="pycanon", answer=None),
        "sdcMicro": Task("freqCalc(data, keyVars = 1:8)", lambda frame: frame[NAMES]),
    },
    answer=total,
    agree=True,
    sizes=(25_000, 125_000, 500_000, 2_500_000),
)
