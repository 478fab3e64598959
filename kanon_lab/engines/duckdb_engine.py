"""DuckDB: files larger than memory on one machine."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from kanon_lab.engines.source import Source, need
from kanon_lab.errors import DataError, StorageError

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH = 2**17
# Seconds between looks whether an interrupt came.
_PATIENCE = 0.2
_Result = TypeVar("_Result")


class DuckDB:
    """A connection that takes so many bytes of memory, and spills the rest into a folder."""

    def __init__(self, memory: int, spill: Path):
        need("duckdb", "duckdb")
        import duckdb

        self._error = duckdb.Error
        settings = {
            "memory_limit": f"{memory // 1_000_000}MB",
            "temp_directory": str(spill / "duckdb"),
            "preserve_insertion_order": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
        self._spill, self._thread = spill, ThreadPoolExecutor(1)
        self._connection = duckdb.connect(str(spill / "records.duckdb"), config=settings)

    def open(self, source: Source) -> None:
        """Make the chosen columns the table ``source``, under the names c0, c1 ..."""
        files = ", ".join(_text(str(each)) for each in sorted((self._spill / "parts").iterdir()))
        if source.form == "parquet":
            columns = ", ".join(f"{_name(name)} AS c{i}" for i, name in enumerate(source.written))
            self._run(f"CREATE VIEW source AS SELECT {columns} FROM read_parquet([{files}], hive_partitioning=false)")
            return
        every = ", ".join(f"'f{i}': 'VARCHAR'" for i in range(source.width))
        columns = ", ".join(f"f{position} AS c{i}" for i, position in enumerate(source.positions))
        # Parsed once; and with all columns named, a row with too few or too many cells is an error.
        self._run(
            f"CREATE TABLE source AS SELECT {columns} FROM read_csv([{files}], columns={{{every}}}, header=true, "
            f"delim={_text(source.dialect.separator)}, quote='\"', escape='\"', auto_detect=false, strict_mode=true, "
            f"null_padding=false, ignore_errors=false, max_line_size=16777216, "
            f"parallel={str(not source.quoted).lower()})"
        )

    def put(self, name: str, table: pa.Table) -> None:
        """Make a small table known."""
        self._connection.register("arriving", table)
        self._run(f"CREATE TEMP TABLE {name} AS SELECT * FROM arriving")
        self._connection.unregister("arriving")

    def query(self, sql: str) -> pa.Table:
        """The rows of a small result."""
        return self._wait(lambda: self._connection.sql(sql).to_arrow_table())

    def batches(self, sql: str) -> Iterator[pa.RecordBatch]:
        """The rows of a large result, some at a time."""
        reader = self._wait(lambda: self._connection.sql(sql).to_arrow_reader(_BATCH))
        while (batch := self._wait(lambda: next(reader, None))) is not None:
            yield batch

    def _run(self, sql: str) -> None:
        self._wait(lambda: self._connection.execute(sql))

    def _wait(self, work: Callable[[], _Result]) -> _Result:
        """Let another thread do it, so that an interrupt is heard at once, and DuckDB told to stop."""
        future = self._thread.submit(work)
        try:
            while not future.done():
                wait([future], timeout=_PATIENCE)
        except BaseException:
            self._connection.interrupt()
            wait([future])
            raise
        with _errors(self._error):
            return future.result()

    def close(self) -> None:
        """Free its memory."""
        self._thread.shutdown()
        self._connection.close()


class _errors:
    """Turns what DuckDB says into an error of ours; its own texts may quote cells."""

    def __init__(self, kind: type[Exception]):
        self.kind = kind

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind, error, trace) -> None:
        if error is None or not isinstance(error, (self.kind, RuntimeError)):
            return
        text, name = str(error), type(error).__name__
        if name == "OutOfMemoryException" or "Out of Memory" in text:
            raise DataError(
                "duckdb needs more memory for it; allow more (--memory), or free space in --spill"
            ) from None
        if "No space left" in text or "Could not write" in text:
            raise StorageError("no space left in the folder of --spill; free some, or name another") from None
        row = re.search(r"Line: (\d+)", text)
        place = f"row {row[1]}: " if row else ""
        raise DataError(f"{place}cannot be read as rows and cells by duckdb; mend the row or the file") from None


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
