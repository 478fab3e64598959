"""Bands of one quantity in two editions that cross: where they overlap, the two together are finer than either."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from kanon_lab.columns import as_text, distinct_rows

_NUMBER = r"-?\d+(?:\.\d+)?"
_CLOSED = re.compile(rf"({_NUMBER})\s*(?:-|\N{{EN DASH}}|to|a)\s*({_NUMBER})")
_EDGES = re.compile(rf"([\[(])\s*({_NUMBER})\s*,\s*({_NUMBER})\s*([\])])")
_FROM = re.compile(rf"({_NUMBER})\s*\+")
_SIDE = re.compile(rf"(under|<=|<|>=|>)\s*({_NUMBER})")
_ALONE = re.compile(_NUMBER)
# Bands of an edition, and persons by class and edge, that are looked at at most.
_MOST_BANDS, _MOST_CELLS = 2_000, 2**25


class Crossing(NamedTuple):
    """The bands of a variable in two editions that cross.

    `pairs` counts bands of one edition that overlap one of the other without either containing the other; `narrowest`
    is the width of the smallest overlap. `persons` are those of each class within the finer bands that the two editions
    make together, where the counts fit the same persons in both; empty where that is not known.
    """

    pairs: int
    narrowest: float
    persons: np.ndarray


def bands_of(labels: Iterable[object]) -> np.ndarray | None:
    """Lower and upper edge (not in it) of each label that is a number or a band of them; None where one is neither.

    Examples
    --------
    >>> from kanon_lab.measures.crossing_bands import bands_of
    >>> bands_of(["0-14", "[15, 30)", "30+"]).tolist()
    [[0.0, 15.0], [15.0, 30.0], [30.0, inf]]
    """
    edges = [_edges(as_text(label).strip()) for label in labels]
    return None if None in edges or not edges else np.array(edges, dtype=float)


def _edges(text: str) -> tuple[float, float] | None:
    """The edges of a band."""
    if match := _CLOSED.fullmatch(text):
        low, high = float(match[1]), _after(match[2])
    elif match := _EDGES.fullmatch(text):
        low, high = float(match[2]), float(match[3])
        low = low if match[1] == "[" else np.nextafter(low, math.inf)
        high = high if match[4] == ")" else np.nextafter(high, math.inf)
    elif match := _FROM.fullmatch(text):
        low, high = float(match[1]), math.inf
    elif match := _SIDE.fullmatch(text):
        sign, edge = match[1], float(match[2])
        edge = np.nextafter(edge, math.inf) if sign in ("<=", ">") else edge
        low, high = (edge, math.inf) if sign[0] == ">" else (-math.inf, edge)
    elif _ALONE.fullmatch(text):
        low, high = float(text), _after(text)
    else:
        return None
    return (float(low), float(high)) if low < high else None


def _after(text: str) -> float:
    """The edge after the last number of a band: that of the next whole number, or just after a decimal."""
    number = float(text)
    return number + 1 if "." not in text else float(np.nextafter(number, math.inf))


def crossings(values: Sequence[pd.Index], codes: Sequence[np.ndarray]) -> dict[int, Crossing]:
    """By its place each variable whose bands cross.

    Parameters
    ----------
    values : sequence of Index
        For each variable its labels in both editions.
    codes : sequence of ndarray
        Of the old and of the new edition: the label of each record by its place in `values`, -1 where missing, shape
        (records, variables).
    """
    rows, is_new = np.concatenate([*codes]), np.repeat([False, True], [*map(len, codes)])
    by_place: dict[int, Crossing] = {}
    for place, labels in enumerate(values):
        bands = [_by_code(labels, edition[:, place]) for edition in codes]
        if bands[0] is not None and bands[1] is not None:
            others = np.delete(rows, place, axis=1)
            crosses = _crossing(bands[0], bands[1], rows[:, place], others, is_new)
            by_place |= {} if crosses is None else {place: crosses}
    return by_place


def _by_code(labels: pd.Index, codes: np.ndarray) -> np.ndarray | None:
    """Edges of the bands of an edition by code, not a number for labels of the other; None without bands."""
    used = np.unique(codes[codes >= 0])
    if len(used) > _MOST_BANDS or (edges := bands_of(labels.take(used))) is None:
        return None
    by_code = np.full((len(labels), 2), np.nan)
    by_code[used] = edges
    return by_code


def _crossing(
    old: np.ndarray, new: np.ndarray, codes: np.ndarray, others: np.ndarray, is_new: np.ndarray
) -> Crossing | None:
    """Which bands of a variable cross; None where none do. `others` are the other variables of each record."""
    if _overlap(old) or _overlap(new):
        return None
    (low, high), (start, end) = _there(old).T[:, :, None], _there(new).T
    overlap = np.minimum(high, end) - np.maximum(low, start)
    crosses = (overlap > 0) & (((low < start) & (high < end)) | ((low > start) & (high > end)))
    if not crosses.any():
        return None
    width = float(f"{overlap[crosses].min():.12g}")
    persons = _in_finer_bands((old, new), codes, others, is_new)
    return Crossing(int(crosses.sum()), width, persons)


def _in_finer_bands(
    bands: tuple[np.ndarray, np.ndarray], codes: np.ndarray, others: np.ndarray, is_new: np.ndarray
) -> np.ndarray:
    """Persons in the bands between the edges of both editions: the count below an edge is known from either.

    Of classes by the other keys whose counts fit the same persons in both editions.
    """
    none = np.zeros(0, dtype=np.int64)
    if (codes < 0).any() or is_new.sum() * 2 != len(is_new):
        return none
    group, some = distinct_rows(others) if others.shape[1] else (np.zeros(len(codes), dtype=np.int64), np.zeros(1))
    edges = np.unique(_there(np.concatenate([*bands])))
    if len(some) * len(edges) > _MOST_CELLS:
        return none
    below, known = [], []
    for edition, own in enumerate(bands):
        of = is_new == bool(edition)
        cells = np.zeros((len(some), len(edges)), dtype=np.int64)
        np.add.at(cells, (group[of], np.searchsorted(edges, own[codes[of], 1])), 1)
        below.append(cells.cumsum(axis=1))
        inside = (own[:, :1] < edges) & (edges < own[:, 1:])
        known.append(~inside.any(axis=0))
    either = known[0] & known[1]
    same = (below[0][:, either] == below[1][:, either]).all(axis=1) & (below[0][:, -1] == below[1][:, -1])
    counted = np.where(known[0], below[0], below[1])[same][:, known[0] | known[1]]
    finer = np.diff(counted, axis=1, prepend=0)
    finer = finer[(finer >= 0).all(axis=1)]
    return finer[finer > 0]


def _there(edges: np.ndarray) -> np.ndarray:
    """The edges of the bands that an edition has."""
    return edges[~np.isnan(edges[:, 0])]


def _overlap(edges: np.ndarray) -> bool:
    """Whether bands of one edition overlap, so that counts below an edge are not known."""
    ordered = _there(edges)
    ordered = ordered[np.argsort(ordered[:, 0])]
    return bool((ordered[1:, 0] < ordered[:-1, 1]).any())
