"""The audit of Gil Bellosta (2011): Cuadros 1 to 4 and the claims of the text, recomputed.

Cuadro 1 is a simulation over the nation; Cuadros 2 to 4 are expectations for 20 municipalities, rounded for every
single k and then added up to ranges. What is compared with what, and how closely it must agree, is fixed in the
tolerances below. A statement is an error of the study (``published-error``) only where no fair reading lets it
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

import numpy as np
import pandas as pd

from kanon_lab.data.counts import load_counts
from kanon_lab.population import PERIODS, anonymity
from kanon_lab.population.law import CUADRO_1_RANGES, CUADRO_2_RANGES
from kanon_lab.studies.evidence import judged, told
from kanon_lab.studies.figures import printed_step, recomputed
from kanon_lab.studies.gil_bellosta import (
    BENALMADENA,
    COLUMNS,
    CUADROS,
    PLACES,
    population,
    real_place,
    totals,
    zero_whatever_the_ages,
)
from kanon_lab.studies.gil_bellosta_claims import TOLERANCE_SHARE, text_claims
from kanon_lab.studies.half_widths import STEP, compare, label

#: A file with fewer municipalities than this is not the nation (Spain had 8,114 on 1 January 2010).
_NATION = 8000
# Bounded cells from reconstructed cells: persons.
_TOLERANCE = 1.0
_PERSONS = 1e4
_OPEN = ">100"
# The municipality whose ages are at hand.
_REAL = "Benalmádena"
_ONE_NUMBER = (
    "it and the percentage beside it, from which ours is computed, are one number in two units: what is tested is that "
    "INE's inhabitants turn the one into the other, not the number. The percentage is rounded"
)
_PICKED = "Which of the two rules is taken is told by the printed cell: no rule that we know gives the whole column"


def recompute(figures: pd.DataFrame, *, counts: pd.DataFrame | None = None) -> pd.DataFrame:
    """Every figure of the study (rows of `published_figures`) from a counts frame, as `recomputed`.

    `counts` (by default the embedded ``spain-2010``) are of the nation, or of the municipalities of Cuadros 2-4 that
    are at hand. With a column ``kind`` they are an embedded population, which was fitted to these very tables: then
    figures are set against facts of INE where there are any, and marked as fitted where there are none.
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
            blocks.append(_cuadro(counts, rows, embedded))
        elif nation is None:
            blocks.append(_not_the_nation(counts, rows))
        elif table == "Cuadro 1":
            blocks.append(_cuadro_1(nation, widths, rows, embedded))
        else:
            claims = text_claims(counts, nation, widths, figures, embedded)
            blocks.append(judged(rows, [claims.get(figure_id.rpartition("/")[2]) for figure_id in rows["figure_id"]]))
    result = pd.concat(blocks).loc[figures.index]
    result.loc[[holds is True for holds in result["holds"]], "verdict"] = "exact"
    return result


def rows_that_do_not_add_up(figures: pd.DataFrame) -> pd.DataFrame:
    """Printed rows of Cuadros 2-4, and printed columns of Cuadro 1, that miss their own total (columns as `Audit`)."""
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


def _cuadro_1(nation: pd.DataFrame, widths: pd.DataFrame, rows: pd.DataFrame, embedded: bool) -> pd.DataFrame:
    """Cuadro 1, as `recomputed`, of what `anonymity` gives for the nation in its ranges, and of its `half_widths`.

    Where the nation was fitted to the percentages these are marked so, and the counts are computed from the printed
    percentages and INE's population.
    """
    nation = nation.assign(row=[label(a, b) for a, b in zip(nation["k_from"], nation["k_to"], strict=True)])
    nation = nation.set_index(["dates", "row"])
    printed = rows.set_index(["column", "row"])["published"]
    # Ten thousand persons of INE's 47 million; the percentage is printed to .01, the count to 1.
    scale = population() / _PERSONS / 100
    found = []
    for row, column in zip(rows["row"], rows["column"], strict=True):
        dates, figure = column.split(" ")
        here, width = nation.loc[(dates, row)], widths.loc[(dates, row)]
        # The study's is the median of simulations: its interval tells how far that may lie off.
        noise = width["printed"] + STEP
        if figure == "±":
            found.append(told(width["computed"], {"noise": width["noise"] + STEP / 2, "printing": "cut"}))
        elif figure == "%":
            noise_share = 100 * noise * _PERSONS / here["population"] + printed_step("0.01") / 2
            found.append(told(100 * here["share"], _fitted(embedded) or {"noise": noise_share}))
        elif embedded:
            columns = {"tolerance": 0.005 * scale + 0.5, "reason": _ONE_NUMBER}
            found.append(told(printed[f"{dates} %", row] * scale, columns))
        else:
            found.append(told(here["persons"] / _PERSONS, {"noise": noise + 0.5}))
    return judged(rows, found)


def _fitted(embedded: bool) -> dict[str, object]:
    """The columns of a percentage that our population was fitted to."""
    return {"tolerance": TOLERANCE_SHARE, "kind": "fitted"} if embedded else {}


def _cuadro(counts: pd.DataFrame, rows: pd.DataFrame, embedded: bool) -> pd.DataFrame:
    """One of Cuadros 2 to 4, as `kanon_lab.studies.figures.recomputed`."""
    dates = CUADROS[rows["table"].iloc[0]]
    table = _persons_by_range(counts, dates, embedded)
    blocks = []
    for place, cells in rows.groupby("row", sort=False):
        code = PLACES[place]
        if code not in table.index:
            blocks.append(recomputed(cells, reason=f"not recomputed: the population has no cells for {place}"))
            continue
        block = recomputed(cells, table.loc[code, cells["column"]].to_numpy())
        fitted = embedded and place != _REAL
        if fitted:
            _mark(block, cells, dates, code)
        _judge_open(block, cells, table.at[code, "expected"], "fitted" if fitted else "recomputed")
        blocks.append(block)
    return pd.concat(blocks)


def _persons_by_range(counts: pd.DataFrame, dates: str, embedded: bool) -> pd.DataFrame:
    """Ranges (columns as printed, ``total`` and ``expected``, unrounded persons of the open range) by place."""
    here = counts[counts["place"].isin(PLACES.values())]
    if not len(here):
        return pd.DataFrame()
    if embedded:
        real = real_place(BENALMADENA)
        cells = pd.MultiIndex.from_frame(here[["sex", "age_group"]])
        is_real = here["place"] == PLACES[_REAL]
        here = here.assign(persons=np.where(is_real, real.reindex(cells).to_numpy(), here["persons"]).astype(np.int64))
    result = anonymity(here, dates=[dates], ranges=CUADRO_2_RANGES, by="municipality", round_each_k=True, spread=False)
    table = result.pivot(index="place", columns="k_from", values="persons").set_axis(list(COLUMNS), axis=1)
    table["total"] = result.groupby("place")["population"].first()
    plain = anonymity(here, dates=[dates], ranges=[COLUMNS[_OPEN]], by="municipality", spread=False)
    table["expected"] = plain.set_index("place")["persons"]
    if embedded:
        table["total"] = totals().reindex(table.index)
    return table


def _mark(block: pd.DataFrame, cells: pd.DataFrame, dates: str, code: str) -> None:
    """Say what each figure of a place with fitted cells is set against."""
    total = int(totals()[code])
    columns, printed = cells["column"], cells["published"]
    bounded = ~columns.isin([_OPEN, "total"])
    block.loc[bounded, ["tolerance", "kind"]] = [_TOLERANCE, "fitted"]
    rest = max(total - printed[bounded].sum(), 0)
    block.loc[columns == _OPEN, "computed"] = rest
    zero = [
        p == 0 and c in COLUMNS and zero_whatever_the_ages(total, PERIODS[dates], COLUMNS[c])
        for c, p in zip(columns, printed, strict=True)
    ]
    block.loc[zero, ["computed", "tolerance", "kind"]] = [0.0, 0.0, "recomputed"]
    block.loc[zero, "reason"] = f"no ages of {total:,} inhabitants give another figure"


def _judge_open(block: pd.DataFrame, cells: pd.DataFrame, expected: float, kind: str) -> None:
    """The open range: most rows print what the others leave of the total; ten print the expectation, which is 0.

    Which of the two is taken is told by the printed cell itself, row by row: no rule is known that gives all of them.
    """
    index = cells.index[cells["column"] == _OPEN][0]
    rest, printed = block.at[index, "computed"], cells.at[index, "published"]
    bounded = cells.loc[~cells["column"].isin([_OPEN, "total"]), "published"].sum()
    left = cells.loc[cells["column"] == "total", "published"].item() - bounded
    here = "" if left == rest else f", here {left:.0f} and so 0"
    if rest == printed != round(expected):
        block.at[index, "reason"] = (
            f"what the other ranges leave of the total{here}; {expected:,.2f} are expected here. {_PICKED}"
        )
    elif rest != printed == round(expected):
        reason = (
            "the expected persons of this range. Other rows print what the other ranges leave of the total, here "
            f"{rest:.0f}: either is a fair reading. {_PICKED}"
        )
        block.loc[index, ["computed", "reason", "kind"]] = [round(expected), reason, kind]
    elif rest == printed and not block.at[index, "reason"]:
        block.at[index, "reason"] = (
            f"both rules give it: what the other ranges leave of the total{here}, and the expected persons"
        )
