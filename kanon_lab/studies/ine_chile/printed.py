"""The tables and blocks of the guide as they are printed."""

from __future__ import annotations

from functools import lru_cache

import pandas as pd

from kanon_lab.keys import KeySpec
from kanon_lab.studies.claims import Claim
from kanon_lab.studies.figures import published_figures

SOURCE = "ine-chile-2023"
#: Spanish words for small numbers, as the guide has them.
WORDS = {1: "uno", 2: "dos", 3: "tres", 4: "cuatro", 5: "cinco", 6: "seis", 7: "siete"}
#: What an outsider knows in each of the guide's small files.
SPECS = {
    "Tabla 7.1": KeySpec(["area", "gender", "education", "employment"], weight="weight"),
    "Tabla 7.2": KeySpec(["gender", "education", "employment"]),
    "Tabla 7.3": KeySpec(["area", "gender", "education", "employment"], weight="weight", sensitive_variables="health"),
    "Tabla 8.2": KeySpec(["region", "sex", "religion"]),
    "Tabla 8.4": KeySpec(["sex", "zone", "education"]),
}


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
    """One of the guide's small files, as a frame that can be measured.

    Parameters
    ----------
    name : str
        A key of `SPECS`.

    Returns
    -------
    DataFrame
        Index ``record``, from 1; the columns that `SPECS` names. Tablas 8.2 and 8.4 as they are before recoding and
        suppression. A printed NA is missing. Tabla 7.3 takes keys and weights from Tabla 7.1: two of its cells are
        lost, and it prints no weights.
    """
    if name == "Tabla 7.3":
        return example("Tabla 7.1").assign(health=cells(name)["health"].to_numpy())
    texts = cells(name)[list(SPECS[name].variables)]
    texts = texts.set_axis(pd.RangeIndex(1, len(texts) + 1, name="record"))
    frame = texts.mask(texts == "NA")
    return frame.astype({"weight": int}) if "weight" in frame else frame


def listed(records: pd.Index) -> str:
    """Records as the guide lists them: ``3, 5 y 7``."""
    texts = [str(record) for record in records]
    return " y ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def copied(value: str | float, reason: str) -> Claim:
    """A claim against another place of the guide, which the reason names."""
    return Claim(value, reason, kind="copied")


def given(value: str | float, reason: str) -> Claim:
    """A claim that is an example or a setting: ours is taken from it."""
    return Claim(value, reason, kind="input")


def unseen(reason: str, value: str | float = float("nan")) -> Claim:
    """A claim that nothing can be set against; with the value that it would have by what is left."""
    return Claim(value, reason, "not-in-text", "unchecked")
