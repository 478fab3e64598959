"""The audit of Garín i Ramírez (1996): Taula 1 and the claims of its text, recomputed.

The 27 counts of Taula 1 are inputs: that they agree with themselves is no evidence. The nine probabilities are computed
from them and from one sampling fraction. The study prints several; the audit takes the middle of those that give all
nine, if their last digits are cut and not rounded, so that the nine are marked as fitted. `fractions` tells what each
of the others explains.

A statement contradicts the study (``published-error``) only where no fair reading lets it stand. Where one does, it is
``exact``, and the reason says which reading that is. An aim, an assumption, or a judgement without a measure is
neither: it is ``not-in-text``.

In ``garin-1996.csv`` a statement stands as a few of its words, or as the figure it gives; what is lost, or not
printed, is empty. The lists of codes of section 5 stand in ``garin-1996-variables.csv``, where they are inputs.

Left out on purpose: definitions (symbols, components, rules, phases, what a variable or a code means); equations (1)
and (2), which are the chain rule and an assumption that has a row, and the expected sizes E(n1) and E(n2), which the
rows of the fraction and of n2 use; advice and plans without a figure; what is said of things that are not given, as
how the census was recorded, an official proposal that the regions agree with, or who uses the institute's data; the
list of references and the dates of the article; and what a statement repeats of one that has a row.
"""

from __future__ import annotations

from itertools import pairwise
from math import floor

import numpy as np
import pandas as pd

from kanon_lab.digits import percent
from kanon_lab.studies import aepd
from kanon_lab.studies.evidence import Told, claimed, judged, told
from kanon_lab.studies.garin import (
    AGES,
    DECIMALS,
    GEOGRAPHIES,
    TABLE,
    age_codes,
    cut_probabilities,
    data_dictionary,
    fraction_range,
    fractions,
    most_explained,
    number,
    scenarios,
    steps,
    taula,
)

_95_PER_CENT = 1.96
_WORDS = {3: "three"}
#: What "much" means at least: an order of magnitude. The least ratio that it is asked of is far above.
_MUCH = 10
#: Idescat, Població a 1 de gener, 1991: Alta Ribagorça, the comarca with the fewest inhabitants.
_SMALLEST_COMARCA = 3_522
#: Idescat, Censos de població, 1991: all of Catalonia.
_CENSUS_1991 = 6_059_494.0
_RECOMMENDED = ("14 regions", "5 years")
_PROVINCES = ("Barcelona", "Girona", "Lleida", "Tarragona")
#: The variables whose categories section 4.4 gives before section 5 does.
_NAMES = {
    "birthplace": "REG_N",
    "sex": "PREG_6",
    "marital-status": "PREG_12",
    "occupation": "PREG_23",
    "study-level": "PREG_19",
    "activity": "PREG_22",
}


def recompute(figures: pd.DataFrame) -> pd.DataFrame:
    """Every figure of the study (rows of `published_figures`) from what it prints itself, as `recomputed`."""
    is_cell = figures["table"] == TABLE
    cells, values = figures[is_cell], taula().assign(p=cut_probabilities())
    parts = cells["column"].str.split(", ")
    found = [values.at[(row, age), name] for row, (age, name) in zip(cells["row"], parts, strict=True)]
    claims = claimed(figures[~is_cell], _claims() | _lists())
    return pd.concat([judged(cells, found), claims]).loc[figures.index]


def _claims() -> dict[str, object]:
    """What is computed for the claims of the text, by the last part of their figure_id."""
    return {
        **_concept_claims(),
        **_size_claims(),
        **_place_claims(),
        **_age_claims(),
        **_result_claims(),
        **_counted_claims(),
    }


def _concept_claims() -> dict[str, object]:
    """Claims of sections 1 to 2.4, which have no figure of the sample, and what the summary has of them."""
    found = aepd.homogeneity()[["homogeneous", "alone", "classes"]].sum()
    alike, several = found["homogeneous"] - found["alone"], found["classes"] - found["alone"]
    without_d = 1 / scenarios()["p_d"]
    return {
        "disclosure": told(None, alike=alike, several=several),
        "p-a-worst": number("p-a") < 1,
        "overestimates": told(None, least=without_d.min(), most=without_d.max()),
    }


def _size_claims() -> dict[str, object]:
    """Claims about the sizes of sample and subsample, and the fraction."""
    persons, n1, theoretical = number("population"), number("n1-5"), number("fraction-4-1")
    resulting, printed = n1 / persons, number("fraction-4-5")
    expected, wanted = theoretical * persons, number("n2")
    z = (n1 - expected) / np.sqrt(expected * (1 - theoretical))
    error = 100 * _95_PER_CENT * np.sqrt(0.25 / n1)
    relative = scenarios()["relative_error"]
    planned = theoretical**2 * persons
    spread = np.sqrt(planned * (1 - theoretical**2))
    return {
        "ceiling": told(
            resulting <= number("ceiling") / 100, resulting=percent(resulting), theoretical=percent(theoretical)
        ),
        "n2": told(
            "aproximadament igual a 10.000" if abs(planned - wanted) < spread else f"{planned:.0f}",
            planned=planned,
            spread=spread,
            wanted=wanted,
            needed=np.sqrt(wanted / persons),
            theoretical=theoretical,
        ),
        "acceptable": told(None, least=percent(relative.min()), most=percent(relative.max())),
        "fraction-4-1": told(
            resulting,
            {"verdict": "within-noise" if abs(z) < _95_PER_CENT else "published-error"},
            n1=n1,
            below=-z,
            expected=expected,
        ),
        "n1-4-1": n1,
        "n1-5": n1,
        "population": _CENSUS_1991,
        "about-4": 100 * resulting,
        "inclusion": theoretical,
        "resulting": resulting,
        "error": told(error, millions=(_95_PER_CENT / 2 / (number("error") / 100)) ** 2 / 1000000.0),
        "eliminate": told(None, risk=scenarios().set_index(["geography", "age"]).loc[_RECOMMENDED, "printed"]),
        **_fraction_claims(printed),
    }


def _fraction_claims(printed: float) -> dict[str, object]:
    """Claims about the fraction behind Taula 1."""
    low, high = fraction_range()
    low_4, high_4 = fraction_range(decimals=DECIMALS)
    n1, explained = number("n1-5"), fractions().iloc[0]
    return {
        "p-b": told(
            number("inclusion"),
            rounded=explained["rounded"],
            cut=explained["cut"],
            low=low,
            high=high,
            most_explained=most_explained(last_digit="rounded"),
        ),
        "fraction-4-5": told(
            (low_4 + high_4) / 2,
            {
                "verdict": "approximate" if low_4 <= printed < high_4 else "published-error",
                "tolerance": (high_4 - low_4) / 2,
            },
            decimals=DECIMALS,
            low=low_4,
            high=high_4,
            explained=fractions()["cut"].iloc[3],
            own=n1 / number("population"),
        ),
        "subsample-size": told(
            None, low_4=low_4 * n1, high_4=high_4 * n1, decimals=DECIMALS, low=low * n1, high=high * n1
        ),
    }


def _place_claims() -> dict[str, object]:
    """Claims about geography, in sections 4.3 to 5."""
    smallest, threshold, fraction = (number(name) for name in ("smallest-4-3", "threshold", "resulting"))
    dictionary = data_dictionary().set_index("variable")["categories"]
    return {
        "comarca": told(
            "4.000" if number("comarca") >= _SMALLEST_COMARCA else f"{_SMALLEST_COMARCA}", persons=_SMALLEST_COMARCA
        ),
        "threshold": told(None, records=threshold * fraction),
        "above-threshold": told(smallest > threshold, times=smallest / threshold, records=smallest * fraction),
        "smallest-4-3": smallest,
        "comarca-level": told(threshold > _SMALLEST_COMARCA, threshold=threshold, persons=_SMALLEST_COMARCA),
        "smallest-4-4": smallest,
        "most-detailed": told(
            dictionary["REG_R"] > dictionary["REG_N"],
            residence=dictionary["REG_R"],
            birth=dictionary["REG_N"],
            work=dictionary["REG_T"],
        ),
        "summary-levels": _WORDS[taula().index.unique("geography").size],
    }


def _age_claims() -> dict[str, object]:
    """Claims about the categories of age, in section 4.4."""
    codes = age_codes().set_index("age")
    five, ten = codes.loc["5 years"], codes.loc["10 years"]
    return {
        "age-5": told(float(five["needed_from_5"]), nameless=five["nameless"], needed=five["needed"]),
        "age-5-top": float(five["named"] * five["width"]),
        "age-10": told(float(ten["needed_from_5"]), nameless=ten["nameless"]),
        "age-10-top": float(ten["named"] * ten["width"]),
        "summary-table": len(taula()) == len(GEOGRAPHIES) * len(AGES),
        "summary-ages": f"{_WORDS[taula().index.unique('age').size]} different strata",
    }


def _result_claims() -> dict[str, object]:
    """Claims of section 4.5.1 about the results, and of section 2.5.2, which foretells one."""
    found, grown = scenarios(), steps()
    per_area = [100 * grown[f"{name}_growth_per_area"] for name in ("first", "second")]
    least = found["p_identification"].min()
    by_age = found.pivot(index="geography", columns="age", values="p_identification")
    by_scenario = found.set_index(["geography", "age"])
    chosen, elsewhere = by_scenario.loc[_RECOMMENDED], number("p-d-elsewhere")
    times = chosen["p_d"] / elsewhere
    first_age = [_sure_growth(by_scenario.xs(AGES[0], level="age"), *pair) for pair in pairwise(GEOGRAPHIES)]
    rank = int((found["p_identification"] > chosen["p_identification"]).sum()) + 1
    less = (grown["second"] < grown["first"]).any() or (grown["second_points"] < grown["first_points"]).any()
    first, second = (", ".join(f"{value:.2f}" for value in grown[name]) for name in ("first", "second"))
    return {
        "highest": (by_age.idxmax(axis=1) == AGES[0]).all(),
        "first-step": told(
            min(first_age) > _95_PER_CENT,
            first=grown.loc[0, "first"],
            second=grown.loc[0, "second"],
            first_sd=first_age[0],
            second_sd=first_age[1],
        ),
        "second-step": told(
            bool(less),
            second=second,
            first=first,
            first_least=per_area[0].min(),
            first_most=per_area[0].max(),
            second_least=per_area[1].min(),
            second_most=per_area[1].max(),
        ),
        "not-cancelled": told(least > 0, least=percent(least)),
        "interplay": told(None, places=len(GEOGRAPHIES), ages=len(AGES)),
        "p-d-high": told(times > _MUCH, p_d=chosen["p_d"], times=times),
        "p-d-0001": told(times > _MUCH, p_d=chosen["p_d"], times=times),
        "summary-influential": _influential(by_scenario),
        "recommended": told(None, rank=rank, printed=chosen["printed"], identifications=chosen["identifications"]),
    }


def _sure_growth(found: pd.DataFrame, before: str, after: str) -> float:
    """By how many standard deviations its logarithm grows, were the subsamples independent; in one it is more."""
    grown = np.log(found.at[after, "p_identification"] / found.at[before, "p_identification"])
    return float(grown / np.hypot(found.at[before, "relative_error"], found.at[after, "relative_error"]))


def _influential(found: pd.DataFrame) -> Told:
    """Whether p depends on age and on place, the other held."""
    spans = [(found.xs(age, level="age"), GEOGRAPHIES[0], GEOGRAPHIES[-1]) for age in AGES]
    spans += [(found.xs(place, level="geography"), AGES[-1], AGES[0]) for place in GEOGRAPHIES]
    times = [rows.at[after, "p_identification"] / rows.at[before, "p_identification"] for rows, before, after in spans]
    sure = min(_sure_growth(*span) for span in spans)
    place, age = times[:3], times[3:]
    return told(
        sure > _95_PER_CENT,
        place_least=min(place),
        place_most=max(place),
        age_least=min(age),
        age_most=max(age),
        sd=floor(sure),
    )


def _counted_claims() -> dict[str, object]:
    """What the study counts itself, in words, and what it says twice."""
    words = {3: "tres"}
    places, ages = (words[taula().index.unique(level).size] for level in ("geography", "age"))
    return {
        "levels-heading": f"{ages} estrats",
        "levels-place": f"{places} nivells DG",
        "levels-age": f"{ages} nivells de DC",
        "levels-4-5": f"{ages} nivells DC",
        "year-of-ages": number("year"),
        "regions": number("level-3"),
        "region-4-3": number("region-4-4"),
        "region-4-4": number("region-4-3"),
    }


def _lists() -> dict[str, object]:
    """Sections 4.4 and 5: codes and categories that are listed, numbers of questions, places of digits."""
    dictionary = data_dictionary().set_index("variable")
    categories = dictionary["categories"].astype(float)
    regions = categories["REG_R"]
    infra = dictionary.index.str.startswith("INFRA")
    return {
        **{f"{_name(variable)}/categories": n for variable, n in categories[~infra].dropna().items()},
        "preg-7/categories": float(age_codes().set_index("age").at["5 years", "needed_from_5"]),
        "preg-7/year": number("year-of-ages"),
        "preg-7/width": number("level-2-width"),
        "preg-7/top": number("age-5-top"),
        "residence/level-2": told(float(len(_PROVINCES)), provinces=", ".join(_PROVINCES)),
        "residence/level-3": regions,
        "birthplace/regions": regions,
        **{f"age/level-{i}-width": float(age.split()[0]) for i, age in enumerate(taula().index.unique("age"), start=1)},
        **{f"{name}/categories": categories[variable] for name, variable in _NAMES.items()},
        **{f"{name}/codes": dictionary.at[variable, "codes"].replace(" ", "") for name, variable in _NAMES.items()},
        **_questions(dictionary.index),
        **_positions(dictionary.loc[infra, "codes"]),
    }


def _name(variable: str) -> str:
    return variable.lower().replace("_", "-").replace(": ", "-").replace(" ", "-")


def _questions(variables: pd.Index) -> dict[str, float]:
    """The numbers of the census's questions, from which the variables have their names."""
    numbers = {name: float(name.split("_")[1]) for name in variables if name.startswith("PREG_")}
    by_name = {f"{_name(name)}/question": number for name, number in numbers.items()}
    return by_name | {f"{name}/question": numbers[of] for name, of in _NAMES.items() if of in numbers}


def _positions(codes: pd.Series) -> dict[str, Told]:
    """INFRA: the digits that each item takes follow from its codes, and from them its place in the string."""
    digits = codes.map({"absolute": 2}).fillna(1).astype(int)
    places = zip(codes.index, digits.cumsum() - digits + 1, digits.cumsum(), strict=True)
    return {f"{_name(item)}/position": told(f"{first}-{last}", items=len(codes)) for item, first, last in places}
