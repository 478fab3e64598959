"""AEPD, La k-anonimidad como medida de la privacidad: Tablas 1 to 6, and what their classes give away."""

from __future__ import annotations

import pandas as pd

from kanon_lab.classes import class_table
from kanon_lab.methods import Hierarchy, generalise, generalise_records, suppress_records
from kanon_lab.studies.figures import published_figures

TABLES = tuple(f"Tabla {number}" for number in range(1, 7))
#: Tabla 5 is printed a second time beside Tabla 6.
TABLE_5_AGAIN = "Tabla 5 (again)"
KEYS = ("postcode", "age")
SENSITIVE = "cholesterol"
#: The printed heading of each column; S is yes and N is no.
HEADINGS = {"postcode": "Código postal", "age": "Edad", "cholesterol": "Colesterol"}

#: What the text says of Tabla 5: so many first records are generalised, and the last one is out of range.
FIRST, LAST = 6, 8


def table(name: str) -> pd.DataFrame:
    """A table (of `TABLES`, or `TABLE_5_AGAIN`) as printed, under ``record`` from 1; ages are int or texts."""
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
    """The levels of Tablas 4 and 6: ages in decades; two digits of the postcode where nobody else has the same key."""
    alone = class_table(records, KEYS).f_k_of_records() < 2
    return pd.DataFrame({"postcode": alone.astype(int), "age": 1}, index=records.index)


def recomputed_tables() -> dict[str, pd.DataFrame]:
    """Every table from the inputs: as `table` gives it, by name."""
    first, second, added = table("Tabla 1"), table("Tabla 2"), table("Tabla 5").loc[FIRST + 1 :]
    expanded = pd.concat([second, added])
    generalised = generalise_records(expanded, hierarchies(), local_levels(expanded))
    return {
        "Tabla 1": first,
        "Tabla 2": second,
        "Tabla 3": generalise(second, hierarchies(), dict.fromkeys(KEYS, 1)),
        "Tabla 4": generalise_records(second, hierarchies(), local_levels(second)),
        "Tabla 5": expanded,
        TABLE_5_AGAIN: table("Tabla 5"),
        "Tabla 6": suppress_records(generalised, [LAST]),
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


def levels_used(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """The lowest level of `hierarchies` that gives each key cell `after` from the value `before`."""
    before, ladders = before.loc[after.index], hierarchies()
    labels = {key: ladders[key].table(before[key]).set_axis(after.index) for key in KEYS}
    return pd.DataFrame(
        {key: labels[key].eq(after[key], axis=0).to_numpy().argmax(axis=1) for key in KEYS}, after.index
    )


def generalisation(before: pd.DataFrame, after: pd.DataFrame) -> str:
    """``global`` by the note's definition, where equal values of a variable are generalised alike; else ``local``."""
    alike = all((after[key].groupby(before[key]).nunique() == 1).all() for key in KEYS)
    return "global" if alike else "local"
