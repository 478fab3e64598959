"""The release held against an office's limits, and what no limit counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab.classes import class_table
from kanon_lab.errors import shortened
from kanon_lab.notes import Note
from kanon_lab.protection.exposure import Exposure, exposed_by_columns
from kanon_lab.protection.limits import LIMITS
from kanon_lab.protection.state import Chain
from kanon_lab.protection.verdict import DECISIVE, final_claims, final_diversity
from kanon_lab.risk import file_risk, records_above, with_household_composition

#: Columns of a verdict.
VERDICT = ["name", "variable", "level", "limit", "bound", "found", "met", "records"]
_MEASURED = ("global_risk", "household_risk", "key_linkage")
# Without a k anywhere, what no limit counts is told of records that stand alone.
_USUAL_K = 2
# Share of records found by their quantities, above which that is said.
_MOST_LINKED = 0.05


@dataclass(frozen=True)
class Caution:
    """What a release gives away beside its limits.

    `key` is ``exposed``, ``own_class``, ``true_key``, ``household_size``, ``household_composition``,
    ``numeric_linkage`` or ``perturbed``; `count` the records (None where it is a share); `columns` those that give it
    away.
    """

    key: str
    count: int | None
    columns: tuple[str, ...]
    text: Note

    def to_dict(self) -> dict[str, Any]:
        """``key``, ``count``, ``columns`` and ``text``."""
        return {"key": self.key, "count": self.count, "columns": list(self.columns), "text": self.text}


@dataclass(frozen=True)
class Judged:
    """A release beside the limits of an office.

    `k` is what was counted with (of the limits, else the required one, else 2). `verdict` has one row a limit: ``name``
    (see `kanon_lab.protection.limits`), ``variable`` (of diversity), ``level`` (of ``above_risk``), ``limit``,
    ``bound`` ("at least" or "at most"), ``found`` (missing where it is not known), ``met`` and ``records`` (behind it,
    if counted).
    """

    k: int
    verdict: pd.DataFrame = field(repr=False)
    exposure: Exposure = field(repr=False)
    claims: pd.DataFrame = field(repr=False)
    cautions: tuple[Caution, ...] = field(repr=False)

    @property
    def met(self) -> bool:
        """Whether every limit is met."""
        return bool(self.verdict["met"].all())

    def to_dict(self) -> dict[str, Any]:
        """``limits`` (rows with ``value`` for what was found), ``met`` and ``cautions``, in types that JSON has."""
        rows = self.verdict.rename(columns={"found": "value"}).astype(object)
        rows = rows.where(rows.notna(), None).to_dict("records")
        return {"limits": rows, "met": self.met, "cautions": [each.to_dict() for each in self.cautions]}


def judge(protection: Chain, limits: Mapping[str, Any], *, k_required: int | None = None) -> Judged:
    """Hold a release against limits.

    Parameters
    ----------
    protection : Protection
    limits : mapping
        Names of `kanon_lab.protection.limits.LIMITS` with their bounds, as the ``limits`` of a recipe once it is read.
    k_required : int, optional
        Counted with where the limits have no k; 2 if neither is given.

    Returns
    -------
    Judged
        ``verdict``, ``met``, ``cautions``. A limit on what cannot be measured (links by a key that was perturbed as a
        quantity) is not met. One on a sensitive variable that is not released, or on households whose identifier is
        not, does not bind.

    Examples
    --------
    >>> import pandas as pd, kanon_lab
    >>> from kanon_lab.protection import judge
    >>> survey = pd.DataFrame({"region": [*"NNNS"], "sex": [*"mmff"]})
    >>> found = judge(kanon_lab.protect(survey, ["region", "sex"]), {"k": 2, "global_risk": 0.8})
    >>> found.verdict["met"].tolist(), found.met
    ([False, True], False)
    """
    k = limits.get("k") or k_required or _USUAL_K
    release = _Release(protection, k)
    rows = [row for name, limit in limits.items() for row in release.rows(name, limit)]
    verdict = pd.DataFrame(rows, columns=VERDICT, dtype=object)
    verdict = verdict.astype({"level": float, "met": bool, "records": "Int64"})
    return Judged(k, verdict, release.exposure, release.claims, tuple(_cautions(release)))


class _Release:
    """What is counted of a release, each once."""

    def __init__(self, protection: Chain, k: int):
        self.protection, self.k, self.last = protection, k, protection.state.measured
        self.claims = final_claims(protection, k)
        self.exposure = exposed_by_columns(protection, k)
        self.table = class_table(protection.state.working, protection.released_spec)
        counted = protection.shows_households
        self.composition = with_household_composition(self.table)["sample_uniques"] if counted else None

    def failing(self, claim: str) -> int:
        return int(self.claims.set_index("claim")["records"][claim])

    def rows(self, name: str, limit: Any) -> Iterator[tuple]:
        """The verdict on a limit, one row or one for each variable or level."""
        if LIMITS[name].by == "variable":
            for variable in [each for each in limit if each in self.diversity]:
                yield _row(name, limit[variable], self.diversity[variable][name], variable=variable)
        elif name == "above_risk":
            for level, most in limit.items():
                records = records_above(self.risks, threshold=level).records
                yield _row(name, most, records, level=level, records=records)
        elif name == "k":
            below = self.failing(DECISIVE[self.protection.spec.missing])
            yield (*_row(name, limit, self.last.k_achieved)[:-2], below == 0, below)
        elif name in ("household_uniques", "exposed_by_columns"):
            records = self.exposure.records if name == "exposed_by_columns" else self.composition or 0
            yield _row(name, limit, records, records=records)
        else:
            found = getattr(self.last, name) if name in _MEASURED else float(self.risks.max())
            yield _row(name, limit, found)

    @cached_property
    def risks(self) -> np.ndarray:
        """Individual risk of each record."""
        return file_risk(self.table, estimator=self.protection.estimator).risk

    @cached_property
    def diversity(self) -> dict[str, dict]:
        """Diversity of each released sensitive variable."""
        return final_diversity(self.protection)[0]


def _row(name: str, limit: float, found: float | None, *, variable=None, level=None, records=None) -> tuple:
    bound = LIMITS[name].bound
    met = found is not None and (found >= limit if bound == "at least" else found <= limit)
    return name, variable, level, limit, bound, found, met, records


def _cautions(release: _Release) -> Iterator[Caution]:
    """Cautions, the gravest first."""
    protection, last, k = release.protection, release.last, release.k
    spec = protection.spec
    for row in release.exposure.columns.sort_values("records", ascending=False, kind="stable").itertuples():
        if row.records:
            names, keys = (" + ".join(map(shortened, each)) for each in (row.columns, row.keys))
            said = {"names": names, "role": row.role, "keys": keys, "records": row.records, "k": k}
            yield Caution("exposed", row.records, row.columns, Note(f"caution_exposed_{row.direction}", **said))
    for claim in ("own_class", "true_key"):
        if (failing := release.failing(claim)) > release.failing("compatible"):
            yield _caution(claim, failing, spec.key_variables, k=k)
    household, counted = (str(spec.household),), last.with_household_size
    if counted is not None and (unique := counted["sample_uniques"]) > release.table.sample_uniques:
        yield _caution("household_size", unique, household)
    if release.composition:
        yield _caution("household_composition", release.composition, household)
    if (linked := last.numeric_linkage) is not None and linked > _MOST_LINKED:
        yield _caution("numeric_linkage", None, spec.numeric_variables, linked=linked)
    if names := tuple(name for name in spec.key_variables if name in protection.state.truth.perturbed):
        yield _caution("perturbed", None, names)


def _caution(key: str, records: int | None, columns: tuple[str, ...], **parts: Any) -> Caution:
    counted = {} if records is None else {"records": records}
    return Caution(key, records, columns, Note(f"caution_{key}", names=columns, **counted, **parts))
