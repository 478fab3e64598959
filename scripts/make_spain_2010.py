"""Make the embedded population spain-2010: 20 reconstructed municipalities and a synthetic rest of the country.

Reads only what the package embeds (the facts that make_facts.py wrote, and the published tables) and writes
kanon_lab/data/embedded/spain-2010.csv.gz: a row per municipality, with its code, name, kind (reconstructed or
synthetic) and 36 columns of persons, such as "men 0-4", zeros included. Seeded: the same bytes every time under the
pinned versions.

Run: python scripts/make_spain_2010.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from spain_model import assign_labels, draw_whole, expected_cells, sizes_in_class
from tqdm import tqdm

from kanon_book.studies import printed_row, reconstruct_cells
from kanon_book.studies.gil_bellosta import PLACES
from kanon_lab.data import PROVINCES
from kanon_lab.files import csv_gz, write_bytes
from kanon_lab.population import CUADRO_1_RANGES, PERIODS, persons_in_ranges

PACKAGE = Path(__file__).resolve().parents[1] / "kanon_lab"
EMBEDDED = PACKAGE / "data" / "embedded"
FIGURES = PACKAGE.parent / "book" / "kanon_book" / "studies" / "gil-bellosta-2011.csv"
OUTPUT = EMBEDDED / "spain-2010.csv.gz"

SEED = 2011  # of the reconstruction
# Fitted to Cuadro 1: the spread of age structures between municipalities below 10,000, below 100,000 and from 100,000
# inhabitants on, with 1 for what the facts say; and, among ten tried, the seed of the synthetic municipalities. The
# slope of the age structure by size is the facts' own.
SPREAD_SCALES = (1.3, 1.5, 0.5)
REST_SEED = 2014
# The last class has no upper bound; no class of it has more than a few municipalities, all of them below this.
LARGEST = 4_000_000


def main() -> None:
    """Reconstruct, fit, write, and say how close the result comes to what is printed."""
    figures = pd.read_csv(FIGURES, dtype=str)
    pyramid = pd.read_csv(EMBEDDED / "spain-2010-pyramid.csv.gz")
    named = reconstructed(figures, pyramid["persons"].to_numpy())
    table = one_row_each([named, synthetic(named, pyramid["persons"].to_numpy())], pyramid)
    write_bytes(OUTPUT, csv_gz(table))
    print(f"{OUTPUT.name}: {len(table)} municipalities, {OUTPUT.stat().st_size / 1000:.0f} kB")
    worst = cuadro_1_differences(table.iloc[:, 3:].to_numpy(), figures).abs().max()
    print(f"Cuadro 1: largest difference {worst:.3f} percentage points")


def reconstructed(figures: pd.DataFrame, pyramid: np.ndarray) -> pd.DataFrame:
    """The named municipalities, one a row: place, name, kind, and `cells`, an array in the pyramid's order."""
    rows, equal = [], 0
    for name, code in tqdm(PLACES.items(), desc="reconstructing"):
        printed, total = printed_row(figures, name)
        found = reconstruct_cells(printed, total, pyramid=pyramid, seed=SEED, progress=True, label=name)
        equal += found.equal
        rows.append((code, name, "reconstructed", assign_labels(found.cells, pyramid)))
    print(f"Cuadros 2-4: {equal} of {27 * len(PLACES)} bounded figures equal as printed")
    return pd.DataFrame(rows, columns=["place", "name", "kind", "cells"])


def synthetic(named: pd.DataFrame, pyramid: np.ndarray) -> pd.DataFrame:
    """The rest of the country, one municipality a row, as in `reconstructed`."""
    rng = np.random.default_rng(REST_SEED)
    classes = pd.read_csv(EMBEDDED / "spain-2010-municipalities.csv.gz", dtype={"province": str})
    structure = pd.read_csv(EMBEDDED / "spain-2010-age-structure.csv.gz")
    places = synthetic_places(without_named(classes, named))
    sizes = places["size"].to_numpy()
    totals = pyramid - np.sum(named["cells"].tolist(), axis=0)
    expected = expected_cells(
        sizes,
        totals,
        *(structure[column].to_numpy() for column in ("slope", "loading", "deviation")),
        rng,
        spread_scales=SPREAD_SCALES,
    )
    cells = draw_whole(expected, sizes, totals, rng)
    return places.assign(kind="synthetic", cells=list(cells)).drop(columns="size")


def without_named(classes: pd.DataFrame, named: pd.DataFrame) -> pd.DataFrame:
    """Size classes with the named municipalities taken out."""
    classes = classes.set_index(["province", "size_from"])
    bounds = np.unique(classes.index.get_level_values("size_from"))
    for place, cells in zip(named["place"], named["cells"], strict=True):
        size_from = bounds[np.searchsorted(bounds, cells.sum(), side="right") - 1]
        classes.loc[(place[:2], size_from)] -= [1, cells.sum()]
    return classes.reset_index()


def synthetic_places(classes: pd.DataFrame) -> pd.DataFrame:
    """Codes, names and sizes of the synthetic municipalities, largest first in each province."""
    upper = dict(zip(np.unique(classes["size_from"]), [*(np.unique(classes["size_from"])[1:] - 1), LARGEST]))
    parts = []
    for province, group in classes[classes["municipalities"] > 0].groupby("province"):
        sizes = np.concatenate(
            [
                sizes_in_class(row.municipalities, row.persons, row.size_from, upper[row.size_from])
                for row in group[::-1].itertuples()
            ]
        )
        numbers = range(1, len(sizes) + 1)
        parts.append(
            pd.DataFrame(
                {
                    "place": [f"{province}S{number:03d}" for number in numbers],
                    "name": [f"Synthetic municipality {number} ({PROVINCES[province]})" for number in numbers],
                    "size": sizes,
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def one_row_each(parts: list[pd.DataFrame], pyramid: pd.DataFrame) -> pd.DataFrame:
    """Municipalities by code, one a row: place, name, kind, and a column per sex and age group such as "men 0-4"."""
    places = pd.concat(parts).sort_values("place", ignore_index=True)
    columns = (pyramid["sex"] + " " + pyramid["age_group"]).tolist()
    cells = pd.DataFrame(np.vstack(places["cells"]), columns=columns)
    return places[["place", "name", "kind"]].join(cells)


def cuadro_1_differences(cells: np.ndarray, figures: pd.DataFrame) -> pd.Series:
    """Expected minus printed percentage for the 27 percentages of Cuadro 1, in percentage points."""
    sizes, times = np.unique(cells, return_counts=True)
    printed_rows = figures.loc[figures["table"] == "Cuadro 1", "row"].unique()
    computed = {}
    for dates, periods in PERIODS.items():
        persons = times @ persons_in_ranges(sizes, periods, CUADRO_1_RANGES)
        for row, share in zip(printed_rows, 100 * persons / cells.sum(), strict=True):
            computed[row, f"{dates} %"] = share
    printed = figures[figures["table"] == "Cuadro 1"].set_index(["row", "column"])["printed"]
    computed = pd.Series(computed)
    return computed - printed.reindex(computed.index).astype(float)


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    main()
