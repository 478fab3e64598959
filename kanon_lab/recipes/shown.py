"""Suppressed key values that other records still show: members of the same household, and neighbours in the order.

The attack that is counted: an intruder fills in every hidden key value by what these records show, and then looks for
somebody whose keys are known. Values are filled in of variables that such records share far more often than by chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from math import log
from typing import NamedTuple

import numpy as np

from kanon_lab.classes.counts import records_in
from kanon_lab.columns import distinct, distinct_rows, named_columns
from kanon_lab.methods.suppression import alike_by_claim
from kanon_lab.recipes.exposure import exposed_by_order
from kanon_lab.recipes.guessing import Target, joint
from kanon_lab.recipes.households import (
    OF_HOUSEHOLDS,
    guessed_by_neighbours,
    order_blocks,
    ordered_variables,
    shared_by_members,
)
from kanon_lab.recipes.state import Chain

# So many nats of evidence are asked for that a column tells households apart (luck in one of a million files).
_EVIDENCE = 14
# Others tell a variable if they err at most this share as often as a guess without them does.
_ERRS = 0.5


class Shown(NamedTuple):
    """Records that fall below k by what other records show, None if that is not known; and columns that do it."""

    records: int | None
    columns: tuple[str, ...] = ()


def shown_by_members(protection: Chain, k: int, role: str = "household") -> Shown:
    """Records that fall below k once hidden keys are filled in from members of the household.

    With the `role` person, the persons who do so once they are filled in from other records of the person. Without the
    ID of the household, members are those with the same value in a column that tells households apart (an income of the
    household, say), or in all columns together that members share. An engine counts only by the ID: None without it, if
    keys are suppressed.
    """
    hidden, guesses = _Hidden(protection), dict[str, np.ndarray]()
    unit = getattr(protection.spec, role)
    if unit is None or not hidden.names:
        return Shown(0)
    if protection.state.counts is not None and unit in protection.state.removed:
        return Shown(None)
    columns: list[str] = []
    for names, home in units_told(protection, unit, hidden.names):
        columns += names
        for name in hidden.names:
            known, shown = hidden.codes_of(name)
            if _tells(guessed_by_members(home, known, hidden.records), known, hidden.records):
                guess = guessed_by_members(home, shown, hidden.records)
                earlier = guesses.get(name, guess)
                guesses[name] = np.where(earlier < 0, guess, earlier)
    return hidden.exposed(guesses, k, columns)


def shown_by_neighbours(protection: Chain, k: int) -> Shown:
    """Records that fall below k once hidden keys are filled in by the order of the released records.

    Either from the records before and after, where these agree, of variables of which the order tells more than chance
    does; or by the place in the file, as if it were a column. The larger count holds, whose columns are those filled in
    from both sides. None if an engine has only counts, and keys are hidden.
    """
    hidden, guesses = _Hidden(protection), dict[str, np.ndarray]()
    if protection.state.counts is not None:
        return Shown(None if hidden.names else 0)
    if (block := order_blocks(protection)) is None:
        return Shown(0)
    for name in ordered_variables(protection, block, hidden.names):
        known, shown = hidden.codes_of(name)
        if _tells(guessed_by_neighbours(known, block), known, hidden.records):
            guesses[name] = guessed_by_neighbours(shown, block)
    beside = hidden.exposed(guesses, k, ())
    by_place = exposed_by_order(protection, k)
    return Shown(max(beside.records or 0, by_place), beside.columns)


def guessed_by_members(home: np.ndarray, code: np.ndarray, records: np.ndarray) -> np.ndarray:
    """For each row the code that all other members of the household show, -1 where they show none or several.

    Both are codes from 0 on, -1 where missing; a row is so many `records`.
    """
    known = (home >= 0) & (code >= 0)
    if not known.any():
        return np.full(len(code), -1)
    pair, some = distinct_rows(np.column_stack([home, code])[known])
    homes, values = home[known][some], code[known][some]
    size = int(home.max(initial=-1)) + 2
    different, total = np.bincount(homes, minlength=size), np.bincount(homes, values, size).astype(np.int64)
    alone = np.zeros(len(code), dtype=bool)  # the only member with the value
    alone[known] = (np.bincount(pair, records[known]) == 1)[pair]
    others = different[home] - alone
    guess = total[home] - np.where(alone, code, 0)
    return np.where((home >= 0) & (others == 1), guess, -1)


def _tells(guess: np.ndarray, code: np.ndarray, records: np.ndarray) -> bool:
    """Whether guesses are wrong at most half as often as guesses in another order would be."""
    both = (guess >= 0) & (code >= 0)
    if not both.any():
        return False
    guess, code, records = guess[both], code[both], records[both] / records[both].sum()
    size = int(max(guess.max(), code.max())) + 1
    shares = [np.bincount(codes, records, size) for codes in (guess, code)]
    by_chance = 1 - float(shares[0] @ shares[1])
    return by_chance > 0 and float(records[guess != code].sum()) <= _ERRS * by_chance


def units_told(protection: Chain, unit: str, hidden: Sequence[str]) -> Iterator[tuple[list[str], np.ndarray]]:
    """Columns that tell units apart (their ID, or others but `hidden` keys), and codes that their records share."""
    working = protection.state.working
    if unit not in protection.state.removed:
        yield [str(unit)], distinct(working[unit])[0]
        return
    home, _ = distinct(protection.original.loc[working.index, unit])
    released = protection.state.released
    columns = {str(name): distinct(column)[0] for name, column in named_columns(released) if name not in hidden}
    target = Target(home, np.ones(len(home), dtype=bool), [np.zeros(len(home), dtype=np.int64)])
    evidence = _EVIDENCE + log(max(len(columns), 1))

    def finds(code: np.ndarray) -> bool:
        guess = target.guess(code, evidence)
        return guess is not None and guess.removed >= _ERRS

    apart = [name for name, code in columns.items() if finds(code)]
    yield from (([name], columns[name]) for name in apart)
    if not apart:
        shared = [name for name, code in columns.items() if shared_by_members(home, code) >= OF_HOUSEHOLDS]
        if len(shared) > 1 and finds(together := reduce(joint, [columns[name] for name in shared])):
            yield shared, together


class _Hidden:
    """The released keys of a protection, in the order of the release, and which of them are hidden in some record."""

    def __init__(self, protection: Chain):
        self.keys, self.counts = protection.released_spec.key_variables, protection.state.counts
        self.known, self.shown = protection.state.truth.attacked(protection.state.working, self.keys)
        self.records = np.ones(len(self.known), dtype=np.int64) if self.counts is None else self.counts.records
        self.person = protection.state.person(protection.spec)
        self.gone = (self.shown < 0) & (self.known >= 0)
        # Where a gap is a value of its own, an office counts the classes as they are released too.
        self.claims = ("compatible", "true_key", *(["own_class"] if protection.spec.missing == "category" else []))
        self.names = [name for name, gone in zip(self.keys, self.gone.T, strict=True) if gone.any()]

    def codes_of(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Codes of a key as it truly is and as it is shown."""
        place = self.keys.index(name)
        return self.known[:, place], self.shown[:, place]

    def exposed(self, guesses: Mapping[str, np.ndarray], k: int, columns: Sequence[str]) -> Shown:
        """Records that are below k once hidden values are filled in by guesses, and were not; wrong guesses mislead.

        The columns are the keys that are filled in, and those that helped with it.
        """
        filled = self.shown.copy()
        for name, guess in guesses.items():
            place = self.keys.index(name)
            filled[:, place] = np.where(self.gone[:, place], guess, filled[:, place])
        if (filled == self.shown).all():
            return Shown(0)
        right = ((filled == self.known) | (filled < 0) | (self.known < 0)).all(axis=1)
        everywhere = np.zeros(len(filled), dtype=np.int64)
        before, after = (
            alike_by_claim(self.known, shown, everywhere, self.counts, self.person) for shown in (self.shown, filled)
        )
        fallen = [(before[claim] >= k) & (after[claim] < k) for claim in self.claims]
        records = records_in(right & np.any(fallen, axis=0), self.counts, self.person)
        return Shown(records, (*guesses, *columns) if records else ())
