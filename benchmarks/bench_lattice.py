"""The best of 1,512 nodes by several demands, and Mondrian, on a file like Adult: no peer is at hand.

Six keys whose hierarchies have 7, 4, 3, 3, 3 and 2 levels, and a sensitive variable of 14 values.
"""

import numpy as np
import pandas as pd
from generators import SEED, zipf
from harness import Question, Task

import kanon_lab

#: Key -> its number of values, the exponent of their Zipf law, and how many values are a group at each level.
KEYS = {
    "age": (75, 0.3, (5, 10, 20, 40, 80)),
    "education": (16, 1.0, (3, 9)),
    "workclass": (8, 1.6, (3,)),
    "marital": (7, 1.0, (3,)),
    "country": (41, 2.2, (10,)),
    "sex": (2, 0.6, ()),
}


def adult_like(records):
    """Skewed values, independent of each other."""
    rng, laws = np.random.default_rng(SEED), {**KEYS, "occupation": (14, 0.3, ())}
    return pd.DataFrame({name: zipf(rng, values, power, records) for name, (values, power, _) in laws.items()})


def trees():
    Hierarchy, made = kanon_lab.methods.Hierarchy, {}
    for name, (values, _, groups) in KEYS.items():
        rows = {v: [f"group of {size}, {v // size}" for size in groups] for v in range(values)}
        made[name] = Hierarchy.from_mapping(rows if groups else dict.fromkeys(rows, "*"), top="*" if groups else None)
    return made


def best(**demands):
    return lambda frame: kanon_lab.methods.lattice_search(frame, trees(), **demands)


def with_gaps(frame):
    """0.5 % of each key missing."""
    return frame.astype("Int64").mask(np.random.default_rng(SEED).random(frame.shape) < 0.005)


def mondrian(frame):
    made = trees()
    numbers = {name: tree for name, tree in made.items() if name != "age"}
    return kanon_lab.methods.mondrian(frame, k_required=10, keys=list(made), hierarchies=numbers)


QUESTION = Question(
    "The best of 1,512 generalisations",
    adult_like,
    {
        "k = 10": best(k_required=10),
        "k = 10, 2% removed at most": best(k_required=10, suppression_limit=0.02),
        "k = 5, entropy 3-diverse": best(
            k_required=5, suppression_limit=0.02, sensitive="occupation", l_required=3, l_kind="entropy"
        ),
        "k = 10, gaps compatible": Task(best(k_required=10), with_gaps),
        "Mondrian, k = 10": mondrian,
    },
    sizes=(2_000, 8_000, 32_561, 130_000),
)
