"""The pictures of a report: bars and lines of what its tables hold, with the same numbers in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from kanon_lab.classes import by_meaning
from kanon_lab.columns import named_rows, plain
from kanon_lab.measures.registry import LIMITS, MEASURES, Measure, measures
from kanon_lab.recipes.settings import LEAST
from kanon_lab.recipes.tradeoff import measure_of, risk_and_loss
from kanon_lab.report.measured import as_far_as, limit_title, limit_value
from kanon_lab.report.safe import QUANTILES, safe_quantiles
from kanon_lab.report.tables import category_rows, is_quantity
from kanon_lab.report.words import Few, Words
from kanon_lab.show.parts import Bars, Group, Mark, Paragraph, Part, Picture, folded

if TYPE_CHECKING:
    from kanon_lab.report.analysis import Analysis

# Where on its bar a limit is (one of 0 at the end: there is no room below it); how near to it a mark may be that is on
# the other side, and to the ends.
_LIMIT_AT, _NEAR, _END = 0.6, 0.05, 0.02
# Categories of a variable whose bars have room for words.
_MOST_BARS = 9
# A step that moves loss and risk by less (0-1 of the chart) shares the mark of the step before: its number needs room.
_SAME_PLACE = (0.1, 0.08)


def limit_bars(a: Analysis, w: Words, words: Callable[[Any], tuple[str, str]]) -> Bars:
    """Each limit, unmet ones first: which side is allowed and what was found, with `words` of that and the verdict."""
    wholes = {"records": a.summary["records"], "columns": len(a.released)}
    rows: list[list[str | Mark]] = []
    for row in named_rows(a.judged.verdict.sort_values("met", kind="stable")):
        width, limit = _beside_limit(row, wholes.get(LIMITS[row.name].unit, 0))
        side: Literal["below", "above"] = "above" if row.bound == "at least" else "below"
        bar = Mark("", width, "kanon-met" if row.met else "kanon-unmet", limit, side)
        title = w.explained(LIMITS[row.name], limit_title(row, w))
        rows.append([title, bar, limit_value(row, row.found, row.limit, w), *words(row)])
    heads = [w.say(f"c_{name}") for name in ("limit_name", "found_to_wanted", "found", "wanted", "verdict")]
    return Bars(w.say("verdict_caption"), heads, rows, "kanon-limits")


def _beside_limit(row: Any, whole: int) -> tuple[float | None, float]:
    """Where on its bar what was found is, on the side that the verdict says, and where its limit is."""
    limit_at = _LIMIT_AT if row.limit else _END
    if pd.isna(row.found):
        return None, limit_at
    value = as_far_as(row.found)
    place = limit_at * value / float(row.limit) if row.limit else limit_at + value / (whole or value or 1)
    if row.bound == "at least":
        place = max(place, limit_at) if row.met else min(place, limit_at - _NEAR)
    else:
        place = min(place, limit_at) if row.met else max(place, limit_at + _NEAR)
    return min(max(place, _END), 1 - _END), limit_at


def counted(
    w: Words, count: Any, share: Any, whole: int, *, most: float = 1.0, style: str = "", by_share: bool = False
) -> Mark:
    """A bar for a part of the whole, with its count or share in words; of `Few` a pale one for as many as it may be."""
    if isinstance(count, Few):
        return Mark(w.say("few_short", step=count.step), min(1.0, count.step / whole / most), f"{style} kanon-few")
    known = None if pd.isna(share) else float(share)
    words = w.number(count) if known is None or not by_share else w.percent(known)
    return Mark(words, None if known is None else min(1.0, known / most), style)


def variable_cards(a: Analysis, w: Words) -> Group:
    """A card for each column of the file: those whose values may be shown first, of the others the missing values."""
    by_variable = dict([*a.categories.groupby("variable", sort=False)])
    quantiles = {row["variable"]: row for row in a.quantiles.to_dict("records")}
    later = ~a.variables["column"].isin({*by_variable, *quantiles})
    cards = []
    for row in named_rows(a.variables.assign(later=later).sort_values("later", kind="stable")):
        about, distinct = [w.roles(row.role), w.say(f"fate_{row.fate}")], getattr(row, "distinct_after", None)
        if not pd.isna(distinct):
            about.append(w.say("card_values", values=w.number(distinct)))
        if not (row.later or pd.isna(row.missing)) and row.missing:
            about.append(w.say("card_missing", records=w.number(row.missing)))
        parts: list[Part] = [Paragraph(row.column, "kanon-name"), Paragraph(" · ".join(about), "kanon-note")]
        if row.column in by_variable:
            parts += _categories(a, row.column, by_variable[row.column], w)
        elif row.column in quantiles:
            parts.append(_quantiles(quantiles[row.column], w))
        elif not pd.isna(row.missing):
            parts.append(count_bars(a, w, row.column, ("column", "missing"), [(w.say("c_missing"), row.missing)], True))
        cards.append(Group(parts, "kanon-card"))
    return Group(cards, "kanon-grid")


def _categories(a: Analysis, variable: str, rows: pd.DataFrame, w: Words) -> list[Part]:
    """The categories of a variable: bars with words, or more of them side by side with a table below."""
    named = rows["category"].map(lambda name: isinstance(name, str)).to_numpy(dtype=bool)
    frame = pd.DataFrame({"category": rows["category"].where(named, w.say("other_categories"))})
    frame = frame.assign(records=rows["records"].astype(object), share=w.digits(rows["share"], power=2))
    step = a.summary.get("step_of_categories", 5)
    table = w.table(frame, "categories_of", variable=variable, step=step)
    names, shares = [*rows["category"].where(named, w.say("other"))], rows["share"].astype(float)
    texts, most = [*map(w.percent, shares)], max([0.0, *shares[named].dropna()]) or 1.0
    marks = [
        counted(w, count, share, a.summary["records"], most=most, style="" if is_named else "kanon-other")
        for count, share, is_named in zip(rows["records"], shares, named, strict=True)
    ]
    if len(rows) <= _MOST_BARS:
        lines = [list(line) for line in zip(names, marks, texts, strict=True)]
        return [Bars(table.caption, [*map(str, table.frame)], lines, "kanon-small")]
    columns = [(mark.width or 0.0, mark.style) for mark, is_named in zip(marks, named, strict=True) if is_named]
    top = int(shares[named].fillna(0).to_numpy().argmax())
    last = names[-1] if named[-1] else f"{names[-1]}: {texts[-1]}"
    ends = [names[0], w.say("card_most", category=names[top], share=texts[top]), last]
    picture = Picture("columns", f"{table.caption}: {'; '.join(ends)}", {"columns": columns, "ends": ends})
    return [picture, folded(table, w.say("categories_table", variable=variable))]


def _quantiles(quantiles: dict[Any, Any], w: Words) -> Bars:
    """The quantiles of a quantity, from the least number or 0 on."""
    known = {share: float(quantiles[share]) for share in QUANTILES if not pd.isna(quantiles.get(share))}
    low, high = min(0.0, *known.values()), max(0.0, *known.values())
    heads = {share: w.say("c_quantile", p=w.number(100 * share)) for share in known}
    rows = [(heads[share], w.significant(value), (value - low) / ((high - low) or 1)) for share, value in known.items()]
    return word_bars(str(quantiles["variable"]), [w.say("c_share"), w.say("c_value")], rows, "kanon-small")


def word_bars(
    caption: str, heads: Sequence[str], rows: Iterable[tuple[str, str, float | None]], style: str = ""
) -> Bars:
    """Words by name, each with a bar (0-1) unless that is None."""
    lines = [[name, words if width is None else Mark(words, min(1.0, width))] for name, words, width in rows]
    return Bars(caption, heads, lines, style)


def version_bars(a: Analysis, frame: pd.DataFrame, caption: str, head: str, w: Words) -> Bars:
    """Shares of the records by ``label``, a column of bars for each version of the file and meaning of missing keys."""
    rows = by_meaning(w.versions(frame), own=w.say("own_class"), compatible=w.say("compatible"))
    series: dict[str, dict[str, Mark]] = {}
    for row in named_rows(rows):
        style = "kanon-before" if row.version.startswith(w.say("version_before")) else ""
        mark = counted(w, row.records, row.share, a.summary["records"], style=style, by_share=True)
        series.setdefault(row.version, {})[row.label] = mark
    labels = dict.fromkeys(rows["label"])
    lines = [[label, *(marks.get(label, Mark("", 0.0)) for marks in series.values())] for label in labels]
    return Bars(caption, [w.say(head), *series], lines)


def count_bars(
    a: Analysis, w: Words, caption: str, heads: Sequence[str], rows: Iterable[tuple[str, Any]], small: bool = False
) -> Bars:
    """Counts of records by name."""
    whole, style = a.summary["records"], "kanon-other kanon-whole" if small else ""
    lines = [(name, counted(w, count, int(count) / whole, whole, style=style)) for name, count in rows]
    return Bars(caption, [w.say(f"c_{head}") for head in heads], lines, "kanon-small" if small else "")


def step_path(a: Analysis, w: Words) -> list[Part]:
    """The steps as points of risk against loss, and a line through them; none where there is no step or no number."""
    shown = [row.name for row in measures(shown="steps") if not row.more_is_better and a.steps[row.name].notna().all()]
    wanted = ((a.map_axes[0], "global_risk"), (a.map_axes[1], "non_uniform_entropy", "table_distance"))
    axes = [next((name for name in names if name in shown), "") for names in wanted]
    if len(a.steps) < 2 or not all(axes):
        return []
    risk, loss = (_axis(MEASURES[name], a.steps[name].astype(float).tolist(), w) for name in axes)
    line: list[tuple[float, float]] = []
    numbers: list[str] = []
    for number, *place in zip(a.steps["step"], loss["places"], risk["places"], strict=True):
        if line and all(abs(now - then) < room for now, then, room in zip(place, line[-1], _SAME_PLACE)):
            numbers[-1] = f"{numbers[-1].split('–')[0]}–{number}"
        else:
            line, numbers = [*line, (place[0], place[1])], [*numbers, str(number)]
    rows = zip(
        a.steps["step"], w.steps(a.steps["name"], a.steps["settings"]), risk["words"], loss["words"], strict=True
    )
    lines = [[f"{number} {name}", *words] for number, name, *words in rows]
    text = w.say("path_alt", risk=risk["title"], loss=loss["title"])
    points = [(*place, "", number, "") for place, number in zip(line, numbers, strict=True)]
    drawn = Picture("plane", text, {"x": loss, "y": risk, "points": points, "line": line})
    heads = [w.say("c_step"), *(w.explained(MEASURES[name]) for name in axes)]
    table = Bars(w.say("path_caption"), heads, lines)
    return [Group([drawn, table], "kanon-pair")]


def recipe_map(a: Analysis, w: Words) -> list[Part]:
    """The recipes of the map by loss and risk, and the line of those that no other beats; a `KanonLabError` if none is.

    Thin lines: one standard deviation over the seeds to either side.
    """
    names = {"risk": a.map_axes[0], "loss": a.map_axes[1]}
    rows = risk_and_loss(a.map.points, **names)
    front = {*a.map.frontier(**names)["label"]}
    risk, loss = (_axis(measure_of(name), rows[kind].astype(float).tolist(), w) for kind, name in names.items())
    spread = a.map.spread.set_index("label")[[*a.map_axes]].reindex(rows["label"]).astype(float).fillna(0.0)
    points, whiskers, line = [], [], []
    places, words = zip(loss["places"], risk["places"], strict=True), zip(risk["words"], loss["words"], strict=True)
    for row, (left, up), texts in zip(named_rows(rows), places, words, strict=True):
        is_missed, is_front = isinstance(getattr(row, "unmet", None), str), row.label in front
        style = "kanon-missed" if is_missed else "kanon-front" if is_front else "kanon-beaten"
        points.append((left, up, style + " kanon-own" * bool(row.own), "", f"{row.label}: {'; '.join(texts)}"))
        wide, high = (spread.at[row.label, name] / axis["size"] for name, axis in zip(a.map_axes[::-1], (loss, risk)))
        whiskers += [(left - wide, up, left + wide, up), (left, up - high, left, up + high)]
        line += [(left, up)] if is_front else []
    line.sort()
    stairs = [point for before, after in pairwise(line) for point in (before, (after[0], before[1]))] + line[-1:]
    styles = {style.split()[0] for _, _, style, *_ in points}
    legend = [(style, w.say(f"map_{style.removeprefix('kanon-')}")) for style in sorted(styles)]
    values = {"x": loss, "y": risk, "points": points, "line": stairs, "whiskers": whiskers, "legend": legend}
    own = w.say("map_square") if a.map.own else ""
    titles = [Paragraph(w.say("map_title"), "kanon-name"), Paragraph(w.say("map_subtitle", own=own), "kanon-note")]
    text = w.say("map_alt", count=len(points), front=len(front), risk=risk["title"], loss=loss["title"])
    return [*titles, Picture("plane", text, values)]


def _axis(measure: Measure, values: list[float], w: Words) -> dict[str, Any]:
    """An axis between round numbers, from 0 unless all values are far from it, with their places (0-1) and words."""
    write = w.percent if measure.share else w.significant
    known = [value for value in values if 0 < value < math.inf] or [1.0]
    least, most = min(values), max(known)
    step = 10.0 ** math.floor(math.log10(most))
    is_far = most / 2 < least < most
    step /= 10 if is_far else 1
    start = math.floor(round(least / step, 9)) * step if is_far else 0.0
    size = math.ceil(round((most - start) / step, 9)) * step
    return {
        "title": measure.cost_called(w.language) if measure.more_is_better else w.plain(measure),
        "ticks": [(place, write(start + size * place)) for place in (0.0, 0.5, 1.0)],
        "places": [min(1.0, max(0.0, (value - start) / size)) for value in values],
        "words": [*map(write, values)],
        "size": size,
    }


def frequencies(column: pd.Series, labels: Mapping, w: Words, *, numeric: bool = False, coded: bool = False) -> str:
    """The values of a column as bars: categories, those of few records pooled; of a quantity some quantiles."""
    if is_quantity(column := plain(column), named=numeric, coded=coded or bool(labels)):
        numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=float("nan"))
        quantiles = safe_quantiles(numbers, least=LEAST)
        listed = w.listed(f"{w.percent(share)}: {w.significant(value)}" for share, value in quantiles.items())
        return f"<p>{escape(w.say('quantiles', values=listed))}</p>" if quantiles else ""
    rows: list[list[str | Mark]] = []
    for name, records, share, pooled in category_rows(column, labels, least=LEAST):
        called = w.say("pool", categories=pooled) if name is None else name
        words = w.say("pool_hidden") if records is None else w.number(records)
        rows.append([called, Mark("", share, "kanon-other" if name is None else ""), words])
    heads = [w.say("c_category"), w.say("c_share"), w.say("c_records")]
    return Bars(str(column.name), heads, rows, "kanon-small").html
