"""What is known from elsewhere of the study's population: facts of INE and of the works that the study cites.

``ine-2010.csv`` holds the totals of the twenty municipalities of Cuadros 2 to 4 on 1 January 2010 out of INE's list of
the official population of every municipality (pobmun10, CC BY 4.0). Ages are those of the embedded ``malaga-2010`` and
``spain-oldest``. A test compares each with the files.

What is cited of Sweeney (2000) and Golle (2006) stands in the abstracts of these works.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import resources

import numpy as np
import pandas as pd

from kanon_lab.data import data_path, load_counts

#: Code of Benalmádena, the only place of Cuadros 2 to 4 whose real ages are at hand.
BENALMADENA = "29025"
#: Million persons of the United States, of them alone by sex, date of birth and ZIP code, or place (census of 1990).
UNITED_STATES = {"population": 248, "zip": 216, "place": 132}
#: The census of those figures, and what Golle finds by ZIP code in that of 2000, per cent.
SWEENEY_CENSUS, GOLLE_CENSUS, GOLLE_ZIP = 1990, 2000, 63

# Ceuta and Melilla, which INE lists among the municipalities.
_AUTONOMOUS_CITIES = ("51", "52")


_CELL = ["sex", "age_group"]
# In the tables of `spain-oldest`.
_YEAR = 2010
# A smaller place has too few persons in a cell for its ages to be those of any town.
_LEAST = 1000


def totals() -> pd.Series:
    """Inhabitants of the twenty municipalities in INE's list, by their code."""
    with (resources.files("kanon_lab.studies") / "ine-2010.csv").open(encoding="utf-8") as lines:
        return pd.read_csv(lines, dtype={"place": str}).set_index("place")["persons"]


def oldest() -> pd.Series:
    """Persons of the nation by sex and age group from 85 on."""
    years = pd.read_csv(data_path("spain-oldest"))
    return years[years["year"] == _YEAR].set_index(_CELL)["persons"]


@lru_cache
def _malaga(pool_from: int | None) -> pd.DataFrame:
    return load_counts("malaga-2010", pool_from=pool_from)


def real_place(code: str, pool_from: int | None = 85) -> pd.Series:
    """Persons of a municipality of Málaga by sex and age group, those of `pool_from` and over in one."""
    counts = _malaga(pool_from)
    return counts[counts["place"] == code].set_index(_CELL)["persons"]


def national_cells() -> np.ndarray:
    """Persons of the nation in each cell of sex and age group, 85 and over in one."""
    return pd.read_csv(data_path("spain-2010-pyramid"))["persons"].to_numpy()


def real_places(least: int = _LEAST) -> dict[str, np.ndarray]:
    """Persons in each cell of sex and age group, 85 and over in one, of every place of Málaga with so many or more."""
    places = _malaga(85).groupby("name")["persons"]
    return {name: cells.to_numpy() for name, cells in places if cells.sum() >= least}


def population() -> int:
    """Inhabitants of the nation."""
    return int(national_cells().sum())


def municipalities() -> tuple[int, int]:
    """Municipalities in INE's list: all of them, and without Ceuta and Melilla."""
    classes = pd.read_csv(data_path("spain-2010-municipalities"), dtype={"province": str})
    without = classes[~classes["province"].isin(_AUTONOMOUS_CITIES)]
    return int(classes["municipalities"].sum()), int(without["municipalities"].sum())
