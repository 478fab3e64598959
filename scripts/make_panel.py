"""Make the embedded synthetic panel of workers: a few hundred persons, asked once a year.

Nobody in it exists; all figures are invented. Seeded: the same bytes every time under the pinned versions.

kanon_lab/data/embedded/work-panel.csv.gz has a row per person and year, person by person:

person     number of the person, the same in all years
year       2018 to 2023; a third of the persons come later or leave earlier
sex        woman, man
age        in years on 1 January of the year
district   six districts; few persons move
work       employed, self-employed, unemployed, at home, retired or student; it changes now and then
children   children below 18 in the home
income     of the year, in hundreds
weight     persons of the population that the person stands for, the same in all years

Run: python scripts/make_panel.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from kanon_lab.files import csv_gz, write_bytes

NAME = "work-panel.csv.gz"
TARGET = Path(__file__).resolve().parents[1] / "kanon_lab" / "data" / "embedded" / NAME
SEED, PERSONS, YEARS = 2307, 400, range(2018, 2024)
DISTRICTS = {"North": 0.28, "East": 0.22, "South": 0.20, "West": 0.14, "Centre": 0.10, "Valley": 0.06}
LATE_OR_EARLY, MOVES, CHANGES = 1 / 3, 0.03, 0.12
# Work of those between school and pension, and income with each, in hundreds.
WORK = {"employed": 0.64, "self-employed": 0.12, "unemployed": 0.10, "at home": 0.14}
INCOME = {"employed": 210, "self-employed": 190, "unemployed": 90, "at home": 40, "retired": 150, "student": 30}


def work_panel() -> pd.DataFrame:
    """The panel."""
    rng = np.random.default_rng(SEED)
    rows = []
    for person in rng.permutation(np.arange(1001, 1001 + PERSONS)):
        first, last = YEARS[0], YEARS[-1]
        if rng.random() < LATE_OR_EARLY:
            first, last = np.sort(rng.choice(YEARS, 2))
        sex, born = rng.choice(["woman", "man"]), int(rng.integers(1938, 2002))
        district, work = rng.choice([*DISTRICTS], p=[*DISTRICTS.values()]), rng.choice([*WORK], p=[*WORK.values()])
        children, level = int(rng.poisson(0.8)), rng.lognormal(0, 0.35)
        weight = round(float(rng.uniform(18, 42)), 1)
        for year in range(first, last + 1):
            age = year - born
            if rng.random() < MOVES:
                district = rng.choice([*DISTRICTS], p=[*DISTRICTS.values()])
            if rng.random() < CHANGES:
                work = rng.choice([*WORK], p=[*WORK.values()])
            now = "student" if age < 22 else "retired" if age > 65 else work
            home = children if 25 <= age <= 52 else 0
            income = int(round(INCOME[now] * level * rng.lognormal(0, 0.08)))
            rows.append((person, year, sex, age, district, now, home, income, weight))
    names = ["person", "year", "sex", "age", "district", "work", "children", "income", "weight"]
    return pd.DataFrame(rows, columns=names).sort_values(["person", "year"], ignore_index=True)


def main(target: Path = TARGET) -> None:
    """Write the panel."""
    write_bytes(target, csv_gz(work_panel()))


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    main()
