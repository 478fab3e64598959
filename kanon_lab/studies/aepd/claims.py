"""The claims of the note's text."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from kanon_lab.classes import class_table
from kanon_lab.recode import generalise
from kanon_lab.studies.aepd.tables import (
    FIRST,
    KEYS,
    LAST,
    SENSITIVE,
    TABLES,
    generalisation,
    hierarchies,
    homogeneity,
    levels_used,
    table,
)
from kanon_lab.studies.claims import Claim

_WORDS = {2: "dos", 6: "seis"}
_LOST = "not-in-text"


def text_claims() -> dict[str, Claim]:
    """The claims by the last part of their figure_id; for what is lost in the text, its verdict."""
    k = homogeneity().set_index("table")["k_achieved"].to_dict()
    return {
        **_lost(),
        **_citations(),
        **_anonymity_claims(k),
        **_homogeneity_claims(),
        **_generalisation_claims(k),
        **_local_claims(),
        **_expanded_claims(),
        **_suppression_claims(k),
    }


def _lost() -> dict[str, Claim]:
    """The verdict on what our text of the note has not got."""
    return {
        "picture": Claim(reason="the picture is not in the text, its caption is", verdict=_LOST),
        "levels": Claim(
            reason="the picture is not in the text; the tables use the whole code and its first two digits",
            verdict=_LOST,
        ),
        "others-who-share": Claim(
            reason="the symbol is lost in the text; by the definition it is k - 1", verdict="illegible"
        ),
        "probability": Claim(reason="the symbol is lost in the text; by the definition it is 1/k", verdict="illegible"),
        "page-7": Claim(
            reason="the text goes from page 6 to page 8, which is the end of section V: its heading and its beginning, "
            "with the description of ARX that page 8 refers to, are lost, and every citation of references 7 to 10 too",
            verdict=_LOST,
        ),
    }


def _citations() -> dict[str, Claim]:
    """Numbers of laws and opinions: facts, looked up in the documents themselves."""
    directive = "Directive 95/46/EC of 24 October 1995, Official Journal L 281"
    regulation = "Regulation (EU) 2016/679 of 27 April 2016, Official Journal L 119"
    opinion = "Opinion 05/2014 of the working party of article 29 (WP 216), adopted on 10 April 2014"
    return {
        "directive-page-1": Claim("95/46", directive),
        "directive-page-2": Claim("95/46", f"{directive}: the first digits of the two numbers are swapped here"),
        "recital-directive": Claim(26.0, f"{directive}: its recital on who is identifiable"),
        "regulation": Claim("2016/679", regulation),
        "recital-regulation": Claim(26.0, f"{regulation}: its recital on who is identifiable"),
        "article-29": Claim(29.0, f"{directive}: its article that sets up the working party"),
        "opinion-page-2": Claim("05/2014", opinion),
        "opinion-names-it": Claim(
            "ya señalaba", f"{opinion}: k-anonymity is one of the techniques that its summary names"
        ),
        "opinion-page-9": Claim("05/2014", opinion),
        "opinion-date": Claim("10 April 2014", opinion),
    }


def _anonymity_claims(k: Mapping[str, int]) -> dict[str, Claim]:
    """Claims about Tablas 1 and 2, and the meaning of k."""
    second = table("Tabla 2")
    f_k = class_table(second, KEYS).f_k_of_records()
    alone, others = f_k.index[f_k == 1], f_k.index[f_k > 1]
    return {
        "keys": Claim(
            _WORDS[second.columns.drop(SENSITIVE).size],
            "copied: every column of the tables but the sensitive one, counted",
            kind="copied",
        ),
        "tabla-1-caption": Claim(k["Tabla 1"]),
        "tabla-1-k": Claim(k["Tabla 1"]),
        "tabla-1-rows": Claim(_WORDS[k["Tabla 1"]]),
        "tabla-2-caption": Claim(k["Tabla 2"]),
        "tabla-2-not-2": Claim("no" if k["Tabla 2"] < 2 else "sí"),
        "one-anonymity": Claim(
            "perfectamente identificable" if (second.loc[alone].value_counts(list(KEYS)) == 1).all() else "confundible",
            f"said of an individual whose k is 1, not more: so are {len(alone)} of the {len(f_k)} records of Tabla 2, "
            "and each is the only one with its key. Read of a table that is 1-anonymous, as Tabla 2 by its caption, it "
            f"would not hold of everybody in it: {_listed(others)} share their key",
        ),
        "conclusions": Claim("dos conclusiones", "copied: two are listed", kind="copied"),
    }


def _homogeneity_claims() -> dict[str, Claim]:
    """Claims about what a class gives away."""
    found = homogeneity()
    totals = found[["homogeneous", "classes", "alone"]].sum()
    companies, alike = totals["classes"] - totals["alone"], totals["homogeneous"] - totals["alone"]
    named = table("Tabla 6").query("postcode == '28***' and age == '40-49'")[SENSITIVE]
    anonymous = found[found["k_achieved"] >= 2]
    given_away = anonymous.loc[anonymous["homogeneous"] > 0, "table"]
    sure = min(table(name).groupby(list(KEYS))[SENSITIVE].agg(_commonest).min() for name in TABLES)
    return {
        "high-k": Claim(
            reason="an aim that high values of k serve (interesan), without a figure, and qualified on page 8: where a "
            "class has one sensitive value that is known for certain, whatever k is. So it is with "
            f"{alike} of the {companies} classes of Tablas 1 to 6 that have two records or more",
            verdict=_LOST,
        ),
        "class-28-40-49": Claim(
            "".join(named.unique()),
            f"the text names this class alone; so it is with {totals['homogeneous']} of the {totals['classes']} "
            f"classes of Tablas 1 to 6, {totals['alone']} of which are a single record. 28 is the province of Madrid",
        ),
        "example-homogeneous": Claim(
            "como ocurre en el ejemplo" if alike else "no ocurre en el ejemplo",
            f"{alike} of the {companies} classes of two records or more in Tablas 1 to 6 have one sensitive value",
        ),
        "certainty": Claim(
            "con total certeza" if sure == 1 else "con un porcentaje muy alto de acierto",
            "in every class of every table one value has all records",
        ),
        "no-guarantee": Claim(
            "no ofrece garantías" if len(given_away) else "ofrece garantías",
            f"{_listed(given_away)} are 2-anonymous, and their classes tell the sensitive value",
        ),
    }


def _commonest(values: pd.Series) -> float:
    """The share of the commonest value."""
    return values.value_counts(normalize=True).max()


def _listed(records: pd.Index | pd.Series) -> str:
    *first, last = map(str, records)
    return f"{', '.join(first)} and {last}" if first else last


def _generalisation_claims(k: Mapping[str, int]) -> dict[str, Claim]:
    """Claims about Tabla 3, and about both methods."""
    second = table("Tabla 2")
    by_age = class_table(generalise(second, hierarchies(), {"age": 1}), KEYS).k_achieved
    enough = f"ages in decades alone, with whole postcodes, give k = {by_age}"
    origins = {"Tabla 3": "Tabla 2", "Tabla 4": "Tabla 2", "Tabla 6": "Tabla 5"}
    true = all(_covers(table(name), table(origin)) for name, origin in origins.items())
    return {
        "methods": Claim("dos métodos", "copied: section IV has these two under headings", kind="copied"),
        "not-perturbative": Claim(
            "sin introducir información errónea" if true else "con información errónea",
            f"every key cell of {_listed(pd.Index(origins))} covers the value that it stands for, and the other cells "
            "are as they were",
        ),
        "increase": Claim(
            "se puede incrementar" if k["Tabla 3"] > k["Tabla 2"] else "no se incrementa",
            f"k is {k['Tabla 2']} in Tabla 2 and {k['Tabla 3']} in Tabla 3",
        ),
        "tabla-3-k": Claim(k["Tabla 3"], enough),
        "tabla-4-k": Claim(k["Tabla 4"], enough),
        "tabla-3-kind": Claim(generalisation(second, table("Tabla 3"))),
    }


def _covers(after: pd.DataFrame, before: pd.DataFrame) -> bool:
    """Whether each key cell is one of the labels of the value before, and the sensitive value is the same."""
    before, ladders = before.loc[after.index], hierarchies()
    labels = {key: ladders[key].table(before[key]).set_axis(after.index) for key in KEYS}
    keys = all(labels[key].eq(after[key], axis=0).any(axis=1).all() for key in KEYS)
    return keys and after[SENSITIVE].equals(before[SENSITIVE])


def _local_claims() -> dict[str, Claim]:
    """Claims about Tabla 4."""
    second, third, fourth = (table(name) for name in ("Tabla 2", "Tabla 3", "Tabla 4"))
    finer = int((fourth != third)[list(KEYS)].to_numpy().sum())
    whole = fourth.index[fourth["postcode"] == second["postcode"]]
    masked = fourth.assign(postcode=hierarchies()["postcode"].recode(fourth["postcode"], 1))
    return {
        "tabla-4-kind": Claim(
            "local" if (levels_used(second, fourth).nunique() > 1).any() else generalisation(second, fourth),
            "by its words for local, criteria that differ by record: the postcodes of "
            f"{_listed(whole)} stay whole and the others do not, as one rule for single records gives it (whole where "
            "another has the same key). But equal postcodes, and equal ages, are all generalised alike, which is the "
            f"note's definition of {generalisation(second, fourth)}, and local is set against it as the alternative: "
            "Tabla 4 is both, and no table of the note is local only",
        ),
        "tabla-4-precision": Claim(
            "más precisos" if finer and masked.equals(third) else "los mismos",
            f"{finer} of {len(KEYS) * len(fourth)} key cells are more precise than in Tabla 3, the others equal",
        ),
    }


def _expanded_claims() -> dict[str, Claim]:
    """Claims about the records that Tabla 5 adds."""
    fifth = table("Tabla 5")
    numbers = fifth[list(KEYS)].astype(int)
    first, added = numbers.loc[:FIRST], numbers.loc[FIRST + 1 :]
    beyond = int(((added < first.min()) | (added > first.max())).to_numpy().sum())
    coarse = generalise(fifth, hierarchies(), dict.fromkeys(KEYS, 1))
    least, greatest = first.min(), first.max()
    provinces = table("Tabla 3")["postcode"].nunique()
    without, with_them = (1 / class_table(rows, KEYS).k_achieved for rows in (coarse.loc[:FIRST], coarse))
    return {
        "close-values": Claim(
            reason=f"a judgement without a measure. It fits the ages, {least['age']} to {greatest['age']}, and not the "
            f"postcodes, {least['postcode']} to {greatest['postcode']}, of {provinces} provinces",
            verdict=_LOST,
        ),
        "tabla-5-caption": Claim(
            "valores fuera de rango" if beyond else "valores dentro de rango",
            f"{beyond} of the {added.size} key values that are added lie below the least or above the greatest of "
            "Tabla 2. The text counts another way, by the ranges that Tabla 3 uses",
        ),
        "unusual": Claim(
            "aumentan significativamente" if with_them > without else "no aumentan",
            f"generalised as in Tabla 3, the greatest probability is {without:g} without the two records, and "
            f"{with_them:g} with them",
        ),
        "useless": Claim(
            reason="a judgement, and said of what may be. With the keys of the two added records at the top of their "
            "hierarchies the table is 2-anonymous and keeps all records (`kanon_lab.studies.mends`)",
            verdict=_LOST,
        ),
    }


def _suppression_claims(k: Mapping[str, int]) -> dict[str, Claim]:
    """Claims about Tablas 5 and 6."""
    fifth, sixth = table("Tabla 5"), table("Tabla 6")
    coarse = generalise(fifth, hierarchies(), dict.fromkeys(KEYS, 1))
    company = class_table(coarse, KEYS).f_k_of_records() >= 2
    inside = pd.DataFrame({key: coarse[key].isin(table("Tabla 3")[key]) for key in KEYS}).any(axis=1)
    outside, added = inside.index[~inside], coarse[inside].loc[FIRST + 1 :]
    words = {(LAST,): "el último", (FIRST + 1, LAST): "los dos"}
    unsaid = fifth.index[FIRST:].drop(LAST)
    f_k = class_table(sixth, KEYS).f_k_of_records()
    stray = sixth.loc[f_k.idxmin()]
    methods = {
        "Generalización": (sixth != fifth.astype(str).loc[sixth.index]).any(axis=None),
        "Eliminación": len(sixth) < len(fifth),
    }
    return {
        "first-records": Claim(_WORDS[int(company.cummin().sum())]),
        "out-of-range": Claim(
            words[tuple(outside)],
            f"no value of record {_listed(outside)} is in a range that Tabla 3 uses; those of record "
            f"{_listed(added.index)} are, in {' and '.join(added.iloc[0][list(KEYS)])}, though no record has both",
        ),
        "record-7": Claim(
            reason=f"the text treats the first {FIRST} records and the last, {len(fifth) - len(unsaid)} of "
            f"{len(fifth)}, and not record {_listed(unsaid)}. Tabla 6 keeps it, generalised like the first, where it "
            "stands alone; the text has very unusual records removed too, and does not say which they are",
            verdict=_LOST,
        ),
        "tabla-6-methods": Claim(" + ".join(name for name, used in methods.items() if used)),
        "tabla-6-k": Claim(
            k["Tabla 6"],
            f"record {f_k.idxmin()} ({stray['postcode']}, {stray['age']}) shares its key with no other record; "
            "the text does not say what becomes of it",
        ),
    }
