"""The claims of the guide's chapters 6 and 7."""

from __future__ import annotations

import numpy as np
import pandas as pd

from kanon_lab.classes import ClassTable, class_table
from kanon_lab.digits import percent
from kanon_lab.diversity import diversity
from kanon_lab.keys import KeySpec
from kanon_lab.published.claims import Claim
from kanon_lab.published.ine_chile.printed import SPECS, counts, example
from kanon_lab.published.ine_chile.tables import computed_cells, suppressed
from kanon_lab.risk import (
    file_risk,
    household_risk,
    household_risks,
    household_size,
    individual_risk,
    interval_disclosure,
    linkage_attack,
    records_above,
)

#: Spanish words for small numbers, as the guide has them.
WORDS = {1: "uno", 2: "dos", 3: "tres", 4: "cuatro", 5: "cinco", 6: "seis", 7: "siete"}
#: The risks of three members of a household in section 7.8.
MEMBERS = (0.02, 0.03, 0.03)


def risk_claims() -> dict[str, Claim]:
    """The claims of chapters 6 and 7 by the last part of their figure_id."""
    frame = example("Tabla 7.1")
    table = class_table(frame, SPECS["Tabla 7.1"], where="Tabla 7.1")
    return {
        **_code_claims(),
        **_frequency_claims(table),
        **_individual_claims(table),
        **_anonymity_claims(table),
        **_diversity_claims(),
        **_interval_claims(),
        **_global_claims(table),
        **_household_claims(),
    }


def listed(records: pd.Index) -> str:
    """Records as the guide lists them: ``3, 5 y 7``."""
    texts = [str(record) for record in records]
    return " y ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def _code_claims() -> dict[str, Claim]:
    """Claims about code, in chapter 6."""
    together, apart = pd.Series([2, 2, 1]), pd.Series([1, 2, 1])
    by_runs, sizes = (", ".join(map(str, found)) for found in (_sizes_of_runs(apart), household_size(apart)))
    return {
        "csv-function": Claim("read.csv()", "Bloque 6.4 has it so; read_csv() is of another package"),
        "csv-separator": Claim("';'", 'the code above the comment has sep = ";", as the text says'),
        "csv-decimal": Claim("'.'", 'the code above the comment has dec = "."'),
        "all-arguments": Claim(
            "5 de 9",
            "the same paragraph chooses eight roles beside dat; the block has dat and four of them. Roles may be left "
            "out, it says further on, but here it shows all",
        ),
        "undo": Claim("undolast()", "so in the text of section 6.6 and in the blocks"),
        "household-column": Claim("IDH", "every other line calls it so; a column HID is nowhere made"),
        "household-size": Claim(
            "no ordenado" if _sizes_of_runs(together).equals(household_size(together)) else "ordenado",
            "if only the households are out of order: it counts runs, so members must stand side by side. For "
            f"households 1, 2, 1 it gives {by_runs}, without warning; the sizes are {sizes}",
        ),
        "days": Claim(
            reason="depends on program and machine, not repeated here; section 6.1 calls all methods highly optimised "
            "for large files",
            verdict="not-in-text",
        ),
    }


def _sizes_of_runs(households: pd.Series) -> pd.Series:
    """What the second line of Bloque 6.14 counts: records that follow each other with one household."""
    return household_size((households != households.shift()).cumsum())


def _frequency_claims(table: ClassTable) -> dict[str, Claim]:
    """Claims of section 7.5.1 about counts."""
    f_k = table.f_k_of_records()
    return {
        "persons": Claim(table.n),
        "keys": Claim(WORDS[table.n_classes], "called unique combinations: different ones; four of them are unique"),
        "f-k-of-1": Claim(f_k[1]),
        "f-k-of-3": Claim(f_k[3]),
        "uniques": Claim(WORDS[table.sample_uniques]),
    }


def _individual_claims(table: ClassTable) -> dict[str, Claim]:
    """Claims of section 7.5.1 about risk."""
    risk, inverse = file_risk(table), file_risk(table, estimator="inverse")
    ratio, f_k = risk.risk / inverse.risk, table.f_k_of_records()
    of_records = pd.Series(risk.risk, table.index)
    high = of_records.nlargest(table.sample_uniques, keep="all").index.sort_values()
    times = f"{ratio.min():.1f} to {ratio.max():.1f} times 1/F_k"
    return {
        "risk-of-population-unique": Claim(
            float(individual_risk(np.array([1]), np.array([1.0]))[0]), "a weight of 1 stands for its own record only"
        ),
        "worst-case": Claim(
            "peor de los casos" if (ratio <= 1).all() else "no es el peor",
            "footnote 5 says what makes a case the worst: all of the sample are in the outside file, and no file has "
            "errors. Both risks assume that, and the guide calls its r_k the worst case too. Recomputed by record, "
            f"r_k is {times}; its mean is R_1, {risk.global_risk:.5f} as printed; that of 1/F_k is "
            f"{inverse.global_risk:.5f}",
        ),
        "too-high": Claim(
            reason="they may be, it says. By footnote 5 they are, if the outside file lacks some of the sample; but "
            "that file is not given, nor are the true risks. Against its own r_k in Tabla 7.1, recomputed, "
            f"{(ratio > 1).sum()} of {table.n} are too low: r_k is {times}",
            verdict="not-in-text",
        ),
        "high-risk": Claim(
            listed(high),
            f"by the Benedetti-Franconi risks, at least {of_records[high].min():.4f}; the next is "
            f"{of_records.drop(high).max():.4f}",
        ),
        "high-risk-cause": Claim("muestras únicas" if (f_k[high] == 1).all() else "no todas"),
    }


def _anonymity_claims(table: ClassTable) -> dict[str, Claim]:
    """Claims of section 7.5.2."""
    violations = table.violations([2, 3])
    f_k = table.f_k_of_records()
    alike = class_table(pd.DataFrame({"key": ["a"] * 3}), "key")
    missing = example("Tabla 7.2")
    spec = SPECS["Tabla 7.2"]
    as_value, as_any = (
        class_table(missing, KeySpec(spec.key_variables, missing=policy)).f_k_of_records().tolist()
        for policy in ("category", "wildcard")
    )
    return {
        "superior": Claim(
            "al menos",
            "two sentences later a person violates it where f_k < k, so f_k = k is enough, as in the example there",
        ),
        "satisfies-3": Claim(alike.k_achieved),
        "violates-4": Claim(min(k for k in range(2, 10) if alike.violations([k])[k])),
        "satisfy-2": Claim(WORDS[table.n - violations[2]]),
        "violate-2": Claim(WORDS[violations[2]]),
        "violate-2-again": Claim(WORDS[violations[2]]),
        "violators": Claim("muestras únicas" if (f_k[f_k < 2] == 1).all() else "no todas"),
        "violate-3": Claim(violations[3]),
        "larger-k": Claim("mayor" if violations[3] > violations[2] else "igual", "never smaller; here it grows"),
        "implied": Claim(
            "(k-1)",
            "the wrong way round, and given as the reason for more violations at a larger k: the persons of Tabla 7.1 "
            f"who satisfy 2-anonymity ({table.n - violations[2]}) all violate 3-anonymity",
        ),
        "missing-as": Claim(
            "cualquier otro valor" if as_any == counts("Tabla 7.2", "f_k").tolist() else "un valor propio",
            f"if that is: as if it were whichever other value. So Tabla 7.2 counts, {as_any}, and so do the sentences "
            f"before it. Read as: one more value like the others, it would give {as_value}",
        ),
        "finds-k": _finds_k(),
    }


def _finds_k() -> Claim:
    """What an outsider finds in a file that is k-anonymous only because missing values match everything."""
    original, released, spec = example("Tabla 8.4"), suppressed().frame, SPECS["Tabla 8.4"]
    k, found = class_table(released, spec).k_achieved, linkage_attack(original, released, spec.key_variables).persons
    fewest = found["records"].min()
    return Claim(
        "al menos k" if fewest >= k else WORDS[fewest],
        f"true where no value is missing. By the counting of Tabla 7.2, Tabla 8.4 is {k}-anonymous after suppression; "
        f"and whoever knows the true key of person {found['records'].idxmin()} finds {fewest} compatible record",
    )


def _diversity_claims() -> dict[str, Claim]:
    """Claims of section 7.5.3."""
    frame, spec = example("Tabla 7.3"), SPECS["Tabla 7.3"]
    table = class_table(frame, spec)
    found = diversity(table, "health").classes["distinct"].to_numpy()[table.class_of_record]
    of_records, f_k = pd.Series(found, table.index), table.f_k_of_records()
    (health,) = {computed_cells("Bloque 7.1")["health"][row] for row in "12"}
    (state,) = frame.loc[[1, 2], "health"].unique()
    return {
        "first-two-k": Claim(f_k[[1, 2]].min()),
        "health-value": Claim(health.lower(), f"by the codes of Bloque 7.1; Tabla 7.3 prints {state} for it"),
        "first-two-l": Claim(of_records[[1, 2]].max()),
        "four-six-l": Claim(of_records[[4, 6]].min()),
        "binary-l": Claim(frame["health"].nunique(), "as many as it has values"),
        "unique-l": Claim(of_records[f_k == 1].max()),
    }


def _interval_claims() -> dict[str, Claim]:
    """Claims of section 7.6.2, on incomes that stay as they are, and on incomes that move."""
    incomes = pd.DataFrame({"income": [10.0, 20.0, 30.0, 40.0, 100.0]})
    untouched = interval_disclosure(incomes, incomes, width=0.1).share
    moved = incomes + 8
    narrow, wide = (interval_disclosure(incomes, moved, width=k).share for k in (0.1, 0.5))
    around_original = interval_disclosure(moved, incomes, width=0.5).share
    return {
        "interval-1": Claim(
            "dentro" if untouched == 1 else "fuera",
            "in the sentence before, the measure grows with the values inside; of values that were not changed, all of "
            f"them inside, it is {untouched:g}",
        ),
        "interval-k": Claim("mayor" if wide > narrow else "igual"),
        "interval-centre": Claim(
            "valor inicial" if around_original == wide else "valor perturbado",
            "section 7.6.3, and this one at first, draw it around the perturbed value; with one width it is the same",
        ),
    }


def _global_claims(table: ClassTable) -> dict[str, Claim]:
    """Claims of section 7.7."""
    risk = file_risk(table)
    by_key = float(table.records @ individual_risk(table.f_k, table.F_k)) / table.n
    above = records_above(risk.risk, threshold=0.05)
    as_printed = f"{risk.global_risk:.5f}".replace(".", ",")
    return {
        "r1": Claim(risk.global_risk, "mean of the Benedetti-Franconi risks; the mean of 1/F_k is not"),
        "r1-per-cent": Claim(
            100 * risk.global_risk, f"{risk.global_risk:.5f} is {percent(risk.global_risk)}: a factor of ten"
        ),
        "r1-comma": Claim(risk.global_risk),
        "expected": Claim(f"{table.n}*{as_printed}", f"which is {risk.expected_reidentifications:.4f} persons"),
        "by-key": Claim("igual" if np.isclose(by_key, risk.global_risk, rtol=1e-12) else "distinto"),
        "above": Claim(
            "ninguna" if above.records == 0 else str(above.records), f"the largest is {risk.risk.max():.4f}"
        ),
    }


def _household_claims() -> dict[str, Claim]:
    """Claims of section 7.8."""
    risk = np.array(MEMBERS)
    (home,) = household_risks(risk, np.zeros(3)).itertuples()
    of_members = household_risk(risk, np.zeros(3))
    return {
        "household": Claim(
            home.risk,
            "if members are re-identified independently, which the guide does not say; without that it lies between "
            f"{home.lower:g} and {home.upper:g}",
        ),
        "household-formula": Claim(
            "1 - P(A_j)", "as one factor, in brackets: so in the example below it, whose result is right"
        ),
        "household-least": Claim("no puede ser menor" if (of_members >= risk).all() else "puede ser menor"),
        "household-same": Claim("el mismo" if len(set(of_members)) == 1 else "otro"),
    }
