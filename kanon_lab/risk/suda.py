"""Special uniques (SUDA): records that already stand out on a few of their keys."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

import numpy as np
import pandas as pd

from kanon_lab.arguments import check_positive
from kanon_lab.classes import ClassTable
from kanon_lab.errors import OptionError
from kanon_lab.keys import check_k
from kanon_lab.risk.uniques import minimal_uniques
from kanon_lab.risk.weights import fraction_by_weights

# The exponent of a score in its DIS-SUDA form is 1 for 8 keys and falls by this with each more. It has to stay above 0.
_PER_KEY = 1 / 20
# Where nothing tells the sampling fraction.
_GUESS = 0.1


@dataclass(frozen=True)
class Suda:
    """Minimal sample uniques (MSU) of a file, and the scores made of them.

    Attributes
    ----------
    max_size : int
        The most keys in an MSU that was looked for.
    msus : DataFrame
        One row a set of keys that is an MSU of some record, small sets first: ``variables`` (tuple of str), ``size``,
        ``records``.
    records : DataFrame
        Under the index of the frame: ``score`` (SUDA, 0 or more), ``dis_score`` (DIS-SUDA, 0-1), ``msus`` (their
        number), ``smallest`` (keys in the smallest; 0 without an MSU).
    contributions : DataFrame
        Under the index of the frame, one column a key variable: the share (0-1) of the record's score that comes from
        MSUs with this variable. An MSU counts for each of its variables, so a row adds up to 1 or more; 0 for a record
        without an MSU.
    variables : DataFrame
        One row a key variable: ``variable``, ``contribution`` (the same share of all scores of the file), ``msus``
        (MSUs with this variable, summed over records).
    sampling_fraction : float
        Behind `dis` and the DIS-SUDA scores: as given, or n over the sum of the weights, or 0.1 without weights.
    dis : float
        Data intrusion simulation: the probability that a match is right, given that it is unique, 0-1. Not a number
        where no record is unique and none in a pair.
    """

    max_size: int
    msus: pd.DataFrame = field(repr=False)
    records: pd.DataFrame = field(repr=False)
    contributions: pd.DataFrame = field(repr=False)
    variables: pd.DataFrame = field(repr=False)
    sampling_fraction: float
    dis: float

    @property
    def scores(self) -> np.ndarray:
        """SUDA score of each record, in the order of the frame."""
        return self.records["score"].to_numpy()

    @property
    def dis_scores(self) -> np.ndarray:
        """DIS-SUDA score of each record, in the order of the frame."""
        return self.records["dis_score"].to_numpy()


def suda(table: ClassTable, *, max_size: int | None = None, sampling_fraction: float | None = None) -> Suda:
    """Find the minimal sample uniques of a file and score its records by them.

    A minimal sample unique of a record is a set of key variables on which no other record is compatible with it, while
    on every smaller set of them some other is. The fewer variables it takes, and the more such sets there are, the more
    likely the record is unique in the population too.

    Parameters
    ----------
    max_size : int, optional
        The most keys in an MSU, 1 or more; by default all of them. With more than 20 keys it has to be given.
    sampling_fraction : float, optional
        Share of the population that is in the sample, above 0 and up to 1. Default: the number of records over the sum
        of their weights; where the spec names no weight 0.1, which is a guess: give it. SUDA scores do not need it.

    Notes
    -----
    With m keys and M the largest size, an MSU of s keys adds the product of m - i for i from s to the smaller of M and
    m - 1: by default (m - s)!. The product for s = m is empty, so an MSU of all keys adds 1, as in sdcMicro; every
    record that is unique in the file has a score above 0, unless `max_size` is smaller than all its MSUs (Elliot,
    Manning and Ford 2002; Manning, Haglin and Keane 2008).

    With U unique records, P records in pairs (f_k = 2) and sampling fraction f, DIS is U f / (U f + P (1 - f)) (Skinner
    and Elliot 2002). A DIS-SUDA score (Elliot and Manning 2003) is 1 / (1 + n (1/DIS - 1) / (s^q A)) for a record with
    score s, where n records have a score, A is the sum of s^-q over them and q = 1 + (8 - m)/20 (at least 1/20): the
    odds of a right match are taken as proportional to s^q, and the harmonic mean of the scores is DIS. This is the
    formula of sdcMicro's program, whose sampling fraction is 0.01 unless it is given. DIS holds where each person is in
    the sample independently with the same probability f; where fractions differ, n over the sum of the weights is only
    their mean.

    Under the policy ``wildcard`` an MSU consists of keys that the record knows, and a record that misses some of them
    is compatible; sdcMicro takes such a record for a different one.

    Examples
    --------
    >>> import kanon_lab
    >>> from kanon_lab.risk import suda
    >>> frame = pd.DataFrame({"sex": list("ffmm"), "age": [30, 41, 30, 52], "job": list("aaab")})
    >>> suda(kanon_lab.class_table(frame, ["sex", "age", "job"])).msus
        variables  size  records
    0      (age,)     1        2
    1      (job,)     1        1
    2  (sex, age)     2        2
    3  (sex, job)     2        1
    """
    keys = len(table.spec.key_variables)
    max_size = keys if max_size is None else check_k(max_size, "max_size")
    if max_size > keys:
        raise OptionError(f"max_size must be at most {keys}, the number of key variables, not {max_size}")
    if sampling_fraction is None:
        fraction = fraction_by_weights(table) or _GUESS
    else:
        fraction = check_positive(sampling_fraction, "sampling_fraction", 1)
    found = _Found.of(table, max_size)
    dis, dis_scores = _intrusion(table, found.score, fraction)
    records = pd.DataFrame(
        {"score": found.score, "dis_score": dis_scores, "msus": found.msus, "smallest": found.smallest}
    )
    names, of_record = list(table.spec.key_variables), table.class_of_record
    shares = found.by_key / np.where(found.score > 0, found.score, 1)
    total = found.score.sum()
    return Suda(
        max_size,
        found.sets(names),
        records.take(of_record).set_axis(table.index),
        pd.DataFrame(shares.T[of_record], index=table.index, columns=names),
        pd.DataFrame(
            {"variable": names, "contribution": found.by_key.sum(axis=1) / (total or 1), "msus": found.msus_by_key}
        ),
        fraction,
        dis,
    )


@dataclass(frozen=True)
class _Found:
    """What the MSUs add up to, per class; a class that has one is a single record."""

    score: np.ndarray
    by_key: np.ndarray  # shape (keys, classes): the part of the score from MSUs with the key
    msus: np.ndarray
    smallest: np.ndarray
    sizes: dict[tuple[int, ...], int]

    @classmethod
    def of(cls, table: ClassTable, max_size: int) -> _Found:
        codes = table.policy_codes
        radices = [len(labels) + 1 for labels in table.labels]
        classes, keys = codes.shape
        weights = [prod(keys - i for i in range(size, min(max_size, keys - 1) + 1)) for size in range(keys + 1)]
        score, by_key = np.zeros(classes), np.zeros((keys, classes))
        msus, smallest, sizes = np.zeros(classes, dtype=np.int64), np.full(classes, keys + 1), {}
        for subset, rows in minimal_uniques(codes, radices, table.f_k == 1, max_size=max_size):
            size = len(subset)
            score[rows] += weights[size]
            for key in subset:
                by_key[key, rows] += weights[size]
            msus[rows] += 1
            smallest[rows] = np.minimum(smallest[rows], size)
            sizes[subset] = len(rows)
        return cls(score, by_key, msus, np.where(msus > 0, smallest, 0), sizes)

    @property
    def msus_by_key(self) -> list[int]:
        return [sum(n for subset, n in self.sizes.items() if key in subset) for key in range(len(self.by_key))]

    def sets(self, names: list[str]) -> pd.DataFrame:
        """The sets of keys, small ones first, then in the order of the keys."""
        subsets = sorted(self.sizes, key=lambda subset: (len(subset), subset))
        return pd.DataFrame(
            {
                "variables": [tuple(names[key] for key in subset) for subset in subsets],
                "size": [len(subset) for subset in subsets],
                "records": [self.sizes[subset] for subset in subsets],
            }
        )


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
