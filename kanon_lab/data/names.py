"""Names of the columns of a microdata file: which to read, and which are wanting."""

import unicodedata
from collections.abc import Iterable

from kanon_lab.errors import DataError, meant, shortened

_MOST = 8


def composed(name: str) -> str:
    """A name with composed letters (Unicode's NFC): one letter for the e and the accent of café."""
    return unicodedata.normalize("NFC", name)


def listed(names: Iterable[str] | str) -> list[str]:
    """Names as a list, also where one alone is given."""
    return [names] if isinstance(names, str) else list(names)


def chosen(names: list[str], wanted: list[str] | None, *, in_row_1: bool) -> list[str]:
    """The columns to read, as they stand in the file, or an error that quotes names only where they surely are names.

    A file without a header has data in row 1, where names should be.
    """
    place = "put them in the first row" if in_row_1 else "write it again with names"
    names, own = list(map(composed, names)), names
    named = [name for name in names if name]
    if not named:
        raise DataError(f"has no column names; {place}")
    if absent := [name for name in wanted or [] if name not in names]:
        sure = not in_row_1 or len(absent) <= len(wanted) / 2
        raise wanting(absent[0], named, sure=sure)
    first = dict(reversed([(name, i) for i, name in enumerate(names, start=1)]))
    if twice := [(first[name], i) for i, name in enumerate(names, start=1) if name and first[name] != i]:
        raise DataError(f"columns {twice[0][0]} and {twice[0][1]} have the same name; give each its own")
    written = dict(zip(names, own, strict=True))
    return [written[name] for name in (named if wanted is None else wanted)]


def wanting(absent: str, names: list[str], *, sure: bool) -> DataError:
    """The error for a column that is not there: with the nearest of the names, where it is sure that they are names."""
    remedy = "; check that names of columns stand in the first row"
    alike = [name for name in names if name.casefold() == absent.casefold()]
    if sure or alike:
        remedy = _remedy(absent, alike or names)
    return DataError(f"no column {shortened(absent)}{remedy}")


def _remedy(absent: str, names: list[str]) -> str:
    few = ", ".join(map(shortened, names[:_MOST]))
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return f"; {meant(absent, names, f'it has {few}{more}')}"
