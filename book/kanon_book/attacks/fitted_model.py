"""Sample uniques, the probability by a fitted model that each is a population unique, and whether it is one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from scipy.stats import mannwhitneyu

from kanon_lab import KeySpec, class_table
from kanon_lab.errors import DataError
from kanon_lab.measures import loglinear
from kanon_lab.roles import names_of


def uniqueness_attack(
    sample: pd.DataFrame,
    population: pd.Series,
    keys: Iterable[str] | str,
    *,
    fraction: float,
    interactions: Iterable[Iterable[str]] = (),
) -> pd.DataFrame:
    """For each sample unique, how sure a model that was fitted to the sample is of it, and the truth.

    The model is the log-linear one of `kanon_lab.measures.loglinear`. If a share p of the persons is expected in a
    combination, and N - n persons are not in the sample, none of these has it with probability exp(-(N - n) p).

    Parameters
    ----------
    sample : DataFrame
        One record a person, no key missing.
    population : Series
        Persons of each combination of the keys that somebody has, indexed by it in the order of `keys`.
    keys : names
        The key variables.
    fraction : float
        Probability of being in the sample, above 0 and below 1.
    interactions : iterable of iterable of str
        As in `kanon_lab.measures.loglinear`.

    Returns
    -------
    DataFrame
        One row a sample unique: ``probability`` (0-1, that it is unique in the population) and ``is_unique``.

    References
    ----------
    Rocher, Hendrickx and de Montjoye (2019), with another model: theirs is a copula.

    Examples
    --------
    >>> people = pd.DataFrame({'sex': list('ffmm'), 'age': [1, 2, 1, 1]})
    >>> population = people.value_counts(['sex', 'age'])
    >>> kanon_book.attacks.uniqueness_attack(people.iloc[:3], population, ['sex', 'age'], fraction=0.75).round(2)
       probability  is_unique
    0         0.64       True
    1         0.80       True
    2         0.80      False
    """
    names = list(names_of(keys, "keys"))
    table = class_table(sample, KeySpec(names))
    model = loglinear(table, interactions=interactions, sampling_fraction=fraction)
    first = pd.Series(np.arange(len(sample))).groupby(table.class_of_record).first().to_numpy()
    where = population.index.get_indexer(pd.MultiIndex.from_frame(sample.iloc[first][names]))
    if (where < 0).any():
        raise DataError("population: some record of the sample has keys that nobody in it has; draw the sample from it")
    alone = table.f_k == 1
    truth = population.to_numpy()[where][alone] == 1
    return pd.DataFrame({"probability": model.probability_unique[alone], "is_unique": truth})


def calibration(attacked: pd.DataFrame, bounds: Sequence[float] = (0.0, 0.01, 0.1, 0.5, 0.9, 1.0)) -> pd.DataFrame:
    """Whether what a model calls probable is so often true.

    Parameters
    ----------
    attacked : DataFrame
        As of `uniqueness_attack`.
    bounds : sequence of float
        Ends of the intervals of probability, rising, from 0 to 1; the lower end belongs to an interval, and 1 to the
        last one.

    Returns
    -------
    DataFrame
        One row an interval: ``least``, ``most``, ``records``, ``probability`` (mean) and ``unique`` (share that is
        unique in the population). Means are missing where there are no records.

    Examples
    --------
    >>> attacked = pd.DataFrame({'probability': [0.2, 0.4, 0.9], 'is_unique': [False, True, True]})
    >>> kanon_book.attacks.calibration(attacked, [0, 0.5, 1])[['records', 'probability', 'unique']]
       records  probability  unique
    0        2          0.3     0.5
    1        1          0.9     1.0
    """
    number = np.searchsorted(bounds, attacked["probability"], side="right").clip(1, len(bounds) - 1) - 1
    rows = []
    for place, (least, most) in enumerate(zip(bounds[:-1], bounds[1:], strict=True)):
        here = attacked[number == place]
        rows.append((least, most, len(here), here["probability"].mean(), here["is_unique"].mean()))
    return pd.DataFrame(rows, columns=["least", "most", "records", "probability", "unique"])


def order_by_model(attacked: pd.DataFrame) -> float:
    """How often a record that is unique in the population has the higher probability of two, one that is and one not.

    Ties count half. This is the area under the curve of the receiver (AUC): 0.5 for a coin, 1 for a perfect order. It
    is missing where all records are alike.

    Examples
    --------
    >>> attacked = pd.DataFrame({'probability': [0.2, 0.4, 0.9], 'is_unique': [False, True, True]})
    >>> kanon_book.attacks.order_by_model(attacked)
    1.0
    """
    true, false = (attacked.loc[attacked["is_unique"] == is_so, "probability"] for is_so in (True, False))
    if not len(true) or not len(false):
        return float("nan")
    return float(mannwhitneyu(true, false, method="asymptotic").statistic / (len(true) * len(false)))
