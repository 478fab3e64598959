"""The states of a file between steps, the chain of steps as data, and the claims that hold for it."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from kanon_lab.classes import ClassTable
from kanon_lab.classes.counts import Counts, table_of_rows
from kanon_lab.classes.persons import person_codes
from kanon_lab.columns import coded, distinct, strata_codes
from kanon_lab.data.values import Labels, UserMissing
from kanon_lab.errors import UnfitOptionError, inside, meant, shortened
from kanon_lab.measures.survey_indicators import KEYS
from kanon_lab.methods import CLAIMS
from kanon_lab.methods.suppression import CLAIM_COLUMNS, alike_by_claim, claims_of, key_combinations, rows_of_claims
from kanon_lab.methods.suppression_bound import Certificate
from kanon_lab.recipes.identifiers import Content, Identifier, identifiers_in
from kanon_lab.recipes.measured import Baseline, Measured, Truth, sharing, without_variables
from kanon_lab.roles import KeySpec, check_k


@dataclass(frozen=True)
class State:
    """A file between two steps.

    Attributes
    ----------
    working : DataFrame
        The file, with the columns that are removed but still measured with (a weight, say).
    removed : tuple of str
        Those columns: they are not released.
    truth : Truth
        What an intruder may know of the key and sensitive variables.
    measured : Measured
    counts : Counts or None
        How many records each row is; None where it is one.
    """

    working: pd.DataFrame = field(repr=False)
    removed: tuple[str, ...]
    truth: Truth = field(repr=False)
    measured: Measured
    counts: Counts | None = field(default=None, repr=False)

    @cached_property
    def contents(self) -> dict[Any, list[Content]]:
        """By column what it holds that identifies persons, as far as it was looked for."""
        return {}

    @cached_property
    def repeated(self) -> dict[Any, bool]:
        """By column and role whether it repeats as identifiers of persons do, as far as it was looked for."""
        return {}

    @property
    def released(self) -> pd.DataFrame:
        """The columns that are released."""
        return self.working.drop(columns=list(self.removed), errors="ignore")  # a weight is no column of counts

    def person(self, spec: KeySpec) -> np.ndarray | None:
        """The number of each row's person; None where the spec names none."""
        return None if spec.person is None else person_codes(self.working[spec.person])

    def table(self, spec: KeySpec) -> ClassTable:
        """Its class table."""
        return table_of_rows(self.working, spec, self.counts)


@dataclass(frozen=True)
class Step:
    """A step that was applied.

    Attributes
    ----------
    name : str
        Its kind, one of `kanon_lab.recipes.STEPS`.
    settings : dict
    seed : int or None
        Of what is random in it; None where nothing is.
    records_touched : int or None
        Records with a cell that was changed, suppressed or removed, or in another place; None where it is not counted.
    removed : tuple of str
        Columns that are not released from this step on.
    changed, suppressed : dict of str to int
        By column that was and is released, the cells that have another value, and those that have none any more.
    state : State
        The file after it.
    claims : DataFrame or None
        What a suppression may claim; see `kanon_lab.methods.protection_claims`. After another suppression true keys
        are those before the first; ``suppress_risk`` then makes no claim of them.
    certificate : Certificate or None
        Of ``suppress``, the key cells that it took, and how many any suppression needs.
    households : Chain or None
        Of ``household_level``: the protection of the file of households.
    """

    name: str
    settings: dict[str, Any]
    seed: int | None
    records_touched: int | None
    removed: tuple[str, ...]
    changed: dict[str, int]
    suppressed: dict[str, int]
    state: State
    claims: pd.DataFrame | None = field(default=None, repr=False)
    certificate: Certificate | None = field(default=None, repr=False)
    households: Any = field(default=None, repr=False)


class Cells(NamedTuple):
    """A column before and after (None: it was removed); each row is as many `records` as that says (None: one).

    `homes` has the number of each row's household; None without households, or if counts do not have them.
    """

    before: pd.Series
    after: Any
    records: np.ndarray | None = None
    homes: np.ndarray | None = None


@dataclass(frozen=True)
class Chain(Baseline):
    """A file and the steps applied to it, as data; what it was and how it is measured are those of `Baseline`."""

    #: From which each random step's seed is made, unless it has its own.
    seed: int
    #: The file without its direct identifiers.
    start: State = field(repr=False)
    #: Those applied, in their order.
    steps: tuple[Step, ...] = ()
    #: Labels of the file as it came, as `kanon_lab.data.MicrodataFile` has them; of a frame there are none.
    given_labels: Labels = field(default_factory=dict, repr=False)
    given_variable_labels: Mapping[str, str] = field(default_factory=dict, repr=False)
    #: Formats and codes that mean missing of the file as it came, likewise.
    given_formats: Mapping[str, str] = field(default_factory=dict, repr=False)
    given_user_missing: UserMissing = field(default_factory=dict, repr=False)
    #: A `kanon_lab.recipes.earlier.EarlierRelease` that an intruder may have too.
    earlier_release: Any = field(default=None, repr=False)

    @property
    def state(self) -> State:
        """The file after the last step."""
        return self.steps[-1].state if self.steps else self.start

    @property
    def came(self) -> State:
        """The file before any step, with its rows."""
        return self.start

    @property
    def n(self) -> int:
        """Records of the file."""
        return len(self.original)

    @property
    def columns_as_they_came(self) -> list[str]:
        """Names of the columns of the file, direct identifiers among them."""
        return list(self.original.columns)

    @property
    def released_columns(self) -> list[str]:
        """Names of the columns that are released."""
        return [name for name in self.state.working.columns if name not in self.state.removed]

    def cells(self, name: str, *, by_home: bool = False) -> Cells | None:
        """A column as it came and after the last step, with households or without; None where it is not counted."""
        working = self.state.working
        homes = coded(self.original[self.spec.household].loc[working.index]).codes if by_home else None
        return Cells(self.original[name], working.get(name), homes=homes)

    @property
    def frame(self) -> pd.DataFrame:
        """The file as it would be released: without direct identifiers and removed variables.

        Records that have changed places are numbered anew, since the labels of the input would reveal their old places.
        """
        released = self.state.released
        released.attrs = {}  # a parquet file would hold them
        return released if self.in_order else released.reset_index(drop=True)

    @property
    def in_order(self) -> bool:
        """Whether the records are in their original order."""
        return self.state.working.index.equals(self.original.index)

    @cached_property
    def ordered(self) -> pd.DataFrame:
        """The file with its records in their original order and under their labels."""
        working = self.state.working
        if working.index is self.original.index:
            return working
        return sharing(working.loc[self.original.index], self.original)

    @cached_property
    def person(self) -> np.ndarray | None:
        """The number of each row's person, in their original order; None where the spec names none."""
        return None if self.spec.person is None else person_codes(self.ordered[self.spec.person])

    @property
    def units(self) -> str | None:
        """The variable whose records belong together: the household, or else the person."""
        return self.spec.household if self.spec.household is not None else self.spec.person

    @property
    def aligned(self) -> pd.DataFrame:
        """The released columns of `ordered`."""
        return self.ordered.drop(columns=list(self.state.removed), errors="ignore")

    @property
    def released_spec(self) -> KeySpec:
        """The roles that matter of what is released; see `without_variables`."""
        return without_variables(self.spec, self.state.removed)

    @cached_property
    def identifiers(self) -> tuple[Identifier, ...] | None:
        """Released columns that identify persons by what their cells hold; None for an engine's counts.

        Columns that no step has changed are looked at once for all the chains from one start.
        """
        if self.state.counts is not None:
            return None
        parts = [part for step in self.steps for part in (step.changed, step.suppressed)]
        changed = {name for part in parts for name, cells in part.items() if cells}
        contents = {key: kinds for key, kinds in self.start.contents.items() if key[0] not in changed}
        home = None
        if self.units is not None:
            home, _ = distinct(self.original.loc[self.state.working.index, self.units])
        identifiers = identifiers_in(self.state.released, self.spec, home=home, known=contents)
        self.start.contents.update((key, kinds) for key, kinds in contents.items() if key[0] not in changed)
        name = self.spec.person
        if name is not None and self.shows_persons and name not in changed:
            identifiers = (*identifiers, Identifier((name,), "person", int(self.original[name].notna().sum())))
        return identifiers

    @property
    def shows_households(self) -> bool:
        """Whether there are households, and their identifier is released."""
        return self.spec.household is not None and self.spec.household not in self.state.removed

    @property
    def shows_persons(self) -> bool:
        """Whether records say which of them are of one person."""
        return self.spec.person is not None and self.spec.person not in self.state.removed

    @property
    def household_chains(self) -> list[Chain]:
        """The protection of the file of households, where there was a step ``household_level``."""
        return [step.households for step in self.steps if step.households is not None]


def check_columns(names: Iterable[str], columns: Iterable[str]) -> None:
    """Raise an `UnfitOptionError` for a name that is none of the columns."""
    columns = list(columns)
    for name in names:
        if name not in columns:
            remedy = meant(name, columns, "check the name")
            raise UnfitOptionError(f"there is no column {shortened(str(name))} that is released; {remedy}")


def drawn_seed() -> int:
    """A seed that nobody can guess, nor find by trying the smaller ones."""
    return 2**48 + secrets.randbelow(2**53 - 2**48)  # as every reader of JSON keeps it


def derived_seed(seed: int, position: int) -> int:
    """The seed of the step at a position of the chain, from 1 on: too large to be found by trying."""
    return int(np.random.SeedSequence([seed, position]).generate_state(1, np.uint64)[0] >> np.uint64(1))


@contextmanager
def step_errors(position: int, name: object, *, levels: int = 0) -> Iterator[None]:
    """Put the number and name of the step at the beginning of errors.

    `levels` counts the steps that a recipe does not list under ``steps``: 1 if it has a household level.
    """
    listed = [f"number {position - levels} under steps"] if 0 < levels < position else []
    named = "; ".join([name, *listed] if isinstance(name, str) else listed)
    with inside(f"step {position} ({named})" if named else f"step {position}"):
        yield


def final_claims(protection: Chain, k_required: int, alike: Mapping[str, np.ndarray] | None = None) -> pd.DataFrame:
    """The three claims of `kanon_lab.methods.protection_claims` for the file as it would be released.

    Parameters
    ----------
    protection : Protection
    k_required : int
        From 1 on.
    alike : mapping of str to ndarray, optional
        What `final_counts` gave, if it is known: they are counted once where no released key is perturbed.

    Returns
    -------
    DataFrame
        One row a claim, for all released key variables and without strata: the first two are the records below k that
        are measured after the last step.

    Notes
    -----
    The true key of a suppressed or perturbed value is its original value. If a later step recodes it, the true key is
    what the same value became in other records, or else what the step makes of it.

    Examples
    --------
    >>> survey = pd.DataFrame({"region": ["N", "N", "N", "S"], "sex": ["m", "m", "f", "f"]})
    >>> chain = kanon_lab.protect(survey, ["region", "sex"]).apply("suppress", {"k_required": 2})
    >>> kanon_lab.recipes.final_claims(chain, 2)[["claim", "records", "share"]]
            claim  records  share
    0  compatible        0    0.0
    1   own_class        0    0.0
    2    true_key        0    0.0
    """
    k, names, state = check_k(k_required, "k_required"), protection.released_spec.key_variables, protection.state
    if alike is None or not state.truth.perturbed.isdisjoint(names):
        codes = state.truth.beside(protection.aligned, names)
        everywhere = np.zeros(len(codes[0]), dtype=np.int64)
        alike = alike_by_claim(*codes, everywhere, state.counts, protection.person)
    return pd.DataFrame(rows_of_claims(alike, k, names, state.counts, protection.person), columns=CLAIM_COLUMNS)


def final_counts(protection: Chain) -> dict[str, np.ndarray]:
    """By claim, for each record or row the released records, or persons, that are counted for it.

    As in `final_claims`, but a perturbed value that is shown counts as the true one: k promises nothing about others.
    """
    names = protection.released_spec.key_variables
    codes = protection.state.truth.attacked(protection.aligned, names)
    everywhere = np.zeros(len(codes[0]), dtype=np.int64)
    return alike_by_claim(*codes, everywhere, protection.state.counts, protection.person)


def claims_since(protection: Chain) -> pd.DataFrame:
    """The claims of the last step, a suppression, with true keys as in `final_claims`.

    The step itself does not know values that earlier steps suppressed or perturbed, but an intruder may. Risks of true
    keys are not estimated again: after ``suppress_risk`` the claim ``true_key`` is left out.
    """
    step, spec = protection.steps[-1], protection.released_spec
    keys, claims = spec.key_variables, step.claims
    assert claims is not None
    hidden = any(earlier.suppressed.get(key) for earlier in protection.steps[:-1] for key in keys)
    if not hidden and protection.state.truth.perturbed.isdisjoint(keys):
        return claims
    if step.name != "suppress":
        return claims[claims["claim"] != "true_key"].reset_index(drop=True)
    working = protection.ordered
    known, shown = protection.state.truth.beside(working, keys)
    sets = (columns for columns, _ in key_combinations(step.settings.get("combinations"), spec, 1))
    wanted = list(zip(sets, claims["k"].iloc[:: len(CLAIMS)], strict=True))
    stratum = strata_codes(working, spec.strata)
    return claims_of(known, shown, stratum, wanted, keys, protection.state.counts, protection.person)


def final_indicators(protection: Chain) -> pd.DataFrame:
    """The survey's own indicators in the end beside those of the file as it came.

    Returns
    -------
    DataFrame
        As `kanon_lab.measures.compare_indicators`, and ``records`` of the file as it came; without rows where none is
        asked for. An estimate of few records tells their values: it is for those who hold the file.

    Examples
    --------
    >>> survey = pd.DataFrame({"region": [*"NNSS"], "income": [10, 20, 31, 40]})
    >>> chain = kanon_lab.protect(survey, ["region"], indicators={"means": ["income"]})
    >>> compared = kanon_lab.recipes.final_indicators(chain.apply("round", {"variable": "income", "base": 10}))
    >>> compared[["estimate_before", "estimate_after"]].values.tolist()
    [[25.25, 25.0]]
    """
    if protection.indicators is None or protection.estimates is None:
        return pd.DataFrame(columns=["status", "overlap", "records"])
    return protection.compared(protection.aligned).merge(protection.estimates[[*KEYS, "records"]], on=[*KEYS])
