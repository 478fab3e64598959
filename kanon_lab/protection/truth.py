"""True values: what the release would show of a variable if nothing were suppressed or perturbed.

They are what an outsider knows of a target, told in the release's own categories.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from kanon_lab.classes.coding import distinct_rows
from kanon_lab.recode.columns import as_text, distinct
from kanon_lab.suppress.counting import compatible_records

if TYPE_CHECKING:
    from kanon_lab.protection.chain import Protection
    from kanon_lab.protection.state import State


@dataclass(frozen=True)
class Texts:
    """A column as texts, so that 34 and "34" are one value.

    Attributes
    ----------
    codes : ndarray of int, shape (n,)
        Position of each record's value among `texts`; -1 where it is missing.
    texts : ndarray of str
        Two values of a column may have one text.
    """

    codes: np.ndarray
    texts: np.ndarray

    def taken(self, rows: np.ndarray) -> Texts:
        """Those of some rows; missing where a row is -1."""
        return Texts(np.append(self.codes, -1)[rows], self.texts)


def texts_of(column: pd.Series, where: str) -> Texts:
    """The values of a column."""
    codes, values = distinct(column, where)
    return Texts(codes, np.array([as_text(value) for value in values], dtype=object))


def joint_codes(one: Texts, other: Texts) -> tuple[np.ndarray, np.ndarray]:
    """Codes of both that are equal where the texts are; -1 where missing."""
    number = np.append(pd.factorize(np.concatenate([one.texts, other.texts]))[0], -1)
    shift = len(one.texts)
    return number[one.codes], number[np.where(other.codes < 0, -1, other.codes + shift)]


def recoded_truth(true: Texts, before: Texts, after: Texts) -> Texts:
    """True values after a step that does to equal values the same, or takes them away.

    Parameters
    ----------
    true, before, after : Texts
        Of the same records: the true values before the step, those shown before it and those shown after it. A value
        that no record shows on both sides stays as it is.
    """
    known = (before.codes >= 0) & (after.codes >= 0)
    shown, first = np.unique(before.codes[known], return_index=True)
    became = dict(zip(before.texts[shown], after.texts[after.codes[known][first]], strict=True))
    texts = np.array([became.get(text, text) for text in true.texts], dtype=object)
    return Texts(true.codes, texts)


def truth_after(
    state: State,
    after: pd.DataFrame,
    index: pd.Index,
    perturbed: Collection[str],
    households: Protection | None,
    household: str | None,
    where: str,
) -> dict[str, Texts]:
    """The true values after a step: recoded where it recodes, as before where it suppresses or perturbs.

    Parameters
    ----------
    state : State
        The file before it.
    after : DataFrame
        The working file after it.
    index : Index
        Labels of the records in the order of the file as it came.
    perturbed : collection of str
        Variables that the step perturbed.
    households : Protection or None
        That of the household level, if this was the step; its own true values hold for the members.
    household : str or None
        The identifier of the household.
    """
    truth = dict(state.truth)
    for name in truth:
        before = state.working[name].loc[index]
        if households is not None and name in households.state.truth:
            codes, ids = distinct(state.working[household].loc[index], where)
            home = pd.Index(households.original[household]).get_indexer(ids)[codes]
            shown = households.state.truth[name].taken(home)
        elif name not in after or name in perturbed or after[name].loc[index].equals(before):
            continue
        else:
            shown = texts_of(after[name].loc[index], where)
        truth[name] = recoded_truth(truth[name], texts_of(before, where), shown)
    return truth


def true_and_shown(
    truth: Mapping[str, Texts], working: pd.DataFrame, names: Iterable[str], where: str
) -> tuple[np.ndarray, np.ndarray]:
    """Codes of some variables as they truly are and as `working` shows them, each (n, variables); -1 where missing."""
    pairs = [joint_codes(truth[name], texts_of(working[name], where)) for name in names]
    known, shown = (np.column_stack([pair[side] for pair in pairs]).astype(np.int64) for side in (0, 1))
    return known, shown


def right_links(known: np.ndarray, shown: np.ndarray) -> float:
    """Expected share (0-1) of records that are linked to their own released record by who knows all their true keys.

    The outsider looks for the released records that are compatible with the true keys, a missing value on either side
    being any, and chooses one of them at random; where none is compatible, none is chosen.
    """
    group, some = distinct_rows(shown)
    target, of_target = distinct_rows(known)
    records = np.bincount(group)
    met = compatible_records(known[of_target], shown[some], records)[target]
    own = ((known == shown) | (known < 0) | (shown < 0)).all(axis=1)
    return float((own / np.maximum(met, 1)).mean())
