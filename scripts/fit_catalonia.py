"""Fit the synthetic census of Catalonia to the counts of Taula 1 in Garín i Ramírez (1996).

Fifteen numbers of kanon_lab/data/embedded/catalonia-1991.yml, its block `fitted`, are moved from plausible starts
until the expected unique records of sample and subsample, in the nine scenarios, are near the printed u1 and u2. The
third count of each scenario, u, follows from u1 and is not used. Expectations have a closed form, so that nothing is
simulated in the fit; each trial generates the whole census with one seed.

Then 200 samples with their subsamples are drawn from the fitted census, in the way of the study, and the means of the
27 counts and their central 95 % stand beside the printed ones in scripts/catalonia-1991.csv.

Run: python scripts/fit_catalonia.py          fit (some ten minutes), then draw
     python scripts/fit_catalonia.py --draw   only draw (some minutes)
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import least_squares
from tqdm import tqdm

from kanon_book.studies import CATALAN_KEYS, CATALAN_LEVELS, catalan_census, census_parameters
from kanon_book.studies.garin import taula
from kanon_lab.files import write_bytes
from kanon_lab.sample import expected_study, population_sizes, scenario_grid

ROOT = Path(__file__).resolve().parents[1]
PARAMETERS = ROOT / "kanon_lab" / "data" / "embedded" / "catalonia-1991.yml"
RESULT = Path(__file__).with_name("catalonia-1991.csv")
SEED, SAMPLES = 1991, 200
COLUMNS = ["region", "age", "count"]
# The realised fraction of the study: 245,944 of 6,059,494.
FRACTION = 245_944 / 6_059_494

# Where each fitted number starts, and how far it may go: as a standard deviation of its logarithm.
START = {
    "sharpness_birthplace": (1.2, 0.3),
    "sharpness_marital_status": (1.0, 0.3),
    "sharpness_study_level": (1.05, 0.1),
    "sharpness_activity": (1.1, 0.3),
    "sharpness_occupation": (1.4, 0.7),
    "schooling": (1.0, 0.5),
    "strays_study_level": (0.003, 1.0),
    "strays_activity": (0.006, 1.0),
    "strays_occupation": (0.01, 1.0),
    "strays_marital_status": (0.001, 1.0),
    "after_work": (0.1, 1.0),
    "regions": (1.8, 0.5),
    "elders_study_level": (0.9, 0.2),
    "elders_activity": (0.7, 0.4),
    "elders_marital_status": (0.9, 0.2),
}
# How near each count should come, as a standard deviation of its logarithm: about a third of what is asked for.
NEAR = {"u1": 0.008, "u2": 0.033}


def main() -> None:
    """Fit unless told not to, then draw and write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draw", action="store_true", help="only draw the samples and write the result")
    targets = printed()
    if not parser.parse_args().draw:
        write_fitted(fit(targets))
    result = drawn(targets)
    write_bytes(RESULT, result.to_csv(index=False).encode())
    print(result.to_string(index=False))
    print(f"{int(result['inside'].sum())} of {len(result)} printed counts lie in the central 95 %")


def printed() -> pd.DataFrame:
    """The 27 counts of Taula 1: index region and age (labels of `CATALAN_LEVELS`), columns u1, u2, u."""
    return taula()[["u1", "u2", "u"]].rename_axis(COLUMNS[:2])


def fit(targets: pd.DataFrame) -> dict[str, float]:
    """The fitted numbers."""
    settings, starts = census_parameters(), np.array([start for start, _ in START.values()])
    spreads = np.array([spread for _, spread in START.values()])
    progress = tqdm(desc="censuses generated", unit="")

    def fitted(steps: np.ndarray) -> dict[str, float]:
        return dict(zip(START, (starts * np.exp(spreads * (steps - 1))).round(6).tolist(), strict=True))

    def residuals(steps: np.ndarray) -> np.ndarray:
        found = expected({**settings, "fitted": fitted(steps)})
        progress.update()
        off = [np.log(found[name] / targets[name]) / near for name, near in NEAR.items()]
        return np.concatenate([*off, steps - 1])

    # Steps are counted from 1, because the solver moves in shares of where it stands. Differences are taken over 5 %
    # of each number: over less, those of two censuses are chance.
    best = least_squares(residuals, np.ones(len(START)), diff_step=0.05 / spreads, bounds=(-2, 4), max_nfev=14)
    progress.close()
    return fitted(best.x)


def expected(parameters: dict) -> pd.DataFrame:
    """Expected counts of the census with these parameters, index as `printed`."""
    cells = catalan_census(SEED, parameters=parameters).cells
    rows = {
        (region, age): expected_study(
            population_sizes(
                cells,
                CATALAN_KEYS,
                persons="persons",
                recode={"region": CATALAN_LEVELS["region"][region], "age": CATALAN_LEVELS["age"][age]},
            ),
            [FRACTION],
        ).iloc[0]
        for region in CATALAN_LEVELS["region"]
        for age in CATALAN_LEVELS["age"]
    }
    return pd.DataFrame(rows).T[["u1", "u2", "u"]].rename_axis(index=["region", "age"])


def write_fitted(fitted: dict[str, float]) -> None:
    """Put the fitted numbers into the file of parameters, and change nothing else in it."""
    text = PARAMETERS.read_text(encoding="utf-8")
    block = "fitted:\n" + "".join(f"  {name}: {value}\n" for name, value in fitted.items())
    write_bytes(PARAMETERS, re.sub(r"^fitted:\n(  .*\n)*", block, text, flags=re.MULTILINE).encode())


def drawn(targets: pd.DataFrame) -> pd.DataFrame:
    """Means and central 95 % of the counts over samples, beside the printed ones: one row a count."""
    census = catalan_census(SEED)
    tables = []
    for seed in tqdm(range(SAMPLES), desc="samples"):
        sample = census.sample(FRACTION, seed=seed)
        study = scenario_grid(sample, CATALAN_KEYS, CATALAN_LEVELS, fraction=FRACTION, seed=seed)
        tables.append(study.table.set_index(["region", "age"])[["u1", "u2", "u"]])
    counts = pd.concat(tables, keys=range(SAMPLES), names=["sample"]).stack().rename_axis(["sample", *COLUMNS[:3]])
    over = counts.groupby(level=list(COLUMNS[:3]), sort=False)
    result = pd.DataFrame(
        {
            "printed": targets.stack().rename_axis(COLUMNS[:3]),
            "mean": over.mean().round(1),
            "lower": over.quantile(0.025),
            "upper": over.quantile(0.975),
        }
    )
    result["difference_percent"] = (100 * (result["mean"] / result["printed"] - 1)).round(2)
    result["inside"] = result["printed"].between(result["lower"], result["upper"])
    return result.loc[over.mean().index].reset_index()


if __name__ == "__main__":
    main()
