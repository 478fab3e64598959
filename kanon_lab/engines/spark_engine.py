"""Spark: files of a cluster, or of this machine in local mode."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from kanon_lab.engines.queries import Engine
from kanon_lab.engines.source import Source, need
from kanon_lab.errors import DataError, MissingPackageError, SizeError, StorageError

if TYPE_CHECKING:
    import pyarrow as pa


class Spark(Engine):
    """A session: the one there is (spark-submit), or one of this machine that takes so many bytes of memory."""

    writes_folders = True

    def __init__(self, memory: int, spill: Path):
        need("pyspark", "spark")
        import os
        import shutil
        import warnings

        if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
            raise MissingPackageError("--engine spark needs Java 17 or newer: install it, or use --engine duckdb")
        # What is collected comes through Arrow, without pandas.
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession

        self._looked_up: set[str] = set()
        self._spill, self._own = spill, SparkSession.getActiveSession() is None
        settings = {"spark.driver.maxResultSize": "0", "spark.sql.session.timeZone": "UTC"}
        if "PYSPARK_GATEWAY_PORT" not in os.environ:  # begun here, not by spark-submit, whose settings hold
            settings |= {
                "spark.driver.memory": f"{max(memory // 2**20, 512)}m",
                "spark.local.dir": str(spill),
                "spark.sql.warehouse.dir": str(spill / "warehouse"),
                "spark.sql.shuffle.partitions": "32",
                "spark.ui.enabled": "false",
                "spark.ui.showConsoleProgress": "false",
                "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile=file://{_quiet(spill)}",
            }
        builder = SparkSession.builder.appName("kanon-lab")
        for name, value in settings.items():
            builder = builder.config(name, value)
        try:
            self._session = builder.getOrCreate()
        except Exception:
            raise MissingPackageError(
                "spark did not start; check that Java 17 or newer runs here (java -version)"
            ) from None
        self._error = PySparkException

    def open(self, source: Source) -> None:
        from pyspark.sql.functions import col

        columns = [col("`" + name.replace("`", "``") + "`").alias(f"c{i}") for i, name in enumerate(source.written)]
        with _errors(self._error):
            if source.parts:
                frame = self._session.read.parquet(f"file://{self._spill / 'parts'}")
            else:
                frame = self._session.read.parquet(source.name) if source.form else self._session.table(source.name)
            frame.select(*columns).createOrReplaceTempView("source")

    def put(self, name: str, table: pa.Table) -> None:
        with _errors(self._error):
            self._session.createDataFrame(table).createOrReplaceTempView(name)

    def query(self, sql: str) -> pa.Table:
        with _errors(self._error):
            return self._session.sql(sql).toArrow()

    def batches(self, sql: str) -> Iterator[pa.RecordBatch]:
        yield from self.query(sql).to_batches()

    def rest(self) -> None:
        """Give its memory back until it is asked again; what Spark holds is another program's."""

    def keep_order(self) -> None:
        """Parts have an order of their own."""

    def write(self, sql: str, names: list[str], out: Path, separator: str | None) -> None:
        """Write the rows of a query under names of columns into a folder: csv with a separator, else Parquet."""
        with _errors(self._error):
            writer, target = self._session.sql(sql).toDF(*names).write, f"file://{out.absolute()}"
            if separator is None:
                writer.parquet(target)
            else:
                writer.csv(target, sep=separator, header=True, quote='"', escape='"', emptyValue="", nullValue="")

    def composed(self, cell: str) -> str:
        """The text of a cell, given in SQL, with composed letters: looked up, since Spark composes none."""
        import pyarrow as pa

        from kanon_lab.columns import composed

        name = f"letters_{cell.rpartition('.')[2]}"
        if name not in self._looked_up:
            texts = self.query(f"SELECT DISTINCT {cell} AS text FROM source WHERE {cell} RLIKE '{_composable()}'")
            pairs = [(text, composed(text)) for text in texts.column("text").to_pylist()]
            pairs = [pair for pair in pairs if len(set(pair)) > 1]
            columns = [pa.array(column, pa.string()) for column in zip(*pairs, strict=True)] or [
                pa.nulls(0, pa.string())
            ] * 2
            self.put(name, pa.table(columns, names=["text", "new"]))
            self._looked_up.add(name)
        letters = f"(SELECT map_from_entries(collect_list(struct(text, new))) FROM {name})"
        return f"coalesce(try_element_at({letters}, {cell}), {cell})"

    def close(self) -> None:
        """End the session that was begun here."""
        if self._own:
            self._session.stop()


@cache
def _composable() -> str:
    """A pattern of the letters that may be composed with those before them, or are another letter when composed."""
    # Hangul's vowels and final consonants are no marks.
    ranges = [(0x1161, 0x1175), (0x11A8, 0x11C2)]
    for code in range(0x300, 0x30000):
        letter = chr(code)
        if unicodedata.category(letter)[0] == "M" or not unicodedata.is_normalized("NFC", letter):
            start = ranges.pop()[0] if ranges[-1][1] == code - 1 else code
            ranges.append((start, code))
    return f"[{''.join(f'{chr(first)}-{chr(last)}' for first, last in ranges)}]"


def _quiet(spill: Path) -> Path:
    """A file by which Spark keeps silent: its warnings and errors quote rows, and what went wrong is said by us."""
    path = spill / "log4j2.properties"
    path.write_text(
        "rootLogger.level = off\nrootLogger.appenderRef.one.ref = one\nappender.one.type = Console\n"
        "appender.one.name = one\nappender.one.target = SYSTEM_ERR\nappender.one.layout.type = PatternLayout\n"
    )
    return path


@contextmanager
def _errors(kind: type[Exception]) -> Iterator[None]:
    """Turn what Spark says into an error of ours; its own texts may quote cells."""
    from py4j.protocol import Py4JError

    try:
        yield
    except (kind, Py4JError, ConnectionError, EOFError) as error:
        text = str(error)
        if "OutOfMemoryError" in text:
            raise SizeError("spark needs more memory for it; allow more (--memory)") from None
        if "No space left" in text:
            raise StorageError("no space left in the folder of --spill; free some, or name another") from None
        if "TABLE_OR_VIEW_NOT_FOUND" in text or "PATH_NOT_FOUND" in text:
            raise DataError("neither a file nor a table that spark knows; check the name") from None
        if "UNRESOLVED_COLUMN" in text:
            raise DataError("a column is not there; check the names of keys") from None
        raise DataError("spark ended with an error; see its log, or try --engine duckdb on one machine") from None
