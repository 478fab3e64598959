"""Estimators put beside the truth: samples of a population that is known, drawn again and again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab.arguments import check_whole
from kanon_lab.keys import KeySpec, check_seed
from kanon_lab.perturb.draws import generator
from kanon_lab.subsample.counting import MOST_REPEATS
from kanon_lab.subsample.curve import expected_study
from kanon_lab.subsample.estimators import METHODS, check_cells, check_methods, estimates
from kanon_lab.subsample.sizes import SizeCounts, as_fractions, population_sizes, size_counts

#: The study as it was made, with one subsample drawn at random; beside it the methods that draw none.
ONE_SUBSAMPLE = "one subsample"
TRIAL_METHODS = {ONE_SUBSAMPLE: "one subsample, drawn at random as in the study", **METHODS}
# Classes up to this size are drawn all at once, larger ones one by one.
_SMALL = 64


def study_trials(
    frame: pd.DataFrame,
    spec: KeySpec | Iterable[str] | str,
    *,
    fractions: Iterable[float],
    seed: int,
    persons: str | None = None,
    recode: Mapping[str, Mapping[str, Any] | str | None] | None = None,
    samples: int = 20,
    methods: Iterable[str] | str = tuple(TRIAL_METHODS),
    cells: int | None = None,
    progress: bool = False,
) -> pd.DataFrame:
    """Draw samples of a known population, and compare what each method makes of them with the truth.

    Parameters
    ----------
    frame, spec, persons, recode
        The population, as in `kanon_lab.subsample.population_sizes`.
    fractions : sequence of float
        Sampling fractions, from 1e-9 to below 1.
    seed : int
        Seed of the random numbers; a fraction's samples do not depend on the other fractions.
    samples : int
        Bernoulli samples a fraction, from 1 to 100,000.
    methods : sequence of str, or str
        Some of `TRIAL_METHODS`: ``"one subsample"`` or those of `kanon_lab.subsample.population_uniques`.
    cells : int, optional
        As in `kanon_lab.subsample.population_uniques`, from the number of classes of the population on.
    progress : bool
        Show a progress bar on standard error where it takes more than two seconds.

    Returns
    -------
    DataFrame
        One row a fraction and method: ``fraction``, ``method``; ``true_p_c``, the share of population uniques, and
        ``true_p_d``, the expected number of population uniques in a sample over that of sample uniques; ``p_c`` and
        ``p_d``, means of the estimates (all 0-1); ``bias_p_c`` and ``bias_p_d``, those minus the truth; ``sd_p_c`` and
        ``sd_p_d``, the standard deviation of single estimates (NaN with fewer than two); ``failures``, the share of
        samples without an estimate (0-1), which are left out of means; ``samples`` and ``seed``.

    Examples
    --------
    >>> import pandas as pd
    >>> from kanon_lab import subsample
    >>> town = pd.DataFrame({"cell": range(200), "persons": [1, 2] * 100})
    >>> found = subsample.study_trials(town, "cell", persons="persons", fractions=[0.5], seed=1, samples=2)
    >>> found["true_p_c"].round(4).unique().tolist()
    [0.3333]
    """
    fractions, methods = pd.unique(as_fractions(fractions)), check_methods(methods, TRIAL_METHODS)
    samples, seed = check_whole(samples, "samples", 1, MOST_REPEATS), check_seed(seed)
    sizes = population_sizes(frame, spec, persons=persons, recode=recode)
    counts = size_counts(sizes)
    cells = check_cells(cells, counts)
    parts = []
    with _bar(len(fractions) * samples, progress) as bar:
        for fraction in fractions:
            rng = generator(seed, f"samples of {float(fraction)!r}", 0)
            draw = _Drawing(counts, float(fraction))
            for _ in range(samples):
                parts.append(_one_sample(draw.sample(rng), float(fraction), methods, cells, rng))
                bar.update()
    return _summary(pd.concat(parts, ignore_index=True), expected_study(sizes, fractions), samples, seed)


def _one_sample(
    sample: SizeCounts | None, fraction: float, methods: tuple[str, ...], cells: int | None, rng: np.random.Generator
) -> pd.DataFrame:
    """One row a method: ``fraction``, ``method``, ``p_c``, ``p_d``."""
    if sample is None:
        return pd.DataFrame({"fraction": fraction, "method": methods, "p_c": np.nan, "p_d": np.nan})
    found = estimates(sample, fraction, [method for method in methods if method != ONE_SUBSAMPLE], cells)
    found = found.set_index("method")[["p_c", "p_d"]].astype(float)
    # Drawn whether it is asked for or not, so that the other samples do not depend on that.
    p_d = _one_subsample(sample, fraction, rng)
    found.loc[ONE_SUBSAMPLE] = [sample.of_size(1) / sample.records * p_d, p_d]
    return found.loc[list(methods)].reset_index().assign(fraction=fraction)


def _one_subsample(sample: SizeCounts, fraction: float, rng: np.random.Generator) -> float:
    """u / u2 of one Bernoulli subsample; NaN where no record is unique in it.

    A class of k records leaves one of them in the subsample with the chance k f (1 - f)^(k - 1), each class by itself.
    """
    alone = sample.size * fraction * np.exp((sample.size - 1) * np.log1p(-fraction))
    unique = rng.binomial(sample.classes.astype(np.int64), np.minimum(alone, 1))
    u2, u = unique.sum(), unique[sample.size == 1].sum()
    return u / u2 if u2 else np.nan


class _Drawing:
    """Bernoulli samples of a population, drawn as class sizes: no record is needed."""

    def __init__(self, counts: SizeCounts, fraction: float):
        from scipy.stats import binom

        small = counts.size <= _SMALL
        self._fraction = fraction
        self._small = [
            (int(classes), binom.pmf(np.arange(size + 1), size, fraction))
            for size, classes in zip(counts.size[small], counts.classes[small], strict=True)
        ]
        self._large = np.repeat(counts.size[~small], counts.classes[~small].astype(np.int64)).astype(np.int64)

    def sample(self, rng: np.random.Generator) -> SizeCounts | None:
        """The classes of one sample by their size; None where nobody is drawn."""
        of_size = np.zeros(_SMALL + 1)
        for classes, chances in self._small:
            of_size[: len(chances)] += rng.multinomial(classes, chances)
        size, classes = np.unique(rng.binomial(self._large, self._fraction), return_counts=True)
        sizes = np.concatenate([np.arange(_SMALL + 1), size])
        both = np.concatenate([of_size, classes])
        size, place = np.unique(sizes, return_inverse=True)
        classes = np.bincount(place, both)
        some = (size > 0) & (classes > 0)
        return SizeCounts(size[some].astype(float), classes[some]) if some.any() else None


def _summary(drawn: pd.DataFrame, expected: pd.DataFrame, samples: int, seed: int) -> pd.DataFrame:
    of_method = drawn.groupby(["fraction", "method"], sort=False)
    found = of_method[["p_c", "p_d"]].mean()
    truth = expected.set_index("fraction")[["true_p_c", "true_p_d"]]
    found = found.join(truth).join(of_method[["p_c", "p_d"]].std().add_prefix("sd_"))
    for name in ("p_c", "p_d"):
        found[f"bias_{name}"] = found[name] - found[f"true_{name}"]
    found["failures"] = 1 - of_method["p_c"].count() / samples
    found = found.assign(samples=samples, seed=seed).reset_index()
    return found[
        ["fraction", "method", "true_p_c", "true_p_d", "p_c", "p_d", "bias_p_c", "bias_p_d", "sd_p_c", "sd_p_d"]
        + ["failures", "samples", "seed"]
    ]


def _bar(total: int, shown: bool):
    from tqdm import tqdm

    return tqdm(total=total, desc="samples", disable=not shown, delay=2, leave=False)
