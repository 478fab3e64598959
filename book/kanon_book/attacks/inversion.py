"""Attacks on recoded and perturbed values by who knows the method: what the release tells of the values behind it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from kanon_lab.columns import refuse
from kanon_lab.errors import DataError, about
from kanon_lab.methods.transition import Shares, category, check_transition, estimated_shares, framed, posterior
from kanon_lab.roles import KeySpec

# Sums of floating-point numbers may be off by so much.
_NEAR = 1e-9
# A label of `kanon_lab.methods.mondrian` that is a range of numbers.
_RANGE = r"^[\[(]?(-?\d+(?:\.\d+)?)(?:-| to |, )(-?\d+(?:\.\d+)?)[\])]?$"


def _paired(original: pd.DataFrame, released: pd.DataFrame, names: Iterable[str]) -> None:
    """Raise a `DataError` unless both have these columns and the same records in the same order."""
    for frame, which in ((original, "the original data"), (released, "the released data")):
        with about(which):
            KeySpec([*names], missing="category").check(frame)
    if not original.index.equals(released.index):
        raise DataError(
            "the released data: has other records, or another order, than the original data; give both alike"
        )


def ends_attack(original: pd.DataFrame, released: pd.DataFrame, keys: Iterable[str] | str) -> pd.DataFrame:
    """How often a value is an end of the range that is released for it, as those of Mondrian may be.

    Parameters
    ----------
    original, released : DataFrame
        The same records in the same order, before and after `kanon_lab.methods.mondrian`.
    keys : names
        Keys that were numbers.

    Returns
    -------
    DataFrame
        One row a key with ranges: ``variable``, ``cells`` (released as a range), ``at_end`` (share of cells whose value
        is an end), ``right`` (share guessed right by who takes either end of the range), ``chance`` (by who takes any
        whole number in it; missing where the key has fractions) and ``narrowed`` (share of cells in classes of two
        records with both ends in it: then each of the two has one of the ends). Shares are 0-1.

    Notes
    -----
    A label from the smallest to the largest value of its class says that some record has the one and some record the
    other. Labels that end at fixed numbers (``grids`` of `kanon_lab.methods.mondrian`) do not.

    Examples
    --------
    >>> before = pd.DataFrame({'age': [21, 25, 48, 55, 60]})
    >>> after = kanon_lab.methods.mondrian(before, k_required=2, keys='age').frame
    >>> kanon_book.attacks.ends_attack(before, after, 'age')[['cells', 'at_end', 'narrowed']]
       cells  at_end  narrowed
    0      5     0.8       0.4
    """
    names = KeySpec(keys).key_variables
    _paired(original, released, names)
    size = released.groupby([*names], dropna=False, observed=True)[names[0]].transform("size").to_numpy()
    rows = []
    for name in names:
        ends = released[name].astype("str").str.extract(_RANGE).astype(float).to_numpy()
        values = pd.to_numeric(original[name], errors="coerce").to_numpy(float)
        some = ~np.isnan(ends).any(axis=1) & ~np.isnan(values)
        if not some.any():
            continue
        at = values[some, None] == ends[some]
        whole = not (values[some] % 1).any()
        chance = float((1 / (np.diff(ends[some]) + 1)).mean()) if whole else np.nan
        pairs = (size[some] == 2) & at.any(axis=1)
        rows.append((name, int(some.sum()), at.any(axis=1).mean(), at.mean(), chance, pairs.mean()))
    return pd.DataFrame(rows, columns=["variable", "cells", "at_end", "right", "chance", "narrowed"])


def pram_attack(original: pd.Series, released: pd.Series, matrix: object, *, shares: Shares | None = None) -> pd.Series:
    """How often a value is guessed right after PRAM by who knows the transition matrix.

    Parameters
    ----------
    original, released : Series
        The same records in the same order.
    matrix : DataFrame or as `kanon_lab.methods.posterior` takes it
        The transition matrix of the recipe.
    shares : shares as `kanon_lab.methods.posterior` takes them, optional
        The true shares, if the intruder knows them; by default estimated from the release with the matrix.

    Returns
    -------
    Series
        ``cells`` (with a value), ``chance`` (share guessed right by who takes the most common category for everyone),
        ``taken`` (by who takes each released value for the true one) and ``right`` (by who takes the most probable true
        category for each released one). Shares are 0-1; of equally probable categories one is guessed.

    Examples
    --------
    >>> truth = pd.Series(['well'] * 8 + ['ill'] * 2)
    >>> moved = pd.Series(['well'] * 7 + ['ill'] * 3)
    >>> used = kanon_lab.methods.transition_matrix(['ill', 'well'], keep=0.8)
    >>> kanon_book.attacks.pram_attack(truth, moved, used).round(2).to_dict()
    {'cells': 10.0, 'chance': 0.8, 'taken': 0.9, 'right': 0.8}
    """
    _paired(original.to_frame("value"), released.to_frame("value"), ["value"])
    law = check_transition(matrix, name="matrix")
    known = original.notna().to_numpy() & released.notna().to_numpy()
    true, seen = (pd.Series([category(value) for value in column[known]]) for column in (original, released))
    for column in (true, seen):
        refuse(~column.isin(law.index).to_numpy(), column.index, "value", "a category that the matrix does not have")
    if shares is None:
        shares = estimated_shares(seen.value_counts().reindex(law.index, fill_value=0), law).clip(lower=0)
    behind = posterior(law, shares).fillna(0)

    def right(weights: np.ndarray) -> float:
        best = weights >= weights.max(axis=1, keepdims=True) * (1 - 1e-9)
        return float((best[np.arange(len(true)), law.index.get_indexer(pd.Index(true))] / best.sum(axis=1)).mean())

    blind = posterior(framed(np.full(law.shape, 1 / len(law)), law.index), shares)
    prior = np.tile(blind.to_numpy()[:1], (len(true), 1))
    guessed = right(behind.to_numpy()[law.index.get_indexer(pd.Index(seen))])
    taken = float((true == seen).mean())
    return pd.Series({"cells": float(len(true)), "chance": right(prior), "taken": taken, "right": guessed})


def means_attack(original: pd.Series, released: pd.Series, groups: Iterable[int], *, within: float = 0.5) -> pd.Series:
    """How often a value is found after microaggregation by who knows the other members of its group.

    Parameters
    ----------
    original, released : Series
        Numbers of the same records in the same order.
    groups : sequence of int
        The group of each record, as in the `details` of `kanon_lab.methods.microaggregate`; below 0 where it has none.
    within : float, above 0
        How near a guess must come to count as right: half a unit, if values are whole numbers.

    Returns
    -------
    Series
        ``cells`` (in a group), ``chance`` (share of values that the released number itself comes near), ``right``
        (share found by who knows all others of the group: the released number times their number, less theirs) and
        ``but_one`` (by who knows all others but one, and takes the mean of the two that are left). Shares are 0-1.

    Examples
    --------
    >>> income = pd.Series([900, 1200, 1500, 3000, 3100, 5000])
    >>> result = kanon_lab.methods.microaggregate(income.to_frame('income'), 'income', k_required=3)
    >>> kanon_book.attacks.means_attack(income, result.frame['income'], result.details['groups']).round(2).to_dict()
    {'cells': 6.0, 'chance': 0.17, 'right': 1.0, 'but_one': 0.0}
    """
    _paired(original.to_frame("value"), released.to_frame("value"), ["value"])
    group = np.asarray([*groups])
    some = (group >= 0) & original.notna().to_numpy() & released.notna().to_numpy()
    values, shown = (pd.to_numeric(column).to_numpy(float)[some] for column in (original, released))
    _, group = np.unique(group[some], return_inverse=True)
    size, total = np.bincount(group)[group], np.bincount(group, values)[group]
    computed = shown * size - (total - values)
    # All pairs of a record and another of its group: the second is not known.
    pairs = pd.DataFrame({"group": group, "value": values, "row": np.arange(len(group))})
    pairs = pairs.merge(pairs, on="group")
    pairs = pairs[pairs["row_x"] != pairs["row_y"]]
    left = (computed[pairs["row_x"]] + pairs["value_y"].to_numpy()) / 2
    near = np.abs(left - pairs["value_x"].to_numpy()) <= within + _NEAR
    return pd.Series(
        {
            "cells": float(len(values)),
            "chance": float((np.abs(shown - values) <= within + _NEAR).mean()),
            "right": float((np.abs(computed - values) <= within + _NEAR).mean()),
            "but_one": float(near.mean()) if len(near) else 0.0,
        }
    )
