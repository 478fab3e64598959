"""Households found by their members' keys in a release without a household ID, whose members share released columns."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from itertools import zip_longest
from math import log
from typing import NamedTuple

import numpy as np

from kanon_lab.classes.compatible import compatible_sums
from kanon_lab.classes.table import counted
from kanon_lab.columns import distinct, distinct_rows, named_columns
from kanon_lab.measures import household_sets, with_household_composition
from kanon_lab.recipes.guessing import divergence, joint
from kanon_lab.recipes.households import shared_by_members
from kanon_lab.recipes.persons import linked_records
from kanon_lab.recipes.state import Chain

# So many nats of evidence are asked for that members share a column: luck in one of a million files.
EVIDENCE = 14
# Part of the households that would differ by chance and agree: a column that fewer share says little of a household.
AGREEING = 1 / 3


class FoundHouseholds(NamedTuple):
    """Records found with their household, and the columns that do it.

    `records` are those unique in the one set of records that fits their household (None: not known), `few` those of
    households with several such sets, but fewer than k.
    """

    records: int | None
    few: int = 0
    columns: tuple[str, ...] = ()


def found_households(protection: Chain, k: int) -> FoundHouseholds:
    """The records that are found with their household by an intruder who knows the keys of all its members.

    By `household_sets`, if members share released columns; the order of the records, or a column that members do not
    all share, may say who lives together, and then all households of one composition are counted as alike.
    """
    linked = linked_records(protection, "household")
    if linked.known is None or protection.spec.household is None:
        return FoundHouseholds(None if linked.known is None else 0)
    if protection.state.counts is not None or protection.shows_households:
        return FoundHouseholds(_of_one_composition(protection), 0, linked.columns)
    names, by_shared = _found_by_shared(protection, k)
    if linked.known and not (linked.columns and by_shared.columns and {*linked.columns} <= {*names}):
        columns = tuple(dict.fromkeys((*linked.columns, *by_shared.columns)))
        return FoundHouseholds(max(_of_one_composition(protection), by_shared.records or 0), by_shared.few, columns)
    return by_shared


def _of_one_composition(protection: Chain) -> int:
    """Records that are unique if it is known which are of one household."""
    spec = replace(protection.released_spec, household=protection.spec.household)
    return with_household_composition(protection.state.table(spec))["sample_uniques"]


def _found_by_shared(protection: Chain, k: int) -> tuple[list[str], FoundHouseholds]:
    """The released columns that members share, and what is found by them."""
    spec, state = protection.released_spec, protection.state
    home = distinct(protection.original.loc[state.working.index, protection.spec.household])[0].astype(np.int64)
    codes = {str(name): distinct(column)[0] for name, column in named_columns(state.released)}
    names = shared_columns(home, codes)
    beside = [name for name in names if name not in spec.key_variables]
    if not beside:
        return names, FoundHouseholds(0)
    known, shown = state.truth.attacked(state.working, spec.key_variables)
    keys, _ = distinct_rows(shown)
    hidden = spec.missing == "wildcard" and (shown < 0).any()
    # Households that differ in a column are looked for without it: those that most share come first.
    agreed = {name: shared_by_members(home, codes[name] + 1) for name in beside}
    beside.sort(key=lambda name: -agreed[name])
    sets, shared = np.zeros(int(home.max(initial=-1)) + 1, dtype=np.int64), np.zeros(len(home), dtype=np.int64)
    for name, after in zip_longest(beside, beside[1:]):
        shared = joint(shared, codes[name])
        if after is None or agreed[after] < 1:
            all_shared = reduce(joint, [codes[key] for key in names if key not in beside], shared)
            outsiders = _outsiders(home, shared, known, shown) if hidden else None
            by_these = household_sets(home, shared, keys, most=max(k, 2), all_shared=all_shared, outsiders=outsiders)
            sets = np.where((sets == 0) | (by_these == 0), sets + by_these, np.minimum(sets, by_these))
    in_home, _, members = counted(home[home >= 0], keys[home >= 0], len(sets), int(keys.max()) + 1)
    unique = (members == 1) & (sets[in_home] == 1)
    few = members[(sets[in_home] > 1) & (sets[in_home] < k)]
    return names, FoundHouseholds(int(unique.sum()), int(few.sum()), tuple(beside))


def shared_columns(home: np.ndarray, columns: dict[str, np.ndarray]) -> list[str]:
    """The columns, by name their codes (-1 missing), that members of a household share more often than by chance.

    Of the households that would differ by chance, at least one in three agrees: group means split some households.
    """
    evidence, known = EVIDENCE + log(max(len(columns), 1)), home >= 0
    return [name for name, code in columns.items() if _is_shared(home[known], code[known], evidence)]


def _is_shared(home: np.ndarray, code: np.ndarray, evidence: float) -> bool:
    share, known = shared_by_members(home, code), code >= 0
    several = np.bincount(np.bincount(home[known]))
    several[:2] = 0  # households by their known members, of whom there are two or more
    often, households = np.bincount(code[known]) / np.count_nonzero(known), int(several.sum())
    if not households:
        return False
    chance = sum(float((often**size).sum()) * several[size] for size in np.flatnonzero(several)) / households
    agrees = share - chance >= AGREEING * (1 - chance)
    return chance < 1 and agrees and households * divergence(share, chance) >= evidence


def _outsiders(home: np.ndarray, shared: np.ndarray, known: np.ndarray, shown: np.ndarray) -> np.ndarray:
    """For each record those outside its household with the same shared columns that its true keys may be those of."""
    known, shown = (np.column_stack([shared, codes]) for codes in (known, shown))
    group, some = distinct_rows(shown)
    asked, of_asked = distinct_rows(known)
    alike = compatible_sums(shown[some], np.bincount(group), known[of_asked])[asked]
    order = np.argsort(home, kind="stable")
    home, known, shown = home[order], known[order], shown[order]
    inside = np.zeros(len(home), dtype=np.int64)
    most = int(np.bincount(home + 1)[1:].max(initial=0))
    for apart in range(1 - most, most):  # members stand together now
        here = slice(max(apart, 0), len(home) + min(apart, 0))
        other = slice(max(-apart, 0), len(home) + min(-apart, 0))
        fits = (known[here] == shown[other]) | (known[here] < 0) | (shown[other] < 0)
        inside[here] += (home[here] == home[other]) & fits.all(axis=1)
    outside = np.empty(len(home), dtype=np.int64)
    outside[order] = alike[order] - inside
    return outside
