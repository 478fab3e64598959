"""What is known from elsewhere of the study's population: facts of INE and of the works that the study cites.

``ine-2010.csv`` holds persons on 1 January 2010 out of two files of INE (CC BY 4.0): ``pobmun10``, the official
population of every municipality, and table ``33570``, the municipal register by sex and five-year group of age. Of
them stand there the totals of the twenty municipalities of Cuadros 2 to 4; the groups from 85 on, of the nation and of
Benalmádena; and all groups of Cártama, whose ages crowd into fewer groups than those of any other municipality of
Málaga with 1,000 inhabitants or more. A test compares each with the files.

What is cited of Sweeney (2000) and Golle (2006) stands in the abstracts of these works.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import resources

import numpy as np
import pandas as pd

from kanon_lab.data import data_path

#: Code of Cártama.
CROWDED = "29038"
#: Million persons of the United States, of them alone by sex, date of birth and ZIP code, or place (census of 1990).
UNITED_STATES = {"population": 248, "zip": 216, "place": 132}
#: The census of those figures, and what Golle finds by ZIP code in that of 2000, per cent.
SWEENEY_CENSUS, GOLLE_CENSUS, GOLLE_ZIP = 1990, 2000, 63

# Ceuta and Melilla, which INE lists among the municipalities.
_AUTONOMOUS_CITIES = ("51", "52")


@lru_cache
def _ine() -> pd.DataFrame:
    with (resources.files("kanon_lab.published") / "ine-2010.csv").open(encoding="utf-8") as lines:
        return pd.read_csv(lines, dtype={"source": str, "place": str})


def totals() -> pd.Series:
    """Inhabitants of the twenty municipalities in INE's list, by their code."""
    rows = _ine()
    return rows[rows["source"] == "pobmun10"].set_index("place")["persons"]


def oldest(place: str = "nation") -> pd.Series:
    """Persons of the nation, or of Benalmádena, by sex and age group from 85 on."""
    rows = _ine()
    rows = rows[(rows["place"] == place) & (rows["source"] == "33570")]
    return rows.set_index(["sex", "age_group"])["persons"]


def national_cells() -> np.ndarray:
    """Persons of the nation in each cell of sex and age group, 85 and over in one."""
    return pd.read_csv(data_path("spain-2010-pyramid"))["persons"].to_numpy()


def benalmadena_cells() -> pd.Series:
    """Persons of Benalmádena by sex and age group, 85 and over in one."""
    return pd.read_csv(data_path("benalmadena-2010")).set_index(["sex", "age_group"])["persons"]


def real_cells() -> dict[str, np.ndarray]:
    """Cells of sex and age group of real places, to be scaled to any size."""
    return {
        "the nation": national_cells(),
        "Benalmádena": benalmadena_cells().to_numpy(),
        "Cártama": oldest(CROWDED).to_numpy(),
    }


def population() -> int:
    """Inhabitants of the nation."""
    return int(national_cells().sum())


def municipalities() -> tuple[int, int]:
    """Municipalities in INE's list: all of them, and without Ceuta and Melilla."""
    classes = pd.read_csv(data_path("spain-2010-municipalities"), dtype={"province": str})
    without = classes[~classes["province"].isin(_AUTONOMOUS_CITIES)]
    return int(classes["municipalities"].sum()), int(without["municipalities"].sum())
