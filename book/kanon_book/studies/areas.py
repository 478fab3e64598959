"""The areas of a country: the share of their people who are in small groups, by what an intruder knows of the place."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from kanon_lab.population.law import PERIODS, KRange, persons_in_ranges
from kanon_lab.population.places import birth_laws, place_codes

#: What is known of the place of residence, the finest first, and the columns of counts that say it.
KNOWN = {"municipality": ["place"], "province": ["province"], "country": []}


def shares_by_area(
    counts: pd.DataFrame,
    *,
    by: str = "province",
    ks: Iterable[int] = (1,),
    known: Iterable[str] = tuple(KNOWN),
    whole: str = "Spain",
) -> pd.DataFrame:
    """Expected share of the persons of each area who share what is known of them with k or fewer, themselves included.

    Parameters
    ----------
    counts : DataFrame
        A counts frame with ``sex`` and ``age_group`` (`kanon_lab.load_counts`).
    by : {"province", "municipality"}
        The areas.
    ks : iterable of int
        The k to measure.
    known : names out of ``municipality``, ``province``, ``country``
        What the intruder knows of a person's place, beside sex and date of birth.
    whole : str
        Name of all areas together.

    Returns
    -------
    DataFrame
        A row per area, granularity of the date and place known, the whole (``all``) first: ``place``, ``name``,
        ``population`` (persons), ``known``, ``dates``, and the share (0-1) for each k in a column called by it.

    Examples
    --------
    >>> spain = kanon_lab.load_counts("spain-2010")
    >>> shares = kanon_book.studies.shares_by_area(spain, known=["province"])
    >>> shares.query("place == 'all' and dates == 'day'")[1].round(4).tolist()
    [0.0042]
    """
    codes, areas = place_codes(counts, by)
    persons, ks = counts["persons"].to_numpy(), list(ks)
    areas["population"] = np.bincount(codes, weights=persons).astype(int)
    together = pd.DataFrame({"place": ["all"], "name": [whole], "population": [persons.sum()]})
    blocks = []
    for place in known:
        cells = counts.groupby([*KNOWN[place], "sex", "age_group"], sort=False)["persons"].transform("sum")
        sizes, size_of = np.unique(cells, return_inverse=True)
        for dates, law in birth_laws(PERIODS).items():
            chance = persons_in_ranges(sizes, law, [KRange(1, k) for k in ks]) / np.maximum(sizes, 1)[:, None]
            sums = np.stack([np.bincount(codes, weights=persons * column[size_of]) for column in chance.T], axis=1)
            for frame, inside in ((together, sums.sum(axis=0)[None, :]), (areas, sums)):
                shares = pd.DataFrame(inside / frame["population"].to_numpy()[:, None], columns=ks)
                blocks.append(pd.concat([frame.assign(known=place, dates=dates), shares], axis=1))
    return pd.concat(blocks, ignore_index=True)


def alone_by_area(shares: pd.DataFrame, area: str) -> pd.DataFrame:
    """Who is alone, of `shares_by_area`, to read: in per cent, a row per area and place known, a column per date.

    Examples
    --------
    >>> malaga = kanon_lab.load_counts("malaga-2010")
    >>> shares = kanon_book.studies.shares_by_area(malaga, known=["municipality"], whole="all")
    >>> kanon_book.studies.alone_by_area(shares, "province")["alone by day (%)"].iloc[0].item()
    31.42
    """
    rows = ["place", "name", "known"]
    wide = shares.assign(share=(100 * shares[1]).round(2)).pivot(index=rows, columns="dates", values="share")
    wide = wide.loc[shares.set_index(rows).index.unique(), list(PERIODS)].add_prefix("alone by ").add_suffix(" (%)")
    table = wide.reset_index().drop(columns="place").rename_axis(columns=None)
    table = table.rename(columns={"name": area, "known": "place known to the"})
    return table if shares["known"].nunique() > 1 else table.drop(columns="place known to the")
