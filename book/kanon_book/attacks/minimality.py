"""Minimality attacks: what an intruder concludes from a suppressed cell who knows the algorithm that suppressed it.

A value is suppressed only where it had to be. So values with which the record would have kept the cell, or lost
another one, can be ruled out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pandas as pd

from kanon_lab.arguments import check_whole
from kanon_lab.classes import class_table
from kanon_lab.columns import distinct_rows, strata_codes
from kanon_lab.errors import DataError, OptionError, about, shortened
from kanon_lab.methods.suppression import check_policy, importance_ranks, protection_claims
from kanon_lab.methods.suppression_of_classes import equal_records, sets_by_cost
from kanon_lab.methods.suppression_search import suppressed_parts, tiers_of
from kanon_lab.roles import KeySpec, as_spec, check_k, check_seed

#: What the intruder knows -> in words.
KNOWS = {
    "release": "the release, and which values each key may have",
    "recipe": "the release and the recipe",
    "totals": "the release, the recipe, and how many records of the original file have each value of a key",
}
# Completed keys that are held at a time, at most.
_MOST = 5_000_000
# Rounds in which guesses are fitted to known totals.
_ROUNDS = 50
# The weight of a value that the recipe rules out: where it rules out all values, they are equally likely again.
_RULED_OUT = 1e-12


@dataclass(frozen=True)
class _Suppressed:
    """The patterns of released keys with suppressed cells, and all keys that may stand behind each."""

    shown: np.ndarray  # (records, keys + 1) Released codes, -1 where suppressed or missing; the last is the stratum
    hidden: np.ndarray  # (records, keys) Whether the cell was suppressed
    true: np.ndarray  # (records, keys) Original codes
    sizes: np.ndarray  # (keys,) Number of values
    group: np.ndarray  # The pattern of each record with a suppressed cell
    gone: np.ndarray  # (patterns, keys) Whether the cell was suppressed
    pattern: np.ndarray  # (candidates,) The pattern of each candidate
    keys: np.ndarray  # (candidates, keys + 1) The codes of each candidate

    @classmethod
    def of(cls, true: np.ndarray, hidden: np.ndarray, stratum: np.ndarray, sizes: np.ndarray) -> _Suppressed:
        shown = np.column_stack([np.where(hidden, -1, true), stratum])
        touched = np.flatnonzero(hidden.any(axis=1))
        group, some = distinct_rows(np.column_stack([shown, hidden])[touched])
        gone = hidden[touched[some]]
        number = np.where(gone, sizes, 1).prod(axis=1, dtype=float)
        if number.sum() > _MOST:
            raise DataError(f"more than {_MOST:,} keys may stand behind its suppressed cells; recode the keys first")
        number = number.astype(np.int64)
        pattern = np.repeat(np.arange(len(some)), number)
        place = np.arange(len(pattern)) - np.repeat(np.cumsum(number) - number, number)
        keys = shown[touched[some]][pattern]
        for column, size in enumerate(sizes):
            rows = gone[pattern, column]
            keys[rows, column] = place[rows] % size
            place[rows] //= size
        return cls(shown, hidden, true, sizes, group, gone, pattern, keys)

    def ruled_out(self, k: int, ranks: list[int], missing: str, drawn: bool) -> np.ndarray:
        """Whether the recipe rules out each candidate: a cheaper suppression, or none, would have done."""
        tiers = tiers_of(range(len(self.sizes)), ranks, [*self.sizes])
        whole = self.shown[~self.hidden.any(axis=1)]
        out = np.zeros(len(self.keys), dtype=bool)
        for rows, cheaper in self._cheaper(tiers, drawn):
            for columns in cheaper:
                keys = _without(self.keys[rows], columns)
                if not columns:
                    out[rows] |= _equal(keys, whole) > 0
                elif missing == "category":  # it would have joined the records that lost these keys
                    out[rows] |= _equal(keys, self.shown) > 0
                elif len(columns) == 1:  # with itself, enough records would be compatible
                    out[rows] |= _equal(keys, _without(whole, columns)) >= k - 1
        return out

    def _cheaper(self, tiers: list[np.ndarray], drawn: bool) -> Iterable[tuple[np.ndarray, list[list[int]]]]:
        """Candidates whose patterns lost the same keys, and the sets of keys that were tried before that set."""
        every = [[], *map(sorted, sets_by_cost(tiers, 4096))]
        cost = [[len({*columns} & {*tier}) for tier in tiers] for columns in every]
        lost, some = distinct_rows(self.gone.astype(np.int64))
        for number, gone in enumerate(self.gone[some]):
            own = every.index([*np.flatnonzero(gone)])  # of more than 12 keys, some sets are not tried
            cheaper = [columns for columns, price in zip(every[:own], cost) if not drawn or price != cost[own]]
            yield np.flatnonzero(lost[self.pattern] == number), cheaper

    def fitted(self, weights: np.ndarray, totals: bool) -> np.ndarray:
        """Candidates' weights, which add to the records of a pattern; with `totals` also to those of hidden values."""
        records = np.bincount(self.group)
        weights = self._to_records(weights, records)
        for _ in range(_ROUNDS if totals else 0):
            for column, size in enumerate(self.sizes):
                rows = np.flatnonzero(self.gone[self.pattern, column])
                codes = self.keys[rows, column]
                wanted = np.bincount(self.true[self.hidden[:, column], column], minlength=size)
                now = np.bincount(codes, weights[rows], size)
                weights[rows] *= np.divide(wanted, now, out=np.zeros(size), where=now > 0)[codes]
            weights = self._to_records(weights, records)
        return weights

    def _to_records(self, weights: np.ndarray, records: np.ndarray) -> np.ndarray:
        weights = np.maximum(weights, np.finfo(float).tiny * 1e20)
        return weights * (records / np.bincount(self.pattern, weights, len(records)))[self.pattern]

    def likelihood(self, column: int, weights: np.ndarray) -> np.ndarray:
        """For each suppressed cell of a column the weight of each value."""
        rows = self.gone[self.pattern, column]
        place = self.pattern[rows] * self.sizes[column] + self.keys[rows, column]
        by_value = np.bincount(place, weights[rows], len(self.gone) * self.sizes[column])
        return by_value.reshape(len(self.gone), -1)[self.group[self.hidden[self.hidden.any(axis=1), column]]]


def _without(keys: np.ndarray, columns: list[int]) -> np.ndarray:
    keys = keys.copy()
    keys[:, columns] = -1
    return keys


def _equal(keys: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """How many rows equal each key."""
    return equal_records(keys, rows, np.ones(len(rows), dtype=np.int64))


def _codes(frame: pd.DataFrame, spec: KeySpec) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Codes of the keys and of the stratum of each record, and the number of values of each key."""
    table = class_table(frame, replace(spec, weight=None, missing="category"))
    codes = table.codes[table.class_of_record].astype(np.int64)
    return codes, strata_codes(frame, spec.strata), np.array([len(labels) for labels in table.labels])


def _guessed(spec: KeySpec, likelihoods: list[np.ndarray], true: list[np.ndarray], sizes: np.ndarray) -> pd.DataFrame:
    """The table of an attack: by key the likelihood of each value in each suppressed cell, and the true codes."""
    rows, sums = [], np.zeros(6)
    for name, likelihood, codes, size in zip(spec.key_variables, likelihoods, true, sizes):
        if not len(codes):
            continue
        most = likelihood.max(axis=1, keepdims=True)
        best = likelihood >= most * (1 - 1e-9)
        left = np.where(most > 0, likelihood > most * 1e-6, True).sum(axis=1)
        right = best[np.arange(len(codes)), codes] / best.sum(axis=1)
        sums_of = (right, left, left < size, left == 1)
        counted = np.array([len(codes), len(codes) / size, *(values.sum() for values in sums_of)])
        rows.append((name, counted))
        sums += counted
    columns = ["variable", "cells", "chance", "right", "candidates", "narrowed", "certain"]
    table = [(name, int(row[0]), *(row[1:] / max(row[0], 1))) for name, row in [*rows, ("all", sums)]]
    return pd.DataFrame(table, columns=columns)


def minimality_attack(
    original: pd.DataFrame,
    released: pd.DataFrame,
    spec: KeySpec | Iterable[str] | str,
    *,
    k_required: int,
    importance: Mapping[str, int] | None = None,
    knows: str = "recipe",
    drawn: bool = False,
) -> pd.DataFrame:
    """How often an intruder guesses a suppressed cell who knows how `kanon_lab.local_suppression` works.

    Parameters
    ----------
    original, released : DataFrame
        The same records in the same order, before and after the suppression. Cells that were missing before are taken
        to be known as such.
    spec : KeySpec or sequence of str
        As in the suppression: the key variables, strata and the policy for missing values are used.
    k_required, importance
        As in the suppression.
    knows : {"release", "recipe", "totals"}
        What the intruder knows, see `kanon_book.attacks.minimality.KNOWS`.
    drawn : bool
        Whether the suppression had a seed, so that the order of equally important keys is unknown.

    Returns
    -------
    DataFrame
        One row a key with suppressed cells, and one for ``all``: ``variable``, ``cells`` (suppressed), ``chance``
        (share guessed right among all values of the key), ``right`` (share that the intruder guesses right; where
        several values are equally likely, one of them is guessed), ``candidates`` (values that are left, on average),
        ``narrowed`` (share of cells for which some value is ruled out, the downcoding of Cohen 2022) and ``certain``
        (share of cells with only one value left). Shares are 0-1.

    Notes
    -----
    A value is ruled out if, with it, the record would be like a complete released record, since that one was not
    suppressed; or if a set of keys that is tried earlier would have been enough. The remaining values are equally
    likely, or as likely as the totals of the hidden values say. An intruder who also uses what the keys have to do with
    each other may guess more. Under ``category`` the last violating records are joined by others, so a true value may
    be ruled out there.

    References
    ----------
    Wong, Fu, Wang and Pei (2007); Cohen (2022).

    Examples
    --------
    >>> before = pd.DataFrame({'sex': list('fffmmm'), 'age': ['old', 'old', 'young', 'old', 'young', 'young']})
    >>> after = kanon_lab.local_suppression(before, ['sex', 'age'], k_required=2).frame
    >>> kanon_book.attacks.minimality_attack(before, after, ['sex', 'age'], k_required=2)
      variable  cells  chance  right  candidates  narrowed  certain
    0      sex      2     0.5    1.0         1.0       1.0      1.0
    1      all      2     0.5    1.0         1.0       1.0      1.0
    """
    spec, k = as_spec(spec), check_k(k_required, "k_required")
    check_policy(spec)
    if knows not in KNOWS:
        raise OptionError(f"knows must be one of {', '.join(KNOWS)}, not {shortened(repr(knows))}")
    protection_claims(original, released, spec, k_required=k)  # refuses what is no suppression of the original
    true, stratum, sizes = _codes(original, spec)
    hidden = np.column_stack([released[name].isna() for name in spec.key_variables]) & (true >= 0)
    if not hidden.any():
        return _guessed(spec, [], [], sizes)
    cells = _Suppressed.of(true, hidden, stratum, sizes)
    weights = np.ones(len(cells.keys))
    if knows != "release":
        out = cells.ruled_out(k, importance_ranks(importance, spec), spec.missing, drawn)
        weights[out] = _RULED_OUT
    weights = cells.fitted(weights, knows == "totals")
    likelihoods = [cells.likelihood(j, weights) for j in range(len(sizes))]
    return _guessed(spec, likelihoods, [true[hidden[:, j], j] for j in range(len(sizes))], sizes)


def rerun_attack(
    original: pd.DataFrame,
    spec: KeySpec | Iterable[str] | str,
    *,
    k_required: int,
    importance: Mapping[str, int] | None = None,
    seed: int | None = None,
    runs: int = 10,
) -> pd.DataFrame:
    """How often an intruder guesses a suppressed cell who knows all but that cell, and runs the suppression again.

    The suppression of the original file is done here. Then, for each suppressed cell, each value of the key is put into
    it and the suppression is run again. A value with which the release comes out differently is ruled out. Under
    ``category`` whole classes move, as where an engine counts them: the full search takes too long to be repeated.

    Parameters
    ----------
    spec, k_required, importance
        As in `kanon_lab.local_suppression`.
    seed : int, optional
        Of the suppression. The intruder does not know it, tries others, and takes the value with which the record most
        often lost the same cells.
    runs : int, 1 or more
        With a seed: how many others the intruder tries for each value.

    Returns
    -------
    DataFrame
        As of `minimality_attack`.

    Examples
    --------
    >>> before = pd.DataFrame({'sex': list('fffmmm'), 'age': ['old', 'old', 'young', 'old', 'young', 'young']})
    >>> kanon_book.attacks.rerun_attack(before, ['sex', 'age'], k_required=2)
      variable  cells  chance  right  candidates  narrowed  certain
    0      sex      2     0.5    1.0         1.0       1.0      1.0
    1      all      2     0.5    1.0         1.0       1.0      1.0
    """
    spec, k, runs = as_spec(spec), check_k(k_required, "k_required"), check_whole(runs, "runs", 1, 1000)
    check_policy(spec)
    with about("the original data"):
        true, stratum, sizes = _codes(original, spec)
    ranks, required = importance_ranks(importance, spec), [([*range(len(sizes))], k)]

    group, some = distinct_rows(np.column_stack([true, stratum]))
    start, records = np.column_stack([true, stratum])[some], np.bincount(group)

    def suppressed(keys: np.ndarray, records: np.ndarray, of_seed: int | None) -> np.ndarray:
        of_key, first = distinct_rows(keys)
        rng = None if of_seed is None else np.random.default_rng(of_seed)
        counts = np.bincount(of_key, records).astype(np.int64)
        parts = suppressed_parts(keys[first], counts, required, ranks, [*sizes], spec.missing, rng, whole=True)
        return parts[1][of_key, :-1]

    shown = suppressed(start, records, seed if seed is None else check_seed(seed))
    others = [None] if seed is None else [seed + 1 + run for run in range(runs)]
    likelihoods, codes = [], []
    for column, size in enumerate(sizes):
        likelihood = np.zeros((len(some), size))
        hidden = (shown[:, column] < 0) & (start[:, column] >= 0)
        for number, value in product(np.flatnonzero(hidden), range(size)):
            trial = start[number].copy()
            trial[column] = value
            left = records - (np.arange(len(start)) == number)
            rows = np.flatnonzero(left)
            keys, left = np.concatenate([start[rows], trial[None]]), np.append(left[rows], 1)
            like = np.concatenate([shown[rows], shown[[number]]])[0 if seed is None else -1 :]
            runs_alike = [(suppressed(keys, left, other)[-len(like) :] == like).all() for other in others]
            likelihood[number, value] = sum(runs_alike)
        likelihoods.append(likelihood[group[hidden[group]]])
        codes.append(true[hidden[group], column])
    return _guessed(spec, likelihoods, codes, sizes)
