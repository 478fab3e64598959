"""What the released file as a whole may claim for one k."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab.classes import class_table
from kanon_lab.columns import strata_codes
from kanon_lab.errors import shortened
from kanon_lab.measures import file_risk, measure, records_above, with_household_composition
from kanon_lab.measures.file_measures import UNWEIGHTED
from kanon_lab.measures.survey_indicators import KEYS
from kanon_lab.methods import CLAIMS
from kanon_lab.methods.suppression import claims_of, key_combinations
from kanon_lab.recipes.exposure import Exposure, exposed_by_columns
from kanon_lab.recipes.settings import LIMITS
from kanon_lab.recipes.state import Chain
from kanon_lab.roles import KeySpec, check_k
from kanon_lab.terms import Note

#: By policy for missing keys, the claim that says whether k is met.
DECISIVE = {"wildcard": "compatible", "category": "own_class", "error": "own_class"}


def final_claims(protection: Chain, k_required: int) -> pd.DataFrame:
    """The three claims of `kanon_lab.methods.protection_claims` for the file as it would be released.

    Parameters
    ----------
    protection : Protection
    k_required : int
        From 1 on.

    Returns
    -------
    DataFrame
        One row a claim, for all released key variables and without strata: the first two are the records below k that
        are measured after the last step.

    Notes
    -----
    A suppressed or perturbed value is taken for the one it had before. If it is recoded afterwards, it is what the same
    value became in other records, or else what the step makes of it.

    Examples
    --------
    >>> import pandas as pd, kanon_lab
    >>> from kanon_lab.recipes import final_claims
    >>> survey = pd.DataFrame({"region": ["N", "N", "N", "S"], "sex": ["m", "m", "f", "f"]})
    >>> chain = kanon_lab.protect(survey, ["region", "sex"]).apply("suppress", {"k_required": 2})
    >>> final_claims(chain, 2)[["claim", "records", "share"]]
            claim  records  share
    0  compatible        0    0.0
    1   own_class        0    0.0
    2    true_key        0    0.0
    """
    names = protection.released_spec.key_variables
    codes = protection.state.truth.beside(protection.aligned, names)
    everywhere = np.zeros(len(protection.original), dtype=np.int64)
    return claims_of(*codes, everywhere, [([*range(len(names))], check_k(k_required, "k_required"))], names)


def claims_since(protection: Chain) -> pd.DataFrame:
    """The claims of the last step, a suppression, where a step before it has suppressed or perturbed keys.

    What was suppressed or perturbed before is unknown to the step, but an outsider may know it: true keys are those of
    `final_claims`. A risk of them is not counted anew: after ``suppress_risk`` the claim ``true_key`` is left out.
    """
    step, spec = protection.steps[-1], protection.released_spec
    keys, claims = spec.key_variables, step.claims
    hidden = any(earlier.suppressed.get(key) for earlier in protection.steps[:-1] for key in keys)
    if not hidden and protection.state.truth.perturbed.isdisjoint(keys):
        return claims
    if step.name != "suppress":
        return claims[claims["claim"] != "true_key"].reset_index(drop=True)
    working = protection.state.working.loc[protection.original.index]
    known, shown = protection.state.truth.beside(working, keys)
    sets = (columns for columns, _ in key_combinations(step.settings.get("combinations"), spec, 1))
    wanted = list(zip(sets, claims["k"].iloc[:: len(CLAIMS)], strict=True))
    stratum = strata_codes(working, spec.strata)
    return claims_of(known, shown, stratum, wanted, keys)


def final_indicators(protection: Chain) -> pd.DataFrame:
    """The survey's own indicators in the end beside those of the file as it came.

    Returns
    -------
    DataFrame
        As `kanon_lab.measures.compare_indicators`, and ``records`` of the file as it came; without rows where none is
        asked for. An estimate of few records tells their values: it is for those who hold the file.

    Examples
    --------
    >>> import pandas as pd, kanon_lab
    >>> from kanon_lab.recipes import final_indicators
    >>> survey = pd.DataFrame({"region": [*"NNSS"], "income": [10, 20, 31, 40]})
    >>> chain = kanon_lab.protect(survey, ["region"], indicators={"means": ["income"]})
    >>> found = final_indicators(chain.apply("round", {"variable": "income", "base": 10}))
    >>> found[["estimate_before", "estimate_after"]].values.tolist()
    [[25.25, 25.0]]
    """
    if protection.indicators is None:
        return pd.DataFrame(columns=["status", "overlap", "records"])
    return protection.compared(protection.aligned).merge(protection.estimates[[*KEYS, "records"]], on=[*KEYS])


def final_diversity(protection: Chain) -> tuple[dict[str, dict], list[str]]:
    """Diversity of the released sensitive variables and notes on it; a `DataError` where one has no value at all."""
    spec = _released_roles(protection)
    if not spec.sensitive_variables:
        return {}, []
    found = measure(protection.state.working, spec, k=(), thresholds=()).to_dict()
    return found["diversity"], [note for note in found["notes"] if note != UNWEIGHTED]


def _released_roles(protection: Chain) -> KeySpec:
    """Without what a diversity needs not, and without removed variables."""
    spec = protection.released_spec
    sensitive = tuple(name for name in spec.sensitive_variables if name not in protection.state.removed)
    return replace(spec, sensitive_variables=sensitive, weight=None, household=None, strata=())


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
    (see `kanon_lab.recipes.settings.LIMITS`), ``variable`` (of diversity), ``level`` (of ``above_risk``), ``limit``,
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
        Names of `kanon_lab.recipes.settings.LIMITS` with their bounds, as the ``limits`` of a recipe once it is read.
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
    >>> from kanon_lab.recipes import judge
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
