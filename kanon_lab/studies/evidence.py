"""What is said of each figure beside its numbers, in two tables by pattern: the first row that is met counts.

``explained.csv`` says where a figure is printed and how it is computed. ``evidence.csv`` says what it is set against:
the kind of evidence, the verdict where no comparison gives it, what is looked up or copied (a number, or words; the
others where a statement does not hold) and the reason, with gaps for what is computed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import translate
from functools import lru_cache
from importlib import resources
from typing import NamedTuple

import numpy as np
import pandas as pd

from kanon_lab.studies.figures import parse_printed, printed_step, recomputed_each


class Told(NamedTuple):
    """What is computed for a figure (True or False: whether it holds), columns of `recomputed`, and facts."""

    value: object
    columns: Mapping[str, object]
    facts: Mapping[str, object]


def told(value: object = None, columns: Mapping[str, object] | None = None, /, **facts: object) -> Told:
    """What is computed for a figure; `facts` fill the gaps of its reason, `columns` replace what the table says."""
    return Told(value, columns or {}, facts)


def judged(rows: pd.DataFrame, found: Iterable[object]) -> pd.DataFrame:
    """Figures with what is computed for each (None where nothing is) and what is said of it, as `recomputed`."""
    return recomputed_each(rows, map(_judged, rows["figure_id"], found))


def claimed(rows: pd.DataFrame, claims: Mapping[str, object]) -> pd.DataFrame:
    """As `judged`, by what follows source and table in the id; a claim that differs is an error of the source."""
    found = judged(rows, [claims.get(figure_id.split("/", 2)[2]) for figure_id in rows["figure_id"]])
    values = [text or number for text, number in zip(found["computed_text"], found["computed"], strict=True)]
    differs = np.array([*map(_differs, values, rows["printed"], rows["unit"])], dtype=bool)
    found.loc[(found["verdict"] == "") & differs, "verdict"] = "published-error"
    return found


def _judged(figure_id: str, found: object) -> dict[str, object]:
    """The columns of one figure that are not at their default."""
    said = _table("evidence.csv").row(figure_id)
    value, columns, facts = found if isinstance(found, Told) else Told(found, {}, {})
    if value is None:
        value = said["words"] or (float(said["number"]) if said["number"] else np.nan)
    elif isinstance(value, (bool, np.bool_)):
        value = said["words"] if value else said["otherwise"]
    row = {name: said[name] for name in ("kind", "verdict") if said[name]}
    return {"computed": value, "reason": said["reason"].format(**facts), **row, **columns}


def _differs(value: str | float, printed: str, unit: str) -> bool:
    if isinstance(value, str):
        return value != printed
    return not abs(value - parse_printed(printed, unit)) < 0.5 * printed_step(printed, unit) * (1 + 1e-9)


def explanation(figure_id: str) -> dict[str, str]:
    """What is said of one figure beside its numbers.

    Parameters
    ----------
    figure_id : str
        As in `published_figures`.

    Returns
    -------
    dict of str to str
        ``place`` (page or section of its table; empty for a statement, whose row says it), ``inputs``, ``formula``,
        ``code`` (the function that computes it, or the table it stands in) and ``chapter`` (of the book, the one that
        argues it): those of the first row of ``explained.csv`` whose pattern is met. Empty where none is.

    Examples
    --------
    >>> from kanon_lab import studies
    >>> studies.explanation("garin-1996/taula-1/catalonia/1-year/p")["chapter"]
    'detail'
    """
    return dict(_table("explained.csv").row(figure_id))


def explanations(figure_ids: Iterable[str]) -> pd.DataFrame:
    """What is said of each of many figures: one row each, with the columns of `explanation`."""
    return pd.DataFrame(map(explanation, figure_ids), columns=_table("explained.csv").columns)


def place_in_words(table: str, row: str, place: str) -> str:
    """Where in its source a figure stands (of a statement the row tells): ``section 7.5.1`` for a number alone."""
    here = row if table == "text" else place
    return f"section {here}" if here[:1].isdigit() else here


class _Table:
    """Rows for figures by pattern."""

    def __init__(self, rows: pd.DataFrame) -> None:
        self.columns = list(rows)
        self.rows = rows.to_dict("records")
        self._none = dict.fromkeys(rows, "")
        # Most rows are of one figure: to be looked up, not matched.
        self._one = {row["figures"]: place for place, row in reversed(list(enumerate(self.rows)))}
        self._many = [
            (place, re.compile(translate(row["figures"])))
            for place, row in enumerate(self.rows)
            if re.search(r"[*?\[]", row["figures"])
        ]

    def row(self, figure_id: str) -> dict[str, str]:
        """The first row that the figure meets; empty texts where it meets none."""
        one = self._one.get(figure_id, len(self.rows))
        first = next((place for place, pattern in self._many if place < one and pattern.match(figure_id)), one)
        return self.rows[first] if first < len(self.rows) else self._none


@lru_cache
def _table(name: str) -> _Table:
    with (resources.files("kanon_lab.studies") / name).open(encoding="utf-8") as lines:
        return _Table(pd.read_csv(lines, dtype=str, keep_default_na=False))
