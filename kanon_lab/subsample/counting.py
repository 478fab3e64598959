"""Subsamples of a sample: how they are drawn, and how many of their records are unique in them and in the sample."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kanon_lab.classes import ClassTable
from kanon_lab.classes.compatible import compatible_sums
from kanon_lab.perturb.draws import generator
from kanon_lab.subsample.units import Units, expected_alone, holders

#: What is counted in a subsample: records, records unique in it, and those of them that are unique in the sample too.
COUNTS = ("n2", "u2", "u")
#: Samples or subsamples that may be drawn; more would tell no more.
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

    @cached_property
    def chance(self) -> np.ndarray | float:
        """Chance of each record, or unit, to be in a Bernoulli subsample: an array with weights, else one for all.

        That of a unit is the mean of its records' 1 / weight; over the chance of its cluster, if that is drawn before.
        """
        chance = self.fraction if self.weights is None else np.minimum(1 / self.weights, 1.0)
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
                drawn = np.flatnonzero(self._by_their_draws(rng))
            yield drawn if self.units is None else self.units.records(drawn)

    def _by_their_draws(self, rng: np.random.Generator) -> np.ndarray:
        """Whether each record, or unit, is drawn."""
        drawn = rng.random(self.all_units) < self.chance
        if self.units is None or self.units.cluster is None:
            return drawn
        clusters = rng.random(int(self.units.cluster.max()) + 1) < self.units.first
        return drawn & clusters[self.units.cluster]


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
        here = np.bincount(classes, minlength=self._classes)
        return len(rows), int(self._alone(here)[classes].sum()), int(self.unique[rows].sum())

    def _alone(self, here: np.ndarray) -> np.ndarray:
        """Whether a class has one record in the subsample that no other there is compatible with."""
        if self._codes is None:
            return here == 1
        alone, present = here == 1, np.flatnonzero(here)
        if len(present):
            alone[present] = compatible_sums(self._codes[present], here[present]) == 1
        return alone

    def expected(self, design: Design) -> dict[str, float]:
        """The mean of `COUNTS` over all subsamples, in closed form.

        A record is unique in a subsample when it is drawn and none of those compatible with it is.
        """
        if design.units is not None:
            return self._expected_of_units(design, design.units)
        if design.weights is not None:
            chance = design.chance
            parts = chance, chance * self._others_left_out(chance), chance * self.unique
            return {name: float(part.sum()) for name, part in zip(COUNTS, parts, strict=True)}
        # Classes of one size are alike.
        records = np.bincount(self.f_k, weights=self.records)
        f_k = np.flatnonzero(records)
        if design.scheme == "fixed":
            n2, alone = design.size, _alone_of_fixed(f_k, design.n1, design.size)
        else:
            f = design.fraction
            n2, alone = f * design.n1, f * (1 - f) ** (f_k - 1.0)
        return {"n2": float(n2), "u2": float(records[f_k] @ alone), "u": n2 / design.n1 * self.u1}

    def _expected_of_units(self, design: Design, units: Units) -> dict[str, float]:
        held = holders(self._class, units.unit, self._codes)
        if design.scheme == "fixed":
            number = held.groupby("class")["unit"].transform("size").to_numpy()
            alone = ((held["own"] == 1) & (held["all"] == 1)).to_numpy()
            u2 = float(_alone_of_fixed(number[alone], design.all_units, design.size).sum())
            chance = np.full(design.n1, design.size / design.all_units)
        else:
            u2 = expected_alone(held, units, design.chance)
            chance = np.broadcast_to(units.first * design.chance, units.number)[units.unit]
        return {"n2": float(chance.sum()), "u2": u2, "u": float(chance @ self.unique)}

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
            for number, each in enumerate(uniques):
                counts[number, repeat] = each.count(rows)
            bar.update()
    return counts


def _alone_of_fixed(f_k: np.ndarray, n1: int, size: int) -> np.ndarray:
    """Chance that of f_k records a given one, and it alone, is among `size` drawn from n1 without replacement."""
    from scipy.stats import hypergeom

    # That just one of the f_k is drawn, shared among them.
    return hypergeom.pmf(1, n1, f_k, size) / f_k
