"""PRAM (post-randomisation): categories change into others with the probabilities of a matrix."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab.arguments import as_share, check_frame
from kanon_lab.columns import coded, grouped, numbers_of, one_column, refuse, strata_codes
from kanon_lab.errors import DataError, OptionError, described, encodable, meant, misspelt, shortened
from kanon_lab.methods.perturbation import KEEPS, Perturbed, generator, reordered, variables_of
from kanon_lab.methods.transition import (
    category,
    check_transition,
    evenly,
    framed,
    redrawing,
    stay_probabilities,
    two_stages,
)
from kanon_lab.roles import check_seed, names_of


@dataclass(frozen=True, eq=False, repr=False)
class StrataMatrices(Mapping[int, pd.DataFrame]):
    """The matrix of each stratum, by its number from 0 on; computed on demand, since there may be thousands."""

    labels: Sequence[str]  # All categories
    full: np.ndarray  # (categories, categories) the matrix of the user, or (categories,) the probability to stay
    invariant: bool
    codes: np.ndarray  # The categories in the first stratum, then those in the second, and so on
    shares: np.ndarray  # The share of each of these, in any unit
    first: np.ndarray  # (strata + 1,) Where each stratum begins in `codes`

    def __len__(self) -> int:
        return len(self.first) - 1

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self)))

    def __getitem__(self, stratum: int) -> pd.DataFrame:
        if stratum not in range(len(self)):
            raise KeyError(stratum)
        matrix, to = self.probabilities(stratum)
        return framed(matrix, [self.labels[code] for code in to])

    def cells(self, stratum: int) -> slice:
        """The positions of a stratum's categories in `codes`."""
        return slice(self.first[stratum], self.first[stratum + 1])

    def probabilities(self, stratum: int) -> tuple[np.ndarray, np.ndarray]:
        """The matrix of a stratum and the codes of its rows: all categories, if the user's matrix is used as it is."""
        if self.full.ndim == 2 and not self.invariant:
            return self.full, np.arange(len(self.full))
        codes, shares = self.codes[self.cells(stratum)], self.shares[self.cells(stratum)]
        shares = shares / shares.sum()
        if self.full.ndim == 1:
            stay = self.full[codes]
            return redrawing(stay, shares) if self.invariant else evenly(stay), codes
        all_shares = np.zeros(len(self.full))
        all_shares[codes] = shares
        return two_stages(self.full, all_shares)[np.ix_(codes, codes)], codes


#: The default probability to stay.
DEFAULT_KEEP = 0.8

# The most categories: a matrix has the square of them as cells.
_MOST = 2000

# The matrix of a variable, or its probability to stay.
_Rule = pd.DataFrame | float | Mapping[Hashable, float]


@dataclass(frozen=True)
class _Column:
    """The categories of a variable."""

    name: str
    codes: np.ndarray  # (records,) -1 where missing
    labels: list[str]  # The text of each code
    some: np.ndarray  # A record with each code


@dataclass(frozen=True)
class _Law:
    """How the categories of one variable change; a cell is a category within a stratum.

    The cumulated probabilities of a cell, plus its number, continue those of the cell before it, so that one search in
    all of them gives the new category of each record.
    """

    known: np.ndarray  # (records,)
    cell: np.ndarray  # (records known,)
    edges: np.ndarray  # Ends of the cumulated probabilities
    targets: np.ndarray  # The code that each edge leads to
    stay: np.ndarray  # (cells,)
    matrices: StrataMatrices

    def draw(self, draws: np.ndarray) -> np.ndarray:
        """The new code of each record from a number in [0, 1); -1 where missing."""
        # Adding the cell may round up to the next one.
        place = np.minimum(self.cell + draws[self.known], np.nextafter(self.cell + 1.0, 0))
        codes = np.full(len(self.known), -1)
        codes[self.known] = self.targets[np.searchsorted(self.edges, place, side="right")]
        return codes


def pram(
    frame: pd.DataFrame,
    variables: Iterable[str] | str,
    *,
    transition: pd.DataFrame | Mapping | None = None,
    keep: float | Mapping | None = None,
    invariant: bool | None = None,
    weight: str | None = None,
    strata: Iterable[str] | str = (),
    seed: int = 0,
) -> Perturbed:
    """Change each category with known probabilities, independently for each record and variable.

    Parameters
    ----------
    variables : names
        Columns of categories; relations between them are weakened. Missing values stay missing.
    transition : DataFrame or mapping, optional
        The matrix of one variable, or a mapping of each variable to its matrix. A row for each true category, adding to
        1; the categories are exactly those of the data, matched as text.
    keep : float, or mapping of variable to float (or to mapping of category to float), optional
        Without a matrix: the probability to stay, 0 to below 1, by default `DEFAULT_KEEP`; otherwise the category is
        redrawn among those of the stratum.
    invariant : bool, optional
        Whether the expected shares stay as they are; by default only without a matrix. Without one, redrawn categories
        follow the shares (`redrawing_matrix`) and may be the old one, so that each stays more often than `keep` says;
        if not invariant, the other categories are equally likely and the old one is not drawn. With a matrix, a second
        stage is added (`invariant_matrix`): a rare category then stays much less often than the diagonal says.
    weight : str, optional
        Sampling weight: the weighted shares stay as they are.
    strata : names
        Each stratum has matrices for its own shares and categories. If a stratum has a single category of a variable,
        it stays (unless a matrix is used as it is).
    seed : int, from 0 on
        Each variable has its own random numbers, from the seed and its position: a variable added at the end changes no
        other. Use another seed for a second run. The order of records matters, that of categories does not.

    Returns
    -------
    Perturbed
        Method ``invariant`` or ``plain``; columns keep their types. Details:

        - ``transitions``: by variable the matrix used, categories sorted (numbers by size, then text); with strata, by
          variable a mapping of stratum number to the matrix of the categories in it.
        - ``stratum``: ndarray of int, number of each record's stratum.
        - ``changes``: DataFrame, one row a variable: ``variable``, ``expected`` and ``changed`` (share of all records
          that change, 0-1), ``stay_least``, ``stay_mean``, ``stay_most`` (probability to stay of a record that has a
          value), ``fixed`` (records with a value that cannot change).
        - ``weight``: the name, or None.

    Notes
    -----
    `posterior` gives what an intruder may conclude from a released category. If redrawn categories follow the shares
    (invariant without a matrix), a category released as rare is truly rare with probability `keep` or more: PRAM hides
    it little. With `invariant_matrix`, or with other categories equally likely, that probability is much lower.

    References
    ----------
    Kooiman, Willenborg and Gouweleeuw (1997), PRAM: a method for disclosure limitation of microdata; for the invariant
    matrix Gouweleeuw, Kooiman, Willenborg and de Wolf (1998). INE Chile (2023), Tabla 8.1.

    Examples
    --------
    >>> result = kanon_lab.methods.pram(pd.DataFrame({'sex': list('ffm') * 100}), 'sex', keep=0.8, seed=1)
    >>> result.details['transitions']['sex'].round(4)
            f       m
    f  0.9333  0.0667
    m  0.1333  0.8667
    >>> result.cells
      variable  cells     share
    0      sex     31  0.103333
    """
    check_frame(frame)
    names, strata, seed = variables_of(variables), names_of(strata, "strata"), check_seed(seed)
    if weight is not None and not isinstance(weight, str):
        raise OptionError(f"weight must be the name of a column, not {described(weight)}")
    for role, others in {"the weight": (weight,), "a stratum": strata}.items():
        if both := [name for name in names if name in others]:
            raise OptionError(f"variables: {shortened(both[0])} is also {role}; leave it out of one of the two")
    rules = transition_rules(names, transition, keep)
    if invariant is not None and not isinstance(invariant, bool):
        raise OptionError(f"invariant must be true or false, not {described(invariant)}")
    invariant = transition is None if invariant is None else invariant
    if len(frame) == 0:
        raise DataError("has no records; nothing can be perturbed")
    stratum = strata_codes(frame, strata)
    weights = None
    if weight is not None:
        weights = numbers_of(frame, (weight,))[1][:, 0]
        fault = "a weight that is not a number above 0; correct it or drop the record"
        refuse(~(weights > 0), frame.index, weight, fault)
    orders, transitions, changes = {}, {}, []
    for position, name in enumerate(names):
        column = _column(frame, name)
        law = _law(column, rules[name], invariant, stratum, weights, frame.index)
        after = law.draw(generator(seed, "pram", position).random(len(frame)))
        moved = after != column.codes
        orders[name] = np.where(moved, column.some[after], np.arange(len(frame)))
        transitions[name] = law.matrices if strata else law.matrices[0]
        stay = law.stay[law.cell]
        expected, fixed = (1 - stay).sum() / len(frame), int((stay == 1).sum())
        share = moved.mean()
        changes.append((name, int(moved.sum()), share, expected, share, stay.min(), stay.mean(), stay.max(), fixed))
    columns = ["cells", "share", "expected", "changed", "stay_least", "stay_mean", "stay_most", "fixed"]
    table = pd.DataFrame(changes, columns=["variable", *columns])
    cells, changed = table[["variable", *columns[:2]]], table[["variable", *columns[2:]]]
    details = {"transitions": transitions, "stratum": stratum, "changes": changed, "weight": weight}
    method = "invariant" if invariant else "plain"
    return Perturbed(reordered(frame, orders), method, names, strata, seed, cells, KEEPS["pram"][method], details)


def transition_rules(names: tuple[str, ...], transition: object, keep: object) -> dict[str, _Rule]:
    """For each variable its matrix, or the probability to stay."""
    if transition is None:
        keep = DEFAULT_KEEP if keep is None else keep
        of = _by_variable(keep, names, "keep") if isinstance(keep, Mapping) else dict.fromkeys(names, keep)
        for name, value in of.items():
            if not isinstance(value, Mapping) and as_share(value, f"keep of {shortened(name)}") == 1:
                raise OptionError(f"keep of {shortened(name)} must be below 1, or nothing would change")
        return dict(of)
    if keep is not None:
        raise OptionError("give a transition matrix or the probability to keep a category, not both")
    for value in transition.values() if isinstance(transition, Mapping) else ():
        rows = value.values() if isinstance(value, Mapping) else ()
        if isinstance(value, pd.DataFrame) or any(isinstance(row, Mapping) for row in rows):
            of = _by_variable(transition, names, "transition")
            return {name: check_transition(of[name], name=f"transition of {shortened(name)}") for name in names}
    if len(names) > 1:
        raise OptionError("transition: one matrix for several variables; give a mapping of each variable to its own")
    return {names[0]: check_transition(transition)}


def _by_variable(of: Any, names: tuple[str, ...], setting: str) -> Mapping:
    """The entries of a setting, one for each variable."""
    for place, name in enumerate(of, 1):
        if name not in names:
            remedy = meant(name, names, "name it there or drop it")
            raise OptionError(
                f"{setting}: {misspelt(name, names, f'entry {place}')} is not one of the variables; {remedy}"
            )
    if lacking := [name for name in names if name not in of]:
        raise OptionError(f"{setting}: {shortened(lacking[0])} has none; give one for each variable")
    return of


def _column(frame: pd.DataFrame, name: str) -> _Column:
    """The categories of a variable; a `DataError` where they cannot be perturbed."""
    column = coded(one_column(frame, name))
    codes, size = column.codes.astype(np.int64), len(column.values)
    called = f"column {shortened(name)}"
    if size < 2:
        fault = "the same value in every record" if size else "no value"
        raise DataError(f"{called} has {fault}; leave it out")
    if size > _MOST:
        raise DataError(f"{called} has {size} categories, more than {_MOST}; group them first")
    labels = [category(value) for value in column.values]
    halves = [code for code, label in enumerate(labels) if not encodable(label)]
    refuse(np.isin(codes, halves), frame.index, name, "a text with half of a character; correct it")
    alike = np.flatnonzero(pd.Series(labels, dtype=object).duplicated())
    fault = "a category that is written like another, such as 1 and '1'; merge them"
    refuse(np.isin(codes, alike), frame.index, name, fault)
    some = np.empty(size, dtype=np.int64)
    known = np.flatnonzero(codes >= 0)
    some[codes[known]] = known
    return _Column(name, codes, labels, some)


def _check_categories(rule: _Rule, column: _Column, index: pd.Index) -> None:
    """Raise an error unless a rule names exactly the categories of the data."""
    if isinstance(rule, pd.DataFrame):
        named, setting, lacks = list(rule.index), "transition matrix", "row"
    elif isinstance(rule, Mapping):
        named, setting, lacks = [category(value) for value in rule], "keep", "probability to stay"
    else:
        return
    lacking = [code for code, label in enumerate(column.labels) if label not in named]
    fault = f"a category for which the {setting} has no {lacks}; give it one"
    refuse(np.isin(column.codes, lacking), index, column.name, fault)
    if unknown := [place for place, label in enumerate(named, start=1) if label not in column.labels]:
        place = f"category {unknown[0]} of those that are listed"
        raise OptionError(f"{setting}: no record has {place} in column {shortened(column.name)}; correct or drop it")


def _law(
    column: _Column, rule: _Rule, invariant: bool, stratum: np.ndarray, weights: np.ndarray | None, index: pd.Index
) -> _Law:
    """How a column changes by a rule, within strata."""
    _check_categories(rule, column, index)
    size, known, strata = len(column.labels), column.codes >= 0, int(stratum.max()) + 1
    cell, distinct = grouped(stratum[known] * size + column.codes[known], strata * size)
    shares = np.bincount(cell, None if weights is None else weights[known])
    first = np.searchsorted(distinct, np.arange(strata + 1) * size)
    if isinstance(rule, pd.DataFrame):
        full = rule.loc[column.labels, column.labels].to_numpy()
    else:
        full = stay_probabilities(column.labels, rule)
    matrices = StrataMatrices(column.labels, full, invariant, distinct % size, shares, first)
    edges, targets, stay = [], [], []
    for number in matrices:
        cells = matrices.cells(number)
        codes, (matrix, to) = matrices.codes[cells], matrices.probabilities(number)
        own = np.searchsorted(to, codes)
        matrix = matrix[own]
        # Cumulated probabilities are exactly 1 from the last possible category on.
        possible = matrix > 0
        cumulated = np.minimum(np.cumsum(matrix, axis=1), 1)
        cumulated[np.cumsum(possible, axis=1) == possible.sum(axis=1, keepdims=True)] = 1
        edges.append((cumulated + np.arange(cells.start, cells.stop)[:, None]).ravel())
        targets.append(np.tile(to, len(codes)))
        stay.append(matrix[np.arange(len(codes)), own])
    law = _Law(known, cell, np.concatenate(edges), np.concatenate(targets), np.concatenate(stay), matrices)
    if law.stay.min() == 1:
        raise DataError(
            f"column {shortened(column.name)}: no record could change; choose another probability to stay, "
            "fewer strata, or leave it out"
        )
    return law
