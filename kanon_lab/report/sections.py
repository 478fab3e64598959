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
from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING

import pandas as pd

from kanon_lab.errors import KanonLabError, OptionError, shortened
from kanon_lab.recipes.frontier import seeing
from kanon_lab.recipes.yaml_file import dump_yaml
from kanon_lab.report.public import public
from kanon_lab.report.safe import QUANTILES, told_label
from kanon_lab.report.tables import MOST_CLASSES
from kanon_lab.report.words import Markup

if TYPE_CHECKING:
    from kanon_lab.recipes.verdict import Caution
    from kanon_lab.report.analysis import Analysis


# Characters of a line of a title, and of the words below it.
_WIDTHS = {"text": 40, "subtitle": 52}


def sizes(analysis: Analysis, words: Words) -> Figure:
    """Records by the size of their class, before and in the release."""
    from kanon_lab.classes import by_meaning
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


# Rows of a table; and of the pairs of categories that most records have.
_SIZE, _MOST_PAIRS = 25, 300
_LOSSES = {
    **dict.fromkeys(("equal_cells", "granularity", "non_uniform_entropy", "table_distance"), 100),
    **{"average_class_size": 1, "il1s": 1, "correlations": 1, "numeric_lost": 1},
    **{"key_linkage": 100, "numeric_linkage": 100},
}
# Limits on a share.
_SHARES = ("global_risk", "household_risk", "individual_risk", "key_linkage")
# Notes about columns that undo the protection of others or find persons by themselves.
_GRAVE = ("alone", "stale_ghosts")
_DIVERSITY = ("distinct", "entropy", "recursive", "alpha", "t_closeness")


def section(analysis: Analysis, name: str, language: str = "en") -> list[Any]:
    """What a section (of `SECTIONS`) shows, one output of a notebook after the other; none where it has nothing."""
    if name not in _SECTIONS:
        raise OptionError(f"there is no section {shortened(repr(name))}; there are {', '.join(SECTIONS)}")
    words = Words(language)
    parts = _SECTIONS[name](analysis if analysis.internal else public(analysis), words)
    return [words.heading(f"h_{name}", identifier=name), *parts] if parts else []


def _summary(a: Analysis, w: Words) -> list:
    said = a.summary
    parts = [*_verdict(a, w), *(w.paragraph(text, kind="kanon-caution") for text in _cautions(a, w))]
    parts += [w.table(_main(a, w), w.say("main_caption")), w.heading("h_measured", level=3)]
    parts.append(w.paragraph(w.say("measured", records=said["records"], keys=w.listed(said["keys"]))))
    weighted = w.say("weighted", weight=said["weight"], estimator=said["estimator"])
    lines = [weighted if said["weight"] else w.say("unweighted"), w.say(f"missing_{said['missing']}")]
    if not said["identifiers"]:
        lines.append(w.say("identifiers_none"))
    elif not said["identifiers_found"]:
        lines.append(
            w.say("identifiers_gone", names=w.listed(said["identifiers"]), searched=said["identifiers_searched"])
        )
    if not a.internal:
        lines.append(w.say("rounded", step=said["step"]))
    return [*parts, w.bullets(lines)]


def _verdict(a: Analysis, w: Words) -> list:
    """The verdict in words and as a table, and what to do where a limit is not met."""
    verdict = a.judged.verdict
    if not len(verdict):
        return [w.paragraph(w.say("no_limit"), kind="kanon-verdict")]
    unmet = verdict[~verdict["met"]]
    whole = w.say("some_unmet", unmet=len(unmet), all=len(verdict)) if len(unmet) else w.say("all_met")
    parts = [w.paragraph(whole, kind=f"kanon-verdict kanon-{'unmet' if len(unmet) else 'met'}")]
    rows = [
        {
            w.say("c_limit_name"): w.say(f"n_{row.name}", variable=row.variable, level=w.percent(row.level)),
            w.say("c_verdict"): w.say("v_met" if row.met else "v_unmet"),
            w.say("c_wanted"): _wanted(row, w),
            w.say("c_found"): _value(row, row.found, row.limit, w),
        }
        for row in verdict.itertuples(index=False)
    ]
    parts.append(w.table(pd.DataFrame(rows), w.say("verdict_caption")))
    if len(unmet):
        lines = [_advice(a, row, w) for row in unmet.itertuples(index=False)]
        parts += [w.heading("h_unmet", level=3), w.bullets(lines)]
    return parts


def _wanted(row: Any, w: Words) -> str:
    none = "_none" if row.bound == "at most" and not row.limit else ""
    return w.say(f"{row.bound.replace(' ', '_')}{none}", value=_value(row, row.limit, row.found, w))


def _value(row: Any, value: float | None, beside: float | None, w: Words) -> str:
    """What a limit asks for beside what was found, or the other way: shares in per cent, all else as numbers."""
    return w.percent(value, beside) if row.name in _SHARES else w.told(value, beside)


def _advice(a: Analysis, row: Any, w: Words) -> str:
    """What to do about a limit that is not met, naming the key that most often makes a record rare."""
    said = a.summary
    part = {"found": _value(row, row.found, row.limit, w), "limit": _value(row, row.limit, row.found, w)}
    part |= {"key": _rarest(a), "variable": row.variable, "level": w.percent(row.level), "k": said["k"]}
    part["columns"] = w.listed(dict.fromkeys(name for each in _exposing(a) for name in each.columns))
    if row.name == "k":
        part |= {"records": row.records, "all": said["records"]}
    persons = w.told(said["after"]["expected_reidentifications"])
    return w.say(f"do_{row.name}", **part, persons=persons, household=said["household"])


def _exposing(a: Analysis) -> list[Caution]:
    return [each for each in a.judged.cautions if each.key == "exposed"]


def _rarest(a: Analysis) -> str:
    """The key behind most uniqueness in the release; of several, or where none is unique, that of most categories."""
    after = a.suda[a.suda["version"] == "after"].set_index("variable")["contribution"]
    keys = a.variables[a.variables["column"].isin(a.summary["keys"]) & a.variables["distinct_after"].notna()]
    keys = keys.assign(share=keys["column"].map(after).astype(float).fillna(0).round(6))
    return keys.sort_values(["share", "distinct_after"], kind="stable")["column"].iloc[-1]


def _cautions(a: Analysis, w: Words) -> list[str]:
    """What the verdict does not say, for whoever reads no further."""
    said, found = a.summary, []
    if said["identifiers_found"]:
        found.append(w.say("identifiers_found", error=said["identifiers_found"]))
    found += [w.note(each.text) for each in a.judged.cautions]
    grave = [note for note in a.notes if note.key in _GRAVE]
    found += [w.say("caution_grave", note=w.note(note)) for note in grave]
    if others := len(a.notes) - len(grave):
        found.append(w.say("caution_note" if others == 1 else "caution_notes", count=others, title=w.say("h_release")))
    return found


def _main(a: Analysis, w: Words) -> pd.DataFrame:
    """The main measures before and after, as text: their units differ."""
    said, k = a.summary, a.summary["k"]
    means = "category" if said["missing"] == "category" else "wildcard"
    rows = [
        (w.say("m_k"), "k_achieved", w.number),
        (w.say("m_below", k=k), f"violations_{k}_{means}", w.number),
        (w.say("m_unique"), f"violations_2_{means}", w.number),
        (w.say("m_global"), "global_risk", w.percent),
        (w.say("m_persons"), "expected_reidentifications", w.told),
        *((w.say("m_above", risk=w.percent(risk)), f"above_{risk}", w.number) for risk in said["risks"]),
        (w.say("m_household"), "household_risk", w.percent),
        (w.say("m_households"), "expected_household_reidentifications", w.told),
        (w.say("m_known"), "known_cells", w.percent),
    ]
    found = [
        {
            w.say("c_measure"): text,
            w.say("c_before"): form(said["before"][name]),
            w.say("c_after"): form(said["after"][name]),
        }
        for text, name, form in rows
        if said["before"].get(name) is not None
    ]
    return pd.DataFrame(found)


def _variables(a: Analysis, w: Words) -> list:
    named = {"least": a.summary["least"]}
    frame = a.variables.assign(
        role=[*map(w.roles, a.variables["role"])],
        fate=[w.say(f"fate_{fate}") for fate in a.variables["fate"]],
        kind=[w.say(f"kind_{kind}") if isinstance(kind, str) else None for kind in a.variables["kind"]],
    )
    parts = [w.table(w.named(frame, **named), w.say("roles_caption")), w.paragraph(w.say("pooling", **named))]
    for variable, rows in a.categories.groupby("variable", sort=False):
        shown = pd.DataFrame({"category": [_category(row, w) for row in rows.itertuples()]})
        step = a.summary.get("step_of_categories", 5)
        shown = shown.assign(records=rows["records"].to_numpy(), share=w.in_percent(rows["share"]).to_numpy())
        parts.append(w.table(w.named(shown), w.say("categories_of", variable=variable, step=step)))
    if len(a.quantiles):
        heads = {share: w.say("c_quantile", p=w.number(100 * share)) for share in QUANTILES}
        parts.append(w.table(w.named(a.quantiles.rename(columns=heads)), w.say("quantiles_caption")))
    return parts


def _category(row: Any, w: Words) -> str:
    if isinstance(row.category, str):
        return row.category
    return w.say("other_categories")


def _classes(a: Analysis, w: Words) -> list:
    wildcard = a.summary["missing"] == "wildcard" and "compatible" in a.sizes
    names = {"label": "class_size", "version": "version", "classes": "own_classes", "records": "own_records"}
    names |= {"share": "share", **({"compatible": "compatible_records"} if wildcard else {})}
    table, caption = a.sizes[[*names]].rename(columns=names), "sizes_both_caption" if wildcard else "sizes_caption"
    ranges = a.risks.assign(risk=_ranges(a.risks, w))[["risk", "version", "records", "share"]]
    return [
        sizes(a, w),
        w.table(w.shares(table), w.say(caption)),
        risks(a, w),
        w.table(w.shares(ranges), w.say("risks_caption")),
    ]


def _riskiest(a: Analysis, w: Words) -> list:
    table = a.riskiest.assign(risk=_ranges(a.riskiest, w)).rename(columns={"f_k": "size"})
    parts = [w.paragraph(w.say("riskiest_text"))]
    shown = [name for name in ("size", "risk", "classes", "records") if name in table]
    parts.append(w.table(w.named(table[shown]), w.say("riskiest_caption")))
    versions = list(dict.fromkeys(a.suda["version"]))
    parts.append(w.paragraph(w.say("suda_text", size=a.suda_size) if versions else w.say("suda_none")))
    for version in versions:
        if a.suda.loc[a.suda["version"] == version, "contribution"].any():
            parts.append(suda(a, w, version))
        sets = a.unique_sets[a.unique_sets["version"] == version].rename(columns={"variables": "keys"})
        sets = sets.sort_values(["size", "records"], ascending=[True, False], kind="stable").head(_SIZE)
        if len(sets):
            caption = w.say("sets_caption", version=w.say(f"version_{version}"))
            parts.append(w.table(w.named(sets[["keys", "records"]]), caption))
    return parts


def _diversity(a: Analysis, w: Words) -> list:
    if not len(a.diversity):
        return [w.paragraph(w.say("no_sensitive"))]
    lines = [
        w.say(
            "diversity_homogeneous",
            variable=row.variable,
            records=row.homogeneous,
        )
        for row in a.diversity.itertuples()
    ]
    table = a.diversity[["variable", *_DIVERSITY, "homogeneous"]].copy()
    for name in ("entropy", "recursive", "alpha", "t_closeness"):
        table[name] = w.digits(table[name])
    caption = w.say("diversity_caption")
    return [w.paragraph(w.say("diversity_text")), w.bullets(lines), w.table(w.named(table), caption)]


def _recipe(a: Analysis, w: Words) -> list:
    k, steps = a.summary["k"], a.steps
    names = [w.say("as_it_came") if row.step == 0 else row.name for row in steps.itertuples(index=False)]
    steps = steps.assign(name=names)
    touched = ["step", "name", "settings", "records_touched", "cells_changed", "cells_suppressed", "columns_removed"]
    percents = {
        "global_risk": "global_risk",
        "household_risk": "household_risk",
        "entropy_loss": "non_uniform_entropy",
        "table_distance": "table_distance",
        "known": "known_cells",
    }
    after = pd.DataFrame({"step": steps["step"], "name": names, "k": steps["k_achieved"], "below": steps["below"]})
    after["reidentifications"] = w.digits(steps["expected_reidentifications"])
    for column, measure in percents.items():
        if steps[measure].notna().any():
            after[column] = w.in_percent(steps[measure])
    claims = a.claims.assign(claim=[w.say(f"claim_{claim}", k="k") for claim in a.claims["claim"]])
    claims = claims.rename(columns={"records": "fails"})[["claim", "fails", "share"]]
    parts = [w.paragraph(w.say("no_steps"))]
    if len(steps) > 1:
        parts = [w.table(w.named(steps.loc[steps["step"] > 0, touched]), w.say("steps_caption"))]
    parts.append(w.table(w.named(after, k=k), w.say("after_caption")))
    return [*parts, w.paragraph(w.say("claims_text")), w.table(w.shares(claims), w.say("claims_caption", k=k))]


def _utility(a: Analysis, w: Words) -> list:
    after = a.summary["after"]
    losses = {name: after[name] * times for name, times in _LOSSES.items() if after.get(name) is not None}
    losses = {name: value for name, value in losses.items() if value == value}
    rows = pd.DataFrame({"measure": [w.say(f"u_{name}") for name in losses]})
    rows["value"] = w.digits(pd.Series([*losses.values()]))
    return [w.table(w.named(rows), w.say("utility_caption")), *_indicators(a, w)]


def _indicators(a: Analysis, w: Words) -> list:
    """How far the survey's indicators overlap, in ranges; no estimate is told."""
    if not a.parameters.get("indicators") or len(a.steps) == 1:
        return [w.paragraph(w.say("indicators_same" if a.parameters.get("indicators") else "no_indicators"))]
    found = a.indicators.sort_values("overlap", kind="stable")
    said = {"compared": len(found), "covered": int(found["covered"].sum()), "least": a.summary["least"]}
    parts = [w.paragraph(w.say("indicators_text", **said, lost=a.indicators_lost))]
    if len(found) > _SIZE:
        parts.append(w.paragraph(w.say("indicators_cut", shown=_SIZE)))
    rows = [
        {
            "indicator": told_label(_indicator(row, w)),
            "group": told_label(f"{row.by}: {row.group}") if row.by else w.say("everybody"),
            "overlap": w.say(f"overlap_{100 * row.overlap:.0f}"),
            "covered": w.say(f"covered_{row.covered}"),
        }
        for row in found.head(_SIZE).itertuples()
    ]
    return [*parts, w.table(w.named(pd.DataFrame(rows)), w.say("indicators_caption"))] if rows else parts


def _indicator(row: Any, w: Words) -> str:
    return f"{row.variable}: {row.category}" if row.kind == "rate" else w.say("mean_of", variable=row.variable)


def _map(a: Analysis, w: Words) -> list:
    if a.map is None:
        return []
    points, (risk, loss) = a.map.points, a.map_axes
    try:
        front = a.map.frontier(risk=risk, loss=loss)
        drawn = recipes(a, w, front=len(front))
    except KanonLabError:  # every recipe failed, or lacks the measure
        return [w.paragraph(w.say("map_all_failed", count=len(points), risk=risk, loss=loss))]
    said = {"count": len(points), "front": len(front), "failed": int(points["error"].notna().sum())}
    rows = pd.DataFrame({"recipe": front["label"], "map_risk": front["risk"], "loss": front["loss"]}).head(_SIZE)
    table = w.table(w.named(rows), w.say("map_caption"))
    return [w.paragraph(w.say("map_text", **said)), drawn, table, *_unseen(a, front, loss, w)]


def _unseen(a: Analysis, front: pd.DataFrame, loss: str, w: Words) -> list:
    """Where recipes look cheaper than they are, since the loss does not see a step."""
    blind = [label for label in front["label"] if a.map.unseen.get(label, {}).get(loss)]
    if not blind:
        return []
    others = w.listed(name for name in seeing(a.map.unseen.values(), loss) if name in a.map.points)
    said = {"loss": loss, "count": len(blind), "recipe": blind[0]}
    text = w.say("map_unseen", **said, others=others) if others else w.say("map_unseen_by_all", **said)
    return [w.paragraph(text, kind="kanon-caution")]


def _release(a: Analysis, w: Words) -> list:
    columns = a.released.assign(role=[*map(w.roles, a.released["role"])])
    parts = [w.paragraph(w.say("notes_text")), w.bullets(w.note(note) for note in a.notes)]
    parts = parts if a.notes else [w.paragraph(w.say("no_notes"))]
    text = w.paragraph(w.say("released_text", columns=len(columns)))
    return [*parts, text, w.table(w.named(columns), w.say("released_caption"))]


def _parameters(a: Analysis, w: Words) -> list:
    import yaml

    file = {name: a.file.get(name) for name in ("name", "sha256", "bytes", "records", "columns", "format", "encoding")}
    file |= {name: a.file.get(name) for name in ("separator", "decimal")} | {"date": a.date}
    rows = [
        (w.say(f"f_{name}"), w.number(value) if isinstance(value, int) else str(value))
        for name, value in file.items()
        if value is not None
    ]
    rows += [(w.say("f_note"), note) for note in a.file.get("notes", ())]
    heads = [w.say("c_name"), w.say("c_value")]
    parts = [w.table(pd.DataFrame(rows, columns=heads), w.say("file_caption")), w.paragraph(w.say("parameters_text"))]
    text = yaml.safe_dump(a.parameters, sort_keys=False, allow_unicode=True, width=100)
    parts.append(Markup(f'<pre class="kanon-scroll" tabindex="0">{escape(text)}</pre>'))
    if len(a.seeds):
        parts.append(w.paragraph(w.say("keep_report"), kind="kanon-caution"))
        seeds = a.seeds.assign(seed=a.seeds["seed"].astype(str))
        parts.append(w.table(w.named(seeds), w.say("seeds_caption")))
    versions = pd.DataFrame({"program": [*a.versions], "version_number": [*a.versions.values()]})
    return [*parts, w.table(w.named(versions), w.say("versions_caption"))]


def _internal(a: Analysis, w: Words) -> list:
    """The section of an internal report; none of a public one."""
    found = a.office
    if found is None:
        return []
    parts = [w.paragraph(w.say("internal_text"), kind="kanon-caution"), w.heading("h_internal_riskiest", level=3)]
    for version, table in found.riskiest.items():
        heads = {"f_k": "f_k", "F_k": "F_k", "records": w.say("c_records"), "risk": w.say("c_risk")}
        table = table.assign(risk=[w.percent(risk) for risk in table["risk"]], F_k=[*map(w.number, table["F_k"])])
        keys = [name for name in table.columns if name not in heads]
        told = pd.concat([table[keys], table[[*heads]].rename(columns=heads)], axis=1)
        caption = w.say("internal_riskiest", version=w.say(f"version_{version}"), most=MOST_CLASSES)
        parts.append(w.table(told, caption))
    if found.recodings:
        parts.append(w.heading("h_internal_recodings", level=3))
    for (place, step, variable), table in found.recodings.items():
        named = {"step": place, "name": step, "variable": variable}
        parts.append(w.table(w.named(table.head(_MOST_PAIRS)), w.say("internal_recoding", **named)))
        if (more := len(table) - _MOST_PAIRS) > 0:
            parts.append(w.paragraph(w.say("internal_more", pairs=more)))
    text = escape(dump_yaml(found.settings))
    parts.append(w.heading("h_internal_settings", level=3))
    return [*parts, Markup(f'<pre class="kanon-scroll" tabindex="0">{text}</pre>')]


def _ranges(frame: pd.DataFrame, w: Words) -> list[str]:
    pairs = zip(frame["low"], frame["high"], strict=True)
    return [w.say("risk_range", low=w.percent(low), high=w.percent(high)) for low, high in pairs]


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
