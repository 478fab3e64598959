"""The audit of the guide of INE Chile (2023): chapters 1 to 8, recomputed.

The guide prints small files with their frequencies, some outputs of its program, and claims. Each small file is an
input: that it agrees with itself is no evidence. What is computed from it, and what the guide says of it, is. The
survey behind the outputs of chapter 8 is not given; but frequencies of single ages are, and bands and rounding follow
from them. Three of those counts are lost in the text: see `kanon_book.studies.ine_chile.completions`.

Our text of the guide stops inside section 8.2.2. In ``ine-chile-2023.csv`` a statement stands as a few of its words, or
as the figure it gives; what is lost is empty.

Left out, without a row:

- definitions, advice, and statements without a number or an outcome that could be checked ("in general", "depends");
- acronyms and glossary (Tablas 3.1 and 3.2), and descriptions of what each slot holds (Tabla 6.2);
- references: pages, years and addresses of literature and software, versions of formats and machines;
- names of variables, settings and lines of code of which no sentence says anything (the vectors of Bloque 6.8, Bloques
  6.13 and 8.5, the lists of variables before Bloque 8.1), and values that only illustrate a term (a man of 18, age 3
  and widowed, incomes in quintiles, 65 to 80 years);
- what the program does by itself, or how, where no output is printed and no other place of the guide says it;
- the second statement of what a row has already, in the same section;
- slips of spelling that mislead nobody.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from kanon_book.studies import ine_chile as guide
from kanon_book.studies.figures import Answer, by_readings, judged_by_place
from kanon_book.studies.ine_chile import SPECS, WORDS, cells, classes, counts, example
from kanon_book.studies.ine_chile_methods import method_claims
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
from kanon_lab.methods import add_noise, group_categories, microaggregate, pram, rank_swap, shuffle
from kanon_lab.roles import KeySpec

#: The risks of three members of a household in section 7.8.
MEMBERS = (0.02, 0.03, 0.03)
#: The risk of section 7.7.2 above which persons are counted.
THRESHOLD = 0.05
_95_PER_CENT = 1.96
# Codes of Bloque 7.1 for the values of Tabla 7.1.
_EMPLOYMENT = {"Ocupado": "Ocu", "Desocupado": "Desocu", "No FL": "No-FL"}
# Perturbative methods of Tabla 8.1: ours.
_PERTURBATIVE = {
    "PRAM": partial(pram, variables="category", keep=0.5),
    "Micro agregación": partial(microaggregate, variables="income"),
    "Adición de Ruido": partial(add_noise, variables="income"),
    "Shuffling": partial(shuffle, variables="income", given="hours"),
    "Rank swapping": partial(rank_swap, variables="income", window=0.2),
}


def recompute(figures: pd.DataFrame) -> pd.DataFrame:
    """Every figure of the guide (rows of `published_figures`) from what it prints itself, as `judged`."""
    nowhere_computed = dict.fromkeys(figures.loc[figures["table"] != "text", "table"], {})
    return judged_by_place(figures, nowhere_computed | _tables(), claims())


def claims() -> dict[str, object]:
    """What is computed for the claims of the text, by the last part of their figure_id."""
    return method_claims() | risk_claims()


def printed_totals(figures: pd.DataFrame) -> list[tuple[str, str, float, float]]:
    """The suppressions of Bloque 8.7, and the total that the text gives for them."""
    total = figures.loc[figures["column"] == "Bloque 8.7, suppressions without importance", "published"]
    suppressed_values = figures.loc[figures["column"] == "suppressions", "published"].sum()
    return [("Bloque 8.7", "suppressions", variable, suppressed_values) for variable in total]


def _tables() -> dict[str, dict[str, dict[str, object]]]:
    """What is computed for the cells of each table: by column and printed row."""
    frame, codes = example("Tabla 7.3"), {"employment": _EMPLOYMENT, "health": guide.HEALTH}
    coded = frame[["weight"]].assign(**{name: frame[name].map(values) for name, values in codes.items()})
    recoded = guide.recoded_regions()
    after = recoded.assign(f_k=class_table(recoded, SPECS["Tabla 8.2"]).f_k_of_records())
    categories = cells("Tabla 8.3").drop(columns="combinations").astype(int)
    released = guide.suppressed().frame.fillna("NA / perdido")
    return {
        "Tabla 7.1": _by_row(_with_frequencies("Tabla 7.1").assign(risk=file_risk(classes("Tabla 7.1")).risk)),
        "Bloque 7.1": _by_row(coded),
        "Tabla 7.2": _by_row(_with_frequencies("Tabla 7.2").fillna({"education": "NA"})),
        "Tabla 7.3": _by_row(_with_frequencies("Tabla 7.3").assign(l=_distinct())),
        "Tabla 8.1": {"classification": {row: _classified(method) for row, method in _PERTURBATIVE.items()}},
        "Tabla 8.2": _by_row(_with_frequencies("Tabla 8.2").join(after.add_suffix(" after"))),
        "Tabla 8.3": categories.assign(combinations=categories.prod(axis=1)).to_dict(),
        "Tabla 8.4": _by_row(example("Tabla 8.4").join(released.add_suffix(" after"))),
        "Bloque 8.1": _bloque_8_1(),
        guide.EQUAL: {"persons": _in_every_way(guide.EQUAL)},
        guide.UNEQUAL: {"persons": _in_every_way(guide.UNEQUAL)},
        guide.RAW: _single_ages(),
        "Bloque 8.7": _bloque_8_7(),
    }


def _by_row(frame: pd.DataFrame) -> dict[str, dict[str, object]]:
    """Columns of a frame under its index as texts, missing values as they are printed."""
    return frame.astype(object).where(frame.notna(), None).rename(index=str).to_dict()


def _with_frequencies(name: str) -> pd.DataFrame:
    table = classes(name)
    return example(name).assign(f_k=table.f_k_of_records(), F_k=table.F_k_of_records())


def _distinct() -> pd.Series:
    """How many states of health the class of each record of Tabla 7.3 has."""
    table = classes("Tabla 7.3")
    return pd.Series(diversity(table, "health").classes["distinct"].to_numpy()[table.class_of_record], table.index)


def _bloque_8_1() -> dict:
    before = counts("Bloque 8.1", "before")
    after = before.groupby(group_categories(before.index.to_series(), guide.SIZES)).sum()
    noise = {row: _95_PER_CENT * np.sqrt(after["urban"] * share * (1 - share)) for row, share in guide.DRAWN.items()}
    drawn = {row: Answer(after["urban"] * share, {"noise": noise[row]}) for row, share in guide.DRAWN.items()}
    return {"before": before.to_dict() | drawn, "after": after.to_dict()}


def _in_every_way(name: str) -> dict[str, int]:
    """The frequencies that are the same however the lost counts are completed."""
    by_way = pd.DataFrame({way: guide.frequencies(persons)[name] for way, persons in guide.completions().items()})
    return by_way[by_way.nunique(axis=1) == 1].iloc[:, 0].to_dict()


def _single_ages() -> dict:
    ways = guide.completions()
    is_open = ways.nunique(axis=1) > 1
    lost = Answer(
        ages=", ".join(map(str, ways.index[is_open])),
        shares=" or ".join(map(str, ways[is_open].sum().unique())),
        ways=ways.shape[1],
    )
    column = counts(guide.RAW, "persons").to_dict() | {"two of 86, 87, 88 and 90": lost}
    return {
        "persons": column | ({} if is_open[91] else {"91": ways.at[91, 0]}),
        "rounded to tens": _in_every_way(guide.RAW),
    }


def _bloque_8_7() -> dict:
    printed, households = cells("Bloque 8.7"), int(counts("Bloque 8.1", "before").sum())
    shares = 100 * counts("Bloque 8.7", "suppressions") / households
    call = printed.loc["localSuppression()"]
    return {
        "suppressions": counts("Bloque 8.7", "suppressions").to_dict(),
        "%": shares.to_dict(),
        "k": {call.name: int(call["k"])},
        "importance": {call.name: call["importance"]},
    }


def _classified(method: partial) -> str:
    """By section 8.1: perturbative if values become others, deterministic if a second run gives the same."""
    numbers = pd.Series(range(1, 61))
    file = pd.DataFrame({"income": numbers**2 * 10.0, "hours": numbers % 7, "category": (numbers % 3).map(str)})
    first, second = (method(file, seed=seed).frame for seed in (0, 1))
    altered = "perturbativo" if not first.equals(file) else "no perturbativo"
    return f"{altered}, {'determinista' if first.equals(second) else 'probabilístico'}"


def risk_claims() -> dict[str, object]:
    """What is computed for the claims of chapter 7, by the last part of their figure_id."""
    table = classes("Tabla 7.1")
    of_table = _frequency_claims(table) | _individual_claims(table) | _anonymity_claims(table) | _global_claims(table)
    return of_table | _missing_claims() | _diversity_claims() | _interval_claims() | _household_claims()


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
        "share-first": guide.listed(sharing[0]),
        "share-third": guide.listed(sharing[1]),
        "others-of-2": f_k[1] - 1 == 1,
        "uniques": WORDS[table.sample_uniques],
        "weights-sum": (sums == counts("Tabla 7.1", "F_k").to_numpy()).all(),
    }


def _individual_claims(table: ClassTable) -> dict[str, object]:
    """Claims of section 7.5.1 about risk."""
    risk, inverse = file_risk(table), file_risk(table, estimator="inverse")
    ratio, f_k = risk.risk / inverse.risk, table.f_k_of_records()
    ratios = {"least": ratio.min(), "most": ratio.max()}
    of_records = pd.Series(risk.risk, table.index)
    high = of_records.nlargest(table.sample_uniques, keep="all").index.sort_values()
    one_each = of_records.groupby(table.class_of_record).nunique().max() == 1
    return {
        "match-probability": Answer(None, **ratios),
        "risk-of-population-unique": float(individual_risk(np.array([1]), np.array([1.0]))[0]),
        # Of intruders it is the worst, by the assumptions of footnote 5; of estimates it is not the largest.
        "worst-case": by_readings(
            True, ratio.max() <= 1, **ratios, mean=risk.global_risk, mean_inverse=inverse.global_risk
        ),
        "too-high": by_readings(
            _matches_without(3) == "cero", (ratio <= 1).any(), **ratios, low=(ratio > 1).sum(), persons=table.n
        ),
        "same-risk": bool(one_each),
        "high-risk": Answer(guide.listed(high), least=of_records[high].min(), next=of_records.drop(high).max()),
        "high-risk-cause": (f_k[high] == 1).all(),
        "absent": _matches_without(3),
        "positive": (risk.risk > 0).all(),
    }


def _matches_without(record: int) -> str:
    """Whether the released record of a person who is not in the intruder's file is matched with this person."""
    released, keys = example("Tabla 7.1"), SPECS["Tabla 7.1"].key_variables
    truth = pd.Series(released.index, released.index)
    matched = linkage_attack(released.drop(index=record), released, keys, truth=truth).persons
    right = matched["record"].eq(record) & matched["right"]
    return "cero" if not right.any() else "más que cero"


def _anonymity_claims(table: ClassTable) -> dict[str, object]:
    """Claims of section 7.5.2."""
    violations = table.violations([2, 3])
    f_k = table.f_k_of_records()
    alike = class_table(pd.DataFrame({"key": ["a"] * 3}), "key")
    few, many = individual_risk(np.array([1, 1]), np.array([100.0, 1000.0]))
    small, large = (1 - (1 - 0.01) ** (n - 1) for n in (10, 100))
    by_formula = [violations[k] for k in (2, 3)] == [int((f_k < k).sum()) for k in (2, 3)]
    return {
        "satisfies-3": alike.k_achieved,
        "violates-4": min(k for k in range(2, 10) if alike.violations([k])[k]),
        "satisfy-2": WORDS[table.n - violations[2]],
        "violate-2": WORDS[violations[2]],
        "violate-2-again": WORDS[violations[2]],
        "violators": (f_k[f_k < 2] == 1).all(),
        "violate-3": violations[3],
        "larger-k": violations[3] > violations[2],
        "formula": Answer(by_formula, two=violations[2], three=violations[3]),
        "implied": Answer(violations[3] > violations[2], persons=table.n - violations[2]),
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
        "missing-as": Answer(as_any == counts("Tabla 7.2", "f_k").tolist(), as_any=as_any, as_value=as_value),
        **{f"missing-pair-{i}": k == 2 for i, k in enumerate(pairs, 1)},
        "missing-coded": Answer(code == as_value, code=code),
    }


def _finds_k() -> Answer:
    """What an intruder finds in files that are k-anonymous: without missing values, and only because of them."""
    whole, spec = guide.recoded_regions(), SPECS["Tabla 8.2"]
    met = linkage_attack(whole, whole, spec.key_variables).persons["records"].min()
    released, gapped = guide.suppressed().frame, SPECS["Tabla 8.4"]
    matched = linkage_attack(example("Tabla 8.4"), released, gapped.key_variables).persons["records"]
    k = class_table(released, gapped).k_achieved
    hold = met >= class_table(whole, spec).k_achieved, matched.min() >= k
    return by_readings(*hold, k=k, person=matched.idxmin(), fewest=matched.min())


def _diversity_claims() -> dict[str, object]:
    """Claims of section 7.5.3."""
    health, of_records, f_k = example("Tabla 7.3")["health"], _distinct(), classes("Tabla 7.3").f_k_of_records()
    (state,) = health.loc[[1, 2]].unique()
    return {
        "first-two-k": f_k[[1, 2]].min(),
        "first-two-found": f_k[[1, 2]].min() >= 2,
        "health-value": Answer(guide.HEALTH[state].lower(), state=state),
        "first-two-l": of_records[[1, 2]].max(),
        "four-six-l": of_records[[4, 6]].min(),
        "binary-l": health.nunique(),
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
        "interval-1": Answer(untouched == 1, untouched=untouched),
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
        "r1-per-cent": Answer(100 * risk.global_risk, risk=risk.global_risk, per_cent=percent(risk.global_risk)),
        "r1-comma": risk.global_risk,
        "expected": Answer(f"{table.n}*{as_printed}", persons=risk.expected_reidentifications),
        "by-key": bool(np.isclose(by_key, risk.global_risk, rtol=1e-12)),
        "threshold": 100 * THRESHOLD,
        "block-threshold": THRESHOLD,
        "above": Answer("ninguna" if above.records == 0 else str(above.records), largest=risk.risk.max()),
    }


def _household_claims() -> dict[str, object]:
    """Claims of section 7.8."""
    risk = np.array(MEMBERS)
    (home,) = household_risks(risk, np.zeros(3)).itertuples()
    of_members = household_risk(risk, np.zeros(3))
    return {
        "household": Answer(home.risk, lower=home.lower, upper=home.upper),
        "household-members": WORDS[len(MEMBERS)],
        "household-terms": f"1 - ({''.join(f'(1 - {share:.2f})' for share in MEMBERS)})".replace(".", ","),
        "household-least": (of_members >= risk).all(),
        "household-same": len(set(of_members)) == 1,
    }
