"""Temporary folders: held by a lock while something runs, and removed where the run that made them is dead."""

import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kanon_lab.errors import StorageError
from kanon_lab.files import storage_errors

try:
    import fcntl
except ModuleNotFoundError:  # another system: nothing is locked, and nothing of dead runs removed
    fcntl = None  # type: ignore[assignment]

_NAME = re.compile(r"\.?kanon-lab-[0-9a-f]{16}")
# The file that is locked. The system gives it free when the process ends, however it ends and whatever its number.
_LOCK = ".held"


def temporary_root() -> Path:
    """The system's folder for temporary files."""
    try:
        return Path(tempfile.gettempdir()).absolute()
    except OSError:
        fault = "there is no folder for temporary files that can be written"
        raise StorageError(f"{fault}; free space in it, or name another one (TMPDIR)") from None


@contextmanager
def held_folder(root: Path | None = None, *, hidden: bool = False) -> Iterator[Path]:
    """A folder that only its owner may enter, removed at the end, as are those in `root` that dead runs have left.

    By default `root` is the system's folder for temporary files. Whether a run is alive is asked of its lock and not of
    the number of its process, which in another container is that of another process or of none.
    """
    root = root or temporary_root()
    _remove_left(root)
    name = f"kanon-lab-{secrets.token_hex(8)}"
    draft, folder = root / f".{name}.new", root / (f".{name}" if hidden else name)
    with storage_errors(root):
        draft.mkdir(mode=0o700)
    lock = None
    try:
        with storage_errors(root):
            lock = _locked(draft / _LOCK, os.O_CREAT | os.O_EXCL)
            draft.rename(folder)  # others see it when it is locked
        yield folder
    finally:
        for path in (draft, folder):
            shutil.rmtree(path, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _locked(path: Path, how: int = 0) -> int | None:
    """A lock file, open and locked; None where another process holds it, or where there are no locks."""
    if fcntl is None:
        return None
    file = os.open(path, os.O_RDWR | os.O_NOFOLLOW | how, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        if how:  # a file system without locks: a folder without the file is nobody's to remove
            path.unlink()
        return None
    return file


def _remove_left(root: Path) -> None:
    """Remove the folders in which a lock file is held by nobody: those of runs that were killed."""
    if fcntl is None:
        return
    with suppress(OSError), os.scandir(root) as entries:
        names = [entry.name for entry in entries if _NAME.fullmatch(entry.name)]
        for path in (root / name for name in names):
            with suppress(OSError):
                there = path.lstat()
                own = stat.S_ISDIR(there.st_mode) and there.st_uid == os.getuid()
                if own and (lock := _locked(path / _LOCK)) is not None:
                    shutil.rmtree(path, ignore_errors=True)
                    os.close(lock)
