"""l-diversity and t-closeness of every class: eight measures; the peers take fewer, as their names say."""

import numpy as np
from generators import KEYS, SENSITIVE, keys
from harness import Question, Task

import kanon_lab

NAMES = list(KEYS)


def eight(frame):
    spec = kanon_lab.KeySpec(NAMES, sensitive_variables=[SENSITIVE])
    return kanon_lab.measures.diversity(kanon_lab.class_table(frame, spec), SENSITIVE)


def two(frame):
    """Distinct and entropy l."""
    counts = frame.groupby([*NAMES, SENSITIVE]).size()
    by_class = counts.groupby(NAMES)
    shares = counts / by_class.transform("sum")
    return by_class.size(), np.exp((-shares * np.log(shares)).groupby(NAMES).sum())


def three(frame):
    """Distinct, entropy and recursive l, of the file."""
    from pycanon import anonymity

    measures = (anonymity.l_diversity, anonymity.entropy_l_diversity, anonymity.recursive_c_l_diversity)
    return [measure(frame, NAMES, [SENSITIVE]) for measure in measures]


QUESTION = Question(
    "l-diversity and t-closeness, eight keys",
    keys,
    {
        "kanon_lab, eight measures": eight,
        "pandas, two measures": two,
        "pycanon, three measures": Task(three, needs="pycanon"),
    },
    sizes=(25_000, 125_000, 500_000, 2_500_000),
)
