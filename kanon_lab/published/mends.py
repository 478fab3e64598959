"""The smallest changes that make Tabla 6 of the AEPD's note what it is said to be: 2-anonymous."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import pandas as pd

from kanon_lab.classes import class_table
from kanon_lab.errors import OptionError
from kanon_lab.keys import KeySpec
from kanon_lab.published.aepd import HEADINGS, KEYS, SENSITIVE, hierarchies, local_levels, table

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
        First Tabla 6 as printed; then all mends of the fewest cells; then each variable raised one level in all
        records, where that mends. ``mend`` (in words), ``kind`` (``as printed``, ``record removed``, ``cells
        generalised`` or ``global level``), ``cells`` (changed), ``records`` (left), ``classes`` and ``homogeneous``
        (those of one sensitive value), ``k_category`` and ``k_wildcard`` (k achieved under either meaning),
        ``fewest_matches`` (records that match the true key of a record that is left: the fewest) and ``changes``
        (tuple of `Change`, for `mended`).

    Raises
    ------
    OptionError
        Another meaning.

    Notes
    -----
    An intruder who knows a true key finds the records whose cells cover it. Where ``fewest_matches`` is 1 some record
    is still found for certain, even if it has k_wildcard records that it might be confused with.
    """
    if missing not in ("category", "wildcard"):
        raise OptionError(f"missing must be category or wildcard, not {missing!r}")
    start = _Start.read()
    whole = [
        tuple(Change(record, key, int(start.levels[key].max()) + 1) for record in start.levels.index) for key in KEYS
    ]
    sets = [((), "as printed"), *_fewest(start, missing), *((changes, "global level") for changes in whole)]
    mends = pd.DataFrame([_row(start, *each) for each in sets], columns=_COLUMNS)
    return mends[(mends[f"k_{missing}"] >= _K_REQUIRED) | (mends["kind"] == "as printed")].reset_index(drop=True)


def mended(changes: Iterable[Change] = ()) -> pd.DataFrame:
    """Tabla 6 after some changes, as `kanon_lab.published.aepd.table` gives it."""
    return _Start.read().after(changes)


@dataclass(frozen=True)
class _Start:
    """Tabla 6 as it came about: its records, their levels, and for each key their labels (rows) by level (columns)."""

    records: pd.DataFrame
    levels: pd.DataFrame
    labels: dict[str, pd.DataFrame]

    @classmethod
    def read(cls) -> _Start:
        originals, left = table("Tabla 5"), table("Tabla 6").index
        records = originals.loc[left]
        labels = {key: h.table(records[key]).set_axis(left) for key, h in hierarchies().items()}
        return cls(records, local_levels(originals).loc[left], labels)

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
