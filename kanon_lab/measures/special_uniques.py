"""Special uniques (SUDA): records that already stand out on a few of their keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import comb, prod
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab.arguments import check_positive
from kanon_lab.classes import ClassTable
from kanon_lab.columns import distinct_rows, grouped, pack
from kanon_lab.errors import OptionError
from kanon_lab.measures.risk import fraction_by_weights
from kanon_lab.roles import check_k, refuse_person

# All subsets of 20 keys; and bytes for what is remembered of subsets.
_MOST_SUBSETS, _MOST_BYTES = 2**20, 2**31


def minimal_uniques(
    codes: np.ndarray, radices: Sequence[int], candidates: np.ndarray, *, max_size: int
) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
    """Yield the sets of keys on which classes are unique, but not on a smaller set within, and these classes.

    `codes` (shape (P, keys), distinct rows) go from 0 to radix - 1, or are -1 where missing, which is compatible with
    any; `candidates` (bool, shape (P,)) are one record each and compatible with no other row. Yields a subset
    (positions of keys, rising) and the candidates that know all its keys, are compatible with no other row on them, and
    are compatible with some on every smaller set of them.

    Every subset comes after the smaller ones within. Rows that are unique on one of those are left out: they are unique
    here too, and change the count of no other row. Adding a key only splits groups further.
    """
    from tqdm import tqdm

    keys = codes.shape[1]
    kept = [sum(comb(keys, fewer) for fewer in range(size)) for size in range(max_size + 2)]  # smaller subsets, by size
    fit = [kept[n + 1] <= _MOST_SUBSETS and kept[n] * (len(codes) // 8 + 1) <= _MOST_BYTES for n in range(max_size + 1)]
    if not fit[max_size]:
        largest = max(size for size in range(1, max_size) if fit[size])
        raise OptionError(
            f"{keys} key variables have too many subsets of up to {max_size} of them: give a max_size of at most "
            f"{largest}, or fewer key variables"
        )
    group, some = distinct_rows((codes < 0).astype(np.int8))
    missing = [sum(1 << int(key) for key in np.flatnonzero(codes[row] < 0)) for row in some]
    incomplete = [(mask, np.flatnonzero(group == i)) for i, mask in enumerate(missing) if mask]
    none = np.zeros(-(-len(codes) // 8), dtype=np.uint8)
    by_key = np.ascontiguousarray(codes.T)
    search = _SearchForUniques(by_key, tuple(radices), candidates, max_size, incomplete, {0: none})
    total = sum(comb(keys, size) for size in range(1, max_size + 1))
    everything = _Node(0, keys, np.arange(len(codes)), np.zeros(len(codes), dtype=np.int64), 1)
    with tqdm(total=total, desc="sets of keys", disable=None, delay=2, leave=False) as bar:
        yield from search.below(everything, bar)


@dataclass(frozen=True)
class _Node:
    """A subset of the keys, and the rows that know all its keys and are not unique on it, with their groups."""

    subset: int  # one bit a key
    lowest: int  # keys below it are still to be added
    rows: np.ndarray
    group: np.ndarray
    groups: int


@dataclass
class _SearchForUniques:
    codes: np.ndarray  # shape (keys, P)
    radices: tuple[int, ...]
    candidates: np.ndarray
    max_size: int
    incomplete: list[tuple[int, np.ndarray]]  # the rows that miss keys, by the keys that they miss
    # Of each subset, as bits, the rows that are unique on it; a subset on which all candidates are is not kept.
    unique: dict[int, np.ndarray]

    def below(self, node: _Node, bar) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
        for key in range(node.lowest):
            subset = node.subset | 1 << key
            # Subsets that are made of this one by adding keys below the last, itself included.
            within = sum(comb(key, more) for more in range(self.max_size - subset.bit_count() + 1))
            before: list[Any] = [self.unique.get(subset ^ 1 << other) for other in _keys(subset)]
            if any(bits is None for bits in before):
                bar.update(within)
                continue
            rows, next_node = self._with_key(node, key, np.bitwise_or.reduce(before))
            if len(rows):
                yield _keys(subset), rows
            bar.update(1 if next_node is not None else within)
            if next_node is not None:
                yield from self.below(next_node, bar)

    def _with_key(self, node: _Node, key: int, unique_before: np.ndarray) -> tuple[np.ndarray, _Node | None]:
        """The rows unique for the first time with one more key, and what is left to be split further."""
        subset = node.subset | 1 << key
        unique = np.unpackbits(unique_before, count=len(self.candidates), bitorder="little").view(bool)
        rest = np.flatnonzero(~unique.take(node.rows))
        rows = node.rows.take(rest)
        values = self.codes[key].take(rows)
        if self.incomplete:
            known = np.flatnonzero(values >= 0)
            rest, rows, values = rest.take(known), rows.take(known), values.take(known)
        group, distinct = grouped(node.group.take(rest) * self.radices[key] + values, node.groups * self.radices[key])
        lonely = (np.bincount(group, minlength=len(distinct)) == 1).take(group)
        new = rows[lonely]
        msus = new[self.candidates[new]]
        if self.incomplete and len(msus):
            met = self._met(subset, msus)
            lonely[np.searchsorted(rows, msus[met])] = False
            new, msus = rows[lonely], msus[~met]
        stay = np.flatnonzero(~lonely)
        left = rows.take(stay)
        if subset.bit_count() == self.max_size or not self.candidates[left].any():
            return msus, None
        unique[new] = True
        self.unique[subset] = np.packbits(unique, bitorder="little")
        return msus, _Node(subset, key, left, group.take(stay), len(distinct))

    def _met(self, subset: int, rows: np.ndarray) -> np.ndarray:
        """Which of the rows, that know all keys of the subset, a row that misses some of them is compatible with."""
        met = np.zeros(len(rows), dtype=bool)
        by_missing: dict[int, list[np.ndarray]] = {}
        for missing, others in self.incomplete:
            if missing & subset:
                by_missing.setdefault(missing & subset, []).append(others)
        for missing, parts in by_missing.items():
            both = np.concatenate([rows[~met], *parts])
            shared = _keys(subset & ~missing)
            if not shared:
                met[:] = True
            if met.all():
                break
            packed, _ = pack([self.codes[key].take(both) for key in shared], [self.radices[key] for key in shared])
            of_rows = int((~met).sum())
            met[~met] = np.isin(packed[:of_rows], packed[of_rows:])
        return met


def _keys(subset: int) -> tuple[int, ...]:
    return tuple(key for key in range(subset.bit_length()) if subset >> key & 1)


# The exponent of a score in its DIS-SUDA form is 1 for 8 keys and falls by this with each more, but stays above 0.
_PER_KEY = 1 / 20
# The sampling fraction without weights.
_GUESS = 0.1


@dataclass(frozen=True)
class Suda:
    """Minimal sample uniques (MSU) of a file, and the scores made of them.

    Attributes
    ----------
    max_size : int
        The most keys in an MSU.
    msus : DataFrame
        One row a set of keys that is an MSU of some record, small sets first: ``variables`` (tuple of str), ``size``,
        ``records``.
    records : DataFrame
        Under the index of the frame: ``score`` (SUDA, 0 or more), ``dis_score`` (DIS-SUDA, 0-1), ``msus`` (their
        number), ``smallest`` (keys in the smallest; 0 without an MSU).
    contributions : DataFrame
        Under the index of the frame, one column a key variable: the share (0-1) of the record's score that comes from
        MSUs with this variable. An MSU counts for each of its variables.
    variables : DataFrame
        One row a key variable: ``variable``, ``contribution`` (the same share of all scores of the file), ``msus``
        (MSUs with this variable, summed over records).
    sampling_fraction : float
        Behind `dis` and the DIS-SUDA scores.
    dis : float
        Data intrusion simulation: the probability that a unique match is right, 0-1; NaN where no record is unique and
        none in a pair.
    """

    max_size: int
    msus: pd.DataFrame = field(repr=False)
    records: pd.DataFrame = field(repr=False)
    contributions: pd.DataFrame = field(repr=False)
    variables: pd.DataFrame = field(repr=False)
    sampling_fraction: float
    dis: float


def suda(table: ClassTable, *, max_size: int | None = None, sampling_fraction: float | None = None) -> Suda:
    """Find the minimal sample uniques of a file and score its records by them.

    A minimal sample unique (MSU) of a record is a set of key variables on which no other record is compatible with it,
    while on every smaller set of them some other is. The fewer variables, and the more such sets, the more likely the
    record is a population unique too.

    Parameters
    ----------
    max_size : int, optional
        The most keys in an MSU, from 1 to the number of keys; by default all. More than 20 keys need it.
    sampling_fraction : float, optional
        Share of the population that is in the sample, above 0 and up to 1. Default: the number of records over the sum
        of their weights, or a guess of 0.1 without weights. SUDA scores do not need it.

    Notes
    -----
    With m keys and M the largest size, an MSU of s keys adds the product of m - i for i from s to the smaller of M and
    m - 1: by default (m - s)!, and 1 for all keys, as in sdcMicro (Elliot, Manning and Ford 2002; Manning, Haglin and
    Keane 2008).

    With U unique records, P records in pairs (f_k = 2) and sampling fraction f, DIS is U f / (U f + P (1 - f)) (Skinner
    and Elliot 2002). A DIS-SUDA score (Elliot and Manning 2003) is 1 / (1 + n (1/DIS - 1) / (s^q A)) for a record with
    score s, where n records have a score, A is the sum of s^-q over them and q = 1 + (8 - m)/20 (at least 1/20): the
    odds of a right match are taken as proportional to s^q, and the harmonic mean of the scores is DIS. This is the
    formula of sdcMicro's program, whose default sampling fraction is 0.01. DIS assumes that each person is in the
    sample independently with the same probability f.

    Under the policy ``wildcard`` an MSU consists of known keys, and a record that misses some of them is compatible;
    for sdcMicro such a record is different.

    Examples
    --------
    >>> from kanon_lab.measures import suda
    >>> frame = pd.DataFrame({"sex": list("ffmm"), "age": [30, 41, 30, 52], "job": list("aaab")})
    >>> suda(kanon_lab.class_table(frame, ["sex", "age", "job"])).msus
        variables  size  records
    0      (age,)     1        2
    1      (job,)     1        1
    2  (sex, age)     2        2
    3  (sex, job)     2        1
    """
    refuse_person(table.spec, "suda")
    max_size = _checked_size(table, max_size)
    by_weights = sampling_fraction is None
    fraction = fraction_by_weights(table) if by_weights else check_positive(sampling_fraction, "sampling_fraction", 1)
    fraction = fraction or _GUESS
    names, of_record = list(table.spec.key_variables), table.class_of_record
    sets, by_key, of_class = _scored(table, max_size)
    score = of_class["score"].to_numpy()
    dis, of_class["dis_score"] = _intrusion(table, score, fraction)
    records = of_class[["score", "dis_score", "msus", "smallest"]].take(of_record).set_axis(table.index)
    shares = by_key / np.where(score > 0, score, 1)
    contributions = pd.DataFrame(shares.T[of_record], index=table.index, columns=names)
    return Suda(max_size, sets, records, contributions, _by_variable(sets, names, max_size), fraction, dis)


def unique_keys(table: ClassTable, *, max_size: int | None = None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The ``variables`` and ``msus`` of `suda`, without any record: the table may be one of counts.

    Examples
    --------
    >>> frame = pd.DataFrame({"sex": list("ffmm"), "age": [30, 41, 30, 52], "job": list("aaab")})
    >>> variables, sets = kanon_lab.measures.unique_keys(kanon_lab.class_table(frame, ["sex", "age", "job"]))
    >>> variables["msus"].tolist(), sets["records"].tolist()
    ([3, 4, 2], [2, 1, 2, 1])
    """
    max_size = _checked_size(table, max_size)
    names = list(table.spec.key_variables)
    sets = _sets({subset: len(rows) for subset, rows in _uniques(table, max_size)}, names)
    return _by_variable(sets, names, max_size), sets


def _checked_size(table: ClassTable, max_size: int | None) -> int:
    keys = len(table.spec.key_variables)
    max_size = keys if max_size is None else check_k(max_size, "max_size")
    if max_size > keys:
        raise OptionError(f"max_size must be at most {keys}, the number of key variables, not {max_size}")
    return max_size


def _uniques(table: ClassTable, max_size: int) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
    radices = [len(labels) + 1 for labels in table.labels]
    return minimal_uniques(table.policy_codes, radices, table.f_k == 1, max_size=max_size)


def _weight(size: int, keys: int, max_size: int) -> int:
    """What a set of so many keys adds to a score."""
    return prod(keys - i for i in range(size, min(max_size, keys - 1) + 1))


def _sets(sizes: dict[tuple[int, ...], int], names: Sequence[str]) -> pd.DataFrame:
    """The sets of keys with the records that are unique on them."""
    subsets = sorted(sizes, key=lambda subset: (len(subset), subset))
    rows = [(tuple(names[key] for key in subset), len(subset), sizes[subset]) for subset in subsets]
    return pd.DataFrame(rows, columns=["variables", "size", "records"])


def _by_variable(sets: pd.DataFrame, names: list[str], max_size: int) -> pd.DataFrame:
    """The part of all scores that sets with a key make, and how many such sets records have."""
    weights = [_weight(size, len(names), max_size) for size in sets["size"]]
    rows = [*zip(sets["variables"], weights, sets["records"], strict=True)]
    whole = sum(weight * records for _, weight, records in rows) or 1
    parts = [sum(weight * records for keys, weight, records in rows if name in keys) / whole for name in names]
    msus = [int(sum(records for keys, _, records in rows if name in keys)) for name in names]
    return pd.DataFrame({"variable": names, "contribution": parts, "msus": msus})


def _scored(table: ClassTable, max_size: int) -> tuple[pd.DataFrame, np.ndarray, pd.DataFrame]:
    """The MSUs (each of single records); the part of each class's score by key, shape (keys, classes); its scores."""
    classes, keys = table.n_classes, len(table.spec.key_variables)
    weights = [_weight(size, keys, max_size) for size in range(keys + 1)]
    score, by_key = np.zeros(classes), np.zeros((keys, classes))
    msus, smallest, sizes = np.zeros(classes, dtype=np.int64), np.full(classes, keys + 1), {}
    for subset, rows in _uniques(table, max_size):
        score[rows] += weights[len(subset)]
        for key in subset:
            by_key[key, rows] += weights[len(subset)]
        msus[rows] += 1
        smallest[rows] = np.minimum(smallest[rows], len(subset))
        sizes[subset] = len(rows)
    of_class = {"score": score, "msus": msus, "smallest": np.where(msus > 0, smallest, 0)}
    return _sets(sizes, table.spec.key_variables), by_key, pd.DataFrame(of_class)


def _intrusion(table: ClassTable, score: np.ndarray, fraction: float) -> tuple[float, np.ndarray]:
    """DIS of the file, and the DIS-SUDA score of each class."""
    uniques, in_pairs = (int(table.records[table.f_k == k].sum()) for k in (1, 2))
    right, wrong = uniques * fraction, in_pairs * (1 - fraction)
    dis = right / (right + wrong) if right + wrong else float("nan")
    scores = np.zeros_like(score)
    has = score > 0
    if has.any():
        powers = score[has] ** max(1 + (8 - len(table.labels)) * _PER_KEY, _PER_KEY)
        scores[has] = 1 / (1 + has.sum() * (1 / dis - 1) / (powers * (1 / powers).sum()))
    return dis, scores
