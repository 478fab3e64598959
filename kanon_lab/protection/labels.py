"""Labels of values and variables after the steps: none of a column or a category that is not released."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pandas as pd

from kanon_lab.data.statistical import Labels
from kanon_lab.data.values import Code
from kanon_lab.errors import shortened
from kanon_lab.notes import Note
from kanon_lab.protection.state import Chain, Step
from kanon_lab.protection.steps import kind_of
from kanon_lab.recode.columns import as_text, distinct

# Texts of codes -> their labels.
_Texts = Mapping[str, str]


@dataclass(frozen=True)
class ReleasedLabels:
    """Labels by released variable; and how many are left out: a step remade their codes, or no record has them."""

    labels: Labels
    remade: dict[str, int]
    vanished: dict[str, int]


def released_labels(protection: Chain) -> ReleasedLabels:
    """The labels of codes after the last step.

    A label stays where every record with its code had this code, and none other, before each step that recodes; a code
    that is new has the label that the step gives it (``labels`` of `recode`).
    """
    released = protection.frame
    came = {name: _by_text(each) for name, each in protection.given_labels.items()}
    carried = _carried(protection, came)
    labels, remade, vanished = {}, {}, {}
    for name in released:
        before, after = came.get(name, {}), carried.get(name, {})
        codes, values = distinct(released[name])
        shown = {as_text(value): _plain(value) for value in values}
        if found := {shown[text]: label for text, label in after.items() if text in shown}:
            labels[name] = found
        lost = [text for text, label in before.items() if after.get(text) != label]
        if lost:
            remade[name] = len(lost)
        if gone := sum(text not in shown for text in after):
            vanished[name] = gone
    return ReleasedLabels(labels, remade, vanished)


def label_notes(protection: Chain) -> Iterator[Note]:
    """What is not labelled any more; neither codes nor labels are quoted."""
    if not protection.given_labels:
        return
    found = released_labels(protection)
    if found.remade:
        yield Note("labels_remade", columns=_counts(found.remade))
    if found.vanished:
        yield Note("labels_vanished", columns=_counts(found.vanished))


def _counts(labels: Mapping[str, int]) -> tuple[str, ...]:
    return tuple(f"{shortened(name)} {count:,}" for name, count in labels.items())


def _carried(protection: Chain, labels: Mapping[str, _Texts]) -> dict[str, _Texts]:
    """Labels by the texts of codes after every step, whether or not some record has them."""
    found, before = dict(labels), protection.start.working
    for step in protection.steps:
        found |= _after(step, found, before)
        before = step.state.working
    return found


def _after(step: Step, labels: Mapping[str, _Texts], before: pd.DataFrame) -> dict[str, _Texts]:
    """The labels of the variables that a step recodes."""
    if step.households is not None:
        inner = step.households.start.working
        return _carried(step.households, {name: each for name, each in labels.items() if name in inner})
    if step.name == "renumber":
        return {name: {} for name, cells in step.changed.items() if cells}
    kind, after = kind_of(step.name), step.state.working
    given = step.settings.get("labels")
    given = _by_text(given) if isinstance(given, Mapping) else {}
    quantities = kind.perturbed(step.settings) if kind.as_quantities else ()
    names = {*kind.rules(step.settings), *quantities}
    return {name: _kept(labels.get(name, {}), before[name], after[name].loc[before.index]) | given for name in names}


def _kept(labels: _Texts, before: pd.Series, after: pd.Series) -> dict[str, str]:
    """The labels of codes that no record has got or lost, and of those that no record had."""
    if not labels:
        return {}
    (old, old_values), (new, new_values) = distinct(before), distinct(after)
    was, now = [as_text(value) for value in old_values], [as_text(value) for value in new_values]
    pairs = pd.DataFrame({"old": old, "new": new}).drop_duplicates()
    pairs = pairs[(pairs["old"] >= 0) & (pairs["new"] >= 0)]
    moved = {text for o, n in pairs.itertuples(index=False) if was[o] != now[n] for text in (was[o], now[n])}
    return {text: label for text, label in labels.items() if text not in moved}


def _by_text(labels: Mapping[Code, str]) -> dict[str, str]:
    return {as_text(code): label for code, label in labels.items()}


def _plain(value: object) -> object:
    return value.item() if hasattr(value, "item") else value
