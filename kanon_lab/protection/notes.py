"""What a reader of the measures of a chain should know."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pandas as pd

from kanon_lab.errors import shortened
from kanon_lab.file_measures import UNWEIGHTED
from kanon_lab.notes import Note
from kanon_lab.protection.checks import derived_seed
from kanon_lab.protection.disclosed import dependent_columns, household_disclosure, shared_by_members
from kanon_lab.protection.labels import label_notes
from kanon_lab.protection.order import order_notes
from kanon_lab.protection.released import NO_ROLE, released_columns, untouched
from kanon_lab.protection.state import Chain
from kanon_lab.protection.steps import perturbed_by
from kanon_lab.recode.columns import distinct
from kanon_lab.risk import household_size

# Seeds below this are soon found by trying.
_GUESSED = 2**48
# Steps that a found seed undoes; the last two draw by the values too, so that these must be guessed as well.
_UNDONE = ("shuffle_members", "shuffle_records", "renumber")
# From this share on, a variable is one of households rather than of persons.
_OF_HOUSEHOLDS = 0.9


def notes_of(protection: Chain) -> Iterator[Note]:
    """Notes on weights, columns without a role, what columns and members tell, households, and what is not measured.

    Those of the file of households are on its weight only: its columns are released in the file of persons.
    """
    spec = protection.spec
    if spec.weight is None:
        yield UNWEIGHTED
    for step in protection.steps:
        if step.households is not None and step.households.spec.weight is None:
            key = "households_unweighted" if spec.weight is None else "households_not_weighted"
            yield Note(key, step=step.name, note=UNWEIGHTED)
    yield from _columns(protection)
    yield from _one_band(protection)
    stale = dict(_stale_ghosts(protection))
    for key, ghosts in stale.items():
        yield Note("stale_ghosts", variable=shortened(key), columns=_listed(ghosts))
    for row in dependent_columns(protection).itertuples():
        named = {"column": shortened(row.column), "role": row.role, "variable": shortened(row.variable)}
        if row.variable == spec.household:
            yield Note("tells_households", **named, values=row.distinct_values)
        elif row.column not in stale.get(row.variable, ()):
            yield Note("tells_key", **named, values=row.distinct_values, told=row.told, cells=row.cells)
    yield from _households(protection)
    yield from order_notes(protection)
    yield from _perturbed(protection)
    yield from _guessed(protection)
    yield from label_notes(protection)
    estimates = protection.baseline.estimates
    if estimates is not None and estimates["lower"].isna().all():
        yield Note("no_interval")


def _columns(protection: Chain) -> Iterator[Note]:
    columns, n = released_columns(protection), len(protection.original)
    if same := untouched(columns):
        yield Note("untouched", columns=_listed(same))
    telling = columns[(columns["role"] == NO_ROLE) & (columns["distinct_values"] > n / 2)]
    for row in telling.itertuples():
        yield Note("alone", column=shortened(row.column), values=row.distinct_values, records=n)


def _one_band(protection: Chain) -> Iterator[Note]:
    """Bands that hold every record: codes banded as if they were years, say."""
    before = protection.original
    for number, step in enumerate(protection.steps, 1):
        after = step.state.working
        named = step.settings.get("variable", ()) if {"bands", "width"} & step.settings.keys() else ()
        for name in [named] if isinstance(named, str) else named:
            if name in after and before[name].nunique() > 1 and after[name].nunique() == 1:
                yield Note("one_band", variable=shortened(name), step=number)
        before = after


def _perturbed(protection: Chain) -> Iterator[Note]:
    """What is measured of perturbed keys, and what undoes a perturbation."""
    spec, state, truth = protection.spec, protection.state, protection.state.truth
    released = [name for name in state.working if name in truth.perturbed and name not in state.removed]
    if keys := [name for name in spec.key_variables if name in released]:
        yield Note("perturbed_keys", columns=_listed(keys))
    if blurred := [name for name in keys if name in truth.blurred]:
        yield Note("blurred_keys", columns=_listed(blurred))
    quantities = [name for name in released if name in truth.blurred]
    if unmeasured := [name for name in quantities if name not in (*spec.numeric_variables, *blurred)]:
        yield Note("unmeasured", columns=_listed(unmeasured))
    yield from _outvoted(protection, released)
    yield from _strange(protection, quantities)


def _strange(protection: Chain, names: list[str]) -> Iterator[Note]:
    """Quantities that no longer look as they did: below all true ones, with decimals, without their zeros."""
    for name in names:
        was, now = (
            pd.to_numeric(each[name], errors="coerce") for each in (protection.original, protection.state.working)
        )
        faults = []
        if below := int((now < was.min()).sum()):
            faults.append(Note("strange_below", count=below))
        if zeros := int((was == 0).sum()) - int((now == 0).sum()):
            faults.append(Note("strange_fewer_zeros" if zeros > 0 else "strange_more_zeros", count=abs(zeros)))
        if not (was.dropna() % 1).any() and (now.dropna() % 1).any():
            faults.append(Note("strange_decimals"))
        if faults:
            yield Note("strange", variable=shortened(name), faults=tuple(faults))


def _outvoted(protection: Chain, released: list[str]) -> Iterator[Note]:
    """Variables that members of a household share, and that were perturbed person by person."""
    spec, original, levels = protection.spec, protection.original, protection.steps[:1]
    homes = [step.households for step in levels if step.households is not None]
    apart = {name for step in protection.steps if step.households is None for name in perturbed_by(step)}
    if spec.household is None:
        return
    home, _ = distinct(original[spec.household])
    for name in released:
        if name not in apart or any(name in each.state.truth.perturbed for each in homes):
            continue
        code, _ = distinct(original[name])
        if (share := shared_by_members(home, code)) >= _OF_HOUSEHOLDS:
            yield Note("outvoted", variable=shortened(name), share=share)


def _guessed(protection: Chain) -> Iterator[Note]:
    """Places and numbers drawn by a seed that can be found by trying; what perturbs hides more than its draws."""
    for number, step in enumerate(protection.steps, 1):
        made = protection.seed < _GUESSED and step.seed == derived_seed(protection.seed, number)
        if step.name in _UNDONE and (made or step.seed < _GUESSED):
            yield Note(f"seed_{step.name}", step=number, name=step.name, digits=len(str(_GUESSED)) + 1)


def _stale_ghosts(protection: Chain) -> Iterator[tuple[str, list[str]]]:
    """Keys that were recoded, with their released ghosts that no step has changed."""
    changed = {name for step in protection.steps for name, cells in step.changed.items() if cells}
    for key, ghosts in protection.spec.ghost_variables.items():
        same = [name for name in ghosts if name not in changed and name not in protection.state.removed]
        if key in changed and same:
            yield key, same


def _households(protection: Chain) -> Iterator[Note]:
    spec, state = protection.spec, protection.state
    if not protection.shows_households:
        return
    household = shortened(spec.household)
    for row in household_disclosure(protection).itertuples():
        if row.shown and row.shared >= _OF_HOUSEHOLDS:
            counts = {"shown": row.shown, "suppressed": row.suppressed, "share": row.shared}
            yield Note("shown_by_members", variable=shortened(row.variable), **counts, household=household)
    counted = state.measured.with_household_size
    yield Note(
        "household_size_known",
        household=household,
        largest=int(household_size(state.working[spec.household]).max()),
        k=counted["k_achieved"],
        uniques=counted["sample_uniques"],
        k_without=state.measured.k_achieved,
    )
    if not any(step.changed.get(spec.household) for step in protection.steps):
        yield Note("household_values", household=household)


def _listed(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(shortened(str(name)) for name in names)
