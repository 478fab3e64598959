"""Anonymity of places by simulation: every date of birth is drawn, and who shares one is counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from kanon_lab.errors import OptionError
from kanon_lab.population.law import CUADRO_1_RANGES, BirthLaw, KRange, as_ranges
from kanon_lab.population.places import birth_laws, place_codes, rows_of

#: Persons drawn at a time; small enough for the sort to stay in the processor's cache.
_DRAWN_AT_ONCE = 500_000
#: Persons of one cell, whose draws are in memory together; in a dense cell they, times _DENSE, outnumber the periods.
_MOST_DRAWN, _DENSE = 10**8, 4


def simulate(
    counts: pd.DataFrame,
    *,
    dates: Iterable[str] | Mapping[str, int | Sequence[float]] = ("day",),
    ranges: str | Iterable[KRange] = CUADRO_1_RANGES,
    by: str = "all",
    repeats: int,
    seed: int,
    progress: bool = False,
) -> pd.DataFrame:
    """Draw every person's birth date and count the k-anonymous persons, `repeats` times.

    Gil Bellosta (2011), section 2, steps 1 to 4.

    Parameters
    ----------
    counts, dates, ranges, by
        As in `anonymity`.
    repeats : int
        Number of simulations, 1 or more.
    seed : int
        0 or more: the same seed gives the same draws.
    progress : bool
        Show a progress bar on standard error.

    Returns
    -------
    DataFrame
        One row per repeat, date, place and range: ``repeat`` (from 0), ``seed``, ``place``, ``dates``, ``periods``,
        ``k_from``, ``k_to`` and ``persons`` (a whole number).

    Examples
    --------
    >>> places = kanon_lab.load_counts("malaga-2010").head(36)
    >>> drawn = kanon_lab.population.simulate(places, ranges="1+", repeats=2, seed=1)
    >>> drawn["persons"].tolist() == [places["persons"].sum()] * 2
    True
    """
    from tqdm import tqdm

    if not all(isinstance(number, (int, np.integer)) for number in (repeats, seed)) or repeats < 1 or seed < 0:
        raise OptionError("repeats must be a whole number from 1 on, and the seed one from 0 on")
    ranges, laws = as_ranges(ranges), birth_laws(dates)
    codes, frame = place_codes(counts, by)
    if counts["persons"].max() > _MOST_DRAWN:
        raise OptionError("a cell of more than 10^8 persons is too large to draw: use the closed form (anonymity)")
    # Cells of similar size come together, so that a block is either sparse (sorted) or dense (tabulated).
    order = np.argsort(counts["persons"].to_numpy(), kind="stable")
    sizes, places = counts["persons"].to_numpy()[order], codes[order]
    # A stream for each law: to ask for one more leaves the draws of those before it as they were.
    streams = [np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(len(laws))]
    persons = []
    with tqdm(total=repeats * len(laws), desc="simulations", unit="sim", disable=not progress, leave=False) as bar:
        for _ in range(repeats):
            for law, rng in zip(laws.values(), streams, strict=True):
                persons.append(_simulate_once(sizes, places, len(frame), law, ranges, rng))
                bar.update()
    repeated = pd.DataFrame({"repeat": range(repeats), "seed": seed})
    of_laws = [frame[["place"]].merge(rows_of({name: law}, ranges), how="cross") for name, law in laws.items()]
    rows = repeated.merge(pd.concat(of_laws), how="cross")
    columns = ["repeat", "seed", "place", "dates", "periods", "k_from", "k_to", "persons"]
    return rows.assign(persons=np.concatenate(persons, axis=None))[columns]


def _simulate_once(
    sizes: np.ndarray,
    places: np.ndarray,
    n_places: int,
    law: BirthLaw,
    ranges: Sequence[KRange],
    rng: np.random.Generator,
) -> np.ndarray:
    """Persons per place and range in one draw of all birth dates."""
    last = min(max(r.k_from if r.k_to is None else r.k_to for r in ranges), int(sizes[-1])) + 1
    by_k = np.zeros(n_places * (last + 1))
    for start, stop in _blocks(sizes, law.periods):
        cell, k = _shared_dates(sizes[start:stop], law, rng)
        key = np.minimum(k, last)
        if n_places > 1:
            key = key + places[start:stop][cell] * (last + 1)
        by_k += np.bincount(key, weights=k, minlength=by_k.size)
    of_place = by_k.reshape(n_places, last + 1)
    result = [of_place[:, r.k_from : None if r.k_to is None else r.k_to + 1].sum(axis=1) for r in ranges]
    return np.rint(np.column_stack(result)).astype(np.int64)


def draw_key_sizes(
    sizes: np.ndarray, periods: int | Sequence[float] | BirthLaw, rng: np.random.Generator
) -> np.ndarray:
    """How many keys have 0, 1, 2, ... persons in one draw of all birth dates; 0 is not counted.

    `sizes` are the persons of each cell.

    Examples
    --------
    >>> from kanon_lab.population.simulation import draw_key_sizes
    >>> draw_key_sizes(np.array([1, 1, 3]), 1, np.random.default_rng(1)).tolist()
    [0, 2, 0, 1]
    """
    sizes, law = np.sort(sizes), BirthLaw.of(periods)
    keys = np.zeros(1, dtype=np.int64)
    for start, stop in _blocks(sizes, law.periods):
        more = np.bincount(_shared_dates(sizes[start:stop], law, rng)[1])
        length = max(keys.size, more.size)
        keys = np.pad(keys, (0, length - keys.size)) + np.pad(more, (0, length - more.size))
    return keys


def _blocks(sizes: np.ndarray, periods: int) -> Iterable[tuple[int, int]]:
    """Runs of cells, sorted by size, with about _DRAWN_AT_ONCE persons (or, where dense, periods) in each."""
    # A sparse cell costs its persons, a dense one its periods.
    dense = sizes * _DENSE > periods
    ends = np.cumsum(np.where(dense, np.maximum(sizes, periods), np.maximum(sizes, 1)))
    start = 0
    first_dense = int(np.searchsorted(dense, True))
    while start < sizes.size:
        done = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, done + _DRAWN_AT_ONCE, side="right")))
        if start < first_dense:
            stop = min(stop, first_dense)
        yield start, stop
        start = stop


def _shared_dates(sizes: np.ndarray, law: BirthLaw, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """For every occupied period: the cell it belongs to, and the number of persons born in it."""
    periods = law.periods
    births = _draw(int(sizes.sum()), law, rng)
    key = np.repeat(np.arange(sizes.size, dtype=births.dtype) * births.dtype.type(periods), sizes) + births
    if sizes.size and sizes[0] * _DENSE > periods:
        counts = np.bincount(key, minlength=sizes.size * periods)
        occupied = np.flatnonzero(counts)
        return occupied // periods, counts[occupied]
    key.sort()
    first = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1]))) if key.size else np.array([], dtype=np.intp)
    return key[first] // periods, np.diff(np.append(first, key.size))


def _draw(size: int, law: BirthLaw, rng: np.random.Generator) -> np.ndarray:
    """Birth periods of `size` persons, as 32-bit numbers where a block's keys fit into them."""
    if law.probability.size == 1:
        dtype = np.uint32 if law.periods * _DRAWN_AT_ONCE * 4 < 2**32 and law.periods < 4096 else np.int64
        return rng.integers(0, law.periods, size, dtype=dtype)
    cumulative = np.cumsum(np.repeat(law.probability, law.multiplicity.astype(np.intp)))
    return np.minimum(np.searchsorted(cumulative, rng.random(size), side="right"), law.periods - 1)
