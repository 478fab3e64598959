"""Draw samples of the synthetic census of Catalonia, and count how often bounds of population uniques hold the truth.

    python scripts/measure_bounds.py [SAMPLES]

It makes book/kanon_book/studies/measured_bounds.json, which the chapter *What no sample can say* reads: for 1,000
samples a row, in some twenty minutes.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
from scipy.stats import binom

from kanon_book.studies import CATALAN_KEYS, CATALAN_LEVELS, catalan_census
from kanon_lab.errors import DataError
from kanon_lab.files import write_text
from kanon_lab.sample import METHODS, bound_uniques, population_sizes
from kanon_lab.sample.programs import COUNTED, count_limits

TARGET = Path(__file__).resolve().parents[1] / "book" / "kanon_book" / "studies" / "measured_bounds.json"
SEED, CONFIDENCE = 1991, 0.95
LEVEL = {"region": "14 regions", "age": "5 years"}
DESIGNS = [(0.0406, "bernoulli"), (0.25, "bernoulli"), (0.5, "bernoulli"), (0.25, "fixed")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("samples", nargs="?", type=int, default=1000, metavar="SAMPLES", help="a row of the result")
    samples = parser.parse_args().samples
    recode = {name: CATALAN_LEVELS[name][label] for name, label in LEVEL.items()}
    classes = population_sizes(catalan_census().cells, CATALAN_KEYS, persons="persons", recode=recode)
    rows = [trials(classes, fraction, scheme, samples) for fraction, scheme in DESIGNS]
    measured = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": f"{os.cpu_count()} cores",
        "versions": {name: version(name) for name in ("kanon-lab", "numpy", "scipy")},
        "seed": SEED,
        "level": ", ".join(LEVEL.values()),
        "confidence": CONFIDENCE,
        "samples": samples,
        "persons": int(classes.sum()),
        "uniques": int((classes == 1).sum()),
        "rows": rows,
    }
    write_text(TARGET, json.dumps(measured, indent=1) + "\n")


def trials(classes: np.ndarray, fraction: float, scheme: str, samples: int) -> dict:
    """In how many of the samples the truth lies within the bounds, and how often each limit of the set holds."""
    start = time.process_time()
    persons, alone = int(classes.sum()), int((classes == 1).sum())
    rng = np.random.default_rng([SEED, round(fraction * 1e6), scheme == "fixed"])
    size, number = np.unique(classes, return_counts=True)
    chances = [*(binom.pmf(j, size, fraction) for j in range(1, COUNTED + 1)), binom.sf(COUNTED, size, fraction)]
    mean = np.array(chances) @ number
    most = persons // np.arange(1, COUNTED + 2)
    ends, inside, all_hold, two_sd, refused = [], dict.fromkeys(METHODS, 0), 0, 0, 0
    for _ in range(samples):
        if scheme == "fixed":
            drawn = rng.multivariate_hypergeometric(classes, round(persons * fraction), method="marginals")
        else:
            drawn = rng.binomial(classes, fraction)
        try:
            bounds = bound_uniques(drawn, fraction=fraction, persons=persons, scheme=scheme, confidence=CONFIDENCE)
        except DataError:  # no population agrees with it: as wrong as bounds that miss
            refused += 1
            continue
        ends.append((bounds.low, bounds.high))
        for row in bounds.models.itertuples():
            inside[row.method] += bool(row.inside)
        seen = np.bincount(np.minimum(drawn, COUNTED + 1), minlength=COUNTED + 2)[1:]
        low, high = count_limits(seen, most.astype(float), (1 - CONFIDENCE) / 2 / (len(seen) + 1))
        all_hold += bool(((low <= mean) & (mean <= high)).all())
        two_sd += bool((np.abs(seen - mean) <= 2 * np.sqrt(mean)).all())
    low, high = np.array(ends).T
    row = {
        "fraction": fraction,
        "scheme": scheme,
        "covered": int(((low <= alone) & (alone <= high)).sum()),
        "refused": refused,
        "sets": all_hold,  # samples in which every limit of a Bernoulli sample's set holds
        "sets_of_two_sd": two_sd,
        "low": [int(low.min()), float(low.mean()), int(low.max())],
        "high": [int(high.min()), float(high.mean()), int(high.max())],
        "inside": inside,
        "processor_seconds": round(time.process_time() - start, 1),
    }
    print(row, flush=True)
    return row


if __name__ == "__main__":
    main()
