"""What a report says of measures: their titles, values and limits, and what to do where a limit is not met."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from kanon_lab.measures.registry import LIMITS, Measure, limit_of, measures
from kanon_lab.report.words import Words
from kanon_lab.terms import agreed

if TYPE_CHECKING:
    from kanon_lab.report.analysis import Analysis


def limit_title(row: Any, w: Words) -> str:
    """What a row of a verdict is about."""
    return LIMITS[row.name].limit_called(w.language, variable=w.note(row.variable), level=w.percent(row.level))


def limit_value(row: Any, value: float | None, beside: float | None, w: Words) -> str:
    """What a limit asks for beside what was measured, or the other way: shares in per cent, all else as numbers."""
    return w.percent(value, beside) if LIMITS[row.name].share else w.significant(value, beside)


def advice_on(a: Analysis, row: Any, w: Words) -> str:
    """What to do about a limit that is not met, naming the key that most often makes a record rare."""
    summary, limit = a.summary, limit_of(row.name)
    if a.left_out and pd.isna(row.found):
        return w.say("do_uncounted", name=limit_title(row, w), limit=row.name)
    parts = {
        "value": limit_value(row, row.found, row.limit, w),
        "limit": limit_value(row, row.limit, row.found, w),
        "key": _rarest(a),
        "variable": w.note(row.variable),
        "level": w.percent(row.level),
        "k": w.number(summary["k"]),
        "columns": w.listed(row.columns) if a.internal or limit.named else w.say("internal_names"),
        "household": summary["household"],
        "records": "" if pd.isna(row.records) else w.number(row.records),
        "all": w.number(summary["records"]),
        "persons": w.significant(summary["after"]["expected_reidentifications"]),
    }
    if limit.inside and not a.internal:
        return w.say("do_internal", name=limit_title(row, w), value=parts["value"])
    return agreed(LIMITS[row.name].advice(w.language).format(**parts), w.language)


def _rarest(a: Analysis) -> str:
    """The key behind most uniqueness in the release; of several, or where none is unique, that of most categories."""
    after = a.suda[a.suda["version"] == "after"].set_index("variable")["contribution"]
    keys = a.variables[a.variables["column"].isin(a.summary["keys"]) & a.variables["distinct_after"].notna()]
    keys = keys.assign(share=keys["column"].map(after).astype(float).fillna(0).round(6))
    return keys.sort_values(["share", "distinct_after"], kind="stable")["column"].iloc[-1]


def main_measures(a: Analysis, w: Words) -> pd.DataFrame:
    """The main measures before and after, as text: their units differ."""
    summary, k, policy = a.summary, a.summary["k"], a.summary["policy"]
    rows = []
    for row in measures(shown="summary"):
        levels = [(str(risk), w.percent(risk)) for risk in summary["risks"]] if row.levels else [("", None)]
        form = w.percent if row.share else w.significant if row.unit == "number" else w.number
        rows += [(w.measure(row, title), row.name.replace("#", level), form) for level, title in levels]
        if row.kind == "anonymity":
            rows.append((w.say("m_below", k=k), f"violations_{k}_{policy}", w.number))
            rows.append((w.say("m_unique"), f"violations_2_{policy}", w.number))
    shown = [
        {"measure": title, **{when: form(summary[when][name]) for when in ("before", "after")}}
        for title, name, form in rows
        if summary["before"].get(name) is not None
    ]
    return pd.DataFrame(shown)


def measures_of_steps(a: Analysis, w: Words) -> dict[str, pd.Series]:
    """By title the measures after each step, as far as there are any."""
    rows = [row for row in measures(shown="steps") if a.steps[row.name].notna().any()]
    return {w.measure(row): _digits(row, a.steps[row.name], w) for row in rows}


def losses(a: Analysis, w: Words) -> pd.DataFrame:
    """What the release lost, by title."""
    after = a.summary["after"]
    rows = [(row, after[row.name]) for row in measures(shown="utility") if after.get(row.name) is not None]
    rows = [(row, value) for row, value in rows if value == value]
    values = [_digits(row, pd.Series([value]), w).iloc[0] for row, value in rows]
    return pd.DataFrame({"measure": [w.measure(row) for row, _ in rows], "value": values})


def diversities(a: Analysis, w: Words) -> pd.DataFrame:
    """The worst class of each sensitive variable, by title."""
    rows = measures(shown="diversity")
    shown = {row.name: w.digits(a.diversity[row.name]) for row in rows if row.unit != "values"}
    heads = {row.name: w.say("worst_least" if row.least else "worst_most", title=w.measure(row)) for row in rows}
    columns = ["variable", *heads, "homogeneous"]
    return a.diversity.assign(**shown)[columns].rename(columns=heads)


def _digits(measure: Measure, values: pd.Series, w: Words) -> pd.Series:
    return values if measure.unit in ("k", "records", "values") else w.digits(values, power=2 if measure.share else 0)
