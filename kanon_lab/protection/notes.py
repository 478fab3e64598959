"""What a reader of the measures of a chain should know."""

from __future__ import annotations

from collections.abc import Iterator

from kanon_lab.errors import shortened
from kanon_lab.measures import UNWEIGHTED
from kanon_lab.protection.chain import Protection
from kanon_lab.risk import household_size


def notes_of(protection: Protection) -> Iterator[str]:
    """Notes on weight, household size, ghosts of recoded keys, and the same of the file of households."""
    spec, state = protection.spec, protection.state
    if spec.weight is None:
        yield UNWEIGHTED
    if spec.household is not None and spec.household not in state.removed:
        largest = int(household_size(state.working[spec.household]).max())
        yield (
            f"{shortened(spec.household)}: the members of each household can be counted (up to {largest}), so that an "
            "outsider knows its size even where no variable says it"
        )
    for key, ghosts in spec.ghost_variables.items():
        recoded = any(step.changed.get(key) and not any(map(step.changed.get, ghosts)) for step in protection.steps)
        if recoded and not set(ghosts) <= set(state.removed):
            yield (
                f"{shortened(key)}: was recoded, and {', '.join(map(shortened, ghosts))} still say the same in other "
                "words as before; recode or remove them too"
            )
    for step in protection.steps:
        if step.households is not None:
            yield from (f"{step.name}: {note}" for note in notes_of(step.households))
