"""The audit: every published figure against its recomputation, each with one verdict."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from kanon_lab.errors import OptionError
from kanon_lab.published.explain import chapters
from kanon_lab.published.figures import FROM_COUNTS, KINDS, SOURCES, printed_step, published_figures, source_module

#: Every verdict there is, those that ask for attention first.
VERDICTS = {
    "disagrees": "differs by more than rounding, noise or tolerance can each explain",
    "published-error": "no fair reading lets it stand: the source contradicts itself, or its own numbers give another",
    "illegible": "cannot be read in the source",
    "not-in-text": "not in the text of the source, or our population cannot give it",
    "approximate": "our input is reconstructed or synthetic, and the figure lies within its tolerance",
    "within-noise": "the published figure is a simulation, and ours lies within its noise",
    "exact": "equal as printed; or a bound that holds",
}

_COLUMNS = (
    "figure_id source table row column unit printed published computed computed_text difference verdict kind tolerance "
    "reason chapter"
).split()
_ROWS_OFF = {"table": str, "row": str, "total": float, "sum": float, "difference": float}


@dataclass(frozen=True)
class Audit:
    """The result of an audit.

    Attributes
    ----------
    figures : DataFrame
        One row per published figure, disagreements first: ``figure_id``, ``source``, ``table``, ``row``, ``column``,
        ``unit``, ``printed`` (str), ``published`` and ``computed`` (float or missing), ``computed_text`` (str:
        the recomputed figure as it would be printed, where it is words or a code; else empty), ``difference`` (computed
        less published), ``verdict`` (a key of `VERDICTS`), ``kind`` (of evidence: a key of `KINDS`), ``tolerance``,
        ``reason`` and ``chapter`` (of the book, the one that argues it; empty where none does).
    rows_off : DataFrame
        Printed rows that do not add up to their printed total: ``source``, ``table``, ``row``, ``total``, ``sum``,
        ``difference``.
    """

    figures: pd.DataFrame
    rows_off: pd.DataFrame

    def summary(self) -> pd.DataFrame:
        """Figures per source and table: ``figures``, then one column per kind of evidence and one per verdict."""
        groups = [self.figures["source"], self.figures["table"]]
        verdicts = pd.crosstab(groups, self.figures["verdict"]).reindex(columns=list(VERDICTS)[::-1], fill_value=0)
        kinds = pd.crosstab(groups, self.figures["kind"]).reindex(columns=list(KINDS), fill_value=0)
        kinds.insert(0, "figures", kinds.sum(axis=1))
        return kinds.join(verdicts).reset_index()

    @property
    def clean(self) -> bool:
        """Whether no figure disagrees and no published error was found."""
        return not self.figures["verdict"].isin(["disagrees", "published-error"]).any()


def audit(source: str | None = None, counts: pd.DataFrame | None = None) -> Audit:
    """Recompute every published figure and give each a verdict.

    Parameters
    ----------
    source : str, optional
        One key of `SOURCES`; all of them if absent.
    counts : DataFrame, optional
        A counts frame to recompute the tables of Gil Bellosta (2011) from, in place of the embedded ``spain-2010``. A
        frame with a column ``kind`` is an embedded population, and so fitted to these tables. It concerns no other
        source.

    Returns
    -------
    Audit

    Raises
    ------
    OptionError
        For an unknown source, or counts for a source that is not recomputed from any.
    """
    if counts is not None:
        check_takes_counts(source)
    results = [_audit_source(name, counts) for name in ([source] if source else SOURCES)]
    figures = pd.concat([r.figures for r in results], ignore_index=True)
    # A stable sort: within a verdict the figures keep the order of the source.
    urgency = figures["verdict"].map({verdict: i for i, verdict in enumerate(VERDICTS)})
    figures = figures.iloc[np.argsort(urgency, kind="stable")].reset_index(drop=True)
    return Audit(figures, pd.concat([r.rows_off for r in results], ignore_index=True))


def check_takes_counts(source: str | None) -> None:
    """Raise an `OptionError` when a population is given for one source that is not recomputed from any."""
    if source in SOURCES and source not in FROM_COUNTS:
        raise OptionError(f"{source} is recomputed from its own tables: leave out the population, or the source")


def _audit_source(source: str, counts: pd.DataFrame | None) -> Audit:
    module, figures = source_module(source), published_figures(source)
    computed = module.recompute(figures, **({"counts": counts} if source in FROM_COUNTS else {}))
    figures = figures.join(computed).assign(source=source)
    figures["difference"] = figures["computed"] - figures["published"]
    verdicts = [_verdict(figure) for figure in figures.itertuples()]
    figures["verdict"] = [verdict for verdict, _ in verdicts]
    figures["reason"] = [reason for _, reason in verdicts]
    figures.loc[figures["verdict"].isin(["not-in-text", "illegible"]), "kind"] = "unchecked"
    figures["chapter"] = chapters(figures["figure_id"])
    # A source whose rows have no totals has no such function.
    find = getattr(module, "rows_that_do_not_add_up", None)
    rows_off = find(figures) if find else pd.DataFrame({name: pd.Series(dtype=of) for name, of in _ROWS_OFF.items()})
    rows_off.insert(0, "source", source)
    return Audit(figures[_COLUMNS], rows_off)


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
