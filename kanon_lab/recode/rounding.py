"""Numbers rounded to multiples of a base, right in decimal."""

from __future__ import annotations

import decimal
from collections.abc import Iterable
from decimal import Decimal

import numpy as np
import pandas as pd

from kanon_lab.arguments import check_choice
from kanon_lab.errors import OptionError
from kanon_lab.recode.quantities import as_decimal, check_number, like, quantity

#: Where a number half-way between two multiples goes.
HALVES = {"even": "to the even multiple", "up": "to the multiple farther from 0"}

_BASES = (1e-15, 1e15)
# Numbers of so many digits, and no more, have floating-point numbers of their own.
_EXACT_DIGITS = 10**15
# Powers of 10 up to this are floating-point numbers.
_EXACT_POWER = 10**22
# More than the largest quotient of a floating-point number and a base has.
_DIGITS = 400


def round_values(series: pd.Series, *, base: float = 1, half: str = "even") -> pd.Series:
    """Numbers rounded to the nearest multiple of a base.

    Parameters
    ----------
    series : Series
        Numbers; each is taken as it is written: 2.675 lies half-way between 2.67 and 2.68, although the binary number
        that stands for it is a little less. Missing ones stay missing.
    base : float, 1e-15 to 1e15
        Such as 0.01, 0.5, 25 or 1000.
    half : {"even", "up"}
        Where a number half-way between two multiples goes. ``"even"``: to the even one (75 and 85 both become 80),
        which leaves sums unbiased. ``"up"``: to the one farther from 0 (85 becomes 90, -85 becomes -90).

    Returns
    -------
    Series
        int64 for whole numbers and a whole base, otherwise float64; nullable where `series` is; decimals stay decimals.
        Never -0, which would tell that a number was negative.

    References
    ----------
    INE Chile (2023), section 8.2.1.3; its figures are those of half-even.

    Examples
    --------
    >>> import kanon_lab
    >>> kanon_lab.recode.round_values(pd.Series([2.675, -0.001]), base=0.01).tolist()
    [2.68, 0.0]
    >>> kanon_lab.recode.round_values(pd.Series([75, 85]), base=10, half='up').tolist()
    [80, 90]
    """
    check_choice(half, "half", HALVES)
    if not _BASES[0] <= check_number(base, "base") <= _BASES[1]:
        raise OptionError(f"base must lie between {_BASES[0]:g} and {_BASES[1]:g}, not {base!r}")
    step, held = as_decimal(base), quantity(series)
    if held.values.dtype == object:
        rounded = np.empty(len(held.values), dtype=object)
        exact = _exactly(held.values, step, half)
        rounded[:] = [like(number, value) for number, value in zip(exact, held.values)]
    elif held.values.dtype.kind == "i" and step == step.to_integral_value():
        rounded = _whole(held.values, int(step), half)
    else:
        rounded = _floats(held.numbers, step, half)
    return held.rewritten(rounded)


def _exactly(values: Iterable, step: Decimal, half: str) -> list[Decimal]:
    # What decimal calls half up is away from 0.
    rounding = decimal.ROUND_HALF_EVEN if half == "even" else decimal.ROUND_HALF_UP
    with decimal.localcontext() as context:
        context.prec = _DIGITS
        return [(as_decimal(value) / step).to_integral_value(rounding) * step + 0 for value in values]


def _whole(values: np.ndarray, base: int, half: str) -> np.ndarray:
    rest = np.mod(values, base)
    lower = values - rest
    upward = (lower // base) % 2 == 1 if half == "even" else values > 0
    return lower + base * ((2 * rest > base) | ((2 * rest == base) & upward))


def _floats(values: np.ndarray, step: Decimal, half: str) -> np.ndarray:
    """Multiples as the floats next to them: by float arithmetic where it cannot err, the others in decimal."""
    over, under = step.as_integer_ratio()
    # Half-way between two multiples lies a number of few digits: units over a power of 10.
    power = 10 ** max(1, 1 - step.as_tuple().exponent)
    units = over * power // (2 * under)
    with np.errstate(over="ignore"):
        lower = np.floor(values * float(under) / float(over))
        sure = ((np.abs(lower) + 1) * float(2 * units) < _EXACT_DIGITS) & (power <= _EXACT_POWER)
    lower = np.where(sure, lower, 0)
    # Division of whole numbers that floats hold exactly gives the float next to the quotient, and of all numbers with
    # up to 15 digits each has a float of its own: so floats compare as the numbers that they are written as.
    middle = (2 * lower + 1) * float(units) / float(power)
    upward = lower % 2 == 1 if half == "even" else lower >= 0
    nearest = lower + ((values > middle) | ((values == middle) & upward))
    rounded = nearest * float(2 * units) / float(power)
    rounded[~sure] = [float(number) for number in _exactly(values[~sure].tolist(), step, half)]
    return rounded + 0.0
