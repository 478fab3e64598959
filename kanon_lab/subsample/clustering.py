"""Signs that a sample was not drawn record by record: columns of units whose records are alike."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from kanon_lab.classes import class_table
from kanon_lab.errors import KanonLabError, shortened
from kanon_lab.keys import KeySpec
from kanon_lab.recode.columns import distinct

if TYPE_CHECKING:
    from kanon_lab.classes import ClassTable

# Words that a name has where it is that of a sampling unit, or of a household.
_CLUSTER = "cluster[a-z]*|clu|conglomerad[a-z]*|psu|ssu|upm|usm|varunit|segment[a-z]*"
_HOUSEHOLD = "hog|hogar[a-z]*|household[a-z]*|hh|hhid|llar[a-z]*|viv|vivienda[a-z]*|dwelling[a-z]*"
# A unit is one of so many at least, holds so many records on average, and no more than this share of all.
_LEAST_UNITS, _LEAST_MEAN, _MOST_SHARE = 20, 1.1, 0.05
# Two records of one unit share all keys so many times as often as any two, and so many pairs do.
_LEAST_RATIO, _LEAST_PAIRS = 2, 10
# Without a name that tells it: records of a unit stand together, and a unit holds so many.
_LEAST_MEAN_UNNAMED = 2


def clustering(frame: pd.DataFrame, spec: KeySpec, table: ClassTable) -> tuple[str, ...]:
    """One line on the column that shows most clearly that records came in units; none if no column does.

    A column is looked at where its name says that it is a cluster, sampling unit, household or dwelling, or where it is
    no key or weight, holds whole numbers or text and stands in the file unit by unit. It counts where two records of a
    unit share all (other) keys at least twice as often as any two records of the file. This is ours.
    """
    found = []
    for name in dict.fromkeys(frame.columns):
        role = _role(name)
        own = name in (spec.weight, *spec.key_variables)
        if (own and role is None) or name == spec.weight or list(frame.columns).count(name) > 1:
            continue
        if (seen := _seen(frame, name, role, spec, table)) is not None:
            found.append(seen)
    return (max(found)[-1],) if found else ()


def _role(name: object) -> str | None:
    plain = unicodedata.normalize("NFKD", str(name)).encode("ascii", "ignore").decode().lower()
    words = re.split(r"[^a-z0-9]+", plain)
    for role, pattern in (("cluster", _CLUSTER), ("household", _HOUSEHOLD)):
        if any(re.fullmatch(pattern, word) for word in words):
            return role
    return None


def _seen(
    frame: pd.DataFrame, name: str, role: str | None, spec: KeySpec, table: ClassTable
) -> tuple[float, bool, str] | None:
    """The mean number of records of a unit, whether its name tells it, and the line; None where nothing is to say."""
    column = frame[name]
    text = isinstance(column.dtype, pd.CategoricalDtype) or pd.api.types.is_string_dtype(column)
    if role is None and not (text or pd.api.types.is_integer_dtype(column)):
        return None
    try:
        unit, _ = distinct(column)
    except KanonLabError:  # lists in it
        return None
    records = np.bincount(unit[unit >= 0])
    if len(records) < _LEAST_UNITS or records.max() > _MOST_SHARE * len(frame):
        return None
    mean, runs = records.mean(), 1 + int((unit[1:] != unit[:-1]).sum())
    if mean < _LEAST_MEAN or (role is None and (mean < _LEAST_MEAN_UNNAMED or runs > len(records))):
        return None
    ratio = _alike(unit, _classes(frame, name, spec, table))
    if ratio < _LEAST_RATIO:
        return None
    told, name = role or "cluster", shortened(str(name))
    line = (
        f"{name} seems to be a {'household' if role == 'household' else 'sampling unit'}: its units have {mean:.3g} "
        f"records on average, and two records of one share all keys {ratio:.3g} times as often as any two; subsamples "
        "and models of records drawn one by one cannot be trusted then; if the survey drew units as wholes, name the "
        f"column as {told} (--{told})"
    )
    return mean, role is not None, line


def _classes(frame: pd.DataFrame, name: str, spec: KeySpec, table: ClassTable) -> np.ndarray:
    """The class of each record by the keys but this one."""
    if name not in spec.key_variables:
        return table.class_of_record
    keys = [key for key in spec.key_variables if key != name]
    if not keys:
        return np.zeros(len(frame), dtype=int)
    return class_table(frame, KeySpec(keys, missing="category")).class_of_record


def _alike(unit: np.ndarray, class_: np.ndarray) -> float:
    """How many times as often two records of a unit share a class as any two do; 0 where too few pairs tell."""
    known = unit >= 0
    unit, class_ = unit[known], class_[known]
    cells = np.unique(unit * (int(class_.max()) + 1) + class_, return_counts=True)[1]
    if _pairs(cells) < _LEAST_PAIRS:
        return 0.0
    within, overall = _pairs(cells) / _pairs(np.bincount(unit)), _pairs(np.bincount(class_)) / _pairs(len(class_))
    return within / overall


def _pairs(counts: np.ndarray | int) -> float:
    counts = np.asarray(counts, dtype=float)
    return float((counts * (counts - 1)).sum() / 2)
