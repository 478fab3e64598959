"""Finished frames for pictures: the explorers' grid, Figura 1 thinned, the chance of being alone, also by age."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from kanon_lab.data.labels import lowest_age
from kanon_lab.errors import OptionError
from kanon_lab.population.anonymity import anonymity, birth_laws, expected_by_k
from kanon_lab.population.law import PERIODS, KRange, persons_in_ranges

#: Columns of a grid before its columns 1, ..., k_max.
GRID_COLUMNS = ["level", "place", "name", "population", "dates"]

# Cells in which Figura 1 is thinned: 20 steps per factor of ten in population, 2 percentage points in share.
_STEPS_PER_DECADE = 20
_SHARE_STEP = 0.02


def explorer_grid(
    counts: pd.DataFrame,
    *,
    municipalities: Iterable[str] = (),
    dates: Iterable[str] = tuple(PERIODS),
    k_max: int = 100,
    whole: str = "Spain",
) -> pd.DataFrame:
    """Share of persons in groups of k or fewer, for the whole population, its provinces and some municipalities.

    Parameters
    ----------
    counts : DataFrame
        A counts frame (`kanon_lab.load_counts`).
    municipalities : iterable of str
        Codes of the municipalities to add, in the order wanted.
    dates : names out of ``day``, ``month``, ``year``
    k_max : int
        Last k, 1 or more.
    whole : str
        Name of the whole population.

    Returns
    -------
    DataFrame
        One row per place and date: ``level`` ("whole", "province" or "municipality"), ``place`` (code; "all" for the
        whole), ``name``, ``population`` (persons), ``dates``, then columns 1 to k_max: the expected share (0-1) of
        persons who share place, sex and date of birth with k persons or fewer, themselves included. Provinces are in
        order of name. Places without persons are left out.
    """
    dates, codes = tuple(dates), list(municipalities)
    provinces = expected_by_k(counts, dates=dates, k_max=_check_k_max(k_max), by="province")
    # Expectations add up, so the whole costs nothing more.
    whole_frame = provinces.drop(columns=["place", "name"]).groupby("dates", sort=False, as_index=False).sum()
    levels = [
        whole_frame.assign(level="whole", place="all", name=whole),
        provinces.sort_values("name", kind="stable").assign(level="province"),
    ]
    for code in codes:
        here = counts[counts["place"] == code]
        if here.empty:
            raise OptionError(f"no municipality of the population has the code {code!r}")
        levels.append(_municipality(here, dates, k_max))
    return _cumulative_shares(pd.concat(levels, ignore_index=True), k_max)


def municipality_grid(counts: pd.DataFrame, *, dates: Iterable[str] = tuple(PERIODS), k_max: int = 100) -> pd.DataFrame:
    """The rows of `explorer_grid` for one municipality, from its own cells alone; none where it has no persons."""
    if counts["place"].nunique() != 1:
        raise OptionError("give the rows of exactly one municipality")
    return _cumulative_shares(_municipality(counts, tuple(dates), _check_k_max(k_max)), k_max)


def shares_at_k(grid: pd.DataFrame, k: int) -> pd.DataFrame:
    """Shares of persons in groups of exactly k, of k or fewer, and of more than k.

    Parameters
    ----------
    grid : DataFrame
        From `explorer_grid` or `municipality_grid`.
    k : int
        1 to the last k of the grid.

    Returns
    -------
    DataFrame
        As the grid's rows: ``place``, ``dates``, ``population``, ``exactly``, ``up_to`` and ``more`` (shares, 0-1).
    """
    if k not in grid.columns:
        raise OptionError(f"the grid has no k = {k!r}")
    up_to = grid[k]
    exactly = up_to - grid[k - 1] if k > 1 else up_to
    return grid[["place", "dates", "population"]].assign(exactly=exactly, up_to=up_to, more=1 - up_to)


def _check_k_max(k_max: int) -> int:
    if k_max < 1:
        raise OptionError(f"k_max must be 1 or more, not {k_max}")
    return k_max


def _municipality(counts: pd.DataFrame, dates: tuple[str, ...], k_max: int) -> pd.DataFrame:
    return expected_by_k(counts, dates=dates, k_max=k_max, by="municipality").assign(level="municipality")


def _cumulative_shares(expected: pd.DataFrame, k_max: int) -> pd.DataFrame:
    inhabited = expected[expected["population"] > 0].reset_index(drop=True)
    ks = range(1, k_max + 1)
    # Rounding in the last place must not make a share of 1.0000000000000002.
    persons = inhabited[list(ks)].to_numpy(dtype=float).cumsum(axis=1)
    shares = np.minimum(persons / inhabited["population"].to_numpy(dtype=float)[:, None], 1.0)
    return pd.concat([inhabited[GRID_COLUMNS], pd.DataFrame(shares, columns=ks)], axis=1)


def thin_places(frame: pd.DataFrame) -> pd.DataFrame:
    """Municipalities by population and share, those that would be drawn on one another taken together.

    Parameters
    ----------
    frame : DataFrame
        From `anonymity` by municipality with one range of k: ``population``, ``dates`` and ``share`` are read.

    Returns
    -------
    DataFrame
        One row per date and occupied cell, 20 cells per factor of ten in population by 2 percentage points in share:
        ``dates``, ``municipalities`` (how many), ``population_from``, ``population_to``, ``population`` (their
        geometric mean) and ``share`` (their mean, 0-1). No municipality with persons is left out.
    """
    inhabited = frame[frame["population"] > 0]
    log_population = np.log10(inhabited["population"])
    cells = inhabited.assign(
        log_population=log_population,
        column=np.floor(log_population * _STEPS_PER_DECADE),
        row=np.floor(inhabited["share"] / _SHARE_STEP),
    )
    thin = cells.groupby(["dates", "column", "row"], sort=False, as_index=False).agg(
        municipalities=("population", "size"),
        population_from=("population", "min"),
        population_to=("population", "max"),
        population=("log_population", "mean"),
        share=("share", "mean"),
    )
    return thin.assign(population=10 ** thin["population"]).drop(columns=["column", "row"])


def alone_by_cell_size(sizes: Iterable[int], *, dates: Iterable[str] = tuple(PERIODS)) -> pd.DataFrame:
    """Probability that a person of a cell of n shares the birth period with nobody else in it.

    Parameters
    ----------
    sizes : iterable of int
        Persons per cell, 1 or more.
    dates : names out of ``day``, ``month``, ``year``; or mapping of name to periods

    Returns
    -------
    DataFrame
        One row per date and size: ``dates``, ``periods``, ``n`` (persons) and ``probability`` (0-1), which is
        (1 - 1/N)^(n - 1) for N equally likely periods.
    """
    n = np.asarray(list(sizes), dtype=np.int64)
    if (n < 1).any():
        raise OptionError("a cell with somebody in it holds 1 person or more")
    blocks = []
    for name, law in birth_laws(dates).items():
        probability = persons_in_ranges(n, law, [KRange(1, 1)])[:, 0] / n
        blocks.append(pd.DataFrame({"dates": name, "periods": law.periods, "n": n, "probability": probability}))
    return pd.concat(blocks, ignore_index=True)


def alone_by_age(
    counts: pd.DataFrame, *, dates: Iterable[str] | Mapping[str, int | Sequence[float]] = tuple(PERIODS)
) -> pd.DataFrame:
    """Expected share of persons who are alone, by age group.

    Parameters
    ----------
    counts : DataFrame
        A counts frame (`kanon_lab.load_counts`) with ``age_group``. An open group counts as five years wide.
    dates : names out of ``day``, ``month``, ``year``; or mapping
        As in `anonymity`.

    Returns
    -------
    DataFrame
        One row per age group, youngest first, and date: ``age_group`` (str), ``population``, ``dates``, ``persons``
        (those alone) and ``share`` (0-1; missing where nobody has that age).
    """
    if "age_group" not in counts:
        raise OptionError("the population has no column age_group: see kanon_lab.data.check_counts")
    groups = sorted(counts["age_group"].unique(), key=lowest_age)
    of_group = {
        group: anonymity(counts[counts["age_group"] == group], dates=dates, ranges="1", spread=False)
        for group in groups
    }
    rows = pd.concat(of_group, names=["age_group", None]).reset_index("age_group").reset_index(drop=True)
    return rows[["age_group", "population", "dates", "persons", "share"]]
