"""What a report may show of values: rare categories pooled, counts rounded, means of many records, settings."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab.errors import shortened, visible
from kanon_lab.protection import STEPS
from kanon_lab.report.allowed import allowed
from kanon_lab.report.words import Words

#: Shares (0-1) of the records below which the quantiles of a report lie.
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
# Of a variable, so many categories have a line of their own at most.
_MOST = 30
# Counts of categories are multiples of it.
_BASE = 5
# Characters of a label, and of a text of a grid that is its own label.
_LONGEST, _SHORT = 60, 40


@dataclass(frozen=True)
class Pooled:
    """The categories of a variable, as far as a report may name them: records by category, the largest first.

    `categories` are pooled, and not named; together they have so many `records`, None where there are none, or where it
    would be the count of a single one.
    """

    shown: pd.Series = field(repr=False)
    categories: int
    records: int | None


def pooled(counts: pd.Series, *, least: int, most: int = _MOST, homes: pd.Series | None = None) -> Pooled:
    """Pool the categories of fewer than `least` records, in such a way that no count follows by subtraction.

    The pool has `least` records or more, and two categories, unless there are no others to take. The largest are named,
    `most` of them. With `homes`, households by category, those of fewer than `least` are not named either, since one
    large household would be.
    """
    ordered = counts[counts > 0].sort_values(ascending=False, kind="stable")
    many = (ordered if homes is None else homes.reindex(ordered.index)) >= least
    ordered, cut = pd.concat([ordered[many], ordered[~many]]), min(int(many.sum()), most)
    while 0 < cut < len(ordered) and (len(ordered) - cut < 2 or ordered.iloc[cut:].sum() < least):
        cut -= 1
    rest = ordered.iloc[cut:]
    secret = len(rest) < 2 or rest.sum() < least
    return Pooled(ordered.iloc[:cut], len(rest), None if secret else int(rest.sum()))


def safe_quantiles(values: np.ndarray, *, least: int, homes: np.ndarray | None = None) -> dict[float, float]:
    """Quantiles by share of `QUANTILES`, of which no single record's value can be read off.

    Each is the mean of `least` values around its place in the order, or of values from so many households (`homes`, by
    record), in steps of a twentieth to a tenth of it, so that one person seldom moves it. One is left out where fewer
    than twice `least` records lie beyond it, so that neither the smallest nor the largest values enter.
    """
    order = np.argsort(values, kind="stable")[: int(np.isfinite(values).sum())]
    known, found = values[order], {}
    size = 1 if homes is None or not len(known) else len(known) / len(np.unique(homes[order]))
    for share in QUANTILES:
        low = round(share * (len(known) - 1)) - least // 2
        high = low + least
        while homes is not None and least <= low and high <= len(known) - least:
            if len(np.unique(homes[order[low:high]])) >= least:
                break
            low, high = low - 1, high + 1
        if min(share, 1 - share) * len(known) >= 2 * least * size:
            found[share] = _coarse(known[low:high].mean())
    return found


def _coarse(value: float) -> float:
    """The multiple nearest to it of a step: the largest of 1, 2, 5, 10 and so on that is a tenth of it at most."""
    if value == 0:
        return 0.0
    unit = 10.0 ** math.floor(math.log10(abs(value)) - 1)
    step = unit * max(each for each in (1, 2, 5, 10) if each * unit <= abs(value) / 10 * (1 + 1e-12))
    return float(f"{step * round(value / step):.3g}")


def counted(records: int) -> int:
    """A count as a report tells it: no difference of two reaches a single record."""
    return _BASE * round(int(records) / _BASE)


def told_label(text: str) -> str:
    """The label of a category or group, which may hold anything, in a few characters that do what they show."""
    return shortened(visible(text), _LONGEST)


def named_grid(settings: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The values of a map's grid, by placeholder and label, without categories of the data among the labels.

    A label is the one given; or a number, truth value or short text itself, unless it stands where categories do; or
    "setting" with a number.
    """
    others = {name: value for name, value in settings.items() if name not in ("grid", "map")}
    words, given, shown = Words(settings.get("language", "en")), str(others), str(allowed(others))
    found = {}
    for name, values in settings["grid"].items():
        places = re.compile(rf"\${re.escape(name)}\b")
        open_to_all = 0 < len(places.findall(given)) == len(places.findall(shown))
        pairs = values.items() if isinstance(values, Mapping) else [_labelled(value, open_to_all) for value in values]
        numbered = [words.say("setting", n=n) for n in range(1, len(pairs) + 1)]
        labels = [n if pair[0] is None else told_label(str(pair[0])) for n, pair in zip(numbered, pairs, strict=True)]
        labels = labels if len({*labels}) == len(labels) else numbered
        found[name] = {label: value for label, (_, value) in zip(labels, pairs, strict=True)}
    return found


def _labelled(value: Any, open_to_all: bool) -> tuple[Any, Any]:
    """A value of a grid with its label, or None for it."""
    if isinstance(value, Mapping) and len(value) == 1 and (label := next(iter(value))) not in STEPS:
        return label, value[label]
    if open_to_all and isinstance(value, (bool, int, float)):
        return str(value).lower() if isinstance(value, bool) else value, value
    return value if open_to_all and isinstance(value, str) and len(value) <= _SHORT else None, value


def shown_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as a page for everybody has them: those of `kanon_lab.report.allowed`, others as their number."""
    shown = allowed(settings)
    if "grid" in (settings.get("map") or ()):
        shown["map"]["grid"] = {name: [*each] for name, each in named_grid({**settings, **settings["map"]}).items()}
    return shown
