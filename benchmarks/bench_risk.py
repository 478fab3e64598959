"""Individual and file risk of a sample, from a class table that is made already; and that table.

`exact, all f_k` takes as many classes as records, with f_k from 1 to 500 and F_k to 10,000 times that, so that every
way to the exact risk is in it.
"""

from itertools import combinations

import numpy as np
from generators import KEYS, SEED, sample
from harness import Question, Task

import kanon_lab

PAIRS = list(combinations(list(KEYS)[:6], 2))


def table(frame, **roles):
    return kanon_lab.class_table(frame, kanon_lab.KeySpec(list(KEYS), weight="w", **roles))


def frequencies(frame):
    rng = np.random.default_rng(SEED)
    f_k = np.exp(rng.uniform(0, np.log(500), len(frame))).astype(int)
    return f_k, f_k * np.exp(rng.uniform(0, np.log(10_000), len(frame)))


QUESTION = Question(
    "Risk of a sample, eight keys and a weight",
    sample,
    {
        "class table": table,
        "Benedetti-Franconi": Task(lambda made: kanon_lab.measures.file_risk(made), table),
        "exact, all f_k": Task(lambda pair: kanon_lab.measures.individual_risk(*pair, estimator="exact"), frequencies),
        "households": Task(
            lambda made: kanon_lab.measures.file_risk(made), lambda frame: table(frame, household="home")
        ),
        "log-linear, 15 pairs": Task(lambda made: kanon_lab.measures.loglinear(made, interactions=PAIRS), table),
        "sdcMicro": Task("indivRisk(freqCalc(data, keyVars = 1:8, w = 10))"),
    },
)
