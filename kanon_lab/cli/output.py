"""What commands print: aligned text for people, JSON for programs."""

import json
import math
import operator
import os
import sys
from collections.abc import Callable, Mapping
from itertools import chain, dropwhile
from typing import TYPE_CHECKING, Any, NoReturn

import click

from kanon_lab.errors import StorageError, shortened, visible
from kanon_lab.terms import agreed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kanon_lab.show.parts import Part, Section

#: Exit code where --fail is given and a limit is not met, or --fail-on-cautions and there is a caution.
NOT_MET = 3
#: Who may read what a command prints, in its JSON and in its first line: comparing the exact numbers of a run with a
#: person and a run without reveals that person's values.
OFFICE = {"audience": "office"}


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


def failing(judged: "Iterable[Mapping[str, Any]]", *, fail: bool, on_cautions: bool) -> str:
    """Why verdicts end a command with 3 by ``--fail`` and ``--fail-on-cautions``, or nothing."""
    judged = list(judged)
    if fail and not all(verdict["met"] for verdict in judged):
        return "a limit is not met (--fail)"
    if on_cautions and (count := sum(len(verdict["cautions"]) for verdict in judged)):
        return f"{count} caution{'s' if count > 1 else ''} in the result (--fail-on-cautions)"
    return ""


def end(code: int, reason: str) -> NoReturn:
    """End the command with an exit code, and a line on standard error that says why."""
    click.echo(f"kanon-lab: {agreed(visible(reason))}", err=True)
    raise click.exceptions.Exit(code)


def drop_output() -> None:
    """Send standard output nowhere from now on: what is still buffered must not fail at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_lines(lines: "Iterable[str]") -> None:
    """Print lines for people; names of files and columns in them must not command the terminal."""
    for line in lines:
        click.echo(agreed(visible(line)))


def print_parts(*parts: "Part | Section") -> None:
    """Print parts and sections of a result, as `kanon_lab.show.parts` writes them on a terminal."""
    from kanon_lab.show.parts import render_text

    print_lines(dropwhile(operator.not_, chain.from_iterable(map(render_text, parts))))


def print_for_office(file: str, records: int, lines: "Sequence[str]" = (), *parts: "Part | Section") -> None:
    """Print lines and sections on what was measured of a file, below a line that says for whom they are."""
    from kanon_lab.show.parts import Bullets

    print_lines([f"{file}: {records:,} records (for the office only)"])
    print_parts(Bullets(lines), *parts)


def list_notes(notes: "Sequence[str]") -> "Section":
    """The section of notes."""
    from kanon_lab.show.parts import Bullets, Section

    return Section("Notes", [Bullets([f"- {note}" for note in notes])] if notes else [])


def list_diversity(title: str, diversity: Mapping[str, Mapping[str, Any]]) -> "Section":
    """The section of the worst class of each sensitive variable, from its measures by name."""
    from kanon_lab.measures.registry import measures
    from kanon_lab.show.parts import Section, Table

    rows = []
    for row in measures(kind="diversity", shown="file"):
        values = ["-" if file[row.name] is None else row.written(file[row.name]) for file in diversity.values()]
        rows.append([f"{row.called()} ({'least' if row.least else 'largest'})", *values])
    return Section(title, [Table.of_texts(["measure", *map(shortened, diversity)], rows)] if diversity else [])


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
