"""The limits of an office on every recipe of a map, the costly ones only where the others are met."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from kanon_lab.columns import named_rows
from kanon_lab.digits import number, percent
from kanon_lab.measures.registry import LIMITS, Measure, limit_of
from kanon_lab.recipes.verdict import VERDICT, Release, is_set, k_of
from kanon_lab.terms import wordings

if TYPE_CHECKING:
    from kanon_lab.recipes.plan import Plan
    from kanon_lab.recipes.state import Chain

#: The label of one's own recipe, where it is none of those that a grid makes.
OWN = wordings("report")["chart_own"]["en"]
#: Columns of `RiskUtilityMap.limits`.
LIMITS_OF_MAP = ["name", "variable", "level", "limit", "bound", "recipes", "judged", "nearest", "label"]


def judged_rows(protection: Chain, plan: Plan, wanted: Iterable[Measure] = ()) -> dict[str, Any]:
    """The verdict on a recipe of a map (``verdict``, rows as of `VERDICT`), and by name the `wanted` measures.

    What needs a search of the released columns comes last, and only where all other limits are met.
    """
    release = Release(protection, k_of(plan.limits, plan.k_required))
    verdict: list[dict[str, Any]] = []
    costly = [name for name in plan.limits if LIMITS[name].taken_from == "release"]
    for names in ([name for name in plan.limits if name not in costly], costly):
        if all(row["met"] for row in verdict):
            rows = (row for name in names for row in release.rows(name, plan.limits[name]))
            verdict += [dict(zip(VERDICT, row, strict=True)) for row in rows]
    asked = is_set((row["name"], row["limit"]) for row in verdict)
    return {"verdict": verdict if asked else [], **{row.name: _value(release, row, plan) for row in wanted}}


def _value(release: Release, measure: Measure, plan: Plan) -> float | None:
    """A measure of a release that states do not have; of sensitive variables, and of combinations, the worst."""
    if measure.limit is not None and measure.limit.by == "combination":
        rows = release.rows(measure.name, plan.limits.get(measure.name, ()))
        return min((row[VERDICT.index("found")] for row in rows), default=None)
    if measure.taken_from in ("values", "guesses"):
        values = [of_variable[measure.name] for of_variable in release.diversity.values()]
        return (min if measure.least else max)(values, default=None)
    return measure.of(release if measure.taken_from == "release" else release.classes)


def verdict_of(rows: Iterable[Mapping[str, Any]]) -> tuple[bool | None, str | None]:
    """Whether all limits are met, in each of the seeds; and the names of those that are not, between commas."""
    rows = list(rows)
    missed = dict.fromkeys(limit_named(row) for row in rows if not row["met"])
    return not missed if rows else None, ", ".join(missed) or None


def limit_named(row: Mapping[str, Any]) -> str:
    """A limit as a configuration calls it, with its variable or level."""
    part = row["variable"] if isinstance(row["variable"], str) else row["level"]
    return row["name"] if part is None or part != part else f"{row['name']} ({part})"


def summarised(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Each limit with the recipes that meet it in all seeds, and the one that comes nearest: see `LIMITS_OF_MAP`."""
    rows: list[tuple[Any, ...]] = []
    for key, part in verdicts.groupby(["name", "variable", "level"], sort=False, dropna=False):
        met, known = part.groupby("label", sort=False)["met"].all(), part[part["found"].notna()]
        first, nearest = part.iloc[0], (None, None)
        if len(known):
            values, most = known["found"].to_numpy(dtype=float), limit_of(str(key[0])).bound == "at least"
            best = known.iloc[int(values.argmax() if most else values.argmin())]
            nearest = (best["found"], best["label"])
        rows.append((*key, first["limit"], first["bound"], int(met.sum()), len(met), *nearest))
    return pd.DataFrame(rows, columns=LIMITS_OF_MAP, dtype=object)


def unmet_by_all(limits: pd.DataFrame) -> str:
    """That no recipe meets every limit, which one none meets, and how near the best came."""
    parts = []
    for row in named_rows(limits[limits["recipes"] == 0]):
        form = percent if LIMITS[row.name].share else number
        near = "" if row.nearest is None else f", the best {form(row.nearest, row.limit)} ({row.label})"
        parts.append(f"{limit_named(row._asdict())}: {row.bound} {form(row.limit, row.nearest)} is wanted{near}")
    if not parts:
        parts = ["each is met by some recipe, and no recipe meets them all"]
    return f"no recipe meets every limit: {'; '.join(parts)}"


def verdicts_of(labels: Sequence[str], seeds: Sequence[int], rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """The verdicts of all runs in one frame: ``label``, ``seed`` and the columns of a verdict."""
    every = [
        {"label": label, "seed": seed, **verdict}
        for label, seed, row in zip(labels, seeds, rows, strict=True)
        for verdict in row.get("verdict", ())
    ]
    return pd.DataFrame(every, columns=["label", "seed", *VERDICT], dtype=object)
