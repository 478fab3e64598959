"""AEPD, La k-anonimidad como medida de la privacidad: Tablas 1 to 6 and the claims of the text, recomputed.

Tablas 1 and 2 and the two records that Tabla 5 adds are inputs: that they agree with themselves is no evidence. Levels
of generalisation are read off Tablas 3, 4 and 6, since Figura 2, which has them, is lost in the text: that their key
cells come out as printed shows only that one simple rule gives them all: they are fitted. The other cells are
copies of cells printed before. The audit's ``kind`` tells them apart; what can be wrong is in the claims.

What the note calls key attributes (atributos clave) are direct identifiers; our key variables are its
cuasi-identificadores.

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
_IDENTIFIABLE = "perfectamente identificable"
#: Kinds of cells that our input holds or was fitted to, and those that it was not, with the reason in words.
_REASONS = {
    "input": "input: compared with itself",
    "fitted": "the level is read off the table, since Figura 2 is lost",
    "copied": "copied: the note has this value in a table before",
}


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
        value, kind = computed.loc[row, column], _kind(name, row, column)
        frame.loc[index, "computed_text" if isinstance(value, str) else "computed"] = value
        frame.loc[index, ["kind", "reason"]] = [kind, _REASONS[kind]]
    return frame


def _kind(name: str, row: int, column: str) -> str:
    """The kind of evidence of a cell: a key of `kanon_lab.published.figures.KINDS`."""
    if name in ("Tabla 1", "Tabla 2") or (name == "Tabla 5" and row > _FIRST):
        return "input"
    return "fitted" if name in ("Tabla 3", "Tabla 4", "Tabla 6") and column in KEYS else "copied"


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
    k = homogeneity().set_index("table")["k_achieved"].to_dict()
    return {
        **_lost(),
        **_anonymity_claims(k),
        **_homogeneity_claims(),
        **_generalisation_claims(k),
        **_suppression_claims(k),
        "text/directive-page-1": (_DIRECTIVE, "the directive of 1995 whose article 29 set up the working party"),
        "text/directive-page-2": (
            _DIRECTIVE,
            "page 1 of the note has the digits the other way round, and has them right",
        ),
    }


def _lost() -> dict[str, tuple[str, str]]:
    """The verdict on what our text of the note has not got."""
    return {
        "figura-1/picture": ("not-in-text", "the picture is not in the text, its caption is"),
        "figura-2/levels": (
            "not-in-text",
            "the picture is not in the text; the tables use the whole code and its first two digits",
        ),
        "text/others-who-share": ("illegible", "the symbol is lost in the text; by the definition it is k - 1"),
        "text/probability": ("illegible", "the symbol is lost in the text; by the definition it is 1/k"),
        "text/page-7": (
            "not-in-text",
            "the text goes from page 6 to page 8, which is the end of section V: its heading and its beginning, with "
            "the description of ARX that page 8 refers to, are lost, and every citation of references 7 to 10 too",
        ),
    }


def _anonymity_claims(k: Mapping[str, int]) -> dict[str, tuple[int | str, str]]:
    """Claims about Tablas 1 and 2, and the meaning of k."""
    f_k = class_table(table("Tabla 2"), KEYS).f_k_of_records()
    alone, others = int((f_k == 1).sum()), f_k.index[f_k > 1]
    return {
        "text/keys": (_WORDS[len(KEYS)], "every column but the sensitive one"),
        "text/tabla-1-caption": (k["Tabla 1"], ""),
        "text/tabla-1-k": (k["Tabla 1"], ""),
        "text/tabla-1-rows": (_WORDS[k["Tabla 1"]], ""),
        "text/tabla-2-caption": (k["Tabla 2"], ""),
        "text/tabla-2-not-2": ("no" if k["Tabla 2"] < 2 else "sí", ""),
        "text/one-anonymity": (
            _IDENTIFIABLE if others.empty else f"{alone} de {len(f_k)}",
            "by the definition of page 3 (at least k - 1 others) everybody is 1-anonymous; of the records of Tabla 2, "
            f"1-anonymous by its caption, {alone} of {len(f_k)} stand alone, and {_listed(others)} share their key. It "
            "holds of a person who is not 2-anonymous",
        ),
    }


def _homogeneity_claims() -> dict[str, tuple[str, str]]:
    """Claims about what a class gives away."""
    totals = homogeneity()[["homogeneous", "classes", "alone"]].sum()
    companies, alike = totals["classes"] - totals["alone"], totals["homogeneous"] - totals["alone"]
    named = table("Tabla 6").query("postcode == '28***' and age == '40-49'")[SENSITIVE]
    return {
        "text/high-k": (
            "improbable" if alike < companies else "con total certeza",
            "said without a condition, and taken back on page 8: where a class has one sensitive value that is known "
            f"for certain, whatever k is. So it is with {alike} of the {companies} classes of Tablas 1 to 6 that have "
            "two records or more",
        ),
        "text/class-28-40-49": (
            "".join(named.unique()),
            f"the text names this class alone; so it is with {totals['homogeneous']} of the {totals['classes']} "
            f"classes of Tablas 1 to 6, {totals['alone']} of which are a single record",
        ),
    }


def _listed(records: pd.Index) -> str:
    return " and ".join(map(str, records))


def _generalisation_claims(k: Mapping[str, int]) -> dict[str, tuple[int | str, str]]:
    """Claims about Tablas 3 and 4."""
    second, third, fourth = (table(name) for name in ("Tabla 2", "Tabla 3", "Tabla 4"))
    by_age = class_table(generalise(second, hierarchies(), {"age": 1}), KEYS).k_achieved
    enough = f"ages in decades alone, with whole postcodes, give k = {by_age}"
    finer = int((fourth != third)[list(KEYS)].to_numpy().sum())
    whole = fourth.index[fourth["postcode"] == second["postcode"]]
    masked = fourth.assign(postcode=hierarchies()["postcode"].recode(fourth["postcode"], 1))
    return {
        "text/tabla-3-k": (k["Tabla 3"], enough),
        "text/tabla-4-k": (k["Tabla 4"], enough),
        "text/tabla-3-kind": (generalisation(second, third), ""),
        "text/tabla-4-kind": (
            generalisation(second, fourth),
            "equal postcodes, and equal ages, are always generalised alike: the note's definition of global. Its words "
            f"for local, different criteria by record, can be read so as to fit too (only the postcodes of "
            f"{_listed(whole)} stay whole); but it gives the two as alternatives, and has no table that is local only",
        ),
        "text/tabla-4-precision": (
            "más precisos" if finer and masked.equals(third) else "los mismos",
            f"{finer} of {len(KEYS) * len(fourth)} key cells are more precise than in Tabla 3, the others equal",
        ),
    }


def _suppression_claims(k: Mapping[str, int]) -> dict[str, tuple[int | str, str]]:
    """Claims about Tablas 5 and 6."""
    fifth, sixth = table("Tabla 5"), table("Tabla 6")
    coarse = generalise(fifth, hierarchies(), dict.fromkeys(KEYS, 1))
    company = class_table(coarse, KEYS).f_k_of_records() >= 2
    inside = pd.DataFrame({key: coarse[key].isin(table("Tabla 3")[key]) for key in KEYS}).any(axis=1)
    outside, added = inside.index[~inside], coarse[inside].loc[_FIRST + 1 :]
    words = {(_LAST,): "el último", (_FIRST + 1, _LAST): "los dos"}
    unsaid = fifth.index[_FIRST:].drop(_LAST)
    f_k = class_table(sixth, KEYS).f_k_of_records()
    stray = sixth.loc[f_k.idxmin()]
    methods = {
        "Generalización": (sixth != fifth.astype(str).loc[sixth.index]).any(axis=None),
        "Eliminación": len(sixth) < len(fifth),
    }
    return {
        "text/first-records": (_WORDS[int(company.cummin().sum())], ""),
        "text/out-of-range": (
            words[tuple(outside)],
            f"no value of record {_listed(outside)} is in a range that Tabla 3 uses; those of record "
            f"{_listed(added.index)} are, in {' and '.join(added.iloc[0][list(KEYS)])}, though no record has both",
        ),
        "text/record-7": (
            "not-in-text",
            f"the text treats the first {_FIRST} records and the last, {len(fifth) - len(unsaid)} of "
            f"{len(fifth)}, and not record {_listed(unsaid)}. Tabla 6 keeps it, generalised like the first, where it "
            "stands alone; the text has very unusual records removed too, and does not say which they are",
        ),
        "text/tabla-6-methods": (" + ".join(name for name, used in methods.items() if used), ""),
        "text/tabla-6-k": (
            k["Tabla 6"],
            f"record {f_k.idxmin()} ({stray['postcode']}, {stray['age']}) shares its key with no other record; "
            "the text does not say what becomes of it",
        ),
    }
