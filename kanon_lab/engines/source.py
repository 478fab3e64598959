"""What an engine reads: a file or folder of parts in Parquet, into which csv is converted, and where it may spill."""

from __future__ import annotations

import codecs
import errno
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from kanon_lab import files
from kanon_lab.data.values import chosen, composed, unnamed, wanting
from kanon_lab.errors import DataError, MissingPackageError, OptionError, StorageError, about

if TYPE_CHECKING:
    from kanon_lab.data.delimited import Dialect
    from kanon_lab.data.values import Changes
    from kanon_lab.terms import Note

#: Engine, and what it is for.
ENGINES = {
    "memory": "the whole file in the memory of this machine",
    "duckdb": "one machine, larger files",
    "spark": "a cluster",
}
FORMATS = ("parquet", "csv")
# From so many bytes on, or records of a Parquet file, another engine takes less time or memory than ours.
_LARGE, _MANY = 500_000_000, 5_000_000
# Digits of the longest decimals that engines keep.
_ENGINE_DIGITS = 38
# Bytes of a csv file that hold its first lines.
_HEAD = 2**20
# Names of columns in a file -> those to read.
_Choose = Callable[[list[str]], list[str]]
_OF_CLUSTER = re.compile(r"[a-z][a-z0-9+.-]*://.+|\w+(\.\w+){0,2}", re.IGNORECASE)


@dataclass(frozen=True)
class Source:
    """A file as an engine reads it.

    Attributes
    ----------
    name : str
        As messages call it.
    parts : tuple of Path
        Its files, in order; none where it is of a cluster, which knows it by its name.
    form : str
        ``parquet`` or ``csv``; empty for a table of a cluster.
    columns : tuple of str
        The chosen columns, with composed letters; and as they are `written` in the Parquet files.
    named : tuple of str
        Every column that has a name; empty where only a cluster knows.
    types : tuple of object
        Of the chosen columns, those of Arrow.
    dialect : Dialect or None
        Of a csv file, whose cells are texts in the Parquet files: trimmed, without those that mean missing.
    notes : tuple of Note
        On columns that are left out.
    """

    name: str
    parts: tuple[Path, ...]
    form: str
    columns: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    types: tuple[Any, ...] = ()
    dialect: Dialect | None = None
    notes: tuple[Note, ...] = ()

    def part_name(self, part: Path) -> str:
        """A part as messages call it."""
        inside = part.is_relative_to(self.name) and part != Path(self.name)
        return f"{self.name}/{part.relative_to(self.name)}" if inside else self.name


def choose_engine(path: str | Path) -> str:
    """The engine for a file by its size: ``memory``, or where that would take long ``duckdb``, if it is installed.

    Examples
    --------
    >>> pd.DataFrame({"age": [30, 41, 30]}).to_parquet("three.parquet")
    >>> kanon_lab.engines.choose_engine("three.parquet")
    'memory'
    """
    from importlib.util import find_spec

    path, form = Path(path), files.file_format(path)
    status, packed, is_large = files.status(path), path.suffix.lower() == ".gz", False
    if status is None or find_spec("duckdb") is None:
        return "memory"
    if path.is_dir():
        is_large = True
    elif form == "csv":
        is_large = status.st_size * (5 if packed else 1) > _LARGE
    elif form == "parquet" and not packed:
        from pyarrow import parquet

        with suppress(Exception):  # damaged, which its reader tells
            is_large = parquet.read_metadata(path).num_rows > _MANY
    return "duckdb" if is_large else "memory"


def find_source(
    path: str | Path,
    wanted: Iterable[str],
    engine: str,
    spill: Path,
    *,
    needed: Iterable[str] = (),
    without: Iterable[str] | None = None,
    dialect: Dialect,
    na: Sequence[str] = (),
    changes: Changes,
    progress: bool = False,
) -> Source:
    """Look at a file or folder, and make it readable for an engine: parts in Parquet under plain names.

    Chosen are the columns that are `wanted`, or all but those `without`; the `needed` ones must be there too.
    """
    path, name, wanted = Path(path), str(path), list(map(composed, wanted))
    if engine == "spark" and files.status(path) is None and _OF_CLUSTER.fullmatch(name):
        form = files.file_format(path) if "://" in name else ""
        if form not in ("", "parquet"):
            raise DataError(f"{name}: of an address only .parquet is read; convert it, or give the name of a table")
        return Source(name, (), form, tuple(wanted), tuple(wanted))
    parts = _parts(path, name)
    form = files.file_format(parts[0])
    if form not in FORMATS or (form == "parquet" and parts[0].suffix.lower() == ".gz"):
        raise DataError(f"{name}: {engine} reads .parquet, .csv and .csv.gz only; convert it, or use --engine memory")

    def choose(names: list[str]) -> list[str]:
        chosen(names, wanted, in_row_1=form == "csv")
        named = list(map(composed, filter(None, names)))
        for column in map(composed, filter(None, needed)):
            if column not in named:
                raise wanting(column, named, sure=True)
        return wanted if without is None else [name for name in named if name not in set(map(composed, without))]

    source, folder = Source(name, tuple(parts), form), spill / "parts"
    folder.mkdir()
    if form == "parquet":
        return _parquet_source(source, choose, folder)
    source, names = _csv_source(source, choose, dialect, na, changes, folder, progress)
    return replace(source, notes=tuple(unnamed(names)) if without is not None else ())


def _parts(path: Path, name: str) -> list[Path]:
    if files.status(path) is None:
        files.check_file(path)
    if not path.is_dir():
        files.check_file(path)
        return [path]
    # Hidden files and folders are those of programs: what they have not finished, or were stopped at.
    parts = sorted(
        part
        for part in path.rglob("*")
        if part.is_file() and not any(name[0] in "._" for name in part.relative_to(path).parts)
    )
    if not parts:
        raise DataError(f"{name}: the folder holds no file; give one with parts in .parquet or .csv")
    forms = set(map(files.file_format, parts))
    if len(forms) > 1 or not forms <= {*FORMATS}:
        raise DataError(f"{name}: the folder holds files of other kinds; give one with parts in .parquet or .csv only")
    return parts


def _parquet_source(source: Source, choose: _Choose, folder: Path) -> Source:
    """The parts linked under plain names: engines take signs such as * and [ in a path for patterns."""
    import pyarrow as pa
    from pyarrow import parquet

    from kanon_lab.data.tables import NO_PARQUET

    first: Any = None
    for number, part in enumerate(source.parts):
        with about(source.part_name(part)):
            with files.reading_errors(part), files.damaged(NO_PARQUET):
                footer = parquet.read_metadata(part)
                schema = footer.schema.to_arrow_schema()
            columns = choose(schema.names)
            written = chosen(schema.names, columns, in_row_1=False)
            alike: dict[str, str] = {}
            for name in schema.names:
                if (other := alike.setdefault(name.casefold(), name)) != name:
                    raise DataError(f"columns {other} and {name} are one to an engine; rename one of them")
            physical = {
                footer.schema.column(i).name: footer.schema.column(i).physical_type for i in range(len(footer.schema))
            }
            if old := [name for name in written if physical.get(name) == "INT96"]:
                raise DataError(f"column {old[0]} has times of the old kind (INT96), which engines cut; write it again")
            types = tuple(schema.field(name).type for name in written)
            for name, kind in zip(columns, types, strict=True):
                if pa.types.is_nested(kind):
                    raise DataError(f"column {name} holds lists or the like; keep one value per cell")
                if pa.types.is_dictionary(kind) and kind.ordered:
                    raise DataError(f"column {name} has categories in an order, which this engine loses")
                kind = kind.value_type if pa.types.is_dictionary(kind) else kind
                if pa.types.is_decimal(kind) and kind.precision > _ENGINE_DIGITS:
                    raise DataError(
                        f"column {name} has decimals of more than {_ENGINE_DIGITS} digits, which engines cut; take "
                        "--engine memory"
                    )
            first = first or (tuple(written), types)
            if first != (tuple(written), types):
                raise DataError("its columns are of another type or spelling than those of the first part; write alike")
        (folder / f"part-{number:06}.parquet").symlink_to(part.absolute())
    named = tuple(map(composed, filter(None, schema.names)))
    return replace(source, columns=tuple(columns), written=first[0], types=first[1], named=named)


def _csv_source(
    source: Source,
    choose: _Choose,
    dialect: Dialect,
    na: Sequence[str],
    changes: Changes,
    folder: Path,
    progress: bool,
) -> tuple[Source, list[str]]:
    """The parts converted by the reader of csv files, some records at a time; and the names in their header."""
    import pyarrow as pa
    from pyarrow import parquet
    from tqdm import tqdm

    from kanon_lab.data.delimited import DelimitedReader, known_cells

    first, done, size = None, 0, sum(part.stat().st_size for part in source.parts)
    bar = tqdm(total=size, desc="reading", unit="B", unit_scale=True, disable=None if progress else True, leave=False)
    with bar:
        for number, part in enumerate(source.parts):
            with about(source.part_name(part)), _opened(part) as (file, content):
                reader = DelimitedReader(content, dialect)
                columns = choose(reader.names)
                names = chosen(reader.names, columns, in_row_1=True)
                form = [*map(reader.names.index, names)], len(reader.names), reader.dialect.separator
                first = first or form
                if first != form:
                    raise DataError("its columns or separator are others than those of the first part; write all alike")
                schema = pa.schema([(f"c{at}", pa.string()) for at in range(len(names))])
                with parquet.ParquetWriter(folder / f"part-{number:06}.parquet", schema) as writer:
                    for table, _ in reader.tables(form[0]):
                        named_cells = zip(table.columns, columns, strict=True)
                        cells = [known_cells(column, na, name, changes) for column, name in named_cells]
                        writer.write_table(pa.table(cells, schema=schema))
                        bar.update(done + file.tell() - bar.n)
                done += file.tell()
    named = tuple(map(composed, filter(None, reader.names)))
    how: dict[str, Any] = {"written": tuple(schema.names), "types": tuple(schema.types), "dialect": reader.dialect}
    return replace(source, columns=tuple(columns), named=named, **how), reader.names


@contextmanager
def _opened(part: Path) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """A file, and its content, unpacked where its name ends in .gz."""
    import pyarrow as pa

    files.check_file(part)
    packed = part.suffix.lower() == ".gz"
    with files.reading_errors(part), part.open("rb") as file:
        try:
            yield file, pa.CompressedInputStream(pa.PythonFile(file), "gzip") if packed else file
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise StorageError("no space left in the folder of --spill; free some, or name another") from None
            if packed:
                raise DataError("is cut short or damaged; make or download it again") from None
            raise


def first_part(path: str | Path) -> Path:
    """A file, or the first part in a folder; an error where a folder holds anything else."""
    path = Path(path)
    return _parts(path, path.resolve().name)[0] if path.is_dir() else path


def first_lines(part: Path) -> bytes:
    """The first whole lines of a csv file."""
    with _opened(part) as (_, file):
        content = file.read(_HEAD)
    if len(content) < _HEAD:
        return content
    line = b"\n\0" if content.startswith(codecs.BOM_UTF16_LE) else b"\n"
    return content[: content.rfind(line) + len(line)]


@contextmanager
def spill_folder(where: str | Path | None) -> Iterator[Path]:
    """A folder of this process for what exceeds memory. It is removed at the end, as are those of killed ones."""
    from kanon_lab.folders import held_folder

    with held_folder(spill_root(where)) as folder:
        try:
            yield folder
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            raise StorageError("no space left in the folder of --spill; free some, or name another") from None


def spill_root(where: str | Path | None) -> Path:
    """The folder in which spill folders are made; a `StorageError` unless it exists and engines can read its path."""
    from kanon_lab.folders import temporary_root

    root = temporary_root() if where is None else Path(where).absolute()
    if not root.is_dir():
        raise StorageError(f"{root if where is None else where}: is not a folder; name one with free space (--spill)")
    if re.search(r"[*?\[\]{}\s\"']", str(root)):  # which engines take for patterns, or end a setting of theirs
        raise StorageError(f"{root}: has blanks, quotes or signs of patterns in its path; name a plain one (--spill)")
    return root


def need(package: str, extra: str) -> None:
    """Raise a `MissingPackageError` that says what to install where a package is not there."""
    from importlib.util import find_spec

    if find_spec(package) is None:
        raise MissingPackageError(f"--engine {extra} needs {package}: pip install 'kanon-lab[{extra}]'")


def check_engine(name: str) -> str:
    """The name of an engine; an `OptionError` where there is none."""
    if name not in ENGINES:
        raise OptionError(f"engine must be one of {', '.join(ENGINES)}, not {name!r}")
    return name
