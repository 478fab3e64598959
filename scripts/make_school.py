"""Make the embedded synthetic survey of pupils, the file of the course project.

Nobody in it exists, and neither do its schools and districts; all figures are invented. It is made to be unlike
health-survey: its traps are others. Seeded: the same bytes every time under the pinned versions.

kanon_lab/data/embedded/school-survey.csv.gz has a row per pupil who answered, as an office gets them: school by school,
in each school from the youngest to the oldest.

bus_card        number of the pupil's bus card, another one for each
school          code of the school
district        the district in which the school lies
family          number of the family; brothers and sisters who answered have the same
sex             girl, boy
age             in years on 1 January 2024
first_enrolled  the day on which the pupil first went to a school of the region: the first school day of the year of the
                sixth birthday, or, of those who came later, the day on which they did
home_language   language spoken at home
siblings        brothers and sisters, in the file or not
meals           paid or free, at the school's canteen
bullied         never, sometimes or often within the year
reading         points in a test of reading
weight          pupils of the school over those of them in the file

In each school that was drawn all pupils of a random part of the families answered. Those of one family are at one
school. Every family that speaks Ukrainian came under a scheme that pays for meals. Nothing is missing.

Run: python scripts/make_school.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from kanon_lab.files import csv_gz, write_bytes

NAME = "school-survey.csv.gz"
TARGET = Path(__file__).resolve().parents[1] / "kanon_lab" / "data" / "embedded" / NAME
SEED = 1209
YEAR = 2024  # ages are those of 1 January

# District: families of each of its schools, and share of pupils with free meals.
DISTRICTS = {
    "North": ([290, 250, 220, 160, 120, 50], 0.14),
    "East": ([330, 290, 220, 180, 90], 0.26),
    "South": ([330, 250, 220, 160, 110, 70], 0.34),
    "West": ([280, 230, 160, 110], 0.20),
    "Centre": ([370, 340, 290, 260, 210], 0.18),
    "Valley": ([210, 140, 90, 60, 40], 0.30),
}
FRACTIONS = (0.22, 0.45)  # of the families of a school; the smaller it is, the more
SMALL_SCHOOL = 400
# Language spoken at home: share of families by district, where it is not the same everywhere.
LANGUAGES = {
    "Spanish": {},
    "Romanian": {"": 0.04, "South": 0.10, "East": 0.06},
    "Arabic": {"": 0.03, "South": 0.08, "Valley": 0.06},
    "Ukrainian": {"": 0.004, "East": 0.05, "Centre": 0.03},
    "Georgian": {"West": 0.02},
}
CAME_LATER = {"Spanish": 0.03, "Romanian": 0.4, "Arabic": 0.4, "Ukrainian": 1.0, "Georgian": 0.8}
SCHEME = "Ukrainian"  # its families have free meals, all of them
SIBLINGS = [0.22, 0.47, 0.20, 0.07, 0.025, 0.01, 0.005]
YOUNGEST, OLDEST = 12, 17
AT_SCHOOL = [0.205, 0.205, 0.20, 0.195, 0.13, 0.065]  # shares of the ages; some leave at sixteen
# First school day of the year by the year in which it begins.
FIRST_DAYS = {2012: 10, 2013: 9, 2014: 10, 2015: 9, 2016: 8, 2017: 11, 2018: 10, 2019: 9, 2020: 14, 2021: 8, 2022: 8}

COLUMNS = """bus_card school district family sex age first_enrolled home_language siblings meals bullied reading
weight""".split()


def main() -> None:
    """Write the file and say what is in it."""
    survey = school_survey()
    write_bytes(TARGET, csv_gz(survey))
    print(f"{NAME}: {len(survey)} rows, {TARGET.stat().st_size / 1000:.0f} kB")


def school_survey() -> pd.DataFrame:
    """The survey, one pupil a row."""
    rng = np.random.default_rng(SEED)
    pupils = all_pupils(rng)
    pupils["first_enrolled"] = first_days(pupils, rng)
    pupils["meals"] = meals(pupils, rng)
    pupils["bullied"] = bullied(pupils, rng)
    pupils["reading"] = reading(pupils, rng)
    pupils["bus_card"] = rng.choice(np.arange(200_000, 900_000), len(pupils), replace=False)
    answered = pupils[drawn(pupils, rng)].copy()
    answered["weight"] = (
        (pupils["school"].value_counts() / answered["school"].value_counts())
        .loc[answered["school"]]
        .round(4)
        .to_numpy()
    )
    numbers, codes = np.unique(answered["family"], return_inverse=True)
    answered["family"] = rng.permutation(np.arange(1, len(numbers) + 1))[codes]
    mixed = answered.iloc[rng.permutation(len(answered))]
    return mixed.sort_values(["school", "age"], kind="stable", ignore_index=True)[COLUMNS]


def all_pupils(rng: np.random.Generator) -> pd.DataFrame:
    """The pupils of all schools: school, district, family, sex, age, language and siblings."""
    schools = [(district, size) for district, (sizes, _) in DISTRICTS.items() for size in sizes]
    codes = rng.permutation(np.arange(1, len(schools) + 1))  # a code does not tell the district by its order
    rows, family = [], 0
    for (district, size), code in zip(schools, codes, strict=True):
        shares = language_shares(district)
        for _ in range(size):
            family += 1
            language = rng.choice(list(LANGUAGES), p=shares)
            siblings = int(rng.choice(len(SIBLINGS), p=SIBLINGS))
            for age in ages(siblings, rng):
                rows.append((f"S{code:02d}", district, family, a_sex(rng), age, language, siblings))
    return pd.DataFrame(rows, columns="school district family sex age home_language siblings".split())


def language_shares(district: str) -> list[float]:
    """Shares of the languages in a district, that of Spanish being what the others leave."""
    others = [shares.get(district, shares.get("", 0.0)) for name, shares in LANGUAGES.items() if name != "Spanish"]
    return [1 - sum(others), *others]


def ages(siblings: int, rng: np.random.Generator) -> list[int]:
    """Ages of the children of a family who are at this school: one, and those siblings whom the years allow."""
    age = int(rng.choice(np.arange(YOUNGEST, OLDEST + 1), p=AT_SCHOOL))
    found = [age]
    for gap in rng.integers(1, 5, size=siblings) * rng.choice([-1, 1], size=siblings):
        other = found[0] + int(gap)
        if YOUNGEST <= other <= OLDEST and rng.random() < 0.8 and other not in found:
            found.append(other)
    return found


def a_sex(rng: np.random.Generator) -> str:
    """``"girl"`` or ``"boy"``, as likely."""
    return "girl" if rng.random() < 0.5 else "boy"


def first_days(pupils: pd.DataFrame, rng: np.random.Generator) -> np.ndarray:
    """The day of first enrolment in the region, as ISO text; those of a family who came later came together."""
    began = YEAR - 1 - pupils["age"] + 6
    usual = pd.to_datetime([f"{year}-09-{FIRST_DAYS[year]:02d}" for year in began])
    families = pupils.drop_duplicates("family").set_index("family")
    later = pd.Series(rng.random(len(families)) < families["home_language"].map(CAME_LATER), index=families.index)
    latest = pd.Timestamp(YEAR, 1, 1) - pd.to_timedelta(rng.integers(20, 1100, len(families)), "D")
    came = pupils["family"].map(pd.Series(latest, index=families.index))
    return np.where(pupils["family"].map(later), came.dt.strftime("%Y-%m-%d"), usual.strftime("%Y-%m-%d"))


def meals(pupils: pd.DataFrame, rng: np.random.Generator) -> np.ndarray:
    """Whether meals are free: for whole families, by district, siblings and language."""
    families = pupils.drop_duplicates("family").set_index("family")
    share = families["district"].map({district: share for district, (_, share) in DISTRICTS.items()})
    share = share + 0.06 * (families["siblings"] - 1) + 0.10 * families["home_language"].isin(["Romanian", "Arabic"])
    free = (rng.random(len(families)) < share) | (families["home_language"] == SCHEME)
    return np.where(pupils["family"].map(free), "free", "paid")


def bullied(pupils: pd.DataFrame, rng: np.random.Generator) -> np.ndarray:
    """How often the pupil was bullied: younger ones and newcomers more."""
    often = 0.035 + 0.008 * (OLDEST - pupils["age"]) + 0.05 * (pupils["home_language"] != "Spanish")
    uniform = rng.random(len(pupils))
    return np.select([uniform < often, uniform < often + 0.22], ["often", "sometimes"], "never")


def reading(pupils: pd.DataFrame, rng: np.random.Generator) -> np.ndarray:
    """Points in the test: by age, sex, meals, and the language at home; whole numbers."""
    points = 460 + 9 * (pupils["age"] - YOUNGEST) + 14 * (pupils["sex"] == "girl") - 25 * (pupils["meals"] == "free")
    points = points - 20 * (pupils["home_language"] != "Spanish") + rng.normal(0, 75, len(pupils))
    return np.rint(np.clip(points, 150, 800)).astype(int)


def drawn(pupils: pd.DataFrame, rng: np.random.Generator) -> np.ndarray:
    """Whether each pupil is in the survey: in each school a simple random sample of families."""
    least, most = FRACTIONS
    chosen = []
    for _, here in pupils.groupby("school", sort=True):
        families = here["family"].unique()
        fraction = most - (most - least) * min(len(families) / SMALL_SCHOOL, 1)
        chosen.extend(rng.choice(families, round(len(families) * fraction), replace=False))
    return pupils["family"].isin(chosen).to_numpy()


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    main()
