"""The published figures, and what is set against each.

One CSV a source has its figures, each as printed. Two tables say more by pattern; the first row that a figure meets
counts. ``explained.csv`` says where it is printed and how it is computed. ``evidence.csv`` says what it is set against:
the kind of evidence, the verdict where no comparison gives it, what is looked up or copied (a number, words, or the
``same`` figure in another place; ``otherwise`` are the words where a statement does not hold) and the reason, with gaps
for what is computed.

A statement contradicts its source (``published-error``) only where no fair reading lets it stand. It is ``exact`` where
every fair reading does, or where the source itself says which is meant. Where it holds in one reading or case, fails in
another, and both are shown, it is ``in-part``. An aim, an assumption, a judgement without a measure, what is lost in
the text, and what a work says that was not read, is none of these: it is ``not-in-text``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import translate
from functools import lru_cache
from importlib import resources

import numpy as np
import pandas as pd

from kanon_lab.errors import OptionError, shortened

#: Short name of each source, and the module whose `recompute` computes its figures.
SOURCES = {
    "gil-bellosta-2011": "kanon_book.studies.gil_bellosta_audit",
    "aepd": "kanon_book.studies.aepd_audit",
    "garin-1996": "kanon_book.studies.garin_audit",
    "ine-chile-2023": "kanon_book.studies.ine_chile_audit",
}
#: Each source in full.
CITATIONS = {
    "gil-bellosta-2011": "Gil Bellosta, Carlos J. (2011). Microdatos y k-anonimidad: un enfoque cuantitativo en el "
    "contexto español. Datanalytics.",
    "aepd": "AEPD (without a date). La k-anonimidad como medida de la privacidad. Agencia Española de Protección de "
    "Datos, Unidad de Evaluación y Estudios Tecnológicos.",
    "garin-1996": "Garín i Ramírez, Alfons (1996). Control del risc de revelació estadística en la difusió de "
    "microdades de població, aplicat al cas d'una mostra d'individus procedent del cens de la població de Catalunya de "
    "1991. Qüestiió.",
    "ine-chile-2023": "INE Chile (2023). Guía para el Control de Divulgación Estadística en Microdatos. Instituto "
    "Nacional de Estadísticas.",
}
#: Sources that are recomputed from a population known as counts.
FROM_COUNTS = ("gil-bellosta-2011",)

#: Kinds of evidence, the strongest first: what a figure is compared with. Only the first confirms a source.
KINDS = {
    "recomputed": "compared with something else: computed from other figures or from data, or looked up elsewhere",
    "fitted": "we fitted our input or rule to it, or to figures that imply it: if it agrees, the fit worked",
    "copied": "the source has it in another place too: compared with that place",
    "input": "we took our number from it: compared with itself",
    "unchecked": "lost in the text, or there is nothing to compare it with",
}

# Units of whole things: only there a full stop marks thousands.
_COUNTED = ("inhabitants", "persons", "municipalities", "combinations")
_NOTHING = {
    "computed": np.nan,
    "computed_text": "",
    "noise": 0.0,
    "tolerance": 0.0,
    "holds": None,
    "kind": "recomputed",
    "printing": "rounded",
    "reason": "",
    "verdict": "",
}


def check_source(source: str) -> None:
    """Raise an `OptionError` for an unknown source."""
    if source not in SOURCES:
        raise OptionError(f"unknown source {shortened(source)!r}: choose one of {', '.join(SOURCES)}")


def read_table(name: str, **types: type) -> pd.DataFrame:
    """A table beside this module, in texts but for the columns whose types are given."""
    with (resources.files("kanon_book.studies") / name).open(encoding="utf-8") as lines:
        return pd.read_csv(lines, dtype=str, keep_default_na=False).astype(types)


def published_figures(source: str) -> pd.DataFrame:
    """The figures of one source (a key of `SOURCES`) as they were printed.

    Returns
    -------
    DataFrame
        One row a figure: ``figure_id``, ``table``, ``row``, ``column``, ``unit``, ``printed`` (str) and ``published``
        (float, missing where the figure is words or illegible).

    Examples
    --------
    >>> kanon_book.studies.published_figures("garin-1996").loc[3, ["figure_id", "printed"]].tolist()
    ['garin-1996/taula-1/catalonia/1-year/p', '0,0455%']
    """
    check_source(source)
    figures = read_table(f"{source}.csv")
    return figures.assign(published=list(map(parse_printed, figures["printed"], figures["unit"])))


class Answer:
    """What is computed for a figure: its value, or True or False for a statement that holds or does not.

    `columns` replace those that `judged` takes from ``evidence.csv``; `facts` fill the gaps of the reason there.
    """

    def __init__(self, value: object = None, columns: Mapping[str, object] | None = None, /, **facts: object) -> None:
        self.value, self.columns, self.facts = value, columns or {}, facts


def by_readings(*hold: object, **facts: object) -> Answer:
    """The answer of a statement that has several fair readings, by whether each of them holds."""
    mixed = {"verdict": "in-part"} if any(hold) and not all(hold) else {}
    return Answer(any(map(bool, hold)), mixed, **facts)


def judged(figures: pd.DataFrame, computed: Iterable[object]) -> pd.DataFrame:
    """All figures of a source with what is computed for each (None: nothing) and what ``evidence.csv`` says of it.

    Columns: ``computed`` (float; missing where nothing is, or words are), ``computed_text`` (words as they would be
    printed), ``noise`` (how far a simulated figure may lie from its true value, in its own unit), ``tolerance`` (for
    fitted or reconstructed input), ``holds`` (whether a bound holds that is claimed in place of a number, else None),
    ``kind`` (a key of `KINDS`), ``printing`` (how numbers were brought to their last digit: ``rounded`` or ``cut``),
    ``reason`` (empty where nothing needs saying) and ``verdict`` (where a comparison cannot give it; else empty).
    """
    rows = map(_judged, figures["figure_id"], computed)
    frame = pd.DataFrame([_NOTHING | row for row in rows], figures.index, list(_NOTHING)).astype({"holds": object})
    words = frame["computed"].map(lambda value: isinstance(value, str)).astype(bool)
    frame["computed_text"] = frame["computed"].where(words, "").astype(str)
    frame["computed"] = frame["computed"].astype(object).mask(words).astype(float)
    return frame


def judged_by_place(
    figures: pd.DataFrame, tables: Mapping[str, Mapping[str, Mapping[str, object]]], claims: Mapping[str, object]
) -> pd.DataFrame:
    """As `judged`: figures of `tables` by column and row, others by what follows source and table in the id.

    Of the others, one that is not as computed is an error of the source.
    """
    is_claim = ~figures["table"].isin(tables)
    frame = judged(
        figures,
        [
            claims.get(figure.figure_id.split("/", 2)[2])
            if claim
            else tables[figure.table].get(figure.column, {}).get(figure.row)
            for figure, claim in zip(figures.itertuples(), is_claim, strict=True)
        ],
    )
    values = frame["computed"].where(frame["computed_text"] == "", frame["computed_text"])
    differs = np.array([*map(_differs, values, figures["printed"], figures["unit"])], dtype=bool)
    frame.loc[is_claim & (frame["verdict"] == "") & differs, "verdict"] = "published-error"
    return frame


@lru_cache
def _published(source: str) -> pd.Series:
    return published_figures(source).set_index("figure_id")["published"]


def _judged(figure_id: str, result: object) -> dict[str, object]:
    """The columns of one figure that have something to say."""
    evidence = _table("evidence.csv").row(figure_id)
    answer = result if isinstance(result, Answer) else Answer(result)
    value = answer.value
    if value is None and evidence["same"]:
        value = _published(figure_id.partition("/")[0])[evidence["same"]]
    elif value is None:
        value = evidence["words"] or (float(evidence["number"]) if evidence["number"] else np.nan)
    elif isinstance(value, (bool, np.bool_)):
        value = evidence["words"] if value else evidence["otherwise"]
    row = {name: evidence[name] for name in ("kind", "verdict") if evidence[name]}
    if "reason" not in answer.columns:
        row["reason"] = evidence["reason"].format(**answer.facts)
    return {"computed": value, **row, **answer.columns}


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
    >>> kanon_book.studies.explanation("garin-1996/taula-1/catalonia/1-year/p")["chapter"]
    'detail'
    """
    return dict(_table("explained.csv").row(figure_id))


def place_in_words(table: str, row: str, place: str) -> str:
    """Where in its source a figure stands (of a statement the row tells): ``section 7.5.1`` for a number alone."""
    here = row if table == "text" else place
    return f"section {here}" if here[:1].isdigit() else here


class _Table:
    """Rows for figures by pattern."""

    def __init__(self, name: str) -> None:
        frame = read_table(name)
        self.rows = frame.to_dict("records")
        self._none = dict.fromkeys(frame, "")
        # Most rows are of one figure: to be looked up, not matched.
        self._one = {row["figures"]: place for place, row in reversed(list(enumerate(self.rows)))}
        self._many = [
            (place, re.compile(translate(row["figures"])))
            for place, row in enumerate(self.rows)
            if re.search(r"[*?\[]", row["figures"])
        ]

    def row(self, figure_id: str) -> dict[str, str]:
        """The first row that the figure meets; empty texts where it meets none."""
        exact = self._one.get(figure_id, len(self.rows))
        first = next((place for place, pattern in self._many if place < exact and pattern.match(figure_id)), exact)
        return self.rows[first] if first < len(self.rows) else self._none


_table = lru_cache(_Table)


def parse_printed(printed: str, unit: str) -> float:
    """The number in a printed figure; missing where there is none, as in a code, whose digits are names.

    Text prints a decimal comma and a full stop between thousands; tables print a decimal point. A full stop followed
    by three digits is a thousands mark only in a unit that is counted in whole things.
    """
    if unit == "code":
        return np.nan
    try:
        return float(_with_point(printed, unit))
    except ValueError:
        return np.nan


def printed_step(printed: str, unit: str = "") -> float:
    """The unit of the last printed digit: 0.01 for ``42.38``, 1 for ``1993``."""
    _, point, decimals = _with_point(printed, unit).partition(".")
    return 10.0 ** -len(decimals) if point else 1.0


def as_printed(number: float, printed: str, unit: str = "") -> str:
    """A number written as a figure is printed: with its decimals, its marks, and its sign for per cent if it has one.

    Parameters
    ----------
    number : float
        In the unit of the figure: 0-100 for per cent.
    printed, unit : str
        The figure, as in `published_figures`.

    Examples
    --------
    >>> kanon_book.studies.as_printed(2000, "2.500", "persons"), kanon_book.studies.as_printed(1.58235, "0.1582%")
    ('2.000', '1.5823%')
    """
    decimals = len(_with_point(printed, unit).partition(".")[2])
    thousands = "." if unit in _COUNTED and "." in printed else ""
    marks = {",": thousands, ".": "," if "," in printed else "."}
    return f"{number:,.{decimals}f}".translate(str.maketrans(marks)) + "%" * printed.endswith("%")


def _with_point(printed: str, unit: str) -> str:
    """The last word of a printed figure: no sign for per cent, no marks between thousands, and a decimal point."""
    words = printed.split()
    text = words[-1].removesuffix("%") if words else ""
    if unit in _COUNTED:
        text = text.replace(".", "")
    return text.replace(",", ".")
