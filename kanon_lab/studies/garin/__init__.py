"""Garín i Ramírez (1996), on a sample of the 1991 census of Catalonia: Taula 1 and the claims of the text, recomputed.

The 27 counts of Taula 1 are inputs: that they agree with themselves is no evidence. The nine probabilities are computed
from them and from one sampling fraction. The study prints several; the audit takes the middle of those that give all
nine, if their last digits are cut and not rounded, so that the nine are marked as fitted. `fractions` tells what each
of the others explains.

A statement contradicts the study (``published-error``) only where no fair reading lets it stand. Where one does, it is
``exact``, and the reason says which reading that is. An aim, an assumption, or a judgement without a measure is
neither: it is ``not-in-text``.

In ``garin-1996.csv`` a statement stands as a few of its words, or as the figure it gives; what is lost, or not
printed, is empty. The lists of codes of section 5 stand in ``garin-1996-variables.csv``, where they are inputs.

Left out on purpose: definitions (symbols, components, rules, phases, what a variable or a code means); equations (1)
and (2), which are the chain rule and an assumption that has a row, and the expected sizes E(n1) and E(n2), which the
rows of the fraction and of n2 use; advice and plans without a figure; what is said of things that are not given, as
how the census was recorded, an official proposal that the regions agree with, or who uses the institute's data; the
list of references and the dates of the article; and what a statement repeats of one that has a row.
"""

from __future__ import annotations

import pandas as pd

from kanon_lab.studies.claims import compared
from kanon_lab.studies.figures import recomputed
from kanon_lab.studies.garin.claims import text_claims
from kanon_lab.studies.garin.lists import counted_claims, list_claims
from kanon_lab.studies.garin.table import (
    AGES,
    COUNTS,
    GEOGRAPHIES,
    TABLE,
    cut_probabilities,
    draws,
    fraction_range,
    fractions,
    most_explained,
    scenarios,
    shared_subsample,
    steps,
    taula,
)
from kanon_lab.studies.garin.variables import age_codes, data_dictionary

__all__ = [
    "AGES",
    "COUNTS",
    "GEOGRAPHIES",
    "age_codes",
    "data_dictionary",
    "draws",
    "fraction_range",
    "fractions",
    "most_explained",
    "recompute",
    "scenarios",
    "shared_subsample",
    "steps",
    "taula",
]

# Why a figure of Taula 1 is no evidence.
_REASONS = {
    "input": "input: compared with itself",
    "fitted": "one fraction was chosen so that all nine p come out as printed, with their last digit cut, not rounded",
}


def recompute(figures: pd.DataFrame) -> pd.DataFrame:
    """Compute every figure of the study from what it prints itself.

    Parameters
    ----------
    figures : DataFrame
        `published_figures` of this source.

    Returns
    -------
    DataFrame
        Index as `figures`, columns as `kanon_lab.studies.figures.recomputed`.
    """
    table = figures["table"] == TABLE
    rest = compared(figures[~table], {**text_claims(), **counted_claims(), **list_claims()})
    return pd.concat([_cells(figures[table]), rest]).loc[figures.index]


def _cells(rows: pd.DataFrame) -> pd.DataFrame:
    """Taula 1: its counts as they are, and p as they come out."""
    values = taula().assign(p=cut_probabilities())
    parts = rows["column"].str.split(", ")
    found = [values.at[(row, age), name] for row, (age, name) in zip(rows["row"], parts, strict=True)]
    kind = rows["column"].str.endswith(", p").map({True: "fitted", False: "input"})
    return recomputed(rows, found, kind=kind, reason=kind.map(_REASONS))
