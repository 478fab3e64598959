"""``kanon-lab protect``: a recipe of protection steps applied to a microdata file."""

from pathlib import Path

import click

from kanon_lab.cli.output import print_frame, print_json, reader_may_leave
from kanon_lab.errors import OptionError, visible

_EXAMPLES = """
\b
Example:
  kanon-lab protect survey.csv --recipe recipe.yml --out protected.csv

\b
where recipe.yml holds
  key_variables: [region, sex, age]
  weight: weight
  direct_identifiers: [name]
  steps:
    - recode: {variable: age, bands: [0, 15, 30, 45, 60, 75], closed: left}
    - suppress: {k_required: 3, importance: {sex: 1, region: 2, age: 3}}
"""
# Formats of SPSS and Stata, whose codes may have labels.
_LABELLED = ("sav", "dta")


@click.command(name="protect", epilog=_EXAMPLES)
@click.argument("file")
@click.option("--recipe", "recipe_path", required=True, metavar="R.yml", help="Roles of the variables, and steps.")
@click.option("--out", metavar="OUT", help="File to write, in the format that its ending says. Needless on a dry run.")
@click.option("--overwrite", is_flag=True, help="Replace OUT where it holds something else.")
@click.option("--dry-run", is_flag=True, help="Report the same and write nothing.")
@click.option("--na", multiple=True, metavar="TEXT", help="A text that means missing, such as NA. May repeat.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON only.")
def protect(file, recipe_path, out, overwrite, dry_run, na, as_json):
    """Apply the steps of a recipe to the records in FILE, write them to OUT, and report risk and utility.

    FILE and OUT are .csv, .parquet, .xlsx, .sav or .dta files (.gz may follow); FILE may also be a data set such as
    health-survey. A suppressed value is an empty cell in csv, a missing value elsewhere. Direct identifiers that the
    recipe names are not written: the file is read again to prove it before it gets its name. OUT is never FILE, and
    holds the same bytes whenever the same recipe is applied. No value of a record is printed.
    """
    if not file:
        raise OptionError("FILE is empty; name a file or a data set such as health-survey")
    if out is None and not dry_run:
        raise OptionError("--out is not given; name the file to write, or try the recipe with --dry-run")

    from kanon_lab import files
    from kanon_lab.data import load_microdata
    from kanon_lab.data.writing import check_target, write_microdata
    from kanon_lab.protection import prove_absent, read_recipe

    if out is not None:
        check_target(out)
        _refuse_inputs(out, file, recipe_path)
    recipe = read_recipe(recipe_path)
    protection = recipe.apply(load_microdata(file, na=na), where=file, progress=True)
    released = protection.frame
    of_records = protection.original.loc[released.index]

    def prove(frame):
        prove_absent(frame, of_records, recipe.spec.direct_identifiers, where=out or file)

    prove(released)
    if not dry_run:
        write_microdata(released, out, overwrite=overwrite, check=prove)
    result = _result(protection, recipe)
    if files.file_format(file) in _LABELLED:
        result["notes"].append("labels of values and variables are not kept: what is written has codes only")
    result |= {"file": file, "recipe": recipe_path, "dry_run": dry_run, "out": None, "sha256": None}
    if not dry_run:
        result |= {"out": out, "sha256": files.sha256(out)}
    with reader_may_leave():
        if as_json:
            print_json(result)
        else:
            _print(result, protection)


def _refuse_inputs(out, file, recipe_path):
    """Raise an `OptionError` where the output would replace what is read, by whatever name."""
    from kanon_lab.data.sets import DATA_SETS

    source = DATA_SETS[file].path if file in DATA_SETS else file
    for path, name in ((source, "the input"), (recipe_path, "the recipe")):
        try:
            same = Path(out).samefile(path)
        except (OSError, ValueError):  # one of them is not there: nothing to replace
            same = False
        if same:
            raise OptionError(f"{out}: the output path is equal to {name}; choose another name for the output")


def _result(protection, recipe):
    from kanon_lab.cli.notes import reading_notes

    spec, last = recipe.spec, protection.state.measured
    notes = [*protection.notes, *reading_notes(protection.original)]
    below = last.violations["category" if spec.missing == "category" else "wildcard"]
    if recipe.k_required is not None and below[recipe.k_required]:
        notes.append(
            f"k_required is {recipe.k_required}: {below[recipe.k_required]:,} records are below it (missing: "
            f"{spec.missing})"
        )
    return {
        "n": len(protection.original),
        "keys": list(spec.key_variables),
        "weight": spec.weight,
        "household": spec.household,
        "missing": spec.missing,
        "k_required": recipe.k_required,
        "estimator": recipe.estimator,
        "seed": recipe.seed,
        "direct_identifiers": list(spec.direct_identifiers),
        "columns": list(protection.frame.columns),
        **_states(protection),
        "violations": last.violations,
        "notes": notes,
    }


def _states(protection):
    """The measures before any step, and what each step did."""
    return {
        "before": protection.start.measured.to_dict(),
        "steps": [_step(*each) for each in enumerate(protection.steps, 1)],
    }


def _step(position, step):
    return {
        "step": position,
        "name": step.name,
        "settings": step.settings,
        "seed": step.seed,
        "records_touched": step.records_touched,
        "cells_changed": step.changed,
        "cells_suppressed": step.suppressed,
        **step.state.measured.to_dict(),
        "claims": step.claims,
        "households": None if step.households is None else _states(step.households),
    }


def _print(result, protection):
    """Print the report for people; names of files and columns must not command the terminal."""
    from kanon_lab.keys import MISSING_POLICIES

    missing = result["missing"]
    for line in (
        f"{result['file']}: {result['n']:,} records, recipe {result['recipe']}, seed {result['seed']}",
        f"keys: {', '.join(result['keys'])}; missing keys: {missing} ({MISSING_POLICIES[missing]})",
        f"weight: {result['weight'] or 'none'}; household: {result['household'] or 'none'}",
        f"direct identifiers dropped: {', '.join(result['direct_identifiers']) or 'none named'}",
    ):
        click.echo(visible(line))
    _print_states(protection)
    _title("Records below k now, by what a missing key means")
    below = result["violations"]
    print_frame(_frame([{"k": k, **{name: below[name][k] for name in below}} for k in below["wildcard"]]))
    if result["notes"]:
        click.echo()
    for note in result["notes"]:
        click.echo(visible(note))
    click.echo()
    done = "dry run: nothing was written" if result["dry_run"] else f"written: {result['out']}"
    click.echo(visible(f"{done} ({len(result['columns'])} columns)"))


def _print_states(protection, of=""):
    """Tables of what the steps did and of the measures after them, first those of the households."""
    for step in protection.steps:
        if step.households is not None:
            _print_states(step.households, " (one record a household)")
    history = protection.history.reset_index()
    _title(f"Steps{of}")
    done = ["step", "name", "seed", "records_touched", "cells_changed", "cells_suppressed"]
    print_frame(history[done].rename(columns=_spaced))
    cells = [
        {"step": number, "variable": name, "changed": step.changed[name], "suppressed": step.suppressed[name]}
        for number, step in enumerate(protection.steps, 1)
        for name in step.changed
        if step.changed[name] or step.suppressed[name]
    ]
    if cells:
        _title(f"Cells{of}")
        print_frame(_frame(cells))
    _print_measures(protection, history, of)
    for number, step in enumerate(protection.steps, 1):
        if step.claims is not None:
            _title(f"What step {number} may claim{of}: records for which it fails")
            print_frame(step.claims[["keys", "k", "meaning", "records", "share"]], {"share": ".2%"})


def _print_measures(protection, history, of):
    policy = "category" if protection.spec.missing == "category" else "wildcard"
    risks = {"global_risk": "global risk", "expected_reidentifications": "expected"}
    if protection.spec.household:
        risks |= {"household_risk": "household risk", "expected_household_reidentifications": "households"}
    names = {
        **{"step": "step", "classes": "classes", "k_achieved": "k"},
        **{f"violations_{k}_{policy}": f"below {k}" for k in protection.k},
        **risks,
        **{f"above_{each}": f"risk above {each:g}" for each in protection.thresholds},
    }
    formats = {"global risk": ".4%", "household risk": ".4%", "expected": ",.2f", "households": ",.2f"}
    _title(f"Anonymity, risk and expected re-identifications after each step{of} ({protection.estimator})")
    print_frame(history[list(names)].rename(columns=names), formats)
    names = {
        **{"step": "step", "equal_cells": "as they came", "known_cells": "not missing"},
        **{f"distinct_{name}": f"values of {name}" for name in protection.spec.key_variables},
    }
    _title(f"Key cells after each step{of}")
    print_frame(history[list(names)].rename(columns=names), {"as they came": ".2%", "not missing": ".2%"})


def _spaced(name):
    return name.replace("_", " ")


def _title(text):
    click.echo()
    click.echo(text)


def _frame(rows):
    import pandas as pd

    return pd.DataFrame(rows)
