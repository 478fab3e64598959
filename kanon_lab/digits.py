"""How numbers and shares are written: with the digits that count, and enough to differ from what they are not."""

from __future__ import annotations

import math
import numbers
import re
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import TypeGuard

#: Digits that count, unless a comparison needs more.
USUAL = 3
#: Nobody reads more zeros than those of this share.
LEAST_SHARE = 1e-9
_LEAST = Decimal("1e-7")
#: A number as it is written for a reader; digits in a name, a date, a version or an interval (65,100] are none.
WRITTEN = re.compile(r"(?<![\w.,#&])(?!(?<=\()\d+,\d+\])\d+(?:,\d{3})*(?:\.\d+)?(?![\w#]|[.,]\d)")
_PER_CENT = re.compile(r"(?<=\d)%")
_SPACED = re.compile(r"(?<=[\d}`$]) %")  # after a number, or what puts one in
_LISTED = re.compile(r"(,\d+),(?= \d[\d.]*,\d)")  # decimals
_SWAPPED = str.maketrans(",.", ".,")


def rounded(value: float, *beside: float | None, digits: int = USUAL, power: int = 0) -> Decimal:
    """A number with so many digits that count at least, or more where another would look like it.

    Parameters
    ----------
    value : float
        Finite. The digits before its decimal point all stay.
    beside : float or None
        What it is compared with; a missing or infinite one is passed over. Numbers that differ, each rounded beside
        the other, differ in the same direction; halves are rounded up.
    power : int
        Of ten, by which it is multiplied: 2 for a share in per cent.
    """
    exact = _written(value)
    others = {_written(other) for other in beside if is_finite(other)} - {exact}
    while any(_at(other, digits, power) == _at(exact, digits, power) for other in others):
        digits += 1
    return _at(exact, digits, power)


def number(value: float | None, *beside: float | None, digits: int = USUAL) -> str:
    """A number as text, ``1,234.5``, with the digits of `rounded`; of a missing one ``unknown``."""
    return _text(rounded(value, *beside, digits=digits)) if is_finite(value) else _unknown(value)


def percent(share: float | None, *beside: float | None, digits: int = USUAL) -> str:
    """A share of 0-1 in per cent, ``0.0121%``: the one way in which a share is written; digits as in `rounded`.

    Shares that differ look different beside each other; only 0 is written as 0% and only 1 as 100%. Of a missing one
    ``unknown``; of one below 1e-9, that nothing is compared with, only that it is.
    """
    if not is_finite(share):
        return _unknown(share)
    if 0 < share < LEAST_SHARE and not beside:
        return f"under {percent(LEAST_SHARE)}"
    return f"{_text(rounded(share, 1, *beside, digits=digits, power=2))}%"


def is_finite(value: float | None) -> TypeGuard[float]:
    """Whether there is a number, and it is not infinite."""
    return isinstance(value, numbers.Real) and math.isfinite(value)  # pandas' NA is none


def _written(value: float) -> Decimal:
    """A number as it is written: .1625 is a half of the fourth digit, the binary fraction next to it is below it."""
    return Decimal(repr(float(value)))


def _at(exact: Decimal, digits: int, power: int) -> Decimal:
    context = Context(prec=max(digits, exact.adjusted() + 1 + power), rounding=ROUND_HALF_UP)
    return context.scaleb(context.plus(exact), power)


def _text(value: Decimal) -> str:
    value = value.normalize(Context(prec=max(len(value.as_tuple().digits), 1)))
    return f"{value:e}" if 0 < abs(value) < _LEAST else f"{value:,f}"


def _unknown(value: float | None) -> str:
    return "infinite" if isinstance(value, numbers.Real) and math.isinf(value) else "unknown"


def local(text: str, language: str = "es") -> str:
    """A text with its numbers as a language has them; in Spanish 1.234,5 and 12 %, without a break before the sign.

    The signs are swapped, and no number is parsed and written again by Babel, which would drop zeros at the end of
    decimals: they are digits that count.

    Examples
    --------
    >>> from kanon_lab.digits import local
    >>> local("1,234 of 3,000 (41.1%), 2003-01-01, 01.2.3; 0.02, 0.03")
    '1.234 of 3.000 (41,1\xa0%), 2003-01-01, 01.2.3; 0,02; 0,03'
    """
    if language != "es":
        return text
    return typeset(_PER_CENT.sub(" %", WRITTEN.sub(lambda number: number[0].translate(_SWAPPED), text)))


def typeset(text: str) -> str:
    """A text in Spanish with an unbroken blank before each sign of per cent, and semicolons between decimals."""
    return _LISTED.sub(r"\1;", _SPACED.sub("\N{NO-BREAK SPACE}%", text))


def is_plain(text: str | None) -> bool:
    """Whether a text is a number that Python reads, and nothing else."""
    try:
        float(text or "")
    except ValueError:
        return False
    return True
