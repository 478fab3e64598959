"""Risk of three quantities with noise of a tenth of a standard deviation: linkage, intervals, robust distances."""

import numpy as np
from generators import SEED, quantities
from harness import Question

import kanon_lab


def files(rows):
    """The original and what is released."""
    original = quantities(rows)
    noise = np.random.default_rng(SEED + 1).normal(size=original.shape)
    return original, original + 0.1 * noise * original.std().to_numpy()


QUESTION = Question(
    "Risk of three quantities with noise",
    files,
    {
        "record linkage": lambda pair: kanon_lab.measures.record_linkage(*pair),
        "intervals by rank": lambda pair: kanon_lab.measures.interval_disclosure(*pair, by="rank"),
        "robust distances": lambda pair: kanon_lab.measures.robust_disclosure(*pair),
    },
)
