"""AEPD, La k-anonimidad como medida de la privacidad: Tablas 1 to 6 and the claims of the text, recomputed.

Tablas 1 and 2 and the two records that Tabla 5 adds are inputs: that they agree with themselves is no evidence. Levels
of generalisation are read off Tablas 3, 4 and 6, since Figura 2, which has them, is lost in the text: that their key
cells come out as printed shows only that one simple rule gives them all: they are fitted. The other cells are
copies of cells printed before. The audit's ``kind`` tells them apart; what can be wrong is in the claims.

A statement contradicts the note (``published-error``) only where no fair reading lets it stand. Where one does, it is
``exact``, and the reason says which reading that is. An aim, or a judgement without a measure, is neither: it is
``not-in-text``.

What the note calls key attributes (atributos clave) are direct identifiers; our key variables are its
cuasi-identificadores.

In ``aepd.csv`` dashes and the spaces around them are made plain hyphens (``40-49``). A statement of the text stands
there as one or two of its words, or as the code that a table would print for it; what is lost in the text is empty.

Left out on purpose: advice (what a controller should or must do); statements of law beyond the numbers of acts,
recitals and articles (what the directive and the regulation say and mean); definitions (kinds of attributes, and that
a full name or a number of identity is one's own alone; l-diversity, t-closeness); judgements without a measure (that
global generalisation makes analysis simpler, and local results harder to present); what may be the case (``puede``),
unless the tables show it; what tools can do, and their addresses; numbers of pages and sections, and marks of
citation; the list of references, but for the opinion that the text names; and what a statement repeats of one that
has a row.
"""

from __future__ import annotations

import pandas as pd

from kanon_lab.studies.aepd.claims import text_claims
from kanon_lab.studies.aepd.tables import (
    FIRST,
    HEADINGS,
    KEYS,
    SENSITIVE,
    TABLE_5_AGAIN,
    TABLES,
    generalisation,
    hierarchies,
    homogeneity,
    levels_used,
    local_levels,
    recomputed_tables,
    table,
)
from kanon_lab.studies.claims import compared
from kanon_lab.studies.figures import recomputed

__all__ = [
    "HEADINGS",
    "KEYS",
    "SENSITIVE",
    "TABLES",
    "TABLE_5_AGAIN",
    "generalisation",
    "hierarchies",
    "homogeneity",
    "levels_used",
    "local_levels",
    "recompute",
    "recomputed_tables",
    "table",
]

#: Why a cell of each kind is no evidence.
_REASONS = {
    "input": "input: compared with itself",
    "fitted": "the level is read off the table, since Figura 2 is lost",
    "copied": "copied: the note has this value in a table before",
}


def recompute(figures: pd.DataFrame) -> pd.DataFrame:
    """Compute every figure of the note from its inputs.

    Parameters
    ----------
    figures : DataFrame
        `published_figures` of this source.

    Returns
    -------
    DataFrame
        Index as `figures`, columns as `kanon_lab.studies.figures.recomputed`.
    """
    computed, claims = recomputed_tables(), text_claims()
    blocks = [
        _cells(rows, name, computed[name]) if name in computed else compared(rows, claims)
        for name, rows in figures.groupby("table", sort=False)
    ]
    return pd.concat(blocks or [recomputed(figures)]).loc[figures.index]


def _cells(rows: pd.DataFrame, name: str, computed: pd.DataFrame) -> pd.DataFrame:
    places = list(zip(rows["row"].astype(int), rows["column"], strict=True))
    kinds = [_kind(name, *place) for place in places]
    return recomputed(
        rows,
        [computed.at[place] for place in places],
        kind=kinds,
        reason=[_REASONS[kind] for kind in kinds],
    )


def _kind(name: str, row: int, column: str) -> str:
    """The kind of evidence of a cell: a key of `kanon_lab.studies.figures.KINDS`."""
    if name in ("Tabla 1", "Tabla 2") or (name == "Tabla 5" and row > FIRST):
        return "input"
    return "fitted" if name in ("Tabla 3", "Tabla 4", "Tabla 6") and column in KEYS else "copied"
