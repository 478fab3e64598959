"""The claims of the guide's chapters 1 to 6, on the program, and 8, on methods: recoding and local suppression."""

from __future__ import annotations

import re
from functools import partial
from itertools import permutations

import numpy as np
import pandas as pd

from kanon_book.studies import ine_chile as guide
from kanon_book.studies.figures import Answer, by_readings, published_figures
from kanon_book.studies.ine_chile import SPECS, WORDS, cells, counts, example
from kanon_lab.classes import class_table
from kanon_lab.measures import household_size
from kanon_lab.methods import (
    bottom_code,
    cut_bands,
    local_suppression,
    protection_claims,
    round_values,
    top_code,
)
from kanon_lab.roles import KeySpec

# Ages that the indicators of section 8.2.1.1 are computed for, and two ways to group ages.
_WANTED = ((6, 11), (12, 17))
_GROUPINGS = {"good": {0: 5, 6: 11, 12: 17}, "bad": {0: 10, 11: 15, 16: 18}}
# The text's names for the variables of Bloque 8.7, where it has one.
_NAMES = {"AGEYRS": "edad", "GENDER": "sexo"}
_PLACES = ("primera", "segunda", "tercera", "cuarta")


def method_claims() -> dict[str, object]:
    """What is computed for the claims of chapters 1 to 6 and 8, by the last part of their figure_id."""
    recoding = _tail_claims() | _region_claims() | _grouping_claims() | _band_claims() | _interval_claims()
    return _program_claims() | recoding | _suppression_claims() | _general_claims() | _output_claims()


def _program_claims() -> dict[str, object]:
    """Claims of chapter 6 about impossible values (6.4), and about files of households (6.7)."""
    with np.errstate(all="ignore"):
        by_zero = np.array([1.0, -1.0, 0.0]) / 0.0
        log = np.log(np.array(-1.0))
    named = [f"{number:g}".replace("inf", "Inf").replace("nan", "NaN") for number in by_zero]
    together, apart = pd.Series([2, 2, 1]), pd.Series([1, 2, 1])
    by_runs, sizes = (", ".join(map(str, counts_of)) for counts_of in (sizes_of_runs(apart), household_size(apart)))
    in_order = together.sort_values(ignore_index=True)
    # What R's unique() of a data frame keeps of two households of two: records that differ in any column.
    alike, unlike = (
        len(pd.DataFrame({"IDH": [1, 1, 2, 2], "region": region}).drop_duplicates())
        for region in (["n", "n", "s", "s"], ["n", "n", "s", "c"])
    )
    # The first line of Bloque 6.14 counts each size as often as it is large, by rising household.
    by_table = in_order.value_counts().sort_index()
    return {
        "zero-division": by_readings(named[-1] == "NaN", {*named} == {"NaN"}, named=", ".join(named)),
        "negative-logarithm": bool(np.isnan(log)),
        "household-entries": WORDS[int(household_size(pd.Series([1, 1, 1, 1, 2])).max())],
        "household-records": by_readings(alike == 2, unlike == 2, left=unlike),
        "household-size-sorted": by_table.repeat(by_table).tolist() == list(household_size(in_order)),
        "household-size": by_readings(
            sizes_of_runs(together).equals(household_size(together)), by_runs == sizes, by_runs=by_runs, sizes=sizes
        ),
    }


def sizes_of_runs(households: pd.Series) -> pd.Series:
    """What the second line of Bloque 6.14 counts: records that follow each other with one household."""
    return household_size((households != households.shift()).cumsum())


def _tail_claims() -> dict[str, object]:
    """Claims of section 8.1, and of 8.2.1.2 on the ends of a variable."""
    incomes = top_code(pd.Series([100.5, 250.25, 9000.75]), above=1000, value=1000)
    ages = pd.Series(range(101))
    coded = bottom_code(top_code(ages, above=64, value=65), below=5, value=5)
    untouched = (coded == ages)[15:65].all()
    table = cells("Tabla 8.1")
    perturbative = table["classification"].str.startswith("perturbativo")
    both = all(
        table.loc[here, "data"].str.contains(kind).any()
        for here in (perturbative, ~perturbative)
        for kind in ("categórico", "continuo")
    )
    return {"both-kinds": both, "top-kind": incomes.max() == 1000, "labour-ages": bool(untouched)}


def _region_claims() -> dict[str, object]:
    """Claims about Tabla 8.2."""
    before, after, spec = example("Tabla 8.2"), guide.recoded_regions(), SPECS["Tabla 8.2"]
    start, table = class_table(before, spec), class_table(after, spec)
    alone = start.f_k_of_records()
    groups = [after.index[table.class_of_record == number] for number in range(table.n_classes)]
    texts = [
        f"{group[0]} - {group[-1]}" if len(group) == group[-1] - group[0] + 1 else guide.listed(group)
        for group in sorted(groups, key=min)
    ]
    return {
        "regions-before": WORDS[before["region"].nunique()],
        "regions-after": WORDS[after["region"].nunique()],
        "alone-before": Answer(
            WORDS[start.sample_uniques],
            alone=guide.listed(alone.index[alone == 1]).replace(" y ", " and "),
            keys=start.n_classes,
        ),
        "keys-after": WORDS[table.n_classes],
        "least-after": WORDS[table.k_achieved],
        **{f"alike-{place}": text for place, text in enumerate(texts, 1)},
    }


def _grouping_claims() -> dict[str, object]:
    """The examples of section 8.2.1.1, and claims about sizeRes (8.2.1.1.1)."""
    # Whole groups make up the ages of an indicator if a group starts at the first of them and a group ends at the last.
    whole = {
        name: all(low in groups and high in groups.values() for low, high in _WANTED)
        for name, groups in _GROUPINGS.items()
    }
    before, after = counts("Bloque 8.1", "before"), counts("Bloque 8.1", "after")
    smallest = before.index[before.isin(before.nsmallest(2))]
    return {
        "grouping-good": whole["good"],
        "grouping-bad": not whole["bad"],
        "partial": Answer(None, persons=_certain()[20]),
        "size-number": WORDS[len(before)],
        "size-listed": f'"{before.index[0]}"',
        "size-urban": Answer(f"Las {WORDS[len(guide.SIZES['urban'])]} primeras", sizes=len(before)),
        "size-repeated": WORDS[len(guide.SIZES["urban"])],
        "size-before": len(before),
        "size-after": len(after),
        "size-small": " y ".join(f'"{name}"' for name in smallest),
        "prob-etnia": _drawn(),
    }


def _drawn() -> Answer:
    """What the printed weights of etnia add up to: as chances they should to 1."""
    names = [f"ine-chile-2023/text/prob-etnia-{category}" for category in range(1, 6)]
    weights = published_figures("ine-chile-2023").set_index("figure_id").loc[names, "published"]
    total, last = float(weights.sum()), float(weights.iloc[-1])
    return by_readings(bool((weights > 0).all()), abs(total - 1) < 1e-9, total=total, asked=last, drawn=last / total)


def _band_claims() -> dict[str, object]:
    """Claims about the bands of Bloques 8.2, 8.3 and 8.5."""
    years, persons = pd.Series(range(101)), _certain()
    banded = cut_bands(years, bands=guide.EDGES[guide.UNEQUAL], closed="right", outside={"below": "perdidos"})
    ours = banded.drop_duplicates()
    manual = cut_bands(years, bands=[0, 15, 65, 101]).drop_duplicates()
    first = years[banded == ours.iloc[1]]
    ends = [first.min(), first.max()]
    held = guide.frequencies(persons)[guide.EQUAL].loc[lambda bands: bands > 0]
    # The age groups that the text names, against the ages that are in the bands.
    groups = []
    by_band = guide.frequencies(persons)[guide.UNEQUAL].items()
    for named, label, (band, number) in zip(guide.GROUPS, ours.iloc[1:], by_band, strict=True):
        low, high = [int(year) for year in re.findall(r"\d+", named)] + ([200] if named.endswith("+") else [])
        groups.append(Answer(label, band=band, persons=number, named=int(persons.loc[low:high].sum())))
    return {
        "bands-to": guide.EDGES[guide.EQUAL][-1],
        "bands-from": guide.EDGES[guide.EQUAL][0],
        "outside": ours[0],
        "closed": ours[0] == "perdidos" and ends == [1, 5],
        # The two oldest bands of ten years are the smallest that hold anybody.
        "bands-rare": bool(held.iloc[-2:].max() < held.iloc[:-2].min()),
        **{f"band-{place}": claim for place, claim in enumerate(groups, 1)},
        **{f"manual-{place}": label for place, label in enumerate(manual, 1)},
    }


def _certain() -> pd.Series:
    """One completion of the single ages; only for sums that are the same in every one."""
    return guide.completions()[0]


def _interval_claims() -> dict[str, object]:
    """The right-open intervals of the text, against the groups of the code beside it; rounding; and shifted edges."""
    persons = _certain()
    printed = [0, 14, 15, 65, 66, 100]
    lost = persons.groupby(cut_bands(persons.index.to_series(), bands=printed, labels=list("abcde"))).sum()
    half_up = round_values(persons.index.to_series(), base=10, half="up")
    even = guide.frequencies(persons)[guide.RAW]
    # Section 8.2.1.1.2 takes a small number from the edges: right for whole numbers, wrong for others.
    ages = pd.Series(range(101))
    wanted = cut_bands(ages, bands=[0, 15, 65, 101], labels=list("abc"))
    shifted = cut_bands(ages, bands=[-0.1, 14.9, 64.9, 100.9], closed="right", labels=list("abc"))
    meant = (10000, 19999)
    cut = (meant[0] - 1, meant[1])
    wrong = pd.Series([9999.5])
    caught = cut_bands(wrong, bands=cut, closed="right", outside="none").ne("none")[0] and wrong[0] < meant[0]
    return {
        "open-1": Answer(None, persons=lost["b"]),
        "open-3": Answer(None, persons=lost["d"]),
        "lost-rounding": Answer(None, even=even["20"], half_up=persons.groupby(half_up).sum()[20]),
        "subtracted": 0.1 if (wanted == shifted).all() else 0.0,
        "shifted-interval": f"({cut[0]}, {cut[1]}",
        "shifted-value": 9999.5 if caught else 0.0,
        "shifted-meant": f"[{meant[0]}, {meant[1]}]",
    }


def _suppression_claims() -> dict[str, object]:
    """Claims about Tabla 8.4."""
    original, released, spec = example("Tabla 8.4"), guide.suppressed().frame, SPECS["Tabla 8.4"]
    after = class_table(released, spec)
    either = [original.mask(_cell(original, 1, key)) for key in ("sex", "education")]
    others = [class_table(frame, spec).f_k_of_records()[1] - 1 for frame in either]
    alone = protection_claims(original, released, spec, k_required=2).set_index("claim")["records"]
    left = released.loc[1].dropna()
    alike = int((original[left.index] == left).all(axis=1).sum())
    return {
        "suppress-unsafe": class_table(original, spec).f_k_of_records()[1] == 1,
        "suppress-others": Answer(WORDS[min(others)], f_k=after.f_k_of_records().tolist()),
        "suppress-told-apart": by_readings(
            alike >= 2, alone["own_class"] == 0, alike=alike, own_class=alone["own_class"]
        ),
        "suppress-respondents": WORDS[len(original)],
        "suppress-identifiers": WORDS[len(spec.key_variables)],
        "suppress-value": original.at[1, "education"],
    }


def _general_claims() -> dict[str, object]:
    """Statements on local suppression as such, on the guide's small files."""
    spec, tabla_8_4 = SPECS["Tabla 8.2"], SPECS["Tabla 8.4"]
    before, after = (
        local_suppression(frame, spec, k_required=2).total for frame in (example("Tabla 8.2"), guide.recoded_regions())
    )
    taken = {
        kept: local_suppression(example("Tabla 8.4"), tabla_8_4, k_required=2, importance={kept: 1}).cells.set_index(
            "variable"
        )["cells"]
        for kept in ("sex", "education")
    }
    moved = (
        taken["sex"]["sex"] < taken["education"]["sex"] and taken["sex"]["education"] > taken["education"]["education"]
    )
    # Values that 2-anonymity takes without importance, and with every order of it.
    frame, keys = example("Tabla 7.1"), SPECS["Tabla 7.1"].key_variables
    suppress = partial(local_suppression, frame, KeySpec(keys), k_required=2)
    ranks = permutations(range(1, len(keys) + 1))
    runs = [suppress(), *(suppress(importance=dict(zip(keys, order))) for order in ranks)]
    taken_by = [run.cells.set_index("variable")["cells"] for run in runs]
    plain, *orders = [int(cells_of.sum()) for cells_of in taken_by]
    changes = [cells_of - taken_by[0] for cells_of in taken_by[1:]]
    only_fewer = sum(bool((change < 0).any() and (change <= 0).all()) for change in changes)
    more, fewer = sum(total > plain for total in orders), sum(total < plain for total in orders)
    least = min(plain, *orders)
    above = sum(total > least for total in orders)
    return {
        "recode-first": Answer(after < before, before=before, after=after),
        "ls-shift": Answer(bool(moved) and not only_fewer, orders=len(orders)),
        "ls-usually": by_readings(
            above > 0,
            more > fewer,
            plain=plain,
            orders=len(orders),
            more=more,
            fewer=fewer,
            least=least,
            above=above,
        ),
    }


def _cell(frame: pd.DataFrame, record: int, column: str) -> pd.DataFrame:
    """A mask of one cell."""
    mask = pd.DataFrame(False, frame.index, frame.columns)
    mask.at[record, column] = True
    return mask


def _output_claims() -> dict[str, object]:
    """Claims about the first output of Bloque 8.7, its vector of importance and the file behind it."""
    gone = counts("Bloque 8.7", "suppressions")
    order = gone.sort_values(ascending=False)
    others = [name for name in order.index[order > 0] if name != "AGEYRS"]
    call = cells("Bloque 8.7").loc["localSuppression()"]
    # The places of the vector are those of the key variables in the file.
    vector, keys = call["importance"], list(gone.index)
    importance = dict(zip(keys, map(int, re.findall(r"\d+", vector)), strict=True))
    first = [key for key in keys if importance[key] == min(importance.values())]
    places = {_NAMES[key]: _PLACES[keys.index(key)] for key in first}
    sizes, recoded = counts("Bloque 8.1", "before"), counts("Bloque 8.1", "after")
    shares, ages = cells("Bloque 8.7")["%"].dropna().astype(float), guide.frequencies(_certain())[guide.EQUAL]
    (records,) = {round(100 * number / share) for number, share in zip(gone, shares, strict=True) if share}
    return {
        "ls-k": int(call["k"]),
        "ls-most": _NAMES[order.index[0]],
        "ls-age": gone["AGEYRS"],
        "ls-etnia": gone["etnia"],
        "ls-only": ", ".join(others),
        "ls-second": _PLACES[list(order.index).index("etnia")],
        "ls-least": _NAMES["GENDER"] if gone["GENDER"] == gone.min() else "otra",
        "ls-total": Answer(gone.sum(), terms=" and ".join(map(str, order[order > 0])), total=gone.sum()),
        "ls-keys": WORDS[len(keys)],
        "ls-fifth": ", ".join(key for key in keys if key not in ("GENDER", "REGION", "AGEYRS", "etnia")),
        "ls-range": len(keys),
        "ls-vector": vector,
        "ls-lower": {*first} == {"AGEYRS", "GENDER"},
        "ls-first": places["sexo"],
        "ls-fourth": places["edad"],
        "ls-records": Answer(records, households=sizes.sum()),
        "ls-age-categories": Answer(len(guide.EDGES[guide.EQUAL]) - 1, held=int((ages > 0).sum())),
        "ls-size-categories": Answer(len(recoded), before=len(sizes), after=len(recoded)),
    }
