"""Random numbers of the perturbations: of each variable its own, so that another variable more changes none of them."""

from __future__ import annotations

import numpy as np


def generator(seed: int, step: str, position: int) -> np.random.Generator:
    """Random numbers for one variable of one step.

    With one seed two kinds of step draw different numbers: noise that went with the order drawn by a shuffle before it
    would not be noise.
    """
    return np.random.default_rng([seed, position, *step.encode()])


def normal_draws(seed: int, step: str, shape: tuple[int, int]) -> np.ndarray:
    """Independent standard normal numbers, shape (records, variables)."""
    records, variables = shape
    return np.column_stack([generator(seed, step, j).standard_normal(records) for j in range(variables)])
