"""Reading and writing whole files: formats by extension, errors in one line, and no half-written results."""

import gzip
import hashlib
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from kanon_lab.errors import AbsentFileError, DataError, StorageError

if TYPE_CHECKING:
    import pandas


def file_format(path: str | Path) -> str:
    """Format of a file as its extension says: ``"csv"`` for ``a.csv`` and ``a.CSV.gz``; ``""`` without an extension."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    return suffixes[-1][1:] if suffixes else ""


def read_bytes(path: str | Path) -> bytes:
    """Content of a file, decompressed where its name ends in ``.gz``.

    Raises
    ------
    DataError
        The file is absent, no regular file, unreadable, empty, or not a whole gzip file though its name says so.
    """
    path = Path(path)
    check_file(path)
    with reading_errors(path):
        content = path.read_bytes()
    if path.suffix.lower() == ".gz" and content:
        content = _gunzip(content, path)
    if not content:
        raise DataError(f"{path}: is empty; make or download it again")
    return content


def status(path: str | Path) -> os.stat_result | None:
    """Status of what a path leads to, or None when nothing is there.

    Raises
    ------
    DataError
        That cannot be told: a folder on the way may not be entered, or the name is none that the system can have.
    """
    try:
        with reading_errors(path):
            return Path(path).stat()
    except AbsentFileError:
        return None


def is_file(path: str | Path) -> bool:
    """Whether a regular file is at a path; raises as `status` does."""
    found = status(path)
    return found is not None and stat.S_ISREG(found.st_mode)


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


def _gunzip(content: bytes, path: Path) -> bytes:
    try:
        return gzip.decompress(content)
    except gzip.BadGzipFile:
        raise DataError(f"{path}: is not a gzip file; compress it again or drop .gz from its name") from None
    except (EOFError, zlib.error):
        raise DataError(f"{path}: is cut short or damaged; make or download it again") from None


def sha256(path: str | Path) -> str:
    """SHA-256 of a file, as 64 hexadecimal digits."""
    with reading_errors(path), Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def atomic_path(target: str | Path) -> Iterator[Path]:
    """Path to write to instead of `target`: it becomes `target` when the block ends well, and goes when it does not.

    It stands in the folder of `target`, so that the last step is one rename: a reader sees the old file or the new
    one. The permissions of an old file pass to the new one. The folder must exist. The block should do nothing but
    write: its `OSError` is taken for a failed write.

    Raises
    ------
    StorageError
        The folder is absent, not writable, or the disk is full.
    """
    target = Path(target)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    with storage_errors(target):
        try:
            claim(temporary, target)
            yield temporary
            mode = _mode(target)
            if mode is not None and mode != _mode(temporary):
                temporary.chmod(mode)
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def claim(draft: Path, target: Path) -> None:
    """Make an empty file to write a new `target` to, which nobody may read who may not read the old one."""
    mode = _mode(target)
    draft.touch()
    if mode is not None:
        draft.chmod(mode | stat.S_IWUSR)


def _mode(path: Path) -> int | None:
    """Permissions of a file, or None where nothing is there."""
    try:
        return path.stat().st_mode & 0o777
    except FileNotFoundError:
        return None


def csv_gz(frame: "pandas.DataFrame") -> bytes:
    """A frame as a gzipped csv without a time or name in it, so that the same frame gives the same bytes."""
    return gzip.compress(frame.to_csv(index=False, lineterminator="\n").encode(), mtime=0)


def write_bytes(target: str | Path, content: bytes) -> None:
    """Write `content` to `target`, whole or not at all (see `atomic_path`)."""
    with atomic_path(target) as temporary:
        temporary.write_bytes(content)


def write_text(target: str | Path, text: str) -> None:
    """Write `text` to `target` in UTF-8, whole or not at all (see `atomic_path`)."""
    write_bytes(target, text.encode("utf-8"))


@contextmanager
def storage_errors(target: str | Path) -> Iterator[None]:
    """Turn an `OSError` of the block into a `StorageError` that names `target`."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise StorageError(f"{target}: cannot be written ({reason}); free space or choose another place") from None
