"""INE Chile (2023), Guía para el Control de Divulgación Estadística en Microdatos: its small files and its ages.

Single ages stand in three lines of section 8.2.1.3; of the third, for ages 67 to 91, three counts are lost. What is
left of it stands in order; the bands of Bloques 8.2 and 8.3 and the rounded counts leave few ways to fill the gaps.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations

import numpy as np
import pandas as pd

from kanon_book.studies.figures import published_figures
from kanon_lab.classes import ClassTable, class_table
from kanon_lab.methods import Suppression, cut_bands, group_categories, local_suppression, round_values
from kanon_lab.roles import KeySpec

SOURCE = "ine-chile-2023"
#: Spanish words for small numbers, as the guide has them.
WORDS = {1: "uno", 2: "dos", 3: "tres", 4: "cuatro", 5: "cinco", 6: "seis", 7: "siete"}
#: What an intruder knows in each of the guide's small files.
SPECS = {
    "Tabla 7.1": KeySpec(["area", "gender", "education", "employment"], weight="weight"),
    "Tabla 7.2": KeySpec(["gender", "education", "employment"]),
    "Tabla 7.3": KeySpec(["area", "gender", "education", "employment"], weight="weight", sensitive_variables="health"),
    "Tabla 8.2": KeySpec(["region", "sex", "religion"]),
    "Tabla 8.4": KeySpec(["sex", "zone", "education"]),
}

#: Tabla 8.2 and Bloque 8.1: which old categories stand behind each new one.
REGIONS = {"Norte": ["Región 1", "Región 2"], "Centro": ["Región 3"], "Sur": ["Región 4", "Región 5"]}
SIZES = {"urban": ["capital, large city", "small city", "town"], "rural": ["countryside"]}
#: The code before Bloque 8.1 draws the categories of urban households with these probabilities.
DRAWN = {"capital, large city": 0.60, "small city": 0.27, "town": 0.13}
#: Codes of Bloque 7.1 for the states of health of Tabla 7.3.
HEALTH = {"Enfermo": "Sí", "Sano": "No"}

RAW, EQUAL, UNEQUAL = "Ages (8.2.1.3)", "Bloque 8.2", "Bloque 8.3"
#: The first age whose count may be lost.
FIRST_LOST = 67
#: Edges of the bands; the guide cuts them closed on the right.
EDGES = {EQUAL: tuple(range(0, 101, 10)), UNEQUAL: (0, 5, 11, 17, 21, 25, 49, 65, 100)}
#: What the text calls the bands of Bloque 8.3.
GROUPS = ("1-5", "6-11", "12-17", "18-21", "22-25", "26-49", "50-64", "65+")

# The ages above the third line.
_THIRD = (*range(FIRST_LOST, 89), 90, 91)


@lru_cache
def cells(name: str) -> pd.DataFrame:
    """The printed texts of one table: rows by columns, in the order of the source. For reading only."""
    figures = published_figures(SOURCE)
    here = figures[figures["table"] == name]
    wide = here.pivot(index="row", columns="column", values="printed")
    return wide.loc[here["row"].unique(), here["column"].unique()].rename_axis(index="row", columns=None)


def counts(name: str, column: str) -> pd.Series:
    """Numbers (int) of one printed column, under its rows; without those that are lost."""
    texts = cells(name)[column]
    return texts[texts.fillna("") != ""].astype(int)


def example(name: str) -> pd.DataFrame:
    """One of the guide's small files (a key of `SPECS`), as a frame that can be measured; records from 1.

    Tablas 8.2 and 8.4 as they are before recoding and suppression. A printed NA is missing. Tabla 7.3 takes keys and
    weights from Tabla 7.1: two of its cells are lost, and it prints no weights.
    """
    if name == "Tabla 7.3":
        return example("Tabla 7.1").assign(health=cells(name)["health"].to_numpy())
    texts = cells(name)[list(SPECS[name].variables)]
    texts = texts.set_axis(pd.RangeIndex(1, len(texts) + 1, name="record"))
    frame = texts.mask(texts == "NA")
    return frame.astype({"weight": int}) if "weight" in frame else frame


def classes(name: str) -> ClassTable:
    """The class table of one of the guide's small files."""
    return class_table(example(name), SPECS[name])


def listed(records: pd.Index) -> str:
    """Records as the guide lists them: ``3, 5 y 7``."""
    texts = [str(record) for record in records]
    return " y ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def recoded_regions() -> pd.DataFrame:
    """The records of Tabla 8.2 after recoding: five regions are grouped in three."""
    before = example("Tabla 8.2")
    return before.assign(region=group_categories(before["region"], REGIONS))


def suppressed(*, k_required: int = 2) -> Suppression:
    """The records of Tabla 8.4 after local suppression to k, the sex being more important than the education."""
    importance = {"sex": 1, "zone": 1, "education": 2}
    return local_suppression(example("Tabla 8.4"), SPECS["Tabla 8.4"], k_required=k_required, importance=importance)


def recoded(ages: pd.Series) -> pd.DataFrame:
    """The bands of Bloques 8.2 and 8.3 and the ten (8.2.1.3) of each age, as texts; half-way: the even ten."""
    bands = {name: cut_bands(ages, bands=edges, closed="right", labels=_labels(edges)) for name, edges in EDGES.items()}
    return pd.DataFrame({**bands, RAW: round_values(ages, base=10).astype(str)})


def frequencies(persons: pd.Series) -> dict[str, pd.Series]:
    """Persons (a Series under their ages) by each label of `recoded`; a band without persons has 0."""
    completed = {}
    for name, labels in recoded(persons.index.to_series()).items():
        sums = persons.groupby(labels).sum()
        completed[name] = sums.reindex(_labels(EDGES[name]), fill_value=0) if name in EDGES else sums
    return completed


def completions() -> pd.DataFrame:
    """Every way to fill the three gaps of the third line that gives all printed bands and rounded counts.

    Index ``age``; one column a way: persons. The counts that are left keep their order, and every age that is named has
    somebody.
    """
    return _completions().copy()


@lru_cache
def _completions() -> pd.DataFrame:
    raw = counts(RAW, "persons")
    third = raw.index.str.startswith("third")
    known = raw[~third].rename(index=int)
    ways, rest = _fillings(raw[third].to_numpy(), len(_THIRD)), known.reindex(known.index.union(_THIRD), fill_value=0)
    fits = np.ones(len(ways), dtype=bool)
    labels = recoded(rest.index.to_series())
    for name in labels:
        column = "rounded to tens" if name == RAW else "persons"
        for label, printed in counts(name, column).items():
            here = (labels[name] == label).to_numpy()
            # Lines one and two alone fall short of the printed count by what the third has to give.
            fits &= ways[:, here[-len(_THIRD) :]].sum(axis=1) == printed - rest[here].sum()
    whole = np.column_stack([np.tile(known, (fits.sum(), 1)), ways[fits]])
    return pd.DataFrame(np.unique(whole, axis=0).T, index=rest.index.rename("age"))


def _fillings(left: np.ndarray, places: int) -> np.ndarray:
    """The counts that are left, in order, with every choice of places and small counts for those that are lost."""
    lost = places - len(left)
    total = counts(UNEQUAL, "persons").iloc[-1] - counts(RAW, "persons").loc["66"] - left.sum()
    # All counts of one or more that add up to what is missing in the last band.
    cuts = np.array(list(combinations(range(1, total), lost - 1)))
    values = np.diff(cuts, axis=1, prepend=0, append=total)
    gaps = np.array(list(combinations(range(places), lost)))
    filled = np.empty((len(gaps), len(values), places), dtype=np.int64)
    for gap, rows in zip(gaps, filled, strict=True):
        rows[:, gap] = values
        rows[:, np.delete(np.arange(places), gap)] = left
    return filled.reshape(-1, places)


def _labels(edges: tuple[int, ...]) -> list[str]:
    return [f"({low},{high}]" for low, high in zip(edges, edges[1:], strict=False)]
