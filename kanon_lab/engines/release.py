"""A protected file written by an engine: one join of the records with what becomes of their values.

What a value becomes is a small table of each column, and the values that are suppressed are one of combinations of
them; both are decided elsewhere, on counts. Every other cell goes out as it came.
"""

from __future__ import annotations

import csv
import io
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from kanon_lab import files
from kanon_lab.columns import coded, plain
from kanon_lab.data.delimited import Dialect
from kanon_lab.data.microdata import located
from kanon_lab.data.values import Code, composed, tidy
from kanon_lab.data.writing import refuse_another
from kanon_lab.engines.counting import CountedFile, counted_by, diagnosed, notes_of, opened_engine
from kanon_lab.engines.queries import (
    Engine,
    Reading,
    arrow_cells,
    count_changes,
    is_text,
    numbered,
    tidied_cell,
    words_of,
)
from kanon_lab.engines.source import Source, find_source, spill_folder
from kanon_lab.errors import DataError, OptionError, StorageError, about, shortened
from kanon_lab.roles import KeySpec


@dataclass(frozen=True)
class Hidden:
    """Values that are suppressed, by combinations of values.

    Attributes
    ----------
    codes : mapping of str to ndarray
        By column, a number for each of its distinct values (missing last); values that are treated alike share it.
    rows : ndarray
        Combinations of these numbers, shape (rows, columns).
    lost : mapping of str to ndarray
        By released column, whether its value is suppressed in each combination.
    """

    codes: Mapping[str, np.ndarray]
    rows: np.ndarray = field(repr=False)
    lost: Mapping[str, np.ndarray] = field(repr=False)


@dataclass(frozen=True)
class Records:
    """The records of a file that an engine holds open: counted, and still to be written.

    `named` are the columns of the file, `columns` those but the direct identifiers; `values` the different values of
    those that were counted, in their order and a missing one last, and `times` how many records have each.
    """

    counted: CountedFile
    named: tuple[str, ...]
    columns: tuple[str, ...]
    values: dict[str, pd.Series] = field(repr=False)
    times: dict[str, np.ndarray] = field(repr=False)
    _source: Source = field(repr=False)
    _engine: Engine = field(repr=False)
    _reading: Reading = field(repr=False)

    @property
    def found(self) -> dict[str, Any]:
        """As of a `kanon_lab.data.MicrodataFile`, but for the bytes and hash of the file."""
        dialect = (self._source.dialect or Dialect()).facts
        decimals = "".join(sorted(self._reading.decimals)) or None
        facts = {"format": self._source.form, **dialect, "decimal": decimals}
        return {**facts, "records": int(self.counted.records.sum()), "columns": len(self.named)}

    def kept(self) -> dict[str, Any]:
        """Bytes and hash of the file as it stands on the disk; of several parts nothing."""
        if len(self._source.parts) != 1:
            return {}
        return files.identity(self._source.parts[0])

    def write(
        self,
        out: str | Path,
        columns: Iterable[str],
        shown: Mapping[str, pd.Series],
        hidden: Hidden | None,
        *,
        overwrite: bool = False,
    ) -> None:
        """Write some columns, whole or not at all: DuckDB in the order of the records, Spark a folder of parts.

        Parameters
        ----------
        out : str or Path
            File or folder to write.
        columns : iterable of str
            Those that are written, in their order.
        shown : mapping of str to Series
            By column, what each of its different `values` becomes; what stands in no table stays as it is.
        hidden : Hidden or None
            What is suppressed.
        overwrite : bool
            Whether to replace what holds something else.
        """
        out, names = Path(out), list(columns)
        if self._source.dialect and len(names) == 1:
            raise OptionError(f"{out}: csv cannot hold an empty row of a single column; use --engine memory")
        for name, kind in zip(self._source.columns, self._source.types, strict=True):
            if name in names and pa.types.is_duration(kind) and not _is_text(shown.get(name)):
                fault = "holds durations, which an engine would write as numbers without a unit; use --engine memory"
                raise DataError(f"{out}: column {shortened(name)} {fault}")
        sql = self._put(names, dict(shown), hidden)
        style = None if self._source.dialect is None else self._source.dialect.separator
        if self._engine.writes_folders:
            self._write_folder(out, names, sql, style, overwrite)
            return
        ending = "".join(out.suffixes[-2:]) if out.suffix.lower() == ".gz" else out.suffix
        with files.atomic_path(out, ending=ending) as draft:
            self._written(draft, out, names, sql, style)
            if not overwrite:
                refuse_another(draft, out)

    def _write_folder(self, out: Path, names: list[str], sql: str, style: str | None, overwrite: bool) -> None:
        if files.status(out) is not None and not overwrite:
            raise StorageError(f"{out}: already exists; choose another name, or replace it (--overwrite)")
        draft = files.new_path(out.parent, ".tmp")
        try:
            self._written(draft, out, names, sql, style)
            with files.storage_errors(out):
                if out.is_dir():
                    shutil.rmtree(out)
                else:
                    out.unlink(missing_ok=True)
                draft.rename(out)
        finally:
            shutil.rmtree(draft, ignore_errors=True)

    def _written(self, draft: Path, out: Path, names: list[str], sql: str, style: str | None) -> None:
        """Write the draft, and prove that it has the columns that it should have, and as many records."""
        try:
            self._engine.write(sql, names, draft, style)
        except StorageError:
            raise StorageError(f"{out}: no space left for it, or in the folder of --spill; free some") from None
        from pyarrow import parquet

        parts = [draft]
        if not draft.is_file():
            parts = [part for part in sorted(draft.iterdir()) if part.name[0] not in "._"]
        n = int(self.counted.records.sum())
        if style is None:
            written = parquet.read_schema(parts[0]).names
            complete = sum(parquet.read_metadata(part).num_rows for part in parts) == n
        else:  # a csv file does not say how many records it has
            header = pd.read_csv(parts[0], sep=style, nrows=0, dtype=str, compression="infer")
            written, complete = list(header.columns), True
        if written != names or not complete:
            raise DataError(
                f"{out}: was not written, since it does not have the columns and records that it should have"
            )

    def _put(self, names: list[str], shown: dict[str, pd.Series], hidden: Hidden | None) -> str:
        """Make known what the records are joined with; the query that joins them."""
        for name in names:
            # its codes are missing, or its texts are others than those of the file
            changed = self._source.dialect is None and self._reading.changes.of(name)
            if name not in shown and name in self.values and (changed or name in self._reading.codes.codes):
                shown[name] = self.values[name]
        joins, place = [], {name: at for at, name in enumerate(self._source.columns)}
        for name in dict.fromkeys([*shown, *(hidden.codes if hidden else ())]):
            at, table = place[name], {"code": pa.array(np.arange(len(self.values[name])))}
            if hidden and name in hidden.codes:
                table["base"] = pa.array(hidden.codes[name].astype(np.int64))
            if name in shown:
                table["shown"] = self._cells(shown[name])
            self._engine.put(f"shown_{at}", pa.table(table))
            chosen = ", ".join(["label.value AS cell", *(f"new.{column}" for column in table if column != "code")])
            small = f"SELECT {chosen} FROM label_{at} AS label JOIN shown_{at} AS new ON label.code = new.code"
            joins.append(f"LEFT JOIN ({small}) AS t{at} ON source.c{at} IS NOT DISTINCT FROM t{at}.cell")
        lost = [name for name in names if hidden and name in hidden.lost]
        if hidden and lost:
            joins.append(self._put_hidden(hidden, lost, place))
        cells = []
        for number, name in enumerate(names):
            cell = f"t{place[name]}.shown" if name in shown else self._as_it_came(place[name])
            if name in lost:
                cell = f"CASE WHEN mask.lost{lost.index(name)} THEN NULL ELSE {cell} END"
            cells.append(f"{cell} AS o{number}")
        return f"SELECT {', '.join(cells)} FROM source {' '.join(joins)}"

    def _put_hidden(self, hidden: Hidden, lost: list[str], place: dict[str, int]) -> str:
        """The combinations that lose values, as a table under packed numbers; how it is joined."""
        gone = np.any([hidden.lost[name] for name in lost], axis=0)
        rows = hidden.rows[gone]
        radices = [int(codes.max()) + 1 for codes in hidden.codes.values()]
        table, on = {}, []
        for number, word in enumerate(words_of(radices)):
            packed, sql = np.zeros(len(rows), dtype=np.int64), "CAST(0 AS BIGINT)"
            for at, radix in word:
                packed = packed * radix + rows[:, at]
                sql = f"({sql} * {radix} + t{place[[*hidden.codes][at]]}.base)"
            table[f"p{number}"] = pa.array(packed)
            on.append(f"mask.p{number} = {sql}")
        table |= {f"lost{at}": pa.array(hidden.lost[name][gone]) for at, name in enumerate(lost)}
        self._engine.put("mask", pa.table(table))
        return f"LEFT JOIN mask ON {' AND '.join(on)}"

    def _as_it_came(self, at: int) -> str:
        """A cell of a column that nothing was done to; texts as they are counted, without those that mean missing."""
        cell = f"source.c{at}"
        if self._source.dialect is not None or not is_text(self._source.types[at]):
            return cell
        if self._source.columns[at] not in self.values:
            cell = tidied_cell(self._engine, cell)
        texts = ", ".join("'" + text.replace("'", "''") + "'" for text in ["", *map(tidy, self._reading.na)])
        return f"CASE WHEN {cell} IN ({texts}) THEN NULL ELSE {cell} END"

    def _cells(self, values: pd.Series) -> pa.Array:
        """Values as an engine writes them: texts of a csv file with the sign before decimals that it has."""
        if self._source.dialect is None:
            return arrow_cells(values)
        text = values.to_frame("value").to_csv(index=False, header=False, quoting=csv.QUOTE_NONNUMERIC)
        cells = [row[0] for row in csv.reader(io.StringIO(text, newline=""))]
        if self._reading.decimals == {","} and pd.api.types.is_float_dtype(values):
            cells = [cell.replace(".", ",") for cell in cells]
        return pa.array([None if gone else cell for cell, gone in zip(cells, values.isna(), strict=True)], pa.string())


def _is_text(values: pd.Series | None) -> bool:
    return values is not None and isinstance(plain(values).dtype, pd.StringDtype)


@contextmanager
def opened_records(
    path: str | Path,
    grouped: Iterable[str],
    *,
    weight: str | None = None,
    others: Iterable[str] = (),
    without: Iterable[str] = (),
    engine: str,
    memory: int | None = None,
    spill: str | Path | None = None,
    text: Iterable[str] | str = (),
    na: Iterable[str] | str = (),
    missing_codes: Mapping[str, Iterable[Code]] | None = None,
    dialect: Dialect | None = None,
    progress: bool = False,
) -> Iterator[Records]:
    """Open a file by an engine, count its records, and hold it until it is written.

    Parameters
    ----------
    path : str or Path
        A .parquet, .csv or .csv.gz file, or a folder of such parts.
    grouped : iterable of str
        Variables of which each combination is counted.
    weight : str, optional
        Variable whose sums are taken.
    others : iterable of str
        Variables of which only the different values are counted.
    without : iterable of str
        Columns that are not read.
    engine, memory, spill, text, na, missing_codes, dialect, progress : as of `kanon_lab.engines.count_records`

    Examples
    --------
    >>> from kanon_lab.engines.release import opened_records
    >>> pd.DataFrame({"age": [30, 41, 30], "name": [*"abc"]}).to_parquet("three.parquet")
    >>> with opened_records("three.parquet", ["age"], without=["name"], engine="duckdb") as records:
    ...     records.write("two.parquet", ["age"], {"age": pd.Series(["30-39", "40-49"])}, None)
    >>> pd.read_parquet("two.parquet")["age"].tolist()
    ['30-39', '40-49', '30-39']
    """
    memory = memory or files.limit() or files.MAX_BYTES
    reading = Reading.of(text, na, missing_codes)
    spec = KeySpec(tuple(dict.fromkeys(grouped)), weight=weight)
    path, _, codes = located(path)
    reading.text.extend(codes)
    with spill_folder(spill) as folder, about(str(path)):
        of_cells: dict[str, Any] = {"na": reading.na, "changes": reading.changes}
        how: dict[str, Any] = {"dialect": dialect or Dialect(), "progress": progress, **of_cells}
        needed, without = [*others, *without, *reading.codes.codes], tuple(without)
        source = find_source(path, spec.variables, engine, folder, needed=needed, without=without, **how)
        if not source.named:
            raise OptionError(f"{path}: a table or address of a cluster is not protected; write it as a folder first")
        with closing(opened_engine(engine, memory, folder)) as opened, diagnosed(source, spec, reading, progress):
            opened.keep_order()
            opened.open(source)
            counted = counted_by(opened, source, spec, reading, progress)
            asked = [*others, *(name for name in reading.codes.codes if name in source.columns)]
            indices: dict[Any, pd.Index] = {name: counted.frame[name].cat.categories for name in counted.frame}
            for name in dict.fromkeys(column for column in asked if column not in indices and column != weight):
                indices[name] = numbered(opened, source, name, reading).values
            count_changes(opened, source, reading)
            counted = replace(counted, notes=notes_of(source, reading))
            opened.rest()
            values = _in_order(indices, reading)
            yield Records(counted, source.named, source.columns, *values, source, opened, reading)


def _in_order(indices: Mapping[str, pd.Index], reading: Reading) -> tuple[dict[str, pd.Series], dict[str, np.ndarray]]:
    """By column its different values, a missing one last, and how many records have each."""
    values, times = {}, {}
    for name, index in indices.items():
        known = coded(reading.values[composed(name)])
        codes = np.where(known.codes < 0, len(index), known.codes)
        times[name] = np.bincount(codes, reading.times[composed(name)], minlength=len(index) + 1).astype(np.int64)
        column = pd.Series(index, name=name)
        if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iub" and times[name][-1]:
            column = column.convert_dtypes()
        values[name] = column.reindex(range(len(index) + 1)) if times[name][-1] else column
        times[name] = times[name][: len(values[name])]
    return values, times
