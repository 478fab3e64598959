"""The simulated half-widths of Cuadro 1 against their closed form: how they were printed, and from how many runs.

A half-width from R runs scatters around the true one in proportion to it, by a constant over the root of R. Out of the
scatter of all 27 follow R and the bound for the noise of each; the study prints neither. It does not say either
whether its half-width is 1.96 standard deviations of the runs or half of what lies between two quantiles, nor how it
cut the last digit: `printings` compares the answers by their likelihood.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.optimize import minimize_scalar
from scipy.stats import chi2, norm, t

from kanon_lab.data.counts import load_counts
from kanon_lab.population import PERIODS, anonymity
from kanon_lab.population.law import CUADRO_1_RANGES
from kanon_lab.studies.figures import published_figures

#: The printed half-widths have two decimals.
STEP = 0.01
_LEVEL = 0.95
_TAIL = (1 + _LEVEL) / 2
_Z = norm.ppf(_TAIL)
#: The relative standard error of a half-width, times the root of the number of runs: where it is 1.96 standard
#: deviations; where it is half the distance of the quantiles .025 and .975 (by their asymptotic covariance).
RUNS = {
    "standard deviation": np.sqrt(1 / 2),
    "quantiles": np.sqrt((1 - _LEVEL) * _LEVEL / 4) / (norm.pdf(_Z) * _Z),
}
#: What the distance of R's default quantiles (its type 7, between order statistics) falls short by on average, times
#: the number of runs: the expected order statistics to the order 1 / runs (David and Nagaraja, Order Statistics).
_INWARD = ((2 * _TAIL - 1) / norm.pdf(_Z) - _TAIL * (1 - _TAIL) * _Z / (2 * norm.pdf(_Z) ** 2)) / _Z
#: Where a printed figure's value may lie: from how far below it to how far above.
PRINTINGS = {"cut": (0.0, STEP), "rounded": (-STEP / 2, STEP / 2)}
# Relative standard errors that are tried: some 20 runs to some 10 million.
_SCATTERS = (2e-4, 0.2)
_FACTORS = (0.9, 1.1)


def half_widths(counts: pd.DataFrame | None = None) -> pd.DataFrame:
    """The half-widths of Cuadro 1, printed and in closed form.

    Parameters
    ----------
    counts : DataFrame, optional
        A counts frame of the nation. By default the embedded ``spain-2010``, which was fitted to the percentages of
        Cuadro 1, not to its half-widths.

    Returns
    -------
    DataFrame
        Index ``dates`` and ``k`` (as printed: ``6-10``, ``>50``), 27 rows: ``printed`` and ``computed`` (ten thousand
        persons), ``cut`` and ``rounded`` (whether ours, cut or rounded to two decimals, is the printed one), ``noise``
        (how far a simulated one may lie from ours, by the others' scatter; the chance that any of the 27 lies farther
        is 5 per cent) and ``off`` (how far ours lies outside of what was cut to the printed figure; 0 inside).
    """
    nation = anonymity(load_counts("spain-2010") if counts is None else counts, dates=PERIODS, ranges=CUADRO_1_RANGES)
    return compare(nation)


def compare(nation: pd.DataFrame) -> pd.DataFrame:
    """`half_widths` of a frame that `anonymity` gave for the nation in the ranges of Cuadro 1."""
    figures = published_figures("gil-bellosta-2011")
    figures = figures[figures["column"].str.endswith("±")]
    printed = {(c.split(" ")[0], r): p for c, r, p in zip(figures["column"], figures["row"], figures["published"])}
    rows = [(d, label(a, b)) for d, a, b in zip(nation["dates"], nation["k_from"], nation["k_to"], strict=True)]
    frame = pd.DataFrame({"printed": [printed[row] for row in rows], "computed": nation["half_width"].to_numpy() / 1e4})
    frame.index = pd.MultiIndex.from_tuples(rows, names=["dates", "k"])
    for name, (low, high) in PRINTINGS.items():
        above = frame["computed"] - frame["printed"]
        frame[name] = (above >= low - 1e-9) & (above < high + (1e-9 if low else -1e-9))
    frame["noise"] = frame["computed"] * [_bound(frame.drop(index=row)) for row in frame.index]
    low, high = frame["printed"] + PRINTINGS["cut"][0], frame["printed"] + PRINTINGS["cut"][1]
    frame["off"] = np.maximum(np.maximum(low - frame["computed"], frame["computed"] - high), 0)
    return frame


def printings(widths: pd.DataFrame) -> pd.DataFrame:
    """How likely each way to print makes the printed half-widths (as `half_widths`), and how many runs it says.

    Returns
    -------
    DataFrame
        Index ``printing``: ``cut``; ``rounded``; and ``rounded, all of them too small by one factor``, which is free.
        ``factor``; ``equal`` (of the 27, those equal as printed); ``bias`` (mean relative excess of the middle of what
        the printed figure stands for over ours, less the factor); ``log_likelihood``; ``likelihood`` (that of
        ``rounded`` is 1); ``likelihood, quantiles`` (were a half-width half the distance of R's default quantiles,
        which lie too far inward by a share that falls with the number of runs: that favours rounding); ``scatter``
        (relative standard error of a half-width); and for either way to take a half-width from the runs (keys of
        `RUNS`) ``runs, standard deviation`` and so on, with its 95 % interval by likelihood ``..., low`` and ``...,
        high``.

    Notes
    -----
    The half-widths are taken as independent and normal. Those of one date come from the same runs, but two ranges of k
    whose counts have the correlation r have half-widths with the correlation r squared, which is small.
    """
    rows = {
        "cut": _row(widths, "cut", 1.0),
        "rounded": _row(widths, "rounded", 1.0),
        "rounded, all of them too small by one factor": _row(widths, "rounded", _best_factor(widths)),
    }
    frame = pd.DataFrame(rows).T.rename_axis("printing")
    for name, logs in {
        "likelihood": frame["log_likelihood"],
        "likelihood, quantiles": frame.pop("log_likelihood, quantiles"),
    }.items():
        frame[name] = np.exp((logs - logs["rounded"]).astype(float))
    return frame.astype({"equal": int})


def level(widths: pd.DataFrame) -> float:
    """The level of confidence that the printed half-widths have on average, 0-1, if they were cut."""
    ratio = (widths["printed"] + np.mean(PRINTINGS["cut"])) / widths["computed"]
    return float(2 * norm.cdf(ratio.mean() * _Z) - 1)


def label(k_from: int, k_to: int | None) -> str:
    """A range of k as Cuadro 1 prints it."""
    if pd.isna(k_to):
        return f">{k_from - 1}"
    return str(k_from) if k_to == k_from else f"{k_from}-{k_to}"


def _row(widths: pd.DataFrame, printing: str, factor: float) -> dict[str, float]:
    low, high = PRINTINGS[printing]
    scaled = widths["computed"] * factor
    above = scaled - widths["printed"]
    scatter, best = _scatter(widths, printing, factor)
    # The scatters that are not much less likely than the best one.
    tried = np.geomspace(*_SCATTERS, 1000)
    drop = chi2.ppf(_LEVEL, 1) / 2
    inside = tried[[_log_likelihood(widths, printing, factor, s) > best - drop for s in tried]]
    row = {
        "factor": factor,
        "equal": int(((above >= low) & (above < high)).sum()),
        "bias": float(((widths["printed"] + (low + high) / 2) / scaled - 1).mean()),
        "log_likelihood": best,
        "log_likelihood, quantiles": _scatter(widths, printing, factor, _INWARD)[1],
        "scatter": scatter,
    }
    for how, constant in RUNS.items():
        row[f"runs, {how}"] = (constant / scatter) ** 2
        row[f"runs, {how}, low"] = (constant / inside[-1]) ** 2
        row[f"runs, {how}, high"] = (constant / inside[0]) ** 2
    return row


def _bound(widths: pd.DataFrame) -> float:
    """How far, relative to the true one, a further half-width may lie: the chance for any of so many is 5 per cent."""
    figures = len(widths) + 1
    each = _LEVEL ** (1 / figures)
    # Student's t, since the scatter is itself estimated, from the others.
    return float(t.ppf((1 + each) / 2, len(widths)) * _scatter(widths, "cut", 1.0)[0])


def _scatter(widths: pd.DataFrame, printing: str, factor: float, inward: float = 0.0) -> tuple[float, float]:
    """The most likely relative standard error, and its log likelihood; `inward` as `_INWARD`."""

    def short(scatter: float) -> float:
        return 1 - inward * (scatter / RUNS["quantiles"]) ** 2

    found = minimize_scalar(
        lambda log: -_log_likelihood(widths, printing, factor * short(np.exp(log)), np.exp(log)),
        bounds=np.log(_SCATTERS),
        method="bounded",
    )
    return float(np.exp(found.x)), -float(found.fun)


def _best_factor(widths: pd.DataFrame) -> float:
    """The factor that makes rounding most likely."""
    return float(
        minimize_scalar(lambda factor: -_scatter(widths, "rounded", factor)[1], bounds=_FACTORS, method="bounded").x
    )


def _log_likelihood(widths: pd.DataFrame, printing: str, factor: float, scatter: float) -> float:
    low, high = PRINTINGS[printing]
    mean = (widths["computed"] * factor).to_numpy()
    ends = (widths["printed"].to_numpy() + np.array([[low], [high]]) - mean) / (scatter * mean)
    # In the lower tail, where small chances keep their digits.
    low, high = np.where(ends[0] > 0, -ends[::-1], ends)
    chances = norm.cdf(high) - norm.cdf(low)
    return float(np.log(np.maximum(chances, 1e-300)).sum())
