"""Numbers cut into bands of equal or chosen width."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction

import numpy as np
import pandas as pd

from kanon_lab.errors import OptionError, shortened
from kanon_lab.recode.columns import spread
from kanon_lab.recode.quantities import Quantity, as_decimal, check_number, quantity
from kanon_lab.recode.rules import Bands, shown

_MOST_BANDS = 10_000


def cut_bands(
    series: pd.Series,
    *,
    bands: Sequence[float | None] | None = None,
    width: float | None = None,
    start: float | None = None,
    stop: float | None = None,
    closed: str = "left",
    whole: bool | None = None,
    labels: Sequence[str] | None = None,
    outside: str | Mapping[str, str] = "raise",
) -> pd.Series:
    """Global recoding of numbers in bands. A number outside them raises or goes to a named category.

    Parameters
    ----------
    series : Series
        Numbers. Missing ones stay missing.
    bands : sequence of float, optional
        Edges of the bands, rising. None (or an infinite number) as the first or last leaves that side open.
    width : float, optional
        Instead of `bands`: bands of this width from `start` (by default 0) to `stop` (as far as the values reach).
    closed : {"left", "right"}
        The edge that belongs to a band: edges 0, 10, 20 make [0, 10) and [10, 20), or (0, 10] and (10, 20]. So under
        ``"right"`` the lowest edge lies outside.
    whole : bool, optional
        Whether bands read ``40-49``, as those of whole numbers, or ``[40, 50)``. By default they read as whole numbers
        where all edges and all values are; where another file should be read alike, say it. If True, a number with a
        fraction raises.
    labels : sequence of str, optional
        A label for each band. With `width` it needs `stop`.
    outside : str or mapping
        ``"raise"``, the label of a category for numbers outside the bands, or labels for those ``below`` and ``above``
        them; a side without one raises.

    Returns
    -------
    Series of text

    Notes
    -----
    INE Chile (2023), section 8.2.1.1.2, whose function makes a missing value of what lies outside, so of an age of 0.

    Examples
    --------
    >>> import kanon_lab
    >>> kanon_lab.recode.cut_bands(pd.Series([3, 17, 70]), bands=[0, 15, 65, None]).tolist()
    ['0-14', '15-64', '65+']
    >>> kanon_lab.recode.cut_bands(pd.Series([1.5, 9]), width=5, closed='right').tolist()
    ['(0, 5]', '(5, 10]']
    """
    if whole is not None and not isinstance(whole, bool):
        raise OptionError(f"whole must be true or false, not {shortened(repr(whole))}")
    if (bands is None) == (width is None):
        raise OptionError("give either bands (their edges) or width")
    if bands is not None and (start is not None or stop is not None):
        raise OptionError("start and stop go with width; bands have their own edges")
    held = quantity(series)
    if width is not None:
        if stop is None and labels is not None:
            raise OptionError("labels need stop: say where the bands end")
        edges = _equal(held.numbers, width, 0 if start is None else start, stop, closed)
    elif isinstance(bands, Collection) and not isinstance(bands, (str, Mapping)):
        edges = bands
    else:
        raise OptionError(f"bands must be a list of edges, such as [0, 15, 65, null], not {shortened(repr(bands))}")
    if whole is None and (np.floor(held.numbers) != held.numbers).any():
        whole = False
    return _banded(held, Bands.of(edges, closed, whole, labels, "bands"), outside)


def equal_edges(width: float, start: float, stop: float) -> list[float]:
    """Edges of bands of one width, as they are written: three tenths, not three times the float next to a tenth."""
    options = {"start": start, "stop": stop, "width": width}
    low, high, each = (_written(check_number(number, name)) for name, number in options.items())
    if each <= 0 or high <= low or (high - low) % each:
        raise OptionError(f"bands of {width} do not fill {start} to {stop}")
    return _edges(low, each, (high - low) / each)


def _edges(low: Fraction, each: Fraction, count: Fraction | int) -> list[float]:
    if count > _MOST_BANDS:
        raise OptionError(f"bands of {float(each):g} are more than {_MOST_BANDS:,}; make them wider")
    return [float(low + i * each) for i in range(int(count) + 1)]


def _equal(numbers: np.ndarray, width: float, start: float, stop: float | None, closed: str) -> list[float]:
    """Edges of bands of one width, up to `stop` or as far as the numbers reach."""
    if stop is not None:
        return equal_edges(width, start, stop)
    low, each = _written(check_number(start, "start")), _written(check_number(width, "width"))
    if each <= 0:
        raise OptionError(f"width must be above 0, not {width!r}")
    reach = (_written(numbers.max()) - low) / each if len(numbers) else 0
    count = math.ceil(reach) if closed == "right" else math.floor(reach) + 1
    return _edges(low, each, max(count, 1))


def _written(number: float) -> Fraction:
    return Fraction(as_decimal(number))


def _banded(held: Quantity, bands: Bands, outside: str | Mapping[str, str]) -> pd.Series:
    below, above = _outside_categories(outside, bands)
    if bands.whole:
        fraction = "a number with a fraction, and bands are of whole numbers; mend it, or say that whole is false"
        held.refuse(np.floor(held.numbers) != held.numbers, fraction)
    places = bands.positions(held.numbers)
    under, over = places < 0, places >= len(bands.names)
    remedy = "widen or open them (an edge of null, None in Python), or name a category with outside"
    # Bands of one width may end where the values do: what lies below them must not tell where.
    starts, ends = ("at", "before") if bands.closed == "left" else ("after", "at")
    held.refuse(
        under & (below is None), f"a number below the bands, which start {starts} {shown(bands.edges[0])}; {remedy}"
    )
    held.refuse(
        over & (above is None), f"a number above the bands, which end {ends} {shown(bands.edges[-1])}; {remedy}"
    )
    places = np.where(under, len(bands.names), np.where(over, len(bands.names) + 1, places))
    codes = np.where(held.codes < 0, -1, np.append(places, -1)[held.codes])
    return spread([*bands.names, below, above], codes, held.column)


def _outside_categories(outside: str | Mapping[str, str], bands: Bands) -> tuple[str | None, str | None]:
    """Names of the categories below and above the bands; None where such a number raises."""
    if isinstance(outside, str):
        sides = {} if outside == "raise" else {"below": outside, "above": outside}
    else:
        sides = outside
    known = isinstance(sides, Mapping) and set(sides) <= {"below", "above"}
    if not known or not all(isinstance(name, str) and name for name in sides.values()):
        raise OptionError('outside must be "raise", a label (text), or labels for below and above')
    for name in sides.values():
        if name in bands.names:
            raise OptionError(f"outside: {shortened(name)!r} is the label of a band; choose another one")
    return sides.get("below"), sides.get("above")
