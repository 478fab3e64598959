"""The claims of the guide's chapter 7."""

from __future__ import annotations

import numpy as np
import pandas as pd

from kanon_lab.classes import ClassTable, class_table
from kanon_lab.digits import percent
from kanon_lab.diversity import diversity
from kanon_lab.keys import KeySpec
from kanon_lab.risk import (
    file_risk,
    household_risk,
    household_risks,
    individual_risk,
    interval_disclosure,
    linkage_attack,
    records_above,
)
from kanon_lab.studies.claims import Claim
from kanon_lab.studies.ine_chile.printed import SPECS, WORDS, copied, counts, example, given, listed, unseen
from kanon_lab.studies.ine_chile.tables import computed_cells, recoded_regions, suppressed

#: The risks of three members of a household in section 7.8.
MEMBERS = (0.02, 0.03, 0.03)
#: The risk of section 7.7.2 above which persons are counted.
THRESHOLD = 0.05


def risk_claims() -> dict[str, Claim]:
    """The claims of chapter 7 by the last part of their figure_id."""
    frame = example("Tabla 7.1")
    table = class_table(frame, SPECS["Tabla 7.1"])
    return {
        **_scope_claims(),
        **_frequency_claims(table),
        **_individual_claims(table),
        **_anonymity_claims(table),
        **_diversity_claims(),
        **_interval_claims(),
        **_global_claims(table),
        **_household_claims(),
    }


def _scope_claims() -> dict[str, Claim]:
    """Claims of sections 7.1 and 7.2: examples."""
    return {
        "patients": given("56 a 60", "an example"),
        "age-values": given("{0, 1,..., 100}", "an example, of 101 values; Tabla 8.3 has another, of 100"),
    }


def _frequency_claims(table: ClassTable) -> dict[str, Claim]:
    """Claims of section 7.5.1 about counts."""
    f_k, frame = table.f_k_of_records(), example("Tabla 7.1")
    sharing = [table.index[table.class_of_record == table.class_of_record[record]] for record in (0, 2)]
    sums = frame.groupby(list(SPECS["Tabla 7.1"].key_variables))["weight"].transform("sum")
    return {
        "persons": copied(table.n, "the number of rows of Tabla 7.1"),
        "key-variables": copied(WORDS[len(SPECS["Tabla 7.1"].key_variables)], "the table has four, beside the weight"),
        "keys": Claim(WORDS[table.n_classes], "called unique combinations: different ones; four of them are unique"),
        "f-k-of-1": Claim(f_k[1]),
        "f-k-of-3": Claim(f_k[3]),
        "share-first": Claim(listed(sharing[0])),
        "share-third": Claim(listed(sharing[1])),
        "others-of-2": Claim("un individuo más" if f_k[1] - 1 == 1 else "otros", "f_k counts the individual itself"),
        "uniques": Claim(WORDS[table.sample_uniques]),
        "weights-sum": Claim(
            "suma de los pesos muestrales" if (sums == counts("Tabla 7.1", "F_k").to_numpy()).all() else "otra",
            "the weights of each key, added up, are the printed F_k of all ten",
        ),
    }


def _individual_claims(table: ClassTable) -> dict[str, Claim]:
    """Claims of section 7.5.1 about risk."""
    risk, inverse = file_risk(table), file_risk(table, estimator="inverse")
    ratio, f_k = risk.risk / inverse.risk, table.f_k_of_records()
    of_records = pd.Series(risk.risk, table.index)
    high = of_records.nlargest(table.sample_uniques, keep="all").index.sort_values()
    times = f"{ratio.min():.1f} to {ratio.max():.1f} times 1/F_k"
    one_each = of_records.groupby(table.class_of_record).nunique().max() == 1
    return {
        "match-probability": given(
            "1/F_k",
            f"right for a known F_k. Of one that is estimated by weights it is too low on average: r_k is {times}",
        ),
        "risk-of-population-unique": Claim(
            float(individual_risk(np.array([1]), np.array([1.0]))[0]), "a weight of 1 stands for its own record only"
        ),
        "worst-case": unseen(
            "worst of which cases, it does not say. Of outsiders it may be: by footnote 5 all of the sample are in the "
            "outside file, and no file has errors. It is not the largest estimate, since the guide's own r_k, of the "
            f"same outsider, is {times} (its mean is R_1, {risk.global_risk:.5f} as printed; that of 1/F_k is "
            f"{inverse.global_risk:.5f}); nor the worst outsider of all, who knows that a person is in the sample, as "
            "in section 7.5.3"
        ),
        "too-high": unseen(
            "they may be, it says. By footnote 5 they are, if the outside file lacks some of the sample; but that file "
            f"is not given, nor are the true risks. Against its own r_k in Tabla 7.1, recomputed, {(ratio > 1).sum()} "
            f"of {table.n} are too low: r_k is {times}"
        ),
        "same-risk": Claim("el mismo" if one_each else "otro"),
        "high-risk": Claim(
            listed(high),
            f"by the Benedetti-Franconi risks, at least {of_records[high].min():.4f}; the next is "
            f"{of_records.drop(high).max():.4f}",
        ),
        "high-risk-cause": Claim("muestras únicas" if (f_k[high] == 1).all() else "no todas"),
        "absent": Claim(_found_in_a_register_without(3), "the outside file being the sample without person 3"),
        "positive": Claim("positiva" if (risk.risk > 0).all() else "no siempre"),
    }


def _found_in_a_register_without(record: int) -> str:
    """Whether the released record of somebody whom the outsider's file lacks is matched with its own person."""
    released, keys = example("Tabla 7.1"), SPECS["Tabla 7.1"].key_variables
    truth = pd.Series(released.index, released.index)
    found = linkage_attack(released.drop(index=record), released, keys, truth=truth).persons
    right = found["record"].eq(record) & found["right"]
    return "cero" if not right.any() else "más que cero"


def _anonymity_claims(table: ClassTable) -> dict[str, Claim]:
    """Claims of section 7.5.2."""
    violations = table.violations([2, 3])
    f_k = table.f_k_of_records()
    alike = class_table(pd.DataFrame({"key": ["a"] * 3}), "key")
    few, many = individual_risk(np.array([1, 1]), np.array([100.0, 1000.0]))
    small, large = (1 - (1 - 0.01) ** (n - 1) for n in (10, 100))
    return {
        "superior": copied(
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
        "formula": Claim(
            "I(f_k < k)" if [violations[k] for k in (2, 3)] == [int((f_k < k).sum()) for k in (2, 3)] else "otra",
            f"summed over Tabla 7.1 it gives {violations[2]} for k = 2 and {violations[3]} for k = 3, as "
            "the text tells. Its k stands for a key beside f, and for the threshold behind the sign",
        ),
        "printed-both": unseen("what the program prints; the output is not in the text"),
        "implied": Claim(
            "(k-1)" if violations[3] > violations[2] else "(k+1)",
            "the wrong way round, and given as the reason for more violations at a larger k: the persons of Tabla 7.1 "
            f"who satisfy 2-anonymity ({table.n - violations[2]}) all violate 3-anonymity",
        ),
        "large-weights": Claim(
            "menor" if many < few else "mayor", "of a sample unique with weight 100, and with 1,000"
        ),
        "small-file": Claim(
            "menor" if small < large else "mayor", "for a key that one in a hundred has, in files of 10 and of 100"
        ),
        "shown-k": copied("k=2 y k=3", "the sentence after tells the violations of both"),
        **{f"typical-{k}": unseen("says what many institutions ask for; none is named") for k in (3, 5)},
        "block-k": given(10.0, "a setting; any other may stand there, says the text. All ten persons would violate it"),
        "finds-k": _finds_k(),
        **_missing_claims(),
    }


def _missing_claims() -> dict[str, Claim]:
    """Claims of section 7.5.2 about missing values."""
    missing, spec = example("Tabla 7.2"), SPECS["Tabla 7.2"]
    as_value, as_any = (
        class_table(missing, KeySpec(spec.key_variables, missing=policy)).f_k_of_records().tolist()
        for policy in ("category", "wildcard")
    )
    code = class_table(missing.fillna("9999"), spec).f_k_of_records().tolist()
    pairs = [class_table(missing.loc[[known, 3]], spec).k_achieved for known in (1, 2)]
    return {
        "missing-as": Claim(
            "cualquier otro valor" if as_any == counts("Tabla 7.2", "f_k").tolist() else "un valor propio",
            f"if that is: as if it were whichever other value. So Tabla 7.2 counts, {as_any}, and so do the sentences "
            f"before it. Read as: one more value like the others, it would give {as_value}",
        ),
        **{f"missing-pair-{i}": Claim("comparten la misma clave" if k == 2 else "no") for i, k in enumerate(pairs, 1)},
        "missing-coded": Claim(
            "nivel de factor distinto" if code == as_value else "faltante",
            f"with 9999 in place of NA the frequencies of Tabla 7.2 are {code}",
        ),
    }


def _finds_k() -> Claim:
    """What an outsider finds in files that are k-anonymous: without missing values, and only because of them."""
    whole, spec = recoded_regions(), SPECS["Tabla 8.2"]
    met = linkage_attack(whole, whole, spec.key_variables).persons["records"].min()
    original, released, gapped = example("Tabla 8.4"), suppressed().frame, SPECS["Tabla 8.4"]
    k, found = (
        class_table(released, gapped).k_achieved,
        linkage_attack(original, released, gapped.key_variables).persons,
    )
    fewest = found["records"].min()
    return Claim(
        "al menos k" if met >= class_table(whole, spec).k_achieved else WORDS[met],
        "where no value is missing, as in Tabla 8.2 after recoding. Where one is, it fails: by the counting of Tabla "
        f"7.2, Tabla 8.4 is {k}-anonymous after suppression; and whoever knows the true key of person "
        f"{found['records'].idxmin()} finds {fewest} compatible record",
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
        "first-two-found": Claim("al menos dos" if f_k[[1, 2]].min() >= 2 else "menos"),
        "health-value": copied(health.lower(), f"by the codes of Bloque 7.1; Tabla 7.3 prints {state} for it"),
        "first-two-l": Claim(of_records[[1, 2]].max()),
        "four-six-l": Claim(of_records[[4, 6]].min()),
        "binary-l": Claim(frame["health"].nunique(), "as many as it has values"),
        "unique-l": Claim(of_records[f_k == 1].max()),
        "other-l": Claim(
            "entropía y recursivo",
            "looked up: Machanavajjhala and others (2007) define both, as instances of one principle",
        ),
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
            "values inside the interval are the unsafe ones, and in the sentence before the measure of risk grows with "
            "their number: so its largest value cannot be that of none inside. What the program printed is not in the "
            f"text; our measure of values that were not changed, all of them inside, is {untouched:g}",
        ),
        "interval-k": Claim("mayor" if wide > narrow else "igual"),
        "interval-share": unseen("the result that it tells of is not in the text; the sentence itself has 1 for it"),
        "interval-width": given(0.1, "a setting of the call, which is lost"),
        "robust-intervals": unseen("what a function of the program does; no output of it is printed"),
        "linkage": unseen("says what the literature shows; none is cited"),
        "percentile": copied(90.0, "in the heading of the block too"),
        "interval-centre": Claim(
            "valor inicial" if around_original == wide else "valor perturbado",
            "section 7.6.3, and this one at first, draw it around the perturbed value; with one width it is the same",
        ),
    }


def _global_claims(table: ClassTable) -> dict[str, Claim]:
    """Claims of section 7.7."""
    risk = file_risk(table)
    by_key = float(table.records @ individual_risk(table.f_k, table.F_k)) / table.n
    above = records_above(risk.risk, threshold=THRESHOLD)
    as_printed = f"{risk.global_risk:.5f}".replace(".", ",")
    return {
        "r1": Claim(risk.global_risk, "mean of the Benedetti-Franconi risks; the mean of 1/F_k is not"),
        "r1-per-cent": Claim(
            100 * risk.global_risk, f"{risk.global_risk:.5f} is {percent(risk.global_risk)}: a factor of ten"
        ),
        "r1-comma": Claim(risk.global_risk),
        "expected": Claim(f"{table.n}*{as_printed}", f"which is {risk.expected_reidentifications:.4f} persons"),
        "by-key": Claim("igual" if np.isclose(by_key, risk.global_risk, rtol=1e-12) else "distinto"),
        "threshold": given(100 * THRESHOLD, "an example; the same sentence writes it 0,05 too"),
        "block-threshold": copied(THRESHOLD, "the text has 0,05"),
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
        "household-members": copied(WORDS[len(MEMBERS)], "three risks are named"),
        "household-terms": copied(
            f"1 - ({''.join(f'(1 - {share:.2f})' for share in MEMBERS)})".replace(".", ","),
            "the risks named in the sentence before",
        ),
        "household-formula": copied(
            "1 - P(A_j)", "as one factor, in brackets: so in the example below it, whose result is right"
        ),
        "household-least": Claim("no puede ser menor" if (of_members >= risk).all() else "puede ser menor"),
        "household-same": Claim("el mismo" if len(set(of_members)) == 1 else "otro"),
    }
