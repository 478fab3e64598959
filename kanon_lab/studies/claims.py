"""Claims of a source's text, each beside what was computed for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from kanon_lab.studies.figures import parse_printed, printed_step, recomputed


class Claim(NamedTuple):
    """What is computed for a claim, why, the verdict where a comparison cannot give it, the kind of evidence, and how
    far the figure may lie from our value where that is a middle of what fits (in its own unit).
    """

    value: str | float = np.nan
    reason: str = ""
    verdict: str = ""
    kind: str = "recomputed"
    tolerance: float = 0.0


def compared(rows: pd.DataFrame, claims: Mapping[str, Claim]) -> pd.DataFrame:
    """Claims against what was computed for them: a claim that differs is an error of the source.

    Parameters
    ----------
    rows : DataFrame
        Rows of `published_figures`.
    claims : mapping
        By what follows source and table in the figure_id: ``n2`` for ``garin-1996/text/n2``.

    Returns
    -------
    DataFrame
        Columns as `kanon_lab.studies.figures.recomputed`.
    """
    found = [claims[figure_id.split("/", 2)[2]] for figure_id in rows["figure_id"]]
    verdicts = [
        claim.verdict or ("published-error" if _differs(claim.value, printed, unit) else "")
        for claim, printed, unit in zip(found, rows["printed"], rows["unit"], strict=True)
    ]
    return recomputed(
        rows,
        [claim.value for claim in found],
        verdict=verdicts,
        **{name: [getattr(claim, name) for claim in found] for name in ("reason", "kind", "tolerance")},
    )


def _differs(value: str | float, printed: str, unit: str) -> bool:
    if isinstance(value, str):
        return value != printed
    return not abs(value - parse_printed(printed, unit)) < 0.5 * printed_step(printed, unit) * (1 + 1e-9)
