"""Make the small embedded tables of facts about Spain in 2010 from INE's files.

Reads the real files of the folder KANON_LAB_SHARED names (default: ../shared beside the repository) and writes, to
kanon_lab/data/embedded:

spain-2010-pyramid.csv.gz
    Persons by sex and five-year age group, the whole nation. Source: INE, table 33570, 1 January 2010.
spain-2010-municipalities.csv.gz
    Number and inhabitants of municipalities by province and size class. Source: INE, official population by
    municipality, 1 January 2010 (pobmun10.xls).
spain-2010-age-structure.csv.gz
    How the share of a sex and age group varies between municipalities: its slope by size, a common factor and an own
    deviation. Learned from the municipalities of Málaga (INE, table 33570, 2010) and Soria (INE, padrón, 2005).
malaga-2010.csv.gz
    Persons of every municipality of Málaga by sex and five-year age group to 100 and over, in the columns of
    spain-2010.csv.gz. Source: INE, table 33570, 1 January 2010.
spain-oldest.csv.gz
    Persons of 85 and over by year, sex and five-year age group, the whole nation. Source: INE, table 33570, each
    1 January from 2003 to 2022.

Run: python scripts/make_facts.py
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
import pandas as pd
import xlrd
from spain_model import size_tilt

from kanon_lab.data import national_totals, read_counts
from kanon_lab.files import csv_gz, write_bytes

REPOSITORY = Path(__file__).resolve().parents[1]
EMBEDDED = REPOSITORY / "kanon_lab" / "data" / "embedded"
SHARED = Path(os.environ.get("KANON_LAB_SHARED", REPOSITORY.parent / "shared")) / "data"
MALAGA = SHARED / "ine-padron-33570-malaga.px"
SORIA = SHARED / "ine-padron-2005-soria.px"
MUNICIPALITIES = SHARED / "ine-pobmun10.xls"

CELL = ["sex", "age_group"]
SIZE_FROM = np.array([1, 101, 501, 1001, 2001, 3001, 5001, 10001, 20001, 30001, 50001, 100001, 200001, 300001, 500001])


def main() -> None:
    """Write the tables and say what is in them."""
    for name, table in facts().items():
        path = EMBEDDED / name
        write_bytes(path, csv_gz(table))
        print(f"{name}: {len(table)} rows, {path.stat().st_size / 1000:.1f} kB")


def facts() -> dict[str, pd.DataFrame]:
    """The tables, by file name."""
    pyramid = national_totals(MALAGA, 2010, pool_from=85)
    classes = size_classes(municipal_totals())
    if classes["persons"].sum() != pyramid["persons"].sum():
        raise SystemExit("the nation by age and the municipalities add up to different totals")
    malaga = read_counts(MALAGA, year=2010, pool_from=85)
    soria = (read_counts(SORIA, pool_from=85), national_totals(MALAGA, 2005, pool_from=85))
    return {
        "spain-2010-pyramid.csv.gz": pyramid,
        "spain-2010-municipalities.csv.gz": classes,
        "spain-2010-age-structure.csv.gz": age_structure([(malaga, pyramid), soria]),
        "malaga-2010.csv.gz": one_row_each(read_counts(MALAGA, year=2010)),
        "spain-oldest.csv.gz": oldest(),
    }


def one_row_each(counts: pd.DataFrame) -> pd.DataFrame:
    """Municipalities by code, one a row: place, name, kind, and a column per sex and age group such as "men 0-4"."""
    cells = (counts["sex"] + " " + counts["age_group"]).rename("cell")
    wide = counts.pivot_table(index=["place", "name"], columns=cells, values="persons")[cells.unique()]
    wide = wide.astype(int).rename_axis(columns=None).sort_index().reset_index()
    wide.insert(2, "kind", "real")
    return wide


def oldest() -> pd.DataFrame:
    """The nation's persons of 85 and over: year, sex, age_group, persons."""
    years = {year: national_totals(MALAGA, year) for year in range(2003, 2023)}
    nation = pd.concat(years, names=["year", "row"]).reset_index("year")
    return nation[nation["age_group"].isin(["85-89", "90-94", "95-99", "100+"])]


def municipal_totals() -> pd.DataFrame:
    """Province (code) and inhabitants of every municipality."""
    sheet = xlrd.open_workbook(MUNICIPALITIES).sheet_by_index(0)
    rows = [sheet.row_values(row) for row in range(2, sheet.nrows)]
    return pd.DataFrame({"province": [row[0] for row in rows], "persons": [int(row[4]) for row in rows]})


def size_classes(municipalities: pd.DataFrame) -> pd.DataFrame:
    """Municipalities and their inhabitants by province and size class."""
    index = np.searchsorted(SIZE_FROM, municipalities["persons"], side="right") - 1
    grouped = municipalities.assign(size_from=SIZE_FROM[index]).groupby(["province", "size_from"])["persons"]
    return grouped.agg(municipalities="size", persons="sum").reset_index()


def age_structure(samples: list[tuple[pd.DataFrame, pd.DataFrame]]) -> pd.DataFrame:
    """Slope by size, common factor and own deviation of each cell's share, from municipalities and their nation.

    Columns slope (change of the natural logarithm of the share when a municipality is ten times as large), loading
    (standard deviation of that logarithm from the factor common to all cells of a municipality) and deviation (its own
    standard deviation), beyond the noise of counting.
    """
    counts, expected, design = [], [], []
    for number, (frame, nation) in enumerate(samples):
        table = frame.pivot(index="place", columns=CELL, values="persons")[
            list(zip(nation["sex"], nation["age_group"]))
        ]
        sizes = table.sum(axis=1).to_numpy()
        counts.append(table.to_numpy())
        expected.append(sizes[:, None] * (nation["persons"] / nation["persons"].sum()).to_numpy())
        # an intercept per file, so that regions do not pass for sizes
        own = np.eye(len(samples))[np.full(len(sizes), number)]
        design.append(np.column_stack([own, size_tilt(sizes)]))
    counts, expected, design = np.vstack(counts), np.vstack(expected), np.vstack(design)
    coefficients = np.column_stack([poisson_fit(design, *pair) for pair in zip(counts.T, expected.T)])
    fitted = expected * np.exp(design @ coefficients)
    loading, deviation = spread(counts, fitted)
    table = samples[0][1][CELL].assign(slope=coefficients[-1], loading=loading, deviation=deviation)
    return table.round(4)


def poisson_fit(design: np.ndarray, counts: np.ndarray, expected: np.ndarray, rounds: int = 50) -> np.ndarray:
    """Coefficients of log(mean / expected), by Newton's method on the Poisson likelihood."""
    coefficients = np.zeros(design.shape[1])
    coefficients[:-1] = np.log(counts.sum() / expected.sum())
    for _ in range(rounds):
        mean = expected * np.exp(design @ coefficients)
        # Cities would decide alone under the plain likelihood: weigh by what spread between places leaves of them.
        weight = 1 / (1 + 0.02 * mean)
        information = (design * (weight * mean)[:, None]).T @ design
        coefficients = coefficients + np.linalg.solve(information, design.T @ (weight * (counts - mean)))
    return coefficients


def spread(counts: np.ndarray, fitted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Standard deviations of relative residuals beyond counting noise: common factor and own, one per cell."""
    large = fitted.sum(axis=1) >= 500
    counts, fitted = counts[large], fitted[large]
    residual = counts / fitted - 1
    covariance = residual.T @ residual / len(residual) - np.diag((1 / fitted).mean(axis=0))
    values, vectors = np.linalg.eigh(covariance)
    loading = vectors[:, -1] * np.sqrt(values[-1])
    loading *= np.sign(loading[-1])  # positive: an older place
    return loading, np.sqrt(np.maximum(np.diag(covariance) - loading**2, 0))


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    main()
