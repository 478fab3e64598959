"""Sampling weights of a file, taken as design weights: 1 over the probability of being in the sample."""

from __future__ import annotations

import numpy as np

from kanon_lab.arguments import ROUNDING
from kanon_lab.classes import ClassTable
from kanon_lab.errors import DataError, shortened
from kanon_lab.risk.individual import too_light


def fraction_by_weights(table: ClassTable) -> float | None:
    """Records over the sum of their weights, in (0, 1], a `DataError` if above; None where the spec names no weight."""
    weights = table.weight_of_record
    if weights is None:
        return None
    fraction = table.n / float(weights.sum())
    if fraction > 1 + ROUNDING:
        raise DataError(
            f"the weights in column {shortened(str(table.spec.weight))} add up to less than the "
            "records, as no sample's do; mend them, or give the sampling_fraction"
        )
    return min(fraction, 1.0)


def refuse_light_classes(table: ClassTable, f_k: np.ndarray, F_k: np.ndarray) -> None:
    """Raise a `DataError` where the weights of a class, F_k, add up to less than its records, f_k."""
    light = too_light(f_k, F_k)
    if light.any():
        row = shortened(str(table.index[int(light[table.class_of_record].argmax())]))
        raise DataError(
            f"row {row}: the weights in column {shortened(str(table.spec.weight))} of its class add up "
            f"to less than its records, as in {int(light.sum())} of {table.n_classes} classes; a record stands for "
            "itself at least, so mend weights below 1 or leave out the weight"
        )
