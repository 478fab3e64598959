"""Claims of a source's text, each beside what was computed for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from kanon_lab.published.figures import parse_printed, printed_step, recomputed


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
        Columns as `kanon_lab.published.figures.recomputed`.
    """
    frame = recomputed(rows)
    for index, figure_id, unit, printed in zip(
        rows.index, rows["figure_id"], rows["unit"], rows["printed"], strict=True
    ):
        value, reason, verdict, kind, tolerance = claims[figure_id.split("/", 2)[2]]
        if isinstance(value, str):
            frame.loc[index, "computed_text"] = value
            differs = value != printed
        else:
            frame.loc[index, "computed"] = value
            differs = not abs(value - parse_printed(printed, unit)) < 0.5 * printed_step(printed, unit) * (1 + 1e-9)
        verdict = verdict or ("published-error" if differs else "")
        frame.loc[index, ["verdict", "reason", "kind", "tolerance"]] = [verdict, reason, kind, tolerance]
    return frame
