"""Top and bottom coding: what lies beyond a limit becomes alike."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from kanon_lab.errors import OptionError, shortened
from kanon_lab.recode.columns import as_text, spread
from kanon_lab.recode.quantities import Quantity, as_decimal, check_number, like, quantity

# The mean of one value is the value, and who holds one of two values reads the other off their mean.
_FEWEST_FOR_A_MEAN = 3


def top_code(
    series: pd.Series, *, above: object, label: str | None = None, value: float | str | None = None
) -> pd.Series:
    """Values strictly above a limit made alike.

    They become the limit itself unless `label` or `value` says otherwise: a limit tells nothing of the values beyond
    it, and the column stays numeric. A column with a label is text and cannot be coded at its other end: for labels at
    both ends use `cut_bands` with a width of 1 and names for what lies `outside`.

    Parameters
    ----------
    series : Series
        Numbers, or an ordered categorical (one of numbers in their order is numbers). Missing values stay missing.
    above : float, or a category
        The limit: the highest value that stays as it is.
    label : str, optional
        Text for the coded values, such as ``"65+"``; the column is then text.
    value : float or "mean", optional
        A number for the coded values, not below the limit; ``"mean"`` is their own unweighted mean, which keeps the
        column's sum, and is refused of one or two records, whom it would tell. Of an ordered categorical, a category.

    Returns
    -------
    Series
        With a label, text; otherwise int64 where both the column and what is put in are whole numbers (a mean never
        is), else float64; nullable where `series` is; decimals stay decimals. An ordered categorical stays one, with
        the categories that are left and the new one at their end.

    References
    ----------
    INE Chile (2023), section 8.2.1.2.

    Examples
    --------
    >>> import kanon_lab
    >>> kanon_lab.recode.top_code(pd.Series([40, 70, 95]), above=65).tolist()
    [40, 65, 65]
    >>> kanon_lab.recode.top_code(pd.Series([40, 70, 95]), above=65, label='65+').tolist()
    ['40', '65+', '65+']
    """
    return _coded(series, above, label, value, top=True)


def bottom_code(
    series: pd.Series, *, below: object, label: str | None = None, value: float | str | None = None
) -> pd.Series:
    """Values strictly below a limit made alike: `top_code` at the other end.

    Parameters
    ----------
    series, label
        As in `top_code`.
    below : float, or a category
        The limit: the lowest value that stays as it is.
    value : float or "mean", optional
        As in `top_code`, not above the limit.

    Returns
    -------
    Series
        As of `top_code`; an ordered categorical has the new category at its beginning.

    Examples
    --------
    >>> import kanon_lab
    >>> kanon_lab.recode.bottom_code(pd.Series([3, 20, 41]), below=18).tolist()
    [18, 20, 41]
    """
    return _coded(series, below, label, value, top=False)


def _coded(series: pd.Series, limit: object, label: str | None, value: float | str | None, *, top: bool) -> pd.Series:
    if label is not None and value is not None:
        raise OptionError("give label (text) or value (a number), not both")
    if label is not None and not (isinstance(label, str) and label):
        raise OptionError(f"label must be text, such as '65+', not {shortened(repr(label))}; a number goes under value")
    name = "above" if top else "below"
    if _ranked(series):
        return _coded_categories(series, limit, label if value is None else value, name)
    check_number(limit, name)
    held = quantity(series)
    coded = held.numbers > float(limit) if top else held.numbers < float(limit)
    if label is not None:
        texts = [label if is_coded else as_text(each) for each, is_coded in zip(held.values.tolist(), coded)]
        return spread(texts, held.codes, series)
    if value == "mean":
        return _with_value(held, coded, _mean(held, coded), whole=False)
    value = limit if value is None else check_number(value, "value")
    if float(value) < float(limit) if top else float(value) > float(limit):
        raise OptionError(f"value {value!r} lies on the other side of {name} {limit!r}; the order would be lost")
    return _with_value(held, coded, value, whole=float(value).is_integer() and abs(value) < 2**62)


def _ranked(series: pd.Series) -> bool:
    """Whether a column has ordered categories other than numbers in their own order."""
    if not isinstance(series.dtype, pd.CategoricalDtype) or not series.dtype.ordered:
        return False
    categories = series.cat.categories
    return not (pd.api.types.is_numeric_dtype(categories.dtype) and categories.is_monotonic_increasing)


def _with_value(held: Quantity, coded: np.ndarray, value: object, *, whole: bool) -> pd.Series:
    if held.values.dtype == object:
        new = held.values.copy()
        new[coded] = [like(as_decimal(value), each) for each in new[coded]]
    elif whole and held.values.dtype.kind == "i":
        new = np.where(coded, int(value), held.values)
    else:
        new = np.where(coded, float(value), held.numbers)
    return held.rewritten(new)


def _mean(held: Quantity, coded: np.ndarray) -> float:
    """Unweighted mean over the coded records; 0 where there is none."""
    numbers = held.numbers[held.codes[held.rows(coded)]]
    if len(numbers) < _FEWEST_FOR_A_MEAN:
        few = f"fewer than {_FEWEST_FOR_A_MEAN} values lie beyond the limit, and their mean would tell them"
        held.refuse(coded, f"{few}; move the limit, or give a label or a number")
    # Scaled by a power of 2, which changes no digit, so that no sum runs over.
    return math.ldexp(float(np.mean(np.ldexp(numbers, -64))), 64) if len(numbers) else 0.0


def _coded_categories(series: pd.Series, limit: object, new: object, name: str) -> pd.Series:
    old = list(series.cat.categories)
    if limit not in old:
        raise OptionError(f"{name} must be one of the ordered categories, not {shortened(repr(limit))}")
    if new == "mean":
        raise OptionError("value: categories have no mean; give a label")
    place, top = old.index(limit), name == "above"
    kept = old[: place + 1] if top else old[place:]
    new = limit if new is None else new
    if new in kept and new != limit:
        raise OptionError(f"{shortened(repr(new))} is a category that stays; the order would be lost; choose another")
    order = kept if new in kept else [*kept, new] if top else [new, *kept]
    places = np.array([order.index(each if each in kept else new) for each in old], dtype=int)
    codes = series.cat.codes.to_numpy()
    coded = pd.Categorical.from_codes(np.where(codes < 0, -1, places[codes]), categories=order, ordered=True)
    return pd.Series(coded, index=series.index, name=series.name)
