"""The audit of the guide of INE Chile (2023): chapters 1 to 8, recomputed.

The guide prints small files with their frequencies, some outputs of its program, and claims. Each small file is an
input: that it agrees with itself is no evidence. What is computed from it, and what the guide says of it, is. The
survey behind the outputs of chapter 8 is not given; but frequencies of single ages are, and bands and rounding follow
from them. Three of those counts are lost in the text: see `kanon_lab.studies.ine_chile.completions`.

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

from functools import partial

import numpy as np
import pandas as pd

from kanon_lab.classes import ClassTable, class_table
from kanon_lab.measures import diversity, file_risk
from kanon_lab.methods import add_noise, group_categories, microaggregate, pram, rank_swap, shuffle
from kanon_lab.studies.evidence import claimed, judged, told
from kanon_lab.studies.figures import recomputed
from kanon_lab.studies.ine_chile import (
    DRAWN,
    EQUAL,
    HEALTH,
    RAW,
    SIZES,
    SPECS,
    UNEQUAL,
    cells,
    completions,
    counts,
    example,
    frequencies,
    recoded_regions,
    suppressed,
)
from kanon_lab.studies.ine_chile_methods import method_claims
from kanon_lab.studies.ine_chile_risk import risk_claims

_95_PER_CENT = 1.96
# Codes of Bloque 7.1 for the values of Tabla 7.1.
_EMPLOYMENT = {"Ocupado": "Ocu", "Desocupado": "Desocu", "No FL": "No-FL"}
# Perturbative methods of Tabla 8.1: ours.
_PERTURBATIVE = {
    "PRAM": partial(pram, variables="category", keep=0.5),
    "Micro agregación": partial(microaggregate, variables="income"),
    "Adición de Ruido": partial(add_noise, variables="income"),
    "Shuffling": partial(shuffle, variables="income", given="hours"),
    "Rank swapping": partial(rank_swap, variables="income", window=0.2),
}


def recompute(figures: pd.DataFrame) -> pd.DataFrame:
    """Every figure of the guide (rows of `published_figures`) from what it prints itself, as `recomputed`."""
    blocks = [
        claimed(rows, method_claims() | risk_claims()) if name == "text" else _table(name, rows)
        for name, rows in figures.groupby("table", sort=False)
    ]
    return pd.concat(blocks or [recomputed(figures)]).loc[figures.index]


def rows_that_do_not_add_up(figures: pd.DataFrame) -> pd.DataFrame:
    """The suppressions of Bloque 8.7, which miss the total that the text gives for them (columns as `Audit`)."""
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


def _table(name: str, rows: pd.DataFrame) -> pd.DataFrame:
    """The figures of one table, as `recomputed`."""
    values = _CELLS[name]() if name in _CELLS else {}
    frame = judged(
        rows, [values.get(column, {}).get(row) for row, column in zip(rows["row"], rows["column"], strict=True)]
    )
    if name == "Bloque 8.1":
        share = rows["row"].map(DRAWN)
        frame["noise"] = (_95_PER_CENT * np.sqrt(counts(name, "after")["urban"] * share * (1 - share))).fillna(0.0)
    return frame


def _by_row(frame: pd.DataFrame) -> dict[str, dict[str, object]]:
    """Columns of a frame under its index as texts, missing values as they are printed."""
    return frame.astype(object).where(frame.notna(), None).set_axis(frame.index.astype(str)).to_dict()


def _with_frequencies(name: str) -> tuple[pd.DataFrame, ClassTable]:
    frame = example(name)
    table = class_table(frame, SPECS[name])
    return frame.assign(f_k=table.f_k_of_records(), F_k=table.F_k_of_records()), table


def _tabla_7_1() -> dict:
    frame, table = _with_frequencies("Tabla 7.1")
    return _by_row(frame.assign(risk=file_risk(table).risk))


def _bloque_7_1() -> dict:
    frame = example("Tabla 7.3")
    codes = {"employment": frame["employment"].map(_EMPLOYMENT), "health": frame["health"].map(HEALTH)}
    return _by_row(frame[["weight"]].assign(**codes))


def _tabla_7_2() -> dict:
    frame, _ = _with_frequencies("Tabla 7.2")
    return _by_row(frame.fillna({"education": "NA"}))


def _tabla_7_3() -> dict:
    frame, table = _with_frequencies("Tabla 7.3")
    found = diversity(table, "health").classes["distinct"].to_numpy()[table.class_of_record]
    return _by_row(frame.assign(l=found))


def _tabla_8_2() -> dict:
    before, _ = _with_frequencies("Tabla 8.2")
    recoded = recoded_regions()
    after = class_table(recoded, SPECS["Tabla 8.2"]).f_k_of_records()
    return _by_row(before.join(recoded.assign(f_k=after).add_suffix(" after")))


def _tabla_8_3() -> dict:
    categories = cells("Tabla 8.3").drop(columns="combinations").astype(int)
    return categories.assign(combinations=categories.prod(axis=1)).to_dict()


def _tabla_8_4() -> dict:
    before, after = example("Tabla 8.4"), suppressed().frame
    return _by_row(before.join(after.fillna("NA / perdido").add_suffix(" after")))


def _bloque_8_1() -> dict:
    before = counts("Bloque 8.1", "before")
    after = before.groupby(group_categories(before.index.to_series(), SIZES)).sum()
    drawn = {category: after["urban"] * share for category, share in DRAWN.items()}
    return {"before": before.to_dict() | drawn, "after": after.to_dict()}


def _in_every_way(name: str) -> dict[str, int]:
    """The frequencies that are the same however the lost counts are completed."""
    found = pd.DataFrame({way: frequencies(persons)[name] for way, persons in completions().items()})
    return found[found.nunique(axis=1) == 1].iloc[:, 0].to_dict()


def _single_ages() -> dict:
    ways = completions()
    is_open = ways.nunique(axis=1) > 1
    lost = told(
        ages=", ".join(map(str, ways.index[is_open])),
        shares=" or ".join(map(str, ways[is_open].sum().unique())),
        ways=ways.shape[1],
    )
    found = counts(RAW, "persons").to_dict() | {"two of 86, 87, 88 and 90": lost}
    return {"persons": found | ({} if is_open[91] else {"91": ways.at[91, 0]}), "rounded to tens": _in_every_way(RAW)}


def _bloque_8_7() -> dict:
    printed, households = cells("Bloque 8.7"), int(counts("Bloque 8.1", "before").sum())
    shares = 100 * counts("Bloque 8.7", "suppressions") / households
    call = printed.loc["localSuppression()"]
    return {
        "suppressions": counts("Bloque 8.7", "suppressions").to_dict(),
        "%": shares.to_dict(),
        "k": {call.name: int(call["k"])},
        "importance": {call.name: call["importance"]},
    }


def _tabla_8_1() -> dict:
    return {"classification": {row: _classified(method) for row, method in _PERTURBATIVE.items()}}


def _classified(method: partial) -> str:
    """By section 8.1: perturbative if values become others, deterministic if a second run gives the same."""
    numbers = pd.Series(range(1, 61))
    file = pd.DataFrame({"income": numbers**2 * 10.0, "hours": numbers % 7, "category": (numbers % 3).map(str)})
    first, second = (method(file, seed=seed).frame for seed in (0, 1))
    altered = "perturbativo" if not first.equals(file) else "no perturbativo"
    return f"{altered}, {'determinista' if first.equals(second) else 'probabilístico'}"


#: What is computed for each column of a table: values (text or numbers) by printed row.
_CELLS = {
    "Tabla 7.1": _tabla_7_1,
    "Bloque 7.1": _bloque_7_1,
    "Tabla 7.2": _tabla_7_2,
    "Tabla 7.3": _tabla_7_3,
    "Tabla 8.1": _tabla_8_1,
    "Tabla 8.2": _tabla_8_2,
    "Tabla 8.3": _tabla_8_3,
    "Tabla 8.4": _tabla_8_4,
    "Bloque 8.1": _bloque_8_1,
    EQUAL: lambda: {"persons": _in_every_way(EQUAL)},
    UNEQUAL: lambda: {"persons": _in_every_way(UNEQUAL)},
    RAW: _single_ages,
    "Bloque 8.7": _bloque_8_7,
}
