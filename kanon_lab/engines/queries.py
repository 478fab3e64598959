"""What an engine is asked: the different cells of a column, and how many records have each combination of values."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from kanon_lab import files
from kanon_lab.classes.sums import Pieces
from kanon_lab.columns import LARGEST_PACKED, Coded, coded, holds_decimals, holds_numbers, sorted_rows
from kanon_lab.data.delimited import as_values
from kanon_lab.data.microdata import as_column
from kanon_lab.data.values import BLANKS, Changes, Code, MissingCodes, composed, listed, settled
from kanon_lab.engines.source import Source
from kanon_lab.errors import DataError, shortened

# Pieces of a weight: what an engine is asked for grows with two to this power. Weights as of surveys have two to four.
_MOST_PIECES = 6
# Combinations that are unpacked at a time.
_BLOCK = 2**16
# Numbers lie close together when their range is at most so many times as long as there are numbers.
_CLOSE = 2


class Engine(ABC):
    """What an engine can do. It is opened with the bytes of memory that it may take, and a folder for the rest."""

    #: Whether it writes a folder of parts, or one file in the order of the records once it was told to keep it.
    writes_folders: bool

    @abstractmethod
    def open(self, source: Source) -> None:
        """Make the chosen columns the table ``source``, under the names c0, c1 ..."""

    @abstractmethod
    def put(self, name: str, table: pa.Table) -> None:
        """Make a small table known."""

    @abstractmethod
    def query(self, sql: str) -> pa.Table:
        """The rows of a small result."""

    @abstractmethod
    def batches(self, sql: str) -> Iterator[pa.RecordBatch]:
        """The rows of a large result, some at a time."""

    @abstractmethod
    def rest(self) -> None:
        """Give its memory back until it is asked again."""

    @abstractmethod
    def keep_order(self) -> None:
        """Keep the order of the records from now on."""

    @abstractmethod
    def write(self, sql: str, names: list[str], out: Path, separator: str | None) -> None:
        """Write the rows of a query under names of columns: csv with a separator, else Parquet."""

    @abstractmethod
    def composed(self, cell: str) -> str:
        """The text of a cell, given in SQL, with composed letters."""

    @abstractmethod
    def close(self) -> None:
        """Free its memory."""


@dataclass(frozen=True)
class Reading:
    """How cells are read, and what was found in them."""

    text: list[str]
    na: list[str]
    codes: MissingCodes
    values: dict[str, pd.Series] = field(default_factory=dict)
    times: dict[str, np.ndarray] = field(default_factory=dict)
    decimals: set[str] = field(default_factory=set)
    spelled: list[str] = field(default_factory=list)
    changes: Changes = field(default_factory=Changes)

    @classmethod
    def of(
        cls, text: Iterable[str] | str, na: Iterable[str] | str, codes: Mapping[str, Iterable[Code]] | None
    ) -> Reading:
        """How cells are read by options as of `kanon_lab.data.read_microdata`."""
        return cls(list(map(composed, listed(text))), listed(na), MissingCodes(codes))


@dataclass(frozen=True)
class Numbered:
    """The values of a column, what is joined to number its cells, the number, and by number the value's (or -1)."""

    values: pd.Index
    join: str
    number: str
    codes: np.ndarray


def numbered(engine: Engine, source: Source, name: str, reading: Reading) -> Numbered:
    """The values of a column; their numbers become a table of the engine."""
    at = source.columns.index(composed(name))
    cells, values = _different(engine, source, at, reading)
    known = coded(values)
    missing = len(known.values)
    numbers = np.where(known.codes < 0, missing, known.codes.astype(np.int64))
    engine.put(f"label_{at}", pa.table({"value": cells, "code": numbers}))
    if (near := _near(cells, known, at)) is not None:
        return near
    join = f"JOIN label_{at} ON c{at} IS NOT DISTINCT FROM label_{at}.value"
    codes = np.append(np.arange(missing), -1).astype(np.min_scalar_type(-missing - 1))
    return Numbered(known.values, join, f"label_{at}.code", codes)


def _near(cells: pa.ChunkedArray, known: Coded, at: int) -> Numbered | None:
    """Whole numbers or days that lie close together, numbered by their distance from the least: nothing is joined."""
    kind, number = cells.type, f"c{at}"
    if pa.types.is_date32(kind):
        cells, number = cells.cast(pa.int32()), f"c{at} - DATE '1970-01-01'"
    elif not pa.types.is_integer(kind) or kind == pa.uint64():
        return None
    whole, there = cells.drop_null().to_numpy().astype(np.int64), cells.is_valid().to_numpy()
    least, most = (int(whole.min()), int(whole.max())) if len(whole) else (0, 0)
    if (size := most - least + 1) > _CLOSE * len(whole):
        return None
    codes = np.full(size + 1, -1, dtype=np.min_scalar_type(-len(whole) - 1))
    codes[whole - least] = known.codes[there]
    if not np.array_equal(codes[codes >= 0], np.arange(len(whole))):  # another order, or values that mean missing ones
        return None
    return Numbered(known.values, "", f"coalesce(CAST({number} AS BIGINT) - CAST('{least}' AS BIGINT), {size})", codes)


def _different(engine: Engine, source: Source, at: int, reading: Reading) -> tuple[pa.ChunkedArray, pd.Series]:
    """The different cells of a column, and their values."""
    groups = engine.query(f"SELECT c{at} AS value, count(*) AS records FROM source GROUP BY c{at}")
    name, cells = source.columns[at], groups.column("value")
    if not len(cells):
        raise DataError("has no records; export or download it again")
    typed = cells
    if pa.types.is_dictionary(typed.type):
        typed = typed.cast(typed.type.value_type)
    if source.dialect is not None:
        values, decimal, _ = as_values(
            typed.cast(pa.string()), name, source.dialect, reading.text, reading.na, reading.codes, reading.changes
        )
        reading.decimals.update({decimal} if decimal else ())
        reading.spelled.extend([name] * (decimal is not None))
    else:
        kind = source.types[at] if source.types else typed.type
        if pa.types.is_null(kind):  # a column without any value, which an engine takes for numbers
            typed = pa.chunked_array([pa.nulls(len(cells))])
        else:
            with files.damaged(f"column {shortened(name)} is of a type that this engine cannot read; take another"):
                typed = typed.cast(kind.value_type if pa.types.is_dictionary(kind) else kind, safe=False)
        values = as_column(typed, name)
    changes = reading.changes if source.dialect is None else None  # texts of csv were settled when it was converted
    times = groups.column("records").to_numpy()
    values = settled(values.rename(name), name in reading.text, reading.na, reading.codes, changes, times)
    reading.values[name], reading.times[name] = values, times
    return cells, values


def is_text(kind: pa.DataType) -> bool:
    """Whether cells of an Arrow type are texts, also where these are categories."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def tidied_cell(engine: Engine, cell: str) -> str:
    """The text of a cell, in SQL, as `kanon_lab.data.values.tidy` makes it."""
    return f"trim(BOTH '{BLANKS}' FROM {engine.composed(cell)})"


def count_changes(engine: Engine, source: Source, reading: Reading) -> None:
    """Count the changed cells in those columns of text whose different cells are not asked for."""
    asked = {at: name for at, name in enumerate(source.columns) if name not in reading.values}
    asked = {at: name for at, name in asked.items() if is_text(source.types[at])}
    if not asked or source.dialect is not None:
        return
    sums = []
    for at in asked:
        cell, letters, text = f"c{at}", engine.composed(f"c{at}"), tidied_cell(engine, f"c{at}")
        sums += [
            f"count(CASE WHEN {letters} <> {cell} THEN 1 END) AS letters_composed_{at}",
            f"count(CASE WHEN {text} <> {letters} AND {text} <> '' THEN 1 END) AS blanks_around_{at}",
            f"count(CASE WHEN {text} <> {letters} AND {text} = '' THEN 1 END) AS blanks_only_{at}",
        ]
    for key, cells in engine.query(f"SELECT {', '.join(sums)} FROM source").to_pylist()[0].items():
        kind, _, at = key.rpartition("_")
        reading.changes.add(kind, asked[int(at)], cells)


def arrow_cells(values: pd.Series) -> pa.Array:
    """Values in a type of Arrow that keeps every digit; categories as they were before they were numbered."""
    if not isinstance(values.dtype, pd.CategoricalDtype):
        return pa.array(values, from_pandas=True)
    codes = values.cat.codes.to_numpy()
    return pa.array(values.cat.categories, from_pandas=True).take(pa.array(codes, mask=codes < 0))


@dataclass(frozen=True)
class Weighed:
    """How weights are cut, what is joined to have them, and the number that they then are."""

    pieces: Pieces
    join: str
    number: str


def weights_of(engine: Engine, source: Source, name: str, reading: Reading) -> Weighed:
    """The weights: as they are where the file has numbers, else read from the different cells."""
    at = source.columns.index(composed(name))
    kind = source.types[at] if source.types else None
    plain = kind is not None and (pa.types.is_integer(kind) or kind in (pa.float32(), pa.float64()))
    if plain and composed(name) not in reading.codes.codes:  # such numbers an engine reads as we do
        join, number = "", f"CAST(c{at} AS DOUBLE)"
        facts = engine.query(
            f"SELECT count(*) AS n, count(c{at}) AS known, min({number}) AS least, max({number}) AS most, "
            f"count(CASE WHEN isnan({number}) THEN 1 END) AS none FROM source"
        ).to_pylist()[0]
        n, least, most = facts["n"], facts["least"], facts["most"]
        sound = n == facts["known"] and not facts["none"]
    else:
        join, number = f"JOIN weighed ON c{at} IS NOT DISTINCT FROM weighed.value", "weighed.number"
        cells, values = _different(engine, source, at, reading)
        if not (holds_decimals(values) or holds_numbers(values)):
            raise DataError(f"column {shortened(name)} holds weights that are not numbers; correct them")
        numbers = values.to_numpy(dtype=float, na_value=np.nan)
        engine.put("weighed", pa.table({"value": cells, "number": pa.array(numbers, from_pandas=False)}))
        n, least, most = int(reading.times[source.columns[at]].sum()), float(numbers.min()), float(numbers.max())
        sound = not np.isnan(numbers).any()
    if not sound or not 0 < least <= most < np.inf or most * n * n == np.inf:
        raise DataError(
            f"column {shortened(name)} holds a weight that is missing, infinite, or not above 0; correct it"
        )
    pieces = Pieces.of(least, most, n)
    if pieces.count > _MOST_PIECES:
        raise DataError(f"column {shortened(name)}: its weights are too far apart for an engine; use --engine memory")
    return Weighed(pieces, join, number)


def grouped_records(
    engine: Engine, keys: list[Numbered], weighed: Weighed | None, n: int
) -> tuple[list[np.ndarray], np.ndarray, list[np.ndarray]]:
    """The numbers of the values of each combination, by variable; its records, and the sums of pieces of weights."""
    # Without weights the records are one more variable: then numbers alone are read, and sorted where they lie.
    words = words_of([len(key.codes) for key in keys] + [n + 1] * (weighed is None))
    read = [bytearray() for _ in range(len(words) + (weighed.pieces.count + 1 if weighed else 0))]
    for batch in engine.batches(_sql(keys, words, weighed)):
        for whole, column in zip(read, batch.columns, strict=True):
            whole += memoryview(column.to_numpy())
    columns = [np.frombuffer(whole, dtype=np.int64) for whole in read]
    del read
    # In the order of classes, so that nothing need be sorted again.
    if len(columns) == 1:
        columns[0].sort()
    else:
        if len(words) == 1:
            order, columns[0] = sorted_rows(columns[0], math.prod(radix for _, radix in words[0]))
        else:
            order = np.lexsort(columns[: len(words)][::-1])
            columns[0] = columns[0][order]
        for place in range(1, len(columns)):
            columns[place] = columns[place][order]
        del order
    *codes, last = _unpacked(columns[: len(words)], words, [key.codes for key in keys])
    records, *sums = columns[len(words) :] or [last]
    return codes, records, sums


def _sql(keys: list[Numbered], words: list[list[tuple[int, int]]], weighed: Weighed | None) -> str:
    """The query that groups: numbers of values packed into words, records, and sums of pieces of weights."""
    joins, chosen, every = [key.join for key in keys], [], []
    for i, word in enumerate(words):
        number = "CAST(0 AS BIGINT)"
        for at, radix in word:
            if at < len(keys):
                number = f"({number} * {radix} + {keys[at].number})"
        chosen.append(f"{number} AS p{i}")
        every.append(f"p{i}")
    if weighed is None:
        every[-1] = f"{every[-1]} * {words[-1][-1][1]} + count(*)"
    else:
        every.append("count(*)")
        joins.append(weighed.join)
        chosen.append(f"{weighed.number} AS r0")
    rows = f"SELECT {', '.join(chosen)} FROM source {' '.join(joins)}"
    for i, (up, down) in enumerate(weighed.pieces.steps() if weighed else ()):
        rows = f"SELECT *, floor({_times(f'r{i}', up)}) AS q{i} FROM ({rows}) AS t"
        rows = f"SELECT *, r{i} - {_times(f'q{i}', down)} AS r{i + 1} FROM ({rows}) AS t"
        every.append(f"CAST(sum(CAST(q{i} AS BIGINT)) AS BIGINT)")
    groups = ", ".join(f"p{i}" for i in range(len(words)))
    return f"SELECT {', '.join(every)} FROM ({rows}) AS t GROUP BY {groups}"


def _times(term: str, factors: list[float]) -> str:
    return " * ".join([term, *(f"CAST('{factor!r}' AS DOUBLE)" for factor in factors)])


def words_of(radices: list[int]) -> list[list[tuple[int, int]]]:
    """Variables (position and radix) by the number that they are packed into."""
    words: list[list[tuple[int, int]]] = [[]]
    size = 1
    for at, radix in enumerate(radices):
        if size > LARGEST_PACKED // radix:
            words.append([])
            size = 1
        words[-1].append((at, radix))
        size *= radix
    return words


def _unpacked(
    arrays: list[np.ndarray], words: list[list[tuple[int, int]]], lookups: list[np.ndarray]
) -> list[np.ndarray]:
    """What was packed: by variable what its lookup has under its numbers; last, where they lay, numbers without one."""
    columns = [np.empty(len(arrays[0]), dtype=lookup.dtype) for lookup in lookups] + arrays[-1:]
    for start in range(0, len(arrays[0]), _BLOCK):
        rows = slice(start, start + _BLOCK)
        for packed, word in zip(arrays, words, strict=True):
            left = packed[rows]
            for at, radix in reversed(word):
                rest = left // radix
                number = left - rest * radix
                columns[at][rows] = lookups[at][number] if at < len(lookups) else number
                left = rest
    return columns
