"""A recipe applied to counts of a file: to the different values of its columns, and to its combinations of values.

What a step of these makes of a value follows from the value, or from the class of its record; so the file itself is
read once more only, to be written. Everything else needs records.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from kanon_lab.classes.counts import Counts, records_in
from kanon_lab.classes.sums import sums_by_group
from kanon_lab.columns import Coded, coded, distinct_rows, grouped, named_columns, pack, quantity
from kanon_lab.errors import DataError, inside, shortened
from kanon_lab.measures.file_measures import UNWEIGHTED
from kanon_lab.measures.registry import LIMITS, measures
from kanon_lab.methods.recode_settings import RECODINGS, recoded_column
from kanon_lab.recipes.chain import Protection
from kanon_lab.recipes.measured import Baseline, Measured, Truth, recoded_truth, same_values, without_variables
from kanon_lab.recipes.plan import Plan, columns_of
from kanon_lab.recipes.released import NO_ROLE, role_of
from kanon_lab.recipes.state import Cells, State, Step, check_columns, claims_since, step_errors
from kanon_lab.recipes.steps import kind_of
from kanon_lab.recipes.streamed import not_known
from kanon_lab.roles import KeySpec
from kanon_lab.settings import read
from kanon_lab.terms import Note

if TYPE_CHECKING:
    from kanon_lab.engines.release import Hidden, Records

_ROW = re.compile(r"\brow [^\s:]+( \(and [\d,]+ more\))?")
#: Measures that counts tell, by their names in JSON.
MEASURED = frozenset(
    ["estimator", "by_meaning", "distinct_values"]
    + [row.part_of or row.name.split("_#")[0] for row in measures(shown="state", counted=True)]
)


@dataclass(frozen=True)
class CountedProtection(Protection):
    """A counted file and the steps applied to it: its states have a row for each combination of values.

    Attributes
    ----------
    named : columns of the file
    columns : those but its direct identifiers
    values, times : by column that was counted, its different values, and how many records have each
    now : what these values have become
    base : the rows before the first suppression, and the `now` of then; from there on rows stay as they are
    lost : by column, the rows of `base` that a suppression has taken its value from
    row_of_first : the row of each row of `original`, in which recoded ones are one; None while they are the same
    first : how many records each row of `original` is
    remarks : what is to be known of steps
    pairs : by step and variable that was recoded, its values before and after, each pair once
    records : those of the file, which an engine holds open
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
    remarks: tuple[Note, ...] = ()
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
        """On the weight, columns without a role, and bands that hold every record."""
        found = [] if self.spec.weight is not None else [UNWEIGHTED]
        if same := self.untouched:
            found.append(Note("untouched", columns=", ".join(map(shortened, same))))
        return (*found, *self.remarks)

    @property
    def untouched(self) -> list[str]:
        """Released columns that have no role and are as they came."""
        rows = self.released_table
        return [*rows.loc[(rows["role"] == NO_ROLE) & (rows["cells_changed"] == 0), "column"]]

    @property
    def released_table(self) -> pd.DataFrame:
        """As `kanon_lab.recipes.released_columns`; different values of columns that were not counted are missing."""
        rows = []
        for name in self.released_columns:
            changed, suppressed, different = self._became(name)
            rows.append((name, role_of(name, self), changed, suppressed, different))
        names = ["column", "role", "cells_changed", "cells_suppressed", "distinct_values"]
        return pd.DataFrame(rows, columns=names).astype({"distinct_values": "Int64"})

    def _became(self, name: str) -> tuple[int, int, int | None]:
        """Cells of a column that have another value than they came with, and none any more; its different values."""
        if (cells := self.cells(name)) is None or cells.records is None:
            return 0, 0, None
        first, now, times = cells.before, cells.after, cells.records
        known, shown = first.notna().to_numpy(), now.notna().to_numpy()
        changed = int(times[shown & ~same_values(first, now)].sum())
        return changed, int(times[known & ~shown].sum()), int(now.nunique())

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

    def shown(self) -> dict[str, pd.Series]:
        """By column that was recoded, what its values became."""
        return {name: now for name, now in self.now.items() if now is not self.values[name]}

    def write(self, out: str | Path, *, overwrite: bool = False, neutralise: bool = False) -> dict[str, int]:
        """Let the engine write the protected file; formulas of spreadsheets are not looked for."""
        assert self.records is not None
        self.records.write(out, self.released_columns, self.shown(), self.hidden(), overwrite=overwrite)
        return {}

    def apply(
        self, name: str, settings: Mapping[str, Any] | None = None, *, seed: int | None = None
    ) -> CountedProtection:
        """Apply a step."""
        kind, position = kind_of(name), len(self.steps) + 1
        with step_errors(position, name):
            settings, _ = self._with_seed(kind, settings, seed, position)
            check_columns(columns_of(name, settings), self.released_columns)
            if kind.within_strata:
                self._check_strata()
            do = self._recoded if name in RECODINGS else self._removed if name == "remove_variables" else self._without
            with _of_counts():
                return do(name, settings)

    def _check_strata(self) -> None:
        for name in self.spec.strata:
            if absent := records_in(self.state.working[name].isna().to_numpy(), self.counts):
                raise DataError(f"column {shortened(name)}, a stratum, has no value in {absent:,} records; fill it in")

    def _recoded(self, name: str, settings: dict) -> CountedProtection:
        given, state = read(RECODINGS[name], settings), self.state
        columns, now, truth, pairs = {}, dict(self.now), dict(state.truth.values), list(self.pairs)
        done, touched = _Done(self.released_columns), np.zeros(len(state.working), dtype=bool)
        remarks, single = list(self.remarks), len(given.columns) == 1
        for each in given.columns:
            was, became, now[each] = self._values_recoded(name, given, each)
            if {"bands", "width"} & settings.keys() and was.nunique() > 1 and became.nunique() == 1:
                remarks.append(Note("one_band", variable=shortened(each), step=len(self.steps) + 1))
            other = became.notna().to_numpy() & ~same_values(was, became)
            gone = (was.notna() & became.isna()).to_numpy()
            times = _times(state.working[each], was, self.counts) if each in self.lost else self.times[each]
            pairs.append((len(self.steps) + 1, name, each, Cells(was, became, times)))
            if each not in state.working:
                done.changed[each] = int(self.times[each][other].sum())
                done.suppressed[each] = int(self.times[each][gone].sum())
                done.touched = done.changed[each] + done.suppressed[each] if single else None
                continue
            columns[each], of_row = _in_rows(state.working[each], was, became)
            changed, lost = other[of_row] & (of_row >= 0), gone[of_row] & (of_row >= 0)
            done.changed[each], done.suppressed[each] = (records_in(rows, self.counts) for rows in (changed, lost))
            touched |= changed | lost
            if each in truth:
                truth[each] = (
                    columns[each]
                    if self.base is None
                    else recoded_truth(truth[each], state.working[each], columns[each], given.recoded)
                )
        if done.touched == 0 and columns:
            done.touched = records_in(touched, self.counts) if len(columns) == len(given.columns) else None
        working = state.working.assign(**columns)
        after = replace(self, now=now, remarks=tuple(remarks), pairs=tuple(pairs))
        if self.base is not None:
            return after._with_step(name, settings, done, working, self.counts, truth=truth)
        merged, row, counts = _merged(working, self.counts) if columns else (working, None, self.counts)
        if row is not None:
            after = replace(after, row_of_first=row if self.row_of_first is None else row[self.row_of_first])
        return after._with_step(name, settings, done, merged, counts, truth={key: merged[key] for key in truth})

    def _values_recoded(self, step: str, given: Any, name: str) -> tuple[pd.Series, pd.Series, pd.Series]:
        """The values that are shown before and after a recoding; and all, missing where none is shown any more."""
        was = self.now[name]
        if name not in self.lost:
            became = recoded_column(step, given, was)
            return was, became, became
        left = self.state.working[name]
        place = left.cat.categories.get_indexer(pd.Index(was))
        shown = was[(place >= 0) & was.notna().to_numpy()]
        if isinstance(shown.dtype, np.dtype) and shown.dtype.kind in "iub":
            shown = shown.convert_dtypes()
        shown = shown.reindex([*shown.index, -1])  # and one that is missing
        became = recoded_column(step, given, shown)
        return shown, became, became.reindex(was.index)

    def _without(self, name: str, settings: dict) -> CountedProtection:
        """Without the values that a suppression takes."""
        from kanon_lab.methods import local_suppression, suppress_above_risk

        method = local_suppression if name == "suppress" else suppress_above_risk
        state, given = self.state, read(kind_of(name).model, settings).fields_set
        result = method(state.working, self.released_spec, **given, counts=self.counts)
        done, lost, touched = _Done(self.released_columns), dict(self.lost), np.zeros(len(state.working), dtype=bool)
        for each, column in named_columns(state.working):
            gone = column.notna().to_numpy() & result.frame[each].isna().to_numpy()
            if gone.any():
                lost[each] = lost.get(each, False) | gone
                touched |= gone
                if each in done.suppressed:
                    done.suppressed[each] = records_in(gone, self.counts)
        done.touched = records_in(touched, self.counts)
        base = self.base or (state.working, self.now)
        after = replace(self, base=base, lost=lost)
        after = after._with_step(name, settings, done, result.frame, self.counts, claims=result.claims)
        if not any(earlier.suppressed for earlier in self.steps):
            return after
        step = replace(after.steps[-1], claims=claims_since(after))
        return replace(after, steps=(*after.steps[:-1], step))

    def _removed(self, name: str, settings: dict) -> CountedProtection:
        state = self.state
        apply: Any = kind_of(name).apply
        gone = apply(state.working, self.released_spec, settings, seed=0).removed
        gone = [each for each in gone if each not in state.removed]
        done = _Done([each for each in self.released_columns if each not in gone])
        if {*gone} <= {*state.working}:
            done.touched = records_in(state.working[gone].notna().any(axis=1).to_numpy(), self.counts)
        elif self.spec.weight in gone:
            done.touched = self.n
        else:
            done.touched = None
        return self._with_step(name, settings, done, state.working, self.counts, removed=tuple(gone))

    def _with_step(
        self,
        name: str,
        settings: dict,
        done: _Done,
        working: pd.DataFrame,
        counts: Counts,
        *,
        truth: Mapping[str, pd.Series] | None = None,
        removed: tuple[str, ...] = (),
        claims: pd.DataFrame | None = None,
    ) -> CountedProtection:
        last = self.state
        every = (*last.removed, *removed)
        values = last.truth.values if truth is None else truth
        measured = _measured(self, working, every, counts)
        state = State(working, every, Truth(values), measured, counts)
        touched: Any = done.touched
        step = Step(name, settings, None, touched, removed, done.changed, done.suppressed, state, claims, None)
        # Of earlier states the measures stay, and the rows go: there may be many.
        slim = replace(last, working=last.working.iloc[:0], truth=Truth({}), counts=None)
        if not self.steps:
            return replace(self, start=slim, steps=(step,))
        return replace(self, steps=(*self.steps[:-1], replace(self.steps[-1], state=slim), step))


class _Done:
    """What a step did: the cells of each released column, and the records (None where that is not known)."""

    def __init__(self, columns: Iterable[str]):
        self.changed, self.suppressed = (dict.fromkeys(columns, 0) for _ in range(2))
        self.touched: int | None = 0


class _of_counts:
    """Leaves out the number of a row in what is said of a value: it is none of the file."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, DataError) and _ROW.search(str(error)):
            raise type(error)(_ROW.sub("in some records", str(error))) from None


def _column(known: Coded, codes: np.ndarray, name: str) -> pd.Series:
    """A column from numbers of values, -1 where missing."""
    column = pd.Series(known.values, name=name)
    if (codes < 0).any() and isinstance(column.dtype, np.dtype) and column.dtype.kind in "iub":
        column = column.convert_dtypes()
    return pd.Series(column.array.take(codes, allow_fill=True), name=name)


def _times(column: pd.Series, values: pd.Series, counts: Counts) -> np.ndarray:
    """How many records of the rows of a column have each of these values; 0 where one stands for the second time."""
    place = column.cat.categories.get_indexer(pd.Index(values))
    place[values.isna().to_numpy()] = -1
    times = np.bincount(column.cat.codes.to_numpy().astype(np.intp) + 1, counts.records, len(column.cat.categories) + 1)
    return np.where(values.duplicated(), 0, times[place + 1]).astype(np.int64)


def _in_rows(column: pd.Series, was: pd.Series, became: pd.Series) -> tuple[pd.Series, np.ndarray]:
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


def _merged(frame: pd.DataFrame, counts: Counts) -> tuple[pd.DataFrame, np.ndarray, Counts]:
    """Rows that are alike as one; the row of each."""
    columns = [column.cat.codes.to_numpy() for _, column in frame.items()]
    row, found = grouped(*pack(columns, [len(column.cat.categories) + 1 for _, column in frame.items()]))
    n = len(found)
    some = np.empty(n, dtype=np.intp)
    some[row] = np.arange(len(row))
    records = np.bincount(row, counts.records, minlength=n).astype(np.int64)
    weights = None if counts.weights is None else sums_by_group(row, counts.weights, n)
    return frame.take(some).reset_index(drop=True), row, Counts(records, weights)


class _CountedComparison:
    """What of `kanon_lab.recipes.measured.Comparison` counts tell."""

    def __init__(self, working: pd.DataFrame, removed: tuple[str, ...], spec: KeySpec, counts: Counts):
        self.removed = removed
        n, known = int(counts.records.sum()), dict.fromkeys(spec.key_variables, 0.0)
        self.distinct_values = dict.fromkeys(spec.key_variables, 0)
        for name in (name for name in spec.key_variables if name not in removed):
            known[name] = records_in(working[name].notna().to_numpy(), counts) / n
            self.distinct_values[name] = len(coded(working[name]).values)
        self.known_cells = float(sum(known.values()) / len(known))


def _measured(baseline: Baseline, working: pd.DataFrame, removed: tuple[str, ...], counts: Counts) -> Measured:
    """The measures that counts tell; the others are None."""
    spec = replace(without_variables(baseline.spec, removed), numeric_variables=())
    return baseline.measured_by(working, spec, _CountedComparison(working, removed, baseline.spec, counts), counts)


def protect_counted(records: Records, plan: Plan, *, progress: bool = False) -> CountedProtection:
    """Apply the steps of a recipe to the counts of a file that an engine has opened."""
    from tqdm import tqdm

    with inside(plan.name):
        protection = counted_protection(records, plan)
        for name, settings in tqdm(plan.steps, desc="steps", disable=None if progress else True, leave=False):
            protection = protection.apply(name, settings)
    return protection


def counted_protection(records: Records, plan: Plan) -> CountedProtection:
    """The protection of a file that an engine has opened, before any step."""
    counted = records.counted
    for name in (name for name in plan.spec.numeric_variables if name in records.values):
        with _of_counts():
            quantity(records.values[name])
    counts = Counts(counted.records, counted.weights)
    baseline = Baseline(counted.frame, plan.spec, plan.k, plan.risks, plan.estimator, None, None)
    names = (*plan.spec.key_variables, *plan.spec.sensitive_variables)
    measured = _measured(baseline, counted.frame, (), counts)
    start = State(counted.frame, (), Truth({name: counted.frame[name] for name in names}), measured, counts)
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


def not_counted(protection: CountedProtection, limits: Iterable[str] = ()) -> Iterator[str]:
    """What is not measured on counts, and which limits are on that."""
    yield (
        "counted by an engine: links, losses, indicators and what other columns or members of a household tell are not "
        "measured; protect an extract in memory for them"
    )
    if unknown := [name for name in limits if not LIMITS[name].counted]:
        yield not_known(unknown)
    if numbers := [str(n) for n, step in enumerate(protection.steps, 1) if step.records_touched is None]:
        yield f"records touched by step {', '.join(numbers)} are not counted"
    yield "that copies of direct identifiers under other names are not released was not proved; check untouched columns"
