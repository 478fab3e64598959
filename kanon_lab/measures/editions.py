"""What two editions of a file tell together: last year's and this year's, or a release and its earlier version.

An intruder who has both files links the records of a person, by an identifier that both have or by their places, and
then knows the keys in both. Without a link, the counts of the classes are compared. Of a person who has several records
the intruder knows the keys of one in each edition: alike are all persons who have such a record in each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab.classes import class_table
from kanon_lab.classes.persons import person_codes
from kanon_lab.columns import distinct_rows, one_column
from kanon_lab.errors import DataError, OptionError, about, meant, shortened
from kanon_lab.measures.crossing_bands import Crossing, crossings
from kanon_lab.measures.linked_records import (
    NEW,
    OLD,
    LinkedRecords,
    Links,
    by_id,
    by_person,
    fewest,
    link,
    same_codes,
    tells_records,
)
from kanon_lab.roles import KeySpec, check_k
from kanon_lab.terms import Note


@dataclass(frozen=True)
class Editions:
    """What two editions tell together.

    Attributes
    ----------
    keys : tuple of str
        The key variables, each in one edition at least; `common` are those that both have.
    linked_by : {"id", "order", "person"} or None
        How the records of a person are linked.
    records : tuple of int
        Records of the old and of the new edition.
    alike : dict of str to ndarray
        ``old`` and ``new``: for each record the records compatible with it in its own edition; or for each person the
        persons, the fewest of all its records.
    linked : LinkedRecords or None
    links : Links
        What links the records, and the persons that are counted.
    counts : ndarray
        Records of each class by the common keys, a missing key being a value of its own: in the old edition and in the
        new one, shape (classes, 2).
    crossings : dict of str to Crossing
        The common keys whose bands cross.
    notes : tuple of Note
    """

    keys: tuple[str, ...]
    common: tuple[str, ...]
    missing: str
    linked_by: str | None
    k: tuple[int, ...]
    records: tuple[int, int]
    alike: Mapping[str, np.ndarray] = field(repr=False)
    linked: LinkedRecords | None = field(repr=False)
    links: Links = field(repr=False)
    counts: np.ndarray = field(repr=False)
    crossings: Mapping[str, Crossing] = field(repr=False)
    notes: tuple[Note, ...] = ()

    @property
    def differences(self) -> np.ndarray:
        """By how many records each class is larger in the new edition, of the classes whose counts differ."""
        difference = self.counts[:, 1] - self.counts[:, 0]
        return difference[difference != 0]

    @property
    def nested(self) -> str | None:
        """The edition that may be the other one with more persons: no class of it has fewer; None where neither may."""
        if not len(differences := self.differences):
            return None
        return "new" if (differences > 0).all() else "old" if (differences < 0).all() else None

    @cached_property
    def exposed(self) -> list[np.ndarray]:
        """For each person, the persons alike for an intruder who has both editions: one array, or several.

        Without links there is one for each way to look, and a person may be in several: those of the new edition alone;
        the persons who came or left, if one edition may be the other with more persons; and for each variable those in
        the bands that crossing bands make, if both may have the same persons. Counts of these are of records; where a
        person may have several, they are of so many persons at least.
        """
        if self.linked is not None:
            return [self.linked.exposed]
        more = np.abs(self.differences) if self.nested else np.zeros(0, dtype=np.int64)
        of_each = self.links.most[0] if self.nested == "old" else self.links.most[1]
        counts = [more, *(of_variable.persons for of_variable in self.crossings.values())]
        persons = [-(-part // of_each) for part in counts]
        return [self.alike["new"], *(np.repeat(part, part) for part in persons)]

    @property
    def k_with(self) -> int:
        """The fewest persons alike for an intruder who has both editions."""
        return int(min(part.min() for part in self.exposed if len(part)))

    @property
    def groups(self) -> pd.DataFrame:
        """One row a group of persons: ``persons``, ``k`` (the fewest alike), ``unique``, and by each k those below it.

        Groups are ``old`` and ``new`` (each edition alone); if there are links, persons in both by both editions
        (``joint``, ``filled``), and those in one only (``only_old``, ``only_new``); and ``with`` (`exposed`): without
        links, at least so many.
        """
        groups, linked = dict(self.alike), self.linked
        if linked is not None:
            groups |= {"joint": linked.joint, "filled": linked.filled}
            groups |= {"only_old": linked.only_old, "only_new": linked.only_new}
        rows = [
            (name, len(alike), _smallest(alike), *(int((alike < k).sum()) for k in (2, *self.k)))
            for name, alike in groups.items()
        ]
        below = [max(int((part < k).sum()) for part in self.exposed) for k in (2, *self.k)]
        rows.append(("with", max(map(len, self.exposed)), self.k_with, *below))
        table = pd.DataFrame(rows, columns=["group", "persons", "k", "unique", *self.k])
        return table.astype({"k": "Int64"}).set_index("group")

    def to_dict(self) -> dict[str, Any]:
        """The result in types that JSON has, as ``kanon-lab compare --json`` prints it."""
        linked, counts, groups = self.linked, self.counts, self.groups
        persons = {name: len(alike) for name, alike in self.alike.items()}
        both = None if linked is None else len(linked.joint)
        same = None if self.links.rows is None else len(self.links.rows[0])
        smallest = {str(name): None if pd.isna(k) else int(k) for name, k in groups["k"].items()}
        has, moved = counts > 0, np.abs(counts[:, 1] - counts[:, 0])
        return {
            "keys": list(self.keys),
            "missing": self.missing,
            "linked_by": self.linked_by,
            "records": dict(zip(("old", "new", "both"), (*self.records, same), strict=True)),
            **({} if self.links.persons is None else {"persons": {**persons, "both": both}}),
            "k_achieved": {name: smallest[name] for name in ("old", "new")},
            "k_joint": smallest.get("joint"),
            "k_filled": smallest.get("filled"),
            "k_only": linked and {name: smallest[f"only_{name}"] for name in ("old", "new")},
            "k_with": smallest["with"],
            "uniques": groups["unique"].to_dict(),
            "violations": {str(name): row.to_dict() for name, row in groups[[*self.k]].iterrows()},
            "only_in_one": linked and {"old": len(linked.only_old), "new": len(linked.only_new)},
            "shown_in_one": linked and self._cells("only_old", "only_new"),
            "changed": linked and {name: cells["changed"] for name, cells in self._cells("changed").items()},
            "classes": {
                "both": int(has.all(axis=1).sum()),
                "only_old": int((has[:, 0] & ~has[:, 1]).sum()),
                "only_new": int((has[:, 1] & ~has[:, 0]).sum()),
            },
            "differing": {k: int((has.all(axis=1) & (moved > 0) & (moved < k)).sum()) for k in self.k},
            "nested": self.nested,
            "crossing": {
                name: {"bands": crosses.pairs, "narrowest": crosses.narrowest, "fewest": _smallest(crosses.persons)}
                for name, crosses in self.crossings.items()
            },
            "notes": list(self.notes),
        }

    def _cells(self, *counts: str) -> dict[str, dict[str, int]]:
        """Counts of cells by variable."""
        assert self.linked is not None
        rows = self.linked.cells.set_index("variable")[[*counts]]
        return {str(name): {kind: int(row[kind]) for kind in counts} for name, row in rows.iterrows()}


def compare_editions(
    old: pd.DataFrame,
    new: pd.DataFrame,
    keys: Iterable[str] | str,
    *,
    id: str | None = None,
    person: str | None = None,
    link_persons: bool = True,
    same_order: bool = False,
    missing: str = "wildcard",
    k: Iterable[int] = (2, 3, 5),
    names: tuple[str, str] = (OLD, NEW),
) -> Editions:
    """What an intruder who has two editions of a file learns from both together.

    Parameters
    ----------
    old, new : DataFrame
        One row a record.
    keys : iterable of str, or str
        The key variables. One that only one edition has counts there.
    id : str, optional
        An identifier in both, such as a pseudonym, that no two records of an edition share; or, with `person`, one that
        tells the records of a person apart, such as the year.
    person : str, optional
        The identifier of the person, where one may have several records: persons are counted, by it.
    link_persons : bool
        Whether the intruder links the records of a person by it. If not, only the new edition needs it: where the old
        one does not have it, its records count as one person's, unless they are in the `same_order`.
    same_order : bool
        Whether both have the same records in the same order; not with `id`.
    missing : {"wildcard", "category", "error"}
        What a missing key means.
    k : iterable of int
        Count the records with fewer alike than these, from 1 on.
    names : tuple of str
        What messages call the editions.

    Examples
    --------
    >>> old = pd.DataFrame({"id": [1, 2, 3, 4], "age": ["0-14", "0-14", "15-29", "15-29"]})
    >>> new = pd.DataFrame({"id": [1, 2, 3, 4], "age": ["0-9", "10-19", "10-19", "20-29"]})
    >>> both = kanon_lab.measures.compare_editions(old, new, "age", id="id")
    >>> both.to_dict()["k_achieved"], both.k_with
    ({'old': 2, 'new': 1}, 1)
    """
    spec = KeySpec(keys, missing=missing, person=person)
    levels = tuple(map(check_k, k))
    if id is not None and same_order:
        raise OptionError("id and same_order are two ways to link the same records; give one of them")
    both = _Both(old, new, spec, names)
    links = _links(both, id, same_order, link_persons)
    alone = [both.alone(edition, links.person(edition)) for edition in (0, 1)]
    linked_by = "person" if links.by_person else "id" if id is not None else "order" if same_order else None
    linked = None
    if linked_by is not None:
        linked = link(both.codes, spec.key_variables, both.is_common, missing, links, alone[0])
    alike = {name: fewest(alone[edition], links.person(edition)) for edition, name in enumerate(("old", "new"))}
    return Editions(
        keys=spec.key_variables,
        common=both.common,
        missing=missing,
        linked_by=linked_by,
        k=levels,
        records=(len(old), len(new)),
        alike=alike,
        linked=linked,
        links=links,
        counts=both.counts(),
        crossings=both.crossings(),
        notes=(
            *_notes(both, linked, links, linked_by),
            *([Note("editions_same_places")] if links.by_person and same_order else []),
        ),
    )


def _links(both: _Both, id: str | None, same_order: bool, link_persons: bool) -> Links:
    """What links two editions."""
    (old, new), person, persons = both.frames, both.spec.person, None
    if person is not None and (link_persons or person in old):
        persons = by_person(old, new, person, both.names)
    elif person is not None:
        of_new = person_codes(one_column(new, person))
        persons = of_new if same_order else np.full(len(old), of_new.max() + 1), of_new
    rows, are_shared = None, persons is not None and link_persons and bool(np.isin(*persons).any())
    if id is not None and (are_shared or persons is None or not link_persons or tells_records(old, new, id)):
        rows = by_id(old, new, id, both.names, person if are_shared else None)
    elif same_order:
        rows = _in_order(both)
    if persons is not None and link_persons and rows is not None and not are_shared:  # renewed, but records tell whose
        number = np.arange(max(map(np.max, persons)) + 1)
        number[persons[1][rows[1]]] = persons[0][rows[0]]
        persons = persons[0], number[persons[1]]
    return Links(rows, persons, persons is not None and link_persons)


class _Both:
    """The keys of two editions as codes of the values of both, -1 where missing or not there."""

    def __init__(self, old: pd.DataFrame, new: pd.DataFrame, spec: KeySpec, names: tuple[str, str]):
        self.frames, self.spec, self.names = (old, new), spec, names
        self.has = [[key in frame for key in spec.key_variables] for frame in self.frames]
        for key, *there in zip(spec.key_variables, *self.has, strict=True):
            if not any(there):
                remedy = meant(key, [*old.columns, *new.columns], "check the name")
                raise DataError(f"{names[0]} and {names[1]}: column {shortened(str(key))} is in neither; {remedy}")
        columns = [self._codes(key) for key in spec.key_variables]
        self.values = [values for values, _ in columns]
        self.codes = [np.column_stack([codes[edition] for _, codes in columns]) for edition in (0, 1)]

    @property
    def common(self) -> tuple[str, ...]:
        """The keys that both have."""
        return tuple(key for key, *there in zip(self.spec.key_variables, *self.has, strict=True) if all(there))

    @property
    def is_common(self) -> np.ndarray:
        """Whether both have each key."""
        return np.all(self.has, axis=0)

    def _codes(self, key: str) -> tuple[pd.Index, list[np.ndarray]]:
        """The values of a key in both editions, and the code of each record."""
        here = [frame for frame in self.frames if key in frame]
        values, codes = same_codes([one_column(frame, key) for frame in here])
        return values, [
            codes.pop(0) if key in frame else np.full(len(frame), -1, dtype=np.int64) for frame in self.frames
        ]

    def alone(self, edition: int, person: np.ndarray | None) -> np.ndarray:
        """For each record of an edition, the records of it, or persons, that are compatible by the keys that it has."""
        keys = [key for key, there in zip(self.spec.key_variables, self.has[edition], strict=True) if there]
        frame, named = self.frames[edition], None if person is None else self.spec.person
        if not keys:
            return np.full(len(frame), len(frame) if person is None else len(np.unique(person)))
        if named is not None:
            frame = frame[keys].assign(**{named: person})
        with about(self.names[edition]):
            table = class_table(frame, KeySpec(keys, missing=self.spec.missing, person=named))
        return table.f_k[table.class_of_record]

    def counts(self) -> np.ndarray:
        """Records of each class by the common keys: in the old edition and in the new."""
        common = [codes[:, self.is_common] for codes in self.codes]
        if not self.is_common.any():
            return np.array([[*map(len, common)]])
        group, some = distinct_rows(np.concatenate(common))
        parts = np.split(group, [len(common[0])])
        return np.column_stack([np.bincount(part, minlength=len(some)) for part in parts])

    def crossings(self) -> dict[str, Crossing]:
        """The common keys whose bands cross."""
        places = np.flatnonzero(self.is_common)
        by_place = crossings([self.values[place] for place in places], [codes[:, places] for codes in self.codes])
        return {self.common[place]: crosses for place, crosses in by_place.items()}


def _in_order(both: _Both) -> tuple[np.ndarray, np.ndarray]:
    """The rows of the same records in two editions that have them in the same order."""
    n, m = map(len, both.frames)
    if n != m:
        raise DataError(
            f"{both.names[0]} has {n:,} records and {both.names[1]} {m:,}: the same order needs as many in both"
        )
    return np.arange(n), np.arange(n)


def _smallest(alike: np.ndarray) -> int | None:
    return int(alike.min()) if len(alike) else None


def _notes(both: _Both, linked: LinkedRecords | None, links: Links, linked_by: str | None) -> Iterator[Note]:
    """What a reader of the result should know of the two editions."""
    for key, *there in zip(both.spec.key_variables, *both.has, strict=True):
        if not all(there):
            yield Note("editions_key_in_one", variable=shortened(str(key)), file=both.names[there.index(True)])
    for place in np.flatnonzero(both.is_common):
        old, new = (np.unique(codes[:, place]) for codes in both.codes)
        if not np.isin(new[new >= 0], old).any():
            yield Note("editions_other_codes", variable=shortened(str(both.spec.key_variables[place])))
    if linked is None:
        yield Note("editions_not_linked")
        if len(both.frames[0]) == len(both.frames[1]):
            yield Note("editions_same_number", records=len(both.frames[0]))
        if max(links.most) > 1:
            yield Note("editions_counts_of_records", records=max(links.most))
    elif linked_by != "order" and not len(linked.joint):
        yield Note("editions_none_in_both")
    elif links.by_person and links.rows is None and (persons := links.with_several):
        yield Note("editions_records_not_aligned", persons=persons)
    if links.persons is not None and both.spec.person not in both.frames[0] and linked_by != "order":
        yield Note("editions_persons_not_known", file=both.names[0], variable=shortened(str(both.spec.person)))
