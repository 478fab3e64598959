"""Reading and writing whole files: formats by extension, errors in one line, and no half-written results."""

import atexit
import gzip
import hashlib
import io
import os
import secrets
import stat
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

from kanon_lab.errors import AbsentFileError, DataError, OptionError, SizeError, StorageError, about

if TYPE_CHECKING:
    import pandas

#: The memory that reading a file may take, unless `max_bytes` says otherwise.
MAX_BYTES = 4_000_000_000
# Bytes that a cell of a table takes while it is read, measured on csv and Parquet files of one to eight columns.
_CELL = 40
_BLOCK = 1 << 22
# More than a kernel and what talks to it, or some processes of a map, ever had open when they were tried.
_OPEN_FILES = 128
_OLE = bytes.fromhex("d0cf11e0a1b11ae1")
_ZIP = b"PK\x03\x04"
_SIGNATURES = {
    _ZIP: ("zip archive or a workbook of the new kind (.xlsx)", ("xlsx", "zip")),
    _OLE: ("workbook of the old or an encrypted kind", ("xlsx", "xls")),
    b"PAR1": ("Parquet file", ("parquet",)),
    b"$FL2": ("SPSS file", ("sav",)),
    b"$FL3": ("SPSS file", ("sav",)),
    b"<stata_dta>": ("Stata file", ("dta",)),
    b"\x1f\x8b": ("gzip file", ()),
    b"%PDF": ("PDF document", ()),
}
# The name of the stream that an encrypted workbook is, in the directory of its container.
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_limit: ContextVar[int | None] = ContextVar("max_bytes", default=None)
# Files that are being written beside their targets.
_drafts: set[Path] = set()


def file_format(path: str | Path) -> str:
    """Format of a file as its extension says: ``"csv"`` for ``a.csv`` and ``a.CSV.gz``; ``""`` without an extension."""
    path = Path(path)
    return (Path(path.stem) if path.suffix.lower() == ".gz" else path).suffix[1:].lower()


@contextmanager
def limited(max_bytes: int | None) -> Iterator[None]:
    """Let files that are read in the block take so many bytes of memory; None leaves the limit that there is."""
    if max_bytes is None:
        yield
        return
    if isinstance(max_bytes, bool) or not isinstance(max_bytes, int) or max_bytes < 1:
        raise OptionError(f"max_bytes must be a whole number of bytes, such as {MAX_BYTES}, not {max_bytes!r}")
    token = _limit.set(max_bytes)
    try:
        yield
    finally:
        _limit.reset(token)


def limit() -> int | None:
    """The limit that was set by `limited`; None where it is the usual one."""
    return _limit.get()


def read_bytes(path: str | Path) -> bytes:
    """Content of a regular file, decompressed where its name ends in ``.gz``; at most as `limited` allows."""
    path = Path(path)
    check_file(path)
    with about(str(path)):
        with reading_errors(path):
            check_size(path.stat().st_size)
            content = path.read_bytes()
        if path.suffix.lower() == ".gz" and content:
            content = _gunzip(content)
        if not content:
            raise DataError("is empty; make or download it again")
    return content


def unzipped(content: bytes, endings: Sequence[str]) -> tuple[bytes, str]:
    """Content and ending of the one file in a zip archive, which has one of some endings."""
    if not content.startswith(_ZIP):
        raise DataError("is not a zip archive, or holds nothing; make or download it again")
    check_signature(content, "zip")
    fault = "is a zip archive that is cut short or damaged; make or download it again"
    with damaged(fault), zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = [part for part in archive.infolist() if not part.is_dir()]
        # what other systems add to archives
        parts = [part for part in parts if not part.filename.startswith(("__MACOSX/", ".", "/"))]
        known = [part for part in parts if file_format(part.filename) in endings]
        if len(parts) != 1 or not known:
            wanted = " or ".join(f".{ending}" for ending in endings)
            raise DataError(f"holds {len(parts)} files, and one {wanted} is needed; unpack it, and name the file")
        check_size(known[0].file_size)
        with archive.open(known[0]) as packed:
            unpacked = packed.read(known[0].file_size + 1)
    if not unpacked:
        raise DataError("holds an empty file; make or download it again")
    return unpacked, file_format(known[0].filename)


def fits(size: int) -> bool:
    """Whether a file that takes so many bytes of memory may be read."""
    return size <= (limit() or MAX_BYTES)


def check_size(size: int) -> None:
    """Raise a `SizeError` where reading a file takes more bytes of memory than it may."""
    if not fits(size):
        raise SizeError(
            f"reading it would take more than {limit() or MAX_BYTES:,} bytes of memory; read fewer columns, or raise "
            "the limit (--memory, in Python and configurations max_bytes)"
        )


def check_table(rows: int, columns: int) -> None:
    """Raise a `SizeError` where a table of so many rows and columns takes more bytes of memory than it may."""
    check_size(rows * columns * _CELL)


def most_rows(columns: int) -> int:
    """The most rows that a table of so many columns may have."""
    return (limit() or MAX_BYTES) // (max(columns, 1) * _CELL)


@contextmanager
def damaged(fault: str) -> Iterator[None]:
    """Turn what a reader of another package says into a `DataError`: on damaged files they fail in ways not listed."""
    try:
        yield
    except (MemoryError, DataError):
        raise
    except Exception:
        raise DataError(fault) from None


def status(path: str | Path) -> os.stat_result | None:
    """Status of what a path leads to; None when nothing is there, a `DataError` when that cannot be told."""
    try:
        with reading_errors(path):
            return Path(path).stat()
    except AbsentFileError:
        return None


def is_file(path: str | Path) -> bool:
    """Whether a regular file is at a path; raises as `status` does."""
    there = status(path)
    return there is not None and stat.S_ISREG(there.st_mode)


def refuse_inputs(out: str | Path, inputs: Iterable[tuple[str, str | Path]]) -> None:
    """Raise an `OptionError` where a file to be written is one that is read, by whatever path; each with its name.

    So is one in a folder of parts, which only what is called "the input" may be: it would be a part.
    """
    for name, path in inputs:
        try:
            same = Path(out).samefile(path)
        except (OSError, ValueError):  # one of them is not there: nothing to replace
            same = False
        if same:
            raise OptionError(f"{out}: the output path is equal to {name}; choose another name for the output")
        try:
            in_folder = Path(path).is_dir() and Path(out).resolve().is_relative_to(Path(path).resolve())
        except (OSError, ValueError, RuntimeError):  # no such path, or links in a circle
            in_folder = False
        if name == "the input" and in_folder:
            raise OptionError(f"{out}: the output path is in the folder of {name}; choose another place")


def check_signature(content: bytes, form: str) -> None:
    """Raise a `DataError` where a file is encrypted, or begins as one of another format than its name says does."""
    if content.startswith(_OLE) and form in ("xlsx", "xls") and _ENCRYPTED in content:
        raise DataError("is encrypted with a password; save it without one")
    if content.startswith(_OLE) and form == "xlsx":
        raise DataError("is a workbook of the old kind (.xls); save it as xlsx")
    if content.startswith(_ZIP):
        locked = False
        with suppress(Exception), zipfile.ZipFile(io.BytesIO(content)) as archive:  # damage is for its reader to report
            locked = any(part.flag_bits & 1 for part in archive.infolist())
        if locked:
            raise DataError("is an archive protected by a password; unpack it, and save the file without one")
    for start, (kind, forms) in _SIGNATURES.items():
        if content.startswith(start) and form not in forms:
            raise DataError(f"is not .{form} but a {kind}; give the file its right ending, or unpack it")


def check_file(path: str | Path) -> None:
    """Raise a `DataError` unless a regular file is at `path`: a pipe may never end, and a device has no end."""
    with reading_errors(path):
        mode = Path(path).stat().st_mode
    if stat.S_ISDIR(mode):
        raise DataError(f"{path}: is a folder; give the path of a file in it")
    if not stat.S_ISREG(mode):
        raise DataError(f"{path}: is not a regular file; save what it gives in one")


@contextmanager
def reading_errors(path: str | Path) -> Iterator[None]:
    """Turn what the system says against the path in the block, which only looks or reads there, into a `DataError`."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError):
        raise AbsentFileError(f"{path}: no such file; check the path") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise DataError(f"{path}: cannot be read ({reason}); check the path and its permissions") from None
    except ValueError:  # a zero byte in it
        raise DataError(f"{path}: cannot be the path of a file; check the path") from None


def _gunzip(content: bytes) -> bytes:
    import pyarrow  # a file of many small members takes it no time; the standard library a minute

    if not content.startswith(b"\x1f\x8b"):
        raise DataError("is not a gzip file; compress it again or drop .gz from its name")
    unpacked = io.BytesIO()
    try:
        with pyarrow.CompressedInputStream(pyarrow.BufferReader(content), "gzip") as stream:
            while block := stream.read(_BLOCK):
                check_size(unpacked.tell() + len(block))
                unpacked.write(block)
    except OSError:
        raise DataError("is cut short or damaged; make or download it again") from None
    return unpacked.getvalue()


def sha256(path: str | Path) -> str:
    """SHA-256 of a file, as 64 hexadecimal digits."""
    with reading_errors(path), Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def identity(path: str | Path) -> dict[str, int | str]:
    """``bytes`` and ``sha256`` of a file as it stands on the disk."""
    with reading_errors(path):
        return {"bytes": Path(path).stat().st_size, "sha256": sha256(path)}


@contextmanager
def atomic_path(target: str | Path, *, ending: str = "", mode: int | None = None) -> Iterator[Path]:
    """Path to write to instead of `target`: it becomes `target` when the block ends well, and goes when it does not.

    It stands in the folder of `target`, so that the last step is one rename: a reader sees the old file or the new
    one. It is an empty file with a name that nobody can foresee, so that no link leads from it to another file. The
    folder must exist. The block should do nothing but write: its `OSError` is taken for a failed write. The path has
    the `ending`; the new file has the permissions `mode`, or by default those of the old one.
    """
    target = Path(target)
    with storage_errors(target):
        if mode is None:
            with suppress(FileNotFoundError):
                mode = target.stat().st_mode & 0o777
        draft = new_path(target.parent, f".tmp{ending}")
        _drafts.add(draft.absolute())
        # nobody may read it who may not read the new file
        draft.touch(0o666 if mode is None else stat.S_IRUSR | stat.S_IWUSR, exist_ok=False)
        try:
            if mode is not None:
                draft.chmod(mode | stat.S_IWUSR)
            yield draft
            if mode is not None:
                draft.chmod(mode)
            draft.replace(target)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
        finally:
            _drafts.discard(draft.absolute())


@atexit.register
def _remove_drafts() -> None:
    """Remove what a thread was writing when the process had to end."""
    for draft in [*_drafts]:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def new_path(folder: Path, ending: str) -> Path:
    """Path in a folder for a hidden file, with a name that is not there and that nobody can foresee."""
    return folder / f".kanon-lab-{secrets.token_hex(8)}{ending}"


def gzipped(content: bytes) -> bytes:
    """The content as a gzip file whose bytes depend on nothing else: it has no time and no name.

    Its tenth byte names the system that packed it. Python writes another number there since 3.13, so it is set here.
    """
    packed = gzip.compress(content, mtime=0)
    return packed[:9] + b"\x03" + packed[10:]


def csv_gz(frame: "pandas.DataFrame") -> bytes:
    """A frame as a gzipped csv: the same frame gives the same bytes."""
    return gzipped(frame.to_csv(index=False, lineterminator="\n").encode())


def write_bytes(target: str | Path, content: bytes) -> None:
    """Write `content` to `target`, whole or not at all (see `atomic_path`)."""
    with atomic_path(target) as temporary:
        temporary.write_bytes(content)


def write_text(target: str | Path, text: str) -> None:
    """Write `text` to `target` in UTF-8, whole or not at all (see `atomic_path`)."""
    write_bytes(target, text.encode("utf-8"))


def cache_folder() -> Path:
    """Folder of what can be made or fetched again: kanon-lab in the user's cache folder. It need not exist."""
    import platformdirs

    return platformdirs.user_cache_path("kanon-lab", appauthor=False)


def kept_text(make: Callable[[], str], kind: str, *parts: str) -> str:
    """A text that takes long to make: from the cache folder where it was made of the same parts before."""
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    path = cache_folder() / f"{kind}-{key[:32]}.txt"
    try:
        return path.read_bytes().decode()
    except (OSError, ValueError):
        text = make()
    with suppress(OSError, StorageError):  # a folder that cannot be written makes nothing worse
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text)
    return text


def check_open_files() -> None:
    """Refuse to start processes where one may open few files: their libraries break off, some without a word."""
    most = _system_limit("RLIMIT_NOFILE")
    if most is not None and most < _OPEN_FILES:
        raise StorageError(f"only {most} files may be open at a time here; allow {_OPEN_FILES} or more (ulimit -n)")


def check_address_space(least: int) -> None:
    """Refuse to load libraries where a process may have less memory (bytes): they break off, or load for ever."""
    most = _system_limit("RLIMIT_AS")
    if most is not None and most < least:
        allowed = f"only {most // 10**6:,} MB of memory are allowed to a process here"
        raise SizeError(f"{allowed}; allow {least // 10**6:,} MB or more (ulimit -v)")


def _system_limit(name: str) -> int | None:
    """A limit of the system on this process; None where there is none."""
    try:
        import resource

        most = resource.getrlimit(getattr(resource, name))[0]
    except (ModuleNotFoundError, AttributeError):  # another system
        return None
    return most if most >= 0 else None


@contextmanager
def storage_errors(target: str | Path) -> Iterator[None]:
    """Turn an `OSError` of the block into a `StorageError` that names `target`."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise StorageError(f"{target}: cannot be written ({reason}); free space or choose another place") from None
