"""Sensitive values that an intruder meets who knows true keys: those of every released record that may be the target's.

Where keys are suppressed, these records are others than the class of the record as it is released.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kanon_lab.classes import ClassTable, ValueCounts
from kanon_lab.classes.compatible import compatible_pairs
from kanon_lab.classes.counts import records_in
from kanon_lab.classes.persons import with_persons
from kanon_lab.classes.table import counted
from kanon_lab.columns import coded, distinct_rows
from kanon_lab.measures.class_values import distinct_l
from kanon_lab.measures.sensitive_values import worst_values
from kanon_lab.recipes.state import Chain


class MetValues:
    """The values of one sensitive variable in the records that the true keys of each record with a hidden key meet."""

    def __init__(self, protection: Chain, table: ClassTable, variable: str):
        self.protection, self.table, self.variable = protection, table, variable
        state, keys = protection.state, table.spec.key_variables
        self.known, self.shown = state.truth.attacked(state.working, keys)
        self.hidden = ((self.shown < 0) & (self.known >= 0)).any(axis=1)
        self.target, of_target = distinct_rows(self.known[self.hidden])
        self.queries = self.known[self.hidden][of_target]

    def worst(self) -> dict[str, float | None]:
        """By measure of diversity, its worst value over these records; nothing where no key is hidden."""
        counts = self._counts() if len(self.queries) else None
        return {} if counts is None else worst_values(counts)

    def alike(self) -> int:
        """Records (persons, where the spec names one) for whom only one value is met, hidden or not."""
        alike = (distinct_l(self.table.sensitive_counts(self.variable)) == 1)[self.table.class_of_row]
        if len(self.queries) and (counts := self._counts()) is not None:
            alike[self.hidden] = (distinct_l(counts) == 1)[self.target]
        return records_in(alike, self.protection.state.counts, self.table.person_of_row)

    def _counts(self) -> ValueCounts | None:
        """How often each query meets each value; None where no value is known."""
        values, table = coded(self.table.column(self.variable)), self.table
        filled, m = values.codes >= 0, len(values.values)
        if not filled.any():
            return None
        group, some = distinct_rows(self.shown)
        weights = None if table.records_of_row is None else table.records_of_row[filled]
        class_, value, count = counted(group[filled], values.codes[filled], len(some), m, weights)
        if table.person_of_row is not None:
            class_, item = with_persons(group[filled], table.person_of_row[filled] * np.int64(m) + values.codes[filled])
            parts = [*self._met_by_persons(self.shown[some], class_, item, m)]
        else:
            parts = [*self._met(self.shown[some], class_, value, count, m)]
        rows, met, times = (np.concatenate(part) for part in zip(*parts, strict=True))
        overall = np.bincount(value, count, minlength=m).astype(np.int64)
        return ValueCounts(values.values, rows, met, times, overall, len(self.queries))

    def _met(
        self, codes: np.ndarray, class_: np.ndarray, value: np.ndarray, count: np.ndarray, m: int
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Query, value and how often, in blocks of queries."""
        from scipy import sparse

        own = sparse.csr_array((count, (class_, value)), shape=(len(codes), m))
        for start, stop, row, other in compatible_pairs(codes, self.queries):
            ones = np.ones(len(row), dtype=np.int64)
            yield _sorted(sparse.csr_array((ones, (row - start, other)), shape=(stop - start, len(codes))) @ own, start)

    def _met_by_persons(
        self, codes: np.ndarray, class_: np.ndarray, item: np.ndarray, m: int
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """The same, each person counted once for each value."""
        from scipy import sparse

        number, items = np.unique(item, return_inverse=True)
        has = sparse.csr_array((np.ones(len(item), dtype=np.int64), (class_, items)), shape=(len(codes), len(number)))
        of_value = sparse.csr_array(
            (np.ones(len(number), dtype=np.int64), (np.arange(len(number)), number % m)), shape=(len(number), m)
        )
        for start, stop, row, other in compatible_pairs(codes, self.queries):
            ones = np.ones(len(row), dtype=np.int64)
            meets = sparse.csr_array((ones, (row - start, other)), shape=(stop - start, len(codes))) @ has
            meets.data[:] = 1
            yield _sorted(meets @ of_value, start)


def _sorted(sums, start: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row, value and count of a sparse table, sorted by row and then by value."""
    sums = sums.tocoo()
    order = np.lexsort((sums.col, sums.row))
    return sums.row[order].astype(np.int64) + start, sums.col[order].astype(np.int64), sums.data[order]
