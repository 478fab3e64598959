"""Garín i Ramírez (1996), on a sample of the 1991 census of Catalonia: Taula 1 and the claims of the text, recomputed.

The 27 counts of Taula 1 are inputs: that they agree with themselves is no evidence. The nine probabilities are computed
from them and from one sampling fraction. The study prints several; the audit takes the middle of those that give all
nine, if their last digits are cut and not rounded, so that the nine are marked as fitted. `fractions` tells what each
of the others explains.

A statement contradicts the study (``published-error``) only where no fair reading lets it stand. Where one does, it is
``exact``, and the reason says which reading that is.

In ``garin-1996.csv`` a statement stands as a few of its words, or as the figure it gives; what is lost, or not
printed, is empty.
"""

from __future__ import annotations

import pandas as pd

from kanon_lab.published.claims import compared
from kanon_lab.published.figures import recomputed
from kanon_lab.published.garin.claims import text_claims
from kanon_lab.published.garin.table import (
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
from kanon_lab.published.garin.variables import age_codes, data_dictionary

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
    "rows_that_do_not_add_up",
    "scenarios",
    "shared_subsample",
    "steps",
    "taula",
]

# What is said of figures that are no evidence.
_REASONS = {
    "input": "input: compared with itself",
    "fitted": "one fraction was chosen so that all nine p come out as printed, with their last digit cut, not rounded",
    "copied": "copied: section 5 has it too",
}
_FITTED = "garin-1996/text/fraction-4-5"
_INPUTS = {f"garin-1996/text/{name}" for name in ("n1-5", "population", "smallest-4-3")}
# The variables whose categories section 4.4 gives before section 5 does.
_NAMES = {
    "birthplace": "REG_N",
    "sex": "PREG_6",
    "marital status": "PREG_12",
    "occupation": "PREG_23",
    "study level": "PREG_19",
    "activity": "PREG_22",
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
        Index as `figures`, columns as `kanon_lab.published.figures.recomputed`.
    """
    text, table = figures[figures["table"] == "text"], figures[figures["table"] == TABLE]
    lists = figures.drop(text.index).drop(table.index)
    found = pd.concat([_cells(table), _categories(lists), compared(text, text_claims())]).loc[figures.index]
    kind = _kinds(figures)
    kind = kind.mask(kind == "recomputed", found["kind"])
    return found.assign(kind=kind, reason=found["reason"].mask(found["reason"] == "", kind.map(_REASONS).fillna("")))


def _kinds(figures: pd.DataFrame) -> pd.Series:
    """The kind of evidence of each figure, as far as its place tells it; index as `figures`."""
    found = pd.Series("recomputed", index=figures.index, dtype=str)
    found[figures["table"] == "Section 4.4"] = "copied"
    found[figures["table"] == TABLE] = "input"
    found[(figures["table"] == TABLE) & figures["column"].str.endswith(", p")] = "fitted"
    found[figures["figure_id"].isin(_INPUTS)] = "input"
    found[figures["figure_id"] == _FITTED] = "fitted"
    return found


def rows_that_do_not_add_up(figures: pd.DataFrame) -> pd.DataFrame:
    """No row of the study has a total: an empty frame with the columns that other sources give."""
    types = {"table": str, "row": str, "total": float, "sum": float, "difference": float}
    return pd.DataFrame({name: pd.Series(dtype=dtype) for name, dtype in types.items()})


def _cells(rows: pd.DataFrame) -> pd.DataFrame:
    """Taula 1: its counts as they are, and p as they come out."""
    values = taula().assign(p=cut_probabilities())
    parts = rows["column"].str.split(", ")
    return recomputed(rows, [values.at[(row, age), name] for row, (age, name) in zip(rows["row"], parts, strict=True)])


def _categories(rows: pd.DataFrame) -> pd.DataFrame:
    counts = data_dictionary().set_index("variable")["categories"]
    return recomputed(rows, rows["row"].replace(_NAMES).map(counts).astype(float))
