"""What commands print: aligned text for people, JSON for programs."""

import json
import math
import os
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import click

from kanon_lab.errors import StorageError, shortened, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pandas as pd

#: Exit code where --fail is given and a limit is not met.
NOT_MET = 3
#: Who may read what a command prints, in its JSON and in its first line: comparing the exact numbers of a run with a
#: person and a run without reveals that person's values.
OFFICE = {"audience": "office"}
FOR_OFFICE = "(for the office only)"


def show(
    result: Any,
    printed: Callable[[], None],
    *written: str | None,
    as_json: bool,
    what: str = "what was written is there",
) -> None:
    """Print a result as JSON, or for people by a function.

    Where its reader (such as head) has seen enough, that ends it, but not the command. Where it cannot be printed at
    all, as on a full disk, the error says which files were `written` all the same.
    """
    try:
        if as_json:
            print_json(result)
        else:
            printed()
        sys.stdout.flush()
    except BrokenPipeError:
        drop_output()
    except OSError as error:
        drop_output()
        names = ", ".join(shortened(name) for name in written if name is not None)
        there = f"; {what}: {names}" if names else ""
        reason = error.strerror or type(error).__name__
        raise StorageError(f"standard output cannot be written ({reason}){there}") from None


def end(code: int, reason: str) -> NoReturn:
    """End the command with an exit code, and a line on standard error that says why."""
    click.echo(f"kanon-lab: {visible(reason)}", err=True)
    raise click.exceptions.Exit(code)


def drop_output() -> None:
    """Send standard output nowhere from now on: what is still buffered must not fail at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_lines(lines: "Iterable[str]") -> None:
    """Print lines for people; names of files and columns in them must not command the terminal."""
    for line in lines:
        click.echo(visible(line))


def aligned(title: str, texts: Mapping[str, str]) -> "Iterator[str]":
    """A title, and below it a line for each text: its name to the left, the text to the right."""
    yield ""
    yield title
    left, right = max(map(len, texts)), max(map(len, texts.values()))
    for name, text in texts.items():
        yield f"  {name:<{left}}  {text:>{right}}"


def print_frame(frame: "pd.DataFrame", formats: Mapping[str, str | Callable[[Any], str]] | None = None) -> None:
    """Print a frame as `kanon_lab.report.parts.text_table` writes it."""
    from kanon_lab.report.parts import text_table

    print_lines(text_table(frame, formats))


def print_json(result: Any) -> None:
    """Print JSON: frames as lists of rows, missing and infinite numbers as null, keys in the order given.

    Letters that standard output cannot encode, and characters that may command a terminal, become JSON's escapes.
    """
    plain = _plain(result)
    text = visible(json.dumps(plain, ensure_ascii=False), escaped=lambda character: json.dumps(character)[1:-1])
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(plain)
    click.echo(text)


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
