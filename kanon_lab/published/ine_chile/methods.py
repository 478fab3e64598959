"""The claims of the guide's chapter 8, and what our text of the guide has lost."""

from __future__ import annotations

import re

import pandas as pd

from kanon_lab.classes import class_table
from kanon_lab.published.claims import Claim
from kanon_lab.published.ine_chile.ages import EDGES, EQUAL, GROUPS, RAW, UNEQUAL, completions, frequencies
from kanon_lab.published.ine_chile.claims import WORDS, listed
from kanon_lab.published.ine_chile.printed import SPECS, cells, counts, example
from kanon_lab.published.ine_chile.tables import SIZES, recoded_regions, suppressed
from kanon_lab.recode import cut_bands, round_values, top_code
from kanon_lab.suppress import protection_claims

# The categories that the code of section 8.2.1.1.1 draws etnia from.
_ETNIA = ("mapuche", "diaguita", "atacameno", "otra", "No aplica")
# The text's names for the variables of Bloque 8.7, where it has one.
_NAMES = {"AGEYRS": "edad", "GENDER": "sexo"}
_PLACES = ("primera", "segunda", "tercera", "cuarta")
_OTHER_RUN = "the text tells of another run, or of another file, than the block shows"
_NO_DATA = "the survey is not given, and no output shows it"


def method_claims() -> dict[str, Claim]:
    """The claims of chapter 8 by the last part of their figure_id."""
    return {
        **_kind_claims(),
        **_region_claims(),
        **_size_claims(),
        **_band_claims(),
        **_open_claims(),
        **_suppression_claims(),
        **_output_claims(),
        **_file_claims(),
        **_lost(),
    }


def _kind_claims() -> dict[str, Claim]:
    """Claims of sections 8.1 and 8.2.1, and of 8.2.1.2."""
    incomes = top_code(pd.Series([100.5, 250.25, 9000.75]), above=1000, value=1000)
    top = top_code(completions().index.to_series(), above=64, value=65)
    return {
        "seed": Claim(
            "set.seed()",
            "for those who want replicable results; the code shown before Bloque 8.1 has none, so that its sizeRes and "
            "etnia cannot be drawn again",
        ),
        "kinds-of-recoding": Claim(
            WORDS[2],
            "section 8.2.1.1 has rounding among the options of global recoding; by its number, 8.2.1.3, it is a third",
        ),
        "top-kind": Claim(
            "también continuas" if incomes.max() == 1000 else "solo ... ordinales y ... semi-continuas",
            "income, an example of the same paragraph and of section 8.1, is continuous by section 7.2; and Tabla 8.1 "
            "has continuous variables",
        ),
        "top-value": Claim(
            int(top.max()), "of bottom-coding, to 5, nothing could be seen: the youngest person of the file is 12"
        ),
    }


def _region_claims() -> dict[str, Claim]:
    """Claims about Tabla 8.2."""
    before, after, spec = example("Tabla 8.2"), recoded_regions(), SPECS["Tabla 8.2"]
    start, table = class_table(before, spec), class_table(after, spec)
    alone = start.f_k_of_records()
    groups = [after.index[table.class_of_record == number] for number in range(table.n_classes)]
    texts = [
        f"{group[0]} - {group[-1]}" if len(group) == group[-1] - group[0] + 1 else listed(group)
        for group in sorted(groups, key=min)
    ]
    return {
        "regions-before": Claim(WORDS[before["region"].nunique()]),
        "regions-after": Claim(WORDS[after["region"].nunique()]),
        "alone-before": Claim(
            WORDS[start.sample_uniques],
            f"{listed(alone.index[alone == 1]).replace(' y ', ' and ')} only; the text counts 5 too, which has the key "
            f"of 7. There are {start.n_classes} different keys",
        ),
        "keys-after": Claim(WORDS[table.n_classes]),
        "least-after": Claim(WORDS[table.k_achieved]),
        **{f"alike-{place}": Claim(text) for place, text in enumerate(texts, 1)},
    }


def _size_claims() -> dict[str, Claim]:
    """Claims about sizeRes and etnia, section 8.2.1.1.1."""
    before, after = counts("Bloque 8.1", "before"), counts("Bloque 8.1", "after")
    one = "in the data these are one category, so that the text lists five and announces four"
    return {
        "size-number": Claim(WORDS[len(before)], "so in the data; but the text goes on to list five"),
        "size-listed": Claim(f'"{before.index[0]}"', one),
        "size-urban": Claim(
            f"Las {WORDS[len(SIZES['urban'])]} primeras",
            f"of the {len(before)} in the data; of the five that the text lists they are the first four",
        ),
        "object": Claim(
            "sdcInitial",
            "not made in the code before Bloque 8.1, which has sdcHH and a copy, sdc_respaldo; section 8.2.1.3 takes "
            "it from that copy",
        ),
        "size-before": Claim(len(before)),
        "size-after": Claim(len(after)),
    }


def _band_claims() -> dict[str, Claim]:
    """Claims about the bands of Bloques 8.2, 8.3 and 8.5."""
    years = pd.Series(range(101))
    ours = cut_bands(years, bands=EDGES[UNEQUAL], closed="right", outside={"below": "perdidos"}).drop_duplicates()
    manual = cut_bands(years, bands=[0, 15, 65, 101]).drop_duplicates()
    return {
        "bands-from": Claim(
            EDGES[EQUAL][0],
            "an open end: age 0 itself is in no band, as the guide warns some paragraphs on",
        ),
        "outside": Claim(ours[0], "ours refuses such ages, unless it is told what to call them"),
        **{f"band-{place}": claim for place, claim in enumerate(_groups(ours.iloc[1:]), 1)},
        **{f"manual-{place}": Claim(label) for place, label in enumerate(manual, 1)},
    }


def _groups(ours: pd.Series) -> list[Claim]:
    """The age groups that the text names, against the ages that are in the bands."""
    persons = _certain()
    bands = frequencies(persons)[UNEQUAL]
    claims = []
    for named, label, (band, number) in zip(GROUPS, ours, bands.items(), strict=True):
        low, high = [int(year) for year in re.findall(r"\d+", named)] + ([200] if named.endswith("+") else [])
        meant = int(persons.loc[low:high].sum())
        reason = (
            f"the cut {band} holds {number} persons; the ages that the text names, {meant}" if meant != number else ""
        )
        claims.append(Claim(label, reason))
    return claims


def _certain() -> pd.Series:
    """One completion of the single ages; only for sums that are the same in every one."""
    return completions()[0]


def _open_claims() -> dict[str, Claim]:
    """The right-open intervals of the text, against the groups of the code beside it; and rounding."""
    persons = _certain()
    printed = [0, 14, 15, 65, 66, 100]
    lost = persons.groupby(cut_bands(persons.index.to_series(), bands=printed, labels=list("abcde"))).sum()
    half_up = round_values(persons.index.to_series(), base=10, half="up")
    even = frequencies(persons)[RAW]
    return {
        "open-1": Claim(
            "[0,15)",
            f"as printed age 14 is in no interval: {lost['b']} persons; the code has < 15, and by the guide's own note "
            "intervals must cover the whole range",
        ),
        "open-2": Claim("[15, 65)"),
        "open-3": Claim(
            "[65, 101)",
            f"as printed age 65 is in no interval, {lost['d']} persons, nor is 100; the code has >= 65, <= 100",
        ),
        "lost-rounding": Claim(
            reason="not said; the printed counts are those of half to even, which is the program's: "
            f"{even['20']} at 20, where half up would give {persons.groupby(half_up).sum()[20]}",
            verdict="not-in-text",
        ),
    }


def _suppression_claims() -> dict[str, Claim]:
    """Claims about Tabla 8.4."""
    original, released, spec = example("Tabla 8.4"), suppressed().frame, SPECS["Tabla 8.4"]
    after = class_table(released, spec)
    either = [original.mask(_cell(original, 1, key)) for key in ("sex", "education")]
    others = [class_table(frame, spec).f_k_of_records()[1] - 1 for frame in either]
    alone = protection_claims(original, released, spec, k_required=2).set_index("claim")["records"]
    return {
        "suppress-unsafe": Claim("única" if class_table(original, spec).f_k_of_records()[1] == 1 else "no única"),
        "suppress-others": Claim(
            WORDS[min(others)],
            f"whichever of the two values is suppressed; then the records have {after.f_k_of_records().tolist()} "
            "compatible ones, themselves among them",
        ),
        "suppress-told-apart": Claim(
            "ya no puede distinguirse" if not alone["own_class"] + alone["true_key"] else "se distingue",
            f"every record has {after.k_achieved} compatible ones or more; but {alone['own_class']} record is alone in "
            f"its released class, and whoever knows the true key of that person meets one compatible record, this one",
        ),
        "suppress-value": Claim(
            original.at[1, "education"], "so in the table, and four sentences before; it has no value mayor"
        ),
        "suppress-variable": Claim("zona", "so in the heading of the table, which has no región"),
    }


def _cell(frame: pd.DataFrame, record: int, column: str) -> pd.DataFrame:
    """A mask of one cell."""
    mask = pd.DataFrame(False, frame.index, frame.columns)
    mask.at[record, column] = True
    return mask


def _output_claims() -> dict[str, Claim]:
    """Claims about the first output of Bloque 8.7."""
    gone = counts("Bloque 8.7", "suppressions")
    order = gone.sort_values(ascending=False)
    others = [name for name in order.index[order > 0] if name != "AGEYRS"]
    call = cells("Bloque 8.7").loc["localSuppression()"]
    after = "the output with importance is not in the text"
    return {
        "ls-k": Claim(
            int(call["k"]), f"{_OTHER_RUN}: of one file a larger k never needs fewer suppressions; this one has fewer"
        ),
        "ls-most": Claim(_NAMES[order.index[0]]),
        "ls-age": Claim(gone["AGEYRS"], _OTHER_RUN),
        "ls-etnia": Claim(gone["etnia"], _OTHER_RUN),
        "ls-only": Claim(", ".join(others), _OTHER_RUN),
        "ls-second": Claim(_PLACES[list(order.index).index("etnia")]),
        "ls-least": Claim(_NAMES["GENDER"] if gone["GENDER"] == gone.min() else "otra", "with REGION: none in either"),
        "ls-total": Claim(gone.sum(), f"80 and 8 are 88; {' and '.join(map(str, order[order > 0]))} are {gone.sum()}"),
        "ls-total-after": Claim(reason=after, verdict="not-in-text"),
        "ls-none": Claim(reason=after, verdict="not-in-text"),
        "ls-more": Claim(
            reason=f"{after}; the vector has 5 for sizeRes and RELIG, which the text does not name, and 4 for etnia",
            verdict="not-in-text",
        ),
        "ls-strata": Claim(
            reason="section 8.2.2 does not say that suppression, and so k-anonymity, is within strata of regions; "
            "section 6.6 says so of every object that has strata",
            verdict="not-in-text",
        ),
        **_importance_claims(call["importance"], list(gone.index)),
    }


def _importance_claims(vector: str, keys: list[str]) -> dict[str, Claim]:
    """Claims about the vector of importance; its places are those of the key variables of the file."""
    importance = dict(zip(keys, map(int, re.findall(r"\d+", vector)), strict=True))
    first = [key for key in keys if importance[key] == min(importance.values())]
    places = {_NAMES[key]: _PLACES[keys.index(key)] for key in first}
    order = (
        "the key variables of the file begin with sizeRes, AGEYRS and GENDER, and the vector, which goes by their "
        "order, has its ones at the last two"
    )
    return {
        "ls-keys": Claim(WORDS[len(keys)], "the output has six, RELIG among them, and so has the vector"),
        "ls-fifth": Claim(
            ", ".join(key for key in keys if key not in ("GENDER", "REGION", "AGEYRS", "etnia")),
            "footnote 2 has sizeRes in place of religión; the block has both",
        ),
        "ls-range": Claim(len(keys), "the number of key variables, and six values are given"),
        "ls-vector": Claim(vector, "the same in the block"),
        "ls-first": Claim(places["sexo"], order),
        "ls-fourth": Claim(places["edad"], order),
    }


def _file_claims() -> dict[str, Claim]:
    """Claims about the file behind Bloque 8.7."""
    sizes = counts("Bloque 8.1", "before")
    shares = cells("Bloque 8.7")["%"].dropna().astype(float)
    gone = counts("Bloque 8.7", "suppressions")
    (records,) = {round(100 * number / share) for number, share in zip(gone, shares, strict=True) if share}
    unseen = Claim(reason=_NO_DATA, verdict="not-in-text")
    return {
        "ls-records": Claim(
            records,
            f"by every percentage of the output, and by the {sizes.sum():,} of Bloque 8.1. The code keeps the first "
            "record of each household: as many households, and nobody below 12",
        ),
        "ls-variables": unseen,
        "ls-age-categories": Claim(
            len(EDGES[EQUAL]) - 1, f"ten bands, of which {int((frequencies(_certain())[EQUAL] > 0).sum())} hold anybody"
        ),
        "ls-sex-categories": unseen,
        "ls-size-categories": Claim(len(sizes)),
        "ls-region-categories": unseen,
        "ls-etnia-categories": Claim(len(_ETNIA), "the code that makes it has five"),
    }


def _lost() -> dict[str, Claim]:
    """The verdict on what our text of the guide has not got."""
    not_in_text = {
        "lost-release": "the table is cut off: the enclave of data is missing, and whether it is applicable",
        "lost-outputs": "the blocks show calls only; some results are told in the text, as claims",
        "lost-second-output": "the text ends with the heading of this output",
        "lost-rest": "the text stops inside section 8.2.2; these are announced, and not in it",
    }
    illegible = {
        "lost-footnote": "cut off within an interval; a part of it has moved to the paragraph that refers to it",
        "lost-side": "a word is missing; by the paragraph before it is the left",
        "lost-references": "most numbers of references, and all of citations, are question marks in the text",
    }
    figures = {f"figure-{number}" for number in ("5-1", "7-1", *(f"8-{place}" for place in range(1, 7)))}
    blocks = {f"code-{number}" for number in ("6-3", "6-5", "6-15", "7-6", "7-7", "7-8", "8-2", "8-4", "8-6")}
    return {
        **{name: Claim(reason=reason, verdict="not-in-text") for name, reason in not_in_text.items()},
        **{name: Claim(reason=reason, verdict="illegible") for name, reason in illegible.items()},
        **{name: Claim(reason="the picture is not in the text", verdict="not-in-text") for name in figures},
        **{name: Claim(reason="the code is not in the text", verdict="not-in-text") for name in blocks},
    }
