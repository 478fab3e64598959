"""The claims of the study's text."""

from __future__ import annotations

import numpy as np

from kanon_lab.digits import percent
from kanon_lab.published import aepd
from kanon_lab.published.claims import Claim
from kanon_lab.published.garin.table import (
    AGES,
    DECIMALS,
    GEOGRAPHIES,
    fraction_range,
    fractions,
    most_explained,
    number,
    scenarios,
    steps,
)
from kanon_lab.published.garin.variables import age_codes, data_dictionary

_95_PER_CENT = 1.96
_WORDS = {3: "three", 4: "quatre"}
#: The components that section 2.4 describes and section 2.5 multiplies.
_COMPONENTS = "abcd"
#: The p(d) of another study, as section 4.5.1 quotes it.
_ELSEWHERE = 0.001
_RECOMMENDED = ("14 regions", "5 years")
_ABSENT = "the picture is not in the text"
_NO_SAMPLE = "the sample is not given"


def text_claims() -> dict[str, Claim]:
    """The claims of the text by the last part of their figure_id."""
    return {**_concept_claims(), **_size_claims(), **_place_claims(), **_age_claims(), **_result_claims()}


def _concept_claims() -> dict[str, Claim]:
    """Claims of sections 1 to 3, which have no figure of the sample."""
    found = aepd.homogeneity()[["homogeneous", "alone", "classes"]].sum()
    alike, several = found["homogeneous"] - found["alone"], found["classes"] - found["alone"]
    without_d = 1 / scenarios()["p_d"]
    return {
        "sample-only": Claim(
            "és possible",
            "section 1.1 has disclosure where a value is told more precisely than before, and says that it needs "
            "identification, which section 2.4 says needs a population unique. But a class of several records with one "
            f"value tells it too: so {alike} of the {several} classes of two or more in the tables "
            "of the AEPD. The study's English summary has disclosure by different methods, of which matching is one",
        ),
        "alteration": Claim(reason=f"{_NO_SAMPLE}; the English summary says so too", verdict="not-in-text"),
        "fourth-letter": Claim(
            f"{_COMPONENTS[3]})", "section 2.5 calls the four 2.4.a) to 2.4.d), and the fourth probability p(d)"
        ),
        "components": Claim(_WORDS[len(_COMPONENTS)], ""),
        "overestimates": Claim(
            reason="no figure of the study can tell: the estimators lay a line through the shares of uniques in sample "
            "and subsample, on log-log axes, and extend it to the population. They overestimate where the true curve "
            "bends down beyond the sample. Nor is p(d) = u/u2 the worst case, as p(a) = 1 is: with p(d) = 1 the risks "
            f"of Taula 1 are {without_d.min():.1f} to {without_d.max():.1f} times as large",
            verdict="not-in-text",
        ),
        "independent": Claim(
            reason="an assumption. The two estimators share u/u2, so that p has its square; and if (c) holds, the "
            "target is unique in the population, a record that matches it is the target's: what is uncertain in (d) is "
            "only what the outsider can know",
            verdict="not-in-text",
        ),
        "p-a-worst": Claim("màxim risc", "the risk is in proportion to p(a), which is at most 1"),
        "p-a": Claim(
            reason="the work that is cited is not in the text; with this value every risk is a fifth of the printed",
            verdict="not-in-text",
        ),
        "p-a-source": Claim("no hi és", "the list of references has no work of 1986 by Marsh, but two of 1991"),
        "similar": Claim(
            reason="neither method's results are given; the second is not applied to the sample", verdict="not-in-text"
        ),
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
    near = abs(theoretical**2 * persons / wanted - 1) < 0.05
    return {
        "ceiling": Claim(
            "mai superiors al 5%" if resulting <= number("ceiling") / 100 else "superior al 5%",
            f"the study's own is {percent(resulting)}, and {percent(theoretical)} in theory",
        ),
        "n2": Claim(
            "aproximadament igual a 10.000" if near else f"{theoretical**2 * persons:.0f}",
            f"f f N = {theoretical**2 * persons:.0f} with the printed f. The text calls f determined by N and n2: for "
            f"{wanted:.0f} records it is {np.sqrt(wanted / persons):.6f}, in four decimals not {theoretical}",
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
        "n1-4-1": Claim(n1, "copied: section 5 has it too"),
        "n1-5": Claim(n1),
        "population": Claim(persons),
        "about-4": Claim(100 * resulting, ""),
        "inclusion": Claim(theoretical, "copied: section 4.1 has it too"),
        "resulting": Claim(resulting, "n1 / N"),
        "error": Claim(
            error,
            "1.96 times the root of 0.25 / n1. So small an error needs "
            f"{(_95_PER_CENT / 2 / (number('error') / 100)) ** 2 / 1e6:.0f} million records",
        ),
        "kind": Claim(
            "aleatòria simple",
            "if simple means without strata or clusters. The size of a simple random sample is fixed beforehand, that "
            "of a Bernoulli sample, as the same sentence calls it, is not",
        ),
        "representative": Claim(reason=_NO_SAMPLE, verdict="not-in-text"),
        **_fraction_claims(printed),
    }


def _fraction_claims(printed: float) -> dict[str, Claim]:
    """Claims about the fraction behind Taula 1."""
    low, high = fraction_range()
    low_4, high_4 = fraction_range(decimals=DECIMALS)
    n1, explained = number("n1-5"), fractions().set_index("name").iloc[0]
    theoretical = number("fraction-4-1")
    return {
        "p-b": Claim(
            printed,
            f"with {theoretical} equation (3) gives {explained['rounded']:.0f} of the nine p of Taula 1 rounded and "
            f"{explained['cut']:.0f} with its digits cut. A fraction from {low:.8f} to {high:.8f} gives all nine, cut; "
            f"none gives more than {most_explained(last_digit='rounded')} rounded",
        ),
        "fraction-4-5": Claim(
            float(np.clip(printed, low_4, high_4)),
            f"as the fraction of Taula 1: with u/u2 in {DECIMALS} decimals it gives all nine p, cut, as those from "
            f"{low_4:.7f} to {high_4:.7f} do. With all decimals it gives {fractions()['cut'].iloc[3]}. The "
            f"sample's own is {n1 / number('population'):.6f}",
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
        "comarca": Claim(reason="the populations of comarques are not given", verdict="not-in-text"),
        "threshold": Claim(
            reason="given without a formula: the study cites Greenberg and Voshell for it. An area of that size has "
            f"{threshold * fraction:.0f} records in the sample",
            verdict="not-in-text",
        ),
        "above-threshold": Claim(
            "per sobre del llindar" if smallest > threshold else "per sota del llindar",
            f"the smallest has {smallest / threshold:.1f} times as many, and about {smallest * fraction:.0f} records",
        ),
        "smallest-4-3": Claim(smallest),
        "smallest-4-4": Claim(smallest, "copied: section 4.3 has it too"),
        "most-detailed": Claim(
            "Localització de residència",
            f"no other is finer within Catalonia. The region of work has {dictionary['REG_T']} categories and that of "
            f"residence {dictionary['REG_R']}: the same, and one for those who work elsewhere. The summary says "
            "that all other places have their categories grouped; only those of the birthplace are",
        ),
        "summary-levels": Claim(_WORDS[len(GEOGRAPHIES)], ""),
    }


def _age_claims() -> dict[str, Claim]:
    """Claims about the categories of age, in section 4.4."""
    codes = age_codes().set_index("age")
    five, ten = codes.loc["5 years"], codes.loc["10 years"]
    return {
        "age-5": Claim(
            float(five["named"]),
            f"if persons of {five['nameless']}, the youngest in 1995, are with those of 5-9. By their own band, "
            f"{five['needed']}",
        ),
        "age-5-top": Claim(
            float(five["named"] * five["width"]),
            "a code is the age divided by 5. The first age of the top code of the ten-year bands is another: the two "
            "bandings do not nest",
        ),
        "age-10": Claim(
            float(ten["needed"]),
            f"as code 8 is 80 and over, code 1 is 10-19: persons of {ten['nameless']} have none. With them in code 1 "
            "that is no band of ten years",
        ),
        "age-10-top": Claim(float(ten["named"] * ten["width"]), "a code is the age divided by 10"),
        "summary-ages": Claim(
            f"{_WORDS[len(AGES)]} different strata",
            "levels of detail, in the words of section 4.4; each has its strata",
        ),
    }


def _result_claims() -> dict[str, Claim]:
    """Claims of section 4.5.1 about the results, and of section 2.5.2, which foretells one."""
    found, grown = scenarios(), steps()
    by_age = found.pivot(index="geography", columns="age", values="p_identification")
    chosen = found.set_index(["geography", "age"]).loc[_RECOMMENDED]
    times = chosen["p_d"] / _ELSEWHERE
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
            "significatiu" if grown.loc[0, ["first", "second"]].min() > 2 else "no significatiu",
            f"it is multiplied by {grown.loc[0, 'first']:.2f}, then by {grown.loc[0, 'second']:.2f}",
        ),
        "second-step": Claim(
            "menys significatiu" if less else "més significatiu",
            f"for the three levels of age p is multiplied by {second} at this step, and by {first} at the first. More "
            "is added too, and p grows more for each doubling of the number of areas; for each area added, it grows by "
            "nearly the same",
        ),
        "ranges": Claim(reason="the other studies' values are not given", verdict="not-in-text"),
        "p-d-high": Claim("molt alts" if times > 10 else "semblants", f"{much_higher} as section 4.5.1 has elsewhere"),
        "p-d-0001": Claim("molt més elevat" if times > 10 else "semblant", much_higher),
        "recommended": Claim(
            reason=f"a judgement. Its risk is number {rank} of nine, {chosen['printed']}: by the study's formula an "
            f"outsider who sought everybody in Catalonia would identify about {chosen['identifications']:.0f} persons",
            verdict="not-in-text",
        ),
    }
