"""Linkage of a register with names to a released table by keys, and of released records to originals by quantities."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from kanon_lab.arguments import ROUNDING, check_choice
from kanon_lab.classes.compatible import compatible_counts, compatible_sums
from kanon_lab.classes.table import MISSING_REMEDY, counted
from kanon_lab.columns import Coded, coded, distinct_rows, first_row, paired
from kanon_lab.errors import DataError, OptionError, about, shortened
from kanon_lab.roles import KeySpec

_REGISTER, _RELEASED = "the register", "the released table"
_RESULT_COLUMNS = ("records", "record", "values", "unknown", "value", "learned", "right", "learned_right")


@dataclass(frozen=True)
class LinkageResult:
    """What an intruder who has a register learns from a released table.

    Attributes
    ----------
    persons : DataFrame
        One row a person, under the index of the register: the column of `identity`, if any; ``records`` (released
        records compatible with the person); ``record`` (the index label of the only one, else missing). With a
        sensitive variable: ``values`` (its distinct known values among those records), ``unknown`` (records that miss
        it), ``value`` (the only known value, else missing), ``learned`` (there is one, and no record misses it). With
        the truth: ``right`` (the only compatible record is the person's own), ``learned_right`` (so is the value).
    records : DataFrame
        One row a released record, under its index: ``persons`` (of the register compatible with it).
    summary : DataFrame
        One row a claim, under its short name: ``meaning``, ``persons``, ``share`` (0-1 of the register).
    """

    persons: pd.DataFrame
    records: pd.DataFrame
    summary: pd.DataFrame


def linkage_attack(
    register: pd.DataFrame,
    released: pd.DataFrame,
    keys: Iterable[str] | str,
    *,
    identity: str | None = None,
    sensitive: str | None = None,
    truth: pd.Series | None = None,
    missing: str = "wildcard",
) -> LinkageResult:
    """Link a register to a released table, as an intruder would.

    Parameters
    ----------
    register, released : DataFrame
        One row a person, and one row a record.
    keys : iterable of str or str
        Variables of both tables. Recode the register as the released table was: 34 does not match 30-39.
    identity : str, optional
        The register's column of names or person numbers; its index by default.
    sensitive : str, optional
        The released table's variable that the intruder wants to learn.
    truth : Series, optional
        The identity of the person behind each released record, under its index, known to the table's makers only.
    missing : str
        What a missing key in either table means (`kanon_lab.roles.MISSING_POLICIES`).

    Notes
    -----
    "Exactly one compatible record" is a match, not yet a re-identification: the record may be somebody else's.

    Examples
    --------
    >>> register = pd.DataFrame({"age": [30, 41]}, index=["Ana", "Eva"])
    >>> released = pd.DataFrame({"age": [30, 30, 41], "illness": ["flu", "none", "none"]})
    >>> kanon_lab.measures.linkage_attack(register, released, "age", sensitive="illness").summary["persons"].to_dict()
    {'register': 2, 'compatible': 2, 'unique': 1, 'one_to_one': 1, 'learned': 1, 'learned_from_several': 0}
    """
    if identity in _RESULT_COLUMNS:
        raise OptionError(f"identity: {identity} is the name of a column of the result; rename the register's column")
    with about(_REGISTER):
        KeySpec(keys, missing=missing, sensitive_variables=identity or ()).check(register)
    spec = KeySpec(keys, missing=missing, sensitive_variables=sensitive or ())
    with about(_RELEASED):
        spec.check(released)
    codes = _joint_codes(register, released, spec)
    # Both tables are one: what a person is compatible with is summed over the patterns of records, and the other way.
    group, some = distinct_rows(codes)
    patterns, of_person, of_record = codes[some], group[: len(register)], group[len(register) :]
    positions = np.bincount(of_record, np.arange(len(released)), len(some)).astype(np.int64)
    own = [np.bincount(of_record, minlength=len(some)), np.bincount(of_person, minlength=len(some)), positions]
    n_records, n_persons, position = compatible_sums(patterns, np.column_stack(own)).T
    persons = pd.DataFrame({} if identity is None else {identity: register[identity]}, index=register.index)
    persons["records"] = n_records[of_person]
    records = pd.DataFrame({"persons": n_persons[of_record]}, index=released.index)
    # The sum of positions over the only record is its position.
    only = np.where(persons["records"] == 1, position[of_person], -1)
    persons["record"] = _labels_at(released.index, only, persons.index)
    if sensitive is not None:
        with about(_RELEASED):
            known = coded(released[sensitive])
        _add_values(persons, patterns, of_person, of_record, known)
    if truth is not None:
        ids = register.index if identity is None else pd.Index(register[identity])
        _add_truth(persons, ids, only, truth, released.index, None if sensitive is None else known)
    return LinkageResult(persons, records, _claims(persons, only, records["persons"].to_numpy()))


def _joint_codes(register: pd.DataFrame, released: pd.DataFrame, spec: KeySpec) -> np.ndarray:
    """The keys of both tables, register first, as codes that are equal where values are; -1 where missing."""
    columns = []
    for name in spec.key_variables:
        both = pd.concat([register[name].astype(object), released[name].astype(object)], ignore_index=True)
        with about("the keys"):
            column = coded(both.rename(name))
        codes = column.codes
        parts = (_REGISTER, register, codes[: len(register)]), (_RELEASED, released, codes[len(register) :])
        # Numbers beside text: nothing could match, and the attack would seem to fail.
        text = np.array([isinstance(value, str) for value in column.values], dtype=bool)
        kinds = [set(text[part[part >= 0]].tolist()) for _, _, part in parts]
        if all(len(kind) == 1 for kind in kinds) and kinds[0] != kinds[1]:
            table = _REGISTER if True in kinds[0] else _RELEASED
            raise DataError(
                f"column {shortened(name)} is text in {table} only, so no values can be equal; recode the register as "
                "the released table was"
            )
        for table, frame, part in parts:
            if spec.missing == "error" and (part < 0).any():
                row = first_row(part < 0, frame.index)
                raise DataError(f"{table}: row {row}: a missing value in column {shortened(name)}; {MISSING_REMEDY}")
        columns.append(np.where(codes < 0, len(column.values), codes) if spec.missing == "category" else codes)
    return np.column_stack(columns)


def _add_values(
    persons: pd.DataFrame, patterns: np.ndarray, of_person: np.ndarray, of_record: np.ndarray, known: Coded
) -> None:
    """Add what the records compatible with each person say of the sensitive variable."""
    has, m = known.codes >= 0, max(len(known.values), 1)
    own = counted(of_record[has], known.codes[has], len(patterns), m)
    row, value, _ = compatible_counts(patterns, *own, m) if (patterns < 0).any() else own
    values = np.bincount(row, minlength=len(patterns))
    only = np.full(len(patterns), -1)
    only[row] = value
    only[values != 1] = -1
    unknown = compatible_sums(patterns, np.bincount(of_record[~has], minlength=len(patterns)))
    persons["values"], persons["unknown"] = values[of_person], unknown[of_person]
    persons["value"] = _labels_at(known.values, only[of_person], persons.index)
    persons["learned"] = ((values == 1) & (unknown == 0))[of_person]


def _add_truth(
    persons: pd.DataFrame, ids: pd.Index, only: np.ndarray, truth: pd.Series, index: pd.Index, known: Coded | None
) -> None:
    """Add which matches, and which values learned, are right; the index is that of the released table."""
    if not truth.index.equals(index):
        if not truth.index.is_unique or set(truth.index) != set(index):
            raise OptionError("the truth must have the index of the released table: one identity per record")
        truth = truth.reindex(index)
    if not ids.is_unique:
        raise DataError(f"{_REGISTER}: an identity occurs twice, so nobody can tell which matches are right")
    person_of_record = ids.get_indexer(pd.Index(truth))
    persons["right"] = (only >= 0) & (person_of_record[only] == np.arange(len(ids)))
    if known is not None:
        learned = known.values.get_indexer(pd.Index(persons["value"]))
        own = np.unique(person_of_record * (len(known.values) + 1) + known.codes)
        mine = np.arange(len(ids)) * (len(known.values) + 1) + learned
        persons["learned_right"] = persons["learned"].to_numpy() & np.isin(mine, own)


def _labels_at(labels: pd.Index, position: np.ndarray, index: pd.Index) -> pd.Series:
    """Labels by position, None where it is -1."""
    taken = np.empty(len(position), dtype=object)
    has = position >= 0
    taken[has] = labels.take(position[has]).astype(object)
    return pd.Series(taken, index=index, dtype=object)


def _claims(persons: pd.DataFrame, only: np.ndarray, persons_of_record: np.ndarray) -> pd.DataFrame:
    records = persons["records"].to_numpy()
    unique = records == 1
    mutual = unique & (persons_of_record[only] == 1)
    claims = {
        "register": ("persons in the register", np.ones(len(persons), dtype=bool)),
        "compatible": ("with a compatible released record", records > 0),
        "unique": ("with exactly one compatible record", unique),
        "one_to_one": ("whose only compatible record is compatible with nobody else", mutual),
    }
    if "learned" in persons:
        learned = persons["learned"].to_numpy()
        claims["learned"] = ("whose compatible records all have the same sensitive value", learned)
        claims["learned_from_several"] = ("the same, from two records or more", learned & (records > 1))
    if "right" in persons:
        claims["right"] = ("whose only compatible record is their own", persons["right"].to_numpy())
    if "learned_right" in persons:
        claims["learned_right"] = ("for whom the learned value is true", persons["learned_right"].to_numpy())
    sums = {claim: {"meaning": meaning, "persons": rows.sum()} for claim, (meaning, rows) in claims.items()}
    summary = pd.DataFrame.from_dict(sums, orient="index").rename_axis("claim")
    return summary.assign(share=summary["persons"] / len(persons))


SCALES = ("sd", "mahalanobis", "none")
# A share of the largest variance that is rounding, and the released records that are looked up at a time.
_FLAT_AXIS, _RECORDS_AT_A_TIME = 1e-10, 4096


@dataclass(frozen=True)
class Linked:
    """Which released records are linked to the original records that they came from.

    Attributes
    ----------
    records : DataFrame
        Under the index of the files, one row a target: ``distance`` (to the nearest original record; NaN where there is
        none to compare), ``nearest`` (original records at this distance), ``own`` (its own is among them), ``linked``
        (1 over `nearest` if so, else 0: the probability of the right link if ties are broken at random).
    share, share_at_most : float
        Mean of ``linked`` over the targets, the expected share of right links, and mean of ``own``, the share of an
        intruder with luck in every tie, 0-1.
    """

    variables: tuple[str, ...]
    scale: str
    records: pd.DataFrame = field(repr=False)
    share: float
    share_at_most: float


def record_linkage(
    original: pd.DataFrame,
    released: pd.DataFrame,
    *,
    variables: Iterable[str] | str | None = None,
    scale: str = "sd",
    targets: slice | np.ndarray | None = None,
) -> Linked:
    """Link each released record to the nearest original one, as an intruder who has the original values would.

    Parameters
    ----------
    original, released, variables : DataFrame or iterable of str or str, optional
        As in `interval_disclosure`.
    scale : str
        ``sd``: each variable over the standard deviation of its original values; ``mahalanobis``: by the covariance of
        the original values, which finds more where noise follows that covariance; or ``none``.
    targets : slice or ndarray, optional
        Positions of the released records that are linked; by default all.

    Notes
    -----
    Distances are Euclidean. A released record is compared on the variables of which it has a value, with the original
    records that have a value of all of these; without any it counts as not linked. Constant variables are left out. The
    share of an unprotected file is 1 where no two records agree (Pagliuca and Seri 1999; Domingo-Ferrer and Torra 2001;
    INE Chile 2023, section 7.6.1).

    Examples
    --------
    >>> before, after = pd.DataFrame({"income": [10, 20, 90]}), pd.DataFrame({"income": [11, 11, 80]})
    >>> kanon_lab.measures.record_linkage(before, after).records["linked"].tolist()
    [1.0, 0.0, 1.0]
    """
    check_choice(scale, "scale", SCALES)
    both = paired(original, released, variables)
    tells = both.sd > 0
    unit = 1.0 if scale == "none" else both.sd[tells]
    x, y = both.original[:, tells] / unit, both.released[:, tells] / unit
    chosen = np.arange(len(x))[slice(None) if targets is None else targets]
    y, own_x = y[chosen], x[chosen]
    distance, nearest, own = np.full(len(y), np.nan), np.zeros(len(y), dtype=np.int64), np.zeros(len(y), dtype=bool)
    # Where all known variables are constant, every original record is equally near.
    has = ~np.isnan(both.released[chosen]).all(axis=1)
    pattern, some = distinct_rows(np.isnan(y).astype(np.int8))
    for number, row in enumerate(some):
        known = ~np.isnan(y[row])
        rows = np.flatnonzero((pattern == number) & has)
        candidates = np.flatnonzero(~np.isnan(x[:, known]).any(axis=1))
        if len(rows) and len(candidates):
            points, asked, true = x[candidates][:, known], y[rows][:, known], own_x[rows][:, known]
            if scale == "mahalanobis":
                axes = _axes(points)
                points, asked, true = points @ axes, asked @ axes, true @ axes
            distance[rows], nearest[rows] = _nearest(points, asked)
            with np.errstate(over="ignore"):
                apart = np.sqrt(((true - asked) ** 2).sum(axis=1))
            own[rows] = (apart <= distance[rows] * (1 + ROUNDING)) & (nearest[rows] > 0)
    linked = np.where(own, 1 / np.maximum(nearest, 1), 0.0)
    columns = {"distance": distance, "nearest": nearest, "own": own, "linked": linked}
    records = pd.DataFrame(columns, index=both.index[chosen])
    return Linked(both.variables, scale, records, float(linked.mean()), float(own.mean()))


def _axes(points: np.ndarray) -> np.ndarray:
    """Linear forms of the variables that have variance 1 and no covariance; none for what follows from the others."""
    if len(points) < 2 or not points.shape[1]:
        return np.eye(points.shape[1])
    values, vectors = np.linalg.eigh(np.atleast_2d(np.cov(points, rowvar=False)))
    varies = values > _FLAT_AXIS * values[-1]
    return vectors[:, varies] / np.sqrt(values[varies])


def _distinct_points(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct rows of numbers in their order, and the place of each row among them."""
    codes = [np.unique(column, return_inverse=True)[1] for column in points.T]
    number, some = distinct_rows(np.column_stack(codes))
    return points[some], number


def _nearest(candidates: np.ndarray, records: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each record the distance to the nearest candidates, and how many candidates are at it."""
    from scipy.spatial import cKDTree
    from tqdm import tqdm

    if not candidates.shape[1]:
        return np.zeros(len(records)), np.full(len(records), len(candidates))
    # Equal points make a tree deep: it has each of them once.
    points, of_point = _distinct_points(candidates)
    times = np.bincount(of_point)
    asked, which = _distinct_points(records)
    tree = cKDTree(points, balanced_tree=False)
    distance, number = np.empty(len(asked)), np.empty(len(asked), dtype=np.int64)
    with tqdm(total=len(asked), desc="records linked", disable=None, delay=2, leave=False) as bar:
        for start in range(0, len(asked), _RECORDS_AT_A_TIME):
            block = asked[start : start + _RECORDS_AT_A_TIME]
            distances, at = tree.query(block, k=2)
            near, second = distances.T
            reach = near * (1 + ROUNDING)
            # Where all distances are infinite, the query gives one place after the last point.
            count = np.append(times, 0)[at[:, 0]]
            tied = np.flatnonzero((second <= reach) & np.isfinite(reach))
            for i, ties in zip(tied, tree.query_ball_point(block[tied], reach[tied])):
                count[i] = times[ties].sum()
            distance[start : start + len(block)], number[start : start + len(block)] = near, count
            bar.update(len(block))
    return distance[which], number[which]
