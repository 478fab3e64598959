"""Microaggregation of three quantities, k = 3: MDAV, MDAV as it is defined, and the best groups of each single one.

As it is defined, it takes every distance anew for each group, so that its time grows with the square of the records.
The answer is the sum of squared distances within groups, as a share of all.
"""

import numpy as np
from generators import QUANTITIES, quantities
from harness import Question, Task

import kanon_lab

K = 3


def groups(method):
    """The groups; the whole work is done."""
    return lambda frame: (
        frame,
        kanon_lab.methods.microaggregate(frame, QUANTITIES, k_required=K, method=method).details["groups"],
    )


def plain(frame):
    from kanon_lab.methods.grouping import on_grid, squared

    points, weights = on_grid(frame.to_numpy())
    rows, found, number = np.arange(len(frame)), np.empty(len(frame), dtype=np.int64), 0
    while len(rows) >= 2 * K:
        begin, centre = len(rows) >= 3 * K, points.sum(axis=1) / len(rows)
        for _ in range(1 + begin):
            first = squared(points, centre, weights).argmax()
            centre = points[:, first]
            distance = squared(points, centre, weights)
            distance[first] = -1
            near = np.flatnonzero(distance <= np.partition(distance, K - 1)[K - 1])
            near = near[distance[near].argsort(kind="stable")][:K]
            found[rows[near]] = number
            number += 1
            points, rows = np.delete(points, near, axis=1), np.delete(rows, near)
    found[rows] = number
    return frame, found


def within(result):
    frame, found = result
    scaled = (frame - frame.mean()) / frame.std(ddof=0)
    left = scaled - scaled.groupby(np.asarray(found)).transform("mean")
    return f"SSE {float((left**2).to_numpy().sum() / scaled.size):.6f} of all"


QUESTION = Question(
    "Microaggregation of three quantities, k = 3",
    quantities,
    {
        "MDAV": groups("mdav"),
        "NumPy, MDAV as defined": plain,
        "best groups, one by one": Task(groups("optimal"), answer=None),
        "sdcMicro, MDAV": Task('microaggregation(data, variables = 1:3, aggr = 3, method = "mdav")'),
    },
    large=1_000_000,
    answer=within,
    sizes=(5_000, 20_000, 80_000, 250_000),
)
