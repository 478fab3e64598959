"""Ten moves of a control in JupyterLab's explorers: sentence, table and specification; drawing is the browser's."""

from generators import keys
from harness import Question, Task

import kanon_lab


def by_keys(frame):
    return kanon_lab.show.explore_keys(frame, ["region", "age", "sex", "marital"]).controls["k_class"]


def nation(_):
    return kanon_lab.show.explore(kanon_lab.load_counts("spain-2010")).controls["k"]


def move(control):
    for k in range(1, 11):
        control.value = k if control.value != k else 20


QUESTION = Question(
    "Ten moves in an explorer",
    keys,
    {"keys": Task(move, by_keys), "the nation, for comparison": Task(move, nation)},
)
