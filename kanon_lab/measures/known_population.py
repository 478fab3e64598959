"""A population whose keys an intruder has, such as a register, beside the file: k-map, and who is in the file.

References
----------
Sweeney (2002), "k-anonymity: a model for protecting privacy": k-map. Nergiz, Atzori and Clifton (2007), "Hiding the
presence of individuals from shared databases": delta-presence.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pandas as pd

from kanon_lab.classes import ClassTable
from kanon_lab.classes.counts import counts_of_persons, persons_alike
from kanon_lab.columns import coded, distinct_rows
from kanon_lab.errors import DataError, OptionError, shortened
from kanon_lab.terms import Note


@dataclass(frozen=True)
class Population:
    """The keys of a population, in the categories of the file that it stands beside.

    Attributes
    ----------
    keys : DataFrame
        Different combinations of key values, a column for each key variable.
    persons : ndarray
        How many persons have them, shape (rows,).
    untold : tuple of str
        Keys of which the file shows values that do not follow from the true ones: swapped ones, say.
    refused : mapping of str to float
        By key, persons whose value a recoding of the file does not take: they keep it, and are like no record.
    """

    keys: pd.DataFrame = field(repr=False)
    persons: np.ndarray = field(repr=False)
    untold: tuple[str, ...] = ()
    refused: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, frame: pd.DataFrame, keys: Iterable[str], *, count: str | None = None) -> Population:
        """The population in a frame of persons, or of groups of persons whose numbers are in the column `count`.

        Examples
        --------
        >>> people = pd.DataFrame({"age": [30, 30, 41], "persons": [9, 4, 7]})
        >>> kanon_lab.measures.Population.of(people, ["age"], count="persons").persons.tolist()
        [13.0, 7.0]
        """
        names = list(keys)
        if count in names:
            raise OptionError(f"count: {shortened(str(count))} is a key variable; name the column of persons")
        persons = np.ones(len(frame)) if count is None else counts_of_persons(frame, count)
        if not len(frame) or not persons.any():
            raise DataError("has no persons; nothing can be counted in it")
        if not names:
            return cls(frame.iloc[:1, :0].reset_index(drop=True), np.array([persons.sum()]))
        codes = np.column_stack([coded(frame[name]).codes.astype(np.int64) for name in names])
        group, some = distinct_rows(codes)
        return cls(frame[names].iloc[some].reset_index(drop=True), np.bincount(group, weights=persons))

    def beside(self, table: ClassTable) -> InPopulation | None:
        """The classes of a file in it; None where a key is not in it, or `untold`. A missing key may be any value."""
        keys = table.spec.key_variables
        if not {*keys} <= {*self.keys} or not {*keys}.isdisjoint(self.untold):
            return None
        spec = table.spec  # a register knows what a gap of the file may be, whatever a gap means in the file
        alike = replace(table, spec=replace(spec, missing="wildcard")) if spec.missing == "category" else table
        F_k, absent = persons_alike(alike, self.keys, self.persons)
        return InPopulation(table, F_k, float(self.persons.sum()), absent)


@dataclass(frozen=True)
class InPopulation:
    """What a population tells of the classes of a file that is a sample of it.

    Attributes
    ----------
    table : ClassTable
    F_k : ndarray
        Persons of the population compatible with each class, shape (n_classes,).
    persons : float
        Persons of the population.
    absent : float
        Those of them whose key no record has: who knows the file knows that they are not in it.
    """

    table: ClassTable = field(repr=False)
    F_k: np.ndarray = field(repr=False)
    persons: float
    absent: float

    @property
    def k_map(self) -> int:
        """The fewest persons who have the key of a record (Sweeney's k-map); 0 where the population lacks a key."""
        return math.floor(self.F_k.min())

    def below(self, k: int) -> int:
        """Records (or persons of the file) whose key fewer than k persons have."""
        return self.table.units_in(np.floor(self.F_k) < k)

    @cached_property
    def share(self) -> np.ndarray:
        """For each class the share (0-1) of the persons compatible with it who are in the file: f_k / F_k.

        It is 1 where the population has fewer persons than the file has records.
        """
        return self.table.f_k / np.maximum(self.F_k, self.table.f_k)

    @property
    def lowest(self) -> float:
        """The lowest of these shares."""
        return float(self.share.min())

    @property
    def highest(self) -> float:
        """The highest: with this chance, who knows that a person is in the population knows that they are in the file.

        The upper bound of delta-presence (Nergiz, Atzori and Clifton 2007).
        """
        return float(self.share.max())

    def above(self, share: float) -> int:
        """Records (or persons of the file) of classes with a larger share."""
        return self.table.units_in(self.share > share)

    @property
    def short(self) -> int:
        """Records (or persons) of classes that have more of them than persons: file and population contradict."""
        return self.table.units_in(self.F_k < self.table.own_k)

    @property
    def global_risk(self) -> float:
        """Mean over records of 1 / F_k, with F_k counted; 1 for a record whose key the population lacks.

        Of persons who have several records, the mean over them of the largest.
        """
        risks, units = self.table.by_unit(1 / np.maximum(self.F_k, 1))
        return float((risks * units).sum() / self.table.n_units)

    @property
    def notes(self) -> tuple[Note, ...]:
        """A note where file and population contradict each other."""
        return (Note("population_short", records=self.short),) if self.short else ()
