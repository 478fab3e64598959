"""Two public pages, of a file with and without one person: what their difference tells of that person."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab.classes import class_table
from kanon_lab.report.analysis import Analysis, analyse
from kanon_lab.report.config import ReportConfig
from kanon_lab.report.public import public

#: What an intruder asks of the difference of two pages.
QUESTIONS = ("difference", "sensitive value", "side of a quantile", "sample unique")


def two_pages_attack(frame: pd.DataFrame, config: ReportConfig, persons: Iterable[Any]) -> pd.DataFrame:
    """How often the public pages on a file with and without one person tell something of that person.

    Parameters
    ----------
    frame : DataFrame
        One record a person.
    config : ReportConfig
        Of both pages.
    persons : labels of the index
        Those who are left out, one at a time.

    Returns
    -------
    DataFrame
        One row a question: ``question``, ``pairs`` (of pages), ``answered`` (pairs from which the intruder concludes
        something) and ``right`` (conclusions that are true). ``difference``: some count of the release, quantile or
        size differs, whatever it tells. ``sensitive value``: exactly one category of a sensitive variable has fewer
        records without the person, and none has more. ``side of a quantile``: a quantile of a quantity moves to one
        side, so the value was on the other. ``sample unique``: without the person, fewer records are unique in the
        keys of the original file.

    Examples
    --------
    >>> from kanon_lab.report import as_config
    >>> frame = pd.DataFrame({'sex': list('fm') * 30, 'ill': ['yes'] * 23 + ['no'] * 37})
    >>> config = as_config({'key_variables': ['sex'], 'sensitive_variables': ['ill'], 'limits': {'k': 3}})
    >>> answers = kanon_book.attacks.two_pages_attack(frame, config, [0, 59]).set_index('question')
    >>> answers.loc['sensitive value'].to_dict()
    {'pairs': 2, 'answered': 1, 'right': 1}
    """
    whole, spec = _page(frame, config), config.recipe.spec
    table = class_table(frame, spec)
    alone = pd.Series(table.f_k_of_records() == 1, index=frame.index)
    answers: dict[str, list[bool]] = {question: [] for question in QUESTIONS}
    persons = [*persons]
    for person in persons:
        without, values = _page(frame.drop(index=person), config), frame.loc[person]
        answers["difference"] += [True] * _differ(whole, without)
        for name in spec.sensitive_variables:
            answers["sensitive value"] += _sensitive(whole, without, name, values[name])
        for name in spec.numeric_variables:
            answers["side of a quantile"] += _side(whole, without, name, values[name])
        if _uniques(without) < _uniques(whole):
            answers["sample unique"].append(bool(alone[person]))
    rows = [(question, len(persons), len(answer), sum(answer)) for question, answer in answers.items()]
    return pd.DataFrame(rows, columns=["question", "pairs", "answered", "right"])


def _page(frame: pd.DataFrame, config: ReportConfig) -> Analysis:
    return public(analyse(frame, config, name="the file"))


def _differ(whole: Analysis, without: Analysis) -> bool:
    """Whether counts of categories, quantiles or sizes of classes differ."""
    columns = {"categories": ["variable", "category", "records"], "sizes": ["version", "label", "records"]}
    for name, some in columns.items():
        if not getattr(whole, name)[some].astype(str).equals(getattr(without, name)[some].astype(str)):
            return True
    return not whole.quantiles.equals(without.quantiles)


def _sensitive(whole: Analysis, without: Analysis, name: str, value: Any) -> list[bool]:
    """Whether the value that the intruder concludes is true; empty where none is concluded."""
    counts = []
    for page in (whole, without):
        rows = page.categories[page.categories["variable"] == name]
        counts.append(dict(zip(rows["category"].astype(object).where(rows["category"].notna(), None), rows["records"])))
    moved = {label: counts[0].get(label, 0) - counts[1].get(label, 0) for label in {*counts[0], *counts[1]}}
    fewer = [label for label, records in moved.items() if records > 0]
    if len(fewer) != 1 or min(moved.values()) < 0:
        return []
    # The last row of a table holds all categories that few records have.
    return [str(value) not in {*map(str, counts[0])} if fewer[0] is None else str(value) == str(fewer[0])]


def _side(whole: Analysis, without: Analysis, name: str, value: Any) -> list[bool]:
    rows = [page.quantiles.set_index("variable") for page in (whole, without)]
    if pd.isna(value) or any(name not in table.index for table in rows):
        return []
    with_person, left = (table.loc[name].to_numpy(float) for table in rows)
    moved = np.flatnonzero(~np.isnan(with_person) & ~np.isnan(left) & (with_person != left))
    # Without a person below a quantile, it rises.
    concluded = {bool(left[place] > with_person[place]): place for place in moved}
    if len(concluded) != 1:
        return []
    (below, place), number = next(iter(concluded.items())), float(pd.to_numeric(value))
    return [number <= max(with_person[place], left[place]) if below else number >= min(with_person[place], left[place])]


def _uniques(page: Analysis) -> int:
    rows = page.sizes[(page.sizes["version"] == "before") & (page.sizes["size_to"] == 1)]
    return int(rows["records"].sum())
