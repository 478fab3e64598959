"""The claims of the study's text."""

from __future__ import annotations

from itertools import pairwise
from math import floor

import numpy as np
import pandas as pd

from kanon_lab.digits import percent
from kanon_lab.studies import aepd
from kanon_lab.studies.claims import Claim
from kanon_lab.studies.garin.table import (
    AGES,
    DECIMALS,
    GEOGRAPHIES,
    fraction_range,
    fractions,
    most_explained,
    number,
    scenarios,
    steps,
    taula,
)
from kanon_lab.studies.garin.variables import age_codes, data_dictionary

_95_PER_CENT = 1.96
_WORDS = {3: "three"}
#: The components that section 2.4 describes and section 2.5 multiplies.
_COMPONENTS = "abcd"
#: What "much" means at least: an order of magnitude. The least ratio that it is asked of is far above.
_MUCH = 10
#: Idescat, Població a 1 de gener, 1991: Alta Ribagorça, the comarca with the fewest inhabitants.
_SMALLEST_COMARCA = 3_522
#: Idescat, Censos de població, 1991: all of Catalonia.
_CENSUS_1991 = 6_059_494.0
_RECOMMENDED = ("14 regions", "5 years")
_ABSENT = "the picture is not in the text"
_NO_SAMPLE = "the sample is not given"


def text_claims() -> dict[str, Claim]:
    """The claims of the text by the last part of their figure_id."""
    return {
        **_concept_claims(),
        **_component_claims(),
        **_size_claims(),
        **_place_claims(),
        **_age_claims(),
        **_result_claims(),
    }


def _concept_claims() -> dict[str, Claim]:
    """Claims of sections 1 to 2.4, which have no figure of the sample, and what the summary has of them."""
    found = aepd.homogeneity()[["homogeneous", "alone", "classes"]].sum()
    alike, several = found["homogeneous"] - found["alone"], found["classes"] - found["alone"]
    without_d = 1 / scenarios()["p_d"]
    return {
        "disclosure": Claim(
            reason="it hangs on one word. In section 1.1 identification is of an information as somebody's: then it is "
            "true by definition. In section 2 it is of a record as somebody's: then a class of several records with "
            f"one value is disclosure without it, as are {alike} of the {several} classes of two or more in the tables "
            "of the AEPD. The English summary has disclosure by different methods, of which matching is one",
            verdict="not-in-text",
        ),
        "identification": Claim("la identificació serà possible", "copied: section 2.4 has it so", kind="copied"),
        "municipalities": Claim(reason="an example out of a document that is not given", verdict="not-in-text"),
        "sample-only": Claim(
            "no és possible",
            "copied: section 2.2.d has it so, where success is to know that nobody else in the population matches. "
            "Said of identification, not of disclosure, and of certainty: a guess among F who match is right with 1/F",
            kind="copied",
        ),
        "alteration": Claim(reason=f"{_NO_SAMPLE}; the English summary says so too", verdict="not-in-text"),
        "summary-alteration": Claim(
            "restraining from any kind of alteration of data", "copied: section 1.3 has it so", kind="copied"
        ),
        "fourth-letter": Claim(
            f"{_COMPONENTS[3]})",
            "section 2.5 calls the four 2.4.a) to 2.4.d), and the fourth probability p(d)",
            kind="copied",
        ),
        "overestimates": Claim(
            reason="no figure of the study can tell: the estimators lay a line through the shares of uniques in sample "
            "and subsample, on log-log axes, and extend it to the population. They overestimate where the true curve "
            "bends down beyond the sample. Nor is p(d) = u/u2 the worst case, as p(a) = 1 is: with p(d) = 1 the risks "
            f"of Taula 1 are {without_d.min():.1f} to {without_d.max():.1f} times as large",
            verdict="not-in-text",
        ),
    }


def _component_claims() -> dict[str, Claim]:
    """Claims of sections 2.5 and 3, about the four components; and pictures."""
    return {
        "independent": Claim(
            reason="an assumption. The two estimators share u/u2, so that p has its square; and if (c) holds, the "
            "target is unique in the population, a record that matches it is the target's: what is uncertain in (d) is "
            "only what the outsider can know",
            verdict="not-in-text",
        ),
        "p-intent": Claim(reason="an assumption: that the attempt is made", verdict="not-in-text"),
        "p-a-worst": Claim(
            "màxim risc" if number("p-a") < 1 else "no màxim risc",
            "the risk is in proportion to p(a), which is at most 1, and smaller with the other value that is printed",
        ),
        "p-a": Claim(
            reason="the work that is cited is not in the text; with this value every risk is a fifth of the printed",
            verdict="not-in-text",
        ),
        "p-a-source": Claim(
            reason="the list of references has no work of 1986 by Marsh, but two of 1991. There may be one",
            verdict="not-in-text",
        ),
        "equation-3": Claim(
            r"1 \cdot f \cdot ((u_1/n_1) \cdot (u/u_2)) \cdot u/u_2",
            "copied: the product of p(a), p(b), p(c) and p(d) as section 3.2 estimates them",
            kind="copied",
        ),
        "similar": Claim(
            reason="neither method's results are given; the second is not applied to the sample", verdict="not-in-text"
        ),
        "precision": Claim(reason="no figure of the study can tell", verdict="not-in-text"),
        "control": Claim(
            reason=f"{_NO_SAMPLE}, nor is the threshold. It can hardly hold of all variables: floor area and year of "
            "arrival are released as numbers, and industries with three digits",
            verdict="not-in-text",
        ),
        "scheme-1": Claim(reason=_ABSENT, verdict="not-in-text"),
        "scheme-2": Claim(reason=_ABSENT, verdict="not-in-text"),
    }


def _size_claims() -> dict[str, Claim]:
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
        "ceiling": Claim(
            "mai superiors al 5%" if resulting <= number("ceiling") / 100 else "superior al 5%",
            f"the study's own is {percent(resulting)}, and {percent(theoretical)} in theory",
        ),
        "n2": Claim(
            "aproximadament igual a 10.000" if abs(planned - wanted) < spread else f"{planned:.0f}",
            f"f f N = {planned:.0f} with the printed f, give or take {spread:.0f} (the standard deviation of the "
            f"size). The text calls f determined by N and n2: for {wanted:.0f} "
            f"records it is {np.sqrt(wanted / persons):.6f}, in four decimals not {theoretical}",
        ),
        "acceptable": Claim(
            reason="the hypotheses are not given. The standard deviation of p over subsamples is "
            f"{percent(relative.min())} to {percent(relative.max())} of it, so that a third digit means little",
            verdict="not-in-text",
        ),
        "fraction-4-1": Claim(
            resulting,
            f"the size of such a sample is random: {n1:.0f} records are {-z:.1f} standard deviations fewer than the "
            f"{expected:.0f} expected",
            "within-noise" if abs(z) < _95_PER_CENT else "published-error",
        ),
        "n1-4-1": Claim(n1, "copied: section 5 has it too", kind="copied"),
        "n1-5": Claim(n1, "input: compared with itself", kind="input"),
        "population": Claim(_CENSUS_1991, "looked up: Idescat, Censos de població, total of Catalonia in 1991"),
        "census-date": Claim("1 de març de 1991", "looked up: INE, Censos de Población y Viviendas 1991, 1-3-1991"),
        "about-4": Claim(100 * resulting, ""),
        "inclusion": Claim(theoretical, "copied: section 4.1 has it too", kind="copied"),
        "resulting": Claim(resulting, "n1 / N"),
        "error": Claim(
            error,
            "1.96 times the root of 0.25 / n1. So small an error needs "
            f"{(_95_PER_CENT / 2 / (number('error') / 100)) ** 2 / 1e6:.0f} million records",
        ),
        "kind": Claim(
            "aleatòria simple",
            "copied: section 4.1 draws with one probability, by Bernoulli. Given its size, which is printed, every set "
            "of so many persons is then equally likely: the definition of a simple random sample. Its size was not "
            "fixed beforehand, which the same sentence and section 4.1 say",
            kind="copied",
        ),
        "eliminate": Claim(
            reason="an aim. What is left of the risk is printed in Taula 1: "
            f"{scenarios().set_index(['geography', 'age']).loc[_RECOMMENDED, 'printed']} in the combination chosen",
            verdict="not-in-text",
        ),
        "representative": Claim(reason=_NO_SAMPLE, verdict="not-in-text"),
        **_fraction_claims(printed),
    }


def _fraction_claims(printed: float) -> dict[str, Claim]:
    """Claims about the fraction behind Taula 1."""
    low, high = fraction_range()
    low_4, high_4 = fraction_range(decimals=DECIMALS)
    n1, explained = number("n1-5"), fractions().iloc[0]
    return {
        "p-b": Claim(
            number("inclusion"),
            "copied: section 5 has it as the theoretical probability of inclusion. Nowhere is it said to be the f of "
            f"Taula 1: with it equation (3) gives {explained['rounded']:.0f} of the nine p rounded and "
            f"{explained['cut']:.0f} with its digits cut. A fraction from {low:.8f} to {high:.8f} gives all nine, cut; "
            f"none gives more than {most_explained(last_digit='rounded')} rounded",
            kind="copied",
        ),
        "fraction-4-5": Claim(
            (low_4 + high_4) / 2,
            f"as the fraction of Taula 1: with u/u2 in {DECIMALS} decimals those from {low_4:.7f} to {high_4:.7f} give "
            f"all nine p, cut, of which ours is the middle. With all decimals the printed one gives "
            f"{fractions()['cut'].iloc[3]}. The sample's own is {n1 / number('population'):.6f}",
            "approximate" if low_4 <= printed < high_4 else "published-error",
            kind="fitted",
            tolerance=(high_4 - low_4) / 2,
        ),
        "subsample-size": Claim(
            reason=f"not printed. If f is n2 / n1, the nine p give it away: {low_4 * n1:.1f} to {high_4 * n1:.1f} with "
            f"u/u2 in {DECIMALS} decimals. With all decimals it is {low * n1:.3f} to {high * n1:.3f}, and no "
            "whole number is: then f is no such ratio",
            verdict="not-in-text",
        ),
    }


def _place_claims() -> dict[str, Claim]:
    """Claims about geography, in sections 4.3 to 5."""
    smallest, threshold, fraction = (number(name) for name in ("smallest-4-3", "threshold", "resulting"))
    dictionary = data_dictionary().set_index("variable")["categories"]
    return {
        "comarca": Claim(
            "4.000" if number("comarca") >= _SMALLEST_COMARCA else f"{_SMALLEST_COMARCA}",
            "a bound, and it holds: looked up, Idescat, Població a 1 de gener: Alta Ribagorça had "
            f"{_SMALLEST_COMARCA:,} inhabitants in 1991",
        ),
        "threshold": Claim(
            reason="given without a formula: the study cites Greenberg and Voshell for it. An area of that size has "
            f"{threshold * fraction:.0f} records in the sample",
            verdict="not-in-text",
        ),
        "above-threshold": Claim(
            "per sobre del llinar" if smallest > threshold else "per sota del llinar",
            f"the smallest has {smallest / threshold:.1f} times as many, and about {smallest * fraction:.0f} records",
        ),
        "smallest-4-3": Claim(
            smallest,
            "input: compared with itself. It is the sum of two comarques in the census of 1991, whose populations the "
            "study does not give. It could be looked up; of the two we found one alone, and rounded",
            kind="input",
        ),
        "comarca-level": Claim(
            "impossible" if threshold > _SMALLEST_COMARCA else "possible",
            f"by the study's own threshold of {threshold:,.0f}: looked up, Idescat: Alta Ribagorça had "
            f"{_SMALLEST_COMARCA:,} inhabitants in 1991",
        ),
        "region-11": Claim("l'Alt Penedès i Garraf", "copied: section 4.4 has the same two", kind="copied"),
        "smallest-4-4": Claim(smallest, "copied: section 4.3 has it too", kind="copied"),
        "most-detailed": Claim(
            "Localització de residència" if dictionary["REG_R"] > dictionary["REG_N"] else "Lloc de naixement",
            "of the two variables that section 4.2 calls those of place, "
            f"{dictionary['REG_R']} categories against {dictionary['REG_N']}. Outside of the key the region of work "
            f"has {dictionary['REG_T']}: the same, and one for those who work elsewhere",
        ),
        "summary-grouped": Claim(
            reason="a guideline, and not said of the released file. There the region of work has as many regions as "
            "that of residence",
            verdict="not-in-text",
        ),
        "summary-levels": Claim(
            _WORDS[taula().index.unique("geography").size], "copied: the rows of Taula 1, counted", kind="copied"
        ),
    }


def _age_claims() -> dict[str, Claim]:
    """Claims about the categories of age, in section 4.4."""
    codes = age_codes().set_index("age")
    five, ten = codes.loc["5 years"], codes.loc["10 years"]
    return {
        "age-5": Claim(
            float(five["needed_from_5"]),
            "where a code is the age divided by 5, the ages from 5 on need so many; as code 13 is 65 and over, code 1 "
            f"is 5-9. That of {five['nameless']}, which those born in the two months before the census have reached in "
            f"1995, would need one more ({five['needed']} in all). A first band up to 9 is a fair reading, and open "
            "ends are usual; the study says it of the top band alone",
        ),
        "age-5-top": Claim(
            float(five["named"] * five["width"]),
            "if a code is the age divided by 5, the rule that both tops were read for. The first age of the top code "
            "of the ten-year bands is another: the two bandings do not nest",
            kind="fitted",
        ),
        "age-10": Claim(
            float(ten["needed_from_5"]),
            f"as code 8 is 80 and over, code 1 is 10-19: persons of {ten['nameless']}, five years of births and more, "
            "have none. With them in code 1 that is no band of ten years, and only the top band is said to be another",
        ),
        "age-10-top": Claim(
            float(ten["named"] * ten["width"]),
            "if a code is the age divided by 10, the rule that both tops were read for",
            kind="fitted",
        ),
        "summary-table": Claim(
            "complete table" if len(taula()) == len(GEOGRAPHIES) * len(AGES) else "incomplete table",
            "copied: the cells of Taula 1, counted: every level of place with every level of age",
            kind="copied",
        ),
        "summary-ages": Claim(
            f"{_WORDS[taula().index.unique('age').size]} different strata",
            "copied: the columns of Taula 1, counted: levels of detail, as section 4.4 calls them; each has its strata",
            kind="copied",
        ),
    }


def _result_claims() -> dict[str, Claim]:
    """Claims of section 4.5.1 about the results, and of section 2.5.2, which foretells one."""
    found, grown = scenarios(), steps()
    per_area = [100 * grown[f"{name}_growth_per_area"] for name in ("first", "second")]
    least = found["p_identification"].min()
    by_age = found.pivot(index="geography", columns="age", values="p_identification")
    by_scenario = found.set_index(["geography", "age"])
    chosen, elsewhere = by_scenario.loc[_RECOMMENDED], number("p-d-elsewhere")
    times = chosen["p_d"] / elsewhere
    first_age = [_sure_growth(by_scenario.xs(AGES[0], level="age"), *pair) for pair in pairwise(GEOGRAPHIES)]
    much_higher = f"{chosen['p_d']:.3f} in Taula 1, {times:.0f} times as much"
    rank = int((found["p_identification"] > chosen["p_identification"]).sum()) + 1
    less = (grown["second"] < grown["first"]).any() or (grown["second_points"] < grown["first_points"]).any()
    first, second = (", ".join(f"{value:.2f}" for value in grown[name]) for name in ("first", "second"))
    return {
        "highest": Claim(
            "DC(1)" if (by_age.idxmax(axis=1) == AGES[0]).all() else "no DC(1)",
            "in each of the three geographies; the recommended combination has a higher risk than single years of age "
            "in Catalonia as a whole",
        ),
        "first-step": Claim(
            "significatiu" if min(first_age) > _95_PER_CENT else "no significatiu",
            f"it is multiplied by {grown.loc[0, 'first']:.2f}, then by {grown.loc[0, 'second']:.2f}: by "
            f"{first_age[0]:.0f} and {first_age[1]:.0f} times the standard deviation over subsamples",
        ),
        "second-step": Claim(
            "menys significatiu" if less else "més significatiu",
            f"for the three levels of age p is multiplied by {second} at this step, and by {first} at the first. More "
            "is added too, and p grows more for each doubling of the number of areas; what is added for each new area "
            "is nearly the same. Growth in per cent of what p was, divided by the areas that a step adds, does fall, "
            f"from {per_area[0].min():.0f}-{per_area[0].max():.0f} % to {per_area[1].min():.0f}-"
            f"{per_area[1].max():.0f} %; but no area is named in the sentence, and by that measure the second step "
            "would be the lesser were p to grow with the square of the number of areas: it cannot tell",
        ),
        "not-cancelled": Claim(
            "no cancel·la" if least > 0 else "cancel·la",
            f"the sample is anonymous, and the least of the nine p is {percent(least)}",
        ),
        "interplay": Claim(
            reason="a judgement, and true in part. Of place and age Taula 1 has "
            f"{len(GEOGRAPHIES)} and {len(AGES)} levels. The third that the sentence before it names, the fraction FM, "
            "is the same in all nine, and in equation (3) a factor by assumption: of it nothing is tested",
            verdict="not-in-text",
        ),
        "ranges": Claim(reason="the other studies' values are not given", verdict="not-in-text"),
        "p-d-high": Claim(
            "molt alts" if times > _MUCH else "semblants", f"{much_higher} as section 4.5.1 has elsewhere"
        ),
        "p-d-0001": Claim("molt més elevat" if times > _MUCH else "semblant", much_higher),
        "p-d-elsewhere": Claim(reason="the other study's values are not given", verdict="not-in-text"),
        "summary-influential": _influential(by_scenario),
        "recommended": Claim(
            reason=f"a judgement. Its risk is number {rank} of nine, {chosen['printed']}: by the study's formula an "
            f"outsider who sought everybody in Catalonia would identify about {chosen['identifications']:.0f} persons",
            verdict="not-in-text",
        ),
    }


def _sure_growth(found: pd.DataFrame, before: str, after: str) -> float:
    """By how many standard deviations its logarithm grows, were the subsamples independent; in one it is more."""
    grown = np.log(found.at[after, "p_identification"] / found.at[before, "p_identification"])
    return float(grown / np.hypot(found.at[before, "relative_error"], found.at[after, "relative_error"]))


def _influential(found: pd.DataFrame) -> Claim:
    """Whether p depends on age and on place, the other held."""
    spans = [(found.xs(age, level="age"), GEOGRAPHIES[0], GEOGRAPHIES[-1]) for age in AGES]
    spans += [(found.xs(place, level="geography"), AGES[-1], AGES[0]) for place in GEOGRAPHIES]
    times = [rows.at[after, "p_identification"] / rows.at[before, "p_identification"] for rows, before, after in spans]
    sure = min(_sure_growth(*span) for span in spans)
    return Claim(
        "very influential" if sure > _95_PER_CENT else "not influential",
        f"from its coarsest to its finest level place multiplies p by {min(times[:3]):.1f} to {max(times[:3]):.1f}, "
        f"age by {min(times[3:]):.1f} to {max(times[3:]):.1f}: by at least {floor(sure)} standard deviations",
    )
