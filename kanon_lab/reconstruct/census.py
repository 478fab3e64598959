"""A synthetic census of Catalonia in 1991, fitted to the counts of Garín i Ramírez (1996). Nobody in it exists.

Persons are not stored: they are drawn from a seed and a file of parameters, variable after variable. Counts of persons
are split by multinomial draws along a tree (region, sex and age, birthplace, marital status, study, activity,
occupation), so that what exists at the end is one row for each occupied combination, with its persons.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import resources

import numpy as np
import pandas as pd

from kanon_lab.errors import OptionError, shortened
from kanon_lab.keys import check_seed
from kanon_lab.reconstruct.chances import Chances

#: The columns of a record, in the order of the study.
VARIABLES = (
    "region",
    "province",
    "age",
    "birthplace",
    "sex",
    "marital_status",
    "occupation",
    "study_level",
    "activity",
)
#: The identification key of the study (section 4.2).
CATALAN_KEYS = tuple(name for name in VARIABLES if name != "province")
# Told apart from the numbers that made the census, whatever the two seeds are.
_SAMPLE = int.from_bytes(b"sample")

#: The levels of detail of Taula 1 (section 4.4), as settings of a recipe's step ``recode``; None: as it is. The study
#: numbers bands by whole fifths and tens of years, from 1; children below the first band are here in one of their own.
#: Bands of five years stop at 65 and bands of ten at 80: they do not nest.
CATALAN_LEVELS = {
    "region": {
        "Catalonia": {"groups": {"Catalonia": list(range(1, 15))}},
        "4 provinces": {
            "groups": {
                "Barcelona": [1, 2, 3, 4, 5, 6, 7, 11],
                "Girona": [8, 9],
                "Lleida": [13, 14],
                "Tarragona": [10, 12],
            }
        },
        "14 regions": None,
    },
    "age": {
        "1 year": None,
        "5 years": {"bands": [*range(0, 66, 5), None]},
        "10 years": {"bands": [*range(0, 81, 10), None]},
    },
}


@dataclass(frozen=True)
class Census:
    """A synthetic census.

    Attributes
    ----------
    cells : DataFrame
        One row a combination of `VARIABLES` that somebody has (uint8 codes, as in the study; ``age`` in years), and
        ``persons`` (int32).
    seed : int
    """

    cells: pd.DataFrame = field(repr=False)
    seed: int

    @cached_property
    def persons(self) -> int:
        """Persons of the census."""
        return int(self.cells["persons"].sum())

    def records(self) -> pd.DataFrame:
        """Every person: one row each, columns `VARIABLES`, in the order of `cells`."""
        return self._rows(self.cells["persons"].to_numpy())

    def sample(self, fraction: float, *, seed: int = 0, scheme: str = "bernoulli") -> pd.DataFrame:
        """Draw persons, each with the same chance.

        Parameters
        ----------
        fraction : float
            Above 0 and below 1.
        seed : int
        scheme : {"bernoulli", "fixed"}
            Each person independently of the others, as the study did (section 4.1); or a simple random sample of
            ``fraction`` of the persons, rounded.

        Returns
        -------
        DataFrame
            One row a person, in random order, columns `VARIABLES`.

        Raises
        ------
        OptionError
            A fraction, a seed or a scheme that is none.
        """
        if isinstance(fraction, bool) or not isinstance(fraction, (int, float, np.number)) or not 0 < fraction < 1:
            raise OptionError(f"fraction must be a number above 0 and below 1, not {shortened(repr(fraction))}")
        if scheme not in ("bernoulli", "fixed"):
            raise OptionError(f"scheme must be bernoulli or fixed, not {shortened(repr(scheme))}")
        rng = np.random.default_rng([check_seed(seed), self.seed, _SAMPLE])
        persons = self.cells["persons"].to_numpy()
        if scheme == "bernoulli":
            drawn = rng.binomial(persons, fraction)
        else:
            drawn = rng.multivariate_hypergeometric(persons, round(fraction * self.persons), method="marginals")
        rows = self._rows(drawn)
        return rows.take(rng.permutation(len(rows))).reset_index(drop=True)

    def _rows(self, times: np.ndarray) -> pd.DataFrame:
        return pd.DataFrame({name: np.repeat(self.cells[name].to_numpy(), times) for name in VARIABLES})


def catalan_census(seed: int = 1991, *, parameters: Mapping | None = None) -> Census:
    """Generate the synthetic census of Catalonia of 1991: 6,059,494 persons who do not exist.

    Its parameters were fitted to the counts of unique records in Taula 1 of Garín i Ramírez (1996), and to no record.

    Parameters
    ----------
    seed : int
    parameters : mapping, optional
        In place of those of the package, as `census_parameters` gives them.

    Returns
    -------
    Census

    Raises
    ------
    OptionError
        A seed that is none.

    Notes
    -----
    Ages are those that persons reach in 1995, as in the study (section 4.2). The youngest, born in January and February
    of 1991, reach 4: the census was on 1 March.
    """
    parameters = census_parameters() if parameters is None else parameters
    chances = Chances(parameters)
    rng = np.random.default_rng(check_seed(seed))
    cells = {"region": chances.regions}
    persons = chances.region_persons
    for names, of in chances.steps():
        cells, persons = _split(cells, persons, names, *of(cells), rng)
    cells["province"] = chances.province_of[cells["region"]]
    frame = pd.DataFrame({name: cells[name].astype(np.uint8) for name in VARIABLES})
    return Census(frame.assign(persons=persons.astype(np.int32)), seed)


def census_parameters() -> dict:
    """The parameters of `catalan_census`: what was published, what is assumed and what was fitted."""
    import yaml

    path = resources.files("kanon_lab.data") / "embedded" / "catalonia-1991.yml"
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def catalan_codes(parameters: Mapping | None = None) -> pd.DataFrame:
    """What the codes of the census stand for.

    Returns
    -------
    DataFrame
        One row a code: ``variable``, ``code`` (int), ``label``. The study numbers the codes of its questionnaire and
        names few of them: labels of study, activity, occupation and of all regions but 11 are assumed.
    """
    settings = census_parameters() if parameters is None else parameters
    named = {
        "region": {code: name for code, (name, *_) in settings["regions"].items()},
        "province": settings["provinces"],
        "birthplace": {1: "region of residence", **_named(settings["birthplace"])},
        "sex": {1: "man", 6: "woman"},
        "marital_status": _named(settings["marital_status"]["men"]),
        "occupation": _named([*settings["occupation"]["shares"], settings["occupation"]["none"]]),
        "study_level": _named(settings["study_level"]),
        "activity": _named(settings["activity"]["men"]),
    }
    rows = [(variable, code, label) for variable, codes in named.items() for code, label in codes.items()]
    return pd.DataFrame(rows, columns=["variable", "code", "label"])


def _named(names: Iterable[str]) -> dict[int, str]:
    """Code and label of names such as "2 married"; other names are no codes."""
    parts = (name.partition(" ") for name in names)
    return {int(code): label for code, _, label in parts if code.isdigit()}


def _split(
    cells: dict[str, np.ndarray],
    persons: np.ndarray,
    names: tuple[str, ...],
    outcomes: np.ndarray,
    table: np.ndarray,
    row: np.ndarray,
    rng: np.random.Generator,
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Split the persons of each cell over the outcomes of one more step, with the chances of ``table[row]``."""
    # Blocks, so that the counts of all cells and outcomes never stand in memory together.
    block = max(1, 4_000_000 // table.shape[1])
    found = []
    for start in range(0, len(row), block):
        part = slice(start, start + block)
        counts = rng.multinomial(persons[part], table[row[part]])
        cell, outcome = np.nonzero(counts)
        found.append((cell + start, outcome, counts[cell, outcome]))
    cell, outcome, counts = (np.concatenate(parts) for parts in zip(*found, strict=True))
    split = {name: values[cell] for name, values in cells.items()}
    split.update({name: outcomes[j, outcome] for j, name in enumerate(names)})
    return split, counts
