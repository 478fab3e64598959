"""The figures of a report: charts of `kanon_lab.show` with titles, alternative texts and words in its language."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kanon_lab.report.words import Few, Words
from kanon_lab.show.page import Figure, figure

if TYPE_CHECKING:
    import pandas as pd

    from kanon_lab.report.analysis import Analysis

# Characters of a line of a title, and of the words below it.
_WIDTHS = {"text": 40, "subtitle": 52}


def sizes(analysis: Analysis, words: Words) -> Figure:
    """Records by the size of their class, before and in the release."""
    from kanon_lab.classes.sizes import by_meaning
    from kanon_lab.show import class_sizes

    said, k = analysis.summary, analysis.summary["k"]
    means = "category" if said["missing"] == "category" else "wildcard"
    frame = by_meaning(_versions(analysis.sizes, words), own=words.say("own_class"), compatible=words.say("compatible"))
    counts = {when: said[when][f"violations_{k}_{means}"] for when in ("before", "after")}
    below = {
        when: words.number(count) if isinstance(count, Few) else words.percent(round(count / said["records"], 2))
        for when, count in counts.items()
    }
    return _figure(class_sizes(frame), "sizes", words, k=k, **below)


def risks(analysis: Analysis, words: Words) -> Figure:
    """Records of the release by individual risk."""
    from kanon_lab.show import risk_distribution

    frame = analysis.risks[analysis.risks["version"] == "after"].drop(columns="version")
    few = next((each.step for each in frame["records"] if isinstance(each, Few)), None)
    drawn = "" if few is None else words.say("few_drawn", step=few)
    frame = _numbers(frame, few or 0, analysis.summary["records"])  # the last bar, of the riskiest, must not be missing
    top = frame.loc[frame["records"].idxmax()]
    said = {"low": words.percent(top["low"]), "high": words.percent(top["high"]), "records": int(top["records"])}
    said["few"] = drawn
    return _figure(risk_distribution(frame), "risks", words, **said)


def suda(analysis: Analysis, words: Words, version: str) -> Figure:
    """What makes records unique."""
    from kanon_lab.show import contributions

    frame = analysis.suda[analysis.suda["version"] == version]
    frame = frame.assign(contribution=frame["contribution"].astype(float))
    said = words.listed(f"{row.variable} {words.percent(row.contribution)}" for row in frame.itertuples())
    return _figure(contributions(frame), "suda", words, version=words.say(f"version_{version}"), said=said)


def recipes(analysis: Analysis, words: Words, *, front: int) -> Figure:
    """The risk-utility map."""
    from kanon_lab.show import risk_utility

    risk, loss = analysis.map_axes
    chart = risk_utility(analysis.map, risk=risk, loss=loss)
    return _figure(chart, "map", words, count=len(analysis.map.points), front=front, risk=risk, loss=loss)


def _versions(frame: pd.DataFrame, words: Words) -> pd.DataFrame:
    return _numbers(frame).assign(version=[words.say(f"version_{each}") for each in frame["version"]])


def _numbers(frame: pd.DataFrame, few: int = 0, records: int = 1) -> pd.DataFrame:
    """The same with `few` of all `records` drawn for counts that are told as fewer than a step."""
    found = frame.copy()
    for name, share in (("records", "share"), ("compatible", "compatible_share")):
        if name in frame:
            shares = frame[share].astype(float)
            found[name], found[share] = frame[name].where(shares.notna(), few).astype(int), shares.fillna(few / records)
    return found


def _figure(chart: Any, key: str, words: Words, **parts: Any) -> Figure:
    """The chart with the title and alternative text of that key; its data stand in a table beside it."""
    drawn = figure(chart, alt=words.say(f"{key}_alt", **parts))
    title = {
        place: textwrap.wrap(words.say(f"{key}_{'title' if place == 'text' else place}", **parts), width)
        for place, width in _WIDTHS.items()
    }
    return replace(drawn, spec=words.chart(drawn.spec) | {"title": title, "description": drawn.alt})
