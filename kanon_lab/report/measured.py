"""What a report says of measures: their titles, values and limits, and what to do where a limit is not met."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from kanon_lab.columns import named_rows
from kanon_lab.measures.registry import LIMITS, MEASURES, Measure, limit_of, measures
from kanon_lab.report.words import Few, Words
from kanon_lab.roles import usual_claim
from kanon_lab.terms import agreed

if TYPE_CHECKING:
    from kanon_lab.recipes.chain import Protection
    from kanon_lab.recipes.verdict import Judged
    from kanon_lab.report.analysis import Analysis

# How a sentence begins that is one of several things to do.
_OR = re.compile("^Or? (.)")


def limit_title(row: Any, w: Words) -> str:
    """What a row of a verdict is about."""
    if limit_of(row.name).title is None:
        return w.plain(LIMITS[row.name])
    return LIMITS[row.name].limit_called(w.language, variable=w.note(row.variable), level=w.percent(row.level))


def limit_value(row: Any, value: float | None, beside: float | None, w: Words) -> str:
    """What a limit asks for beside what was measured, or the other way: shares in per cent, all else as numbers."""
    return w.percent(value, beside) if LIMITS[row.name].share else w.significant(value, beside)


def limit_wanted(row: Any, beside: float | None, w: Words) -> str:
    """What a limit asks for, beside what was found."""
    bound = row.bound.replace(" ", "_") + ("_none" if row.bound == "at most" and not row.limit else "")
    return w.say(bound, value=limit_value(row, row.limit, beside, w))


@dataclass(frozen=True)
class Release:
    """What advice on a limit says of a release beside the limit itself."""

    k: int
    records: Any
    persons: Any  # That somebody who looks for all would re-identify
    household: str | None
    person: str | None
    rarest: str  # The key that makes most records rare, of those that can be made coarser
    narrow: tuple[str, ...]  # The variables that cannot
    internal: bool  # Whether the office reads it
    counted: bool  # Whether there are an engine's counts only
    claim: str  # That a suppression must reach

    @classmethod
    def of(cls, a: Analysis) -> Release:
        """What a report says."""
        after, counted = a.summary["after"]["expected_reidentifications"], bool(a.left_out)
        records, roles = a.summary["persons"] or a.summary["records"], (a.summary["household"], a.summary["person"])
        judged, claim = a.judged, usual_claim(a.summary["missing"])
        return cls(a.summary["k"], records, after, *roles, judged.rarest, judged.narrow, a.internal, counted, claim)

    @classmethod
    def of_protection(cls, protection: Protection, judged: Judged) -> Release:
        """What a command says to the office."""
        persons = protection.state.measured.row()["expected_reidentifications"]
        spec, counted = protection.spec, protection.state.counts is not None
        units = protection.n if protection.person is None else int(protection.person.max()) + 1
        roles, claim = (spec.household, spec.person), usual_claim(spec.missing)
        return cls(judged.k, units, persons, *roles, judged.rarest, judged.narrow, True, counted, claim)


def advice_on(release: Release, row: Any, w: Words, *, remedy: bool = False) -> str:
    """What to do about a limit that is not met, naming the key that makes most records rare.

    A `remedy` leaves out its first sentence, which says what was measured. A sentence that would make something coarser
    is left out where that has two values.
    """
    limit = limit_of(row.name)
    if LIMITS[row.name].needs == "population" and pd.isna(row.found):
        key = "do_population" if len(row.columns) else "do_no_population"
        return w.say(key, name=limit_title(row, w), columns=w.listed(row.columns))
    if limit.unset and pd.isna(row.found) and not release.counted:
        return w.message(LIMITS[row.name].unset(w.language).format(name=limit_title(row, w)))
    if release.counted and pd.isna(row.found):
        return w.say("do_uncounted", name=limit_title(row, w), limit=row.name)
    parts = {
        "value": limit_value(row, row.found, row.limit, w),
        "limit": limit_value(row, row.limit, row.found, w),
        "key": release.rarest,
        "variable": w.note(row.variable),
        "broader": "" if row.variable in release.narrow else w.note(row.variable),
        "wide": w.listed(name for name in row.columns if name not in release.narrow),
        "level": w.percent(row.level),
        "k": w.number(release.k),
        "claim": release.claim,
        "columns": (
            w.listed(row.columns) or w.say("the_order") if release.internal or limit.named else w.say("internal_names")
        ),
        "household": release.household,
        "person": release.person,
        "records": "" if pd.isna(row.records) else w.number(row.records),
        "all": w.number(release.records),
        "persons": w.significant(release.persons),
    }
    if limit.inside and not release.internal:
        return w.say("do_internal", name=limit_title(row, w), value=parts["value"])
    measured, *remedies = LIMITS[row.name].advice(w.language).removesuffix(".").split(". ")
    empty = [f"{{{name}}}" for name in ("key", "broader", "wide") if not parts[name]]
    kept = [sentence for sentence in remedies if not any(name in sentence for name in empty)]
    first, *more = kept or [w.say("do_nothing_broader").removesuffix(".")]
    first = _OR.sub(lambda match: match[1].upper(), first)
    text = ". ".join([first, *more] if remedy else [measured, first, *more])
    return w.message(agreed(f"{text}.".format(**parts), w.language))


def advised(judged: Judged, release: Release) -> dict[str, Any]:
    """A verdict as JSON has it; each limit with ``advice``: what to do if it is not met, in English."""
    whole, w = judged.to_dict(), Words("en")
    rows = zip(whole["limits"], judged.verdict.itertuples(index=False), strict=True)
    limits = [{**shown, "advice": None if row.met else advice_on(release, row, w, remedy=True)} for shown, row in rows]
    return {**whole, "limits": limits}


def office_verdict(a: Analysis) -> dict[str, Any]:
    """The verdict of a report as JSON has it, with advice for the office."""
    return advised(a.judged, replace(Release.of(a), internal=True))


def main_measures(a: Analysis, w: Words) -> pd.DataFrame:
    """The main measures before and after, as text: their units differ."""
    summary, k, policy = a.summary, a.summary["k"], a.summary["policy"]
    rows = []
    for row in measures(shown="summary"):
        rows += _lines(row, summary["risks"], w)
        if row.name == "k_achieved":
            rows.append((_below(a, w), f"violations_{k}_{policy}", w.number))
            rows.append((w.say("m_unique"), f"violations_2_{policy}", w.number))
    return _before_and_after(a, rows)


def _below(a: Analysis, w: Words) -> str:
    """What is counted as records below k: what a missing key value matches is said, since it decides."""
    return w.say("m_below_wildcard" if a.summary["policy"] == "wildcard" else "m_below", k=a.summary["k"])


def leading_measures(a: Analysis, w: Words) -> list[tuple[str, str, str]]:
    """Title of three measures, before and after: records that stand out, persons who would be found, dearest loss."""
    k, claim = a.summary["k"], a.summary["claim"]
    key = "first_true_key" if claim == "true_key" else "first_below"
    lines = [(w.say(key, k=k), f"violations_{k}_{a.summary['policy']}", w.number)]
    for name in ("expected_reidentifications", "k_achieved"):
        lines.append((w.plain(MEASURES[name]), *_lines(MEASURES[name], (), w)[0][1:]))
    rows = [*_before_and_after(a, lines).itertuples(index=False, name=None)]
    if rows and claim == "true_key":  # as the limit on k counts
        below = a.claims.set_index("claim")["records"][claim]
        rows[0] = (*rows[0][:2], w.number(below))
    return [*rows[:2], *_dearest(a, w), *rows[2:]][:3]


def _dearest(a: Analysis, w: Words) -> list[tuple[str, str, str]]:
    """The indicators that users can no longer compute, or compute otherwise; without any, the largest share lost."""
    if gone := a.indicators_lost + int((~a.indicators["covered"].astype(bool)).sum()):
        title = w.say("first_indicators", all=len(a.indicators) + a.indicators_lost)
        return [(title, w.number(0), w.number(gone))]
    lost = [(row.cost(value), row) for row, value in losses(a) if row.kind == "loss" and row.share]
    shares = [(share, row.cost_called(w.language)) for share, row in lost]
    share, title = max(shares, default=(0, ""), key=lambda pair: pair[0])
    return [(title, w.percent(0), w.percent(share))] if shares else []


def tightest(a: Analysis, w: Words) -> str:
    """The limit whose found value is nearest to what is wanted, as a part of that; "" where all limits are 0."""
    rows = [row for row in named_rows(a.judged.verdict) if row.limit and not pd.isna(row.found)]
    if not rows:
        return ""
    row = min(rows, key=lambda row: abs(as_far_as(row.found) / float(row.limit) - 1))
    value, wanted = limit_value(row, row.found, row.limit, w), limit_wanted(row, row.found, w)
    return w.say("tightest", name=limit_title(row, w), value=value, wanted=wanted)


def as_far_as(value: Any) -> float:
    """A value as a number; of `Few` as many as they may be."""
    return float(value.step if isinstance(value, Few) else value)


def population_measures(a: Analysis, w: Words) -> pd.DataFrame:
    """What was counted in the population before and after, as text; without rows where there is none."""
    prefix = "k_map_below_"
    levels = [name.removeprefix(prefix) for name in a.summary["after"] if name.startswith(prefix)]
    rows = [line for row in measures(part_of="population") for line in _lines(row, levels, w)]
    return _before_and_after(a, rows)


def _lines(row: Measure, levels: Iterable[Any], w: Words) -> list[tuple[str, str, Callable[..., str]]]:
    """Title, name and form of a measure, or of each member of a family."""
    form = w.percent if row.share else w.significant if row.unit == "number" else w.number
    titles = [(str(level), str(level) if row.levels == "k" else w.percent(level)) for level in levels]
    lines = titles if row.levels else [("", None)]
    return [(w.measure(row, title), row.name.replace("#", level), form) for level, title in lines]


def _before_and_after(a: Analysis, rows: Iterable[tuple[str, str, Callable[..., str]]]) -> pd.DataFrame:
    summary = a.summary
    shown = [
        {"measure": title, **{when: form(summary[when][name]) for when in ("before", "after")}}
        for title, name, form in rows
        if summary["before"].get(name) is not None and name in summary["after"]
    ]
    return pd.DataFrame(shown)


def measures_of_steps(steps: pd.DataFrame, w: Words) -> dict[str, pd.Series]:
    """By title the measures after each step, as far as there are any."""
    rows = [row for row in measures(shown="steps") if row.name in steps and steps[row.name].notna().any()]
    return {w.measure(row): _digits(row, steps[row.name], w) for row in rows}


def losses(a: Analysis) -> list[tuple[Measure, Any]]:
    """What the release lost, as far as it is known."""
    rows = [(row, a.summary["after"].get(row.name)) for row in measures(shown="utility")]
    return [(row, value) for row, value in rows if value is not None and not pd.isna(value)]


def diversities(a: Analysis, w: Words) -> pd.DataFrame:
    """The worst class of each sensitive variable, by title."""
    rows = measures(shown="diversity")
    shown = {row.name: w.digits(a.diversity[row.name]) for row in rows if row.unit != "values"}
    heads = {row.name: w.say("worst_least" if row.least else "worst_most", title=w.measure(row)) for row in rows}
    columns = ["variable", *heads, "homogeneous"]
    return a.diversity.assign(**shown)[columns].rename(columns=heads)


def _digits(measure: Measure, values: pd.Series, w: Words) -> pd.Series:
    return values if measure.unit in ("k", "records", "values") else w.digits(values, power=2 if measure.share else 0)
