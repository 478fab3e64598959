"""Claims of a source's text, each beside what was computed for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from kanon_lab.published.figures import parse_printed, printed_step, recomputed


class Claim(NamedTuple):
    """What is computed for a claim, why, the verdict where a comparison cannot give it, and the kind of evidence."""

    value: str | float = np.nan
    reason: str = ""
    verdict: str = ""
    kind: str = "recomputed"


def compared(rows: pd.DataFrame, claims: Mapping[str, Claim]) -> pd.DataFrame:
    """Claims against what was computed for them: a claim that differs is an error of the source.

    Parameters
    ----------
    rows : DataFrame
        Rows of `published_figures`.
    claims : mapping
        By the last part of the figure_id.

    Returns
    -------
    DataFrame
        Columns as `kanon_lab.published.figures.recomputed`.
    """
    frame = recomputed(rows)
    for index, figure_id, unit, printed in zip(
        rows.index, rows["figure_id"], rows["unit"], rows["printed"], strict=True
    ):
        value, reason, verdict, kind = claims[figure_id.rpartition("/")[2]]
        if isinstance(value, str):
            frame.loc[index, "computed_text"] = value
            differs = value != printed
        else:
            frame.loc[index, "computed"] = value
            differs = not abs(value - parse_printed(printed, unit)) < 0.5 * printed_step(printed, unit) * (1 + 1e-9)
        verdict = verdict or ("published-error" if differs else "")
        frame.loc[index, ["verdict", "reason", "kind"]] = [verdict, reason, kind]
    return frame
