"""Released columns, other than keys, that reveal a key or values that were suppressed or recoded.

A region goes with its commune, a date of birth with an age, and a weight with a region if it was made by region. An
intruder who knows which value goes with which has one more key than the office counted. What is counted is this attack:

1. The intruder guesses each cell of a key that was suppressed, recoded, perturbed or removed, by another column: the
   guess is the value that is most frequent among the *other* records with the same value of the column. Or the other
   way round: the true key of the target guesses a column (a coarser copy of it, say), or whether it has a value at all,
   and the column is released beside the hidden key.
2. Without the column the intruder guesses too: by what is released of the key (a band, or nothing) alone, and beside
   each other key. The best of these guesses is wrong in so many of the hidden cells. The share of these errors that the
   column removes is Goodman and Kruskal's lambda: 0 for a column that tells nothing, 1 for a copy, and about 0.9 for a
   copy in which one value in ten is drawn anew.
3. Of the records with the target's released keys, those drop out of which the guess says another value. Right guesses
   that leave fewer than k are counted, each by the share of right guesses that is beyond what guessing without the
   column gets. A record whose guess is wrong misleads, and is not counted.
4. A column counts only if luck explains its gain less than once in a million times (`kanon_lab.recipes.guessing`), all
   columns, parts, pairs and keys that are tried taken together.

Columns are read as they are, by their parts (`kanon_lab.recipes.column_parts`), and in pairs; and cells that spell out
what is hidden in their record count where they are too few to learn from (`kanon_lab.recipes.written`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, combinations, islice
from math import comb, floor, log

import numpy as np
import pandas as pd

from kanon_lab.classes import class_table
from kanon_lab.columns import (
    coded,
    distinct,
    distinct_rows,
    named_columns,
    remembered,
    remembered_rows,
    stacked,
    with_columns,
)
from kanon_lab.recipes.column_parts import Values, readings
from kanon_lab.recipes.column_sums import numbers_of_columns, sums_along
from kanon_lab.recipes.guessing import Guess, Target, joint
from kanon_lab.recipes.measured import met_by, same_values
from kanon_lab.recipes.released import role_of
from kanon_lab.recipes.state import Chain
from kanon_lab.recipes.written import Spelling, guess_written
from kanon_lab.roles import KeySpec, check_k

# Luck explains what counts less than once in a million times; the more is tried, the less it may explain.
_EVIDENCE = log(1_000_000)
# A variable in which more than half of the records have a value of their own is told in so many parts of equal size.
_PARTS = 50
# Such a variable guesses others by so many neighbours in its order.
_NEIGHBOURS = (2, 8, 32)
# Which part of a column tells most is found in so many records at equal steps.
_SAMPLE = 5_000
# Columns are not read by their parts if more records than this have each value: then the value itself tells as well.
_DENSE = 200
# Parts that a key may guess have at most so many values.
_MOST_VALUES = 1_000
# So many columns are read by their parts, at most.
_MOST_READ = 100
# About as many readings a column may have.
_READINGS = 100
# Pairs of columns that are tried, at most: so many, and so many values of them in all records.
_MOST_PAIRS, _MOST_CELLS = 1_000, 50_000_000
# Dependences that are used together, at most: those that remove most errors.
_TOGETHER = 5
# Below this, a sum of weights is rounding.
_LITTLE = 1e-6

# The name of the column of places, which no file can have.
_PLACE = "\0place"

#: Columns of `Exposure.columns`.
COLUMNS = ["columns", "role", "direction", "keys", "hidden", "told", "records"]


@dataclass(frozen=True)
class Exposure:
    """Records that fall below k if released columns that are no keys are used to guess keys.

    `columns` has one row a dependence that tells a hidden value: ``columns`` (one or two names, one of them no key) and
    their ``role``; ``direction`` ("tells" if the columns guess the key, "follows" if the key guesses the column);
    ``keys`` (one or two); ``hidden`` (records in which one of these keys is not as it came); ``told`` (hidden records
    guessed right, beyond what guessing without the columns gets); ``records`` (with at least k alike by the keys alone,
    and fewer than k by the keys and a right guess, likewise). Pairs of columns or keys have a row only if they add a
    record. `records` are those exposed by one of the rows, or by several of them together; it is None for an engine's
    counts, where nothing is looked for. Counts are rounded.
    """

    k: int
    columns: pd.DataFrame = field(repr=False)
    records: int | None

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that expose records, once, those of most records first."""
        rows = self.columns.sort_values("records", ascending=False, kind="stable")
        if (rows["records"] > 0).any():  # else it takes several columns together
            rows = rows[rows["records"] > 0]
        return tuple(dict.fromkeys(name for names in rows["columns"] for name in names))


def exposed_by_columns(protection: Chain, k: int) -> Exposure:
    """Count the records that stand below k for an intruder who guesses keys by other released columns.

    Parameters
    ----------
    protection : Protection
    k : int
        From 1 on.

    Returns
    -------
    Exposure

    Notes
    -----
    The intruder knows the original keys of a target, and which values of a column go with them: in each record the
    guess is the value that is most frequent among the others with the same value of the column (members of its
    household are left out, and count once elsewhere). Of the records with the target's released keys, those drop out of
    which the guess says another value. Nothing beyond the key (a date of birth beyond an age) is taken as known. A key
    that is released as it came adds nothing. Missing keys mean what the spec says.

    Let N hidden cells be guessed, R of them right, and B of them by the best guess without the column: that by what is
    released of the key, alone or beside one other key. The column removes the share (R - B) / (N - B) of the errors, so
    it tells N (R - B) / (N - B) cells beyond what guessing gets: none if it is independent, all if it is a copy. By
    this each record that a right guess brings below k is counted as (R - B) / (N - B) x N / R. If several columns
    expose a record, the largest of these numbers counts. So the number has no cliff: it grows with the accuracy of a
    copy, but for the records whose class the wrong guesses of others make smaller.

    A column counts only where R - B cannot be luck; see `kanon_lab.recipes.guessing`. Besides each column as it is, its
    parts are tried (see `kanon_lab.recipes.column_parts`), and what the best of them tells is reported under its name.
    So are pairs of columns. Where columns are many, not all are tried: see `untried`. Not found are sets of three.
    """
    k = check_k(k, "k")
    if protection.state.counts is not None:
        return Exposure(k, pd.DataFrame(columns=COLUMNS), None)
    search = _Search(protection)
    rows = []
    counted, records = search.exposed(k)
    for dependence, below in counted:
        columns, keys, guess = dependence.columns, dependence.keys, dependence.guess
        role = " and ".join(role_of(name, protection) for name in columns)
        hidden = search.hidden(keys)
        right = guess.weights[hidden & (dependence.shown >= 0) & (dependence.shown == dependence.true)].sum()
        rows.append((columns, role, dependence.direction, keys, int(hidden.sum()), _whole(right), _whole(below)))
    return Exposure(k, pd.DataFrame(rows, columns=COLUMNS), records)


def exposed_by_order(protection: Chain, k: int) -> int:
    """Records that stand below k for an intruder who guesses keys by the places of the released records.

    The place is one more column, read as `exposed_by_columns` reads any, alone and beside each key: in a sorted file
    the records nearby tell what is hidden.
    """
    index = protection.state.working.index
    places = pd.Series(np.arange(len(index)), index=index).reindex(protection.original.index)
    return _Search(protection, places).exposed(k)[1]


def _whole(count: float) -> int:
    return floor(round(float(count) + 0.5, 6))  # halves that sums of floats miss


def columns_as_keys(protection: Chain, k: int) -> pd.DataFrame:
    """Records below k with one more key, for each released column that is no key: ``before`` and ``after``.

    A missing value is a value of its own here.
    """
    k, keys, released = check_k(k, "k"), protection.released_spec.key_variables, protection.aligned
    rows, person = [], protection.spec.person
    frames = [protection.original, released]
    if person is not None:
        frames[1] = with_columns(released, {person: protection.ordered[person]})
    for name in [name for name in released.columns if name not in (*keys, person)]:
        spec = KeySpec([*keys, name], missing="category", person=person)
        below = [class_table(frame, spec).violations([k])[k] for frame in frames]
        rows.append((name, role_of(name, protection), *below))
    return pd.DataFrame(rows, columns=["column", "role", "before", "after"])


@dataclass(frozen=True)
class _Dependence:
    """Columns that guess a key, or are guessed by keys; the codes that go with each record's true and shown values."""

    columns: tuple[str, ...]
    keys: tuple[str, ...]
    direction: str
    guess: Guess
    true: np.ndarray
    shown: np.ndarray


class _Column:
    """A column and its readings."""

    def __init__(self, column: pd.Series, sample: np.ndarray):
        known, self.column = coded(column), column
        self.codes, self.values, self.sample = known.codes.astype(np.int64), known.values, sample
        self.has_parts = len(self.values) > 2

    @property
    def is_read(self) -> bool:
        """Whether parts of its values may tell more than the values themselves."""
        return self.has_parts and len(self.values) * _DENSE > len(self.codes)

    @property
    def tries(self) -> int:
        """In how many ways it is read, about."""
        return 1 + bool((self.codes < 0).any()) + _READINGS * self.is_read

    @cached_property
    def codes_in_sample(self) -> np.ndarray:
        """Its codes in the sample."""
        return self.codes[self.sample]

    @cached_property
    def in_sample(self) -> tuple[tuple[Callable[[Values], np.ndarray], np.ndarray], ...]:
        """Its readings, each with its codes in the sample."""
        return remembered(_read_in, self.column, sample=self.sample) if self.has_parts else ()

    def read(self, reading: Callable[[Values], np.ndarray]) -> np.ndarray:
        """The codes of a reading in all records."""
        records = np.bincount(self.codes[self.codes >= 0], minlength=len(self.values))
        return np.append(reading(Values(self.values, records)), -1)[self.codes]

    def whole(self) -> Iterator[np.ndarray]:
        """The column as it is, and with its gaps as a value: births are asked of women only."""
        yield self.codes
        if (self.codes < 0).any():
            yield np.where(self.codes < 0, self.codes.max() + 1, self.codes)

    def forget(self) -> None:
        """Drop what the readings of its values took."""
        self.__dict__.pop("in_sample", None)

    def guesses(self, target: Target, evidence: float) -> list[Guess]:
        """Guesses of a target by the column as it is, without and with its gaps, and by the part of most evidence."""
        known = [guess for codes in self.whole() if (guess := target.guess(codes, evidence)) is not None]
        if self.is_read and all(guess.removed < 1 for guess in known):
            sample = target.rows(self.sample)
            tried = [(sample.evidence(part), -place) for place, (_, part) in enumerate(self.in_sample)]
            most, place = max(tried, default=(0.0, 0))
            if most > 0 and (guess := target.guess(self.read(self.in_sample[-place][0]), evidence)) is not None:
                known.append(guess)
        return known

    def best_guess(self, target: Target, evidence: float) -> Guess | None:
        """The one of these guesses that tells most."""
        return _best(self.guesses(target, evidence))


def _read_in(column: pd.Series, *, sample: np.ndarray) -> tuple[tuple[Callable[[Values], np.ndarray], np.ndarray], ...]:
    """The readings of a column that tell some of its values apart, each with its codes in the sample."""
    known = coded(column)
    codes, kept = known.codes[sample].astype(np.int64), []
    used, number = np.unique(codes[codes >= 0], return_inverse=True)
    if len(used) < 3:
        return ()
    values = Values(known.values[used], np.bincount(number))
    for reading in readings(values):
        part = reading(values)
        if 1 < (different := int(part.max()) + 1) < len(used) or different > 1 and (part < 0).any():
            whole = np.full(len(codes), -1, dtype=np.int64)
            whole[codes >= 0] = part[number]
            kept.append((reading, whole))
    return tuple(kept)


def _most_pairs(n: int, others: int, columns: int) -> int:
    """Pairs of columns that are tried: of all, or of `others` that are no keys, those with a key first."""
    return min(_pairs(others, columns), _MOST_PAIRS, max(_MOST_CELLS // n, columns))


def _pairs(others: int, columns: int) -> int:
    return others * (columns - others) + comb(others, 2)


def untried(protection: Chain) -> tuple[int, int]:
    """Pairs of columns that `exposed_by_columns` leaves out, and columns that it reads as they are only."""
    released = protection.released_columns
    others, columns = len({*released} - {*protection.spec.key_variables}), len(released)
    left = _pairs(others, columns) - _most_pairs(len(protection.original), others, columns)
    return left, max(others - _MOST_READ, 0)


def _best(guesses: Iterable[Guess | None]) -> Guess | None:
    """The guess that tells most, if there is one."""
    return max(filter(None, guesses), key=lambda guess: guess.gained, default=None)


class _Search:
    """A search for dependences between the columns and keys of a protection, which it codes once."""

    def __init__(self, protection: Chain, places: pd.Series | None = None):
        spec, original, released = protection.spec, protection.original, protection.aligned
        if places is not None:
            released = released[[name for name in spec.key_variables if name in released]].assign(**{_PLACE: places})
        self.keys, self.n, self.protection, self.released = spec.key_variables, len(original), protection, released
        self.home = None if protection.units is None else distinct(original[protection.units])[0]
        self.person = protection.person
        self.sample = np.arange(0, self.n, -(-self.n // _SAMPLE))
        self.columns = {name: _Column(column, self.sample) for name, column in named_columns(released)}
        self.true = {name: coded(original[name]).codes.astype(np.int64) for name in self.keys}
        self.kept = {name: np.zeros(self.n, dtype=bool) for name in self.keys}
        self.kept |= {name: same_values(original[name], released[name]) for name in self.keys if name in released}
        self._given_of: dict[tuple[str, ...], tuple[list[np.ndarray], list[np.ndarray], np.ndarray]] = {}
        self._spelt: dict[str, tuple[Spelling, Target]] = {}
        self._seen_of: dict[tuple[str, ...], list[np.ndarray]] = {}
        self._released_without: dict[frozenset[str], np.ndarray] = {}
        self._parts_of: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self.others = [name for name in self.columns if name not in self.keys]
        self.most_pairs = _most_pairs(self.n, len(self.others), len(self.columns))
        for name in self.others[_MOST_READ:]:
            self.columns[name].has_parts = False

    def exposed(self, k: int) -> tuple[list[tuple[_Dependence, float]], int]:
        """The dependences, each with the records that it brings below k, and the records that all of them do."""
        counted, exposed = list[tuple[_Dependence, float]](), self.by_unit(np.zeros(self.n))
        for dependence in self.dependences(k):
            below = self.by_unit(dependence.guess.weights * self.below(k, [dependence]))
            pair = len(dependence.columns) + len(dependence.keys) > 2
            if pair and (below - exposed).clip(0).sum() < 1 - _LITTLE:
                continue
            counted.append((dependence, float(below.sum())))
            exposed = np.maximum(exposed, below)
        best = sorted((dependence for dependence, _ in counted), key=lambda dependence: -dependence.guess.removed)
        for number in range(2, min(len(best), _TOGETHER) + 1):
            weights = np.min([dependence.guess.weights for dependence in best[:number]], axis=0)
            exposed = np.maximum(exposed, self.by_unit(weights * self.below(k, best[:number])))
        return counted, _whole(exposed.sum())

    def hidden(self, keys: Sequence[str]) -> np.ndarray:
        """Records in which one of the keys is not as it came."""
        return np.any([(self.true[name] >= 0) & ~self.kept[name] for name in keys], axis=0)

    def dependences(self, k: int) -> Iterator[_Dependence]:
        """Dependences of single columns, then of columns on two keys, then of pairs of columns on a key."""
        hidden = [name for name in self.keys if self.hidden([name]).any()]
        two = [keys for keys in combinations(self.keys, 2) if {*keys} & {*hidden}]
        tries = sum(self.columns[name].tries for name in self.others) * 2 * len(hidden)
        numbers = numbers_of_columns(self.released[self.others])
        tries += (self.most_pairs + 2 * comb(len(numbers), 2)) * len(hidden)
        tries += sum(1 + int((self.columns[name].codes < 0).any()) for name in self.others) * len(two)
        self.evidence = _EVIDENCE + log(max(tries, 1))
        targets = {
            key: Target(self._in_parts(self.true[key]), self.hidden([key]), self.seen((key,)), self.home)
            for key in hidden
        }
        complete: set[tuple[str, str, str]] = set()  # columns and keys of which one tells all of the other
        for name in self.others:
            for key in hidden:
                guesses = self.columns[name].guesses(targets[key], self.evidence)
                known = [self._told((name,), key, targets[key], guess) for guess in guesses]
                if all(guess.removed < 1 for guess in guesses):
                    known += [*self._following(name, (key,)), *self._spelt_out(name, key, len(hidden))]
                if known:
                    best = known[0]
                    if len(known) > 1:
                        best = max(known, key=lambda other: other.guess.weights[self.below(k, [other])].sum())
                    complete |= {(name, key, best.direction)} if best.guess.removed == 1 else set()
                    yield best
            self.columns[name].forget()
        for names, codes in sums_along([self.protection.original[key] for key in hidden], numbers, self.sample):
            for key in hidden:
                if not any((name, key, "tells") in complete for name in names):
                    members = [self.columns[name].codes for name in names]
                    if (guess := targets[key].guess(codes, self.evidence, members)) is not None:
                        yield self._told(names, key, targets[key], guess)
        for keys in two:
            for name in self.others:
                if not any((name, key, "follows") in complete for key in keys):
                    yield from self._following(name, keys)
        beside_keys = ((name, key) for name in self.others for key in self.keys if key in self.columns)
        for names in islice(chain(beside_keys, combinations(self.others, 2)), self.most_pairs):
            own = self.protection.state.truth.perturbed.intersection(names)
            complete_of = {key for name in names for key in hidden if (name, key, "tells") in complete}
            yield from self._told_together(names, {key: targets[key] for key in hidden if key not in own | complete_of})

    def _given(self, keys: tuple[str, ...]) -> tuple[list[np.ndarray], list[np.ndarray], np.ndarray]:
        """The true keys, the ways in which they guess others together, and the records in which one is hidden."""
        if keys not in self._given_of:
            known = [self.true[key] for key in keys]
            ways = self._by_order(known[0] if len(keys) == 1 else joint(*known))
            self._given_of[keys] = known, ways, self.hidden(keys)
        return self._given_of[keys]

    def seen(self, keys: tuple[str, ...]) -> list[np.ndarray]:
        """What is released of hidden keys (a band, or nothing), alone and beside each other key."""
        if keys not in self._seen_of:
            alone = np.zeros(self.n, dtype=np.int64)
            for key in keys:
                if key in self.columns and key not in self.protection.state.truth.perturbed:
                    alone = joint(alone, np.where(self.kept[key], -1, self.columns[key].codes))
            others = [name for name in self.keys if name in self.columns and name not in keys]
            self._seen_of[keys] = [alone, *(joint(alone, self.columns[name].codes) for name in others)]
        return self._seen_of[keys]

    def _told(self, columns: tuple[str, ...], key: str, target: Target, guess: Guess) -> _Dependence:
        shown = np.where(self.kept[key], target.codes, guess.values)
        return _Dependence(columns, (key,), "tells", guess, target.codes, shown)

    def _spelt_out(self, name: str, key: str, keys: int) -> Iterator[_Dependence]:
        """A key that cells of the column spell out, be they few."""
        if key not in self._spelt:
            target = Target(self.true[key], self.hidden([key]), self.seen((key,)), self.home)
            self._spelt[key] = Spelling(self.protection.original[key]), target
        (spelling, target), column = self._spelt[key], self.columns[name]
        written = spelling.written(column.codes, column.values)
        if (guess := guess_written(written, target, keys * len(self.others))) is not None:
            yield self._told((name,), key, target, guess)

    def _told_together(self, names: tuple[str, ...], targets: Mapping[str, Target]) -> Iterator[_Dependence]:
        """Keys that two columns tell, more than each of them alone; one may be what is released of the key itself."""
        codes, members = zip(*((self.columns[name].codes, self.columns[name].codes_in_sample) for name in names))
        together, ways = joint(*members), None
        for key, target in targets.items():
            if self.n > len(self.sample):
                in_sample = target.rows(self.sample)
                if any(in_sample.evidence(together, seen) <= 0 for seen in (None, *members)):
                    continue
            ways = ways or self._by_order(joint(*codes))
            if (guess := _best(target.guess(by, self.evidence, codes) for by in ways)) is not None:
                yield self._told(names, key, target, guess)

    def _following(self, name: str, keys: tuple[str, ...]) -> Iterator[_Dependence]:
        """A column that one key or two guess, or the part of it that the sample prefers: it narrows a hidden key."""
        known, ways, hidden = self._given(keys)
        kept, seen = np.all([self.kept[key] for key in keys], axis=0), self.seen(keys)
        column, members = self.columns[name], known if len(keys) > 1 else ()

        def guessed(codes: np.ndarray) -> Iterator[_Dependence]:
            target = Target(codes, hidden, seen, self.home)
            guesses = (target.guess(by, self.evidence, members) for by in ways)
            if (guess := _best(guesses)) is not None:
                yield _Dependence((name,), keys, "follows", guess, guess.values, np.where(kept, guess.values, codes))

        whole, gaps = [*guessed(self._in_parts(column.codes))], column.codes < 0
        yield from whole
        if gaps.any():  # a question that is asked from an age on
            yield from guessed(gaps.astype(np.int64))
        if len(keys) > 1 or any(dependence.guess.removed == 1 for dependence in whole):
            return
        rows, best = self.sample, (0.0, 0)
        for place, (_, part) in enumerate(column.in_sample):
            if part.max() < _MOST_VALUES:
                sample = Target(part, hidden[rows], [seen[0][rows]], None if self.home is None else self.home[rows])
                best = max(best, *((sample.evidence(by[rows]), -place) for by in ways))
        if best[0] > 0:
            yield from guessed(column.read(column.in_sample[-best[1]][0]))

    def by_unit(self, of_record: np.ndarray) -> np.ndarray:
        """Numbers of records, or of persons where there are: the largest of their records'."""
        if self.person is None:
            return of_record
        largest = np.zeros(int(self.person.max()) + 1)
        np.maximum.at(largest, self.person, of_record)
        return largest

    def below(self, k: int, dependences: Sequence[_Dependence]) -> np.ndarray:
        """Records with k alike by the released keys and fewer by what the columns tell beside them."""
        true, shown = (stacked([getattr(d, side) for d in dependences]) for side in ("true", "shown"))
        agrees = ((true == shown) | (shown < 0)).all(axis=1)
        # The released value of a perturbed key is not believed where a column tells the true one.
        keys = frozenset(name for dependence in dependences for name in dependence.keys)
        codes = self._released_keys(keys & self.protection.state.truth.perturbed)
        asked, person = agrees & (self._alike >= k), self.person

        def fewer() -> np.ndarray:
            known, released = (stacked([*codes.T, *side.T]) for side in (true, shown))
            if person is not None:
                return asked & (met_by(known, released, person) < k)
            # Only those are looked for of which not even the equal ones are enough.
            alike, _ = distinct_rows(codes)
            group, _ = distinct_rows(np.concatenate([np.column_stack([alike, side]) for side in (true, shown)]))
            equal = np.bincount(group[self.n :], minlength=int(group.max()) + 1)
            rest = asked & (equal[group[: self.n]] < k)
            rest[rest] = met_by(known[rest], released) < k
            return rest

        return remembered_rows(f"below {k}", fewer, codes, true, shown, asked, person)

    @cached_property
    def _alike(self) -> np.ndarray:
        """For each record those with the same released keys, or the persons of these."""
        codes = self._released_keys(frozenset())
        return met_by(codes, codes, self.person)

    def _released_keys(self, without: frozenset[str]) -> np.ndarray:
        """Codes of the released keys, -1 for a value that may be any."""
        if without not in self._released_without:
            codes = [self.columns[name].codes for name in self.keys if name in self.columns and name not in without]
            if self.protection.spec.missing != "wildcard":
                codes = [np.where(code < 0, code.max() + 1, code) for code in codes]
            self._released_without[without] = stacked([np.zeros(self.n, dtype=np.int64), *codes])
        return self._released_without[without]

    def _of_own(self, code: np.ndarray) -> bool:
        """Whether most persons, or most households where members share it, have a value of their own."""
        values, known = int(code.max()) + 1, code >= 0
        if self.home is None:
            return values > int(known.sum()) / 2
        if values <= np.count_nonzero(np.bincount(self.home[known] + 1)) / 2:
            return False
        return values > len(distinct_rows(np.column_stack([code, self.home])[known])[1]) / 2

    def _by_order(self, code: np.ndarray) -> list[np.ndarray]:
        """A variable to guess others by; where most values stand once, so many neighbours in their order are one."""
        return [np.where(code < 0, -1, code // width) for width in _NEIGHBOURS] if self._of_own(code) else [code]

    def _in_parts(self, code: np.ndarray) -> np.ndarray:
        """A variable to be guessed; where most values stand once, in parts of equal size."""
        if id(code) not in self._parts_of:
            parts = np.where(code < 0, -1, code * _PARTS // (int(code.max()) + 1)) if self._of_own(code) else code
            self._parts_of[id(code)] = code, parts  # a column is kept, so that no other takes its place
        return self._parts_of[id(code)][1]


def dependent_columns(protection: Chain) -> pd.DataFrame:
    """Released columns whose values tell the original value of a key that was changed, suppressed or removed.

    Returns
    -------
    DataFrame
        One row a pair: ``variable`` (a key, or the household where its identifier is removed); ``column``, its ``role``
        and ``distinct_values``; ``cells`` of the variable that are not as they came; ``told`` (those that the best
        guess by the column gets right, beyond what guessing without it gets; see `exposed_by_columns`).

    Notes
    -----
    An intruder who knows which value goes with which undoes the protection. Each column is tested alone, as it is and
    by its parts; members of one household with the same values count once.

    Examples
    --------
    >>> frame = pd.DataFrame({"region": [*"NNSSWW"] * 36, "town": [1, 2, 3, 4, 5, 6] * 36})
    >>> groups = {"variable": "region", "groups": {"N or S": ["N", "S"], "W": ["W"]}}
    >>> chain = kanon_lab.protect(frame, ["region"]).apply("recode", groups)
    >>> kanon_lab.recipes.dependent_columns(chain)[["column", "cells", "told"]]
      column  cells  told
    0   town    144   144
    """
    spec, original, search = protection.spec, protection.original, _Search(protection)
    released, household = protection.aligned, spec.household
    hidden = [household] if household is not None and household not in released else []
    perturbed = [name for name in released if name in protection.state.truth.perturbed]
    columns = {name: column for name, column in search.columns.items() if name != household}
    variables, rows = [*dict.fromkeys([*spec.key_variables, *perturbed, *hidden])], []
    evidence = _EVIDENCE + log(max(len(variables) * sum(column.tries for column in columns.values()), 1))
    for variable in variables:
        code = coded(original[variable]).codes.astype(np.int64)
        lost = code >= 0
        if variable in released:
            lost &= ~same_values(original[variable], released[variable])
        seen = search.seen((variable,)) if variable in spec.key_variables else [np.zeros(search.n, dtype=np.int64)]
        target = Target(code, lost, seen, None if variable == household else search.home)
        for name in [name for name in columns if name != variable and lost.any()]:
            guess = columns[name].best_guess(target, evidence)
            if guess is not None and _whole(guess.gained):
                counts = len(columns[name].values), int(lost.sum()), _whole(guess.gained)
                rows.append((variable, name, role_of(name, protection), *counts))
    return pd.DataFrame(rows, columns=["variable", "column", "role", "distinct_values", "cells", "told"])
