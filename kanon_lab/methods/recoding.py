"""Recoding of one column: categories in groups, numbers in bands, top and bottom coding, rounding."""

from __future__ import annotations

import decimal
import math
import numbers
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab.arguments import check_choice
from kanon_lab.columns import (
    Quantity,
    as_decimal,
    as_text,
    check_number,
    composed,
    distinct,
    from_labels,
    like,
    quantity,
    refuse,
)
from kanon_lab.errors import OptionError, described
from kanon_lab.rules import Bands, shown


def group_categories(
    series: pd.Series, groups: Mapping[str, Hashable | Sequence[Hashable]], *, others: str = "raise"
) -> pd.Series:
    """A column with several categories under one label; a group of a single category renames it.

    Parameters
    ----------
    series : Series
        Categories: text, numbers, truth values. Missing ones stay missing.
    groups : mapping
        By new label (text) the old value or values, among which text and numbers differ. Accented letters match whether
        composed (NFC) or not.
    others : str
        What happens to values in no group: ``"raise"``, ``"keep"`` (they stay, as text), or a label for all of them.
        If such values remain, a group value that the column does not have is refused: it may be misspelt, and the value
        it was meant to protect would be released.

    Returns
    -------
    Series of text
        See INE Chile (2023), section 8.2.1.1.1.

    Examples
    --------
    >>> regions = pd.Series(['Lugo', 'Vigo', 'Jaén'])
    >>> kanon_lab.methods.group_categories(regions, {'Galicia': ['Lugo', 'Vigo']}, others='elsewhere').tolist()
    ['Galicia', 'Galicia', 'elsewhere']
    """
    if not isinstance(others, str) or not others:
        raise OptionError(f"others must be raise, keep or a label (text), not {described(others)}")
    label_of = _label_of_value(groups)
    codes, values = distinct(series)
    labels = [label_of.get(_matched(value)) for value in values]
    if others == "raise":
        fault = "a value that no group has; put it in one (text and numbers differ), or say with others what it becomes"
        rest = [code for code, label in enumerate(labels) if label is None]
        refuse(np.isin(codes, rest), series.index, series.name, fault)
    elif None in labels:
        categories = series.cat.categories if isinstance(series.dtype, pd.CategoricalDtype) else values
        known = set(map(_matched, categories))
        if absent := [key for key in label_of if key not in known]:
            place = list(label_of).index(absent[0]) + 1
            raise OptionError(
                f"groups: no row has value {place} of those that are listed, and others are in no group; mend or drop "
                "it (text and numbers differ)"
            )
        labels = [label or (as_text(value) if others == "keep" else others) for label, value in zip(labels, values)]
    return from_labels(labels, codes, series)


def _matched(value: Hashable) -> tuple[bool, Hashable]:
    """The key by which a value is matched: True equals 1 in a mapping, but not for a reader."""
    return isinstance(value, (bool, np.bool_)), composed(value)


def _label_of_value(groups: Mapping) -> dict[tuple[bool, Hashable], str]:
    """The new label of each value, by its key `_matched`."""
    if not isinstance(groups, Mapping) or not groups:
        raise OptionError("groups: give a mapping of new label to the values it stands for")
    label_of = {}
    for number, (label, members) in enumerate(groups.items(), start=1):
        if isinstance(label, bool) or not isinstance(label, (str, numbers.Real)) or label == "":
            raise OptionError(f"groups: the label of group {number} is not text; put it in quotes")
        listed = isinstance(members, Iterable) and not isinstance(members, (str, Mapping))
        members = list(members) if listed else [members]
        if not members:
            raise OptionError(f"groups: group {number} has no values; name one or more")
        for value in members:
            if not pd.api.types.is_scalar(value) or pd.isna(value):
                raise OptionError(f"groups: group {number} has a missing value or a list; a gap stays a gap")
            if _matched(value) in label_of:
                raise OptionError(f"groups: a value of group {number} is named twice; put it in one group")
            label_of[_matched(value)] = as_text(label)
    return label_of


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
    """A column of numbers as bands; missing values stay missing.

    Parameters
    ----------
    bands : sequence of float, optional
        Edges of the bands, rising. None (or an infinite number) as the first or last leaves that side open.
    width : float, optional
        Instead of `bands`: bands of this width from `start` (by default 0) to `stop` (as far as the values reach).
    closed : {"left", "right"}
        The edge that belongs to a band: edges 0, 10, 20 make [0, 10) and [10, 20), or (0, 10] and (10, 20]. With
        ``"right"`` the lowest edge is outside.
    whole : bool, optional
        Whether labels read ``40-49`` (whole numbers) or ``[40, 50)``. By default ``40-49`` where all edges and values
        are whole; set it if several files must have the same labels. If True, a number with a fraction raises.
    labels : sequence of str, optional
        A label for each band, instead of ``40-49``, ``65+``, ``under 15``, or ``[40, 50)``, ``>= 65``, ``< 15``. With
        `width` it needs `stop`.
    outside : str or mapping
        ``"raise"``, a label for all numbers outside the bands, or labels for those ``below`` and ``above``; a side
        without a label raises. (INE Chile 2023, section 8.2.1.1.2, makes numbers outside missing, even an age of 0.)

    Returns
    -------
    Series of text

    Examples
    --------
    >>> kanon_lab.methods.cut_bands(pd.Series([3, 17, 70]), bands=[0, 15, 65, None]).tolist()
    ['0-14', '15-64', '65+']
    >>> kanon_lab.methods.cut_bands(pd.Series([1.5, 9]), width=5, closed='right').tolist()
    ['(0, 5]', '(5, 10]']
    """
    if whole is not None and not isinstance(whole, bool):
        raise OptionError(f"whole must be true or false, not {described(whole)}")
    if (bands is None) == (width is None):
        raise OptionError("give either bands (their edges) or width")
    if bands is not None and (start is not None or stop is not None):
        raise OptionError("start and stop go with width; bands have their own edges")
    column = quantity(series)
    edges: list[Any]
    if width is not None:
        if stop is None and labels is not None:
            raise OptionError("labels need stop: say where the bands end")
        start = 0 if start is None else start
        if stop is None:
            low, step = _written(start, "start"), _written(width, "width")
            if step <= 0:
                raise OptionError(f"width must be above 0, not {described(width)}")
            # As far as the numbers reach.
            reach = (_written(column.numbers.max(), "") - low) / step if len(column.numbers) else 0
            edges = _edges(low, step, max(math.ceil(reach) if closed == "right" else math.floor(reach) + 1, 1))
        else:
            edges = equal_edges(width, start, stop)
    elif isinstance(bands, Collection) and not isinstance(bands, (str, Mapping)):
        edges = list(bands)
    else:
        raise OptionError(f"bands must be a list of edges, such as [0, 15, 65, null], not {described(bands)}")
    fractions = np.floor(column.numbers) != column.numbers
    if whole is None and fractions.any():
        whole = False
    cut = Bands.of(edges, closed, whole, labels, "bands")
    below, above = _outside_categories(outside, cut)
    if cut.whole:
        fraction = "a number with a fraction, but the bands are of whole numbers; correct it, or set whole: false"
        column.refuse(fractions, fraction)
    places = cut.positions(column.numbers)
    under, over = places < 0, places >= len(cut.names)
    remedy = "widen or open them (null as the first or last edge, None in Python), or name a category with outside"
    # Bands of one width may end where the values do: the message for values below must not reveal where.
    starts, ends = ("at", "before") if cut.closed == "left" else ("after", "at")
    if below is None:
        column.refuse(under, f"a number below the bands, which start {starts} {shown(cut.edges[0])}; {remedy}")
    if above is None:
        column.refuse(over, f"a number above the bands, which end {ends} {shown(cut.edges[-1])}; {remedy}")
    places = np.where(under, len(cut.names), np.where(over, len(cut.names) + 1, places))
    codes = np.where(column.codes < 0, -1, np.append(places, -1)[column.codes])
    return from_labels([*cut.names, below, above], codes, column.column)


def equal_edges(width: float, start: float, stop: float) -> list[float]:
    """Edges of bands of one width as they are written: 0.3, not three times the float nearest to 0.1."""
    low, high, step = _written(start, "start"), _written(stop, "stop"), _written(width, "width")
    if step <= 0 or high <= low or (high - low) % step:
        raise OptionError(f"bands of {width} do not fill {start} to {stop}")
    return _edges(low, step, (high - low) / step)


def _edges(low: Fraction, step: Fraction, count: Fraction | int) -> list[float]:
    if count > _MOST_BANDS:
        raise OptionError(f"bands of {float(step):g} are more than {_MOST_BANDS:,}; make them wider")
    return [float(low + i * step) for i in range(int(count) + 1)]


def _written(number: object, name: str) -> Fraction:
    return Fraction(as_decimal(check_number(number, name)))


def _outside_categories(outside: str | Mapping[str, str], bands: Bands) -> tuple[str | None, str | None]:
    """The labels below and above the bands; None where such a number raises."""
    sides = {"below": outside, "above": outside} if isinstance(outside, str) else outside
    if outside == "raise":
        return None, None
    known = isinstance(sides, Mapping) and set(sides) <= {"below", "above"}
    if not known or not all(isinstance(name, str) and name for name in sides.values()):
        raise OptionError('outside must be "raise", a label (text), or labels for below and above')
    for name in sides.values():
        if name in bands.names:
            raise OptionError("outside: the label is that of a band; choose another one")
    return sides.get("below"), sides.get("above")


#: Where a number half-way between two multiples goes.
HALVES = {"even": "to the even multiple", "up": "to the multiple farther from 0"}

# Different numbers of up to so many digits are different floating-point numbers.
_EXACT_DIGITS = 10**15
# Powers of 10 up to this are floating-point numbers.
_EXACT_POWER = 10**22
# More digits than the largest quotient of a floating-point number and a base has.
_DIGITS = 400


def round_values(series: pd.Series, *, base: float = 1, half: str = "even") -> pd.Series:
    """Numbers rounded to the nearest multiple of a base; missing ones stay missing.

    Parameters
    ----------
    series : Series
        Numbers as they are written: 2.675 lies half-way between 2.67 and 2.68, although its binary form is a little
        less.
    base : float, 1e-15 to 1e15
        Numbers are rounded to multiples of this, such as 0.01, 0.5, 25 or 1000.
    half : {"even", "up"}
        Where a number half-way between two multiples goes. ``"even"``: to the even one (75 and 85 both become 80),
        which leaves sums unbiased. ``"up"``: to the one farther from 0 (85 becomes 90, -85 becomes -90).

    Returns
    -------
    Series
        int64 for whole numbers and a whole base, otherwise float64; nullable where `series` is; decimals stay decimals.
        Never -0, which would reveal that a number was negative. INE Chile (2023), section 8.2.1.3, rounds half-even.

    Examples
    --------
    >>> kanon_lab.methods.round_values(pd.Series([2.675, -0.001]), base=0.01).tolist()
    [2.68, 0.0]
    >>> kanon_lab.methods.round_values(pd.Series([75, 85]), base=10, half='up').tolist()
    [80, 90]
    """
    check_choice(half, "half", HALVES)
    if not 1e-15 <= check_number(base, "base") <= 1e15:
        raise OptionError(f"base must lie between 1e-15 and 1e+15, not {described(base)}")
    step, column = as_decimal(base), quantity(series)
    values = column.values
    if values.dtype == object:
        rounded = np.empty(len(values), dtype=object)
        rounded[:] = [like(number, value) for number, value in zip(_round_decimals(values, step, half), values)]
    elif values.dtype.kind == "i" and step == step.to_integral_value():
        rest = np.mod(values, int(step))
        lower = values - rest
        upward = (lower // int(step)) % 2 == 1 if half == "even" else values > 0
        rounded = lower + int(step) * ((2 * rest > int(step)) | ((2 * rest == int(step)) & upward))
    else:
        rounded = _round_floats(column.numbers, step, half)
    return column.rewritten(rounded)


def _round_decimals(values: Iterable, step: Decimal, half: str) -> list[Decimal]:
    # In the decimal module half up means away from 0.
    rounding = decimal.ROUND_HALF_EVEN if half == "even" else decimal.ROUND_HALF_UP
    with decimal.localcontext() as context:
        context.prec = _DIGITS
        return [(as_decimal(value) / step).to_integral_value(rounding) * step + 0 for value in values]


def _round_floats(values: np.ndarray, step: Decimal, half: str) -> np.ndarray:
    """Multiples of the step as the nearest floats: by float arithmetic where it is exact, the others in decimal."""
    over, under = step.as_integer_ratio()
    # Half-way between two multiples is a number of few digits: units over a power of 10.
    power = 10 ** max(1, 1 - int(step.as_tuple().exponent))
    units = over * power // (2 * under)
    with np.errstate(over="ignore"):
        lower = np.floor(values * float(under) / float(over))
        sure = ((np.abs(lower) + 1) * float(2 * units) < _EXACT_DIGITS) & (power <= _EXACT_POWER)
    lower = np.where(sure, lower, 0)
    # Dividing whole numbers that floats hold exactly gives the float nearest to the quotient, and different numbers of
    # up to 15 digits are different floats: so floats compare as the numbers that they are written as.
    middle = (2 * lower + 1) * float(units) / float(power)
    upward = lower % 2 == 1 if half == "even" else lower >= 0
    nearest = lower + ((values > middle) | ((values == middle) & upward))
    rounded = nearest * float(2 * units) / float(power)
    rounded[~sure] = [float(number) for number in _round_decimals(values[~sure].tolist(), step, half)]
    return rounded + 0.0


# The mean of one value is that value, and a person with one of two values can compute the other from their mean.
_FEWEST_FOR_A_MEAN = 3


def top_code(
    series: pd.Series, *, above: object, label: str | None = None, value: float | str | None = None
) -> pd.Series:
    """A column whose values strictly above a limit become the limit, or `label` or `value` (INE Chile 2023, 8.2.1.2).

    A limit reveals nothing about the values beyond it, and the column stays numeric. With a label the column is text
    and cannot be coded at its other end: for labels at both ends use `cut_bands` with a width of 1 and `outside`.

    Parameters
    ----------
    series : Series
        Numbers, or an ordered categorical (numeric categories in rising order count as numbers). Missing values stay
        missing.
    above : float, or a category
        The limit: the highest value that stays as it is.
    label : str, optional
        Text for the coded values, such as ``"65+"``; the column is then text.
    value : float or "mean", optional
        A number for the coded values, not below the limit; ``"mean"`` is their own unweighted mean, which keeps the
        column's sum, and is refused for one or two records, whose values it would reveal. For an ordered categorical,
        a category.

    Returns
    -------
    Series
        With a label, text; otherwise int64 where both the column and the new value are whole numbers (a mean counts as
        not whole), else float64; nullable where `series` is; decimals stay decimals. An ordered categorical stays one,
        with the remaining categories and the new one at their end.

    Examples
    --------
    >>> kanon_lab.methods.top_code(pd.Series([40, 70, 95]), above=65).tolist()
    [40, 65, 65]
    >>> kanon_lab.methods.top_code(pd.Series([40, 70, 95]), above=65, label='65+').tolist()
    ['40', '65+', '65+']
    """
    return _coded(series, above, label, value, top=True)


def bottom_code(
    series: pd.Series, *, below: object, label: str | None = None, value: float | str | None = None
) -> pd.Series:
    """A column in which values strictly below a limit become alike: `top_code` at the other end.

    Parameters
    ----------
    below : float, or a category
        The limit: the lowest value that stays as it is.

    Returns
    -------
    Series
        As of `top_code`; an ordered categorical has the new category at its beginning.

    Examples
    --------
    >>> kanon_lab.methods.bottom_code(pd.Series([3, 20, 41]), below=18).tolist()
    [18, 20, 41]
    """
    return _coded(series, below, label, value, top=False)


def _coded(series: pd.Series, limit: Any, label: str | None, value: Any, *, top: bool) -> pd.Series:
    if label is not None and value is not None:
        raise OptionError("give label (text) or value (a number), not both")
    if label is not None and not (isinstance(label, str) and label):
        raise OptionError(f"label must be text, such as '65+', not {described(label)}; a number goes under value")
    name = "above" if top else "below"
    if isinstance(series.dtype, pd.CategoricalDtype) and series.dtype.ordered:
        categories = series.cat.categories
        if not (pd.api.types.is_numeric_dtype(categories.dtype) and categories.is_monotonic_increasing):
            return _code_categories(series, limit, label if value is None else value, name)
    check_number(limit, name)
    column = quantity(series)
    coded = column.numbers > float(limit) if top else column.numbers < float(limit)
    if label is not None:
        texts = [label if is_coded else as_text(number) for number, is_coded in zip(column.values.tolist(), coded)]
        return from_labels(texts, column.codes, series)
    whole = False
    if value == "mean":
        value = _mean(column, coded)
    else:
        value = limit if value is None else check_number(value, "value")
        whole = float(value).is_integer() and abs(value) < 2**62
        if float(value) < float(limit) if top else float(value) > float(limit):
            raise OptionError(f"value lies on the other side of {name}; the order would be lost")
    if column.values.dtype == object:
        new = column.values.copy()
        new[coded] = [like(as_decimal(value), number) for number in new[coded]]
    elif whole and column.values.dtype.kind == "i":
        new = np.where(coded, int(value), column.values)
    else:
        new = np.where(coded, float(value), column.numbers)
    return column.rewritten(new)


def _mean(column: Quantity, coded: np.ndarray) -> float:
    """Unweighted mean over the coded records; 0 where there are none."""
    numbers = column.numbers[column.codes[column.rows(coded)]]
    if len(numbers) < _FEWEST_FOR_A_MEAN:
        few = f"fewer than {_FEWEST_FOR_A_MEAN} values lie beyond the limit, and their mean would reveal them"
        column.refuse(coded, f"{few}; move the limit, or give a label or a number")
    # Scaled by a power of 2, which changes no digit, so that no sum overflows.
    return math.ldexp(float(np.mean(np.ldexp(numbers, -64))), 64) if len(numbers) else 0.0


def _code_categories(series: pd.Series, limit: Any, new: Any, name: str) -> pd.Series:
    """An ordered categorical with the categories beyond a limit replaced by a new one."""
    old = list(series.cat.categories)
    if limit not in old:
        raise OptionError(f"{name} must be one of the ordered categories, not {described(limit)}")
    if new == "mean":
        raise OptionError("value: categories have no mean; give a label")
    place, top = old.index(limit), name == "above"
    kept = old[: place + 1] if top else old[place:]
    new = limit if new is None else new
    if new in kept and new != limit:
        raise OptionError("value is a category that stays; the order would be lost; choose another")
    order = kept if new in kept else [*kept, new] if top else [new, *kept]
    places = np.array([order.index(category if category in kept else new) for category in old], dtype=int)
    codes = series.cat.codes.to_numpy()
    coded = pd.Categorical.from_codes(np.where(codes < 0, -1, places[codes]), categories=pd.Index(order), ordered=True)
    return pd.Series(coded, index=series.index, name=series.name)
