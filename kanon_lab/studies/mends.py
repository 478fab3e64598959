"""The smallest changes that make Tabla 6 of the AEPD's note what it is said to be: 2-anonymous; and one for Tabla 5."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import pandas as pd

from kanon_lab.classes import class_table
from kanon_lab.errors import OptionError
from kanon_lab.roles import KeySpec
from kanon_lab.studies.aepd import HEADINGS, KEYS, SENSITIVE, hierarchies, local_levels, table

_K_REQUIRED = 2
_COLUMNS = "mend kind cells records classes homogeneous k_category k_wildcard fewest_matches changes".split()


class Change(NamedTuple):
    """One change to Tabla 6: a key cell raised to a level of its hierarchy, or (`variable` empty) a record removed."""

    record: int
    variable: str = ""
    level: int = 0

    @property
    def cells(self) -> int:
        """Printed cells that it changes."""
        return 1 if self.variable else len(HEADINGS)


def smallest_mends(*, missing: str = "category") -> pd.DataFrame:
    """Find the changes to the fewest cells after which no record of Tabla 6 stands alone.

    Every set of changes is tried, by rising number of printed cells: a key cell may go up to any level above its own, a
    record may be removed, which changes all its cells. A cell at the top of its hierarchy counts as missing.

    Parameters
    ----------
    missing : {"category", "wildcard"}
        Whether a missing cell is a value of its own, as in the note, or compatible with any other.

    Returns
    -------
    DataFrame
        First Tabla 6 as printed; then all mends of the fewest cells; then each variable raised to its top level in all
        records, where that mends. ``mend`` (in words), ``kind`` (``as printed``, ``record removed``, ``cells
        generalised`` or ``whole column to the top``), ``cells`` (changed), ``records`` (left), ``classes`` and
        ``homogeneous`` (those of one sensitive value), ``k_category`` and ``k_wildcard`` (k achieved under either
        meaning), ``fewest_matches`` (records that match the true key of a record that is left: the fewest) and
        ``changes`` (tuple of `Change`, for `mended`).

    Notes
    -----
    An intruder who knows a true key finds the records whose cells cover it. Where ``fewest_matches`` is 1 some record
    is still found for certain, even if it has k_wildcard records that it might be confused with. Postcodes stand at
    different levels in Tabla 6, so a whole column at the top raises some of them by two. One level more for the
    postcode of each record mends nothing: record 7 still stands alone.
    """
    if missing not in ("category", "wildcard"):
        raise OptionError(f"missing must be category or wildcard, not {missing!r}")
    start = _Start.read(table("Tabla 6").index)
    whole = [start.to_the_top(start.records.index, [key]) for key in KEYS]
    sets = [((), "as printed"), *_fewest(start, missing), *((changes, "whole column to the top") for changes in whole)]
    mends = pd.DataFrame([_row(start, *each) for each in sets], columns=_COLUMNS)
    return mends[(mends[f"k_{missing}"] >= _K_REQUIRED) | (mends["kind"] == "as printed")].reset_index(drop=True)


def mended(changes: Iterable[Change] = ()) -> pd.DataFrame:
    """Tabla 6 after some changes, as `aepd.table` gives it."""
    return _Start.read(table("Tabla 6").index).after(changes)


@dataclass(frozen=True)
class Kept:
    """Tabla 5 made 2-anonymous with all its records: `table`, and `mend`, as a row of `smallest_mends`.

    Its ``cells`` are those above the levels that `aepd.local_levels` gives to all records of Tabla 5.
    """

    table: pd.DataFrame
    mend: pd.Series


def without_removal() -> Kept:
    """Generalise Tabla 5 as Tabla 4 does, but the keys of records that would stand alone to the top: a global rule."""
    start = _Start.read(table("Tabla 5").index)
    f_k = class_table(start.after(()), KEYS).f_k_of_records()
    changes = start.to_the_top(f_k.index[f_k < _K_REQUIRED], KEYS)
    return Kept(start.after(changes), pd.Series(_row(start, changes, "nothing removed"), index=_COLUMNS))


@dataclass(frozen=True)
class _Start:
    """Records of Tabla 5 as Tabla 6 came about: their levels, and for each key their labels (rows) by level."""

    records: pd.DataFrame
    levels: pd.DataFrame
    labels: dict[str, pd.DataFrame]

    @classmethod
    def read(cls, left: pd.Index) -> _Start:
        originals = table("Tabla 5")
        records = originals.loc[left]
        labels = {key: h.table(records[key]).set_axis(left) for key, h in hierarchies().items()}
        return cls(records, local_levels(originals).loc[left], labels)

    def to_the_top(self, records: Iterable[int], keys: Iterable[str]) -> tuple[Change, ...]:
        """The changes that take some keys of some records to the top of their hierarchies."""
        return tuple(Change(record, key, self.labels[key].columns[-1]) for key in keys for record in records)

    def after(self, changes: Iterable[Change]) -> pd.DataFrame:
        """The records that are left, with the labels of their levels."""
        raised = {(change.record, change.variable): change.level for change in changes if change.variable}
        removed = [change.record for change in changes if not change.variable]
        keys = {
            key: [self.labels[key].at[i, raised.get((i, key), level)] for i, level in self.levels[key].items()]
            for key in KEYS
        }
        return self.records.assign(**keys).drop(index=removed)

    def k(self, frame: pd.DataFrame, policy: str) -> int:
        """k achieved where what is all masked counts as missing."""
        absent = {key: frame[key].mask(frame[key] == self.labels[key].iat[0, -1]) for key in KEYS}
        return class_table(frame.assign(**absent), KeySpec(KEYS, missing=policy)).k_achieved

    def fewest_matches(self, frame: pd.DataFrame) -> int:
        """The fewest records of the frame that cover the true key of one of them."""
        # A record covers a true key when one of the levels shows both alike.
        matches = [
            sum(all((self.labels[key].loc[i] == frame.at[j, key]).any() for key in KEYS) for j in frame.index)
            for i in frame.index
        ]
        return min(matches)


def _fewest(start: _Start, policy: str) -> list[tuple[tuple[Change, ...], str]]:
    """The mends of the fewest cells, each with its kind."""
    single = [Change(record) for record in start.records.index] + [
        Change(record, key, level)
        for key in KEYS
        for record, printed in start.levels[key].items()
        for level in range(printed + 1, len(start.labels[key].columns))
    ]
    for cells in range(1, start.records.size + 1):
        mends = [changes for changes in _sets(single, cells) if start.k(start.after(changes), policy) >= _K_REQUIRED]
        if mends:
            return [(c, "cells generalised" if c[0].variable else "record removed") for c in mends]
    return []


def _sets(single: list[Change], cells: int) -> Iterator[tuple[Change, ...]]:
    """Sets of changes to so many cells, none changed twice."""
    for size in range(1, cells + 1):
        for changes in combinations(single, size):
            if sum(change.cells for change in changes) == cells:
                places = {(change.record, change.variable) for change in changes}
                if len(places) == size:
                    yield changes


def _row(start: _Start, changes: tuple[Change, ...], kind: str) -> tuple:
    """The row of `smallest_mends` for one set of changes."""
    frame = start.after(changes)
    values = frame.groupby(list(KEYS))[SENSITIVE].nunique()
    return (
        _in_words(start, changes),
        kind,
        sum(change.cells for change in changes),
        len(frame),
        len(values),
        int((values == 1).sum()),
        start.k(frame, "category"),
        start.k(frame, "wildcard"),
        start.fewest_matches(frame),
        changes,
    )


def _in_words(start: _Start, changes: tuple[Change, ...]) -> str:
    if not changes:
        return "none"
    removed = [str(change.record) for change in changes if not change.variable]
    parts = [f"record {', '.join(removed)} removed"] if removed else []
    for key in KEYS:
        to_label = {}
        for change in changes:
            if change.variable == key:
                to_label.setdefault(start.labels[key].at[change.record, change.level], []).append(str(change.record))
        parts += [f"{key} of {', '.join(records)} to {label}" for label, records in to_label.items()]
    return "; ".join(parts)
