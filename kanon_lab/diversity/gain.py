"""What belonging to a class adds to what the whole file already tells: delta-disclosure and beta-likeness."""

from __future__ import annotations

import numpy as np

from kanon_lab.classes import ValueCounts


def delta_disclosure(counts: ValueCounts) -> np.ndarray:
    """Largest |ln(p/q)| over all values of the file, p the share in the class and q in the file.

    Infinite where a value is lacking. The class is delta-disclosure private for every delta **above** it (Brickell and
    Shmatikov 2008).
    """
    delta = counts.largest(np.abs(np.log(counts.p / counts.q)))
    lacking = np.diff(counts.start, append=len(counts.row)) < np.count_nonzero(counts.overall)
    return counts.by_class(np.where(lacking, np.inf, delta))


def beta_likeness(counts: ValueCounts) -> np.ndarray:
    """Largest relative gain (p - q)/q of any value: the smallest beta of basic beta-likeness (Cao and Karras 2012)."""
    return counts.by_class(counts.largest(_gains(counts)))


def enhanced_beta_likeness(counts: ValueCounts) -> np.ndarray:
    """The smallest beta for which every gain (p - q)/q is at most min(beta, -ln q) (Cao and Karras 2012).

    Infinite where a gain exceeds -ln q, which no beta mends.
    """
    gains = _gains(counts)
    return counts.by_class(counts.largest(np.where(gains > -np.log(counts.q), np.inf, gains)))


def _gains(counts: ValueCounts) -> np.ndarray:
    """How much more frequent each count's value is in its class than in the file, relative to that; 0 at least."""
    return np.maximum(counts.p / counts.q - 1, 0)
