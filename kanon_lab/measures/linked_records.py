"""Records of two editions that an intruder links: the same record in both, or all records of one person."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from kanon_lab.classes.compatible import compatible_sums
from kanon_lab.classes.persons import compatible_persons, equal_persons, fewest_in_both
from kanon_lab.columns import as_text, coded, distinct_rows, holds_numbers, one_column, plain, refuse
from kanon_lab.errors import about

#: What messages call two editions that have no names.
OLD, NEW = "the old edition", "the new edition"


@dataclass(frozen=True)
class Links:
    """What links two editions: of each record that is the same in both, its row in the old one and in the new one.

    `rows` are None where nothing says which record is the same. `persons` has the number of each record's person in
    each edition (None: each record is one). Where the link is `by_person`, the intruder knows all records of a person
    in both; else persons are only counted.
    """

    rows: tuple[np.ndarray, np.ndarray] | None = field(default=None, repr=False)
    persons: tuple[np.ndarray, np.ndarray] | None = field(default=None, repr=False)
    by_person: bool = False

    def person(self, edition: int) -> np.ndarray | None:
        """The number of each record's person in an edition."""
        return None if self.persons is None else self.persons[edition]

    def in_one(self, edition: int, records: int) -> np.ndarray:
        """Which of so many records of an edition have no link to the other."""
        if self.persons is not None and self.by_person:
            return ~np.isin(self.persons[edition], self.persons[1 - edition])
        alone = np.ones(records, dtype=bool)
        if self.rows is not None:
            alone[self.rows[edition]] = False
        return alone

    @property
    def most(self) -> tuple[int, int]:
        """The most records of a person in the old edition, and in the new one."""
        if self.persons is None:
            return 1, 1
        old, new = (int(np.bincount(person).max()) for person in self.persons)
        return old, new

    @property
    def with_several(self) -> int:
        """Persons in both who have several records in one."""
        if self.persons is None:
            return 0
        both = np.intersect1d(*self.persons)
        counts = [np.bincount(person, minlength=both.max(initial=0) + 1)[both] for person in self.persons]
        return int((np.maximum(*counts) > 1).sum())


@dataclass(frozen=True)
class LinkedRecords:
    """Persons whose records of both editions are linked, and those whom only one edition has.

    Where a person may have several records, each number is the smallest of the person's.

    Attributes
    ----------
    joint, filled : ndarray
        For each person in both, the persons with compatible keys in both editions: as they are; and once the keys that
        one edition hides are filled in from the other, unless no record there has that value.
    only_old, only_new : ndarray
        For each person whom only one edition has, such persons with compatible keys.
    exposed : ndarray
        For each person in either edition, the persons alike for an intruder who has both. Persons in the old edition
        only are counted by it where their class there is larger than `only_old`.
    cells : DataFrame
        By ``variable`` the cells of persons in both that only the old edition shows (``only_old``), that only the new
        one shows (``only_new``), and those with another value (``changed``).
    """

    joint: np.ndarray = field(repr=False)
    filled: np.ndarray = field(repr=False)
    only_old: np.ndarray = field(repr=False)
    only_new: np.ndarray = field(repr=False)
    exposed: np.ndarray = field(repr=False)
    cells: pd.DataFrame = field(repr=False)


def same_codes(columns: Iterable[pd.Series]) -> tuple[pd.Index, list[np.ndarray]]:
    """The values of several columns, and each column as codes of these (-1: missing); numbers match texts of them."""
    columns = [*columns]
    parts = [coded(column) for column in columns]
    values = [part.values for part in parts]
    if len({holds_numbers(plain(column)) for column in columns}) > 1:
        values = [pd.Index([*map(as_text, of)], dtype=object) for of in values]
    every = values[0]
    for more in values[1:]:
        every = every.append(more)
    every = every.unique()
    return every, [np.append(every.get_indexer(of), -1)[part.codes] for of, part in zip(values, parts, strict=True)]


def by_person(
    old: pd.DataFrame, new: pd.DataFrame, person: str, names: tuple[str, str] = (OLD, NEW)
) -> tuple[np.ndarray, np.ndarray]:
    """The number of each record's person in both editions; records that say none are one person, since they may be."""
    columns = []
    for frame, name in zip((old, new), names, strict=True):
        with about(name):
            columns.append(one_column(frame, person))
    values, codes = same_codes(columns)
    of_old, of_new = (np.where(of < 0, len(values), of) for of in codes)
    return of_old, of_new


def tells_records(old: pd.DataFrame, new: pd.DataFrame, id: str) -> bool:
    """Whether no two records of an edition share an identifier."""
    return all(id in frame and not frame[id].duplicated().any() for frame in (old, new))


def by_id(
    old: pd.DataFrame, new: pd.DataFrame, id: str, names: tuple[str, str] = (OLD, NEW), person: str | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The same records in both editions: of each its row in the old one, and in the new one.

    With a `person`, the identifier tells the records of a person apart. A `DataError` that calls the editions by their
    names where an identifier is missing, or two records share one.
    """
    columns = []
    for frame, name in zip((old, new), names, strict=True):
        with about(name):
            columns.append(one_column(frame, id))
            refuse(columns[-1].isna().to_numpy(), frame.index, id, "no identifier; fill it in, or drop the record")
    _, codes = same_codes(columns)
    fault = (
        "an identifier that an earlier row has; use one that no two records share or, if a person has several "
        "records, name the person's (--person, or person: in a configuration)"
    )
    if person is not None:
        both = zip(codes, by_person(old, new, person, names), strict=True)
        group, _ = distinct_rows(np.concatenate([np.column_stack(pair) for pair in both]))
        codes = np.split(group, [len(old)])
        fault = "a person's earlier row has this identifier too; use one that differs between the records of a person"
    for column, of, name in zip(columns, codes, names, strict=True):
        with about(name):
            refuse(pd.Series(of).duplicated().to_numpy(), column.index, id, fault)
    row = np.full(max(int(of.max(initial=0)) for of in codes) + 1, -1)
    row[codes[0]] = np.arange(len(old))
    place = row[codes[1]]
    return place[place >= 0], np.flatnonzero(place >= 0)


def link(
    codes: Sequence[np.ndarray],
    keys: Sequence[str],
    is_common: np.ndarray,
    missing: str,
    links: Links,
    alone: np.ndarray,
) -> LinkedRecords:
    """What an intruder knows of linked persons.

    Parameters
    ----------
    codes : sequence of ndarray
        The keys of each record in the old and in the new edition, shape (records, keys), -1 where missing.
    keys : sequence of str
        The key variables.
    is_common : ndarray of bool
        Whether both editions have each key.
    missing : {"wildcard", "category", "error"}
        What a missing key means.
    links : Links
        What links the editions.
    alone : ndarray
        For each record of the old edition, the records, or persons, that are compatible in it.
    """
    other = [_in_the_other(codes, links, edition) for edition in (0, 1)]
    tells = [(of < 0) & (there >= 0) for of, there in zip(codes, other, strict=True)]
    changed = (codes[0] >= 0) & (other[0] >= 0) & (codes[0] != other[0])
    sums = [rows.sum(axis=0) for rows in (tells[1], tells[0], changed)]
    filled = [of.copy() for of in codes]
    for edition in (0, 1) if missing == "wildcard" else ():
        for place in np.flatnonzero(is_common):
            there = other[edition][:, place]
            rows = tells[edition][:, place] & np.isin(there, codes[edition][:, place])
            filled[edition][rows, place] = there[rows]
    lone = [links.in_one(edition, len(of)) for edition, of in enumerate(codes)]
    of_lone = [None if (of := links.person(edition)) is None else of[lone[edition]] for edition in (0, 1)]
    only = [alike(codes[edition][lone[edition]], missing, of_lone[edition]) for edition in (0, 1)]
    joint, (closest, in_both) = (_in_both(of, links, missing) for of in (codes, filled))
    left = only[0] < alone[lone[0]]
    parts = [closest, only[1], only[0][left]]
    exposed = np.concatenate(parts)
    if links.persons is not None:
        assert of_lone[0] is not None and of_lone[1] is not None and in_both is not None
        exposed = fewest(exposed, np.concatenate([in_both, of_lone[1], of_lone[0][left]]))
    cells = zip(keys, *sums, strict=True)
    return LinkedRecords(
        joint=fewest(*joint),
        filled=fewest(closest, in_both),
        only_old=fewest(only[0], of_lone[0]),
        only_new=fewest(only[1], of_lone[1]),
        exposed=exposed,
        cells=pd.DataFrame(cells, columns=["variable", "only_old", "only_new", "changed"]),
    )


def _in_the_other(codes: Sequence[np.ndarray], links: Links, edition: int) -> np.ndarray:
    """The keys of each record of an edition as the other one has them, -1 where it does not tell.

    Those of the same record; or else, of the same person, where all the records that show the key have one value.
    """
    theirs = codes[1 - edition]
    known = np.full_like(codes[edition], -1)
    if links.persons is not None and links.by_person:
        mine, their = links.persons[edition], links.persons[1 - edition]
        shape = (max(mine.max(initial=0), their.max(initial=0)) + 1, theirs.shape[1])
        most, least = np.full(shape, -1), np.full(shape, np.iinfo(np.int64).max)
        np.maximum.at(most, their, theirs)
        np.minimum.at(least, their, np.where(theirs < 0, np.iinfo(np.int64).max, theirs))
        known = np.where(most == least, most, -1)[mine]
    if links.rows is not None:
        known[links.rows[edition]] = theirs[links.rows[1 - edition]]
    return known


def _in_both(codes: Sequence[np.ndarray], links: Links, missing: str) -> tuple[np.ndarray, np.ndarray | None]:
    """How many are alike by the keys in both editions, and of whom each number is (None: of a record).

    For an intruder who links persons, these are the persons who have a compatible record in each edition, for each pair
    of a record of the person in the old edition and one in the new: the fewest of all pairs. Where both are the same
    record, as `links` say, the others must have one that is the same in both, too.
    """
    rows, person = np.zeros((0, 2)), None
    if links.rows is not None:
        rows = np.hstack([of[linked] for of, linked in zip(codes, links.rows, strict=True)])
        person = None if links.persons is None else links.persons[1][links.rows[1]]
    same = alike(rows, missing, person)
    if links.persons is None or not links.by_person:
        return same, person
    closest, both = fewest_in_both(codes, links.persons, wild=missing == "wildcard")
    return (closest, both) if person is None else (np.concatenate([closest, same]), np.concatenate([both, person]))


def alike(codes: np.ndarray, missing: str, person: np.ndarray | None = None) -> np.ndarray:
    """For each row of codes, the rows that are compatible with it; or, with the number of each row's, the persons."""
    if not len(codes):
        return np.zeros(0, dtype=np.int64)
    if person is not None:
        return (compatible_persons if missing == "wildcard" else equal_persons)(codes, codes, person)
    group, some = distinct_rows(codes)
    records = np.bincount(group)
    if missing == "wildcard" and (codes < 0).any():
        records = compatible_sums(codes[some], records)
    return records[group]


def fewest(numbers: np.ndarray, person: np.ndarray | None) -> np.ndarray:
    """The smallest number of each person, in the order of their numbers; all of them where each row is one."""
    if person is None:
        return numbers
    persons, place = np.unique(person, return_inverse=True)
    least = np.full(len(persons), np.iinfo(np.int64).max)
    np.minimum.at(least, place, numbers)
    return least
