"""Sampling units: clusters and households that a subsample takes as wholes, and what is expected of such subsamples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from kanon_lab.errors import DataError, OptionError, shortened
from kanon_lab.recode.columns import distinct, one_column, refuse
from kanon_lab.subsample.sizes import as_fraction


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


def sampling_units(
    frame: pd.DataFrame, cluster: str | None, household: str | None, cluster_fraction: float | None, fraction: float
) -> Units | None:
    """The units that the columns name; None where they name none, and each record is drawn by itself."""
    first = _first(cluster, cluster_fraction, fraction)
    if cluster is not None and cluster == household:
        raise OptionError(f"{shortened(str(cluster))} is cluster and household: give it one of the two roles")
    clusters, households = (_codes(frame, name) for name in (cluster, household))
    if clusters is not None and households is not None:
        other = clusters != clusters[np.unique(households, return_index=True)[1]][households]
        fault = f"another {shortened(str(cluster))} than others of its household; mend it or name one of the two"
        refuse(other, frame.index, household, fault)
    if clusters is None or first is None:
        whole = households if clusters is None else clusters
        return None if whole is None else Units(whole)
    units = np.arange(len(frame)) if households is None else households
    return Units(units, clusters[np.unique(units, return_index=True)[1]], first)


def _first(cluster: str | None, cluster_fraction: float | None, fraction: float) -> float | None:
    if cluster_fraction is None:
        return None
    if cluster is None:
        raise OptionError("cluster_fraction: name the column of clusters as well")
    first = as_fraction(cluster_fraction, whole=True)
    if first < fraction:
        raise OptionError(
            f"cluster_fraction must be from the fraction of records ({fraction:.4g}) to 1, not {first:.4g}: "
            "it is the share of clusters that the survey drew"
        )
    return first


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
    gaps = unknown.any(axis=1)
    to, other = [], []
    for row in np.flatnonzero(gaps):
        same = np.flatnonzero(((codes == codes[row]) | unknown | unknown[row]).all(axis=1))
        same = same[same != row]
        full = same[~gaps[same]]
        to += [np.full(len(same), row), full]
        other += [same, np.full(len(full), row)]
    return pd.DataFrame({"to": np.concatenate(to), "other": np.concatenate(other)})


def expected_alone(held: pd.DataFrame, units: Units, chance: np.ndarray | float) -> float:
    """How many records are expected to be unique where each unit comes by a draw of its own.

    A record is unique when its unit is drawn, which holds no other that is compatible with it, and no other unit that
    does is. Units of one cluster come together: none of them without it.
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
