"""What would help most: steps that may come next, each tried and held against the limits that are not met."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from math import inf
from typing import Any

import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from kanon_lab.columns import named_rows, plain
from kanon_lab.measures.registry import LIMITS
from kanon_lab.recipes.chain import Protection
from kanon_lab.recipes.map_limits import limit_named, verdict_of
from kanon_lab.recipes.tradeoff import USUAL_LOSS
from kanon_lab.recipes.verdict import Judged, Release
from kanon_lab.roles import usual_claim

# Bands of a quantity that is a key: so many, or fewer.
_BANDS = 8
# A quantity that reveals others is rounded to so many steps, or fewer; first to the finer.
_ROUNDED = (100, _BANDS)
# Of the columns by which a limit is not met so many are tried.
_MOST_TOLD = 3
# Limits that a weight alone may miss.
_BY_WEIGHT = ("household_uniques", "exposed_by_columns")
# A loss below this counts as so much, so that what costs nothing is not infinitely good.
_LEAST_LOSS = 0.01


@dataclass(frozen=True)
class NextStep:
    """A step that was tried.

    `unmet` names the limits that it leaves unmet (None: none), `uncounted` those that were unmet before and are not
    counted until the others are met; `gap` is what it leaves of the way to the limits that were not met, in the mean
    (0: all are met, 1: nothing is gained or counted); `loss` is the information that it takes (0-1).
    """

    name: str
    settings: dict[str, Any]
    unmet: str | None
    uncounted: str | None
    gap: float
    loss: float

    @property
    def rank(self) -> tuple[float, float]:
        """The best comes first: what it gains for what it takes."""
        return -(1 - self.gap) / (self.loss + _LEAST_LOSS), self.loss


def next_steps(protection: Protection, k: int, told_by: Iterable[str] = ()) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and settings of steps that may come next, by the roles of what is still released.

    Columns by which a limit is not met are `told_by`: they are rounded or removed, as the advice on it says.
    """
    spec, released = protection.spec, protection.state.released
    keys = [name for name in spec.key_variables if name in released]
    for name in keys:
        column = plain(released[name])
        if _is_quantity(protection, name, column) and column.nunique() > _BANDS:
            span = float(column.max() - column.min())
            yield "recode", {"variable": [name], "width": _rounded(span / _BANDS), "start": 0}
        if len(keys) > 1:
            yield "remove_variables", {"variables": [name]}
    units = [name for name in (spec.household, spec.person) if name is not None]
    for name in dict.fromkeys([*told_by, *units]):
        if name not in released or name in keys:
            continue
        column = plain(released[name])
        if name not in units and column.nunique() > 1 and _is_quantity(protection, name, column):
            least, most = float(column.min()), float(column.max())
            widest = least / 2 if name == spec.weight else inf  # no weight becomes 0
            for base in dict.fromkeys(_rounded(min((most - least) / parts, widest)) for parts in _ROUNDED):
                yield "round", {"variable": [name], "base": base}
        yield "remove_variables", {"variables": [name]}
    yield "shuffle_records", {}
    if quantities := [name for name in spec.numeric_variables if name in released]:
        gaps = {"missing": "leave"} if released[quantities].isna().any(axis=None) else {}
        yield "microaggregate", {"variables": quantities, "k_required": 20, **gaps}
    if keys:
        importance = {name: place for place, name in enumerate(keys, 1)}
        yield "suppress", {"k_required": k, "importance": importance, "claim": usual_claim(spec.missing)}


def rounded_weight(protection: Protection, k: int, limits: Mapping[str, Any]) -> dict[str, Any] | None:
    """Settings of a step `round` for a weight that brings records below `k` or tells households apart.

    It is the finest of the bases 1, 2, 5, 10 and so on by which the weight does so no more, as far as the `limits` on
    it ask; the coarsest that leaves every weight above 0 where none is enough; None where the weight need not change.
    """
    weight = protection.spec.weight
    if weight is None or weight not in protection.state.released:
        return None

    def tells(chain: Protection) -> bool:
        release = Release(chain, k)
        rows = (row for name in _BY_WEIGHT for row in release.rows(name, limits.get(name, 0)))
        return any(weight in columns for *_, met, _, columns in rows if not met)

    column, enough = plain(protection.state.released[weight]), None
    bases = _bases(float(column.min()), float(column.max())) if tells(protection) else []
    for base in bases:  # from the coarsest on
        if tells(protection.apply("round", {"variable": weight, "base": base})):
            break
        enough = base
    return {"variable": [weight], "base": enough or bases[0]} if bases else None


def _bases(least: float, most: float) -> list[float]:
    """The coarsest base that makes no weight 0, and finer ones, as long as weights have few enough values."""
    exact = [digit * Decimal(10) ** power for power in range(9, -7, -1) for digit in (5, 2, 1)]
    bases = [int(base) if base >= 1 else float(base) for base in exact if round(least / float(base)) > 0]
    return [base for base in bases if base >= (most - least) / (_BANDS * _ROUNDED[0])] or bases[:1]


def _is_quantity(protection: Protection, name: str, column: pd.Series) -> bool:
    """Whether a column has numbers that count or measure: of codes, most have a label."""
    labelled = len(protection.given_labels.get(name, ())) > column.nunique() / 2
    return is_numeric_dtype(column) and not is_bool_dtype(column) and not labelled


def try_next(
    protection: Protection, judged: Judged, measure: Callable[[str, dict[str, Any]], Mapping[str, Any]]
) -> list[NextStep]:
    """The next steps that come nearer to the limits that are not met, the best for its loss first.

    `measure` gives what `kanon_lab.recipes.risk_map.Walk` measures of the file with one more step.
    """
    before = {limit_named(row): row for row in judged.to_dict()["limits"] if not row["met"]}
    lost, done = protection.state.measured.row()[USUAL_LOSS], []
    told_by = [
        name
        for row in named_rows(judged.verdict)
        if not row.met and LIMITS[row.name].kind == "risk"
        for name in row.columns[:_MOST_TOLD]
    ]
    for name, settings in next_steps(protection, judged.k, told_by):
        row = measure(name, settings)
        if row.get("error") is None and row["verdict"]:
            rows = {limit_named(judgement): judgement for judgement in row["verdict"]}
            gaps = [_gap(before[limit], rows.get(limit)) for limit in before]
            gap = sum(gaps) / len(gaps) if gaps else 0.0
            loss = max(row[USUAL_LOSS] - lost, 0.0)
            uncounted = ", ".join(limit for limit in before if limit not in rows) or None
            done.append(NextStep(name, settings, verdict_of(rows.values())[1], uncounted, gap, loss))
    return sorted((step for step in done if step.gap < 1), key=lambda step: step.rank)


def _gap(before: Mapping[str, Any], after: Mapping[str, Any] | None) -> float:
    """How far a limit is still missed, as a share of what it was; 1 where it was not counted."""
    if after is None or after["found"] is None or before["value"] is None:
        return 1.0
    missed, was = abs(after["found"] - after["limit"]), abs(before["value"] - before["limit"])
    return 0.0 if after["met"] else float(min(missed / was, 1.0)) if was else 1.0


def _rounded(width: float) -> float:
    """The width that is 1, 2 or 5 and zeros, or one for narrower ones."""
    unit = 10.0 ** (len(str(int(width))) - 1) if width >= 1 else 1.0
    return int(next(unit * digit for digit in (1, 2, 5, 10) if unit * digit >= width))
