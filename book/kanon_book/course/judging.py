"""What a typed answer may mean, and whether it is right: the one rule that course.js has too."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from kanon_book.words import texts

_PERCENT = re.compile(
    r"%|per ?cent|por ?ciento|(?:out )?of (?:(?:a|every) )?(?:hundred|100)|de cada (?:cien|100)|puntos porcentuales",
    re.IGNORECASE,
)
_SIGN = re.compile(rf" ?(?:{_PERCENT.pattern})$", re.IGNORECASE)
_SIGNS = str.maketrans({"\u2212": "-", "\u2013": "-", "\u00a0": " ", "\u202f": " ", "\u2009": " ", "\u2019": "'"})
# An answer may be given with so many decimals, less one, and still be rounded too much.
_MOST_DECIMALS = 3
# What a computer's own rounding may add to a number.
_ALMOST = 1e-9
#: What is said of an answer, in the page and in JupyterLab.
SAID = texts("exercise", "en")
# Of a number: the groups of thousands, with one sign between them, and decimals after another.
_GROUPED = re.compile(r"[1-9][0-9]{0,2}(?:([,. '])[0-9]{3})(?:\1[0-9]{3})*(?:([.,])([0-9]+))?")
_PLAIN = re.compile(r"(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][+-]?[0-9]{1,3})?")


def in_percent(unit: str) -> bool:
    """Whether a unit is per cent, or says the same: of a hundred."""
    return bool(_PERCENT.match(unit))


def readings(text: str, unit: str = "") -> list[float]:
    """Every number that a text may mean; none where it is no number.

    Commas and points stand between thousands or before decimals, so ``1,234`` means either. A fraction is one number.
    With a sign of per cent, or the words, it is a share, unless the unit is per cent already. Then a fraction of at
    most one may be a share too: 5/8 is 62.5 per cent.

    Parameters
    ----------
    text : str
        What was typed.
    unit : str
        In which the number is wanted; it may stand after it.

    Examples
    --------
    >>> readings = kanon_book.course.readings
    >>> readings("0,42"), readings("42 %"), readings("42 %", "per cent"), readings("1,234"), readings("a few")
    ([0.42], [0.42], [42.0], [1.234, 1234.0], [])
    >>> readings("42 of a hundred", "per cent"), readings("5/8", "per cent")
    ([42.0], [0.625, 62.5])
    """
    text = text.translate(_SIGNS).strip()
    if unit and text.lower().endswith(unit.lower()):
        text = text[: -len(unit)].strip()
        shares = False
    elif sign := _SIGN.search(text):
        text, shares = text[: sign.start()].strip(), not in_percent(unit)
    else:
        shares = False
    above, line, below = text.partition("/")
    values = _plain_readings(above.strip())
    if line:
        values = [a / b for a in values for b in _plain_readings(below.strip()) if b]
        if in_percent(unit):
            values += [100 * value for value in values if 0 < value <= 1]
    return [value / 100 if shares else value for value in values if math.isfinite(value)]


def _plain_readings(text: str) -> list[float]:
    negative = text.startswith("-")
    text = text[1:].strip() if text[:1] in ("+", "-") else text
    values = []
    if _PLAIN.fullmatch(text):
        values.append(float(text.replace(",", ".")))
    if (grouped := _GROUPED.fullmatch(text)) and grouped[1] != grouped[2]:
        whole = text[: grouped.start(2)] if grouped[2] else text
        values.append(float(re.sub("[^0-9]", "", whole) + (f".{grouped[3]}" if grouped[2] else "")))
    return [-value for value in values] if negative else values


def read_answer(answer: Any, unit: str = "") -> list[float]:
    """Every number that an answer may mean, which is a number of Python or numpy, or a text."""
    if isinstance(answer, str):
        return readings(answer, unit)
    if hasattr(answer, "item") and getattr(answer, "size", 1) == 1:
        answer = answer.item()
    try:
        value = math.nan if isinstance(answer, bool) else float(answer)
    except (TypeError, ValueError):
        return []
    return [value] if math.isfinite(value) else []


def judge(task: Mapping[str, Any], values: Sequence[float]) -> tuple[bool, int | str]:
    """Whether one of the readings of an answer is right, and else what is known of it.

    Parameters
    ----------
    task : mapping
        ``low`` and ``high``, between which an answer is right, ``answer``, and of each wrong answer in ``wrong`` too.
    values : sequence of float
        At least one.

    Returns
    -------
    right : bool
    known : int or str
        The place of the nearest wrong answer; or ``unit``, where the answer is a hundred times too much or too
        little; ``rounded``, where it is the answer with too few decimals; or ``high`` or ``low``.
    """
    if any(task["low"] <= value <= task["high"] for value in values):
        return True, ""
    near = [
        (abs(value - wrong["answer"]), place)
        for value in values
        for place, wrong in enumerate(task["wrong"])
        if wrong["low"] <= value <= wrong["high"]
    ]
    if near:
        return False, min(near)[1]
    moved = [moved for value in values for moved in (value * 100, value / 100)]
    if not task["low"] <= 0 <= task["high"] and any(task["low"] <= value <= task["high"] for value in moved):
        return False, "unit"
    if any(_is_rounded(value, task["answer"]) for value in values):
        return False, "rounded"
    return False, "high" if values[0] > task["answer"] else "low"


def _is_rounded(value: float, answer: float) -> bool:
    """Whether a value other than 0 is the answer with fewer decimals; a half may be rounded up or down."""
    steps = [10.0**digits for digits in range(_MOST_DECIMALS)]
    return value != 0 and any(
        abs(value * step - math.floor(value * step + 0.5)) < _ALMOST and abs(value - answer) * step <= 0.5 + _ALMOST
        for step in steps
    )
