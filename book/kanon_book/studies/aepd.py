"""AEPD, La k-anonimidad como medida de la privacidad: Tablas 1 to 6, what they give away, what would mend Tabla 6."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import NamedTuple

import pandas as pd

from kanon_book.studies.figures import published_figures
from kanon_lab.arguments import check_choice
from kanon_lab.classes import class_table
from kanon_lab.methods import Hierarchy, generalise, generalise_records, suppress_records
from kanon_lab.roles import KeySpec

TABLES = tuple(f"Tabla {number}" for number in range(1, 7))
#: Tabla 5 is printed a second time beside Tabla 6.
TABLE_5_AGAIN = "Tabla 5 (again)"
KEYS = ("postcode", "age")
SENSITIVE = "cholesterol"
#: The printed heading of each column; S is yes and N is no.
HEADINGS = {"postcode": "Código postal", "age": "Edad", "cholesterol": "Colesterol"}

#: What the text says of Tabla 5: so many first records are generalised, and the last one is out of range.
FIRST, LAST = 6, 8

_K_REQUIRED = 2
_COLUMNS = "mend kind cells records classes homogeneous k_category k_wildcard fewest_matches changes".split()


def table(name: str) -> pd.DataFrame:
    """A table (of `TABLES`, or `TABLE_5_AGAIN`) as printed, under ``record`` from 1; ages are int or texts."""
    figures = published_figures("aepd")
    cells = figures[figures["table"] == name].astype({"row": int})
    wide = cells.pivot(index="row", columns="column", values="printed")[list(HEADINGS)]
    wide = wide.rename_axis(index="record", columns=None)
    return wide.astype({"age": int}) if wide["age"].str.isdecimal().all() else wide


def hierarchies() -> dict[str, Hierarchy]:
    """The hierarchies that the tables use: postcodes masked to two digits, ages in decades, and all alike above."""
    return {
        "postcode": Hierarchy.from_masks([5, 2, 0], name="postcode"),
        "age": Hierarchy.from_intervals([range(0, 121, 10)], closed="left", top="*", name="age"),
    }


def local_levels(records: pd.DataFrame) -> pd.DataFrame:
    """The levels of Tablas 4 and 6: ages in decades; two digits of the postcode where nobody else has the same key."""
    alone = class_table(records, KEYS).f_k_of_records() < 2
    return pd.DataFrame({"postcode": alone.astype(int), "age": 1}, index=records.index)


def coarse(records: pd.DataFrame) -> pd.DataFrame:
    """Records with every key one level up, as in Tabla 3."""
    return generalise(records, hierarchies(), dict.fromkeys(KEYS, 1))


def labels(records: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """For each key the labels of the records (rows) by level."""
    return {key: ladder.table(records[key]).set_axis(records.index) for key, ladder in hierarchies().items()}


def recomputed_tables() -> dict[str, pd.DataFrame]:
    """Every table from the inputs: as `table` gives it, by name."""
    first, second, added = table("Tabla 1"), table("Tabla 2"), table("Tabla 5").loc[FIRST + 1 :]
    expanded = pd.concat([second, added])
    generalised = generalise_records(expanded, hierarchies(), local_levels(expanded))
    return {
        "Tabla 1": first,
        "Tabla 2": second,
        "Tabla 3": coarse(second),
        "Tabla 4": generalise_records(second, hierarchies(), local_levels(second)),
        "Tabla 5": expanded,
        TABLE_5_AGAIN: table("Tabla 5"),
        "Tabla 6": suppress_records(generalised, [LAST]),
    }


def homogeneity() -> pd.DataFrame:
    """What the classes of each of `TABLES` give away.

    Columns: ``table``, ``records``, ``classes``, ``alone`` (classes of one record), ``homogeneous`` (classes in which
    all records have one sensitive value, those of one record among them) and ``k_achieved``.
    """
    rows = []
    for name in TABLES:
        classes, values = class_table(table(name), KEYS), _values(table(name))
        alone, homogeneous = int((classes.records == 1).sum()), int((values == 1).sum())
        rows.append((name, classes.n, classes.n_classes, alone, homogeneous, classes.k_achieved))
    return pd.DataFrame(rows, columns=["table", "records", "classes", "alone", "homogeneous", "k_achieved"])


def _values(records: pd.DataFrame) -> pd.Series:
    """How many sensitive values each class has."""
    return records.groupby(list(KEYS))[SENSITIVE].nunique()


def levels_used(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """The lowest level of `hierarchies` that gives each key cell `after` from the value `before`."""
    named = labels(before.loc[after.index])
    return pd.DataFrame({key: named[key].eq(after[key], axis=0).to_numpy().argmax(axis=1) for key in KEYS}, after.index)


def generalisation(before: pd.DataFrame, after: pd.DataFrame) -> str:
    """``global`` by the note's definition, where equal values of a variable are generalised alike; else ``local``."""
    alike = all((after[key].groupby(before[key]).nunique() == 1).all() for key in KEYS)
    return "global" if alike else "local"


class Change(NamedTuple):
    """One change to Tabla 6: a key cell raised to a level of its hierarchy, or (`variable` empty) a record removed."""

    record: int
    variable: str = ""
    level: int = 0

    @property
    def cells(self) -> int:
        """Printed cells that it changes."""
        return 1 if self.variable else len(HEADINGS)


class Kept(NamedTuple):
    """Tabla 5 made 2-anonymous with all its records, and the row of `smallest_mends` for it.

    Its ``cells`` are those above the levels that `local_levels` gives to all records of Tabla 5.
    """

    table: pd.DataFrame
    mend: pd.Series


def smallest_mends(*, missing: str = "category") -> pd.DataFrame:
    """Find the changes to the fewest cells after which no record of Tabla 6 stands alone.

    Every set of changes is tried, by rising number of printed cells: a key cell may go up to any level above its own, a
    record may be removed, which changes all its cells. A cell at the top of its hierarchy counts as missing: a value of
    its own (`missing` is ``category``, as in the note), or compatible with any other (``wildcard``).

    First comes Tabla 6 as printed; then all mends of the fewest cells; then each variable raised to its top level in
    all records, where that mends. Columns: ``mend`` (in words), ``kind`` (``as printed``, ``record removed``, ``cells
    generalised`` or ``whole column to the top``), ``cells`` (changed), ``records`` (left), ``classes`` and
    ``homogeneous`` (those of one sensitive value), ``k_category`` and ``k_wildcard`` (k achieved under either meaning),
    ``fewest_matches`` (records that match the true key of a record that is left: the fewest) and ``changes`` (tuple of
    `Change`, for `mended`).

    An intruder who knows a true key finds the records whose cells cover it. Where ``fewest_matches`` is 1 some record
    is still found for certain, even if it has k_wildcard records that it might be confused with. Postcodes stand at
    different levels in Tabla 6, so a whole column at the top raises some of them by two. One level more for the
    postcode of each record mends nothing: record 7 still stands alone.
    """
    check_choice(missing, "missing", ("category", "wildcard"))
    start = _Start(table("Tabla 6").index)
    whole = [start.to_the_top(start.records.index, [key]) for key in KEYS]
    sets = [((), "as printed"), *_fewest(start, missing), *((changes, "whole column to the top") for changes in whole)]
    mends = pd.DataFrame([start.row(*changes) for changes in sets], columns=_COLUMNS)
    return mends[(mends[f"k_{missing}"] >= _K_REQUIRED) | (mends["kind"] == "as printed")].reset_index(drop=True)


def mended(changes: Iterable[Change] = ()) -> pd.DataFrame:
    """Tabla 6 after some changes, as `table` gives it."""
    return _Start(table("Tabla 6").index).after(changes)


def without_removal() -> Kept:
    """Generalise Tabla 5 as Tabla 4 does, but the keys of records that would stand alone to the top: a global rule."""
    start = _Start(table("Tabla 5").index)
    f_k = class_table(start.after(()), KEYS).f_k_of_records()
    changes = start.to_the_top(f_k.index[f_k < _K_REQUIRED], KEYS)
    return Kept(start.after(changes), pd.Series(start.row(changes, "nothing removed"), index=_COLUMNS))


class _Start:
    """Some records of Tabla 5 as Tabla 6 came about: their levels, and their labels by key and level."""

    def __init__(self, left: pd.Index) -> None:
        originals = table("Tabla 5")
        self.records, self.levels = originals.loc[left], local_levels(originals).loc[left]
        self.labels = labels(self.records)

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

    def row(self, changes: tuple[Change, ...], kind: str) -> tuple:
        """The row of `smallest_mends` for one set of changes."""
        frame = self.after(changes)
        values = _values(frame)
        # A record covers a true key when one of the levels shows both alike.
        matches = [
            sum(all((self.labels[key].loc[i] == frame.at[j, key]).any() for key in KEYS) for j in frame.index)
            for i in frame.index
        ]
        return (
            self._in_words(changes),
            kind,
            sum(change.cells for change in changes),
            len(frame),
            len(values),
            int((values == 1).sum()),
            self.k(frame, "category"),
            self.k(frame, "wildcard"),
            min(matches),
            changes,
        )

    def _in_words(self, changes: tuple[Change, ...]) -> str:
        removed = [str(change.record) for change in changes if not change.variable]
        parts = [f"record {', '.join(removed)} removed"] if removed else []
        for key in KEYS:
            raised = [(self.labels[key].at[c.record, c.level], str(c.record)) for c in changes if c.variable == key]
            for label in dict.fromkeys(label for label, _ in raised):
                parts.append(f"{key} of {', '.join(record for to, record in raised if to == label)} to {label}")
        return "; ".join(parts) or "none"


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
            places = {(change.record, change.variable) for change in changes}
            if sum(change.cells for change in changes) == cells and len(places) == size:
                yield changes
