"""DuckDB: files larger than memory on one machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kanon_lab.engines.queries import Engine
from kanon_lab.engines.source import Source, need
from kanon_lab.errors import DataError, SizeError, StorageError
from kanon_lab.files import check_address_space

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH = 2**17
# Seconds between looks whether an interrupt came.
_PATIENCE = 0.2
# Bytes that it needs where the system limits them: with less (700 MB were too few) it ends the whole process.
_MEMORY = 1_500_000_000
_Result = TypeVar("_Result")


class DuckDB(Engine):
    """A connection that takes so many bytes of memory, and spills the rest into a folder."""

    writes_folders = False

    def __init__(self, memory: int, spill: Path):
        need("duckdb", "duckdb")
        check_address_space(_MEMORY)
        from duckdb import Error

        self._error = Error
        self._settings: dict[str, Any] = {
            "memory_limit": f"{memory // 1_000_000}MB",
            "temp_directory": str(spill / "duckdb"),
            "preserve_insertion_order": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
        self._spill, self._thread = spill, ThreadPoolExecutor(1)
        self._connection: Any = None
        self._awake()

    def rest(self) -> None:
        """Give its memory back until it is asked again; what it knows is in the folder."""
        self._connection.close()
        self._connection = None

    def _awake(self) -> None:
        import duckdb

        if self._connection is None:
            with _errors(self._error):
                self._connection = duckdb.connect(str(self._spill / "records.duckdb"), config=self._settings)

    def open(self, source: Source) -> None:
        files = ", ".join(_text(str(part)) for part in sorted((self._spill / "parts").iterdir()))
        columns = ", ".join(f"{_name(name)} AS c{i}" for i, name in enumerate(source.written))
        self._run(f"CREATE VIEW source AS SELECT {columns} FROM read_parquet([{files}], hive_partitioning=false)")

    def put(self, name: str, table: pa.Table) -> None:
        self._wait(lambda: self._connection.register("arriving", table))
        self._run(f"CREATE TABLE {name} AS SELECT * FROM arriving")
        self._connection.unregister("arriving")

    def query(self, sql: str) -> pa.Table:
        return self._wait(lambda: self._connection.sql(sql).to_arrow_table())

    def batches(self, sql: str) -> Iterator[pa.RecordBatch]:
        reader = self._wait(lambda: self._connection.sql(sql).to_arrow_reader(_BATCH))
        while (batch := self._wait(lambda: next(reader, None))) is not None:
            yield batch

    def keep_order(self) -> None:
        """Keep the order of the records from now on: small tables are looked up, the source is read through."""
        self._settings["preserve_insertion_order"] = True
        self._settings["disabled_optimizers"] = "join_order,build_side_probe_side"
        self.rest()

    def write(self, sql: str, names: list[str], out: Path, separator: str | None) -> None:
        columns = ", ".join(f"o{i} AS {_name(name)}" for i, name in enumerate(names))
        style = "FORMAT parquet"
        if separator is not None:
            packed = "gzip" if out.suffix.lower() == ".gz" else "none"
            style = f"FORMAT csv, HEADER true, DELIMITER {_text(separator)}, COMPRESSION {packed}"
        self._run("SET threads = 1")  # a join by several puts the rows in the order in which they come to an end
        self._run(f"COPY (SELECT {columns} FROM ({sql}) AS t) TO {_text(str(out))} ({style})")

    def _run(self, sql: str) -> None:
        self._wait(lambda: self._connection.execute(sql))

    def _wait(self, work: Callable[[], _Result]) -> _Result:
        """Let another thread do it, so that an interrupt is heard at once, and DuckDB told to stop."""
        self._awake()
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

    def composed(self, cell: str) -> str:
        return f"nfc_normalize({cell})"

    def close(self) -> None:
        self._thread.shutdown()
        if self._connection is not None:
            self._connection.close()


@contextmanager
def _errors(kind: type[Exception]) -> Iterator[None]:
    """Turn what DuckDB says into an error of ours; its own texts may quote cells."""
    try:
        yield
    except (kind, RuntimeError) as error:
        text, name = str(error), type(error).__name__
        if name == "OutOfMemoryException" or "Out of Memory" in text:
            raise SizeError(
                "duckdb needs more memory for it; allow more (--memory), or free space in --spill"
            ) from None
        if "No space left" in text or "Could not write" in text:
            raise StorageError("no space left in the folder of --spill; free some, or name another") from None
        raise DataError("duckdb cannot read it as rows and cells; correct the row or the file") from None


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
