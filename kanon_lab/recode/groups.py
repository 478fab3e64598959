"""Categories grouped and renamed."""

from __future__ import annotations

import numbers
from collections.abc import Hashable, Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from kanon_lab.errors import OptionError, shortened
from kanon_lab.recode.columns import as_text, composed, distinct, refuse, spread


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
    >>> kanon_lab.recode.group_categories(regions, {'Galicia': ['Lugo', 'Vigo']}, others='elsewhere').tolist()
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
