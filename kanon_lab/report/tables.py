"""The tables of a report, from the states of a protection: aggregates that name no record and no rare category."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab.classes import ClassTable
from kanon_lab.classes.counts import SIZE_RANGES
from kanon_lab.columns import coded, distinct, plain
from kanon_lab.errors import visible
from kanon_lab.measures import MEASURES, file_risk
from kanon_lab.measures import unique_keys as uniques
from kanon_lab.measures.survey_indicators import BETWEEN, KEYS, text_of
from kanon_lab.population.law import as_ranges
from kanon_lab.recipes.chain import Protection
from kanon_lab.recipes.exposure import columns_as_keys
from kanon_lab.recipes.released import released_labels, role_of
from kanon_lab.recipes.state import Cells, final_indicators
from kanon_lab.recipes.verdict import Release
from kanon_lab.report.safe import QUANTILES, counted, pooled, safe_quantiles, told_label

# Bounds of the ranges of individual risk.
_RISKS = (1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1)
_MOST_LINES = 15
# Keys in a set that makes a record unique, at most: those that matter most are small, and all of them are many.
_SUDA_SIZE = 3
# A quantity with more different values than this is shown by its quantiles.
_MOST_NUMBERS = 30
#: Ranges of the overlap of two intervals, by their lower ends (0-1).
OVERLAPS = (0.0, 0.5, 0.75, 0.9)
# Names of columns of codes.
_CODE = re.compile(
    r"(?i)(?:^|[^a-z])(?:id|code?|cod|codi|c[oó]digo|zip|post(?:al)?(?:code)?|comuna|commune|munici\w*|provinc\w*|region)"
    r"(?:[^a-z]|$)"
)
# The number that a band or a number begins with, as in 20-29, [20, 30) and -5.
_START = re.compile(r"[\[(<>=\s]*(-?\d+(?:\.\d+)?)")


class Risks:
    """The classes of a state with the individual risk (0-1) of their records, one number a class."""

    def __init__(self, table: ClassTable, estimator: str):
        self.table, self.of_class = table, file_risk(table, estimator=estimator).of_class

    @property
    def ranges(self) -> np.ndarray:
        """Number of each class's range of risks: above one of the bounds, and up to the next."""
        return np.searchsorted(_RISKS, self.of_class * (1 - 1e-12)).clip(1) - 1


def risk_ranges(states: Mapping[str, Risks]) -> pd.DataFrame:
    """Records by range of individual risk in each version, from the first range that any has to the last."""
    size = len(_RISKS) - 1
    counts = {name: np.bincount(risks.ranges, risks.table.records, size) for name, risks in states.items()}
    some = np.flatnonzero(sum(counts.values()))
    rows = [
        (name, *_RISKS[place : place + 2], int(count[place]), count[place] / states[name].table.n)
        for name, count in counts.items()
        for place in range(some[0], some[-1] + 1)
    ]
    return pd.DataFrame(rows, columns=["version", "low", "high", "records", "share"])


def riskiest(risks: Risks) -> pd.DataFrame:
    """Classes and records by f_k and range of individual risk, the riskiest first, without key values."""
    table, sizes, bounds = risks.table, as_ranges(SIZE_RANGES), np.array(_RISKS)
    size = np.searchsorted([part.k_from for part in sizes], table.f_k, side="right") - 1
    rows = pd.DataFrame({"size": size, "range": risks.ranges, "records": table.records})
    grouped = rows.groupby(["range", "size"])["records"].agg(classes="size", records="sum").reset_index()
    grouped = grouped.sort_values(["range", "size"], ascending=[False, True], ignore_index=True).head(_MOST_LINES)
    columns = {
        "f_k": [sizes[n].label for n in grouped["size"]],
        "low": bounds[grouped["range"]],
        "high": bounds[grouped["range"] + 1],
    }
    same = (table.f_k == table.records).all()  # else combinations are not classes of f_k records
    return pd.DataFrame({**columns, **grouped[["classes", "records"] if same else ["records"]]})


def unique_keys(states: Mapping[str, ClassTable]) -> tuple[pd.DataFrame, pd.DataFrame, int]:
    """What each key adds to the uniqueness of records, the sets of keys behind it, and how many keys a set may have."""
    size = min(_SUDA_SIZE, *(len(table.spec.key_variables) for table in states.values()))
    contributions, sets = [], []
    for name, table in states.items():
        if table.sample_uniques:
            variables, minimal = uniques(table, max_size=size)
            contributions.append(variables.assign(version=name))
            sets.append(minimal.assign(version=name, variables=[" x ".join(names) for names in minimal["variables"]]))
    return (
        _joined(contributions, "version variable contribution msus"),
        _joined(sets, "version variables size records"),
        size,
    )


def _joined(frames: list[pd.DataFrame], columns: str) -> pd.DataFrame:
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame({name: [] for name in columns.split()})


def diversities(release: Release) -> pd.DataFrame:
    """The worst class by each measure of diversity, right guesses, and records that meet one value only."""
    rows = []
    for name, of_variable in release.diversity.items():
        measured = {measure: of_variable[measure] for measure in (*MEASURES, "inferred")}
        rows.append({"variable": name, **measured, "homogeneous": release.alike_in(name)})
    return pd.DataFrame(rows, columns=["variable", *MEASURES, "inferred", "homogeneous"])


def variables(protection: Protection, columns: pd.DataFrame, *, least: int) -> pd.DataFrame:
    """Every column of the file as it came: its role, what became of it, and how many values it has.

    Of a column that is not counted only the first two are known.
    """
    spec = protection.spec
    released, named = columns.set_index("column"), {*spec.key_variables, *spec.sensitive_variables}
    rows = []
    for name in protection.columns_as_they_came:
        if name in spec.direct_identifiers:
            rows.append({"column": name, "role": "identifier", "fate": "identifier"})
            continue
        cells = protection.cells(name)
        row: dict[str, Any] = {"column": name, "role": role_of(name, protection), "fate": "removed"}
        if cells is not None:
            row["kind"] = kind_of_column(plain(cells.before))
            row["distinct_before"] = None if name == spec.weight else int(cells.before.nunique())
        if name in released.index:
            touched = released.loc[name, ["cells_changed", "cells_suppressed"]].any()
            row["fate"] = "changed" if touched else "unchanged"
            row["distinct_after"] = released["distinct_values"][name]
        if name in released.index and cells is not None:
            times, missing = by_value(cells.after, cells.records)
            row["few"] = int((times < least).sum()) if name in named else None
            row["missing"] = missing
        rows.append(row)
    names, counts = ["column", "role", "fate", "kind"], ["distinct_before", "distinct_after", "few", "missing"]
    return pd.DataFrame(rows, columns=[*names, *counts]).astype(dict.fromkeys(counts, "Int64"))


def by_value(column: pd.Series, records: np.ndarray | None) -> tuple[np.ndarray, int]:
    """How many records have each value of a column, in the order of the values; and how many miss it."""
    known = coded(column).codes
    counts = np.bincount(known.astype(np.intp) + 1, records, minlength=1).astype(np.int64)
    return counts[1:][counts[1:] > 0], int(counts[0])


def values(protection: Protection, *, least: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Categories of the released keys and sensitive variables by their records, and quantiles of the quantities.

    Only the release is shown, and its counts are rounded: from counts of the original file, or of a finer key, the
    count of a category with few records could be found by subtraction.
    """
    spec, state = protection.spec, protection.state
    labels = {} if state.counts is not None else released_labels(protection).labels
    labelled = {*labels, *protection.given_labels}
    rows: list[tuple[Any, ...]] = []
    quantiles: list[dict[Any, Any]] = []
    for name in dict.fromkeys([*spec.key_variables, *spec.sensitive_variables, *spec.numeric_variables]):
        if name in state.removed:
            continue
        cells: Any = protection.cells(name, by_home=spec.household is not None)
        column, homes = plain(cells.after), cells.homes
        is_code = name in spec.key_variables or name in labelled or bool(_CODE.search(name))
        if is_quantity(column, named=name in spec.numeric_variables, coded=is_code):
            if spec.household is None or homes is not None:
                numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
                quantile_values = safe_quantiles(numbers, least=least, homes=homes, records=cells.records)
                quantiles.append({"variable": name, **quantile_values})
            continue
        of_codes = labels.get(name, {})
        rows += [
            (name, *row) for row in category_rows(column, of_codes, least=least, records=cells.records, homes=homes)
        ]
    categories = pd.DataFrame(rows, columns=["variable", "category", "records", "share", "pooled"])
    spread = pd.DataFrame(quantiles, columns=["variable", *QUANTILES])
    return categories.astype({"records": "Int64", "share": float}), spread


def category_rows(
    column: pd.Series,
    labels: Mapping,
    *,
    least: int,
    records: np.ndarray | None = None,
    homes: np.ndarray | None = None,
) -> Iterator[tuple[str | None, int | None, float | None, int]]:
    """The categories of a column, rare ones pooled: category, records and their share, and the number of categories.

    A row without a category is the pool. A cell may be that of several `records`; `homes` are the households of cells.
    """
    number = coded(column)
    codes, entries = number.codes.astype(np.intp), number.values
    known = codes >= 0
    counts = np.bincount(codes[known], None if records is None else records[known], len(entries))
    n = len(column) if records is None else int(records.sum())
    apart = None if homes is None else pd.Series(homes).groupby(codes).nunique()
    pool = pooled(pd.Series(counts.astype(np.int64)), least=least, homes=apart)
    for code, count in _in_order(pool.shown, entries):
        yield _category(entries[code], labels), counted(count), counted(count) / n, 1
    if pool.categories:
        rest = None if pool.records is None else counted(pool.records)
        yield None, rest, None if rest is None else rest / n, pool.categories


def kind_of_column(column: pd.Series) -> str:
    """``truth``, ``number``, ``date`` or ``text``."""
    kinds = pd.api.types
    if kinds.is_bool_dtype(column.dtype):
        return "truth"
    if kinds.is_numeric_dtype(column.dtype):
        return "number"
    return "date" if kinds.is_datetime64_any_dtype(column.dtype) else "text"


def is_quantity(column: pd.Series, *, named: bool, coded: bool = False) -> bool:
    """Whether a column is shown by its quantiles: it holds numbers, and too many of them, or those of a quantity.

    Whole numbers that are `coded` (keys, with labels, or a code by their name) are categories unless they are named
    among the quantities: half of the codes of communes lie below no commune.
    """
    if kind_of_column(column) != "number" or named:
        return kind_of_column(column) == "number"
    whole = coded and (pd.to_numeric(column.dropna()) % 1 == 0).all()
    return not whole and column.nunique() > _MOST_NUMBERS


def indicators(protection: Protection, *, least: int) -> tuple[pd.DataFrame, int]:
    """How far the survey's own indicators overlap with those before any step, and how many the release lost.

    No estimate, and only a range of each overlap: by the estimates before and after, values of single records could be
    worked out. Told are means of groups, and rates of categories in groups, of `least` records in both versions.
    """
    compared = final_indicators(protection)
    if not len(compared) or not protection.steps:
        return pd.DataFrame(columns=[*KEYS, "overlap", "covered"]), 0
    after = protection.state.working.loc[protection.original.index].drop(columns=list(protection.state.removed))
    by = {BETWEEN.join(names): names for names in getattr(protection.indicators, "by", ())} | {"": ()}
    original, household = protection.original, protection.spec.household
    homes = pd.Series(distinct(original[household])[0], index=original.index) if household else None
    many, still = (_records(frame, compared, by, homes) >= least for frame in (original, after))
    lost = compared["status"] == "lost"
    shown = compared[many & still & ~lost].reset_index(drop=True)
    place = np.searchsorted(OVERLAPS, shown["overlap"].to_numpy(dtype=float), side="right") - 1
    shown["overlap"] = np.where(shown["overlap"].isna(), np.nan, np.array(OVERLAPS)[place])
    return shown[[*KEYS, "overlap", "covered"]], int((many & lost).sum())


def _records(
    frame: pd.DataFrame, compared: pd.DataFrame, by: Mapping[str, tuple[str, ...]], homes: pd.Series | None
) -> np.ndarray:
    """Records, or households where there are, behind each estimate: of its group, and of a rate its category in it.

    0 where a column is not there.
    """
    records = np.zeros(len(compared), dtype=int)
    key: Any
    for key, part in compared.reset_index(drop=True).groupby(["kind", "variable", "by"], sort=False):
        kind, variable, label = key
        if not {variable, *by[label]} <= {*frame.columns}:
            continue
        known = frame[variable].isna().map({True: None, False: ""}) if kind == "mean" else _texts(frame[variable])
        columns = [*(_texts(frame[name]) for name in by[label]), known]
        cells = pd.concat(columns, axis=1, keys=range(len(columns)))
        counts = cells.value_counts() if homes is None else homes.groupby([cells[column] for column in cells]).nunique()
        keyed = ((values if isinstance(values, tuple) else (values,), count) for values, count in counts.items())
        by_cell = {(BETWEEN.join(values[:-1]), values[-1]): count for values, count in keyed}
        pairs = zip(part["group"], part["category"], strict=True)
        records[part.index] = [by_cell.get(pair, 0) for pair in pairs]
    return records


def _texts(column: pd.Series) -> pd.Series:
    codes, every = distinct(column)
    return pd.Series(np.array([*map(text_of, every), None], dtype=object)[codes], index=column.index)


def _in_order(shown: pd.Series, categories: pd.Index) -> list[tuple[int, int]]:
    """Codes with their records: numbers and bands from the lowest on, other categories from the largest on."""
    starts = {code: start[1] for code in shown.index if (start := _START.match(text_of(categories[code])))}
    pairs = list(zip(shown.index, shown))
    return sorted(pairs, key=lambda pair: float(starts[pair[0]])) if len(starts) == len(pairs) else pairs


def _category(value: object, labels: Mapping) -> str:
    """A category as text, with its label where it has one."""
    label = labels.get(value)
    return told_label(text_of(value) if label is None else f"{text_of(value)}: {label}")


#: Of the riskiest classes, so many.
MOST_CLASSES = 50


@dataclass(frozen=True)
class Internal:
    """What an internal report shows besides; no value of a direct identifier is in it.

    `settings` are those of the configuration, files without their folders; `recodings`, by step, its name and variable,
    the ``old`` and ``new`` categories with their ``records``; `riskiest`, by version, the classes at the highest risk:
    a column for each key, ``records``, ``f_k``, ``F_k`` and ``risk`` (0-1); `as_keys`, if a k is wanted, the records
    below it with one more key, for each released column that is none (see `kanon_lab.recipes.exposure`).
    """

    settings: dict[str, Any]
    recodings: dict[tuple[int, str, str], pd.DataFrame]
    riskiest: dict[str, pd.DataFrame]
    as_keys: pd.DataFrame | None = None

    @classmethod
    def of(
        cls, protection: Protection, settings: Mapping[str, Any], risks: Mapping[str, Risks], k: int | None
    ) -> Internal:
        """That of a protection, its settings, the classes before and after, and the k that is wanted, if one is."""
        recodings, spec = {}, protection.spec
        for place, step, variable, cells in protection.recodings():
            is_code = variable in spec.key_variables
            if not is_quantity(plain(cells.after), named=variable in spec.numeric_variables, coded=is_code):
                recodings[place, step, variable] = _pairs(cells)
        as_keys = columns_as_keys(protection, k) if k and protection.state.counts is None else None
        return cls(dict(settings), recodings, {version: _riskiest(risk) for version, risk in risks.items()}, as_keys)


def _pairs(cells: Cells) -> pd.DataFrame:
    records = 1 if cells.records is None else cells.records
    texts = pd.DataFrame({"old": _as_labels(cells.before), "new": _as_labels(cells.after), "records": records})
    pairs = texts.groupby(["old", "new"], dropna=False)["records"].sum().reset_index()
    pairs = pairs[pairs["records"] > 0]
    return pairs.sort_values("records", ascending=False, kind="stable", ignore_index=True)


def _as_labels(column: pd.Series) -> pd.Series:
    return column.astype(object).map(lambda value: told_label(str(value)), na_action="ignore")


def _riskiest(risks: Risks) -> pd.DataFrame:
    table: ClassTable = risks.table
    keys = {visible(name): _as_labels(table.classes[name]) for name in table.spec.key_variables}
    counts = {"records": table.records, "f_k": table.f_k, "F_k": table.F_k, "risk": risks.of_class}
    classes = pd.DataFrame(keys).assign(**counts)
    return classes.sort_values(["risk", "f_k"], ascending=[False, True], kind="stable").head(MOST_CLASSES)
