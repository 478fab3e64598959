"""Make the embedded synthetic microdata: a register of persons, a survey of some of its households, and the truth.

Nobody in them exists. Writes three files to kanon_lab/data/embedded; seeded: the same bytes every time under the pinned
versions.

town-register.csv.gz
    A row per person on 1 January 2020: person (number), name, postcode, birth_date, age, sex, household (number).
    Households of singles, couples, children, lone parents and grandparents in twelve postcodes of the provinces of
    León, Madrid and Salamanca, those of the example in the AEPD's note among them. Names are drawn from common first
    names and surnames, independently of everything but the sex.
health-survey.csv.gz
    A row per person of the households drawn, in random order: postcode, birth_date, age and sex as in the register,
    education, household (new numbers), weight, cholesterol, diagnosis (the main one) and income (of the household,
    euros a month). In each postcode a simple random sample of households with a fraction of its own; the weight of a
    person is the persons of the postcode in the register over those in the survey, so weights add up to the register's
    persons in every postcode. Education is missing where it was not told, and "under 16" where it was not asked;
    income is missing for households that did not tell it. Nothing else is missing, and nothing is wrong.
health-survey-truth.csv.gz
    Who the persons of the survey are, so that an attack can be scored: row (of the survey, from 0) and person.

Run: python scripts/make_survey.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from kanon_lab.files import csv_gz, write_bytes

EMBEDDED = Path(__file__).resolve().parents[1] / "kanon_lab" / "data" / "embedded"
SEED = 37003
YEAR = 2020  # ages are those of 1 January

# Postcode: households in the register, and the fraction of them in the survey.
POSTCODES = {
    "24002": (240, 0.27),
    "24005": (190, 0.25),
    "24400": (110, 0.35),
    "24700": (60, 0.50),
    "28013": (330, 0.24),
    "28045": (420, 0.17),
    "28100": (260, 0.22),
    "28108": (230, 0.20),
    "37001": (170, 0.30),
    "37003": (210, 0.30),
    "37007": (130, 0.30),
    "37891": (50, 0.50),
}
# Kinds of household, and their shares.
KINDS = {
    "single": 0.09,
    "older single": 0.15,
    "couple": 0.07,
    "older couple": 0.18,
    "couple with children": 0.35,
    "lone parent": 0.09,
    "with a grandparent": 0.05,
    "sharing": 0.02,
}
CHILDREN = [0.44, 0.43, 0.10, 0.03]  # one to four
OLDEST = 102

COLUMNS = "postcode birth_date age sex education household weight cholesterol diagnosis income".split()
EDUCATION = ["no schooling", "primary", "lower secondary", "upper secondary", "vocational", "university"]
NOT_ASKED, ASKED_FROM = "under 16", 16
# Shares of the levels by age: below 25, 45, 65 and above.
EDUCATION_SHARES = {
    25: [0.01, 0.04, 0.33, 0.35, 0.17, 0.10],
    45: [0.01, 0.05, 0.25, 0.16, 0.22, 0.31],
    65: [0.02, 0.13, 0.31, 0.17, 0.15, 0.22],
    OLDEST + 1: [0.14, 0.45, 0.18, 0.09, 0.05, 0.09],
}
EDUCATION_UNTOLD, INCOME_UNTOLD = 0.02, 0.05
DIAGNOSES = ["no diagnosis", "hypertension", "diabetes", "asthma", "arthritis", "depression", "cancer", "HIV"]

WOMEN = """María Carmen Josefa Isabel Ana Laura Cristina Marta Dolores Lucía Pilar Elena Sara Paula Raquel Rosa Teresa
Beatriz Silvia Nuria Patricia Julia Irene Andrea Rocío Mónica Alba Ángela Sonia Sandra Alicia Susana Marina Yolanda
Natalia Eva Inmaculada Esther Claudia Verónica""".split()
MEN = """Antonio José Manuel Francisco David Juan Javier Daniel Jesús Carlos Alejandro Miguel Rafael Pedro Pablo Ángel
Sergio Fernando Jorge Luis Alberto Álvaro Adrián Diego Raúl Iván Enrique Ramón Rubén Vicente Andrés Óscar Joaquín
Santiago Víctor Eduardo Mario Roberto Jaime Ignacio""".split()
SURNAMES = """García Rodríguez González Fernández López Martínez Sánchez Pérez Gómez Martín Jiménez Hernández Ruiz Díaz
Moreno Muñoz Álvarez Romero Alonso Gutiérrez Navarro Torres Domínguez Vázquez Ramos Gil Ramírez Serrano Blanco Molina
Morales Suárez Ortega Delgado Castro Ortiz Rubio Marín Sanz Núñez Iglesias Medina Garrido Cortés Castillo Santos Lozano
Guerrero Cano Prieto Méndez Cruz Calvo Gallego Vidal León Márquez Herrera Peña Flores""".split()


def main() -> None:
    """Write the three files and say what is in them."""
    for name, table in tables().items():
        write_bytes(EMBEDDED / name, csv_gz(table))
        print(f"{name}: {len(table)} rows, {(EMBEDDED / name).stat().st_size / 1000:.0f} kB")


def tables() -> dict[str, pd.DataFrame]:
    """The three tables by the name of their file."""
    people = register(np.random.default_rng(SEED))
    answers = survey(people, np.random.default_rng(SEED + 1))
    truth = pd.DataFrame({"row": range(len(answers)), "person": answers["person"]})
    return {
        "town-register.csv.gz": people,
        "health-survey.csv.gz": answers.drop(columns="person"),
        "health-survey-truth.csv.gz": truth,
    }


def register(rng: np.random.Generator) -> pd.DataFrame:
    """The register, one person a row, household by household."""
    postcodes = np.repeat(list(POSTCODES), [households for households, _ in POSTCODES.values()])
    kinds = rng.choice(list(KINDS), size=len(postcodes), p=list(KINDS.values()))
    rows = [
        (postcode, min(age, OLDEST), sex, number)
        for number, (postcode, kind) in enumerate(zip(postcodes, kinds, strict=True), start=1)
        for age, sex in household(kind, rng)
    ]
    people = pd.DataFrame(rows, columns=["postcode", "age", "sex", "household"])
    people.insert(0, "person", np.arange(1, len(people) + 1))
    people.insert(1, "name", names(people["sex"].to_numpy(), rng))
    people.insert(3, "birth_date", birth_dates(people["age"].to_numpy(), rng))
    return people


def household(kind: str, rng: np.random.Generator) -> list[tuple[int, str]]:
    """Age and sex of the members of one household."""
    if kind == "single":
        return [(int(rng.integers(22, 62)), a_sex(rng, women=0.42))]
    if kind == "older single":
        return [(int(rng.integers(60, 97)), a_sex(rng, women=0.68))]
    if kind == "sharing":
        return [(int(rng.integers(18, 32)), a_sex(rng)) for _ in range(rng.integers(2, 5))]
    if kind == "older couple":
        return couple(int(rng.integers(56, 88)), rng)
    if kind == "couple":
        return couple(int(rng.integers(24, 56)), rng)
    mother = int(rng.integers(27, 62))
    parents = couple(mother, rng)
    if kind == "lone parent":
        parents = parents[:1] if rng.random() < 0.83 else parents[1:]
    members = parents + children(mother, rng)
    if kind == "with a grandparent":
        members.append((mother + int(rng.integers(22, 38)), a_sex(rng, women=0.7)))
    return members


def a_sex(rng: np.random.Generator, women: float = 0.5) -> str:
    """``"woman"`` with the probability given, else ``"man"``."""
    return "woman" if rng.random() < women else "man"


def couple(age: int, rng: np.random.Generator) -> list[tuple[int, str]]:
    """A couple whose first partner has this age; one in fifty is of one sex."""
    other = max(20, age + int(np.rint(rng.normal(2, 3.5))))
    return [(age, "woman"), (other, "woman" if rng.random() < 0.02 else "man")]


def children(mother: int, rng: np.random.Generator) -> list[tuple[int, str]]:
    """One to four children at home, born when their mother was 19 to 45; those of age leave by and by."""
    ages, most = [], 1 + int(rng.choice(len(CHILDREN), p=CHILDREN))
    eldest = mother - int(np.clip(np.rint(rng.normal(30, 4.5)), 19, min(mother, 42)))
    for _ in range(most):
        ages.append(eldest)
        eldest -= int(rng.integers(1, 6))
    at_home = [age for age in ages if age >= 0 and mother - age <= 45 and rng.random() > (age - 19) / 16]
    # A household of this kind has a child at home: else its last one, at most 29.
    return [(age, a_sex(rng)) for age in at_home or [int(np.clip(ages[-1], 0, min(29, mother - 19)))]]


def names(sexes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A first name and two surnames for each person; the first of each list are the most common."""
    first = np.where(sexes == "woman", drawn(WOMEN, len(sexes), rng), drawn(MEN, len(sexes), rng))
    surnames = [drawn(SURNAMES, len(sexes), rng) for _ in range(2)]
    return first + " " + surnames[0] + " " + surnames[1]


def drawn(words: list[str], size: int, rng: np.random.Generator) -> np.ndarray:
    """Words with probabilities that fall with their place in the list."""
    weights = 1 / (5 + np.arange(len(words)))
    return rng.choice(np.array(words, dtype=object), size=size, p=weights / weights.sum())


def birth_dates(ages: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A day of birth, all equally likely, that gives each age on 1 January, as ISO text."""
    birthday = (YEAR - ages - 1970).astype("datetime64[Y]")
    days = birthday.astype("datetime64[D]") - (birthday - 1).astype("datetime64[D]")
    before = np.floor(rng.random(len(ages)) * days.astype(int)).astype("timedelta64[D]")
    return (birthday.astype("datetime64[D]") - before).astype(str)


def survey(people: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """The survey and, in its first column, who each row is."""
    drawn_households = []
    for postcode, (households, fraction) in POSTCODES.items():
        here = people.loc[people["postcode"] == postcode, "household"].unique()
        drawn_households.append(rng.choice(here, size=round(households * fraction), replace=False))
    chosen = np.concatenate(drawn_households)
    rows = people[people["household"].isin(chosen)].drop(columns="name")
    rows = rows.iloc[rng.permutation(len(rows))].reset_index(drop=True)
    old_numbers, codes = np.unique(rows["household"], return_inverse=True)
    rows["household"] = rng.permutation(np.arange(1, len(old_numbers) + 1))[codes]
    per_postcode = people["postcode"].value_counts() / rows["postcode"].value_counts()
    education = educations(rows["age"].to_numpy(), rng)
    income = incomes(rows, education, rng)
    untold = (rng.random(len(rows)) < EDUCATION_UNTOLD) & (education != NOT_ASKED)
    rows = rows.assign(
        education=np.where(untold, None, education),
        weight=rows["postcode"].map(per_postcode).round(6),
        cholesterol=np.where(rng.random(len(rows)) < high_cholesterol(rows["age"].to_numpy()), "high", "normal"),
        diagnosis=diagnoses(rows["age"].to_numpy(), (rows["sex"] == "woman").to_numpy(), rng),
        income=income,
    )
    return rows[["person", *COLUMNS]]


def educations(ages: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Level of education of each person, by age; `NOT_ASKED` below `ASKED_FROM`."""
    shares = np.array(list(EDUCATION_SHARES.values()))[np.searchsorted(list(EDUCATION_SHARES), ages, side="right")]
    levels = (rng.random(len(ages))[:, None] > shares.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return np.where(ages < ASKED_FROM, NOT_ASKED, np.array(EDUCATION, dtype=object)[levels])


def incomes(rows: pd.DataFrame, education: np.ndarray, rng: np.random.Generator) -> pd.Series:
    """Income of each person's household, euros a month to the nearest ten; missing where it was not told."""
    level = pd.Series(education, index=rows.index).map({name: i for i, name in enumerate(EDUCATION)})
    earner = (rows["age"] >= 24) | ((rows["age"] >= 18) & (level >= 3) & (rng.random(len(rows)) < 0.3))
    own = np.where(earner, (650 + 230 * level) * np.where(rows["age"] >= 65, 0.85, 1.0), 0)
    numbers = np.sort(rows["household"].unique())
    total = pd.Series(own, index=rows.index).groupby(rows["household"]).sum().reindex(numbers).clip(lower=450)
    total *= np.exp(rng.normal(0, 0.35, len(numbers)))
    total = (total / 10).round().astype("Int64") * 10
    total[rng.random(len(numbers)) < INCOME_UNTOLD] = pd.NA
    return rows["household"].map(total).astype("Int64")


def high_cholesterol(ages: np.ndarray) -> np.ndarray:
    """Probability of a high cholesterol by age: 2 per cent of children, 40 in old age."""
    return 0.02 + 0.38 / (1 + np.exp(-(ages - 52) / 9))


def diagnoses(ages: np.ndarray, women: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Main diagnosis of each person, by age and sex."""
    adult, old = ages >= 18, 1 / (1 + np.exp(-(ages - 58) / 9))
    chances = np.column_stack(
        [
            0.30 * old,  # hypertension
            0.13 * old,  # diabetes
            np.where(adult, 0.03, 0.08),  # asthma
            old * np.where(women, 0.22, 0.10),  # arthritis
            adult * np.where(women, 0.08, 0.04),  # depression
            0.04 * old,  # cancer
            (adult & (ages < 70)) * np.where(women, 0.003, 0.012),  # HIV
        ]
    )
    steps = np.column_stack([1 - chances.sum(axis=1), chances]).cumsum(axis=1)[:, :-1]
    return np.array(DIAGNOSES, dtype=object)[(rng.random(len(ages))[:, None] > steps).sum(axis=1)]


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    main()
