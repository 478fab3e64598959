"""Cuadro 1: the nation, simulated by the study and computed here."""

from __future__ import annotations

import pandas as pd

from kanon_lab.studies.figures import printed_step, recomputed_each
from kanon_lab.studies.gil_bellosta.facts import population
from kanon_lab.studies.gil_bellosta.widths import STEP, label

#: Percentages from a fitted population: percentage points, fixed before the fit.
TOLERANCE_SHARE = 0.10
_PERSONS = 1e4

_CUT = (
    "the printed half-widths are taken as cut to two decimals, not rounded: the likelihood of their scatter says so "
    "(chapter audit)"
)
_ONE_NUMBER = (
    "it and the percentage beside it, from which ours is computed, are one number in two units: what is tested is that "
    "INE's inhabitants turn the one into the other, not the number. The percentage is rounded"
)


def cuadro_1(nation: pd.DataFrame, widths: pd.DataFrame, rows: pd.DataFrame, embedded: bool) -> pd.DataFrame:
    """Cuadro 1, as `kanon_lab.studies.figures.recomputed`.

    Parameters
    ----------
    nation : DataFrame
        What `anonymity` gives for the nation in the ranges of Cuadro 1.
    widths : DataFrame
        Its half-widths, as `half_widths` gives them.
    rows : DataFrame
        Rows of `published_figures`.
    embedded : bool
        Whether the nation was fitted to the percentages. Then they are marked so, and the counts are computed from the
        printed percentages and INE's population.
    """
    nation = nation.assign(row=[label(a, b) for a, b in zip(nation["k_from"], nation["k_to"], strict=True)])
    nation = nation.set_index(["dates", "row"])
    printed = rows.set_index(["column", "row"])["published"]
    found = {}
    for index, row, column in zip(rows.index, rows["row"], rows["column"], strict=True):
        dates, figure = column.split(" ")
        here, width = nation.loc[(dates, row)], widths.loc[(dates, row)]
        # The study's is the median of simulations: its interval tells how far that may lie off.
        noise = width["printed"] + STEP
        if figure == "±":
            found[index] = {"computed": width["computed"], "noise": width["noise"] + STEP / 2, "printing": "cut"}
            found[index] |= {"reason": _CUT}
        elif figure == "%":
            found[index] = {"computed": 100 * here["share"]}
            noise_share = 100 * noise * _PERSONS / here["population"] + printed_step("0.01") / 2
            found[index] |= {"tolerance": TOLERANCE_SHARE, "kind": "fitted"} if embedded else {"noise": noise_share}
        elif embedded:
            # Ten thousand persons of INE's 47 million; the percentage is printed to .01, the count to 1.
            scale = population() / _PERSONS / 100
            found[index] = {"computed": printed[f"{dates} %", row] * scale}
            found[index] |= {"tolerance": 0.005 * scale + 0.5, "reason": _ONE_NUMBER}
        else:
            found[index] = {"computed": here["persons"] / _PERSONS, "noise": noise + 0.5}
    return recomputed_each(rows, found.values())
