"""The claims of Gil Bellosta (2011), section by section."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pandas as pd

from kanon_lab.digits import percent
from kanon_lab.population import PERIODS, anonymity, persons_by_k
from kanon_lab.population.law import CUADRO_2_RANGES
from kanon_lab.studies.evidence import Told, told
from kanon_lab.studies.gil_bellosta import (
    BENALMADENA,
    COLUMNS,
    CUADROS,
    PLACES,
    assumptions,
    crossing,
    municipalities,
    national_cells,
    oldest,
    population,
    real_place,
    real_places,
    share_alone,
    totals,
)
from kanon_lab.studies.half_widths import level

#: Percentages from a fitted population: percentage points, fixed before the fit.
TOLERANCE_SHARE = 0.10
#: Million persons of the United States, of them alone by sex, date of birth and ZIP code, or place (census of 1990), in
#: the abstract of Sweeney (2000); and what that of Golle (2006) has by ZIP code in the census of 2000, per cent.
_UNITED_STATES = {"population": 248, "zip": 216, "place": 132}
_SWEENEY_CENSUS, _GOLLE_CENSUS, _GOLLE_ZIP = 1990, 2000, 63
# The same order of magnitude: neither is as much as this times the other.
_ORDER = 10


def text_claims(
    counts: pd.DataFrame, nation: pd.DataFrame, widths: pd.DataFrame, figures: pd.DataFrame, embedded: bool
) -> dict[str, object]:
    """What is computed for the claims of the text, by the last part of their figure_id.

    `counts` are those of the nation, `nation` what `anonymity` gives for them in the ranges of Cuadro 1, `widths` its
    half-widths (`half_widths`), `figures` all that are published; `embedded`: fitted to Cuadro 1.
    """
    alone = nation[(nation["k_from"] == 1) & (nation["k_to"] == 1)]
    return {
        **_shares(alone.set_index("dates"), figures, embedded),
        "over-100000": _threshold(counts, 0.2, 100_000, embedded),
        "under-10000": _threshold(counts, 0.8, 10_000, embedded),
        **_cited(100 * alone["share"].iloc[0]),
        **_population(counts, figures, embedded),
        **_data(figures),
        **_simplifications(counts, alone),
        **_formulas(),
        **_intervals(nation, widths),
    }


def _shares(alone: pd.DataFrame, figures: pd.DataFrame, embedded: bool) -> dict[str, Told]:
    """Shares alone: those of Cuadro 1 again, and what is said of them."""
    share = 100 * alone["share"]
    kind = "fitted" if embedded else "recomputed"
    fitted = {"tolerance": TOLERANCE_SHARE, "kind": kind} if embedded else {}
    million = alone["persons"]["day"] / 1e6
    if embedded:
        printed = figures.set_index("figure_id")["published"]
        million = printed["gil-bellosta-2011/cuadro-1/day/1/share"] / 100 * population() / 1e6
    # Almost a round number: below it, and no farther than it rounds.
    almost = bool(round(20.0) - 0.5 <= million < 20.0)
    outcome = ("holds" if almost else "fails") + ": the printed percentage of INE's population" * embedded
    half = bool((1 / 3 + 1 / 2) / 2 < share["day"] / 100 < 1 / 2)
    verdict = "" if not half else "approximate" if embedded else "exact"
    return {
        **{f"{dates}-share": told(share[dates], fitted) for dates in PERIODS},
        "identifiable-share": told(share["day"], fitted),
        "day-half-width": told(100 * alone["half_width"]["day"] / alone["population"]["day"]),
        "almost-twenty-million": told(million, {"holds": almost}, outcome=outcome),
        "almost-half": told(half, {"verdict": verdict, "kind": kind}, share=share["day"]),
    }


def _threshold(counts: pd.DataFrame, share: float, limit: int, embedded: bool) -> Told:
    """The share must be above the line in every place of up to so many inhabitants."""
    national = counts.groupby(["sex", "age_group"])["persons"].sum().to_numpy()
    computed = crossing(national, share)
    if embedded:
        return told(computed, _threshold_of_real_places(share, limit))
    places = anonymity(counts, dates=["day"], ranges="1", by="municipality", spread=False)
    below = (places["population"] <= limit) & (places["population"] > 0)
    against = int((below & (places["share"] <= share)).sum())
    reason = (
        f"with national ages the share falls below {percent(share)} here; municipalities of up to {limit:,} "
        f"inhabitants that lie there or lower: {against} of {below.sum()}"
    )
    return told(computed, {"holds": bool(computed >= limit and against == 0), "reason": reason})


def _threshold_of_real_places(share: float, limit: int) -> dict[str, str]:
    """Single places of the embedded population are synthetic: what real ones say, as they are and scaled."""
    nation = crossing(national_cells(), share)
    sizes = pd.Series({name: crossing(cells, share) for name, cells in real_places().items()})
    here = {name: cells for name, cells in real_places(1).items() if cells.sum() < limit}
    alone = pd.Series({name: share_alone(cells, cells.sum(), PERIODS["day"]) for name, cells in here.items()})
    holds = bool(min(nation, sizes.min()) >= limit and alone.min() > share)
    near = bool(sizes.min() <= limit <= max(nation, sizes.max()) and alone.min() > share)
    reason = (
        f"the share falls below {percent(share)} at {nation:,.0f} inhabitants with the ages of the nation, and with "
        f"those of Málaga's {len(sizes)} places of 1,000 or more, scaled, at {sizes.min():,.0f} ({sizes.idxmin()}) to "
        f"{sizes.max():,.0f} ({sizes.idxmax()}). As they are, the {len(alone)} places of Málaga of fewer than "
        f"{limit:,} have {percent(alone.min())} alone or more"
    )
    reason += ": the bound holds with real ages" if holds else ": as a round number it stands" if near else ""
    return {"verdict": "exact" if holds else "approximate" if near else "disagrees", "reason": reason}


def _cited(share: float) -> dict[str, Told]:
    """What is said of other studies."""
    by_zip, by_place = (100 * _UNITED_STATES[name] / _UNITED_STATES["population"] for name in ("zip", "place"))
    alike = all(1 / _ORDER < other / share < _ORDER for other in (by_zip, by_place, _GOLLE_ZIP))
    comparable = {"verdict": "exact" if alike else "disagrees"}
    return {
        "us-zip": told(by_zip, **_UNITED_STATES),
        "us-zip-census": told(_SWEENEY_CENSUS),
        "us-place": told(by_place, **_UNITED_STATES),
        "us-place-census": told(_GOLLE_CENSUS, census=_SWEENEY_CENSUS, golle=_GOLLE_ZIP),
        "comparable": told(alike, comparable, share=share, zip=by_zip, place=by_place, golle=_GOLLE_ZIP),
    }


def _population(counts: pd.DataFrame, figures: pd.DataFrame, embedded: bool) -> dict[str, Told]:
    """Which population it is, and how large."""
    everywhere, without = municipalities() if embedded else (counts["place"].nunique(),) * 2
    published = figures.set_index(["table", "column", "row"])["published"]
    listed = totals()
    equal = sum(published["Cuadro 2", "total", place] == listed[code] for place, code in PLACES.items())
    persons = sum(published["Cuadro 1"].xs("day n"))
    unit = population() / persons
    sizes = np.array([published["Cuadro 2", "total", place] for place in PLACES])
    alone = np.array([published["Cuadro 2", "1", place] for place in PLACES]) / sizes
    guess = np.array([share_alone(national_cells(), size, PERIODS["day"]) for size in sizes])
    explained = 1 - np.sum((alone - guess) ** 2) / np.sum((alone - alone.mean()) ** 2)
    missed = percent(np.abs(alone - guess).max())
    return {
        "municipalities": told(everywhere, everywhere=everywhere, without=without),
        "register-year": told(2010 if equal == len(PLACES) else np.nan, equal=equal, places=len(PLACES)),
        "ten-thousands": told(9_950 < unit < 10_050, population=population(), persons=persons, unit=unit),
        "determinant": told(explained > 0.5, explained=percent(explained), missed=missed),
    }


def _data(figures: pd.DataFrame) -> dict[str, Told]:
    """The last age group, and how many years it is taken to span: what gives the printed cells of Benalmádena."""
    equal = {age: _equal_cells(figures, age, 5) for age in (85, 90, 95, 100)}
    span = {years: _equal_cells(figures, 85, years) for years in (5, 10, 15)}
    (last,), (years,) = ([key for key, n in found.items() if n == len(_bounded())] for found in (equal, span))
    ages = ", ".join(f"{age} on: {n}" for age, n in equal.items())
    spans = ", ".join(f"{width} years: {n}" for width, n in span.items())
    cells, over_90 = len(_bounded()), oldest().drop("85-89", level=1).sum()
    return {
        "last-age-group": told(last, tried=ages, cells=cells),
        "ages-capped": told(last + years, tried=spans, cells=cells, oldest=over_90),
    }


def _bounded() -> list[tuple[str, str]]:
    return [(table, column) for table in CUADROS for column in COLUMNS if column != ">100"]


def _equal_cells(figures: pd.DataFrame, last: int, years: int) -> int:
    """Bounded cells of Benalmádena in Cuadros 2 to 4 that its real ages give, with a last group from this age on."""
    cells = real_place(BENALMADENA, pool_from=None)
    is_old = cells.index.get_level_values(1).isin(oldest().index.get_level_values(1))
    old, younger = cells[is_old], cells[~is_old].to_numpy()
    ages = old.index.get_level_values(1).str.extract(r"(\d+)", expand=False).astype(int)
    closed, opened = old[ages < last].to_numpy(), old[ages >= last].groupby("sex").sum().to_numpy()
    published = figures[figures["row"] == "Benalmádena"].set_index(["table", "column"])["published"]
    equal = 0
    for table, dates in CUADROS.items():
        five = persons_by_k(np.concatenate([younger, closed]), PERIODS[dates], 100).sum(axis=0)
        by_k = np.rint(five + persons_by_k(opened, PERIODS[dates] * years // 5, 100).sum(axis=0))
        for column, k in zip(COLUMNS, CUADRO_2_RANGES, strict=True):
            if k.k_to is not None:
                equal += by_k[k.k_from - 1 : k.k_to].sum() == published[table, column]
    return equal


def _simplifications(counts: pd.DataFrame, alone: pd.DataFrame) -> dict[str, Told]:
    """What the study expects not to blur its results, and what it does to them."""
    effects = assumptions(counts, alone)

    def in_words(*undone: str) -> str:
        rows = effects[[name in undone for name in effects.index.get_level_values(0)]]
        return "; ".join(
            f"{dates}: {row.change:+,.0f} persons alone, {row.change / row.persons:+.1%}, {abs(row.half_widths):.1f} "
            "half-widths"
            for (_, dates), row in rows.iterrows()
        )

    old, weekend, months, years = effects.index.get_level_values(0).unique()
    stands = effects.loc[[months, years], "half_widths"].abs().max() < 1
    return {
        "ages-above-90": told(None, change=in_words(old)),
        "births-even": told(None, change=in_words(weekend)),
        "equal-lengths": told(
            bool(stands), {"verdict": "exact" if stands else "approximate"}, change=in_words(months, years)
        ),
    }


def _formulas() -> dict[str, Told]:
    """Each formula against the count over all ways to be born, and whether they are equal for up to five persons."""
    even, uneven = (1 / 3, 1 / 3, 1 / 3), (1 / 2, 1 / 3, 1 / 6)
    persons, sizes = np.arange(1, 6), range(1, 6)
    formulas = {
        "formula-1": [_births((n,), even) for n in sizes],
        "formula-unequal": [_births((n,), uneven) for n in sizes],
        "formula-binomial": [_births((n,), even) for n in sizes],
        "formula-persons": [persons[:n] * _births((n,), even) for n in sizes],
        "formula-municipality": [persons[: max(n, 2)] * _births((n, 2), even) for n in sizes],
    }
    printed = {
        "formula-1": lambda n, k: comb(n, k) * 3.0 ** (1 - n) * 2.0 ** (n - k),
        "formula-unequal": lambda n, k: sum(comb(n, k) * p**k * (1 - p) ** (n - k) for p in uneven),
        "formula-binomial": lambda n, k: 3 * comb(n, k) * (1 / 3) ** k * (1 - 1 / 3) ** (n - k),
        "formula-persons": lambda n, k: k * comb(n, k) * 3.0 ** (1 - n) * 2.0 ** (n - k),
        "formula-municipality": lambda n, k: (
            k * sum(comb(m, k) * 3.0 ** (1 - m) * 2.0 ** (m - k) for m in (n, 2))  # two cells, of n and of 2
        ),
    }
    right = {
        name: all(
            abs(printed[name](n, k) - counted[n - 1][k - 1]) < 1e-12 for n in range(1, 6) for k in range(1, n + 1)
        )
        for name, counted in formulas.items()
    }
    return {name: told(None, {"verdict": "exact" if right[name] else "published-error"}) for name in formulas}


def _births(cells: tuple[int, ...], chances: tuple[float, ...]) -> np.ndarray:
    """Expected periods with 1, 2, ... births of one cell, over cells of so many, by counting every way to be born."""
    expected = np.zeros(max(cells) + 1)
    cell = np.repeat(np.arange(len(cells)), cells)
    for born in product(range(len(chances)), repeat=sum(cells)):
        by_period = np.bincount(cell * len(chances) + born, minlength=len(cells) * len(chances))
        expected += np.prod([chances[i] for i in born]) * np.bincount(by_period, minlength=max(cells) + 1)
    return expected[1:]


def _intervals(nation: pd.DataFrame, widths: pd.DataFrame) -> dict[str, object]:
    """The intervals of Cuadro 1."""
    widest = (nation["half_width"] / nation["persons"]).max()
    return {"confidence": 100 * level(widths), "narrow": told(widest < 0.01, widest=percent(widest))}
