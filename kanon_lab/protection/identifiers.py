"""Proof that direct identifiers are not in a file: neither under their names nor under others."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

import numpy as np
import pandas as pd

from kanon_lab.errors import DataError, shortened
from kanon_lab.recode.columns import as_text, distinct

_NOT_WORD = re.compile(r"[\W_]+")
# A shorter text, such as a surname, may stand in a cell by chance.
_TELLING = 8


def prove_absent(released: pd.DataFrame, original: pd.DataFrame, identifiers: Iterable[str], *, where: str) -> None:
    """Raise a `DataError` if a released file holds a direct identifier.

    Parameters
    ----------
    released : DataFrame
        What is to be released.
    original : DataFrame
        The same records in the same order, with the direct identifiers.
    identifiers : iterable of str
        Their names.
    where : str
        What to call the released file in messages.

    Raises
    ------
    DataError
        A released column has an identifier's name; or its values (most of them, where an identifier differs from record
        to record); or in some record, among other words, the record's own identifier of eight characters or more.

    Notes
    -----
    Letters' case, accents, spaces and punctuation do not matter: 14.698.393-K is 14698393k. An identifier in another
    coding, such as a part of it, a number made from it or other words for it, is not found.
    """
    names = list(identifiers)
    for name in released.columns:
        if name in names:
            raise DataError(f"{where}: column {shortened(name)} is a direct identifier; it must not be released")
    if len(released) != len(original):
        raise DataError(f"{where}: has not as many records as were to be written; write it again")
    columns = {name: _texts(column) for name, column in released.items()}
    cells = {name: _texts(column, bare=True) for name, column in released.items()}
    for identifier in names:
        own, own_cells = _texts(original[identifier]), _texts(original[identifier], bare=True)
        for name, texts in columns.items():
            if _copied(own_cells, cells[name]):
                raise DataError(
                    f"{where}: column {shortened(name)} has the values of the direct identifier "
                    f"{shortened(identifier)}; name it as one too"
                )
            if not pd.api.types.is_numeric_dtype(released[name]) and (rows := _told(own, texts)).any():
                label = shortened(str(original.index[int(rows.argmax())]))
                more = f" (and {int(rows.sum()) - 1} more)" if rows.sum() > 1 else ""
                raise DataError(
                    f"{where}: column {shortened(name)}: row {label}{more}: holds the record's own "
                    f"{shortened(identifier)}, a direct identifier; recode or remove the column"
                )


def _texts(column: pd.Series, *, bare: bool = False) -> np.ndarray:
    """Values as folded texts, if `bare` without accents and punctuation; None where missing."""
    codes, values = distinct(column, "the data")
    folded = [as_text(value).strip().casefold() for value in values]
    if bare:
        folded = [_NOT_WORD.sub("", unicodedata.normalize("NFKD", text)) or text for text in folded]
    texts = np.array([text or None for text in folded] + [None], dtype=object)
    return texts[codes]


def _copied(own: np.ndarray, texts: np.ndarray) -> bool:
    both = (own != None) & (texts != None)  # noqa: E711 (elementwise)
    same = both & (own == texts)
    count, values = int(same.sum()), len(set(own[same]))
    if count == 0 or (values == 1 and len(own) > 1):
        return False
    return count == both.sum() or (count >= both.sum() / 2 and values >= count / 2)


def _told(own: np.ndarray, texts: np.ndarray) -> np.ndarray:
    """Records whose text holds their own identifier, word for word."""
    words: dict[str | None, str] = {None: ""}
    for text in {*own, *texts} - {None}:
        words[text] = f" {_NOT_WORD.sub(' ', text).strip()} "
    told = (len(words[name]) >= _TELLING + 2 and words[name] in words[text] for name, text in zip(own, texts))
    return np.fromiter(told, dtype=bool, count=len(own))
