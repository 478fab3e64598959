"""AEPD, La k-anonimidad como medida de la privacidad: Tablas 1 to 6 and the claims of the text, recomputed.

Tablas 1 and 2 and the two records that Tabla 5 adds are inputs: that they agree with themselves is no evidence, and
they are marked as fitted. Every other cell follows from them. Levels of generalisation are read off the tables, since
Figura 2, which has them, is lost in the text.

In ``aepd.csv`` dashes and the spaces around them are made plain hyphens (``40-49``). A statement of the text stands
there as one or two of its words, or as the code that a table would print for it; what is lost in the text is empty.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from kanon_lab.classes import class_table
from kanon_lab.published.figures import published_figures, recomputed
from kanon_lab.recode import Hierarchy, generalise, generalise_records, suppress_records

TABLES = tuple(f"Tabla {number}" for number in range(1, 7))
#: Tabla 5 is printed a second time beside Tabla 6.
TABLE_5_AGAIN = "Tabla 5 (again)"
KEYS = ("postcode", "age")
SENSITIVE = "cholesterol"
#: The printed heading of each column; S is yes and N is no.
HEADINGS = {"postcode": "Código postal", "age": "Edad", "cholesterol": "Colesterol"}

#: What the text says of Tabla 5: so many first records are generalised, and the last one is out of range.
_FIRST, _LAST = 6, 8
_WORDS = {2: "dos", 6: "seis"}
_DIRECTIVE = "95/46"
_INPUT = "input: compared with itself"
_READ_OFF = "the level is read off the table, since Figura 2 is lost"


def table(name: str) -> pd.DataFrame:
    """A table as it is printed.

    Parameters
    ----------
    name : str
        One of `TABLES`, or `TABLE_5_AGAIN`.

    Returns
    -------
    DataFrame
        Index ``record``, from 1. ``postcode`` and ``cholesterol`` (str), ``age`` (int, or str where it is a range).
    """
    figures = published_figures("aepd")
    cells = figures[figures["table"] == name].astype({"row": int})
    wide = cells.pivot(index="row", columns="column", values="printed")[list(HEADINGS)]
    wide = wide.rename_axis(index="record", columns=None)
    return wide.astype({"age": int}) if wide["age"].str.isdecimal().all() else wide


def hierarchies() -> dict[str, Hierarchy]:
    """The hierarchies that the tables use: postcodes masked to two digits, ages in decades, and all alike above."""
    return {
        "postcode": Hierarchy.from_masks([5, 2, 0], name="postcode"),
        "age": Hierarchy.from_intervals([range(0, 121, 10)], closed="left", top="*", name="age"),
    }


def local_levels(records: pd.DataFrame) -> pd.DataFrame:
    """The levels of Tablas 4 and 6: ages in decades; two digits of the postcode where no other record has the same key.

    Parameters
    ----------
    records : DataFrame
        Original records, with the columns `KEYS`.

    Returns
    -------
    DataFrame
        Index as `records`; for each key variable the level (int) in `hierarchies`.
    """
    alone = class_table(records, KEYS).f_k_of_records() < 2
    return pd.DataFrame({"postcode": alone.astype(int), "age": 1}, index=records.index)


def recomputed_tables() -> dict[str, pd.DataFrame]:
    """Every table from the inputs: as `table` gives it, by name."""
    first, second, added = table("Tabla 1"), table("Tabla 2"), table("Tabla 5").loc[_FIRST + 1 :]
    expanded = pd.concat([second, added])
    generalised = generalise_records(expanded, hierarchies(), local_levels(expanded))
    return {
        "Tabla 1": first,
        "Tabla 2": second,
        "Tabla 3": generalise(second, hierarchies(), dict.fromkeys(KEYS, 1)),
        "Tabla 4": generalise_records(second, hierarchies(), local_levels(second)),
        "Tabla 5": expanded,
        TABLE_5_AGAIN: table("Tabla 5"),
        "Tabla 6": suppress_records(generalised, [_LAST]),
    }


def homogeneity() -> pd.DataFrame:
    """What the classes of each printed table give away.

    Returns
    -------
    DataFrame
        One row for each of `TABLES`: ``table``, ``records``, ``classes``, ``alone`` (classes of one record),
        ``homogeneous`` (classes in which all records have one sensitive value, those of one record among them) and
        ``k_achieved``.
    """
    rows = []
    for name in TABLES:
        printed = table(name)
        classes = class_table(printed, KEYS)
        values = printed.groupby(list(KEYS))[SENSITIVE].nunique()
        alone, homogeneous = int((classes.records == 1).sum()), int((values == 1).sum())
        rows.append((name, classes.n, classes.n_classes, alone, homogeneous, classes.k_achieved))
    return pd.DataFrame(rows, columns=["table", "records", "classes", "alone", "homogeneous", "k_achieved"])


def generalisation(before: pd.DataFrame, after: pd.DataFrame) -> str:
    """The kind of a generalisation by the note's own definition.

    Parameters
    ----------
    before, after : DataFrame
        The same records, with the columns `KEYS`, before and after it.

    Returns
    -------
    str
        ``"global"`` where equal values of a variable are always generalised alike, else ``"local"``.
    """
    alike = all((after[key].groupby(before[key]).nunique() == 1).all() for key in KEYS)
    return "global" if alike else "local"


def recompute(figures: pd.DataFrame) -> pd.DataFrame:
    """Compute every figure of the note from its inputs.

    Parameters
    ----------
    figures : DataFrame
        `published_figures` of this source.

    Returns
    -------
    DataFrame
        Index as `figures`, columns as `kanon_lab.published.figures.recomputed`.
    """
    computed, claims = recomputed_tables(), _claims()
    blocks = []
    for name, rows in figures.groupby("table", sort=False):
        blocks.append(_cells(rows, name, computed[name]) if name in computed else _compared(rows, claims))
    return pd.concat(blocks).loc[figures.index]


def rows_that_do_not_add_up(figures: pd.DataFrame) -> pd.DataFrame:
    """No row of the note has a total: an empty frame with the columns that other sources give."""
    types = {"table": str, "row": str, "total": float, "sum": float, "difference": float}
    return pd.DataFrame({name: pd.Series(dtype=dtype) for name, dtype in types.items()})


def _cells(rows: pd.DataFrame, name: str, computed: pd.DataFrame) -> pd.DataFrame:
    frame = recomputed(rows)
    for index, row, column in zip(rows.index, rows["row"].astype(int), rows["column"], strict=True):
        value = computed.loc[row, column]
        frame.loc[index, "computed_text" if isinstance(value, str) else "computed"] = value
        if name in ("Tabla 1", "Tabla 2") or (name == "Tabla 5" and row > _FIRST):
            frame.loc[index, ["fitted", "reason"]] = [True, _INPUT]
        elif name in ("Tabla 3", "Tabla 4", "Tabla 6") and column in KEYS:
            frame.loc[index, "reason"] = _READ_OFF
    return frame


def _compared(rows: pd.DataFrame, claims: Mapping[str, tuple]) -> pd.DataFrame:
    """Claims against what was computed for them: a claim that differs is an error of the source."""
    frame = recomputed(rows)
    for index, figure_id, printed in zip(rows.index, rows["figure_id"], rows["printed"], strict=True):
        value, reason = claims[figure_id.removeprefix("aepd/")]
        frame.loc[index, "reason"] = reason
        if not printed:
            frame.loc[index, "verdict"] = value
            continue
        frame.loc[index, "computed_text" if isinstance(value, str) else "computed"] = value
        if printed != str(value):
            frame.loc[index, "verdict"] = "published-error"
    return frame


def _claims() -> dict[str, tuple[int | str, str]]:
    """What is computed for each claim, and the reason in words; for what is lost in the text, its verdict."""
    homogeneous = homogeneity()
    k = homogeneous.set_index("table")["k_achieved"].to_dict()
    totals = homogeneous[["homogeneous", "classes", "alone"]].sum()
    named = table("Tabla 6").query("postcode == '28***' and age == '40-49'")[SENSITIVE]
    return {
        **_generalisation_claims(k),
        **_suppression_claims(k),
        "figura-2/levels": (
            "not-in-text",
            "the picture is not in the text; the tables use the whole code and its first two digits",
        ),
        "text/directive-page-1": (_DIRECTIVE, "the directive of 1995 whose article 29 set up the working party"),
        "text/directive-page-2": (
            _DIRECTIVE,
            "page 1 of the note has the digits the other way round, and has them right",
        ),
        "text/keys": (_WORDS[len(KEYS)], "every column but the sensitive one"),
        "text/others-who-share": ("illegible", "the symbol is lost in the text; by the definition it is k - 1"),
        "text/probability": ("illegible", "the symbol is lost in the text; by the definition it is 1/k"),
        "text/tabla-1-caption": (k["Tabla 1"], ""),
        "text/tabla-1-k": (k["Tabla 1"], ""),
        "text/tabla-1-rows": (_WORDS[k["Tabla 1"]], ""),
        "text/tabla-2-caption": (k["Tabla 2"], ""),
        "text/tabla-2-not-2": ("no" if k["Tabla 2"] < 2 else "sí", ""),
        "text/page-7": (
            "not-in-text",
            "the text goes from page 6 to page 8: section V is lost, and with it every citation of references 7 to 10",
        ),
        "text/class-28-40-49": (
            "".join(named.unique()),
            f"the text names this class alone; so it is with {totals['homogeneous']} of the {totals['classes']} "
            f"classes of Tablas 1 to 6, {totals['alone']} of which are a single record",
        ),
    }


def _generalisation_claims(k: Mapping[str, int]) -> dict[str, tuple[int | str, str]]:
    """Claims about Tablas 3 and 4."""
    second, third, fourth = (table(name) for name in ("Tabla 2", "Tabla 3", "Tabla 4"))
    by_age = class_table(generalise(second, hierarchies(), {"age": 1}), KEYS).k_achieved
    enough = f"ages in decades alone, with whole postcodes, give k = {by_age}"
    finer = int((fourth != third)[list(KEYS)].to_numpy().sum())
    masked = fourth.assign(postcode=hierarchies()["postcode"].recode(fourth["postcode"], 1))
    return {
        "text/tabla-3-k": (k["Tabla 3"], enough),
        "text/tabla-4-k": (k["Tabla 4"], enough),
        "text/tabla-3-kind": (generalisation(second, third), ""),
        "text/tabla-4-kind": (
            generalisation(second, fourth),
            "equal postcodes, and equal ages, are generalised alike, and that is what the note calls global; Tabla 4 "
            "differs from Tabla 3 by values at different levels of the hierarchy",
        ),
        "text/tabla-4-precision": (
            "más precisos" if finer and masked.equals(third) else "los mismos",
            f"{finer} of {len(KEYS) * len(fourth)} key cells are more precise than in Tabla 3, the others equal",
        ),
    }


def _suppression_claims(k: Mapping[str, int]) -> dict[str, tuple[int | str, str]]:
    """Claims about Tablas 5 and 6."""
    fifth, sixth = table("Tabla 5"), table("Tabla 6")
    company = class_table(generalise(fifth, hierarchies(), dict.fromkeys(KEYS, 1)), KEYS).f_k_of_records() >= 2
    alone = company.index[~company].tolist()
    added = {(_LAST,): "el último", (_FIRST + 1, _LAST): "los dos"}
    f_k = class_table(sixth, KEYS).f_k_of_records()
    stray = sixth.loc[f_k.idxmin()]
    methods = {
        "Generalización": (sixth != fifth.astype(str).loc[sixth.index]).any(axis=None),
        "Eliminación": len(sixth) < len(fifth),
    }
    return {
        "text/first-records": (_WORDS[int(company.cummin().sum())], ""),
        "text/out-of-range": (
            added[tuple(alone)],
            f"record {alone[0]} is neither among the first {_FIRST} nor the last: generalised as in Tabla 3 it too "
            "stands alone, and the caption of Tabla 5 says values out of range in the plural",
        ),
        "text/tabla-6-methods": (" + ".join(name for name, used in methods.items() if used), ""),
        "text/tabla-6-k": (
            k["Tabla 6"],
            f"record {f_k.idxmin()} ({stray['postcode']}, {stray['age']}) shares its key with no other record",
        ),
    }
