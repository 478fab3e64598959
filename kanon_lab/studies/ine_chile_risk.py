"""The claims of the guide's chapter 7, on measuring risk."""

from __future__ import annotations

import numpy as np
import pandas as pd

from kanon_lab.classes import ClassTable, class_table
from kanon_lab.digits import percent
from kanon_lab.measures import (
    diversity,
    file_risk,
    household_risk,
    household_risks,
    individual_risk,
    interval_disclosure,
    linkage_attack,
    records_above,
)
from kanon_lab.roles import KeySpec
from kanon_lab.studies.evidence import Told, told
from kanon_lab.studies.ine_chile import HEALTH, SPECS, WORDS, counts, example, listed, recoded_regions, suppressed

#: The risks of three members of a household in section 7.8.
MEMBERS = (0.02, 0.03, 0.03)
#: The risk of section 7.7.2 above which persons are counted.
THRESHOLD = 0.05


def risk_claims() -> dict[str, object]:
    """What is computed for the claims of chapter 7, by the last part of their figure_id."""
    table = class_table(example("Tabla 7.1"), SPECS["Tabla 7.1"])
    return {
        **_frequency_claims(table),
        **_individual_claims(table),
        **_anonymity_claims(table),
        **_missing_claims(),
        **_diversity_claims(),
        **_interval_claims(),
        **_global_claims(table),
        **_household_claims(),
    }


def _frequency_claims(table: ClassTable) -> dict[str, object]:
    """Claims of section 7.5.1 about counts."""
    f_k, frame = table.f_k_of_records(), example("Tabla 7.1")
    sharing = [table.index[table.class_of_record == table.class_of_record[record]] for record in (0, 2)]
    sums = frame.groupby(list(SPECS["Tabla 7.1"].key_variables))["weight"].transform("sum")
    return {
        "persons": table.n,
        "key-variables": WORDS[len(SPECS["Tabla 7.1"].key_variables)],
        "keys": WORDS[table.n_classes],
        "f-k-of-1": f_k[1],
        "f-k-of-3": f_k[3],
        "share-first": listed(sharing[0]),
        "share-third": listed(sharing[1]),
        "others-of-2": f_k[1] - 1 == 1,
        "uniques": WORDS[table.sample_uniques],
        "weights-sum": (sums == counts("Tabla 7.1", "F_k").to_numpy()).all(),
    }


def _individual_claims(table: ClassTable) -> dict[str, object]:
    """Claims of section 7.5.1 about risk."""
    risk, inverse = file_risk(table), file_risk(table, estimator="inverse")
    ratio, f_k = risk.risk / inverse.risk, table.f_k_of_records()
    of_records = pd.Series(risk.risk, table.index)
    high = of_records.nlargest(table.sample_uniques, keep="all").index.sort_values()
    one_each = of_records.groupby(table.class_of_record).nunique().max() == 1
    return {
        "match-probability": told(None, least=ratio.min(), most=ratio.max()),
        "risk-of-population-unique": float(individual_risk(np.array([1]), np.array([1.0]))[0]),
        "worst-case": told(
            None, least=ratio.min(), most=ratio.max(), mean=risk.global_risk, mean_inverse=inverse.global_risk
        ),
        "too-high": told(None, low=(ratio > 1).sum(), persons=table.n, least=ratio.min(), most=ratio.max()),
        "same-risk": bool(one_each),
        "high-risk": told(listed(high), least=of_records[high].min(), next=of_records.drop(high).max()),
        "high-risk-cause": (f_k[high] == 1).all(),
        "absent": _found_in_a_register_without(3),
        "positive": (risk.risk > 0).all(),
    }


def _found_in_a_register_without(record: int) -> str:
    """Whether the released record of somebody whom the outsider's file lacks is matched with its own person."""
    released, keys = example("Tabla 7.1"), SPECS["Tabla 7.1"].key_variables
    truth = pd.Series(released.index, released.index)
    found = linkage_attack(released.drop(index=record), released, keys, truth=truth).persons
    right = found["record"].eq(record) & found["right"]
    return "cero" if not right.any() else "más que cero"


def _anonymity_claims(table: ClassTable) -> dict[str, object]:
    """Claims of section 7.5.2."""
    violations = table.violations([2, 3])
    f_k = table.f_k_of_records()
    alike = class_table(pd.DataFrame({"key": ["a"] * 3}), "key")
    few, many = individual_risk(np.array([1, 1]), np.array([100.0, 1000.0]))
    small, large = (1 - (1 - 0.01) ** (n - 1) for n in (10, 100))
    return {
        "satisfies-3": alike.k_achieved,
        "violates-4": min(k for k in range(2, 10) if alike.violations([k])[k]),
        "satisfy-2": WORDS[table.n - violations[2]],
        "violate-2": WORDS[violations[2]],
        "violate-2-again": WORDS[violations[2]],
        "violators": (f_k[f_k < 2] == 1).all(),
        "violate-3": violations[3],
        "larger-k": violations[3] > violations[2],
        "formula": told(
            [violations[k] for k in (2, 3)] == [int((f_k < k).sum()) for k in (2, 3)],
            two=violations[2],
            three=violations[3],
        ),
        "implied": told(violations[3] > violations[2], persons=table.n - violations[2]),
        "large-weights": many < few,
        "small-file": small < large,
        "finds-k": _finds_k(),
    }


def _missing_claims() -> dict[str, object]:
    """Claims of section 7.5.2 about missing values."""
    missing, spec = example("Tabla 7.2"), SPECS["Tabla 7.2"]
    as_value, as_any = (
        class_table(missing, KeySpec(spec.key_variables, missing=policy)).f_k_of_records().tolist()
        for policy in ("category", "wildcard")
    )
    code = class_table(missing.fillna("9999"), spec).f_k_of_records().tolist()
    pairs = [class_table(missing.loc[[known, 3]], spec).k_achieved for known in (1, 2)]
    return {
        "missing-as": told(as_any == counts("Tabla 7.2", "f_k").tolist(), as_any=as_any, as_value=as_value),
        **{f"missing-pair-{i}": k == 2 for i, k in enumerate(pairs, 1)},
        "missing-coded": told(code == as_value, code=code),
    }


def _finds_k() -> Told:
    """What an outsider finds in files that are k-anonymous: without missing values, and only because of them."""
    whole, spec = recoded_regions(), SPECS["Tabla 8.2"]
    met = linkage_attack(whole, whole, spec.key_variables).persons["records"].min()
    original, released, gapped = example("Tabla 8.4"), suppressed().frame, SPECS["Tabla 8.4"]
    found = linkage_attack(original, released, gapped.key_variables).persons["records"]
    return told(
        met >= class_table(whole, spec).k_achieved,
        k=class_table(released, gapped).k_achieved,
        person=found.idxmin(),
        fewest=found.min(),
    )


def _diversity_claims() -> dict[str, object]:
    """Claims of section 7.5.3."""
    frame, spec = example("Tabla 7.3"), SPECS["Tabla 7.3"]
    table = class_table(frame, spec)
    found = diversity(table, "health").classes["distinct"].to_numpy()[table.class_of_record]
    of_records, f_k = pd.Series(found, table.index), table.f_k_of_records()
    (state,) = frame.loc[[1, 2], "health"].unique()
    return {
        "first-two-k": f_k[[1, 2]].min(),
        "first-two-found": f_k[[1, 2]].min() >= 2,
        "health-value": told(HEALTH[state].lower(), state=state),
        "first-two-l": of_records[[1, 2]].max(),
        "four-six-l": of_records[[4, 6]].min(),
        "binary-l": frame["health"].nunique(),
        "unique-l": of_records[f_k == 1].max(),
    }


def _interval_claims() -> dict[str, object]:
    """Claims of section 7.6.2, on incomes that stay as they are, and on incomes that move."""
    incomes = pd.DataFrame({"income": [10.0, 20.0, 30.0, 40.0, 100.0]})
    untouched = interval_disclosure(incomes, incomes, width=0.1).share
    moved = incomes + 8
    narrow, wide = (interval_disclosure(incomes, moved, width=k).share for k in (0.1, 0.5))
    around_original = interval_disclosure(moved, incomes, width=0.5).share
    return {
        "interval-1": told(untouched == 1, untouched=untouched),
        "interval-k": wide > narrow,
        "interval-centre": around_original == wide,
    }


def _global_claims(table: ClassTable) -> dict[str, object]:
    """Claims of section 7.7."""
    risk = file_risk(table)
    by_key = float(table.records @ individual_risk(table.f_k, table.F_k)) / table.n
    above = records_above(risk.risk, threshold=THRESHOLD)
    as_printed = f"{risk.global_risk:.5f}".replace(".", ",")
    return {
        "r1": risk.global_risk,
        "r1-per-cent": told(100 * risk.global_risk, risk=risk.global_risk, per_cent=percent(risk.global_risk)),
        "r1-comma": risk.global_risk,
        "expected": told(f"{table.n}*{as_printed}", persons=risk.expected_reidentifications),
        "by-key": bool(np.isclose(by_key, risk.global_risk, rtol=1e-12)),
        "threshold": 100 * THRESHOLD,
        "block-threshold": THRESHOLD,
        "above": told("ninguna" if above.records == 0 else str(above.records), largest=risk.risk.max()),
    }


def _household_claims() -> dict[str, object]:
    """Claims of section 7.8."""
    risk = np.array(MEMBERS)
    (home,) = household_risks(risk, np.zeros(3)).itertuples()
    of_members = household_risk(risk, np.zeros(3))
    return {
        "household": told(home.risk, lower=home.lower, upper=home.upper),
        "household-members": WORDS[len(MEMBERS)],
        "household-terms": f"1 - ({''.join(f'(1 - {share:.2f})' for share in MEMBERS)})".replace(".", ","),
        "household-least": (of_members >= risk).all(),
        "household-same": len(set(of_members)) == 1,
    }
