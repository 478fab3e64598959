"""The transcribed figures: one CSV a source, every figure kept as printed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import resources

import numpy as np
import pandas as pd

from kanon_lab.errors import OptionError, shortened

#: Short name of each source, and the module that recomputes it.
SOURCES = {
    "gil-bellosta-2011": "kanon_lab.studies.gil_bellosta_audit",
    "aepd": "kanon_lab.studies.aepd_audit",
    "garin-1996": "kanon_lab.studies.garin_audit",
    "ine-chile-2023": "kanon_lab.studies.ine_chile_audit",
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

#: Kinds of evidence, the strongest first: what a figure is set against. Only the first confirms a source.
KINDS = {
    "recomputed": "set against something else: computed from other figures or from data, or looked up elsewhere",
    "fitted": "our input was fitted to it, or to figures that imply it: that it agrees shows that the fit worked",
    "copied": "the source has the same in another place: set against that place",
    "input": "ours was taken from it: compared with itself",
    "unchecked": "lost in the text, or there is nothing to set it against",
}

# Units of whole things: only there a full stop marks thousands.
_COUNTED = ("inhabitants", "persons", "municipalities", "combinations")


def published_figures(source: str) -> pd.DataFrame:
    """The figures of one source (a key of `SOURCES`) as they were printed.

    Returns
    -------
    DataFrame
        One row a figure: ``figure_id``, ``table``, ``row``, ``column``, ``unit``, ``printed`` (str) and ``published``
        (float, missing where the figure is words or illegible).

    Examples
    --------
    >>> from kanon_lab import studies
    >>> studies.published_figures("garin-1996").loc[3, ["figure_id", "printed"]].tolist()
    ['garin-1996/taula-1/catalonia/1-year/p', '0,0455%']
    """
    check_source(source)
    path = resources.files("kanon_lab.studies") / f"{source}.csv"
    with path.open(encoding="utf-8") as lines:
        figures = pd.read_csv(lines, dtype=str, keep_default_na=False)
    figures["published"] = [parse_printed(*row) for row in zip(figures["printed"], figures["unit"], strict=True)]
    return figures


_DEFAULTS = {
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
        raise OptionError(f"unknown source {shortened(source)!r}: choose out of {', '.join(SOURCES)}")


def recomputed(
    rows: pd.DataFrame, computed: np.ndarray | Sequence[float | str] | float = np.nan, **columns: object
) -> pd.DataFrame:
    """What is found for some figures (rows of `published_figures`): one row each, and what is not given at its default.

    Columns: ``computed`` (float; missing where nothing is, or words are), ``computed_text`` (words as they would be
    printed), ``noise`` (how far a simulated figure may lie from its true value, in its own unit), ``tolerance`` (for
    fitted or reconstructed input), ``holds`` (whether a bound holds that is claimed in place of a number, else None),
    ``kind`` (a key of `KINDS`), ``printing`` (how numbers were brought to their last digit: ``rounded`` or ``cut``),
    ``reason`` (empty where nothing needs saying) and ``verdict`` (where a comparison cannot give it; else empty).
    """
    frame = pd.DataFrame({**_DEFAULTS, "computed": computed, **columns}, index=rows.index).astype({"holds": object})
    words = frame["computed"].map(lambda each: isinstance(each, str))
    if words.any():
        frame["computed_text"] = frame["computed"].where(words, "").astype(str)
        frame["computed"] = frame["computed"].astype(object).mask(words).astype(float)
    return frame


def recomputed_each(rows: pd.DataFrame, found: Iterable[Mapping[str, object]]) -> pd.DataFrame:
    """As `recomputed`, from the columns of one figure after the other."""
    given = list(found)
    columns = {name: [each.get(name, default) for each in given] for name, default in _DEFAULTS.items()}
    return recomputed(rows, **columns)


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
    >>> from kanon_lab import studies
    >>> studies.as_printed(2000, "2.500", "persons"), studies.as_printed(1.58235, "0.1582%")
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
