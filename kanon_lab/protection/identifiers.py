"""Proof that direct identifiers are not in a file: neither under their names nor under others."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from kanon_lab.errors import DataError, shortened
from kanon_lab.recode.columns import as_text, distinct

_NOT_WORD = re.compile(r"[\W_]+")
_ZEROS = re.compile(r"(?<!\w)0+(?=\d)")
_MIDNIGHT = re.compile(r"(?<=\d)[ t]00:00:00(\.0+)?$")
# A shorter text, such as a surname, may stand in a cell by chance.
_TELLING = 8


@dataclass(frozen=True)
class Held:
    """A column that holds a direct identifier: by its name (no `identifier`), by its values (no `rows`) or in words."""

    column: str
    identifier: str = ""
    rows: pd.Series | None = None

    def told(self, *, rows: bool = True) -> str:
        """What is said against the release, with or without saying which records it is about."""
        column, identifier = f"column {shortened(self.column)}", shortened(self.identifier)
        if not self.identifier:
            return f"{column} is a direct identifier; it must not be released"
        if self.rows is None:
            return f"{column} has the values of the direct identifier {identifier}; name it as one too"
        first, count = shortened(str(self.rows.idxmax())), int(self.rows.sum())
        which = f": row {first}{f' (and {count - 1} more)' if count > 1 else ''}" if rows else ""
        held = f"holds the record's own {identifier}, a direct identifier; recode or remove the column"
        return f"{column}{which}: {held}"


def held_identifier(
    released: pd.DataFrame, original: pd.DataFrame, identifiers: Iterable[str], *, roles: Iterable[str] = ()
) -> Held | None:
    """The first direct identifier that a released file holds; parameters as of `prove_absent`."""
    names = list(identifiers)
    for name in released.columns:
        if name in names:
            return Held(name)
    columns, known = {name: _texts(column) for name, column in released.items()}, set(roles)
    for identifier in names:
        own, own_cells = _texts(original[identifier])
        values = set(own_cells) - {None}
        for name, (texts, cells) in columns.items():
            text = not pd.api.types.is_numeric_dtype(released[name])
            if _copied(own_cells, cells) or (name not in known and _moved(values, cells, text=text)):
                return Held(name, identifier)
            if text and (rows := _told(own, texts)).any():
                return Held(name, identifier, pd.Series(rows, index=original.index))
    return None


def prove_absent(
    released: pd.DataFrame, original: pd.DataFrame, identifiers: Iterable[str], *, roles: Iterable[str] = ()
) -> None:
    """Raise a `DataError` if a released file holds a direct identifier.

    That is where a column has an identifier's name; or its values (most of them, where an identifier differs from
    record to record); or, without a role, most of its values are an identifier's, in whatever records; or in some
    record, among other words, the record's own identifier of eight characters or more, or in most records a shorter
    one.

    Parameters
    ----------
    released, original : DataFrame
        What is to be released, and the same records in the same order with the direct identifiers.
    identifiers : iterable of str
        Their names.
    roles : iterable of str
        Released columns with a role: their values may be those of an identifier in other records, such as a town's.

    Notes
    -----
    Letters' case, accents, spaces, punctuation and zeros before a number do not matter: 014.698.393-K is 14698393k. An
    identifier in another coding, such as a part of it, a number made from it or other words for it, is not found.

    Examples
    --------
    >>> import pandas as pd
    >>> from kanon_lab.protection import prove_absent
    >>> file = pd.DataFrame({"rut": ["14.698.393-K", "9.123.456-7"], "copy": ["014698393k", "9123456-7"]})
    >>> prove_absent(file[["copy"]], file, ["rut"])
    Traceback (most recent call last):
    kanon_lab.errors.DataError: column copy has the values of the direct identifier rut; name it as one too
    """
    if len(released) != len(original) and not {*released.columns} & {*identifiers}:
        raise DataError("has not as many records as were to be written; write it again")
    if (held := held_identifier(released, original, identifiers, roles=roles)) is not None:
        raise DataError(held.told())


def _texts(column: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """Values as words between spaces, and as these without spaces; None where missing."""
    codes, values = distinct(column)
    words, bare = [], []
    for value in values:
        text = _MIDNIGHT.sub("", as_text(value).strip().casefold())
        plain = "".join(each for each in unicodedata.normalize("NFKD", text) if not unicodedata.combining(each))
        spaced = _NOT_WORD.sub(" ", plain).strip()
        words.append(f" {_ZEROS.sub('', spaced)} " if text else None)
        bare.append(_ZEROS.sub("", spaced.replace(" ", "")) or text or None)
    return tuple(np.array([*each, None], dtype=object)[codes] for each in (words, bare))


def _copied(own: np.ndarray, texts: np.ndarray) -> bool:
    both = (own != None) & (texts != None)  # noqa: E711 (elementwise)
    same = both & (own == texts)
    count, values = int(same.sum()), len(set(own[same]))
    if count == 0 or (values == 1 and len(own) > 1):
        return False
    return count == both.sum() or (count >= both.sum() / 2 and values >= count / 2)


def _moved(values: set[str], cells: np.ndarray, *, text: bool) -> bool:
    """Whether most cells have a value of the identifier, whosever it is: several, and no short numbers."""
    counts = Counter(cell for cell in cells if cell is not None)
    found = {cell: n for cell, n in counts.items() if cell in values and (text or len(cell) >= _TELLING)}
    return len(found) > 2 and sum(found.values()) > sum(counts.values()) / 2


def _told(own: np.ndarray, texts: np.ndarray) -> np.ndarray:
    """Records whose text holds their own identifier, word for word; a short one only where it is so in most."""
    pairs = Counter((one, text) for one, text in zip(own, texts, strict=True) if one is not None and text is not None)
    found = {(one, text) for one, text in pairs if one.strip() and one in text}
    several = len({one for one, _ in found}) > 2
    if not (several and sum(pairs[pair] for pair in found) > sum(pairs.values()) / 2):
        found = {pair for pair in found if len(pair[0]) >= _TELLING + 2}
    return np.fromiter((pair in found for pair in zip(own, texts, strict=True)), dtype=bool, count=len(own))
