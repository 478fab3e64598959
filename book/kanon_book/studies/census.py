"""A synthetic census of Catalonia in 1991, fitted to the counts of Garín i Ramírez (1996). Nobody in it exists.

Persons are not stored: they are drawn from a seed and a file of parameters, variable after variable. Counts of persons
are split by multinomial draws along a tree (region, sex and age, birthplace, marital status, study, activity,
occupation), so that what exists at the end is one row for each occupied combination, with its persons.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import resources

import numpy as np
import pandas as pd

from kanon_lab.arguments import check_choice, is_number
from kanon_lab.errors import OptionError, shortened
from kanon_lab.roles import check_seed

#: The columns of a record, in the order of the study.
VARIABLES = tuple("region province age birthplace sex marital_status occupation study_level activity".split())
#: The identification key of the study (section 4.2).
CATALAN_KEYS = tuple(name for name in VARIABLES if name != "province")
# Keeps the random numbers of samples apart from those of the census, whatever the two seeds are.
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

MAN, WOMAN = 1, 6
#: Nobody is drawn above it.
OLDEST = 104
_AGES = np.arange(OLDEST + 1)
# The census is of 1 March 1991: of those who reach an age in 1995 two in twelve were four years younger then, and the
# others, born later in the year, five. What persons did is taken from the age that most of them had.
_BORN_BEFORE_MARCH = 2 / 12
_THEN = _AGES - 5
# Places of codes in tables.
_WORKING, _STUDENT, _HOUSEWORK = 0, 6, 7
_OUTSIDE = 2
_FARMING, _TEXTILE = 14, 16

# One step: outcomes (a row a variable, a column an outcome), a table of chances, and the row of it for each cell.
Step = tuple[np.ndarray, np.ndarray, np.ndarray]


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
        """Draw persons, each with the same chance `fraction`, above 0 and below 1: one row a person, in random order.

        With the scheme ``bernoulli`` each is drawn independently of the others, as the study did (section 4.1); with
        ``fixed`` they are a simple random sample of ``fraction`` of the persons, rounded.
        """
        if not is_number(fraction) or not 0 < fraction < 1:
            raise OptionError(f"fraction must be a number above 0 and below 1, not {shortened(repr(fraction))}")
        check_choice(scheme, "scheme", ("bernoulli", "fixed"))
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

    Its parameters (by default `census_parameters`) were fitted to the counts of unique records in Taula 1 of Garín i
    Ramírez (1996), and to no record.

    Parameters
    ----------
    seed : int
    parameters : mapping, optional

    Returns
    -------
    Census

    Notes
    -----
    Ages are those that persons reach in 1995, as in the study (section 4.2). The youngest, born in January and February
    of 1991, reach 4: the census was on 1 March.

    Examples
    --------
    >>> census = kanon_book.studies.catalan_census(1991)
    >>> census.persons
    6059494
    >>> list(census.sample(0.001, seed=1))
    ['region', 'province', 'age', 'birthplace', 'sex', 'marital_status', 'occupation', 'study_level', 'activity']
    """
    parameters = census_parameters() if parameters is None else parameters
    chances = _Chances(parameters)
    rng = np.random.default_rng(check_seed(seed))
    cells = {"region": chances.regions}
    persons = chances.region_persons
    for names, chances_of in chances.steps.items():
        cells, persons = _split(cells, persons, names, chances_of(cells), rng)
    cells["province"] = chances.province_of[cells["region"]]
    frame = pd.DataFrame({name: cells[name].astype(np.uint8) for name in VARIABLES})
    return Census(frame.assign(persons=persons.astype(np.int32)), seed)


def census_parameters() -> dict:
    """The parameters of `catalan_census`: what was published, what is assumed and what was fitted.

    Examples
    --------
    >>> sum(persons for _, _, persons in kanon_book.studies.census_parameters()["regions"].values())
    6059494
    """
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

    Examples
    --------
    >>> kanon_book.studies.catalan_codes().query("variable == 'sex'")["label"].tolist()
    ['man', 'woman']
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
    cells: dict[str, np.ndarray], persons: np.ndarray, names: tuple[str, ...], step: Step, rng: np.random.Generator
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Split the persons of each cell over the outcomes of one more step, with the chances of ``table[row]``."""
    outcomes, table, row = step
    # Blocks, so that the counts of all cells and outcomes are never in memory together.
    block = max(1, 4_000_000 // table.shape[1])
    columns = []
    for start in range(0, len(row), block):
        part = slice(start, start + block)
        counts = rng.multinomial(persons[part], table[row[part]])
        cell, outcome = np.nonzero(counts)
        columns.append((cell + start, outcome, counts[cell, outcome]))
    cell, outcome, counts = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    split = {name: values[cell] for name, values in cells.items()}
    split.update({name: outcomes[j, outcome] for j, name in enumerate(names)})
    return split, counts


class _Chances:
    """Chances of the variables, one after the other, from the parameters of ``catalonia-1991.yml``."""

    def __init__(self, parameters: Mapping) -> None:
        self._parameters = parameters
        self._fitted = parameters["fitted"]
        self._schooling = np.array(parameters["occupation"]["schooling"], dtype=float)
        regions = parameters["regions"]
        self.regions = np.array(list(regions), dtype=np.uint8)
        self.region_persons = np.array([persons for _, _, persons in regions.values()], dtype=np.int64)
        self.province_of = np.zeros(max(regions) + 1, dtype=np.uint8)
        self.province_of[self.regions] = [province for _, province, _ in regions.values()]

        #: The variables in the order in which they are drawn, and what gives their chances for the cells so far.
        self.steps: dict[tuple[str, ...], Callable[[Mapping[str, np.ndarray]], Step]] = {
            ("sex", "age"): self._sex_and_age,
            ("birthplace",): self._birthplace,
            ("marital_status",): self._marital_status,
            ("study_level",): self._study_level,
            ("activity",): self._activity,
            ("occupation",): self._occupation,
        }

    def _sex_and_age(self, cells: Mapping[str, np.ndarray]) -> Step:
        pyramid = np.array(self._parameters["pyramid"], dtype=float)
        women = np.array(self._parameters["women"]) / 100
        both = np.concatenate([_reached(pyramid * (1 - women)), _reached(pyramid * women)])
        outcomes = np.array([np.repeat([MAN, WOMAN], len(_AGES)), np.tile(_AGES, 2)], dtype=np.uint8)
        return outcomes, _normal(both[None, :]), np.zeros(len(cells["region"]), dtype=np.intp)

    def _birthplace(self, cells: Mapping[str, np.ndarray]) -> Step:
        settings = self._parameters["birthplace"]
        elsewhere = _curves(settings)
        by_age = np.column_stack([100 - elsewhere.sum(axis=1), elsewhere])
        odds = np.ones((len(self.province_of), 1, by_age.shape[1]))
        odds[:, 0, _OUTSIDE] = self._of_regions(settings["odds"])
        table = _normal(_normal(by_age * odds) ** self._fitted["sharpness_birthplace"])
        return _codes(3), *_flat(table, cells["region"], cells["age"])

    def _marital_status(self, cells: Mapping[str, np.ndarray]) -> Step:
        table = self._finished(self._by_sex("marital_status"), "marital_status")
        return _codes(5), *_flat(table, _woman(cells), cells["age"])

    def _study_level(self, cells: Mapping[str, np.ndarray]) -> Step:
        settings = self._parameters["study_level"]
        base = _curves(settings)
        odds = np.ones((2, 3, *base.shape))
        for name, factors in settings["women"].items():
            if name != "ages":
                odds[1, ..., _place(name)] = np.interp(_THEN, settings["women"]["ages"], factors)
        for name, factor in settings["born_outside"].items():
            odds[:, _OUTSIDE, _THEN >= 25, _place(name)] *= factor
        table = self._finished(base * odds, "study_level")
        return _codes(15), *_flat(table, _woman(cells), cells["birthplace"] - 1, cells["age"])

    def _activity(self, cells: Mapping[str, np.ndarray]) -> Step:
        settings = self._parameters["activity"]
        table = np.repeat(self._by_sex("activity")[:, None], 2, axis=1)
        # Half of the odds to each side, so that the average of all women stays about where it was.
        half = np.sqrt(settings["married_housework"])
        table[1, 0, :, _HOUSEWORK] /= half
        table[1, 1, :, _HOUSEWORK] *= half
        odds = np.ones((len(self._schooling), *table.shape[2:]))
        odds[:, (_THEN >= 16) & (_THEN < 32), _STUDENT] = np.exp(settings["study_longer"] * self._schooling)[:, None]
        odds[:, _THEN >= 25, _WORKING] = np.exp(settings["work_more"] * self._schooling)[:, None]
        table = self._finished(table[:, :, None] * odds, "activity")
        married = (cells["marital_status"] > 1).astype(np.intp)
        return _codes(10), *_flat(table, _woman(cells), married, cells["study_level"] - 1, cells["age"])

    def _occupation(self, cells: Mapping[str, np.ndarray]) -> Step:
        settings = self._parameters["occupation"]
        men, women, asks = np.array(list(settings["shares"].values()), dtype=float).T
        tie = np.exp(self._fitted["schooling"] * np.outer(self._schooling, asks))
        odds = np.ones((len(self.province_of), len(asks)))
        odds[:, _FARMING] = self._of_regions(settings["farming"])
        odds[:, _TEXTILE] = self._of_regions(settings["textile"])
        table = np.stack([men, women])[:, None, None] * tie[:, None] * odds
        table = _normal(_normal(table) ** self._fitted["sharpness_occupation"])
        strays = self._fitted["strays_occupation"]
        table = (1 - strays) * table + strays / table.shape[-1]
        place = (_woman(cells), cells["study_level"] - 1, cells["region"])
        works, row = _flat(np.insert(table, table.shape[-1], 0, axis=-1), *place)
        none = np.eye(1, works.shape[1], works.shape[1] - 1)
        # A few of those who have left work are counted with the occupation that they had.
        left = self._fitted["after_work"] * works + (1 - self._fitted["after_work"]) * none
        has_left = np.isin(cells["activity"], settings["left_work"])
        row = np.where(has_left, len(works) + row, row)
        nothing = ~has_left & ~np.isin(cells["activity"], settings["activities"])
        return _codes(20), np.concatenate([works, left, none]), np.where(nothing, 2 * len(works), row)

    def _by_sex(self, name: str) -> np.ndarray:
        """Curves of men and of women, shape (2, ages, codes)."""
        settings = self._parameters[name]
        return np.stack([_curves({"ages": settings["ages"], **settings[sex]}) for sex in ("men", "women")])

    def _of_regions(self, odds: Mapping[int, float]) -> np.ndarray:
        """Odds by region, 1 where none are given, to the power that was fitted."""
        factors = np.ones(len(self.province_of))
        factors[list(odds)] = list(odds.values())
        return factors ** self._fitted["regions"]

    def _finished(self, table: np.ndarray, name: str) -> np.ndarray:
        """Chances (..., ages, codes), sharper or flatter as fitted; a few strays have any code that they may have."""
        table = _normal(_normal(table) ** self._fitted[f"sharpness_{name}"])
        if f"elders_{name}" in self._fitted:
            elders = table[..., _THEN >= 60, :] ** self._fitted[f"elders_{name}"]
            table[..., _THEN >= 60, :] = _normal(elders)
        strays = self._fitted[f"strays_{name}"]
        return (1 - strays) * table + strays * _normal((table > 0).astype(float))


def _reached(persons: np.ndarray) -> np.ndarray:
    """Persons by the single age that they reach in 1995, from those by five-year group on census day in 1991."""
    from scipy.interpolate import PchipInterpolator

    upto = np.concatenate([[0], np.cumsum(persons)])
    last = 5 * len(persons)
    single = np.diff(PchipInterpolator(np.arange(0, last + 1, 5), upto)(np.arange(last + 1)))
    return _BORN_BEFORE_MARCH * np.pad(single, (4, 1)) + (1 - _BORN_BEFORE_MARCH) * np.pad(single, (5, 0))


def _curves(settings: Mapping) -> np.ndarray:
    """Curves over single ages, shape (ages, codes), straight between the ages named."""
    curves = [curve for name, curve in settings.items() if name[0].isdigit()]
    return np.column_stack([np.interp(_THEN, settings["ages"], curve) for curve in curves])


def _place(name: str) -> int:
    """Place in a table of a code such as "9 upper secondary"."""
    return int(name.partition(" ")[0]) - 1


def _codes(n: int) -> np.ndarray:
    return np.arange(1, n + 1, dtype=np.uint8)[None, :]


def _woman(cells: Mapping[str, np.ndarray]) -> np.ndarray:
    return (cells["sex"] == WOMAN).astype(np.intp)


def _normal(table: np.ndarray) -> np.ndarray:
    """Chances that add up to 1 in the last dimension; zeros where there is nothing to add up."""
    total = table.sum(axis=-1, keepdims=True)
    return table / np.where(total > 0, total, 1)


def _flat(table: np.ndarray, *places: Iterable[int]) -> tuple[np.ndarray, np.ndarray]:
    """A table of chances in two dimensions, and the row of it for each cell."""
    row = np.ravel_multi_index([np.asarray(place, dtype=np.intp) for place in places], table.shape[:-1])
    return table.reshape(-1, table.shape[-1]), row
