"""The claims of the guide's sections 8.1 and 8.2.1: kinds of methods, and recoding."""

from __future__ import annotations

import re

import pandas as pd

from kanon_lab.classes import class_table
from kanon_lab.recode import bottom_code, cut_bands, round_values, top_code
from kanon_lab.studies.claims import Claim
from kanon_lab.studies.ine_chile.ages import EDGES, EQUAL, GROUPS, RAW, UNEQUAL, completions, frequencies
from kanon_lab.studies.ine_chile.printed import SPECS, WORDS, cells, copied, counts, example, given, listed, unseen
from kanon_lab.studies.ine_chile.tables import DRAWN, SIZES, recoded_regions

#: The code of section 8.2.1.1.1 draws etnia with these weights; it calls them prob.
ETNIA = {"mapuche": 0.2, "diaguita": 0.1, "atacameno": 0.1, "otra": 0.1, "No aplica": 0.95}
# Ages that the indicators of section 8.2.1.1 are computed for, and two ways to group ages.
_WANTED = ((6, 11), (12, 17))
_GROUPINGS = {"good": ((0, 5), (6, 11), (12, 17)), "bad": ((0, 10), (11, 15), (16, 18))}


def method_claims() -> dict[str, Claim]:
    """The claims of sections 8.1 and 8.2.1 by the last part of their figure_id."""
    return {
        **_kind_claims(),
        **_tail_claims(),
        **_region_claims(),
        **_example_claims(),
        **_size_claims(),
        **_draw_claims(),
        **_band_claims(),
        **_open_claims(),
        **_shifted_claims(),
    }


def _kind_claims() -> dict[str, Claim]:
    """Claims of sections 8.1 and 8.2.1."""
    return {
        "seed": Claim(
            "set.seed()",
            "looked up: R's function for it, for those who want replicable results. The code shown before Bloque 8.1 "
            "has none, so that its sizeRes and etnia cannot be drawn again",
        ),
        "recoding-kind": copied("determinista", "Tabla 8.1 has it so"),
        "both-kinds": copied(
            "categóricas y continuas" if _for_both() else "no ambas",
            "so Tabla 8.1: of the methods that are not perturbative and of those that are, some are for each",
        ),
        "kinds-of-recoding": copied(
            WORDS[2],
            "section 8.2.1.1 has rounding among the options of global recoding; by its number, 8.2.1.3, it is a third",
        ),
    }


def _for_both() -> bool:
    """Whether Tabla 8.1 has methods of either class for either kind of variable."""
    table = cells("Tabla 8.1")
    perturbative = table["classification"].str.startswith("perturbativo")
    return all(
        table.loc[here, "data"].str.contains(kind).any()
        for here in (perturbative, ~perturbative)
        for kind in ("categórico", "continuo")
    )


def _tail_claims() -> dict[str, Claim]:
    """Claims of section 8.2.1.2 and, on rounding, of 8.2.1.3."""
    incomes = top_code(pd.Series([100.5, 250.25, 9000.75]), above=1000, value=1000)
    ages = pd.Series(range(101))
    coded = bottom_code(top_code(ages, above=64, value=65), below=5, value=5)
    untouched = (coded == ages)[15:65].all()
    return {
        "top-kind": Claim(
            "también continuas" if incomes.max() == 1000 else "solo ... ordinales y ... semi-continuas",
            "income, an example of the same paragraph and of section 8.1, is continuous by section 7.2; and Tabla 8.1 "
            "has continuous variables",
        ),
        "top-and-bottom": Claim(
            "no pueden hacerse simultáneamente",
            "looked up: topBotCoding() of sdcMicro takes one kind a call, top or bottom. Ours take two calls too",
        ),
        "top-suggested": copied(65.0, "the value put in further on; the figure is lost"),
        "labour-ages": Claim(
            "15 a 64" if untouched else "otras", "coding above 64 and below 5 leaves them as they are"
        ),
        "top-above": copied(64.0, "the same twice"),
        "top-value": copied(65.0, "suggested by Figura 8.5, it says"),
        "bottom-value": given(5.0, "of bottom-coding nothing could be seen: the youngest person of the file is 12"),
        "rounding-to": copied("decena más cercana", "so the code, which rounds to -1 digits, and its output"),
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
        "regions-before": copied(WORDS[before["region"].nunique()], "counted in the table"),
        "regions-after": copied(WORDS[after["region"].nunique()], "counted in the table"),
        "alone-before": Claim(
            WORDS[start.sample_uniques],
            f"{listed(alone.index[alone == 1]).replace(' y ', ' and ')} only; the text counts 5 too, which has the key "
            f"of 7. There are {start.n_classes} different keys",
        ),
        "keys-after": Claim(WORDS[table.n_classes]),
        "least-after": Claim(WORDS[table.k_achieved]),
        **{f"alike-{place}": Claim(text) for place, text in enumerate(texts, 1)},
    }


def _example_claims() -> dict[str, Claim]:
    """Examples of section 8.2.1.1."""
    groupings = {}
    for name, groups in _GROUPINGS.items():
        whole = all(_in_whole_groups(set(range(low, high + 1)), groups) for low, high in _WANTED)
        text = ", ".join(f"{low} - {high}" for low, high in groups)
        groupings[f"grouping-{name}"] = Claim(
            text if whole == (name == "good") else "al revés",
            f"ages 6 to 11, and 12 to 17, are {'' if whole else 'not '}made of whole groups",
        )
    return {
        "examples": copied(WORDS[3], "three it goes on to list"),
        **groupings,
        "partial": given(
            "superiores a 20 ... inferiores a 20",
            f"an example, said loosely: age 20 itself, {_certain()[20]} persons of the guide's file, is in neither",
        ),
        "toilets": copied(20.0, "the same twice"),
        "toilets-after": copied(WORDS[2], "two are named"),
    }


def _in_whole_groups(ages: set[int], groups: tuple[tuple[int, int], ...]) -> bool:
    met = [set(range(low, high + 1)) for low, high in groups]
    return set().union(*(group for group in met if group & ages)) == ages


def _size_claims() -> dict[str, Claim]:
    """Claims about sizeRes, section 8.2.1.1.1."""
    before, after = counts("Bloque 8.1", "before"), counts("Bloque 8.1", "after")
    one = "in the data these are one category, so that the text lists five and announces four"
    smallest = before.index[before.isin(before.nsmallest(2))]
    return {
        "size-number": copied(WORDS[len(before)], "so in the data; but the text goes on to list five"),
        "size-listed": copied(f'"{before.index[0]}"', one),
        "size-urban": copied(
            f"Las {WORDS[len(SIZES['urban'])]} primeras",
            f"of the {len(before)} in the data; of the five that the text lists they are the first four",
        ),
        "size-repeated": copied(WORDS[len(SIZES["urban"])], "so in the code of Bloque 8.1"),
        "object": copied(
            "sdcInitial",
            "not made in the code before Bloque 8.1, which has sdcHH and a copy, sdc_respaldo; section 8.2.1.3 takes "
            "it from that copy",
        ),
        "vector-lengths": unseen(
            "the program's documentation has both: its text asks for vectors of the same length, its example gives two "
            "old categories and one new"
        ),
        "size-before": copied(len(before), "counted in the output"),
        "size-after": copied(len(after), "counted in the output"),
        "size-small": Claim(" y ".join(f'"{name}"' for name in smallest), "the two smallest of the output"),
    }


def _draw_claims() -> dict[str, Claim]:
    """The settings of the code of section 8.2.1.1.1 that draws sizeRes and etnia."""
    total = sum(ETNIA.values())
    weights = (
        f"R takes prob as weights, so it need not add up to 1. It adds up to {total:.2f}: what is drawn with "
        f"{ETNIA['No aplica']} is drawn with {ETNIA['No aplica'] / total:.3f}"
    )
    return {
        **{f"prob-size-{i}": given(share, "a setting") for i, share in enumerate(DRAWN.values(), 1)},
        **{f"prob-etnia-{i}": given(share, weights) for i, share in enumerate(ETNIA.values(), 1)},
        "draws": given(
            "nrow(file[file$URBRUR==1,])",
            "ifelse() repeats so short a vector over all records, and takes of it what stands at the urban ones: some "
            "draws serve two records, others none. Each is still drawn with the given weights; only the counts scatter "
            "a little more than independent draws would",
        ),
    }


def _band_claims() -> dict[str, Claim]:
    """Claims about the bands of Bloques 8.2, 8.3 and 8.5."""
    years = pd.Series(range(101))
    ours = cut_bands(years, bands=EDGES[UNEQUAL], closed="right", outside={"below": "perdidos"}).drop_duplicates()
    manual = cut_bands(years, bands=[0, 15, 65, 101]).drop_duplicates()
    first = cut_bands(years, bands=EDGES[UNEQUAL], closed="right", outside={"below": "perdidos"}).eq(ours.iloc[1])
    ends = [first.idxmax(), first[::-1].idxmax()]
    return {
        "default-label": copied("(0, 10]", "Bloque 8.2 writes it without the blank"),
        "bands-width": copied(10.0, "by the labels of Bloque 8.2"),
        "bands-to": copied(EDGES[EQUAL][-1], "by the labels of Bloque 8.2"),
        "bands-from": copied(
            EDGES[EQUAL][0],
            "an open end: age 0 itself is in no band, as the guide warns some paragraphs on",
        ),
        "outside": copied(ours[0], "a note before says so too; ours refuses such ages, unless told what to call them"),
        "closed": Claim("no incluye el 0, pero sí el 5" if (ours[0] == "perdidos" and ends == [1, 5]) else "otra"),
        "bands-rare": copied(
            "frecuencias bajas" if _oldest_are_fewest() else "no",
            "in Bloque 8.2: of the bands that hold anybody the two oldest, of 27 and 3, are the smallest; the 3, lost "
            "there, is what every completion of the single ages gives",
        ),
        "retirement": copied(65.0, "the last group of the text begins there"),
        **{f"band-{place}": claim for place, claim in enumerate(_groups(ours.iloc[1:]), 1)},
        **{f"manual-{place}": Claim(label) for place, label in enumerate(manual, 1)},
    }


def _oldest_are_fewest() -> bool:
    """Whether the two oldest bands of ten years are the smallest that hold anybody."""
    bands = frequencies(_certain())[EQUAL]
    held = bands[bands > 0]
    return bool(held.iloc[-2:].max() < held.iloc[:-2].min())


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
        "open-1": copied(
            "[0,15)",
            f"as printed age 14 is in no interval: {lost['b']} persons; the code has < 15, and by the guide's own note "
            "intervals must cover the whole range",
        ),
        "open-2": copied("[15, 65)", "so the code of Bloque 8.5"),
        "open-3": copied(
            "[65, 101)",
            f"as printed age 65 is in no interval, {lost['d']} persons, nor is 100; the code has >= 65, <= 100",
        ),
        "lost-rounding": unseen(
            "not said; the printed counts are those of half to even, which is the program's: "
            f"{even['20']} at 20, where half up would give {persons.groupby(half_up).sum()[20]}"
        ),
    }


def _shifted_claims() -> dict[str, Claim]:
    """The way round of section 8.2.1.1.2: a small number is taken from the edges, for whole and for other numbers."""
    ages = pd.Series(range(101))
    wanted = cut_bands(ages, bands=[0, 15, 65, 101], labels=list("abc"))
    shifted = cut_bands(ages, bands=[-0.1, 14.9, 64.9, 100.9], closed="right", labels=list("abc"))
    meant = (10000, 19999)
    cut = (meant[0] - 1, meant[1])
    wrong = pd.Series([9999.5])
    caught = cut_bands(wrong, bands=cut, closed="right", outside="none").ne("none")[0] and wrong[0] < meant[0]
    return {
        "subtracted": Claim(
            0.1 if (wanted == shifted).all() else 0.0, "whole ages fall in [0,15), [15,65) and [65,101)"
        ),
        "shifted-interval": Claim(f"({cut[0]}, {cut[1]}", "1 taken from 10000; what is left out after it is lost"),
        "shifted-value": Claim(9999.5 if caught else 0.0, "it falls in that interval, and lies below 10000"),
        "shifted-meant": given(f"[{meant[0]}, {meant[1]}]", "an example"),
    }
