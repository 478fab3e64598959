"""Local suppression to k = 3, and how many cells it takes.

Easy keys have few values, hard ones many; of the eight raw keys hardly any combination has three records.
"""

from generators import KEYS, keys
from harness import Question, Task

import kanon_lab

EASY = ["region", "age", "birthplace", "sex", "marital"]
HARD = ["region", "age", "marital", "occupation", "education"]


def suppressed(names, missing="wildcard"):
    return lambda frame: kanon_lab.local_suppression(frame, kanon_lab.KeySpec(names, missing=missing), k_required=3)


QUESTION = Question(
    "Local suppression to k = 3",
    keys,
    {
        "five easy keys": suppressed(EASY),
        "five hard keys": suppressed(HARD),
        "hard, gaps as a category": suppressed(HARD, "category"),
        "eight raw keys": suppressed(list(KEYS)),
        "sdcMicro, five hard keys": Task("localSuppression(data, k = 3, keyVars = 1:5)", lambda frame: frame[HARD]),
    },
    answer=lambda result: f"{result.total:,} cells; {result.violating:,} records were below k",
    sizes=(5_000, 50_000, 250_000, 1_000_000),
)
