"""Make the embedded synthetic ENUSC.

Nobody in it exists. The model is the public file of the *Encuesta Nacional Urbana de Seguridad Ciudadana* 2019 (INE
Chile): the names of its columns, its regions, strata and sampling units and its frequencies, rounded, are the
parameters below; no row of it was used. What that file does not have (communes, households, education, activity,
income, children) is invented and plausible, no estimate. Seeded: the same bytes every time under the pinned versions.

The real file has one person of each household, chosen among those of 15 and over (its column Kish is 1 throughout),
so that its Fact_Pers is about Fact_Hog times those of 15 and over in the household. This one has whole households, a
third as many: Fact_Hog is three times the real one, Fact_Pers about Fact_Hog, and both keep the real regional totals.

kanon_lab/data/embedded/enusc-synthetic.csv.gz has a row per person, households in random order:

enc_region      region, 1 to 16
comuna          commune, C and four digits: those of the region and a number. No real code
VarStrat        stratum, numbered through the regions. Mostly one commune; the largest have two, some share one
Conglomerado    primary sampling unit, in one commune and one stratum
hogar           household
Fact_Hog        weight of the household: those of a region add up to its households
Fact_Pers       weight of the person: those of 15 and over add up to the region's, and to the country's by sex and age
rph_sexo        1 man, 2 woman
rph_edad        age in years
educacion       0 none yet, 1 primary, 2 secondary, 3 technical, 4 university, 5 postgraduate; 88 not known, 99 untold
actividad       0 under 15, 1 works, 2 looks for work, 3 studies, 4 home and care, 5 retired, 6 other
tam_hogar       persons in the household, all of them in the file
ingreso         income of the household, pesos a month to the nearest 10,000; empty where untold
VP_DC, VA_DC    victim in twelve months: the person; anyone of the household, or the household
P3_1_1          crime went up 1, stayed 2, went down 3; 88 not known, 99 untold
P8_1_1          an opinion of 16 answers; 77 and 85 are taken for answers, too; 88 not known, 99 untold
muj_*, hom_*    a woman (muj) or a man (hom) who feels unsafe in a bus (micro), in the streets (calles.barrio); 0, 1
rut             an identity number with a wrong check digit, so that it is nobody's

From VP_DC on, VA_DC apart, questions are for those of 15 and over: empty for children.

Run: python scripts/make_enusc.py     (scripts/compare_enusc.py then sets its frequencies beside the real ones)
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import norm

from kanon_lab.files import csv_gz, write_bytes

NAME = "enusc-synthetic.csv.gz"
TARGET = Path(__file__).resolve().parents[1] / "kanon_lab" / "data" / "embedded" / NAME
SEED = 2019

# Region: thousands of households and of persons of 15 and over; coefficient of variation of the strata's mean weights;
# shares of VA_DC and VP_DC; of those who feel unsafe in a bus, men and women, and in the streets, men and women.
REGIONS = {
    1: (100.3, 278.3, 0.0, 0.33, 0.091, 0.33, 0.51, 0.43, 0.49),
    2: (183.8, 506.6, 1.0, 0.18, 0.049, 0.20, 0.36, 0.35, 0.38),
    3: (83.5, 223.1, 0.7, 0.18, 0.065, 0.11, 0.18, 0.27, 0.43),
    4: (209.4, 569.7, 0.6, 0.19, 0.068, 0.13, 0.21, 0.23, 0.29),
    5: (589.3, 1446.2, 0.5, 0.21, 0.089, 0.36, 0.50, 0.27, 0.34),
    6: (233.0, 589.6, 0.6, 0.21, 0.083, 0.19, 0.29, 0.27, 0.27),
    7: (260.7, 630.1, 0.5, 0.17, 0.059, 0.25, 0.35, 0.27, 0.30),
    8: (538.4, 1338.8, 0.6, 0.20, 0.073, 0.45, 0.61, 0.29, 0.32),
    9: (264.8, 620.8, 0.8, 0.18, 0.078, 0.31, 0.43, 0.18, 0.22),
    10: (236.8, 547.7, 0.6, 0.16, 0.060, 0.22, 0.31, 0.19, 0.21),
    11: (37.5, 80.1, 0.2, 0.08, 0.045, 0.05, 0.03, 0.11, 0.17),
    12: (51.1, 125.4, 0.0, 0.11, 0.057, 0.08, 0.17, 0.08, 0.10),
    13: (2115.9, 5820.2, 1.1, 0.27, 0.117, 0.49, 0.66, 0.42, 0.50),
    14: (95.2, 231.4, 1.1, 0.16, 0.062, 0.19, 0.29, 0.16, 0.21),
    15: (43.1, 115.4, 0.0, 0.29, 0.084, 0.14, 0.28, 0.36, 0.41),
    16: (122.3, 291.0, 0.7, 0.20, 0.077, 0.29, 0.45, 0.26, 0.28),
}
HOUSEHOLDS, PERSONS, STRATA_CV, VA, VP = range(5)
ITEMS = {"insg_micro": 5, "insg_calles.barrio": 7}  # where their shares are: men, then women
# Sampling units of each stratum, the largest first.
UNITS = {
    **{1: [20, 13], 2: [9, 8, 5], 3: [13, 8], 4: [10, 10, 6, 4, 4], 5: [10, 7, 5, *[4] * 6, 3, 3]},
    **{6: [10, 6, 5, 4], 7: [13, 7, *[5] * 4], 8: [13, 6, *[5] * 5, 4, 4, 3], 9: [8, 5, 4, 3], 10: [10, 6, 5, 5]},
    **{11: [11, 5], 12: [14], 13: [10, 5, 5, *[4] * 18, *[3] * 13, *[2] * 7, 1], 14: [15, 14], 15: [18]},
    16: [16, 15, 6],
}
SMALLEST, LARGEST = 30, 50  # persons in a sampling unit
SPLIT_FROM, JOINED_TO = 13, 2  # sampling units of a stratum with two communes, and of one that shares its commune
UNIT_CV, HOUSEHOLD_CV = 0.45, 0.38  # of household weights: between sampling units of a stratum, and within them

ADULT = 15
BANDS = [30, 45, 60, 75]  # ages at which a band begins
# By sex and band: share of victims, and of those who feel unsafe in a bus and in the streets.
VICTIMS = [[0.086, 0.076, 0.065, 0.056, 0.046], [0.133, 0.109, 0.079, 0.069, 0.040]]
UNSAFE = {
    "insg_micro": [[0.33, 0.31, 0.32, 0.30, 0.25], [0.53, 0.46, 0.44, 0.40, 0.27]],
    "insg_calles.barrio": [[0.28, 0.34, 0.33, 0.28, 0.19], [0.40, 0.40, 0.37, 0.30, 0.18]],
}
UNSAFE_TOGETHER = 0.45  # correlation between the two before they are cut into yes and no
# Persons of 15 and over, weighted, per thousand: men and women from 15 to 19, 20 to 24, ... 75 to 79, 80 and over.
PYRAMID = [
    [45, 51, 50, 45, 38, 38, 37, 36, 37, 32, 33, 19, 12, 13],
    [38, 52, 45, 40, 37, 38, 42, 46, 43, 42, 32, 22, 19, 17],
]
TREND = {1: [0.799, 0.868], 2: [0.172, 0.116], 3: [0.016, 0.007], 88: [0.012, 0.009], 99: [0.001, 0.0]}
OPINION = dict(zip([*range(1, 17), 77, 85, 88, 99], [
    *[0.281, 0.045, 0.050, 0.043, 0.042, 0.043, 0.032, 0.006, 0.012, 0.012, 0.029, 0.111, 0.004, 0.048, 0.006, 0.071],
    *[0.013, 0.134, 0.013, 0.004],
], strict=True))  # fmt: skip

# From here on invented, no figures of the survey. Kinds of household, and their shares.
KINDS = {
    "single": 0.07,
    "older single": 0.06,
    "couple": 0.05,
    "older couple": 0.10,
    "couple with children": 0.38,
    "lone parent": 0.13,
    "with a grandparent": 0.18,
    "sharing": 0.03,
}
OLDEST = 104
WEALTH = {1: 0.1, 2: 0.3, 3: 0.1, 4: -0.1, 7: -0.2, 8: -0.1, 9: -0.2, 10: -0.1, 11: 0.1, 12: 0.2, 13: 0.2, 16: -0.25}
EDUCATION_UNKNOWN = {0: 0.986, 88: 0.010, 99: 0.004}
# Highest level of those who have left school, by age at least: none, primary, secondary, technical, university, more.
LEVELS = {
    18: [0.002, 0.03, 0.48, 0.18, 0.308, 0.0],
    25: [0.004, 0.06, 0.42, 0.19, 0.276, 0.05],
    40: [0.007, 0.14, 0.46, 0.14, 0.203, 0.05],
    55: [0.02, 0.30, 0.43, 0.09, 0.14, 0.02],
    70: [0.06, 0.49, 0.32, 0.04, 0.08, 0.01],
}
# Works, looks for work, studies, home and care, retired, other, by age at least: men and women.
ACTIVITY = {
    15: [[0.04, 0.02, 0.92, 0.0, 0.0, 0.02], [0.03, 0.01, 0.93, 0.02, 0.0, 0.01]],
    18: [[0.43, 0.09, 0.43, 0.01, 0.0, 0.04], [0.32, 0.08, 0.46, 0.10, 0.0, 0.04]],
    25: [[0.85, 0.07, 0.04, 0.01, 0.0, 0.03], [0.66, 0.06, 0.05, 0.20, 0.0, 0.03]],
    50: [[0.82, 0.05, 0.0, 0.01, 0.05, 0.07], [0.55, 0.03, 0.0, 0.33, 0.03, 0.06]],
    60: [[0.70, 0.04, 0.0, 0.01, 0.17, 0.08], [0.36, 0.02, 0.0, 0.35, 0.21, 0.06]],
    65: [[0.34, 0.02, 0.0, 0.01, 0.57, 0.06], [0.17, 0.01, 0.0, 0.27, 0.50, 0.05]],
    75: [[0.09, 0.0, 0.0, 0.01, 0.84, 0.06], [0.03, 0.0, 0.0, 0.17, 0.74, 0.06]],
}
INCOME_UNTOLD = 0.12

COLUMNS = """enc_region comuna VarStrat Conglomerado hogar Fact_Hog Fact_Pers rph_sexo rph_edad educacion actividad
tam_hogar ingreso VP_DC VA_DC P3_1_1 P8_1_1 muj_insg_micro hom_insg_micro muj_insg_calles.barrio
hom_insg_calles.barrio rut""".split()


def main() -> None:
    """Write the file and say what is in it."""
    write_bytes(TARGET, csv_gz(enusc()))
    print(f"{NAME}: {TARGET.stat().st_size / 1000:.0f} kB")


def enusc() -> pd.DataFrame:
    """The synthetic ENUSC, one person a row."""
    rng = np.random.default_rng(SEED)
    persons = people(sampling_units(rng), rng)
    persons["educacion"] = schooling(persons, rng)
    persons["actividad"] = activities(persons, rng)
    persons["ingreso"] = incomes(persons, rng)
    persons["Fact_Pers"] = person_weights(persons)
    persons["VA_DC"] = struck(persons, rng)
    adults = persons[persons["rph_edad"] >= ADULT].copy()
    adults["VP_DC"] = victims(adults, rng)
    answers = opinions(adults, rng).assign(VP_DC=adults["VP_DC"], **unsafe(adults, rng))
    persons = persons.join(answers.astype("Int64"))
    persons["rut"] = ruts(len(persons), rng)
    # Only now, so that what was not told still bears on the rest.
    code = rng.choice(list(EDUCATION_UNKNOWN), len(persons), p=list(EDUCATION_UNKNOWN.values()))
    persons["educacion"] = np.where((code > 0) & (persons["rph_edad"] >= ADULT), code, persons["educacion"])
    told = rng.random(persons["hogar"].max() + 1) >= INCOME_UNTOLD
    persons["ingreso"] = persons["ingreso"].astype("Int64").where(told[persons["hogar"]])
    return persons[COLUMNS]


def sampling_units(rng: np.random.Generator) -> pd.DataFrame:
    """Region, commune, stratum, mean weight, wealth of the commune and victimisation of each sampling unit."""
    rows, stratum, wealth = [], 0, 0.0
    for region, sizes in UNITS.items():
        commune, shared = 0, False
        for size in sizes:
            stratum += 1
            level = REGIONS[region][HOUSEHOLDS] * lognormal(rng, REGIONS[region][STRATA_CV])
            for unit in range(size):
                first = unit == 0 or (size >= SPLIT_FROM and unit == size // 2)
                if first and not (shared and size <= JOINED_TO):
                    commune += 1
                    wealth = WEALTH.get(region, 0.0) + rng.normal(0, 0.35 if region == 13 else 0.2)
                weight = level * lognormal(rng, UNIT_CV)
                rows.append((region, f"C{region:02d}{commune:02d}", stratum, weight, wealth, rng.normal()))
            shared = size <= JOINED_TO and not shared
    units = pd.DataFrame(rows, columns="enc_region comuna VarStrat weight wealth harm".split())
    return units.assign(Conglomerado=np.arange(1, len(units) + 1))


def lognormal(rng: np.random.Generator, variation: float, size: int | None = None) -> np.ndarray:
    """Factors of mean 1 with this coefficient of variation."""
    variance = np.log(1 + variation**2)
    return rng.lognormal(-variance / 2, np.sqrt(variance), size)


def people(units: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """The persons of whole households, `SMALLEST` to `LARGEST` a sampling unit, with the weight of their household."""
    rows, household = [], 0
    for unit in units["Conglomerado"]:
        persons, enough = 0, rng.triangular(SMALLEST, LARGEST - 7, LARGEST)
        while persons < enough:
            members = household_members(rng.choice(list(KINDS), p=list(KINDS.values())), rng)
            if persons + len(members) <= LARGEST:
                rows += [(unit, household, min(age, OLDEST), sex, len(members)) for age, sex in members]
                persons, household = persons + len(members), household + 1
    persons = pd.DataFrame(rows, columns="Conglomerado hogar rph_edad rph_sexo tam_hogar".split()).merge(units)
    raw = persons["weight"] * lognormal(rng, HOUSEHOLD_CV, household)[persons["hogar"]]
    totals = (raw / persons["tam_hogar"]).groupby(persons["enc_region"]).sum()
    persons["Fact_Hog"] = (raw * persons["enc_region"].map(figures(HOUSEHOLDS) * 1000 / totals)).round(4)
    persons["hogar"] = rng.permutation(np.arange(1, household + 1))[persons["hogar"]]
    return persons.sort_values("hogar", kind="stable", ignore_index=True)


def figures(which: int) -> pd.Series:
    """One figure of `REGIONS` by region."""
    return pd.Series({region: row[which] for region, row in REGIONS.items()})


def household_members(kind: str, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Age and sex (1 man, 2 woman) of the members of one household."""
    if kind == "single":
        return [(int(rng.integers(21, 62)), a_sex(rng, women=0.42))]
    if kind == "older single":
        return [(int(rng.integers(60, 96)), a_sex(rng, women=0.66))]
    if kind == "sharing":
        return [(int(rng.integers(18, 33)), a_sex(rng)) for _ in range(rng.integers(2, 5))]
    if kind == "couple":
        return couple(int(rng.integers(21, 50)), rng)
    if kind == "older couple":
        return couple(int(rng.integers(50, 85)), rng)
    mother = int(rng.integers(24, 68))
    parents = couple(mother, rng)
    if kind == "lone parent":
        parents = parents[:1] if rng.random() < 0.85 else [(max(parents[1][0], mother), 1)]
    elders = [(mother + int(rng.integers(18, 36)), a_sex(rng, women=0.7))] if kind == "with a grandparent" else []
    return parents + children(mother, rng) + elders


def a_sex(rng: np.random.Generator, women: float = 0.5) -> int:
    """2, a woman, with the probability given, else 1."""
    return 2 if rng.random() < women else 1


def couple(age: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """A couple whose first partner, a woman, has this age; one in fifty is of one sex."""
    return [
        (age, 2),
        (max(19, age + int(np.rint(np.clip(rng.normal(2.5, 4), -4, 15)))), 2 if rng.random() < 0.02 else 1),
    ]


def children(mother: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """One to four children at home, born when their mother was 17 to 44; those of age leave by and by."""
    eldest = mother - int(np.clip(np.rint(rng.normal(26, 5)), 17, min(mother, 40)))
    gaps = rng.integers(2, 7, size=rng.choice(4, p=[0.32, 0.41, 0.20, 0.07]))
    ages = eldest - np.concatenate([[0], gaps.cumsum()])
    ages = ages[(ages >= 0) & (mother - ages <= 44)]
    home = ages[rng.random(len(ages)) > (ages - 20) / 17]
    return [(int(age), a_sex(rng)) for age in (home if len(home) else [min(ages[-1], 36)])]


def drawn(table: dict[int, list], persons: pd.DataFrame, uniforms: np.ndarray, tilt: np.ndarray) -> np.ndarray:
    """Column of a table of shares by age and perhaps sex, multiplied by `tilt`; -1 below its first age."""
    ages = np.searchsorted(list(table), persons["rph_edad"], side="right") - 1
    shares = np.array(list(table.values()))
    shares = (shares[ages] if shares.ndim == 2 else shares[ages, persons["rph_sexo"] - 1]) * tilt
    return np.where(ages < 0, -1, chosen(shares, uniforms))


def chosen(shares: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
    """A column for each row, by the shares in it, which need not add up to 1, and a number from 0 to 1."""
    steps = shares.cumsum(axis=1) / shares.sum(axis=1, keepdims=True)
    return (uniforms[:, None] > steps[:, :-1]).sum(axis=1)


def schooling(persons: pd.DataFrame, rng: np.random.Generator) -> np.ndarray:
    """Level of education by cohort; alike within a household, higher in a commune with more wealth."""
    together = rng.normal(size=persons["hogar"].max() + 1)[persons["hogar"]]
    scores = 0.65 * together + 0.76 * rng.normal(size=len(persons)) + 0.8 * persons["wealth"]
    level = drawn(LEVELS, persons, norm.cdf(scores), np.ones(6))
    return np.where(level < 0, np.searchsorted([6, 14], persons["rph_edad"], side="right"), level)


def activities(persons: pd.DataFrame, rng: np.random.Generator) -> np.ndarray:
    """Activity by age, sex and education; 0 for children."""
    schooled, young = persons["educacion"] >= 3, persons["rph_edad"] < 25
    tilt = np.ones((len(persons), 6))
    tilt[:, 2] = np.select([schooled & young, persons["educacion"] <= 1], [2.0, 0.1], 1.0)
    tilt[:, 3] = np.select([schooled, persons["educacion"] <= 1], [0.5, 1.4], 1.0)
    tilt[persons["rph_edad"] < 18] = 1
    return 1 + drawn(ACTIVITY, persons, rng.random(len(persons)), tilt)


def incomes(persons: pd.DataFrame, rng: np.random.Generator) -> np.ndarray:
    """Income of each person's household: what its members earn by education and commune, and a lognormal factor."""
    log = 12.55 + 0.3 * persons["educacion"] + persons["wealth"] + rng.normal(0, 0.3, len(persons))
    part = np.select([persons["actividad"] == 1, persons["actividad"] == 5], [1.0, 0.5], 0.05)
    total = (np.exp(log) * part).groupby(persons["hogar"]).transform("sum")
    total = total * lognormal(rng, 0.4, persons["hogar"].max() + 1)[persons["hogar"]]
    return (total.clip(lower=60_000) / 10_000).round().astype(int) * 10_000


def person_weights(persons: pd.DataFrame) -> np.ndarray:
    """`Fact_Hog` raked, from 15 on, to the persons of each region and of each sex and age; children as their region."""
    adult = persons["rph_edad"] >= ADULT
    totals, shares = figures(PERSONS).to_numpy() * 1000, np.array(PYRAMID).ravel()
    ages = np.minimum((persons["rph_edad"] - ADULT) // 5, 13) + 14 * (persons["rph_sexo"] - 1)
    margins = [(ages[adult], shares / shares.sum() * totals.sum()), (persons.loc[adult, "enc_region"] - 1, totals)]
    weights = persons["Fact_Hog"].copy()
    weights[adult] = raked(weights[adult], margins)
    regions = persons["enc_region"]
    ratio = weights[adult].groupby(regions).sum() / persons.loc[adult, "Fact_Hog"].groupby(regions).sum()
    return weights.where(adult, weights * regions.map(ratio)).round(4)


def raked(values: pd.Series, margins: list[tuple], most: float = np.inf) -> np.ndarray:
    """Values multiplied, group by group and in turns, until they add up to each margin's totals; none above `most`."""
    values = values.to_numpy(dtype=float)
    for _ in range(30):
        for codes, totals in margins:
            values = np.minimum(values * (totals / np.bincount(codes, values, len(totals)))[codes], most)
    return values


def struck(persons: pd.DataFrame, rng: np.random.Generator) -> pd.Series:
    """`VA_DC`: by region, more often in some communes, with more income or weight (large cities), among the young."""
    homes = persons.groupby("hogar")[["enc_region", "harm", "wealth", "ingreso", "Fact_Hog"]].first()
    homes["rph_edad"] = persons.groupby("hogar")["rph_edad"].mean()
    income = np.log(homes["ingreso"]) - np.log(homes["ingreso"]).mean()
    leaning = 0.1 * homes["harm"] - 0.3 * homes["wealth"] + 0.12 * income - 0.008 * homes["rph_edad"]
    leaning = np.exp(leaning + 0.05 * np.log(homes["Fact_Hog"]))
    regions = homes["enc_region"] - 1
    chances = raked(leaning, [(regions, np.bincount(regions) * figures(VA).to_numpy())], most=0.95)
    homes["VA_DC"] = (evenly(rng.normal(size=len(homes)), regions) < chances).astype(int)
    return persons["hogar"].map(homes["VA_DC"])


def evenly(scores: np.ndarray, groups: pd.Series) -> np.ndarray:
    """Scores as numbers from 0 to 1, equally spaced within each group, so that shares come out near their chances."""
    ranks = pd.Series(np.asarray(scores), index=groups.index).groupby(groups)
    return ((ranks.rank() - 0.5) / ranks.transform("size")).to_numpy()


def bands(adults: pd.DataFrame) -> pd.Series:
    """Sex and band of age as one number, 0 to 9."""
    return np.searchsorted(BANDS, adults["rph_edad"], side="right") + 5 * (adults["rph_sexo"] - 1)


def victims(adults: pd.DataFrame, rng: np.random.Generator) -> np.ndarray:
    """`VP_DC`: some of those in a household struck, by region, sex and age."""
    regions, ages = adults["enc_region"] - 1, bands(adults)
    hit = adults["VA_DC"] == 1
    by_age, by_region = np.bincount(ages) * np.ravel(VICTIMS), np.bincount(regions) * figures(VP).to_numpy()
    chances = raked(hit[hit], [(ages[hit], by_age), (regions[hit], by_region)], most=0.95)
    found = hit.astype(int)
    found[hit] = (evenly(rng.normal(size=hit.sum()), regions[hit]) < chances).astype(int)
    return found


def unsafe(adults: pd.DataFrame, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """The items of insecurity, those of women 0 for men and the reverse, by region, sex, age; more among victims."""
    ages, places = bands(adults), adults["enc_region"] - 1 + 16 * (adults["rph_sexo"] - 1)
    common = np.sqrt(UNSAFE_TOGETHER) * rng.normal(size=len(adults))
    found = {}
    for item, column in ITEMS.items():
        by_age = np.bincount(ages) * np.ravel(UNSAFE[item])
        by_place = np.bincount(places) * np.concatenate([figures(column), figures(column + 1)])
        leaning = np.exp(0.2 * adults["harm"] + 0.25 * adults["VP_DC"])
        chances = raked(leaning, [(ages, by_age), (places, by_place)], most=0.95)
        scores = common + np.sqrt(1 - UNSAFE_TOGETHER) * rng.normal(size=len(adults))
        felt = evenly(scores, places) < chances
        for prefix, sex in (("muj", 2), ("hom", 1)):
            found[f"{prefix}_{item}"] = (felt & (adults["rph_sexo"] == sex)).astype(int)
    return found


def opinions(adults: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """`P3_1_1` by sex, and `P8_1_1`, where 85, 88 and 99 are commoner among the old and 85 where crime did not rise."""
    trend = np.array(list(TREND.values()))[:, adults["rph_sexo"] - 1].T
    trend = np.array(list(TREND))[chosen(trend, rng.random(len(adults)))]
    shares = np.tile(list(OPINION.values()), (len(adults), 1))
    shares[:, -3:] *= np.where(adults["rph_edad"] >= 75, 1.8, 0.95)[:, None]
    shares[:, -3] *= np.where(trend == 1, 0.92, 1.4)
    opinion = np.array(list(OPINION))[chosen(shares, rng.random(len(adults)))]
    return pd.DataFrame({"P3_1_1": trend, "P8_1_1": opinion}, index=adults.index)


def ruts(size: int, rng: np.random.Generator) -> list[str]:
    """Different numbers, each with a check digit that is not its own (modulo 11)."""
    numbers = 5_000_000 + rng.choice(22_000_000, size, replace=False)
    right = -sum((numbers // 10**place % 10) * (2 + place % 6) for place in range(8)) % 11
    wrong = (right + rng.integers(1, 11, size)) % 11
    return [f"{number}-{'0123456789K'[digit]}" for number, digit in zip(numbers, wrong, strict=True)]


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    main()
