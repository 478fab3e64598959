"""One figure of a source by itself: where it is printed, what it is computed from, by which formula and code."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import translate
from functools import lru_cache
from importlib import resources

import pandas as pd


@lru_cache
def _explanations() -> list[tuple[re.Pattern, dict[str, str]]]:
    """What is said of the figures whose identifiers meet a pattern, in the order of the file."""
    with (resources.files("kanon_lab.studies") / "explained.csv").open(encoding="utf-8") as lines:
        rows = pd.read_csv(lines, dtype=str, keep_default_na=False).to_dict("records")
    return [(re.compile(translate(row["figures"])), row) for row in rows]


def explanation(figure_id: str) -> dict[str, str]:
    """What is said of one figure beside its numbers.

    Parameters
    ----------
    figure_id : str
        As in `kanon_lab.studies.published_figures`.

    Returns
    -------
    dict of str to str
        ``place`` (page or section of its table; empty for a statement, whose row says it), ``inputs``, ``formula``,
        ``code`` (the function that computes it) and ``chapter`` (of the book, the one that argues it): those of the
        first row of ``explained.csv`` whose pattern is met. Empty where none is.
    """
    known = _explanations()
    met = (row for pattern, row in known if pattern.match(figure_id))
    return dict(next(met, dict.fromkeys(known[0][1], "")))


def explanations(figure_ids: Iterable[str]) -> pd.DataFrame:
    """What is said of each of many figures: one row each, with the columns of `explanation`."""
    return pd.DataFrame([explanation(figure_id) for figure_id in figure_ids], columns=list(_explanations()[0][1]))


def place_in_words(table: str, row: str, place: str) -> str:
    """Where in its source a figure stands, in words: ``section 7.5.1`` where only its number is given.

    Parameters
    ----------
    table, row, place : str
        As in `published_figures` and `explanation`: of a statement, whose table is ``text``, the row is the place.
    """
    here = row if table == "text" else place
    return f"section {here}" if here[:1].isdigit() else here
