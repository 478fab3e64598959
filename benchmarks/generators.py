"""Files that questions share, from one seed."""

import numpy as np
import pandas as pd

SEED = 20110709
#: Key -> its number of values, and the exponent of their Zipf law.
KEYS = {
    "region": (14, 0.8),
    "age": (13, 0.3),
    "birthplace": (3, 1.8),
    "sex": (2, 0.05),
    "marital": (5, 1.0),
    "occupation": (20, 1.0),
    "education": (15, 0.8),
    "activity": (10, 1.0),
}
SENSITIVE = "sens"
INCOMPLETE, MISSING_SHARE = list(KEYS)[:5], 0.02
QUANTITIES = ["a", "b", "c"]


def zipf(rng, values, exponent, rows):
    """Whole numbers from 0, the first ones most often."""
    weights = np.arange(1, values + 1) ** -exponent
    return rng.choice(values, rows, p=weights / weights.sum())


def keys(rows):
    """Eight categorical keys of 2 to 20 values in small integers, and a sensitive variable of ten."""
    rng = np.random.default_rng(SEED)
    laws = {**KEYS, SENSITIVE: (10, 1.0)}
    return pd.DataFrame({name: (zipf(rng, *law, rows) + 1).astype("int8") for name, law in laws.items()})


def gaps(rows):
    """The same, 2 % missing in each of the first five."""
    rng, frame = np.random.default_rng(SEED), keys(rows)
    holes = {name: frame[name].astype("Int8").mask(rng.random(rows) < MISSING_SHARE) for name in INCOMPLETE}
    return frame.assign(**holes)


def sample(rows):
    """The same without gaps, a weight ``w`` of about 100, and households ``home`` of two or three."""
    rng = np.random.default_rng(SEED)
    weights, homes = np.round(rng.gamma(4, 25, rows) + 1, 2), np.sort(rng.integers(0, max(rows * 2 // 5, 1), rows))
    return keys(rows).assign(w=weights, home=homes)


def quantities(rows):
    """Three skewed quantities that go with each other."""
    mixed = np.random.default_rng(SEED).normal(size=(rows, 3)) @ [[1, 0.6, 0.3], [0, 0.8, 0.3], [0, 0, 0.9]]
    return pd.DataFrame(np.exp(mixed), columns=QUANTITIES)
