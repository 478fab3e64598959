"""The records of a file counted by an engine: how many have the same values, and the sum of their weights.

The engine groups, and decides nothing else: the different values of each column are read by the same rules as a whole
file is, numbered in the order that they have in a class table, and joined to the records before these are grouped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab import files
from kanon_lab.classes import ClassTable, class_table, table_of_counts
from kanon_lab.classes.sums import Sums, sums_by_group
from kanon_lab.columns import coded, distinct_rows, holds_numbers, named_columns
from kanon_lab.data.delimited import Dialect
from kanon_lab.data.microdata import MicrodataFile, located, read_file
from kanon_lab.data.values import Code
from kanon_lab.engines.queries import Engine, Reading, grouped_records, numbered, weights_of
from kanon_lab.engines.source import Source, check_engine, find_source, spill_folder
from kanon_lab.errors import DataError, SizeError, about
from kanon_lab.roles import KeySpec

# Of the memory that is allowed, the part that the engine gets; the counts take the rest.
_SHARE = 0.5


@dataclass(frozen=True)
class CountedFile:
    """The records of a file, counted.

    Attributes
    ----------
    frame : DataFrame
        One row for each combination of values that occurs, each column but the weight a categorical.
    records : ndarray
        How many records have it, shape (rows,).
    weights : Sums or None
        The sum of their weights; None without a weight variable.
    values, times : dict of str to Series or dict of str to ndarray
        By column that an engine counted, its different values, and how many records have each.
    notes : tuple of str
        As `kanon_lab.data.MicrodataFile` has them.
    spelled : tuple of str
        Columns of decimals in csv: in another part a number may be spelled otherwise, and be another value then.
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
    path : str or Path
        A .parquet, .csv or .csv.gz file, or a folder of such parts; with Spark also an address or table of its own.
    spec : KeySpec
        The variables; those of every role are counted together.
    engine : str
        One of `ENGINES`.
    memory : int, optional
        Bytes that this may take; by default as in `kanon_lab.data.read_microdata`. The engine gets half of it.
    spill : str or Path, optional
        Folder for what does not fit; by default the system's for temporary files.
    text, na, missing_codes : iterable of str or str or mapping of str to iterable of Code, optional
        As in `kanon_lab.data.read_microdata`.
    dialect : Dialect, optional
        Of a csv file, where it is not to be found.
    progress : bool
        Whether to show it on standard error.

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
    reading = Reading.of(text, na, missing_codes)
    if check_engine(engine) == "memory":
        read = read_file(path, columns=spec.variables, text=text, na=na, missing_codes=missing_codes, max_bytes=memory)
        with about(str(path)):
            return counted_in_memory(path, read, class_table(read.numbered, spec))
    path, _, codes = located(path)
    reading.text.extend(codes)
    with spill_folder(spill) as folder, about(str(path)):
        of_cells: dict[str, Any] = {"na": reading.na, "changes": reading.changes}
        how: dict[str, Any] = {"dialect": dialect or Dialect(), "progress": progress, **of_cells}
        source = find_source(path, spec.variables, engine, folder, needed=reading.codes.codes, **how)
        with closing(opened_engine(engine, memory, folder)) as opened, diagnosed(source, spec, reading, progress):
            opened.open(source)
            counted = counted_by(opened, source, spec, reading, progress)
            if spec.missing == "error":
                counted.table()  # which refuses missing keys
            return counted


def counted_in_memory(path: str | Path, read: MicrodataFile, table: ClassTable) -> CountedFile:
    """The records of a file that was read in memory, of which this is the class table; of csv with its decimals."""
    counted = replace(_counted_frame(read.numbered, table), notes=tuple(read.notes))
    if read.found["format"] != "csv" or read.found["decimal"] is None:
        return counted
    numbers = [name for name, column in named_columns(read.frame) if holds_numbers(column)]
    spelled = [name for name in numbers if read_file(path, columns=name).found["decimal"] is not None]
    return replace(counted, spelled=tuple(spelled))


def count_frame(frame: pd.DataFrame, spec: KeySpec) -> CountedFile:
    """The records of a frame counted in memory: what `count_records` gives of a file that holds them.

    Examples
    --------
    >>> ages = pd.DataFrame({"age": [30, 41, 30]})
    >>> kanon_lab.engines.count_frame(ages, kanon_lab.KeySpec("age")).records.tolist()
    [2, 1]
    """
    return _counted_frame(frame, class_table(frame, spec))


def _counted_frame(frame: pd.DataFrame, table: ClassTable) -> CountedFile:
    return counted_rows(frame, table.spec, np.ones(table.n, dtype=np.int64), table.weight_of_record)


def counted_rows(
    frame: pd.DataFrame, spec: KeySpec, records: np.ndarray, weights: np.ndarray | Sums | None
) -> CountedFile:
    """The same of rows that are so many records each, whose weights add up to these sums."""
    grouping = [name for name in spec.variables if name != spec.weight]
    keys = {name: coded(frame[name]) for name in grouping}
    row, some = distinct_rows(np.column_stack([key.codes for key in keys.values()]))
    columns = {name: _categorical(key.codes[some], key.values) for name, key in keys.items()}
    sums = None if weights is None else sums_by_group(row, weights, len(some))
    counts = np.bincount(row, records, minlength=len(some)).astype(np.int64)
    return CountedFile(spec, pd.DataFrame(columns), counts, sums, {}, {}, ())


def _categorical(codes: np.ndarray, values: pd.Index) -> Any:
    return pd.Categorical.from_codes(codes, dtype=pd.CategoricalDtype(values), validate=False)


def opened_engine(engine: str, memory: int, folder: Path) -> Engine:
    """An engine that gets its share of the memory, and a folder for what does not fit."""
    memory = int(memory * _SHARE)
    if engine == "spark":
        from kanon_lab.engines.spark_engine import Spark

        return Spark(memory, folder)
    from kanon_lab.engines.duckdb_engine import DuckDB

    return DuckDB(memory, folder)


@contextmanager
def diagnosed(source: Source, spec: KeySpec, reading: Reading, progress: bool) -> Iterator[None]:
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


def counted_by(engine: Engine, source: Source, spec: KeySpec, reading: Reading, progress: bool) -> CountedFile:
    """The records of what an engine has opened, counted."""
    from tqdm import tqdm

    grouping = [name for name in spec.variables if name != spec.weight]
    with tqdm(total=len(spec.variables) + 1, desc="counting", disable=None if progress else True, leave=False) as bar:
        keys = []
        for name in grouping:
            keys.append(numbered(engine, source, name, reading))
            bar.update()
        weighed = None if spec.weight is None else weights_of(engine, source, spec.weight, reading)
        bar.update(spec.weight is not None)
        n = int(next(iter(reading.times.values())).sum())
        columns, records, sums = grouped_records(engine, keys, weighed, n)
    columns_by_name = {
        name: _categorical(codes, key.values) for name, key, codes in zip(grouping, keys, columns, strict=True)
    }
    frame = pd.DataFrame(columns_by_name, copy=False)
    weights = None if weighed is None else weighed.pieces.added(sums)
    notes = notes_of(source, reading)
    return CountedFile(spec, frame, records, weights, reading.values, reading.times, notes, tuple(reading.spelled))


def notes_of(source: Source, reading: Reading) -> tuple[str, ...]:
    """What is to be known of how the file was read, as far as it was."""
    notes = []
    if source.dialect is not None:
        dialect = replace(source.dialect, decimal="".join(sorted(reading.decimals)) or None)
        notes += [dialect.note] if dialect.note else []
    in_order = [name for name in source.named or source.columns if name in source.columns]
    return (*notes, *source.notes, *reading.codes.notes(in_order), *reading.changes.notes(in_order))
