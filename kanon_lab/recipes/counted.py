"""A recipe applied to counts of a file: to the different values of its columns, and to its combinations of values.

Only for steps whose result for a value follows from the value or from the class of its record. The file is read once to
be counted, and once to be written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from kanon_lab.classes.counts import Counts, records_in
from kanon_lab.classes.sums import sums_by_group
from kanon_lab.columns import Coded, coded, distinct_rows, grouped, named_columns, pack, quantity
from kanon_lab.errors import DataError, TextError, inside, shortened
from kanon_lab.measures import Population
from kanon_lab.measures.file_measures import UNWEIGHTED
from kanon_lab.measures.registry import measures
from kanon_lab.methods.recode_settings import RECODINGS, recoded_column
from kanon_lab.recipes.chain import Protection, apply_steps
from kanon_lab.recipes.measured import Baseline, Truth, changed_cells, recoded_truth
from kanon_lab.recipes.notes import one_band_notes, population_notes
from kanon_lab.recipes.plan import Plan
from kanon_lab.recipes.population_file import recoded_population
from kanon_lab.recipes.released import role_of, untouched
from kanon_lab.recipes.state import Cells, State, Step
from kanon_lab.recipes.steps import Kind, suppression
from kanon_lab.recipes.streamed import not_known
from kanon_lab.roles import KeySpec, check_there_once
from kanon_lab.settings import read
from kanon_lab.terms import Note

if TYPE_CHECKING:
    from kanon_lab.engines.release import Hidden, Records

_ROW = re.compile(r"\brow [^\s:]+( \(and [\d,]+ more\))?")
#: Measures that are known from counts, by their names in JSON.
MEASURED = frozenset(
    ["estimator", "by_meaning", "distinct_values"]
    + [row.part_of or row.name.split("_#")[0] for row in measures(shown="state", counted=True)]
)


@dataclass(frozen=True)
class CountedProtection(Protection):
    """A counted file and the steps applied to it: its states have a row for each combination of values.

    Attributes
    ----------
    named : tuple of str
        Columns of the file.
    columns : tuple of str
        Those but its direct identifiers.
    values, times : mapping of str to Series or mapping of str to ndarray
        By column that was counted, its different values, and how many records have each.
    now : mapping of str to Series
        What these values have become.
    base : tuple or None
        The rows before the first suppression, and the `now` of then; from there on rows stay as they are.
    lost : mapping of str to ndarray
        By column, the rows of `base` that a suppression has taken its value from.
    row_of_first : ndarray or None
        The row of each row of `original`, in which recoded ones are one; None while they are the same.
    first : Counts or None
        How many records each row of `original` is.
    pairs : tuple
        By step and variable that was recoded, its values before and after, each pair once.
    records : Records or None
        Those of the file, which an engine holds open.
    """

    named: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    values: Mapping[str, pd.Series] = field(default_factory=dict, repr=False)
    times: Mapping[str, np.ndarray] = field(default_factory=dict, repr=False)
    now: Mapping[str, pd.Series] = field(default_factory=dict, repr=False)
    base: tuple[pd.DataFrame, Mapping[str, pd.Series]] | None = field(default=None, repr=False)
    lost: Mapping[str, np.ndarray] = field(default_factory=dict, repr=False)
    row_of_first: np.ndarray | None = field(default=None, repr=False)
    first: Counts | None = field(default=None, repr=False)
    pairs: tuple[tuple[int, str, str, Cells], ...] = field(default=(), repr=False)
    records: Records | None = field(default=None, repr=False)

    @property
    def released_spec(self) -> KeySpec:
        """The roles that matter of what is released; quantities are not counted."""
        return replace(super().released_spec, numeric_variables=())

    @property
    def counts(self) -> Counts:
        """How many records each row is."""
        assert self.state.counts is not None
        return self.state.counts

    @property
    def came(self) -> State:
        """The file before any step, with its rows."""
        return replace(self.start, working=self.original, counts=self.first)

    @property
    def columns_as_they_came(self) -> list[str]:
        """Names of the columns of the file, direct identifiers among them."""
        return list(self.named)

    @property
    def ordered(self) -> pd.DataFrame:
        """The rows."""
        return self.state.working

    @property
    def released_columns(self) -> list[str]:
        """Names of the columns that are released."""
        return [name for name in self.columns if name not in self.state.removed]

    @property
    def n(self) -> int:
        """Records of the file."""
        return int(self.counts.records.sum())

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes on the weight, on columns without a role, and on bands that hold every record."""
        notes = [] if self.spec.weight is not None else [UNWEIGHTED]
        if names := untouched(self.released_table):
            notes.append(Note("untouched", columns=", ".join(map(shortened, names))))
        return (*notes, *one_band_notes(self), *population_notes(self))

    @property
    def released_table(self) -> pd.DataFrame:
        """As `kanon_lab.recipes.released_columns`; different values of columns that were not counted are missing."""
        rows = []
        for name in self.released_columns:
            changed, suppressed, different = 0, 0, None
            if (cells := self.cells(name)) is not None and cells.records is not None:
                other, gone = changed_cells(cells.before, cells.after)
                changed, suppressed = (int(cells.records[places].sum()) for places in (other, gone))
                different = int(cells.after.nunique())
            rows.append((name, role_of(name, self), changed, suppressed, different))
        names = ["column", "role", "cells_changed", "cells_suppressed", "distinct_values"]
        return pd.DataFrame(rows, columns=names).astype({"distinct_values": "Int64"})

    def cells(self, name: str, *, by_home: bool = False) -> Cells | None:
        """A counted column as it came and after the last step: each pair of values once, or row by row with `homes`."""
        if name not in self.values:
            return None
        if name not in self.lost and not (by_home and name in self.original):
            return Cells(self.values[name], self.now[name], self.times[name])
        row = slice(None) if self.row_of_first is None else self.row_of_first
        was, place = coded(self.original[name]), coded(self.state.working[name])
        assert self.first is not None
        first, now, times = was.codes, place.codes[row], self.first.records
        homes = coded(self.original[self.spec.household]).codes if by_home else None
        if not by_home:
            pair, pairs = grouped(*pack([first, now], [len(was.values) + 1, len(place.values) + 1]))
            some = np.empty(len(pairs), dtype=np.intp)
            some[pair] = np.arange(len(pair))
            times = np.bincount(pair, times, minlength=len(pairs)).astype(np.int64)
            first, now = first[some], now[some]
        return Cells(_column(was, first, name), _column(place, now, name), times, homes)

    def recodings(self) -> Iterator[tuple[int, str, str, Cells]]:
        """Place and name of each step that recodes, a variable, and its values before and after."""
        yield from self.pairs

    def hidden(self) -> Hidden | None:
        """What suppressions have taken, as `Records.write` takes it."""
        from kanon_lab.engines.release import Hidden

        if self.base is None:
            return None
        frame, now = self.base
        names = [name for name in dict.fromkeys([*self.spec.key_variables, *self.spec.strata]) if name in frame]
        codes = {}
        for name in names:
            known = frame[name].cat.categories
            place = known.get_indexer(pd.Index(now[name]))
            codes[name] = np.where(now[name].isna() | (place < 0), len(known), place)
        rows = np.column_stack([frame[name].cat.codes.to_numpy().astype(np.int64) for name in names])
        rows = np.where(rows < 0, [len(frame[name].cat.categories) for name in names], rows)
        group, some = distinct_rows(rows)
        lost = {name: np.bincount(group, gone, minlength=len(some)) > 0 for name, gone in self.lost.items()}
        return Hidden(codes, rows[some], lost)

    def write(self, out: str | Path, *, overwrite: bool = False, neutralise: bool = False) -> dict[str, int]:
        """Let the engine write the protected file; formulas of spreadsheets are not looked for."""
        assert self.records is not None
        shown = {name: now for name, now in self.now.items() if now is not self.values[name]}
        self.records.write(out, self.released_columns, shown, self.hidden(), overwrite=overwrite)
        return {}

    def _with_step(self, name: str, kind: Kind, settings: dict[str, Any], seed: int | None) -> CountedProtection:
        with _without_row_numbers():
            if name in ("suppress", "suppress_risk"):
                return self._suppressed(name, kind, settings, seed)
            return (self._removed if name == "remove_variables" else self._recoded)(name, kind, settings)

    def _check_strata(self) -> None:
        for name in self.spec.strata:
            if absent := records_in(self.state.working[name].isna().to_numpy(), self.counts):
                raise DataError(f"column {shortened(name)}, a stratum, has no value in {absent:,} records; fill it in")

    def _recoded(self, name: str, kind: Kind, settings: dict[str, Any]) -> CountedProtection:
        options, state, number = read(RECODINGS[name], settings), self.state, len(self.steps) + 1
        changed, suppressed = (dict.fromkeys(self.released_columns, 0) for _ in range(2))
        columns, now, truth = {}, dict(self.now), dict(state.truth.values)
        pairs = list(self.pairs)
        touched = np.zeros(len(state.working), dtype=bool)
        for column in options.columns:
            was, became, now[column] = self._recode_values(name, options, column)
            other, gone = changed_cells(was, became)
            times = self.times[column]
            if column in self.lost:
                times = _count_values(state.working[column], was, self.counts)
            pairs.append((number, name, column, Cells(was, became, times)))
            if column not in state.working:
                changed[column], suppressed[column] = (int(self.times[column][part].sum()) for part in (other, gone))
                continue
            columns[column], of_row = _recode_rows(state.working[column], was, became)
            other, gone = (part[of_row] & (of_row >= 0) for part in (other, gone))
            changed[column], suppressed[column] = (records_in(rows, self.counts) for rows in (other, gone))
            touched |= other | gone
            if column in truth:
                truth[column] = (
                    columns[column]
                    if self.base is None
                    else recoded_truth(truth[column], state.working[column], columns[column], options.recoded)
                )
        records = None
        if len(columns) == len(options.columns):
            records = records_in(touched, self.counts)
        elif len(options.columns) == 1:
            records = sum(changed.values()) + sum(suppressed.values())
        working, counts, row_of_first = state.working.assign(**columns), self.counts, self.row_of_first
        population = state.truth.population
        if population is not None:
            population = recoded_population(population, kind.rules(settings), state.working, working, ())
        if columns and self.base is None:
            working, row, counts = _merge_rows(working, counts)
            row_of_first = row if row_of_first is None else row[row_of_first]
            truth = {key: working[key] for key in truth}
        state = self._state(working, counts, truth, population=population)
        step = Step(name, settings, None, records, (), changed, suppressed, state)
        return self._followed_by(step, row_of_first=row_of_first, now=now, pairs=tuple(pairs))

    def _as_it_came(self, column: str) -> pd.Series | None:
        return self.values.get(column)

    def _recode_values(self, step: str, options: Any, name: str) -> tuple[pd.Series, pd.Series, pd.Series]:
        """The values that are shown before and after a recoding; and all, missing where none is shown any more."""
        was = self.now[name]
        if name not in self.lost:
            became = recoded_column(step, options, was)
            return was, became, became
        left = self.state.working[name]
        place = left.cat.categories.get_indexer(pd.Index(was))
        shown = was[(place >= 0) & was.notna().to_numpy()]
        if isinstance(shown.dtype, np.dtype) and shown.dtype.kind in "iub":
            shown = shown.convert_dtypes()
        shown = shown.reindex([*shown.index, -1])  # and one that is missing
        became = recoded_column(step, options, shown)
        return shown, became, became.reindex(was.index)

    def _suppressed(self, name: str, kind: Kind, settings: dict[str, Any], seed: int | None) -> CountedProtection:
        state, method = self.state, suppression(name, settings, seed)
        result = method(state.working, self.released_spec, **self._known(name), counts=self.counts)
        changed, suppressed = (dict.fromkeys(self.released_columns, 0) for _ in range(2))
        lost, touched = dict(self.lost), np.zeros(len(state.working), dtype=bool)
        for column, cells in named_columns(state.working):
            gone = cells.notna().to_numpy() & result.frame[column].isna().to_numpy()
            if gone.any():
                lost[column] = lost.get(column, False) | gone
                touched |= gone
                if column in suppressed:
                    suppressed[column] = records_in(gone, self.counts)
        after = self._state(result.frame, self.counts, state.truth.values, population=state.truth.population)
        records = records_in(touched, self.counts)
        step = Step(name, settings, seed, records, (), changed, suppressed, after, result.claims, result.certificate)
        return self._followed_by(step, base=self.base or (state.working, self.now), lost=lost)

    def _removed(self, name: str, kind: Kind, settings: dict[str, Any]) -> CountedProtection:
        state = self.state
        apply: Any = kind.apply
        removed = apply(state.working, self.released_spec, settings, seed=0).removed
        removed = tuple(column for column in removed if column not in state.removed)
        changed, suppressed = ({c: 0 for c in self.released_columns if c not in removed} for _ in range(2))
        records = self.n if self.spec.weight in removed else None
        if {*removed} <= {*state.working}:
            records = records_in(state.working[[*removed]].notna().any(axis=1).to_numpy(), self.counts)
        after = self._state(state.working, self.counts, state.truth.values, removed, state.truth.population)
        return self._followed_by(Step(name, settings, None, records, removed, changed, suppressed, after))

    def _state(
        self,
        working: pd.DataFrame,
        counts: Counts,
        values: Mapping[str, pd.Series],
        removed: tuple[str, ...] = (),
        population: Population | None = None,
    ) -> State:
        """The state of these rows, in which more columns are removed."""
        removed, truth = (*self.state.removed, *removed), Truth(values, population=population)
        return State(working, removed, truth, self.measured(working, removed, truth, counts), counts)

    def _followed_by(self, step: Step, **parts: Any) -> CountedProtection:
        """With one more step; of earlier states the measures stay and the rows go, since there may be many."""
        slim = replace(self.state, working=self.state.working.iloc[:0], truth=Truth({}), counts=None)
        if not self.steps:
            return replace(self, start=slim, steps=(step,), **parts)
        return replace(self, steps=(*self.steps[:-1], replace(self.steps[-1], state=slim), step), **parts)


@contextmanager
def _without_row_numbers() -> Iterator[None]:
    """Leave the number of a row out of an error: it is a row of counts, not of the file."""
    try:
        yield
    except DataError as error:
        if not _ROW.search(str(error)):
            raise
        other = type(error)(_ROW.sub("in some records", str(error)))
        if isinstance(error, TextError) and isinstance(other, TextError):
            other.column = error.column
        raise other from None


def _column(known: Coded, codes: np.ndarray, name: str) -> pd.Series:
    """A column from numbers of values, -1 where missing."""
    column = pd.Series(known.values, name=name)
    if (codes < 0).any() and isinstance(column.dtype, np.dtype) and column.dtype.kind in "iub":
        column = column.convert_dtypes()
    return pd.Series(column.array.take(codes, allow_fill=True), name=name)


def _count_values(column: pd.Series, values: pd.Series, counts: Counts) -> np.ndarray:
    """How many records of the rows of a column have each of these values; 0 where one stands for the second time."""
    place = column.cat.categories.get_indexer(pd.Index(values))
    place[values.isna().to_numpy()] = -1
    times = np.bincount(column.cat.codes.to_numpy().astype(np.intp) + 1, counts.records, len(column.cat.categories) + 1)
    return np.where(values.duplicated(), 0, times[place + 1]).astype(np.int64)


def _recode_rows(column: pd.Series, was: pd.Series, became: pd.Series) -> tuple[pd.Series, np.ndarray]:
    """A column of rows recoded; and the position among the values of each row's, -1 where it is missing."""
    categories, new = column.cat.categories, coded(became)
    place = categories.get_indexer(pd.Index(was))
    place[was.isna().to_numpy()] = -1
    some = np.full(len(categories) + 1, -1)
    some[place[place >= 0]] = np.flatnonzero(place >= 0)
    of_row = some[column.cat.codes.to_numpy()]
    codes = np.append(new.codes, -1)[of_row]
    kind = pd.CategoricalDtype(new.values)
    cells = pd.Categorical.from_codes(codes.astype(np.min_scalar_type(-len(new.values) - 1)), dtype=kind)
    return pd.Series(cells, index=column.index, name=column.name), of_row


def _merge_rows(frame: pd.DataFrame, counts: Counts) -> tuple[pd.DataFrame, np.ndarray, Counts]:
    """Rows that are alike as one; the row of each."""
    columns = [column.cat.codes.to_numpy() for _, column in frame.items()]
    row, different = grouped(*pack(columns, [len(column.cat.categories) + 1 for _, column in frame.items()]))
    n = len(different)
    some = np.empty(n, dtype=np.intp)
    some[row] = np.arange(len(row))
    records = np.bincount(row, counts.records, minlength=n).astype(np.int64)
    weights = None if counts.weights is None else sums_by_group(row, counts.weights, n)
    return frame.take(some).reset_index(drop=True), row, Counts(records, weights)


def protect_counted(records: Records, plan: Plan, *, progress: bool = False) -> CountedProtection:
    """Apply the steps of a recipe to the counts of a file that an engine has opened."""
    with inside(plan.name):
        return apply_steps(counted_protection(records, plan), plan.steps, progress=progress)


def counted_protection(records: Records, plan: Plan) -> CountedProtection:
    """The protection of a file that an engine has opened, before any step."""
    counted = records.counted
    for name in plan.spec.released_as_is:  # it is released, and not counted
        check_there_once(pd.DataFrame(columns=list(records.columns)), name)
    for name in (name for name in plan.spec.numeric_variables if name in records.values):
        with _without_row_numbers():
            quantity(records.values[name])
    counts = Counts(counted.records, counted.weights)
    baseline = Baseline(counted.frame, plan.spec, plan.k, plan.risks, plan.estimator, None, None)
    names = (*plan.spec.key_variables, *plan.spec.sensitive_variables)
    truth = Truth({name: counted.frame[name] for name in names}, population=plan.read_population())
    start = State(counted.frame, (), truth, baseline.measured(counted.frame, (), truth, counts), counts)
    return CountedProtection(
        **vars(baseline),
        seed=plan.seed,
        start=start,
        named=records.named,
        columns=records.columns,
        values=records.values,
        times=records.times,
        now=dict(records.values),
        first=counts,
        records=records,
    )


def not_counted(protection: CountedProtection, unknown: Sequence[str] = ()) -> Iterator[str]:
    """What is not measured on counts, and which limits are therefore `unknown`."""
    yield (
        "counted by an engine: links, losses, indicators and what other columns or members of a household reveal are "
        "not measured; protect an extract in memory for them"
    )
    if unknown:
        yield not_known(unknown)
    if numbers := [str(n) for n, step in enumerate(protection.steps, 1) if step.records_touched is None]:
        yield f"records touched by step {', '.join(numbers)} are not counted"
    if any(step.certificate and step.certificate.required.missing == "category" for step in protection.steps):
        yield (
            "an engine suppresses values of whole classes, since it cannot divide a weight; in memory single records "
            "lose values, and fewer cells are suppressed"
        )
    yield "the release was not searched for copies of direct identifiers under other names; check untouched columns"
