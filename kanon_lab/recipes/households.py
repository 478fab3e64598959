"""Files of households, and what their members, or neighbours in the order of the records, reveal of each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab.classes.table import is_agreeing
from kanon_lab.columns import coded, distinct, one_column, refuse
from kanon_lab.errors import DataError, about, shortened
from kanon_lab.recipes.measured import joint_codes
from kanon_lab.recipes.state import Chain
from kanon_lab.recipes.steps import ShuffleRecords
from kanon_lab.settings import read
from kanon_lab.terms import Note

#: Significance level of all tests of a file together: how often records in a random order would fail one of them.
LEVEL = 0.001
#: From this share (0-1) of the households on that agree in a variable, it is one of households rather than of persons.
OF_HOUSEHOLDS = 0.9


def household_file(frame: pd.DataFrame, household: str, variables: Iterable[str]) -> pd.DataFrame:
    """One record a household, out of a file of persons.

    Parameters
    ----------
    frame : DataFrame
        One row a person.
    household : str
        The identifier of the household.
    variables : iterable of str
        Variables that all members of a household share, missing values too; else a `DataError` says where.

    Returns
    -------
    DataFrame
        Columns `household` and `variables`; households in the order in which they come first, each under the index
        label of its first member.

    References
    ----------
    INE Chile (2023), section 6.7, block 6.12; it keeps the first member's values unchecked.

    Examples
    --------
    >>> kanon_lab.recipes.household_file(pd.DataFrame({"home": [1, 1, 2], "rooms": [3, 3, 5]}), "home", ["rooms"])
       home  rooms
    0     1      3
    2     2      5
    """
    codes, _ = distinct(one_column(frame, household))
    refuse(codes < 0, frame.index, household, "no household; fill it in, or drop the record")
    _, first = np.unique(codes, return_index=True)
    names = [name for name in dict.fromkeys(variables) if name != household]
    for name in names:
        values, _ = distinct(one_column(frame, name))
        fault = (
            "not the value that others of the same household have; correct it, or protect it as a variable of persons"
        )
        refuse(values != values[first][codes], frame.index, name, fault)
    return frame[[household, *names]].iloc[first]


def merge_households(frame: pd.DataFrame, households: pd.DataFrame, household: str) -> pd.DataFrame:
    """Give every person the values of their household.

    Parameters
    ----------
    frame : DataFrame
        One row a person.
    households : DataFrame
        One row a household, as `household_file` made it, in any order, its other columns recoded or suppressed.
    household : str
        The identifier of the household, in both; the same households, or a `DataError`.

    Returns
    -------
    DataFrame
        The same persons in the same order, with the columns of `households` in place of their own.

    References
    ----------
    INE Chile (2023), section 6.7, block 6.13; its merge drops and multiplies persons where the households differ.

    Examples
    --------
    >>> persons = pd.DataFrame({"home": [1, 1, 2], "rooms": [3, 3, 5]})
    >>> kanon_lab.recipes.merge_households(persons, pd.DataFrame({"home": [2, 1], "rooms": ["4+", "1-3"]}), "home")
       home rooms
    0     1   1-3
    1     1   1-3
    2     2    4+
    """
    codes, ids = distinct(one_column(frame, household))
    with about("the households"):
        there = pd.Index(one_column(households, household))
        if not there.is_unique:
            label = shortened(str(households.index[int(there.duplicated().argmax())]))
            raise DataError(f"row {label}: the household has two records; keep one record of each household")
    position = there.get_indexer(ids)
    lost, more = int((position < 0).sum()), len(there) - int((position >= 0).sum())
    if lost or more or (codes < 0).any():
        raise DataError(
            f"{lost} households of the persons have no record and {more} records have no persons; the file of "
            "households must be of the same households"
        )
    merged = frame.copy(deep=False)
    for name in households.columns.drop(household):
        column = households[name].take(position[codes])
        merged[name] = column.set_axis(frame.index)
    return merged


def household_disclosure(protection: Chain) -> pd.DataFrame:
    """Suppressed values that another member of the same household still shows.

    Returns
    -------
    DataFrame
        One row a released key variable or ghost with suppressed values, if the household ID is released: ``variable``;
        ``suppressed`` (values that are missing now); ``shown`` (those whose original value another member of the
        household still shows); ``shared`` (0-1, of the households with several known members, the share that agrees in
        the variable: in a shared variable a shown value is disclosed).

    Examples
    --------
    >>> frame = pd.DataFrame({"home": [1, 1, 2, 2], "town": [*"aabb"], "sex": [*"mfff"]})
    >>> chain = kanon_lab.protect(frame, kanon_lab.KeySpec(["town", "sex"], household="home"))
    >>> chain = chain.apply("suppress", {"k_required": 2, "importance": {"sex": 1, "town": 2}})
    >>> kanon_lab.recipes.household_disclosure(chain)
      variable  suppressed  shown  shared
    0     town           1      1     1.0
    1      sex           1      0     0.5
    """
    spec, rows = protection.spec, []
    if protection.shows_households:
        original, released = protection.original, protection.aligned
        home, _ = distinct(released[spec.household])
        for name in [name for name in (*spec.key_variables, *spec.ghosts) if name in released]:
            code, values = distinct(original[name])
            kept = released[name].notna().to_numpy()
            lost = (code >= 0) & ~kept
            if lost.any():
                pair = home.astype(np.int64) * (len(values) + 1) + code
                shown = lost & np.isin(pair, np.unique(pair[kept & (code >= 0)]))
                rows.append((name, int(lost.sum()), int(shown.sum()), shared_by_members(home, code)))
    return pd.DataFrame(rows, columns=["variable", "suppressed", "shown", "shared"])


def household_keys(protection: Chain) -> tuple[str, ...]:
    """The released key variables of the household level that are no keys of persons."""
    spec, released = protection.spec, protection.released_columns
    taken = (*spec.key_variables, *spec.ghosts, spec.weight, spec.household)
    wanted = [name for level in protection.household_chains for name in level.spec.key_variables]
    return tuple(name for name in dict.fromkeys(wanted) if name in released and name not in taken)


def keeps_household_ids(protection: Chain) -> bool:
    """Whether the household ID is released as it came."""
    return protection.shows_households and not any(
        step.changed.get(str(protection.spec.household)) for step in protection.steps
    )


def shared_by_members(home: np.ndarray, code: np.ndarray) -> float:
    """Share (0-1) of the households with several known members whose members all have the same value."""
    known = (home >= 0) & (code >= 0)
    home, code = home[known], code[known]
    several = np.bincount(home) > 1
    return float(is_agreeing(home, code, len(several))[several].mean()) if several.any() else 0.0


def alike_neighbours(codes: np.ndarray) -> tuple[float, float, float]:
    """How often neighbours have the same value, how often in a random order, and the p-value of that.

    These are runs tests: n less the number of runs is counted. The runs of the commonest value have the hypergeometric
    law (Wald and Wolfowitz 1940). Those of all others together have a known mean and variance over all orders; their
    tail is that of the binomial law with these, which is near Poisson's if equal values are rare (households, weights)
    and near the normal law if they are common. The p-value is twice the smaller of the two; with two values, the first
    alone. Missing values (-1) are left out; the result is 0, 0 and 1 if nothing can differ.
    """
    codes = codes[codes >= 0]
    n, sizes = len(codes), np.bincount(codes).astype(float) if len(codes) else np.zeros(0)
    if n < 4 or (sizes > 0).sum() < 2 or sizes.max() < 2:
        return 0.0, 0.0, 1.0
    alike, common = codes[1:] == codes[:-1], int(sizes.argmax())
    of_common = int((alike & (codes[1:] == common)).sum())
    most = int(sizes[common])
    p = at_most(most - of_common, n, n - most + 1, most)
    if (sizes > 0).sum() > 2:  # with two values, the runs of one are those of the other
        p = min(1.0, 2 * min(p, _tail(int(alike.sum()) - of_common, np.delete(sizes, common), n)))
    return float(alike.mean()), float((sizes * (sizes - 1)).sum() / (n * (n - 1))), p


def at_most(count: int, n: int, marked: int, drawn: int) -> float:
    """Chance, by the hypergeometric law, of at most `count` of the `marked` among those drawn of n.

    It is that of ``scipy.stats``, which takes longer to load (0.7 s) than most files take to be protected.
    """
    from scipy.special import gammaln, logsumexp

    def log_choices(of: int, some: Any) -> Any:
        return gammaln(of + 1) - gammaln(some + 1) - gammaln(of - some + 1)

    counts = np.arange(max(0, drawn + marked - n), min(count, marked, drawn) + 1)
    if not len(counts):
        return 0.0
    logs = log_choices(marked, counts) + log_choices(n - marked, drawn - counts) - log_choices(n, drawn)
    return min(1.0, float(np.exp(logsumexp(logs))))


def _tail(count: int, sizes: np.ndarray, n: int) -> float:
    """Chance, by a binomial law, of at least `count` equal neighbours among n values that occur `sizes` times."""
    from scipy.special import betainc, pdtrc

    if count == 0:
        return 1.0
    two, three, four = (np.prod([sizes - i for i in range(places)], axis=0) for places in (2, 3, 4))
    mean = two.sum() / n
    apart = (four.sum() + two.sum() ** 2 - (two**2).sum()) / n / (n - 1)
    variance = mean + 2 * three.sum() / n / (n - 1) + apart - mean**2
    rare = 1 - variance / mean
    if rare <= 1e-9 or count > mean / rare:  # Poisson's law is wider, and has no largest count
        return float(pdtrc(count - 1, mean))
    return float(betainc(count, mean / rare - count + 1, rare))


def order_notes(protection: Chain) -> Iterator[Note]:
    """Notes on what the order of the released records reveals, and which step ends that."""
    ways = _shuffled(protection)
    if "record" in ways:
        return
    if (block := order_blocks(protection)) is not None:
        yield from _between(protection, block)
    if protection.shows_households and "within_household" not in ways:
        yield from _within(protection, _blocks(protection))


def _shuffled(protection: Chain) -> set[str]:
    """What steps have put in random order: of `kanon_lab.recipes.steps.SHUFFLED_BY`."""
    ways = {read(ShuffleRecords, step.settings).by for step in protection.steps if step.name == "shuffle_records"}
    return ways | {"within_household" for step in protection.steps if step.name == "shuffle_members"}


def order_blocks(protection: Chain) -> np.ndarray | None:
    """For each released record the number of its run of records of one household, from 0 on; None if in random order.

    Unless the household ID is released, each record is a run of its own.
    """
    ways, released = _shuffled(protection), protection.shows_households
    return None if "record" in ways or (released and "household" in ways) else _blocks(protection)


def _blocks(protection: Chain) -> np.ndarray:
    """Numbers of the runs of records of one household, whatever the order."""
    rows = protection.state.working.index
    if not protection.shows_households:
        return np.arange(len(rows))
    home, _ = distinct(protection.original.loc[rows, protection.spec.household])
    return np.concatenate([[0], np.cumsum(home[1:] != home[:-1])])


def _tested(protection: Chain) -> list[str]:
    """Columns whose values the order may reveal: those with a role, and those that are not released."""
    spec = protection.spec
    names = [*spec.variables, *spec.ghosts, *protection.state.removed]
    return [name for name in dict.fromkeys(names) if name in protection.original]


def ordered_variables(
    protection: Chain, block: np.ndarray, names: Iterable[str] | None = None
) -> dict[str, tuple[float, float]]:
    """Variables that neighbours (records, or households) share more often than by chance; how often they do, and would.

    All that the order may reveal are looked at, or those of them that are named.
    """
    original = protection.original.loc[protection.state.working.index]
    first = np.flatnonzero(np.diff(block, prepend=-1))
    tested, alike = _tested(protection), {}
    for name in tested if names is None else [name for name in tested if name in names]:
        codes, _ = distinct(original[name])
        share, expected, p = alike_neighbours(codes[first])
        if p < LEVEL / len(tested):
            alike[name] = share, expected
    return alike


def _between(protection: Chain, block: np.ndarray) -> Iterator[Note]:
    """Notes on equal neighbours: records, or households if their ID is released."""
    if not (alike := ordered_variables(protection, block)):
        return
    notes = [Note("alike_neighbours", column=shortened(name), often=o, at_random=r) for name, (o, r) in alike.items()]
    key = "order_as_it_came" if protection.in_order else "order_not_random"
    yield Note(key, columns=tuple(notes), level=LEVEL)
    for name in alike:
        disclosed, lost = disclosed_by_neighbours(protection, name, block)
        if disclosed:
            yield Note("told_by_neighbours", variable=shortened(name), told=disclosed, suppressed=lost)


def disclosed_by_neighbours(protection: Chain, name: str, block: np.ndarray) -> tuple[int, int]:
    """The number of suppressed values of a variable that its neighbours reveal, and of all its suppressed values."""
    state = protection.state
    if name in state.removed or name not in state.truth.values:
        return 0, 0
    shown, true = state.working[name], state.truth.values[name].loc[state.working.index]
    truth, code = joint_codes(true, shown)
    lost = (code < 0) & (truth >= 0)
    return int((lost & (guessed_by_neighbours(code, block) == truth)).sum()), int(lost.sum())


def guessed_by_neighbours(code: np.ndarray, block: np.ndarray) -> np.ndarray:
    """For each record the value that the known records before and after agree on, -1 where they do not.

    Members of one household (`block`) are no neighbours here.
    """
    known = pd.Series(np.where(code < 0, np.nan, code)).groupby(block)
    before = known.last().ffill().shift().to_numpy()[block]
    after = known.first().bfill().shift(-1).to_numpy()[block]
    return np.where(before == after, before, -1).astype(np.int64)


def _within(protection: Chain, block: np.ndarray) -> Iterator[Note]:
    """Notes on the places of members: whether the first of a household tends to be above or below the second."""
    from scipy.special import bdtr

    original = protection.original.loc[protection.state.working.index]
    first = np.flatnonzero(np.concatenate([[True], block[1:] != block[:-1]]))
    first = first[np.isin(first + 1, np.flatnonzero(block[1:] == block[:-1]) + 1)]
    names, ordered = _tested(protection), []
    for name in names:
        codes = coded(original[name]).codes
        left, right = codes[first], codes[first + 1]
        differ = (left != right) & (left >= 0) & (right >= 0)
        n, above = int(differ.sum()), int((left > right)[differ].sum())
        if n and 2 * bdtr(min(above, n - above), n, 0.5) < LEVEL / len(names):  # both tails
            ordered.append(shortened(name))
    if ordered:
        yield Note("order_of_members", columns=tuple(ordered), level=LEVEL)
