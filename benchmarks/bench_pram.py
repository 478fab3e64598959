"""PRAM of one variable of ten categories: a value stays with probability 0.8, else it is drawn from its stratum."""

import numpy as np
import pandas as pd
from generators import SEED, zipf
from harness import Question, Task

import kanon_lab

KEEP = 0.8


def make(rows):
    """The variable as text, and 50 strata."""
    rng = np.random.default_rng(SEED)
    variable = pd.Series(zipf(rng, 10, 1.0, rows)).map("category {}".format).astype("str")
    return pd.DataFrame({"variable": variable, "stratum": rng.integers(0, 50, rows)})


def moved(*strata):
    return lambda frame: kanon_lab.methods.pram(frame, "variable", keep=KEEP, strata=list(strata), seed=SEED)


def loop(frame):
    """By the definition, one category of one stratum after the other."""
    rng, result = np.random.default_rng(SEED), frame["variable"].copy()
    for _, group in frame.groupby("stratum"):
        shares = group["variable"].value_counts(normalize=True)
        matrix = KEEP * np.eye(len(shares)) + (1 - KEEP) * shares.to_numpy()
        for each, law in zip(shares.index, matrix):
            rows = group.index[group["variable"] == each]
            result[rows] = rng.choice(shares.index, len(rows), p=law)
    return result


QUESTION = Question(
    "PRAM of one variable, ten categories",
    make,
    {
        "kanon_lab": moved(),
        "kanon_lab, 50 strata": moved("stratum"),
        "pandas loop, 50 strata": loop,
        "sdcMicro": Task('pram(data, variables = "variable", pd = 0.8, alpha = 1)'),
    },
)
