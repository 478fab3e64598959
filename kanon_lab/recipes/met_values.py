"""Sensitive values that an intruder meets who knows true keys: those of every released record that may be the target's.

Where keys are suppressed, these records are others than the class of the record as it is released.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from kanon_lab.classes import ClassTable, ValueCounts
from kanon_lab.classes.compatible import compatible_counts
from kanon_lab.classes.counts import records_in
from kanon_lab.classes.persons import compatible_items, with_persons
from kanon_lab.classes.table import counted
from kanon_lab.columns import coded, distinct_rows
from kanon_lab.measures.class_values import distinct_l
from kanon_lab.measures.inference import Guesses, guessed, guesses_of, values_of_rows
from kanon_lab.measures.sensitive_values import inferred, worst_values
from kanon_lab.recipes.state import Chain


class MetValues:
    """The sensitive values in the records that the true keys of each record with a hidden key meet."""

    def __init__(self, protection: Chain, table: ClassTable):
        self.protection, self.table = protection, table
        state = protection.state
        known, shown = state.truth.attacked(state.working, table.spec.key_variables)
        self.hidden = ((shown < 0) & (known >= 0)).any(axis=1)
        self.target, of_target = distinct_rows(known[self.hidden])
        self.queries = known[self.hidden][of_target]
        self.group, some = distinct_rows(shown)
        self.codes = shown[some]
        self._counts_of: dict[str, ValueCounts | None] = {}

    def worst(self, variable: str) -> dict[str, float | None]:
        """By measure of diversity, its worst value over these records; nothing where no key is hidden."""
        counts = self._counts(variable)
        return {} if counts is None else {**worst_values(counts), **inferred(self._guesses(variable, counts))}

    def _guesses(self, variable: str, counts: ValueCounts) -> Guesses:
        """Guesses by the class of each record, or by what its true key meets where a key is hidden."""
        guesses = guesses_of(self.table, variable)
        value, known = values_of_rows(self.table, variable, counts)
        number = np.full(self.hidden.shape, -1)
        number[self.hidden] = self.target
        place = np.flatnonzero(number[known] >= 0)
        by_key = guessed(counts, number[known][place], value[place], guesses.records[place])
        by_class = {name: getattr(guesses, name).copy() for name in ("right", "drawn", "others")}
        for name, of_rows in by_class.items():
            of_rows[place] = getattr(by_key, name)
        return replace(guesses, **by_class)

    def alike(self, variable: str) -> int:
        """Records (persons, where the spec names one) for whom only one value is met, hidden or not."""
        alike = (distinct_l(self.table.sensitive_counts(variable)) == 1)[self.table.class_of_row]
        if (counts := self._counts(variable)) is not None:
            alike[self.hidden] = (distinct_l(counts) == 1)[self.target]
        return records_in(alike, self.protection.state.counts, self.table.person_of_row)

    def _counts(self, variable: str) -> ValueCounts | None:
        """How often each query meets each value of a variable; None where nothing is hidden, or no value known."""
        if variable not in self._counts_of:
            self._counts_of[variable] = self._counted(variable)
        return self._counts_of[variable]

    def _counted(self, variable: str) -> ValueCounts | None:
        values, table, n = coded(self.table.column(variable)), self.table, len(self.queries)
        filled, m = values.codes >= 0, len(values.values)
        if not n or not filled.any():
            return None
        group, value = self.group[filled], values.codes[filled]
        weights = None if table.records_of_row is None else table.records_of_row[filled]
        own = counted(group, value, len(self.codes), m, weights)
        overall = np.bincount(own[1], own[2], minlength=m).astype(np.int64)
        if table.person_of_row is None:
            met = compatible_counts(self.codes, *own, m, self.queries)
        else:
            class_, item = with_persons(group, table.person_of_row[filled] * np.int64(m) + value)
            number, items = pd.factorize(item)
            pairs = compatible_items(self.codes, class_, number, self.queries)
            rows, which = (np.concatenate(part) for part in zip(*pairs, strict=True))
            met = counted(rows, items[which] % m, n, m)
        return ValueCounts(values.values, *met, overall, n)
