"""Minimal sample uniques and SUDA scores: every set of the eight keys, class table included."""

from generators import KEYS, gaps, keys
from harness import Question, Task

import kanon_lab

NAMES = list(KEYS)


def scores(frame):
    return kanon_lab.measures.suda(kanon_lab.class_table(frame, NAMES))


QUESTION = Question(
    "Special uniques among eight keys",
    int,
    {
        "kanon_lab": Task(scores, keys),
        "kanon_lab, gaps in five keys": Task(scores, gaps),
        "sdcMicro": Task("suda2(data, variables = 1:8)", keys),
    },
)
