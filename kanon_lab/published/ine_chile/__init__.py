"""INE Chile (2023), Guía para el Control de Divulgación Estadística en Microdatos: chapters 4 to 8, recomputed.

The guide prints small files with their frequencies, some outputs of its program, and claims. Each small file is an
input: that it agrees with itself is no evidence. What is computed from it, and what the guide says of it, is. The
survey behind the outputs of chapter 8 is not given; but frequencies of single ages are, and bands and rounding follow
from them. Three of those counts are lost in the text: see `kanon_lab.published.ine_chile.ages`.

A statement contradicts the guide (``published-error``) only where no fair reading lets it stand. Where one does, it is
``exact``, and the reason says which reading that is.

Our text of the guide stops inside section 8.2.2. In ``ine-chile-2023.csv`` a statement stands as a few of its words, or
as the figure it gives; what is lost is empty.
"""

from __future__ import annotations

import pandas as pd

from kanon_lab.published.claims import compared
from kanon_lab.published.figures import recomputed
from kanon_lab.published.ine_chile.ages import completions, frequencies
from kanon_lab.published.ine_chile.claims import risk_claims
from kanon_lab.published.ine_chile.methods import method_claims
from kanon_lab.published.ine_chile.printed import SPECS, example
from kanon_lab.published.ine_chile.tables import recoded_regions, recompute_table, suppressed

__all__ = [
    "SPECS",
    "completions",
    "example",
    "frequencies",
    "recoded_regions",
    "recompute",
    "rows_that_do_not_add_up",
    "suppressed",
]


def recompute(figures: pd.DataFrame) -> pd.DataFrame:
    """Compute every figure of the guide from what it prints itself.

    Parameters
    ----------
    figures : DataFrame
        `published_figures` of this source.

    Returns
    -------
    DataFrame
        Index as `figures`, columns as `kanon_lab.published.figures.recomputed`.
    """
    claims = {**risk_claims(), **method_claims()}
    blocks = [
        compared(rows, claims) if name == "text" else recompute_table(name, rows)
        for name, rows in figures.groupby("table", sort=False)
    ]
    return pd.concat(blocks or [recomputed(figures)]).loc[figures.index]


def rows_that_do_not_add_up(figures: pd.DataFrame) -> pd.DataFrame:
    """The suppressions of Bloque 8.7, which miss the total that the text gives for them.

    Returns
    -------
    DataFrame
        ``table``, ``row``, ``total`` (as printed), ``sum`` and ``difference`` (sum - total).
    """
    cells = figures["column"] == "suppressions"
    claimed = figures["column"] == "Bloque 8.7, suppressions without importance"
    result = pd.DataFrame(
        {
            "table": "Bloque 8.7",
            "row": "suppressions",
            "total": figures.loc[claimed, "published"].astype(float),
            "sum": float(figures.loc[cells, "published"].sum()),
        }
    )
    result["difference"] = result["sum"] - result["total"]
    return result[result["difference"] != 0].reset_index(drop=True)
