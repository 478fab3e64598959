"""The claims of the study's text."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from kanon_lab.digits import percent
from kanon_lab.population import CUADRO_2_RANGES, PERIODS, anonymity, persons_by_k
from kanon_lab.studies.figures import recomputed_each
from kanon_lab.studies.gil_bellosta.cuadros import COLUMNS, CUADROS, PLACES
from kanon_lab.studies.gil_bellosta.facts import (
    BENALMADENA,
    GOLLE_CENSUS,
    GOLLE_ZIP,
    SWEENEY_CENSUS,
    UNITED_STATES,
    municipalities,
    national_cells,
    oldest,
    population,
    real_place,
    real_places,
    totals,
)
from kanon_lab.studies.gil_bellosta.nation import TOLERANCE_SHARE
from kanon_lab.studies.gil_bellosta.undone import assumptions
from kanon_lab.studies.gil_bellosta.widths import level

Found = dict[str, dict[str, object]]

# The same order of magnitude: neither is as much as this times the other.
_ORDER = 10


def text_claims(
    counts: pd.DataFrame,
    nation: pd.DataFrame,
    widths: pd.DataFrame,
    figures: pd.DataFrame,
    rows: pd.DataFrame,
    embedded: bool,
) -> pd.DataFrame:
    """The claims of the text, as `kanon_lab.studies.figures.recomputed`.

    Parameters
    ----------
    counts : DataFrame
        Counts of the nation.
    nation : DataFrame
        What `anonymity` gives for them in the ranges of Cuadro 1.
    widths : DataFrame
        Its half-widths, as `half_widths` gives them.
    figures, rows : DataFrame
        All published figures, and those of the text.
    embedded : bool
        Whether the population was fitted to Cuadro 1.
    """
    alone = nation[(nation["k_from"] == 1) & (nation["k_to"] == 1)]
    found = {
        **_shares(alone.set_index("dates"), figures, embedded),
        **_thresholds(counts, embedded),
        **_cited(100 * alone["share"].iloc[0]),
        **_population(counts, figures, embedded),
        **_data(figures),
        **_simplifications(counts, alone),
        **_method(),
        **_intervals(nation, widths),
    }
    return recomputed_each(rows, [found[figure_id.rpartition("/")[2]] for figure_id in rows["figure_id"]])


def crossing(national: np.ndarray, share: float, periods: int = PERIODS["day"]) -> float:
    """The size at which a municipality with national ages has this share of 1-anonymous persons.

    Parameters
    ----------
    national : array of int
        Persons of the nation in each cell of sex and age group.
    share : float
        Share of persons who are alone in their key, 0-1.
    periods : int
        Periods in an age group.

    Returns
    -------
    float
        Inhabitants. Cells are taken as fractions of the size: the law is continued between whole numbers.
    """

    def excess(log_size: float) -> float:
        return _share_alone(national, np.exp(log_size), periods) - share

    return float(np.exp(brentq(excess, np.log(100), np.log(1e8))))


def _share_alone(cells: np.ndarray, size: float, periods: int) -> float:
    """The share of persons alone in a place of this size with the ages of these cells."""
    n = cells[cells > 0] / cells.sum() * size
    # n (1 - 1/N)^(n - 1), formula (1) at k = 1, holds for any n.
    return float(np.sum(n * np.exp((n - 1) * np.log1p(-1 / periods))) / n.sum())


def _words(words: str, verdict: str, reason: str, **columns: object) -> dict[str, object]:
    return {"computed_text": words, "verdict": verdict, "reason": reason, **columns}


def _shares(alone: pd.DataFrame, figures: pd.DataFrame, embedded: bool) -> Found:
    """Shares alone: those of Cuadro 1 again, and what is said of them."""
    share = 100 * alone["share"]
    fitted = {"tolerance": TOLERANCE_SHARE, "kind": "fitted"} if embedded else {}
    shares = {f"{dates}-share": {"computed": share[dates], **fitted} for dates in PERIODS}
    million = alone["persons"]["day"] / 1e6
    if embedded:
        printed = figures.set_index("figure_id")["published"]
        million = printed["gil-bellosta-2011/cuadro-1/day/1/share"] / 100 * population() / 1e6
    # Almost a round number: below it, and no farther than it rounds.
    almost = bool(round(20.0) - 0.5 <= million < 20.0)
    half = bool((1 / 3 + 1 / 2) / 2 < share["day"] / 100 < 1 / 2)
    return {
        **shares,
        "identifiable-share": {"computed": share["day"], **fitted},
        "day-half-width": {"computed": 100 * alone["half_width"]["day"] / alone["population"]["day"]},
        "almost-twenty-million": {
            "computed": million,
            "holds": almost,
            "reason": f"almost 20 {'holds' if almost else 'fails'}"
            + ": the printed percentage of INE's population" * embedded,
        },
        "almost-half": _words(
            "casi la mitad" if half else "",
            "" if not half else "approximate" if embedded else "exact",
            f"{share['day']:.1f} % are fewer than a half, and nearer to it than to a third",
            kind="fitted" if embedded else "recomputed",
        ),
    }


def _thresholds(counts: pd.DataFrame, embedded: bool) -> Found:
    """Sizes at which the share alone falls below a fifth and below four fifths."""
    return {
        "over-100000": _threshold(counts, 0.2, 100_000, embedded),
        "under-10000": _threshold(counts, 0.8, 10_000, embedded),
    }


def _threshold(counts: pd.DataFrame, share: float, limit: int, embedded: bool) -> dict[str, object]:
    """The share must be above the line in every place of up to so many inhabitants."""
    national = counts.groupby(["sex", "age_group"])["persons"].sum().to_numpy()
    computed = crossing(national, share)
    if embedded:
        return {"computed": computed, **_threshold_of_real_places(share, limit)}
    places = anonymity(counts, dates=["day"], ranges="1", by="municipality", spread=False)
    below = (places["population"] <= limit) & (places["population"] > 0)
    against = int((below & (places["share"] <= share)).sum())
    return {
        "computed": computed,
        "holds": bool(computed >= limit and against == 0),
        "reason": f"with national ages the share falls below {percent(share)} here; municipalities of up to {limit:,} "
        f"inhabitants that lie there or lower: {against} of {below.sum()}",
    }


def _threshold_of_real_places(share: float, limit: int) -> dict[str, str]:
    """Single places of the embedded population are synthetic: what real ones say, as they are and scaled."""
    nation = crossing(national_cells(), share)
    sizes = pd.Series({name: crossing(cells, share) for name, cells in real_places().items()})
    here = {name: cells for name, cells in real_places(1).items() if cells.sum() < limit}
    alone = pd.Series({name: _share_alone(cells, cells.sum(), PERIODS["day"]) for name, cells in here.items()})
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


def _cited(share: float) -> Found:
    """What is said of other studies."""
    by_zip = 100 * UNITED_STATES["zip"] / UNITED_STATES["population"]
    by_place = 100 * UNITED_STATES["place"] / UNITED_STATES["population"]
    of = "million persons of {population} million, in the abstract of [9]".format(**UNITED_STATES)
    alike = all(1 / _ORDER < other / share < _ORDER for other in (by_zip, by_place, GOLLE_ZIP))
    absent = {"verdict": "not-in-text", "reason": "the cited work is not at hand"}
    return {
        "us-zip": {"computed": by_zip, "reason": f"{UNITED_STATES['zip']} {of}"},
        "us-zip-census": {"computed": SWEENEY_CENSUS, "reason": "the abstract of [9] says so"},
        "us-place": {
            "computed": by_place,
            "reason": f"{UNITED_STATES['place']} {of}. The study has it from [2], which may quote [9] or not: its body "
            "is not at hand",
        },
        "us-place-census": {
            "computed": GOLLE_CENSUS,
            "reason": "said of the work [2], whose abstract says so. Read of the share beside it, it would not hold if "
            f"[2] has that from [9], which uses the census of {SWEENEY_CENSUS}; what the abstract of [2] has from its "
            f"own is {GOLLE_ZIP} %, by ZIP code",
        },
        "comparable": _words(
            "equiparable en orden de magnitud" if alike else "",
            "exact" if alike else "disagrees",
            f"{share:.0f} % beside {by_zip:.0f}, {by_place:.0f} and, in [2], {GOLLE_ZIP} %: within a factor of ten",
        ),
        "other-proof": absent,
        "banker": absent,
    }


def _population(counts: pd.DataFrame, figures: pd.DataFrame, embedded: bool) -> Found:
    """Which population it is, and how large."""
    everywhere, without = municipalities() if embedded else (counts["place"].nunique(),) * 2
    published = figures.set_index(["table", "column", "row"])["published"]
    listed = totals()
    equal = sum(published["Cuadro 2", "total", place] == listed[code] for place, code in PLACES.items())
    persons = sum(published["Cuadro 1"].xs("day n"))
    unit = population() / persons
    sizes = np.array([published["Cuadro 2", "total", place] for place in PLACES])
    alone = np.array([published["Cuadro 2", "1", place] for place in PLACES]) / sizes
    guess = np.array([_share_alone(national_cells(), size, PERIODS["day"]) for size in sizes])
    explained = 1 - np.sum((alone - guess) ** 2) / np.sum((alone - alone.mean()) ** 2)
    return {
        "municipalities": {
            "computed": everywhere,
            "reason": f"INE's list of 1 January 2010 has {everywhere:,} municipalities, {without:,} without Ceuta and "
            "Melilla; the study does not say which it left out",
        },
        "register-year": {
            "computed": 2010 if equal == len(PLACES) else np.nan,
            "reason": f"{equal} of the {len(PLACES)} totals of Cuadros 2 to 4 stand in INE's list of 1 January 2010",
        },
        "ten-thousands": _words(
            "decenas de miles" if 9_950 < unit < 10_050 else "",
            "",
            f"INE's {population():,} inhabitants over the {persons:,.0f} of the column for the day: {unit:,.1f}",
        ),
        "determinant": _words(
            "el principal determinante" if explained > 0.5 else "",
            "",
            f"INE's totals and national ages alone explain {percent(explained)} of the variance of the share alone "
            f"between the twenty municipalities of Cuadro 2; they miss it by {percent(np.abs(alone - guess).max())} of "
            "the inhabitants at most",
        ),
        "figure-number": _words(
            "1",
            "published-error",
            "the study has one figure, Figura 1, which shows what the text says of gráfico 3",
            kind="copied",
        ),
    }


def _data(figures: pd.DataFrame) -> Found:
    """The last age group, and how many years it is taken to span: what gives the printed cells of Benalmádena."""
    equal = {age: _equal_cells(figures, age, 5) for age in (85, 90, 95, 100)}
    span = {years: _equal_cells(figures, 85, years) for years in (5, 10, 15)}
    (age,), (years,) = ([key for key, n in found.items() if n == len(_bounded())] for found in (equal, span))
    return {
        "last-age-group": {
            "computed": age,
            "reason": "printed cells of Benalmádena that INE's ages give with the last group from "
            + ", ".join(f"{key} on: {n}" for key, n in equal.items())
            + f"; of {len(_bounded())}",
        },
        "ages-capped": {
            "computed": age + years,
            "reason": "printed cells of Benalmádena that INE's ages give where the last group spans "
            + ", ".join(f"{key} years: {n}" for key, n in span.items())
            + f"; of {len(_bounded())}. INE counts {oldest().drop('85-89', level=1).sum():,} persons of 90 and over",
        },
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


def _simplifications(counts: pd.DataFrame, alone: pd.DataFrame) -> Found:
    """What the study expects not to blur its results, and what it does to them."""
    effects = assumptions(counts, alone)

    def told(*undone: str) -> str:
        rows = effects[[name in undone for name in effects.index.get_level_values(0)]]
        return "; ".join(
            f"{dates}: {row.change:+,.0f} persons alone, {row.change / row.persons:+.1%}, {abs(row.half_widths):.1f} "
            "half-widths"
            for (_, dates), row in rows.iterrows()
        )

    old, weekend, months, years = effects.index.get_level_values(0).unique()
    stands = effects.loc[[months, years], "half_widths"].abs().max() < 1
    return {
        "ages-above-90": _words(
            "no se espera",
            "approximate",
            f"with INE's national ages from 85 on, {told(old)}. What the study concludes stands; its intervals, and "
            "the figure by year, do not",
        ),
        "births-even": _words(
            "no se espera",
            "approximate",
            f"with a fifth fewer births at weekends, {told(weekend)}. What the study concludes stands; its interval "
            "does not",
        ),
        "equal-lengths": _words(
            "tampoco" if stands else "",
            "exact" if stands else "approximate",
            f"with real lengths of months and years, {told(months, years)}: less than the printed intervals",
        ),
    }


def _method() -> Found:
    """The formulas, and what is said of the method."""
    even, uneven = (1 / 3, 1 / 3, 1 / 3), (1 / 2, 1 / 3, 1 / 6)
    told = "equal to the count over all ways in which {} persons can share out over {} periods"
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
    said = {name: told.format("up to 5", 3) for name in formulas}
    said["formula-municipality"] += ", in two cells of a municipality at once"
    return {
        **{name: _words("", "exact" if right[name] else "published-error", said[name]) for name in formulas},
        "no-variance": _words(
            "no permite",
            "exact",
            "said of formula (1), which is an expectation and no more, it stands. But one more expectation, of pairs "
            "of persons, gives the variance, and with it the intervals that the study simulates",
        ),
    }


def _births(cells: tuple[int, ...], chances: tuple[float, ...]) -> np.ndarray:
    """Expected periods with 1, 2, ... births of one cell, over cells of so many, by counting every way to be born."""
    expected = np.zeros(max(cells) + 1)
    cell = np.repeat(np.arange(len(cells)), cells)
    for born in product(range(len(chances)), repeat=sum(cells)):
        by_period = np.bincount(cell * len(chances) + born, minlength=len(cells) * len(chances))
        expected += np.prod([chances[i] for i in born]) * np.bincount(by_period, minlength=max(cells) + 1)
    return expected[1:]


def _intervals(nation: pd.DataFrame, widths: pd.DataFrame) -> Found:
    """The intervals of Cuadro 1."""
    widest = (nation["half_width"] / nation["persons"]).max()
    return {
        "confidence": {
            "computed": 100 * level(widths),
            "reason": "the level that the printed half-widths, taken as cut, have on average beside the exact ones",
        },
        "narrow": _words(
            "sumamente estrechos" if widest < 0.01 else "",
            "",
            f"the widest reaches {percent(widest)} of its number to either side. They cover the dates of birth alone",
        ),
    }
