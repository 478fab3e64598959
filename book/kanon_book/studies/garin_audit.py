"""The audit of Garín i Ramírez (1996): Taula 1 and the claims of its text, recomputed.

The 27 counts of Taula 1 are inputs: that they agree with themselves is no evidence. The nine probabilities are computed
from them and from one sampling fraction. The study prints several; the audit takes the middle of those that give all
nine, if their last digits are cut and not rounded, so that the nine are marked as fitted. `fractions` tells what each
of the others explains.

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

from kanon_book.studies import aepd, garin
from kanon_book.studies.figures import Answer, by_readings, judged_by_place
from kanon_book.studies.garin import number, scenarios, taula
from kanon_lab.digits import percent

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
    """Every figure of the study (rows of `published_figures`) from what it prints itself, as `judged`."""
    cells = taula().assign(p=garin.cut_probabilities()).astype(object).unstack("age")
    cells.columns = [f"{age}, {name}" for name, age in cells]
    return judged_by_place(figures, {garin.TABLE: cells.to_dict()}, claims() | _lists())


def claims() -> dict[str, object]:
    """What is computed for the claims of the text, by the last part of their figure_id."""
    sample = _concept_claims() | _size_claims() | _fraction_claims() | _place_claims() | _age_claims()
    return sample | _result_claims() | _influence_claims() | _counted_claims()


def _concept_claims() -> dict[str, object]:
    """Claims of sections 1 to 2.4, which have no figure of the sample, and what the summary has of them."""
    checked = aepd.homogeneity()[["homogeneous", "alone", "classes"]].sum()
    alike, several = checked["homogeneous"] - checked["alone"], checked["classes"] - checked["alone"]
    without_d = 1 / scenarios()["p_d"]
    return {
        # By definition where identification is of an information; of a record, classes of one value are against it.
        "disclosure": by_readings(True, alike == 0, alike=alike, several=several),
        "p-a-worst": number("p-a") < 1,
        "overestimates": Answer(None, least=without_d.min(), most=without_d.max()),
    }


def _size_claims() -> dict[str, object]:
    """Claims about the sizes of sample and subsample."""
    persons, n1, theoretical = number("population"), number("n1-5"), number("fraction-4-1")
    resulting, relative = n1 / persons, scenarios()["relative_error"]
    expected, wanted = theoretical * persons, number("n2")
    z = (n1 - expected) / np.sqrt(expected * (1 - theoretical))
    planned = theoretical**2 * persons
    spread = np.sqrt(planned * (1 - theoretical**2))
    n2 = "aproximadament igual a 10.000" if abs(planned - wanted) < spread else f"{planned:.0f}"
    sizes = {"planned": planned, "spread": spread, "wanted": wanted, "needed": np.sqrt(wanted / persons)}
    verdict = "within-noise" if abs(z) < _95_PER_CENT else "published-error"
    printed = scenarios().set_index(["geography", "age"])["printed"]
    ceiling = number("ceiling") / 100
    return {
        "ceiling": Answer(resulting <= ceiling, resulting=percent(resulting), theoretical=percent(theoretical)),
        "n2": Answer(n2, **sizes, theoretical=theoretical),
        "acceptable": Answer(None, least=percent(relative.min()), most=percent(relative.max())),
        "fraction-4-1": Answer(resulting, {"verdict": verdict}, n1=n1, below=-z, expected=expected),
        "population": _CENSUS_1991,
        "about-4": 100 * resulting,
        "resulting": resulting,
        "error": Answer(
            100 * _95_PER_CENT * np.sqrt(0.25 / n1),
            millions=(_95_PER_CENT / 2 / (number("error") / 100)) ** 2 / 1000000.0,
        ),
        "eliminate": Answer(None, risk=printed[_RECOMMENDED]),
    }


def _fraction_claims() -> dict[str, object]:
    """Claims about the fraction behind Taula 1."""
    low, high = garin.fraction_range()
    low_4, high_4 = garin.fraction_range(decimals=garin.DECIMALS)
    n1, explained = number("n1-5"), garin.fractions()
    verdict = "approximate" if low_4 <= number("fraction-4-5") < high_4 else "published-error"
    sizes = {"low_4": low_4 * n1, "high_4": high_4 * n1, "low": low * n1, "high": high * n1}
    return {
        "p-b": Answer(
            None,
            **explained.loc[0, ["rounded", "cut"]],
            low=low,
            high=high,
            most_explained=garin.most_explained(last_digit="rounded"),
        ),
        "fraction-4-5": Answer(
            (low_4 + high_4) / 2,
            {"verdict": verdict, "tolerance": (high_4 - low_4) / 2},
            decimals=garin.DECIMALS,
            low=low_4,
            high=high_4,
            explained=explained.loc[3, "cut"],
            own=n1 / number("population"),
        ),
        "subsample-size": Answer(None, decimals=garin.DECIMALS, **sizes),
    }


def _place_claims() -> dict[str, object]:
    """Claims about geography, in sections 4.3 to 5."""
    smallest, threshold, fraction = (number(name) for name in ("smallest-4-3", "threshold", "resulting"))
    categories = garin.data_dictionary().set_index("variable")["categories"]
    residence, birth, work = categories[["REG_R", "REG_N", "REG_T"]]
    comarca = "4.000" if number("comarca") >= _SMALLEST_COMARCA else f"{_SMALLEST_COMARCA}"
    return {
        "comarca": Answer(comarca, persons=_SMALLEST_COMARCA),
        "threshold": Answer(None, records=threshold * fraction),
        "above-threshold": Answer(smallest > threshold, times=smallest / threshold, records=smallest * fraction),
        "comarca-level": Answer(threshold > _SMALLEST_COMARCA, threshold=threshold, persons=_SMALLEST_COMARCA),
        "most-detailed": Answer(residence > birth, residence=residence, birth=birth, work=work),
        "summary-levels": _WORDS[taula().index.unique("geography").size],
    }


def _age_claims() -> dict[str, object]:
    """Claims about the categories of age, in section 4.4."""
    codes = garin.age_codes().set_index("age")
    return {
        "age-5": _banded(codes.loc["5 years"]),
        "age-5-top": float(codes.at["5 years", "named"] * codes.at["5 years", "width"]),
        "age-10": _banded(codes.loc["10 years"]),
        "age-10-top": float(codes.at["10 years", "named"] * codes.at["10 years", "width"]),
        "summary-table": len(taula()) == len(garin.GEOGRAPHIES) * len(garin.AGES),
        "summary-ages": f"{_WORDS[taula().index.unique('age').size]} different strata",
    }


def _banded(codes: pd.Series) -> Answer:
    """How many codes the ages need: as named with a first band that takes in the youngest, more if all are as wide."""
    mixed = {"verdict": "in-part"} if codes["needed"] > codes["named"] else {}
    first = f"{codes['width']}-{2 * codes['width'] - 1}"
    return Answer(float(codes["needed"]), mixed, first=first, **codes[["width", "nameless", "needed"]])


def _result_claims() -> dict[str, object]:
    """Claims of section 4.5.1 about the results, and of section 2.5.2, which foretells one."""
    by_scenario, grown = scenarios().set_index(["geography", "age"]), garin.steps()
    risks, chosen = by_scenario["p_identification"], by_scenario.loc[_RECOMMENDED]
    times = chosen["p_d"] / number("p-d-elsewhere")
    first_age = [
        _sure_growth(by_scenario.xs(garin.AGES[0], level="age"), *pair) for pair in pairwise(garin.GEOGRAPHIES)
    ]
    rank = int((risks > chosen["p_identification"]).sum()) + 1
    less = (grown["second"] < grown["first"]).any() or (grown["second_points"] < grown["first_points"]).any()
    second_step = {}
    for name in ("first", "second"):
        per_area = 100 * grown[f"{name}_growth_per_area"]
        second_step[name] = ", ".join(f"{value:.2f}" for value in grown[name])
        second_step |= {f"{name}_least": per_area.min(), f"{name}_most": per_area.max()}
    return {
        "highest": (risks.unstack("age").idxmax(axis=1) == garin.AGES[0]).all(),
        "first-step": Answer(
            min(first_age) > _95_PER_CENT,
            **grown.loc[0, ["first", "second"]],
            first_sd=first_age[0],
            second_sd=first_age[1],
        ),
        "second-step": Answer(bool(less), **second_step),
        "not-cancelled": Answer(risks.min() > 0, least=percent(risks.min())),
        # Place and age vary in Taula 1, the fraction does not.
        "interplay": by_readings(
            min(map(len, (garin.GEOGRAPHIES, garin.AGES))) > 1,
            False,
            places=len(garin.GEOGRAPHIES),
            ages=len(garin.AGES),
        ),
        "p-d-high": Answer(times > _MUCH, p_d=chosen["p_d"], times=times),
        "p-d-0001": Answer(times > _MUCH, p_d=chosen["p_d"], times=times),
        "recommended": Answer(None, rank=rank, **chosen[["printed", "identifications"]]),
    }


def _sure_growth(grid: pd.DataFrame, before: str, after: str) -> float:
    """By how many standard deviations its logarithm grows, were the subsamples independent; in one it is more."""
    grown = np.log(grid.at[after, "p_identification"] / grid.at[before, "p_identification"])
    return float(grown / np.hypot(grid.at[before, "relative_error"], grid.at[after, "relative_error"]))


def _influence_claims() -> dict[str, object]:
    """Whether p depends on age and on place, the other held."""
    grid = scenarios().set_index(["geography", "age"])
    spans = [(grid.xs(age, level="age"), garin.GEOGRAPHIES[0], garin.GEOGRAPHIES[-1]) for age in garin.AGES]
    spans += [(grid.xs(place, level="geography"), garin.AGES[-1], garin.AGES[0]) for place in garin.GEOGRAPHIES]
    times = [rows.at[after, "p_identification"] / rows.at[before, "p_identification"] for rows, before, after in spans]
    sure = min(_sure_growth(*span) for span in spans)
    place, age = times[: len(garin.AGES)], times[len(garin.AGES) :]
    grown = {"place_least": min(place), "place_most": max(place), "age_least": min(age), "age_most": max(age)}
    return {"summary-influential": Answer(sure > _95_PER_CENT, **grown, sd=floor(sure))}


def _counted_claims() -> dict[str, object]:
    """What the study counts itself, in words."""
    words = {3: "tres"}
    places, ages = (words[taula().index.unique(level).size] for level in ("geography", "age"))
    return {
        "levels-heading": f"{ages} estrats",
        "levels-place": f"{places} nivells DG",
        "levels-age": f"{ages} nivells de DC",
        "levels-4-5": f"{ages} nivells DC",
    }


def _lists() -> dict[str, object]:
    """Sections 4.4 and 5: codes and categories that are listed, numbers of questions, places of digits."""
    dictionary = garin.data_dictionary().set_index("variable")
    categories, codes = dictionary["categories"].astype(float), dictionary["codes"]
    infra = dictionary.index.str.startswith("INFRA")
    # INFRA: the digits that each item takes follow from its codes, and from them its place in the string.
    digits = codes[infra].map({"absolute": 2}).fillna(1).astype(int)
    positions = zip(digits.index, digits.cumsum() - digits + 1, digits.cumsum(), strict=True)
    questions = {name: float(name.split("_")[1]) for name in dictionary.index if name.startswith("PREG_")}
    return {
        **{f"{_name(variable)}/categories": n for variable, n in categories[~infra].dropna().items()},
        "preg-7/categories": _banded(garin.age_codes().set_index("age").loc["5 years"]),
        "residence/level-2": Answer(float(len(_PROVINCES)), provinces=", ".join(_PROVINCES)),
        "residence/level-3": categories["REG_R"],
        "birthplace/regions": categories["REG_R"],
        **{f"age/level-{i}-width": float(age.split()[0]) for i, age in enumerate(taula().index.unique("age"), start=1)},
        **{f"{name}/categories": categories[variable] for name, variable in _NAMES.items()},
        **{f"{name}/codes": codes[variable].replace(" ", "") for name, variable in _NAMES.items()},
        # Variables have their names from the numbers of the census's questions.
        **{f"{_name(variable)}/question": number for variable, number in questions.items()},
        **{f"{name}/question": questions[variable] for name, variable in _NAMES.items() if variable in questions},
        **{f"{_name(item)}/position": Answer(f"{at}-{last}", items=len(digits)) for item, at, last in positions},
    }


def _name(variable: str) -> str:
    return variable.lower().replace("_", "-").replace(": ", "-").replace(" ", "-")
