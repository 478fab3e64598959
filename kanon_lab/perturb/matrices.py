"""The transition matrices of strata, each made when it is asked for: thousands of strata have thousands of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from kanon_lab.perturb.transition import evenly, framed, redrawing, two_stages


@dataclass(frozen=True, eq=False, repr=False)
class StrataMatrices(Mapping[int, pd.DataFrame]):
    """The matrix of each stratum, by its number from 0 on."""

    labels: Sequence[str]  # All categories
    full: np.ndarray  # (categories, categories) as given, or (categories,) the probability to stay
    invariant: bool
    codes: np.ndarray  # The categories that the first stratum has, then those of the second, and so on
    shares: np.ndarray  # Of each of these, in any unit
    first: np.ndarray  # (strata + 1,) Where each stratum begins in `codes`

    def __len__(self) -> int:
        return len(self.first) - 1

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self)))

    def __getitem__(self, stratum: int) -> pd.DataFrame:
        if stratum not in range(len(self)):
            raise KeyError(stratum)
        matrix, to = self.probabilities(stratum)
        return framed(matrix, [self.labels[code] for code in to])

    def has(self, stratum: int) -> slice:
        """Where the categories of a stratum stand in `codes`."""
        return slice(self.first[stratum], self.first[stratum + 1])

    def probabilities(self, stratum: int) -> tuple[np.ndarray, np.ndarray]:
        """The matrix of a stratum and the codes of its rows; a matrix that is used as it was given has all of them."""
        if self.full.ndim == 2 and not self.invariant:
            return self.full, np.arange(len(self.full))
        codes, shares = self.codes[self.has(stratum)], self.shares[self.has(stratum)]
        shares = shares / shares.sum()
        if self.full.ndim == 1:
            stay = self.full[codes]
            return redrawing(stay, shares) if self.invariant else evenly(stay), codes
        of_all = np.zeros(len(self.full))
        of_all[codes] = shares
        return two_stages(self.full, of_all)[np.ix_(codes, codes)], codes
