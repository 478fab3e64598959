"""What would help most: steps that a file allows next, each tried and measured as a map of recipes measures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from kanon_lab.columns import plain
from kanon_lab.recipes.map_limits import limit_named, verdict_of
from kanon_lab.recipes.tradeoff import USUAL_LOSS
from kanon_lab.report.tables import is_quantity
from kanon_lab.workbench.session import Progress, Result, Session

# Bands of a quantity that is a key: so many, or fewer.
_BANDS = 8


@dataclass(frozen=True)
class Try:
    """A next step: how many limits it leaves unmet, what remains of the worst, and what it takes.

    `gap` is how far the limits that were not met are missed, each as a share of what it was: 0 where all are met, 1
    where nothing is gained.
    """

    name: str
    settings: dict[str, Any]
    unmet: str | None
    gap: float
    loss: float

    @property
    def rank(self) -> tuple[float, float]:
        """The best comes first: the nearest to the limits for what it takes."""
        return -(1 - self.gap) / (self.loss + 0.01), self.loss


def next_steps(result: Result) -> Iterator[tuple[str, dict[str, Any]]]:
    """Steps that may come next, by the roles of what is still released."""
    protection, spec = result.protection, result.protection.spec
    released = protection.state.released
    keys = [name for name in spec.key_variables if name in released]
    for name in keys:
        column = plain(released[name])
        if is_quantity(column, named=True) and column.nunique() > _BANDS:
            span = float(column.max() - column.min())
            yield "recode", {"variable": [name], "width": _round(span / _BANDS), "start": 0}
        if len(keys) > 1:
            yield "remove_variables", {"variables": [name]}
    for unit in (spec.household, spec.person):
        if unit is not None and unit in released:
            yield "remove_variables", {"variables": [unit]}
    yield "shuffle_records", {}
    quantities = [name for name in spec.numeric_variables if name in released]
    if quantities:
        gaps = {"missing": "leave"} if released[quantities].isna().any(axis=None) else {}
        yield "microaggregate", {"variables": quantities, "k_required": 20, **gaps}
    if keys:
        importance = {name: place for place, name in enumerate(keys, 1)}
        yield "suppress", {"k_required": result.judged.k, "importance": importance, "claim": "true_key"}


def try_steps(session: Session, result: Result, progress: Progress, say: Any) -> list[Try]:
    """Try each next step on a result, and hold it against the limits; `say` names a step for who waits."""
    before = {limit_named(row): row for row in result.judged.verdict.to_dict("records") if not row["met"]}
    done = []
    for name, settings in next_steps(result):
        progress(say(name, settings))
        row = session.measure(result.draft.with_step(name, settings))
        if row.get("error") is None and row["verdict"]:
            rows = {limit_named(one): one for one in row["verdict"]}
            gaps = [_gap(before[key], rows.get(key)) for key in before]
            loss = row[USUAL_LOSS] - result.protection.state.measured.row()[USUAL_LOSS]
            gap = sum(gaps) / len(gaps) if gaps else 0.0
            done.append(Try(name, settings, verdict_of(rows.values())[1], gap, max(loss, 0.0)))
    return sorted((one for one in done if one.gap < 1), key=lambda one: one.rank)


def _gap(before: Any, after: Any) -> float:
    """How far a limit is still missed, as a share of what it was; 1 where it was not counted."""
    if after is None or after["found"] is None or pd.isna(before["found"]):
        return 1.0
    if after["met"]:
        return 0.0
    missed, was = abs(after["found"] - after["limit"]), abs(before["found"] - before["limit"])
    return float(min(missed / was, 1.0)) if was else 1.0


def _round(width: float) -> float:
    """A width of one digit that is 1, 2 or 5."""
    unit = 10.0 ** (len(str(int(width))) - 1) if width >= 1 else 1.0
    width = next(unit * digit for digit in (1, 2, 5, 10) if unit * digit >= width)
    return int(width) if width >= 1 else width
