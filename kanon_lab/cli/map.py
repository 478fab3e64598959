"""``kanon-lab map``: many recipes on one microdata file, and the cheapest that meets a required risk."""

from functools import partial
from pathlib import Path

import click

from kanon_lab import files
from kanon_lab.cli.measure import whole_numbers
from kanon_lab.cli.output import (
    FOR_OFFICE,
    OFFICE,
    by_names,
    max_bytes_option,
    missing_codes_option,
    print_frame,
    print_json,
    reader_may_leave,
    reading_notes,
    reading_options,
)
from kanon_lab.cli.protect import refuse_hierarchies, refuse_inputs
from kanon_lab.digits import number, percent
from kanon_lab.errors import OptionError, StorageError, about, shortened, visible

_EXAMPLES = """
\b
Example:
  kanon-lab map survey.csv --recipe map.yml --at-most 0.02 --write-recipe chosen.yml
  kanon-lab protect survey.csv --recipe chosen.yml --out protected.csv

\b
where map.yml holds
  key_variables: [region, sex, age]
  weight: weight
  steps:
    - recode: {variable: age, bands: $ages, closed: left}
    - suppress: {k_required: $k}
  grid:
    k: [2, 3, 5]
    ages:
      ten years: [0, 10, 20, 30, 40, 50, 60, 70, 80, null]
      twenty years: [0, 20, 40, 60, 80, null]
"""


@click.command(name="map", epilog=_EXAMPLES)
@click.argument("file")
@click.option("--recipe", "recipe_path", required=True, metavar="R.yml", help="A recipe with $names, and their grid.")
@click.option("--at-most", metavar="RISK", help="The required risk: a share such as 0.05, or a number of records.")
@click.option("--risk", default="global_risk", show_default=True, metavar="NAME", help="The measure of risk.")
@click.option("--loss", default="non_uniform_entropy", show_default=True, metavar="NAME", help="The measure of loss.")
@click.option("--repeats", default="1", metavar="R", help="Seeds tried where a recipe is random.  [default: 1]")
@click.option("--worst", is_flag=True, help="Judge a recipe by its worst seed, not by the mean of all.")
@click.option("--workers", metavar="W", help="Processes.  [default: as many as processors, if it takes long]")
@click.option("--na", multiple=True, metavar="TEXT", help="A text that means missing, such as NA. May repeat.")
@missing_codes_option
@max_bytes_option
@click.option("--out", metavar="OUT", help="File to write the measures of every recipe to, such as map.csv.")
@click.option("--write-recipe", metavar="PATH", help="File to write the cheapest recipe to; needs --at-most.")
@click.option("--overwrite", is_flag=True, help="Replace OUT and PATH where they hold something else.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON only.")
@click.pass_context
@by_names("file", "recipe_path", "out", "write_recipe")
def map(  # noqa: A001 (the name of the command)
    context,
    file,
    recipe_path,
    at_most,
    risk,
    loss,
    repeats,
    worst,
    workers,
    na,
    missing_codes,
    out,
    write_recipe,
    overwrite,
    as_json,
):
    """Apply every recipe of a grid to the records in FILE, and show which cost least for the risk that they leave.

    Every $name in the recipe stands for the values under its name in the section grid; as a step it stands for a step,
    a list of steps, or null for none. Printed are the recipes that no other beats in risk and loss, and, with
    --at-most, the one of least loss that meets the required risk. A recipe that cannot be applied is counted, and its
    error is in the JSON and in OUT. Nothing is protected, and no value of a record is printed.

    Exit code: 0; 1 where no recipe meets --at-most; 2 after bad input.
    """
    if not file:
        raise OptionError("FILE is empty; name a file or a data set such as health-survey")
    if write_recipe is not None and at_most is None:
        raise OptionError("--write-recipe needs --at-most: say which risk the recipe must meet")
    repeats = whole_numbers(repeats, "--repeats", most=1)[0]
    workers = None if workers is None else whole_numbers(workers, "--workers", most=1)[0]

    from kanon_lab.data.microdata import read_file
    from kanon_lab.data.writing import check_target, write_microdata
    from kanon_lab.recipes.frontier import measure_of
    from kanon_lab.recipes.grid import planned
    from kanon_lab.recipes.recipe import read_yaml
    from kanon_lab.recipes.risk_map import risk_utility_map

    of_risk, of_loss = measure_of(risk, "risk"), measure_of(loss, "loss")
    limit = None if at_most is None else _limit(at_most, of_risk)
    settings = read_yaml(recipe_path)
    candidates = planned(settings, path=recipe_path)  # whatever is wrong there is said before anything is done
    if out is not None:
        check_target(out)
    for target in filter(None, (out, write_recipe)):
        _check_target(target, overwrite, file, recipe_path, candidates)
    read = read_file(file, **reading_options(candidates[0].recipe, na, missing_codes))
    with about(file):
        found = risk_utility_map(read.numbered, settings, repeats=repeats, workers=workers, path=recipe_path)
    axes = {"risk": risk, "loss": loss, "repeats": "worst" if worst else "mean"}
    result = {**OFFICE, "file": file, "recipe": recipe_path, "n": len(read.frame), **_result(found, axes, limit)}
    result["notes"] = [*candidates[0].recipe.notes, *found.notes(risk), *reading_notes(read)]
    if out is not None:
        write_microdata(found.points, out, overwrite=True)
    best = result["cheapest"]
    if write_recipe is not None and best is not None:
        _write_recipe(found.recipes[best["label"]], write_recipe)
    result |= {"out": out, "written_recipe": write_recipe if best is not None else None}
    with reader_may_leave(result["out"], result["written_recipe"]):
        if as_json:
            print_json(result)
        else:
            _print(result, of_risk, of_loss)
    if result["unmet"] is not None:
        nothing = "" if write_recipe is None else f"; {write_recipe} was not written"
        click.echo(f"kanon-lab: {visible(result['unmet'] + nothing)}", err=True)
        context.exit(1)


def _limit(text, measure):
    """The required risk as a number."""
    from kanon_lab.recipes.frontier import check_required

    try:
        return check_required(float(text), measure)
    except (ValueError, OptionError):
        wanted = "a share from 0 to 1, such as 0.05" if measure.share else "a number from 0 on, such as 20"
        raise OptionError(f"--at-most {shortened(text)!r}: write {wanted}") from None


def _check_target(path, overwrite, file, recipe_path, candidates):
    """Raise an error where the file could not be written in the end, or would replace what is read."""
    if files.status(path) is None:
        if not files.status(Path(path).parent):
            raise StorageError(f"{path}: its folder is not there; make it or choose another place")
        return
    if not overwrite or not files.is_file(path):
        raise StorageError(f"{path}: is there already; choose another name, or say to replace it (--overwrite)")
    refuse_inputs(path, file, recipe_path)
    for each in candidates:
        refuse_hierarchies(path, each.recipe)


def _result(found, axes, limit):
    """The recipes that no other beats, the cheapest of them that meets the limit, and all that was measured."""
    from kanon_lab.recipes.frontier import measure_of
    from kanon_lab.recipes.risk_map import seeing

    frontier, points, unmet, cheapest = found.frontier(**axes), found.points, None, None
    caution = None
    spread = found.spread.loc[frontier.index]
    shown = ["label", *found.parameters, "repeats", "risk", "loss"]
    loss = axes["loss"]
    unseen = [list(found.unseen.get(label, {}).get(loss, ())) for label in frontier["label"]]
    beside = next((name for name in seeing(found.unseen.values(), loss) if any(unseen) and name in frontier), None)
    costs = {} if beside is None else {beside: measure_of(beside).cost(frontier[beside])}
    frontier = frontier[shown].assign(risk_sd=spread[axes["risk"]], loss_sd=spread[loss], unseen=unseen, **costs)
    if limit is not None:
        try:
            cheapest = found.cheapest(at_most=limit, **axes)[shown].to_dict()
            caution = found.caution(cheapest["label"], loss)
        except OptionError as error:  # none meets it
            unmet = str(error)
    return {
        "recipes": len(points),
        "failed": points.loc[points["error"].notna(), ["label", "error"]],
        **axes,
        "at_most": limit,
        "frontier": frontier,
        "cheapest": cheapest,
        "unmet": unmet,
        "cautions": [] if caution is None else [caution],
        "beside": beside,
        "points": points,
    }


def _write_recipe(settings, path):
    from kanon_lab.recipes.recipe import dump_yaml, seen_from

    files.write_text(path, dump_yaml(seen_from(settings, path)))


def _collapsed(frontier, beside):
    """The first of those recipes whose risk and losses are the same, and how many are like it."""
    same = ["risk", "loss", *beside]
    alike = frontier.groupby(same, sort=False, dropna=False)["label"]
    more = alike.transform("size") - 1
    labels = frontier["label"].where(more == 0, frontier["label"] + " (and " + more.astype(str) + " alike)")
    return frontier.assign(label=labels)[~frontier.duplicated(same)]


def _print(result, of_risk, of_loss):
    """Print the result for people; names of files, columns and recipes must not command the terminal."""
    from kanon_lab.recipes.frontier import measure_of

    failed = len(result["failed"])
    click.echo(visible(f"{result['file']}: {result['n']:,} records {FOR_OFFICE}"))
    several = f"{result['recipes']:,} recipes" if result["recipes"] > 1 else "1 recipe"
    click.echo(visible(f"{result['recipe']}: {several}{f', {failed} of which could not be applied' * bool(failed)}"))
    click.echo(f"risk: {result['risk']} ({of_risk.label})")
    click.echo(f"loss: {result['loss']} ({of_loss.label})")
    click.echo()
    click.echo("Recipes that no other beats in both")
    forms = {"risk": _form(of_risk), "loss": _form(of_loss), "risk_sd": _form(of_risk), "loss_sd": _form(of_loss)}
    spread = ["risk_sd", "loss_sd"] if (result["frontier"]["repeats"] > 1).any() else []
    beside = [] if result["beside"] is None else [result["beside"]]
    frontier = _collapsed(result["frontier"], beside)
    forms |= {name: _form(measure_of(name)) for name in beside}
    print_frame(frontier[["label", "risk", "loss", *beside, *spread]].rename(columns={"label": "recipe"}), forms)
    if blind := int(result["frontier"]["unseen"].astype(bool).sum()):
        seen = f"; {result['beside']} does" if beside else ", nor does another measure here"
        click.echo(f"(caution: {result['loss']} does not see every step of {blind:,} of these recipes{seen})")
    if len(frontier) < len(result["frontier"]):
        click.echo("(alike: the same risk and loss, so that neither measure sees what they differ in)")
    if result["cheapest"] is not None:
        best, limit = result["cheapest"], result["at_most"]
        click.echo()
        click.echo(f"Least loss with {result['risk']} at most {limit:g}")
        click.echo(
            visible(f"{best['label']}: risk {forms['risk'](best['risk'], limit)}, loss {forms['loss'](best['loss'])}")
        )
        for caution in result["cautions"]:
            click.echo(visible(f"caution: {caution}"))
    if failed:
        click.echo()
        click.echo(visible(f"The first that could not be applied: {result['failed'].iloc[0]['label']}"))
        click.echo(visible(result["failed"].iloc[0]["error"]))
    click.echo()
    for note in result["notes"]:
        click.echo(visible(f"note: {note}"))
    written = [path for path in (result["out"], result["written_recipe"]) if path is not None]
    click.echo(visible(f"written: {', '.join(written) or 'nothing'}"))


def _form(measure):
    return partial(percent if measure.share else number, digits=4)
