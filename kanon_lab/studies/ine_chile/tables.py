"""The tables and printed outputs of the guide, recomputed from what it prints itself."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from kanon_lab.classes import ClassTable, class_table
from kanon_lab.diversity import diversity
from kanon_lab.recode import group_categories
from kanon_lab.risk import file_risk
from kanon_lab.studies.figures import recomputed
from kanon_lab.studies.ine_chile import classified
from kanon_lab.studies.ine_chile.ages import EQUAL, FIRST_LOST, RAW, UNEQUAL, completions, frequencies
from kanon_lab.studies.ine_chile.printed import SPECS, cells, counts, example
from kanon_lab.studies.ine_chile.program import READERS, SLOTS
from kanon_lab.suppress import Suppression, local_suppression

#: Tabla 8.2 and Bloque 8.1: which old categories stand behind each new one.
REGIONS = {"Norte": ["Región 1", "Región 2"], "Centro": ["Región 3"], "Sur": ["Región 4", "Región 5"]}
SIZES = {"urban": ["capital, large city", "small city", "town"], "rural": ["countryside"]}

# Codes of Bloque 7.1 for the values of Tablas 7.1 and 7.3.
_EMPLOYMENT = {"Ocupado": "Ocu", "Desocupado": "Desocu", "No FL": "No-FL"}
_HEALTH = {"Enfermo": "Sí", "Sano": "No"}
#: The code before Bloque 8.1 draws the categories of urban households with these probabilities.
DRAWN = {"capital, large city": 0.60, "small city": 0.27, "town": 0.13}
_95_PER_CENT = 1.96

# What is said of figures that are no evidence, and of random ones.
_REASONS = {
    "input": "input: compared with itself",
    "copied": "copied: the guide has the same elsewhere",
    "fitted": "the three lost counts of single ages were completed so that they give it",
}
_DRAWN_REASON = "the guide drew it at random, without a seed: within 95 % of such draws"

_INPUTS = {
    "Tabla 7.1": ("area", "gender", "education", "employment", "weight"),
    "Tabla 7.2": ("gender", "education", "employment"),
    "Tabla 7.3": ("health",),
    "Tabla 8.2": ("region", "sex", "religion"),
    "Tabla 8.3": ("region", "marital status", "age"),
    "Tabla 8.4": ("sex", "zone", "education"),
    RAW: ("persons",),
    "Bloque 8.7": ("suppressions", "k", "importance"),
}
_COPIES = {
    "Tabla 7.3": SPECS["Tabla 7.3"].key_variables,
    "Bloque 7.1": ("employment", "health", "weight"),
    # The text says which region becomes which.
    "Tabla 8.2": ("region after", "sex after", "religion after"),
    "Tabla 8.4": ("sex after", "zone after"),
}
# Bloque 7.1 has values for more persons than there are.
_SURPLUS = ("11", "12")


def _kind(name: str, row: str, column: str) -> str:
    """The kind of evidence of one figure: a key of `kanon_lab.studies.figures.KINDS`."""
    if column in _INPUTS.get(name, ()):
        return "input"
    if name == "Bloque 8.1" and column == "before":
        return "recomputed" if row in DRAWN else "input"
    if name == "Bloque 8.1" and row == "rural":
        return "copied"
    if name in (RAW, EQUAL, UNEQUAL):
        oldest = int(re.findall(r"\d+", row)[-1])
        return "fitted" if oldest >= FIRST_LOST else "recomputed"
    if name == "Tabla 8.1" and (row, column) in classified.COPIED:
        return "copied"
    return "copied" if column in _COPIES.get(name, ()) else "recomputed"


def recompute_table(name: str, rows: pd.DataFrame) -> pd.DataFrame:
    """The figures of one table: columns as `kanon_lab.studies.figures.recomputed`."""
    values, exceptions = computed_cells(name), _exceptions(name)
    found = [_cell(name, *place, values, exceptions) for place in zip(rows["row"], rows["column"], strict=True)]
    computed, kinds, verdicts, reasons = zip(*found, strict=True)
    frame = recomputed(rows, computed, kind=kinds, verdict=verdicts, reason=reasons)
    if name == "Bloque 8.1":
        urban = counts(name, "after")["urban"]
        share = rows["row"].map(DRAWN)
        frame["noise"] = (_95_PER_CENT * np.sqrt(urban * share * (1 - share))).fillna(0.0)
    return frame


def _cell(name: str, row: str, column: str, values: dict, exceptions: dict) -> tuple[float | str, str, str, str]:
    """What is found for one figure of a table: a number or a text, kind, verdict and reason."""
    value, kind = values.get(column, {}).get(row), _kind(name, row, column)
    drawn = name == "Bloque 8.1" and column == "before" and row in DRAWN
    said = ("", _DRAWN_REASON if drawn else _REASONS.get(kind, ""))
    places = (place for place in ((row, column), (row, ""), ("", column)) if place in exceptions)
    verdict, reason = exceptions.get(next(places, None), said)
    return (np.nan if value is None else value), kind, verdict, reason


def computed_cells(name: str) -> dict[str, dict[str, object]]:
    """What is computed for each column of a table: values (text or numbers) by printed row."""
    return {
        "Tabla 6.1": lambda: {"function": READERS},
        "Tabla 6.2": lambda: {"slot": {str(place): name for place, name in enumerate(SLOTS, 1)}},
        "Tabla 7.1": _tabla_7_1,
        "Bloque 7.1": _bloque_7_1,
        "Tabla 7.2": _tabla_7_2,
        "Tabla 7.3": _tabla_7_3,
        "Tabla 8.1": classified.classified,
        "Tabla 8.2": _tabla_8_2,
        "Tabla 8.3": _tabla_8_3,
        "Tabla 8.4": _tabla_8_4,
        "Bloque 8.1": _bloque_8_1,
        EQUAL: lambda: {"persons": _in_every_way(EQUAL)},
        UNEQUAL: lambda: {"persons": _in_every_way(UNEQUAL)},
        RAW: _single_ages,
        "Bloque 8.7": _bloque_8_7,
    }[name]()


def recoded_regions() -> pd.DataFrame:
    """The records of Tabla 8.2 after recoding: five regions are grouped in three."""
    before = example("Tabla 8.2")
    return before.assign(region=group_categories(before["region"], REGIONS))


def suppressed(*, k_required: int = 2) -> Suppression:
    """The records of Tabla 8.4 after local suppression to k, the sex being more important than the education."""
    importance = {"sex": 1, "zone": 1, "education": 2}
    return local_suppression(example("Tabla 8.4"), SPECS["Tabla 8.4"], k_required=k_required, importance=importance)


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
    codes = {"employment": frame["employment"].map(_EMPLOYMENT), "health": frame["health"].map(_HEALTH)}
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
    ways, printed = completions(), counts(RAW, "persons")
    certain = ways.index[ways.nunique(axis=1) == 1]
    known = printed.to_dict() | ({"91": ways.at[91, 0]} if 91 in certain else {})
    return {"persons": known, "rounded to tens": _in_every_way(RAW)}


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


def _exceptions(name: str) -> dict[tuple[str, str], tuple[str, str]]:
    """Verdict and reason for cells that a comparison cannot judge, by row and column; "" stands for all."""
    table_6 = "looked up in the documentation of the package: read_xlsx() refuses an .xls file, which read_xls() reads"
    extra = (
        "our text of this block is damaged: its first columns are lost, and this one has twelve values for ten "
        "persons; the first ten are those of Tabla 7.3"
    )
    lost_band = "ten bands are named and nine counts are left; the counts of single ages give 3 in every completion"
    lost_zero = "eight bands are named and seven counts are left; the youngest person is 12, so nobody is in it"
    return {
        "Tabla 7.1": {("", "risk"): ("not-in-text", "the column that the caption announces is not in the text")},
        "Bloque 7.1": {(row, "health"): ("illegible", extra) for row in _SURPLUS},
        "Tabla 6.1": {
            ("", "function"): ("", "looked up in the documentation of the package"),
            ("Excel .xls/.xlsx", "function"): ("published-error", f"{table_6}; read_excel() reads both"),
        },
        "Tabla 6.2": {
            ("", "slot"): ("", "looked up in the definition of the class in sdcMicro 5"),
            ("12", "slot"): ("published-error", "looked up in the definition of the class in sdcMicro 5: with an s"),
        },
        "Tabla 7.3": {
            (row, "education"): (
                "",
                "copied: a dash in its row; legible in the line below the table, which repeats it by columns",
            )
            for row in "45"
        },
        "Tabla 8.1": classified.exceptions(),
        "Tabla 8.2": {
            ("5", "f_k"): (
                "published-error",
                "5 and 7 have the same key, and 7 is printed with 2: persons with one key have one frequency",
            )
        },
        EQUAL: {("(90,100]", "persons"): ("illegible", lost_band)},
        UNEQUAL: {("(5,11]", "persons"): ("illegible", lost_zero)},
        RAW: _lost_ages(),
    }.get(name, {})


def _lost_ages() -> dict[tuple[str, str], tuple[str, str]]:
    ways = completions()
    open_ages = ways.index[ways.nunique(axis=1) > 1]
    shares = ways.loc[open_ages].sum().unique()
    open_text = (
        f"ages {', '.join(map(str, open_ages))} share {' or '.join(map(str, shares))} persons in {ways.shape[1]} "
        "possible ways; two of the four counts are left"
    )
    return {
        ("91", "persons"): ("illegible", "every completion that gives the printed bands has the same count here"),
        ("two of 86, 87, 88 and 90", "persons"): ("illegible", open_text),
    }
