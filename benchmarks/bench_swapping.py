"""Noise, rank swapping and shuffling of three quantities; and rank swapping as a plain loop."""

import random

from generators import QUANTITIES, SEED, quantities
from harness import Question, Task

import kanon_lab

WINDOW = 0.05


def loop(frame):
    """Of those not swapped yet in the window one is drawn, from a list made for each record."""
    draw = random.Random(SEED)
    for name in QUANTITIES:
        ranked, window = sorted(frame[name].tolist()), int(WINDOW * len(frame))
        swapped = [False] * len(ranked)
        for i in range(len(ranked)):
            reach = range(i + 1, min(i + window + 1, len(ranked))) if not swapped[i] else ()
            if free := [j for j in reach if not swapped[j]]:
                j = draw.choice(free)
                ranked[i], ranked[j] = ranked[j], ranked[i]
                swapped[i] = swapped[j] = True


QUESTION = Question(
    "Noise, rank swapping and shuffling, three quantities",
    quantities,
    {
        "correlated noise": lambda frame: kanon_lab.methods.add_noise(
            frame, QUANTITIES, method="correlated", strength=0.1
        ),
        "rank swapping": lambda frame: kanon_lab.methods.rank_swap(frame, QUANTITIES, window=WINDOW),
        "shuffling": lambda frame: kanon_lab.methods.shuffle(frame, QUANTITIES),
        "rank swapping, plain loop": loop,
        "sdcMicro, rank swapping": Task("rankSwap(data, variables = 1:3, P = 5)"),
    },
)
