"""What the order of released records tells: tests of it, and what neighbours show of suppressed values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from kanon_lab.columns import coded, distinct
from kanon_lab.errors import shortened
from kanon_lab.measures import household_size
from kanon_lab.measures.file_measures import UNWEIGHTED
from kanon_lab.recipes.exposure import dependent_columns
from kanon_lab.recipes.households import household_disclosure, shared_by_members
from kanon_lab.recipes.released import NO_ROLE, label_notes, released_columns, untouched
from kanon_lab.recipes.state import Chain, derived_seed
from kanon_lab.recipes.steps import perturbed_by, shuffled_by
from kanon_lab.recipes.truth import joint_codes
from kanon_lab.terms import Note

#: Of all tests of a file together: how often one would be failed by records in a random order.
LEVEL = 0.001


def alike_neighbours(codes: np.ndarray) -> tuple[float, float, float]:
    """How often neighbours have one value, how often they would in a random order, and how likely that often then.

    Runs tests, since n less the number of runs is what is counted. The runs of the commonest value have the
    hypergeometric law (Wald and Wolfowitz 1940). Those of all others together have a known mean and variance over all
    orders, and the binomial law with these for a tail: it is near Poisson's where equal values are rare (households,
    weights) and near the normal where they are common. The probability is twice the smaller of the two; with two
    values, the first alone. Missing values (-1) are passed over; 0, 0 and 1 where nothing can differ.
    """
    codes = codes[codes >= 0]
    n, sizes = len(codes), np.bincount(codes).astype(float) if len(codes) else np.zeros(0)
    if n < 4 or (sizes > 0).sum() < 2 or sizes.max() < 2:
        return 0.0, 0.0, 1.0
    from scipy.stats import hypergeom

    alike, common = codes[1:] == codes[:-1], int(sizes.argmax())
    of_common = int((alike & (codes[1:] == common)).sum())
    most = int(sizes[common])
    p = float(hypergeom.cdf(most - of_common, n, n - most + 1, most))
    if (sizes > 0).sum() > 2:  # with two values, the runs of one are those of the other
        p = min(1.0, 2 * min(p, _tail(int(alike.sum()) - of_common, np.delete(sizes, common), n)))
    return float(alike.mean()), float((sizes * (sizes - 1)).sum() / (n * (n - 1))), p


def _tail(count: int, sizes: np.ndarray, n: int) -> float:
    """Chance of so many alike neighbours or more, of values that stand so often among n: that of a binomial law."""
    from scipy.special import betainc
    from scipy.stats import poisson

    if count == 0:
        return 1.0
    two, three, four = (np.prod([sizes - i for i in range(places)], axis=0) for places in (2, 3, 4))
    mean = two.sum() / n
    apart = (four.sum() + two.sum() ** 2 - (two**2).sum()) / n / (n - 1)
    variance = mean + 2 * three.sum() / n / (n - 1) + apart - mean**2
    rare = 1 - variance / mean
    if rare <= 1e-9 or count > mean / rare:  # Poisson's law is wider, and has no largest count
        return float(poisson.sf(count - 1, mean))
    return float(betainc(count, mean / rare - count + 1, rare))


def order_notes(protection: Chain) -> Iterator[Note]:
    """What the order of the released records tells, and which step ends that; nothing where it is random."""
    ways, released = {_way(step) for step in protection.steps}, protection.shows_households
    if "record" in ways:
        return
    original = protection.original.loc[protection.state.working.index]
    block = _blocks(protection, original) if released else np.arange(len(original))
    if not (released and "household" in ways):
        yield from _between(protection, original, block)
    if released and "within_household" not in ways:
        yield from _within(protection, original, block)


def _way(step: object) -> str | None:
    """What a step has put in random order."""
    if step.name == "shuffle_members":
        return "within_household"
    return shuffled_by(step.settings) if step.name == "shuffle_records" else None


def _blocks(protection: Chain, original: pd.DataFrame) -> np.ndarray:
    """Numbers, from 0 on, of the runs of records of one household."""
    home, _ = distinct(original[protection.spec.household])
    return np.concatenate([[0], np.cumsum(home[1:] != home[:-1])])


def _tested(protection: Chain) -> list[str]:
    """Columns whose values an order may tell: those with a role, and those that are not released."""
    spec = protection.spec
    names = [*spec.variables, *spec.ghosts, *protection.state.removed]
    return [name for name in dict.fromkeys(names) if name in protection.original]


def _between(protection: Chain, original: pd.DataFrame, block: np.ndarray) -> Iterator[Note]:
    """Neighbours that are alike: of records, or of households where these are released."""
    first, names, found = np.concatenate([[True], block[1:] != block[:-1]]), _tested(protection), {}
    for name in names:
        codes, _ = distinct(original[name])
        share, expected, p = alike_neighbours(codes[first])
        if p < LEVEL / len(names):
            found[name] = Note("alike_neighbours", column=shortened(name), often=share, at_random=expected)
    if not found:
        return
    key = "order_as_it_came" if protection.in_order else "order_not_random"
    yield Note(key, columns=tuple(found.values()), level=LEVEL)
    for name in found:
        told, lost = neighbours_tell(protection, name, block)
        if told:
            yield Note("told_by_neighbours", variable=shortened(name), told=told, suppressed=lost)


def neighbours_tell(protection: Chain, name: str, block: np.ndarray) -> tuple[int, int]:
    """Suppressed values of a variable that its neighbours tell, and all its suppressed values.

    An outsider takes a value for that of the records before and after where these agree; members of one household
    (`block`) are no neighbours here: they are told apart anyway.
    """
    state = protection.state
    if name in state.removed or name not in state.truth.values:
        return 0, 0
    shown, true = state.working[name], state.truth.values[name].loc[state.working.index]
    truth, code = joint_codes(true, shown)
    lost = (code < 0) & (truth >= 0)
    known = pd.Series(np.where(code < 0, np.nan, code)).groupby(block)
    before = known.last().ffill().shift().to_numpy()[block]
    after = known.first().bfill().shift(-1).to_numpy()[block]
    return int((lost & (before == after) & (before == truth)).sum()), int(lost.sum())


def _within(protection: Chain, original: pd.DataFrame, block: np.ndarray) -> Iterator[Note]:
    """What the places of members tell: whether the first of a household is above or below the second."""
    from scipy.stats import binomtest

    first = np.flatnonzero(np.concatenate([[True], block[1:] != block[:-1]]))
    first = first[np.isin(first + 1, np.flatnonzero(block[1:] == block[:-1]) + 1)]
    names, found = _tested(protection), []
    for name in names:
        codes = coded(original[name]).codes
        one, other = codes[first], codes[first + 1]
        differ = (one != other) & (one >= 0) & (other >= 0)
        n, above = int(differ.sum()), int((one > other)[differ].sum())
        if n and binomtest(above, n).pvalue < LEVEL / len(names):
            found.append(shortened(name))
    if found:
        yield Note("order_of_members", columns=tuple(found), level=LEVEL)


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
    for households in protection.household_chains:
        if households.spec.weight is None:
            key = "households_unweighted" if spec.weight is None else "households_not_weighted"
            yield Note(key, step="household_level", note=UNWEIGHTED)
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
    if (estimates := protection.estimates) is not None and estimates["lower"].isna().all():
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
