"""How commands read files, and what they print: aligned text for people, JSON for programs."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from kanon_lab import files
from kanon_lab.errors import OptionError, shortened

if TYPE_CHECKING:
    from kanon_lab.data.microdata import MicrodataFile
    from kanon_lab.recipes.recipe import Recipe
import json
import math
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING

from kanon_lab.errors import KanonLabError, StorageError, visible

if TYPE_CHECKING:
    import pandas as pd


_UNITS = ("", "KB", "MB", "GB")
_BYTES = re.compile("([0-9]{1,18})(|KB|MB|GB)", re.IGNORECASE)


def _parsed(context: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> dict[str, list[str]]:
    """Codes by variable from texts such as P3=88,99."""
    found: dict[str, list[str]] = {}
    for text in texts:
        name, _, listed = text.rpartition("=")
        codes = [code.strip() for code in listed.split(",")]
        if not name.strip() or not all(codes):
            raise OptionError(f"--missing-codes {shortened(text)!r}: write a variable and its codes, such as P3=88,99")
        found.setdefault(name.strip(), []).extend(codes)
    return found


missing_codes_option = click.option(
    "--missing-codes",
    multiple=True,
    metavar="V=CODE,...",
    callback=_parsed,
    help="Codes that mean missing in a variable: P3=88,99. May repeat.",
)
"""The option of the commands that read microdata; it gives what `read_file` takes as missing_codes."""


def _limited(context: click.Context, parameter: click.Parameter, text: str | None) -> None:
    """Let files that the command reads take so many bytes of memory."""
    if text is not None:
        found = _BYTES.fullmatch(text.strip())
        if found is None or not int(found[1]):
            raise OptionError(f"--max-bytes {shortened(text)!r}: write a whole number of bytes, or one such as 8GB")
        context.with_resource(files.limited(int(found[1]) * 1000 ** _UNITS.index(found[2].upper())))


max_bytes_option = click.option(
    "--max-bytes",
    metavar="N",
    callback=_limited,
    expose_value=False,
    help=f"The memory that reading a file may take, such as 8GB.  [default: {files.MAX_BYTES // 10**9}GB]",
)
"""The option of all commands that read a table."""


def reading_notes(file: "MicrodataFile") -> Iterator[str]:
    """What was found in a file, and columns whose cells may mean something else than they were taken for."""
    from kanon_lab.data import usual_marks
    from kanon_lab.data.microdata import double_spellings, nearly_numbers

    yield from file.notes
    for name, marks in usual_marks(file.frame).items():
        yield f"{shortened(name)}: {', '.join(marks)} taken as a value; if it means missing, say so (--na)"
    for name in double_spellings(file.frame):
        yield f"{shortened(name)}: is text with two spellings of one number, such as 1 and 1.0, taken as two values"
    for name, count in nearly_numbers(file.frame).items():
        some = f"{count:,} of its cells are no numbers"
        yield f"{shortened(name)}: is text, since {some}; if they mean missing, say so (--na)"


def reading_options(recipe: "Recipe", na: tuple[str, ...], missing_codes: dict[str, list[str]]) -> dict[str, Any]:
    """How to read the file: as its recipe says, or as options of a command say in the place of it."""
    given = {"na": na, "missing_codes": missing_codes, "max_bytes": files.limit()}
    return {**recipe.reading, **{name: value for name, value in given.items() if value}}


#: Who may read what a command prints, in its JSON and in its first line: by exact numbers of two runs, with and without
#: one person, that person's values can be told.
OFFICE = {"audience": "office"}
FOR_OFFICE = "(for the office only)"
_GAP = "  "


@contextmanager
def reader_may_leave(*written: str | None, what: str = "what was written is there") -> Iterator[None]:
    """End what is printed in the block where its reader (such as head) has seen enough, but not the command.

    Where it cannot be printed at all, as on a full disk, the error says which files were `written` all the same.
    """
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        drop_output()
    except OSError as error:
        drop_output()
        names = ", ".join(shortened(name) for name in written if name is not None)
        there = f"; {what}: {names}" if names else ""
        reason = error.strerror or type(error).__name__
        raise StorageError(f"standard output cannot be written ({reason}){there}") from None


def drop_output() -> None:
    """Send standard output nowhere from now on: what is still buffered must not fail at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def by_names(*options: str) -> Callable:
    """Let errors of a command call the files of these parameters by name: where they lie is not for every reader."""

    def wrap(command: Callable) -> Callable:
        @wraps(command)
        def called(*args: Any, **values: Any) -> Any:
            try:
                return command(*args, **values)
            except KanonLabError as error:
                raise type(error)(without_folders(str(error), *(values[name] for name in options))) from None

        return called

    return wrap


def without_folders(text: str, *paths: str | None) -> str:
    """A text in which these paths, and others in their folders, are called by their names."""
    for path in filter(None, paths):
        typed = path.rpartition("/")[0]
        for folder in {typed, str(Path(path).parent), str(Path(path).absolute().parent)} - {"", ".", "/"}:
            text = re.sub(rf"(?<![\w./-]){re.escape(str(KanonLabError(folder)))}/", "", text)
    return text


def print_frame(frame: "pd.DataFrame", formats: Mapping[str, str | Callable[[Any], str]] | None = None) -> None:
    """Print a frame without its index, aligned: numbers to the right, text to the left, a missing value as ``-``.

    `formats` say how values of a column become text: a format specification, or a function such as `digits.percent`.
    Without one, whole numbers stand in full and others with six significant digits. Control characters are escapes.
    """
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    formats = formats or {}
    columns = []
    for name, values in frame.items():
        texts = [visible(text) for text in (str(name), *(cell_text(value, formats.get(name)) for value in values))]
        width = max(map(len, texts))
        right = is_numeric_dtype(values) and not is_bool_dtype(values)
        columns.append([text.rjust(width) if right else text.ljust(width) for text in texts])
    for line in zip(*columns, strict=True):
        click.echo(_GAP.join(line).rstrip())


def print_json(result: Any) -> None:
    """Print JSON: frames as lists of rows, missing and infinite numbers as null, keys in the order given.

    Letters that standard output cannot encode, and characters that may command a terminal, stand as JSON's escapes.
    """
    plain = _plain(result)
    text = visible(json.dumps(plain, ensure_ascii=False), escaped=lambda character: json.dumps(character)[1:-1])
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(plain)
    click.echo(text)


def cell_text(value: Any, form: str | Callable[[Any], str] | None) -> str:
    """A value as `print_frame` prints it."""
    value = _plain(value)
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return form(value) if callable(form) else format(value, form or (".6g" if isinstance(value, float) else ""))


def _plain(value: Any) -> Any:
    """The same in types that JSON has."""
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    import numpy as np
    import pandas as pd

    if isinstance(value, pd.DataFrame):
        columns = [_plain(values) for _, values in value.items()]
        return [dict(zip(map(str, value.columns), row, strict=True)) for row in zip(*columns, strict=True)]
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (np.ndarray, np.generic, pd.Series, pd.Index)):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return None if value is pd.NA or value is pd.NaT else str(value)
