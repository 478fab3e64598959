"""The sections of a report: its figures, tables and sentences, in its language."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import pandas as pd

from kanon_lab.columns import named_rows
from kanon_lab.errors import KanonLabError, OptionError, shortened
from kanon_lab.measures.registry import LIMITS
from kanon_lab.recipes.map_limits import OWN
from kanon_lab.recipes.tradeoff import measure_of, seeing
from kanon_lab.recipes.verdict import is_set
from kanon_lab.recipes.yaml_file import dump_yaml
from kanon_lab.report.measured import (
    Release,
    advice_on,
    diversities,
    limit_title,
    limit_value,
    limit_wanted,
    losses,
    main_measures,
    measures_of_steps,
    population_measures,
)
from kanon_lab.report.public import public
from kanon_lab.report.safe import QUANTILES, told_label
from kanon_lab.report.tables import MOST_CLASSES
from kanon_lab.report.words import Few, Words
from kanon_lab.show.page import Figure, figure
from kanon_lab.show.parts import Bullets, Code, Paragraph, Section
from kanon_lab.terms import Note

if TYPE_CHECKING:
    from kanon_lab.recipes.verdict import Caution
    from kanon_lab.report.analysis import Analysis

# Characters of a line of a title, and of the words below it.
_WIDTHS = {"text": 40, "subtitle": 52}
# Rows of a table; and of the pairs of categories that most records have.
_SIZE, _MOST_PAIRS = 25, 300


def section(analysis: Analysis, name: str, language: str = "en") -> Section:
    """A section (of `SECTIONS`) in a language; without parts where it has nothing to show."""
    if name not in _SECTIONS:
        raise OptionError(f"there is no section {shortened(repr(name))}; there are {', '.join(SECTIONS)}")
    words = Words(language)
    if not (analysis.internal or analysis.shown):  # once for all sections
        analysis.shown.append(public(analysis))
    parts = _SECTIONS[name](analysis if analysis.internal else analysis.shown[0], words)
    return words.section(f"h_{name}", *parts, name=name)


def _summary(a: Analysis, w: Words) -> list:
    summary, keys = a.summary, a.summary["keys"]
    measured = "measured" if keys else "measured_keyless"
    lines = [
        w.say("weighted", weight=summary["weight"], estimator=summary["estimator"])
        if summary["weight"]
        else w.say("unweighted"),
        w.say(f"missing_{summary['missing']}"),
    ]
    if summary["person"]:
        lines.insert(0, w.say("persons", person=summary["person"]))
    if not summary["identifiers"]:
        lines.append(w.say("identifiers_none"))
    elif a.left_out:
        lines.append(w.say("identifiers_dropped", names=w.listed(summary["identifiers"])))
    elif not summary["identifiers_found"]:
        names, searched = w.listed(summary["identifiers"]), summary["identifiers_searched"]
        lines.append(w.say("identifiers_gone", names=names, searched=searched))
    if a.parameters.get("numeric_variables"):
        lines.append(w.say("magnitudes"))
    if not a.internal:
        lines.append(w.say("rounded", step=summary["step"]))
    return [
        *_verdict(a, w),
        *(_caution(a, caution, w) for caution in a.judged.cautions),
        *_others(a, w),
        w.table(main_measures(a, w), "main_caption"),
        *_left_out(a, w),
        w.section("h_measured", w.text(measured, records=summary["records"], keys=w.listed(keys)), Bullets(lines)),
    ]


def _left_out(a: Analysis, w: Words) -> list:
    """What a page made from counts does not show, and what to do."""
    if not a.left_out:
        return []
    titles = {name: w.say(f"h_{name}") for name in ("variables", "utility", "release")}
    lines = [w.say(key, **titles) for key in a.left_out]
    return [w.section("h_left", Bullets(lines), w.text("left_remedy"))]


def _verdict(a: Analysis, w: Words) -> list:
    """The verdict in words and as a table, and what to do where a limit is not met."""
    verdict = a.judged.verdict
    rows, unset = [], not is_set(a.judged.limits, a.judged.records)
    no_limit = "no_limit" if a.summary["keys"] else "no_limit_keyless"
    if not len(verdict):
        return [w.text(no_limit, style="kanon-verdict kanon-unmet")]
    for row in named_rows(verdict):
        rows.append(
            {
                "limit_name": limit_title(row, w),
                "verdict": w.say("v_met" if row.met else "v_unknown" if _is_unknown(a, row) else "v_unmet"),
                "wanted": limit_wanted(row, row.found, w),
                "found": limit_value(row, row.found, row.limit, w),
            }
        )
    table = w.table(pd.DataFrame(rows), "verdict_caption")
    if not len(unmet := verdict[~verdict["met"]]):
        key, style = (no_limit, "kanon-unmet") if unset else ("all_met", "kanon-met")
        return [w.text(key, style=f"kanon-verdict {style}"), table]
    unknown = all(_is_unknown(a, row) for row in unmet.itertuples(index=False))
    counts = {"unmet": len(unmet), "all": len(verdict)}
    key = no_limit if unset else "some_unknown" if unknown else "some_unmet"
    whole = w.text(key, style="kanon-verdict kanon-unmet", **({} if unset else counts))
    release = Release.of(a)
    lines = [advice_on(release, row, w) for row in unmet.itertuples(index=False)]
    return [whole, table, w.section("h_unmet", Bullets(lines))]


def _is_unknown(a: Analysis, row: Any) -> bool:
    """Whether a limit is not met because it cannot be measured from counts."""
    return bool(a.left_out) and pd.isna(row.found)


def _caution(a: Analysis, caution: Caution, w: Words) -> Paragraph:
    """A caution; which column holds an identifier would tell readers where to look."""
    text = caution.text
    if text.key == "caution_held_identifier" and not a.internal:
        text = Note(text.key, error=w.say("internal_names"))
    return Paragraph(w.note(text), "kanon-caution")


def _others(a: Analysis, w: Words) -> list:
    """What the verdict and its cautions leave out, for readers of the summary alone."""
    parts = [w.text("left_caution", title=w.say("h_left"))] if a.left_out else []
    if others := len(a.notes) - sum(caution.text.key == "caution_grave" for caution in a.judged.cautions):
        key = "caution_note" if others == 1 else "caution_notes"
        parts.append(w.text(key, count=others, title=w.say("h_release")))
    return parts


def _variables(a: Analysis, w: Words) -> list:
    least = a.summary["least"]
    kinds = [w.say(f"kind_{kind}") if isinstance(kind, str) else None for kind in a.variables["kind"]]
    frame = a.variables.assign(
        role=[*map(w.roles, a.variables["role"])],
        fate=[w.say(f"fate_{fate}") for fate in a.variables["fate"]],
        kind=pd.Series(kinds, index=a.variables.index, dtype=object),
    )
    parts = [w.table(frame, "roles_caption", least=least), w.text("pooling", least=least)]
    step = a.summary.get("step_of_categories", 5)
    for variable, rows in a.categories.groupby("variable", sort=False):
        other = w.say("other_categories")
        names = [name if isinstance(name, str) else other for name in rows["category"]]
        shown = {
            "category": names,
            "records": rows["records"].astype(object),
            "share": w.digits(rows["share"], power=2),
        }
        parts.append(w.table(pd.DataFrame(shown), "categories_of", variable=variable, step=step))
    if len(a.quantiles):
        heads = {share: w.say("c_quantile", p=w.number(100 * share)) for share in QUANTILES}
        parts.append(w.table(a.quantiles.rename(columns=heads), "quantiles_caption"))
    return parts


def _classes(a: Analysis, w: Words) -> list:
    wildcard = a.summary["missing"] == "wildcard" and "compatible" in a.sizes
    names = {"label": "class_size", "version": "version", "classes": "own_classes", "records": "own_records"}
    names |= {"share": "share", **({"compatible": "compatible_records"} if wildcard else {})}
    ranges = a.risks.assign(risk=_ranges(a.risks, w))[["risk", "version", "records", "share"]]
    caption = "sizes_both_caption" if wildcard else "sizes_caption"
    return [
        _chart_of_sizes(a, w),
        w.table(w.shares(a.sizes[[*names]].rename(columns=names)), caption),
        _chart_of_risks(a, w),
        w.table(w.shares(ranges), "risks_caption"),
        *_in_population(a, w),
    ]


def _in_population(a: Analysis, w: Words) -> list:
    """What was counted in the population, where there is one."""
    frame = population_measures(a, w)
    return [w.section("h_population", w.text("population_text"), w.table(frame, "main_caption"))] if len(frame) else []


def _chart_of_sizes(a: Analysis, w: Words) -> Figure:
    """Records by the size of their class, before and in the release."""
    from kanon_lab.classes import by_meaning
    from kanon_lab.show import class_sizes

    summary, k = a.summary, a.summary["k"]
    few, drawn = _with_few_drawn(a.sizes, summary["records"], w)
    frame = by_meaning(w.versions(drawn), own=w.say("own_class"), compatible=w.say("compatible"))
    counts = {when: summary[when][f"violations_{k}_{summary['policy']}"] for when in ("before", "after")}
    below = {
        when: w.number(count) if isinstance(count, Few) else w.percent(round(count / summary["records"], 2))
        for when, count in counts.items()
    }
    return _figure(class_sizes(frame), "sizes", w, k=k, few=few, **below)


def _chart_of_risks(a: Analysis, w: Words) -> Figure:
    """Records of the release by individual risk."""
    from kanon_lab.show import risk_distribution

    frame = a.risks[a.risks["version"] == "after"].drop(columns="version")
    few, frame = _with_few_drawn(frame, a.summary["records"], w)
    top = frame.iloc[int(frame["records"].argmax())]
    parts = {"low": w.percent(top["low"]), "high": w.percent(top["high"]), "records": int(top["records"])}
    return _figure(risk_distribution(frame), "risks", w, **parts, few=few)


def _riskiest(a: Analysis, w: Words) -> list:
    from kanon_lab.show import contributions

    table = a.riskiest.assign(risk=_ranges(a.riskiest, w)).rename(columns={"f_k": "size"})
    shown = [name for name in ("size", "risk", "classes", "records") if name in table]
    parts: list[Any] = [w.text("riskiest_text"), w.table(table[shown], "riskiest_caption")]
    versions = list(dict.fromkeys(a.suda["version"]))
    parts.append(w.text("suda_text", size=a.suda_size) if versions else w.text("suda_none"))
    for version in versions:
        scores = a.suda[a.suda["version"] == version]
        if scores["contribution"].any():
            frame = scores.assign(contribution=scores["contribution"].astype(float))
            listed = w.listed(f"{row.variable} {w.percent(row.contribution)}" for row in named_rows(frame))
            parts.append(_figure(contributions(frame), "suda", w, version=w.say(f"version_{version}"), said=listed))
        sets = a.unique_sets[a.unique_sets["version"] == version].rename(columns={"variables": "keys"})
        sets = sets.sort_values(["size", "records"], ascending=[True, False], kind="stable").head(_SIZE)
        if len(sets):
            parts.append(w.table(sets[["keys", "records"]], "sets_caption", version=w.say(f"version_{version}")))
    return parts


def _diversity(a: Analysis, w: Words) -> list:
    if not len(a.diversity):
        return [w.text("no_sensitive")]
    pairs = zip(a.diversity["variable"], a.diversity["homogeneous"], strict=True)
    lines = [w.say("diversity_homogeneous", variable=variable, records=records) for variable, records in pairs]
    return [w.text("diversity_text"), Bullets(lines), w.table(diversities(a, w), "diversity_caption")]


def _recipe(a: Analysis, w: Words) -> list:
    k, names = a.summary["k"], [w.say("as_it_came"), *a.steps["name"].iloc[1:]]
    steps = a.steps.assign(name=names)
    touched = ["step", "name", "settings", "records_touched", "cells_changed", "cells_suppressed", "columns_removed"]
    after = pd.DataFrame({"step": steps["step"], "name": names, "below": steps["below"], **measures_of_steps(a, w)})
    claims = a.claims.assign(claim=[w.say(f"claim_{claim}", k="k") for claim in a.claims["claim"]])
    claims = claims.rename(columns={"records": "fails"})[["claim", "fails", "share"]]
    return [
        w.table(steps.loc[1:, touched], "steps_caption") if len(steps) > 1 else w.text("no_steps"),
        *_fewest(a, w),
        w.table(after, "after_caption", k=k),
        w.text("claims_text"),
        w.table(w.shares(claims), "claims_caption", k=k),
    ]


def _fewest(a: Analysis, w: Words) -> list:
    """The cells that suppressions took, beside what any suppression needs; on a public page where both are many."""
    lines = []
    for row in named_rows(a.steps):
        cells, least = row.key_cells, row.least_cells
        if isinstance(cells, Integral) and isinstance(least, Integral) and 0 < int(least) <= int(cells):
            lines.append(w.say("fewest_cells", step=row.step, cells=cells, least=least, above=w.percent(row.above)))
    return [Bullets(lines)] if lines else []


def _utility(a: Analysis, w: Words) -> list:
    return [
        w.table(losses(a, w), "utility_caption"),
        *([w.text("utility_left")] if a.left_out else _indicators(a, w)),
    ]


def _indicators(a: Analysis, w: Words) -> list:
    """How far the survey's indicators overlap, in ranges and without estimates."""
    if not a.parameters.get("indicators") or len(a.steps) == 1:
        return [w.text("indicators_same" if a.parameters.get("indicators") else "no_indicators")]
    compared = a.indicators.sort_values("overlap", kind="stable")
    counts = {"compared": len(compared), "covered": int(compared["covered"].sum()), "least": a.summary["least"]}
    parts = [w.text("indicators_text", **counts, lost=a.indicators_lost)]
    if len(compared) > _SIZE:
        parts.append(w.text("indicators_cut", shown=_SIZE))
    rows = [
        {
            "indicator": told_label(
                f"{row.variable}: {row.category}" if row.kind == "rate" else w.say("mean_of", variable=row.variable)
            ),
            "group": told_label(f"{row.by}: {row.group}") if row.by else w.say("everybody"),
            "overlap": w.say(f"overlap_{100 * row.overlap:.0f}"),
            "covered": w.say(f"covered_{row.covered}"),
        }
        for row in named_rows(compared.head(_SIZE))
    ]
    return [*parts, w.table(pd.DataFrame(rows), "indicators_caption")] if rows else parts


def _map(a: Analysis, w: Words) -> list:
    if a.map is None:
        return []
    from kanon_lab.show import risk_utility

    points, (risk, loss) = a.map.points, a.map_axes
    parts_said: dict[str, Any] = {"count": len(points), "risk": risk, "loss": loss}
    try:
        front = a.map.frontier(risk=risk, loss=loss)
        chart = risk_utility(a.map, risk=risk, loss=loss)
        drawn = _figure(chart, "map", w, **parts_said, front=len(front), own=w.say("map_square") if a.map.own else "")
    except KanonLabError:  # every recipe failed, or lacks the measure
        return [w.text("map_all_failed", **parts_said)]
    text = w.text("map_text", count=len(points), front=len(front), failed=int(points["error"].notna().sum()))
    own = a.map.own_point(risk=risk, loss=loss)
    front = front.head(_SIZE)
    if own is not None and own["label"] not in {*front["label"]}:
        front = pd.concat([front, own.to_frame().T])
    labels = [_recipe_called(a, label, w) for label in front["label"]]
    rows = pd.DataFrame({"recipe": labels})
    for head, axis, values in (("map_risk", risk, front["risk"]), ("loss", loss, front["loss"])):
        if measure_of(axis).share:
            rows[f"{w.say(f'c_{head}')} (%)"] = [*w.digits(values, power=2)]
        else:
            rows[head] = [*values]
    if len(a.map.verdicts):
        rows["verdict"] = [
            w.say("map_misses", limits=unmet) if isinstance(unmet, str) else w.say("v_met") for unmet in front["unmet"]
        ]
    rounded = [] if a.internal else [w.text("map_rounded")]
    caption = "map_caption" if own is None else "map_own_caption"
    parts = [text, *rounded, *_map_limits(a, w), drawn, w.table(rows, caption)]
    # recipes look cheaper than they are where the loss does not see a step
    blind = [label for label in front["label"] if a.map.unseen.get(label, {}).get(loss)]
    if blind:
        others = w.listed(name for name in seeing(a.map.unseen.values(), loss) if name in points)
        key = "map_unseen" if others else "map_unseen_by_all"
        parts.append(w.text(key, "kanon-caution", loss=loss, count=len(blind), recipe=blind[0], others=others))
    return parts


def _recipe_called(a: Analysis, label: str, w: Words) -> str:
    """The label of a recipe of the map, one's own marked as such."""
    own = w.say("chart_own")
    return label if label != a.map.own else own if label == OWN else f"{label} ({own})"


def _map_limits(a: Analysis, w: Words) -> list:
    """How many recipes of the map meet each limit and all of them, and how near the best comes."""
    limits, met = a.map.limits, int(a.map.points["met"].fillna(False).sum())
    if not len(limits):
        return []
    rows = [
        {
            "limit_name": limit_title(row, w),
            "wanted": limit_wanted(row, row.nearest, w),
            "map_meeting": w.say("map_of", count=row.recipes, all=row.judged),
            "map_nearest": limit_value(row, row.nearest, row.limit, w),
            "recipe": "" if row.label is None else _recipe_called(a, row.label, w),
        }
        for row in named_rows(limits)
    ]
    missed = w.listed(dict.fromkeys(limit_title(row, w) for row in named_rows(limits[limits["recipes"] == 0])))
    key = "map_met" if met else "map_each_met" if not missed else "map_none_met"
    text = w.text(key, "" if met else "kanon-caution", met=met, count=len(a.map.points), limits=missed)
    unjudged = w.listed(LIMITS[name].limit_called(w.language) for name in a.map.unjudged)
    more = [w.text("map_unjudged", limits=unjudged)] if unjudged else []
    return [text, w.table(pd.DataFrame(rows), "map_limits_caption"), *more]


def _release(a: Analysis, w: Words) -> list:
    columns = a.released.assign(role=[*map(w.roles, a.released["role"])])
    notes = [w.text("notes_text"), Bullets([*map(w.note, a.notes)])] if a.notes else []
    notes += [w.text("notes_left", "kanon-caution")] if a.left_out else []
    if not a.internal:
        notes.append(w.text("notes_office"))
    elif not notes:
        notes.append(w.text("no_notes"))
    return [*notes, w.text("released_text", columns=len(columns)), w.table(columns, "released_caption")]


def _parameters(a: Analysis, w: Words) -> list:
    import yaml

    file = {name: a.file.get(name) for name in ("name", "sha256", "bytes", "records", "columns", "format", "encoding")}
    file |= {name: a.file.get(name) for name in ("separator", "decimal")} | {"date": a.date}
    rows = [
        (w.say(f"f_{name}"), w.number(value) if isinstance(value, int) else str(value))
        for name, value in file.items()
        if value is not None
    ]
    rows += [(w.say("f_note"), w.note(note)) for note in a.file.get("notes", ())]
    text = yaml.safe_dump(a.parameters, sort_keys=False, allow_unicode=True, width=100)
    parts = [
        w.table(pd.DataFrame(rows, columns=["name", "value"]), "file_caption"),
        w.text("parameters_text"),
        Code(text),
    ]
    if len(a.seeds):
        seeds = a.seeds.assign(seed=a.seeds["seed"].astype(str))
        parts += [w.text("keep_report", "kanon-caution"), w.table(seeds, "seeds_caption")]
    versions = pd.DataFrame({"program": [*a.versions], "version_number": [*a.versions.values()]})
    return [*parts, w.table(versions, "versions_caption")]


def _internal(a: Analysis, w: Words) -> list:
    """The section of an internal report; none of a public one."""
    office = a.office
    if office is None:
        return []
    riskiest = []
    for version, table in office.riskiest.items():
        heads = {"f_k": "f_k", "F_k": "F_k", "records": w.say("c_records"), "risk": w.say("c_risk")}
        table = table.assign(risk=[w.percent(risk) for risk in table["risk"]], F_k=[*map(w.number, table["F_k"])])
        keys = [name for name in table.columns if name not in heads]
        shown = pd.concat([table[keys], table[[*heads]].rename(columns=heads)], axis=1)
        caption = {"version": w.say(f"version_{version}"), "most": MOST_CLASSES}
        riskiest.append(w.table(shown, "internal_riskiest", heads=False, **caption))
    recodings: list[Any] = []
    for (place, step, variable), table in office.recodings.items():
        pairs = table.head(_MOST_PAIRS)
        recodings.append(w.table(pairs, "internal_recoding", step=place, name=step, variable=variable))
        if (more := len(table) - _MOST_PAIRS) > 0:
            recodings.append(w.text("internal_more", pairs=more))
    as_keys = []
    if office.as_keys is not None and len(office.as_keys):
        as_key = w.table(office.as_keys.drop(columns="role"), "internal_as_keys", k=w.number(a.summary["k"]))
        as_keys = [w.section("h_internal_as_keys", as_key)]
    return [
        w.text("internal_text", "kanon-caution"),
        w.section("h_internal_riskiest", *riskiest),
        *as_keys,
        *_together(a, w),
        w.section("h_internal_recodings", *recodings),
        w.section("h_internal_settings", Code(dump_yaml(office.settings))),
    ]


def _together(a: Analysis, w: Words) -> list:
    """What an earlier release and this one tell together."""
    if a.judged.together is None:
        return []
    together = a.judged.together
    groups = together.groups[together.groups["persons"] > 0]
    rows = groups.rename(columns={k: w.say("c_below", k=k) for k in together.k} | {"k": "fewest"})
    rows.insert(0, "together", [w.say(f"together_{group}") for group in groups.index])
    parts: list[Any] = [w.text(f"together_by_{together.linked_by}"), w.table(rows, "together_caption")]
    if together.linked is not None:
        parts.append(w.table(together.linked.cells, "together_cells"))
    if notes := [*map(w.note, together.notes)]:
        parts.append(Bullets(notes))
    return [w.section("h_internal_together", *parts)]


def _ranges(frame: pd.DataFrame, w: Words) -> list[str]:
    pairs = zip(frame["low"], frame["high"], strict=True)
    return [w.say("risk_range", low=w.percent(low), high=w.percent(high)) for low, high in pairs]


def _with_few_drawn(frame: pd.DataFrame, records: int, w: Words) -> tuple[str, pd.DataFrame]:
    """The frame with the step in place of counts of fewer, so that no bar is missing; and words that say so."""
    names = frame.columns.intersection(["records", "compatible"])
    few = next((count.step for name in names for count in frame[name] if isinstance(count, Few)), None)
    drawn = frame.copy()
    for name, share in (("records", "share"), ("compatible", "compatible_share")):
        if name in frame:
            shares = frame[share].astype(float)
            drawn[name] = frame[name].where(shares.notna(), few or 0).astype(int)
            drawn[share] = shares.fillna((few or 0) / records)
    return "" if few is None else w.say("few_drawn", step=few), drawn


def _figure(chart: Any, key: str, words: Words, **parts: Any) -> Figure:
    """The chart with the title and alternative text of that key; a table beside it has its data."""
    drawn = figure(chart, alt=words.say(f"{key}_alt", **parts))
    title = {
        place: textwrap.wrap(words.say(f"{key}_{'title' if place == 'text' else place}", **parts), width)
        for place, width in _WIDTHS.items()
    }
    return replace(drawn, spec=words.chart(drawn.spec) | {"title": title, "description": drawn.alt})


_SECTIONS: dict[str, Callable[[Analysis, Words], list]] = {
    "summary": _summary,
    "variables": _variables,
    "classes": _classes,
    "riskiest": _riskiest,
    "diversity": _diversity,
    "recipe": _recipe,
    "utility": _utility,
    "map": _map,
    "release": _release,
    "parameters": _parameters,
    "internal": _internal,
}
#: Names of the sections, in their order.
SECTIONS = tuple(_SECTIONS)
