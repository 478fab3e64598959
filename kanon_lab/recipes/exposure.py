"""Released columns, other than keys, that reveal a key or values that were suppressed or recoded.

A region goes with its commune, a date of birth with an age, and a weight with a region if it was made by region. An
intruder who knows which value goes with which has one more key than the office counted. Two directions are looked for,
in sets of at most two columns: columns that *tell* a key, and a column that *follows* from keys (a coarser copy of one,
say), so that it narrows a class in which the key is hidden.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import log
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import gammaln

from kanon_lab.classes import class_table
from kanon_lab.columns import coded, distinct, distinct_rows, grouped, named_columns
from kanon_lab.recipes.measured import met_by, same_values
from kanon_lab.recipes.released import role_of
from kanon_lab.recipes.state import Chain
from kanon_lab.roles import KeySpec, check_k

# One column tells another if its values predict the other's, and the prediction misses at most this share of what
# guessing misses ...
_MISSED = 0.05
# (two columns tell what neither tells alone if they miss at most this share of what the better of them misses)
_PART_MISSED = 0.5
# ... and so many repetitions agree that luck explains it less than once in a million times (exp(-14)). The more sets of
# columns are tried, the more must agree.
_EVIDENCE = 14
# A column in which more than half of the records have a value of their own is coarsened: it tells others by pairs of
# neighbours in its order, and is itself told in so many parts of equal size.
_PARTS = 50

#: Columns of `Exposure.columns`.
COLUMNS = ["columns", "role", "direction", "keys", "hidden", "told", "records"]


@dataclass(frozen=True)
class Exposure:
    """Records that fall below k if released columns that are no keys are used to tell keys.

    `columns` has one row a dependence that tells a hidden value: ``columns`` (one or two names, one of them no key) and
    their ``role``; ``direction`` ("tells" if the columns tell the key, "follows" if they follow from it); ``keys`` (one
    or two); ``hidden`` (records in which one of these keys is not as it came); ``told`` (hidden records for which the
    dependence holds); ``records`` (with at least k alike by the keys alone, and fewer than k by the keys and what the
    columns tell). Pairs of columns or keys have a row only if they expose a record that no earlier row exposes.
    `records` counts the records exposed by one of the rows, or by all of them together; it is None for an engine's
    counts, where nothing is looked for.
    """

    k: int
    columns: pd.DataFrame = field(repr=False)
    records: int | None

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that expose records, once, those of most records first."""
        rows = self.columns[self.columns["records"] > 0].sort_values("records", ascending=False, kind="stable")
        return tuple(dict.fromkeys(name for names in rows["columns"] for name in names))


def exposed_by_columns(protection: Chain, k: int) -> Exposure:
    """Count the records that released columns bring below k.

    The attack: an intruder knows the original keys of a target, and which values of a column go with them. Of the
    records with the target's released keys, those whose column says another value drop out. Nothing beyond the key (a
    date of birth beyond an age) is taken as known. A key that is released as it came adds nothing. Missing keys mean
    what the spec says.

    A dependence need not be perfect: see `predicted_by`. Records for which it does not hold mislead, and are not
    counted. Not found are columns that tell only some values of a key, and sets of three columns. Members of one
    household with the same values count once.
    """
    k = check_k(k, "k")
    if protection.state.counts is not None:
        return Exposure(k, pd.DataFrame(columns=COLUMNS), None)
    search = _Search(protection)
    rows, dependences, exposed = [], [], np.zeros(search.n, dtype=bool)
    for dependence in search.dependences():
        columns, keys, direction, true, shown = dependence
        hidden, below = search.hidden(keys), search.below(k, [dependence])
        if len(columns) + len(keys) > 2 and not (below & ~exposed).any():
            continue
        dependences.append(dependence)
        exposed |= below
        role = " and ".join(role_of(name, protection) for name in columns)
        counts = (int(records.sum()) for records in (hidden, hidden & (shown >= 0) & (shown == true), below))
        rows.append((columns, role, direction, keys, *counts))
    if len(dependences) > 1:
        exposed |= search.below(k, dependences)
    return Exposure(k, pd.DataFrame(rows, columns=COLUMNS), int(exposed.sum()))


def columns_as_keys(protection: Chain, k: int) -> pd.DataFrame:
    """Records below k with one more key, for each released column that is no key: ``before`` and ``after``.

    A missing value is a value of its own here.
    """
    k, keys, released = check_k(k, "k"), protection.released_spec.key_variables, protection.aligned
    rows = []
    for name in [name for name in released.columns if name not in keys]:
        spec = KeySpec([*keys, name], missing="category")
        below = [class_table(frame, spec).violations([k])[k] for frame in (protection.original, released)]
        rows.append((name, role_of(name, protection), *below))
    return pd.DataFrame(rows, columns=["column", "role", "before", "after"])


def predicted_by(
    column: np.ndarray, code: np.ndarray, home: np.ndarray | None = None, *, evidence: float = _EVIDENCE
) -> np.ndarray | None:
    """The value of a variable that goes with each record's value of a column; None if the column does not tell it.

    Both are codes from 0 on, -1 where missing. The column tells the variable if it misses at most 5% of what guessing
    misses, and if enough repetitions of its values agree: either `evidence` of them, weighted by how often two records
    differ in the variable, or so many that minus the logarithm of the chance of so few misses is at least `evidence`.
    Records of one household (`home`) with equal values of both count once.
    """
    known = (column >= 0) & (code >= 0)
    usual = _Usual.of(column[known], code[known])
    if home is not None and usual.tells(evidence):
        _, once = distinct_rows(np.column_stack([column, code, home])[known])
        usual = _Usual.of(column[known][once], code[known][once])
    if not usual.tells(evidence):
        return None
    of_column = np.full(int(column.max()) + 2, -1)
    of_column[usual.values] = usual.codes
    return of_column[column]


@dataclass(frozen=True)
class _Usual:
    """Values of a column, each with the code that goes with it most often."""

    values: np.ndarray
    codes: np.ndarray
    expected: float  # misses of one who guesses in every repetition
    missed: int
    unlikely: float  # minus the logarithm of a bound of the chance of so few misses

    @classmethod
    def of(cls, column: np.ndarray, code: np.ndarray) -> _Usual:
        if not len(column):
            return cls(column, code, 0.0, 0, 0.0)
        m = int(code.max()) + 1
        pair, pairs = grouped(column.astype(np.int64) * m + code, (int(column.max()) + 1) * m)
        times, (first, second) = np.bincount(pair, minlength=len(pairs)), np.divmod(pairs, m)
        order = np.lexsort((times, first))
        last = order[np.append(np.flatnonzero(np.diff(first[order])), len(order) - 1)]
        counts, n = np.bincount(code), len(code)
        differ, missed = 1 - float(((counts / n) ** 2).sum()), n - int(times[last].sum())
        # Of all orders of the codes, those with so few misses: a code for each value, and the places that miss.
        orders = gammaln(n + 1) - gammaln(counts + 1).sum()
        few = (len(last) + missed) * log(m) + gammaln(n + 1) - gammaln(missed + 1) - gammaln(n - missed + 1)
        return cls(first[last], second[last], (n - len(last)) * differ, missed, float(orders - few))

    def tells(self, evidence: float) -> bool:
        return max(self.expected, self.unlikely) >= evidence and self.missed <= _MISSED * self.expected

    @property
    def share(self) -> float:
        """What is missed, as a part of what guessing misses."""
        return self.missed / self.expected if self.expected else 1.0


def _codes(column: pd.Series) -> np.ndarray:
    return coded(column).codes.astype(np.int64)


class _Dependence(NamedTuple):
    """Columns that tell a key, or follow from keys; the codes that go with each record's true and shown values."""

    columns: tuple[str, ...]
    keys: tuple[str, ...]
    direction: str
    true: np.ndarray
    shown: np.ndarray


class _Search:
    """A search for dependences between the columns and keys of a protection, which it codes once."""

    def __init__(self, protection: Chain):
        spec, original, released = protection.spec, protection.original, protection.aligned
        self.keys, self.n, self.protection = spec.key_variables, len(original), protection
        self.home = None if spec.household is None else _codes(original[spec.household])
        self.columns = {name: _codes(column) for name, column in named_columns(released)}
        self.true = {name: _codes(original[name]) for name in self.keys}
        self.kept = {name: np.zeros(self.n, dtype=bool) for name in self.keys}
        self.kept |= {name: same_values(original[name], released[name]) for name in self.keys if name in released}

    def hidden(self, keys: Sequence[str]) -> np.ndarray:
        """Records in which one of the keys is not as it came."""
        return np.any([(self.true[name] >= 0) & ~self.kept[name] for name in keys], axis=0)

    def dependences(self) -> Iterator[_Dependence]:
        """All dependences; of two columns or two keys only if they miss much less than either of them alone."""
        hidden = [name for name in self.keys if self.hidden([name]).any()]
        others = [name for name in self.columns if name not in self.keys]
        single: list[tuple[str, ...]] = [(name,) for name in others]
        pairs: list[tuple[str, ...]] = [pair for pair in combinations(self.columns, 2) if not {*pair} <= {*self.keys}]
        of_keys = [keys for size in (1, 2) for keys in combinations(self.keys, size) if {*keys} & {*hidden}]
        self.evidence = _EVIDENCE + log(max(len(single + pairs) * len(hidden) + len(of_keys) * len(others), 1))
        self.telling: set[tuple[str, str]] = set()  # single columns, each with a key that it tells
        yield from self._columns_that_tell(single, hidden)
        yield from self._columns_that_follow(others, of_keys)
        yield from self._columns_that_tell(pairs, hidden)

    def _columns_that_tell(self, sets: list[tuple[str, ...]], hidden: list[str]) -> Iterator[_Dependence]:
        """Columns that tell the original of a key that is not as it came."""
        targets = {key: self._in_parts(self.true[key]) for key in hidden}
        for columns in sets:
            codes = [self.columns[name] for name in columns]
            known = {key for name, key in self.telling if name in columns}
            keys = [key for key in hidden if key not in columns and key not in known]
            joint: Any = self._by_order(self._joint(codes)) if keys else None
            for key in keys:
                true = targets[key]
                predicted = predicted_by(joint, true, self.home, evidence=self.evidence)
                if predicted is None and (joint < 0).any():  # a missing value may tell: births, of women only
                    gaps_as_value = np.where(joint < 0, joint.max() + 1, joint)
                    predicted = predicted_by(gaps_as_value, true, self.home, evidence=self.evidence)
                if predicted is None or _one_does(joint, codes, true):
                    continue
                if len(columns) == 1:
                    self.telling.add((columns[0], key))
                if (predicted == true)[self.hidden([key]) & (true >= 0)].any():
                    yield _Dependence(columns, (key,), "tells", true, np.where(self.kept[key], true, predicted))

    def _columns_that_follow(self, others: list[str], of_keys: list[tuple[str, ...]]) -> Iterator[_Dependence]:
        """Columns that one key or two tell: where the key is hidden, the column narrows it.

        A column that tells the key itself is left out, except with a second key, which it may narrow.
        """
        shown = {name: self._in_parts(self.columns[name]) for name in others}
        following: set[tuple[str, str]] = set()
        for keys in of_keys:
            codes = [self.true[name] for name in keys]
            joint, kept = self._by_order(self._joint(codes)), np.all([self.kept[name] for name in keys], axis=0)
            for name in others:
                if (name, *keys) in self.telling or any((key, name) in following for key in keys):
                    continue
                true = predicted_by(joint, shown[name], self.home, evidence=self.evidence)
                if true is None or _one_does(joint, codes, shown[name]):
                    continue
                if len(keys) == 1:
                    following.add((keys[0], name))
                yield _Dependence((name,), keys, "follows", true, np.where(kept, true, shown[name]))

    def below(self, k: int, dependences: Sequence[_Dependence]) -> np.ndarray:
        """Records with k alike by the released keys and fewer by what the columns tell beside them."""
        true, shown = (np.column_stack([getattr(d, side) for d in dependences]) for side in ("true", "shown"))
        agrees = ((true == shown) | (shown < 0)).all(axis=1)
        # The released value of a perturbed key is not believed where a column tells the true one.
        keys = {name for dependence in dependences for name in dependence.keys}
        codes = self._released_keys(keys & self.protection.state.truth.perturbed)
        left = met_by(np.column_stack([codes, true]), np.column_stack([codes, shown]))
        return agrees & (self._alike >= k) & (left < k)

    @cached_property
    def _alike(self) -> np.ndarray:
        """For each record those with the same released keys."""
        codes = self._released_keys(())
        return met_by(codes, codes)

    def _released_keys(self, without: Container[str]) -> np.ndarray:
        """Codes of the released keys, -1 for a value that may be any."""
        codes = [self.columns[name] for name in self.keys if name in self.columns and name not in without]
        if self.protection.spec.missing != "wildcard":
            codes = [np.where(code < 0, code.max() + 1, code) for code in codes]
        return np.column_stack([np.zeros(self.n, dtype=np.int64), *codes])

    def _joint(self, codes: list[np.ndarray]) -> np.ndarray:
        """Codes of several columns as one, -1 where one of them is missing."""
        if len(codes) == 1:
            return codes[0]
        width = int(codes[1].max()) + 2
        group, _ = grouped((codes[0] + 1) * width + codes[1] + 1, (int(codes[0].max()) + 2) * width)
        return np.where((codes[0] < 0) | (codes[1] < 0), -1, group)

    def _of_own(self, code: np.ndarray) -> bool:
        """Whether most persons, or most households where members share it, have a value of their own."""
        values, known = int(code.max()) + 1, code >= 0
        if self.home is None:
            return values > int(known.sum()) / 2
        if values <= len(np.unique(self.home[known])) / 2:
            return False
        return values > len(distinct_rows(np.column_stack([code, self.home])[known])[1]) / 2

    def _by_order(self, code: np.ndarray) -> np.ndarray:
        """A column to tell others by; where most values stand once, neighbours in their order are one value."""
        return np.where(code < 0, -1, code // 2) if self._of_own(code) else code

    def _in_parts(self, code: np.ndarray) -> np.ndarray:
        """A variable to be told; where most values stand once, in parts of equal size."""
        return np.where(code < 0, -1, code * _PARTS // (int(code.max()) + 1)) if self._of_own(code) else code


def _one_does(joint: np.ndarray, columns: Sequence[np.ndarray], code: np.ndarray) -> bool:
    """Whether two columns miss nearly what one of them misses alone, so that the other adds nothing."""
    if len(columns) == 1:
        return False
    known = (joint >= 0) & (code >= 0)
    missed, *alone = (_Usual.of(column[known], code[known]).share for column in (joint, *columns))
    return missed > _PART_MISSED * min(alone)


def dependent_columns(protection: Chain) -> pd.DataFrame:
    """Released columns whose values tell the original value of a key that was changed, suppressed or removed.

    Returns
    -------
    DataFrame
        One row a pair: ``variable`` (a key, or the household where its identifier is removed); ``column``, its ``role``
        and ``distinct_values``; ``cells`` of the variable that are not as they came; ``told`` (those whose original
        value goes with the column's value).

    Notes
    -----
    An intruder who knows which value goes with which undoes the protection. Each column is tested alone; members of one
    household with the same values count once.

    Examples
    --------
    >>> frame = pd.DataFrame({"region": [*"NNSSWW"] * 9, "town": [1, 2, 3, 4, 5, 6] * 9})
    >>> groups = {"variable": "region", "groups": {"N or S": ["N", "S"], "W": ["W"]}}
    >>> chain = kanon_lab.protect(frame, ["region"]).apply("recode", groups)
    >>> kanon_lab.recipes.dependent_columns(chain)[["column", "cells", "told"]]
      column  cells  told
    0   town     36    36
    """
    spec, original = protection.spec, protection.original
    released = protection.aligned
    home = None if spec.household is None else distinct(original[spec.household])[0]
    columns = {name: distinct(released[name])[0] for name in released.columns if name != spec.household}
    hidden = [spec.household] if spec.household is not None and spec.household not in released else []
    perturbed = [name for name in released if name in protection.state.truth.perturbed]
    rows = []
    for variable in dict.fromkeys([*spec.key_variables, *perturbed, *hidden]):
        code, _ = distinct(original[variable])
        lost = code >= 0
        if variable in released:
            lost &= ~same_values(original[variable], released[variable])
        members = None if variable == spec.household else home
        for name in [name for name in columns if name != variable and lost.any()]:
            usual = predicted_by(columns[name], code, members)
            if usual is not None and (count := int(((usual == code) & lost).sum())):
                different = int(columns[name].max()) + 1
                rows.append((variable, name, role_of(name, protection), different, int(lost.sum()), count))
    return pd.DataFrame(rows, columns=["variable", "column", "role", "distinct_values", "cells", "told"])
