"""A protection and its verdict as lines and sections, for the commands that judge a release."""

from functools import partial

import pandas as pd

from kanon_lab.cli.output import list_diversity, list_notes, print_for_office, print_lines, print_parts
from kanon_lab.digits import number, percent
from kanon_lab.errors import shortened
from kanon_lab.measures.registry import LIMITS, measures
from kanon_lab.recipes.verdict import is_set
from kanon_lab.report.tables import OVERLAPS, indicators
from kanon_lab.report.words import texts
from kanon_lab.roles import MISSING_POLICIES
from kanon_lab.show.parts import Bullets, Paragraph, Part, Section, Table, cell_text, wrapped
from kanon_lab.terms import Note, key_of

_MOST_CLAIMS = 10
_MOST_NAMES = 12
_MOST_INDICATORS = 5
# An estimate from fewer records would reveal their values.
_FEW = 10
_risk = partial(percent, digits=4)


def judged_lines(judged):
    """A line a limit, with what to do if it is not met, and a line a caution."""
    lines = []
    rows = judged["limits"]
    if not is_set((row["name"], row["limit"]) for row in rows) or (
        not judged["met"] and all(row["met"] for row in rows)
    ):
        keys = judged.get("keys") or judged.get("parameters", {}).get("key_variables")
        no_keys = "no key variables are named, so that k says nothing; name them, or set a limit on numeric_linkage"
        unset = "no limit on k or a risk is set that a file can miss; write one, such as limits: {k: 3}"
        lines.append(("NOT MET", unset if keys else no_keys))
    for row in judged["limits"]:
        measure = LIMITS[row["name"]]
        label = measure.limit_called(level=percent(row["level"]), variable=shortened(str(row["variable"])))
        form = percent if measure.share else number
        value = _unknown(measure, row["columns"]) if row["value"] is None else form(row["value"], row["limit"])
        wanted = f"to be {row['bound']} {form(row['limit'], row['value'])}"
        columns = "" if row["met"] or not row["columns"] else f" ({_named(row['columns'])})"
        lines.append(("met" if row["met"] else "NOT MET", f"{label}{columns}: {value}, {wanted}"))
        if row["advice"] is not None:
            lines.append(("", row["advice"]))
    for mark, text in [*lines, *(("caution", caution["text"]) for caution in judged["cautions"])]:
        yield from wrapped(text, f"  {mark:7}  ", indent=13)


def _unknown(measure, columns):
    """That a value is not known, and what to do where that is a file that was not given."""
    if measure.needs == "population":
        no_file = "add population: FILE to the configuration"
        return f"not known ({'these keys cannot be counted in the population' if columns else no_file})"
    return "not known"


def _named(columns):
    """Names of columns, the first of many."""
    more = f" and {len(columns) - _MOST_NAMES} more" if len(columns) > _MOST_NAMES else ""
    return ", ".join(map(shortened, columns[:_MOST_NAMES])) + more


def print_protection(result, protection):
    """Print the result for people; paths are not broken."""
    missing = result["missing"]
    lines = [
        f"keys: {', '.join(result['keys']) or 'none'}; missing keys: {missing} ({MISSING_POLICIES[missing]})",
        f"weight: {result['weight'] or 'none'}; household: {result['household'] or 'none'}",
        f"direct identifiers dropped: {', '.join(result['direct_identifiers']) or 'none named'}",
        f"released unchanged, and without a role: {', '.join(result['untouched']) or 'none'}",
    ]
    if "person" in result:
        counted = f"{result['persons']:,} persons are counted: k, risks and claims are theirs, with 'records' too"
        lines.insert(2, f"person: {result['person']}; {counted}")
    notes = [note for note in result["notes"] if key_of(note) != "untouched"]  # it is said above
    print_for_office(result["file"], result["n"])
    print_lines([*_verdict(result), "", f"recipe: {result['recipe']}, seed {result['seed']}"])
    print_parts(Bullets(lines), *_states(protection), *_end(result, protection), list_notes(notes))
    done = "nothing was written" if result["out"] is None else f"written: {result['out']}"
    print_lines(["", f"{'dry run: ' * result['dry_run']}{done} ({len(result['columns'])} columns)"])
    if result["neutralised"] is not None:
        cells = ", ".join(f"{shortened(name)} {count:,}" for name, count in result["neutralised"].items())
        print_parts(Paragraph(f"cells given an apostrophe, since a spreadsheet would run them: {cells or 'none'}"))


def _verdict(result):
    if (verdict := result["verdict"]) is None:
        keys = "has no k_required, and --fail-under-k is not given" if result["keys"] else "names no key variables"
        yield f"k: not judged, since the recipe {keys}"
    else:
        units = "persons" if "person" in result else "records"
        met = "MET" if verdict["met"] else f"NOT MET by {verdict['records']:,} {units}"
        whence = "k_required" if verdict["k"] == result["k_required"] else "--fail-under-k"
        yield from wrapped(f"k = {verdict['k']} ({whence}): {met} (missing keys: {result['missing']})")
        for row in verdict["claims"].itertuples():
            holds = "holds" if row.holds else f"fails for {row.records:,} ({percent(row.share)})"
            claim = texts()[f"claim_{row.claim}"]["en"].format(k=verdict["k"])
            yield from wrapped(f"{claim}: {holds}", "  ", indent=4)
    yield from judged_lines(result)


def _states(protection, of=""):
    """What the steps did and the measures after them, first those of the households."""
    for step in protection.steps:
        if step.households is not None:
            yield from _states(step.households, " (one record per household)")
    history = protection.history.reset_index()
    names = {"records_touched": "touched", "cells_changed": "changed", "cells_suppressed": "suppressed"}
    names |= {"columns_removed": "removed"}
    parts: list[Part] = [Table(history[["step", "name", "seed", *names]].rename(columns=names))]
    if protection.steps and protection.steps[0].households is not None:
        parts.append(Paragraph("(household_level is step 1; the first under steps is step 2)"))
    yield Section(f"Steps{of}: records touched, cells changed and suppressed, columns removed", parts)
    yield from _cells(protection, of)
    for title, names, formats, *remarks in _measures(protection, history):
        # An engine has not all, and some need a population.
        names = {name: head for name, head in names.items() if name in history and history[name].notna().any()}
        if names:
            head, *rest = title.format(of=of).splitlines()
            yield Section(head, [Bullets(rest), _by_step(history, names, formats), Bullets(remarks)])
    for position, step in enumerate(protection.steps, 1):
        if step.claims is not None:
            yield _claims(step.claims, step.certificate, position, of)


def _cells(protection, of):
    rows = []
    for position, step in enumerate(protection.steps, 1):
        counts = {name: (step.changed[name], step.suppressed[name], None) for name in step.changed}
        counts |= dict.fromkeys(step.removed, (None, None, "removed"))
        rows += [(position, shortened(name, 50), *cells) for name, cells in counts.items() if any(cells)]
    if rows:
        counted = dict.fromkeys(("changed", "suppressed"), "Int64")
        yield Section(
            f"Cells{of}", [Table(pd.DataFrame(rows, columns=["step", "variable", *counted, "column"]).astype(counted))]
        )


def _measures(protection, history):
    """The tables of measures after each step: title, heads by measure, formats by head, and remarks below."""
    spec, household = protection.spec, protection.spec.household
    policy = "category" if spec.missing == "category" else "wildcard"
    names = {"classes": "classes", "k_achieved": "k"}
    names |= {f"violations_{k}_{policy}": f"below {k}" for k in protection.k}
    remarks = []
    if policy == "wildcard" and (history["known_cells"].iloc[-1] or 1) < 1:
        remarks.append(
            "(k, below: by compatible records, where a missing key may be any value; classes: of the same key values)"
        )
    if household:
        names |= {"with_household_size_k_achieved": "k (counted)"}
        names |= {"with_household_size_sample_uniques": "uniques (counted)"}
        remarks.append("(counted: for an intruder who also counts the members of each household)")
    yield "Anonymity after each step{of}", names, {}, *remarks

    risks = [
        row for row in measures(shown="state", kind="risk", taken_from="classes") if not (row.missing or row.part_of)
    ]
    rows = [row.at(level) for row in risks for level in (protection.risks if row.levels else [""])]
    title = f"Risk and expected re-identifications after each step{{of}} ({protection.estimator})"
    yield title, *_heads(rows, share=_risk)

    known = measures(part_of="population")
    rows = [row.at(level) for row in known for level in (protection.k if row.levels else [""])]
    yield "Counted in the population after each step{of}", *_heads(rows, share=_risk)

    names = {"equal_cells": "unchanged", "known_cells": "not missing"}
    formats = dict.fromkeys(names.values(), percent)
    names |= {f"distinct_{name}": f"values of {shortened(name)}" for name in spec.key_variables}
    yield "Key cells after each step{of}: shares, and different values", names, formats

    title = "Links after each step{of}: records that an intruder with the true values links to their own"
    yield title, *_heads(measures(shown="state", kind="risk", taken_from="states"), share=percent)

    losses = [row for row in measures(shown="state", kind="loss") if not (row.kept or row.part_of)]
    perturbed = not protection.state.truth.perturbed.isdisjoint(spec.key_variables)
    remarks = ["(-: not defined once a key is perturbed; see the notes)"] if perturbed else []
    title = "Loss after each step{of}: of keys and tables from 0 (none) to 1, of classes in records"
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
    """A line a measure under its head, and a column a step."""
    rows = [[head, *(cell_text(value, formats.get(head)) for value in history[name])] for name, head in names.items()]
    return Table.of_texts(["step", *map(str, history["step"])], rows)


def _heads(rows, share):
    """By measure its head, and by head its format."""
    forms = {row.called(): share if row.share else row.written for row in rows}
    return {row.name: row.called() for row in rows}, forms


def _claims(claims, certificate, number, of):
    """All claims of one combination of keys; of several combinations those that fail, the worst first."""
    shown, lines = claims, []
    if len(claims) > len({*claims["claim"]}):
        failing = claims[claims["records"] > 0].sort_values("records", ascending=False, kind="stable")
        shown = failing.head(_MOST_CLAIMS)
        held = f"{len(claims) - len(failing)} of {len(claims)} claims hold"
        left = f"; the {len(shown)} that fail worst (all with --json):" if len(shown) < len(failing) else ""
        lines.append(held + (left or (":" if len(failing) else "")))
    lines += [f"  {row.claim}: {row.meaning}" for row in shown.drop_duplicates("claim").itertuples()]
    if certificate is not None and certificate.cells:
        lines.append("  " + _fewest(certificate))
    parts: list[Part] = [Bullets(lines)]
    if len(shown):
        keys = [shortened(text, 60) for text in shown["keys"]]
        table = shown.assign(keys=keys)[["claim", "k", "records", "share", "keys"]]
        parts.append(Table(table, formats={"share": percent}))
    return Section(f"Claims after step {number}{of}: records for which they fail", parts)


def _fewest(certificate):
    """The cells that a suppression took, beside what any suppression needs."""
    cells, least = certificate.cells, certificate.least
    if why := certificate.required.no_bound:
        return f"cells: {cells:,}; {Note(f'no_bound_{why}')}"
    if certificate.above is None:
        return f"cells: {cells:,}; how many any suppression needs is not known"
    if cells == least:
        return f"cells: {cells:,}; no suppression that takes a value from every record below k needs fewer"
    above = percent(certificate.above)
    rule = f"any suppression that takes a value from every record below k needs {least:,} or more"
    return f"cells: {cells:,}; {rule}, so these are at most {above} above the least"


def _end(result, protection):
    """What holds after the last step: both meanings of a missing key, the columns, members of households, diversity."""
    last = protection.state.measured
    rows = [(f"records below {k}", *(last.violations[means][k] for means in last.violations)) for k in protection.k]
    risks = [last.by_meaning[means] for means in last.violations]
    rows.append(("expected re-identifications", *(risk["expected_reidentifications"] for risk in risks)))
    rows += [(f"risk above {level:g}", *((risk["above"] or {}).get(level) for risk in risks)) for level in last.above]
    shown = [
        (name, *(cell_text(n, ",.2f" if isinstance(n, float) else ",") for n in numbers)) for name, *numbers in rows
    ]
    table = Table.of_texts(["records", *last.violations], shown)
    yield Section("In the end, by what a missing key means", [table])
    released = result["released"].rename(columns=lambda name: name.replace("_", " "))
    released = released.assign(column=[shortened(name, 30) for name in released["column"]])
    yield Section("Released columns", [Table(released)])
    if len(shown := result.get("shown_by_members", ())):
        head = "households that share one value"
        table = Table(shown.rename(columns={"shared": head}), formats={head: percent})
        yield Section("Suppressed values that another member of the household shows", [table])
    if len(worst := _worst_indicators(protection)):
        yield Section(f"Indicators that suffered most, of those with {_FEW} records or more", [Table(worst)])
    yield list_diversity("Diversity of sensitive values in the end: the worst class", result["diversity"])


def _worst_indicators(protection):
    """Those whose intervals overlap least, in ranges: the estimates before and after would reveal single values."""
    compared = indicators(protection, least=_FEW)[0]
    worst = compared[compared["overlap"] < OVERLAPS[-1]].sort_values("overlap", kind="stable").head(_MOST_INDICATORS)
    if len(worst):
        worst = worst.assign(overlap=[f"{share:.0%} and more" for share in worst["overlap"]])
        for name in ("variable", "category", "by", "group"):
            worst[name] = [shortened(str(text), 24) for text in worst[name]]
    return worst.drop(columns="covered")
