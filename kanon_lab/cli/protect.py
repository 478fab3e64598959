"""``kanon-lab protect``: a recipe of protection steps applied to a microdata file."""

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import click

from kanon_lab import files
from kanon_lab.cli.options import (
    Command,
    engine_option,
    fail_on_cautions_option,
    file_argument,
    json_option,
    reading_notes,
    reads_microdata,
    spill_option,
    whole_number,
    without_folders,
)
from kanon_lab.cli.output import NOT_MET, OFFICE, end, failing, show
from kanon_lab.errors import OptionError, about
from kanon_lab.terms import agreed

_EXAMPLES = """
\b
Example:
  kanon-lab protect survey.csv --recipe recipe.yml --out protected.csv

\b
where recipe.yml contains
  key_variables: [region, sex, age]
  weight: weight
  direct_identifiers: [name]
  k_required: 3
  steps:
    - recode: {variable: age, bands: [0, 15, 30, 45, 60, 75, null], closed: left}
    - suppress: {importance: {sex: 1, region: 2, age: 3}}
"""


@click.command(cls=Command, name="protect", epilog=_EXAMPLES)
@file_argument
@click.option(
    "--recipe",
    "recipe_path",
    required=True,
    metavar="R.yml",
    help="Read the roles of the variables and the steps from this file.",
)
@click.option(
    "--out",
    metavar="OUT",
    help="Write the protected records to this file, in the format of its extension. Not needed with --dry-run.",
)
@click.option("--overwrite", is_flag=True, help="Replace OUT if it exists with other contents.  [default: refuse]")
@click.option("--dry-run", is_flag=True, help="Print the report, but write nothing.")
@click.option(
    "--neutralise",
    is_flag=True,
    help="In a .csv or .xlsx OUT, put an apostrophe before texts that a spreadsheet would run as formulas.  "
    "[default: leave them]",
)
@reads_microdata("recipe_path", "out")
@engine_option
@spill_option
@click.option(
    "--fail-under-k",
    "least",
    callback=whole_number,
    metavar="K",
    help="If a record is below K after the last step, print the report, write nothing and exit with 1.",
)
@click.option("--fail", is_flag=True, help="If a limit is not met, print the report, write nothing and exit with 3.")
@fail_on_cautions_option
@json_option
def protect(source, recipe_path, out, overwrite, dry_run, neutralise, least, fail, fail_on_cautions, as_json):
    """Apply a recipe to the records in FILE, write them to OUT, and print their risk and utility.

    FILE and OUT are .csv, .parquet, .xlsx, .sav or .dta files (.gz may follow); FILE may also be a .sas7bdat file, or a
    data set such as health-survey. A suppressed value is an empty cell in csv, and a missing value in other formats.
    OUT must not be one of the input files. The same recipe with the same seed always writes the same bytes for a file.
    The command prints no value of a record. The configuration of a report is a recipe too, and writes the same file as
    kanon-lab report --protected. --na and --missing-codes replace the settings of the recipe.

    Only the variables that the recipe names are protected: every other column is released unchanged, and the report
    names it. The command drops the direct identifiers that the recipe names, then reads the written file again and
    checks that no column still has their values, in upper or lower case and with any accents and punctuation. The check
    does not find an identifier in another coding, such as a part of it.

    An engine (--engine) protects a .parquet, .csv or .csv.gz FILE, or a folder of such parts, that is larger than
    memory, with steps that recode, suppress and remove. OUT has the format of FILE; Spark writes a folder of parts.
    Measures that need single records, and the search for copies of identifiers, are left out; the notes say so.

    The book's page on recipes lists every step and setting. Keep hierarchy files in the folder of the recipe: the
    command looks for them there. The verdict on k uses the K of --fail-under-k or, without it, the k_required of the
    recipe.

    Exit code: 0 on success; 1 if --fail-under-k is not met; 2 after bad input; 3 with --fail if a limit is not met, or
    with --fail-on-cautions if there is a caution.
    """
    if out is None and not dry_run:
        raise OptionError("--out is not given; name the file to write, or try the recipe with --dry-run")

    from kanon_lab.cli.protect_text import print_protection
    from kanon_lab.data.writing import check_target
    from kanon_lab.recipes.chain import read_recipe
    from kanon_lab.recipes.counted import protect_counted
    from kanon_lab.recipes.released import proof
    from kanon_lab.recipes.streamed import counting

    file = source.file
    if out is not None:
        check_target(out, neutralise=neutralise)
        refuse_inputs(out, file, recipe_path)
    recipe = read_recipe(recipe_path)
    if least is not None and not recipe.spec.key_variables:
        raise OptionError("--fail-under-k: the recipe names no key variables, so that k says nothing; name them")
    if out is not None:
        refuse_inputs(out, file, recipe_path, recipe)
    with ExitStack() as opened:
        if source.is_streamed(recipe, out, neutralise=neutralise):
            records = opened.enter_context(source.opened(**counting(recipe)))
            protection: Any = protect_counted(records, recipe, progress=True)
            result = _counted_result(protection, recipe, least, reading_notes(records.counted))
        else:
            read = source.read(**recipe.reading)
            with about(file):
                protection = recipe.apply(read, progress=True)
            with about(out or file):
                proof(protection)(protection.frame)
            result = _result(protection, recipe, least, reading_notes(read))
            if out is not None:
                result["notes"] += _of_labels(protection, files.file_format(out))
                result["notes"] += _of_formats(protection, files.file_format(out))
        result |= {**OFFICE, "file": file, "recipe": recipe_path, "dry_run": dry_run, "out": None, "sha256": None}
        result["neutralised"] = cells = None
        unmet = failing([result], fail=fail, on_cautions=fail_on_cautions)
        failed = bool(unmet) or (least is not None and not result["verdict"]["met"])
        if not dry_run and not failed:
            cells = protection.write(out, overwrite=overwrite, neutralise=neutralise)
            sha256 = files.sha256(out) if Path(out).is_file() else None
            result |= {"out": out, "sha256": sha256, "neutralised": cells if neutralise else None}
    show(result, partial(print_protection, result, protection), result["out"], as_json=as_json)
    nothing = "" if dry_run else "; nothing was written"
    if unmet:
        remedy = (
            "" if result["met"] else "; the page of kanon-lab report, with this recipe as --config, says what to do"
        )
        end(NOT_MET, f"{unmet}{nothing}{remedy}")
    if failed:
        below = f"{result['verdict']['records']:,} records are below {least} (--fail-under-k)"
        end(1, f"{without_folders(file, file)}: {below}{nothing}")


def _of_labels(protection, form):
    """What the format of the output does to labels."""
    from kanon_lab.data.writing import LABELLED, fitted

    labels, variable_labels = protection.labels, protection.variable_labels
    if form not in LABELLED and (labels or variable_labels):
        return ["labels of values and variables are not kept: what is written has codes only (.sav and .dta have them)"]
    return list(fitted(protection.frame, form, labels, variable_labels).notes(form))


def _of_formats(protection, form):
    """What the format of the output does to formats of numbers, and to codes that mean missing."""
    from kanon_lab.data.writing import format_notes

    came = protection.given_formats, protection.given_user_missing
    return list(format_notes(protection.frame, form, protection.formats, protection.user_missing, *came))


def refuse_inputs(out, file, recipe_path, recipe=None):
    """Raise an `OptionError` where the output would replace what is read, hierarchies of a recipe too."""
    from kanon_lab.data.sets import DATA_SETS

    inputs = [("the input", DATA_SETS[file].path if file in DATA_SETS else file), ("the recipe", recipe_path)]
    inputs += [] if recipe is None else [(f"the {kind} of the recipe", path) for path, kind in recipe.files.items()]
    files.refuse_inputs(out, inputs)


def _result(protection, recipe, least, of_reading):
    from kanon_lab import recipes
    from kanon_lab.recipes.exposure import columns_as_keys
    from kanon_lab.recipes.released import untouched

    result, judged = _of_classes(protection, recipe, least, of_reading)
    columns = recipes.released_columns(protection)
    return result | {
        "n": len(protection.original),
        "columns_as_keys": columns_as_keys(protection, judged.k) if "k" in {*judged.verdict["name"]} else None,
        "columns": list(protection.frame.columns),
        "released": columns,
        "untouched": untouched(columns),
        "shown_by_members": recipes.household_disclosure(protection),
        "told_by_columns": recipes.dependent_columns(protection),
    }


def _counted_result(protection, recipe, least, of_reading):
    """The same, as far as it can be measured from counts."""
    from kanon_lab.recipes.counted import MEASURED, not_counted
    from kanon_lab.recipes.released import untouched

    result, judged = _of_classes(protection, recipe, least, of_reading)
    for state in (result["before"], *result["steps"]):
        for part in ("risk", "utility"):
            state[part] = {name: value for name, value in state[part].items() if name in MEASURED}
    return result | {
        "n": protection.n,
        "columns": protection.released_columns,
        "released": protection.released_table,
        "untouched": untouched(protection.released_table),
        "notes": [*result["notes"], *not_counted(protection, judged.unknown)],
    }


def _of_classes(protection, recipe, least, of_reading):
    """What is printed of every protection, and how it was judged."""
    from kanon_lab import recipes
    from kanon_lab.recipes.plan import as_limits
    from kanon_lab.recipes.verdict import final_diversity
    from kanon_lab.report.measured import Release, advised

    spec, last = recipe.spec, protection.state.measured
    limits = recipe.limits if "k" in recipe.limits else as_limits(recipe.limits, spec=spec, k_required=least)
    judged = recipes.judge(protection, limits)
    diversity, of_diversity = final_diversity(protection)
    notes = [*recipe.notes, *protection.notes, *of_diversity, *of_reading]
    if recipe.language != "en":
        notes.append(f"language is {recipe.language}: nothing in this report follows it yet")
    below = last.violations["category" if spec.missing == "category" else "wildcard"]
    if recipe.k_required is not None and below[recipe.k_required]:
        fewer = f"{below[recipe.k_required]:,} records are below it (missing: {spec.missing})"
        notes.append(agreed(f"k_required is {recipe.k_required}: {fewer}"))
    result = {
        "verdict": _verdict(protection, recipe, least, judged),
        **advised(judged, Release.of_protection(protection, judged)),
        "keys": list(spec.key_variables),
        "weight": spec.weight,
        "household": spec.household,
        **({} if spec.person is None else {"person": spec.person, "persons": int(protection.person.max()) + 1}),
        "missing": spec.missing,
        "k_required": recipe.k_required,
        "estimator": recipe.estimator,
        "seed": recipe.seed,
        "direct_identifiers": list(spec.direct_identifiers),
        **_states(protection),
        "violations": last.violations,
        "diversity": diversity,
        "notes": notes,
    }
    return result, judged


def _verdict(protection, recipe, least, judged):
    """Whether k is met in the end, by the recipe's meaning of a missing key, and which of three claims hold."""
    from kanon_lab import recipes
    from kanon_lab.recipes.verdict import decisive_claim, records_below, with_household_keys

    k = recipe.limits.get("k", recipe.k_required) if least is None else least
    if k is None or not recipe.spec.key_variables:
        return None
    claims = judged.claims if judged.k == k else recipes.final_claims(with_household_keys(protection), k)
    decisive, records = decisive_claim(protection), records_below(protection, k)
    rows = claims[["claim", "records", "share", "meaning"]].assign(holds=claims["records"] == 0)
    return {"k": k, "met": records == 0, "records": records, "decisive": decisive, "claims": rows}


def _certificate(certificate):
    """The key cells that a suppression took, the fewest that any needs or why none is claimed, and how far above."""
    if certificate is None:
        return None
    bound = {"lower_bound": certificate.least, "above": certificate.above}
    return {"cells": certificate.cells, **bound, "no_bound": certificate.required.no_bound or None}


def _states(protection):
    """The measures before any step, and what each step did."""
    return {
        "before": protection.start.measured.to_dict(),
        "steps": [
            {
                "step": position,
                "name": step.name,
                "settings": step.settings,
                "seed": step.seed,
                "records_touched": step.records_touched,
                "variables_removed": list(step.removed),
                "cells_changed": step.changed,
                "cells_suppressed": step.suppressed,
                **step.state.measured.to_dict(),
                "claims": step.claims,
                "certificate": _certificate(step.certificate),
                "households": None if step.households is None else _states(step.households),
            }
            for position, step in enumerate(protection.steps, 1)
        ],
    }
