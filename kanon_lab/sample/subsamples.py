"""Subsamples of a sample: their units, how they are drawn, and how many of their records are unique."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab.arguments import ROUNDING
from kanon_lab.classes import ClassTable, class_table
from kanon_lab.classes.compatible import compatible_sums
from kanon_lab.columns import distinct, one_column, refuse
from kanon_lab.errors import DataError, KanonLabError, OptionError, shortened
from kanon_lab.methods.perturbation import generator
from kanon_lab.roles import KeySpec
from kanon_lab.sample.curve import as_fraction


@dataclass(frozen=True)
class Units:
    """The units that a survey drew as wholes."""

    unit: np.ndarray  # (records,) The unit of each record, from 0 in the order of the file
    cluster: np.ndarray | None = None  # (units,) The cluster of each unit, where clusters are drawn before them
    first: float = 1.0  # The chance of a cluster, 0-1; 1 where none is drawn before the units

    @property
    def number(self) -> int:
        """How many units there are."""
        return int(self.unit.max()) + 1

    def records(self, drawn: np.ndarray) -> np.ndarray:
        """Positions of the records of some units."""
        taken = np.zeros(self.number, dtype=bool)
        taken[drawn] = True
        return np.flatnonzero(taken[self.unit])

    def mean(self, values: np.ndarray) -> np.ndarray:
        """The mean of `values` (one a record) in each unit."""
        return np.bincount(self.unit, values) / np.bincount(self.unit)


def _units_of(frame: pd.DataFrame, design: Design) -> Units | None:
    """The units that the columns name; None where they name none, and each record is drawn by itself."""
    first, cluster, household = design.cluster_fraction, design.cluster, design.household
    if first is not None:
        if cluster is None:
            raise OptionError("cluster_fraction: name the column of clusters as well")
        first = as_fraction(first, whole=True)
        if first < design.fraction:
            raise OptionError(
                f"cluster_fraction must be from the fraction of records ({design.fraction:.4g}) to 1, not {first:.4g}: "
                "it is the share of clusters that the survey drew"
            )
    if cluster is not None and cluster == household:
        raise OptionError(f"{shortened(str(cluster))} is cluster and household: give it one of the two roles")
    clusters, households = (_codes(frame, name) for name in (cluster, household))
    if clusters is not None and households is not None:
        other = clusters != clusters[np.unique(households, return_index=True)[1]][households]
        fault = (
            f"another {shortened(str(cluster))} than others of its household have; correct it, or "
            "name only one of the two columns"
        )
        refuse(other, frame.index, household, fault)
    if clusters is None or first is None:
        whole = households if clusters is None else clusters
        return None if whole is None else Units(whole)
    units = np.arange(len(frame)) if households is None else households
    return Units(units, clusters[np.unique(units, return_index=True)[1]], first)


def _codes(frame: pd.DataFrame, name: str | None) -> np.ndarray | None:
    if name is None:
        return None
    codes, values = distinct(one_column(frame, name))
    refuse(codes < 0, frame.index, name, "no unit; fill it in or drop the record")
    if len(values) < 2:
        raise DataError(f"column {shortened(str(name))}: all records are in one unit; leave it out")
    return codes


def holders(class_: np.ndarray, unit: np.ndarray, codes: np.ndarray | None) -> pd.DataFrame:
    """Which units hold a record that is compatible with a class."""
    own = pd.DataFrame({"class": class_, "unit": unit}).value_counts().rename("own").reset_index()
    own["all"] = own["own"]
    if codes is None:
        return own.sort_values(["class", "unit"], ignore_index=True)
    others = own.assign(own=0).merge(_compatible_pairs(codes), left_on="class", right_on="other")
    others = others.drop(columns=["class", "other"]).rename(columns={"to": "class"})
    return pd.concat([own, others]).groupby(["class", "unit"], as_index=False)[["own", "all"]].sum()


def _compatible_pairs(codes: np.ndarray) -> pd.DataFrame:
    """Pairs of two classes that are compatible, each in both orders: columns ``to`` and ``other``."""
    unknown = codes < 0
    gaps = np.asarray(unknown.any(axis=1))
    to, other = [], []
    for row in np.flatnonzero(gaps):
        same = np.flatnonzero(((codes == codes[row]) | unknown | unknown[row]).all(axis=1))
        same = same[same != row]
        full = same[~gaps[same]]
        to += [np.full(len(same), row), full]
        other += [same, np.full(len(full), row)]
    return pd.DataFrame({"to": np.concatenate(to), "other": np.concatenate(other)})


def expected_alone(held: pd.DataFrame, units: Units, chance: Any) -> float:
    """The expected number of unique records where each unit is drawn independently.

    A record is unique if its unit is drawn, no other record of the unit is compatible with it, and no other unit with a
    compatible record is drawn. Units of a cluster are drawn only if their cluster is.
    """
    unit = held["unit"].to_numpy()
    chance = np.broadcast_to(chance, units.number)[unit]
    cluster = unit if units.cluster is None else units.cluster[unit]
    base = int(cluster.max()) + 1
    pairs, group = np.unique(held["class"].to_numpy() * base + cluster, return_inverse=True)
    beside, all_out = _products(1 - chance, group)
    elsewhere, _ = _products(1 - units.first + units.first * all_out, pairs // base)
    alone = ((held["own"] == 1) & (held["all"] == 1)).to_numpy()
    return float((units.first * chance * beside * elsewhere[group])[alone].sum())


def _products(values: np.ndarray, group: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each value the product of the others of its group; and for each group the product of all. They are 0-1."""
    none = values <= 0
    logs = np.log(np.where(none, 1, values))
    sums, zeros = np.bincount(group, logs), np.bincount(group, none)
    others = np.where(zeros[group] - none > 0.5, 0.0, np.exp(np.minimum(sums[group] - logs, 0)))
    return others, np.where(zeros > 0.5, 0.0, np.exp(sums))


#: What is counted in a subsample: records, records unique in it, and those of them that are unique in the sample too.
COUNTS = ("n2", "u2", "u")
#: The most samples or subsamples that may be drawn.
MOST_REPEATS = 100_000


@dataclass(frozen=True)
class Design:
    """How records enter a subsample."""

    n1: int  # Records of the sample
    fraction: float  # Sampling fraction, above 0 and up to 1; with weights that of the sample as a whole
    scheme: str
    repeats: int
    seed: int
    weights: np.ndarray | None = None  # (n1,) Each record enters with the chance 1 / weight
    cluster: str | None = None  # Columns of what is drawn as a whole
    household: str | None = None
    cluster_fraction: float | None = None  # Chance of a cluster, where units are drawn in those that are drawn
    units: Units | None = None  # What those columns say; None where records are drawn one by one
    p_a: float = 1.0  # Chance that what an intruder knows is as in the file, 0-1

    def completed(self, frame: pd.DataFrame, table: ClassTable) -> Design:
        """With the weights of the records and their units, if any are named."""
        design, weights = self, table.weight_of_record
        if weights is not None:
            fault = "a weight below 1; a record stands for itself at least, so correct it or leave out the weight"
            refuse(weights < 1 - ROUNDING, table.index, table.spec.weight, fault)
            design = replace(design, weights=weights, fraction=min(table.n / float(weights.sum()), 1.0))
        return replace(design, units=_units_of(frame, design))

    @cached_property
    def chance(self) -> Any:
        """Chance of each record, or unit, to be in a Bernoulli subsample: an array with weights, else one for all.

        That of a unit is the mean of its records' 1 / weight; over the chance of its cluster, if that is drawn before.
        """
        chance: Any = self.fraction if self.weights is None else np.minimum(1 / self.weights, 1.0)
        if self.units is None:
            return chance
        chance = chance if self.weights is None else self.units.mean(chance)
        return np.minimum(chance / self.units.first, 1.0)

    @property
    def all_units(self) -> int:
        """Units of the sample; its records where these are drawn one by one."""
        return self.n1 if self.units is None else self.units.number

    @property
    def size(self) -> int:
        """Records, or units, of a subsample of fixed size."""
        return round(self.fraction * self.all_units)

    def subsamples(self) -> Iterator[np.ndarray]:
        """Positions of the records of one subsample after the other."""
        rng = generator(self.seed, "subsample", 0)
        for _ in range(self.repeats):
            if self.scheme == "fixed":
                drawn = rng.choice(self.all_units, self.size, replace=False, shuffle=False)
            else:
                is_drawn = rng.random(self.all_units) < self.chance
                if self.units is not None and self.units.cluster is not None:
                    clusters = rng.random(int(self.units.cluster.max()) + 1) < self.units.first
                    is_drawn &= clusters[self.units.cluster]
                drawn = np.flatnonzero(is_drawn)
            yield drawn if self.units is None else self.units.records(drawn)


class Uniques:
    """The unique records of a sample under one key, and of its subsamples."""

    def __init__(self, table: ClassTable):
        self.spec = table.spec
        self._class, self._classes = table.class_of_record, table.n_classes
        # Where a missing key joins classes, records are compared with those of other classes too.
        self._codes = table.codes if (table.f_k != table.records).any() else None
        self.f_k, self.records = table.f_k, table.records
        self.unique = (table.f_k == 1)[self._class]
        self.u1 = int(self.unique.sum())

    def count(self, rows: np.ndarray) -> tuple[int, ...]:
        """`COUNTS` of the subsample that has the records in these rows."""
        classes = self._class[rows]
        records = np.bincount(classes, minlength=self._classes)
        # Whether the one record of a class is compatible with no other in the subsample.
        is_alone = records == 1
        if self._codes is not None and len(rows):
            present = np.flatnonzero(records)
            is_alone[present] = compatible_sums(self._codes[present], records[present]) == 1
        return len(rows), int(is_alone[classes].sum()), int(self.unique[rows].sum())

    def expected(self, design: Design) -> dict[str, float]:
        """The mean of `COUNTS` over all subsamples, in closed form.

        A record is unique in a subsample when it is drawn and none of those compatible with it is.
        """
        if (units := design.units) is not None:
            held = holders(self._class, units.unit, self._codes)
            if design.scheme == "fixed":
                number = held.groupby("class")["unit"].transform("size").to_numpy()
                is_alone = ((held["own"] == 1) & (held["all"] == 1)).to_numpy()
                u2 = float(_alone_of_fixed(number[is_alone], design.all_units, design.size).sum())
                chance = np.full(design.n1, design.size / design.all_units)
            else:
                u2 = expected_alone(held, units, design.chance)
                chance = np.broadcast_to(units.first * design.chance, units.number)[units.unit]
            return {"n2": float(chance.sum()), "u2": u2, "u": float(chance @ self.unique)}
        if design.weights is not None:
            chance = design.chance
            parts = chance, chance * self._others_left_out(chance), chance * self.unique
            return {name: float(part.sum()) for name, part in zip(COUNTS, parts, strict=True)}
        # Classes of one size are alike.
        records = np.bincount(self.f_k, weights=self.records)
        f_k = np.flatnonzero(records)
        if design.scheme == "fixed":
            n2, alone = float(design.size), _alone_of_fixed(f_k, design.n1, design.size)
        else:
            f = design.fraction
            n2, alone = f * design.n1, f * (1 - f) ** (f_k - 1.0)
        return {"n2": float(n2), "u2": float(records[f_k] @ alone), "u": n2 / design.n1 * self.u1}

    def _others_left_out(self, chance: np.ndarray) -> np.ndarray:
        """For each record the chance that none of the others compatible with it is drawn."""
        certain = chance == 1
        parts = np.log1p(-np.where(certain, 0, chance)), certain.astype(float)
        sums = np.column_stack([np.bincount(self._class, part, self._classes) for part in parts])
        if self._codes is not None:
            sums = compatible_sums(self._codes, sums)
        logs, surely_drawn = (sums[self._class] - np.column_stack(parts)).T
        return np.where(surely_drawn > 0.5, 0.0, np.exp(np.minimum(logs, 0)))


def count_subsamples(uniques: Sequence[Uniques], design: Design) -> np.ndarray:
    """`COUNTS` of the same subsamples under each of several keys, shape (keys, repeats, counts)."""
    from tqdm import tqdm

    counts = np.empty((len(uniques), design.repeats, len(COUNTS)), dtype=np.int64)
    with tqdm(total=design.repeats, desc="subsamples", disable=None, delay=2, leave=False) as bar:
        for repeat, rows in enumerate(design.subsamples()):
            for key, of_key in enumerate(uniques):
                counts[key, repeat] = of_key.count(rows)
            bar.update()
    return counts


def _alone_of_fixed(f_k: np.ndarray, n1: int, size: int) -> np.ndarray:
    """Chance that of f_k records a certain one, and no other, is among `size` drawn from n1 without replacement."""
    from scipy.stats import hypergeom

    # That just one of the f_k is drawn, shared among them.
    return hypergeom.pmf(1, n1, f_k, size) / f_k


# Words that a name has where it is that of a sampling unit, or of a household.
_ROLES = {
    "cluster": "cluster[a-z]*|clu|conglomerad[a-z]*|psu|ssu|upm|usm|varunit|segment[a-z]*",
    "household": "hog|hogar[a-z]*|household[a-z]*|hh|hhid|llar[a-z]*|viv|vivienda[a-z]*|dwelling[a-z]*",
}
# A unit is one of so many at least, holds so many records on average, and no more than this share of all.
_LEAST_UNITS, _LEAST_MEAN, _MOST_SHARE = 20, 1.1, 0.05
# Two records of one unit share all keys so many times as often as any two, and so many pairs do.
_LEAST_RATIO, _LEAST_PAIRS = 2, 10
# Where the name does not say it: records of a unit are adjacent, and a unit holds so many.
_LEAST_MEAN_UNNAMED = 2


def clustering(frame: pd.DataFrame, table: ClassTable) -> tuple[str, ...]:
    """One line on the column that shows most clearly that records came in units; none if no column does.

    Candidates are columns whose name says cluster, sampling unit, household or dwelling; and columns of whole numbers
    or text, neither key nor weight, with the records of each unit next to each other. A candidate counts if two records
    of a unit share all (other) keys at least twice as often as any two records of the file. This rule is our own.
    """
    signs = []
    for name in dict.fromkeys(frame.columns):
        plain = unicodedata.normalize("NFKD", str(name)).encode("ascii", "ignore").decode().lower()
        words = re.split(r"[^a-z0-9]+", plain)
        roles = [role for role, pattern in _ROLES.items() if any(re.fullmatch(pattern, word) for word in words)]
        is_key = not roles and name in table.spec.key_variables
        if is_key or name == table.spec.weight or list(frame.columns).count(name) > 1:
            continue
        sign = _sign_of_units(frame, name, roles[0] if roles else None, table)
        signs += [] if sign is None else [sign]
    return (max(signs)[-1],) if signs else ()


def _sign_of_units(
    frame: pd.DataFrame, name: str, role: str | None, table: ClassTable
) -> tuple[float, bool, str] | None:
    """The mean number of records of a unit, whether its name says the role, and the line; None where there is none."""
    column = frame[name]
    text = isinstance(column.dtype, pd.CategoricalDtype) or pd.api.types.is_string_dtype(column)
    if role is None and not (text or pd.api.types.is_integer_dtype(column)):
        return None
    try:
        unit, _ = distinct(column)
    except KanonLabError:  # lists in it
        return None
    records = np.bincount(unit[unit >= 0])
    if len(records) < _LEAST_UNITS or records.max() > _MOST_SHARE * len(frame):
        return None
    mean, runs = records.mean(), 1 + int((unit[1:] != unit[:-1]).sum())
    if mean < _LEAST_MEAN or (role is None and (mean < _LEAST_MEAN_UNNAMED or runs > len(records))):
        return None
    keys, class_ = [key for key in table.spec.key_variables if key != name], table.class_of_record
    if not keys:
        class_ = np.zeros(len(frame), dtype=int)
    elif len(keys) < len(table.spec.key_variables):
        class_ = class_table(frame, KeySpec(keys, missing="category")).class_of_record
    ratio = _alike(unit, class_)
    if ratio < _LEAST_RATIO:
        return None
    option, name = role or "cluster", shortened(str(name))
    line = (
        f"{name} seems to be a {'household' if role == 'household' else 'sampling unit'}: its units have {mean:.3g} "
        f"records on average, and two records of one share all keys {ratio:.3g} times as often as any two; subsamples "
        "and models of records drawn one by one cannot be trusted then; if the survey drew units as wholes, name the "
        f"column as {option} (--{option})"
    )
    return mean, role is not None, line


def _alike(unit: np.ndarray, class_: np.ndarray) -> float:
    """How many times as often two records of a unit share a class as any two do; 0 where there are too few pairs."""
    known = unit >= 0
    unit, class_ = unit[known], class_[known]
    cells = np.unique(unit * (int(class_.max()) + 1) + class_, return_counts=True)[1]
    if _pairs(cells) < _LEAST_PAIRS:
        return 0.0
    within, overall = _pairs(cells) / _pairs(np.bincount(unit)), _pairs(np.bincount(class_)) / _pairs(len(class_))
    return within / overall


def _pairs(counts: np.ndarray | int) -> float:
    counts = np.asarray(counts, dtype=float)
    return float((counts * (counts - 1)).sum() / 2)
