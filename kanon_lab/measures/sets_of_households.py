"""Sets of records that may be a household, where a release has no household ID but columns that members share."""

from __future__ import annotations

import numpy as np

from kanon_lab.classes.table import compositions_of, counted, is_agreeing
from kanon_lab.columns import firsts, grouped

# Groups in which a household is looked for at first, and pairs of a household and a group that are looked at together.
_GROUPS, _PAIRS = 16, 2**22


def household_sets(
    home: np.ndarray,
    shared: np.ndarray,
    keys: np.ndarray,
    *,
    most: int = 2,
    all_shared: np.ndarray | None = None,
    outsiders: np.ndarray | None = None,
) -> np.ndarray:
    """By household the sets of released records that fit its members, for an intruder who knows the keys of all.

    Parameters
    ----------
    home : ndarray of int, shape (n,)
        Household of each record, from 0 on; -1 where it has none.
    shared, keys : ndarray of int, shape (n,)
        The released columns that members share, together as one code from 0 on, and the class of the keys, likewise.
    most : int
        Sets are counted up to so many, from 1 on.
    all_shared, outsiders : ndarray of int, shape (n,), optional
        As `shared`, with the keys that members share; and for each record those with the same `shared`, outside the
        household, that it may be, where missing keys may be any value (by default those of its class).

    Returns
    -------
    ndarray of int
        Sets, at most `most`, for each household; 0 where its members do not share these columns, so that the intruder
        misses it.

    Notes
    -----
    A set is a choice of one record for each member, with the member's keys, all with the same `shared`, whatever that
    is: nobody needs to know the weight. If n records of a group have keys that m members have, the group has the
    product of C(n, m) sets. A household that is its whole group (`all_shared`) looks like one: then sets that leave
    records over are not counted, but the households with the same keys. So if every household has values of its own,
    the households with one set are those of `with_household_composition`; and if values are made coarser, no household
    has fewer sets than before. Whoever takes one of the sets at random is right with one chance in so many.

    That members share values of the household, which help to find them, is in INE Chile (2023), section 7.4.

    Examples
    --------
    Two couples with the same weight are one group: the woman of either may live with the man of the other.

    >>> keys = [0, 1, 0, 1, 2, 3]
    >>> kanon_lab.measures.household_sets([0, 0, 1, 1, 2, 2], [5, 5, 5, 5, 7, 7], keys, most=10).tolist()
    [4, 4, 1]
    """
    home, shared, keys = (np.asarray(codes).astype(np.int64) for codes in (home, shared, keys))
    all_shared = shared if all_shared is None else np.asarray(all_shared).astype(np.int64)
    homes, known = int(home.max(initial=-1)) + 1, home >= 0
    members = np.bincount(home[known], minlength=homes)
    sets = np.zeros(homes, dtype=np.int64)
    agree = (members > 0) & is_agreeing(home, shared, homes)
    of_home = np.zeros(homes, dtype=np.int64)
    of_home[home[known]] = all_shared[known]
    is_whole = agree & is_agreeing(home, all_shared, homes) & (np.bincount(all_shared)[of_home] == members)
    if outsiders is not None:
        is_whole &= np.bincount(home[known], outsiders[known], homes) == 0
    if is_whole.any():
        number, numbers = grouped(home[known], homes)
        composition = compositions_of(*counted(number, keys[known], len(numbers), int(keys.max()) + 1))
        alike = np.bincount(composition[agree[numbers]], minlength=int(composition.max()) + 1)
        sets[numbers] = np.where(is_whole[numbers], alike[composition], 0)
    part = agree & ~is_whole
    if part.any():
        rows = known & part[home]
        sets[part] = _sets_in_groups(home, shared, keys, rows, outsiders, most)
    return np.minimum(sets, most)


def _sets_in_groups(
    home: np.ndarray, shared: np.ndarray, keys: np.ndarray, rows: np.ndarray, outsiders: np.ndarray | None, most: int
) -> np.ndarray:
    """The sets for each household of some rows, in the order of their numbers."""
    # Groups by their size, the largest first: they show soonest that a household is one of many.
    size = np.bincount(shared)
    rank = np.empty(len(size), dtype=np.int64)
    rank[np.argsort(-size, kind="stable")] = np.arange(len(size))
    held = _Held(keys, rank[shared], most)
    numbers, homes = grouped(home[rows], int(home.max()) + 1)
    household, key, members = counted(numbers, keys[rows], len(homes), held.classes)
    group = np.empty(len(homes), dtype=np.int64)
    group[numbers] = rank[shared[rows]]
    ways = held.ways(key, group[household], members)
    own = np.minimum(np.multiply.reduceat(ways, np.flatnonzero(firsts(household))), most)
    sets = own.copy()
    if outsiders is not None:
        np.maximum.at(sets, numbers, 1 + outsiders[rows])  # each may stand for the member
    if (left := sets < most).any():
        some = left[household]
        household = (np.cumsum(left) - 1)[household[some]]
        composition = compositions_of(household, key[some], members[some])
        is_chosen = np.isin(
            np.arange(len(composition)), np.unique(composition, return_index=True)[1]
        )  # of each composition
        asked, total = is_chosen[household], np.empty(np.count_nonzero(is_chosen))
        number = (np.cumsum(is_chosen) - 1)[household[asked]]
        total[composition[is_chosen]] = held.sets_of(number, key[some][asked], members[some][asked])
        sets[left] += total[composition] - own[left]
    return np.minimum(sets, most).astype(np.int64)


class _Held:
    """How many records of each class of the keys the groups hold; sets are counted up to `most`."""

    def __init__(self, keys: np.ndarray, group: np.ndarray, most: int):
        self.classes, self.groups, self.most = int(keys.max()) + 1, int(group.max()) + 1, most
        class_, in_group, self.records = counted(keys, group, self.classes, self.groups)
        self.place = class_ * self.groups + in_group
        self.start = np.searchsorted(self.place, np.arange(self.classes + 1) * self.groups)

    def ways(self, key: np.ndarray, group: np.ndarray, members: np.ndarray) -> np.ndarray:
        """The choices of so many members with these keys in a group."""
        from scipy.special import binom

        asked = key * self.groups + group
        entry = np.minimum(np.searchsorted(self.place, asked), len(self.place) - 1)
        records = np.where(self.place[entry] == asked, self.records[entry], 0)
        ways = (records >= members).astype(float)
        more = records > members
        ways[more] = np.minimum(np.rint(binom(records[more], members[more])), self.most)
        return ways

    def sets_of(self, household: np.ndarray, key: np.ndarray, members: np.ndarray) -> np.ndarray:
        """The sets in all groups for each household: its number, sorted, and how many members have which keys."""
        often = np.diff(self.start)
        order = np.lexsort((often[key], household))  # the key that fewest groups hold first: only these are looked at
        key, members = key[order], members[order]
        first = np.flatnonzero(firsts(household))
        kinds, rarest = np.diff(first, append=len(household)), key[first]
        total, seen, left, block = np.zeros(len(first)), np.zeros(len(first), np.int64), np.arange(len(first)), _GROUPS
        while len(left):
            step = max(1, _PAIRS // block)
            for some in (left[place : place + step] for place in range(0, len(left), step)):
                width = np.minimum(often[rarest[some]] - seen[some], block)
                owner = np.repeat(some, width)
                entry = np.arange(len(owner)) + np.repeat(
                    self.start[rarest[some]] + seen[some] - np.cumsum(width) + width, width
                )
                group, ways, kind = self.place[entry] % self.groups, np.ones(len(owner)), 0
                while len(owner):
                    ways *= self.ways(key[first[owner] + kind], group, members[first[owner] + kind])
                    kind += 1
                    ended = kinds[owner] == kind
                    total += np.bincount(owner[ended], ways[ended], len(total))
                    more = (ways > 0) & ~ended
                    owner, group, ways = owner[more], group[more], ways[more]
                seen[some] += width
            left = left[(total[left] < self.most) & (seen[left] < often[rarest[left]])]
            block *= 4
        return np.minimum(total, self.most)
