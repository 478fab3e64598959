"""The subsample study on samples of the synthetic census of Catalonia: nine scenarios of detail, by eight keys.

Three levels of residence by three of age; recoding the sample and counting it are timed too. The peer counts one
subsample of the finest scenario, and no more.
"""

import numpy as np
from generators import SEED
from harness import Question

import kanon_book.studies
import kanon_lab

FRACTION = 245_944 / 6_059_494


def make(rows):
    census = kanon_book.studies.catalan_census()
    return census.sample(rows / census.persons)


def study(repeats):
    def grid(frame):
        names, levels = list(kanon_book.studies.CATALAN_KEYS), kanon_book.studies.CATALAN_LEVELS
        return kanon_lab.sample.scenario_grid(frame, names, levels, fraction=FRACTION, repeats=repeats)

    return grid


def by_groupby(frame):
    """u1, u2 and u of one subsample."""
    names = list(kanon_book.studies.CATALAN_KEYS)
    drawn = frame[np.random.default_rng(SEED).random(len(frame)) < FRACTION]
    in_sample = frame.groupby(names)["sex"].transform("size") == 1
    in_subsample = drawn.groupby(names)["sex"].transform("size") == 1
    return int(in_sample.sum()), int(in_subsample.sum()), int(in_sample[drawn.index].sum())


QUESTION = Question(
    "The subsample study, nine scenarios",
    make,
    {
        "kanon_lab, 1 subsample": study(1),
        "kanon_lab, 200 subsamples": study(200),
        "pandas, 1 scenario alone": by_groupby,
    },
    sizes=(15_000, 60_000, 246_000, 1_000_000),
)
