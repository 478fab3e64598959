"""What records truly are behind what is released, and which cells differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from kanon_lab.columns import as_text, distinct, distinct_rows
from kanon_lab.errors import KanonLabError
from kanon_lab.methods.suppression_search import compatible_records

#: What a step does to one column.
Rule = Callable[[pd.Series], pd.Series]


@dataclass(frozen=True)
class Texts:
    """A column by its texts, so that 34 and "34" are one: codes (-1 missing) among `texts`, and the `values`."""

    codes: np.ndarray
    texts: np.ndarray
    values: pd.Index

    @classmethod
    def of(cls, column: pd.Series) -> Texts:
        """The values of a column."""
        codes, values = distinct(column)
        return cls(codes, np.array([as_text(value) for value in values], dtype=object), values)


def joint_codes(one: pd.Series, other: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """Codes of two columns that are equal where the texts are; -1 where missing."""
    first, second = Texts.of(one), Texts.of(other)
    number = np.append(pd.factorize(np.concatenate([first.texts, second.texts]))[0], -1)
    return number[first.codes], number[np.where(second.codes < 0, -1, second.codes + len(first.texts))]


def same_values(one: pd.Series, other: pd.Series) -> np.ndarray:
    """Whether two columns, row by row, have the same value as text (34 and "34" do) or are both missing."""
    return np.equal(*joint_codes(one, other))


@dataclass(frozen=True)
class Changes:
    """By column the cells with another value, or none any more; and whether a record has one, or another place."""

    changed: dict[str, int]
    suppressed: dict[str, int]
    touched: np.ndarray = field(repr=False)


def changes(before: pd.DataFrame, after: pd.DataFrame) -> Changes:
    """Compare two states of a file by index labels; a column that is gone from the second lost all its values."""
    touched = before.index != after.index
    if touched.any():
        after = after.loc[before.index]
    changed, suppressed = {}, {}
    for name, column in before.items():
        known = column.notna().to_numpy()
        other, gone = np.zeros((2, len(known)), dtype=bool)
        if name not in after:
            gone = known
        elif column.dtype != after[name].dtype or not column.equals(after[name]):
            now = after[name].notna().to_numpy()
            gone, other = known & ~now, now & ~same_values(column, after[name])
        changed[name], suppressed[name] = int(other.sum()), int(gone.sum())
        touched = touched | other | gone
    return Changes(changed, suppressed, touched)


@dataclass(frozen=True)
class Truth:
    """What an outsider may know of some variables, told in the categories of the release.

    Attributes
    ----------
    values : mapping of str to Series
        In the order of the file as it came: values as they would be shown if nothing were suppressed or perturbed.
    perturbed, blurred : frozenset of str
        Columns that a step has perturbed; and those perturbed as quantities and not recoded since: who knows a true
        value looks for one that is near, not for the same.
    """

    values: Mapping[str, pd.Series] = field(repr=False)
    perturbed: frozenset[str] = frozenset()
    blurred: frozenset[str] = frozenset()

    def beside(self, working: pd.DataFrame, names: Iterable[str]) -> tuple[np.ndarray, np.ndarray]:
        """Codes of variables as they truly are and as `working` shows them, each (n, variables); -1 where missing."""
        pairs = [joint_codes(self.values[name], working[name]) for name in names]
        known, shown = (np.column_stack([pair[side] for pair in pairs]).astype(np.int64) for side in (0, 1))
        return known, shown


def recoded_truth(true: pd.Series, before: pd.Series, after: pd.Series, rule: Rule | None) -> pd.Series:
    """True values after a step that does the same to equal values, or takes them away.

    True values that no record shows on both sides (`before`, `after`) become what the `rule` of the step makes of them;
    they stay as they are where there is none, or where it refuses them.
    """
    was, now, known = Texts.of(before), Texts.of(after), Texts.of(true)
    both = (was.codes >= 0) & (now.codes >= 0)
    shown, first = np.unique(was.codes[both], return_index=True)
    became = dict(zip(was.texts[shown], now.values[now.codes[both][first]].astype(object), strict=True))
    unseen = [text not in became for text in known.texts]
    values = known.values.astype(object).to_numpy(copy=True)
    if rule is not None and any(unseen):
        # Beside those shown, on which it may depend how values are told: [30, 40) where not all are whole.
        beside = pd.Series([*known.values[unseen], *was.values], name=true.name)
        with suppress(KanonLabError):
            made, of_shown = np.split(rule(beside).astype(object).to_numpy(), [sum(unseen)])
            # What the rule makes alike is shown alike: the mean of those beyond a limit is that of the released ones.
            as_shown = {each: became[text] for text, each in zip(was.texts, of_shown, strict=True) if text in became}
            values[unseen] = [as_shown.get(each, each) for each in made]
    values = [became.get(text, value) for text, value in zip(known.texts, values, strict=True)]
    cells = pd.Series([*values, None], dtype=object).array.take(known.codes)
    return pd.Series(cells, index=true.index, name=true.name)


def met_by(true: np.ndarray, shown: np.ndarray) -> np.ndarray:
    """For each record the released ones (`shown`) that its true codes are compatible with; both (n, variables)."""
    group, some = distinct_rows(shown)
    target, of_target = distinct_rows(true)
    return compatible_records(true[of_target], shown[some], np.bincount(group))[target]
