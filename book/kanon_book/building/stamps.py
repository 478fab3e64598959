"""Stamps say what a result was made from, so that it is not made again where nothing has changed."""

from __future__ import annotations

import argparse
import hashlib
import shutil
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from kanon_book.places import BUILD, ROOT
from kanon_lab.errors import KanonLabError
from kanon_lab.files import write_text

STAMPS = BUILD / "stamps"
HTML = BUILD / "html"
#: Also where the path of its own script holds a space.
JUPYTER_BOOK = (sys.executable, "-c", "from jupyter_book.cli.main import main; main()")


def command_line(module: str, about: str | None) -> argparse.ArgumentParser:
    """Return what reads the arguments of a module that is run by ``-m``; its help is what the module says of itself."""
    form = argparse.RawDescriptionHelpFormatter
    return argparse.ArgumentParser(f"python -m {module}", description=about, formatter_class=form)


def run_command(command: str, work: Callable[[], int | None]) -> int:
    """Do the work of a command; return its exit code, and say in one line what went wrong."""
    try:
        return work() or 0
    except KanonLabError as error:
        print(f"{command}: {error}", file=sys.stderr)
    except OSError as error:
        print(f"{command}: {first_reason(error)}; free space, or correct the permissions of {BUILD}", file=sys.stderr)
    except KeyboardInterrupt:
        print(f"{command}: interrupted; what was finished is kept", file=sys.stderr)
        return 130
    return 2


def first_reason(error: OSError) -> str:
    """Return what went wrong as one line; shutil gathers the errors of many files in one."""
    several = isinstance(error, shutil.Error) and isinstance(error.args[0], list)
    return str(error.args[0][0][2] if several else error)


def files_under(folder: Path) -> list[Path]:
    """All files in a folder, by name; without what Python keeps there."""
    return sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def digest(paths: Iterable[Path]) -> str:
    """Return one hash of names and contents."""
    total = hashlib.sha256()
    for path in paths:
        name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path.name
        total.update(f"{name} {hash_file(path)}\n".encode())
    return total.hexdigest()


def hash_file(path: Path) -> str:
    """The hash of a file; of a folder that of the names in it, and nothing where there is neither."""
    if path.is_dir():
        names = "\n".join(sorted(entry.name for entry in path.iterdir() if entry.name != "__pycache__"))
        return hashlib.sha256(names.encode()).hexdigest()
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def is_current(stamp: Path, inputs: str) -> bool:
    """Whether a stamp says that its result was made from these inputs."""
    return stamp.is_file() and stamp.read_text("utf-8") == inputs


def write_stamp(stamp: Path, inputs: str) -> None:
    """Say what a result was made from."""
    stamp.parent.mkdir(parents=True, exist_ok=True)
    write_text(stamp, inputs)
