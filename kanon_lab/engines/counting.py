"""The records of a file counted by an engine: how many have the same values, and the sum of their weights.

The engine groups, and decides nothing else: the different values of each column are read by the same rules as a whole
file is, numbered in the order that they have in a class table, and joined to the records before these are grouped.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

import numpy as np
import pandas as pd
import pyarrow as pa

from kanon_lab import files
from kanon_lab.classes import ClassTable, class_table, table_of_counts
from kanon_lab.classes.sums import Pieces, Sums, sums_by_group
from kanon_lab.columns import Coded, coded, distinct_rows, holds_numbers, sorted_rows
from kanon_lab.data.delimited import Dialect, as_values
from kanon_lab.data.microdata import MicrodataFile, as_column, located, read_file
from kanon_lab.data.values import Code, MissingCodes, composed, listed, settled, wanting
from kanon_lab.engines.source import Source, check_engine, find_source, spill_folder
from kanon_lab.errors import DataError, SizeError, about, shortened
from kanon_lab.roles import KeySpec

# What is packed into one number must fit 63 bits.
_LARGEST = 2**63 - 1
# Of the memory that is allowed, the part that the engine gets; the counts take the rest.
_SHARE = 0.5
# Pieces of a weight: what an engine is asked for grows with two to this power. Weights as of surveys have two to four.
_MOST_PIECES = 6
# Combinations that are unpacked at a time.
_BLOCK = 2**18


class Engine(Protocol):
    """What an engine can do."""

    def open(self, source: Source) -> None:
        """Make the chosen columns the table ``source``, under the names c0, c1 ..."""

    def put(self, name: str, table: pa.Table) -> None:
        """Make a small table known."""

    def query(self, sql: str) -> pa.Table:
        """The rows of a small result."""

    def batches(self, sql: str) -> Iterator[pa.RecordBatch]:
        """The rows of a large result, some at a time."""

    #: Whether it writes a folder of parts, or one file in the order of the records once it was told to keep it.
    writes_folders: bool

    def rest(self) -> None:
        """Give its memory back until it is asked again."""

    def keep_order(self) -> None:
        """Keep the order of the records from now on."""

    def write(self, sql: str, names: list[str], out: Path, separator: str | None) -> None:
        """Write the rows of a query under names of columns: csv with a separator, else Parquet."""

    def close(self) -> None:
        """Free its memory."""


@dataclass(frozen=True)
class CountedFile:
    """The records of a file, counted.

    Attributes
    ----------
    frame : one row for each combination of values that occurs, each column but the weight a categorical
    records : how many records have it, shape (rows,)
    weights : the sum of their weights; None without a weight variable
    values, times : by column that an engine counted, its different values, and how many records have each
    notes : as `kanon_lab.data.MicrodataFile` has them
    spelled : columns of decimals in csv: in another part a number may be spelled otherwise, and be another value then
    """

    spec: KeySpec
    frame: pd.DataFrame = field(repr=False)
    records: np.ndarray = field(repr=False)
    weights: Sums | None = field(repr=False)
    values: dict[str, pd.Series] = field(repr=False)
    times: dict[str, np.ndarray] = field(repr=False)
    notes: tuple[str, ...]
    spelled: tuple[str, ...] = ()

    def table(self, spec: KeySpec | None = None) -> ClassTable:
        """Its class table; of some of the keys, or with another meaning of missing ones, where a spec says so."""
        return table_of_counts(self.frame, spec or self.spec, records=self.records, weights=self.weights)


@dataclass(frozen=True)
class _Reading:
    """How cells are read, and what was found in them."""

    text: list[str]
    na: list[str]
    codes: MissingCodes
    values: dict[str, pd.Series] = field(default_factory=dict)
    times: dict[str, np.ndarray] = field(default_factory=dict)
    decimals: set[str] = field(default_factory=set)
    spelled: list[str] = field(default_factory=list)


def count_records(
    path: str | Path,
    spec: KeySpec,
    *,
    engine: str,
    memory: int | None = None,
    spill: str | Path | None = None,
    text: Iterable[str] | str = (),
    na: Iterable[str] | str = (),
    missing_codes: Mapping[str, Iterable[Code]] | None = None,
    dialect: Dialect | None = None,
    progress: bool = False,
) -> CountedFile:
    """Count the records of a file or a folder of parts, however large, by an engine.

    Parameters
    ----------
    path : a .parquet, .csv or .csv.gz file, or a folder of such parts; with Spark also an address or table of its own
    spec : the variables; those of every role are counted together
    engine : one of `ENGINES`
    memory : bytes that this may take; by default as in `kanon_lab.data.read_microdata`. The engine gets half of it
    spill : folder for what does not fit; by default the system's for temporary files
    text, na, missing_codes : as in `kanon_lab.data.read_microdata`
    dialect : of a csv file, where it is not to be found
    progress : whether to show it on standard error

    Returns
    -------
    CountedFile
        The same, to the last digit, whatever the engine, the order of the records and the parts that they stand in.

    Examples
    --------
    >>> pd.DataFrame({"age": [30, 41, 30]}).to_parquet("three.parquet")
    >>> kanon_lab.engines.count_records("three.parquet", kanon_lab.KeySpec("age"), engine="duckdb").table().f_k.tolist()
    [2, 1]
    """
    memory = memory or files.limit() or files.MAX_BYTES
    reading = _Reading(list(map(composed, listed(text))), listed(na), MissingCodes(missing_codes))
    if check_engine(engine) == "memory":
        read = read_file(path, columns=spec.variables, text=text, na=na, missing_codes=missing_codes, max_bytes=memory)
        with about(str(path)):
            return counted_in_memory(path, read, spec)
    path, _, codes = located(path)
    reading.text.extend(codes)
    with spill_folder(spill) as folder, about(str(path)):
        source = find_source(path, list(spec.variables), engine, dialect or Dialect(), folder)
        if source.named and (absent := [name for name in reading.codes.codes if name not in source.named]):
            raise wanting(absent[0], list(source.named), sure=True)
        opened = _opened(engine, int(memory * _SHARE), folder)
        try:
            with _diagnosed(source, spec, reading, progress):
                if source.faulty:
                    raise DataError(source.faulty)
                opened.open(source)
                found = _counted(opened, source, spec, reading, progress)
                if spec.missing == "error":
                    found.table()  # which refuses missing keys
                return found
        finally:
            opened.close()


def counted_in_memory(path: str | Path, read: MicrodataFile, spec: KeySpec) -> CountedFile:
    """The records of a file that was read in memory, counted; of csv with the columns of decimals."""
    counted = count_frame(read.numbered, spec, notes=read.notes)
    if read.found["format"] != "csv" or read.found["decimal"] is None:
        return counted
    numbers = [name for name, column in read.frame.items() if holds_numbers(column)]
    spelled = [name for name in numbers if read_file(path, columns=name).found["decimal"] is not None]
    return replace(counted, spelled=tuple(spelled))


def count_frame(frame: pd.DataFrame, spec: KeySpec, *, notes: Iterable[str] = ()) -> CountedFile:
    """The records of a frame counted in memory: what `count_records` gives of a file that holds them.

    Examples
    --------
    >>> ages = pd.DataFrame({"age": [30, 41, 30]})
    >>> kanon_lab.engines.count_frame(ages, kanon_lab.KeySpec("age")).records.tolist()
    [2, 1]
    """
    table = class_table(frame, spec)
    return counted_rows(frame, spec, np.ones(table.n, dtype=np.int64), table.weight_of_record, notes=notes)


def counted_rows(
    frame: pd.DataFrame,
    spec: KeySpec,
    records: np.ndarray,
    weights: np.ndarray | Sums | None,
    *,
    notes: Iterable[str] = (),
) -> CountedFile:
    """The same of rows that are so many records each, whose weights add up to these sums."""
    grouping = [name for name in spec.variables if name != spec.weight]
    keys = {name: coded(frame[name]) for name in grouping}
    row, some = distinct_rows(np.column_stack([key.codes for key in keys.values()]))
    found = {name: _categorical(key.codes[some], key.values) for name, key in keys.items()}
    sums = None if weights is None else sums_by_group(row, weights, len(some))
    counts = np.bincount(row, records, minlength=len(some)).astype(np.int64)
    return CountedFile(spec, pd.DataFrame(found), counts, sums, {}, {}, tuple(notes))


def _categorical(codes: np.ndarray, values: pd.Index) -> pd.Categorical:
    return pd.Categorical.from_codes(codes, dtype=pd.CategoricalDtype(values), validate=False)


def _opened(engine: str, memory: int, folder: Path) -> Engine:
    if engine == "spark":
        from kanon_lab.engines.spark_engine import Spark

        return Spark(memory, folder)
    from kanon_lab.engines.duckdb_engine import DuckDB

    return DuckDB(memory, folder)


@contextmanager
def _diagnosed(source: Source, spec: KeySpec, reading: _Reading, progress: bool) -> Iterator[None]:
    """Name the part and row of what is wrong: read part after part as a small file is, until one is refused."""
    from tqdm import tqdm

    try:
        yield
    except SizeError:  # nothing is wrong with the file
        raise
    except DataError:
        parts = tqdm(source.parts, desc="looking for the fault", disable=None if progress else True, leave=False)
        for part in parts:
            with suppress(SizeError), about(source.part_name(part)):
                read = read_file(
                    part, columns=spec.variables, text=reading.text, na=reading.na, missing_codes=reading.codes.codes
                )
                class_table(read.numbered, replace(spec, household=None))
        raise


def _counted(engine: Engine, source: Source, spec: KeySpec, reading: _Reading, progress: bool) -> CountedFile:
    from tqdm import tqdm

    grouping = [name for name in spec.variables if name != spec.weight]
    with tqdm(total=len(spec.variables) + 1, desc="counting", disable=None if progress else True, leave=False) as bar:
        keys = []
        for name in grouping:
            keys.append(_numbered(engine, source, name, reading))
            bar.update()
        weighed = None if spec.weight is None else _weighed(engine, source, spec.weight, reading)
        bar.update(spec.weight is not None)
        columns, records, sums = _grouped(engine, source, grouping, keys, weighed)
    frame = {name: _categorical(codes, key.values) for name, key, codes in zip(grouping, keys, columns, strict=True)}
    notes = _notes(source, reading, spec.variables)
    weights = None if weighed is None else weighed.pieces.added(sums)
    return CountedFile(
        spec, pd.DataFrame(frame), records, weights, reading.values, reading.times, notes, tuple(reading.spelled)
    )


def _notes(source: Source, reading: _Reading, variables: Iterable[str]) -> tuple[str, ...]:
    """What is to be known of how the file was read, as far as it was."""
    notes = []
    if source.dialect is not None:
        found = replace(source.dialect, decimal="".join(sorted(reading.decimals)) or None)
        notes += [found.note] if found.note else []
    return (*notes, *reading.codes.notes(variables))


def _numbered(engine: Engine, source: Source, name: str, reading: _Reading) -> Coded:
    """The values of a column; their numbers become a table of the engine."""
    at = source.columns.index(composed(name))
    cells, values = _different(engine, source, at, reading)
    known = coded(values)
    numbers = np.where(known.codes < 0, len(known.values), known.codes.astype(np.int64))
    engine.put(f"label_{at}", pa.table({"value": cells, "code": numbers}))
    return known


def _different(engine: Engine, source: Source, at: int, reading: _Reading) -> tuple[pa.ChunkedArray, pd.Series]:
    """The different cells of a column, and their values."""
    found = engine.query(f"SELECT c{at} AS value, count(*) AS records FROM source GROUP BY c{at}")
    name, cells = source.columns[at], found.column("value")
    if not len(cells):
        raise DataError("has no records; export or download it again")
    typed = cells
    if pa.types.is_dictionary(typed.type):
        typed = typed.cast(typed.type.value_type)
    if source.dialect is not None:
        values, decimal = as_values(
            typed.cast(pa.string()), name, source.dialect, reading.text, reading.na, reading.codes
        )
        reading.decimals.update({decimal} - {None})
        reading.spelled.extend([name] * (decimal is not None))
    else:
        kind = source.types[at] if source.types else typed.type
        if pa.types.is_null(kind):  # a column without any value, which an engine takes for numbers
            typed = pa.chunked_array([pa.nulls(len(cells))])
        else:
            with files.damaged(f"column {shortened(name)} is of a type that this engine cannot read; take another"):
                typed = typed.cast(kind.value_type if pa.types.is_dictionary(kind) else kind, safe=False)
        values = as_column(typed, name)
    values = settled(values.rename(name), name in reading.text, reading.na, reading.codes)
    reading.values[name], reading.times[name] = values, found.column("records").to_numpy()
    return cells, values


@dataclass(frozen=True)
class _Weighed:
    """How weights are cut, what is joined to have them, and the number that they then are."""

    pieces: Pieces
    join: str
    number: str


def _weighed(engine: Engine, source: Source, name: str, reading: _Reading) -> _Weighed:
    """The weights: as they are where the file has numbers, else read from the different cells."""
    at = source.columns.index(composed(name))
    kind = source.types[at] if source.types else None
    if kind is not None and _is_plain(kind) and composed(name) not in reading.codes.codes:
        join, number = "", f"CAST(c{at} AS DOUBLE)"
        found = engine.query(
            f"SELECT count(*) AS n, count(c{at}) AS known, min({number}) AS least, max({number}) AS most, "
            f"count(CASE WHEN isnan({number}) THEN 1 END) AS none FROM source"
        ).to_pylist()[0]
        n, least, most = found["n"], found["least"], found["most"]
        sound = n == found["known"] and not found["none"]
    else:
        join, number = f"JOIN weighed ON c{at} IS NOT DISTINCT FROM weighed.value", "weighed.number"
        cells, values = _different(engine, source, at, reading)
        if not holds_numbers(values):
            raise DataError(f"column {shortened(name)} holds weights that are no numbers; mend them")
        numbers = values.to_numpy(dtype=float, na_value=np.nan)
        engine.put("weighed", pa.table({"value": cells, "number": pa.array(numbers, from_pandas=False)}))
        n, least, most = int(reading.times[source.columns[at]].sum()), float(numbers.min()), float(numbers.max())
        sound = not np.isnan(numbers).any()
    if not sound or not 0 < least <= most < np.inf or most * n * n == np.inf:
        raise DataError(f"column {shortened(name)} holds a weight that is missing, or not finite and above 0; mend it")
    pieces = Pieces.of(least, most, n)
    if pieces.count > _MOST_PIECES:
        raise DataError(f"column {shortened(name)}: its weights are too far apart for an engine; take --engine memory")
    return _Weighed(pieces, join, number)


def _is_plain(kind: pa.DataType) -> bool:
    """Whether an engine reads such numbers as we do."""
    return pa.types.is_integer(kind) or kind in (pa.float32(), pa.float64())


def _grouped(
    engine: Engine, source: Source, grouping: list[str], keys: list[Coded], weighed: _Weighed | None
) -> tuple[list[np.ndarray], np.ndarray, list[np.ndarray]]:
    """The numbers of the values of each combination, by variable; its records, and the sums of pieces of weights."""
    missing = [len(key.values) for key in keys]
    words = _words([each + 1 for each in missing])
    positions = [source.columns.index(composed(name)) for name in grouping]
    parts = [
        [column.to_numpy(zero_copy_only=False) for column in batch.columns]
        for batch in engine.batches(_sql(positions, words, weighed))
    ]
    columns = []
    for place in range(len(parts[0])):
        columns.append(np.concatenate([part[place] for part in parts]))
        for part in parts:  # a file's worth of memory, column by column
            part[place] = None
    del parts
    # In the order of classes, so that nothing need be sorted again.
    if len(words) == 1:
        order, columns[0] = sorted_rows(columns[0], math.prod(radix for _, radix in words[0]))
    else:
        order = np.lexsort(columns[: len(words)][::-1])
        columns[0] = columns[0][order]
    for place in range(1, len(columns)):
        columns[place] = columns[place][order]
    del order
    codes = _unpacked(columns[: len(words)], words, missing)
    return codes, columns[len(words)].astype(np.int64), columns[len(words) + 1 :]


def _sql(positions: list[int], words: list[list[tuple[int, int]]], weighed: _Weighed | None) -> str:
    """The query that groups: numbers of values packed into words, records, and sums of pieces of weights."""
    packed = []
    for word in words:
        number = "CAST(0 AS BIGINT)"
        for at, radix in word:
            number = f"({number} * {radix} + label_{positions[at]}.code)"
        packed.append(number)
    joins = [f"JOIN label_{at} ON c{at} IS NOT DISTINCT FROM label_{at}.value" for at in positions]
    names = [f"p{i}" for i in range(len(words))]
    chosen = [f"{number} AS {name}" for number, name in zip(packed, names, strict=True)]
    sums = []
    if weighed is not None:
        joins.append(weighed.join)
        chosen.append(f"{weighed.number} AS r0")
    rows = f"SELECT {', '.join(chosen)} FROM source {' '.join(joins)}"
    for i, (up, down) in enumerate(weighed.pieces.steps() if weighed else ()):
        rows = f"SELECT *, floor({_times(f'r{i}', up)}) AS q{i} FROM ({rows}) AS t"
        rows = f"SELECT *, r{i} - {_times(f'q{i}', down)} AS r{i + 1} FROM ({rows}) AS t"
        sums.append(f"CAST(sum(CAST(q{i} AS BIGINT)) AS BIGINT) AS s{i}")
    every = ", ".join([*names, "CAST(count(*) AS INTEGER) AS records", *sums])
    return f"SELECT {every} FROM ({rows}) AS t GROUP BY {', '.join(names)}"


def _times(term: str, factors: list[float]) -> str:
    return " * ".join([term, *(f"CAST('{factor!r}' AS DOUBLE)" for factor in factors)])


def _words(radices: list[int]) -> list[list[tuple[int, int]]]:
    """Variables (position and radix) by the number that they are packed into."""
    words, size = [[]], 1
    for at, radix in enumerate(radices):
        if size > _LARGEST // radix:
            words.append([])
            size = 1
        words[-1].append((at, radix))
        size *= radix
    return words


def _unpacked(arrays: list[np.ndarray], words: list[list[tuple[int, int]]], missing: list[int]) -> list[np.ndarray]:
    """The numbers of values, -1 where missing, in as few bytes as they need."""
    codes = [np.empty(len(arrays[0]), dtype=np.min_scalar_type(-each - 1)) for each in missing]
    for start in range(0, len(arrays[0]), _BLOCK):
        rows = slice(start, start + _BLOCK)
        for packed, word in zip(arrays, words, strict=True):
            left = packed[rows]
            for at, radix in reversed(word):
                rest = left // radix
                code = left - rest * radix
                code[code == missing[at]] = -1
                codes[at][rows], left = code, rest
    return codes
