"""Global recoding in groups and bands, and whole frames recoded or shortened."""

from __future__ import annotations

import math
import numbers
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction

import numpy as np
import pandas as pd

from kanon_lab.columns import (
    Quantity,
    as_decimal,
    as_text,
    check_number,
    composed,
    distinct,
    one_column,
    plain,
    quantity,
    refuse,
    spread,
    with_columns,
)
from kanon_lab.errors import DataError, OptionError, about, shortened
from kanon_lab.methods.hierarchy import Hierarchy
from kanon_lab.rules import Bands, shown


def group_categories(
    series: pd.Series, groups: Mapping[str, Hashable | Sequence[Hashable]], *, others: str = "raise"
) -> pd.Series:
    """Several categories under one label; a group of one renames.

    Parameters
    ----------
    series : Series
        Categories: text, numbers, truth values. Missing ones stay missing.
    groups : mapping
        By new label the old value or values. Labels are made text; text and numbers differ among old values. Letters
        with accents are alike whether composed (NFC) or not.
    others : str
        What becomes of a value in no group: ``"raise"``, ``"keep"`` (it stays, as text), or the label of a category for
        all of them.

    Returns
    -------
    Series of text

    Raises
    ------
    OptionError
        A group names a value that the column does not have, while others are in no group: it may be misspelt, and what
        it was meant to protect would be released.

    References
    ----------
    INE Chile (2023), section 8.2.1.1.1.

    Examples
    --------
    >>> import kanon_lab
    >>> regions = pd.Series(['Lugo', 'Vigo', 'Jaén'])
    >>> kanon_lab.methods.group_categories(regions, {'Galicia': ['Lugo', 'Vigo']}, others='elsewhere').tolist()
    ['Galicia', 'Galicia', 'elsewhere']
    """
    if not isinstance(others, str) or not others:
        raise OptionError(f"others must be raise, keep or a label (text), not {shortened(repr(others))}")
    label_of = _label_of_value(groups)
    codes, values = distinct(series)
    labels = [label_of.get(_matched(value)) for value in values]
    rest = np.array([label is None for label in labels], dtype=bool)
    if others == "raise":
        fault = "a value that no group has; put it in one (text and numbers differ), or say with others what it becomes"
        refuse(np.isin(codes, np.flatnonzero(rest)), series.index, series.name, fault)
    elif rest.any():
        _check_absent(series, values, label_of)
        labels = [label or (as_text(value) if others == "keep" else others) for label, value in zip(labels, values)]
    return spread(labels, codes, series)


def _matched(value: Hashable) -> tuple[bool, Hashable]:
    """What a value is matched by: to a mapping True is 1, to a reader not."""
    return isinstance(value, (bool, np.bool_)), composed(value)


def _label_of_value(groups: Mapping) -> dict[tuple[bool, Hashable], str]:
    if not isinstance(groups, Mapping) or not groups:
        raise OptionError("groups: give a mapping of new label to the values it stands for")
    label_of = {}
    for label, members in groups.items():
        if isinstance(label, bool) or not isinstance(label, (str, numbers.Real)) or label == "":
            raise OptionError(f"groups: the label {label!r} is no text; put it in quotes")
        listed = isinstance(members, Iterable) and not isinstance(members, (str, Mapping))
        members = list(members) if listed else [members]
        if not members:
            raise OptionError(f"groups: {shortened(str(label))!r} has no values; name one or more")
        for value in members:
            if not pd.api.types.is_scalar(value) or pd.isna(value):
                raise OptionError(f"groups: {shortened(str(label))!r} has a missing value or a list; a gap stays a gap")
            if _matched(value) in label_of:
                raise OptionError(f"groups: the value {shortened(repr(value))} is named twice; put it in one group")
            label_of[_matched(value)] = as_text(label)
    return label_of


def _check_absent(series: pd.Series, values: pd.Index, label_of: Mapping) -> None:
    """Raise an `OptionError` where a group names a value that the column has neither in a row nor as a category."""
    known = set(map(_matched, series.cat.categories if isinstance(series.dtype, pd.CategoricalDtype) else values))
    for key in label_of:
        if key not in known:
            raise OptionError(
                f"groups: no row has the value {shortened(repr(key[1]))}, and others are in no group; mend or drop it "
                "(text and numbers differ)"
            )


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
    >>> kanon_lab.methods.cut_bands(pd.Series([3, 17, 70]), bands=[0, 15, 65, None]).tolist()
    ['0-14', '15-64', '65+']
    >>> kanon_lab.methods.cut_bands(pd.Series([1.5, 9]), width=5, closed='right').tolist()
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


def generalise(frame: pd.DataFrame, hierarchies: Mapping[str, Hierarchy], levels: Mapping[str, int]) -> pd.DataFrame:
    """Global recoding: every record to the same level of each variable.

    Parameters
    ----------
    frame : DataFrame
    hierarchies : mapping of str to Hierarchy
    levels : mapping of str to int
        By variable; a variable without a level stays as it is.

    Returns
    -------
    DataFrame
        The same records and columns; recoded ones are text.

    Examples
    --------
    >>> import kanon_lab
    >>> age = kanon_lab.methods.Hierarchy.from_intervals([[0, 5, 10], [0, 10]], closed='left', name='age')
    >>> kanon_lab.methods.generalise(pd.DataFrame({'age': [3, 7]}), {'age': age}, {'age': 1})
       age
    0  0-4
    1  5-9
    """
    recoded = {name: _of(hierarchies, name).recode(one_column(frame, name), level) for name, level in levels.items()}
    return with_columns(frame, recoded)


def generalise_records(
    frame: pd.DataFrame, hierarchies: Mapping[str, Hierarchy], levels_of_records: pd.DataFrame
) -> pd.DataFrame:
    """Local generalisation: each record to levels of its own.

    Parameters
    ----------
    frame, hierarchies
        As in `generalise`.
    levels_of_records : DataFrame of int
        The level of each record (rows, under the index of `frame`) in each variable to recode (columns).

    Returns
    -------
    DataFrame
        The same records and columns; a column in which some record is above level 0 is text.

    Examples
    --------
    >>> import kanon_lab
    >>> age = kanon_lab.methods.Hierarchy.from_intervals([[0, 5, 10], [0, 10]], closed='left', name='age')
    >>> levels = pd.DataFrame({'age': [1, 2]})
    >>> kanon_lab.methods.generalise_records(pd.DataFrame({'age': [3, 7]}), {'age': age}, levels)
       age
    0  0-4
    1  0-9
    """
    if not levels_of_records.index.equals(frame.index):
        raise OptionError("levels_of_records must have the index of the frame, in its order")
    recoded = {}
    for name in levels_of_records:
        hierarchy = _of(hierarchies, name)
        series = one_column(frame, name)
        with about("levels_of_records"):
            levels = one_column(levels_of_records, name)
        wanted = {hierarchy.check_level(level): (levels == level).to_numpy() for level in levels.unique()}
        if set(wanted) <= {0}:
            recoded[name] = plain(series)
            continue
        column = np.full(len(series), np.nan, dtype=object)
        for level, rows in wanted.items():
            labels = hierarchy.recode(series[rows], level)
            column[rows] = labels.map(as_text, na_action="ignore") if level == 0 else labels
        recoded[name] = pd.Series(column, index=frame.index, name=name)
    return with_columns(frame, recoded)


def suppress_records(frame: pd.DataFrame, rows: Sequence | np.ndarray | pd.Series | pd.Index) -> pd.DataFrame:
    """Take records out of a frame.

    Parameters
    ----------
    frame : DataFrame
    rows : array of bool, shape (n,), or sequence of index labels
        The records to take out. A Series of bool must have the index of the frame.

    Returns
    -------
    DataFrame
        The other records under their index labels; no category stays that only a removed record had.

    Examples
    --------
    >>> import kanon_lab
    >>> kanon_lab.methods.suppress_records(pd.DataFrame({'age': [3, 7, 9]}), [True, False, False])
       age
    1    7
    2    9
    """
    if isinstance(rows, pd.Series) and not rows.index.equals(frame.index):
        raise OptionError("rows must have the index of the frame, in its order")
    chosen = pd.Index(rows)
    if len(chosen) == 0:
        gone = np.zeros(len(frame), dtype=bool)
    elif pd.api.types.is_bool_dtype(chosen.dtype):
        if len(chosen) != len(frame):
            raise OptionError(f"rows has {len(chosen)} truth values, the frame {len(frame)} records")
        gone = np.asarray(chosen, dtype=bool)
    else:
        if not frame.index.is_unique:
            raise DataError("a label of the index stands twice; say the records by an array of truth values")
        if (absent := ~chosen.isin(frame.index)).any():
            raise OptionError(f"no record has the index label {shortened(str(chosen[absent][0]))}")
        gone = frame.index.isin(chosen)
    kept = frame.loc[~gone].copy()
    for i, dtype in enumerate(kept.dtypes):
        if isinstance(dtype, pd.CategoricalDtype):
            kept.isetitem(i, kept.iloc[:, i].cat.remove_unused_categories())
    return kept


def _of(hierarchies: Mapping[str, Hierarchy], name: str) -> Hierarchy:
    if name not in hierarchies:
        raise OptionError(f"{shortened(str(name))} has no hierarchy; give one, or leave out its level")
    return hierarchies[name]
