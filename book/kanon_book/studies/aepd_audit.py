"""The audit of the AEPD's note: Tablas 1 to 6 and the claims of its text, recomputed.

Tablas 1 and 2 and the two records that Tabla 5 adds are inputs: that they agree with themselves is no evidence. Levels
of generalisation are read off Tablas 3, 4 and 6, since Figura 2, which has them, is lost in the text: that their key
cells come out as printed shows only that one simple rule gives them all: they are fitted. The other cells are
copies of cells printed before. The audit's ``kind`` tells them apart; what can be wrong is in the claims.

What the note calls key attributes (atributos clave) are direct identifiers; our key variables are its
cuasi-identificadores.

In ``aepd.csv`` dashes and the spaces around them are made plain hyphens (``40-49``). A statement of the text stands
there as one or two of its words, or as the code that a table would print for it; what is lost in the text is empty.

Left out on purpose: advice (what a controller should or must do); statements of law beyond the numbers of acts,
recitals and articles (what the directive and the regulation say and mean); definitions (kinds of attributes, and that
a full name or a number of identity is one's own alone; l-diversity, t-closeness); judgements without a measure (that
global generalisation makes analysis simpler, and local results harder to present); what may be the case (``puede``),
unless the tables show it; what tools can do, and their addresses; numbers of pages and sections, and marks of
citation; the list of references, but for the opinion that the text names; and what a statement repeats of one that
has a row.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from kanon_book.studies import aepd
from kanon_book.studies.aepd import KEYS, SENSITIVE, table
from kanon_book.studies.figures import Answer, judged_by_place
from kanon_lab.classes import class_table
from kanon_lab.methods import generalise

_WORDS = {2: "dos", 6: "seis"}


def recompute(figures: pd.DataFrame) -> pd.DataFrame:
    """Every figure of the note (rows of `published_figures`) from its inputs, as `judged`."""
    tables = {name: records.rename(index=str).to_dict() for name, records in aepd.recomputed_tables().items()}
    return judged_by_place(figures, tables, claims())


def claims() -> dict[str, object]:
    """What is computed for the claims, by the last part of their figure_id."""
    k = aepd.homogeneity().set_index("table")["k_achieved"].to_dict()
    by_k = _anonymity_claims(k) | _generalisation_claims(k) | _suppression_claims(k)
    return by_k | _homogeneity_claims() | _local_claims() | _expanded_claims()


def _anonymity_claims(k: Mapping[str, int]) -> dict[str, object]:
    """Claims about Tablas 1 and 2, and the meaning of k."""
    second = table("Tabla 2")
    f_k = class_table(second, KEYS).f_k_of_records()
    alone, others = f_k.index[f_k == 1], f_k.index[f_k > 1]
    of_one = (second.loc[alone].value_counts(list(KEYS)) == 1).all()
    return {
        "keys": _WORDS[second.columns.drop(SENSITIVE).size],
        "tabla-1-caption": k["Tabla 1"],
        "tabla-1-k": k["Tabla 1"],
        "tabla-1-rows": _WORDS[k["Tabla 1"]],
        "tabla-2-caption": k["Tabla 2"],
        "tabla-2-not-2": k["Tabla 2"] < 2,
        "one-anonymity": Answer(of_one, alone=len(alone), records=len(f_k), others=_listed(others)),
    }


def _homogeneity_claims() -> dict[str, object]:
    """Claims about what a class gives away."""
    checked = aepd.homogeneity()
    totals = checked[["homogeneous", "classes", "alone"]].sum()
    several = {"companies": totals["classes"] - totals["alone"], "alike": totals["homogeneous"] - totals["alone"]}
    named = table("Tabla 6").query("postcode == '28***' and age == '40-49'")[SENSITIVE]
    given_away = checked.loc[(checked["k_achieved"] >= 2) & (checked["homogeneous"] > 0), "table"]
    commonest = [table(name).groupby(list(KEYS))[SENSITIVE].value_counts(normalize=True) for name in aepd.TABLES]
    sure = min(shares.groupby(list(KEYS)).max().min() for shares in commonest)
    return {
        "high-k": Answer(None, **several),
        "class-28-40-49": Answer("".join(named.unique()), **totals),
        "example-homogeneous": Answer(bool(several["alike"]), **several),
        "certainty": sure == 1,
        "no-guarantee": Answer(bool(len(given_away)), given_away=_listed(given_away)),
    }


def _listed(records: pd.Index | pd.Series) -> str:
    *first, last = map(str, records)
    return f"{', '.join(first)} and {last}" if first else last


def _generalisation_claims(k: Mapping[str, int]) -> dict[str, object]:
    """Claims about Tabla 3, and about both methods."""
    second = table("Tabla 2")
    by_age = class_table(generalise(second, aepd.hierarchies(), {"age": 1}), KEYS).k_achieved
    origins = {"Tabla 3": "Tabla 2", "Tabla 4": "Tabla 2", "Tabla 6": "Tabla 5"}
    covered = all(_covers(table(name), table(origin)) for name, origin in origins.items())
    return {
        "not-perturbative": Answer(covered, tables=_listed(pd.Index(origins))),
        "increase": Answer(k["Tabla 3"] > k["Tabla 2"], tabla_2=k["Tabla 2"], tabla_3=k["Tabla 3"]),
        "tabla-3-k": Answer(k["Tabla 3"], by_age=by_age),
        "tabla-4-k": Answer(k["Tabla 4"], by_age=by_age),
        "tabla-3-kind": aepd.generalisation(second, table("Tabla 3")),
    }


def _covers(after: pd.DataFrame, before: pd.DataFrame) -> bool:
    """Whether each key cell is one of the labels of the value before, and the sensitive value is the same."""
    before = before.loc[after.index]
    keys = all(named.eq(after[key], axis=0).any(axis=1).all() for key, named in aepd.labels(before).items())
    return keys and after[SENSITIVE].equals(before[SENSITIVE])


def _local_claims() -> dict[str, object]:
    """Claims about Tabla 4."""
    second, third, fourth = (table(name) for name in ("Tabla 2", "Tabla 3", "Tabla 4"))
    finer = int((fourth != third)[list(KEYS)].to_numpy().sum())
    whole = fourth.index[fourth["postcode"] == second["postcode"]]
    masked = fourth.assign(postcode=aepd.hierarchies()["postcode"].recode(fourth["postcode"], 1))
    of_variables = aepd.generalisation(second, fourth)
    kind = "local" if (aepd.levels_used(second, fourth).nunique() > 1).any() else of_variables
    return {
        "tabla-4-kind": Answer(
            kind,
            {} if kind == of_variables else {"verdict": "in-part"},
            whole=_listed(whole),
            generalisation=of_variables,
        ),
        "tabla-4-precision": Answer(bool(finer and masked.equals(third)), finer=finer, cells=len(KEYS) * len(fourth)),
    }


def _expanded_claims() -> dict[str, object]:
    """Claims about the records that Tabla 5 adds."""
    fifth = table("Tabla 5")
    numbers = fifth[list(KEYS)].astype(int)
    first, added = numbers.loc[: aepd.FIRST], numbers.loc[aepd.FIRST + 1 :]
    least, greatest = first.min(), first.max()
    beyond = int(((added < least) | (added > greatest)).to_numpy().sum())
    ages = {"youngest": least["age"], "oldest": greatest["age"]}
    postcodes = {"lowest": least["postcode"], "highest": greatest["postcode"]}
    rows = aepd.coarse(fifth)
    without, with_them = (1 / class_table(part, KEYS).k_achieved for part in (rows.loc[: aepd.FIRST], rows))
    return {
        "close-values": Answer(None, **ages, **postcodes, provinces=table("Tabla 3")["postcode"].nunique()),
        "tabla-5-caption": Answer(bool(beyond), beyond=beyond, added=added.size),
        "unusual": Answer(with_them > without, without=without, with_them=with_them),
    }


def _suppression_claims(k: Mapping[str, int]) -> dict[str, object]:
    """Claims about Tablas 5 and 6."""
    fifth, sixth = table("Tabla 5"), table("Tabla 6")
    rows = aepd.coarse(fifth)
    company = class_table(rows, KEYS).f_k_of_records() >= 2
    inside = pd.DataFrame({key: rows[key].isin(table("Tabla 3")[key]) for key in KEYS}).any(axis=1)
    outside, added = inside.index[~inside], rows[inside].loc[aepd.FIRST + 1 :]
    ranges = " and ".join(added.iloc[0][list(KEYS)])
    words = {(aepd.LAST,): "el último", (aepd.FIRST + 1, aepd.LAST): "los dos"}[tuple(outside)]
    unsaid = fifth.index[aepd.FIRST :].drop(aepd.LAST)
    f_k = class_table(sixth, KEYS).f_k_of_records()
    stray = sixth.loc[f_k.idxmin()]
    methods = {
        "Generalización": (sixth != fifth.astype(str).loc[sixth.index]).any(axis=None),
        "Eliminación": len(sixth) < len(fifth),
    }
    treated = {"treated": len(fifth) - len(unsaid), "records": len(fifth)}
    return {
        "first-records": _WORDS[int(company.cummin().sum())],
        "out-of-range": Answer(words, outside=_listed(outside), added=_listed(added.index), ranges=ranges),
        "record-7": Answer(None, first=aepd.FIRST, **treated, unsaid=_listed(unsaid)),
        "tabla-6-methods": " + ".join(name for name, used in methods.items() if used),
        "tabla-6-k": Answer(k["Tabla 6"], record=f_k.idxmin(), postcode=stray["postcode"], age=stray["age"]),
    }
