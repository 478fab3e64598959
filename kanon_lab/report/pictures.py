"""The pictures of a report: bars and lines of what its tables hold, with the same numbers in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from kanon_lab.columns import named_rows
from kanon_lab.measures.registry import LIMITS, MEASURES, measures
from kanon_lab.report.measured import leading_measures, limit_title, limit_value, losses
from kanon_lab.report.safe import QUANTILES
from kanon_lab.report.words import Few, Words
from kanon_lab.show.parts import Bars, Group, Mark, Paragraph, Part, Picture, folded

if TYPE_CHECKING:
    from kanon_lab.report.analysis import Analysis

# Where on its bar a limit is, and how near to it a bar may end that is on the other side; the least that is seen.
_LIMIT_AT, _NEAR, _LEAST = 0.6, 0.03, 0.02
# Categories of a variable whose bars have room for words.
_MOST_BARS = 9
# Of two points of the steps nearer than this (0-1) the second has no mark of its own.
_SAME_PLACE = 0.04


def limit_bars(a: Analysis, w: Words, wanted: Callable[[Any], str], verdict: Callable[[Any], str]) -> Bars:
    """Each limit: from what was found to what was asked for; those that are not met first."""
    ordered = named_rows(a.judged.verdict.sort_values("met", kind="stable"))
    wholes = {"records": a.summary["records"], "columns": len(a.released)}
    rows, styles = [], []
    for row in ordered:
        width, limit = _beside_limit(row, wholes.get(LIMITS[row.name].unit, 0))
        value = limit_value(row, row.found, row.limit, w)
        styles.append("kanon-met" if row.met else "kanon-unmet")
        rows.append([limit_title(row, w), Mark("", width, styles[-1], limit), value, wanted(row), verdict(row)])
    heads = [w.say(f"c_{name}") for name in ("limit_name", "found_to_wanted", "found", "wanted", "verdict")]
    return Bars(w.say("verdict_caption"), heads, rows, "kanon-limits", styles)


def _beside_limit(row: Any, whole: int) -> tuple[float | None, float]:
    """How long the bar of a limit is and where the limit is on it, each on its side as the verdict says."""
    limit_at = _LIMIT_AT if row.limit else 0.0
    if pd.isna(row.found):
        return None, limit_at
    value = float(row.found.step if isinstance(row.found, Few) else row.found)
    width = limit_at * value / float(row.limit) if row.limit else value / (whole or value or 1)
    if row.bound == "at least":
        width = max(width, limit_at) if row.met else min(width, limit_at - _NEAR)
    else:
        width = min(width, limit_at) if row.met else max(width, limit_at + _NEAR)
    return min(width, 1.0), limit_at


def before_and_after(a: Analysis, w: Words) -> Picture:
    """The measures that matter most in large figures; without a step there is no other before."""
    rows, is_changed = named_rows(leading_measures(a, w)), len(a.steps) > 1
    numbers = [(row.measure, row.before if is_changed else None, row.after) for row in rows]
    heads = {when: w.say(f"c_{when}") for when in ("before", "after")}
    return Picture("numbers", w.say("main_caption"), {"numbers": numbers, **heads})


def counted(words: str, count: Any, share: float | None, records: int, most: float = 1.0, style: str = "") -> Mark:
    """A bar for a share of the records; of `Few` a pale one for as many as it may be."""
    if isinstance(count, Few):
        return Mark(words, min(1.0, count.step / records / most), f"{style} kanon-few")
    known = share if share is not None and not pd.isna(share) else None
    return Mark(words, None if known is None else min(1.0, float(known) / most), style)


def variable_cards(a: Analysis, w: Words) -> Group:
    """A card for each column of the file: those whose values may be shown first."""
    by_variable = dict([*a.categories.groupby("variable", sort=False)])
    quantiles, records = {row["variable"]: row for row in a.quantiles.to_dict("records")}, a.summary["records"]
    cards: list[Part] = []
    shown = a.variables["column"].isin({*by_variable, *quantiles})
    for row in named_rows(a.variables.assign(later=~shown).sort_values("later", kind="stable")):
        parts: list[Part] = [
            Paragraph(row.column, "kanon-name"),
            Paragraph(_about(row, not row.later, w), "kanon-note"),
        ]
        if row.column in by_variable:
            parts += _categories(a, row.column, by_variable[row.column], w)
        elif row.column in quantiles:
            parts += _spread(quantiles[row.column], w)
        elif not pd.isna(row.missing):
            mark = counted(_said(row.missing, w), row.missing, int(row.missing) / records, records, style="kanon-other")
            parts.append(Bars(row.column, ["", w.say("c_missing")], [[w.say("c_missing"), mark]], "kanon-small"))
        cards.append(Group(parts, "kanon-card"))
    return Group(cards, "kanon-grid")


def _about(row: Any, is_shown: bool, w: Words) -> str:
    """What a column is and has become, in a line; where no missing values are drawn, with their number."""
    words = [w.roles(row.role), w.say(f"fate_{row.fate}")]
    if (distinct := getattr(row, "distinct_after", None)) is not None and not pd.isna(distinct):
        words.append(w.say("card_values", values=w.number(distinct)))
    if is_shown and not pd.isna(row.missing) and (isinstance(row.missing, Few) or row.missing):
        words.append(w.say("card_missing", records=w.number(row.missing)))
    return " · ".join(words)


def _categories(a: Analysis, variable: str, rows: pd.DataFrame, w: Words) -> list[Part]:
    """The categories of a variable: bars with words, or more of them side by side with a table below."""
    named = rows["category"].map(lambda name: isinstance(name, str)).to_numpy(dtype=bool)
    shares = rows["share"].astype(float)
    most = max(shares[named].max(), 1e-9) if shares[named].notna().any() else 1.0
    records, said = a.summary["records"], [*map(w.percent, shares)]
    counts = zip(rows["records"], shares, named, strict=True)
    styles = ["" if is_named else "kanon-other" for is_named in named]
    marks = [
        counted(_said(count, w), count, share, records, most, style)
        for (count, share, _), style in zip(counts, styles, strict=True)
    ]
    frame = {"category": [*rows["category"].where(named, w.say("other_categories"))]}
    frame |= {"records": rows["records"].astype(object), "share": w.digits(rows["share"], power=2)}
    step = a.summary.get("step_of_categories", 5)
    table = w.table(pd.DataFrame(frame), "categories_of", variable=variable, step=step)
    names = [*rows["category"].where(named, w.say("other"))]
    if len(rows) <= _MOST_BARS:
        return [Bars(table.caption, [*table.frame.columns], [*zip(names, marks, said, strict=True)], "kanon-small")]
    columns = [(mark.width or 0.0, mark.style) for mark, is_named in zip(marks, named, strict=True) if is_named]
    top = int(shares[named].fillna(0).to_numpy().argmax())
    ends = [names[0], w.say("card_most", category=names[top], share=said[top])]
    ends.append(names[-1] if named[-1] else f"{names[-1]}: {said[-1]}")
    text = f"{table.caption}: {'; '.join(ends)}"
    return [Picture("columns", text, {"columns": columns, "ends": ends}), folded(table, w.say("categories_table"))]


def _spread(quantiles: dict[Any, Any], w: Words) -> list[Part]:
    """The quantiles of a quantity on a line."""
    known = {share: float(quantiles[share]) for share in QUANTILES if not pd.isna(quantiles.get(share))}
    if len(known) < 2:
        return []
    low, high = min(0.0, *known.values()), max(0.0, *known.values())
    places = {share: (value - low) / ((high - low) or 1) for share, value in known.items()}
    pairs = [(0.05, 0.95, "kanon-whisker"), (0.25, 0.75, "kanon-box"), (0.5, 0.5, "kanon-median")]
    boxes = [(places[a], places[b], style) for a, b, style in pairs if a in places and b in places]
    words = [
        f"{w.say('c_quantile', p=w.number(100 * share))}: {w.significant(value)}" for share, value in known.items()
    ]
    ends = [words[0], words[len(words) // 2], words[-1]]
    return [Picture("spread", "; ".join(words), {"boxes": boxes, "ends": ends if len(words) > 2 else words})]


def ranged_bars(a: Analysis, frame: pd.DataFrame, label: str, caption: str, head: str, w: Words) -> Bars:
    """Records by range, a column of bars for each version of the file; `label` is the column of the ranges' names."""
    series: dict[str, dict[str, Mark]] = {}
    drawn = [name for name in ("share", "compatible_share") if name in frame]
    most = float(frame[drawn].astype(float).max(axis=None, skipna=True)) or 1.0
    for version, rows in frame.groupby("version", sort=False):
        style, called = "kanon-before" if version == "before" else "", w.say(f"version_{version}")
        ways = {called: ("records", "share")}
        if "compatible" in rows and list(rows["compatible"]) != list(rows["records"]):
            ways = {f"{called}: {w.say('own_class')}": ("records", "share")}
            ways |= {f"{called}: {w.say('compatible')}": ("compatible", "compatible_share")}
        for name, (count, share) in ways.items():
            counts = zip(rows[label], rows[count], rows[share], strict=True)
            series[name] = {
                key: counted(_said(value, w, part), value, part, a.summary["records"], most, style)
                for key, value, part in counts
            }
    labels = dict.fromkeys(frame[label])
    lines = [[key, *(marks.get(key, Mark("", 0.0)) for marks in series.values())] for key in labels]
    return Bars(w.say(caption), [w.say(head), *series], lines)


def _said(count: Any, w: Words, share: Any = None) -> str:
    """A count, or its share, in the words that stand beside a bar."""
    if isinstance(count, Few):
        return w.say("few_short", step=count.step)
    return w.number(count) if share is None or pd.isna(share) else w.percent(float(share))


def unique_bars(a: Analysis, w: Words) -> list[Part]:
    """What each key adds to the uniqueness of records, before and in the release."""
    some = a.suda.groupby("version", sort=False)["contribution"].transform("sum") > 0
    scores = a.suda[some].assign(contribution=a.suda["contribution"].astype(float))
    if not len(scores):
        return []
    wide = scores.pivot_table(index="variable", columns="version", values="contribution", sort=False)
    wide = wide.reindex(columns=[version for version in ("before", "after") if version in wide])
    wide = wide.sort_values([*wide.columns], ascending=False, kind="stable")
    styles = ["kanon-before" if version == "before" else "" for version in wide]
    lines = [
        [str(name), *(Mark(w.percent(part), part, style) for part, style in zip(parts, styles, strict=True))]
        for name, parts in zip(wide.index, wide.fillna(0.0).to_numpy().tolist(), strict=True)
    ]
    heads = [w.say("c_variable"), *(w.say(f"version_{version}") for version in wide)]
    return [Bars(f"{w.say('suda_picture')}: {w.say('suda_subtitle')}", heads, lines)]


def record_bars(a: Analysis, w: Words, caption: str, heads: Sequence[str], rows: Iterable[tuple[str, Any]]) -> Bars:
    """Counts of records by name, over all records."""
    records = a.summary["records"]
    lines = [[name, counted(_said(count, w), count, int(count) / records, records)] for name, count in rows]
    return Bars(caption, [w.say(f"c_{head}") for head in heads], lines)


def loss_bars(a: Analysis, w: Words) -> Bars:
    """What the release lost: numbers, with bars where they are shares."""
    lines: list[list[str | Mark]] = [
        [row.called(w.language), Mark(w.percent(value), min(1.0, float(value))) if row.share else w.significant(value)]
        for row, value in losses(a)
    ]
    return Bars(w.say("utility_caption"), [w.say("c_measure"), w.say("c_value")], lines)


def overlap_bars(a: Analysis, w: Words) -> Bars:
    """The survey's indicators by how far their intervals overlap."""
    said = a.indicators["overlap"].map(lambda overlap: f"overlap_{100 * overlap:.0f}")
    counts = {f"overlap_{end}": int((said == f"overlap_{end}").sum()) for end in ("90", "75", "50", "0", "nan")}
    lines = [[w.say(key), Mark(w.number(count), count / len(said))] for key, count in counts.items()]
    return Bars(w.say("indicators_picture"), [w.say("c_overlap"), w.say("c_indicators")], lines)


def step_path(a: Analysis, w: Words) -> list[Part]:
    """The steps as points of risk against loss, and a line through them; none where there is no step or no number."""
    known = {row.name for row in measures(shown="steps") if row.name in a.steps and a.steps[row.name].notna().all()}
    wanted = ((a.map_axes[0], "global_risk"), (a.map_axes[1], "non_uniform_entropy", "table_distance"))
    axes = [
        next((name for name in names if name in known and not MEASURES[name].more_is_better), "") for names in wanted
    ]
    if len(a.steps) < 2 or not all(axes):
        return []
    risk, loss = (_axis(name, a.steps[name].astype(float).tolist(), w) for name in axes)
    points: list[tuple[float, float, str]] = []
    for number, (left, up) in zip(a.steps["step"], zip(loss["places"], risk["places"], strict=True), strict=True):
        last = points[-1] if points else None
        if last and math.hypot(left - last[0], up - last[1]) < _SAME_PLACE:
            points[-1] = (*last[:2], f"{last[2].split('–')[0]}–{number}")
        else:
            points.append((left, up, str(number)))
    names = [w.say("as_it_came"), *a.steps["name"].iloc[1:]]
    rows = zip(a.steps["step"], names, risk["words"], loss["words"], strict=True)
    text = w.say("path_alt", risk=risk["title"], loss=loss["title"])
    lines = [[f"{number} {name}", after, lost] for number, name, after, lost in rows]
    heads = [w.say("c_step"), risk["title"], loss["title"]]
    drawn = Picture("path", text, {"x": loss, "y": risk, "points": points})
    return [Group([drawn, Bars(w.say("path_caption"), heads, lines, "kanon-plain")], "kanon-pair")]


def _axis(name: str, values: list[float], w: Words) -> dict[str, Any]:
    """An axis from 0 to a round number, with places (0-1) and words of the values."""
    measure = MEASURES[name]
    write = w.percent if measure.share else w.significant
    most = max(values) or 1.0
    unit = 10.0 ** math.floor(math.log10(most))
    end = next(step * unit for step in (1, 2, 4, 5, 10) if step * unit >= most * (1 - 1e-9))
    return {
        "title": measure.called(w.language),
        "ticks": [(place, write(end * place)) for place in (0.0, 0.5, 1.0)],
        "places": [value / end for value in values],
        "words": [write(value) for value in values],
    }
