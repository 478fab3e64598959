"""Local suppression to k = 3, and how many cells it takes.

Easy keys have few values, hard ones many; of the eight raw keys hardly any combination has three records.

Cells beside those of other programs on the same files (measured once with sdcMicro 5.8 and ARX, which are not needed
here), and the bound of `Suppression.lower_bound`. A suppressed value is a wildcard in sdcMicro, a category in ARX:

    file, k = 3       meaning     theirs             ours    any needs
    easy, 5,000       wildcard    2,145 (sdcMicro)  2,133        2,133
    easy, 5,000       category    2,445 (ARX)       2,192        2,154
    hard, 5,000       wildcard    5,551 (sdcMicro)  4,939        4,868
    hard, 5,000       category    8,156 (ARX)       7,392        7,048
    hard, 50,000      wildcard   36,097 (sdcMicro) 35,142       35,142
    hard, 50,000      category   43,200 (ARX)      39,951       36,721
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
