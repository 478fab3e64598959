"""Gil Bellosta (2011): Cuadros 1 to 4 and the claims of the text, recomputed.

Cuadro 1 is a simulation over the nation; Cuadros 2 to 4 are expectations for 20 municipalities, rounded for every
single k and then added up to ranges. What is compared with what, and how closely it must agree, is fixed in the
modules of this package. A statement is an error of the study (``published-error``) only where no fair reading lets it
stand. Where one does it is ``exact``, and the reason says which.

Without a row in ``gil-bellosta-2011.csv`` are

- the marks of Figura 1, which are not in the text, and their colours;
- definitions (k-anonymity, l-diversity by name) and what follows from them by their words alone (that somebody whose k
  is 1 is not anonymous at all), examples (the man of Ólvega, very high incomes), the steps of the proof and of the
  simulation, which state no result, and what is said of the code, which is not at hand (that the plain algorithm is
  inefficient, that the program is true to it and takes short cuts);
- that the number printed in Cuadro 1 is a median (it differs from the expectation by less than is printed), headings
  that say what a range is, and headings and cross-references that are right;
- judgements of value and of law, in sections 1 to 4, and what follows from a figure that has a row;
- the bibliography, addresses and dates, and what is said of cited works beyond their figures.
"""

from __future__ import annotations

import pandas as pd

from kanon_lab.data import load_counts
from kanon_lab.population import CUADRO_1_RANGES, PERIODS, anonymity
from kanon_lab.studies.figures import recomputed
from kanon_lab.studies.gil_bellosta.claims import crossing, text_claims
from kanon_lab.studies.gil_bellosta.cuadros import CUADROS, PLACES, cuadro, zero_whatever_the_ages
from kanon_lab.studies.gil_bellosta.nation import cuadro_1
from kanon_lab.studies.gil_bellosta.undone import assumptions
from kanon_lab.studies.gil_bellosta.widths import compare, half_widths, printings

__all__ = [
    "CUADROS",
    "PLACES",
    "assumptions",
    "crossing",
    "half_widths",
    "printings",
    "recompute",
    "rows_that_do_not_add_up",
    "zero_whatever_the_ages",
]

#: A file with fewer municipalities than this is not the nation (Spain had 8,114 on 1 January 2010).
_NATION = 8000


def recompute(figures: pd.DataFrame, *, counts: pd.DataFrame | None = None) -> pd.DataFrame:
    """Compute every figure of the study from a counts frame.

    Parameters
    ----------
    figures : DataFrame
        `published_figures` of this source.
    counts : DataFrame, optional
        A counts frame; the nation, or the municipalities of Cuadros 2-4 that are at hand. By default the embedded
        ``spain-2010``. One with a column ``kind`` is an embedded population, which was fitted to these very tables:
        then figures are set against facts of INE where there are any, and marked as fitted where there are none.

    Returns
    -------
    DataFrame
        Index as `figures`, columns as `kanon_lab.studies.figures.recomputed`.
    """
    counts = load_counts("spain-2010") if counts is None else counts
    embedded = "kind" in counts
    nation = widths = None
    if counts["place"].nunique() >= _NATION:
        nation = anonymity(counts, dates=PERIODS, ranges=CUADRO_1_RANGES)
        widths = compare(nation)
    blocks = []
    for table, rows in figures.groupby("table", sort=False):
        if table in CUADROS:
            blocks.append(cuadro(counts, rows, embedded))
        elif nation is None:
            blocks.append(_not_the_nation(counts, rows))
        elif table == "Cuadro 1":
            blocks.append(cuadro_1(nation, widths, rows, embedded))
        else:
            blocks.append(text_claims(counts, nation, widths, figures, rows, embedded))
    result = pd.concat(blocks).loc[figures.index]
    result.loc[[holds is True for holds in result["holds"]], "verdict"] = "exact"
    return result


def rows_that_do_not_add_up(figures: pd.DataFrame) -> pd.DataFrame:
    """Printed rows of Cuadros 2-4, and printed columns of Cuadro 1, that miss their own total.

    Returns
    -------
    DataFrame
        ``table``, ``row``, ``total`` (as printed; 100 for percentages), ``sum`` and ``difference`` (sum - total).
    """
    found = []
    for (table, row), cells in figures[figures["table"].isin(CUADROS)].groupby(["table", "row"], sort=False):
        values = cells.set_index("column")["published"]
        found.append((table, row, values["total"], values.drop("total").sum()))
    shares = figures[(figures["table"] == "Cuadro 1") & (figures["unit"] == "per cent")]
    for column, cells in shares.groupby("column", sort=False):
        found.append(("Cuadro 1", f"column {column}", 100.0, cells["published"].sum().round(2)))
    result = pd.DataFrame(found, columns=["table", "row", "total", "sum"])
    result["difference"] = (result["sum"] - result["total"]).round(2)
    return result[result["difference"] != 0].reset_index(drop=True)


def _not_the_nation(counts: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    reason = f"not recomputed: the population has {counts['place'].nunique()} municipalities, not the nation"
    return recomputed(rows, reason=reason)
