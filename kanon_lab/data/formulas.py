"""Texts that a spreadsheet would run as formulas."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd

# Between cells somewhere: of csv files in some locale, and of lines.
_BETWEEN = r";,|\t\r\n\x0b\x0c\x85\u2028\u2029"
# What a program may drop before the sign of a formula: blanks, control, format and filling characters, and quotation.
_DROPPED = (
    r"\s\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    r"\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e01ef\"“”„‟＂"
)
# Full-width signs begin a formula in some languages.
_SIGNS = r"=+\-@＝＋－＠"
# Plain numbers, and a lone sign, often the mark of a missing value, do nothing.
_HARMLESS = rf"[+-][\d.,]*(?:[{_BETWEEN}]|\Z)"
# A run of such characters is looked at once, from its first on, so that the time does not grow with its square.
_FORMULA = re.compile(
    rf"(?<![{_BETWEEN}{_DROPPED}])(?:\A|(?:(?![{_BETWEEN}])[{_DROPPED}])*+[{_BETWEEN}])"
    rf"[{_BETWEEN}{_DROPPED}]*+(?=[{_SIGNS}])(?!{_HARMLESS})"
)


def neutralised(frame: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, int]]:
    """Put an apostrophe before each sign that a spreadsheet would take for the beginning of a formula.

    Texts and names of columns with ``=``, ``+``, ``-`` or ``@`` (full-width ones too) get one where one begins, or
    where a cell would begin if ``;``, ``,``, ``|``, a tab or the end of a line parted them; behind blanks, quotation
    marks and what is not seen, too. Plain numbers such as -1.5 stay. The second result is the number of cells that
    have one now or more, by column, its name one of them; columns of none are left out.
    """
    columns, cells = [], {}
    for name, column in frame.items():
        count = int(_neutral(name) != name)
        if isinstance(column.dtype, pd.StringDtype) or column.dtype == object:
            values = list(column)
            texts = [_neutral(value) for value in values]
            count += sum(new is not old for new, old in zip(texts, values, strict=True))
            column = pd.Series(texts, index=column.index, dtype=column.dtype)
        columns.append(column.rename(_neutral(name)))
        if count:
            cells[name] = count
    return pd.concat(columns, axis=1), cells


def _neutral(value: Any) -> Any:
    """A text with apostrophes where it needs them; anything else, and a text that needs none, as it is."""
    if not isinstance(value, str) or not _FORMULA.search(value):
        return value
    return _FORMULA.sub(r"\g<0>'", value)
