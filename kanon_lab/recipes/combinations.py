"""Limits on combinations of keys: each with its own number of records, or of estimated persons, that are alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kanon_lab.classes.counts import records_in
from kanon_lab.classes.persons import compatible_persons
from kanon_lab.classes.sums import Sums
from kanon_lab.columns import distinct_rows
from kanon_lab.errors import OptionError, shortened
from kanon_lab.methods.suppression import check_key, sets_of_size
from kanon_lab.methods.suppression_search import compatible_weights
from kanon_lab.recipes.state import Chain
from kanon_lab.roles import KeySpec, check_k, column_names
from kanon_lab.terms import Note


@dataclass(frozen=True)
class CombinationLimit:
    """What is required of some sets of key variables.

    `sets` are the sets of keys; `size` the size of all of them, 0 where there is but one; `least` how many must be
    alike by each set; `persons` whether these are persons of the population, estimated by the weights, or records.
    """

    sets: tuple[tuple[str, ...], ...]
    size: int
    least: int
    persons: bool

    @property
    def called(self) -> Note:
        """Which sets it is about."""
        key = f"{'any' if self.size else 'these'}_keys{'_persons' * self.persons}"
        return Note(key, size=self.size) if self.size else Note(key, names=tuple(map(shortened, self.sets[0])))

    def count(self, protection: Chain, *, true_keys: bool = False) -> tuple[int, int, tuple[str, ...]]:
        """The fewest that are alike by one of the sets, the records with fewer than `least`, and that set.

        With `true_keys` those are counted whom an intruder finds who knows the keys as they were before a suppression.
        Sets of which a key is not released are left out: without any, the limit does not bind, and the count is -1.
        """
        fewest, below, worst = -1, 0, self.sets[0]
        state, spec = protection.state, protection.released_spec
        for keys in self.sets:
            if not {*keys} <= {*spec.key_variables}:
                continue
            if true_keys:
                alike = self._meeting_true_keys(protection, keys)
                few = records_in(alike < self.least, state.counts, protection.person)
            else:
                table = state.table(by_keys(spec, keys))
                alike = table.F_k if self.persons else table.f_k
                few = table.units_in(alike < self.least)
            below = max(below, few)
            if (count := int(alike.min())) < fewest or fewest < 0:
                fewest, worst = count, keys
        return fewest, below, worst

    def _meeting_true_keys(self, protection: Chain, keys: tuple[str, ...]) -> np.ndarray:
        """For each row, the released records, or persons, that are compatible with its true keys."""
        state, weight = protection.state, protection.spec.weight
        known, shown = state.truth.attacked(protection.aligned, keys)
        if (person := protection.person) is not None:
            weights = state.table(by_keys(protection.spec, keys)).weight_of_person if self.persons else None
            return compatible_persons(known, shown, person, weights)
        size: np.ndarray | Sums = np.ones(len(shown)) if state.counts is None else state.counts.records.astype(float)
        if self.persons and weight is not None:
            sums = None if state.counts is None else state.counts.weights
            size = protection.ordered[weight].to_numpy(dtype=float) if sums is None else sums
        target, of_target = distinct_rows(known)
        return compatible_weights(known[of_target], shown, size)[target]


def by_keys(spec: KeySpec, keys: tuple[str, ...]) -> KeySpec:
    """The same file by these keys alone."""
    ghosts = {key: names for key, names in spec.ghost_variables.items() if key in keys}
    return replace(spec, key_variables=keys, ghost_variables=ghosts)


def as_combination_limits(entries: Any, spec: KeySpec, place: str) -> tuple[CombinationLimit, ...]:
    """The limits from the settings of a recipe; an `OptionError` that names the `place` of a fault."""
    if isinstance(entries, (str, Mapping)) or not isinstance(entries, Sequence) or not entries:
        such_as = "[{size: 2, at_least: 3}, {keys: [age, sex], persons: 100}]"
        raise OptionError(f"{place} must be a list, such as {such_as}")
    return tuple(_limit(entry, spec, f"{place}: {number}") for number, entry in enumerate(entries, 1))


def _limit(entry: Any, spec: KeySpec, place: str) -> CombinationLimit:
    if isinstance(entry, CombinationLimit):
        return entry
    names = {*entry} if isinstance(entry, Mapping) else set()
    if len(names) != 2 or len(names & {"keys", "size"}) != 1 or len(names & {"at_least", "persons"}) != 1:
        raise OptionError(f"{place}: write keys or size, and at_least or persons, such as {{size: 2, at_least: 3}}")
    persons = "persons" in names
    least = check_k(entry["persons" if persons else "at_least"], f"{place}: {'persons' if persons else 'at_least'}")
    if "keys" in names:
        return CombinationLimit((_keys(entry["keys"], spec, f"{place}: keys"),), 0, least, persons)
    sets = sets_of_size(entry["size"], spec, place)
    named = tuple(tuple(spec.key_variables[key] for key in chosen) for chosen in sets)
    return CombinationLimit(named, int(entry["size"]), least, persons)


def _keys(names: Any, spec: KeySpec, place: str) -> tuple[str, ...]:
    keys = column_names(names, place)
    if not keys:
        raise OptionError(f"{place}: name at least one key variable")
    for name in keys:
        check_key(name, spec, place)
    return keys
