"""Downcoding: what an intruder concludes who tries every file with which a recoding gives the same release."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations_with_replacement, product
from math import comb, factorial, prod

import numpy as np
import pandas as pd

from kanon_lab.columns import as_text
from kanon_lab.errors import DataError, KanonLabError
from kanon_lab.methods.hierarchy import Hierarchy
from kanon_lab.roles import KeySpec

# Files that are tried, at most.
_MOST = 50_000
_Key = tuple


def downcoding_attack(
    original: pd.DataFrame,
    recode: Callable[[pd.DataFrame], pd.DataFrame],
    keys: Iterable[str] | str,
    hierarchies: Mapping[str, Hierarchy],
) -> pd.Series:
    """How often the true key behind a generalised one is guessed by who knows the recoding, and tries every file.

    Parameters
    ----------
    original : DataFrame
        A small file: all files that its release allows are recoded, up to 50,000.
    recode : callable
        From a frame to the frame with recoded or suppressed keys: the same records in the same order.
    keys : names
        The keys, without missing values. The intruder knows which values each has in the file.
    hierarchies : mapping of str to Hierarchy
        By key the labels that the recoding may give to its values. Other keys stay or are suppressed.

    Returns
    -------
    Series
        ``records`` (whose released key allows several keys), ``chance`` (share guessed right among the keys that the
        labels allow), ``right`` (share guessed right by who takes the key that is most frequent there in all files with
        this release), ``narrowed`` (share for which some key that the labels allow is in no such file: the downcoding
        of Cohen 2022) and ``files`` (that give this release). Shares are 0-1.

    Notes
    -----
    Every file with this release is equally likely to the intruder.

    Examples
    --------
    >>> before = pd.DataFrame({'age': ['20', '25', '30', '30']})
    >>> ages = kanon_lab.methods.Hierarchy.from_mapping({'20': '20s', '25': '20s', '30': '30s'})
    >>> def recode(frame):
    ...     return kanon_lab.methods.mondrian(frame, k_required=2, keys='age', hierarchies={'age': ages}).frame
    >>> kanon_book.attacks.downcoding_attack(before, recode, 'age', {'age': ages}).to_dict()
    {'records': 2.0, 'chance': 0.5, 'right': 0.5, 'narrowed': 0.0, 'files': 2.0}
    """
    names = KeySpec(keys, missing="error").key_variables
    KeySpec(names, missing="error").check(original)
    released = _labels(recode(original), names)
    covered = [_covered(original[name], hierarchies.get(name)) for name in names]
    classes: dict[_Key, list[int]] = {}
    for place, labels in enumerate(released):
        classes.setdefault(labels, []).append(place)
    allowed = [[*product(*(values[label] for values, label in zip(covered, labels)))] for labels in classes]
    number = prod(comb(len(keys) + len(rows) - 1, len(rows)) for keys, rows in zip(allowed, classes.values()))
    if number > _MOST:
        raise DataError(f"more than {_MOST:,} files may stand behind the release; take fewer records or values")
    weights = [dict.fromkeys(keys, 0.0) for keys in allowed]
    files = 0.0
    for filled in _filled(allowed, [*classes.values()]):
        trial = original.copy()
        places = [place for rows in classes.values() for place in rows]
        values = pd.DataFrame([key for part in filled for key in part], columns=[*names], index=original.index[places])
        trial[[*names]] = values.reindex(original.index)[[*names]]
        if not _gives(recode, trial, names, released):
            continue
        ways = prod(_ways(part) for part in filled)
        files += ways
        for weight, part in zip(weights, filled):
            for key in part:
                weight[key] += ways / len(part)
    return _guessed([*original[[*names]].itertuples(index=False, name=None)], [*classes.values()], weights, files)


def _labels(frame: pd.DataFrame, names: Iterable[str]) -> list[_Key]:
    """The released key of each record as texts, None where it is missing."""
    rows = frame[[*names]].astype(object).itertuples(index=False, name=None)
    return [tuple(None if pd.isna(cell) else as_text(cell) for cell in row) for row in rows]


def _covered(column: pd.Series, hierarchy: Hierarchy | None) -> dict[str | None, list]:
    """For each label the values of a key that it may stand for."""
    values = sorted(column.unique())
    covered: dict[str | None, list] = {None: values}
    for value in values:
        labels = {as_text(value)}
        if hierarchy is not None:
            labels |= {as_text(label) for label in hierarchy.table([value]).iloc[0]}
        for label in labels:
            covered.setdefault(label, []).append(value)
    return covered


def _filled(allowed: list[list[_Key]], classes: list[list[int]]) -> Iterator[tuple[tuple[_Key, ...], ...]]:
    """Every file that the labels allow, as the keys of each class; records of a class are alike to the intruder."""
    yield from product(
        *(combinations_with_replacement(keys, len(rows)) for keys, rows in zip(allowed, classes, strict=True))
    )


def _ways(keys: tuple[_Key, ...]) -> int:
    """In how many orders the keys may stand in a class."""
    return factorial(len(keys)) // prod(factorial(keys.count(key)) for key in {*keys})


def _gives(recode: Callable, trial: pd.DataFrame, names: Iterable[str], released: list[_Key]) -> bool:
    try:
        return _labels(recode(trial), names) == released
    except KanonLabError:
        return False


def _guessed(true: list[_Key], classes: list[list[int]], weights: list[dict[_Key, float]], files: float) -> pd.Series:
    rows = []
    for places, weight in zip(classes, weights):
        if len(weight) > 1:
            most = max(weight.values())
            best = [key for key, share in weight.items() if share >= most * (1 - 1e-9)]
            narrowed = min(weight.values()) == 0
            rows += [(1 / len(weight), (true[place] in best) / len(best), narrowed) for place in places]
    shares = np.mean(rows, axis=0) if rows else np.zeros(3)
    return pd.Series([float(len(rows)), *shares, files], ["records", "chance", "right", "narrowed", "files"])
