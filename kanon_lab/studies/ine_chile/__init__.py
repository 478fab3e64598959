"""INE Chile (2023), Guía para el Control de Divulgación Estadística en Microdatos: chapters 1 to 8, recomputed.

The guide prints small files with their frequencies, some outputs of its program, and claims. Each small file is an
input: that it agrees with itself is no evidence. What is computed from it, and what the guide says of it, is. The
survey behind the outputs of chapter 8 is not given; but frequencies of single ages are, and bands and rounding follow
from them. Three of those counts are lost in the text: see `kanon_lab.studies.ine_chile.ages`.

A statement contradicts the guide (``published-error``) only where no fair reading lets it stand. Where one does, it is
``exact``, and the reason says which reading that is. Where what is lost in our text decides, it is ``not-in-text``.

Our text of the guide stops inside section 8.2.2. In ``ine-chile-2023.csv`` a statement stands as a few of its words, or
as the figure it gives; what is lost is empty.

Left out, without a row:

- definitions, advice, and statements without a number or an outcome that could be checked ("in general", "depends");
- acronyms and glossary (Tablas 3.1 and 3.2), and descriptions of what each slot holds (Tabla 6.2);
- references: pages, years and addresses of literature and software, versions of formats and machines;
- names of variables, settings and lines of code of which no sentence says anything (the vectors of Bloque 6.8, Bloques
  6.13 and 8.5, the lists of variables before Bloque 8.1), and values that only illustrate a term (a man of 18, age 3
  and widowed, incomes in quintiles, 65 to 80 years);
- what the program does by itself, or how, where no output is printed and no other place of the guide says it;
- the second statement of what a row has already, in the same section;
- slips of spelling that mislead nobody.
"""

from __future__ import annotations

from functools import lru_cache

import pandas as pd

from kanon_lab.studies.claims import Claim, compared
from kanon_lab.studies.figures import recomputed
from kanon_lab.studies.ine_chile.ages import completions, frequencies
from kanon_lab.studies.ine_chile.claims import risk_claims
from kanon_lab.studies.ine_chile.lost import lost_claims
from kanon_lab.studies.ine_chile.methods import method_claims
from kanon_lab.studies.ine_chile.printed import SPECS, example
from kanon_lab.studies.ine_chile.program import program_claims
from kanon_lab.studies.ine_chile.suppression import suppression_claims
from kanon_lab.studies.ine_chile.tables import recoded_regions, recompute_table, suppressed

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
        Index as `figures`, columns as `kanon_lab.studies.figures.recomputed`.
    """
    claims = _claims()
    blocks = [
        compared(rows, claims) if name == "text" else recompute_table(name, rows)
        for name, rows in figures.groupby("table", sort=False)
    ]
    return pd.concat(blocks or [recomputed(figures)]).loc[figures.index]


@lru_cache
def _claims() -> dict[str, Claim]:
    return {**program_claims(), **risk_claims(), **method_claims(), **suppression_claims(), **lost_claims()}


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
