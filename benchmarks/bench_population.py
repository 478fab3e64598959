"""Anonymity of the municipalities of Spain: closed form, simulation, means alone as one would write them in pandas."""

import numpy as np
import pandas as pd
from generators import SEED
from harness import Question

import kanon_lab


def make(places):
    """So many municipalities, drawn from a seed."""
    counts = kanon_lab.load_counts("spain-2010")
    chosen = np.random.default_rng(SEED).permutation(np.sort(counts["place"].unique()))[:places]
    return counts[counts["place"].isin(chosen)].reset_index(drop=True)


def means(counts):
    """A column per k, then a groupby."""
    from scipy.stats import binom

    n = counts["persons"]
    by_k = {k: n * binom.pmf(k - 1, (n - 1).clip(lower=0), 1 / 1826) for k in range(1, 101)}
    return pd.DataFrame(by_k).groupby(counts["place"]).sum()


QUESTION = Question(
    "Anonymity of a population, all dates and ranges",
    make,
    {
        "closed form, the nation": lambda counts: kanon_lab.population.anonymity(counts),
        "closed form, each place": lambda counts: kanon_lab.population.anonymity(counts, by="municipality"),
        "one simulation by days": lambda counts: kanon_lab.population.simulate(
            counts, dates=["day"], repeats=1, seed=1
        ),
        "pandas, means by day alone": means,
    },
    unit="municipalities",
    sizes=(500, 1_250, 3_200, 8_114),
)
