"""What an engine reads: one file or a folder of parts, their names of columns and dialect, and where it may spill."""

from __future__ import annotations

import codecs
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanon_lab import files
from kanon_lab.data.values import chosen, composed
from kanon_lab.errors import DataError, MissingPackageError, OptionError, StorageError, about

if TYPE_CHECKING:
    from kanon_lab.data.delimited import Dialect

#: Engine, and what it is for.
ENGINES = {
    "memory": "the whole file in the memory of this machine",
    "duckdb": "one machine, larger files",
    "spark": "a cluster",
}
FORMATS = ("parquet", "csv")
# From so many bytes on, or records of a Parquet file, another engine takes less time or memory than ours.
_LARGE, _MANY = 500_000_000, 5_000_000
# Bytes that tell how a csv file is written.
_HEAD = 2**20
_OF_CLUSTER = re.compile(r"[a-z][a-z0-9+.-]*://.+|\w+(\.\w+){0,2}", re.IGNORECASE)


@dataclass(frozen=True)
class Source:
    """A file as an engine reads it.

    Attributes
    ----------
    name : as messages call it
    parts : its files, in order; none where it is of a cluster, which knows it by its name
    form : ``parquet`` or ``csv``; empty for a table of a cluster
    columns : the chosen columns, with composed letters; and as they are `written` in a Parquet file
    named : every column that has a name; empty where only a cluster knows
    types : of the chosen columns of a Parquet file, those of Arrow
    positions, width : of a csv file, where the chosen columns stand, and among how many
    dialect, quoted : of a csv file, and whether a cell may hold lines
    faulty : what is wrong with a csv file that an engine would pass over, and in which part
    """

    name: str
    parts: tuple[Path, ...]
    form: str
    columns: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    types: tuple[Any, ...] = ()
    positions: tuple[int, ...] = ()
    width: int = 0
    dialect: Dialect | None = None
    quoted: bool = False
    faulty: str | None = None

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

    if find_spec("duckdb") is None or not _is_large(Path(path)):
        return "memory"
    return "duckdb"


def _is_large(path: Path) -> bool:
    found = files.status(path)
    if found is None:
        return False
    if path.is_dir():
        return True
    form = files.file_format(path)
    if form == "parquet" and path.suffix.lower() != ".gz":
        from pyarrow import parquet

        try:
            return parquet.read_metadata(path).num_rows > _MANY
        except Exception:  # damaged, which its reader tells
            return False
    return form == "csv" and found.st_size * (5 if path.suffix.lower() == ".gz" else 1) > _LARGE


def find_source(path: str | Path, wanted: list[str], engine: str, dialect: Dialect, spill: Path) -> Source:
    """Look at a file or folder, and make it readable for an engine: parts in UTF-8 under plain names."""
    path, name = Path(path), str(path)
    if engine == "spark" and files.status(path) is None and _OF_CLUSTER.fullmatch(name):
        form = files.file_format(path) if "://" in name else ""
        if form not in ("", "parquet"):
            raise DataError(f"{name}: of an address only .parquet is read; convert it, or give the name of a table")
        return Source(name, (), form, tuple(wanted), tuple(wanted))
    parts = _parts(path, name)
    form = files.file_format(parts[0])
    if form not in FORMATS or (form == "parquet" and parts[0].suffix.lower() == ".gz"):
        raise DataError(f"{name}: {engine} reads .parquet, .csv and .csv.gz only; convert it, or take --engine memory")
    source = Source(name, tuple(parts), form)
    look = _parquet_source if form == "parquet" else _csv_source
    return look(source, list(map(composed, wanted)), dialect, spill)


def _parts(path: Path, name: str) -> list[Path]:
    if files.status(path) is None:
        files.check_file(path)
    if not path.is_dir():
        files.check_file(path)
        return [path]
    every = [each for each in path.rglob("*") if each.is_file()]
    # Hidden files and folders are those of programs: what they have not finished, or were stopped at.
    found = sorted(each for each in every if not any(name[0] in "._" for name in each.relative_to(path).parts))
    if not found:
        raise DataError(f"{name}: the folder holds no file; give one with parts in .parquet or .csv")
    forms = {files.file_format(each) for each in found}
    if len(forms) > 1 or not forms <= {*FORMATS}:
        raise DataError(f"{name}: the folder holds files of other kinds; give one with parts in .parquet or .csv only")
    return found


def _parquet_source(source: Source, wanted: list[str], dialect: Dialect, spill: Path) -> Source:
    import pyarrow as pa
    from pyarrow import parquet

    from kanon_lab.data.tables import NO_PARQUET

    first = None
    for part in source.parts:
        with about(source.part_name(part)):
            with files.reading_errors(part), files.damaged(NO_PARQUET):
                footer = parquet.read_metadata(part)
                schema = footer.schema.to_arrow_schema()
            written = chosen(schema.names, wanted, in_row_1=False)
            _refuse_alike(schema.names)
            physical = {
                footer.schema.column(i).name: footer.schema.column(i).physical_type for i in range(len(footer.schema))
            }
            if old := [each for each in written if physical.get(each) == "INT96"]:
                raise DataError(f"column {old[0]} has times of the old kind (INT96), which engines cut; write it again")
            types = tuple(schema.field(each).type for each in written)
            for each, kind in zip(wanted, types, strict=True):
                if pa.types.is_nested(kind):
                    raise DataError(f"column {each} holds lists or the like; keep one value a cell")
                if pa.types.is_dictionary(kind) and kind.ordered:
                    raise DataError(f"column {each} has categories in an order, which this engine loses")
            first = first or (tuple(written), types)
            if first != (tuple(written), types):
                raise DataError("its columns are of another type or spelling than those of the first part; write alike")
    named = tuple(map(composed, filter(None, schema.names)))
    return _as_found(source, wanted, spill, written=tuple(written), types=types, named=named)


def _csv_source(source: Source, wanted: list[str], dialect: Dialect, spill: Path) -> Source:
    from kanon_lab.data.delimited import read_head

    heads, parts, quoted, faulty = [], [], False, None
    for number, part in enumerate(source.parts):
        with about(source.part_name(part)):
            head = read_head(first_lines(part), dialect)
            written = chosen(head.names, wanted, in_row_1=True)
            positions = tuple(head.names.index(each) for each in written)
            heads.append((positions, len(head.names), head.dialect.separator, head.dialect.encoding))
            if len(head.names) == 1:
                raise DataError("has one column, of which engines take blank lines for records; take --engine memory")
            if heads[-1][:3] != heads[0][:3]:
                raise DataError("its columns or separator are others than those of the first part; write all alike")
            if head.dialect.encoding != "utf-8" or head.declared:
                part = _in_utf_8(part, str(head.dialect.encoding), head.declared, spill / f"utf-8-{number:06}.csv")
        parts.append(part)
        with about(source.part_name(source.parts[number])):
            fault, marks = _fault(part, str(head.dialect.separator), len(head.names))
        quoted, faulty = quoted or marks, faulty or (fault and f"{source.part_name(source.parts[number])}: {fault}")
    found = {
        "dialect": head.dialect,
        "quoted": quoted,
        "faulty": faulty,
        "positions": heads[0][0],
        "width": heads[0][1],
    }
    named = tuple(map(composed, filter(None, head.names)))
    return _as_found(source, wanted, spill, parts=parts, written=tuple(wanted), named=named, **found)


def _as_found(
    source: Source, wanted: list[str], spill: Path, *, parts: list[Path] | None = None, **found: Any
) -> Source:
    """The source, its parts under plain names: engines take signs such as * and [ in a path for patterns."""
    folder = spill / "parts"
    folder.mkdir()
    for number, part in enumerate(parts or source.parts):
        ending = "".join(part.suffixes[-2:]) if part.suffix.lower() == ".gz" else part.suffix
        (folder / f"part-{number:06}{ending.lower()}").symlink_to(part.absolute())
    return replace(source, columns=tuple(wanted), **found)


def first_part(path: str | Path) -> Path:
    """A file, or the first part in a folder; an error where a folder holds anything else."""
    path = Path(path)
    return _parts(path, path.resolve().name)[0] if path.is_dir() else path


def first_lines(part: Path) -> bytes:
    """The first whole lines of a csv file."""
    import pyarrow as pa

    files.check_file(part)
    with files.reading_errors(part), part.open("rb") as file:
        if part.suffix.lower() == ".gz":
            try:
                with pa.CompressedInputStream(pa.PythonFile(file), "gzip") as stream:
                    content = stream.read(_HEAD)
            except OSError:
                raise DataError("is cut short or damaged; make or download it again") from None
        else:
            content = file.read(_HEAD)
    if len(content) < _HEAD:
        return content
    line = b"\n\0" if content.startswith(codecs.BOM_UTF16_LE) else b"\n"
    return content[: content.rfind(line) + len(line)]


def _refuse_alike(names: list[str]) -> None:
    """Refuse names that differ in case only, which engines take for one."""
    first: dict[str, str] = {}
    for name in names:
        if first.setdefault(name.casefold(), name) != name:
            raise DataError(f"columns {first[name.casefold()]} and {name} are one to an engine; rename one of them")


def _fault(part: Path, separator: str, width: int) -> tuple[str | None, bool]:
    """What an engine would pass over in a csv file in UTF-8, if anything; and whether it has quotation marks."""
    import pyarrow as pa

    sign, gap = re.escape(separator).encode(), b"[ ]" if separator == "\t" else rb"[ \t]"
    beside = re.compile(rb'[%b\n]%b+"|"%b+[%b\r\n]' % (sign, gap, gap, sign))
    marks = lines = signs = 0
    blank, end = False, b"\n"
    with files.reading_errors(part), part.open("rb") as file:
        stream = pa.CompressedInputStream(pa.PythonFile(file), "gzip") if part.suffix.lower() == ".gz" else file
        for block in iter(lambda: stream.read(_HEAD), b""):
            if b"\0" in block:
                return "zero bytes: wrong encoding, or damaged; save the file as UTF-8", marks > 0
            marks += block.count(b'"')
            lines += block.count(b"\n")
            signs += block.count(separator.encode())
            blank = blank or (marks > 0 and beside.search(end + block) is not None)
            end = block[-64:]
    if marks % 2:
        return "a quotation mark is never closed; close it", True
    if blank:
        return "blanks stand beside a quotation mark; take them out, or take --engine memory", True
    if not marks and signs > (lines + (not end.endswith(b"\n"))) * (width - 1):
        return "a row has more cells than the header; mend it", False
    return None, marks > 0


def _in_utf_8(part: Path, encoding: str, declared: bool, copy: Path) -> Path:
    """A copy of a csv file in UTF-8, without a line that declares its separator."""
    import gzip

    opened = gzip.open if part.suffix.lower() == ".gz" else open
    with files.reading_errors(part), opened(part, "rb") as file, files.storage_errors(copy), copy.open("wb") as target:
        decode, row = codecs.getincrementaldecoder(encoding)(), 1
        while block := file.read(_HEAD):
            try:
                text = decode.decode(block)
            except UnicodeError:
                raise DataError(f"row {row} or after: wrong encoding: not {encoding}; save the file as UTF-8") from None
            row += text.count("\n")
            target.write(text.removeprefix("\ufeff").encode())
    if declared:
        with copy.open("rb") as file, copy.with_suffix(".rest").open("wb") as target:
            file.readline()
            shutil.copyfileobj(file, target)
        copy.with_suffix(".rest").replace(copy)
    return copy


@contextmanager
def spill_folder(where: str | Path | None) -> Iterator[Path]:
    """A folder of this process for what does not fit into memory. It goes in the end, and what killed ones left too."""
    root = spill_root(where)
    _remove_left(root)
    folder = root / f"kanon-lab-{os.getpid()}-{secrets.token_hex(8)}"
    with files.storage_errors(folder):
        folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def spill_root(where: str | Path | None) -> Path:
    """The folder that takes such folders; a `StorageError` where it is none, or an engine would misread its path."""
    root = Path(tempfile.gettempdir() if where is None else where).absolute()
    if not root.is_dir():
        raise StorageError(f"{root if where is None else where}: is no folder; name one with free space (--spill)")
    if re.search(r"[*?\[\]{}\s\"']", str(root)):  # which engines take for patterns, or end a setting of theirs
        raise StorageError(f"{root}: has blanks, quotes or signs of patterns in its path; name a plain one (--spill)")
    return root


def _remove_left(root: Path) -> None:
    """Remove what a process that was killed has left."""
    for folder in root.glob("kanon-lab-*-*"):
        found = re.fullmatch(r"kanon-lab-(\d+)-[0-9a-f]{16}", folder.name)
        if found:
            try:
                os.kill(int(found[1]), 0)
            except ProcessLookupError:
                shutil.rmtree(folder, ignore_errors=True)
            except (OSError, OverflowError):  # of another user, or no such number
                pass


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
