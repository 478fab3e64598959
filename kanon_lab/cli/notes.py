"""How a microdata file is to be read, and what a command says of how it was."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from kanon_lab import files
from kanon_lab.errors import OptionError, shortened

if TYPE_CHECKING:
    from kanon_lab.data import MicrodataFile
    from kanon_lab.protection import Recipe

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
