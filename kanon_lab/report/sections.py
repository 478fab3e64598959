"""The sections of a report: its figures, tables and sentences, in its language."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Any

import pandas as pd

from kanon_lab.columns import named_rows
from kanon_lab.errors import KanonLabError, OptionError, shortened, visible
from kanon_lab.measures.registry import LIMITS
from kanon_lab.recipes.map_limits import OWN
from kanon_lab.recipes.tradeoff import measure_of, seeing
from kanon_lab.recipes.verdict import is_set
from kanon_lab.recipes.yaml_file import dump_yaml
from kanon_lab.report.measured import (
    Release,
    advice_on,
    diversities,
    leading_measures,
    limit_title,
    limit_value,
    limit_wanted,
    losses,
    main_measures,
    measures_of_steps,
    population_measures,
    tightest,
)
from kanon_lab.report.officer import officer
from kanon_lab.report.pictures import (
    count_bars,
    limit_bars,
    recipe_map,
    step_path,
    variable_cards,
    version_bars,
    word_bars,
)
from kanon_lab.report.public import public
from kanon_lab.report.safe import QUANTILES, told_label
from kanon_lab.report.tables import MOST_CLASSES
from kanon_lab.report.words import Words
from kanon_lab.show.parts import Bullets, Code, Group, Heading, Paragraph, Picture, Section, Table, folded
from kanon_lab.terms import Note

if TYPE_CHECKING:
    from kanon_lab.recipes.verdict import Caution
    from kanon_lab.report.analysis import Analysis

# What is said of a file.
_OF_FILE = ("name", "sha256", "bytes", "records", "columns", "format", "encoding", "separator", "decimal", "date")
# Rows of a table; and of the pairs of categories that most records have.
_SIZE, _MOST_PAIRS = 25, 300


def section(analysis: Analysis, name: str, language: str | Words = "en") -> Section:
    """A section (of `SECTIONS`) in a language, or in words; without parts where it has nothing to show."""
    if name not in _SECTIONS:
        raise OptionError(f"there is no section {shortened(repr(name))}; there are {', '.join(SECTIONS)}")
    words = language if isinstance(language, Words) else Words(language)
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
    measured_text = w.text(measured, "kanon-note", records=summary["records"], keys=w.listed(keys))
    ordered = sorted(a.judged.cautions, key=lambda caution: not caution.is_danger)
    cautions = [*(_caution(a, caution, w) for caution in ordered), *_others(a, w)]
    shown = [Heading(w.say("h_cautions"), 3), Group(cautions, "kanon-cautions")] if cautions else []
    is_met = a.judged.met  # then they stand beside the limits, where else is what to do about these
    return [
        *_verdict(a, w, shown if is_met else []),
        *([] if is_met else shown),
        *_left_out(a, w),
        w.section("h_measured", measured_text, Group([Bullets(lines)], "kanon-note")),
    ]


def _left_out(a: Analysis, w: Words) -> list:
    """What a page made from counts does not show, and what to do."""
    if not a.left_out:
        return []
    titles = {name: w.say(f"h_{name}") for name in ("variables", "utility", "release")}
    lines = [w.say(key, **titles) for key in a.left_out]
    return [w.section("h_left", Bullets(lines), w.text("left_remedy"))]


def _verdict(a: Analysis, w: Words, cautions: list) -> list:
    """The first screen: verdict, who set the limits, each as a bar, three numbers, what to do next, and cautions."""
    verdict = a.judged.verdict
    unmet = verdict[~verdict["met"].astype(bool)]
    unknown = len(unmet) and all(_is_unknown(a, row) for row in unmet.itertuples(index=False))
    key = "some_unknown" if unknown else "some_unmet" if len(unmet) else "all_met"
    if not (len(verdict) and is_set(a.judged.limits, a.judged.records)):
        key = "no_limit" if a.summary["keys"] else "no_limit_keyless"
    dangers = sum(caution.is_danger for caution in a.judged.cautions)
    style = "kanon-unmet" if key != "all_met" else "kanon-open" if dangers else "kanon-met"
    counts = {"unmet": len(unmet), "all": len(verdict)} if key.startswith("some") else {}
    sentence = w.say("all_met_open", count=dangers) if style == "kanon-open" else w.say(key, **counts)
    release = Release.of(a)
    lines = [advice_on(release, row, w) for row in unmet.itertuples(index=False)]
    lines += [w.say("next_met")] if key == "all_met" else []
    lines += [w.say("next_cautions", count=dangers, title=w.say("h_cautions"))] if dangers else []
    heads = {when: w.say(f"c_{when}") for when in ("before", "after")}
    leading = [(title, before if len(a.steps) > 1 else None, after) for title, before, after in leading_measures(a, w)]
    numbers: list[Any] = [
        Picture("numbers", w.say("main_caption"), {"numbers": leading, **heads}),
        folded(w.table(main_measures(a, w), "main_caption")),
        *([Paragraph(w.say("h_next"), "kanon-name"), Bullets(lines)] if lines else []),
        *cautions,
    ]

    def words(row: Any) -> tuple[str, str]:
        key = "v_met" if row.met else "v_unknown" if _is_unknown(a, row) else "v_unmet"
        return limit_wanted(row, row.found, w), w.say(key)

    bars: list[Any] = [limit_bars(a, w, words)] if len(verdict) else []
    keys = [w.text("key_line", "kanon-note", keys=w.listed(a.summary["keys"]))] if a.summary["keys"] else []
    return [
        Paragraph(sentence, f"kanon-verdict {style}"),
        Group(_decision(a, w, key == "all_met"), "kanon-decision"),
        Group([*([Group([*keys, *bars])] if keys or bars else []), Group(numbers, "kanon-next")], "kanon-first"),
    ]


def _decision(a: Analysis, w: Words, is_met: bool) -> list:
    """The tightest limit, who set the limits, for whom and when, and what of this the configuration does not say."""
    decision = a.parameters.get("decision") or {}
    asked = {*(a.parameters.get("limits") or ()), *(["k"] if a.parameters.get("k_required") else [])}
    count = sum(name in asked for name, _ in a.judged.limits)
    lines = [tightest(a, w)] if is_met else []
    added = len(a.judged.limits) - count
    lines += [w.say("limits_added" if added else "limits_set", set=count, added=added)] if a.judged.limits else []
    lines += [w.say(f"decision_{name}", text=decision[name]) for name in ("source", "by", "date") if name in decision]
    lines += [w.say(f"for_{decision['release']}")] if "release" in decision else []
    missing = [name for name in ("by", "release", "date") if name not in decision]
    if missing and not (a.internal and a.office is None):  # the workbench has no place to say it
        lines.append(w.say("not_said", names=w.listed(w.say(f"not_{name}") for name in missing)))
    lines += [w.say("report_of", date=a.date)]
    return [Paragraph(line, "kanon-note") for line in lines if line]


def _is_unknown(a: Analysis, row: Any) -> bool:
    """Whether a limit is not met because it cannot be measured from counts."""
    return bool(a.left_out) and pd.isna(row.found)


def _caution(a: Analysis, caution: Caution, w: Words) -> Paragraph:
    """A caution; which column holds an identifier would tell readers where to look."""
    text = caution.text
    if text.key == "caution_held_identifier" and not a.internal:
        text = Note(text.key, error=w.say("internal_names"))
    key = "danger" if caution.is_danger else "no_danger"
    return Paragraph(w.say(key, text=w.note(text)), f"kanon-caution kanon-{key.replace('_', '-')}")


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
    parts = [w.text("pooling", "kanon-note", least=least), variable_cards(a, w)]
    every = [folded(w.table(frame, "roles_caption", least=least))]
    if len(a.quantiles):
        heads = {share: w.say("c_quantile", p=w.number(100 * share)) for share in QUANTILES}
        every.append(folded(w.table(a.quantiles.rename(columns=heads), "quantiles_caption")))
    return [*parts, Group(every, "kanon-tables")]


def _classes(a: Analysis, w: Words) -> list:
    wildcard = a.summary["missing"] == "wildcard" and "compatible" in a.sizes
    names = {"label": "class_size", "version": "version", "classes": "own_classes", "records": "own_records"}
    names |= {"share": "share", **({"compatible": "compatible_records"} if wildcard else {})}
    ranges = a.risks.assign(risk=_ranges(a.risks, w))[["risk", "version", "records", "share"]]
    caption = "sizes_both_caption" if wildcard else "sizes_caption"
    short = [w.say("risk_between", low=w.percent(row.low), high=w.percent(row.high)) for row in named_rows(a.risks)]
    sizes = version_bars(a, a.sizes, w.say("sizes_title"), "c_class_size", w)
    risks = version_bars(a, ranges.assign(label=short), w.say("risks_title"), "c_risk", w)
    size_table = w.table(w.shares(a.sizes[[*names]].rename(columns=names)), caption)
    risk_table = w.table(w.shares(ranges), "risks_caption")
    drawn = [Group([sizes, folded(size_table)]), Group([risks, folded(risk_table)])]
    return [Group(drawn, "kanon-pair"), *_in_population(a, w)]


def _in_population(a: Analysis, w: Words) -> list:
    """What was counted in the population, where there is one."""
    frame = population_measures(a, w)
    return (
        [w.section("h_population", w.text("population_text"), folded(w.table(frame, "main_caption")))]
        if len(frame)
        else []
    )


def _riskiest(a: Analysis, w: Words) -> list:

    table = a.riskiest.assign(risk=_ranges(a.riskiest, w)).rename(columns={"f_k": "size"})
    shown = [name for name in ("size", "risk", "classes", "records") if name in table]
    versions = list(dict.fromkeys(a.suda["version"]))
    text = w.text("suda_text", size=a.suda_size) if versions else w.text("suda_none")
    scores = a.suda.rename(columns={"variable": "label", "contribution": "share"}).assign(records=0)
    scores = scores.astype({"share": float}).sort_values(["version", "share"], ascending=False, kind="stable")
    caption = f"{w.say('suda_picture')}: {w.say('suda_subtitle')}"
    drawn = [version_bars(a, scores, caption, "c_variable", w)] if scores["share"].sum() else []
    sets_shown = []
    for version in versions:
        sets = a.unique_sets[a.unique_sets["version"] == version].rename(columns={"variables": "keys"})
        sets = sets.sort_values(["size", "records"], ascending=[True, False], kind="stable").head(_SIZE)
        if len(sets):
            sets_shown.append(w.table(sets[["keys", "records"]], "sets_caption", version=w.say(f"version_{version}")))
    return [
        text,
        *drawn,
        w.text("riskiest_text", "kanon-note"),
        Group([*map(folded, sets_shown), folded(w.table(table[shown], "riskiest_caption"))], "kanon-tables"),
    ]


def _diversity(a: Analysis, w: Words) -> list:
    if not len(a.diversity):
        return [w.text("no_sensitive")]
    pairs = zip(a.diversity["variable"], a.diversity["homogeneous"], strict=True)
    bars = count_bars(a, w, w.say("c_homogeneous"), ("variable", "records"), pairs)
    return [w.text("diversity_text"), bars, folded(w.table(diversities(a, w), "diversity_caption"))]


def _recipe(a: Analysis, w: Words) -> list:
    k, names = a.summary["k"], w.steps(a.steps["name"], a.steps["settings"])
    steps = a.steps.assign(name=w.steps(a.steps["name"]))
    touched = ["step", "name", "settings", "records_touched", "cells_changed", "cells_suppressed", "columns_removed"]
    after = pd.DataFrame(
        {"step": steps["step"], "name": names, "below": steps["below"], **measures_of_steps(a.steps, w)}
    )
    claims = [(w.say(f"claim_{claim}", k=k), records) for claim, records in zip(a.claims["claim"], a.claims["records"])]
    return [
        *(step_path(a, w) if len(steps) > 1 else [w.text("no_steps")]),
        *([folded(w.table(steps.loc[1:, touched], "steps_caption"))] if len(steps) > 1 else []),
        folded(w.table(after, "after_caption", k=k)),
        *_fewest(a, w),
        w.text("claims_text"),
        count_bars(a, w, w.say("claims_caption", k=k), ("claim", "fails"), claims),
    ]


def _fewest(a: Analysis, w: Words) -> list:
    """The cells that suppressions took, beside what any needs (on a public page where both are many), or why not."""
    lines = []
    for row in named_rows(a.steps):
        cells, least = row.key_cells, row.least_cells
        if isinstance(row.no_bound, str) and row.no_bound:
            lines.append(w.say("no_bound", step=row.step, why=w.note(Note(f"no_bound_{row.no_bound}"))))
        elif isinstance(cells, Integral) and isinstance(least, Integral) and 0 < int(least) <= int(cells):
            lines.append(w.say("fewest_cells", step=row.step, cells=cells, least=least, above=w.percent(row.above)))
    return [Bullets(lines)] if lines else []


def _utility(a: Analysis, w: Words) -> list:
    indicators, below = ([w.text("utility_left")], []) if a.left_out else _indicators(a, w)
    lost: list[Any] = [
        (w.explained(row), w.percent(value) if row.share else w.significant(value), value if row.share else None)
        for row, value in losses(a)
    ]
    if a.summary["weight_totals"]:
        before, after, change = a.summary["weight_totals"]
        parts = {"before": w.number(before), "after": w.number(after), "change": w.percent(round(change, 4))}
        lost.append((w.say("weight_totals"), w.say("totals_changed", **parts), None))
    bars = word_bars(w.say("utility_caption"), [w.say("c_measure"), w.say("c_value")], lost)
    return [Group([bars, Group(indicators)], "kanon-pair"), *below]


def _indicators(a: Analysis, w: Words) -> tuple[list, list]:
    """How far the survey's indicators overlap, in ranges and without estimates; and their table."""
    if not a.parameters.get("indicators") or len(a.steps) == 1:
        return [w.text("indicators_same" if a.parameters.get("indicators") else "no_indicators")], []
    compared = a.indicators.sort_values("overlap", kind="stable")
    counts = {"compared": len(compared), "covered": int(compared["covered"].sum()), "least": a.summary["least"]}
    parts = [w.text("indicators_text", **counts, lost=a.indicators_lost)]
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
    if not rows:
        return parts, []
    cut = [w.text("indicators_cut", shown=_SIZE)] if len(compared) > _SIZE else []
    table = w.table(pd.DataFrame(rows), "indicators_caption")
    overlaps = [f"overlap_{100 * overlap:.0f}" for overlap in a.indicators["overlap"]]
    ranges = [f"overlap_{end}" for end in ("90", "75", "50", "0", "nan")]
    lines = [(w.say(key), w.number(overlaps.count(key)), overlaps.count(key) / len(overlaps)) for key in ranges]
    bars = word_bars(w.say("indicators_picture"), [w.say("c_overlap"), w.say("c_indicators")], lines)
    return [*parts, bars], [Group([*cut, table], summary=table.caption)]


def _map(a: Analysis, w: Words) -> list:
    if a.map is None:
        return []
    points, (risk, loss) = a.map.points, a.map_axes
    parts_said: dict[str, Any] = {"count": len(points), "risk": risk, "loss": loss}
    try:
        front = a.map.frontier(risk=risk, loss=loss)
        drawn = recipe_map(a, w)
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
    parts = [text, *rounded, *_map_limits(a, w), *drawn, folded(w.table(rows, caption))]
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
    return [text, folded(w.table(pd.DataFrame(rows), "map_limits_caption")), *more]


def _release(a: Analysis, w: Words) -> list:
    columns = a.released.assign(role=[*map(w.roles, a.released["role"])])
    notes = [w.text("notes_text"), Bullets([*map(w.note, a.notes)])] if a.notes else []
    notes += [w.text("notes_left", "kanon-caution")] if a.left_out else []
    if not a.internal:
        notes.append(w.text("notes_office"))
    elif not notes:
        notes.append(w.text("no_notes"))
    return [*notes, w.text("released_text", columns=len(columns)), folded(w.table(columns, "released_caption"))]


def _parameters(a: Analysis, w: Words) -> list:
    import yaml

    text = yaml.safe_dump(a.parameters, sort_keys=False, allow_unicode=True, width=100)
    versions = pd.DataFrame({"program": [*a.versions], "version_number": [*a.versions.values()]})
    every: list[Any] = [
        folded(file_table({**a.file, "date": a.date}, a.file.get("notes", ()), w)),
        folded(w.table(versions, "versions_caption")),
        Group([w.text("parameters_text"), Code(text)], summary=w.say("configuration_shown")),
    ]
    if len(a.seeds):
        every.append(folded(w.table(a.seeds.assign(seed=a.seeds["seed"].astype(str)), "seeds_caption")))
    warned = [w.text("keep_report", "kanon-caution")] if len(a.seeds) else []
    return [*warned, Group(every, "kanon-tables")]


def file_table(file: Mapping[str, Any], notes: Iterable[str], w: Words) -> Table:
    """What a file is and how it was read, as far as that is known, with notes on it."""
    known = [(name, file[name]) for name in _OF_FILE if file.get(name) is not None]
    rows = [
        (w.say(f"f_{name}"), w.number(fact) if isinstance(fact, int) else visible(str(fact))) for name, fact in known
    ]
    rows += [(w.say("f_note"), w.note(note)) for note in notes]
    return w.table(pd.DataFrame(rows, columns=["name", "value"]), "file_caption")


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
        riskiest.append(folded(w.table(shown, "internal_riskiest", heads=False, **caption)))
    recodings: list[Any] = []
    for (place, step, variable), table in office.recodings.items():
        pairs = table.head(_MOST_PAIRS)
        recodings.append(folded(w.table(pairs, "internal_recoding", step=place, name=w.step(step), variable=variable)))
        if (more := len(table) - _MOST_PAIRS) > 0:
            recodings.append(w.text("internal_more", pairs=more))
    as_keys = []
    if office.as_keys is not None and len(office.as_keys):
        as_key = w.table(office.as_keys.drop(columns="role"), "internal_as_keys", k=w.number(a.summary["k"]))
        as_keys = [w.section("h_internal_as_keys", folded(as_key))]
    return [
        w.text("internal_text", "kanon-caution"),
        w.section("h_internal_riskiest", *riskiest),
        *as_keys,
        *_together(a, w),
        w.section("h_internal_recodings", *recodings),
        Group([Code(dump_yaml(office.settings))], summary=w.say("h_internal_settings")),
    ]


def _together(a: Analysis, w: Words) -> list:
    """What an earlier release and this one tell together."""
    if a.judged.together is None:
        return []
    together = a.judged.together
    groups = together.groups[together.groups["persons"] > 0]
    rows = groups.rename(columns={k: w.say("c_below", k=k) for k in together.k} | {"k": "fewest"})
    rows.insert(0, "together", [w.say(f"together_{group}") for group in groups.index])
    parts: list[Any] = [w.text(f"together_by_{together.linked_by}"), folded(w.table(rows, "together_caption"))]
    if together.linked is not None:
        parts.append(folded(w.table(together.linked.cells, "together_cells")))
    if notes := [*map(w.note, together.notes)]:
        parts.append(Bullets(notes))
    return [w.section("h_internal_together", *parts)]


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
    "officer": officer,
    "parameters": _parameters,
    "internal": _internal,
}
#: Names of the sections, in their order.
SECTIONS = tuple(_SECTIONS)
