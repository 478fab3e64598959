"""A verdict and its cautions as lines, for the commands that judge a release."""

import textwrap
from functools import partial

import click

from kanon_lab.cli.output import FOR_OFFICE, cell_text, print_frame, print_lines
from kanon_lab.digits import number, percent
from kanon_lab.errors import shortened, visible
from kanon_lab.roles import MISSING_POLICIES
from kanon_lab.terms import key_of

_WIDTH = 100
_MOST_CLAIMS = 10
_MOST_INDICATORS = 5
# An estimate of fewer records would tell their values.
_FEW = 10
_risk = partial(percent, digits=4)


def print_judged(judged):
    """A line a limit, and a line a caution."""
    from kanon_lab.measures.registry import LIMITS

    lines = []
    for row in judged["limits"]:
        measure = LIMITS[row["name"]]
        label = measure.limit_called(level=percent(row["level"]), variable=shortened(str(row["variable"])))
        told = percent if measure.share else number
        found = "not known" if row["value"] is None else told(row["value"], row["limit"])
        wanted = f"to be {row['bound']} {told(row['limit'], row['value'])}"
        lines.append(("met" if row["met"] else "NOT MET", f"{label}: {found}, {wanted}"))
    for mark, text in [*lines, *(("caution", each["text"]) for each in judged["cautions"])]:
        click.echo(textwrap.fill(visible(text), _WIDTH, initial_indent=f"  {mark:7}  ", subsequent_indent=" " * 13))


def print_protection(result, protection):
    """Print the result for people; paths are not broken."""
    missing = result["missing"]
    print_lines([f"{result['file']}: {result['n']:,} records {FOR_OFFICE}"])
    _print_verdict(result)
    print_lines(["", f"recipe: {result['recipe']}, seed {result['seed']}"])
    _line(f"keys: {', '.join(result['keys'])}; missing keys: {missing} ({MISSING_POLICIES[missing]})")
    _line(f"weight: {result['weight'] or 'none'}; household: {result['household'] or 'none'}")
    _line(f"direct identifiers dropped: {', '.join(result['direct_identifiers']) or 'none named'}")
    _line(f"released as they came, and without a role: {', '.join(result['untouched']) or 'none'}")
    _print_states(protection)
    _print_end(result, protection)
    _title("Notes" if result["notes"] else "No notes")
    for note in result["notes"]:
        if key_of(note) != "untouched":  # said above
            _line(f"- {note}")
    done = "nothing was written" if result["out"] is None else f"written: {result['out']}"
    print_lines(["", f"{'dry run: ' * result['dry_run']}{done} ({len(result['columns'])} columns)"])
    if result["neutralised"] is not None:
        cells = ", ".join(f"{shortened(name)} {count:,}" for name, count in result["neutralised"].items())
        _line(f"cells given an apostrophe, since a spreadsheet would run them: {cells or 'none'}")


def _print_verdict(result):
    if (verdict := result["verdict"]) is None:
        _line("no verdict: the recipe has no k_required, and --fail-under-k is not given")
        print_judged(result)
        return
    from kanon_lab.report.words import texts

    met = "MET" if verdict["met"] else f"NOT MET by {verdict['records']:,} records"
    whence = "k_required" if verdict["k"] == result["k_required"] else "--fail-under-k"
    _line(f"k = {verdict['k']} ({whence}): {met} (missing keys: {result['missing']})")
    for row in verdict["claims"].itertuples():
        holds = "holds" if row.holds else f"fails for {row.records:,} ({percent(row.share)})"
        claim = texts()[f"claim_{row.claim}"]["en"].format(k=verdict["k"])
        _line(f"  {claim}: {holds}", indent="    ")
    print_judged(result)


def _print_states(protection, of=""):
    """Tables of what the steps did and of the measures after them, first those of the households."""
    for step in protection.steps:
        if step.households is not None:
            _print_states(step.households, " (one record a household)")
    history = protection.history.reset_index()
    _title(f"Steps{of}: records touched, cells changed and suppressed, columns removed")
    names = {"records_touched": "touched", "cells_changed": "changed", "cells_suppressed": "suppressed"}
    names |= {"columns_removed": "removed"}
    _print(history[["step", "name", "seed", *names]].rename(columns=names))
    if protection.steps and protection.steps[0].households is not None:
        _line("(household_level is step 1; the first under steps is step 2)")
    _print_cells(protection, of)
    for title, names, formats, *remarks in _measures(protection, history):
        names = {name: head for name, head in names.items() if history[name].notna().any()}  # an engine has not all
        if not names:
            continue
        head, *rest = title.format(of=of).splitlines()
        _title(head)
        for line in rest:
            _line(line)
        _print(_by_step(history, names, formats))
        for remark in remarks:
            _line(remark)
    for position, step in enumerate(protection.steps, 1):
        if step.claims is not None:
            _print_claims(step.claims, position, of)


def _print_cells(protection, of):
    rows = []
    for position, step in enumerate(protection.steps, 1):
        counts = {name: (step.changed[name], step.suppressed[name], None) for name in step.changed}
        counts |= dict.fromkeys(step.removed, (None, None, "removed"))
        rows += [(position, shortened(name, 50), *cells) for name, cells in counts.items() if any(cells)]
    if rows:
        _title(f"Cells{of}")
        counted = dict.fromkeys(("changed", "suppressed"), "Int64")
        _print(_frame(rows, ["step", "variable", *counted, "column"]).astype(counted))


def _measures(protection, history):
    """The tables of measures after each step: title, heads by measure, formats by head, and remarks below."""
    from kanon_lab.measures.registry import measures

    spec, household = protection.spec, protection.spec.household
    policy = "category" if spec.missing == "category" else "wildcard"
    names = {"classes": "classes", "k_achieved": "k"}
    names |= {f"violations_{k}_{policy}": f"below {k}" for k in protection.k}
    remarks = []
    if policy == "wildcard" and history["known_cells"].iloc[-1] < 1:
        remarks.append(
            "(k, below: by compatible records, where a missing key may be any value; classes: of the same key values)"
        )
    if household:
        names |= {"with_household_size_k_achieved": "k (counted)"}
        names |= {"with_household_size_sample_uniques": "uniques (counted)"}
        remarks.append("(counted: for an outsider who also counts the members of each household)")
    yield "Anonymity after each step{of}", names, {}, *remarks

    risks = [
        row for row in measures(shown="state", kind="risk", taken_from="classes") if not (row.missing or row.part_of)
    ]
    rows = [row.at(level) for row in risks for level in (protection.risks if row.levels else [""])]
    title = f"Risk and expected re-identifications after each step{{of}} ({protection.estimator})"
    yield title, *_heads(rows, share=_risk)

    names = {"equal_cells": "as they came", "known_cells": "not missing"}
    formats = dict.fromkeys(names.values(), percent)
    names |= {f"distinct_{name}": f"values of {shortened(name)}" for name in spec.key_variables}
    yield "Key cells after each step{of}: shares, and different values", names, formats

    title = "Links after each step{of}: records that an outsider with the true values links to their own"
    yield title, *_heads(measures(shown="state", kind="risk", taken_from="states"), share=percent)

    losses = [row for row in measures(shown="state", kind="loss") if not (row.kept or row.part_of)]
    perturbed = not protection.state.truth.perturbed.isdisjoint(spec.key_variables)
    remarks = ["(-: not defined once a key is perturbed; see the notes)"] if perturbed else []
    title = "Loss after each step{of}: of keys and tables from 0 (none) to 1"
    yield title, *_heads([row for row in losses if not row.needs], share=".4f"), *remarks
    yield "Loss of the quantities after each step{of}", *_heads([row for row in losses if row.needs], share=".4f")

    if protection.indicators is not None:
        rows = measures(shown="state", part_of="indicators")
        names = {row.name: row.name.removeprefix("indicators_").replace("_", " ") for row in rows}
        title = """Indicators after each step{of}: intervals beside those before any step
(overlap: shared length, 1 where nothing changed, of those compared; all: those lost count as 0; covered:
share of the estimates that lie in their first interval)"""
        yield title, names, dict.fromkeys(["overlap all", "overlap mean", "overlap least", "covered"], ".4f")


def _by_step(history, names, formats):
    """A line a measure under its head, and a column a step, as text."""
    lines = {"step": [*names.values()]}
    for place, step in enumerate(history["step"]):
        texts = [cell_text(history[name].iloc[place], formats.get(head)) for name, head in names.items()]
        width = max(map(len, [str(step), *texts]))
        lines[str(step).rjust(width)] = [text.rjust(width) for text in texts]
    return _frame(lines)


def _heads(rows, share):
    """By measure its head, and by head its format."""
    forms = {row.called(): share if row.share else row.written for row in rows}
    return {row.name: row.called() for row in rows}, forms


def _print_claims(claims, number, of):
    """All claims of one combination of keys; of several combinations those that fail, the worst first."""
    _title(f"Claims after step {number}{of}: records for which they fail")
    shown = claims
    if len(claims) > len({*claims["claim"]}):
        failing = claims[claims["records"] > 0].sort_values("records", ascending=False, kind="stable")
        shown = failing.head(_MOST_CLAIMS)
        held = f"{len(claims) - len(failing)} of {len(claims)} claims hold"
        left = f"; the {len(shown)} that fail worst (all with --json):" if len(shown) < len(failing) else ""
        _line(held + (left or (":" if len(failing) else "")))
    for row in shown.drop_duplicates("claim").itertuples():
        _line(f"  {row.claim}: {row.meaning}", indent="    ")
    if len(shown):
        keys = [shortened(text, 60) for text in shown["keys"]]
        _print(shown.assign(keys=keys)[["claim", "k", "records", "share", "keys"]], {"share": percent})


def _print_end(result, protection):
    """What holds after the last step: both meanings of a missing key, the columns, members of households, diversity."""
    last = protection.state.measured
    _title("In the end, by what a missing key means")
    rows = [(f"records below {k}", *(last.violations[means][k] for means in last.violations)) for k in protection.k]
    risks = [last.by_meaning[means] for means in last.violations]
    rows.append(("expected re-identifications", *(each["expected_reidentifications"] for each in risks)))
    rows += [(f"risk above {each:g}", *((risk["above"] or {}).get(each) for risk in risks)) for each in last.above]
    texts = [(row[0], *(_number(value) for value in row[1:])) for row in rows]
    _print(_frame(texts, ["records", *last.violations]))
    _title("Released columns")
    released = result["released"].rename(columns=lambda name: name.replace("_", " "))
    _print(released.assign(column=[shortened(name, 30) for name in released["column"]]))
    if len(shown := result.get("shown_by_members", ())):
        _title("Suppressed values that another member of the household shows")
        names = {"shared": "households that share one value"}
        _print(shown.rename(columns=names), {"households that share one value": percent})
    if len(worst := _worst_indicators(protection)):
        _title(f"Indicators that suffered most, of those with {_FEW} records or more")
        _print(worst)
    if result["diversity"]:
        _title("Diversity of sensitive values in the end: the worst class")
        from kanon_lab.measures import MEASURES

        columns = {shortened(name): [values[each] for each in MEASURES] for name, values in result["diversity"].items()}
        least = [f"{name} ({'least' if MEASURES[name] else 'largest'})" for name in MEASURES]
        _print(_frame({"measure": least, **columns}))


def _worst_indicators(protection):
    """Those whose intervals overlap least, in ranges: the estimates before and after would tell single values."""
    from kanon_lab.report.tables import indicators

    found = indicators(protection, least=_FEW)[0]
    worst = found[found["overlap"] < 1].sort_values("overlap", kind="stable").head(_MOST_INDICATORS)
    if len(worst):
        worst = worst.assign(overlap=[f"{share:.0%} and more" for share in worst["overlap"]])
        for name in ("variable", "category", "by", "group"):
            worst[name] = [shortened(str(text), 24) for text in worst[name]]
    return worst.drop(columns="covered")


def _number(value):
    return "-" if value is None else f"{value:,.2f}" if isinstance(value, float) else f"{value:,}"


def _print(frame, formats=None):
    """A table, in blocks that begin with its first column where it is wider than the report."""
    formats = formats or {}
    first = frame.columns[0]
    block: list[str] = []
    for name in frame.columns[1:]:
        if block and _width(frame[[first, *block, name]], formats) > _WIDTH:
            print_frame(frame[[first, *block]], formats)
            click.echo()
            block = []
        block.append(name)
    print_frame(frame[[first, *block]], formats)


def _width(frame, formats):
    """Of the printed frame: that of the widest text of each column, and the gaps."""

    def texts(name):
        return [name, *(cell_text(value, formats.get(name)) for value in frame[name])]

    return sum(max(map(len, texts(name))) + 2 for name in frame) - 2


def _line(text, indent="  "):
    whole = textwrap.TextWrapper(_WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    for line in whole.wrap(visible(text)):
        click.echo(line)


def _title(text):
    click.echo()
    _line(text)


def _frame(rows, columns=None):
    import pandas as pd

    return pd.DataFrame(rows, columns=columns)
