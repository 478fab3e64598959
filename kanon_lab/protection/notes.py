"""What a reader of the measures of a chain should know."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pandas as pd

from kanon_lab.digits import percent
from kanon_lab.errors import shortened
from kanon_lab.measures import UNWEIGHTED
from kanon_lab.protection.chain import Protection
from kanon_lab.protection.checks import derived_seed
from kanon_lab.protection.disclosed import shared_by_members, shown_by_members, told_by_columns
from kanon_lab.protection.labels import label_notes
from kanon_lab.protection.order import order_notes
from kanon_lab.protection.released import NO_ROLE, released_columns, untouched
from kanon_lab.protection.steps import perturbed_by
from kanon_lab.recode.columns import distinct
from kanon_lab.risk import household_size

# Seeds below this are soon found by trying.
_GUESSED = 2**48
# Steps that a found seed undoes; the last two draw by the values too, so that these must be guessed as well.
_UNDONE = {
    "shuffle_members": "puts members back in their places",
    "shuffle_records": "can prove a guess of the original file by its order",
    "renumber": "can prove a guess of the original file by its numbers",
}
# From this share on, a variable is one of households rather than of persons.
_OF_HOUSEHOLDS = 0.9


def notes_of(protection: Protection) -> Iterator[str]:
    """Notes on weights, columns without a role, what columns and members tell, households, and what is not measured.

    Those of the file of households are on its weight only: its columns are released in the file of persons.
    """
    spec = protection.spec
    if spec.weight is None:
        yield UNWEIGHTED
    for step in protection.steps:
        if step.households is not None and step.households.spec.weight is None:
            why = "" if spec.weight is None else " (where the weight of persons differs in a household, none is taken)"
            yield f"{step.name}: {UNWEIGHTED}{why}"
    yield from _columns(protection)
    yield from _one_band(protection)
    stale = dict(_stale_ghosts(protection))
    for key, ghosts in stale.items():
        yield (
            f"{shortened(key)}: was recoded, and {_listed(ghosts)} still say the same in other words as before; recode "
            "or remove them too"
        )
    for row in told_by_columns(protection).itertuples():
        if row.variable == spec.household:
            yield (
                f"{shortened(row.column)} ({row.role}, {row.distinct_values:,} values) tells which records are of one "
                f"household, though {shortened(row.variable)} is removed; recode or remove it too"
            )
        elif row.column not in stale.get(row.variable, ()):
            yield (
                f"{shortened(row.column)} ({row.role}, {row.distinct_values:,} values) tells the original "
                f"{shortened(row.variable)} in {row.told:,} of the {row.cells:,} records where that was changed, "
                "suppressed or removed, to whoever knows which value goes with which; recode or remove it too"
            )
    yield from _households(protection)
    yield from order_notes(protection)
    yield from _perturbed(protection)
    yield from _guessed(protection)
    yield from label_notes(protection)
    estimates = protection.baseline.estimates
    if estimates is not None and estimates["lower"].isna().all():
        yield (
            "no indicator has an interval: every stratum of the design has one sampling unit; check strata and "
            "sampling_unit under indicators"
        )


def _columns(protection: Protection) -> Iterator[str]:
    columns, n = released_columns(protection), len(protection.original)
    if same := untouched(columns):
        yield f"released as they came, and without a role: {_listed(same)}"
    telling = columns[(columns["role"] == NO_ROLE) & (columns["distinct_values"] > n / 2)]
    for row in telling.itertuples():
        yield (
            f"{shortened(row.column)}: no role, and {row.distinct_values:,} different values in {n:,} records, so that "
            "whoever knows a person's value finds the record; name it among direct_identifiers, remove or recode it"
        )


def _one_band(protection: Protection) -> Iterator[str]:
    """Bands that hold every record: codes banded as if they were years, say."""
    before = protection.original
    for number, step in enumerate(protection.steps, 1):
        after = step.state.working
        named = step.settings.get("variable", ()) if {"bands", "width"} & step.settings.keys() else ()
        for name in [named] if isinstance(named, str) else named:
            if name in after and before[name].nunique() > 1 and after[name].nunique() == 1:
                yield (
                    f"{shortened(name)}: the bands of step {number} leave one value in every record; give bands that "
                    "fit its values, or remove the variable"
                )
        before = after


def _perturbed(protection: Protection) -> Iterator[str]:
    """What is measured of perturbed keys, and what undoes a perturbation."""
    spec, state, truth = protection.spec, protection.state, protection.state.truth
    released = [name for name in state.working if name in truth.perturbed and name not in state.removed]
    if keys := [name for name in spec.key_variables if name in released]:
        yield (
            f"{_listed(keys)}: perturbed, and classes, k and the risks take released values for true; key_linkage does "
            "not, but is no upper bound: who knows how a key was perturbed finds more"
        )
    if blurred := [name for name in keys if name in truth.blurred]:
        yield (
            f"{_listed(blurred)}: perturbed as a quantity, so that nobody looks for the same value: key_linkage and "
            "the loss of the keys are not measured; name it in numeric_variables too, or recode it afterwards"
        )
    unmeasured = [name for name in released if name in truth.blurred and name not in spec.numeric_variables]
    if unmeasured := [name for name in unmeasured if name not in blurred]:
        yield (
            f"{_listed(unmeasured)}: perturbed as a quantity, and not among numeric_variables, so that neither links "
            "nor losses are measured of it"
        )
    yield from _outvoted(protection, released)
    yield from _strange(protection, [name for name in released if name in truth.blurred])


def _strange(protection: Protection, names: list[str]) -> Iterator[str]:
    """Quantities that no longer look as they did: below all true ones, with decimals, without their zeros."""
    for name in names:
        was, now = (
            pd.to_numeric(each[name], errors="coerce") for each in (protection.original, protection.state.working)
        )
        faults = []
        if below := int((now < was.min()).sum()):
            faults.append(f"{below:,} values are below the least original one")
        if zeros := int((was == 0).sum()) - int((now == 0).sum()):
            faults.append(f"{zeros:,} zeros fewer" if zeros > 0 else f"{-zeros:,} zeros more")
        if not (was.dropna() % 1).any() and (now.dropna() % 1).any():
            faults.append("whole numbers have decimals")
        if faults:
            yield f"{shortened(name)}: {', '.join(faults)}; bottom_code and round mend that after the step"


def _outvoted(protection: Protection, released: list[str]) -> Iterator[str]:
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
            yield (
                f"{shortened(name)}: perturbed person by person, though {percent(share)} of the households share one "
                "value: the members' released values together tell it; perturb it at the household level"
            )


def _guessed(protection: Protection) -> Iterator[str]:
    """Places and numbers drawn by a seed that can be found by trying; what perturbs hides more than its draws."""
    for number, step in enumerate(protection.steps, 1):
        made = protection.seed < _GUESSED and step.seed == derived_seed(protection.seed, number)
        if step.name in _UNDONE and (made or step.seed < _GUESSED):
            yield (
                f"step {number} ({step.name}): who tries seeds finds this one, and {_UNDONE[step.name]}; before a "
                f"release choose a secret seed of {len(str(_GUESSED)) + 1} digits or more"
            )


def _stale_ghosts(protection: Protection) -> Iterator[tuple[str, list[str]]]:
    """Keys that were recoded, with their released ghosts that no step has changed."""
    for key, ghosts in protection.spec.ghost_variables.items():
        changed = {name for step in protection.steps for name, cells in step.changed.items() if cells}
        same = [name for name in ghosts if name not in changed and name not in protection.state.removed]
        if key in changed and same:
            yield key, same


def _households(protection: Protection) -> Iterator[str]:
    spec, state = protection.spec, protection.state
    if spec.household is None or spec.household in state.removed:
        return
    for row in shown_by_members(protection).itertuples():
        if row.shown and row.shared >= _OF_HOUSEHOLDS:
            yield (
                f"{shortened(row.variable)}: {row.shown:,} of {row.suppressed:,} suppressed values are shown by "
                f"another member of the household ({percent(row.shared)} of the households share one); suppress it "
                f"at the household level, or remove {shortened(spec.household)}"
            )
    name, counted, last = shortened(spec.household), state.measured.with_household_size, state.measured
    largest = int(household_size(state.working[spec.household]).max())
    yield (
        f"{name}: the members of each household can be counted (up to {largest}), so that an outsider knows its size "
        f"even where no variable says it; with that count as a further key, k achieved is {counted['k_achieved']:,} "
        f"and {counted['sample_uniques']:,} records are unique (without it k achieved is {last.k_achieved:,})"
    )
    if not any(step.changed.get(spec.household) for step in protection.steps):
        yield (
            f"the values of {name} are those of the input: who has another extract of the input can join the two by "
            "them; apply renumber"
        )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(shortened(str(name)) for name in names)
