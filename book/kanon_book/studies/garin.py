"""Garín i Ramírez (1996): Taula 1, the fraction behind it and its draw; the variables of the released sample."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pandas as pd

from kanon_book.studies.figures import printed_step, published_figures, read_table
from kanon_lab.arguments import check_positive
from kanon_lab.errors import OptionError, shortened

SOURCE = "garin-1996"
TABLE = "Taula 1"
GEOGRAPHIES = ("Catalonia", "4 provinces", "14 regions")
AGES = ("1 year", "5 years", "10 years")
COUNTS = ("u1", "u2", "u")
#: Decimals of u/u2 with which the fraction of section 4.5.1 gives every p of Taula 1.
DECIMALS = 4
_SCENARIO = ("geography", "age", *COUNTS, "unique_share", "p_b", "p_c", "p_d", "p_identification")
#: How the last digit of a printed p can have come about.
LAST_DIGITS = ("cut", "rounded")

# Scenarios of which each is a refinement of the one before it, by geography and age; provinces are taken to be made of
# regions.
_CHAINS = (
    (("Catalonia", "10 years"), ("4 provinces", "10 years"), ("14 regions", "10 years"), ("14 regions", "1 year")),
    (("Catalonia", "5 years"), ("4 provinces", "5 years"), ("14 regions", "5 years"), ("14 regions", "1 year")),
    (("Catalonia", "5 years"), ("Catalonia", "1 year"), ("4 provinces", "1 year"), ("14 regions", "1 year")),
)
#: The youngest age of the census, of 1 March 1991, in 1995: what anybody then born has reached. Those of this age were
#: born in two months; the next is the first of a whole year of births.
YOUNGEST = 4
#: Width of the age bands in years, the first and last code that the study names, and the first age of the last code.
_BANDS = {"5 years": (5, 1, 13, 65), "10 years": (10, 1, 8, 80)}


def number(name: str) -> float:
    """A number that is printed outside of Taula 1, by the last part of its figure_id."""
    figures = published_figures(SOURCE)
    return float(figures.loc[figures["figure_id"].str.endswith(f"/{name}"), "published"].item())


@lru_cache
def _table() -> pd.DataFrame:
    figures = published_figures(SOURCE).query("table == @TABLE and row in @GEOGRAPHIES")
    parts = figures["column"].str.split(", ", expand=True)
    cells = figures.assign(age=parts[0], name=parts[1]).pivot(index=["row", "age"], columns="name", values="printed")
    cells = cells.loc[[(place, age) for place in GEOGRAPHIES for age in AGES], [*COUNTS, "p"]]
    return cells.astype(dict.fromkeys(COUNTS, int)).rename_axis(["geography", "age"]).rename_axis(None, axis=1)


def taula() -> pd.DataFrame:
    """Taula 1 as printed, by ``geography`` and ``age``: ``u1``, ``u2``, ``u`` (records), ``p`` (text, per cent)."""
    return _table().copy()


def scenarios(fraction: float | None = None) -> pd.DataFrame:
    """The nine scenarios of Taula 1 from its counts and a sampling fraction, by equations (2) and (3) with p(a) = 1.

    The fraction is by default that of section 4.5.1. Columns: ``geography``, ``age``, ``u1``, ``u2``, ``u``;
    ``unique_share`` (u1 / n1), ``p_b``, ``p_c``, ``p_d`` and ``p_identification``, 0-1; ``printed`` (text, per cent);
    ``relative_error`` of p, the standard deviation over subsamples divided by p; ``uniques``, records of the sample
    that are population uniques by the study's estimate; and ``identifications``, the N p persons that an intruder would
    identify who sought everybody in Catalonia.
    """
    f = _fraction(fraction)
    table, n1 = taula().rename(columns={"p": "printed"}).reset_index(), number("n1-5")
    table["unique_share"], table["p_b"], table["p_d"] = table["u1"] / n1, f, table["u"] / table["u2"]
    table["p_c"] = table["unique_share"] * table["p_d"]
    table["p_identification"] = f * table["p_c"] * table["p_d"]
    # p has the square of u / u2, and of u2 uniques u are drawn.
    table["relative_error"] = 2 * np.sqrt(1 / table["u"] - 1 / table["u2"])
    table["uniques"] = table["u1"] * table["p_d"]
    table["identifications"] = number("population") * table["p_identification"]
    return table[[*_SCENARIO, "printed", "relative_error", "uniques", "identifications"]]


def fraction_range(*, last_digit: str = "cut", decimals: int | None = None) -> tuple[float, float]:
    """The sampling fractions that give all nine p of Taula 1 as printed: the least, and the one below which all lie.

    ``last_digit`` says how p was printed (``"cut"``: what follows its last digit was left off, or ``"rounded"``), and
    `decimals` to how many u/u2 was rounded before it was used (None: not). NaN where no fraction gives all nine.
    """
    low, high = _bounds(last_digit, decimals)
    return (float(low.max()), float(high.min())) if low.max() < high.min() else (np.nan, np.nan)


def most_explained(*, last_digit: str = "cut", decimals: int | None = None) -> int:
    """How many of the nine p the best single fraction gives; arguments as in `fraction_range`."""
    low, high = _bounds(last_digit, decimals)
    return int(((low[:, None] <= low) & (low < high[:, None])).sum(axis=0).max())


def fractions() -> pd.DataFrame:
    """The sampling fractions that the study has or that follow from it, and how many p of Taula 1 each explains.

    Columns: ``name``, ``fraction``, ``rounded``, ``cut``, ``either`` (printed p that it gives, of nine, by the way the
    last digit came about), ``cut_of_four`` (cut, from u/u2 in four decimals), ``n1`` (persons N f expected in the
    sample) and ``n2`` (records n1 f expected in the subsample, of the n1 published).
    """
    n1, persons = number("n1-5"), number("population")
    low, high = fraction_range()
    named = {
        "section 4.1, and theoretical in section 5": number("fraction-4-1"),
        "resulting, as printed in section 5": number("resulting"),
        "n1 / N": n1 / persons,
        "section 4.5.1": number("fraction-4-5"),
        "for a subsample of 10,000: the root of 10,000 / N": float(np.sqrt(number("n2") / persons)),
        "10,000 / n1": number("n2") / n1,
        "9,991 / n1": 9991 / n1,
        "the middle of the fractions that give all nine": (low + high) / 2,
    }
    frame = pd.DataFrame({"name": list(named), "fraction": list(named.values())})
    ways = {"rounded": ("rounded", None), "cut": ("cut", None), "cut_of_four": ("cut", DECIMALS)}
    # Whether each fraction gives each printed p: shape (fractions, 9).
    values = frame["fraction"].to_numpy()[:, None]
    bounds = {name: _bounds(*way) for name, way in ways.items()}
    gives = {name: (low <= values) & (values < high) for name, (low, high) in bounds.items()}
    gives["either"] = gives["rounded"] | gives["cut"]
    counts = {name: gives[name].sum(axis=1) for name in ("rounded", "cut", "either", "cut_of_four")}
    return frame.assign(**counts, n1=frame["fraction"] * persons, n2=frame["fraction"] * n1)


def cut_probabilities() -> pd.Series:
    """The nine p (per cent), cut after as many decimals as are printed; index as `taula`."""
    middle, table = sum(fraction_range()) / 2, taula()
    steps = table["p"].map(lambda printed: printed_step(printed, "per cent"))
    decimals = np.round(-np.log10(steps)).astype(int)
    cut = np.floor(_per_unit(None) * middle / steps)
    return pd.Series([round(float(c * s), d) for c, s, d in zip(cut, steps, decimals, strict=True)], table.index)


def steps() -> pd.DataFrame:
    """How p grows from one level of geography to the next (section 4.5.1b), by ``age``.

    From Catalonia to provinces (``first``) and from provinces to regions (``second``) by how much p is multiplied, and
    with the endings ``_points`` what is added (0-1), ``_per_area`` the same for each new area, ``_growth_per_area``
    that as a share of p before the step, and ``_per_doubling`` by how much p is multiplied for each doubling of areas.
    """
    p = _published().to_numpy().reshape(len(GEOGRAPHIES), len(AGES))
    areas = np.array([1, 4, 14])
    times, points = p[1:] / p[:-1], np.diff(p, axis=0)
    per_area, doublings = points / np.diff(areas)[:, None], np.log2(areas[1:] / areas[:-1])[:, None]
    growth, doubled = per_area / p[:-1], times ** (1 / doublings)
    ways = {"": times, "_points": points, "_per_area": per_area, "_growth_per_area": growth, "_per_doubling": doubled}
    steps = {f"{step}{way}": values[i] for way, values in ways.items() for i, step in enumerate(("first", "second"))}
    return pd.DataFrame({"age": AGES} | steps)


def draws(fraction: float | None = None) -> pd.DataFrame:
    """What u should be, as each of the u1 sample uniques enters the subsample with the chance f (as in `scenarios`).

    Columns: ``geography``, ``age``, ``u1``, ``u``, ``expected`` (f u1), ``sd`` (binomial) and ``z`` (how many sd the
    printed u lies above what is expected).
    """
    f = _fraction(fraction)
    frame = taula()[["u1", "u"]].reset_index()
    frame["expected"], frame["sd"] = f * frame["u1"], np.sqrt(f * (1 - f) * frame["u1"])
    frame["z"] = (frame["u"] - frame["expected"]) / frame["sd"]
    return frame


def shared_subsample(fraction: float | None = None) -> pd.DataFrame:
    """How much likelier the printed u are if one subsample served all scenarios than if each had its own.

    In a chain of scenarios, each finer than the one before, uniques stay unique. In one subsample the u that a step
    adds are then drawn from the u1 that it adds; in several each u is drawn by itself. By ``chain`` (text):
    ``likelihood_ratio`` (above 1 speaks for one subsample) and ``z`` (tuple, one a step: how many binomial sd the added
    u lie above what is expected).
    """
    from scipy.stats import binom

    f, table = _fraction(fraction), taula()
    rows = []
    for chain in _CHAINS:
        u1, u = (table.loc[list(chain), name].to_numpy() for name in ("u1", "u"))
        more_u1, more_u = np.diff(u1), np.diff(u)
        ratio = np.exp(binom.logpmf(more_u, more_u1, f).sum() - binom.logpmf(u[1:], u1[1:], f).sum())
        z = (more_u - f * more_u1) / np.sqrt(f * (1 - f) * more_u1)
        rows.append((" < ".join(", ".join(scenario) for scenario in chain), float(ratio), tuple(z.tolist())))
    return pd.DataFrame(rows, columns=["chain", "likelihood_ratio", "z"])


def data_dictionary() -> pd.DataFrame:
    """The variables of the released sample of anonymous records (*MRA*), in the study's order, INFRA by items.

    Columns: ``variable`` (the study's name), ``heading`` (its own, in Catalan), ``definition``, ``codes`` (as printed,
    ``absolute`` or ``3 digits``), ``categories`` (how many codes there are; missing where they are not listed),
    ``part`` (person or dwelling), ``in_key`` (bool: among the eight of the identification key, section 4.2) and
    ``matters`` (why it matters to somebody who wants to identify a person: our words).
    """
    variables = read_table("garin-1996-variables.csv")
    variables["in_key"] = variables["in_key"] == "yes"
    variables.insert(4, "categories", variables["codes"].map(count_codes).astype("Int64"))
    return variables


def count_codes(codes: str) -> int | None:
    """How many codes a printed list has: 15 for ``1...14, 99``; None where it lists none."""
    count = 0
    for part in codes.split(", "):
        first, _, last = part.partition("...")
        if not (first.isdigit() and (last or first).isdigit()):
            return None
        count += int(last or first) - int(first) + 1
    return count


def age_codes() -> pd.DataFrame:
    """The two bandings of age, where a code is the age divided by the width of the band.

    Columns: ``age``, ``width`` (years), ``named`` (codes that the study names, from 1), ``top`` (first age of the last
    code), ``needed`` and ``needed_from_5`` (codes that ages from 4 on need, and those that whole years of births have
    reached, 5 and over), ``nameless`` (ages from 4 on that have none, as text).
    """
    rows = []
    for age, (width, first, last, top) in _BANDS.items():
        codes = [min(years // width, last) for years in range(YOUNGEST, top + 1)]
        lost = [years for years in range(YOUNGEST, top) if years // width < first]
        nameless = f"{lost[0]}-{lost[-1]}" if len(lost) > 1 else str(lost[0])
        rows.append((age, width, last - first + 1, top, len({*codes}), len({*codes[1:]}), nameless))
    return pd.DataFrame(rows, columns=["age", "width", "named", "top", "needed", "needed_from_5", "nameless"])


def _fraction(fraction: float | None) -> float:
    return number("fraction-4-5") if fraction is None else check_positive(fraction, "fraction", 1)


def _published() -> pd.Series:
    """The printed p as shares, 0-1."""
    return taula()["p"].str.removesuffix("%").str.replace(",", ".").astype(float) / 100


def _per_unit(decimals: int | None) -> np.ndarray:
    """p in per cent, for f = 1: shape (9,)."""
    table = _table()
    ratio = (table["u"] / table["u2"]).to_numpy()
    ratio = ratio if decimals is None else ratio.round(decimals)
    return (100 * table["u1"] / number("n1-5")).to_numpy() * ratio**2


def _bounds(last_digit: str, decimals: int | None) -> tuple[np.ndarray, np.ndarray]:
    """For each p the least fraction that gives it as printed, and the one below which all lie: shape (9,) each."""
    if last_digit not in LAST_DIGITS:
        raise OptionError(f"last_digit must be one of {', '.join(LAST_DIGITS)}, not {shortened(repr(last_digit))}")
    step = taula()["p"].map(lambda printed: printed_step(printed, "per cent")).to_numpy()
    low = 100 * _published().to_numpy() - (0.5 * step if last_digit == "rounded" else 0)
    of_one = _per_unit(decimals)
    return low / of_one, (low + step) / of_one
