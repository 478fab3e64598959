"""What the order of released records tells: tests of it, and what neighbours show of suppressed values."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from kanon_lab.classes.coding import coded
from kanon_lab.errors import shortened
from kanon_lab.notes import Note
from kanon_lab.protection.state import Chain
from kanon_lab.protection.steps import shuffled_by
from kanon_lab.protection.truth import joint_codes, texts_of
from kanon_lab.recode.columns import distinct

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
    truth, code = joint_codes(texts_of(true), texts_of(shown))
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
