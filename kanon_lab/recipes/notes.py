"""Notes on a release for those who make it: what it still tells, and what was not measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd

from kanon_lab.columns import distinct, named_rows
from kanon_lab.errors import shortened
from kanon_lab.measures import household_size
from kanon_lab.measures.file_measures import UNWEIGHTED
from kanon_lab.recipes.exposure import dependent_columns, untried
from kanon_lab.recipes.households import (
    OF_HOUSEHOLDS,
    household_disclosure,
    household_keys,
    keeps_household_ids,
    order_notes,
    shared_by_members,
)
from kanon_lab.recipes.released import label_notes, released_columns, untouched
from kanon_lab.recipes.state import Chain, derived_seed
from kanon_lab.recipes.steps import kind_of
from kanon_lab.terms import Note

# Seeds below this can be found by trying them all.
_GUESSED = 2**48
# A key with more than this share (0-1) of its cells suppressed is of little use.
_MOSTLY = 0.5
# Steps that can be undone with their seed; the last two mix the values into it, so that these must be guessed as well.
_UNDONE = ("shuffle_members", "shuffle_records", "renumber")


def notes_of(protection: Chain) -> Iterator[Note]:
    """Notes on weights, columns without a role, what columns and members reveal, households and unmeasured risks.

    Of the file of households only its weight has a note: its columns are released in the file of persons.
    """
    spec = protection.spec
    yield from keyless(protection)
    if spec.weight is None:
        yield UNWEIGHTED
    for households in protection.household_chains:
        if households.spec.weight is None:
            key = "households_unweighted" if spec.weight is None else "households_not_weighted"
            yield Note(key, step="household_level", note=UNWEIGHTED)
    if names := untouched(released_columns(protection)):
        yield Note("untouched", columns=_listed(names))
    yield from one_band_notes(protection)
    for name, cells in mostly_hidden(protection):
        yield Note("mostly_hidden", variable=shortened(name), share=cells / protection.n)
    ghosts = [*stale_ghosts(protection)]
    stale = {name for names, _ in ghosts for name in names}
    yield from (note for _, note in ghosts)
    for row in named_rows(dependent_columns(protection)):
        named = {"column": shortened(row.column), "role": row.role, "variable": shortened(row.variable)}
        if row.variable == spec.household:
            if row.told > row.cells / 2:
                yield Note("tells_households", **named, values=row.distinct_values)
        elif not (row.column in stale and row.column in spec.ghost_variables.get(row.variable, ())):
            yield Note("tells_key", **named, values=row.distinct_values, told=row.told, cells=row.cells)
    pairs, unread = untried(protection)
    if pairs or unread:
        yield Note("untried", pairs=pairs, columns=unread)
    yield from _households(protection)
    yield from order_notes(protection)
    yield from _perturbed(protection)
    for number, step in enumerate(protection.steps, 1):
        if spec.person is not None and step.name == "microaggregate":
            yield Note("groups_of_records", step=number, name=step.name)
    yield from _guessed(protection)
    yield from label_notes(protection)
    yield from population_notes(protection)
    if (estimates := protection.estimates) is not None and estimates["lower"].isna().all():
        yield Note("no_interval")


def keyless(protection: Chain) -> Iterator[Note]:
    """That no key variables are named."""
    if not protection.spec.key_variables:
        yield Note("no_keys", records=protection.n)


def population_notes(protection: Chain) -> Iterator[Note]:
    """What is not sure, or not known, of the population beside the file."""
    if (population := protection.state.truth.population) is None:
        return
    if keys := [name for name in protection.released_spec.key_variables if name in population.untold]:
        yield Note("population_untold", columns=_listed(keys))
    for name, persons in population.refused.items():
        yield Note("population_refused", column=shortened(name), persons=round(persons))
    yield from _contradicted(protection)


def _contradicted(protection: Chain) -> Iterator[Note]:
    """That a population has fewer persons than the file."""
    if short := protection.state.measured.values.get("population_short"):
        yield Note("population_short", records=short)


def grave_notes(protection: Chain) -> Iterator[tuple[tuple[str, ...], Note]]:
    """Notes that are cautions too, each with its columns: on a population that the file contradicts, and on ghosts."""
    for note in _contradicted(protection):
        yield tuple(protection.released_spec.key_variables), note
    if protection.state.counts is None:
        yield from stale_ghosts(protection)


def stale_ghosts(protection: Chain) -> Iterator[tuple[tuple[str, ...], Note]]:
    """Released ghosts, changed by no step, of keys that were recoded, each with its note."""
    changed = {name for step in protection.steps for name, cells in step.changed.items() if cells}
    kept = {*protection.released_columns} - changed
    for key, ghosts in protection.spec.ghost_variables.items():
        if key in changed and (names := tuple(ghost for ghost in ghosts if ghost in kept)):
            yield names, Note("stale_ghosts", variable=shortened(key), columns=_listed(names))


def mostly_hidden(protection: Any) -> Iterator[tuple[str, int]]:
    """Released keys of which more than half of the cells are suppressed, with the number of these."""
    for name in [name for name in protection.spec.key_variables if name in protection.released_columns]:
        hidden = protection.ordered[name].isna() & protection.original[name].notna()
        if hidden.mean() > _MOSTLY:
            yield name, int(hidden.sum())


def one_band_notes(protection: Any) -> Iterator[Note]:
    """Notes on bands that hold every record: codes banded as if they were years, say."""
    for number, _, name, cells in protection.recodings():
        banded = {"bands", "width"} & protection.steps[number - 1].settings.keys()
        if banded and cells.before.nunique() > 1 and cells.after.nunique() == 1:
            yield Note("one_band", variable=shortened(name), step=number)


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
    working = protection.state.working
    for name in names:
        was, now = (pd.to_numeric(frame[name], errors="coerce") for frame in (protection.original, working))
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
    if protection.spec.household is None:
        return
    persons = (step for step in protection.steps if step.households is None)
    apart = {name for step in persons for name in kind_of(step.name).perturbed(step.settings)}
    apart = apart.difference(*(level.state.truth.perturbed for level in protection.household_chains))
    home, _ = distinct(protection.original[protection.spec.household])
    for name in [name for name in released if name in apart]:
        share = shared_by_members(home, distinct(protection.original[name])[0])
        if share >= OF_HOUSEHOLDS:
            yield Note("outvoted", variable=shortened(name), share=share)


def _guessed(protection: Chain) -> Iterator[Note]:
    """Places and numbers drawn by a seed that can be found by trying; what perturbs hides more than its draws."""
    for number, step in enumerate(protection.steps, 1):
        derived = protection.seed < _GUESSED and step.seed == derived_seed(protection.seed, number)
        if step.name in _UNDONE and step.seed is not None and (derived or step.seed < _GUESSED):
            yield Note(f"seed_{step.name}", step=number, name=step.name, digits=len(str(_GUESSED)) + 1)


def _households(protection: Chain) -> Iterator[Note]:
    """Which keys of households the verdict counts, and what members of a household reveal of each other."""
    spec, state = protection.spec, protection.state
    if keys := household_keys(protection):
        yield Note("household_keys", columns=_listed(keys))
    if not protection.shows_households:
        return
    household = shortened(str(spec.household))
    for row in named_rows(household_disclosure(protection)):
        if row.shown and row.shared >= OF_HOUSEHOLDS:
            counts = {"shown": row.shown, "suppressed": row.suppressed, "share": row.shared}
            yield Note("shown_by_members", variable=shortened(row.variable), **counts, household=household)
    counted = state.measured.with_household_size or {}
    yield Note(
        "household_size_known",
        household=household,
        largest=int(household_size(state.working[spec.household]).max()),
        k=counted["k_achieved"],
        uniques=counted["sample_uniques"],
        k_without=state.measured.k_achieved,
    )
    if keeps_household_ids(protection):
        yield Note("household_values", household=household)


def _listed(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(shortened(str(name)) for name in names)
