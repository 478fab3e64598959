"""f_k of each record where a missing key is compatible with any value: no peer has it."""

from generators import INCOMPLETE, KEYS, gaps
from harness import Question

import kanon_lab

QUESTION = Question(
    "f_k where gaps are compatible with anything",
    gaps,
    {
        "five keys, gaps in each": lambda frame: kanon_lab.class_table(frame, INCOMPLETE).f_k_of_records(),
        "eight keys, gaps in five": lambda frame: kanon_lab.class_table(frame, list(KEYS)).f_k_of_records(),
    },
)
