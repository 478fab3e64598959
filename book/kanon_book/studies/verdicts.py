"""The audit: every published figure against its recomputation, each with one verdict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module

import numpy as np
import pandas as pd

from kanon_book.studies.figures import (
    CITATIONS,
    FROM_COUNTS,
    KINDS,
    SOURCES,
    explanation,
    place_in_words,
    printed_step,
    published_figures,
)
from kanon_lab.errors import OptionError, nearest, shortened

#: Every verdict there is, those that ask for attention first.
VERDICTS = {
    "disagrees": "differs by more than rounding, noise or tolerance explains",
    "published-error": "wrong in every fair reading: the source contradicts itself, or its numbers give another value",
    "in-part": "right in one fair reading or case, and wrong in another: the column of reasons explains both",
    "illegible": "cannot be read in the source",
    "not-in-text": "not in the text of the source, or our population cannot give it",
    "approximate": "our input is reconstructed or synthetic, and the figure is within its tolerance",
    "within-noise": "the published figure is a simulation, and ours is within its noise",
    "exact": "equal as printed; or a bound that is true",
}

#: Verdicts that ask for a reader's attention.
FINDINGS = ("disagrees", "published-error")

_COLUMNS = (
    "figure_id source place table row column unit printed published computed computed_text difference verdict kind "
    "noise tolerance reason chapter"
).split()
_TOTALS = {"table": str, "row": str, "total": float, "sum": float}
_EMBEDDED = "spain-2010"
_NEAR = 0.8  # How alike what follows the source must be for a figure to be the one that was meant.


@dataclass(frozen=True)
class Audit:
    """The result of an audit.

    Attributes
    ----------
    figures : DataFrame
        One row a published figure, disagreements first: ``figure_id``, ``source``, ``place`` (page or section, in
        words), ``table``, ``row``, ``column``, ``unit``, ``printed`` (str), ``published`` and ``computed`` (float or
        missing), ``computed_text`` (the recomputed figure as it would be printed, where it is words or a code),
        ``difference`` (computed less published), ``verdict`` and ``kind`` (keys of `VERDICTS` and `KINDS`), ``noise``
        and ``tolerance`` (how far it may lie from ours, in its own unit, where it was simulated or our input is
        reconstructed), ``reason`` and ``chapter`` (of the book, the one that argues it). Else empty, or 0.
    rows_off : DataFrame
        Printed rows that miss their printed total: ``source``, ``table``, ``row``, ``total``, ``sum``, ``difference``.
    counts_given : bool
        Whether a population was given that is no embedded one.
    """

    figures: pd.DataFrame
    rows_off: pd.DataFrame
    counts_given: bool = False

    def summary(self) -> pd.DataFrame:
        """Figures per source and table: ``figures``, then one column per kind of evidence and one per verdict."""
        by = ["source", "table"]
        verdicts = self._counted(by, "verdict", list(VERDICTS)[::-1]).drop(columns="figures")
        return self._counted(by, "kind", KINDS).join(verdicts).reset_index()

    def evidence(self) -> pd.DataFrame:
        """Figures per source and kind of evidence, the strongest first: ``figures``, then one column per verdict."""
        counted = self._counted(["source", "kind"], "verdict", list(VERDICTS)[::-1]).reset_index()
        ranks = {name: place for names in (SOURCES, KINDS) for place, name in enumerate(names)}
        return counted.sort_values(["source", "kind"], key=lambda names: names.map(ranks), ignore_index=True)

    def _counted(self, by: list[str], what: str, columns: Iterable[str]) -> pd.DataFrame:
        """How many figures of each group have which value, and ``figures`` in all."""
        table = pd.crosstab([self.figures[name] for name in by], self.figures[what])
        table = table.reindex(columns=list(columns), fill_value=0)
        table.insert(0, "figures", table.sum(axis=1))
        return table

    def figure(self, figure_id: str) -> dict[str, object]:
        """One figure: its row of `figures`, citation, explanation, meanings of kind and verdict."""
        rows = self.figures[self.figures["figure_id"] == figure_id]
        if rows.empty:
            raise _unknown_figure(figure_id)
        figure, sayings = rows.iloc[0].to_dict(), explanation(figure_id)
        if self.counts_given and _EMBEDDED in sayings["inputs"]:
            sayings["inputs"] += f"; the population given takes the place of {_EMBEDDED}"
        return {
            **{name: figure[name] for name in ("figure_id", "source")},
            "citation": CITATIONS[figure["source"]],
            **figure,
            **{name: sayings[name] for name in ("inputs", "formula", "code", "chapter")},
            "kind_meaning": KINDS[figure["kind"]],
            "verdict_meaning": VERDICTS[figure["verdict"]],
        }

    @property
    def clean(self) -> bool:
        """Whether no figure disagrees and no published error was found."""
        return not self.figures["verdict"].isin(FINDINGS).any()


def audit(source: str | None = None, counts: pd.DataFrame | None = None) -> Audit:
    """Recompute every published figure and give each a verdict.

    Parameters
    ----------
    source : str, optional
        One key of `SOURCES`; all of them if absent.
    counts : DataFrame, optional
        A counts frame to recompute the tables of Gil Bellosta (2011) from, in place of the embedded ``spain-2010``. A
        frame with a column ``kind`` is an embedded population, and so fitted to these tables.

    Returns
    -------
    Audit

    Examples
    --------
    >>> audited = kanon_book.studies.audit("aepd")
    >>> audited.figures["verdict"].value_counts()["published-error"].item()
    2
    >>> audited.figure("aepd/text/tabla-6-k")["computed"]
    1.0
    """
    if counts is not None:
        check_takes_counts(source)
    results = [_audit_source(name, counts) for name in ([source] if source else SOURCES)]
    figures = pd.concat([r.figures for r in results], ignore_index=True)
    own = counts is not None and "kind" not in counts
    # A stable sort: within a verdict the figures keep the order of the source.
    urgency = figures["verdict"].map({verdict: i for i, verdict in enumerate(VERDICTS)})
    figures = figures.iloc[np.argsort(urgency, kind="stable")].reset_index(drop=True)
    return Audit(figures, pd.concat([r.rows_off for r in results], ignore_index=True), own)


def computed_words(figures: pd.DataFrame) -> pd.Series:
    """What was computed for each figure of an audit as text: words, or a number; empty where nothing was.

    Whole numbers have all their digits. Others have two decimals more than the published figure, and six digits at
    most. No number has an exponent.
    """

    def in_digits(number: float, published: float) -> str:
        if np.isnan(number) or number == round(number):
            return "" if np.isnan(number) else f"{number:.0f}"
        digits = float(f"{number:.6g}")
        decimals = next((d for d in range(7) if round(published, d) == published), 6)
        return np.format_float_positional(round(digits, decimals + 2) or digits, trim="-")

    numbers = [in_digits(*pair) for pair in zip(figures["computed"], figures["published"], strict=True)]
    return figures["computed_text"].where(figures["computed_text"] != "", numbers)


def check_takes_counts(source: str | None) -> None:
    """Raise an `OptionError` when a population is given for one source that is not recomputed from any."""
    if source in SOURCES and source not in FROM_COUNTS:
        raise OptionError(f"{source} is recomputed from its own tables: leave out the population, or the source")


def source_of(figure_id: str) -> str:
    """The source of a figure: what its id begins with."""
    if not figure_id:
        raise OptionError("the figure_id is empty: kanon-lab audit --json lists every one")
    source = figure_id.partition("/")[0]
    if source in SOURCES:
        return source
    raise _unknown_figure(figure_id)


def _unknown_figure(figure_id: str) -> OptionError:
    """The error for a figure that there is not: only one of the same source can have been meant."""
    name = shortened(figure_id, 100)
    start, _, rest = name.partition("/")
    source = nearest(start, SOURCES, _NEAR)
    if source is None:
        how = f"it begins with no source ({', '.join(SOURCES)}); kanon-lab audit --json lists every figure_id"
    else:
        known = published_figures(source)["figure_id"].str.partition("/")[2]
        near = nearest(rest, known, _NEAR)
        meant = f"did you mean {source}/{near}? " if near else ""
        how = f"{meant}kanon-lab audit --source {source} --json lists every figure_id of it"
    return OptionError(f"there is no figure {name!r}: {how}")


def _audit_source(source: str, counts: pd.DataFrame | None) -> Audit:
    figures, module = published_figures(source), import_module(SOURCES[source])
    computed = module.recompute(figures, **({"counts": counts} if source in FROM_COUNTS else {}))
    figures = figures.join(computed).assign(source=source)
    figures["difference"] = figures["computed"] - figures["published"]
    figures["verdict"], figures["reason"] = zip(*map(_verdict, figures.itertuples()), strict=True)
    figures.loc[figures["verdict"].isin(["not-in-text", "illegible"]), "kind"] = "unchecked"
    sayings = pd.DataFrame(map(explanation, figures["figure_id"]))
    figures["place"] = list(map(place_in_words, figures["table"], figures["row"], sayings["place"]))
    figures["chapter"] = sayings["chapter"]
    # A source whose rows have no totals has no such function.
    totals = module.printed_totals(figures) if hasattr(module, "printed_totals") else []
    rows = pd.DataFrame(totals, columns=list(_TOTALS)).astype(_TOTALS)
    rows["difference"] = (rows["sum"] - rows["total"]).round(2)
    rows.insert(0, "source", source)
    return Audit(figures[_COLUMNS], rows[rows["difference"] != 0])


def _verdict(figure: tuple) -> tuple[str, str]:
    """The verdict on one figure, and the reason in words."""
    if figure.verdict:
        return figure.verdict, figure.reason
    if figure.computed_text:
        equal = figure.computed_text == figure.printed
        return ("exact", figure.reason) if equal else ("disagrees", figure.reason or VERDICTS["disagrees"])
    if np.isnan(figure.computed):
        return "not-in-text", figure.reason
    step = printed_step(figure.printed, figure.unit)
    # What is cut to a printed figure lies above it by half a step on average.
    off = abs(figure.difference - (step / 2 if figure.printing == "cut" else 0))
    if figure.holds is None and off < 0.5 * step * (1 + 1e-9):
        return "exact", figure.reason
    # What our input was fitted to differs by the fit, not by the noise of the study's simulation.
    if off <= figure.noise and figure.kind != "fitted":
        return "within-noise", figure.reason
    if off <= figure.tolerance:
        unit = "percentage points" if figure.unit == "per cent" else figure.unit
        return "approximate", figure.reason or f"within {figure.tolerance:.3g} {unit}"
    return "disagrees", figure.reason or VERDICTS["disagrees"]
